"""What a registered criterion asks, in the form in which a result tells it: of every kind, from the plan alone."""

from typing import Any

from lacre.protocol.columns import NumberColumn
from lacre.protocol.grammar import as_float
from lacre.protocol.kinds.estimate import EstimatePlan
from lacre.protocol.kinds.group_fairness import Criterion
from lacre.protocol.kinds.judge_agreement import JudgeCriterion
from lacre.protocol.kinds.parts import RateCriterion
from lacre.protocol.kinds.plan import AnalysisPlan
from lacre.protocol.kinds.self_agreement import AgreementCriterion, SelfAgreementPlan
from lacre.protocol.kinds.verification import VerificationCriterion, VerificationPlan
from lacre.protocol.models import Protocol
from lacre.report import told
from lacre.report.told import Document


def rule(protocol: Protocol, plan: AnalysisPlan, criterion: Any) -> str:
    """Return what a criterion asks, in words."""
    return told.rule(asked(protocol, plan, criterion))


def asked(protocol: Protocol, plan: AnalysisPlan, criterion: Any) -> Document:
    """Return what a criterion asks, under the names that a result's criterion has.

    Its `details` say a little more than the result's, which has lines for it: the strata of a difference.
    """
    form, limit = _bound(criterion)
    return {
        "metric": criterion.metric,
        "by": list(getattr(criterion, "by", None) or ()),
        "rule": form,
        "threshold": as_float(limit),
        "details": _details(plan, criterion),
        **_scale(protocol, plan, criterion),
    }


def _bound(criterion: Any) -> tuple[str, Any]:
    """Return the form of a criterion's bound, and where it is."""
    if getattr(criterion, "max_group_gap", None) is not None:
        return "max_group_gap", criterion.max_group_gap
    if getattr(criterion, "max_group_ratio", None) is not None:
        return "max_group_ratio", criterion.max_group_ratio.max
    worst = getattr(criterion, "worst_group", None)
    if worst is not None:
        return ("worst_group_min", worst.min) if worst.max is None else ("worst_group_max", worst.max)
    return ("min", criterion.min) if criterion.max is None else ("max", criterion.max)


def _details(plan: AnalysisPlan, criterion: Any) -> dict[str, str | float]:
    """Return what tells a criterion from others of its metric."""
    match criterion:
        case Criterion():
            return {}
        case RateCriterion(between=[first, second]):
            strata = {"group": first, "versus": second}
            return {"between": told.group(strata, list(first))}
        case VerificationCriterion(max_group_ratio=ratio) if ratio is not None:
            return {"form": ratio.form}
        case VerificationCriterion():
            return {} if criterion.asked is None else _target(*criterion.asked)
        case AgreementCriterion():
            assert isinstance(plan, SelfAgreementPlan)
            return {"column": criterion.column or next(first for first, _second in plan.labelled)}
        case JudgeCriterion():
            return {"decide_on": criterion.decide_on, "dimension": criterion.dimension}
    systems, variant = getattr(criterion, "systems", None), getattr(criterion, "variant", None)
    found = {} if systems is None else {"first": systems[0], "second": systems[1]}
    shown = variant if systems is None else variant or getattr(plan, "baseline", None)
    return found if shown is None else {**found, "variant": shown}


def _target(rate: str, at: Any) -> dict[str, str | float]:
    return {"target": rate, "at": as_float(at)}


def _scale(protocol: Protocol, plan: AnalysisPlan, criterion: Any) -> dict[str, str | None]:
    """Return what the number is that a criterion bounds, and its unit."""
    columns = protocol.tables[plan.table].columns
    if getattr(criterion, "max_group_ratio", None) is not None:
        return {"scale": "ratio", "unit": None}
    if criterion.metric in {"difference", "stratum_difference"}:
        return {"scale": "difference", "unit": None}
    if criterion.metric == "kappa":
        return {"scale": "kappa", "unit": None}
    if criterion.metric == "threshold_distance":
        assert isinstance(plan, VerificationPlan)
        judged = [rung for rung in plan.mitigations if rung.id not in plan.training()]
        normalised = bool(judged) and judged[-1].normalises
        return {"scale": "score", "unit": None if normalised else getattr(columns[plan.score], "unit", None)}
    if isinstance(plan, EstimatePlan):
        return _of_estimate(plan, [columns[name] for name in plan.measured])
    return {}


def _of_estimate(plan: EstimatePlan, measured: list[Any]) -> dict[str, str | None]:
    if plan.of == "ratio":
        least = [column.min if isinstance(column, NumberColumn) else 0 for column in measured]
        positive = all(low is not None and low >= 0 for low in least)
        return {"scale": "ratio" if positive else "number", "unit": None}
    if isinstance(measured[0], NumberColumn):
        return {"scale": "number", "unit": measured[0].unit}
    return {} if plan.of == "mean" else {"scale": "number", "unit": None}
