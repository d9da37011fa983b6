"""A copy of the ledger on the disk, to lay hands on; what was done to its database is undone by a copy."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from tests.tampering.life import Life

from lacre import api
from lacre.report.views import Audit
from lacre.rules.record import columns_of, parse_entry
from lacre.store.tables import metadata

Row = tuple[Any, ...]

VERSIONS = "alembic_version"
COLUMNS = [
    *((table.name, column.name) for table in metadata.tables.values() for column in table.columns),
    (VERSIONS, "version_num"),
]
TABLES = [*metadata.tables, VERSIONS]


class Place:
    """A ledger's folder. Its triggers are put back after each change, so that it is not their want that is found."""

    def __init__(self, life: Life, folder: Path) -> None:
        self.folder = folder
        self.root = folder / ".lacre"
        self._whole = life.root
        self._nobody = folder / "nobody"
        shutil.copytree(life.root, self.root)
        self.database = self.root / "ledger.db"
        self._pristine = life.now.database
        self._bare = folder / "bare.db"
        self._triggers = self._bared()

    def _bared(self) -> list[str]:
        shutil.copyfile(self._pristine, self._bare)
        with closing(sqlite3.connect(self._bare, isolation_level=None)) as database:
            found = database.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
            for name, _sql in found:
                database.execute(f"DROP TRIGGER {name}")
        return [sql for _name, sql in found]

    def restore(self) -> None:
        """Make the database what it was."""
        shutil.copyfile(self._pristine, self.database)

    def restore_files(self) -> None:
        """Make the whole folder what it was."""
        shutil.rmtree(self.root)
        shutil.copytree(self._whole, self.root)

    @contextmanager
    def changing(self) -> Iterator[sqlite3.Connection]:
        """Change the database as it was, as somebody who minds no trigger."""
        shutil.copyfile(self._bare, self.database)
        with self.opened() as database:
            database.execute("BEGIN")
            yield database
            for sql in self._triggers:
                database.execute(sql)
            database.execute("COMMIT")

    @contextmanager
    def opened(self) -> Iterator[sqlite3.Connection]:
        """The database as it stands, fast."""
        with closing(sqlite3.connect(self.database, isolation_level=None)) as database:
            database.execute("PRAGMA synchronous = OFF")
            database.execute("PRAGMA journal_mode = MEMORY")
            yield database

    def rows(self, table: str) -> list[Row]:
        """The rows of a table as it was, by their keys."""
        with closing(sqlite3.connect(self._pristine)) as database:
            keys = ", ".join(f'"{name}"' for name in primary_key(database, table))
            return database.execute(f'SELECT * FROM "{table}" ORDER BY {keys}').fetchall()

    def columns(self, table: str) -> list[str]:
        """The names of a table's columns."""
        with closing(sqlite3.connect(self._pristine)) as database:
            return [row[1] for row in database.execute(f'PRAGMA table_xinfo("{table}")')]

    def key(self, table: str) -> list[str]:
        """The names of the columns that a row is known by."""
        with closing(sqlite3.connect(self._pristine)) as database:
            return primary_key(database, table)

    def audit(self, **given: Any) -> Audit:
        """Audit it on a machine that remembers nothing."""
        return api.audit(self.folder, state=self._nobody, **given)


def primary_key(database: sqlite3.Connection, table: str) -> list[str]:
    found = database.execute(f'PRAGMA table_xinfo("{table}")').fetchall()
    return [name for _rank, name in sorted((row[5], row[1]) for row in found if row[5])]


def put_history(
    database: sqlite3.Connection,
    datas: Sequence[bytes],
    nodes: dict[tuple[int, int], bytes],
    note: bytes,
) -> None:
    """Write a history with all that a database keeps beside it: columns, nodes, checkpoint."""
    known = [row[1] for row in database.execute('PRAGMA table_xinfo("entries")')]
    for table in ("entries", "nodes", "checkpoint"):
        database.execute(f"DELETE FROM {table}")
    marks = ", ".join("?" for _name in known)
    for index, data in enumerate(datas):
        made = parse_entry(index, data)
        row = {"index": index, "envelope": data, "leaf_hash": made.leaf_hash, **columns_of(made)}
        database.execute(f"INSERT INTO entries VALUES ({marks})", [row[name] for name in known])
    database.executemany("INSERT INTO nodes VALUES (?, ?, ?)", [(*at, node) for at, node in nodes.items()])
    database.execute("INSERT INTO checkpoint VALUES (1, ?, ?)", (len(datas), note))
