"""Comparisons of two images as a verification reads them: scores, truth, groups and subjects, and their rates.

A row that `exclude` names is no comparison; one without a subject, or whose truth or group is missing or undeclared,
is left out of what needs it, and counted. One without a score abstains: it is counted, and in neither rate.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lacre.analyses import strata
from lacre.analyses.cases import absent, used_of
from lacre.analyses.clustering import Clusters, clusters_of
from lacre.analyses.estimate import Group
from lacre.analyses.families import check_unit
from lacre.analyses.given import Given
from lacre.analyses.reasons import Reason
from lacre.analyses.verdict import LeftOut
from lacre.protocol.kinds.verification import VerificationPlan
from lacre.stats.clusters import MIN_CLUSTERS, effective_size
from lacre.stats.dyads import dyadic_size
from lacre.stats.fairness import Ints
from lacre.stats.proportions import Floats, Interval, wilson
from lacre.stats.thresholds import Rate
from lacre.stats.verification import rate_bounds
from lacre.tables.columns import Numbers, Outcomes, TypedTable

Mask = npt.NDArray[np.bool_]

RATES: tuple[Rate, ...] = ("false_match", "false_non_match")


@dataclass(frozen=True, eq=False)
class Comparisons:
    """The comparisons of one system, those without a subject or a truth left out; arrays over the `kept`.

    `group` is the place of each one's group, negative where it has none. `left_out` counts each reason by itself,
    `whole` those that leave a comparison out of everything, `ungrouped` those that leave it in no group.
    `contradicted` say "the same" of two subjects, or "another" of one.
    """

    table: TypedTable
    rows: int
    score: Floats
    same: Ints
    group: Ints
    groups: tuple[Group, ...]
    clusters: Clusters | None
    left_out: tuple[LeftOut, ...]
    whole: tuple[LeftOut, ...]
    ungrouped: tuple[LeftOut, ...]
    blank_units: int
    contradicted: int

    @property
    def kept(self) -> int:
        """How many there are."""
        return len(self.score)


def prepare(plan: VerificationPlan, given: Given, system: str) -> Comparisons:
    """Return the comparisons of `plan` as one system scored them.

    Raises `UnitRepeated` when two of them are of one unit.
    """
    declared, table = given.protocol.tables[plan.table], given.table(system, plan.table)
    used, _kept, excluded = used_of(declared, table)
    blank_units = check_unit(declared, used)
    rows, whole = used.rows, []
    clusters = clusters_of(declared, used)
    if clusters is not None and not clusters.known.all():
        whole.append(LeftOut("missing", "+".join(declared.cluster), int((~clusters.known).sum())))
        used, clusters = used.select(clusters.known), clusters.select(clusters.known)
    same = used.columns[plan.same]
    assert isinstance(same, Outcomes)
    whole += absent(plan.same, same.codes)
    told = same.codes >= 0
    truth = same.codes[told].astype(np.int64)
    if not told.all():
        used, clusters = used.select(told), None if clusters is None else clusters.select(told)
    coded = strata.coded(used, declared, plan.group)
    ungrouped = absent(plan.group, coded[0])
    score = used.columns[plan.score]
    assert isinstance(score, Numbers)
    return Comparisons(
        table=used,
        rows=rows,
        score=score.values,
        same=truth,
        group=strata.cells([coded], used.rows),
        groups=strata.groups([plan.group], [coded]),
        clusters=clusters,
        left_out=tuple(each for each in (*excluded, *whole, *ungrouped) if each.count),
        whole=tuple(each for each in whole if each.count),
        ungrouped=tuple(each for each in ungrouped if each.count),
        blank_units=blank_units,
        contradicted=_contradicted(truth, clusters),
    )


def _contradicted(same: Ints, clusters: Clusters | None) -> int:
    if clusters is None or not clusters.dyadic:
        return 0
    return int(((clusters.codes[0] == clusters.codes[1]) != (same == 1)).sum())


@dataclass(frozen=True, eq=False)
class Rates:
    """Events among cases per cell, arrays; `size` is what they are worth, nan where that is not known.

    `units` counts subjects or clusters, None where none are declared. `dense`: at least half of all pairs of
    subjects are there, so that drawing subjects gives the better interval.
    """

    events: Ints
    cases: Ints
    size: Floats
    units: Ints | None
    dense: Mask

    @property
    def value(self) -> Floats:
        """The shares; nan without cases."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.events / self.cases)

    @property
    def known(self) -> Mask:
        """Where there is an interval."""
        return np.asarray((self.cases > 0) & np.isfinite(self.size))

    def absent(self, index: int) -> Reason | None:
        """Return why a cell has no interval, None where it has."""
        if self.cases[index] == 0:
            return Reason("no-cases")
        return None if self.known[index] else Reason("too-few-clusters", {"least": MIN_CLUSTERS})

    def interval(self, alpha: float) -> Interval:
        """Wilson's interval of each cell by itself."""
        worth = np.where(self.known, self.size, np.nan)
        whole = self.events == self.cases
        return wilson(np.where(whole, worth, self.value * worth), worth, alpha)

    def together(self, alpha: float, least: int = 1) -> Interval:
        """Clopper and Pearson's bounds of all cells at once; 0 to 1 where one is unknown or under `least` cases."""
        worth = np.where(self.known & (self.cases >= least), self.size, np.nan)
        return rate_bounds(self.events, self.cases, alpha, worth)


def rates(
    event: Mask, inside: Mask, clusters: Clusters | None, alpha: float, cell: Ints, cells: int
) -> Rates:
    """Count `event` among the comparisons `inside`, by `cell` (negative: in none)."""
    at = np.flatnonzero(inside & (cell >= 0))
    seen, place = event[at].astype(np.int64), cell[at]
    if clusters is None:
        cases = np.bincount(place, minlength=cells).astype(np.int64)
        events = np.bincount(place[seen == 1], minlength=cells).astype(np.int64)
        return Rates(events, cases, cases.astype(np.float64), None, np.zeros(cells, np.bool_))
    if clusters.dyadic:
        a, b = (codes[at] for codes in clusters.codes)
        found = dyadic_size(seen, a, b, place, cells, alpha)
        return Rates(found.events, found.cases, found.size, found.subjects, found.dense)
    by_cluster = effective_size(seen, clusters.codes[0][at], alpha, place, cells)
    return Rates(
        by_cluster.events, by_cluster.cases, by_cluster.size, by_cluster.clusters, np.zeros(cells, np.bool_)
    )
