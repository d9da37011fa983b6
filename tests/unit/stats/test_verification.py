"""Verification by group: counts, ratios and their bounds at every corner, thresholds apart by literal resamples."""

import itertools
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from lacre.stats.dyads import subject_weights
from lacre.stats.proportions import Interval, clopper_pearson
from lacre.stats.thresholds import Direction, Rate, threshold_for_false_match, threshold_for_false_non_match
from lacre.stats.verification import (
    Form,
    count_by_group,
    det_curve,
    differential_ratio,
    own_operating_points,
    rate_bounds,
    threshold_distance,
)

GENUINE = np.array([0.3, 0.5, 0.6, 0.7, 0.8, 0.8, 0.9, 0.95])
IMPOSTOR = np.array([0.1, 0.2, 0.3, 0.3, 0.4, 0.5, 0.6, 0.8, 0.2, 0.1])
SCORE = np.concatenate([GENUINE, IMPOSTOR])
SAME = np.repeat([1, 0], [8, 10])
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def test_abstentions_are_in_neither_rate() -> None:
    """Group 0 as in STATISTICS e with three abstentions; group 1 only abstains; group 2 has no impostors."""
    score = np.concatenate([SCORE, [np.nan] * 5, [0.7, 0.2]])
    same = np.concatenate([SAME, [1, 0, 0], [1, 0], [1, 1]])
    group = np.repeat([0, 1, 2], [21, 2, 2])
    found = count_by_group(score, same, group, 4, 0.6, "similarity")
    assert [list(counts) for counts in found] == [
        [2, 0, 0, 0],
        [10, 0, 0, 0],
        [2, 0, 1, 0],
        [8, 0, 2, 0],
        [2, 1, 0, 0],
        [1, 1, 0, 0],
    ]
    mirrored = count_by_group(-score, same, group, 4, -0.6, "distance")
    assert all((one == other).all() for one, other in zip(found, mirrored, strict=True))
    with pytest.raises(ValueError, match="negative"):
        count_by_group(score, same, group - 1, 4, 0.6, "similarity")


def test_bounds_hold_for_all_groups_at_once() -> None:
    """Clopper-Pearson at alpha/G; of (p n_eff, n_eff) where given; 0 to 1 where nothing is known."""
    events, cases = np.array([0, 5, 0, 3]), np.array([100, 50, 0, 30])
    low, high = rate_bounds(events, cases, 0.08)
    expected = clopper_pearson([0, 5, 3], [100, 50, 30], 0.02)
    np.testing.assert_allclose(low[[0, 1, 3]], expected.low)
    np.testing.assert_allclose(high[[0, 1, 3]], expected.high)
    assert (low[2], high[2]) == (0, 1)
    low, high = rate_bounds(events, cases, 0.08, np.array([40.0, 20.5, np.nan, np.nan]))
    expected = clopper_pearson([0, 2.05], [40, 20.5], 0.02)
    np.testing.assert_allclose(low[:2], expected.low)
    np.testing.assert_allclose(high[:2], expected.high)
    assert (list(low[2:]), list(high[2:])) == ([0, 0], [1, 1])


@pytest.mark.parametrize(("form", "low"), [("max_gm", 1.2277), ("max_min", 2.2743)])
def test_zero_events_give_a_lower_bound_and_no_ratio(form: Form, low: float) -> None:
    """STATISTICS e: 0, 5 and 20 of 10,000 each, at .05."""
    events, cases = np.array([0, 5, 20]), np.full(3, 10_000)
    found = differential_ratio(events, cases, rate_bounds(events, cases, 0.05), form)
    assert np.isnan(found.value)
    assert found.low == pytest.approx(low, abs=5e-5)
    assert found.high == np.inf


def of(rates: Floats, form: Form) -> float:
    below = rates.min() if form == "max_min" else np.prod(rates) ** (1 / len(rates))
    return float(rates.max() / below)


@pytest.mark.parametrize("form", ["max_min", "max_gm"])
@pytest.mark.parametrize("groups", [2, 3, 5])
def test_ratio_lies_within_its_bounds_at_every_corner(form: Form, groups: int) -> None:
    """The upper bound is the largest ratio of any corner of the box of rates; no rates in it have one below the lower.

    The lower bound is attained for each group held against the others, written out from STATISTICS e.
    """
    rng = np.random.default_rng(groups)
    for spread in (1, 40):
        cases = np.full(groups, 1000)
        events = 20 + rng.integers(0, spread, groups) * np.arange(groups)
        bounds = rate_bounds(events, cases, 0.05)
        found = differential_ratio(events, cases, bounds, form)
        corners = [of(np.array(corner), form) for corner in itertools.product(*zip(*bounds, strict=True))]
        assert found.high == pytest.approx(max(corners))
        inside = bounds.low + (bounds.high - bounds.low) * rng.random((500, groups))
        assert found.low <= min(*corners, *(of(rates, form) for rates in inside)) + 1e-12
        assert found.low <= found.value <= found.high
        assert found.value == pytest.approx(of(events / cases, form))
        apart = [
            bounds.low[g] / other.min()
            if form == "max_min"
            else bounds.low[g] ** ((groups - 1) / groups) / np.prod(other ** (1 / groups))
            for g in range(groups)
            for other in [np.delete(bounds.high, g)]
        ]
        assert found.low == pytest.approx(max(1, *apart))


def test_a_wide_group_is_not_held_against_itself() -> None:
    """Of [.2, .8] and [.4, .5] the largest ratio is .8/.4 or .5/.2, not .8/.2."""
    bounds = Interval(np.array([0.2, 0.4]), np.array([0.8, 0.5]))
    found = differential_ratio(np.array([5, 9]), np.array([10, 20]), bounds, "max_min")
    assert (found.value, found.low, found.high) == pytest.approx((0.5 / 0.45, 1, 2.5))


@pytest.mark.parametrize("form", ["max_min", "max_gm"])
def test_ratios_that_are_none(form: Form) -> None:
    """A group without cases has an unknown rate; the others may still show a ratio. One group has none."""
    events, cases = np.array([0, 5, 200]), np.array([0, 10_000, 10_000])
    found = differential_ratio(events, cases, rate_bounds(events, cases, 0.05), form)
    assert np.isnan(found.value)
    assert found.high == np.inf
    assert (found.low > 10) == (form == "max_min")
    zeros = differential_ratio(0 * cases[1:], cases[1:], rate_bounds(0 * cases[1:], cases[1:], 0.05), form)
    assert np.isnan(zeros.value)
    assert zeros[1:] == (1, np.inf)
    one = differential_ratio(events[2:], cases[2:], rate_bounds(events[2:], cases[2:], 0.05), form)
    assert np.isnan(one).all()


def test_own_operating_points() -> None:
    """STATISTICS e: FNMR at FMR .05, .1 and .25 is 6, 3 and 2 of 8; the reverse read off the sorted scores.

    FNMR .1 allows 0 of 8: t = .3, which 6 of 10 impostors reach; .25 allows 2: t = .6, which 2 reach. Group 1 has no
    genuine scores, and group 2 nothing but an abstention.
    """
    score = np.concatenate([SCORE, [0.2, 0.4], [np.nan]])
    same = np.concatenate([SAME, [0, 0], [0]])
    group = np.repeat([0, 1, 2], [18, 2, 1])
    directions: tuple[tuple[Direction, int], ...] = (("similarity", 1), ("distance", -1))
    for direction, sign in directions:
        found = own_operating_points(
            sign * score, same, group, 3, [0.05, 0.1, 0.25], "false_match", direction
        )
        assert [point[1:] for point in found[0]] == [(6, 8), (3, 8), (2, 8)]
        assert [point.own.events for point in found[0]] == [0, 1, 2]
        assert found[1][0].own.threshold * sign == pytest.approx(0.4)
        assert found[1][0][1:] == (0, 0)
        assert np.isnan(found[2][0].own.threshold)
        found = own_operating_points(sign * score, same, group, 3, [0.1, 0.25], "false_non_match", direction)
        assert [(point.own.threshold * sign, *point[1:]) for point in found[0]] == [
            (0.3, 6, 10),
            (0.6, 2, 10),
        ]
        assert np.isnan(found[1][0].own.threshold)
        assert found[1][0][1:] == (0, 0)


def test_det_curve_of_the_worked_example() -> None:
    """On ten impostors a decade holds .1 to .794: floors 1, 1, 1, 1, 2, 3, 3, 5, 6, 7 of ten.

    Allowed 1, 2, 3, 5, 6, 7 the attained false matches are 1, 2, 3, 4 (.3 is tied), 6 and 6 (.2 is tied).
    False non-matches at t just above .6, .5, .4, .3 and .2: 3, 2, 1, 1, 0.
    """
    found = det_curve(GENUINE, IMPOSTOR, "similarity")
    np.testing.assert_allclose(found.false_match * 10, [1, 2, 3, 4, 6])
    np.testing.assert_allclose(found.false_non_match * 8, [3, 2, 2 - 1, 1, 0])
    mirrored = det_curve(-GENUINE, -IMPOSTOR, "distance")
    assert all((one == other).all() for one, other in zip(found, mirrored, strict=True))
    assert len(det_curve(GENUINE, IMPOSTOR[:0], "similarity").false_match) == 0
    assert len(det_curve(GENUINE[:0], IMPOSTOR, "similarity").false_match) == 0
    kept = det_curve(GENUINE, IMPOSTOR, "similarity", least=2)
    assert (list(kept.false_match * 10), list(kept.false_non_match * 8)) == ([2], [2])
    just_above = det_curve(np.array([np.nextafter(8, 9)]), np.arange(10.0), "similarity")
    assert (just_above.false_match[0], just_above.false_non_match[0]) == (0.1, 0)
    constant = det_curve(np.full(9, 0.5), np.full(1000, 0.5), "similarity")
    assert (list(constant.false_match), list(constant.false_non_match)) == ([0], [1])


def place_quantile(n: int, k: int, quantile: float) -> int:
    """Return the place (from 0) of the (k + 1)-th of n draws from n ordered things, at a quantile.

    It is at most j iff k + 1 draws or more fall among the first j + 1: P(Binomial(n, (j + 1)/n) >= k + 1).
    """
    return int(np.argmax(stats.binom.sf(k, n, np.arange(1, n + 1) / n) >= quantile))


@pytest.mark.parametrize("rate", ["false_match", "false_non_match"])
@pytest.mark.parametrize("direction", ["similarity", "distance"])
@pytest.mark.parametrize("own_subjects", [False, True])
def test_distance_of_thresholds_has_the_quantiles_of_an_order_statistic(
    rate: Rate, direction: Direction, own_subjects: bool
) -> None:
    """Group 0 scores 0 to 999, group 1 always 5,000 (or -5,000): the distance varies with group 0's place alone.

    A target of .03 allows 30 events. With a subject of its own at each comparison, drawing subjects is drawing
    comparisons.
    """
    n, k = 1000, 30
    from_top = (rate == "false_match") == (direction == "similarity")
    ranks = np.arange(n) if not from_top else np.arange(n)[::-1]
    other = 5000.0 if not from_top else -5000.0
    score = np.concatenate([ranks, np.full(n, other)]).astype(float)
    group, subject = np.repeat([0, 1], n), np.arange(2 * n)
    found = threshold_distance(
        score,
        group,
        2,
        0.03,
        rate,
        direction,
        alpha=0.05,
        resamples=2000 if own_subjects else 200_000,
        seed=5,
        ends=(subject, subject) if own_subjects else None,
    )
    assert found.value == pytest.approx(5000 - k if not from_top else 5000 + n - 1 - k)
    places = [place_quantile(n, k, quantile) for quantile in (0.025, 0.975)]
    expected = sorted(5000 - place if not from_top else 5000 + n - 1 - place for place in places)
    # The place's deviation is 5.5, and that of its estimated .025 quantile .3 at 2,000 resamples, .03 at 200,000.
    assert (found.low, found.high) == pytest.approx(expected, abs=1.5 if own_subjects else 0.5)
    assert found.undefined == 0


def literal(
    score: Floats, group: Ints, a: Ints, b: Ints, weights: Floats, target: float, rate: Rate
) -> Floats:
    """Return each resample's signed difference of the two groups' thresholds, each comparison copied out."""
    function = threshold_for_false_match if rate == "false_match" else threshold_for_false_non_match
    found = []
    for draw in weights.T:
        copies = np.where(a == b, draw[a], draw[a] * draw[b]).astype(int)
        first, second = (
            function(np.repeat(score[group == g], copies[group == g]), target, "similarity").threshold
            for g in (0, 1)
        )
        found.append(first - second)
    return np.array(found)


@pytest.mark.parametrize("rate", ["false_match", "false_non_match"])
def test_distance_of_thresholds_by_literal_resamples(rate: Rate) -> None:
    """Group 1's 3,000 most extreme comparisons are one subject's own, whom a third of the resamples leave out.

    The threshold then lies far beyond where it does otherwise.
    """
    rng = np.random.default_rng(6)
    subjects, n = 40, 12_000
    a, b = rng.integers(0, subjects, (2, n))
    group = rng.integers(0, 2, n)
    score = rng.normal(size=n).round(2) + (0.4 if rate == "false_match" else -0.4) * group
    extreme = np.flatnonzero(group == 1)[:3000]
    score[extreme] += 100 if rate == "false_match" else -100
    a[extreme] = b[extreme] = 3
    found = threshold_distance(
        score, group, 2, 0.02, rate, "similarity", alpha=0.2, resamples=260, seed=7, ends=(a, b)
    )
    random = np.random.default_rng(7)
    weights = np.concatenate([subject_weights(subjects, size, random) for size in (250, 10)], axis=1)
    least, most = np.quantile(literal(score, group, a, b, weights, 0.02, rate), [0.1, 0.9])
    expected = sorted([max(0.0, least, -most), max(most, -least)])
    assert (found.low, found.high) == pytest.approx(expected)
    assert found.high > 90
    assert found.low < 10


def test_distance_is_bounded_by_its_pairs() -> None:
    """Three groups of the same scores but shifted by 0, 1 and 5: the largest distance is that of the outer two."""
    scores = np.random.default_rng(8).normal(0, 0.1, 2000)
    score = np.concatenate([scores, scores + 1, scores + 5])
    group = np.repeat([0, 1, 2], 2000)
    found = threshold_distance(
        score, group, 3, 0.05, "false_match", "similarity", alpha=0.05, resamples=3000, seed=1
    )
    assert found.value == pytest.approx(5)
    assert 4.95 < found.low < 5 < found.high < 5.05
    assert found.thresholds == pytest.approx([found.thresholds[0] + shift for shift in (0, 1, 5)])


def test_equal_groups_are_not_found_apart() -> None:
    """Four groups that need one threshold, by chance .17 apart on average: percentiles of the largest distance would
    lie above .05 in three of four studies, and never hold 0. The pairs' bounds do, but for one in twenty or fewer.
    """
    rng = np.random.default_rng(9)
    group = np.repeat(np.arange(4), 3000)
    apart = 0
    for seed in range(60):
        found = threshold_distance(
            rng.normal(size=12_000),
            group,
            4,
            0.01,
            "false_match",
            "similarity",
            alpha=0.05,
            resamples=1000,
            seed=seed,
        )
        apart += found.low > 0
    assert apart <= 6


def test_distances_that_are_open_or_none() -> None:
    scores = np.arange(2000.0)
    both, group = np.concatenate([scores, scores + 10]), np.repeat([0, 1], 2000)

    def distance(score: Floats, group: Ints, groups: int, target: float, **more: Any) -> tuple[float, ...]:
        found = threshold_distance(
            score,
            group,
            groups,
            target,
            "false_match",
            "similarity",
            alpha=0.05,
            resamples=500,
            seed=1,
            **more,
        )
        return found.value, found.low, found.high

    # Two events are expected, so that none at all are seen with probability .135: nothing bounds a threshold.
    assert distance(both, group, 2, 0.001) == (10, 0, np.inf)
    assert distance(both, group, 2, 0.01)[2] < np.inf
    # The same if the comparisons are worth as few.
    assert distance(both, group, 2, 0.01, sizes=np.array([2000.0, 200.0]))[2] == np.inf
    assert distance(both, group, 2, 0.01, sizes=np.array([2000.0, np.nan]))[2] == np.inf
    # Group 0 lies far above whatever group 1's open end, above its scores, may be: only that end is open.
    far = np.concatenate([scores[:300] - 1e6, scores])
    value, low, high = distance(far, np.repeat([0, 1], [300, 2000]), 2, 0.01)
    assert (low, high) == (0, np.inf)
    far = np.concatenate([scores[:300] + 1e6, scores])
    value, low, high = distance(far, np.repeat([0, 1], [300, 2000]), 2, 0.01)
    assert 9e5 < low < value < high == np.inf
    # A group that is absent, or has nothing but abstentions, or too few subjects.
    value, low, high = distance(both, group, 3, 0.01)
    assert np.isnan(value)
    assert (low, high) == (0, np.inf)
    gone = np.where(group == 1, np.nan, both)
    assert distance(gone, group, 2, 0.01)[1:] == (0, np.inf)
    subjects = np.where(group == 0, np.arange(4000) % 19, np.arange(4000))
    assert distance(both, group, 2, 0.01, ends=(subjects, subjects)) == (10, 0, np.inf)
    assert np.isnan(distance(scores, group[:2000], 1, 0.01)).all()
    constant = np.full(4000, 0.5)
    assert distance(constant, group, 2, 0.01) == (0, 0, 0)
