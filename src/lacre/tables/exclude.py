"""Rows dropped by registered conditions, counted."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lacre.protocol.grammar import as_float
from lacre.protocol.tables import Exclusion
from lacre.tables.columns import Numbers, TypedTable


@dataclass(frozen=True, eq=False)
class Excluded:
    """`kept` is a mask of the rows that stay; `counts` the rows each condition dropped, in their order."""

    kept: NDArray[np.bool_]
    counts: tuple[int, ...]


def apply_exclusions(table: TypedTable, exclusions: Sequence[Exclusion]) -> Excluded:
    """Return which rows of `table` stay when each condition drops, in order, the rows for which it holds.

    A row counts under the first condition that holds, so the counts add up to the rows dropped. ``in``
    compares cells as written, those that stand for a missing one too; ``outside`` keeps both ends of its
    range, and what is missing is not outside it.
    """
    kept = np.ones(table.rows, np.bool_)
    counts = []
    for exclusion in exclusions:
        dropped = kept & _holds(table, exclusion)
        counts.append(int(dropped.sum()))
        kept &= ~dropped
    return Excluded(kept, tuple(counts))


def _holds(table: TypedTable, exclusion: Exclusion) -> NDArray[np.bool_]:
    column = table.columns[exclusion.column]
    if exclusion.in_ is not None:
        listed = frozenset(exclusion.in_)
        texts = table.texts[exclusion.column]
        return np.fromiter((cell in listed for cell in texts), np.bool_, table.rows)
    outside = np.zeros(table.rows, np.bool_)
    if exclusion.outside is not None and isinstance(column, Numbers):
        low, high = exclusion.outside
        # Comparisons with NaN are false, so what is missing lies outside nothing.
        if low is not None:
            outside |= column.values < as_float(low)
        if high is not None:
            outside |= column.values > as_float(high)
        return outside
    return column.missing
