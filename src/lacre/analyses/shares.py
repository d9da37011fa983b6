"""Shares of cases under any design: counts and bounds by cell, with blanks, clusters and weights.

The interval is that of the design that is declared, never the plain one in its place: Wilson's or Clopper and
Pearson's, on the effective sample size where cases come in clusters or with unequal probabilities, on the
smaller of the two where both hold.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from lacre.analyses.estimate import Group
from lacre.analyses.given import Drawn
from lacre.analyses.reasons import Reason
from lacre.analyses.verdict import Line, State
from lacre.protocol.kinds.parts import Interval as Method
from lacre.stats import survey
from lacre.stats.clusters import MIN_CLUSTERS, effective_size
from lacre.stats.fairness import Ints, RateCounts
from lacre.stats.proportions import Floats, Interval, clopper_pearson, wilson

Mask = npt.NDArray[np.bool_]

BOUNDS = MappingProxyType({"wilson": wilson, "clopper_pearson": clopper_pearson})
METHODS: Mapping[str, str] = MappingProxyType({"wilson": "wilson", "clopper_pearson": "clopper-pearson"})


@dataclass(frozen=True, eq=False)
class Weighted:
    """Weights of cases, and the strata they were drawn from; `design` has them both."""

    weight: Floats
    stratum: Ints
    population: Floats

    def design(self, cluster: Ints | None = None) -> survey.Strata:
        """Return the stratified design, or with `cluster` that of clusters in place of strata."""
        if cluster is None:
            return survey.strata(self.weight, self.stratum, self.population)
        return survey.strata(self.weight, np.zeros(len(cluster), np.int64), [np.inf], cluster)


@dataclass(frozen=True, eq=False)
class Shares:
    """Events among cases, by cell: arrays over the cells.

    `value` and `bounds` are nan where there is nothing to be estimated; `size` is the sample size that the
    interval counts, `effect` the design effect, `clusters` counts them where they are declared.
    """

    counts: RateCounts
    value: Floats
    bounds: Interval
    size: Floats
    effect: Floats
    clusters: Ints | None
    method: str

    def absent(self, index: int) -> Reason | None:
        """Return why a cell has no interval, None where it has."""
        if self.counts.cases[index] == 0:
            return Reason("no-cases")
        if np.isfinite(self.bounds.low[index]):
            return None
        if self.clusters is not None and self.clusters[index] < MIN_CLUSTERS:
            return Reason("too-few-clusters", {"least": MIN_CLUSTERS})
        return Reason("no-variance")

    def described(self, index: int, group: Group, obstacle: Reason | None = None) -> Line:
        """Return the share of one cell, of which by itself nothing is asked; bare where there is an `obstacle`."""
        events, missing, cases = (int(each[index]) for each in self.counts)
        absent = obstacle or self.absent(index)
        known = absent is None
        return Line(
            group=group,
            state=State.INSUFFICIENT_EVIDENCE if absent else State.PASS,
            reason=absent or Reason("described"),
            numerator=events if known else None,
            denominator=cases,
            missing=missing if known else None,
            value=float(self.value[index]) if known else None,
            low=float(self.bounds.low[index]) if known else None,
            high=float(self.bounds.high[index]) if known else None,
        )


def shares(
    event: Ints,
    cell: Ints,
    cells: int,
    alpha: float,
    method: Method,
    cluster: Ints | None = None,
    weighted: Weighted | None = None,
) -> Shares:
    """Return the share of events per cell, two-sided at 1 - `alpha`.

    `event` is 1, 0, or -1 for a case without an outcome: it counts as no event in the value and the lower
    bound and as an event in the upper one. `cell` is negative for cases in none.
    """
    inside = cell >= 0
    seen, blank = (event == 1), (event < 0)
    counts = RateCounts(
        *(
            np.bincount(cell[mask & inside], minlength=cells).astype(np.int64)
            for mask in (seen, blank, inside)
        )
    )
    least = _bounded(seen, inside, cell, cells, alpha, method, cluster, weighted)
    most = least
    if blank.any():
        most = _bounded(seen | blank, inside, cell, cells, alpha, method, cluster, weighted)
    on_size = "" if cluster is None and weighted is None else " on effective sample size"
    return Shares(
        counts=counts,
        value=least.value,
        bounds=Interval(least.low, most.high),
        size=least.size,
        effect=least.effect,
        clusters=least.clusters,
        method=f"{'Horvitz-Thompson, ' if weighted is not None else ''}{METHODS[method]}{on_size}",
    )


@dataclass(frozen=True, eq=False)
class _Bounded:
    value: Floats
    low: Floats
    high: Floats
    size: Floats
    effect: Floats
    clusters: Ints | None


def _bounded(
    event: Mask,
    inside: Mask,
    cell: Ints,
    cells: int,
    alpha: float,
    method: Method,
    cluster: Ints | None,
    weighted: Weighted | None,
) -> _Bounded:
    if weighted is not None:
        return _weighted(event, cell, cells, alpha, method, cluster, weighted)
    cases = np.bincount(cell[inside], minlength=cells)
    events = np.bincount(cell[inside & event], minlength=cells)
    with np.errstate(invalid="ignore", divide="ignore"):
        value = events / cases
    clusters, effect = None, np.ones(cells)
    size = np.where(cases > 0, cases, np.nan).astype(np.float64)
    if cluster is not None:
        found = effective_size(event[inside], cluster[inside], alpha, cell[inside], cells)
        size, clusters, effect = found.size, found.clusters, found.design_effect
    low, high = BOUNDS[method](np.where(events == cases, size, value * size), size, alpha)
    return _Bounded(value, low, high, size, effect, clusters)


def _weighted(
    event: Mask,
    cell: Ints,
    cells: int,
    alpha: float,
    method: Method,
    cluster: Ints | None,
    weighted: Weighted,
) -> _Bounded:
    designs = [weighted.design(), *([weighted.design(cluster)] if cluster is not None else [])]
    found = [survey.mean(event, design, cell, cells) for design in designs]
    sizes = np.stack([survey.proportion_interval(each, alpha).size for each in found])
    effects = np.stack([survey.proportion_interval(each, alpha).design_effect for each in found])
    worst = np.where(np.isnan(sizes).any(axis=0), np.nan, sizes.min(axis=0))
    value = found[0].value
    low, high = BOUNDS[method](np.where(value == 1, worst, value * worst), worst, alpha)
    with np.errstate(invalid="ignore"):
        effect = effects.max(axis=0)
    clusters = found[1].units if cluster is not None else None
    return _Bounded(value, low, high, worst, effect, clusters)


def weighted_of(
    weights: Floats, holds: str, stratum: Ints, values: tuple[str, ...], drawn: Drawn | None, draw: str
) -> Weighted | Reason:
    """Return the weights of cases drawn as registered, or the reason why there are none.

    `weights` holds a "probability" or a "weight" per case, `stratum` its place in the declared `values`.
    """
    if drawn is None:
        return Reason("no-draw", {"draw": draw})
    made = survey.weights_of(weights, "weight" if holds == "weight" else "probability")
    outside = made.bad | (stratum < 0)
    if outside.any():
        return Reason("bad-weights", {"count": int(outside.sum())})
    population = np.array([float(drawn.population.get(value, 0)) for value in values])
    sizes = np.array([float(drawn.sizes.get(value, 0)) for value in values])
    with np.errstate(divide="ignore", invalid="ignore"):
        own = (population / sizes)[stratum]
        apart = ~(np.abs(made.weight - own) <= survey.RELATIVE * own)
    if apart.any():
        return Reason("weights-not-drawn", {"count": int(apart.sum())})
    weighted = Weighted(made.weight, stratum, population)
    faults = survey.strata_faults(weighted.design())
    for code, places in (("lonely-stratum", faults.lonely), ("unsampled-stratum", faults.unsampled)):
        if len(places):
            return Reason(code, {"stratum": values[places[0]]})
    return weighted
