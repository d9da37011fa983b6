"""What a submission leaves blank, and the criteria that this leaves undecided, whatever else it says."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from lacre.protocol.grammar import as_float
from lacre.protocol.kinds.detection import DetectionPlan
from lacre.protocol.kinds.estimate import EstimatePlan
from lacre.protocol.kinds.group_fairness import GroupFairnessPlan
from lacre.protocol.kinds.judge_agreement import JudgeAgreementPlan, JudgeCriterion
from lacre.protocol.kinds.paired_variants import PairedCriterion, PairedVariantsPlan, variant_column
from lacre.protocol.kinds.parts import RateCriterion
from lacre.protocol.kinds.plan import AnalysisPlan
from lacre.protocol.kinds.verification import VerificationPlan
from lacre.protocol.tables import Table
from lacre.tables.columns import Codes, Numbers, Outcomes, TypedTable

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Blank:
    """A criterion that `count` blanks of `rows` leave undecided: at most a share of `limit` may be blank."""

    criterion: str
    count: int
    rows: int
    limit: float


def left_undecided(
    plan: AnalysisPlan, declared: Table, table: TypedTable, system: str, absent: int
) -> Iterator[Blank]:
    """Tell the criteria of `plan` that a submission of its table leaves undecided, for want of what is blank.

    `absent` rows of the pool are not in the submission. Only what the submission alone shows is told, whatever
    is excluded of the pool's rows: which images hold a person, say, is sealed.
    """
    for rule in getattr(plan, "criteria", ()):
        found = _counts(plan, rule, declared, table, system)
        if found is not None:
            count, rows, limit = found[0] + absent, found[1] + absent, as_float(found[2])
            if isinstance(plan, PairedVariantsPlan):
                count -= absent  # Of what items they are is not known.
            if count > limit * rows:
                yield Blank(rule.id, count, rows, limit)


def _counts(
    plan: AnalysisPlan, rule: object, declared: Table, table: TypedTable, system: str
) -> tuple[int, int, Fraction | float] | None:
    """Return the blanks that count against a criterion, of how many, and the share that may be."""
    limit = getattr(rule, "max_left_out", 0.0)
    match plan, rule:
        case (GroupFairnessPlan(prediction=column), _) | (
            JudgeAgreementPlan(),
            JudgeCriterion(dimension=column),
        ):
            scored = plan.dimensions[column].judge if isinstance(plan, JudgeAgreementPlan) else column
            return _of(_blank(table, [scored]), limit)
        case DetectionPlan(), RateCriterion():
            if plan.event.blank != "left_out" or not _concerns(rule.systems, system):
                return None
            blank = _blank(table, [plan.event.reads])
            certain = blank is not None and (not plan.population() or bool(blank.all()))
            return _of(blank, limit) if certain else None
        case PairedVariantsPlan(), PairedCriterion():
            if plan.detected.blank != "left_out" or not _concerns(rule.systems, system):
                return None
            return _items(plan, rule, declared, table)
        case VerificationPlan(), _:
            return _of(_blank(table, [plan.score]), plan.max_abstention)
        case EstimatePlan(), _:
            # A total is not known without each of its parts.
            return _of(_blank(table, plan.measured), 0.0 if plan.of == "total" else limit)
    return None


def _concerns(systems: Sequence[str] | None, system: str) -> bool:
    return systems is None or system in systems


def _of(blank: Mask | None, limit: Fraction | float) -> tuple[int, int, Fraction | float] | None:
    return None if blank is None else (int(blank.sum()), len(blank), limit)


def _blank(table: TypedTable, names: Sequence[str]) -> Mask | None:
    """Return the rows without a declared value in some column; None where the submission has none of them."""
    found = [_without(table.columns[name]) for name in names if name in table.columns]
    return np.logical_or.reduce(found) if found else None


def _without(column: object) -> Mask:
    if isinstance(column, Codes | Outcomes):
        return np.asarray(column.codes < 0)
    assert isinstance(column, Numbers)
    return np.isnan(column.values)


def _items(
    plan: PairedVariantsPlan, rule: PairedCriterion, declared: Table, table: TypedTable
) -> tuple[int, int, Fraction | float] | None:
    """Count the items, and those whose result is blank in a variant that is compared."""
    blank, name = _blank(table, [plan.detected.reads]), variant_column(plan, declared)
    if blank is None or name is None:
        return None
    compared = {rule.variant or plan.baseline} | (set() if rule.systems else {plan.baseline})
    at = declared.key.index(name)
    without: dict[tuple[str, ...], set[str]] = {}
    for key, empty in zip(table.keys, blank.tolist(), strict=True):
        parts = json.loads(key)
        variant = parts.pop(at)
        shown = without.setdefault(tuple(parts), set())
        if empty and variant in compared:
            shown.add(variant)
    return sum(map(bool, without.values())), len(without), rule.max_left_out
