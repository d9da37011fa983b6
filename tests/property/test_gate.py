"""The gate against another one, written row by row from the definitions, on tables of every kind of cell."""

from collections.abc import Sequence
from itertools import combinations, product
from typing import Any

import numpy as np
from hypothesis import given, settings, strategies as st
from scipy import stats

from lacre.analyses.estimate import Estimate, Measure, Withheld
from lacre.analyses.group_fairness import analyse
from lacre.analyses.result import AnalysisResult
from lacre.protocol.columns import CategoryColumn, OutcomeColumn
from lacre.protocol.kinds.group_fairness import Criterion, GroupFairnessPlan, Metric
from lacre.protocol.kinds.parts import WorstGroup
from lacre.protocol.tables import Table
from lacre.tables.columns import Codes, Outcomes, TypedTable

A, B = ("a0", "a1"), ("b0", "b1", "b2")
METRICS: tuple[Metric, ...] = ("error", "false_positive", "false_negative", "selection")
Row = tuple[int, int, int, int]  # codes of a, b, label, prediction

CODE = st.sampled_from([0, 0, 0, 0, 1, 1, 1, 1, -1, -2])
TABLES = st.lists(
    st.tuples(CODE, st.sampled_from([0, 0, 1, 1, 2, 2, -1, -2]), CODE, CODE), min_size=1, max_size=120
)


def run(rows: Sequence[Row], rule: Criterion, min_cell: int) -> AnalysisResult:
    a, b, label, prediction = (np.array(codes, np.int32) for codes in zip(*rows, strict=True))
    columns = {
        "a": Codes(a, A),
        "b": Codes(b, B),
        "y": Outcomes(label.astype(np.int8)),
        "p": Outcomes(prediction.astype(np.int8)),
    }
    outcome = OutcomeColumn(type="outcome", positive=["1"], negative=["0"])
    declared = Table(
        key=["y"],
        columns={
            "a": CategoryColumn(type="category", values=list(A)),
            "b": CategoryColumn(type="category", values=list(B)),
            "y": outcome,
            "p": outcome,
        },
    )
    plan = GroupFairnessPlan(
        kind="group_fairness", pool="teste", table="t", label="y", prediction="p", min_cell=min_cell,
        attributes=["a", "b"], intersections=[["a", "b"]], criteria=[rule],
    )  # fmt: skip
    return analyse(plan, declared, TypedTable("t", len(rows), columns, np.empty(len(rows), object)), name="x")


def reference(rows: Sequence[Row], metric: str, group: dict[str, int]) -> tuple[int, int, int]:
    """Return events, cases without a prediction and the denominator, from the definition."""
    events = missing = cases = 0
    for a, b, label, prediction in rows:
        if any({"a": a, "b": b}[name] != value for name, value in group.items()):
            continue
        if metric != "selection" and label not in {"error": (0, 1), "false_positive": (0,)}.get(metric, (1,)):
            continue
        cases += 1
        missing += prediction < 0
        events += prediction == 1 if metric == "selection" else prediction in (0, 1) and prediction != label
    return events, missing, cases


def exact(events: int, missing: int, cases: int, groups: int) -> tuple[float, float]:
    """Return the simultaneous bounds by the beta distribution's quantiles."""
    tail, most = 0.05 / groups / 2, events + missing
    low = 0.0 if events == 0 else float(stats.beta.ppf(tail, events, cases - events + 1))
    high = 1.0 if most == cases else float(stats.beta.isf(tail, most + 1, cases - most))
    return low, high


@settings(max_examples=60, deadline=None)
@given(TABLES)
def test_estimates_are_the_definitions(rows: list[Row]) -> None:
    rule = Criterion(id="c", metric="error", by=["a"], worst_group=WorstGroup(max=1.0))
    found = {(each.metric, each.group): each for each in run(rows, rule, 1).estimates}
    families: list[tuple[int, list[dict[str, int]]]] = [
        (1, [{}]),
        (2, [{"a": i} for i in range(2)]),
        (3, [{"b": j} for j in range(3)]),
        (6, [{"a": i, "b": j} for i, j in product(range(2), range(3))]),
    ]
    for metric in METRICS:
        for size, groups in families:
            for group in groups:
                names = tuple((name, (A if name == "a" else B)[code]) for name, code in group.items())
                answer = found[metric, names]
                events, missing, cases = reference(rows, metric, group)
                assert not isinstance(answer, Withheld | Measure)
                assert answer.denominator == cases
                assert isinstance(answer, Estimate) == (cases > 0)
                if isinstance(answer, Estimate):
                    assert (answer.numerator, answer.missing) == (events, missing)
                    low, high = exact(events, missing, cases, size)
                    np.testing.assert_allclose([answer.low, answer.high], [low, high], rtol=1e-9, atol=1e-300)


@settings(max_examples=100, deadline=None)
@given(
    TABLES,
    st.sampled_from(METRICS),
    st.sampled_from([["a"], ["b"], ["a", "b"]]),
    st.sampled_from(["gap", "max", "min"]),
    st.sampled_from([0.0, 0.05, 0.3, 0.5, 0.7, 1.0]),
    st.sampled_from([1, 5, 30]),
    st.sampled_from([0.1, 0.6, 1.0]),
)
def test_verdicts_are_the_definitions(
    rows: list[Row], metric: Metric, by: list[str], form: str, limit: float, min_cell: int, left_out: float
) -> None:
    rule: dict[str, Any] = (
        {"max_group_gap": limit} if form == "gap" else {"worst_group": WorstGroup(**{form: limit})}
    )
    criterion = Criterion(id="c", metric=metric, by=by, max_left_out=left_out, **rule)
    state = run(rows, criterion, min_cell).criteria[0].state.value
    assert state == verdict(rows, metric, by, form, limit, min_cell, left_out)


def verdict(
    rows: Sequence[Row], metric: str, by: list[str], form: str, limit: float, min_cell: int, left_out: float
) -> str:
    """Decide in the registered order: review, evidence, bounds."""
    known = [row for row in rows if row[2] in (0, 1) and row[3] in (0, 1)]
    if sum(row[2] != row[3] for row in known) > len(known) / 2:
        return "MANUAL_REVIEW"
    out = sum(
        any({"a": row[0], "b": row[1]}[name] < 0 for name in by) or (metric != "selection" and row[2] < 0)
        for row in rows
    )
    if out / len(rows) > left_out:
        return "INSUFFICIENT_EVIDENCE"
    groups = [
        dict(zip(by, codes, strict=True)) for codes in product(*(range(2 if n == "a" else 3) for n in by))
    ]
    bounds: list[tuple[float, float] | None] = []
    for group in groups:
        events, missing, cases = reference(rows, metric, group)
        enough = cases - missing >= min_cell
        bounds.append(exact(events, missing, cases, len(groups)) if enough else None)
    judged = judgements(bounds, form, limit)
    if "FAIL" in judged:
        return "FAIL"
    return "PASS" if judged and set(judged) == {"PASS"} and None not in bounds else "INSUFFICIENT_EVIDENCE"


def judgements(bounds: Sequence[tuple[float, float] | None], form: str, limit: float) -> list[str]:
    """Judge each pair of groups that can be estimated, or each group."""
    usable = [each for each in bounds if each is not None]
    if form == "gap":
        spans = [
            (max(0.0, g[0] - h[1], h[0] - g[1]), max(g[1] - h[0], h[1] - g[0]))
            for g, h in combinations(usable, 2)
        ]
        return ["PASS" if high <= limit else "FAIL" if low > limit else "OPEN" for low, high in spans]
    if form == "max":
        return ["PASS" if high <= limit else "FAIL" if low > limit else "OPEN" for low, high in usable]
    return ["PASS" if low >= limit else "FAIL" if high < limit else "OPEN" for low, high in usable]
