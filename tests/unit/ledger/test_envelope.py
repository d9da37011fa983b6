"""DSSE envelopes: the example of its page, and every other spelling refused."""

import json
from typing import Any

import pytest

from lacre.errors import EntryTooLarge, EnvelopeInvalid, SignatureInvalid
from lacre.ledger.envelope import (
    MAX_ENTRY,
    PAYLOAD_ENTRY,
    PAYLOAD_REQUEST,
    Envelope,
    Signature,
    pae,
)
from lacre.ledger.keys import PrivateKey

PAYLOAD = '{"words":"até já"}'.encode()


def test_the_pae_is_the_one_of_the_dsse_page() -> None:
    """The example of the DSSE protocol page; a second one counts bytes, not characters."""
    assert pae("http://example.com/HelloWorld", b"hello world") == (
        b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"
    )
    assert pae("é", "é".encode()) == b"DSSEv1 2 \xc3\xa9 2 \xc3\xa9"


def test_an_envelope_survives_its_bytes(owner: PrivateKey, broker: PrivateKey) -> None:
    envelope = Envelope.sign(PAYLOAD_ENTRY, PAYLOAD, [owner, broker])
    data = envelope.encode()
    assert Envelope.decode(data) == envelope
    assert json.loads(data) == envelope.as_json()
    assert Envelope.from_json(envelope.as_json(), payload_type=PAYLOAD_ENTRY) == envelope


def test_who_signed_is_told_from_who_did_not(owner: PrivateKey, broker: PrivateKey, log: PrivateKey) -> None:
    envelope = Envelope.sign(PAYLOAD_ENTRY, PAYLOAD, [owner, broker])
    envelope.verify(owner.public)
    envelope.verify(broker.public)
    with pytest.raises(SignatureInvalid) as caught:
        envelope.verify(log.public)
    assert caught.value.fields == {"keyid": log.public.keyid}


def test_the_key_id_is_a_hint(owner: PrivateKey, broker: PrivateKey) -> None:
    """DSSE: a wrong key id neither makes a good signature bad nor a bad one good."""
    message = pae(PAYLOAD_ENTRY, PAYLOAD)
    swapped = (
        Signature(owner.public.keyid, broker.sign(message)),
        Signature(broker.public.keyid, owner.sign(message)),
    )
    envelope = Envelope(PAYLOAD_ENTRY, PAYLOAD, swapped)
    envelope.verify(owner.public)
    claimed = Envelope(PAYLOAD_ENTRY, PAYLOAD, (Signature(owner.public.keyid, broker.sign(message)),))
    with pytest.raises(SignatureInvalid):
        claimed.verify(owner.public)


def test_the_type_is_signed(owner: PrivateKey) -> None:
    request = Envelope.sign(PAYLOAD_REQUEST, PAYLOAD, [owner])
    with pytest.raises(SignatureInvalid):
        Envelope(PAYLOAD_ENTRY, PAYLOAD, request.signatures).verify(owner.public)


def test_a_request_is_not_taken_for_an_entry_nor_an_entry_for_a_request(owner: PrivateKey) -> None:
    request = Envelope.sign(PAYLOAD_REQUEST, PAYLOAD, [owner])
    entry = Envelope.sign(PAYLOAD_ENTRY, PAYLOAD, [owner])
    assert Envelope.decode(request.encode(), payload_type=PAYLOAD_REQUEST) == request
    assert Envelope.from_json(request.as_json()) == request
    with pytest.raises(EnvelopeInvalid):
        Envelope.decode(request.encode())
    with pytest.raises(EnvelopeInvalid):
        Envelope.from_json(entry.as_json())


def spellings(data: bytes) -> list[bytes]:
    """Other spellings of the same envelope, or envelopes with a member more or less."""
    value = json.loads(data)
    first, *_rest = value["signatures"]

    def compact(changed: Any) -> bytes:
        return json.dumps(changed, separators=(",", ":")).encode()

    unpadded = {**value, "payload": value["payload"].rstrip("=")}
    urlsafe = {**value, "payload": value["payload"].replace("+", "-").replace("/", "_") + "-_=="}
    short = {**first, "sig": first["sig"][:-4]}
    return [
        json.dumps(value).encode(),
        data + b"\n",
        b" " + data,
        b"\xef\xbb\xbf" + data,
        data.decode().encode("utf-16"),
        data.replace(b"/vnd", b"\\/vnd"),
        data.replace(b"payload", b"p\\u0061yload", 1),
        data[:-1] + b',"payloadType":"application/vnd.in-toto+json"}',
        compact(dict(reversed(value.items()))),
        compact({**value, "extra": 1}),
        compact({**value, "signatures": []}),
        compact({**value, "signatures": [first, first]}),
        compact({**value, "signatures": [{**first, "keyid": f"{index:064x}"} for index in range(17)]}),
        compact({**value, "signatures": [{**first, "cert": ""}]}),
        compact({**value, "signatures": [{"sig": first["sig"]}]}),
        compact({**value, "signatures": [{**first, "keyid": first["keyid"].upper()}]}),
        compact({**value, "signatures": [{**first, "keyid": ""}]}),
        compact({**value, "signatures": [{**first, "keyid": None}]}),
        compact({**value, "signatures": [short]}),
        compact({**value, "signatures": first}),
        compact({**value, "signatures": [[]]}),
        compact({**value, "payload": None}),
        compact({**value, "payloadType": "application/json"}),
        compact({**value, "payloadType": PAYLOAD_REQUEST}),
        compact({key: item for key, item in value.items() if key != "payload"}),
        compact([value]),
        compact(unpadded),
        compact(urlsafe),
        compact(None),
        b"",
        b"{",
        b"[" * 40_000,
        b"\xff",
        b"NaN",
        b"1" * 5000,
        data[:-1],
    ]


@pytest.mark.parametrize("at", range(36))
def test_no_other_spelling_is_an_entry(owner: PrivateKey, broker: PrivateKey, at: int) -> None:
    data = Envelope.sign(PAYLOAD_ENTRY, b'{"wo":"\xff"}', [owner, broker]).encode()
    other = spellings(data)[at]
    assert other != data
    with pytest.raises(EnvelopeInvalid):
        Envelope.decode(other)


def test_every_spelling_was_tried(owner: PrivateKey) -> None:
    assert len(spellings(Envelope.sign(PAYLOAD_ENTRY, PAYLOAD, [owner]).encode())) == 36


def test_unused_bits_of_base64_are_zero(owner: PrivateKey) -> None:
    """`eA==` and `eB==` decode to the same byte; only the first is canonical."""
    data = Envelope.sign(PAYLOAD_ENTRY, b"x", [owner]).encode()
    assert b'"eA=="' in data
    with pytest.raises(EnvelopeInvalid):
        Envelope.decode(data.replace(b'"eA=="', b'"eB=="'))


def test_an_entry_has_at_most_65535_bytes(owner: PrivateKey) -> None:
    """Base64 grows by fours: the largest payload leaves less than four bytes of the limit."""
    frame = len(Envelope.sign(PAYLOAD_ENTRY, b"", [owner]).encode())
    most = (MAX_ENTRY - frame) // 4 * 3
    largest = Envelope.sign(PAYLOAD_ENTRY, b"x" * most, [owner])
    assert MAX_ENTRY - 4 < len(largest.encode()) <= MAX_ENTRY
    assert Envelope.decode(largest.encode()) == largest
    with pytest.raises(EntryTooLarge):
        Envelope.sign(PAYLOAD_ENTRY, b"x" * (most + 1), [owner]).encode()
    with pytest.raises(EntryTooLarge):
        Envelope.decode(b" " * (MAX_ENTRY + 1))


def test_an_envelope_is_not_built_from_anything_else(owner: PrivateKey) -> None:
    good = Envelope.sign(PAYLOAD_ENTRY, PAYLOAD, [owner]).signatures[0]
    for kind, signatures in (
        ("application/json", (good,)),
        (PAYLOAD_ENTRY, ()),
        (PAYLOAD_ENTRY, (good, good)),
        (PAYLOAD_ENTRY, (Signature("x", good.sig),)),
        (PAYLOAD_ENTRY, (Signature(good.keyid, good.sig[:63]),)),
    ):
        with pytest.raises(EnvelopeInvalid):
            Envelope(kind, PAYLOAD, signatures)
