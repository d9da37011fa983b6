"""The parts of an open pool: each file read by the columns of its part, and the parts joined by their keys."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from lacre.errors import TableColumnAbsent, TableError, cells_untold
from lacre.protocol.columns import Role
from lacre.protocol.models import Protocol
from lacre.protocol.pools import part_of
from lacre.protocol.tables import Table
from lacre.tables.columns import Times, TypedTable
from lacre.tables.formats import Format
from lacre.tables.header import BLANKS
from lacre.tables.join import concat, join_submission
from lacre.tables.read import compared, read_table


@dataclass(frozen=True, slots=True)
class PartFile:
    """One file of a part: its table, how it is read, its bytes, and what messages call it."""

    table: str
    format: Format
    data: bytes
    name: str | None = None


@dataclass(frozen=True, slots=True)
class PartRead:
    """A part as it was read: its tables, and which columns of other parts its files hold (`misplaced`)."""

    tables: Mapping[str, TypedTable]
    misplaced: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PartCounts:
    """What was found in a part, held against the parts before it; `rows`, `undeclared` and `absent` by table."""

    rows: Mapping[str, int]
    undeclared: Mapping[str, int]
    absent: Mapping[str, int]
    foreign: int
    misplaced: tuple[str, ...]
    early: int
    disordered: int


@cells_untold
def read_part(protocol: Protocol, part: str, files: Sequence[PartFile]) -> PartRead:
    """Type the files of one part, several of a table one under another. Raises what `read_table` does."""
    tables: dict[str, TypedTable] = {}
    misplaced: dict[str, None] = {}
    for name in protocol.tables:
        declared = protocol.tables[name]
        read = []
        for file in files:
            if file.table == name:
                form = _form(declared, part)
                typed = read_table(
                    file.data, form, name, file.format, only="pool", keep=compared(declared), file=file.name
                )
                misplaced |= dict.fromkeys(_misplaced(declared, part, file, typed))
                read.append(typed)
        if read:
            tables[name] = concat(read)
    return PartRead(tables, tuple(misplaced))


def read_cases(protocol: Protocol, name: str, files: Sequence[PartFile]) -> TypedTable:
    """Type the cases of one table, with their cells as they are written in `texts`, too."""
    form = _form(protocol.tables[name], "cases")
    return concat(
        [
            read_table(file.data, form, name, file.format, only="pool", keep=tuple(form.columns))
            for file in files
        ]
    )


def _form(declared: Table, part: str) -> Table:
    """What a file of a part is read by: the key, and the columns of the part."""
    kept = {
        name: column
        for name, column in declared.columns.items()
        if name in declared.key or (part_of(column) == part and not declared.supplied(name))
    }
    return declared.model_copy(update={"columns": kept, "exclude": [], "unit": None, "cluster": []})


def _misplaced(declared: Table, part: str, file: PartFile, typed: TypedTable) -> list[str]:
    """The columns of other parts that a file holds. Of the cases' own any file may repeat some: they are not secret."""
    unused = {name.strip(BLANKS) for name in typed.undeclared}
    others = [
        name
        for name, column in declared.columns.items()
        if part_of(column) not in {part, "cases"}
        and not declared.supplied(name)
        and not declared.derived(name)
    ]
    return [name for name in others if name in unused or _stands_in(declared, name, file)]


def _stands_in(declared: Table, name: str, file: PartFile) -> bool:
    """Whether a file has a column by its path, inside of what another column is read from."""
    if declared.columns[name].path is None or file.format not in {Format.JSON, Format.JSON_LINES}:
        return False
    kept = {each: declared.columns[each] for each in (*declared.key, name)}
    form = declared.model_copy(update={"columns": kept, "exclude": [], "unit": None, "cluster": []})
    try:
        read_table(file.data, form, declared.key[0], file.format, only="pool")
    except TableColumnAbsent:
        return False
    except TableError:
        return True  # it is there, and not even as declared
    return True


@cells_untold
def count_part(
    protocol: Protocol, part: str, read: PartRead, before: Mapping[str, PartRead], registered: str
) -> PartCounts:
    """Count what the law asks of a part: rows, blanks, rows of no case, early labels, scores before labels.

    `before` are the parts that stand, by name; `registered` is when the study was, as entries write it.
    """
    cases = before["cases"].tables if "cases" in before else {}
    absent: dict[str, int] = {}
    foreign = disordered = 0
    for name, table in read.tables.items():
        if part != "cases":
            known = set(cases[name].keys.tolist()) if name in cases else set()
            given = set(table.keys.tolist())
            foreign += len(given - known)
            if known - given:
                absent[name] = len(known - given)
        if part == "scores" and "labels" in before and name in before["labels"].tables:
            disordered += _disordered(protocol.tables[name], before["labels"].tables[name], table)
    return PartCounts(
        rows={name: table.rows for name, table in read.tables.items()},
        undeclared={name: len(table.undeclared) for name, table in read.tables.items() if table.undeclared},
        absent=absent,
        foreign=foreign,
        misplaced=read.misplaced,
        early=sum(labelled_before(protocol.tables[n], t, registered) for n, t in read.tables.items()),
        disordered=disordered,
    )


def labelled_before(declared: Table, typed: TypedTable, registered: str) -> int:
    """How many rows of a table were labelled before the registration (rule 3)."""
    moment = _instant(registered)
    early = np.zeros(typed.rows, dtype=bool)
    for times in _times(declared, typed, "labelled"):
        early |= times < moment
    return int(early.sum())


def dated_after(
    declared: Table,
    typed: TypedTable,
    now: str,
    *,
    roles: Sequence[Role] = ("labelled", "scored"),
    slack: timedelta = timedelta(0),
) -> int:
    """How many rows have a time of these roles that is later than `now`, an entry's time, by more than `slack`."""
    moment = _instant(now) + np.timedelta64(slack)
    ahead = np.zeros(typed.rows, dtype=bool)
    for role in roles:
        for times in _times(declared, typed, role):
            ahead |= times > moment
    return int(ahead.sum())


def _disordered(declared: Table, labels: TypedTable, scores: TypedTable) -> int:
    """How many cases with a label and a score are not shown to be labelled first: a blank time shows nothing."""
    places = {key: row for row, key in enumerate(labels.keys.tolist())}
    rows = np.fromiter((places.get(key, -1) for key in scores.keys.tolist()), np.intp, scores.rows)
    both = (rows >= 0) & _given(declared, scores)
    both[rows >= 0] &= _given(declared, labels)[rows[rows >= 0]]
    label_times = (
        [times[np.maximum(rows, 0)] for times in _times(declared, labels, "labelled")] if labels.rows else []
    )
    wrong = np.zeros(scores.rows, dtype=bool)
    for labelled in label_times:
        for scored in _times(declared, scores, "scored"):
            wrong |= ~(labelled < scored)
    return int((wrong & both).sum())


def _given(declared: Table, typed: TypedTable) -> NDArray[np.bool_]:
    """Which rows hold anything of their part."""
    some = np.zeros(typed.rows, dtype=bool)
    for name, column in typed.columns.items():
        if name not in declared.key:
            some |= ~column.missing
    return some


def _times(declared: Table, typed: TypedTable, role: Role) -> list[NDArray[np.datetime64]]:
    columns = [typed.columns.get(name) for name, column in declared.columns.items() if role in column.is_]
    return [column.values for column in columns if isinstance(column, Times)]


def _instant(time: str) -> np.datetime64:
    return np.datetime64(datetime.fromisoformat(time).replace(tzinfo=None), "us")


@cells_untold
def join_parts(parts: Mapping[str, PartRead]) -> dict[str, TypedTable]:
    """Return the tables of an open pool, each case with its labels and scores; what has no row is blank."""
    joined = dict(parts["cases"].tables)
    for part in ("labels", "scores"):
        for name, table in (parts[part].tables if part in parts else {}).items():
            # The key stands in every part; what a case is called is said by the cases.
            joined[name] = replace(join_submission(joined[name], table), absent=None)
    return joined
