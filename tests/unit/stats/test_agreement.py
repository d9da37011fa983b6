"""Agreement of two labellings: the expected values of section c and h, and what is undefined."""

import numpy as np
import pytest

from lacre.stats.agreement import (
    agreement_floor,
    clustered_kappa,
    cross,
    interval,
    kappa,
    linear,
    quadratic,
    raw_agreement,
    relabels_needed,
    unweighted,
)
from lacre.stats.clusters import effective_size
from lacre.stats.proportions import wilson

FOUR = [[21, 12, 0, 0], [4, 17, 1, 0], [3, 9, 15, 2], [0, 0, 0, 1]]
THREE = [[75, 1, 4], [5, 4, 1], [0, 0, 10]]


@pytest.mark.parametrize(
    ("table", "plain", "by_distance", "by_square", "error"),
    [(FOUR, 0.472789, 0.568399, 0.671371, 0.067556), (THREE, 0.676471, 0.722222, 0.755319, 0.084301)],
)
def test_kappa_and_its_error(
    table: list[list[int]], plain: float, by_distance: float, by_square: float, error: float
) -> None:
    size = len(table)
    for costs, value in ((unweighted, plain), (linear, by_distance), (quadratic, by_square)):
        assert float(kappa(table, costs(size)).value) == pytest.approx(value, abs=5e-7)
    found = kappa(table, 7 * linear(size))  # only the proportions of costs matter
    assert float(found.error) == pytest.approx(error, abs=5e-7)
    low, high = interval(found, 0.05)
    half = 1.959964 * error
    assert (float(low), float(high)) == pytest.approx((by_distance - half, by_distance + half), abs=2e-6)


@pytest.mark.parametrize(
    ("table", "value"),
    [
        ([[40, 9], [6, 45]], 0.69952),
        ([[80, 10], [5, 5]], 0.31818),
        ([[45, 15], [25, 15]], 0.13043),
        ([[25, 35], [5, 35]], 0.25926),
        ([[118, 5], [2, 0]], -0.02339),
    ],
)
def test_kappa_of_two_values(table: list[list[int]], value: float) -> None:
    assert float(kappa(table).value) == pytest.approx(value, abs=5e-6)


def test_kappa_with_costs_of_ones_own() -> None:
    """Cohen 1968, example of three diagnoses and 100 cases."""
    table = [[44, 7, 9], [5, 20, 5], [1, 3, 6]]
    costs = [[0, 1, 3], [1, 0, 6], [3, 6, 0]]
    assert float(kappa(table, costs).value) == pytest.approx(0.347826, abs=5e-7)


def test_kappa_where_chance_alone_agrees_is_undefined() -> None:
    for table in ([[9, 0], [0, 0]], [[0, 0], [0, 0]]):
        found = kappa(table)
        assert np.isnan(found.value)
        assert np.isnan(found.error)
        assert np.isnan(interval(found, 0.05)).all()


def test_the_error_of_no_disagreement_is_undefined() -> None:
    """By its formula it is 0, as if four cases were proof."""
    found = kappa([[2, 0], [0, 2]])
    assert found.value == 1
    assert np.isnan(found.error)


@pytest.mark.parametrize(
    ("table", "value"),
    [
        ([[17, 0, 0], [5, 0, 0], [8, 0, 0]], 0.0),
        ([[85, 0, 15], [0, 0, 0], [0, 0, 0]], 0.0),
        ([[0, 9], [9, 0]], -1.0),
    ],
)
def test_an_error_of_nothing_is_undefined(table: list[list[int]], value: float) -> None:
    """One labelling used one value, or every case contradicts: no case moves kappa, so its spread is not known."""
    first = np.repeat(np.indices(np.shape(table))[0], np.ravel(table))
    second = np.repeat(np.indices(np.shape(table))[1], np.ravel(table))
    for found in (kappa(table), clustered_kappa(first, second, len(table), np.arange(len(first)))):
        assert float(found.value) == pytest.approx(value, abs=1e-12)
        assert np.isnan(found.error)
        assert np.isnan(interval(found, 0.05)).all()


def test_an_interval_ends_at_minus_one_and_one() -> None:
    for table, place in (([[1, 9], [9, 0]], 0), ([[9, 0], [1, 1]], 1)):
        found = kappa(table)
        ends = interval(found, 0.05)
        assert ends[place] == (-1, 1)[place]
        assert ends.low < found.value < ends.high


def test_the_error_is_that_of_repeated_sampling() -> None:
    """20,000 tables of 200 cases drawn from one true table: their kappas vary as the error says, within 3 %.

    A standard deviation of 20,000 draws is known to half a per cent; the rest is that 200 are not infinite.
    """
    true = np.array(THREE) / 100
    drawn = np.random.default_rng(5).multinomial(200, true.reshape(-1), 20_000).reshape(-1, 3, 3)
    for costs in (unweighted(3), quadratic(3)):
        expected = float(kappa(200 * true, costs).error)
        assert np.nanstd(kappa(drawn, costs).value) == pytest.approx(expected, rel=0.03)


def test_an_empty_middle_value_keeps_its_place() -> None:
    """Codes 0 and 2 of three values are two apart: with the middle value collapsed they would be one."""
    first, second = [0, 0, 2, 2, 0], [0, 2, 2, 2, 0]
    found = cross(first, second, 3)
    assert found.table.tolist() == [[2, 0, 1], [0, 0, 0], [0, 0, 2]]
    wide = cross([*first, 1], [*second, 0], 3).table
    narrow = cross([0, 0, 1, 1, 0, 1], [0, 1, 1, 1, 0, 0], 2).table
    assert float(kappa(wide, linear(3)).value) != pytest.approx(float(kappa(narrow, linear(2)).value))


def test_no_pair_is_lost() -> None:
    """Undeclared on either side, or beyond the last value, goes before missing; the rest is in the table."""
    first, second = [0, -1, -2, 1, -1, 2, 0], [0, 0, -1, -2, -1, 0, 1]
    found = cross(first, second, 2)
    assert (int(found.table.sum()), int(found.undeclared), int(found.missing)) == (2, 3, 2)
    apart = cross(first, second, 2, cell=[0, 1, 1, 0, 0, 1, 1], cells=3)
    assert apart.table.sum(axis=(1, 2)).tolist() == [1, 1, 0]
    assert apart.undeclared.tolist() == [1, 2, 0]
    assert apart.missing.tolist() == [1, 1, 0]


def test_raw_agreement_and_the_floor() -> None:
    first = np.zeros(100, int)
    second = np.where(np.arange(100) < 85, 0, 1)
    found = raw_agreement([*first, -1, 0], [*second, 0, -2], 0.05)
    assert (int(found.agreed[0]), int(found.cases[0])) == (85, 100)
    assert (found.low[0], found.high[0]) == pytest.approx((0.767164, 0.906940), abs=5e-7)
    assert found.floor[0] == pytest.approx(0.2328, abs=5e-5)
    assert found.floor[0] == pytest.approx(1 - found.low[0])
    floors = agreement_floor([170, 425, 98, 9, 100, 0], [200, 500, 100, 9, 100, 0])
    np.testing.assert_allclose(floors, [0.2061, 0.1840, 0.0700, 0.2991, 0.0370, np.nan], atol=5e-5)


def test_raw_agreement_counts_clusters() -> None:
    """30 essays, each labelled alike five times: worth some 30 cases, as effective_size says, not 150."""
    cluster = np.repeat(np.arange(30), 5)
    equal = cluster < 24
    second = np.where(equal, 1, 0)
    cell = np.zeros(150, int)
    found = raw_agreement(np.ones(150, int), second, 0.05, cluster, cell, 2)
    size = effective_size(equal, cluster, 0.05).size
    low, high = wilson(0.8 * size, size, 0.05)
    assert found.size[0] < 30
    assert (found.low[0], found.high[0]) == pytest.approx((low[0], high[0]))
    assert found.floor[0] == pytest.approx(1 - low[0])
    assert found.clusters is not None
    assert found.clusters.tolist() == [30, 0]
    assert np.isnan([found.share[1], found.low[1], found.floor[1]]).all()
    perfect = raw_agreement(np.ones(150, int), np.ones(150, int), 0.05, cluster)
    assert perfect.floor[0] == pytest.approx(float(agreement_floor(30, 30)))
    few = raw_agreement(np.ones(150, int), second, 0.05, cluster % 19)
    assert np.isnan([few.low[0], few.floor[0]]).all()


def test_how_many_perfect_relabels_a_difference_takes() -> None:
    """Three points take 125: z^2 .97/.03 = 124.2. And one fewer always leaves more than the difference."""
    assert relabels_needed(0.03) == 125
    for difference in (0.5, 0.2, 0.05, 0.03, 0.011, 0.002):
        for alpha in (0.05, 0.01):
            n = relabels_needed(difference, alpha)
            assert agreement_floor(n, n, alpha) <= difference < agreement_floor(n - 1, n - 1, alpha)


def test_clustered_kappa_doubles_its_cases_but_not_its_knowledge() -> None:
    """Each case twice is a cluster of two: the error of the single cases, times sqrt(G/(G-1))."""
    first = np.repeat(np.arange(4), np.array(FOUR).sum(axis=1))
    second = np.concatenate([np.repeat(np.arange(4), row) for row in FOUR])
    codes = np.arange(len(first))
    alone = kappa(FOUR, linear(4))
    doubled = clustered_kappa(
        np.tile([*first, -1], 2), np.tile([*second, 0], 2), 4, np.tile([*codes, 99], 2), linear(4)
    )
    assert doubled.value == pytest.approx(0.568399, abs=5e-7)
    assert doubled.error == pytest.approx(float(alone.error) * np.sqrt(85 / 84))
