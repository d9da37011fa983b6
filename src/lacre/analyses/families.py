"""Cases told apart: a table's rows as codes, and their counts and bounds by family of groups.

A family is an attribute, a declared intersection of attributes, or nobody's at all: everybody. Its K groups
are what the protocol declares, observed or not.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from lacre.analyses import strata
from lacre.analyses.cases import used_of
from lacre.analyses.estimate import Group
from lacre.analyses.verdict import LeftOut
from lacre.errors import UnitRepeated
from lacre.protocol.grammar import exact
from lacre.protocol.kinds.group_fairness import GroupFairnessPlan
from lacre.protocol.tables import Table
from lacre.stats import fairness
from lacre.stats.clusters import MIN_CLUSTERS, clustered_bounds
from lacre.stats.fairness import Codes, RateCounts, rate_counts, simultaneous_bounds
from lacre.stats.proportions import Floats, Interval
from lacre.tables.columns import (
    MISSING,
    UNDECLARED,
    Codes as CodedColumn,
    Digests,
    Numbers,
    Outcomes,
    Texts,
    TypedColumn,
    TypedTable,
)

Ints = fairness.Ints


@dataclass(frozen=True, eq=False)
class Cases:
    """The rows an analysis reads, after the registered exclusions.

    `label`, `prediction` and each attribute's codes are arrays over the `rows`; `clusters` are integer codes,
    None where no cluster is declared. `obstacle` is the code of a reason why no interval can be given at all.
    """

    rows: int
    label: Codes
    prediction: Codes
    probability: Floats | None
    attributes: Mapping[str, tuple[Codes, tuple[str, ...]]]
    clusters: Ints | None
    obstacle: str | None
    excluded: tuple[LeftOut, ...]
    unclustered: tuple[LeftOut, ...]
    blank_units: int
    undeclared_predictions: int

    @property
    def kept(self) -> int:
        """Rows that are not left out for want of a cluster; the arrays hold these alone."""
        return len(self.label)


@dataclass(frozen=True, eq=False)
class Family:
    """The counts and bounds of the groups of some attributes; arrays over the K groups, in declared order.

    `bounds` are nan where a rate cannot be estimated, `clusters` counts them per rate where declared, and `sizes` are
    the cases that a rate is worth then. `values` are the rates where they are not the shares of the counts, as under
    weights; `obstacle_fields` are what the reason why nothing can be estimated tells.
    """

    attributes: tuple[str, ...]
    groups: tuple[Group, ...]
    counted: Ints
    counts: Mapping[str, RateCounts]
    bounds: Mapping[str, Interval]
    clusters: Mapping[str, Ints] | None
    obstacle: str | None
    sizes: Mapping[str, Floats] | None = field(default=None, kw_only=True)
    values: Mapping[str, Floats] | None = None
    obstacle_fields: Mapping[str, Any] = field(default_factory=dict, kw_only=True)

    def value(self, rate: str) -> Floats:
        """Return a rate of each group: events among cases, or what weights make of it; nan without cases."""
        if self.values is not None:
            return self.values[rate]
        with np.errstate(invalid="ignore"):
            return np.asarray(self.counts[rate].events / self.counts[rate].cases)

    def not_estimable(self, rate: str, index: int) -> str | None:
        """Return the code of the reason why a group's rate has no bounds, None where it has."""
        if self.counts[rate].cases[index] == 0:
            return "no-cases"
        if self.obstacle is not None:
            return self.obstacle
        if self.clusters is not None and self.clusters[rate][index] < MIN_CLUSTERS:
            return "too-few-clusters"
        return None

    def left_out(self, rate: str, plan: GroupFairnessPlan) -> tuple[LeftOut, ...]:
        """Count the cases that a rate of this family leaves out, each under its first reason.

        The order is that of the attributes, then the label (which `selection` does not read). A case without
        a prediction is not left out.
        """
        rest, found = self.counted, []
        for attribute in self.attributes:
            found += _blank(rest, attribute)
            rest = rest[fairness.DECLARED :].sum(axis=0)
        if rate != "selection":
            found += _blank(rest, plan.label)
        return tuple(each for each in found if each.count)


def _blank(counted: Ints, column: str) -> list[LeftOut]:
    """Count what is missing or undeclared on the first axis."""
    places = (("missing", fairness.MISSING), ("undeclared", fairness.UNDECLARED))
    return [LeftOut(name, column, int(counted[place].sum())) for name, place in places]


def prepare(plan: GroupFairnessPlan, declared: Table, table: TypedTable) -> Cases:
    """Return the cases that `plan` reads of `table`, which has its submission joined and is as `declared`.

    Raises `UnitRepeated` when two rows that stay are of one unit.
    """
    used, _kept, excluded = used_of(declared, table)
    blank_units = check_unit(declared, used)
    rows, clusters = used.rows, None
    unclustered: tuple[LeftOut, ...] = ()
    if len(declared.cluster) == 1:
        clusters = numbered(used.columns[declared.cluster[0]])
        if (clusters < 0).any():
            unclustered = (LeftOut("missing", declared.cluster[0], int((clusters < 0).sum())),)
            used, clusters = used.select(clusters >= 0), clusters[clusters >= 0]
    # Whoever submits writes this column: a value nobody declared must not take a case out of its group.
    prediction = _outcome(used, plan.prediction)
    undeclared = prediction == UNDECLARED
    return Cases(
        rows=rows,
        label=_outcome(used, plan.label),
        prediction=np.where(undeclared, MISSING, prediction),
        probability=None if plan.probability is None else _numbers(used, plan.probability),
        attributes={name: _coded(used, name) for name in plan.attributes},
        clusters=clusters,
        obstacle=_obstacle(declared),
        excluded=excluded,
        unclustered=unclustered,
        blank_units=blank_units,
        undeclared_predictions=int(undeclared.sum()),
    )


def check_unit(declared: Table, used: TypedTable) -> int:
    """Refuse rows, of those that stay after the exclusions, that repeat a unit; return how many have none.

    Raises `UnitRepeated`. It needs no prediction, so it can be asked before a read is spent.
    """
    if declared.unit is None:
        return 0
    column = used.columns[declared.unit]
    numbers = numbered(column)
    there = numbers[numbers >= 0]
    count = len(there) - len(np.unique(there))
    if count:
        raise UnitRepeated(table=used.name, unit=declared.unit, count=count)
    return int(column.missing.sum())


def _obstacle(declared: Table) -> str | None:
    """Return why a declared design is one that these intervals do not hold for."""
    roles = {role for column in declared.columns.values() for role in column.is_}
    if roles & {"inclusion_probability", "weight"}:
        return "weighted-sample"
    return "crossed-clusters" if len(declared.cluster) > 1 else None


def numbered(column: TypedColumn) -> Ints:
    """Return a number for each distinct value of a column that names things; below 0 where there is none."""
    if isinstance(column, CodedColumn):
        return column.codes.astype(np.int64)
    assert isinstance(column, Texts | Digests)
    known: dict[str | None, int] = {None: -1}
    numbers = (known.setdefault(value, len(known)) for value in column.values)
    return np.fromiter(numbers, np.int64, len(column.values))


def _outcome(table: TypedTable, name: str) -> Codes:
    column = table.columns[name]
    assert isinstance(column, Outcomes)
    return column.codes


def _coded(table: TypedTable, name: str) -> tuple[Codes, tuple[str, ...]]:
    column = table.columns[name]
    assert isinstance(column, CodedColumn)
    return column.codes, column.values


def _numbers(table: TypedTable, name: str) -> Floats:
    column = table.columns[name]
    assert isinstance(column, Numbers)
    return column.values


def error_rate(confidence: Fraction | float, share: Fraction = Fraction(1)) -> float:
    """Return a `share` of 1 - `confidence`, from the decimals as written (0.95 leaves exactly 0.05)."""
    return float((1 - exact(confidence)) * share)


def family(cases: Cases, attributes: Sequence[str], alpha: float) -> Family:
    """Count and bound the groups of `attributes` (none: everybody), at `alpha` divided by their number."""
    coded = [cases.attributes[name] for name in attributes]
    sizes = [(codes, len(values)) for codes, values in coded]
    counted = fairness.count(sizes, cases.label, cases.prediction)
    cells = fairness.declared_cells(counted)
    counts = {rate: rate_counts(cells, rate) for rate in fairness.RATES}
    groups = strata.groups(attributes, coded)
    clusters, worth = None, None
    if cases.obstacle is not None:
        nothing = np.full(len(groups), np.nan)
        bounds = dict.fromkeys(fairness.RATES, Interval(nothing, nothing))
    elif cases.clusters is not None:
        cell = cell_of(cases, attributes)
        bounds, clusters, worth = _clustered(cases, cell, alpha / len(groups), len(groups))
    else:
        bounds = {rate: simultaneous_bounds(counts[rate], alpha, len(groups)) for rate in fairness.RATES}
    return Family(tuple(attributes), groups, counted, counts, bounds, clusters, cases.obstacle, sizes=worth)


def cell_of(cases: Cases, attributes: Sequence[str]) -> Ints:
    """Return the place of each case's group in the declared order; -1 where it is in none."""
    return strata.cells([cases.attributes[name] for name in attributes], cases.kept)


def _clustered(
    cases: Cases, cell: Ints, alpha: float, groups: int
) -> tuple[dict[str, Interval], dict[str, Ints], dict[str, Floats]]:
    assert cases.clusters is not None
    bounds, clusters, sizes = {}, {}, {}
    for rate in fairness.RATES:
        read = fairness.read_cases(cases.label, cases.prediction, rate)
        at = np.flatnonzero(read.inside & (cell >= 0))
        bounds[rate], found = clustered_bounds(
            read.event[at], read.missing[at], cases.clusters[at], alpha, cell[at], groups
        )
        clusters[rate], sizes[rate] = found.clusters, found.size
    return bounds, clusters, sizes
