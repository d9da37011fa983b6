"""The floors of labels that were given twice, and the differences of other results that lie under them."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lacre.analyses.estimate import Measure, group_name
from lacre.analyses.families import error_rate
from lacre.analyses.reasons import Reason
from lacre.analyses.result import AnalysisResult
from lacre.analyses.verdict import CriterionResult, State
from lacre.protocol.grammar import as_float, exact
from lacre.protocol.kinds.plan import AnalysisPlan
from lacre.protocol.kinds.self_agreement import SelfAgreementPlan
from lacre.protocol.models import Protocol
from lacre.stats.agreement import agreement_floor, relabels_needed


@dataclass(frozen=True, slots=True)
class Floor:
    """The smallest difference that labels in `columns` of `table` allow to claim; `column` names them.

    `floor` is None where their agreement is on record and tells none.
    """

    table: str
    column: str
    columns: frozenset[str]
    floor: float | None


def floors_of(protocol: Protocol, analyses: Iterable[Mapping[str, Any]]) -> tuple[Floor, ...]:
    """Return the floors that stored analyses tell, each as a result's document has it; other kinds tell none.

    Labels of which an analysis is there and tells no floor come first: the floor that another tells counts.
    """
    found = []
    for document in analyses:
        plan = protocol.analyses.get(str(document.get("id")))
        if not isinstance(plan, SelfAgreementPlan) or document.get("kind") != plan.kind:
            continue
        rows = document.get("tables", {}).get("agreement", ())
        told = {row.get("column"): row.get("floor") for row in rows if not row.get("group")}
        for first, second in plan.labelled:
            floor = told.get(first)
            known = floor if isinstance(floor, float) else None
            found.append(Floor(plan.table, first, frozenset({first, second}), known))
    return tuple(sorted(found, key=lambda each: each.floor is not None))


def floor_notes(
    protocol: Protocol, results: Sequence[AnalysisResult], earlier: Sequence[Floor] = ()
) -> list[AnalysisResult]:
    """Return the results of one read with the floors of the labels that each rests on, and what lies under them.

    `earlier` are floors of other reads; one that the results tell themselves takes an earlier one's place.
    """
    floors = {(each.table, each.column): each for each in earlier}
    own = floors_of(protocol, [each.as_json() for each in results])
    floors |= {(each.table, each.column): each for each in own}
    return [_noted(protocol.analyses[each.id], each, tuple(floors.values())) for each in results]


def _noted(plan: AnalysisPlan, result: AnalysisResult, floors: Sequence[Floor]) -> AnalysisResult:
    if isinstance(plan, SelfAgreementPlan):
        return result
    notes = []
    for each in floors:
        if each.table != plan.table or not each.columns & plan.columns():
            continue
        if each.floor is None:
            notes.append(Reason("floor-unknown", {"column": each.column}))
            continue
        notes.append(Reason("agreement-floor", {"column": each.column, "floor": each.floor}))
        notes += [
            Reason("under-floor", {"what": what, "value": value, "floor": each.floor, "column": each.column})
            for what, value in _differences(result)
            if abs(value) < each.floor
        ]
    if not notes:
        return result
    told = [each for each in notes if each.code == "agreement-floor"]
    return replace(
        result,
        notes=(*result.notes, *notes),
        criteria=tuple(_marked(each, told) for each in result.criteria),
    )


def _marked(criterion: CriterionResult, floors: Sequence[Reason]) -> CriterionResult:
    """Return a criterion that passes with a note, if its bound is on a difference that the labels cannot show."""
    if criterion.state is not State.PASS or not _differs(criterion) or not floors:
        return criterion
    highest = max(floors, key=lambda each: each.fields["floor"])
    if not abs(criterion.threshold) < float(highest.fields["floor"]):
        return criterion
    fields = {**highest.fields, "threshold": criterion.threshold}
    return replace(criterion, note=Reason("floor-above-bound", fields))


def _differs(criterion: CriterionResult) -> bool:
    return criterion.form == "max_group_gap" or criterion.scale == "difference"


def _differences(result: AnalysisResult) -> Iterator[tuple[str, float]]:
    """Tell every difference of shares in a result by its name."""
    for criterion in result.criteria:
        if _differs(criterion) and criterion.value is not None:
            yield _called(criterion.system, criterion.id), criterion.value
    for answer in result.estimates:
        if isinstance(answer, Measure) and answer.scale == "difference" and answer.value is not None:
            named = [group_name(group) for group in answer.groups if group]
            about = [str(answer.details[key]) for key in sorted(answer.details)]
            yield _called(answer.system, answer.metric, *named, *about), answer.value


def _called(*names: str) -> str:
    return " ".join(filter(None, names))


# --- what a plan needs -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Wanted:
    """A difference that a criterion asks about, and the least relabels, all perfect, that allow to claim it."""

    analysis: str
    criterion: str
    difference: float
    relabels: int


@dataclass(frozen=True, slots=True)
class RelabelNeed:
    """What a plan of self-agreement can come to: `planned` relabels leave `floor` at best; None if none are planned."""

    analysis: str
    planned: int | None
    floor: float | None
    wanted: tuple[Wanted, ...]


def needs(protocol: Protocol, name: str, plan: SelfAgreementPlan) -> RelabelNeed:
    """Return what the planned relabels of the analysis `name` leave, and what the criteria on its labels need."""
    alpha = error_rate(plan.confidence)
    rows = protocol.pools[plan.pool].planned.get(plan.table)
    planned = rows
    if rows is not None and plan.relabel is not None:
        planned = math.ceil(exact(protocol.relabel[plan.relabel].fraction) * rows)
    wanted = tuple(
        Wanted(analysis, criterion, difference, relabels_needed(difference, alpha))
        for analysis, other in protocol.analyses.items()
        if other.table == plan.table and plan.labels() & other.columns() and other is not plan
        for criterion, difference in _asked(other)
        if 0 < difference < 1
    )
    floor = None if not planned else float(agreement_floor(planned, planned, alpha))
    return RelabelNeed(name, planned, floor, wanted)


def _asked(plan: AnalysisPlan) -> Iterator[tuple[str, float]]:
    """Tell the difference that each criterion of a plan is about, where it is about one."""
    for criterion in getattr(plan, "criteria", ()):
        gap = getattr(criterion, "max_group_gap", None)
        if gap is not None:
            yield criterion.id, as_float(gap)
        elif criterion.metric in ("stratum_difference", "difference"):
            bound = criterion.min if criterion.min is not None else criterion.max
            if bound is not None:
                yield criterion.id, abs(as_float(bound))
