"""How fast the gate is beside fairlearn, on the same rows in the same run.

A million rows, an attribute of ten values crossed with one of three, four rates; the rows are read already.
"""

from importlib.metadata import version
from time import perf_counter

import numpy as np
from fairlearn.metrics import MetricFrame, false_negative_rate, false_positive_rate, selection_rate
from sklearn.metrics import zero_one_loss
from tests.bench.measured import Measured

from lacre.analyses.group_fairness import analyse
from lacre.protocol.columns import CategoryColumn, Column, OutcomeColumn
from lacre.protocol.kinds.group_fairness import Criterion, GroupFairnessPlan
from lacre.protocol.tables import Table
from lacre.tables.columns import Codes, Outcomes, TypedTable

BAR = 20
ATTRIBUTES = {"region": tuple(f"r{i}" for i in range(10)), "age": ("young", "middle", "old")}


def run(rows: int = 1_000_000, seed: int = 20260902) -> Measured:
    """Time both on `rows` cases, once: the peer takes its time."""
    rng = np.random.default_rng(seed)
    label = (rng.random(rows) < 0.4).astype(np.int8)
    prediction = np.where(rng.random(rows) < 0.1, 1 - label, label).astype(np.int8)
    groups = {name: rng.integers(0, len(values), rows, np.int32) for name, values in ATTRIBUTES.items()}
    table = TypedTable(
        "cases",
        rows,
        {
            "label": Outcomes(label),
            "prediction": Outcomes(prediction),
            **{name: Codes(codes, ATTRIBUTES[name]) for name, codes in groups.items()},
        },
        np.empty(rows, object),
    )
    plan, declared = _plan(), _declared()

    started = perf_counter()
    result = analyse(plan, declared, table, name="gate")
    ours = perf_counter() - started

    started = perf_counter()
    frame = MetricFrame(
        metrics={
            "error": zero_one_loss,
            "false_positive": false_positive_rate,
            "false_negative": false_negative_rate,
            "selection": selection_rate,
        },
        y_true=label,
        y_pred=prediction,
        sensitive_features=groups,
    )
    theirs = perf_counter() - started

    value = {(each.metric, each.group): each for each in result.estimates}
    first = value["error", (("region", "r0"), ("age", "young"))].as_json()["value"]
    assert abs(first - frame.by_group.loc[(0, 0), "error"]) < 1e-12
    return Measured(
        f"gate on {rows:,} rows, 10 × 3 groups", "rows/s", rows / ours,
        f"fairlearn {version('fairlearn')}: MetricFrame", rows / theirs, theirs / ours, BAR,
    )  # fmt: skip


def _plan() -> GroupFairnessPlan:
    rule = Criterion(id="gap", metric="false_negative", by=list(ATTRIBUTES), max_group_gap=0.1)
    return GroupFairnessPlan(
        kind="group_fairness", pool="teste", table="cases", label="label", prediction="prediction",
        attributes=list(ATTRIBUTES), intersections=[list(ATTRIBUTES)], criteria=[rule],
    )  # fmt: skip


def _declared() -> Table:
    outcome = OutcomeColumn(type="outcome", positive=["1"], negative=["0"])
    columns: dict[str, Column] = {"label": outcome, "prediction": outcome}
    for name, values in ATTRIBUTES.items():
        columns[name] = CategoryColumn(type="category", values=list(values))
    return Table(key=["label"], columns=columns)
