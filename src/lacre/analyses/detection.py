"""Recall and protective failure: a share of cases in all and by stratum, and the criteria on it.

A row that `exclude` names is no case; one whose own stratum is missing or undeclared is left out of what needs
that stratum, and counted. Strata of a criterion on the worst of them share its error rate; others stand each at
the full confidence, and say so.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from lacre.analyses import strata
from lacre.analyses.cases import absent
from lacre.analyses.criteria import decide, worst_group_rule
from lacre.analyses.detected import prepare
from lacre.analyses.estimate import Answer, Details, Estimate, Group, Measure, NotEstimable, ZeroBound
from lacre.analyses.families import Family, error_rate
from lacre.analyses.given import Given
from lacre.analyses.judging import Number, decide_number
from lacre.analyses.pairing import Asked, Compared, adjusted, compare, decide as decide_pair
from lacre.analyses.reasons import Reason
from lacre.analyses.result import AnalysisResult, merged
from lacre.analyses.shares import Shares, shares
from lacre.analyses.verdict import CriterionResult, LeftOut, Line, State, worst
from lacre.protocol.grammar import as_float
from lacre.protocol.kinds.detection import DetectionPlan
from lacre.protocol.kinds.parts import RateCriterion, Stratum
from lacre.stats.bootstrap import StratumDifference, cluster_totals, least_resamples, stratum_difference
from lacre.stats.clusters import MIN_CLUSTERS
from lacre.stats.proportions import Interval

DEFAULT_RESAMPLES = 10_000
DEFAULT_SEED = 20260902
"""For a difference of which the plan says nothing; the answer says both."""

UNWEIGHTED: Details = {"weights": "none"}

Mask = npt.NDArray[np.bool_]


class Detection:
    """One system's analysis."""

    def __init__(self, plan: DetectionPlan, given: Given, name: str, system: str, *, failure: bool) -> None:
        self.plan = plan
        self.given = given
        self.name = name
        self.system = system
        self.alpha = error_rate(plan.confidence, given.share)
        self.confidence = as_float(plan.confidence) if given.share == 1 else 1 - self.alpha
        self.cases = prepare(plan, given, system, failure=failure)
        self.triggers = [Reason("review-registered")] if plan.requires_manual_review else []
        self.triggers += [Reason(code) for code in given.review]

    def result(self) -> AnalysisResult:
        """Estimate, decide, and put it in order."""
        criteria = tuple(self.criterion(rule) for rule in self.plan.rules if rule.systems is None)
        estimates = list(self.answers((), 1))
        for names in self.plan.by:
            estimates += self.answers(names, self.simultaneous(names))
        estimates += [self.difference(rule) for rule in self.plan.rules if rule.between is not None]
        return AnalysisResult(
            id=self.name,
            kind=self.plan.kind,
            state=State.MANUAL_REVIEW if self.triggers else worst(each.state for each in criteria),
            rows=self.cases.rows,
            estimates=tuple(estimates),
            criteria=criteria,
            left_out=self.cases.left_out,
            notes=(*self.triggers, *self.notes()),
        )

    # --- shares

    def simultaneous(self, names: Sequence[str]) -> int:
        """Return how many strata share the error rate: all, where a criterion is on the worst of them."""
        asked = [rule.by for rule in self.plan.rules if rule.worst_group is not None and rule.by is not None]
        if not any(set(by) == set(names) for by in asked):
            return 1
        return len(strata.groups(names, [self.cases.strata[name] for name in names]))

    def shares(self, names: Sequence[str], divided: int, *, weighted: bool = True) -> Shares:
        """Return the share of each crossing of `names`, at the error rate `divided` among them."""
        cases, coded = self.cases, [self.cases.strata[name] for name in names]
        cell = np.where(cases.inside, strata.cells(coded, len(cases.event)), -1)
        return shares(
            cases.event, cell, len(strata.groups(names, coded)), self.alpha / divided,
            self.plan.interval, cases.clusters, cases.weighted if weighted else None,
        )  # fmt: skip

    @property
    def _crossed(self) -> Reason | None:
        """The obstacle to any interval at all, weighted or not."""
        obstacle = self.cases.obstacle
        return obstacle if obstacle is not None and obstacle.code == "crossed-clusters" else None

    @cached_property
    def everybody(self) -> Shares:
        """The share of all cases."""
        return self.shares((), 1)

    def answers(self, names: Sequence[str], divided: int) -> list[Answer]:
        """Answer the share of each crossing of `names`; of a weighted sample the plain one stands beside it."""
        coded = [self.cases.strata[name] for name in names]
        groups = strata.groups(names, coded)
        found = self.shares(names, divided)
        if self.plan.weights is None:
            return [self._plain(found, index, group, divided) for index, group in enumerate(groups)]
        plain = self.shares(names, divided, weighted=False)
        answers: list[Answer] = []
        for index, group in enumerate(groups):
            answers.append(self._weighted(found, index, group, divided))
            beside = self._plain(plain, index, group, divided)
            answers.append(replace(beside, details=UNWEIGHTED))
        return answers

    def _plain(self, found: Shares, index: int, group: Group, divided: int) -> Estimate | NotEstimable:
        events, missing, cases = (int(each[index]) for each in found.counts)
        absent = self._crossed or found.absent(index)
        if absent is not None:
            return NotEstimable(self.plan.rate, self.system, group, cases, absent)
        zero = events == 0 and missing == 0
        return Estimate(
            metric=self.plan.rate, system=self.system, group=group,
            numerator=events, denominator=cases, value=events / cases,
            low=float(found.bounds.low[index]), high=float(found.bounds.high[index]),
            confidence=self.confidence, method=found.method, simultaneous=divided, missing=missing,
            zero_bound=ZeroBound.of(float(found.size[index])) if zero else None,
            note=Reason("blanks-worst-case", {"count": missing}) if missing else None,
        )  # fmt: skip

    def _weighted(self, found: Shares, index: int, group: Group, divided: int) -> Answer:
        cases = int(found.counts.cases[index])
        absent = self.cases.obstacle or found.absent(index)
        if absent is not None:
            return NotEstimable(self.plan.rate, self.system, group, cases, absent)
        value = float(found.value[index])
        return Measure(
            metric=self.plan.rate, system=self.system, group=group, value=value,
            low=float(found.bounds.low[index]), high=float(found.bounds.high[index]),
            confidence=self.confidence, method=found.method, cases=cases, scale="share",
            simultaneous=divided, zero_bound=ZeroBound.of(float(found.size[index])) if value == 0 else None,
        )  # fmt: skip

    # --- differences

    def difference(self, rule: RateCriterion) -> Answer:
        """Answer the difference of two strata, first less second."""
        assert rule.between is not None
        first, second = (tuple(stratum.items()) for stratum in rule.between)
        number, cases, resamples, seed = self._differences[rule.id]
        if number.obstacle is not None or number.low is None or number.high is None:
            absent = number.obstacle or Reason("no-variance")
            return NotEstimable(rule.metric, self.system, first, cases, absent, versus=second)
        method = f"cluster bootstrap, percentile, {resamples} resamples, seed {seed}"
        return Measure(
            metric=rule.metric, system=self.system, group=first, versus=second, value=number.value,
            low=number.low, high=number.high, confidence=self.confidence,
            method=method if self.cases.clusters is not None else method.removeprefix("cluster "),
            cases=cases, scale="difference",
        )  # fmt: skip

    @cached_property
    def _differences(self) -> dict[str, tuple[Number, int, int, int]]:
        return {rule.id: self._difference(rule) for rule in self.plan.rules if rule.between is not None}

    def _difference(self, rule: RateCriterion) -> tuple[Number, int, int, int]:
        """Return the difference with its interval, its cases, and how often and from where it was resampled."""
        assert rule.between is not None
        plan, cases = self.plan, self.cases
        planned = plan.bootstrap
        seed = DEFAULT_SEED if planned is None else planned.seed
        resamples = DEFAULT_RESAMPLES if planned is None else planned.resamples
        resamples = max(resamples, least_resamples(self.alpha))
        at = [self._within(stratum) & cases.inside for stratum in rule.between]
        count = int(at[0].sum() + at[1].sum())
        obstacle = cases.obstacle or (None if at[0].any() and at[1].any() else Reason("no-cases"))
        if obstacle is not None:
            return Number(obstacle=obstacle, scale="difference"), count, resamples, seed
        # A case without an outcome counts against the difference at either end.
        ends = [
            self._resampled(
                at, (cases.event == 1) | blank_first, (cases.event == 1) | blank_second, resamples, seed
            )
            for blank_first, blank_second in (
                (np.zeros_like(cases.inside), cases.event < 0),
                (cases.event < 0, np.zeros_like(cases.inside)),
            )
        ]
        low, high = ends[0].low, ends[1].high
        if not np.isfinite(low) or not np.isfinite(high):
            too_few = min(ends[0].clusters) < 1 or ends[0].undefined == 0
            why = Reason("too-few-clusters", {"least": MIN_CLUSTERS}) if too_few else Reason(
                "resamples-undefined", {"count": ends[0].undefined}
            )  # fmt: skip
            return Number(obstacle=why, scale="difference"), count, resamples, seed
        value = ends[0].difference if not (cases.event[at[0] | at[1]] < 0).any() else None
        return Number(value, low, high, scale="difference"), count, resamples, seed

    def _resampled(
        self, at: Sequence[Mask], first: Mask, second: Mask, resamples: int, seed: int
    ) -> StratumDifference:
        weight = np.ones(len(first)) if self.cases.weighted is None else self.cases.weighted.weight
        totals = cluster_totals(
            self.cases.clusters,
            weight * (first & at[0]), weight * at[0], weight * (second & at[1]), weight * at[1],
        )  # fmt: skip
        return stratum_difference(*totals, alpha=self.alpha, resamples=resamples, seed=seed)

    def _within(self, stratum: Stratum) -> Mask:
        inside = np.ones(len(self.cases.event), np.bool_)
        for name, value in stratum.items():
            codes, values = self.cases.strata[name]
            inside &= codes == values.index(value)
        return inside

    # --- verdicts

    def criterion(self, rule: RateCriterion) -> CriterionResult:
        """Decide one criterion."""
        review = self.triggers[0] if self.triggers else None
        if rule.worst_group is not None:
            return self._worst_group(rule, review)
        if rule.between is not None:
            number, _cases, _resamples, _seed = self._differences[rule.id]
            names = list(dict.fromkeys(rule.between[0]))
            lines = tuple(self._stratum_line(stratum) for stratum in rule.between)
            return decide_number(
                rule, number, system=self.system, rows=self.cases.rows,
                left_out=self._left_out(names), review=review, lines=lines,
            )  # fmt: skip
        line = self.everybody.described(0, (), self.cases.obstacle)
        absent = self.cases.obstacle or self.everybody.absent(0)
        number = Number(line.value, line.low, line.high, absent)
        return decide_number(
            rule, number, system=self.system, rows=self.cases.rows,
            left_out=self._left_out(()), review=review, lines=(line,),
        )  # fmt: skip

    def _left_out(self, names: Sequence[str]) -> tuple[LeftOut, ...]:
        """Count the cases that strata leave out, each under its first reason."""
        found, rest = list(self.cases.whole), self.cases.inside.copy()
        for name in names:
            codes = self.cases.strata[name][0]
            found += absent(name, np.where(rest, codes, 0))
            rest &= codes >= 0
        return tuple(each for each in found if each.count)

    def _worst_group(self, rule: RateCriterion, review: Reason | None) -> CriterionResult:
        assert rule.worst_group is not None
        assert rule.by is not None
        names = next(names for names in self.plan.by if set(names) == set(rule.by))
        coded = [self.cases.strata[name] for name in names]
        found = self.shares(names, self.simultaneous(names))
        rate, bounds = self.plan.rate, found.bounds
        if self.cases.obstacle is not None:
            # No interval of this design is to be had, and the plain one is none.
            bounds = Interval(*(np.full(len(found.value), np.nan) for _end in range(2)))
        family = Family(
            attributes=tuple(names),
            groups=strata.groups(names, coded),
            counted=np.zeros(0, np.int64),
            counts={rate: found.counts},
            bounds={rate: bounds},
            clusters=None if found.clusters is None else {rate: found.clusters},
            obstacle=None if self.cases.obstacle is None else self.cases.obstacle.code,
            obstacle_fields={} if self.cases.obstacle is None else self.cases.obstacle.fields,
            values={rate: found.value},
        )
        return decide(
            rule, worst_group_rule(rule.worst_group), family,
            min_cell=rule.min_cell, rows=self.cases.rows, left_out=self._left_out(names),
            system=self.system, review=review,
        )  # fmt: skip

    def _stratum_line(self, stratum: Stratum) -> Line:
        names = list(stratum)
        coded = [self.cases.strata[name] for name in names]
        group = tuple(stratum.items())
        place = strata.groups(names, coded).index(group)
        return self.shares(names, 1).described(place, group, self.cases.obstacle)

    def notes(self) -> list[Reason]:
        """Say what a reader must know."""
        plan, cases, notes = self.plan, self.cases, []
        declared = self.given.protocol.tables[plan.table]
        if declared.unit is None and not declared.cluster:
            notes.append(Reason("independence-assumed"))
        if cases.blank_units:
            notes.append(Reason("unit-blank", {"count": cases.blank_units}))
        if cases.blank and plan.event.blank != "left_out":
            code = "blanks-not-detected" if plan.event.blank == "not_detected" else "blanks-worst-case"
            notes.append(Reason(code, {"count": cases.blank}))
        effect = float(self.everybody.effect[0])
        designed = cases.clusters is not None or cases.weighted is not None
        if designed and cases.obstacle is None and np.isfinite(effect):
            notes.append(Reason("design-effect", {"effect": f"{effect:.3g}"}))
        if plan.weights is not None and cases.obstacle is None:
            notes.append(Reason("unweighted-beside"))
        if len(plan.rules) > 1:
            notes.append(Reason("criteria-uncorrected", {"count": len(plan.rules)}))
        return notes


def analyse(
    plan: DetectionPlan, given: Given, *, name: str, systems: Sequence[str], failure: bool
) -> AnalysisResult:
    """Compute an analysis on a share of cases; of a `failure` the event is that nothing was found."""
    each = {system: Detection(plan, given, name, system, failure=failure) for system in systems}
    whole = merged([one.result() for one in each.values()])
    rules = [rule for rule in plan.rules if rule.systems is not None]
    if not rules:
        return whole
    found = adjusted([_compared(plan, each, rule, len(rules)) for rule in rules])
    criteria = tuple(_decided(each, rule, one) for rule, one in zip(rules, found, strict=True))
    rows = tuple(
        {"systems": list(rule.systems or ()), **one.row()} for rule, one in zip(rules, found, strict=True)
    )
    triggers = next(iter(each.values())).triggers
    states = [whole.state, *(one.state for one in criteria)]
    return replace(
        whole,
        state=State.MANUAL_REVIEW if triggers else worst(states),
        criteria=(*whole.criteria, *criteria),
        tables={**whole.tables, "paired": rows},
    )


def _pair(each: Mapping[str, Detection], rule: RateCriterion) -> tuple[Detection, Detection, Mask]:
    """Return two systems' analyses, and the cases that both have an answer for."""
    assert rule.systems is not None
    first, second = (each[system] for system in rule.systems)
    return first, second, first.cases.inside & second.cases.inside


def _compared(
    plan: DetectionPlan, each: Mapping[str, Detection], rule: RateCriterion, family: int
) -> Compared:
    """Compare two systems on the same cases, the first less the second."""
    first, second, both = _pair(each, rule)
    planned = plan.bootstrap
    asked = Asked(
        alpha=first.alpha, confidence=first.confidence, family=family,
        resamples=DEFAULT_RESAMPLES if planned is None else planned.resamples,
        seed=DEFAULT_SEED if planned is None else planned.seed,
    )  # fmt: skip
    clusters = first.cases.clusters
    found = compare(
        first.cases.event[both], second.cases.event[both], None if clusters is None else clusters[both], asked
    )
    obstacle = Reason("weighted-sample") if plan.weights is not None else first.cases.obstacle
    return found if obstacle is None else replace(found, obstacle=obstacle, low=None, high=None, p=None)


def _decided(each: Mapping[str, Detection], rule: RateCriterion, found: Compared) -> CriterionResult:
    first, second, _both = _pair(each, rule)
    assert rule.systems is not None
    unpaired = int((first.cases.inside ^ second.cases.inside).sum())
    left_out = [
        *first.cases.whole,
        *([LeftOut("unpaired", first.plan.event.reads, unpaired)] if unpaired else []),
    ]
    return decide_pair(
        rule, found, system="", rows=first.cases.rows, left_out=left_out,
        review=first.triggers[0] if first.triggers else None,
        details={"first": rule.systems[0], "second": rule.systems[1]},
    )  # fmt: skip
