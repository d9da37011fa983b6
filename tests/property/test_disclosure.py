"""From everything a result prints, no withheld denominator can be derived: decided by rank, over the cases.

The check is of another make than the code: unknowns are the joint cells of all attributes and labels, and
what is known are the counts printed, as rows of a matrix over them. A denominator is derivable if and only if
its row is a combination of these, that is, adding it leaves the rank as it was.
"""

from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import given, settings, strategies as st

from lacre.analyses.disclosure import withhold
from lacre.analyses.estimate import Measure, Withheld
from lacre.analyses.group_fairness import analyse
from lacre.analyses.result import AnalysisResult
from lacre.protocol.columns import CategoryColumn, OutcomeColumn
from lacre.protocol.kinds.group_fairness import Criterion, GroupFairnessPlan
from lacre.protocol.kinds.parts import WorstGroup
from lacre.protocol.tables import Table
from lacre.tables.columns import Codes, Outcomes, TypedColumn, TypedTable

Matrix = npt.NDArray[np.float64]
NAMES = ("a", "b", "c")


@st.composite
def designs(draw: st.DrawFn) -> tuple[tuple[int, ...], list[list[str]], list[int], int]:
    """Draw the sizes of two or three attributes, crossed families, cases per joint cell, and a limit."""
    sizes = tuple(draw(st.lists(st.integers(1, 3), min_size=2, max_size=3)))
    names = NAMES[: len(sizes)]
    pairs = [list(pair) for pair in (("a", "b"), ("b", "c"), ("a", "c")) if set(pair) <= set(names)]
    crossed = draw(st.lists(st.sampled_from([*pairs, list(names)]), unique_by=tuple, max_size=3))
    crossed = [each for i, each in enumerate(crossed) if each not in crossed[:i]]
    cells = int(np.prod(sizes)) * 2
    counts = draw(st.lists(st.sampled_from([0, 0, 1, 2, 4, 5, 6, 9, 30]), min_size=cells, max_size=cells))
    return sizes, crossed, counts, draw(st.sampled_from([2, 5, 8]))


def run(sizes: tuple[int, ...], crossed: list[list[str]], counts: list[int]) -> AnalysisResult:
    names = NAMES[: len(sizes)]
    joint = list(product(*(range(size) for size in sizes), (0, 1)))
    rows = np.repeat(np.array(joint, np.int32), counts, axis=0)
    values = {name: tuple(f"{name}{i}" for i in range(size)) for name, size in zip(names, sizes, strict=True)}
    columns: dict[str, TypedColumn] = {
        name: Codes(rows[:, place].copy(), values[name]) for place, name in enumerate(names)
    }
    columns["y"] = Outcomes(rows[:, -1].astype(np.int8))
    columns["p"] = Outcomes((np.arange(len(rows)) % 2).astype(np.int8))
    outcome = OutcomeColumn(type="outcome", positive=["1"], negative=["0"])
    declared: dict[str, Any] = {
        name: CategoryColumn(type="category", values=list(values[name])) for name in names
    }
    table = Table(key=["y"], columns={**declared, "y": outcome, "p": outcome})
    rule = Criterion(id="c", metric="error", by=["a"], worst_group=WorstGroup(max=1.0))
    plan = GroupFairnessPlan(
        kind="group_fairness", pool="teste", table="t", label="y", prediction="p", min_cell=1,
        attributes=list(names), intersections=crossed, criteria=[rule],
    )  # fmt: skip
    keys = np.array([str(i) for i in range(len(rows))], object)
    return analyse(plan, table, TypedTable("t", len(rows), columns, keys), name="x")


def indicator(sizes: tuple[int, ...], group: dict[str, str], labels: tuple[int, ...]) -> Matrix:
    """Return which joint cells a group with some labels is made of."""
    names = NAMES[: len(sizes)]
    joint = product(*(range(size) for size in sizes), (0, 1))
    wanted = {name: int(value[1:]) for name, value in group.items()}
    return np.array(
        [
            float(cell[-1] in labels and all(cell[names.index(name)] == i for name, i in wanted.items()))
            for cell in joint
        ]
    )


LABELS = {"error": (0, 1), "selection": (0, 1), "false_positive": (0,), "false_negative": (1,)}


@settings(max_examples=150, deadline=None)
@given(designs())
def test_no_withheld_denominator_can_be_derived(
    design: tuple[tuple[int, ...], list[list[str]], list[int], int],
) -> None:
    sizes, crossed, counts, least = design
    before = run(sizes, crossed, counts)
    after = withhold(before, least)
    if sum(counts) < least:
        assert all(isinstance(each, Withheld) for each in after.estimates)
        return
    everything: dict[str, str] = {}
    known = [indicator(sizes, everything, (0, 1))]
    for each in after.estimates:
        if not isinstance(each, Withheld | Measure):
            assert each.denominator >= least
            known.append(indicator(sizes, dict(each.group), LABELS[each.metric]))
    for criterion in after.criteria:
        shown = [line for line in criterion.lines if line.denominator is not None]
        known += [indicator(sizes, dict(line.group), LABELS[criterion.metric]) for line in shown]
    matrix = np.array(known)
    rank = np.linalg.matrix_rank(matrix)
    for each in after.estimates:
        row = indicator(sizes, dict(each.group), LABELS[each.metric])
        # The number of all rows is no secret: the ledger itself says it.
        if isinstance(each, Withheld) and not row.all():
            assert np.linalg.matrix_rank(np.vstack([matrix, row])) > rank


@settings(max_examples=100, deadline=None)
@given(designs())
def test_verdicts_are_not_moved(design: tuple[tuple[int, ...], list[list[str]], list[int], int]) -> None:
    sizes, crossed, counts, least = design
    before = run(sizes, crossed, counts)
    after = withhold(before, least)
    assert after.state is before.state
    assert [each.state for each in after.criteria] == [each.state for each in before.criteria]
    for one, other in zip(before.criteria, after.criteria, strict=True):
        assert [line.state for line in one.lines] == [line.state for line in other.lines]
    # What is small is withheld, without exception.
    for plain, shown in zip(before.estimates, after.estimates, strict=True):
        assert not isinstance(plain, Withheld | Measure)
        assert plain.denominator >= least or isinstance(shown, Withheld)
