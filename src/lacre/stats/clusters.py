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

ROUNDING = 1e-9
"""By how much the effective number of equal clusters may come out below their number."""

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
    not estimable, nan. Where a few large clusters make up a cell it is worth less (see `held_back`), and its
    design effect is n/n_eff. Elsewhere that is V n / (p q); nan where p q = 0.

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
        size = np.minimum(n, p * (1 - p) / variance) * _shrunk(n - 1, g - 1, alpha)
        effect = np.where(independent > 0, variance / independent, np.nan)
    size = np.where((k == 0) | (k == n), g, size)
    found = leverage(pair_cases / n[of_pair], of_pair, cells)
    without = jackknifed(residuals / n[of_pair], pair_cases / n[of_pair], of_pair, cells)
    guarded = held_back(size, n, p, without, found, alpha)
    with np.errstate(divide="ignore", invalid="ignore"):
        effect = np.where((guarded < size) & (independent > 0), n / guarded, effect)
    return EffectiveSize(np.where(g >= MIN_CLUSTERS, guarded, np.nan), n, k, g, effect)


class Leverage(NamedTuple):
    """How unevenly a cell rests on its clusters, arrays of shape (cells,).

    `clusters` is their number G, `effective` the effective number G*, `equal` the number of equal clusters that leave
    the same variance: all three are one where clusters are equal. `worth` is the number of cases that the cell is
    worth if all cases of a cluster are the same; `heaviest` is the largest share of it that a cluster has.
    """

    clusters: Floats
    effective: Floats
    equal: Floats
    worth: Floats
    heaviest: Floats


def leverage(share: Floats, cell: Ints, cells: int) -> Leverage:
    """Return the leverage of clusters, of which each has the part w, `share`, of its cell (0 to `cells` - 1).

    G* = G / (1 + the squared coefficient of variation of w^2) = (sum w^2)^2 / sum w^4: a cluster's part in the
    variance of a mean is as w^2 where its cases resemble each other fully. Sources: Carter, Schnepel and Steigerwald
    2017 (G*, with this the least favourable correlation); Kish 1965 ((sum w)^2 / sum w^2 equal ones).
    """
    whole, squares, fourths = (np.bincount(cell, share**power, minlength=cells) for power in (1, 2, 4))
    heaviest = np.zeros(cells)
    np.maximum.at(heaviest, cell, share)
    count = np.bincount(cell, minlength=cells).astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        return Leverage(count, squares**2 / fourths, whole**2 / squares, 1 / squares, heaviest)


def jackknifed(sums: Floats, share: Floats, cell: Ints, cells: int) -> Floats:
    """Return the variance of each cell's share by leaving out one cluster at a time.

    Without a cluster whose residuals add up to s (`sums`, over the cell's cases) and that has a share w, the share of
    events is another by -s / (1 - w): the variance is (G - 1)/G times the sum of the squares. Sources: Bell and
    McCaffrey 2002; MacKinnon, Nielsen and Webb 2023.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        moved = np.where(share < 1, sums / (1 - share), np.inf)
        count = np.bincount(cell, minlength=cells)
        return np.asarray((count - 1) / count * np.bincount(cell, weights=moved**2, minlength=cells))


def held_back(
    size: Floats, cases: npt.NDArray[Any], share: Floats, variance: Floats, found: Leverage, alpha: float
) -> Floats:
    """Return the effective sample size of a share, less where a few clusters carry the cell.

    The residuals of a cluster that has the part w of a cell draw the mean along: with clusters that are each all events
    or none, the variance between clusters comes out at 1 + sum w^2 - 2 sum w^3 / sum w^2 of what it is, .36 for one
    of w = .4 among many small ones. So below an effective number G* of `MIN_CLUSTERS` (there are as many clusters
    or more, but uneven ones) the jackknifed `variance` takes its place: (p q / V) (t_{n-1}/t_{G-1})^2. Below as many
    equal clusters, too, what they tell of the variance is little, and t is of G* - 1. The size is not put below the
    cases that the cell is worth if all cases of a cluster are the same, for which no variance is estimated, nor
    above `size`. Without events, or with nothing but events, it is 1 over the heaviest share: if 3 of G clusters, which
    none of G shows with 95 %, are all like that one, they hold 3 w.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = share * (1 - share)
        freedom = np.where(found.equal < MIN_CLUSTERS, found.effective, found.clusters) - 1
        apart = np.minimum(cases, spread / variance) * _shrunk(cases - 1, freedom, alpha)
        least = np.where(spread > 0, np.fmax(found.worth, apart), 1 / found.heaviest)
        uneven = found.effective < MIN_CLUSTERS * (1 - ROUNDING)
        return np.where(uneven, np.minimum(size, least), size)


def _shrunk(cases: npt.NDArray[Any], freedom: npt.NDArray[Any], alpha: float) -> Floats:
    """Return by how much a size shrinks for the degrees of freedom of its variance, as squares of quantiles are."""
    quantile = 1 - alpha / 2
    return np.asarray((special.stdtrit(cases, quantile) / special.stdtrit(freedom, quantile)) ** 2)


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
) -> tuple[Interval, EffectiveSize]:
    """Return Clopper-Pearson bounds on (p n_eff, n_eff) per cell, and the size of which the lower one is.

    All arrays are per case of the denominator. The lower bound takes `missing` (0 or 1) as non-events, the
    upper one as events, each with the effective size of its own proportion. nan where not estimable.
    """
    seen = np.asarray(events, np.int64)
    least = effective_size(seen, cluster, alpha, cell, cells)
    most = effective_size(seen | np.asarray(missing, np.int64), cluster, alpha, cell, cells)
    with np.errstate(invalid="ignore", divide="ignore"):
        low = clopper_pearson(least.events / least.cases * least.size, least.size, alpha).low
        high = clopper_pearson(most.events / most.cases * most.size, most.size, alpha).high
    return Interval(low, high), least
