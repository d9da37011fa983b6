"""Cases by stratum: the declared values of categories and ordinals, and the bins of numbers, as codes."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

import numpy as np

from lacre.analyses.estimate import Group
from lacre.protocol.columns import NumberColumn
from lacre.protocol.kinds.parts import stratum_values
from lacre.protocol.tables import Table
from lacre.stats.fairness import Codes as AnyCodes, Ints
from lacre.stats.proportions import Floats
from lacre.tables.columns import MISSING, UNDECLARED, Codes, Numbers, TypedTable

Coded = tuple[AnyCodes, tuple[str, ...]]
"""The code of each case, `MISSING` or `UNDECLARED` below 0, and the values in declared order."""


def coded(table: TypedTable, declared: Table, name: str) -> Coded:
    """Return the strata of one column."""
    column, values = table.columns[name], stratum_values(declared.columns[name])
    assert values is not None, "a plan names strata that have declared values"
    if isinstance(column, Codes):
        return column.codes.astype(np.int64), values
    plan = declared.columns[name]
    assert isinstance(column, Numbers)
    assert isinstance(plan, NumberColumn)
    assert plan.bins is not None
    return binned(column.values, list(plan.bins.values())), values


def binned(values: Floats, bins: Sequence[tuple[Fraction | float, Fraction | float | None]]) -> Ints:
    """Return the bin of each value: closed below, open above, the last closed above; outside is `UNDECLARED`.

    Edges are exact: 0.3333333333 is below 1/3, and so is the double next to it.
    """
    lows = np.array([_least(low) for low, _high in bins])
    at = np.searchsorted(lows, values, side="right") - 1
    last = bins[-1][1]
    codes = np.where(at < 0, UNDECLARED, at)
    if last is not None:
        codes = np.where(values > _most(last), UNDECLARED, codes)
    return np.where(np.isnan(values), MISSING, codes).astype(np.int64)


def _least(edge: Fraction | float) -> float:
    """Return the least double that is not below an edge."""
    near = float(edge)
    return float(np.nextafter(near, np.inf)) if Fraction(near) < edge else near


def _most(edge: Fraction | float) -> float:
    near = float(edge)
    return float(np.nextafter(near, -np.inf)) if Fraction(near) > edge else near


def cells(strata: Sequence[Coded], rows: int) -> Ints:
    """Return the place of each case's group among all crossings, in declared order; -1 where it is in none."""
    cell = np.zeros(rows, np.int64)
    outside = np.zeros(rows, np.bool_)
    for codes, values in strata:
        cell *= len(values)
        cell += codes
        outside |= codes < 0
    cell[outside] = -1
    return cell


def groups(names: Sequence[str], strata: Sequence[Coded]) -> tuple[Group, ...]:
    """Return every crossing, in declared order."""
    return tuple(tuple(zip(names, each, strict=True)) for each in product(*(values for _, values in strata)))
