"""Which rows of a table are cases, and which are left out: by a registered condition, or for what a column holds."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lacre.analyses.strata import Coded
from lacre.analyses.verdict import LeftOut
from lacre.protocol.tables import Table
from lacre.stats.fairness import Codes
from lacre.tables.columns import MISSING, UNDECLARED, TypedTable
from lacre.tables.exclude import apply_exclusions

Mask = npt.NDArray[np.bool_]


class Used(NamedTuple):
    """The rows that no registered condition drops, which these are of the table, and how many each condition drops."""

    table: TypedTable
    kept: Mask
    excluded: tuple[LeftOut, ...]


def used_of(declared: Table, table: TypedTable) -> Used:
    """Return the rows of `table` that are used, and count the others."""
    exclusion = apply_exclusions(table, declared.exclude)
    excluded = tuple(
        LeftOut("excluded", condition.column, count)
        for condition, count in zip(declared.exclude, exclusion.counts, strict=True)
    )
    return Used(table if exclusion.kept.all() else table.select(exclusion.kept), exclusion.kept, excluded)


def absent(name: str, codes: Codes) -> list[LeftOut]:
    """Count the cases whose code in a column is none: for want of a value, and for one that is not declared."""
    places = (("missing", MISSING), ("undeclared", UNDECLARED))
    return [LeftOut(why, name, int(np.count_nonzero(codes == code))) for why, code in places]


def outside(names: Sequence[str], coded: Sequence[Coded], among: Mask | None = None) -> Iterator[LeftOut]:
    """Count the cases (`among` some) that are in no group of some columns, each column by itself."""
    for name, (codes, _values) in zip(names, coded, strict=True):
        found = absent(name, codes if among is None else codes[among])
        yield from (each for each in found if each.count)
