"""Rule 18: the memory keeps documents too, and a ledger that is behind it can grow to it again, or not at all."""

import errno
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lacre.errors import (
    DiskFull,
    LacreError,
    LedgerForked,
    MemoryDamaged,
    MemoryDocumentDamaged,
    NothingRemembered,
    NotReadable,
    StoreRefused,
)
from lacre.store import filed
from lacre.store.locks import try_lock
from lacre.store.memory import Memory
from lacre.store.reader import Columns, Document, snapshot

if TYPE_CHECKING:
    from .conftest import Place

Nobody = Callable[[], AbstractContextManager[None]]
SALT = b"s" * 32
WORKER = Path(__file__).with_name("worker.py")


def genesis_of(place: "Place") -> str:
    with snapshot(place.engine) as reader:
        genesis = reader.genesis()
    assert genesis is not None
    return genesis


def folder_of(place: "Place") -> Path:
    return place.memory.folder(genesis_of(place)) / "documents"


def put(place: "Place", *bodies: bytes, salt: bytes | None = None, erases: str | None = None) -> list[str]:
    """Append one entry, with documents, and remember it."""
    with place.writer.transaction() as tx:
        kind = "seal" if tx.size else "genesis"
        tx.append(f"entry {tx.size}".encode(), Columns(kind=kind, time="t", erases=erases))
        if erases:
            tx.erase_document(erases)
        digests = [tx.put_document(body, "text/plain", salt) for body in bodies]
    growth = tx.growth()
    assert growth is not None
    place.memory.advance(place.engine, growth)
    return digests


def names(place: "Place") -> set[str]:
    return {path.name for path in folder_of(place).iterdir()}


def kept(place: "Place", digest: str) -> Document | None:
    with place.memory.kept(genesis_of(place)) as memory:
        return memory.document(digest)


# --- documents in the memory --------------------------------------------------------------------------------


def test_a_document_is_a_file_whose_form_is_the_documented_one(place: "Place") -> None:
    (plain,) = put(place, b"body\nof two lines")
    (salted,) = put(place, b"", salt=SALT)
    rest = b"text/plain\n-\nbody\nof two lines"
    assert plain == hashlib.sha256(b"body\nof two lines").hexdigest()
    said = hashlib.sha256(rest).hexdigest().encode()
    assert (folder_of(place) / plain).read_bytes() == said + b"\n" + rest
    assert salted == hashlib.sha256(SALT).hexdigest()
    assert kept(place, salted) == Document(salted, "text/plain", SALT, b"")
    assert kept(place, "0" * 64) is None
    assert names(place) == {plain, salted}
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in folder_of(place).iterdir())


def test_a_document_without_an_entry_is_remembered_too(place: "Place") -> None:
    put(place)
    with place.writer.transaction() as tx:
        digest = tx.put_document(b"alone", "text/plain")
    growth = tx.growth()
    assert growth is not None
    assert (growth.envelopes, growth.size) == ((), 1)
    place.memory.advance(place.engine, growth)
    assert names(place) == {digest}
    put(place, b"next")
    assert len(names(place)) == 2


def test_the_memory_of_an_older_lacre_takes_in_all_documents_at_once(place: "Place") -> None:
    before = put(place, b"one", b"two")
    shutil.rmtree(folder_of(place))
    after = put(place, b"three")
    assert names(place) == {*before, *after}


def test_documents_of_another_process_are_taken_in_with_its_entries(place: "Place") -> None:
    first = put(place, b"first")
    with place.writer.transaction() as tx:
        tx.append(b"theirs", Columns(kind="seal", time="t"))
        theirs = tx.put_document(b"theirs, not yet remembered", "text/plain")
    ours = put(place, b"ours")
    assert names(place) == {*first, theirs, *ours}


def test_what_is_not_flushed_has_no_name(place: "Place", monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk is full at the first flush: neither the document nor the entry that came with it counts."""
    put(place, b"before")

    def full(_handle: int) -> None:
        raise OSError(errno.ENOSPC, "said by the test")

    was = names(place)
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(DiskFull):
            put(place, b"during")
    assert names(place) == was
    known = place.memory.recall(place.engine)
    assert known is not None
    assert known.size == 1
    put(place, b"after")
    assert len(names(place)) == 3, "the next writing takes in what the ledger has"


def test_an_unfinished_first_folder_is_begun_again(place: "Place") -> None:
    put(place, b"one")
    folder = folder_of(place)
    folder.rename(folder.with_name(".lacre-unfinished-documents"))
    digests = put(place, b"two")
    assert names(place) >= set(digests)
    assert len(names(place)) == 2
    assert not folder.with_name(".lacre-unfinished-documents").exists()


# --- erased documents ---------------------------------------------------------------------------------------


def test_an_erased_document_leaves_ledger_and_memory(place: "Place") -> None:
    (digest,) = put(place, b"a name that must go", salt=SALT)
    put(place, erases=digest)
    assert names(place) == set()
    with snapshot(place.engine) as reader:
        assert reader.document(digest) is None
        assert reader.erasures() == {digest: 1}
        assert reader.document_digests() == frozenset()
    assert b"a name that must go" not in place.path.read_bytes()


def test_a_document_is_erased_only_by_an_entry_and_only_under_a_salt(place: "Place") -> None:
    (salted,) = put(place, b"a name", salt=SALT)
    (plain,) = put(place, b"a protocol")
    with pytest.raises(StoreRefused), place.writer.transaction() as tx:
        tx.erase_document(salted)
    with pytest.raises(StoreRefused):
        put(place, erases=plain)
    with snapshot(place.engine) as reader:
        assert reader.document_digests() == {salted, plain}
        assert reader.size == 2


def test_another_process_s_erasure_reaches_the_memory(place: "Place") -> None:
    (digest,) = put(place, b"a name", salt=SALT)
    with place.writer.transaction() as tx:  # it crashed before it remembered
        tx.append(b"erase", Columns(kind="erase", time="t", erases=digest))
        assert tx.erase_document(digest)
        assert not tx.erase_document(digest)
    put(place)
    assert names(place) == set()


def test_forgetting_removes_what_a_crash_left_half_written_too(place: "Place") -> None:
    (digest,) = put(place, b"a name", salt=SALT)
    half = folder_of(place) / f".lacre-unfinished-{digest}"
    half.write_bytes(b"a na")
    place.memory.forget(genesis_of(place), digest)
    assert names(place) == set()
    assert not half.exists()
    place.memory.forget(genesis_of(place), digest)
    place.memory.forget("0" * 64, digest)


# --- damage -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"no checksum",
        b"0" * 64 + b"\ntext/plain\n-\nbody",
        b"one line",
        b"text/plain\nzz\nbody",
        b"text/plain\n" + b"73" * 31 + b"\nbody",
        b"text/plain\n-\nanother body",
    ],
)
def test_a_damaged_document_is_refused_by_name(place: "Place", data: bytes) -> None:
    """Those with a sum are given it, so that each form fails by itself."""
    (digest,) = put(place, b"body")
    path = folder_of(place) / digest
    whole = (
        data if data[:1] in {b"", b"0", b"n"} else hashlib.sha256(data).hexdigest().encode() + b"\n" + data
    )
    path.write_bytes(whole)
    with pytest.raises(MemoryDocumentDamaged) as caught:
        kept(place, digest)
    assert str(path) in caught.value.message
    assert "move it away" in caught.value.way_out


def test_each_byte_of_a_kept_document_counts(place: "Place") -> None:
    (digest,) = put(place, b"body", salt=SALT)
    path = folder_of(place) / digest
    whole = path.read_bytes()
    for at in range(len(whole)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        with pytest.raises(MemoryDocumentDamaged):
            kept(place, digest)


def test_documents_that_may_not_be_read(open_folder: Path, as_nobody: Nobody) -> None:
    (open_folder / "0").write_bytes(b"")
    (open_folder / "0").chmod(0)
    with as_nobody(), pytest.raises(NotReadable):
        filed.read_filed(open_folder, "0")
    open_folder.chmod(0)
    with as_nobody(), pytest.raises(NotReadable):
        filed.filed_digests(open_folder)
    open_folder.chmod(0o755)
    assert filed.filed_digests(open_folder / "none") == frozenset()


def test_nothing_is_remembered(place: "Place") -> None:
    place.append(b"genesis", remember=False)
    with pytest.raises(NothingRemembered), place.memory.kept(genesis_of(place)):
        pass


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (lambda data: data[:-1], "shorter"),
        (lambda data: data[:0], "shorter"),
        (lambda data: data[:-1] + b"X", "not those of the checkpoint"),
        (lambda data: b"\x7f" + data[1:], "entry 0 does not end"),
        (lambda data: data[:11] + b"\xff" + data[12:], "entry 1 does not end"),
        (lambda data: b"\0\0\0\0" + data[4:], "does not end|not those"),
    ],
)
def test_damaged_entries_are_refused_with_what_is_wrong(
    place: "Place", damage: Callable[[bytes], bytes], why: str
) -> None:
    """An entry is a length of four bytes and the envelope: the second begins at byte 11."""
    place.append(b"genesis", b"one", b"two")
    path = folder_of(place).with_name("entries")
    path.write_bytes(damage(path.read_bytes()))
    with place.memory.kept(genesis_of(place)) as memory, pytest.raises(MemoryDamaged, match=why) as caught:
        memory.root_at(1)
    assert str(path) in caught.value.message


def test_what_is_kept_is_read_from_any_entry_on(place: "Place") -> None:
    place.append(b"genesis", b"one", b"two")
    with place.memory.kept(genesis_of(place)) as memory, snapshot(place.engine) as reader:
        assert [list(memory.entries(start)) for start in (0, 2, 3)] == [
            [b"genesis", b"one", b"two"],
            [b"two"],
            [],
        ]
        assert [memory.root_at(size) for size in range(4)] == [reader.root_at(size) for size in range(4)]


# --- the transaction that recovers --------------------------------------------------------------------------


def recover(place: "Place", *, keep: bool = True) -> None:
    """Append what is remembered beyond the ledger's end."""
    with (
        place.memory.kept(genesis_of(place)) as memory,
        place.writer.recovery(memory.known, keep=keep) as tx,
    ):
        for index, envelope in enumerate(memory.entries(tx.size), tx.size):
            tx.append(envelope, Columns(kind="seal", time="t", study="s", nonce=f"nonce-s-{index}"))


def rolled_back(place: "Place", *later: bytes) -> bytes:
    """Put the ledger back to its genesis; return the checkpoint it had after `later`."""
    place.append(b"genesis")
    copy = place.copy("older.db")
    place.append(*later)
    with snapshot(place.engine) as reader:
        note = reader.checkpoint()
    assert note is not None
    copy.replace(place.path)
    place.reopen()
    return note


def test_the_remembered_checkpoint_becomes_the_ledgers(place: "Place") -> None:
    note = rolled_back(place, b"one", b"two")
    place.writer._sign_checkpoint = lambda _ledger: pytest.fail("nothing is signed")
    recover(place)
    with snapshot(place.engine) as reader:
        assert (reader.size, reader.checkpoint(), reader.checkpoint_size) == (3, note, 3)
    place.writer._sign_checkpoint = place.sign
    place.append(b"three")
    with place.memory.snapshot(place.engine) as reader:
        assert reader.size == 4


def test_without_keep_nothing_is_written(place: "Place") -> None:
    rolled_back(place, b"one")
    before = place.path.read_bytes()
    recover(place, keep=False)
    assert place.path.read_bytes() == before
    recover(place)
    place.append(b"two")


@pytest.mark.parametrize("envelopes", [[], [b"other"], [b"one", b"two"]])
def test_any_other_tree_is_refused(place: "Place", envelopes: list[bytes]) -> None:
    """One entry is remembered beyond the genesis: fewer, another, or more are not what it is."""
    rolled_back(place, b"one", b"another")
    with place.memory.kept(genesis_of(place)) as memory:
        known = memory.known

    def grow(*added: bytes) -> None:
        with place.writer.recovery(known) as tx:
            tx.put_document(b"body", "text/plain")
            for envelope in added:
                tx.append(envelope, Columns(kind="seal", time="t"))

    with pytest.raises(LedgerForked):
        grow(*envelopes, b"end")
    with snapshot(place.engine) as reader:
        assert (reader.size, list(reader.documents())) == (1, [])


def test_a_full_disk_leaves_the_older_ledger(place: "Place") -> None:
    """SQLite says SQLITE_FULL of a disk as it does of `max_page_count`."""
    rolled_back(place, b"x" * 60_000, b"y" * 60_000)
    with place.engine.connect() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
        connection.exec_driver_sql(f"PRAGMA max_page_count = {pages + 16}")
    with pytest.raises(DiskFull):
        recover(place)
    with snapshot(place.engine) as reader:
        assert reader.size == 1
    place.reopen()
    recover(place)
    with snapshot(place.engine) as reader:
        assert reader.size == 3


@pytest.mark.slow
def test_a_killed_recovery_leaves_the_older_ledger_or_the_newer(place: "Place") -> None:
    """Forty entries of 60 kB are more than SQLite's cache holds, so that the file itself is being changed."""
    rolled_back(place, *(str(index).encode().ljust(60_000) for index in range(40)))
    old = place.path.read_bytes()
    place.engine.dispose()
    sizes = set()
    for wait in (None, 0.0, 0.005, 0.01, 0.02, 0.03, 0.05, 0.08):
        place.path.write_bytes(old)
        process = subprocess.Popen(
            [sys.executable, WORKER, place.folder, "recover", genesis_of(place), "0"],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        if wait is not None:
            time.sleep(wait)
            process.send_signal(signal.SIGKILL)
        process.communicate()
        place.reopen()
        with snapshot(place.engine) as reader:
            assert reader.size in {1, 41}
            assert reader.integrity() == ()
            assert reader.checkpoint_size == reader.size
            sizes.add(reader.size)
        recover(place)
        with place.memory.snapshot(place.engine) as reader:
            assert reader.size == 41
        place.engine.dispose()
        Path(f"{place.path}-journal").unlink(missing_ok=True)
    assert sizes == {1, 41}


def test_one_who_recovers_keeps_others_waiting(place: "Place") -> None:
    """The memory's lock is held meanwhile: nobody else can advance it."""
    rolled_back(place, b"one")
    folder = place.memory.folder(genesis_of(place))
    with place.memory.kept(genesis_of(place)):
        assert try_lock(folder, "lock") is None
    lock = try_lock(folder, "lock")
    assert lock is not None
    lock.release()


def test_a_memory_copied_from_another_machine_serves(place: "Place") -> None:
    note = rolled_back(place, b"one")
    shutil.move(place.folder / "state", place.folder / "elsewhere")
    place.memory = Memory(place.folder / "elsewhere")
    recover(place)
    with snapshot(place.engine) as reader:
        assert reader.checkpoint() == note


def test_refusals_of_recovery_are_refusals(place: "Place") -> None:
    place.append(b"genesis", remember=False)
    with pytest.raises(LacreError) as caught:
        recover(place)
    assert caught.value.exit_status == 2
