"""The cases of human-vs-judge agreement: labels and scores as bins, and which cases have both."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from lacre.analyses import strata
from lacre.analyses.cases import absent, outside, used_of
from lacre.analyses.estimate import Group
from lacre.analyses.families import check_unit, exact, numbered
from lacre.analyses.given import Given
from lacre.analyses.verdict import LeftOut
from lacre.errors import OutsideBins
from lacre.protocol.bins import ValueBin
from lacre.protocol.kinds.judge_agreement import Costs, Dimension, JudgeAgreementPlan, labels_of
from lacre.protocol.models import Protocol
from lacre.stats.agreement import Ints
from lacre.stats.proportions import Floats
from lacre.tables.columns import MISSING, UNDECLARED, Codes, Numbers, Outcomes, TypedTable

NEAR = 1e-6
"""A value that differs from an edge by no more than this is told: it may have been meant to lie on it."""

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Side:
    """One column: the bin of each case, `MISSING` where it is blank, and how many values lie `near` an edge."""

    column: str
    codes: Ints
    near: int


@dataclass(frozen=True, eq=False)
class Judged:
    """One dimension: labels and scores of every case, and which cases are `kept`: have both, and their place.

    `left_out` counts each of the others under its first reason.
    """

    name: str
    bins: tuple[str, ...]
    human: Side
    judge: Side
    kept: Mask
    left_out: tuple[LeftOut, ...]


@dataclass(frozen=True, eq=False)
class Family:
    """The groups of some columns and the place of each case among them, -1 where it has none; or everybody."""

    names: tuple[str, ...]
    groups: tuple[Group, ...]
    cell: Ints
    left_out: tuple[LeftOut, ...]


@dataclass(frozen=True, eq=False)
class Cases:
    """What an analysis reads: its `rows` after the exclusions, and of each its cluster and stratum, if declared."""

    rows: int
    dimensions: tuple[Judged, ...]
    families: tuple[Family, ...]
    cluster: Ints | None
    stratum: Ints | None
    excluded: tuple[LeftOut, ...]


def prepare(plan: JudgeAgreementPlan, given: Given, system: str) -> Cases:
    """Return the cases of `plan`. Raises `OutsideBins`, and `UnitRepeated` where two rows are of one unit."""
    declared = given.protocol.tables[plan.table]
    table = given.table(system, plan.table)
    used, _kept, excluded = used_of(declared, table)
    check_unit(declared, used)
    cluster = stratum = None
    places: list[tuple[str, Ints]] = []
    if len(declared.cluster) == 1:
        cluster = numbered(used.columns[declared.cluster[0]])
        places.append((declared.cluster[0], cluster))
    if plan.strata is not None:
        stratum = strata.coded(used, declared, plan.strata)[0].astype(np.int64)
        places.append((plan.strata, stratum))
    return Cases(
        rows=used.rows,
        dimensions=tuple(
            _judged(name, dimension, plan, given.protocol, used, places)
            for name, dimension in plan.dimensions.items()
        ),
        families=tuple(_family(names, plan, given.protocol, used) for names in ((), *plan.diagnostics_by)),
        cluster=cluster,
        stratum=stratum,
        excluded=excluded,
    )


def check_bins(protocol: Protocol, name: str, table: TypedTable) -> None:
    """Refuse a table that has labels or scores outside the frozen bins of an analysis, before anything is spent on it.

    Only the columns that it holds are looked at. Raises `OutsideBins`.
    """
    for plan in protocol.analyses.values():
        if not isinstance(plan, JudgeAgreementPlan) or plan.table != name:
            continue
        for dimension, each in plan.dimensions.items():
            for column, bins in zip((each.human, each.judge), plan.bins_of(each), strict=True):
                if column in table.columns:
                    _within(_side(column, bins, name, protocol, table), name, dimension)


def costs_of(plan: JudgeAgreementPlan, bins: int) -> list[list[Fraction]]:
    """Return what each disagreement counts, as exact numbers."""
    if isinstance(plan.weights, Costs):
        return [[exact(cost) for cost in row] for row in plan.weights.costs]
    power = {"none": 0, "linear": 1, "quadratic": 2}[plan.weights]
    places = range(bins)
    return [
        [Fraction(abs(row - column) ** power if row != column else 0) for column in places] for row in places
    ]


def _judged(
    name: str,
    dimension: Dimension,
    plan: JudgeAgreementPlan,
    protocol: Protocol,
    table: TypedTable,
    places: Sequence[tuple[str, Ints]],
) -> Judged:
    bins = plan.bins_of(dimension)
    human, judge = (
        _side(each, named, plan.table, protocol, table)
        for each, named in zip((dimension.human, dimension.judge), bins, strict=True)
    )
    kept = np.ones(table.rows, np.bool_)
    left_out: list[LeftOut] = []
    for side in (human, judge):
        _within(side, plan.table, name)
    for column, codes in ((human.column, human.codes), (judge.column, judge.codes), *places):
        left_out += [each for each in absent(column, codes[kept]) if each.count]
        kept &= codes >= 0
    return Judged(name, labels_of(plan, dimension, protocol), human, judge, kept, tuple(left_out))


def _within(side: Side, table: str, dimension: str) -> None:
    outside = int((side.codes == UNDECLARED).sum())
    if outside:
        raise OutsideBins(table=table, column=side.column, dimension=dimension, count=outside)


def _side(name: str, bins: str | None, held: str, protocol: Protocol, table: TypedTable) -> Side:
    """Return one column's cases as the places of its bins."""
    declared, column = protocol.tables[held], table.columns[name]
    if isinstance(column, Outcomes):
        return Side(name, column.codes.astype(np.int64), 0)
    known = None if bins is None else protocol.bins[bins]
    if isinstance(known, list):
        assert isinstance(column, Codes)
        return Side(name, _of_values(column, known), 0)
    if known is None:
        known = getattr(declared.columns[name], "bins", None)
    if known is None:
        return Side(name, strata.coded(table, declared, name)[0].astype(np.int64), 0)
    assert isinstance(column, Numbers)
    edges = list(known.values())
    inner = {edge for each in edges for edge in each if edge is not None}
    return Side(name, strata.binned(column.values, edges), near_edges(column.values, inner))


def _of_values(column: Codes, bins: Sequence[ValueBin]) -> Ints:
    """Return the bin of each declared value; the codes below 0 stay."""
    place = {value: index for index, each in enumerate(bins) for value in each.values}
    known = np.array([*(place[value] for value in column.values), UNDECLARED, MISSING], np.int64)
    return np.asarray(known[column.codes])


def near_edges(values: Floats, edges: set[Fraction | float]) -> int:
    """Count the values that lie within `NEAR` of an edge, and not on it.

    On an edge lies what is exactly the edge: no double is exactly 1/3, so the nearest one is counted.
    """
    near = np.zeros(len(values), np.bool_)
    for edge in edges:
        there = float(edge)
        close = np.abs(values - there) <= NEAR
        if Fraction(there) == edge:
            close &= values != there
        near |= close
    return int(near.sum())


def _family(names: Sequence[str], plan: JudgeAgreementPlan, protocol: Protocol, table: TypedTable) -> Family:
    declared = protocol.tables[plan.table]
    coded = [strata.coded(table, declared, name) for name in names]
    return Family(
        names=tuple(names),
        groups=strata.groups(names, coded),
        cell=strata.cells(coded, table.rows),
        left_out=tuple(outside(names, coded)),
    )
