"""Estimates from samples with known inclusion probabilities: totals, means, ratios, in domains or in all.

A weight is 1 over the probability that its unit was to be in the sample. Every estimate is a sum of weighted
values or a ratio of two; its variance is that of a total of linearised values, 0 outside the domain, over the
whole design: a domain does not change how its units were drawn. A row's *domain* is 0 to D - 1, or negative
for none; such rows count among the sampled and their values are not read.

The variance is either `Strata`'s, from how many units of each stratum were drawn out of how many, or `Joint`'s
(Sen-Yates-Grundy), from the probabilities of pairs. Sources: Horvitz and Thompson 1952; Särndal, Swensson and
Wretman 1992, chapters 2, 3 and 5; Lumley 2010 and his R package survey, whose numbers these are.

What adds up to more than a float holds is infinite, as is its variance; NumPy does not warn of it.
"""

from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import special

from lacre.stats.clusters import MIN_CLUSTERS, Leverage, held_back, leverage
from lacre.stats.proportions import Floats, Interval, wilson

Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

RELATIVE = 1e-6
"""How far two figures of one probability, written in two files, may lie apart."""

STILL = 1e-12
"""A variance this small against what it is of is rounding: nothing varied."""


class Weights(NamedTuple):
    """Weights of n rows, nan where `bad`: no probability in (0, 1], or no finite weight of at least 1."""

    weight: Floats
    bad: Mask


class Strata(NamedTuple):
    """A stratified sample of units, drawn simply at random without replacement in each of H strata.

    Per row: `weight`, `stratum` (0 to H - 1) and `unit`, the primary unit it belongs to. Per stratum: how
    many units were `sampled`, n_h, and how many its `population` holds, N_h (infinite: drawn with
    replacement, or out of very many). `clustered` says that units may hold several rows.
    """

    weight: Floats
    stratum: Ints
    unit: Ints
    sampled: Ints
    population: Floats
    clustered: bool


class Joint(NamedTuple):
    """A sample of *fixed size*: `weight` per row, and the (n, n) probabilities that two are both in it.

    The diagonal holds each row's own probability. What the formula gives for a size that is not fixed is
    no estimate of a variance, and the sample does not show it: whoever calls must know.
    """

    weight: Floats
    joint: Floats


Design: TypeAlias = Strata | Joint


class Faults(NamedTuple):
    """What is wrong with strata: places of the strata, and a count of rows; all empty or 0 in a good design.

    `lonely`: one unit of several was sampled, which has no variance (estimates are then nan). `unsampled`: none was, of
    a population that has some. `short`: more units than the population has. `apart`: rows whose weight is not
    N_h/n_h; weights may be adjusted on purpose, so it is for the caller to say whether that is wrong.
    """

    lonely: Ints
    unsampled: Ints
    short: Ints
    apart: int


class Estimates(NamedTuple):
    """Per domain, arrays of shape (D,).

    `variance` is as it came out: a negative one (`Joint` only) is no variance, and leaves no interval. `cases`
    and `units` are the domain's rows and primary units, `freedom` its units less the strata they are in.
    `leverage` is of the shares that units have in the domain's weight, whose largest is 1/n where all are equal;
    `without` is the variance by leaving out one unit at a time, nan of `Joint`: each deviation over 1 less its share
    (1 less an equal one cancels the variance's own factor; `lacre.stats.clusters.jackknifed`). `exhaustive` says that
    every stratum the domain has rows in was drawn whole.
    """

    value: Floats
    variance: Floats
    cases: Ints
    units: Ints
    freedom: Ints
    leverage: Leverage
    without: Floats
    exhaustive: Mask
    clustered: bool

    @property
    def negative(self) -> Mask:
        """Where the estimated variance is negative, to be reported as such."""
        return self.variance < 0


class Proportion(NamedTuple):
    """Per domain: the interval of a weighted proportion, the sample size it counts, and the design effect."""

    interval: Interval
    size: Floats
    design_effect: Floats


# --- weights and designs -----------------------------------------------------------------------------------


def weights_of(values: npt.ArrayLike, holds: Literal["probability", "weight"]) -> Weights:
    """Return weights from inclusion probabilities in (0, 1] or from weights, which are 1/probability >= 1."""
    given = np.asarray(values, np.float64)
    if holds == "probability":
        bad = ~((given > 0) & (given <= 1))
        return Weights(1.0 / np.where(bad, np.nan, given), bad)
    bad = ~((given >= 1) & np.isfinite(given))
    return Weights(np.where(bad, np.nan, given), bad)


def overlap_probability(probabilities: npt.ArrayLike) -> Floats:
    """Return the probability of being drawn at least once: 1 - prod(1 - p_h) over the last axis.

    It holds each stratum's probability for the unit, 0 where the unit is not in the stratum; the strata are
    drawn independently. Overlapping strata give no interval by themselves: that takes `Joint`, or a variance
    that does not need a fixed size (`horvitz_thompson_variance`).
    """
    with np.errstate(divide="ignore"):
        none = np.log1p(-np.asarray(probabilities, np.float64)).sum(axis=-1)
    return np.asarray(-np.expm1(none))


def strata(
    weight: npt.ArrayLike,
    stratum: npt.ArrayLike,
    population: npt.ArrayLike,
    cluster: npt.ArrayLike | None = None,
) -> Strata:
    """Return the design of rows with these weights and strata, of which `population` gives every N_h.

    With `cluster`, an integer code per row, clusters are the units that were drawn, N_h counts clusters, and
    what was drawn inside one adds nothing to the variance ("ultimate clusters"; without replacement that is
    exact where clusters are taken whole, and otherwise a little small). Equal codes in two strata are two.
    """
    h = np.asarray(stratum, np.int64)
    size = np.asarray(population, np.float64)
    if cluster is None:
        unit, of_unit = np.arange(len(h)), h
    else:
        codes = np.asarray(cluster, np.int64)
        width = int(codes.max(initial=0)) + 1
        pairs, unit = np.unique(h * width + codes, return_inverse=True)
        of_unit = pairs // width
    sampled = np.bincount(of_unit, minlength=len(size)).astype(np.int64)
    return Strata(np.asarray(weight, np.float64), h, unit, sampled, size, cluster is not None)


def strata_faults(design: Strata) -> Faults:
    """Tell which strata allow no variance, and how many weights are not the strata's own."""
    n, size = design.sampled, design.population
    with np.errstate(divide="ignore", invalid="ignore"):
        own = (size / n)[design.stratum]
        apart = ~(np.abs(design.weight - own) <= RELATIVE * own)
    masks = ((n == 1) & (n < size), (n == 0) & (size > 0), n > size)
    lonely, unsampled, short = (np.flatnonzero(each) for each in masks)
    return Faults(lonely, unsampled, short, int(apart.sum()))


def joint_faults(design: Joint) -> int:
    """Count the pairs and rows whose probabilities cannot be.

    p_ij is the same as p_ji, above 0, at most the smaller of p_i and p_j and at least p_i + p_j - 1; the
    diagonal is 1/weight.
    """
    own = 1.0 / design.weight
    joint = np.asarray(design.joint, np.float64)
    slack = RELATIVE * np.minimum(own[:, None], own)
    good = (joint > 0) & (np.abs(joint - joint.T) <= slack)
    good &= (joint <= np.minimum(own[:, None], own) + slack) & (joint >= own[:, None] + own - 1 - slack)
    alone = np.abs(np.diagonal(joint) - own) <= RELATIVE * own
    return int((~np.triu(good, 1)[np.triu_indices(len(own), 1)]).sum() + (~alone).sum())


# --- estimates ---------------------------------------------------------------------------------------------


def total(
    values: npt.ArrayLike, design: Design, domain: npt.ArrayLike | None = None, domains: int = 1
) -> Estimates:
    """Return the Horvitz-Thompson total of each domain: the sum of weight times value."""
    y, d = _read(values, domain)
    with _unwarned():
        summed = _sums(design.weight * y, d, domains)
    return _estimates(_held(summed), y, design, d, domains)


def known_mean(
    values: npt.ArrayLike,
    design: Design,
    population: npt.ArrayLike,
    domain: npt.ArrayLike | None = None,
    domains: int = 1,
) -> Estimates:
    """Return the Horvitz-Thompson mean of each domain whose size N is known: its total over `population`."""
    size = np.asarray(population, np.float64)
    found = total(values, design, domain, domains)
    return found._replace(value=found.value / size, variance=found.variance / size**2)


def mean(
    values: npt.ArrayLike, design: Design, domain: npt.ArrayLike | None = None, domains: int = 1
) -> Estimates:
    """Return the Hájek mean of each domain: sum of weight times value over sum of weights.

    The residuals are (value - mean)/(sum of the domain's weights). nan in a domain without rows.
    Source: Hájek 1971.
    """
    return ratio(values, np.ones(len(design.weight)), design, domain, domains)


def ratio(
    numerator: npt.ArrayLike,
    denominator: npt.ArrayLike,
    design: Design,
    domain: npt.ArrayLike | None = None,
    domains: int = 1,
) -> Estimates:
    """Return the ratio of two weighted totals in each domain; nan where the denominator's is 0.

    The residuals are (numerator - ratio x denominator)/(the denominator's total).
    """
    y, d = _read(numerator, domain)
    x, _ = _read(denominator, domain)
    with _unwarned():
        below = _sums(design.weight * x, d, domains)
        value = _sums(design.weight * y, d, domains) / below
        value = np.where(below == 0, np.nan, np.where(np.isfinite(below), _held(value), np.inf))
        residual = np.where(d >= 0, (y - value[d] * x) / below[d], 0.0)
    return _estimates(value, residual, design, d, domains)


def _unwarned() -> np.errstate:
    """Return a context in which what is too large is infinite, or nan, without a warning."""
    return np.errstate(over="ignore", divide="ignore", invalid="ignore")


def _held(sums: npt.ArrayLike) -> Floats:
    """Return sums with infinity for what was too large to be added up, also where that left nan."""
    return np.asarray(np.where(np.isfinite(sums), sums, np.inf), np.float64)


def _read(values: npt.ArrayLike, domain: npt.ArrayLike | None) -> tuple[Floats, Ints]:
    y = np.asarray(values, np.float64)
    d = np.zeros(len(y), np.int64) if domain is None else np.asarray(domain, np.int64)
    return np.where(d >= 0, y, 0.0), d


def _sums(values: Floats, domain: Ints, domains: int) -> Floats:
    inside = domain >= 0
    return np.asarray(np.bincount(domain[inside], weights=values[inside], minlength=domains), np.float64)


class _Cells(NamedTuple):
    """The units that have rows in a domain, once for each domain they have them in.

    `rows` are the rows in a domain and `of_row` the cell of each; `domain` and `stratum` are the cell's.
    """

    rows: Ints
    of_row: Ints
    domain: Ints
    stratum: Ints

    def sums(self, values: Floats) -> Floats:
        """Return each cell's sum of the values of its rows."""
        summed = np.bincount(self.of_row, weights=values, minlength=len(self.domain))
        return np.asarray(summed, np.float64)


def _cells(design: Design, domain: Ints) -> _Cells:
    if isinstance(design, Strata):
        unit, stratum = design.unit, design.stratum
    else:
        unit, stratum = np.arange(len(domain)), np.zeros(len(domain), np.int64)
    rows = np.flatnonzero(domain >= 0)
    width = int(unit.max(initial=0)) + 1
    pairs, first, of_row = np.unique(
        domain[rows] * width + unit[rows], return_index=True, return_inverse=True
    )
    return _Cells(rows, of_row, pairs // width, stratum[rows][first])


def _estimates(value: Floats, residual: Floats, design: Design, domain: Ints, domains: int) -> Estimates:
    """Complete an estimate with the variance of the total of its residuals."""
    cells = _cells(design, domain)
    count = len(design.sampled) if isinstance(design, Strata) else 1
    place = cells.domain * count + cells.stratum
    present = np.bincount(place, minlength=domains * count).reshape(domains, count)
    with _unwarned():
        share = cells.sums(design.weight[cells.rows]) / _sums(design.weight, domain, domains)[cells.domain]
    without = np.full(domains, np.nan)
    if isinstance(design, Strata):
        with _unwarned():
            totals = cells.sums((design.weight * residual)[cells.rows])
            equal = (1 / present.sum(axis=1))[cells.domain]
            moved = np.where(share < 1, totals * (1 - equal) / (1 - share), totals)
        variance = _stratified(design, totals, place, present)
        without = _stratified(design, moved, place, present)
        partial = (present > 0) & (design.sampled != design.population)
    else:
        split = (np.where(domain == each, residual, 0.0) for each in range(domains))
        variance = np.array([sen_yates_grundy_variance(each, design) for each in split])
        partial = present > 0
    return Estimates(
        value,
        np.where(np.isfinite(value), variance, value),
        np.bincount(domain[cells.rows], minlength=domains).astype(np.int64),
        present.sum(axis=1),
        present.sum(axis=1) - (present > 0).sum(axis=1),
        leverage(share, cells.domain, domains),
        without,
        ~partial.any(axis=1),
        isinstance(design, Strata) and design.clustered,
    )


# --- variances ---------------------------------------------------------------------------------------------


def _stratified(design: Strata, totals: Floats, place: Ints, present: Ints) -> Floats:
    """Return sum over h of (1 - n_h/N_h) n_h/(n_h - 1) sum over units of (t - mean t)^2, per domain.

    t is a unit's sum of weight times residual, here `totals`, and 0 for the units that have no row in the
    domain. `place` is each total's domain and stratum in one number, `present` how many there are of each,
    (D, H). nan in a domain with rows in a stratum that allows no variance: one unit of several leaves
    0/0. A stratum drawn whole adds nothing, however few units it has.
    """
    n = design.sampled.astype(np.float64)

    def summed(values: Floats) -> Floats:
        added = np.bincount(place, weights=values, minlength=present.size)
        return np.asarray(added, np.float64).reshape(present.shape)

    with _unwarned():
        centre = summed(totals) / n
        squares = summed((totals - centre.reshape(-1)[place]) ** 2) + (n - present) * centre**2
        each = (1 - n / design.population) * n / (n - 1) * _held(squares)
        each = np.where(n > design.population, np.nan, np.where(n == design.population, 0.0, each))
        return np.asarray(np.where(present > 0, each, 0.0).sum(axis=1))


def sen_yates_grundy_variance(values: npt.ArrayLike, design: Joint) -> float:
    """Return the variance of a Horvitz-Thompson total of a sample of fixed size; it may be negative.

    The sum over pairs i < j of (p_i p_j - p_ij)/p_ij (y_i/p_i - y_j/p_j)^2. Sources: Sen 1953; Yates and
    Grundy 1953. Memory: a few arrays of (n, n).
    """
    own = 1.0 / design.weight
    with _unwarned():
        expanded = np.asarray(values, np.float64) * design.weight
        terms = (own[:, None] * own / design.joint - 1) * (expanded[:, None] - expanded) ** 2
        return float(_held(np.triu(terms, 1).sum()))


def horvitz_thompson_variance(values: npt.ArrayLike, design: Joint) -> float:
    """Return the variance of a Horvitz-Thompson total, of any size; it may be negative, and often is.

    The sum over i of (1 - p_i) (y_i/p_i)^2 and over i != j of (p_ij - p_i p_j)/p_ij y_i/p_i y_j/p_j.
    Source: Horvitz and Thompson 1952.
    """
    own = 1.0 / design.weight
    with _unwarned():
        expanded = np.asarray(values, np.float64) * design.weight
        factor = 1 - own[:, None] * own / design.joint
        return float(_held(expanded @ factor @ expanded))


# --- intervals ---------------------------------------------------------------------------------------------


def interval(found: Estimates, alpha: float) -> Interval:
    """Return value -+ t sqrt(variance) at 1 - `alpha`, with Student's t on the domain's degrees of freedom.

    As R's `confint(svymean(…), df = degf(design))`; its default is the normal distribution, which is too
    narrow in a few units. nan where the variance is negative or undefined or no degree of freedom is left;
    and where nothing varies in a sample that is not the whole of its strata: 0 of 30 are not 0 of all.
    """
    with _unwarned():
        deviation = np.sqrt(np.where(found.variance >= 0, found.variance, np.nan))
        still = deviation <= STILL * np.abs(found.value)
        freedom = np.where(found.freedom > 0, found.freedom, np.nan)
        width = -special.stdtrit(freedom, alpha / 2) * np.where(still, np.nan, deviation)
        width = np.where(found.exhaustive & (found.variance == 0), 0.0, width)
        return Interval(found.value - width, found.value + width)


def proportion_interval(found: Estimates, alpha: float) -> Proportion:
    """Return Wilson's interval of a weighted share of events (a `mean` of 0 and 1), on its effective size.

    n_eff = min(n, p q / V) (t_{n-1} / t_f)^2, with n the domain's cases and f its degrees of freedom (Korn
    and Graubard 1998; R's `svyciprop(method = "beta")` has no upper limit of n). Where all or none are events,
    or V is 0, V says nothing, and n_eff is the domain's weight over that of its heaviest unit: n where
    weights are equal and units are cases. Below it at least one event would have been seen with 95 %: events
    all like the heaviest unit, 3/n_eff of the domain, are missed by exp(-3). So `rule_of_three(size)` is the
    bound that zero events leave. Where a few units carry a domain of `lacre.stats.clusters.MIN_CLUSTERS` or more,
    it is worth less, as `lacre.stats.clusters.held_back` has it.

    nan without cases, where V is negative, where no degree of freedom is left, and with fewer than
    `lacre.stats.clusters.MIN_CLUSTERS` clusters. The design effect is V n/(p q).
    """
    p, n = found.value, found.cases.astype(np.float64)
    tail = alpha / 2
    with _unwarned():
        spread = p * (1 - p)
        effect = np.where(spread > 0, found.variance * n / spread, np.nan)
        shrunk = special.stdtrit(np.maximum(n - 1, 1), tail) / special.stdtrit(
            np.maximum(found.freedom, 1), tail
        )
        size = np.minimum(n, n / effect) * shrunk**2
        size = np.where((found.freedom > 0) & (effect > 0), size, np.nan)
        silent = (spread == 0) | (np.abs(effect) <= STILL)
        size = np.where(silent, 1 / found.leverage.heaviest, size)
        uneven = found.leverage._replace(clusters=(found.freedom + 1).astype(np.float64))
        less = held_back(size, n, p, found.without, uneven, alpha)
        size = np.where((found.units >= MIN_CLUSTERS) & ~np.isnan(found.without), less, size)
        size = np.where(found.clustered & (found.units < MIN_CLUSTERS), np.nan, size)
        low, high = wilson(np.where(p == 1, size, p * size), size, alpha)
    return Proportion(Interval(low, high), size, effect)
