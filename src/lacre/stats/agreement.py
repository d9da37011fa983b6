"""Agreement of two labellings of the same cases: the table, raw agreement and its floor, Cohen's kappa.

A *code* is 0 and up for the declared values in their declared order, -1 for no value, and -2 (or anything
else outside) for a value that is not declared. A *table* is an integer array whose last two axes are the
declared values of the first and the second labelling; a value nobody gave keeps its row and column. *Costs*
are what each cell's disagreement counts, 0 on the diagonal, of the table's last two axes; only their
proportions matter.
"""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import special

from lacre.stats.clusters import effective_size
from lacre.stats.proportions import Floats, Interval, wilson

Ints = npt.NDArray[np.int64]

ROUNDING = 1e-9
"""How far from 0 rounding may leave the spread of what cases move kappa by."""


class Crossed(NamedTuple):
    """The table of pairs, (values, values) or (cells, values, values), and how many pairs are not in it.

    `undeclared` counts pairs with a value that is not declared on either side, `missing` those of the others
    with no value on either side; per cell where cells were asked for.
    """

    table: Ints
    undeclared: Ints
    missing: Ints


class Raw(NamedTuple):
    """Raw agreement, arrays over cells; nan where it cannot be estimated.

    `agreed` of `cases` pairs give the `share`; `size` is what the interval counts (the effective sample size
    where cases come in `clusters`). `floor` is 1 - `low`: no smaller difference can be claimed on these labels.
    """

    agreed: Ints
    cases: Ints
    clusters: Ints | None
    size: Floats
    share: Floats
    low: Floats
    high: Floats
    floor: Floats


class Kappa(NamedTuple):
    """Cohen's kappa and its asymptotic standard error, arrays of the tables' leading shape.

    `value` is nan where chance leaves no disagreement to compare with: both labellings used one value, or
    there are no cases. `error` is nan there, and where it says nothing: no disagreement was seen, or no case
    moves kappa, as where one labelling used one value.
    """

    value: Floats
    error: Floats


def cross(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    values: int,
    cell: npt.ArrayLike | None = None,
    cells: int = 1,
) -> Crossed:
    """Count the pairs of codes over `values` declared values; with `cell` (0 to cells - 1), in each cell."""
    one, other = np.asarray(first, np.int64), np.asarray(second, np.int64)
    group = np.zeros(len(one), np.int64) if cell is None else np.asarray(cell, np.int64)
    undeclared = (one < -1) | (other < -1) | (one >= values) | (other >= values)
    missing = ~undeclared & ((one == -1) | (other == -1))
    read = ~(undeclared | missing)
    index = (group[read] * values + one[read]) * values + other[read]
    table = np.bincount(index, minlength=cells * values**2).reshape(cells, values, values)
    counts = [np.bincount(group[left], minlength=cells) for left in (undeclared, missing)]
    found = [each.astype(np.int64) for each in (table, *counts)]
    return Crossed(*found) if cell is not None else Crossed(*(each[0] for each in found))


def raw_agreement(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    alpha: float,
    cluster: npt.ArrayLike | None = None,
    cell: npt.ArrayLike | None = None,
    cells: int = 1,
) -> Raw:
    """Return the share of pairs with equal codes, in each of `cells`, with Wilson's interval at 1 - `alpha`.

    Pairs with a code below 0 on either side are left out (`cross` counts them). `cluster` is an integer code
    per pair: the interval is then on the effective sample size, and not estimable below
    `lacre.stats.clusters.MIN_CLUSTERS`.
    """
    one, other = np.asarray(first, np.int64), np.asarray(second, np.int64)
    group = np.zeros(len(one), np.int64) if cell is None else np.asarray(cell, np.int64)
    read = (one >= 0) & (other >= 0)
    equal, group = (one == other)[read], group[read]
    cases = np.bincount(group, minlength=cells).astype(np.int64)
    agreed = np.bincount(group[equal], minlength=cells).astype(np.int64)
    with np.errstate(invalid="ignore"):
        share = agreed / cases
    seen, size, clusters = agreed.astype(np.float64), cases.astype(np.float64), None
    if cluster is not None:
        found = effective_size(equal, np.asarray(cluster, np.int64)[read], alpha, group, cells)
        seen, size, clusters = share * found.size, found.size, found.clusters
    low, high = wilson(seen, size, alpha)
    return Raw(agreed, cases, clusters, size, share, low, high, agreement_floor(seen, size, alpha))


def agreement_floor(agreed: npt.ArrayLike, cases: npt.ArrayLike, alpha: float = 0.05) -> Floats:
    """Return 1 - a_L, with a_L the lower bound of Wilson's interval of `agreed` of `cases`.

    It is the upper bound of the disagreements, and taken as such it keeps its digits.
    """
    n = np.asarray(cases, np.float64)
    return wilson(n - np.asarray(agreed, np.float64), n, alpha).high


def relabels_needed(difference: float, alpha: float = 0.05) -> int:
    """Return the least number of relabels, all perfect, whose floor is at most `difference`, in (0, 1).

    All of n leave a floor of z^2/(n + z^2), so n >= z^2 (1 - d)/d, with z the 1 - `alpha`/2 quantile of the
    normal distribution. With clusters it counts clusters.
    """
    square = float(special.ndtri(alpha / 2)) ** 2
    return max(1, math.ceil(square * (1 - difference) / difference))


def unweighted(values: int) -> Floats:
    """Costs of Cohen 1960: every disagreement counts the same."""
    return 1.0 - np.eye(values)


def linear(values: int) -> Floats:
    """Costs by distance in the declared order: |i - j|."""
    place = np.arange(values, dtype=np.float64)
    return np.abs(place[:, None] - place)


def quadratic(values: int) -> Floats:
    """Costs by squared distance in the declared order: (i - j)^2."""
    return linear(values) ** 2


def kappa(table: npt.ArrayLike, costs: npt.ArrayLike | None = None) -> Kappa:
    """Return Cohen's kappa of each table, weighted by `costs`; without them, unweighted.

    1 - q_o/q_e, the cost seen over the cost expected of independent labellings with these marginals. `table`
    holds counts, of shape (…, k, k). Sources: Cohen 1960 and 1968; the error, which does not assume that
    kappa is 0, Fleiss, Cohen and Everitt 1969.
    """
    counts = np.asarray(table, np.float64)
    value, influence = _influence(counts, costs)
    cases = counts.sum(axis=(-2, -1))
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.sqrt((counts * influence**2).sum(axis=(-2, -1))) / cases
    return _with_error(value, error, cases)


def clustered_kappa(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    values: int,
    cluster: npt.ArrayLike,
    costs: npt.ArrayLike | None = None,
) -> Kappa:
    """Return Cohen's kappa of codes, with the error that cases of one cluster leave.

    The influences of the cases are summed within each cluster before they are squared (factor G/(G-1) for G
    clusters, nan for one). With one case a cluster it is the error of `kappa` but for that factor. Source of
    the influences: as `kappa`; of the sum: Liang and Zeger 1986.
    """
    one, other = np.asarray(first, np.int64), np.asarray(second, np.int64)
    read = (one >= 0) & (other >= 0) & (one < values) & (other < values)
    counts = cross(one, other, values).table.astype(np.float64)
    value, influence = _influence(counts, costs)
    _, code = np.unique(np.asarray(cluster, np.int64)[read], return_inverse=True)
    sums = np.bincount(code, weights=influence[one[read], other[read]])
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = np.float64(len(sums)) / (len(sums) - 1)
        error = np.sqrt(factor * (sums**2).sum()) / counts.sum()
    return _with_error(value, error, counts.sum())


def _with_error(value: Floats, error: Floats, cases: Floats) -> Kappa:
    """Return kappa with its error, where that is one: not of no disagreement, nor 0 but for rounding."""
    with np.errstate(invalid="ignore"):
        told = (value < 1) & (error * np.sqrt(cases) > ROUNDING)
    return Kappa(value, np.where(told, error, np.nan))


def _influence(counts: Floats, costs: npt.ArrayLike | None) -> tuple[Floats, Floats]:
    """Return kappa, and by how much a case of each cell moves it (times the number of cases)."""
    cost = unweighted(counts.shape[-1]) if costs is None else np.asarray(costs, np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        p = counts / counts.sum(axis=(-2, -1), keepdims=True)
        rows, columns = p.sum(axis=-1), p.sum(axis=-2)
        of_row = np.einsum("...j,ij->...i", columns, cost)
        of_column = np.einsum("...i,ij->...j", rows, cost)
        seen = (p * cost).sum(axis=(-2, -1))[..., None, None]
        chance = (rows * of_row).sum(axis=-1)[..., None, None]
        chance = np.where(chance > 0, chance, np.nan)
        moved = seen * (of_row[..., :, None] + of_column[..., None, :] - chance) - cost * chance
        return np.asarray(1 - seen / chance)[..., 0, 0], moved / chance**2


def interval(found: Kappa, alpha: float) -> Interval:
    """Return kappa's normal interval at 1 - `alpha`, from -1 to 1 at most; nan without an error."""
    width = -special.ndtri(alpha / 2) * found.error
    return Interval(np.maximum(found.value - width, -1.0), np.minimum(found.value + width, 1.0))
