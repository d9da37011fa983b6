"""How far one rater and a judge agree over frozen bins: chance-corrected coefficients, and what they hang on.

A *table* is an integer array whose last two axes are the bins of the human label and of the judge's score, in
declared order, as `lacre.stats.agreement.cross` makes it. *Costs* are what each cell's disagreement counts, 0 on
the diagonal; only their proportions matter. A resample of the cases is one multinomial draw of the table, since
no coefficient looks at anything else of them.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from lacre.stats.agreement import ROUNDING, Ints
from lacre.stats.bootstrap import BLOCK, MAX_UNDEFINED, Types, percentile_interval, resampled_totals, types_of
from lacre.stats.proportions import Floats, clopper_pearson

DOMINANT = Fraction(3, 4)
"""The share of both marginals from which on one bin makes for a kappa paradox."""


class Coefficients(NamedTuple):
    """Agreement beyond chance, arrays of the tables' leading shape.

    `kappa` is nan where the marginals leave nothing to disagree on by chance: one bin alone was used, by both.
    All are nan without cases.
    """

    kappa: Any
    gwet: Any
    pabak: Any


def coefficients(table: npt.ArrayLike, costs: npt.ArrayLike) -> Coefficients:
    """Return the coefficients of each table, of shape (…, k, k), k at least 2.

    `kappa` is Cohen's, weighted by `costs`. `gwet` is Gwet's AC1 for costs that are all equal, else AC2 with the
    weights 1 - cost/max: (p_a - p_e)/(1 - p_e), p_e = T/(k(k - 1)) sum pi(1 - pi), T the sum of the weights and pi
    the mean of both marginals. `pabak` corrects raw agreement p for a chance of 1/k: (kp - 1)/(k - 1), 2p - 1 for
    two bins. Of object arrays that hold fractions the answers are exact. Sources: Cohen 1960 and 1968; Gwet 2008
    (AC1) and 2014 (AC2); Byrt, Bishop and Carlin 1993, after Bennett, Alpert and Goldstein 1954.
    """
    counts, cost = np.asarray(table), np.asarray(costs)
    k, most = counts.shape[-1], cost.max()
    rows, columns = counts.sum(axis=-1), counts.sum(axis=-2)
    cases = _or_nan(rows.sum(axis=-1))
    seen = (counts * cost).sum(axis=(-2, -1))
    chance = (rows[..., :, None] * columns[..., None, :] * cost).sum(axis=(-2, -1))
    used = (rows + columns) / (2 * cases[..., None])
    of_gwet = (1 - cost / most).sum() * (used * (1 - used)).sum(axis=-1) / (k * (k - 1))
    raw = np.trace(counts, axis1=-2, axis2=-1) / cases
    return Coefficients(
        1 - cases * seen / _or_nan(chance),
        1 - seen / (most * cases) / (1 - of_gwet),
        (k * raw - 1) / (k - 1),
    )


def _or_nan(divisor: Any) -> Any:
    """Return a divisor with nan for 0: what is divided by nothing is undefined, never 0 or 1."""
    return np.where(divisor == 0, math.nan, divisor)


def exact_coefficients(table: npt.ArrayLike, costs: Sequence[Sequence[Fraction]]) -> Coefficients:
    """Return the coefficients of one table as fractions, nan where undefined: a bar is met or it is not."""
    counts = [[Fraction(int(each)) for each in line] for line in np.asarray(table)]
    found = coefficients(np.array(counts, object), np.array(costs, object))
    return Coefficients(*(each.item() if isinstance(each, np.ndarray) else each for each in found))


class Marginals(NamedTuple):
    """The marginals of one table, and each bin's indexes against the rest, arrays of shape (k,).

    With a, d the shares that both put into the bin and that both did not, and b, c the others, `prevalence` is
    |a - d| and `bias` |b - c|; nan without cases. Source: Byrt, Bishop and Carlin 1993.
    """

    human: Ints
    judge: Ints
    prevalence: Floats
    bias: Floats


def marginals(table: npt.ArrayLike) -> Marginals:
    """Return the marginals of a table of counts, (k, k)."""
    counts = np.asarray(table, np.int64)
    human, judge, cases = counts.sum(axis=1), counts.sum(axis=0), _or_nan(counts.sum())
    both = np.diagonal(counts)
    neither = counts.sum() - human - judge + both
    return Marginals(human, judge, np.abs(both - neither) / cases, np.abs(human - judge) / cases)


def dominant_bin(table: npt.ArrayLike) -> int | None:
    """Return the bin that holds at least `DOMINANT` of both marginals; None where none does."""
    counts = np.asarray(table, np.int64)
    least, cases = np.minimum(counts.sum(axis=1), counts.sum(axis=0)), int(counts.sum())
    place = int(least.argmax())
    return place if cases and int(least[place]) >= DOMINANT * cases else None


def is_paradox(found: Coefficients, bar: Fraction | float, table: npt.ArrayLike) -> bool:
    """Tell whether a low kappa is one of lopsided marginals.

    That is: kappa below the bar, Gwet's coefficient at or above it, and one bin dominant on both sides. Source of
    the phenomenon: Feinstein and Cicchetti 1990.
    """
    return bool(found.kappa < bar <= found.gwet) and dominant_bin(table) is not None


# --- resampling --------------------------------------------------------------------------------------------


class Resampled(NamedTuple):
    """A coefficient's percentile interval, nan where it is not estimable, and its undefined resamples.

    `widened` says that no resample differed from another.
    """

    low: float
    high: float
    undefined: int
    widened: bool


Drawn = Ints | Types
"""What is drawn again of one stratum: the cases of a table, (k, k), or clusters of cases, by the table of each."""


def clusters_of(human: npt.ArrayLike, judge: npt.ArrayLike, values: int, cluster: npt.ArrayLike) -> Types:
    """Return the clusters of cases as types, by the table of each; all codes are 0 and up."""
    cell = np.asarray(human, np.int64) * values + np.asarray(judge, np.int64)
    _, code = np.unique(np.asarray(cluster, np.int64), return_inverse=True)
    count = int(code.max(initial=-1)) + 1
    tables = np.bincount(code * values**2 + cell, minlength=count * values**2)
    return types_of(*tables.reshape(count, values**2).T)


def resample(
    strata: Sequence[Drawn],
    costs: npt.ArrayLike,
    *,
    alpha: float,
    resamples: int,
    seed: int,
    max_undefined: float = MAX_UNDEFINED,
) -> tuple[Resampled, Resampled, Resampled]:
    """Return the percentile intervals of kappa, Gwet's coefficient and PABAK at 1 - `alpha`.

    Each of the `strata`, whose sizes the design fixed, is resampled by itself: as many of its cases, or of its
    clusters, as it has. Undefined resamples are counted and left out; above the share `max_undefined` of them
    nothing is estimable. Where no resample differs from another, as where there is no disagreement, the interval
    would be a point, as if so few cases were proof: it is widened by what a share u of other cases could make of
    it with the marginals as they are, u = 1 - (alpha/2)^(1/n) being what no event among n cases or clusters still
    allows (Clopper and Pearson 1934). Raises ValueError for fewer resamples than `least_resamples(alpha)`.
    Sources: Efron 1979 for the interval; DiCiccio and Efron 1996 for strata.
    """
    cost = np.asarray(costs, np.float64)
    k = len(cost)
    filled = [each for each in strata if _units(each)]
    drawn = np.empty((3, resamples))
    block = max(1, BLOCK // k**2)
    for start in range(0, resamples, block):
        size = min(block, resamples - start)
        totals = np.zeros((size, k**2))
        for place, stratum in enumerate(filled):
            # Not one seed for all: strata of one size would be drawn alike.
            stream = np.random.SeedSequence((seed, place, start))
            totals += _again(stratum, size, int(stream.generate_state(1, np.uint64)[0]))
        with np.errstate(invalid="ignore"):
            drawn[:, start : start + size] = coefficients(totals.reshape(size, k, k), cost)
    possible = float(clopper_pearson(0, sum(map(_units, filled)), alpha).high)
    found = [percentile_interval(each, alpha, max_undefined) for each in drawn]
    whole = np.sum([_whole(each) for each in filled], axis=0).reshape(k, k)
    reach = zip(found, _reach(whole, cost), strict=True)
    kappa, gwet, pabak = (_widened(*each, width * possible) for each, width in reach)
    return kappa, gwet, pabak


def _units(stratum: Drawn) -> int:
    return int((stratum.clusters if isinstance(stratum, Types) else stratum).sum())


def _whole(stratum: Drawn) -> Floats:
    if isinstance(stratum, Types):
        return np.asarray(stratum.clusters @ stratum.values)
    return stratum.reshape(-1).astype(np.float64)


def _again(stratum: Drawn, resamples: int, seed: int) -> Floats | Ints:
    """Return tables of a stratum's resamples, (resamples, k^2)."""
    if isinstance(stratum, Types):
        return resampled_totals(stratum, resamples, seed)
    counts = stratum.reshape(-1)
    return np.random.default_rng(seed).multinomial(counts.sum(), counts / counts.sum(), resamples)


def _reach(table: Floats, cost: Floats) -> tuple[float, float, float]:
    """Return by how much each coefficient moves, at most, per share of cases that were another way."""
    k, cases = len(cost), table.sum()
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    chance = float((rows[:, None] * columns * cost).sum() / (cost.max() * cases**2))
    used = (rows + columns) / (2 * cases)
    of_gwet = float((1 - cost / cost.max()).sum() * (used * (1 - used)).sum() / (k * (k - 1)))
    return (1 / chance if chance else math.nan), 1 / (1 - of_gwet), k / (k - 1)


def _widened(low: float, high: float, undefined: int, width: float) -> Resampled:
    if math.isnan(low) or high - low > ROUNDING:
        return Resampled(low, high, undefined, widened=False)
    return Resampled(max(-1.0, low - width), min(1.0, high + width), undefined, widened=True)
