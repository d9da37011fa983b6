"""From the text of cells to typed columns: one typer for each declared type, fed some rows at a time.

A cell is missing when it is None (a null, an absent key) or stands in the column's `missing` list, whose
default holds the empty text alone. Nothing else is taken for missing, and nothing is trimmed or folded. A
refusal counts the rows and names the first, counted from 1; it never shows a cell.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from datetime import datetime, timedelta
from itertools import repeat
from typing import Any, ClassVar
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from lacre.errors import (
    TableError,
    TableNotDigest,
    TableNotNumber,
    TableNotTime,
    TableNumberInProse,
    TableOutOfRange,
    TableZoneAbsent,
)
from lacre.protocol.columns import (
    CategoryColumn,
    Column,
    DigestColumn,
    NumberColumn,
    OrdinalColumn,
    OutcomeColumn,
    TimeColumn,
)
from lacre.protocol.grammar import as_float
from lacre.tables.columns import (
    MISSING,
    UNDECLARED,
    Codes,
    Digests,
    Numbers,
    Outcomes,
    Texts,
    Times,
    TypedColumn,
)
from lacre.tables.formats import Cells
from lacre.tables.tally import Tally

# [0-9] and not \d: digits of other scripts make no numbers in a data file. Python's own float() would also
# take "inf", "nan", "1_000" and blanks at both ends.
_NUMBER = r"[+-]?(?:[0-9]+(?:{mark}[0-9]*)?|{mark}[0-9]+)(?:[eE][+-]?[0-9]+)?"
_TIME = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]{1,9})?)?)?)"
    r"(Z|([+-])([0-9]{2})(?::?([0-9]{2}))?)?"
)
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - clock readings are subtracted from it before their offset
_MICROSECOND = timedelta(microseconds=1)
_NAT = int(np.datetime64("NaT").astype(np.int64))
_PROSE = re.compile(r"[0-9].*[^\W\d_]{2}|[^\W\d_]{2}.*[0-9]", re.DOTALL)
_DIGEST = re.compile(r"(?:sha256:)?([0-9a-fA-F]{64})")


class Typer(ABC):
    """Makes one typed column of cells that come some rows at a time."""

    empty: ClassVar[Any]
    """The type of an array of no cells."""

    def __init__(self, name: str, column: Column, file: str) -> None:
        self._where = {"file": file, "column": name}
        self._missing = frozenset(column.missing)
        self._rows = 0
        self._arrays: list[NDArray[Any]] = []

    def add(self, cells: Cells) -> None:
        """Take the cells of some further rows."""
        self._arrays.append(self._converted(cells))
        self._rows += len(cells)

    def finish(self) -> TypedColumn:
        """Return the column; raises the refusal of this type, with its count, if any cell was refused."""
        refusal = self._refusal()
        if refusal is not None:
            raise refusal
        return self._typed(np.concatenate([np.empty(0, self.empty), *self._arrays]))

    @abstractmethod
    def _converted(self, cells: Cells) -> NDArray[Any]: ...

    @abstractmethod
    def _typed(self, array: NDArray[Any]) -> TypedColumn: ...

    def _refusal(self) -> TableError | None:
        return None

    def _row(self, index: int) -> int:
        return self._rows + index + 1


class _TextTyper(Typer):
    empty = np.object_

    def _converted(self, cells: Cells) -> NDArray[Any]:
        missing = self._missing
        return objects([None if cell in missing else cell for cell in cells])

    def _typed(self, array: NDArray[Any]) -> TypedColumn:
        return Texts(array)


class _CodeTyper(Typer):
    """Looks each cell up; a category's or an outcome's."""

    def __init__(self, name: str, column: Column, file: str, codes: Mapping[str, int]) -> None:
        super().__init__(name, column, file)
        self._codes: dict[str | None, int] = {None: MISSING}
        self._codes.update(codes)
        self._codes.update(dict.fromkeys(column.missing, MISSING))

    def _converted(self, cells: Cells) -> NDArray[Any]:
        return np.fromiter(map(self._codes.get, cells, repeat(UNDECLARED)), self.empty, len(cells))


class _CategoryTyper(_CodeTyper):
    empty = np.int32

    def __init__(self, name: str, column: CategoryColumn | OrdinalColumn, file: str) -> None:
        super().__init__(name, column, file, {value: code for code, value in enumerate(column.values)})
        self._values = tuple(column.values)

    def _typed(self, array: NDArray[Any]) -> TypedColumn:
        return Codes(array, self._values)


class _OutcomeTyper(_CodeTyper):
    empty = np.int8

    def __init__(self, name: str, column: OutcomeColumn, file: str) -> None:
        codes = {**dict.fromkeys(column.negative or (), 0), **dict.fromkeys(column.positive or (), 1)}
        super().__init__(name, column, file, codes)

    def _typed(self, array: NDArray[Any]) -> TypedColumn:
        return Outcomes(array)


class _NumberTyper(Typer):
    empty = np.float64

    def __init__(self, name: str, column: NumberColumn, file: str, decimal: str) -> None:
        super().__init__(name, column, file)
        self._decimal = decimal
        self._number = re.compile(_NUMBER.format(mark=re.escape(decimal))).fullmatch
        self._low = None if column.min is None else as_float(column.min)
        self._high = None if column.max is None else as_float(column.max)
        self._no_number = Tally()
        self._in_prose = Tally()
        self._outside = Tally()

    def _converted(self, cells: Cells) -> NDArray[Any]:
        missing, number, decimal = self._missing, self._number, self._decimal
        values = np.array(
            [
                np.nan
                if cell is None or cell in missing
                else float(cell if decimal == "." else cell.replace(decimal, "."))
                if number(cell)
                else np.inf
                for cell in cells
            ],
            np.float64,
        )
        # What is written as a number and has no finite double (1e999) is as little one as text is.
        none = np.isinf(values)
        self._note(self._no_number, none)
        for place in np.flatnonzero(none).tolist():
            if _PROSE.search(cells[place] or ""):
                self._in_prose.note(self._row(place))
        outside = np.zeros(len(values), np.bool_)
        if self._low is not None:
            outside |= values < self._low
        if self._high is not None:
            outside |= values > self._high
        self._note(self._outside, outside)
        return values

    def _note(self, rows: Tally, mask: NDArray[np.bool_]) -> None:
        if mask.any():
            rows.note(self._row(int(mask.argmax())), int(mask.sum()))

    def _typed(self, array: NDArray[Any]) -> TypedColumn:
        return Numbers(array)

    def _refusal(self) -> TableError | None:
        if (rows := self._in_prose).count:
            return TableNumberInProse(**self._where, count=rows.count, row=rows.first, decimal=self._decimal)
        if (rows := self._no_number).count:
            return TableNotNumber(**self._where, count=rows.count, row=rows.first, decimal=self._decimal)
        if (rows := self._outside).count:
            low = "-∞" if self._low is None else f"{self._low:g}"
            high = "∞" if self._high is None else f"{self._high:g}"
            return TableOutOfRange(**self._where, count=rows.count, row=rows.first, low=low, high=high)
        return None


class _TimeTyper(Typer):
    empty = np.dtype("datetime64[us]")

    def __init__(self, name: str, column: TimeColumn, file: str) -> None:
        super().__init__(name, column, file)
        self._zone = None if column.zone is None else ZoneInfo(column.zone)
        self._no_time = Tally()
        self._no_zone = Tally()

    def _converted(self, cells: Cells) -> NDArray[Any]:
        missing = self._missing
        microseconds = [
            _NAT if cell is None or cell in missing else self._instant(cell, index)
            for index, cell in enumerate(cells)
        ]
        return np.array(microseconds, np.int64).view(self.empty)

    def _instant(self, cell: str, index: int) -> int:
        match = _TIME.fullmatch(cell)
        local = None if match is None else _local(match[1])
        if match is None or local is None:
            self._no_time.note(self._row(index))
            return _NAT
        if match[2] is not None:
            offset = _offset(match)
        elif self._zone is not None:
            # A clock reading that a change of offset skips or repeats is taken with the offset before it
            # (fold=0 of PEP 495).
            offset = self._zone.utcoffset(local)
        else:
            self._no_zone.note(self._row(index))
            return _NAT
        if offset is None:
            self._no_time.note(self._row(index))
            return _NAT
        return (local - _EPOCH - offset) // _MICROSECOND

    def _typed(self, array: NDArray[Any]) -> TypedColumn:
        return Times(array)

    def _refusal(self) -> TableError | None:
        if (rows := self._no_time).count:
            return TableNotTime(**self._where, count=rows.count, row=rows.first)
        if (rows := self._no_zone).count:
            return TableZoneAbsent(**self._where, count=rows.count, row=rows.first)
        return None


def _local(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def _offset(match: re.Match[str]) -> timedelta | None:
    if len(match[1]) == len("2026-09-02"):
        return None  # ISO 8601 has zones for clock readings only
    if match[2] == "Z":
        return timedelta(0)
    hours, minutes = int(match[4]), int(match[5] or 0)
    if hours > 23 or minutes > 59:
        return None
    offset = timedelta(hours=hours, minutes=minutes)
    return -offset if match[3] == "-" else offset


class _DigestTyper(Typer):
    empty = np.object_

    def __init__(self, name: str, column: DigestColumn, file: str) -> None:
        super().__init__(name, column, file)
        self._no_digest = Tally()

    def _converted(self, cells: Cells) -> NDArray[Any]:
        missing = self._missing
        return objects(
            [
                None if cell is None or cell in missing else self._digest(cell, index)
                for index, cell in enumerate(cells)
            ]
        )

    def _digest(self, cell: str, index: int) -> str | None:
        match = _DIGEST.fullmatch(cell)
        if match is None:
            self._no_digest.note(self._row(index))
            return None
        return match[1].lower()

    def _typed(self, array: NDArray[Any]) -> TypedColumn:
        return Digests(array)

    def _refusal(self) -> TableError | None:
        if (rows := self._no_digest).count:
            return TableNotDigest(**self._where, count=rows.count, row=rows.first)
        return None


def typer_for(name: str, column: Column, *, file: str, decimal: str) -> Typer:
    """Return the typer of `column`, which must be one that stands in files.

    `decimal` is the mark that its numbers are written with.
    """
    match column:
        case CategoryColumn() | OrdinalColumn():
            return _CategoryTyper(name, column, file)
        case OutcomeColumn():
            return _OutcomeTyper(name, column, file)
        case NumberColumn():
            return _NumberTyper(name, column, file, decimal)
        case TimeColumn():
            return _TimeTyper(name, column, file)
        case DigestColumn():
            return _DigestTyper(name, column, file)
        case _:
            return _TextTyper(name, column, file)


def objects(cells: Cells) -> NDArray[np.object_]:
    """Return cells as an array of objects."""
    array = np.empty(len(cells), np.object_)
    array[:] = cells
    return array
