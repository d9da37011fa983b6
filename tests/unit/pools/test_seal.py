"""Sealing as bytes: padding, packing, encryption, commitments and the wrapped key."""

import hashlib
import hmac
import math
import random
from collections.abc import Iterator

import pyrage
import pytest

from lacre.canonical import canonical_json
from lacre.errors import IdentityCannotOpen, PoolBlobChanged, RecipientInvalid
from lacre.pools import seal
from lacre.pools.content import Held
from lacre.pools.seal import Context, Identity, SealKey

CONTEXT = Context(genesis="a" * 64, study="alvo", pool="teste", protocol="b" * 64)
KEY = bytes(range(32))


def _random(size: int) -> bytes:
    return random.Random(size).randbytes(size)


def _pieces(data: bytes, size: int) -> Iterator[bytes]:
    for start in range(0, len(data), size):
        yield data[start : start + size]


def _unpacked(data: bytes, count: int, size: int = 1 << 20) -> list[bytes]:
    contents = [b""] * count
    for index, piece in seal.unpack(_pieces(data, size), count, CONTEXT):
        contents[index] += piece
    return contents


# --- packing


@pytest.mark.parametrize(
    ("size", "padded"),
    [
        (0, 0),
        (1, 1),
        (2, 2),
        (8, 8),
        (9, 10),
        (18, 18),
        (19, 20),
        (100, 104),
        (1000, 1024),
        (2**20 + 1, 2**20 + 2**15),
    ],
)
def test_padme_of_sizes_worked_by_hand(size: int, padded: int) -> None:
    """E = floor(log2 L), S = floor(log2 E) + 1, and the low E - S bits are rounded up to zeros.

    9: E 3, S 2, one bit. 19: E 4, S 3, one bit. 100: E 6, S 3, three bits. 1000: E 9, S 4, five bits.
    2^20 + 1: E 20, S 5, fifteen bits.
    """
    assert seal.padme(size) == padded


def test_padme_agrees_with_the_papers_floating_point_form() -> None:
    for size in [*range(2, 3000), 10**6 + 7, 10**9 + 9]:
        exponent = math.floor(math.log2(size))
        last = exponent - (math.floor(math.log2(exponent)) + 1) if exponent else 0
        assert seal.padme(size) == math.ceil(size / 2**last) * 2**last


def test_the_plaintext_is_length_then_bytes_then_zeros() -> None:
    packed = b"".join(seal.pack([Held(b"abc"), Held(b"")]))
    assert packed == bytes.fromhex("0000000000000003") + b"abc" + bytes(8) + bytes(1)
    assert len(packed) == seal.packed_size([3, 0]) == 20


@pytest.mark.parametrize(
    "records", [[], [b""], [b"", b""], [b"x"], [b"\0" * 40, b""], [_random(3_000_000), b"end"]]
)
@pytest.mark.parametrize("size", [7, 4096, 1 << 20])
def test_what_is_packed_is_unpacked(records: list[bytes], size: int) -> None:
    size = max(size, sum(map(len, records)) // 500)
    assert _unpacked(b"".join(seal.pack(list(map(Held, records)))), len(records), size) == records


@pytest.mark.parametrize(
    "plaintext",
    [
        b"",
        b"\0" * 7,
        b"\0" * 7 + b"\x04" + b"abc",
        b"\xff" * 8 + b"abc",
        b"\0" * 7 + b"\x03" + b"abc" + b"\x01",
        b"\0" * 7 + b"\x03" + b"abc",
        b"\0" * 7 + b"\x03" + b"abc" + b"\0" * 2,
    ],
    ids=[
        "empty",
        "half a length",
        "short",
        "absurd length",
        "padding not zero",
        "too little padding",
        "too much",
    ],
)
def test_a_plaintext_of_another_form_is_refused(plaintext: bytes) -> None:
    with pytest.raises(PoolBlobChanged, match="alvo/teste"):
        _unpacked(plaintext, 1)


# --- encryption


@pytest.mark.parametrize("size", [0, 1, 16383, 16384, 16385, 2_500_000])
def test_what_is_encrypted_is_decrypted(size: int) -> None:
    plaintext = _random(size)
    ciphertext = b"".join(seal.encrypt(KEY, CONTEXT, _pieces(plaintext, 1 << 20)))
    assert len(ciphertext) <= seal.ciphertext_bound(size)
    assert b"".join(seal.decrypt(KEY, CONTEXT, _pieces(ciphertext, 10_000))) == plaintext
    assert not size > 100 or plaintext[:100] not in ciphertext


def _refused(key: bytes, context: Context, ciphertext: bytes) -> None:
    with pytest.raises(PoolBlobChanged):
        for _piece in seal.decrypt(key, context, _pieces(ciphertext, 4096)):
            pass


def test_a_byte_changed_anywhere_is_refused() -> None:
    ciphertext = b"".join(seal.encrypt(KEY, CONTEXT, [_random(40_000)]))
    places = {*range(120), *range(0, len(ciphertext), 331), *range(len(ciphertext) - 40, len(ciphertext))}
    for place in places:
        changed = bytearray(ciphertext)
        changed[place] ^= 1
        _refused(KEY, CONTEXT, bytes(changed))


@pytest.mark.parametrize("kept", [0, 10, 56, 56 + 16400, 56 + 2 * 16400, -1])
def test_a_ciphertext_cut_short_is_refused(kept: int) -> None:
    """Segments have 16,384 bytes and a tag of 16, after a header of 56: cuts between segments too."""
    ciphertext = b"".join(seal.encrypt(KEY, CONTEXT, [_random(40_000)]))
    _refused(KEY, CONTEXT, ciphertext[:kept])


def test_a_ciphertext_with_more_after_it_is_refused() -> None:
    ciphertext = b"".join(seal.encrypt(KEY, CONTEXT, [_random(100)]))
    _refused(KEY, CONTEXT, ciphertext + b"\0")


@pytest.mark.parametrize(
    "other",
    [
        Context("c" * 64, "alvo", "teste", "b" * 64),
        Context("a" * 64, "outro", "teste", "b" * 64),
        Context("a" * 64, "alvo", "dev", "b" * 64),
        Context("a" * 64, "alvo", "teste", "c" * 64),
        Context("a" * 64, "alvo", "teste", "b" * 64, ""),
    ],
    ids=["ledger", "study", "pool", "protocol", "submission"],
)
def test_a_ciphertext_opens_as_itself_alone(other: Context) -> None:
    ciphertext = b"".join(seal.encrypt(KEY, CONTEXT, [b"content"]))
    _refused(KEY, other, ciphertext)


def test_another_key_is_refused() -> None:
    _refused(KEY[::-1], CONTEXT, b"".join(seal.encrypt(KEY, CONTEXT, [b"content"])))


def test_the_context_is_canonical_json() -> None:
    fields = {"study": "alvo", "pool": "teste", "genesis": "a" * 64, "protocol": "b" * 64}
    assert CONTEXT.encode() == canonical_json(fields)
    assert Context("a" * 64, "alvo", "teste", "b" * 64, "").encode() == canonical_json(
        fields | {"system": ""}
    )


# --- commitments


def test_a_commitment_is_the_hmac_of_rfc_4231() -> None:
    """Test case 2 of RFC 4231."""
    expected = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    pieces = [(1, b"what do ya "), (0, b"x"), (1, b"want for nothing?")]
    other = hmac.digest(b"Jefe", b"x", "sha256").hex()
    assert seal.commitments(b"Jefe", pieces, 2) == (other, expected)


def test_what_passes_while_it_is_packed_is_the_records_alone() -> None:
    """So that what an entry commits to is what was encrypted, and neither lengths nor padding are in it."""
    records = [Held(b"abc" * 700_000), Held(b""), Held(b"end")]
    taken = [b"", b"", b""]

    def took(index: int, piece: bytes) -> None:
        taken[index] += piece

    packed = b"".join(seal.pack(records, took))
    assert taken == [each.data for each in records]
    assert packed == b"".join(seal.pack(records))


# --- the wrapped key


def _unwrap(wrapped: bytes, *identities: Identity) -> SealKey:
    return seal.unwrap(wrapped, identities, CONTEXT, ["age1somebody"]).key_of(OWN)


SECRETS = SealKey(KEY, _random(32))
OTHERS = SealKey(_random(32), _random(32))
OWN, OTHER = "ff" + "00" * 31, "0a" * 32


def test_any_one_of_several_recipients_opens_the_key() -> None:
    first, second, third = Identity.generate(), Identity.generate(), Identity.generate()
    wrapped = seal.wrap(SECRETS, [first.recipient, second.recipient])
    assert _unwrap(wrapped, first) == SECRETS
    assert _unwrap(wrapped, second) == SECRETS
    assert _unwrap(wrapped, third, second) == SECRETS
    with pytest.raises(IdentityCannotOpen, match="age1somebody"):
        _unwrap(wrapped, third)
    with pytest.raises(IdentityCannotOpen, match="None of the 0"):
        _unwrap(wrapped)


def test_a_wrapped_key_changed_or_cut_anywhere_opens_nothing() -> None:
    identity = Identity.generate()
    wrapped = seal.wrap(SECRETS, [identity.recipient])
    for place in range(len(wrapped)):
        changed = bytearray(wrapped)
        changed[place] ^= 0x11
        for bad in (bytes(changed), wrapped[:place]):
            with pytest.raises(IdentityCannotOpen):
                _unwrap(bad, identity)


def test_a_wrapped_key_of_another_size_is_refused() -> None:
    identity = Identity.generate()
    with pytest.raises(PoolBlobChanged):
        _unwrap(seal.wrap(SealKey(KEY, b""), [identity.recipient]), identity)


def test_a_keyset_holds_the_key_of_each_ciphertext_and_of_no_other() -> None:
    identity = Identity.generate()
    wrapped = seal.wrap_keyset({OWN: SECRETS, OTHER: OTHERS}, [identity.recipient])
    held = seal.unwrap(wrapped, [identity], CONTEXT, ["age1somebody"])
    assert (held.key_of(OWN), held.key_of(OTHER)) == (SECRETS, OTHERS)
    assert repr(OTHERS.key) not in repr(held)
    with pytest.raises(PoolBlobChanged, match="handed on"):
        held.key_of("00" * 32)
    with pytest.raises(IdentityCannotOpen):
        _unwrap(wrapped, Identity.generate())


@pytest.mark.parametrize("size", [0, 32, 63, 65, 95, 97, 128, 191])
def test_a_keyset_of_another_size_is_refused(size: int) -> None:
    identity = Identity.generate()
    with pytest.raises(PoolBlobChanged, match="wrong size"):
        _unwrap(identity.encrypt(bytes(size)), identity)


@pytest.mark.parametrize("recipient", ["", "age1", "someone", "ssh-ed25519 AAAA", "age1" + "q" * 58])
def test_what_is_no_recipient_is_refused(recipient: str) -> None:
    with pytest.raises(RecipientInvalid):
        seal.wrap(SECRETS, [Identity.generate().recipient, recipient])


def test_no_recipient_is_refused_and_a_doubled_one_counts_once() -> None:
    with pytest.raises(RecipientInvalid, match="An empty list"):
        seal.wrap(SECRETS, [])
    one = Identity.generate().recipient
    assert seal.check_recipients([one, one]) == (one,)


def test_a_secret_in_place_of_a_recipient_is_not_shown() -> None:
    secret = str(pyrage.x25519.Identity.generate())
    with pytest.raises(RecipientInvalid) as refused:
        seal.wrap(SECRETS, [secret])
    assert secret[20:] not in str(refused.value) + repr(refused.value)


def test_secrets_do_not_show_themselves() -> None:
    identity = Identity.generate()
    assert str(identity.secret) not in repr(identity)
    assert repr(KEY) not in repr(SECRETS)


def test_an_identity_file_is_read_back() -> None:
    identity = Identity.generate()
    content = identity.to_file()
    found = seal.identities_of_file(b"# a comment\n\n" + content)
    assert found is not None
    assert [one.recipient for one in found] == [identity.recipient]
    assert seal.identities_of_file(b"# nothing\n") is None
    assert seal.identities_of_file(content + b"AGE-PLUGIN-YUBIKEY-1XX\n") is None
    assert seal.identities_of_file(content[:-3] + b"\n") is None
    assert seal.identities_of_file(hashlib.sha512(b"").digest()) is None
