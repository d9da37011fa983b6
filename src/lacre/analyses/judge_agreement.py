"""Human-vs-judge agreement of one rater: kappa over frozen bins, and all that it must be read with.

Each dimension's pooled kappa may decide; those of groups are diagnostics and never do. Beside kappa stand its
bootstrap interval, both marginals and raw agreement, always; and Gwet's AC, PABAK and the indexes of prevalence and
bias, by which a low kappa of lopsided marginals, the kappa paradox, is told from one of disagreement.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from lacre.analyses.disclosure import min_count
from lacre.analyses.estimate import (
    Answer,
    Details,
    Estimate,
    Group,
    Measure,
    NotEstimable,
    Withheld,
    ZeroBound,
    group_json,
    group_name,
)
from lacre.analyses.families import error_rate, exact
from lacre.analyses.given import Given
from lacre.analyses.judge_cases import Cases, Family, Judged, Mask, costs_of, prepare
from lacre.analyses.judging import Number, decide_number
from lacre.analyses.reasons import Reason
from lacre.analyses.result import AnalysisResult
from lacre.analyses.verdict import CriterionResult, State, worst
from lacre.protocol.grammar import as_float
from lacre.protocol.kinds.judge_agreement import JudgeAgreementPlan, JudgeCriterion
from lacre.stats import agreement, judge
from lacre.stats.clusters import MIN_CLUSTERS

RAW, KAPPA, PABAK = "raw_agreement", "kappa", "pabak"
TABLE = "judge_agreement"

DIAGNOSTIC = "diagnostic"
"""What a number of a group is used as, said in its details: it decides nothing."""


def gwet_name(plan: JudgeAgreementPlan) -> str:
    """Return the name of Gwet's coefficient: AC1 without weights, AC2 with the same weights as kappa."""
    return "ac1" if plan.weights == "none" else "ac2"


def analyse(plan: JudgeAgreementPlan, given: Given, *, name: str, systems: Sequence[str]) -> AnalysisResult:
    """Compute the agreement `name` with the one judge.

    Raises `OutsideBins` where a label or score lies in no bin, and `UnitRepeated` where two cases are of one unit.
    """
    review = [Reason("review-registered")] if plan.requires_manual_review else []
    review += [Reason(code) for code in given.review]
    work = _Work(plan, given, systems[0])
    figures = [
        figure
        for dimension in work.cases.dimensions
        for family in work.cases.families
        for figure in work.figures(dimension, family)
    ]
    pooled = {each.dimension.name: each for each in figures if not each.group}
    criteria = tuple(
        work.decide(rule, pooled[rule.dimension], review[0] if review else None) for rule in plan.criteria
    )
    state = worst(each.state for each in criteria)
    if review:
        state = State.MANUAL_REVIEW
    elif not criteria and not any(isinstance(each.kappa, Measure) for each in pooled.values()):
        state = State.INSUFFICIENT_EVIDENCE
    left_out = [out for each in work.cases.dimensions for out in each.left_out]
    left_out += [out for each in work.cases.families for out in each.left_out]
    return AnalysisResult(
        id=name,
        kind=plan.kind,
        state=state,
        rows=work.cases.rows,
        estimates=tuple(answer for each in figures for answer in each.answers),
        criteria=criteria,
        left_out=(*work.cases.excluded, *dict.fromkeys(left_out)),
        notes=(*review, *work.notes(figures)),
        tables={TABLE: tuple(work.row(each) for each in figures)},
    )


@dataclass(frozen=True, eq=False)
class _Figure:
    """What was found of one dimension in one group: the table of bins, and the answers it gives.

    A `secret` one is told without its table, and without what would tell the table.
    """

    dimension: Judged
    place: "Place"
    table: agreement.Ints
    found: judge.Coefficients
    found_of: tuple[Answer, ...]
    undefined: int
    secret: Reason | None = None

    @property
    def kappa(self) -> Answer:
        return self.found_of[1]

    @property
    def answers(self) -> tuple[Answer, ...]:
        """The numbers as they are told. PABAK says what raw agreement says."""
        if self.secret is None:
            return self.found_of
        return tuple(
            Withheld(each.metric, each.system, each.group, self.secret, each.details)
            if each.metric not in (RAW, PABAK)
            else each
            for each in self.found_of
        )

    @property
    def group(self) -> Group:
        return self.place.group


class _Work:
    def __init__(self, plan: JudgeAgreementPlan, given: Given, system: str) -> None:
        self.plan = plan
        self.system = system
        self.declared = given.protocol.tables[plan.table]
        self.cases: Cases = prepare(plan, given, system)
        self.alpha = error_rate(plan.confidence, given.share)
        self.confidence = as_float(plan.confidence) if given.share == 1 else 1 - self.alpha
        self.least = min_count(given.protocol, plan.pool)

    # --- numbers

    def figures(self, dimension: Judged, family: Family) -> list[_Figure]:
        """Compute one dimension in every group of a family; one group's table is that of all less the others'."""
        found = [self.figure(dimension, family, place) for place in range(len(family.groups))]
        if self.least is None or not any(_few(each.table, self.least) for each in found):
            return found
        secret = Reason("withheld", {"min_count": self.least})
        return [replace(each, secret=secret) for each in found]

    def figure(self, dimension: Judged, family: Family, place: int) -> _Figure:
        """Compute one dimension in one group of a family."""
        here = dimension.kept & (family.cell == place)
        group, bins = family.groups[place], len(dimension.bins)
        human, scored = dimension.human.codes[here], dimension.judge.codes[here]
        cluster = None if self.cases.cluster is None else self.cases.cluster[here]
        table = agreement.cross(human, scored, bins).table
        raw = agreement.raw_agreement(human, scored, self.alpha, cluster)
        costs = costs_of(self.plan, bins)
        found = judge.exact_coefficients(table, costs)
        at = Place(dimension.name, dimension.human.column, dimension.judge.column, dimension.bins, group)
        details = at.details
        absent, undefined = self.absent(raw, here), 0
        names = (KAPPA, gwet_name(self.plan), PABAK)
        if absent is None:
            drawn = judge.resample(
                self.strata(dimension, here),
                np.array([[float(cost) for cost in row] for row in costs]),
                alpha=self.alpha,
                resamples=self.plan.bootstrap.resamples,
                seed=self.plan.bootstrap.seed,
                max_undefined=as_float(self.plan.max_undefined),
            )
            undefined = drawn[0].undefined
            answers: list[Answer] = [self.share(raw, group, details)]
            for metric, value, resampled in zip(names, found, drawn, strict=True):
                answers.append(self.measure(metric, value, resampled, group, details, int(table.sum())))
        else:
            answers = [
                NotEstimable(metric, self.system, group, int(table.sum()), absent, details)
                for metric in (RAW, *names)
            ]
        return _Figure(dimension, at, table, found, tuple(answers), undefined)

    def absent(self, raw: agreement.Raw, here: Mask) -> Reason | None:
        """Return why nothing can be estimated of some cases."""
        if len(self.declared.cluster) > 1:
            return Reason("crossed-clusters")
        if raw.cases[0] == 0:
            return Reason("no-cases")
        if raw.clusters is not None and raw.clusters[0] < MIN_CLUSTERS:
            return Reason("too-few-clusters", {"least": MIN_CLUSTERS})
        if self.cases.cluster is not None and self.cases.stratum is not None:
            pairs = np.unique(np.stack([self.cases.cluster[here], self.cases.stratum[here]]), axis=1)
            torn = pairs.shape[1] - len(np.unique(pairs[0]))
            if torn:
                return Reason("clusters-cross-strata", {"count": int(torn)})
        return None

    def strata(self, dimension: Judged, here: Mask) -> list[judge.Drawn]:
        """Return what is drawn again: cases or clusters, of all or of each stratum by itself."""
        bins = len(dimension.bins)
        parts = [here]
        if self.cases.stratum is not None:
            parts = [here & (self.cases.stratum == place) for place in np.unique(self.cases.stratum[here])]
        found: list[judge.Drawn] = []
        for part in parts:
            human, scored = dimension.human.codes[part], dimension.judge.codes[part]
            if self.cases.cluster is None:
                found.append(agreement.cross(human, scored, bins).table)
            else:
                found.append(judge.clusters_of(human, scored, bins, self.cases.cluster[part]))
        return found

    def share(self, raw: agreement.Raw, group: Group, details: Details) -> Estimate:
        agreed, cases = int(raw.agreed[0]), int(raw.cases[0])
        return Estimate(
            metric=RAW,
            system=self.system,
            group=group,
            numerator=agreed,
            denominator=cases,
            value=agreed / cases,
            low=float(raw.low[0]),
            high=float(raw.high[0]),
            confidence=self.confidence,
            method="wilson" if raw.clusters is None else "wilson on effective sample size",
            zero_bound=ZeroBound.of(float(raw.size[0])) if agreed == 0 else None,
            details=details,
        )

    def measure(
        self,
        metric: str,
        value: Fraction | float,
        drawn: judge.Resampled,
        group: Group,
        details: Details,
        cases: int,
    ) -> Answer:
        absent = None
        if math.isnan(value):
            absent = Reason("kappa-one-bin")
        elif math.isnan(drawn.low):
            absent = Reason(
                "kappa-resamples-undefined",
                {"count": drawn.undefined, "resamples": self.plan.bootstrap.resamples},
            )
        if absent is not None:
            return NotEstimable(metric, self.system, group, cases, absent, details)
        return Measure(
            metric=metric,
            system=self.system,
            group=group,
            value=float(value),
            low=drawn.low,
            high=drawn.high,
            confidence=self.confidence,
            method=method_of(self.plan, clustered=self.cases.cluster is not None),
            cases=cases,
            scale="kappa",
            note=Reason("resamples-alike") if drawn.widened else None,
            details=details,
        )

    # --- the kind's own table

    def row(self, figure: _Figure) -> dict[str, Any]:
        """Return a group's line of the table."""
        answers = [each.as_json() for each in figure.answers]
        table = None if figure.secret is not None else figure.table
        return line(self.plan, figure.place, answers, table, undefined=figure.undefined)

    # --- verdicts

    def decide(self, rule: JudgeCriterion, figure: _Figure, review: Reason | None) -> CriterionResult:
        """Decide a criterion on one dimension's pooled kappa: by its point, or by its interval."""
        answer, decided = figure.kappa, None
        if isinstance(answer, Measure):
            number = Number(answer.value, answer.low, answer.high, scale="kappa")
            if rule.decide_on == "point":
                decided = by_point(figure.found.kappa, rule)
        else:
            assert isinstance(answer, NotEstimable)
            number = Number(obstacle=answer.reason, scale="kappa")
        made = decide_number(
            rule,
            number,
            system=self.system,
            rows=self.cases.rows,
            left_out=figure.dimension.left_out,
            review=review,
            details={"dimension": figure.dimension.name, "decide_on": rule.decide_on},
            decided=decided,
        )
        if figure.secret is None:
            return made
        return replace(made, value=None, low=None, high=None, reason=figure.secret)

    def notes(self, figures: Sequence[_Figure]) -> Iterator[Reason]:
        """Say what a reader must know: paradoxes, the target, values near an edge, what the intervals assume."""
        for figure in figures:
            if isinstance(figure.kappa, Measure) and figure.secret is None:
                yield from paradox_note(paradox_of(self.plan, figure.place, figure.table), figure.place)
        if self.plan.target is not None and not any(each.secret for each in figures if not each.group):
            kappas = [each.kappa for each in figures if not each.group]
            values = [each.value if isinstance(each, Measure) else None for each in kappas]
            yield target_note(values, as_float(self.plan.target))
        for dimension in self.cases.dimensions:
            for side in (dimension.human, dimension.judge):
                if side.near:
                    yield Reason("near-edge", {"column": side.column, "count": side.near})
        if self.declared.unit is None and not self.declared.cluster:
            yield Reason("cases-independent")
        if len(self.plan.criteria) > 1:
            yield Reason("criteria-uncorrected", {"count": len(self.plan.criteria)})


def by_point(kappa: Fraction | float, rule: JudgeCriterion) -> tuple[State, Reason]:
    """Decide a floor by the point alone, exactly: a kappa of 3/5 meets a bar of 0.6."""
    fields: Mapping[str, float] = {"value": float(kappa), "threshold": as_float(rule.min)}
    if kappa >= exact(rule.min):
        return State.PASS, Reason("point-kept", fields)
    return State.FAIL, Reason("point-broken", fields)


def target_note(kappas: Sequence[float | None], target: float) -> Reason:
    """Return what is said of the target: the mean of the pooled kappas, where all are there."""
    values = [each for each in kappas if each is not None]
    if len(values) < len(kappas):
        return Reason("target-open", {"target": target})
    mean = math.fsum(values) / len(values)
    code = "target-reached" if mean >= target else "target-missed"
    return Reason(code, {"mean": mean, "target": target, "count": len(values)})


# --- the kind's own table


class Place(NamedTuple):
    """What a line is of: a dimension with its two columns and its bins, and a group."""

    dimension: str
    human: str
    judge: str
    bins: tuple[str, ...]
    group: Group

    @property
    def details(self) -> dict[str, str]:
        """What tells its numbers from those of other lines."""
        return {"dimension": self.dimension} | ({"use": DIAGNOSTIC} if self.group else {})


def paradox_of(plan: JudgeAgreementPlan, place: Place, table: agreement.Ints) -> dict[str, Any] | None:
    """Return what makes a low kappa a paradox: the bin, its share of both marginals, and the bar it is under."""
    found = judge.exact_coefficients(table, costs_of(plan, len(place.bins)))
    at, cases = judge.dominant_bin(table), int(table.sum())
    for bar in sorted({exact(rule.min) for rule in plan.criteria if rule.dimension == place.dimension}):
        if at is not None and judge.is_paradox(found, bar, table):
            shares = {
                "human": int(table.sum(axis=1)[at]) / cases,
                "judge": int(table.sum(axis=0)[at]) / cases,
            }
            return {"bin": place.bins[at], **shares, "bar": float(bar)}
    return None


def paradox_note(paradox: Mapping[str, Any] | None, place: Place) -> Iterator[Reason]:
    """Name a paradox, where there is one."""
    if paradox is None:
        return
    fields = {"dimension": place.dimension, "bin": paradox["bin"], "bar": paradox["bar"]}
    if place.group:
        yield Reason("paradox-of-group", {**fields, "group": group_name(place.group)})
    else:
        yield Reason("paradox", fields)


def line(
    plan: JudgeAgreementPlan,
    place: Place,
    answers: Sequence[Mapping[str, Any]],
    table: agreement.Ints | None,
    *,
    undefined: int,
) -> dict[str, Any]:
    """Return a line: the `answers` (raw agreement, kappa, Gwet's, PABAK) side by side, and the `table` they are of.

    Without a table nothing is told that could tell it.
    """
    raw, bar = answers[0], plan.bar_of(place.dimension)
    margins = None if table is None else judge.marginals(table)
    known = None if table is None or margins is None or not table.any() else margins
    paradox = None if table is None or answers[1]["value"] is None else paradox_of(plan, place, table)
    return {
        "dimension": place.dimension,
        "human": place.human,
        "judge": place.judge,
        "group": group_json(place.group),
        "use": DIAGNOSTIC if place.group else "pooled",
        "bins": list(place.bins),
        "counts": None if table is None else table.tolist(),
        "human_marginal": None if margins is None else margins.human.tolist(),
        "judge_marginal": None if margins is None else margins.judge.tolist(),
        "prevalence_index": None if known is None else known.prevalence.tolist(),
        "bias_index": None if known is None else known.bias.tolist(),
        "n": raw["denominator"],
        "agree": raw["numerator"],
        **{
            f"{name}{end}": told[end.removeprefix("_") or "value"]
            for name, told in zip(("raw", "kappa", "gwet", "pabak"), answers, strict=True)
            for end in ("", "_low", "_high", "_method", "_note")
        },
        "gwet_name": gwet_name(plan),
        "confidence": raw["confidence"],
        "undefined_resamples": None if table is None else undefined,
        "bar": None if bar is None else as_float(bar),
        "target": None if plan.target is None else as_float(plan.target),
        "paradox": paradox,
    }


def method_of(plan: JudgeAgreementPlan, *, clustered: bool) -> str:
    """Return how an interval is made."""
    drawn = plan.bootstrap
    method = f"bootstrap, percentile, {drawn.resamples} resamples, seed {drawn.seed}"
    return f"cluster {method}" if clustered else method


def _few(table: agreement.Ints, least: int) -> bool:
    margins = np.concatenate([table.sum(axis=0), table.sum(axis=1)])
    return bool(((margins > 0) & (margins < least)).any())
