"""Every column of every table, and every row: changed past all triggers, and found.

Tables and columns come from the schema, and what a row is known by from its primary key, so that a table or a
column to come joins by itself. What an audit says of a row it says of no other, so values that are derived are
changed in all rows at once as well, and each row must be named.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pytest
from tests.tampering.life import ENTRIES
from tests.tampering.place import COLUMNS, TABLES, VERSIONS, put_history

from lacre.errors import StoreNewer
from lacre.rules.named import named_by
from lacre.rules.record import parse_entry
from lacre.store.tables import metadata

if TYPE_CHECKING:
    from tests.tampering.forging import Forger
    from tests.tampering.life import Life
    from tests.tampering.place import Place, Row
    from tests.tampering.tally import Tally

OPERATIONS = ("change", "drop", "swap", "repeat", "insert", "truncate")
STRIDE = 17
"""Of the rows of a column that others give, every so many is changed alone; all of them at once, further down."""


def test_no_table_and_no_column_is_left_out(place: Place) -> None:
    """What the database has is what is gone through here."""
    with place.opened() as database:
        tables = {row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    assert tables == {*TABLES}
    assert sorted((table, column) for table in tables for column in place.columns(table)) == sorted(COLUMNS)


# --- which entries a row is of


class Rows:
    """The rows of a table, and which entries each is of."""

    def __init__(self, place: Place, life: Life, table: str) -> None:
        self.table = table
        self.columns = place.columns(table)
        self.key = place.key(table)
        self.rows = place.rows(table)
        self._named: dict[str, set[int | None]] = {}
        for index, data in enumerate(life.datas):
            for named in named_by(parse_entry(index, data)):
                self._named.setdefault(named.digest, set()).add(index)

    def value(self, row: Row, column: str) -> Any:
        return row[self.columns.index(column)]

    def entries(self, row: Row) -> set[int | None]:
        """The entries that a finding about this row must name one of; none of a checkpoint or a revision."""
        if self.table == "entries":
            return {self.value(row, "index")}
        if self.table == "nodes":
            return {((self.value(row, "position") + 1) << self.value(row, "level")) - 1}
        if self.table == "documents":
            return self._named[self.value(row, "digest")]
        return set()

    def marks(self, row: Row) -> tuple[str, list[Any]]:
        """What selects the row: SQL and its values."""
        where = " AND ".join(f'"{name}" IS ?' for name in self.key)
        return where, [self.value(row, name) for name in self.key]

    def other(self, number: int, column: str) -> Row:
        """The next row that has another value in a column; the very row where there is none."""
        mine = self.value(self.rows[number], column)
        rest = (*self.rows[number + 1 :], *self.rows[:number])
        return next((row for row in rest if self.value(row, column) != mine), self.rows[number])


def made_of(column: Any) -> Any:
    """Something to stand where there was nothing, of a column's type."""
    return {"INTEGER": 3, "TEXT": "x", "BLOB": b"x"}[str(column.type).replace("VARCHAR(32)", "TEXT")]


def changed(operation: str, value: Any, other: Any, empty: Any) -> Any:
    """What a value becomes; the value itself where an operation does nothing to it."""
    if operation in {"swap", "repeat"}:
        return other
    if operation == "drop" or (value is None and operation == "truncate"):
        return None
    match value:
        case None:
            return empty
        case int():
            return {"change": value + 1000, "insert": value * 10 + 1, "truncate": value // 2}[operation]
        case str() | bytes():
            half = len(value) // 2
            middle = value[half : half + 1]
            near: Any = chr(ord(middle) ^ 1) if isinstance(middle, str) and middle else b"x"
            if isinstance(middle, bytes) and middle:
                near = bytes([middle[0] ^ 1])
            if isinstance(value, str) and not middle:
                near = "x"
            return {
                "change": value[:half] + near + value[half + 1 :],
                "insert": value[:half] + near + value[half:],
                "truncate": value[:half],
            }[operation]
    raise AssertionError(value)


class Change:
    """An operation on a column, carried out on rows; tells of each whether the database took it."""

    def __init__(self, rows: Rows, column: str, operation: str) -> None:
        self.rows, self.column, self.operation = rows, column, operation
        table = metadata.tables.get(rows.table)
        self._empty = "x" if table is None else made_of(table.columns[column])

    def does_anything(self, number: int) -> bool:
        """Whether the row is another afterwards."""
        value, new, _other = self._new(number)
        return not (new == value and type(new) is type(value))

    def _new(self, number: int) -> tuple[Any, Any, Row]:
        other = self.rows.other(number, self.column)
        value = self.rows.value(self.rows.rows[number], self.column)
        return value, changed(self.operation, value, self.rows.value(other, self.column), self._empty), other

    def apply(self, database: sqlite3.Connection, number: int) -> Row:
        """Change the row `number`; return the other row that it is swapped with, or the row itself.

        Raises what the database does.
        """
        row = self.rows.rows[number]
        value, new, other = self._new(number)
        if self.operation == "swap":
            # By way of values that no row has, past what is unique.
            self._set(database, row, _nowhere(value, self._empty))
            self._set(database, other, value, unique=True)
            self._set(database, row, new, passing=_nowhere(value, self._empty))
            return other
        self._set(database, row, new)
        return row

    def _set(
        self, database: sqlite3.Connection, row: Row, value: Any, *, unique: bool = False, passing: Any = None
    ) -> None:
        rows = self.rows
        where, marks = rows.marks(row)
        if passing is not None and self.column in rows.key:
            marks[rows.key.index(self.column)] = passing
        done = database.execute(
            f'UPDATE "{rows.table}" SET "{self.column}" = ? WHERE {where}', [value, *marks]
        )
        assert done.rowcount == 1 or unique


def _nowhere(value: Any, empty: Any) -> Any:
    like = empty if value is None else value
    return {int: 1 << 40, str: "nowhere", bytes: b"nowhere"}[type(like)]


DERIVED = {column for table, column in COLUMNS if table == "entries"} - {"index", "envelope"}
WHOLE = {("entries", "index"), ("entries", "envelope"), ("documents", "digest"), ("documents", "body")}
"""The columns that nothing in their row gives: each row of them is changed alone."""


def some(column: tuple[str, str], operation: str, rows: Sequence[int]) -> Sequence[int]:
    """The rows that an operation is tried on alone, from another row on in each column."""
    stride = 1 if operation == "change" else 4
    if column not in WHOLE:
        stride = STRIDE
    elif column == ("entries", "envelope"):
        stride = 1 if operation in {"change", "swap"} else 2
    return rows[COLUMNS.index(column) % min(stride, len(rows)) :: stride] if rows else ()


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize(("table", "column"), COLUMNS, ids=[".".join(each) for each in COLUMNS])
def test_every_value_of_every_column(
    place: Place, life: Life, tally: Tally, table: str, column: str, operation: str
) -> None:
    rows = Rows(place, life, table)
    change = Change(rows, column, operation)
    numbers = [number for number in range(len(rows.rows)) if change.does_anything(number)]
    for number in some((table, column), operation, numbers):
        what = f"{table}.{column} {operation}, row {number}"
        try:
            with place.changing() as database:
                other = change.apply(database, number)
        except sqlite3.IntegrityError:
            tally.refuse()
            continue
        refusal = StoreNewer if table == VERSIONS else None
        expected = rows.entries(rows.rows[number]) | rows.entries(other)
        tally.judge(what, place.audit, entries=expected, refusal=refusal)
    if not numbers:  # one row, or the same in all: nothing to swap with, or to repeat
        tally.same += 1
        assert operation in {"swap", "repeat"}
        assert table in {"checkpoint", VERSIONS}


@pytest.mark.parametrize("operation", ["change", "drop", "repeat", "insert", "truncate"])
@pytest.mark.parametrize("column", sorted(DERIVED))
def test_a_derived_column_of_all_rows_at_once(
    place: Place, life: Life, tally: Tally, column: str, operation: str
) -> None:
    """What is derived from an entry is held against that entry alone, so each row must be named."""
    rows = Rows(place, life, "entries")
    change = Change(rows, column, operation)
    done = []
    with place.changing() as database:
        for number in range(ENTRIES):
            try:
                if change.does_anything(number):
                    change.apply(database, number)
                    done.append(number)
            except sqlite3.IntegrityError:
                tally.refuse()
    report = place.audit()
    found = {
        each.entry
        for each in report.findings
        if each.code == "column-differs" and each.fields["column"] == column
    }
    tally.tried += len(done)
    tally.slipped += [f"{column} {operation}, row {number}" for number in done if number not in found]
    assert done or tally.refused


@pytest.mark.parametrize("operation", ["change", "drop", "repeat", "insert", "truncate"])
@pytest.mark.parametrize("column", ["media", "salt", "body"])
def test_a_column_of_all_documents_at_once(
    place: Place, life: Life, tally: Tally, column: str, operation: str
) -> None:
    """A document is held against its digest alone, so each must be named, and an entry that names it."""
    rows = Rows(place, life, "documents")
    change = Change(rows, column, operation)
    done = [number for number in range(len(rows.rows)) if change.does_anything(number)]
    try:
        with place.changing() as database:
            for number in done:
                change.apply(database, number)
    except sqlite3.IntegrityError:
        assert operation == "drop"
        tally.refused += len(done)
        return
    found = {(each.fields.get("digest"), each.entry) for each in place.audit().findings}
    for number in done:
        tally.tried += 1
        row = rows.rows[number]
        if not any((rows.value(row, "digest"), entry) in found for entry in rows.entries(row)):
            tally.slipped.append(f"documents.{column} {operation}, row {number}")


@pytest.mark.parametrize("column", ["level", "position", "hash"])
def test_nodes_all_at_once(place: Place, life: Life, tally: Tally, column: str) -> None:
    rows = Rows(place, life, "nodes")
    with place.changing() as database:
        if column == "hash":
            for number in range(len(rows.rows)):
                Change(rows, column, "change").apply(database, number)
        else:
            database.execute(f"UPDATE nodes SET {column} = {column} + 100")
    found = {
        (each.fields["level"], each.fields["position"], each.entry)
        for each in place.audit().findings
        if each.code in {"node-differs", "node-missing"}
    }
    for row in rows.rows:
        tally.tried += 1
        (entry,) = rows.entries(row)
        if (row[0], row[1], entry) not in found:
            tally.slipped.append(f"nodes.{column} {row[:2]}")


# --- whole rows


def copied(rows: Rows, row: Row, key: Collection[Any]) -> Row:
    """The row under another key."""
    new = dict(zip(rows.key, key, strict=True))
    return tuple(new.get(name, value) for name, value in zip(rows.columns, row, strict=True))


def insert(database: sqlite3.Connection, table: str, row: Row) -> None:
    database.execute(f'INSERT INTO "{table}" VALUES ({", ".join("?" for _value in row)})', row)


@pytest.mark.parametrize("table", TABLES)
def test_every_row_dropped(place: Place, life: Life, tally: Tally, table: str) -> None:
    rows = Rows(place, life, table)
    for row in rows.rows[:: 3 if table == "nodes" else 1]:
        with place.changing() as database:
            where, marks = rows.marks(row)
            database.execute(f'DELETE FROM "{table}" WHERE {where}', marks)
        tally.judge(f"{table} without {marks}", place.audit, entries=rows.entries(row))


@pytest.mark.parametrize("table", TABLES)
def test_every_row_swapped_with_the_next(place: Place, life: Life, tally: Tally, table: str) -> None:
    """All that is in it, but not its key."""
    rows = Rows(place, life, table)
    rest = [name for name in rows.columns if name not in rows.key]
    for number, row in list(enumerate(rows.rows))[:: 1 if table == "entries" else 3]:
        other = rows.rows[(number + 1) % len(rows.rows)]
        if [rows.value(row, name) for name in rest] == [rows.value(other, name) for name in rest]:
            assert table in {"checkpoint", VERSIONS}  # one row, or nothing but a key
            tally.same += 1
            continue
        with place.changing() as database:
            for one in (row, other):
                where, marks = rows.marks(one)
                database.execute(f'DELETE FROM "{table}" WHERE {where}', marks)
            for one, key in ((row, other), (other, row)):
                insert(database, table, copied(rows, one, rows.marks(key)[1]))
        tally.judge(
            f"{table} {rows.marks(row)[1]} and the next",
            place.audit,
            entries=rows.entries(row) | rows.entries(other),
        )


def free_keys(rows: Rows) -> Iterator[list[Any]]:
    """Keys that no row has: at the end, far off, and where no row may be."""
    match rows.key:
        case ["index"]:
            yield from ([ENTRIES], [ENTRIES + 5], [-1], [1 << 62])
        case ["level", "position"]:
            yield from ([1, ENTRIES // 2], [6, 0], [63, 0], [1, 1 << 62], [1, -1])
        case ["digest"]:
            yield from (["0" * 64], ["f" * 64], [""], ["x"])
        case ["id"]:
            yield from ([2], [0])
        case _:
            yield from (["0001"], ["9999"], [""])


@pytest.mark.parametrize("table", TABLES)
def test_every_row_repeated_under_another_key(place: Place, life: Life, tally: Tally, table: str) -> None:
    rows = Rows(place, life, table)
    for number, row in enumerate(rows.rows):
        for at, key in enumerate(free_keys(rows)):
            if (number + 2 * at) % 8 and len(rows.rows) > 8:
                continue  # of a long table each key with some rows
            try:
                with place.changing() as database:
                    insert(database, table, copied(rows, row, key))
            except sqlite3.IntegrityError:
                tally.refuse()
                continue
            tally.judge(f"{table} {rows.marks(row)[1]} again as {key}", place.audit)


def test_rows_inserted(place: Place, life: Life, tally: Tally) -> None:
    """Made up: an entry without a nonce, so that no index is in its way, a node, a document."""
    rows = Rows(place, life, "entries")
    for at in (ENTRIES, ENTRIES + 1, 1 << 40):
        with place.changing() as database:
            insert(database, "entries", copied(rows, tuple(
                None if name == "nonce" else value for name, value in zip(rows.columns, rows.rows[37], strict=True)
            ), [at]))  # fmt: skip
        tally.judge(f"entry {at}", place.audit, entries=range(ENTRIES, ENTRIES + 2))
    for row in ((1, ENTRIES // 2, bytes(32)), (7, 0, bytes(32)), (2, ENTRIES // 4, b"")):
        with place.changing() as database:
            insert(database, "nodes", row)
        tally.judge(f"node {row[:2]}", place.audit, codes={"node-unknown"})
    for salt, body in ((None, b"{}"), (b"s" * 32, b"hello"), (b"", b"")):
        with place.changing() as database:
            insert(database, "documents", ("a" * 64, "application/json", salt, body))
        tally.judge("a document", place.audit, codes={"document-unnamed"})


@pytest.mark.parametrize("table", TABLES)
def test_the_last_rows_cut_off_and_the_table_emptied(
    place: Place, life: Life, tally: Tally, table: str
) -> None:
    rows = Rows(place, life, table)
    for left in range(0, len(rows.rows), max(len(rows.rows) // 6, 1)):
        with place.changing() as database:
            for row in rows.rows[left:]:
                where, marks = rows.marks(row)
                database.execute(f'DELETE FROM "{table}" WHERE {where}', marks)
        tally.judge(f"{table} after {left}", place.audit, entries=rows.entries(rows.rows[left]))


def test_an_erased_text_put_back(place: Place, life: Life, tally: Tally) -> None:
    """It stood in the copies of the database that were made before."""
    erasing = life.kinds().index("erase")
    before = {row[0] for row in place.rows("documents")}
    found = 0
    for moment in life.moments:
        with place.changing() as database:
            database.execute("ATTACH ? AS old", (str(moment.database),))
            rows = database.execute("SELECT * FROM old.documents").fetchall()
            gone = [row for row in rows if row[0] not in before]
            for row in gone:
                insert(database, "documents", row)
        if gone:
            found += 1
            tally.judge(f"as of {moment.size}", place.audit, entries={erasing}, codes={"document-not-erased"})
    if not found:
        tally.tried += 1
        forged = next(named_by(parse_entry(erasing - 1, life.datas[erasing - 1])))
        with place.changing() as database:
            insert(database, "documents", (forged.digest, forged.kind.media, b"s" * 32, b"Words."))
        tally.judge("made up", place.audit, entries={erasing}, codes={"document-not-erased"})


# --- what leaves the history the same


def test_rows_in_another_order_are_the_same_history(place: Place, life: Life, tally: Tally) -> None:
    """A table has no order: what is asked of one is asked by its key. So rows that are written again last to
    first, a rebuilt file (`VACUUM`) and new statistics (`ANALYZE`) change bytes of the file, and nothing that is
    in it: not the entries, nor what is derived from them. The audit must say what it said before."""
    before = place.audit()
    assert before.ok
    for table in TABLES:
        rows = place.rows(table)
        with place.changing() as database:
            database.execute(f'DELETE FROM "{table}"')
            for row in reversed(rows):
                insert(database, table, row)
        tally.unchanged(f"{table} from the last", place.audit(), before)
    for statement in ("VACUUM", "ANALYZE", "REINDEX", "PRAGMA page_size = 8192; VACUUM"):
        place.restore()
        with place.opened() as database:
            database.executescript(statement)
        tally.unchanged(statement, place.audit(), before)


# --- guards


def test_the_ledger_as_it_was_is_sound_and_so_is_what_a_forger_writes_again(
    place: Place, forger: Forger, life: Life
) -> None:
    """Guards the suite: fifty entries of every kind there is; written again unchanged, they audit clean."""
    assert place.audit().findings == ()
    history = forger.rewritten()
    assert history.datas == life.datas
    with place.changing() as database:
        put_history(database, history.datas, history.nodes(), history.checkpoint())
    assert place.audit().findings == ()
