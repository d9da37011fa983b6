"""Thresholds: against their definition on scores full of ties, and their intervals by the binomial's quantiles."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from lacre.stats.thresholds import (
    Direction,
    Rate,
    coarse,
    complement,
    count_matches,
    floor_of,
    matches,
    threshold_for_false_match,
    threshold_for_false_non_match,
    threshold_interval,
    thresholds_for_false_match,
    thresholds_for_false_non_match,
)

GENUINE = np.array([0.3, 0.5, 0.6, 0.7, 0.8, 0.8, 0.9, 0.95])
IMPOSTOR = np.array([0.1, 0.2, 0.3, 0.3, 0.4, 0.5, 0.6, 0.8, 0.2, 0.1])
OTHER: dict[Direction, float] = {"similarity": np.inf, "distance": -np.inf}


def test_counts_are_of_what_was_written() -> None:
    assert floor_of(0.29, 100) == 29
    assert int(0.29 * 100) == 28  # the trap
    for target in (np.float64(0.29), Fraction(29, 100), Decimal("0.29")):
        assert floor_of(target, 100) == 29
    assert [floor_of(target, 3) for target in (0, 1, 0.5)] == [0, 3, 1]
    assert floor_of(complement(0.93), 100) == 7
    assert int((1 - 0.93) * 100) == 6  # and again
    assert floor_of(complement(0.9), 10**17) == 10**16


@pytest.mark.parametrize(("target", "expected"), [(0.05, (0, 6)), (0.1, (1, 3)), (0.25, (2, 2))])
def test_rates_of_the_worked_example(target: float, expected: tuple[int, int]) -> None:
    """STATISTICS e: .05 → (0, .75), .1 → (.1, .375), .25 → (.2, .25), and the same of distances."""
    directions: tuple[tuple[Direction, int], ...] = (("similarity", 1), ("distance", -1))
    for direction, sign in directions:
        at = threshold_for_false_match(sign * IMPOSTOR, target, direction)
        hits, cases = count_matches(sign * GENUINE, at.threshold, direction)
        assert (at.events, int(cases[0] - hits[0])) == expected
        assert (at.cases, at.unresolved, at.reached) == (10, target == 0.05, True)


def test_the_nearest_attainable_rate_is_not_the_answer() -> None:
    """Of ten impostors .2 is nearer to .19 than .1 is, and with five tied at the top .5 nearer to .4 than 0."""
    assert threshold_for_false_match(np.arange(10.0), 0.19, "similarity").events == 1
    tied = np.repeat([1.0, 0.0], 5)
    assert threshold_for_false_match(tied, 0.4, "similarity").events == 0
    assert threshold_for_false_match(tied, 0.5, "similarity").events == 5
    assert threshold_for_false_non_match(tied, 0.4, "similarity") == (0.0, 0, 10, False, True)
    assert threshold_for_false_non_match(tied, 0.5, "similarity") == (1.0, 5, 10, False, True)


@pytest.mark.parametrize("direction", ["similarity", "distance"])
@pytest.mark.parametrize("rate", ["false_match", "false_non_match"])
@pytest.mark.parametrize("blanks", [0, 3])
def test_thresholds_are_the_last_ones_that_keep_the_target(
    direction: Direction, rate: Rate, blanks: int
) -> None:
    """At the threshold no more events than allowed occur, and at the next float towards more of them more do.

    The events are counted one by one, on scores with many ties; blanks are false non-matches always.
    """
    rng = np.random.default_rng(7)
    function = thresholds_for_false_match if rate == "false_match" else thresholds_for_false_non_match
    towards = OTHER[direction] if rate == "false_non_match" else -OTHER[direction]

    def events(scores: list[float], threshold: float) -> int:
        similar = [
            score >= threshold if direction == "similarity" else score <= threshold for score in scores
        ]
        return sum(similar) if rate == "false_match" else len(scores) - sum(similar) + blanks

    for size in (1, 2, 7, 40):
        scores = rng.integers(-3, 4, size).astype(float)
        targets = [0, 0.01, 0.1, 0.25, 0.3, 0.7, 0.99]
        for target, at in zip(targets, function(scores, targets, direction, blanks), strict=True):
            allowed = floor_of(target, size + blanks)
            assert (at.events, at.cases) == (events(list(scores), at.threshold), size + blanks)
            assert at.unresolved == (Fraction(str(target)) * at.cases < 1)
            assert at.reached == (at.events <= allowed)
            if np.isfinite(at.threshold):
                assert at.reached
                assert events(list(scores), float(np.nextafter(at.threshold, towards))) > allowed
            else:
                assert at.events == (size if rate == "false_match" else blanks)
        together = function(scores, targets, direction, blanks)
        alone = [function(scores, [target], direction, blanks)[0] for target in targets]
        assert list(together) == alone


def test_blanks_alone_may_exceed_a_target() -> None:
    """Three of 13 are blank: no threshold brings false non-matches to .2, and every score matches at the best."""
    at = threshold_for_false_non_match(np.arange(10.0), 0.2, "similarity", blanks=3)
    assert at == (-np.inf, 3, 13, False, False)
    at = threshold_for_false_non_match(np.arange(10.0), complement(0.7), "similarity", blanks=3)
    assert at == (0.0, 3, 13, False, True)


def test_constant_scores() -> None:
    """All match or none: any target below 1 leaves no false match, and no false non-match."""
    same = np.full(1000, 0.5)
    for target in (0.0001, 0.5, 0.999):
        above = threshold_for_false_match(same, target, "similarity")
        assert (above.threshold, above.events) == (np.nextafter(0.5, 1), 0)
        below = threshold_for_false_match(same, target, "distance")
        assert (below.threshold, below.events) == (np.nextafter(0.5, 0), 0)
        assert threshold_for_false_non_match(same, target, "distance")[:2] == (0.5, 0)
    assert threshold_for_false_match(same, 1, "similarity")[:2] == (-np.inf, 1000)
    assert threshold_for_false_non_match(same, 1, "similarity")[:2] == (np.inf, 1000)


def test_nothing_and_what_is_no_number() -> None:
    found = threshold_for_false_match(np.empty(0), 0.1, "similarity")
    assert np.isnan(found.threshold)
    assert found[1:] == (0, 0, True, False)
    assert not matches(np.array([1.0]), found.threshold, "similarity").any()
    for wrong in (np.nan, np.inf, -np.inf):
        with pytest.raises(ValueError, match="finite"):
            threshold_for_false_match(np.array([0.5, wrong]), 0.1, "distance")


def test_matches_are_counted_by_group() -> None:
    score, group = np.array([0.5, 0.4, 0.6, 0.1]), np.array([0, 0, 2, 2])
    hits, cases = count_matches(score, 0.5, "similarity", group, 3)
    assert (list(hits), list(cases)) == ([1, 0, 1], [2, 0, 2])
    hits, cases = count_matches(score, 0.5, "distance", group, 3)
    assert (list(hits), list(cases)) == ([2, 0, 1], [2, 0, 2])


def test_the_interval_goes_by_the_binomial() -> None:
    """Of 100 cases at a target of .05, 1 to 10 lie beyond the true threshold with probability .9826.

    Binomial(100, .05) has its .025 quantile at 1 and its .975 quantile at 10 (cumulative .0059 | .0371 and
    .9718 | .9885). So the ends allow 0 and 10 events, of scores 1 to 100: just above 100 and 90.
    """
    scores = np.arange(1.0, 101)
    high, low = np.nextafter(100, np.inf), np.nextafter(90, np.inf)
    assert threshold_interval(scores, 0.05, "false_match", "similarity", 0.05) == (low, high)
    assert threshold_interval(-scores, 0.05, "false_match", "distance", 0.05) == (-high, -low)
    assert threshold_interval(scores, 0.05, "false_non_match", "similarity", 0.05) == (1, 11)
    assert threshold_interval(-scores, 0.05, "false_non_match", "distance", 0.05) == (-11, -1)
    # Five of the hundred are blank, and the lowest: ten allowed events leave five of the scores.
    blank = threshold_interval(scores[:95], 0.05, "false_non_match", "similarity", 0.05, blanks=5)
    assert blank == (-np.inf, 6)
    # Binomial(50, .05): 0 and 6 (cumulative .0769, and .9622 | .9882). No score is far enough out.
    half = threshold_interval(scores, 0.05, "false_match", "similarity", 0.05, effective_size=50)
    assert half == (np.nextafter(88, np.inf), np.inf)
    # Counts at a size between are scaled outwards.
    low = threshold_interval(scores, 0.05, "false_match", "similarity", 0.05, effective_size=79).low
    assert low == np.nextafter(100 - np.ceil(stats.binom.ppf(0.975, 79, 0.05) * 100 / 79), np.inf)
    assert np.isnan(threshold_interval(np.empty(0), 0.05, "false_match", "similarity", 0.05)).all()
    assert np.isnan(threshold_interval(scores, 0.05, "false_match", "similarity", 0.05, np.nan)).all()


@pytest.mark.parametrize("n", [1, 30, 977, 100_000])
def test_binomial_quantiles_are_those_of_scipy(n: int) -> None:
    """The ends allow `ppf(.025) - 1` and `ppf(.975)` events, read off scores that are their own ranks."""
    ranks = np.arange(n, 0.0, -1)
    for target in (0.001, 0.02, 0.4):
        low, high = threshold_interval(ranks, target, "false_match", "distance", 0.05)
        fewest, most = (float(stats.binom.ppf(quantile, n, target)) for quantile in (0.025, 0.975))
        assert low == (-np.inf if fewest == 0 else np.nextafter(fewest, 0))
        assert high == (np.inf if most >= n else np.nextafter(most + 1, 0))


def test_the_interval_covers_the_true_threshold() -> None:
    """Uniform scores have their true threshold for .05 at .95; seen 98.3 % (exactly .9826), with ties as well.

    Wilson's bounds of .05, taken as rates, would cover .878: P(3 <= Binomial(100, .05) <= 11).
    """
    rng = np.random.default_rng(11)
    covered = tied = 0
    for _ in range(1500):
        scores = rng.random(100)
        low, high = threshold_interval(scores, 0.05, "false_match", "similarity", 0.05)
        covered += low <= 0.95 <= high
        # Of the digits 0 to 19, .05 lie at 19 and none above: the true threshold is just above 18.
        low, high = threshold_interval(np.floor(scores * 20), 0.05, "false_match", "similarity", 0.05)
        tied += low <= np.nextafter(18, 19) <= high
    assert covered / 1500 == pytest.approx(0.9826, abs=0.012)
    assert tied / 1500 > 0.97


@pytest.mark.parametrize(
    ("at", "least", "up", "expected"),
    [
        # .612 to .613 hold two scores, .61 to .615 three, .61 to .62 four, .6 to .65 seven, .6 to .7 nine.
        (0.61234, 1, True, 0.61234), (0.61234, 2, True, 0.613), (0.61234, 3, True, 0.615), (0.61234, 5, True, 0.65),
        (0.61234, 2, False, 0.612), (0.61234, 4, False, 0.61), (0.61234, 9, False, 0.6), (0.61234, 10, False, 0.0),
        (-0.61234, 5, False, -0.65), (-0.61234, 2, True, -0.612),
        (0.61234, 11, True, 5.0),  # there are but ten scores: beyond them all
    ],
)  # fmt: skip
def test_a_coarse_threshold_may_be_that_of_several_cases(
    at: float, least: int, up: bool, expected: float
) -> None:
    scores = np.array([0.61234, 0.6129, 0.615, 0.6199, 0.63, 0.64, 0.65, 0.66, 0.67, 0.31])
    scores = scores if at > 0 else -scores
    assert coarse(at, scores, least, up=up) == expected


def test_a_coarse_threshold_lies_on_the_side_that_is_asked_for() -> None:
    """Whatever the scores: never on the other side, and with `least` scores in what is rounded to it, or all."""
    rng = np.random.default_rng(20261130)
    for scores in (
        rng.normal(size=200),
        rng.lognormal(0, 8, 200),
        rng.integers(0, 9, 200) / 10,
        np.full(7, 1e-300),
    ):
        for at in rng.choice(scores, 5):
            high, low = coarse(at, scores, 5, up=True), coarse(at, scores, 5, up=False)
            assert low <= at <= high
            assert np.count_nonzero((scores >= low) & (scores <= high)) >= 5
    assert coarse(np.inf, scores, 5, up=True) == np.inf
