"""Typed columns and the tables they make: frozen, on numpy arrays as long as the table has rows."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

MISSING = -1
"""The code of a missing cell."""

UNDECLARED = -2
"""The code of a value that the protocol does not declare for the column."""


@dataclass(frozen=True, eq=False, repr=False)
class TypedColumn(ABC):
    """A column of a table; its first field is the array of its cells."""

    blank: ClassVar[Any]

    def __post_init__(self) -> None:
        self.array.setflags(write=False)

    def __repr__(self) -> str:
        # A cell must not reach a log or a traceback by way of its column.
        return f"<{type(self).__name__}: {len(self.array)} cells>"

    @property
    def array(self) -> NDArray[Any]:
        """The cells, one for each row."""
        array: NDArray[Any] = getattr(self, fields(self)[0].name)
        return array

    @property
    @abstractmethod
    def missing(self) -> NDArray[np.bool_]:
        """Which cells are missing."""

    def take(self, rows: NDArray[np.intp]) -> Self:
        """Return the cells of `rows` in their order; a negative row gives a missing cell."""
        there = rows >= 0
        taken = np.full(len(rows), self.blank, dtype=self.array.dtype)
        taken[there] = self.array[rows[there]]
        return replace(self, **{fields(self)[0].name: taken})

    def followed_by(self, others: Sequence[Self]) -> Self:
        """Return this column with the cells of `others` of the same kind after its own."""
        whole = np.concatenate([self.array, *(other.array for other in others)])
        return replace(self, **{fields(self)[0].name: whole})


@dataclass(frozen=True, eq=False, repr=False)
class Texts(TypedColumn):
    """Text as it is in the file; None where missing. `values`: objects."""

    values: NDArray[np.object_]
    blank: ClassVar[Any] = None

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Which cells are missing."""
        return _is_none(self.values)


@dataclass(frozen=True, eq=False, repr=False)
class Digests(TypedColumn):
    """SHA-256 in 64 lowercase hexadecimal digits; None where missing. `values`: objects."""

    values: NDArray[np.object_]
    blank: ClassVar[Any] = None

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Which cells are missing."""
        return _is_none(self.values)


@dataclass(frozen=True, eq=False, repr=False)
class Codes(TypedColumn):
    """A category or ordinal: int32 `codes`, places in the declared `values`, `MISSING` or `UNDECLARED`."""

    codes: NDArray[np.int32]
    values: tuple[str, ...]
    blank: ClassVar[Any] = MISSING

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Which cells are missing; an undeclared value is not."""
        return np.asarray(self.codes == MISSING, dtype=np.bool_)


@dataclass(frozen=True, eq=False, repr=False)
class Numbers(TypedColumn):
    """Finite float64 `values`; NaN where missing."""

    values: NDArray[np.float64]
    blank: ClassVar[Any] = np.nan

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Which cells are missing."""
        return np.isnan(self.values)


@dataclass(frozen=True, eq=False, repr=False)
class Outcomes(TypedColumn):
    """An outcome: int8 `codes`, 1 positive, 0 negative, `MISSING` or `UNDECLARED`."""

    codes: NDArray[np.int8]
    blank: ClassVar[Any] = MISSING

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Which cells are missing; an undeclared value is not."""
        return np.asarray(self.codes == MISSING, dtype=np.bool_)


@dataclass(frozen=True, eq=False, repr=False)
class Times(TypedColumn):
    """Instants: `values` are datetime64[us] in UTC; NaT where missing."""

    values: NDArray[np.datetime64]
    blank: ClassVar[Any] = np.datetime64("NaT")

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Which cells are missing."""
        return np.isnat(self.values)


def _is_none(values: NDArray[np.object_]) -> NDArray[np.bool_]:
    return np.fromiter((value is None for value in values), np.bool_, len(values))


def _nothing() -> Mapping[str, Any]:
    return MappingProxyType({})


@dataclass(frozen=True, eq=False, repr=False)
class TypedTable:
    """The rows of one table: of a pool, of a submission, or of a pool with its submission joined to it.

    `name`         what the table is called in messages
    `rows`         how many rows the file has; every array is as long
    `columns`      the declared columns it holds, typed, in the order of the protocol
    `keys`         objects: the text of each row's key, several columns joined by `lacre.tables.keys`
    `undeclared`   the names in the file that are not used, each once
    `texts`        objects: columns kept as they are written too, None only for a null of the file's format
    `derivations`  outcomes that are the equality of two columns, and not derived yet for want of one of them
    `absent`       after a join: which rows the submission lacks; None before one
    """

    name: str
    rows: int
    columns: Mapping[str, TypedColumn]
    keys: NDArray[np.object_]
    undeclared: tuple[str, ...] = ()
    texts: Mapping[str, NDArray[np.object_]] = field(default_factory=_nothing)
    derivations: Mapping[str, tuple[str, str]] = field(default_factory=_nothing)
    absent: NDArray[np.bool_] | None = None

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}: {self.rows} rows, {len(self.columns)} columns>"

    def select(self, kept: NDArray[np.bool_]) -> Self:
        """Return the rows for which the mask `kept` is true."""
        rows = np.flatnonzero(kept)
        return replace(
            self,
            rows=len(rows),
            columns={name: column.take(rows) for name, column in self.columns.items()},
            keys=self.keys[rows],
            texts={name: cells[rows] for name, cells in self.texts.items()},
            absent=None if self.absent is None else self.absent[rows],
        )
