"""Resampling of whole clusters, from the table of what clusters hold.

Clusters that hold the same numbers are one *type*. A resample of the clusters is one multinomial draw over the
types, whatever the number of cases; and every statistic here is a function of the types' totals.
"""

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse import csgraph

from lacre.stats.clusters import MIN_CLUSTERS, Ints
from lacre.stats.proportions import Floats, clopper_pearson

RESAMPLES_BEYOND = 25
"""Resamples that must lie beyond each end of a percentile interval, in the mean."""

MAX_UNDEFINED = 0.05
"""Above this share of undefined resamples the interval is not estimable."""

BLOCK = 2**22
"""Numbers drawn at a time."""

WHOLE = 2**52
"""Up to about here floats hold every whole number."""


def least_resamples(alpha: float, k: int = 1) -> int:
    """Return the least resamples of a percentile interval at 1 - `alpha`/`k`: 50 k / alpha, rounded up.

    `alpha` is read as the decimal it prints as: 0.05 asks for 1000, and for 3000 among three. What is within
    1e-12 of a whole number is that number, since 0.05/3 asks for 3000 too.
    """
    least = 2 * RESAMPLES_BEYOND * k / Fraction(repr(float(alpha)))
    return math.ceil(least * (1 - Fraction(1, 10**12)))


class Types(NamedTuple):
    """The distinct rows of a table of clusters, and how many clusters hold each: (types, columns), (types,)."""

    values: Floats
    clusters: Ints


def types_of(*columns: npt.ArrayLike) -> Types:
    """Return the types of clusters; each column holds one number per cluster.

    They come sorted, so that what is drawn from a seed does not depend on the order of the clusters.
    """
    table = [np.asarray(column, np.float64) for column in columns]
    counted = _counted_types(table)
    if counted is not None:
        return counted
    rows = np.stack(table, axis=-1)
    rows = rows[np.lexsort(rows.T[::-1])]
    first = np.ones(len(rows), np.bool_)
    first[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    starts = np.flatnonzero(first)
    return Types(rows[starts], np.diff(starts, append=len(rows)).astype(np.int64))


def _counted_types(table: list[Floats]) -> Types | None:
    """Return the types of whole numbers in narrow ranges by counting, which sorts nothing; None for others."""
    size = len(table[0])
    if size == 0:
        return None
    code, lows, widths = np.zeros(size, np.int64), [], []
    for column in table:
        low, high = float(column.min()), float(column.max())
        # Written so that nan and infinity are sorted as well.
        if not (abs(low) <= WHOLE and high - low < size):
            return None
        whole = column.astype(np.int64)
        lows.append(low)
        widths.append(int(high - low) + 1)
        if math.prod(widths) > size or (whole != column).any():
            return None
        whole -= int(low)
        code *= widths[-1]
        code += whole
    found = np.bincount(code)
    present = np.flatnonzero(found)
    values = np.stack(np.unravel_index(present, widths), axis=-1) + np.array(lows)
    return Types(values, found[present].astype(np.int64))


def cluster_totals(cluster: npt.ArrayLike | None, *columns: npt.ArrayLike) -> list[Floats]:
    """Return each column's total per cluster; a column holds one number per case, `cluster` integer codes.

    Without `cluster` every case is its own. Codes that no case has are left out.
    """
    values = [np.asarray(column, np.float64) for column in columns]
    if cluster is None:
        return values
    _, codes = np.unique(np.asarray(cluster, np.int64), return_inverse=True)
    return [np.bincount(codes, weights=column).astype(np.float64) for column in values]


def linked_clusters(item: npt.ArrayLike, *clusters: npt.ArrayLike) -> Ints:
    """Return a cluster for each row, so that rows which share an item or any cluster are in one: (rows,).

    All arguments hold integer codes per row. Where each item lies in one cluster of one kind, these are the
    clusters themselves; rows that belong to several at once are linked through all of them.
    """
    codes = [np.unique(np.asarray(each, np.int64), return_inverse=True)[1] for each in (item, *clusters)]
    rows, places, count = len(codes[0]), [], 0
    for each in codes:
        places.append(each + count)
        count += int(each.max(initial=-1)) + 1
    ends = np.concatenate(places[1:]) if len(places) > 1 else np.zeros(0, np.int64)
    starts = np.tile(places[0], len(places) - 1)
    graph = sparse.coo_array((np.ones(len(ends), np.int8), (starts, ends)), (count, count))
    _found, label = csgraph.connected_components(graph, directed=False)
    return np.asarray(label[places[0]], np.int64) if rows else np.zeros(0, np.int64)


def resampled_totals(types: Types, resamples: int, seed: int) -> Floats:
    """Return the columns' totals in each resample of as many clusters as there are: (resamples, columns).

    Types as many as clusters, as real weights make them, are drawn cluster by cluster, in blocks.
    """
    rng = np.random.default_rng(seed)
    clusters, kinds = int(types.clusters.sum()), len(types.clusters)
    few = 4 * kinds <= clusters
    of_cluster = np.repeat(np.arange(kinds), types.clusters)
    block = max(1, BLOCK // (kinds if few else clusters))
    totals = np.empty((resamples, types.values.shape[1]))
    for start in range(0, resamples, block):
        size = min(block, resamples - start)
        if few:
            drawn = rng.multinomial(clusters, types.clusters / clusters, size)
        else:
            picked = of_cluster[rng.integers(0, clusters, (size, clusters))]
            picked += np.arange(size)[:, None] * kinds
            drawn = np.bincount(picked.ravel(), minlength=size * kinds).reshape(size, kinds)
        # Not a matrix product: BLAS would sum real weights in an order that depends on its threads.
        np.einsum("rt,tc->rc", drawn.astype(np.float64), types.values, out=totals[start : start + size])
    return totals


class Percentile(NamedTuple):
    """The ends of a percentile interval, nan where it is not estimable, and the undefined resamples."""

    low: float
    high: float
    undefined: int


def percentile_interval(
    resampled: npt.ArrayLike, alpha: float, max_undefined: float = MAX_UNDEFINED
) -> Percentile:
    """Return the percentile interval at 1 - `alpha` of a statistic's resamples, with type 7 quantiles.

    Resamples that are not finite are counted and left out; above the share `max_undefined` of them both ends
    are nan. Raises ValueError for fewer resamples than `least_resamples(alpha)`. Source: Efron 1979; Hyndman
    and Fan 1996 for the quantile.
    """
    drawn = np.asarray(resampled, np.float64)
    least = least_resamples(alpha)
    if len(drawn) < least:
        raise ValueError(f"{len(drawn)} resamples, and an interval at 1 - {alpha} needs {least}")
    finite = drawn[np.isfinite(drawn)]
    undefined = len(drawn) - len(finite)
    if undefined > max_undefined * len(drawn) or not len(finite):
        return Percentile(math.nan, math.nan, undefined)
    low, high = np.quantile(finite, (alpha / 2, 1 - alpha / 2), method="linear")
    return Percentile(float(low), float(high), undefined)


def not_narrower(found: Percentile, estimate: float, clusters: int, alpha: float) -> Percentile:
    """Widen an interval of a difference of proportions to the zero-event bound on each side of its estimate.

    The bound is 1 - (alpha/2)^(1/clusters), what no event among so many clusters still allows, two-sided at
    1 - `alpha` (Clopper and Pearson 1934). A resample can only repeat what was seen: where nothing was, all
    are equal, and the bootstrap's interval is a point. The bound takes over below about four clusters with an
    event; beyond it is the narrower one. The ends stay in [-1, 1].
    """
    bound = float(clopper_pearson(0, clusters, alpha).high)
    low, high = min(found.low, estimate - bound), max(found.high, estimate + bound)
    if math.isnan(found.low):
        return found
    return Percentile(max(-1.0, low), min(1.0, high), found.undefined)


class StratumDifference(NamedTuple):
    """A difference of two strata's proportions, first less second.

    `difference` is nan where a stratum has no case, `low` and `high` where they are not estimable;
    `clusters` counts those with a case of each stratum, `undefined` the resamples that had none of one.
    """

    difference: float
    low: float
    high: float
    undefined: int
    clusters: tuple[int, int]


def stratum_difference(
    first_events: npt.ArrayLike,
    first_cases: npt.ArrayLike,
    second_events: npt.ArrayLike,
    second_cases: npt.ArrayLike,
    *,
    alpha: float,
    resamples: int,
    seed: int,
    max_undefined: float = MAX_UNDEFINED,
) -> StratumDifference:
    """Return the difference of two strata's proportions with its cluster bootstrap interval at 1 - `alpha`.

    The arrays hold one number per cluster, which may hold cases of both strata (`cluster_totals` makes them);
    with inclusion weights they are sums of weights. A cluster without a case of either is left out. The
    interval is the percentile one of at least `least_resamples(alpha)` resamples of whole clusters, never
    narrower than the zero-event bound on the clusters of the smaller stratum (`not_narrower`). Not estimable
    with fewer than `MIN_CLUSTERS` clusters in a stratum, or where more than the share `max_undefined` of the
    resamples has no case of one stratum. Raises ValueError for too few resamples.
    """
    columns = [first_events, first_cases, second_events, second_cases]
    table = np.stack([np.asarray(column, np.float64) for column in columns])
    table = table[:, (table[1] > 0) | (table[3] > 0)]
    clusters = (int((table[1] > 0).sum()), int((table[3] > 0).sum()))
    if not all(clusters):
        return StratumDifference(math.nan, math.nan, math.nan, 0, clusters)
    estimate = float(_difference(table.sum(axis=1)))
    if min(clusters) < MIN_CLUSTERS:
        return StratumDifference(estimate, math.nan, math.nan, 0, clusters)
    drawn = _difference(resampled_totals(types_of(*table), resamples, seed))
    found = percentile_interval(drawn, alpha, max_undefined)
    low, high, undefined = not_narrower(found, estimate, min(clusters), alpha)
    return StratumDifference(estimate, low, high, undefined, clusters)


def _difference(totals: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(totals[..., 0] / totals[..., 1] - totals[..., 2] / totals[..., 3])
