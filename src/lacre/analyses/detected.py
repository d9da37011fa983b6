"""The cases of a share: exclusions, who is counted, what happened, strata, clusters and weights."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lacre.analyses import strata
from lacre.analyses.cases import absent, used_of
from lacre.analyses.families import check_unit, numbered
from lacre.analyses.given import Drawn, Given
from lacre.analyses.reasons import Reason
from lacre.analyses.shares import Weighted, weighted_of
from lacre.analyses.verdict import LeftOut
from lacre.protocol.kinds.detection import DetectionPlan
from lacre.protocol.kinds.parts import Event
from lacre.protocol.models import Protocol
from lacre.rules.drawing import NOT_SEALED
from lacre.stats.fairness import Ints
from lacre.stats.thresholds import matches
from lacre.tables.columns import MISSING, UNDECLARED, Numbers, Outcomes, TypedTable

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Cases:
    """The cases of one system after exclusions, those without a cluster left out.

    `event` is 1, 0, or -1 for what counts as both in the bounds; `inside` are those whose share it is. `left_out`
    counts each reason by itself, `whole` those that leave a case out of everything.
    """

    rows: int
    event: Ints
    inside: Mask
    clusters: Ints | None
    weighted: Weighted | None
    obstacle: Reason | None
    left_out: tuple[LeftOut, ...]
    whole: tuple[LeftOut, ...]
    strata: dict[str, strata.Coded]
    blank: int
    blank_units: int


def event_codes(event: Event, table: TypedTable, given: Given, system: str) -> Ints:
    """Return 1 where it happened, 0 where it did not, `MISSING` for a blank or a value nobody declared."""
    column = table.columns[event.reads]
    if event.threshold is None:
        assert isinstance(column, Outcomes)
        return np.where(column.codes == UNDECLARED, MISSING, column.codes).astype(np.int64)
    assert isinstance(column, Numbers)
    reached = matches(column.values, given.threshold(event.threshold, system), event.direction)
    return np.where(np.isnan(column.values), MISSING, reached).astype(np.int64)


def prepare(plan: DetectionPlan, given: Given, system: str, *, failure: bool) -> Cases:
    """Return the cases of `plan` as one system sees them; of a `failure` the event is that nothing was found.

    Raises `UnitRepeated` when two cases are of one unit.
    """
    declared, table = given.protocol.tables[plan.table], given.table(system, plan.table)
    used, _kept, left_out = used_of(declared, table)
    blank_units = check_unit(declared, used)
    rows, whole = used.rows, []
    if plan.weights is not None:
        silent = not_sealed(given, plan.weights.draw)
        rows, whole = rows + sum(each.count for each in silent), [*silent]
    clusters = numbered(used.columns[declared.cluster[0]]) if len(declared.cluster) == 1 else None
    if clusters is not None and (clusters < 0).any():
        whole.append(LeftOut("missing", declared.cluster[0], int((clusters < 0).sum())))
        used, clusters = used.select(clusters >= 0), clusters[clusters >= 0]
    inside = np.ones(used.rows, np.bool_)
    for name in sorted(plan.population()):
        column = used.columns[name]
        assert isinstance(column, Outcomes)
        whole += absent(name, column.codes.astype(np.int64))
        inside &= column.codes == 1
    found = event_codes(plan.event, used, given, system)
    blank = (found < 0) & inside
    if plan.event.blank == "left_out":
        whole.append(LeftOut("missing", plan.event.reads, int(blank.sum())))
        inside &= ~blank
    elif plan.event.blank == "not_detected":
        found = np.where(found < 0, 0, found)
    event = np.where(found < 0, -1, 1 - found if failure else found)
    named = dict.fromkeys([*(n for names in plan.by for n in names), *_between(plan)])
    coded = {name: strata.coded(used, declared, name) for name in named}
    weighted, obstacle = drawn_weights(plan, given.protocol, given.draws, used)
    if len(declared.cluster) > 1:
        obstacle = Reason("crossed-clusters")
    each = [one for name, (codes, _values) in coded.items() for one in absent(name, codes[inside])]
    return Cases(
        rows=rows, event=event, inside=inside, clusters=clusters, weighted=weighted, obstacle=obstacle,
        left_out=tuple(one for one in (*left_out, *whole, *each) if one.count),
        whole=tuple(one for one in whole if one.count),
        strata=coded, blank=int(blank.sum()), blank_units=blank_units,
    )  # fmt: skip


def not_sealed(given: Given, draw: str) -> list[LeftOut]:
    """Count the cases that were drawn and never sealed: nonresponse, of which nothing at all is known.

    They are left out of every stratum alike, since which they would be in is known of none of them.
    """
    made = given.draws.get(draw)
    return [LeftOut(NOT_SEALED, draw, made.absent)] if made is not None and made.absent else []


def _between(plan: DetectionPlan) -> list[str]:
    return [name for rule in plan.rules for stratum in rule.between or () for name in stratum]


def drawn_weights(
    plan: DetectionPlan, protocol: Protocol, draws: Mapping[str, Drawn], table: TypedTable
) -> tuple[Weighted | None, Reason | None]:
    """Return the weights of the cases of `table`, or why there are none; neither where `plan` declares none."""
    if plan.weights is None:
        return None, None
    declared = protocol.tables[plan.table]
    column = table.columns[plan.weights.column]
    assert isinstance(column, Numbers)
    codes, values = strata.coded(table, declared, protocol.sampling[plan.weights.draw].strata)
    holds = "weight" if "weight" in declared.columns[plan.weights.column].is_ else "probability"
    drawn = draws.get(plan.weights.draw)
    found = weighted_of(column.values, holds, codes.astype(np.int64), values, drawn, plan.weights.draw)
    return (found, None) if isinstance(found, Weighted) else (None, found)
