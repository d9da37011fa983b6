"""The checkpoint, and receipts and checkpoints that others kept: each change to either side is found."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from lacre.audit.audit import audit
from lacre.audit.heads import Memory, check_checkpoint
from lacre.audit.tree import Tree
from lacre.errors import LacreError, NoteInvalid
from lacre.ledger.checkpoint import Checkpoint, SignedCheckpoint
from lacre.ledger.keys import PrivateKey
from lacre.ledger.merkle import leaf_hash

if TYPE_CHECKING:
    from tests.unit.audit.conftest import Builder, Held

STRANGER = PrivateKey.from_seed(b"\x07" * 32)
ENTRIES = 13


# --- the checkpoint


def test_no_checkpoint(held: Held) -> None:
    held.note = None
    assert held.found() == {("checkpoint-missing", None)}


def test_a_byte_changed_anywhere_in_the_checkpoint(builder: Builder, held: Held) -> None:
    tree = Tree()
    for data in builder.datas:
        tree.append(leaf_hash(data))
    keys = builder.state("one").keys.values()
    note = builder.checkpoint()
    assert not list(check_checkpoint(note, "lacre/0badc0de", keys, tree, ENTRIES))
    for position in range(len(note)):
        for flip in (1, 0x20, 0x80):
            changed = bytearray(note)
            changed[position] ^= flip
            assert list(check_checkpoint(bytes(changed), "lacre/0badc0de", keys, tree, ENTRIES)), position
    changed[9] ^= 1
    assert ("checkpoint-invalid", None) in replace(held, note=bytes(changed)).found()


@pytest.mark.parametrize("size", range(ENTRIES))
def test_an_older_checkpoint(builder: Builder, held: Held, size: int) -> None:
    held.note, held.filed_size = builder.checkpoint(size), size
    assert held.found() == {("checkpoint-size", size)}


def test_a_newer_checkpoint(builder: Builder, held: Held) -> None:
    builder.register("three")
    held.note, held.filed_size = builder.checkpoint(), ENTRIES + 1
    assert held.found() == {("checkpoint-size", ENTRIES)}


def test_checkpoints_of_others(builder: Builder, held: Held) -> None:
    head = Checkpoint("lacre/0badc0de", ENTRIES, bytes(32))
    held.note = SignedCheckpoint.sign(head, [builder.log]).note
    assert held.found() == {("checkpoint-root", None)}
    for key in (STRANGER, builder.broker, builder.person):
        held.note = SignedCheckpoint.sign(head, [key]).note
        assert held.found() == {("checkpoint-invalid", None)}
    held.note = builder.checkpoint(origin="lacre/other")
    assert held.found() == {("checkpoint-invalid", None)}
    for junk in (b"", b"\n\n", b"\xff" * 100, b"\n" * 100):
        held.note = junk
        assert held.found() == {("checkpoint-invalid", None)}


def test_a_checkpoint_that_a_witness_signed_too_holds(builder: Builder, held: Held) -> None:
    """C2SP signed notes: signatures of unknown keys are skipped."""
    assert held.note is not None
    witness = SignedCheckpoint.sign(Checkpoint("witness.example/w1", 1, bytes(32)), [STRANGER]).note
    held.note += witness.split(b"\n\n")[1]
    assert audit(held).ok


# --- memories


def test_files_that_are_no_memory() -> None:
    for data in (b"", b"lacre", b"c2sp.org/tlog-proof@v1\n", b"\xff\n\n"):
        with pytest.raises(LacreError):
            Memory.parse("file", data)


def test_memories_of_another_log(builder: Builder, held: Held) -> None:
    other = builder.empty()
    other.log = STRANGER
    other.genesis()
    memories = [Memory.parse("a", other.checkpoint()), Memory.parse("b", other.receipt(0).format())]
    report = audit(held, memories=memories)
    assert [(each.code, each.fields["memory"]) for each in report.findings] == [
        ("memory-invalid", "a"),
        ("memory-invalid", "b"),
    ]


def test_receipts_that_were_changed(builder: Builder, held: Held) -> None:
    receipt = builder.receipt(4)
    for changed in (
        replace(receipt, index=5),
        replace(receipt, hashes=receipt.hashes[1:]),
        replace(receipt, hashes=(bytes(32), *receipt.hashes[1:])),
        replace(receipt, hashes=(*receipt.hashes, bytes(32))),
    ):
        memory = Memory.parse("kept", changed.format())
        assert held.found(memories=[memory]) == {("memory-invalid", None)}


def test_a_byte_changed_anywhere_in_a_receipt(builder: Builder, held: Held) -> None:
    whole = builder.receipt(4).format()
    for position in range(0, len(whole), 3):
        data = whole[:position] + bytes([whole[position] ^ 1]) + whole[position + 1 :]
        try:
            memory = Memory.parse("kept", data)
        except LacreError:
            continue
        assert not audit(held, memories=[memory]).ok, position


def test_memories_of_a_ledger_without_a_genesis(builder: Builder, held: Held) -> None:
    memory = Memory.parse("kept", builder.checkpoint())
    report = audit(held.with_entry(0, b"{}"), memories=[memory])
    assert {"genesis-missing", "checkpoint-invalid", "memory-invalid"} <= {
        each.code for each in report.findings
    }


def test_another_genesis_that_the_log_s_own_keys_signed(builder: Builder, held: Held) -> None:
    """This machine knows a ledger by its genesis; who writes a whole history anew makes another, with the same keys.

    What other logs signed, under the same name or not, is no matter of this one.
    """
    other = builder.empty()
    other.genesis(name="Ana Souza, again")
    stranger = builder.empty()
    stranger.log = STRANGER
    stranger.genesis()
    notes = [b"junk", b"", stranger.checkpoint(), builder.checkpoint(), builder.checkpoint(5)]
    assert held.found(twins=notes) == set()
    assert held.found(twins=[*notes, other.checkpoint()]) == {("memory-rewritten", None)}
    for number in range(ENTRIES):
        other.register(f"study-{number}")
    assert held.found(twins=[other.checkpoint()]) == {("memory-shrunk", ENTRIES)}


def test_a_note_that_is_none_names_its_reason() -> None:
    with pytest.raises(NoteInvalid):
        Memory.parse("file", b"no note")
