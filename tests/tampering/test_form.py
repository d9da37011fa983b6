"""The tables, indexes and triggers themselves, and the file they stand in: changed, and found."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any

import pytest
from tests.tampering.place import COLUMNS, TABLES

if TYPE_CHECKING:
    from tests.tampering.life import Life
    from tests.tampering.place import Place
    from tests.tampering.tally import Tally


def objects(place: Place) -> list[tuple[str, str, str]]:
    with place.opened() as database:
        return database.execute(
            "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type, name"
        ).fetchall()


def test_every_table_index_and_trigger_dropped(place: Place, tally: Tally) -> None:
    for kind, name, _sql in objects(place):
        place.restore()
        with place.opened() as database:
            database.execute(f'DROP {kind} "{name}"')
        report = tally.judge(f"{kind} {name}", place.audit)
        if kind != "table" and report is not None:
            assert [(each.code, each.fields["name"]) for each in report.findings] == [("form-missing", name)]


def test_every_table_index_and_trigger_written_otherwise(place: Place, tally: Tally) -> None:
    """As it would be with a condition that never holds, no longer unique, without its checks, and so on."""
    weaker = (
        (" UNIQUE ", " "), ("WHEN ", "WHEN 0 AND "), ("WHERE ", "WHERE 0 AND "), ("CHECK ", "-- "),
        (" STRICT", ""), (" NOT NULL", ""), ("RAISE(ABORT", "RAISE(IGNORE"), ("BEFORE", "AFTER"), ("kind", "time"),
    )  # fmt: skip
    for kind, name, sql in objects(place):
        tries = [(old, sql.replace(old, new)) for old, new in weaker if old in sql]
        for old, other in tries:
            place.restore()
            with place.opened() as database:
                database.execute("PRAGMA writable_schema = ON")
                database.execute("UPDATE sqlite_master SET sql = ? WHERE name = ?", (other, name))
            tally.judge(f"{kind} {name} without {old!r}", place.audit)
        assert tries or kind == "index", name


def test_tables_views_indexes_triggers_and_columns_added_and_renamed(place: Place, tally: Tally) -> None:
    for statement in (
        "CREATE TABLE more (x)",
        "CREATE VIEW more AS SELECT * FROM entries",
        "CREATE INDEX more ON entries (time)",
        "CREATE TRIGGER more AFTER INSERT ON entries BEGIN DELETE FROM documents; END",
        *(f'ALTER TABLE "{table}" ADD COLUMN more TEXT' for table in TABLES),
        *(f'ALTER TABLE "{table}" RENAME TO more' for table in TABLES),
        *(f'ALTER TABLE "{table}" RENAME COLUMN "{column}" TO more' for table, column in COLUMNS),
    ):
        place.restore()
        with place.opened() as database:
            database.execute(statement)
        tally.judge(statement, place.audit)


def test_columns_dropped(place: Place, tally: Tally) -> None:
    for table, column in COLUMNS:
        place.restore()
        try:
            with place.opened() as database:
                for kind, name, sql in objects(place):
                    if kind != "table" and column in sql:
                        database.execute(f'DROP {kind} "{name}"')
                database.execute(f'ALTER TABLE "{table}" DROP COLUMN "{column}"')
        except sqlite3.OperationalError:
            tally.refuse()  # of a key, say
            continue
        tally.judge(f"{table} without {column}", place.audit)


@pytest.mark.parametrize("statement", ["PRAGMA application_id = 0", "PRAGMA application_id = 1818321779",
                                       "PRAGMA user_version = 1", "PRAGMA user_version = -7"])  # fmt: skip
def test_the_numbers_in_the_header(place: Place, tally: Tally, statement: str) -> None:
    with place.opened() as database:
        database.execute(statement)
    tally.judge(statement, place.audit)


# --- the file


def test_the_file_page_by_page(place: Place, life: Life, tally: Tally) -> None:
    """Zeroed, swapped with the next, repeated over it, dropped, and cut off there; where a page held nothing that
    any row or object of the schema is made of, the history is the same."""
    whole = place.database.read_bytes()
    size = 4096
    pages = [whole[at : at + size] for at in range(0, len(whole), size)]
    before = place.audit()

    def content() -> Any:
        with place.opened() as database:
            made = database.execute("SELECT type, name, tbl_name, sql FROM sqlite_master").fetchall()
            return made, [
                database.execute(f'SELECT * FROM "{table}" ORDER BY 1, 2').fetchall() for table in TABLES[:-1]
            ]

    same = content()
    for number in range(len(pages)):
        one, rest = pages[number], pages[number + 1 :]
        for what, made in (
            ("zeroed", [*pages[:number], bytes(size), *rest]),
            ("swapped", [*pages[:number], *rest[:1], one, *rest[1:]]),
            ("repeated", [*pages[:number], one, one, *rest[1:]]),
            ("dropped", [*pages[:number], *rest]),
            ("cut off", pages[:number]),
        ):
            if made == pages or (number % 4 and what != "zeroed"):
                continue
            place.database.write_bytes(b"".join(made))
            try:
                unchanged = content() == same
            except sqlite3.Error:
                unchanged = False
            if unchanged and (report := place.audit()).ok:
                tally.unchanged(f"page {number} {what}", report, before)
            else:
                place.database.write_bytes(b"".join(made))
                tally.judge(f"page {number} {what}", place.audit)


def test_bytes_changed_anywhere_in_the_file(place: Place, tally: Tally) -> None:
    """What the change shows in the rows is found; what SQLite cannot read is found; and nothing is raised."""
    whole = place.database.read_bytes()
    same = [place.rows(table) for table in TABLES]
    before = place.audit()
    for position in range(0, len(whole), 4001):  # prime: no position of a page is favoured
        place.database.write_bytes(whole[:position] + bytes([whole[position] ^ 0x11]) + whole[position + 1 :])
        try:
            with place.opened() as database:
                rows = [database.execute(f'SELECT * FROM "{table}"').fetchall() for table in TABLES]
            unchanged = [sorted(each, key=repr) for each in rows] == [sorted(each, key=repr) for each in same]
        except sqlite3.Error:
            unchanged = False
        if unchanged and (report := place.audit()).ok:
            tally.unchanged(f"byte {position}", report, before)
        else:
            tally.judge(f"byte {position}", place.audit)
