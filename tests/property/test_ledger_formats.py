"""The ledger's formats for any value and any bytes: one form each, and nothing but refusals beside it."""

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import assume, given, settings, strategies as st

from lacre.errors import LacreError
from lacre.ledger.checkpoint import Checkpoint, SignedCheckpoint
from lacre.ledger.encoding import from_base64, from_decimal, to_base64
from lacre.ledger.envelope import PAYLOAD_ENTRY, PAYLOAD_TYPES, Envelope, Signature, pae
from lacre.ledger.keys import PrivateKey
from lacre.ledger.merkle import (
    Frontier,
    consistency_proof,
    inclusion_proof,
    leaf_hash,
    node_hash,
    root_at,
    verify_consistency,
    verify_inclusion,
)
from lacre.ledger.note import Note, NoteSignature, VerifierKey, is_key_name, sign_note
from lacre.ledger.proof import Receipt
from lacre.ledger.statement import KINDS, Statement, Subject

LOG = PrivateKey.from_seed(b"\x03" * 32)
ORIGIN = "lacre/0a1b2c3d"

hashes = st.binary(min_size=32, max_size=32)
digests = hashes.map(bytes.hex)
words = st.text(st.characters(exclude_categories=["Cs"]))
names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(is_key_name)
lines = st.text(st.characters(exclude_categories=["Cs"], min_codepoint=32), min_size=1)
numbers = st.integers(0, 2**63 - 1)
keys = hashes.map(PrivateKey.from_seed)

scalars = (
    st.none()
    | st.booleans()
    | st.integers(1 - 2**53, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
)
values = st.recursive(
    scalars | words,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=4),
    max_leaves=12,
)
statements = st.builds(
    Statement,
    kind=st.sampled_from(KINDS),
    subjects=st.lists(
        st.builds(Subject, st.text(st.characters(exclude_categories=["Cs"]), min_size=1), digests),
        min_size=1,
        max_size=4,
        unique_by=lambda subject: subject.name,
    ).map(tuple),
    predicate=st.dictionaries(words, values, max_size=4),
)
envelopes = st.builds(
    Envelope,
    payload_type=st.sampled_from(PAYLOAD_TYPES),
    payload=st.binary(max_size=300),
    signatures=st.lists(
        st.builds(Signature, digests, st.binary(min_size=64, max_size=64)),
        min_size=1,
        max_size=16,
        unique_by=lambda signature: signature.keyid,
    ).map(tuple),
)
notes = st.builds(
    Note,
    text=st.lists(st.just("") | lines, min_size=1).map(lambda some: "".join(f"{line}\n" for line in some)),
    signatures=st.lists(
        st.builds(
            NoteSignature, names, st.binary(min_size=4, max_size=4), st.binary(min_size=1, max_size=80)
        ),
        min_size=1,
        max_size=5,
    ).map(tuple),
)
checkpoints = st.builds(Checkpoint, lines, numbers, hashes, st.lists(lines, max_size=3).map(tuple))
receipts = st.builds(
    Receipt,
    numbers,
    st.lists(hashes, max_size=63).map(tuple),
    checkpoints.map(lambda checkpoint: sign_note(checkpoint.format(), [(ORIGIN, LOG)])),
    st.none() | st.binary(min_size=1, max_size=100),
)
verifier_keys = st.builds(VerifierKey, names, keys.map(lambda key: key.public))


def parse_entry(data: bytes) -> Envelope:
    return Envelope.decode(data)


def parse_checkpoint(data: bytes) -> Checkpoint:
    return Checkpoint.parse(data.decode("latin-1"))


def format_checkpoint(checkpoint: Checkpoint) -> bytes:
    return checkpoint.format().encode("latin-1")


def parse_verifier_key(data: bytes) -> VerifierKey:
    return VerifierKey.parse(data.decode("latin-1"))


def format_verifier_key(verifier: VerifierKey) -> bytes:
    return verifier.format().encode("latin-1")


SIGNED = SignedCheckpoint.sign(Checkpoint(ORIGIN, 3, leaf_hash(b"")), [LOG])
STATEMENT = Statement(
    "read", (Subject("pool/teste", "0f" * 32),), {"number": 1, "half": 0.5, "é": [None, True]}
)
# What each format reads and writes, and one good example.
FORMATS: dict[str, tuple[Callable[[bytes], Any], Callable[[Any], bytes], bytes]] = {
    "envelope": (
        parse_entry,
        Envelope.encode,
        Envelope.sign(PAYLOAD_ENTRY, STATEMENT.encode(), [LOG]).encode(),
    ),
    "statement": (Statement.decode, Statement.encode, STATEMENT.encode()),
    "note": (Note.parse, Note.format, SIGNED.note),
    "checkpoint": (parse_checkpoint, format_checkpoint, SIGNED.checkpoint.format().encode()),
    "receipt": (Receipt.parse, Receipt.format, Receipt(1, (leaf_hash(b"a"),), SIGNED.note, b"x").format()),
    "verifier key": (
        parse_verifier_key,
        format_verifier_key,
        VerifierKey(ORIGIN, LOG.public).format().encode(),
    ),
}
formats = pytest.mark.parametrize("name", FORMATS)


@settings(deadline=None)
@given(envelopes)
def test_an_envelope_survives_its_forms(envelope: Envelope) -> None:
    data = envelope.encode()
    again = Envelope.decode(data, payload_type=envelope.payload_type)
    assert again == envelope
    assert again.encode() == data
    assert Envelope.from_json(envelope.as_json(), payload_type=envelope.payload_type) == envelope


@settings(deadline=None)
@given(statements)
def test_a_statement_survives_its_form(statement: Statement) -> None:
    data = statement.encode()
    again = Statement.decode(data)
    assert (again.kind, again.subjects) == (statement.kind, statement.subjects)
    assert again.predicate == statement.predicate
    assert again.encode() == data


@settings(deadline=None)
@given(notes)
def test_a_note_survives_its_form(note: Note) -> None:
    assert Note.parse(note.format()) == note


@settings(deadline=None)
@given(checkpoints)
def test_a_checkpoint_survives_its_form(checkpoint: Checkpoint) -> None:
    assert Checkpoint.parse(checkpoint.format()) == checkpoint


@settings(deadline=None)
@given(receipts)
def test_a_receipt_survives_its_form(receipt: Receipt) -> None:
    assert Receipt.parse(receipt.format()) == receipt


@settings(deadline=None)
@given(verifier_keys)
def test_a_verifier_key_survives_its_form(verifier: VerifierKey) -> None:
    assert VerifierKey.parse(verifier.format()) == verifier


@settings(deadline=None)
@given(st.binary())
def test_base64_survives_its_form(data: bytes) -> None:
    assert from_base64(to_base64(data)) == data


@settings(deadline=None)
@given(st.text(max_size=12) | st.text("AQgw+/=", max_size=12))
def test_base64_has_one_form(text: str) -> None:
    data = from_base64(text)
    assert data is None or to_base64(data) == text


@settings(deadline=None)
@given(st.text(max_size=5) | st.text("+-_ 0123456789", max_size=5))
def test_a_number_has_one_form(text: str) -> None:
    number = from_decimal(text)
    assert number is None or str(number) == text


@formats
@settings(deadline=None)
@given(data=st.binary() | words.map(str.encode))
def test_any_bytes_are_read_or_refused(name: str, data: bytes) -> None:
    check_refused_or_its_own(name, data)


@formats
@settings(deadline=None)
@given(draw=st.data())
def test_a_changed_byte_is_refused_or_says_something_else(name: str, draw: st.DataObject) -> None:
    good = FORMATS[name][2]
    at = draw.draw(st.integers(0, len(good)))
    length = draw.draw(st.integers(0, 1))
    new = draw.draw(st.binary(max_size=1) | st.sampled_from([b"\n", b" ", b"\r", b"=", b"0", b"+"]))
    changed = good[:at] + new + good[at + length :]
    assume(changed != good)
    check_refused_or_its_own(name, changed)


@formats
@settings(deadline=None)
@given(draw=st.data())
def test_shuffled_pieces_are_refused_or_say_something_else(name: str, draw: st.DataObject) -> None:
    """Pieces of good examples of every format, in any order and number, come closer than random bytes."""
    pieces = [piece for *_functions, good in FORMATS.values() for piece in good.splitlines(keepends=True)]
    chosen = draw.draw(st.lists(st.sampled_from([*pieces, b"\n", b" ", b"extra ", b"index "]), max_size=12))
    check_refused_or_its_own(name, b"".join(chosen))


def check_refused_or_its_own(name: str, data: bytes) -> None:
    """Bytes are refused, or they are the form of a value: the good example's only when they are its bytes."""
    parse, form, good = FORMATS[name]
    try:
        value = parse(data)
    except LacreError as error:
        refusal = str(error)  # its fields fill its template
    else:
        refusal = ""
        assert form(value) == data
        assert (value == parse(good)) == (data == good)
    assert "{" not in refusal


@settings(deadline=None)
@given(st.binary(max_size=100), keys, st.integers(0, 10_000))
def test_a_signature_holds_for_its_bytes_alone(payload: bytes, key: PrivateKey, at: int) -> None:
    envelope = Envelope.sign(PAYLOAD_ENTRY, payload, [key])
    envelope.verify(key.public)
    key.public.verify(pae(PAYLOAD_ENTRY, payload), envelope.signatures[0].sig)
    sig = bytearray(envelope.signatures[0].sig)
    sig[at % 64] ^= 1 << at % 8
    other = Envelope(PAYLOAD_ENTRY, payload, (Signature(key.public.keyid, bytes(sig)),))
    with pytest.raises(LacreError):
        other.verify(key.public)


@settings(deadline=None)
@given(st.binary(max_size=40), st.binary(max_size=40))
def test_no_two_payloads_have_one_pae(first: bytes, second: bytes) -> None:
    for one, other in itertools.combinations(PAYLOAD_TYPES, 2):
        assert pae(one, first) != pae(other, second)
        assert (pae(one, first) == pae(one, second)) == (first == second)


def naive_root(leaves: list[bytes]) -> bytes:
    """MTH of RFC 6962 section 2.1, from its words."""
    if len(leaves) == 1:
        return leaves[0]
    split = 1
    while 2 * split < len(leaves):
        split *= 2
    return node_hash(naive_root(leaves[:split]), naive_root(leaves[split:]))


@settings(deadline=None)
@given(st.integers(1, 300), st.data())
def test_the_tree_of_any_size_is_the_definitions(size: int, draw: st.DataObject) -> None:
    leaves = [leaf_hash(b"%d" % index) for index in range(size)]
    frontier = Frontier()
    stored = {(0, index): leaf for index, leaf in enumerate(leaves)}
    for leaf in leaves:
        stored |= {(level, position): node for level, position, node in frontier.append(leaf)}

    def subtree(level: int, position: int) -> bytes:
        return stored[level, position]

    top = naive_root(leaves)
    assert frontier.root() == root_at(size, subtree) == top
    index = draw.draw(st.integers(0, size - 1))
    verify_inclusion(leaves[index], index, size, inclusion_proof(index, size, subtree), top)
    old = draw.draw(st.integers(1, size))
    before = naive_root(leaves[:old])
    verify_consistency(old, size, before, top, consistency_proof(old, size, subtree))
    assert Frontier.at(old, subtree).root() == before


@settings(deadline=None)
@given(
    st.integers(0, 20) | st.integers(0, 2**64),
    st.integers(0, 20) | st.integers(0, 2**64),
    st.lists(hashes, max_size=8) | st.lists(hashes | st.binary(max_size=40), max_size=70),
    hashes,
)
def test_any_proof_is_refused(low: int, high: int, proof: list[bytes], digest: bytes) -> None:
    """A proof found by chance would be a collision of SHA-256, but between trees whose proof is empty."""
    assume(low not in (0, high))
    with pytest.raises(LacreError):
        verify_inclusion(leaf_hash(b""), low, high, proof, digest)
    with pytest.raises(LacreError):
        verify_consistency(low, high, leaf_hash(b""), digest, proof)
