"""Rates by group against fairlearn and scikit-learn; calibration against its definition, bin by bin."""

import math
import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from fairlearn.metrics import MetricFrame, false_negative_rate, false_positive_rate, selection_rate
from sklearn.metrics import confusion_matrix, zero_one_loss

from lacre.stats.fairness import (
    RATES,
    count,
    declared_cells,
    expected_calibration_error,
    rate_counts,
)

METRICS: dict[str, Any] = {
    "error": zero_one_loss,
    "false_positive": false_positive_rate,
    "false_negative": false_negative_rate,
    "selection": selection_rate,
}
Ints = npt.NDArray[np.int64]


def sample(rows: int, seed: int) -> tuple[Ints, Ints, Ints, Ints]:
    rng = np.random.default_rng(seed)
    one, other = rng.integers(0, 4, rows), rng.integers(0, 3, rows)
    label = (rng.random(rows) < 0.2 + 0.1 * one).astype(np.int64)
    wrong = rng.random(rows) < 0.1 + 0.05 * other
    return one, other, label, np.where(wrong, 1 - label, label)


@pytest.mark.parametrize("rate", RATES)
def test_rates_are_those_of_fairlearn(rate: str) -> None:
    one, other, label, prediction = sample(4000, 1)
    frame = MetricFrame(
        metrics=METRICS[rate],
        y_true=label,
        y_pred=prediction,
        sensitive_features={"one": one, "other": other},
    )
    cells = declared_cells(count([(one, 4), (other, 3)], label, prediction))
    found = rate_counts(cells, rate)
    theirs = np.array([frame.by_group[i, j] for i in range(4) for j in range(3)])
    np.testing.assert_allclose(found.events / found.cases, theirs, rtol=1e-12)


def test_counts_are_those_of_scikit_learn() -> None:
    one, _other, label, prediction = sample(3000, 2)
    cells = declared_cells(count([(one, 4)], label, prediction))
    for group in range(4):
        tn, fp, fn, tp = confusion_matrix(label[one == group], prediction[one == group]).ravel()
        positive, negative = rate_counts(cells, "false_positive"), rate_counts(cells, "false_negative")
        assert (positive.events[group], positive.cases[group]) == (fp, fp + tn)
        assert (negative.events[group], negative.cases[group]) == (fn, fn + tp)


def test_a_group_without_positives_is_where_we_part() -> None:
    """fairlearn answers FNR 0.0 for it; here the denominator is 0, and nothing is estimated."""
    label, prediction, group = np.array([1, 0, 0]), np.array([1, 0, 0]), np.array([0, 1, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        frame = MetricFrame(
            metrics=false_negative_rate, y_true=label, y_pred=prediction, sensitive_features=group
        )
    assert frame.by_group[1] == 0.0
    found = rate_counts(declared_cells(count([(group, 2)], label, prediction)), "false_negative")
    assert found.cases.tolist() == [1, 0]


@pytest.mark.parametrize("bins", [1, 2, 10, 15])
def test_calibration_is_the_definition(bins: int) -> None:
    """Sum over bins of (cases / n) |share of positives - mean probability|, in plain Python."""
    rng = np.random.default_rng(bins)
    p = np.concatenate([rng.random(500), np.arange(bins + 1) / bins, [0.0, 1.0]])
    y = (rng.random(len(p)) < 0.8 * p).astype(np.int64)
    members: dict[int, list[int]] = {}
    for place, value in enumerate(p):
        members.setdefault(min(math.floor(value * bins + 1e-12), bins - 1), []).append(place)
    expected = sum(
        len(at) / len(p) * abs(sum(y[i] for i in at) / len(at) - sum(p[i] for i in at) / len(at))
        for at in members.values()
    )
    assert expected_calibration_error(p, y, bins).error[0] == pytest.approx(expected, rel=1e-9)
