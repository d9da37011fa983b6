"""Rule 18: what a machine remembers of a ledger, and which ledgers it therefore refuses."""

import errno
import hashlib
import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lacre.errors import (
    DiskFull,
    LedgerForked,
    LedgerRolledBack,
    MemoryDamaged,
    NotReadable,
    NotWritten,
    StoreError,
)
from lacre.ledger.checkpoint import SignedCheckpoint
from lacre.ledger.note import VerifierKey
from lacre.store.memory import Growth, Memory, compare
from lacre.store.reader import Columns, snapshot

if TYPE_CHECKING:
    from .conftest import Place

Nobody = Callable[[], AbstractContextManager[None]]
SLOT = 8192


def folder_of(place: "Place") -> Path:
    with snapshot(place.engine) as reader:
        genesis = reader.genesis()
    assert genesis is not None
    return place.memory.folder(genesis)


def records(path: Path) -> list[bytes]:
    """Read the file of entries as its format says: u32be(length) || envelope, and again."""
    data, found = path.read_bytes(), []
    while data:
        length = int.from_bytes(data[:4], "big")
        found.append(data[4 : 4 + length])
        assert len(found[-1]) == length
        data = data[4 + length :]
    return found


def growth(place: "Place", *envelopes: bytes) -> Growth:
    with place.writer.transaction() as tx:
        for envelope in envelopes:
            tx.append(envelope, Columns(kind="seal", time="t"))
    grown = tx.growth()
    assert grown is not None
    return grown


def test_a_memory_is_keyed_by_the_genesis_and_keeps_the_entries(place: "Place") -> None:
    place.append(b"genesis")
    place.append(b"one", b"two")
    folder = place.folder / "state" / "ledgers" / hashlib.sha256(b"\x00genesis").hexdigest()
    assert folder_of(place) == folder
    assert records(folder / "entries") == [b"genesis", b"one", b"two"]
    known = place.memory.recall(place.engine)
    assert known is not None
    opened = SignedCheckpoint.open(known.note, [VerifierKey("lacre/test", place.key.public)])
    assert (opened.checkpoint.size, opened.checkpoint.root) == (known.size, known.root)
    files = {path for path in folder.iterdir() if path.is_file()}
    assert {path.name for path in files} == {"entries", "checkpoint", "lock"}
    assert {path.name for path in folder.iterdir()} - {path.name for path in files} == {"documents"}
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in files)
    assert {path.stat().st_mode & 0o777 for path in (folder, folder / "documents")} == {0o700}


def test_an_older_copy_is_refused_for_writing_and_reading(place: "Place") -> None:
    place.append(b"genesis")
    copy = place.copy("older.db")
    place.append(b"one")
    copy.replace(place.path)
    place.reopen()
    with pytest.raises(LedgerRolledBack) as caught:
        place.append(b"other")
    assert (caught.value.rule, caught.value.fields) == (18, {"size": 1, "remembered": 2})
    assert "newer copy" in caught.value.way_out
    with pytest.raises(LedgerRolledBack), place.memory.snapshot(place.engine):
        pass


def test_an_older_copy_is_noticed_by_a_process_that_had_the_newer_one_open(place: "Place") -> None:
    place.append(b"genesis")
    copy = place.copy("older.db")
    place.append(b"one")
    copy.replace(place.path)
    with pytest.raises(LedgerRolledBack):
        place.append(b"other")


def test_the_newer_copy_put_back_is_accepted(place: "Place") -> None:
    place.append(b"genesis")
    older = place.copy("older.db")
    place.append(b"one")
    newer = place.copy("newer.db")
    older.replace(place.path)
    newer.replace(place.path)
    place.append(b"two")
    with place.memory.snapshot(place.engine) as reader:
        assert reader.size == 3


def test_a_copy_that_went_its_own_way_is_refused_however_long_it_grew(
    place: "Place", other_place: "Place"
) -> None:
    """The other machine's owner writes on from an old copy; this machine remembers otherwise."""
    place.append(b"genesis")
    place.copy("other/ledger.db")
    other_place.reopen()
    other_place.append(b"another history", b"and more", b"and more")
    place.append(b"one", b"two")
    other_place.path.replace(place.path)
    place.reopen()
    with pytest.raises(LedgerForked) as caught:
        place.append(b"three")
    assert "two copies cannot be merged" in caught.value.way_out
    assert caught.value.rule == 18


def test_another_ledger_has_another_memory(place: "Place", other_place: "Place") -> None:
    other_place.memory = other_place.writer._memory = place.memory
    place.append(b"genesis", b"one", b"two")
    other_place.append(b"another genesis")
    assert folder_of(place) != folder_of(other_place)
    place.append(b"three")


def test_two_copies_on_one_machine_do_not_both_go_on(place: "Place", other_place: "Place") -> None:
    """Each passes the check before its commit; whoever remembers second is told, so it decrypts nothing."""
    other_place.memory = other_place.writer._memory = place.memory
    place.append(b"genesis")
    place.copy("other/ledger.db")
    other_place.reopen()
    ours, theirs = growth(place, b"ours"), growth(other_place, b"theirs")
    place.memory.advance(place.engine, ours)
    with pytest.raises(LedgerForked):
        place.memory.advance(other_place.engine, theirs)


def test_two_copies_of_which_the_other_is_longer(place: "Place", other_place: "Place") -> None:
    other_place.memory = other_place.writer._memory = place.memory
    place.append(b"genesis")
    place.copy("other/ledger.db")
    other_place.reopen()
    ours, theirs = growth(place, b"ours", b"more"), growth(other_place, b"theirs")
    place.memory.advance(place.engine, ours)
    with pytest.raises(LedgerRolledBack):
        place.memory.advance(other_place.engine, theirs)


def test_the_largest_wins_in_whatever_order(place: "Place") -> None:
    place.append(b"genesis")
    first = growth(place, b"one")
    second = growth(place, b"two")
    place.memory.advance(place.engine, second)
    place.memory.advance(place.engine, first)
    known = place.memory.recall(place.engine)
    assert known is not None
    assert known.size == 3
    assert records(folder_of(place) / "entries") == [b"genesis", b"one", b"two"]


def test_a_ledger_from_elsewhere_is_taken_in_whole(place: "Place") -> None:
    place.append(*(str(index).encode() for index in range(20)))
    place.memory = place.writer._memory = Memory(place.folder / "another machine")
    place.append(b"here")
    assert len(records(folder_of(place) / "entries")) == 21
    assert records(folder_of(place) / "entries")[-1] == b"here"


def test_a_ledger_swapped_between_commit_and_memory(place: "Place", other_place: "Place") -> None:
    place.append(b"genesis", remember=False)
    grown = growth(place, b"one")
    other_place.append(b"another genesis", b"one", b"two")
    other_place.path.replace(place.path)
    with pytest.raises(LedgerForked):
        place.memory.advance(place.engine, grown)
    assert place.memory.remembered(grown.genesis) is None


def test_a_torn_record_is_cut_off(place: "Place") -> None:
    """A crash after `entries` was written and before the slot was leaves a tail, whole or torn."""
    place.append(b"genesis")
    path = folder_of(place) / "entries"
    with path.open("ab") as file:
        file.write((500).to_bytes(4, "big") + b"torn")
    place.append(b"one")
    assert records(path) == [b"genesis", b"one"]


@pytest.mark.parametrize("cut", [0, 1, 200])
def test_a_torn_slot_leaves_the_other(place: "Place", cut: int) -> None:
    """The slots are written in turn, so the second commit's is the second one."""
    place.append(b"genesis")
    place.append(b"one")
    path = folder_of(place) / "checkpoint"
    path.write_bytes(path.read_bytes()[: SLOT + cut])
    known = place.memory.recall(place.engine)
    assert known is not None
    assert known.size == 1
    place.append(b"two")
    assert records(folder_of(place) / "entries") == [b"genesis", b"one", b"two"]


@pytest.mark.parametrize("name", ["checkpoint", "entries"])
def test_a_damaged_memory_is_refused_with_a_way_out(place: "Place", name: str) -> None:
    place.append(b"genesis")
    place.append(b"one")
    path = folder_of(place) / name
    path.write_bytes(b"damaged")
    with pytest.raises(MemoryDamaged) as caught:
        place.append(b"two")
    assert str(path) in caught.value.message
    assert "move it away" in caught.value.way_out
    path.parent.rename(path.parent.with_name("away"))
    place.append(b"three")
    assert records(path.parent / "entries")[0] == b"genesis"


@pytest.mark.parametrize(
    "head", [b"", b"1", b"x " + b"0" * 64 + b" 1", b"-1 " + b"0" * 64 + b" 1", b"1 " + b"0" * 63 + b" 1"]
)
def test_a_memory_of_another_form_is_refused(place: "Place", head: bytes) -> None:
    place.append(b"genesis")
    rest = head + b"\nnote"
    digest = hashlib.sha256(rest).hexdigest().encode()
    (folder_of(place) / "checkpoint").write_bytes(digest + b"\n" + rest)
    with pytest.raises(MemoryDamaged):
        place.memory.recall(place.engine)


def test_a_note_too_long_for_its_slot(place: "Place") -> None:
    place.writer._sign_checkpoint = lambda _ledger: b"x" * SLOT
    with pytest.raises(MemoryDamaged):
        place.append(b"genesis")


def test_a_memory_that_cannot_be_written_stops_before_the_entry(
    place: "Place", open_folder: Path, as_nobody: Nobody
) -> None:
    place.append(b"genesis")
    open_folder.chmod(0o555)
    memory = Memory(open_folder / "state")
    with snapshot(place.engine) as reader, as_nobody(), pytest.raises(NotWritten):
        memory.check(reader)


def test_a_memory_that_cannot_be_read(place: "Place", as_nobody: Nobody, open_folder: Path) -> None:
    place.append(b"genesis", remember=False)
    memory = Memory(open_folder)
    with place.writer.transaction() as tx:
        tx.append(b"one", Columns(kind="seal", time="t"))
    grown = tx.growth()
    assert grown is not None
    memory.advance(place.engine, grown)
    (memory.folder(grown.genesis) / "checkpoint").chmod(0)
    (open_folder / "ledgers").chmod(0o755)
    memory.folder(grown.genesis).chmod(0o755)
    with as_nobody(), pytest.raises(NotReadable):
        memory.remembered(grown.genesis)


def test_a_full_disk(place: "Place", monkeypatch: pytest.MonkeyPatch) -> None:
    place.append(b"genesis")
    grown = growth(place, b"one")

    def full(_handle: int) -> None:
        raise OSError(errno.ENOSPC, "said by the test")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(DiskFull):
            place.memory.advance(place.engine, grown)
    place.memory.advance(place.engine, grown)
    assert records(folder_of(place) / "entries") == [b"genesis", b"one"]


def test_a_place_that_is_no_folder(place: "Place") -> None:
    (place.folder / "state").write_bytes(b"")
    with pytest.raises(StoreError):
        place.append(b"genesis")


def test_an_empty_ledger_is_nobody_s(place: "Place") -> None:
    assert place.memory.recall(place.engine) is None
    with place.memory.snapshot(place.engine) as reader:
        assert reader.size == 0


def test_a_receipt_is_compared_in_the_same_way(place: "Place") -> None:
    place.append(b"genesis", b"one")
    with snapshot(place.engine) as reader:
        compare(reader, 0, hashlib.sha256(b"").digest())
        compare(reader, 1, hashlib.sha256(b"\x00genesis").digest())
        with pytest.raises(LedgerForked):
            compare(reader, 1, hashlib.sha256(b"\x00other").digest())
        with pytest.raises(LedgerRolledBack):
            compare(reader, 3, bytes(32))


def test_memory_read_before_the_snapshot_raises_no_alarm(place: "Place") -> None:
    """The other order would: the snapshot is of two entries, the memory by then of three."""
    place.append(b"genesis", b"one")
    early = place.memory.recall(place.engine)
    with snapshot(place.engine) as reader:
        older_size, older_root = reader.size, reader.root_at(reader.size)
    place.append(b"two")
    late = place.memory.recall(place.engine)
    assert early is not None
    assert late is not None
    assert (early.size, early.root) == (older_size, older_root)
    assert late.size > older_size
    with place.memory.snapshot(place.engine) as reader:
        compare(reader, early.size, early.root)
