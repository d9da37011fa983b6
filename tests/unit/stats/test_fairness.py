"""Counts, rates, simultaneous bounds, gaps and calibration by group."""

import itertools

import numpy as np
import pytest

from lacre.stats import fairness
from lacre.stats.fairness import (
    RateCounts,
    count,
    declared_cells,
    expected_calibration_error,
    gap_between,
    largest_gap,
    rate_counts,
    simultaneous_bounds,
)


def counts(events: list[int], cases: list[int], missing: list[int] | None = None) -> RateCounts:
    return RateCounts(np.array(events), np.array(missing or [0] * len(cases)), np.array(cases))


def test_compas_false_positives() -> None:
    """805/1795 against 349/1488 at K = 2, and the gap's bounds."""
    low, high = simultaneous_bounds(counts([805, 349], [1795, 1488]), 0.05, 2)
    assert low == pytest.approx([0.422008, 0.210276], abs=5e-7)
    assert high == pytest.approx([0.475142, 0.260147], abs=5e-7)
    assert gap_between(low[0], high[0], low[1], high[1]) == pytest.approx((0.161861, 0.264866), abs=1e-6)
    assert largest_gap(low, high) == pytest.approx((0.161861, 0.264866), abs=1e-6)


def test_admissions() -> None:
    """1198/2691 against 557/1835: the gap lies in .095362-.187281."""
    low, high = simultaneous_bounds(counts([1198, 557], [2691, 1835]), 0.05, 2)
    assert largest_gap(low, high) == pytest.approx((0.095362, 0.187281), abs=5e-7)


def test_missing_predictions_are_either() -> None:
    """10/200 with 8 missing predictions, K = 2: .021649-.145840."""
    low, high = simultaneous_bounds(counts([10], [200], [8]), 0.05, 2)
    assert (low[0], high[0]) == pytest.approx((0.021649, 0.145840), abs=5e-7)


def test_undecided_gap() -> None:
    """10/200 against 18/200: 0-.124191, which decides nothing at .05."""
    low, high = simultaneous_bounds(counts([10, 18], [200, 200]), 0.05, 2)
    assert largest_gap(low, high) == pytest.approx((0, 0.124191), abs=5e-7)


def test_declared_groups_divide_alpha_observed_or_not() -> None:
    """A third declared group, empty, widens the others: K is what was declared."""
    two = simultaneous_bounds(counts([10, 18], [200, 200]), 0.05, 2)
    three = simultaneous_bounds(counts([10, 18, 0], [200, 200, 0]), 0.05, 3)
    assert (three.low[:2] < two.low).all()
    assert (three.high[:2] > two.high).all()
    assert np.isnan(three.low[2])
    assert np.isnan(three.high[2])


def test_largest_gap_is_that_of_all_pairs() -> None:
    """Against the definition, pair by pair, with ties and at several widths at once."""
    rng = np.random.default_rng(11)
    low = np.round(rng.random((300, 5)), 1)
    high = np.minimum(1, low + np.round(rng.random((300, 5)), 1))
    found = largest_gap(low, high)
    for row in range(300):
        pairs = [
            gap_between(low[row, g], high[row, g], low[row, h], high[row, h])
            for g, h in itertools.combinations(range(5), 2)
        ]
        assert found.low[row] == pytest.approx(max(pair.low for pair in pairs))
        assert found.high[row] == pytest.approx(max(pair.high for pair in pairs))


def test_one_group_has_no_gap() -> None:
    assert np.isnan(largest_gap(np.array([0.1]), np.array([0.2]))).all()


def test_every_code_is_counted_where_it_belongs() -> None:
    """One case of each combination: the count is one everywhere, declared or not."""
    codes = list(itertools.product((-2, -1, 0, 1, 2), (-2, -1, 0, 1), (-2, -1, 0, 1)))
    group, label, prediction = (np.array(c, np.int8) for c in zip(*codes, strict=True))
    counted = count([(group, 3)], label, prediction)
    assert counted.shape == (5, 4, 4)
    assert (counted == 1).all()
    cells = declared_cells(counted)
    assert cells.shape == (3, 4, 4)
    # Of a cell's 16 cases: label 0 or 1 and a prediction that is not undeclared make 6, two wrong.
    error = rate_counts(cells, "error")
    assert (error.events == 2).all()
    assert (error.missing == 2).all()
    assert (error.cases == 6).all()
    assert (error.predicted == 4).all()
    for rate in ("false_positive", "false_negative"):
        found = rate_counts(cells, rate)
        assert (found.events == 1).all()
        assert (found.missing == 1).all()
        assert (found.cases == 3).all()
    selection = rate_counts(cells, "selection")
    assert (selection.events == 4).all()
    assert (selection.missing == 4).all()
    assert (selection.cases == 12).all()


def test_rates_by_hand() -> None:
    """Six cases: label 1,1,1,0,0,0 predicted 0,1,1,1,0,0: FN 1/3, FP 1/3, error 2/6, selected 3/6."""
    label = np.array([1, 1, 1, 0, 0, 0], np.int8)
    prediction = np.array([0, 1, 1, 1, 0, 0], np.int8)
    cells = declared_cells(count([], label, prediction))
    found = {rate: rate_counts(cells, rate) for rate in fairness.RATES}
    assert {rate: (int(c.events[0]), int(c.cases[0])) for rate, c in found.items()} == {
        "error": (2, 6),
        "false_positive": (1, 3),
        "false_negative": (1, 3),
        "selection": (3, 6),
    }


def test_crossed_cells_follow_the_declared_order() -> None:
    sex = np.array([0, 0, 1, 1, 1], np.int32)
    age = np.array([0, 2, 1, 1, -1], np.int32)
    label = np.zeros(5, np.int8)
    cells = declared_cells(count([(sex, 2), (age, 3)], label, label))
    assert rate_counts(cells, "error").cases.tolist() == [1, 0, 1, 0, 2, 0]


@pytest.mark.parametrize(
    ("p", "y", "expected"),
    [
        ([0.25, 0.25, 0.55, 0.75, 0.75], [0, 0, 1, 1, 1], 0.29),
        ([0, 1, 0, 1], [0, 1, 1, 1], 0.25),
    ],
)
def test_calibration(p: list[float], y: list[int], expected: float) -> None:
    """Two bins; probabilities of 0 and 1 belong to the first and the last bin."""
    found = expected_calibration_error(np.array(p, float), np.array(y), 2)
    assert found.error[0] == pytest.approx(expected, abs=1e-12)
    assert found.cases[0] == len(p)


def test_calibration_by_cell_and_without_cases() -> None:
    p = np.array([0.25, 0.25, 0.55, 0.75, 0.75, 0, 1, 0, 1])
    y = np.array([0, 0, 1, 1, 1, 0, 1, 1, 1])
    cell = np.array([0] * 5 + [2] * 4)
    found = expected_calibration_error(p, y, 2, cell, 3)
    assert found.error[[0, 2]] == pytest.approx([0.29, 0.25])
    assert np.isnan(found.error[1])
    assert found.cases.tolist() == [5, 0, 4]


def test_a_decimal_on_an_edge_opens_its_bin() -> None:
    """0.29 of 100 bins is bin 29; 0.29 * 100 in binary is 28.999…, which would put .29 and .28 together.

    Apart, |0 - .28| + |1 - .29| = .99 over 2; together, |1 - .57| = .43 over 2.
    """
    found = expected_calibration_error(np.array([0.28, 0.29]), np.array([0, 1]), 100)
    assert found.error[0] == pytest.approx(0.99 / 2)
