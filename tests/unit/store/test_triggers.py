"""What the database itself refuses, of any program: nothing that was written changes, and each thing is once.

The statements come over a plain connection, on which `recursive_triggers` is off, as it is by default.
"""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

READ = "'read', 't', 'faces', 'teste', 'teste', NULL"
ENTRY = (
    'INSERT INTO entries ("index", envelope, leaf_hash, kind, time, study, pool, read_class, previous, nonce'
)


@pytest.fixture
def connection(tmp_path: Path, empty_ledger: Path) -> Iterator[sqlite3.Connection]:
    """Two entries, of which the second is the first read of `teste`, one node, one document, a checkpoint."""
    path = shutil.copy(empty_ledger, tmp_path)
    with closing(sqlite3.connect(path, isolation_level=None)) as made:
        made.execute(f"{ENTRY}) VALUES (0, x'00', x'00', 'genesis', 't', NULL, NULL, NULL, NULL, NULL)")
        made.execute(f"{ENTRY}) VALUES (1, x'01', x'01', {READ}, 'n1')")
        made.execute("INSERT INTO nodes VALUES (1, 0, x'02')")
        made.execute("INSERT INTO documents VALUES ('d1', 'text/plain', NULL, x'03')")
        made.execute("INSERT INTO checkpoint VALUES (1, 2, x'04')")
        yield made


def dump(connection: sqlite3.Connection) -> list[str]:
    return list(connection.iterdump())


OTHER = "'seal', 't', 'faces', 'teste', NULL, NULL"
CHANGES = [
    "UPDATE entries SET envelope = x'ff'",
    "UPDATE entries SET kind = 'seal' WHERE \"index\" = 1",
    'UPDATE entries SET "index" = 2 WHERE "index" = 1',
    'UPDATE OR REPLACE entries SET "index" = 0 WHERE "index" = 1',
    "UPDATE OR IGNORE entries SET time = 'u'",
    "DELETE FROM entries",
    'DELETE FROM entries WHERE "index" = 1',
    "UPDATE nodes SET hash = x'ff'",
    "DELETE FROM nodes",
    "UPDATE documents SET body = x'ff'",
    "UPDATE documents SET salt = x'ff'",
    "DELETE FROM documents",
    "DELETE FROM checkpoint",
    "UPDATE checkpoint SET size = 1",
    "UPDATE checkpoint SET note = x'ff'",
    "UPDATE OR REPLACE checkpoint SET size = 2, note = x'ff'",
    "UPDATE checkpoint SET id = 2, size = 3",
]
INSERTS = [
    f"INSERT OR REPLACE {ENTRY[7:]}) VALUES (1, x'ff', x'ff', {OTHER}, 'n2')",
    f"REPLACE {ENTRY[7:]}) VALUES (0, x'ff', x'ff', {OTHER}, 'n2')",
    f"INSERT OR IGNORE {ENTRY[7:]}) VALUES (1, x'ff', x'ff', {OTHER}, 'n2')",
    f"{ENTRY}) VALUES (1, x'ff', x'ff', {OTHER}, 'n2') ON CONFLICT DO UPDATE SET envelope = x'ff'",
    f"{ENTRY}) VALUES (1, x'ff', x'ff', {OTHER}, 'n2') ON CONFLICT DO NOTHING",
    f"INSERT OR REPLACE {ENTRY[7:]}) VALUES (2, x'ff', x'ff', {OTHER}, 'n1')",
    f"INSERT OR REPLACE {ENTRY[7:]}) VALUES (2, x'ff', x'ff', {READ}, 'n2')",
    f"INSERT {ENTRY[7:]}) VALUES (2, x'ff', x'ff', {OTHER}, 'n1')",
    f"INSERT {ENTRY[7:]}) VALUES (2, x'ff', x'ff', {READ}, 'n2')",
    f"{ENTRY}) VALUES (3, x'ff', x'ff', {OTHER}, 'n2')",
    f"{ENTRY}) VALUES (-1, x'ff', x'ff', {OTHER}, 'n2')",
    f"{ENTRY}) VALUES (NULL, x'ff', x'ff', {OTHER}, 'n2')",
    f"{ENTRY}) VALUES (2, 'text', x'ff', {OTHER}, 'n2')",
    f"{ENTRY}) VALUES (2, NULL, x'ff', {OTHER}, 'n2')",
    "INSERT OR REPLACE INTO nodes VALUES (1, 0, x'ff')",
    "INSERT INTO nodes VALUES (0, 0, x'ff')",
    "INSERT INTO nodes VALUES (1, 'one', x'ff')",
    "INSERT OR REPLACE INTO documents VALUES ('d1', 'text/html', NULL, x'ff')",
    "INSERT INTO documents VALUES ('d1', 'a', NULL, x'ff') ON CONFLICT DO UPDATE SET body = x'ff'",
    "INSERT OR REPLACE INTO documents (rowid, digest, media, body) VALUES (1, 'd2', 'a', x'ff')",
    "INSERT OR REPLACE INTO checkpoint VALUES (1, 1, x'ff')",
    "INSERT OR REPLACE INTO checkpoint VALUES (1, 3, x'ff')",
    "INSERT INTO checkpoint VALUES (2, 3, x'ff')",
]


@pytest.mark.parametrize("statement", CHANGES + INSERTS)
def test_nothing_that_was_written_is_changed(connection: sqlite3.Connection, statement: str) -> None:
    before = dump(connection)
    # OperationalError: a table without rowids has no column of that name.
    with pytest.raises((sqlite3.IntegrityError, sqlite3.OperationalError)):
        connection.execute(statement)
    assert dump(connection) == before


@pytest.mark.parametrize(
    "statement",
    [
        f"{ENTRY}) VALUES (2, x'ff', x'ff', {OTHER}, 'n2')",
        f"{ENTRY}) VALUES (2, x'ff', x'ff', {OTHER}, NULL)",
        f"{ENTRY}, finishes) VALUES (2, x'ff', x'ff', {READ}, 'n2', 1)",
        f"{ENTRY}) VALUES (2, x'ff', x'ff', 'read', 't', 'faces', 'teste', 'dev', 1, 'n2')",
        f"{ENTRY}) VALUES (2, x'ff', x'ff', 'read', 't', 'faces', 'teste-2', 'teste', 1, 'n2')",
        f"{ENTRY}) VALUES (2, x'ff', x'ff', 'read', 't', 'voices', 'teste', 'teste', NULL, 'n2')",
        "INSERT INTO nodes VALUES (1, 1, x'ff')",
        "INSERT INTO documents VALUES ('d2', 'text/plain', x'00', x'03')",
        "UPDATE checkpoint SET size = 3, note = x'ff'",
    ],
)
def test_a_ledger_grows(connection: sqlite3.Connection, statement: str) -> None:
    before = dump(connection)
    connection.execute(statement)
    assert dump(connection) != before


def test_the_first_entry_is_entry_0(tmp_path: Path, empty_ledger: Path) -> None:
    path = shutil.copy(empty_ledger, tmp_path)
    with closing(sqlite3.connect(path, isolation_level=None)) as empty:
        with pytest.raises(sqlite3.IntegrityError, match="follows the last"):
            empty.execute(f"{ENTRY}) VALUES (1, x'00', x'00', {OTHER}, NULL)")
        empty.execute(f"{ENTRY}) VALUES (0, x'00', x'00', {OTHER}, NULL)")


@pytest.mark.parametrize(
    ("trigger", "values"),
    [("entries_teste_once", f"{READ}, 'n2'"), ("entries_nonce_once", f"{OTHER}, 'n1'")],
)
def test_an_index_stands_behind_the_trigger(
    connection: sqlite3.Connection, trigger: str, values: str
) -> None:
    connection.execute(f"DROP TRIGGER {trigger}")
    with pytest.raises(sqlite3.IntegrityError, match="UNIQUE constraint failed"):
        connection.execute(f"{ENTRY}) VALUES (2, x'ff', x'ff', {values})")
