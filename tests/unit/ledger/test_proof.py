"""Receipts: the shape of the published example, what is refused, and what a good one proves."""

import pytest

from lacre.errors import (
    CheckpointInvalid,
    FormatError,
    NoteInvalid,
    NoteUnsigned,
    ProofInvalid,
    ReceiptInvalid,
)
from lacre.ledger.checkpoint import Checkpoint, SignedCheckpoint
from lacre.ledger.keys import PrivateKey
from lacre.ledger.merkle import inclusion_proof, leaf_hash, node_hash, root
from lacre.ledger.note import VerifierKey
from lacre.ledger.proof import Receipt

ORIGIN = "lacre/0a1b2c3d"
ENTRIES = [b"zero", b"one", b"two"]

# The example of https://c2sp.org/tlog-proof, its abridged signatures replaced by one of the right form
# and its extra data cut where it stops being base64.
EXAMPLE = """c2sp.org/tlog-proof@v1
extra YWdlLXYxLjIuMS1kYXJ3aW4tYXJtNjQudGFyLmd6
index 73894
gSKyXoYZUgZ6jduWYrkDOARinOMGJveXjgMkBTcdPlQ=
B95lDa8R83lS8n0eG+o0buTxRKQTYFi//1U8anccXmA=
EKNzoDWG8LGC0Yp9o+sv3qllpMP9uHQ9B20KNL+Q1zs=
RoopEkOdqkYqMB4MJXrbt/hMjOxsVn0IrWjpz1ZMMes=
AHCioX9nLjsrse6YhjRRmk1WUEirVOLLRoOQ6vfO5vk=

example.com/fancylog
109482
sFodV/vSp5O8n9a8QpW6PRY97tfOSW5bsc2Xl/EQi08=

— example.com/fancylog hI2DJwAA
"""


@pytest.fixture(scope="session")
def receipt(log: PrivateKey) -> Receipt:
    leaves = [leaf_hash(entry) for entry in ENTRIES]

    def subtree(level: int, position: int) -> bytes:
        return root(leaves[position << level : (position + 1) << level])

    signed = SignedCheckpoint.sign(Checkpoint(ORIGIN, 3, root(leaves)), [log])
    return Receipt(1, inclusion_proof(1, 3, subtree), signed.note)


def test_the_form_is_written_out(receipt: Receipt) -> None:
    """Entry 1 of 3: its sibling is leaf 0, and the other child of the root is leaf 2."""
    assert receipt.hashes == (leaf_hash(b"zero"), leaf_hash(b"two"))
    lines = receipt.format().split(b"\n")
    assert lines[:2] == [b"c2sp.org/tlog-proof@v1", b"index 1"]
    assert lines[4:7] == [b"", b"lacre/0a1b2c3d", b"3"]
    assert receipt.format().endswith(b"\n\n" + receipt.checkpoint_note)
    assert Receipt.parse(receipt.format()) == receipt


def test_the_published_example_is_read() -> None:
    data = EXAMPLE.encode()
    receipt = Receipt.parse(data)
    assert (receipt.index, len(receipt.hashes)) == (73894, 5)
    assert receipt.extra == b"age-v1.2.1-darwin-arm64.tar.gz"
    assert receipt.format() == data


def test_a_receipt_proves_its_entry(receipt: Receipt, log: PrivateKey) -> None:
    checkpoint = receipt.verify(b"one", [VerifierKey(ORIGIN, log.public)])
    top = node_hash(node_hash(leaf_hash(b"zero"), leaf_hash(b"one")), leaf_hash(b"two"))
    assert checkpoint == Checkpoint(ORIGIN, 3, top)


def test_a_receipt_proves_nothing_else(receipt: Receipt, log: PrivateKey, broker: PrivateKey) -> None:
    known = [VerifierKey(ORIGIN, log.public)]
    with pytest.raises(ProofInvalid):
        receipt.verify(b"two", known)
    for index in (0, 2, 3):
        with pytest.raises(ProofInvalid):
            Receipt(index, receipt.hashes, receipt.checkpoint_note).verify(b"one", known)
    with pytest.raises(ProofInvalid):
        Receipt(1, receipt.hashes[::-1], receipt.checkpoint_note).verify(b"one", known)
    with pytest.raises(NoteUnsigned):
        receipt.verify(b"one", [VerifierKey(ORIGIN, broker.public)])
    smaller = receipt.checkpoint_note.replace(b"\n3\n", b"\n2\n")
    with pytest.raises(NoteInvalid):
        Receipt(1, receipt.hashes, smaller).verify(b"one", known)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("c2sp.org/tlog-proof@v1", "c2sp.org/tlog-proof@v2"),
        ("c2sp.org/tlog-proof@v1\n", ""),
        ("c2sp.org/tlog-proof@v1\n", "c2sp.org/tlog-proof@v1 \n"),
        ("index 1\n", ""),
        ("index 1", "index 01"),
        ("index 1", "index +1"),
        ("index 1", "index -1"),
        ("index 1", "index  1"),
        ("index 1", "Index 1"),
        ("index 1", "1"),
        ("index 1", "index"),
        ("index 1", f"index {2**63}"),
        ("index 1", "index 1\nindex 1"),
        ("index 1", "extra \nindex 1"),
        ("index 1", "extra AB==\nindex 1"),
        ("index 1", "extra AA==\nextra AA==\nindex 1"),
        ("index 1", "index 1\nextra AA=="),
        ("index 1", "index 1\nAA=="),
        ("index 1", "index 1\n" + "A" * 43 + "B"),
        ("index 1", "index 1" + ("\n" + "A" * 43 + "=") * 62),
        ("index 1", "index 1\r"),
        ("index 1", "índex 1"),
        ("index 1", "extra " + "AAAA" * 21_846 + "\nindex 1"),
        ("index 1\n", "index 1\n\n"),
        ("\n\nlacre", "\nlacre"),
        ("\n\nlacre", "\n\n\nlacre"),
        ("\n3\n", "\n03\n"),
        ("\n— ", "\n- "),
    ],
)
def test_nothing_else_is_a_receipt(receipt: Receipt, old: str, new: str) -> None:
    text = receipt.format().decode()
    assert old in text
    with pytest.raises(FormatError):
        Receipt.parse(text.replace(old, new, 1).encode())


@pytest.mark.parametrize(
    "data", [b"", b"\n\n", b"c2sp.org/tlog-proof@v1\n\n", b"\xff\n\n", b" " * 2_000_000 + b"\n\n"]
)
def test_what_has_no_such_shape_is_no_receipt(data: bytes) -> None:
    with pytest.raises(ReceiptInvalid):
        Receipt.parse(data)


def test_a_receipt_is_not_built_from_anything_else(receipt: Receipt, log: PrivateKey) -> None:
    note = receipt.checkpoint_note
    for index, hashes, extra in (
        (-1, (), None),
        (2**63, (), None),
        (0, (b"short",), None),
        (0, (bytes(32),) * 64, None),
        (0, (), b""),
        (0, (), bytes(65_537)),
    ):
        with pytest.raises(ReceiptInvalid):
            Receipt(index, hashes, note, extra)
    with pytest.raises(NoteInvalid):
        Receipt(0, (), b"no note")
    with pytest.raises(CheckpointInvalid):
        Receipt(0, (), note.replace(b"\n3\n", b"\n03\n"))
