"""Verification: false matches and non-matches by group at a common threshold, judged on the last rung of a ladder.

Every rung's criteria stand side by side; the verdict is that of the last one before training, or, where a read asks
for a rung of training, of that one alone. Definitions of the numbers in `lacre.analyses.verification_numbers`.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from lacre.analyses.comparisons import Rates, prepare
from lacre.analyses.criteria import decide, too_many_left_out, worst_group_rule
from lacre.analyses.disclosure import min_count
from lacre.analyses.estimate import Group
from lacre.analyses.families import Family, error_rate
from lacre.analyses.given import Given
from lacre.analyses.judging import Number, decide_number
from lacre.analyses.ladder import Rung, climb, details_of
from lacre.analyses.reasons import Reason
from lacre.analyses.result import AnalysisResult, merged
from lacre.analyses.verdict import CriterionResult, LeftOut, Line, State, ceiling, worst
from lacre.analyses.verification_numbers import Numbers
from lacre.protocol.grammar import as_float
from lacre.protocol.kinds.verification import VerificationCriterion, VerificationPlan
from lacre.stats.bootstrap import least_resamples
from lacre.stats.fairness import RateCounts
from lacre.stats.proportions import Interval
from lacre.stats.thresholds import Rate
from lacre.stats.verification import differential_ratio


class Verification:
    """One system's analysis."""

    def __init__(self, plan: VerificationPlan, given: Given, name: str, system: str) -> None:
        self.plan = plan
        self.given = given
        self.name = name
        self.system = system
        self.alpha = error_rate(plan.confidence, given.share)
        self.confidence = as_float(plan.confidence) if given.share == 1 else 1 - self.alpha
        self.least = min_count(given.protocol, plan.pool)
        self.read = prepare(plan, given, system)
        self.rungs = climb(plan, given, system, self.read, self.alpha)
        self.numbers = Numbers(plan, self.read, system, self.alpha, self.confidence, self.least)
        self.triggers = [Reason("review-registered")] if plan.requires_manual_review else []
        self.triggers += [Reason(code) for code in given.review]
        if any(rung.mostly_wrong for rung in self.rungs):
            self.triggers.append(Reason("verification-reversed"))

    def result(self) -> AnalysisResult:
        """Estimate, decide, and put it in order."""
        judged = [tuple(self.criterion(rung, rule) for rule in self.plan.criteria) for rung in self.rungs]
        tables = dict(self.numbers.tables(self.rungs))
        tables["rungs"] = tuple(self._rung_rows(judged))
        return AnalysisResult(
            id=self.name,
            kind=self.plan.kind,
            state=self._state(judged[-1]),
            rows=self.read.rows,
            estimates=tuple(answer for rung in self.rungs for answer in self.numbers.answers(rung)),
            criteria=judged[-1],
            left_out=self.read.left_out,
            notes=(*self.triggers, *self.notes()),
            tables=tables,
        )

    def _state(self, criteria: Sequence[CriterionResult]) -> State:
        return State.MANUAL_REVIEW if self.triggers else worst(each.state for each in criteria)

    def _rung_rows(self, judged: Sequence[Sequence[CriterionResult]]) -> list[dict[str, Any]]:
        """Return the rungs side by side, with those that this read does not compute."""
        found = {rung.id: (rung, criteria) for rung, criteria in zip(self.rungs, judged, strict=True)}
        ids = {each.id: each.kind for each in self.plan.mitigations} or {"": None}
        hidden = self.numbers.hidden()
        rows = []
        for rung_id, kind in ids.items():
            rung, criteria = found.get(rung_id, (None, ()))
            rows.append(
                {
                    "system": self.system or None,
                    "rung": rung_id or None,
                    "kind": kind,
                    "ran": rung is not None and rung.obstacle is None,
                    "reason": None if rung is None or rung.obstacle is None else rung.obstacle.as_json(),
                    "state": None if rung is None else self._state(criteria).value,
                    "criteria": [_side_by_side(each, hidden=hidden) for each in criteria],
                }
            )
        return rows

    # --- verdicts

    def criterion(self, rung: Rung, rule: VerificationCriterion) -> CriterionResult:
        """Decide one criterion on one rung: review first, then what cannot be decided, then its bounds."""
        made = self._decided(rung, rule)
        details = details_of(rung)
        if rule.max_group_ratio is not None:
            details = details_of(rung, form=rule.max_group_ratio.form)
        if rule.asked is not None:
            details = details_of(rung, target=rule.asked[0], at=as_float(rule.asked[1]))
        made = replace(made, details=details)
        blocked = rung.obstacle or rung.abstains(self.plan.max_abstention)
        if blocked is None or made.state is State.MANUAL_REVIEW:
            return made
        made = replace(made, state=State.INSUFFICIENT_EVIDENCE, reason=blocked)
        if rung.obstacle is None:
            return made
        lines = tuple(replace(line, reason=rung.obstacle) for line in made.lines)
        return replace(made, value=None, low=None, high=None, lines=lines)

    @property
    def review(self) -> Reason | None:
        """Why a person decides on the whole analysis."""
        return self.triggers[0] if self.triggers else None

    def _left_out(self, *, grouped: bool) -> tuple[LeftOut, ...]:
        return (*self.read.whole, *(self.read.ungrouped if grouped else ()))

    def _decided(self, rung: Rung, rule: VerificationCriterion) -> CriterionResult:
        if rule.metric == "threshold_distance":
            return self._distance(rung, rule)
        if rule.max_group_ratio is not None:
            return self._ratio(rung, rule, rule.metric)
        if rule.worst_group is not None:
            return self._worst_group(rung, rule, rule.metric)
        line = self._line(
            rung, rung.everybody[rule.metric], 0, (), Interval(np.array([0.0]), np.array([1.0]))
        )
        number = Number(obstacle=line.reason)
        if line.value is not None:
            low, high = self.numbers.everybody(rung, rule.metric)
            line = replace(line, low=low, high=high)
            number = Number(line.value, low, high)
        return decide_number(
            rule, number, system=self.system, rows=self.read.rows,
            left_out=self._left_out(grouped=False), review=self.review, lines=(line,),
        )  # fmt: skip

    def _worst_group(self, rung: Rung, rule: VerificationCriterion, rate: Rate) -> CriterionResult:
        assert rule.worst_group is not None
        found = rung.by_group[rate]
        family = Family(
            attributes=(self.plan.group,),
            groups=self.read.groups,
            counted=np.zeros(0, np.int64),
            counts={rate: RateCounts(found.events, np.zeros_like(found.cases), found.cases)},
            bounds={rate: self.numbers.bounds(rung, rate)},
            clusters=None if found.units is None else {rate: found.units},
            obstacle=None if rung.obstacle is None else rung.obstacle.code,
        )
        return decide(
            rule, worst_group_rule(rule.worst_group), family,
            min_cell=rule.min_cell, rows=self.read.rows, left_out=self._left_out(grouped=True),
            system=self.system, review=self.review,
        )  # fmt: skip

    def _ratio(self, rung: Rung, rule: VerificationCriterion, rate: Rate) -> CriterionResult:
        assert rule.max_group_ratio is not None
        found, limit = rung.by_group[rate], as_float(rule.max_group_ratio.max)
        usable = found.known & (found.cases >= rule.min_cell)
        ratio = differential_ratio(
            found.events, found.cases, found.together(self.alpha, rule.min_cell), rule.max_group_ratio.form
        )
        left_out = self._left_out(grouped=True)
        review = self.review or (Reason("review-registered") if rule.requires_manual_review else None)
        obstacle = too_many_left_out(left_out, self.read.rows, rule.max_left_out)
        if obstacle is None and usable.sum() < 2:
            obstacle = Reason("nothing-to-compare" if found.cases.any() else "no-cases")
        if review is not None:
            state, reason = State.MANUAL_REVIEW, review
        elif obstacle is not None:
            state, reason = State.INSUFFICIENT_EVIDENCE, obstacle
        else:
            state, reason = _ratio_verdict(ratio.low, ratio.high, limit, usable)
        some = usable.sum() > 1
        bounds = self.numbers.bounds(rung, rate)
        lines = tuple(
            self._line(rung, found, index, group, bounds) for index, group in enumerate(self.read.groups)
        )
        return CriterionResult(
            id=rule.id,
            metric=rule.metric,
            system=self.system,
            by=(self.plan.group,),
            form="max_group_ratio",
            threshold=limit,
            state=state,
            reason=reason,
            value=ratio.value if some and usable.all() and math.isfinite(ratio.value) else None,
            low=ratio.low if some else None,
            high=ratio.high if some and math.isfinite(ratio.high) else None,
            lines=lines,
            left_out=left_out,
            rests_on=frozenset(range(len(lines))),
            scale="ratio",
        )

    def _distance(self, rung: Rung, rule: VerificationCriterion) -> CriterionResult:
        assert rule.asked is not None
        rate, at = rule.asked
        found = rung.by_group[rate]
        number, secret = Number(scale="score", unit=rung.unit), self.numbers.hidden()
        if rung.obstacle is not None or found.known.sum() < 2:
            number = replace(number, obstacle=rung.obstacle or Reason("nothing-to-compare"))
        else:
            apart = self.numbers.distance(rung, rate, at)
            if not secret:
                shown = self.numbers.shown_distance(rung, rate, at)
                apart, secret = shown or apart, shown is None
            number = replace(
                number,
                value=apart.value if math.isfinite(apart.value) else None,
                low=apart.low,
                high=apart.high if math.isfinite(apart.high) else None,
            )
        made = decide_number(
            rule, number, system=self.system, rows=self.read.rows,
            left_out=self._left_out(grouped=True), review=self.review,
        )  # fmt: skip
        if secret:
            reason = made.reason if "low" not in made.reason.fields else self.numbers.withheld()
            return replace(made, value=None, low=None, high=None, reason=reason)
        return made

    def _line(self, rung: Rung, found: Rates, index: int, group: Group, bounds: Interval) -> Line:
        """Return the rate of one group, of which by itself nothing is asked."""
        absent = rung.obstacle or found.absent(index)
        known = absent is None
        return Line(
            group=group,
            state=State.PASS if known else State.INSUFFICIENT_EVIDENCE,
            reason=absent or Reason("described"),
            numerator=int(found.events[index]) if known else None,
            denominator=int(found.cases[index]),
            missing=0 if known else None,
            value=float(found.value[index]) if known else None,
            low=float(bounds.low[index]) if known else None,
            high=float(bounds.high[index]) if known else None,
        )

    # --- notes

    def notes(self) -> list[Reason]:
        """Say what a reader must know."""
        plan, read, notes = self.plan, self.read, []
        declared = self.given.protocol.tables[plan.table]
        if self.rungs[-1].id:
            notes.append(Reason("verdict-of-rung", {"rung": self.rungs[-1].id}))
        if declared.unit is None and not declared.cluster:
            notes.append(Reason("comparisons-independent"))
        if read.blank_units:
            notes.append(Reason("unit-blank", {"count": read.blank_units}))
        if read.contradicted:
            notes.append(Reason("subjects-contradict", {"count": read.contradicted}))
        abstained = int(np.isnan(read.score).sum())
        if abstained:
            notes.append(Reason("abstentions", {"count": abstained}))
        sides = dict.fromkeys(rung.enrolled for rung in self.rungs if rung.enrolled is not None)
        notes += [Reason("enrolled-side", {"column": column}) for column in sides]
        if sides and not declared.cluster:
            notes.append(Reason("cohort-unchecked"))
        groups = len(read.groups)
        pairs = max(1, groups * (groups - 1) // 2)
        resamples, least = self.numbers.resamples(pairs)[0], least_resamples(self.alpha, pairs)
        if self.numbers.asked() and resamples < least:
            notes.append(Reason("few-resamples", {"resamples": resamples, "least": least}))
        if len(plan.criteria) > 1:
            notes.append(Reason("criteria-uncorrected", {"count": len(plan.criteria)}))
        return notes


def _ratio_verdict(low: float, high: float, limit: float, usable: Any) -> tuple[State, Reason]:
    state = ceiling(np.array(low), np.array(high), limit).state()
    if state is State.PASS:
        return state, Reason("ratio-kept", {"high": high, "threshold": limit})
    if state is State.FAIL:
        return state, Reason("ratio-broken", {"low": low, "threshold": limit})
    if not usable.all():
        count = int((~usable).sum())
        return state, Reason("groups-not-decided", {"count": count, "groups": len(usable)})
    if math.isinf(high):
        return state, Reason("ratio-open", {"low": low, "threshold": limit})
    return state, Reason("ratio-undecided", {"low": low, "high": high, "threshold": limit})


def _side_by_side(criterion: CriterionResult, *, hidden: bool) -> dict[str, Any]:
    """Return one criterion of one rung; disclosure control does not look into it, so it is done here."""
    value, low, high = (None, None, None) if hidden else (criterion.value, criterion.low, criterion.high)
    return {
        "id": criterion.id,
        "state": criterion.state.value,
        "value": value,
        "low": low,
        "high": high,
        "threshold": criterion.threshold,
        "scale": criterion.scale,
        "unit": criterion.unit,
    }


def analyse(plan: VerificationPlan, given: Given, *, name: str, systems: Sequence[str]) -> AnalysisResult:
    """Compute the analysis `name` of each of `systems`. Raises `UnitRepeated`."""
    return merged([Verification(plan, given, name, system).result() for system in systems])
