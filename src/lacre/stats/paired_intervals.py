"""Intervals of a paired difference of proportions: Tango's score interval, and the cluster bootstrap."""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import special

from lacre.stats.bootstrap import not_narrower, percentile_interval, resampled_totals, types_of
from lacre.stats.clusters import MIN_CLUSTERS
from lacre.stats.proportions import Floats, Interval, clopper_pearson

HALVINGS = 60
"""Of an interval no wider than 2: to 2^-59, below what a float near 1 can hold."""


def tango(b: npt.ArrayLike, c: npt.ArrayLike, n: npt.ArrayLike, alpha: npt.ArrayLike) -> Interval:
    """Return Tango's score interval of (b - c)/n, two-sided at 1 - `alpha`, for `n` independent pairs.

    It holds the differences d that the score test does not reject: |b - c - n d| <= z sqrt(n (2 q + d(1-d))),
    with q the maximum likelihood estimate of the second discordant probability when the difference is d. The
    ends are found by bisection. Without discordant pairs they are -+ z^2/(n + z^2), Wilson's. Ends are -1 and 1
    exactly where every pair is discordant one way. nan without pairs, and for counts that do not fit in them.
    Arrays broadcast. Source: Tango 1998.
    """
    first, second, pairs, level = np.broadcast_arrays(
        *(np.asarray(each, np.float64) for each in (b, c, n, alpha))
    )
    defined = (pairs > 0) & (first >= 0) & (second >= 0) & (first + second <= pairs)
    size = np.where(defined, pairs, 1.0)
    one, other = np.where(defined, first, 0.0), np.where(defined, second, 0.0)
    square = special.ndtri(level / 2) ** 2
    low, high = -_upper(other, one, size, square), _upper(one, other, size, square)
    return Interval(np.where(defined, low, np.nan), np.where(defined, high, np.nan))


def _upper(b: Floats, c: Floats, n: Floats, square: Floats) -> Floats:
    """Return the largest difference that is not rejected; `square` is z^2."""
    low, high = (b - c) / n, np.ones(n.shape)
    for _ in range(HALVINGS):
        d = (low + high) / 2
        kept = (b - c - n * d) ** 2 <= square * n * (2 * _second(b, c, n, d) + d * (1 - d))
        low, high = np.where(kept, d, low), np.where(kept, high, d)
    return np.asarray(high)


def _second(b: Floats, c: Floats, n: Floats, d: Floats) -> Floats:
    """Return the estimate of the second discordant probability under a difference of `d`.

    The larger root of 2n q^2 + (d(2n - b + c) - b - c) q - c d (1-d), taken by the form that does not cancel.
    """
    linear, constant = d * (2 * n - b + c) - b - c, -c * d * (1 - d)
    root = np.sqrt(np.maximum(0.0, linear**2 - 8 * n * constant))
    safe = np.where(linear > 0, linear + root, 1.0)
    return np.asarray(np.where(linear > 0, -2 * constant / safe, (root - linear) / (4 * n)))


class ClusteredDifference(NamedTuple):
    """A paired difference over clusters: `low` and `high` are nan where it is not estimable."""

    difference: float
    low: float
    high: float
    pairs: int
    clusters: int


def clustered_difference(
    sums: npt.ArrayLike, sizes: npt.ArrayLike, *, alpha: float, resamples: int, seed: int
) -> ClusteredDifference:
    """Return a paired difference and its cluster bootstrap interval, where clusters hold several pairs.

    Per cluster, `sums` holds the pairs positive under the first variant alone less those under the second
    alone, `sizes` all its pairs; clusters without pairs are left out. The interval is the percentile one at
    1 - `alpha`, over resamples of whole clusters, and on each side of the difference it reaches at least as
    far as the zero-event bound on the clusters, 1 - (alpha/2)^(1/clusters): with no discordant pair in 30
    clusters -+.116, which passes no margin of .05. Not estimable below `MIN_CLUSTERS` clusters. Raises
    ValueError for fewer than `least_resamples(alpha)` resamples.
    """
    table = np.stack([np.asarray(sums, np.float64), np.asarray(sizes, np.float64)])
    if not table[1].min(initial=1) > 0:
        table = table[:, table[1] > 0]
    total, pairs = table.sum(axis=1).tolist()
    clusters = table.shape[1]
    difference = total / pairs if pairs else math.nan
    if clusters < MIN_CLUSTERS:
        return ClusteredDifference(difference, math.nan, math.nan, int(pairs), clusters)
    drawn = resampled_totals(types_of(*table), resamples, seed)
    found = percentile_interval(drawn[:, 0] / drawn[:, 1], alpha)
    low, high, _ = not_narrower(found, difference, clusters, alpha)
    return ClusteredDifference(difference, low, high, int(pairs), clusters)


class PairsNeeded(NamedTuple):
    """The least independent pairs, and the least clusters, at which no discordant pair passes a margin."""

    tango: int
    zero_event: int


def pairs_needed(margin: float, alpha: float) -> PairsNeeded:
    """Return how many pairs a margin in (0, 1) needs at best: with no discordant pair at all.

    By Tango's interval at 1 - `alpha`, z^2/(n + z^2) <= margin; by the zero-event bound, over clusters,
    1 - (alpha/2)^(1/n) <= margin.
    """
    square = float(special.ndtri(alpha / 2)) ** 2
    independent = math.ceil(square * (1 - margin) / margin)
    independent += int(tango(0, 0, independent, alpha).high > margin)
    clusters = math.ceil(math.log(alpha / 2) / math.log1p(-margin))
    clusters += int(clopper_pearson(0, clusters, alpha).high > margin)
    return PairsNeeded(independent, max(clusters, MIN_CLUSTERS))
