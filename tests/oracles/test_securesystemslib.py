"""Envelopes, by securesystemslib, the DSSE of python-tuf and in-toto: its encoding, its check, its signatures."""

import json

import pytest
import rfc8785
import securesystemslib.dsse
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import example, given, strategies as st
from securesystemslib.exceptions import VerificationError
from securesystemslib.signer import (  # type: ignore[attr-defined]  # public, but not in its __all__
    CryptoSigner,
    Key,
    SSlibKey,
)

from lacre.errors import SignatureInvalid
from lacre.ledger.envelope import MAX_SIGNATURES, PAYLOAD_TYPES, Envelope, pae
from lacre.ledger.keys import PrivateKey

from .conftest import Life

SEEDS = st.lists(st.binary(min_size=32, max_size=32), min_size=1, max_size=MAX_SIGNATURES, unique=True)
STRANGER = PrivateKey.from_seed(b"a stranger whose key is no other")


def public_half(raw: bytes, keyid: str) -> SSlibKey:
    return SSlibKey(keyid, "ed25519", "ed25519", {"public": raw.hex()})


def halves(keys: list[PrivateKey]) -> list[Key]:
    return [public_half(key.public.raw, key.public.keyid) for key in keys]


@given(st.text(st.characters(codec="utf-8")), st.binary())
@example("http://example.com/HelloWorld", b"hello world")
@example("é", "é".encode())
@example("", b"")
def test_the_pre_authentication_encoding_is_theirs(kind: str, payload: bytes) -> None:
    assert pae(kind, payload) == securesystemslib.dsse.Envelope(payload, kind, {}).pae()


@given(st.sampled_from(PAYLOAD_TYPES), st.binary(), SEEDS)
def test_they_verify_what_lacre_signs(kind: str, payload: bytes, seeds: list[bytes]) -> None:
    """Every signature; not by a key that did not sign, and not with another byte in it."""
    keys = [PrivateKey.from_seed(seed) for seed in seeds]
    data = Envelope.sign(kind, payload, keys).encode()
    theirs = securesystemslib.dsse.Envelope.from_dict(json.loads(data))
    assert theirs.to_dict() == json.loads(data)
    assert set(theirs.verify(halves(keys), len(keys))) == {key.public.keyid for key in keys}
    with pytest.raises(VerificationError):
        theirs.verify([public_half(STRANGER.public.raw, keys[0].public.keyid)], 1)
    theirs.payload += b"\0"
    with pytest.raises(VerificationError):
        theirs.verify(halves(keys), 1)


@given(st.sampled_from(PAYLOAD_TYPES), st.binary(), SEEDS)
def test_lacre_verifies_what_they_sign(kind: str, payload: bytes, seeds: list[bytes]) -> None:
    """Put into its one form, that of RFC 8785, it is the very envelope that lacre would have made."""
    keys = [PrivateKey.from_seed(seed) for seed in seeds]
    theirs = securesystemslib.dsse.Envelope(payload, kind, {})
    for seed, key in zip(seeds, keys, strict=True):
        half = public_half(key.public.raw, key.public.keyid)
        theirs.sign(CryptoSigner(Ed25519PrivateKey.from_private_bytes(seed), half))
    data = rfc8785.dumps(theirs.to_dict())
    read = Envelope.decode(data, payload_type=kind)
    for key in keys:
        read.verify(key.public)
    with pytest.raises(SignatureInvalid):
        read.verify(STRANGER.public)
    assert data == Envelope.sign(kind, payload, keys).encode()


def test_they_verify_every_envelope_of_a_live_log(life: Life) -> None:
    log = life.log
    for each in (*log.entries, *log.requests):
        theirs = securesystemslib.dsse.Envelope.from_dict(each.as_json())
        known: list[Key] = [public_half(log.keys[keyid], keyid) for keyid, _signature in each.signatures]
        assert len(theirs.verify(known, len(known))) == len(each.signatures)
