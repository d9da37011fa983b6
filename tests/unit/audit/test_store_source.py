"""A ledger at hand, a real database and real blobs: sound as written, and tampered with on the disk."""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from lacre.audit.audit import audit, unreadable
from lacre.audit.report import AuditReport
from lacre.audit.source import StoreSource
from lacre.errors import LacreError
from lacre.ledger.checkpoint import Checkpoint, SignedCheckpoint
from lacre.rules.record import Answered, columns_of, parse_entry
from lacre.rules.requests import Read, Seal
from lacre.store.discover import BLOB_KINDS
from lacre.store.engine import create_ledger, open_ledger
from lacre.store.memory import Memory
from lacre.store.reader import Columns, Reader, snapshot
from lacre.store.writer import Writer

if TYPE_CHECKING:
    from tests.unit.audit.conftest import Builder

TABLES = ("entries", "nodes", "documents", "checkpoint")


@dataclass
class Kept:
    """A ledger on the disk: its database, and the folder of its sealed pools."""

    database: Path
    pools: Path

    def audit(self) -> AuditReport:
        try:
            engine = open_ledger(self.database)
        except LacreError as error:
            return unreadable(error)
        try:
            with snapshot(engine) as reader:
                return audit(StoreSource(reader, self.pools))
        except LacreError as error:
            return unreadable(error)
        finally:
            engine.dispose()

    def copied(self, name: str) -> Kept:
        return replace(self, database=Path(shutil.copyfile(self.database, self.database.with_name(name))))

    def change(self, statement: str, *values: object) -> bool:
        """Run a statement as someone who minds no trigger; tell whether the database took it."""
        with closing(sqlite3.connect(self.database)) as connection, connection:
            connection.execute("PRAGMA synchronous = OFF")
            names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall()
            for (name,) in names:
                connection.execute(f"DROP TRIGGER {name}")
            try:
                connection.execute(statement, values)
            except sqlite3.IntegrityError:
                return False
        return True

    def rows(self, table: str) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(self.database)) as connection:
            return connection.execute(f'SELECT * FROM "{table}" ORDER BY 1, 2').fetchall()

    def names(self, table: str) -> list[str]:
        with closing(sqlite3.connect(self.database)) as connection:
            return [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]


def with_blobs(builder: Builder, pools: Path) -> Builder:
    """Seal anew, with digests of files that really stand in the vault."""
    made = builder.empty()
    made.genesis()
    made.register("one")
    for kind in BLOB_KINDS:
        content = f"the {kind} of one".encode()
        folder = pools / "one" / "teste"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{hashlib.sha256(content).hexdigest()}.{kind}").write_bytes(content)
    sha = {kind: hashlib.sha256(f"the {kind} of one".encode()).hexdigest() for kind in BLOB_KINDS}
    made.seal("one", "teste", ciphertext=sha["pool"], wrapped_key=sha["key"], fingerprints=sha["prints"])
    (plain,) = made.read_request("one", "teste").submissions
    kept = {"blob": sha["submission"], "wrapped_key": sha["submission-key"]}
    made.read("one", "teste", submissions=(plain.model_copy(update=kept),), reason="table 2")
    made.result("one", 3, "FAIL")
    return made


@pytest.fixture(scope="session")
def _written(_small: Builder, tmp_path_factory: pytest.TempPathFactory) -> Kept:
    folder = tmp_path_factory.mktemp("ledger")
    builder = with_blobs(_small, folder / "pools")
    kept = Kept(folder / "ledger.db", folder / "pools")
    engine = create_ledger(kept.database)

    def sign(ledger: Reader) -> bytes:
        checkpoint = Checkpoint("lacre/0badc0de", ledger.size, ledger.root_at(ledger.size))
        return SignedCheckpoint.sign(checkpoint, [builder.log]).note

    writer = Writer(engine, sign, Memory(folder / "state"))
    for index, data in enumerate(builder.datas):
        with writer.transaction() as tx:
            tx.append(data, Columns(**columns_of(parse_entry(index, data))))
            for document in builder.documents.values() if index == 4 else ():
                tx.put_document(document.body, str(document.media), document.salt)
    engine.dispose()
    return kept


@pytest.fixture
def kept(_written: Kept, tmp_path: Path) -> Kept:
    pools = Path(shutil.copytree(_written.pools, tmp_path / "pools"))
    database = Path(shutil.copyfile(_written.database, tmp_path / "ledger.db"))
    return Kept(database, pools)


def test_a_ledger_as_it_was_written_is_sound(kept: Kept) -> None:
    report = kept.audit()
    assert report.findings == ()
    assert report.entries == 5


def _others(value: object) -> tuple[object, ...]:
    """Values near `value`: of its type, and what no column may hold."""
    match value:
        case int():
            return value + 1, -1, None
        case str():
            return value + "x", value[:-1], None
        case bytes():
            return value[:-1] + bytes([value[-1] ^ 1]), b"", None
    return 0, "x"


@pytest.mark.parametrize("table", TABLES)
def test_every_value_of_every_row_of_every_table(kept: Kept, table: str) -> None:
    names = kept.names(table)
    tried = 0
    for row in kept.rows(table):
        where = " AND ".join(f'"{name}" IS ?' for name in names)
        for name, value in zip(names, row, strict=True):
            for other in _others(value):
                changed = kept.copied("changed.db")
                if changed.change(f'UPDATE "{table}" SET "{name}" = ? WHERE {where}', other, *row):
                    tried += 1
                    assert not changed.audit().ok, (table, name, row[0], other)
    assert tried >= len(names)


@pytest.mark.parametrize("table", TABLES)
def test_every_row_deleted(kept: Kept, table: str) -> None:
    names = kept.names(table)
    where = " AND ".join(f'"{name}" IS ?' for name in names)
    for row in kept.rows(table):
        changed = kept.copied("changed.db")
        assert changed.change(f'DELETE FROM "{table}" WHERE {where}', *row)
        assert not changed.audit().ok, row[0]


@pytest.mark.parametrize("table", TABLES)
def test_every_table_emptied_and_taken_away(kept: Kept, table: str) -> None:
    emptied = kept.copied("emptied.db")
    assert emptied.change(f'DELETE FROM "{table}"')
    assert not emptied.audit().ok
    assert kept.change(f'DROP TABLE "{table}"')
    assert not kept.audit().ok


@pytest.mark.parametrize(
    ("table", "values"),
    [
        ("entries", {"index": "5", "nonce": "NULL"}),
        ("entries", {"index": "2", "nonce": "NULL"}),
        ("entries", {"index": "9", "nonce": "NULL"}),
        ("entries", {"index": "-1", "nonce": "NULL"}),
        ("nodes", {"level": "1", "position": "7"}),
        ("nodes", {"level": "9", "position": "0"}),
        ("documents", {"digest": "'00'"}),
    ],
)
def test_rows_inserted(kept: Kept, table: str, values: dict[str, str]) -> None:
    columns = ", ".join(values.get(name, f'"{name}"') for name in kept.names(table))
    if kept.change(f'INSERT INTO "{table}" SELECT {columns} FROM "{table}" LIMIT 1'):
        assert not kept.audit().ok


@pytest.mark.parametrize("column", ["envelope", "leaf_hash", "time"])
def test_values_of_two_entries_swapped(kept: Kept, column: str) -> None:
    rows = dict(zip(range(5), kept.rows("entries"), strict=True))
    place = kept.names("entries").index(column)
    for one, other in ((0, 1), (1, 2), (3, 4)):
        changed = kept.copied("changed.db")
        for index, value in ((one, rows[other][place]), (other, rows[one][place])):
            assert changed.change(f'UPDATE entries SET "{column}" = ? WHERE "index" = ?', value, index)
        report = changed.audit()
        assert {one, other} & {each.entry for each in report.findings}


def test_bytes_changed_anywhere_in_the_file(kept: Kept) -> None:
    """What the change shows in the rows is found; what SQLite cannot read is found; and nothing else is
    raised."""
    whole = kept.database.read_bytes()
    before = [kept.rows(table) for table in TABLES]
    for position in range(0, len(whole), 1009):  # prime: no position of a page is favoured
        changed = kept.copied("changed.db")
        changed.database.write_bytes(
            whole[:position] + bytes([whole[position] ^ 0x11]) + whole[position + 1 :]
        )
        try:
            same = [changed.rows(table) for table in TABLES] == before
        except sqlite3.Error:
            same = False
        report = changed.audit()
        assert same or not report.ok, position


def test_files_that_are_no_database(kept: Kept) -> None:
    for content in (b"", b"x" * 5000, kept.database.read_bytes()[:5000]):
        kept.database.write_bytes(content)
        assert not kept.audit().ok


def _missing(path: Path) -> None:
    path.unlink()


def _shortened(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def _a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("harm", [_missing, _shortened, _a_folder])
def test_every_blob_harmed(kept: Kept, harm: Callable[[Path], None]) -> None:
    for path in sorted(kept.pools.glob("*/*/*")):
        mine = replace(
            kept, pools=Path(shutil.copytree(kept.pools, kept.pools.with_name(f"harm-{path.suffix}")))
        )
        harm(mine.pools / path.relative_to(kept.pools))
        report = mine.audit()
        entry = 3 if path.suffix.startswith(".submission") else 2
        assert [(each.code[:5], each.entry) for each in report.findings] == [("blob-", entry)]


def test_names_that_lead_out_of_the_folder_are_not_followed(kept: Kept) -> None:
    outside = kept.pools.parent / "outside"
    outside.mkdir()
    (outside / ("a" * 64 + ".pool")).write_bytes(b"x")
    engine = open_ledger(kept.database)
    with snapshot(engine) as reader:
        source = StoreSource(reader, kept.pools)
        for pool in ("../../outside", "..", "/etc", "a\0b", "x" * 400, ""):
            assert source.blob("one", pool, "pool", "a" * 64) is None
    engine.dispose()


def test_entries_name_the_blobs_there_are(kept: Kept) -> None:
    """Guards the fixture: what the vault holds is what entries 2 (a seal) and 3 (a read) name."""
    rows = kept.rows("entries")
    sealed, read = (parse_entry(index, rows[index][1]).content for index in (2, 3))
    assert isinstance(sealed, Answered)
    assert isinstance(sealed.request, Seal)
    assert isinstance(read, Answered)
    assert isinstance(read.request, Read)
    (submitted,) = read.request.submissions
    seal = sealed.request
    assert {path.stem for path in kept.pools.glob("*/*/*")} == {
        *(seal.ciphertext, seal.wrapped_key, seal.fingerprints),
        *(submitted.blob, submitted.wrapped_key),
    }
