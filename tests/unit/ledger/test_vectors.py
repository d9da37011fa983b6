"""The vectors, made without lacre: it reads them, writes them byte for byte, and believes them."""

import subprocess
import sys
from pathlib import Path

import pytest

from lacre.ledger.checkpoint import Checkpoint, SignedCheckpoint
from lacre.ledger.envelope import PAYLOAD_ENTRY, Envelope
from lacre.ledger.keys import PrivateKey
from lacre.ledger.merkle import inclusion_proof, leaf_hash, root
from lacre.ledger.note import VerifierKey
from lacre.ledger.proof import Receipt
from lacre.ledger.statement import Statement

ORIGIN = "lacre/0a1b2c3d"


@pytest.fixture(scope="session")
def entries(vectors: Path) -> list[bytes]:
    return [(vectors / f"entry-{index}.json").read_bytes() for index in range(5)]


def test_the_files_are_what_their_script_makes(vectors: Path, tmp_path: Path) -> None:
    subprocess.run([sys.executable, vectors / "make.py", tmp_path], check=True)
    made = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    kept = {path.name: path.read_bytes() for path in vectors.iterdir() if path.is_file()}
    assert made == {name: data for name, data in kept.items() if name not in ("make.py", "README.md")}


@pytest.mark.parametrize("index", range(5))
def test_entries_are_read_and_written_byte_for_byte(
    entries: list[bytes], index: int, owner: PrivateKey, broker: PrivateKey
) -> None:
    envelope = Envelope.decode(entries[index])
    keys = [owner, broker] if index == 0 else [broker]
    for key in keys:
        envelope.verify(key.public)
    statement = Statement.decode(envelope.payload)
    assert statement.kind == ("genesis", "register", "seal", "read", "result")[index]
    assert Envelope.sign(PAYLOAD_ENTRY, statement.encode(), keys).encode() == entries[index]


def test_the_request_inside_an_entry_is_its_owners(entries: list[bytes], owner: PrivateKey) -> None:
    predicate = Statement.decode(Envelope.decode(entries[1]).payload).predicate
    request = Envelope.from_json(predicate["request"])
    request.verify(owner.public)
    assert request.as_json() == predicate["request"]


def test_checkpoints_are_read_and_written_byte_for_byte(
    vectors: Path, entries: list[bytes], log: PrivateKey, next_log: PrivateKey
) -> None:
    checkpoint = Checkpoint(ORIGIN, 5, root(map(leaf_hash, entries)))
    lines = (vectors / "verifier-keys.txt").read_text(encoding="utf-8").splitlines()
    verifiers = [VerifierKey.parse(line) for line in lines]
    assert [verifier.public for verifier in verifiers] == [log.public, next_log.public]
    for name, keys in (("checkpoint.txt", [log]), ("checkpoint-two-keys.txt", [log, next_log])):
        note = (vectors / name).read_bytes()
        assert SignedCheckpoint.sign(checkpoint, keys).note == note
        opened = SignedCheckpoint.open(note, verifiers)
        assert opened == SignedCheckpoint(checkpoint, note, tuple(verifiers[: len(keys)]))


@pytest.mark.parametrize("index", [0, 4])
def test_receipts_are_read_and_written_byte_for_byte(
    vectors: Path, entries: list[bytes], log: PrivateKey, index: int
) -> None:
    data = (vectors / f"entry-{index}.tlog-proof").read_bytes()
    receipt = Receipt.parse(data)
    assert receipt.verify(entries[index], [VerifierKey(ORIGIN, log.public)]).size == 5
    leaves = list(map(leaf_hash, entries))

    def subtree(level: int, position: int) -> bytes:
        return root(leaves[position << level : (position + 1) << level])

    note = (vectors / "checkpoint.txt").read_bytes()
    assert Receipt(index, inclusion_proof(index, 5, subtree), note).format() == data
