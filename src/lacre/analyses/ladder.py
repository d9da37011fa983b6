"""The mitigation ladder: each rung's scores, what they give at its threshold, and what stands in its way."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from lacre.analyses.comparisons import RATES, Comparisons, Mask, Rates, rates
from lacre.analyses.estimate import Details
from lacre.analyses.given import Given
from lacre.analyses.normalised import names_of, normalised_scores
from lacre.analyses.reasons import Reason
from lacre.protocol.grammar import exact
from lacre.protocol.kinds.parts import Normalise
from lacre.protocol.kinds.verification import Mitigation, VerificationPlan, cohort_subjects
from lacre.stats.fairness import Ints
from lacre.stats.proportions import Floats
from lacre.stats.thresholds import Rate
from lacre.stats.verification import GroupCounts, count_by_group
from lacre.tables.columns import TypedTable
from lacre.tables.exclude import apply_exclusions


@dataclass(frozen=True, eq=False)
class Rung:
    """One rung: its scores at its threshold; counts and rates of each group, and of everybody.

    `id` is empty where the plan has no ladder. With an `obstacle` its scores are none, and nothing else holds but the
    denominators. `unit` is that of the score, None of a normalised one.
    """

    id: str
    kind: str | None
    score: Floats
    threshold: float
    unit: str | None
    groups: GroupCounts
    whole: GroupCounts
    by_group: Mapping[Rate, Rates]
    everybody: Mapping[Rate, Rates]
    obstacle: Reason | None
    enrolled: str | None

    @property
    def details(self) -> dict[str, str | int | float]:
        """What tells its numbers from other rungs'."""
        return {"rung": self.id} if self.id else {}

    @property
    def mostly_wrong(self) -> bool:
        """Whether more than half of the comparisons contradict their truth."""
        wrong = sum(int(self.everybody[rate].events[0]) for rate in RATES)
        cases = sum(int(self.everybody[rate].cases[0]) for rate in RATES)
        return self.obstacle is None and 2 * wrong > cases

    def abstains(self, limit: Fraction | float) -> Reason | None:
        """Return the reason if of all comparisons, or of a group's, more than a share of `limit` have no score."""
        for counts in (self.whole, self.groups):
            out = counts.abstained_impostor + counts.abstained_genuine
            cases = out + counts.impostor + counts.genuine
            for each, of in zip(out.tolist(), cases.tolist(), strict=True):
                if of and Fraction(each, of) > exact(limit):
                    fields: dict[str, str | int | float] = {"count": each, "cases": of, "limit": float(limit)}
                    return Reason("too-many-abstain", fields)
        return None


def planned(plan: VerificationPlan, rung: str | None) -> list[Mitigation | None]:
    """Return the rungs that one read computes: all before training, or the one of training that is asked for."""
    if rung is not None:
        return [each for each in plan.mitigations if each.id == rung]
    return [each for each in plan.mitigations if each.id not in plan.training()] or [None]


def climb(plan: VerificationPlan, given: Given, system: str, read: Comparisons, alpha: float) -> list[Rung]:
    """Compute each rung of one system, in the registered order."""
    return [_rung(plan, given, system, read, alpha, each) for each in planned(plan, given.rung)]


def _rung(
    plan: VerificationPlan,
    given: Given,
    system: str,
    read: Comparisons,
    alpha: float,
    mitigation: Mitigation | None,
) -> Rung:
    own = None if mitigation is None else mitigation.threshold
    threshold = given.threshold(own or plan.threshold, system)
    how = None if mitigation is None else plan.normalise(mitigation)
    score, obstacle = read.score, None
    if how is not None:
        assert mitigation is not None
        score, obstacle = _normalised(plan, given, system, read, mitigation, how)
    everybody = np.zeros(read.kept, np.int64)
    inside = read.group >= 0
    grouped = count_by_group(
        score[inside], read.same[inside], read.group[inside], len(read.groups), threshold, plan.direction
    )
    column = given.protocol.tables[plan.table].columns[plan.score]
    return Rung(
        id="" if mitigation is None else mitigation.id,
        kind=None if mitigation is None else mitigation.kind,
        score=score,
        threshold=threshold,
        unit=None if how is not None else getattr(column, "unit", None),
        groups=grouped,
        whole=count_by_group(score, read.same, everybody, 1, threshold, plan.direction),
        by_group=both_rates(read, score, threshold, plan, alpha, read.group, len(read.groups)),
        everybody=both_rates(read, score, threshold, plan, alpha, everybody, 1),
        obstacle=obstacle,
        enrolled=None if how is None else how.on[0][0],
    )


def both_rates(
    read: Comparisons,
    score: Floats,
    threshold: float | Floats,
    plan: VerificationPlan,
    alpha: float,
    cell: Ints,
    cells: int,
) -> dict[Rate, Rates]:
    """Return false matches and false non-matches per cell, at one threshold or at each comparison's own."""
    matched = score >= threshold if plan.direction == "similarity" else score <= threshold
    events: dict[Rate, Mask] = {"false_match": np.asarray(matched), "false_non_match": np.asarray(~matched)}
    return {
        rate: rates(event, side_of(read, score, rate), read.clusters, alpha, cell, cells)
        for rate, event in events.items()
    }


def side_of(read: Comparisons, score: Floats, rate: Rate) -> Mask:
    """Return the comparisons that a rate is of: impostors or genuine, those that have a score."""
    return np.asarray(~np.isnan(score) & (read.same == (0 if rate == "false_match" else 1)))


def _normalised(
    plan: VerificationPlan,
    given: Given,
    system: str,
    read: Comparisons,
    mitigation: Mitigation,
    how: Normalise,
) -> tuple[Floats, Reason | None]:
    """Return a rung's normalised scores; the raw ones, with the reason, where there are none of some comparison."""
    declared = given.protocol.tables[how.table]
    cohort = given.table(system, how.table)
    kept = apply_exclusions(cohort, declared.exclude).kept
    cohort = cohort if kept.all() else cohort.select(kept)
    shared = _shared(plan, given, read, mitigation, cohort)
    if shared:
        return read.score, Reason("cohort-overlaps", {"count": shared})
    made = normalised_scores(read.table, cohort, plan.score, how, plan.direction)
    if made.without:
        return read.score, Reason("cohort-missing", {"count": made.without})
    if made.degenerate:
        return read.score, Reason("cohort-degenerate", {"count": made.degenerate})
    return made.scores, None


def _shared(
    plan: VerificationPlan, given: Given, read: Comparisons, mitigation: Mitigation, cohort: TypedTable
) -> int:
    """Count the subjects of the cohort that are compared as well."""
    assert mitigation.scores is not None
    there = cohort_subjects(given.protocol, plan.table, mitigation.scores)
    here = given.protocol.tables[plan.table].cluster
    in_cohort = {name for column in there for name in names_of(cohort.columns[column])}
    compared = {name for column in here for name in names_of(read.table.columns[column])}
    return len((in_cohort & compared) - {None})


def details_of(rung: Rung, **more: str | float) -> Details:
    """Return a rung's details with more of one number's own."""
    return {**rung.details, **more}
