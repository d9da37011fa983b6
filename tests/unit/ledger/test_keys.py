"""Ed25519 keys: the vectors of RFC 8032, key files, and what is refused."""

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, x25519

from lacre.errors import KeyMalformed, PassphraseNeeded, PassphraseTooLong, PassphraseWrong, SignatureInvalid
from lacre.ledger.keys import PrivateKey, PublicKey

# RFC 8032 section 7.1, TEST 1 to TEST 3 and TEST SHA(abc): secret key, public key, message, signature.
RFC_8032 = [
    (
        "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        (
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155"
            "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
        ),
    ),
    (
        "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        (
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
            "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
        ),
    ),
    (
        "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "af82",
        (
            "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac"
            "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"
        ),
    ),
    (
        "833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42",
        "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
        (
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
            "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
        ),
        (
            "dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b589"
            "09351fc9ac90b3ecfdfbc7c66431e0303dca179c138ac17ad9bef1177331a704"
        ),
    ),
]
ED25519_ORDER = 2**252 + 27742317777372353535851937790883648493  # RFC 8032 section 5.1


@pytest.mark.parametrize(("seed", "public", "message", "signature"), RFC_8032)
def test_signatures_are_those_of_rfc_8032(seed: str, public: str, message: str, signature: str) -> None:
    key = PrivateKey.from_seed(bytes.fromhex(seed))
    assert key.public.raw.hex() == public
    assert key.sign(bytes.fromhex(message)).hex() == signature
    key.public.verify(bytes.fromhex(message), bytes.fromhex(signature))


def test_the_key_id_is_the_sha256_of_the_raw_key() -> None:
    """As `printf '\\x00…' | sha256sum` gives it for 32 zero bytes."""
    assert PublicKey(bytes(32)).keyid == "66687aadf862bd776c8fc18b8e9f8e20089714856ee233b3902a591d0d5f2925"


def test_any_other_signature_is_refused(owner: PrivateKey, broker: PrivateKey) -> None:
    signature = owner.sign(b"words")
    flipped = [bytes([*signature[:at], signature[at] ^ 1, *signature[at + 1 :]]) for at in range(64)]
    for other in (
        *flipped,
        b"",
        signature[:-1],
        signature + b"\0",
        broker.sign(b"words"),
        owner.sign(b"word"),
    ):
        with pytest.raises(SignatureInvalid) as caught:
            owner.public.verify(b"words", other)
        assert caught.value.fields == {"keyid": owner.public.keyid}


def test_a_signature_has_no_second_form(owner: PrivateKey) -> None:
    """RFC 8032 section 5.1.7: S is below the group's order L, though S + L would satisfy the equation too."""
    signature = owner.sign(b"words")
    scalar = int.from_bytes(signature[32:], "little") + ED25519_ORDER
    with pytest.raises(SignatureInvalid):
        owner.public.verify(b"words", signature[:32] + scalar.to_bytes(32, "little"))


def test_bytes_that_are_no_point_verify_nothing(owner: PrivateKey) -> None:
    with pytest.raises(SignatureInvalid):
        PublicKey(b"\xff" * 32).verify(b"words", owner.sign(b"words"))


@pytest.mark.parametrize("length", [0, 31, 33, 64])
def test_a_key_has_32_bytes(length: int) -> None:
    with pytest.raises(KeyMalformed):
        PublicKey(bytes(length))
    with pytest.raises(KeyMalformed):
        PrivateKey.from_seed(bytes(length))


@pytest.mark.parametrize("passphrase", [None, b"", b"correct horse", "saudação".encode(), b"x" * 1023])
def test_a_key_file_gives_the_key_back(owner: PrivateKey, passphrase: bytes | None) -> None:
    pem = owner.to_pkcs8(passphrase)
    assert (b"ENCRYPTED" in pem) is bool(passphrase)
    assert PrivateKey.from_pkcs8(pem, passphrase).public == owner.public


def test_an_open_key_file_needs_no_passphrase_and_minds_none(owner: PrivateKey) -> None:
    assert PrivateKey.from_pkcs8(owner.to_pkcs8(), b"one too many").public == owner.public


@pytest.mark.parametrize("passphrase", [b"wrong", b"correct hors", b"x" * 5000])
def test_a_wrong_passphrase_is_its_own_refusal(owner: PrivateKey, passphrase: bytes) -> None:
    with pytest.raises(PassphraseWrong):
        PrivateKey.from_pkcs8(owner.to_pkcs8(b"correct horse"), passphrase)


@pytest.mark.parametrize("passphrase", [None, b""])
def test_a_closed_key_file_asks_for_its_passphrase(owner: PrivateKey, passphrase: bytes | None) -> None:
    with pytest.raises(PassphraseNeeded):
        PrivateKey.from_pkcs8(owner.to_pkcs8(b"correct horse"), passphrase)


def test_a_passphrase_past_what_openssl_takes_is_refused(owner: PrivateKey) -> None:
    with pytest.raises(PassphraseTooLong):
        owner.to_pkcs8(b"x" * 1024)


def test_no_other_file_is_a_key(owner: PrivateKey) -> None:
    pem, closed = owner.to_pkcs8(), owner.to_pkcs8(b"p")
    curve = ec.generate_private_key(ec.SECP256R1())
    others = [
        curve.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        ),
        curve.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.TraditionalOpenSSL,
            serialization.NoEncryption(),
        ),
        x25519.X25519PrivateKey.generate().private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        ),
        b"",
        b"words",
        pem[:60],
        pem.replace(b"MC4C", b"MC4D"),
        b"\n" + pem,
    ]
    for other in others:
        with pytest.raises(KeyMalformed):
            PrivateKey.from_pkcs8(other, None)
    with pytest.raises(PassphraseWrong):
        PrivateKey.from_pkcs8(closed[:80] + closed[90:], b"p")


def test_a_private_key_does_not_show_itself(owner: PrivateKey) -> None:
    assert repr(owner) == "PrivateKey()"
