"""Proportions of cases that come in clusters: the sample size they are worth.

Cases of one cluster resemble each other, so n of them tell less than n independent ones. The interval of a
clustered proportion is the ordinary one at an effective sample size.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import special

from lacre.stats.proportions import Floats, Interval, clopper_pearson, wilson

MIN_CLUSTERS = 20
"""Below this many clusters the variance between them is too uncertain to be used."""

Ints = npt.NDArray[np.int64]


class EffectiveSize(NamedTuple):
    """Per cell, arrays of shape (cells,): `size` is nan where it cannot be estimated."""

    size: Floats
    cases: Ints
    events: Ints
    clusters: Ints
    design_effect: Floats


def effective_size(
    events: npt.ArrayLike,
    cluster: npt.ArrayLike,
    alpha: float,
    cell: npt.ArrayLike | None = None,
    cells: int = 1,
) -> EffectiveSize:
    """Return the effective sample size of a proportion in each of `cells` cells; `events` is 0 or 1 per case.

    n_eff = min(n, p q / V) (t_{n-1} / t_{G-1})^2, with V the cluster-robust variance of p (factor G/(G-1)), G
    the clusters in the cell and t the 1 - `alpha`/2 quantiles of Student. Without events, or with nothing but
    events, V says nothing and a cluster counts as one case: n_eff = G. Fewer than `MIN_CLUSTERS` clusters:
    not estimable, nan. Where a few large clusters make up a cell, V is least (see `least_variance`). The design
    effect V n / (p q) is nan where p q = 0.

    `cluster` and `cell` are integer codes per case. Source: Korn and Graubard 1998.
    """
    seen = np.asarray(events, np.int64)
    group = np.zeros(len(seen), np.int64) if cell is None else np.asarray(cell, np.int64)
    codes = np.asarray(cluster, np.int64)
    width = int(codes.max(initial=0)) + 1
    pairs, where = np.unique(group * width + codes, return_inverse=True)
    of_pair = pairs // width
    pair_cases = np.bincount(where, minlength=len(pairs))
    pair_events = np.bincount(where[seen == 1], minlength=len(pairs))
    n = np.bincount(group, minlength=cells).astype(np.int64)
    k = np.bincount(group[seen == 1], minlength=cells).astype(np.int64)
    g = np.bincount(of_pair, minlength=cells).astype(np.int64)
    with np.errstate(divide="ignore", invalid="ignore"):
        p = k / n
        residuals = pair_events - p[of_pair] * pair_cases
        between = np.bincount(of_pair, weights=residuals**2, minlength=cells)
        variance = g / (g - 1) * between / n.astype(np.float64) ** 2
        independent = p * (1 - p) / n
        squares = np.bincount(of_pair, weights=pair_cases.astype(np.float64) ** 2, minlength=cells)
        variance = np.maximum(variance, least_variance(p, n, squares))
        size = np.minimum(n, p * (1 - p) / variance)
        quantile = 1 - alpha / 2
        size *= (special.stdtrit(n - 1.0, quantile) / special.stdtrit(g - 1.0, quantile)) ** 2
        effect = np.where(independent > 0, variance / independent, np.nan)
    size = np.where((k == 0) | (k == n), g, size)
    return EffectiveSize(np.where(g >= MIN_CLUSTERS, size, np.nan), n, k, g, effect)


def least_variance(p: Floats, total: npt.NDArray[Any], squares: npt.NDArray[Any]) -> Floats:
    """Return the variance of a share that an uneven cell has at least; 0 for a cell that is even enough.

    The residuals of a cluster that makes up most of a cell add up to about 0, so the variance between clusters
    comes out far too small. Below `MIN_CLUSTERS` clusters of equal size that the cell is worth, (sum m)^2 / sum
    m^2 for clusters of m cases, each of these counts as one case. `total` is sum m, `squares` sum m^2. Source:
    Kish 1965 (the effective number).
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        worth = total.astype(np.float64) ** 2 / squares
        return np.where(worth < MIN_CLUSTERS, p * (1 - p) / worth, 0.0)


def clustered_wilson(events: npt.ArrayLike, cluster: npt.ArrayLike, alpha: float) -> Interval:
    """Wilson's interval of one clustered proportion, on its effective sample size; nan if not estimable.

    `events` holds 0 or 1 per case, `cluster` the case's cluster as an integer code.
    """
    found = effective_size(events, cluster, alpha)
    with np.errstate(invalid="ignore"):
        share = found.events / found.cases
    low, high = wilson(share * found.size, found.size, alpha)
    return Interval(low[0], high[0])


def clustered_bounds(
    events: npt.ArrayLike,
    missing: npt.ArrayLike,
    cluster: npt.ArrayLike,
    alpha: float,
    cell: npt.ArrayLike,
    cells: int,
) -> tuple[Interval, Ints]:
    """Return Clopper-Pearson bounds on (p n_eff, n_eff) per cell, and how many clusters each cell has.

    All arrays are per case of the denominator. The lower bound takes `missing` (0 or 1) as non-events, the
    upper one as events, each with the effective size of its own proportion. nan where not estimable.
    """
    seen = np.asarray(events, np.int64)
    least = effective_size(seen, cluster, alpha, cell, cells)
    most = effective_size(seen | np.asarray(missing, np.int64), cluster, alpha, cell, cells)
    with np.errstate(invalid="ignore", divide="ignore"):
        low = clopper_pearson(least.events / least.cases * least.size, least.size, alpha).low
        high = clopper_pearson(most.events / most.cases * most.size, most.size, alpha).high
    return Interval(low, high), least.clusters
