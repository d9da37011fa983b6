"""Which cases belong together: clusters of one column, or the two subjects of a comparison."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lacre.analyses.families import numbered
from lacre.protocol.tables import Table
from lacre.stats.clusters import effective_size
from lacre.stats.dyads import dyadic_size
from lacre.stats.fairness import Ints
from lacre.stats.proportions import Floats
from lacre.tables.columns import Codes, TypedTable

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Clusters:
    """The cluster of each case, or the two subjects of each comparison; negative where it is not known."""

    codes: tuple[Ints, ...]

    @property
    def known(self) -> Mask:
        """Which cases have theirs."""
        return np.asarray(np.min(np.stack(self.codes), axis=0) >= 0)

    @property
    def dyadic(self) -> bool:
        """Whether cases are comparisons of two subjects."""
        return len(self.codes) == 2

    def select(self, kept: Mask) -> "Clusters":
        """Return those of the cases that `kept` holds."""
        return Clusters(tuple(each[kept] for each in self.codes))


def clusters_of(declared: Table, table: TypedTable) -> Clusters | None:
    """Return the declared clusters, None where there are none.

    Two columns of one kind of thing are two ends of a comparison: a subject is the same on either side.
    """
    if not declared.cluster:
        return None
    columns = [table.columns[name] for name in declared.cluster]
    if len(columns) == 1:
        return Clusters((numbered(columns[0]),))
    return Clusters(_together([_names(column) for column in columns]))


def _names(column: object) -> npt.NDArray[np.object_]:
    if isinstance(column, Codes):
        names = np.array([*column.values, None, None], dtype=object)
        return np.asarray(names[column.codes])
    values: npt.NDArray[np.object_] = getattr(column, "values")  # noqa: B009 - text or digests
    return values


def _together(columns: list[npt.NDArray[np.object_]]) -> tuple[Ints, ...]:
    """Return codes of several columns whose equal texts are the same thing; negative where there is none."""
    known: dict[object, int] = {None: -1}
    return tuple(
        np.fromiter((known.setdefault(value, len(known)) for value in column), np.int64, len(column))
        for column in columns
    )


def effective_sizes(
    event: Mask, clusters: Clusters, alpha: float, cell: Ints | None = None, cells: int = 1
) -> Floats:
    """Return the sample size that a share is worth, per cell; nan where it cannot be estimated."""
    if clusters.dyadic:
        a, b = clusters.codes
        return dyadic_size(event, a, b, cell, cells, alpha).size
    return effective_size(event, clusters.codes[0], alpha, cell, cells).size
