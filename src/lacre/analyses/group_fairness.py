"""The group-fairness gate: four error rates between declared groups, and the criteria registered on them.

Every declared group of every attribute and intersection is estimated, with bounds that hold for its family at
once, and so is everybody. A case without a prediction stays in its group and counts as either outcome in
the bounds, and so does one whose prediction is no declared value; one whose attribute or label is missing
or undeclared is left out of what needs it, and counted. The share that `max_left_out` bounds is of the rows
that stay after the registered exclusions: an excluded row is no case of the study, and one left out is.
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from lacre.analyses.criteria import decide, rule_of
from lacre.analyses.estimate import Answer, Estimate, NotEstimable, ZeroBound
from lacre.analyses.families import Cases, Family, cell_of, error_rate, family, prepare
from lacre.analyses.given import Given
from lacre.analyses.reasons import Reason
from lacre.analyses.result import AnalysisResult, CalibrationError, merged
from lacre.analyses.verdict import LeftOut, State, worst
from lacre.protocol.grammar import as_float
from lacre.protocol.kinds.group_fairness import GroupFairnessPlan
from lacre.protocol.tables import Table
from lacre.stats.clusters import MIN_CLUSTERS
from lacre.stats.fairness import RATES, expected_calibration_error
from lacre.tables.columns import TypedTable


def of_systems(plan: GroupFairnessPlan, given: Given, *, name: str, systems: Sequence[str]) -> AnalysisResult:
    """Compute the analysis `name` of each of `systems`, in one result.

    Raises `UnitRepeated` when two cases are of one unit.
    """
    declared = given.protocol.tables[plan.table]
    return merged(
        [
            analyse(
                plan,
                declared,
                given.table(system, plan.table),
                name=name,
                system=system,
                review=given.review,
                share=given.share,
            )
            for system in systems
        ]
    )


def analyse(
    plan: GroupFairnessPlan,
    declared: Table,
    table: TypedTable,
    *,
    name: str,
    system: str = "",
    review: Sequence[str] = (),
    share: Fraction = Fraction(1),
) -> AnalysisResult:
    """Compute the analysis `name` on `table`, which has one system's submission joined and is as `declared`.

    `review` holds codes of reasons, known from outside the table, to have a person review the whole analysis, and
    `share` is the part of its error rate that it may spend. Raises `UnitRepeated` when two cases are of one unit.
    """
    cases = prepare(plan, declared, table)
    alpha = error_rate(plan.confidence, share)
    confidence = as_float(plan.confidence) if share == 1 else 1 - alpha
    everybody = family(cases, (), alpha)
    families = [family(cases, names, alpha) for names in _families(plan)]
    triggers = _triggers(plan, everybody, review)
    by_names = {frozenset(each.attributes): each for each in families}
    criteria = tuple(
        decide(
            criterion,
            rule_of(criterion),
            (of := by_names[frozenset(criterion.by)]),
            min_cell=plan.min_cell,
            rows=cases.rows,
            left_out=(*cases.unclustered, *of.left_out(criterion.metric, plan)),
            system=system,
            review=triggers[0] if triggers else None,
        )
        for criterion in plan.criteria
    )
    estimates = [
        answer
        for each in (everybody, *families)
        for rate in RATES
        for answer in _estimates(each, rate, confidence, system)
    ]
    return AnalysisResult(
        id=name,
        kind=plan.kind,
        state=State.MANUAL_REVIEW if triggers else worst(each.state for each in criteria),
        rows=cases.rows,
        estimates=tuple(estimates),
        criteria=criteria,
        calibration=tuple(_calibration(plan, cases, (everybody, *families), system)),
        left_out=_left_out(plan, cases, everybody, families),
        notes=(*triggers, *_notes(plan, declared, cases, everybody)),
    )


def _families(plan: GroupFairnessPlan) -> list[tuple[str, ...]]:
    return [*((name,) for name in plan.attributes), *(tuple(names) for names in plan.intersections)]


def _triggers(plan: GroupFairnessPlan, everybody: Family, review: Sequence[str]) -> tuple[Reason, ...]:
    """Return the reasons to review the whole analysis; an error above one half is of the predicted cases."""
    triggers = [Reason("review-registered")] if plan.requires_manual_review else []
    triggers += [Reason(code) for code in review]
    errors = everybody.counts["error"]
    if 2 * errors.events[0] > errors.predicted[0]:
        triggers.append(Reason("error-above-half"))
    return tuple(triggers)


def _estimates(family: Family, rate: str, confidence: float, system: str) -> list[Answer]:
    """Answer one rate for each group of a family, in the declared order."""
    counts, bounds = family.counts[rate], family.bounds[rate]
    method = "clopper-pearson" if family.clusters is None else "clopper-pearson on effective sample size"
    answers: list[Answer] = []
    for index, group in enumerate(family.groups):
        events, missing, cases = (int(each[index]) for each in counts)
        absent = family.not_estimable(rate, index)
        if absent is not None:
            fields = {"least": MIN_CLUSTERS} if absent == "too-few-clusters" else {}
            answers.append(NotEstimable(rate, system, group, cases, Reason(absent, fields)))
            continue
        worth = cases if family.sizes is None else float(family.sizes[rate][index])
        answers.append(
            Estimate(
                metric=rate,
                system=system,
                group=group,
                numerator=events,
                denominator=cases,
                value=events / cases,
                low=float(bounds.low[index]),
                high=float(bounds.high[index]),
                confidence=confidence,
                method=method,
                simultaneous=len(family.groups),
                missing=missing,
                zero_bound=ZeroBound.of(worth) if events == 0 and missing == 0 else None,
                note=Reason("missing-predictions", {"count": missing}) if missing else None,
            )
        )
    return answers


def _calibration(
    plan: GroupFairnessPlan, cases: Cases, families: Sequence[Family], system: str
) -> list[CalibrationError]:
    """Describe the probability's calibration in each group, over its cases with a label and a probability."""
    if cases.probability is None or plan.calibration_bins is None:
        return []
    known = (cases.label >= 0) & (cases.probability >= 0) & (cases.probability <= 1)
    found = []
    for each in families:
        cell = cell_of(cases, each.attributes)
        at = np.flatnonzero(known & (cell >= 0))
        groups = len(each.groups)
        members = np.bincount(cell[cell >= 0], minlength=groups)
        error, used = expected_calibration_error(
            cases.probability[at], cases.label[at], plan.calibration_bins, cell[at], groups
        )
        found += [
            CalibrationError(
                system=system,
                group=group,
                bins=plan.calibration_bins,
                cases=int(used[index]),
                left_out=int(members[index] - used[index]),
                error=float(error[index]) if used[index] else None,
            )
            for index, group in enumerate(each.groups)
        ]
    return found


def _left_out(
    plan: GroupFairnessPlan, cases: Cases, everybody: Family, families: Sequence[Family]
) -> tuple[LeftOut, ...]:
    """Count what is left out for each reason by itself, exclusions first."""
    found = [*cases.excluded, *cases.unclustered]
    for one in families[: len(plan.attributes)]:
        found += [each for each in one.left_out("selection", plan) if each.column in one.attributes]
    found += [each for each in everybody.left_out("error", plan) if each.column == plan.label]
    return tuple(found)


def _notes(plan: GroupFairnessPlan, declared: Table, cases: Cases, everybody: Family) -> tuple[Reason, ...]:
    notes = []
    if declared.unit is None and not declared.cluster:
        notes.append(Reason("independence-assumed"))
    if cases.blank_units:
        notes.append(Reason("unit-blank", {"count": cases.blank_units}))
    missing = int(everybody.counts["selection"].missing[0])
    if missing:
        notes.append(Reason("missing-predictions", {"count": missing}))
    if cases.undeclared_predictions:
        count = cases.undeclared_predictions
        notes.append(Reason("undeclared-predictions", {"count": count, "column": plan.prediction}))
    if len(plan.criteria) > 1:
        notes.append(Reason("criteria-uncorrected", {"count": len(plan.criteria)}))
    if plan.calibration_bins is not None:
        notes.append(Reason("calibration-describes"))
    return tuple(notes)
