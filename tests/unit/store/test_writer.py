"""A transaction on the ledger: all of it or nothing, one checkpoint at its end, and every failure by name."""

import sqlite3
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

from lacre.errors import (
    DiskFull,
    DocumentDiffers,
    InternalError,
    LacreError,
    NonceRepeated,
    ReadAlreadySpent,
    StoreBusy,
    StoreCommitUncertain,
    StoreCorrupt,
    StoreFailed,
    StoreRefused,
)
from lacre.ledger.checkpoint import SignedCheckpoint
from lacre.ledger.note import VerifierKey
from lacre.store import engine as engine_module
from lacre.store.reader import Columns, Reader, snapshot
from lacre.store.writer import Transaction, Writer

if TYPE_CHECKING:
    from .conftest import Place

TESTE = Columns(kind="read", time="t", study="faces", pool="teste", read_class="teste", nonce="first")


Step = Callable[[Transaction], object]


def write(writer: Writer, *steps: Step) -> None:
    """Take the steps in one transaction."""
    with writer.transaction() as tx:
        for step in steps:
            step(tx)


def one(tx: Transaction) -> object:
    return tx.append(b"one", TESTE)


def document(tx: Transaction) -> object:
    return tx.put_document(b"body", "text/plain")


def size_of(place: "Place") -> int:
    with snapshot(place.engine) as reader:
        return reader.size


def test_each_commit_has_its_checkpoint(place: "Place") -> None:
    place.append(b"genesis", b"one")
    assert verified(place) == 2
    place.append(b"two")
    assert verified(place) == 3


def verified(place: "Place") -> int:
    """The size in the stored checkpoint, whose signature and root are checked."""
    with snapshot(place.engine) as reader:
        note = reader.checkpoint()
        assert note is not None
        opened = SignedCheckpoint.open(note, [VerifierKey("lacre/test", place.key.public)])
        assert opened.checkpoint.root == reader.root_at(reader.size)
        return opened.checkpoint.size


def test_a_transaction_reads_what_it_wrote(place: "Place") -> None:
    with place.writer.transaction() as tx:
        assert (tx.size, tx.genesis()) == (0, None)
        first = tx.append(b"genesis", Columns(kind="genesis", time="t"))
        digest = tx.put_document(b"body", "text/plain")
        second = tx.append(b"one", TESTE)
        assert (first.index, second.index, tx.size) == (0, 1, 2)
        assert tx.genesis() == first.leaf_hash.hex()
        assert [entry.index for entry in tx.study_entries("faces")] == [0, 1]
        assert tx.entry(1).leaf_hash == second.leaf_hash
        assert tx.document(digest) is not None
        assert tx.root_at(1) == first.leaf_hash
        in_block = tx.root_at(2)
    with snapshot(place.engine) as reader:
        assert reader.root_at(2) == in_block
        assert reader.checkpoint() == tx.checkpoint()


def test_nothing_is_written_when_the_block_raises(place: "Place") -> None:
    place.append(b"genesis")
    with pytest.raises(ZeroDivisionError):
        write(place.writer, one, document, lambda _tx: 1 / 0)
    with snapshot(place.engine) as reader:
        assert (reader.size, list(reader.documents())) == (1, [])
    place.append(b"another")
    assert verified(place) == 2


def test_nothing_is_written_when_the_checkpoint_is_not_signed(place: "Place") -> None:
    place.append(b"genesis")

    def locked(_ledger: Reader) -> bytes:
        raise PermissionError

    with (
        pytest.raises(PermissionError),
        Writer(place.engine, locked, place.memory).transaction() as tx,
    ):
        tx.append(b"one", TESTE)
    assert size_of(place) == 1


def test_an_empty_transaction_signs_nothing(place: "Place") -> None:
    def never(_ledger: Reader) -> bytes:
        raise AssertionError

    with Writer(place.engine, never, place.memory).transaction() as tx:
        pass
    assert tx.growth() is None
    place.append(b"genesis")
    with Writer(place.engine, never, place.memory).transaction() as tx:
        tx.put_document(b"body", "text/plain")
    with snapshot(place.engine) as reader:
        assert len(list(reader.documents())) == 1


def spend(tx: Transaction) -> None:
    tx.append(b"again", Columns(kind="read", time="t", study="faces", pool="teste", read_class="teste"))


def repeat(tx: Transaction) -> None:
    tx.append(b"again", Columns(kind="seal", time="t", study="faces", nonce="first"))


def retype(tx: Transaction) -> None:
    tx.put_document(b"body", "text/html")


def unremarkable(tx: Transaction) -> object:
    return tx.append(b"unremarkable", Columns(kind="seal", time="t"))


def swallow(tx: Transaction, ask: Step) -> None:
    with suppress(LacreError):
        ask(tx)


CONFLICTS = [(spend, ReadAlreadySpent), (repeat, NonceRepeated), (retype, DocumentDiffers)]


@pytest.mark.parametrize("has_triggers", [True, False])
@pytest.mark.parametrize(("ask", "refusal"), CONFLICTS)
def test_what_is_once_is_refused_by_name_and_undoes_the_rest(
    place: "Place", ask: Step, refusal: type[LacreError], has_triggers: bool
) -> None:
    place.append(b"genesis")
    with place.writer.transaction() as tx:
        tx.append(b"read", TESTE)
        tx.put_document(b"body", "text/plain")
    if not has_triggers:
        for trigger in ("entries_teste_once", "entries_nonce_once"):
            place.raw(f"DROP TRIGGER {trigger}")
    with pytest.raises(refusal):
        write(place.writer, unremarkable, ask)
    with pytest.raises(refusal):  # a caller that swallows it commits nothing either, and is told
        write(place.writer, unremarkable, lambda tx: swallow(tx, ask), unremarkable)
    assert size_of(place) == 2
    place.append(b"next")
    assert verified(place) == 3


def test_a_read_may_be_finished_and_read_again_as_dev(place: "Place") -> None:
    place.append(b"genesis")
    with place.writer.transaction() as tx:
        tx.append(b"read", TESTE)
    with place.writer.transaction() as tx:
        tx.append(
            b"finish",
            Columns(kind="read", time="t", study="faces", pool="teste", read_class="teste", finishes=1),
        )
        tx.append(b"dev", Columns(kind="read", time="t", study="faces", pool="teste", read_class="dev"))
    assert size_of(place) == 4


def test_a_document_is_put_once(place: "Place") -> None:
    with place.writer.transaction() as tx:
        first = tx.put_document(b"body", "text/plain", salt=b"s" * 32)
        assert tx.put_document(b"body", "text/plain", salt=b"s" * 32) == first
    with place.writer.transaction() as tx:
        assert tx.put_document(b"body", "text/plain", salt=b"s" * 32) == first
        with pytest.raises(InternalError):
            tx.put_document(b"body", "text/plain", salt=b"short")


def test_writers_take_turns_on_one_tree(place: "Place") -> None:
    """Each knows the tree's edge as of its own last commit, and must notice that the other moved it."""
    other = Writer(place.engine, place.sign, place.memory)
    for index in range(9):
        writer = other if index % 3 else place.writer
        with writer.transaction() as tx:
            tx.append(str(index).encode(), Columns(kind="seal", time="t"))
    assert verified(place) == 9


def test_a_tree_that_is_not_its_checkpoint_s_is_not_extended(place: "Place") -> None:
    place.append(b"genesis", b"one")
    place.raw("DROP TRIGGER nodes_unchanged")
    place.raw("UPDATE nodes SET hash = zeroblob(32)")
    place.reopen()
    with pytest.raises(StoreCorrupt), place.writer.transaction():
        pass


def test_entries_beside_the_checkpoint_are_damage(place: "Place") -> None:
    place.append(b"genesis")
    place.raw(
        'INSERT INTO entries ("index", envelope, leaf_hash, kind, time)'
        " VALUES (1, x'00', zeroblob(32), 'seal', 't')"
    )
    with pytest.raises(StoreCorrupt), place.writer.transaction():
        pass


def test_a_checkpoint_that_cannot_be_read_is_damage(place: "Place") -> None:
    place.append(b"genesis")
    place.raw("DROP TRIGGER checkpoint_grows")
    place.raw("UPDATE checkpoint SET note = x'ff'")
    with pytest.raises(StoreCorrupt), place.writer.transaction():
        pass


def test_what_the_database_refuses_for_another_reason(place: "Place") -> None:
    with pytest.raises(StoreRefused), place.writer.transaction() as tx:
        tx.append(b"genesis", Columns(kind=None, time="t"))  # type: ignore[arg-type]  # as a fault would do


def test_a_full_disk(place: "Place") -> None:
    """SQLite says SQLITE_FULL of a disk as it does of `max_page_count`."""
    place.append(b"genesis")
    with place.engine.connect() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
        connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(DiskFull):
        write(place.writer, lambda tx: tx.append(b"x" * 60_000, TESTE))
    assert size_of(place) == 1
    place.engine.dispose()
    place.append(b"x" * 60_000)
    assert verified(place) == 2


def commit_error(code: int, name: str) -> sqlite3.OperationalError:
    error = sqlite3.OperationalError("said by the test")
    error.sqlite_errorcode, error.sqlite_errorname = code, name
    return error


@pytest.mark.parametrize("persisted", [True, False])
def test_a_commit_that_failed_may_have_persisted(
    place: "Place", monkeypatch: pytest.MonkeyPatch, persisted: bool
) -> None:
    place.append(b"genesis")
    commit = place.engine.dialect.do_commit

    def fail(connection: Any) -> None:
        if persisted:
            commit(connection)
        raise commit_error(sqlite3.SQLITE_IOERR_FSYNC, "SQLITE_IOERR_FSYNC")

    with monkeypatch.context() as patch:
        patch.setattr(place.engine.dialect, "do_commit", fail)
        with pytest.raises(StoreCommitUncertain, match="SQLITE_IOERR_FSYNC") as caught:
            write(place.writer, one)
    assert "same command again" in caught.value.way_out
    assert size_of(place) == (2 if persisted else 1)
    place.append(b"next")
    assert verified(place) == (3 if persisted else 2)


@pytest.mark.parametrize(
    ("code", "refusal"),
    [(sqlite3.SQLITE_BUSY, StoreBusy), (sqlite3.SQLITE_FULL, DiskFull)],
)
def test_a_commit_that_certainly_wrote_nothing(
    place: "Place", monkeypatch: pytest.MonkeyPatch, code: int, refusal: type[LacreError]
) -> None:
    def fail(_connection: Any) -> None:
        raise commit_error(code, "said by the test")

    with monkeypatch.context() as patch:
        patch.setattr(place.engine.dialect, "do_commit", fail)
        with pytest.raises(refusal):
            write(place.writer, one)
    assert size_of(place) == 0


def test_a_commit_waits_for_those_who_read(place: "Place", monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_module, "BUSY_SECONDS", 0)
    place.reopen()
    place.append(b"genesis")
    with snapshot(place.engine), pytest.raises(StoreBusy):
        write(place.writer, one)
    assert size_of(place) == 1


def test_an_error_of_the_disk(place: "Place", monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise commit_error(sqlite3.SQLITE_IOERR_READ, "SQLITE_IOERR_READ")

    with monkeypatch.context() as patch:
        patch.setattr(place.engine.dialect, "do_execute", fail)
        with pytest.raises(StoreFailed, match="SQLITE_IOERR_READ"):
            write(place.writer, one)
    assert size_of(place) == 0
