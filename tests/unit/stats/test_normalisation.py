"""Normalisation by a cohort: the example of STATISTICS i, and loops over images."""

import numpy as np
import pytest

from lacre.stats.normalisation import CohortStatistics, cohort_statistics, normalise
from lacre.stats.thresholds import Direction

ENROLLED = [0.1, 0.3, 0.2, 0.4, 0.5, 0.0]
TESTED = [0.05, 0.25, 0.45, 0.15, 0.35, 0.55]
IMAGE = np.repeat([0, 1], 6)
SCORE = np.array(ENROLLED + TESTED)


def s_norm(statistics: CohortStatistics, score: float) -> float:
    return float(normalise(np.array([score]), np.array([0]), np.array([1]), statistics, "s_norm").score[0])


@pytest.mark.parametrize(("nearest", "expected"), [(None, 2.020113), (3, 2.388252), (6, 2.020113)])
def test_s_norm(nearest: int | None, expected: float) -> None:
    """STATISTICS i; distances are the mirror image, and their nearest are the lowest."""
    found = cohort_statistics(IMAGE, SCORE, 2, 0, "similarity", nearest)
    assert s_norm(found, 0.62) == pytest.approx(expected, abs=5e-7)
    mirrored = cohort_statistics(IMAGE, -SCORE, 2, 0, "distance", nearest)
    assert s_norm(mirrored, -0.62) == pytest.approx(-expected, abs=5e-7)


def test_z_goes_by_the_enrolled_image_and_t_by_the_tested() -> None:
    """Means .25 and .3; the deviations of six equal steps of .1, ddof 0 and 1: sqrt(35/12)/10 and sqrt(3.5)/10."""
    for ddof, deviation in ((0, np.sqrt(35 / 12) / 10), (1, np.sqrt(3.5) / 10)):
        found = cohort_statistics(IMAGE, SCORE, 2, ddof, "similarity")
        scores, one, two = np.array([0.62, np.nan]), np.array([0, 0]), np.array([1, 1])
        z = normalise(scores, one, two, found, "z_norm").score
        t = normalise(scores, one, two, found, "t_norm").score
        assert z[0] == pytest.approx((0.62 - 0.25) / deviation)
        assert t[0] == pytest.approx((0.62 - 0.30) / deviation)
        assert np.isnan([z[1], t[1]]).all()


@pytest.mark.parametrize("direction", ["similarity", "distance"])
@pytest.mark.parametrize("nearest", [None, 5, 40])
@pytest.mark.parametrize("ragged", [False, True])
def test_statistics_are_those_of_each_image(direction: Direction, nearest: int | None, ragged: bool) -> None:
    """In any order, some scores blank or not, against a loop."""
    rng = np.random.default_rng(1)
    order = rng.permutation(20 * 50)
    image, score = np.repeat(np.arange(20), 50)[order], rng.normal(5, 1, 1000)
    if ragged:
        score[:150] = np.nan
        image[150:250] = 3
    found = cohort_statistics(image, score, 21, 1, direction, nearest)
    for at in range(20):
        mine = np.sort(score[(image == at) & ~np.isnan(score)])
        assert found.cases[at] == len(mine)
        kept = mine[::-1] if direction == "similarity" else mine
        assert found.degenerate[at] == (len(mine) < (nearest or 2))
        if not found.degenerate[at]:
            kept = kept[:nearest]
            assert (found.mean[at], found.deviation[at]) == pytest.approx((kept.mean(), kept.std(ddof=1)))
    assert ragged or not found.degenerate[:20].any()
    assert (found.cases[20], found.degenerate[20]) == (0, True)


def test_degenerate_images_are_told() -> None:
    """Equal scores (.1 three times has a computed deviation of 1.4e-17), one score, none, too few for the N.

    Within its nearest two, image 4 is constant as well.
    """
    image = np.array([0, 0, 0, 1, 3, 3, 4, 4, 4])
    score = np.array([0.1, 0.1, 0.1, 0.7, 0.2, 0.3, 0.9, 0.9, 0.1])
    found = cohort_statistics(image, score, 5, 0, "similarity")
    assert list(found.degenerate) == [True, True, True, False, False]
    assert np.isnan(found.deviation[[0, 1, 2]]).all()
    assert list(cohort_statistics(image, score, 5, 2, "similarity").degenerate) == [
        True,
        True,
        True,
        True,
        False,
    ]
    assert list(cohort_statistics(image, score, 5, 0, "similarity", 2).degenerate) == [
        True,
        True,
        True,
        False,
        True,
    ]
    assert list(cohort_statistics(image, score, 5, 0, "distance", 3).degenerate) == [
        True,
        True,
        True,
        True,
        False,
    ]
    found = cohort_statistics(image, score, 5, 0, "similarity")
    both = normalise(np.full(3, 0.5), np.array([3, 3, 0]), np.array([4, 0, 4]), found, "s_norm")
    assert list(both.degenerate) == [False, True, True]
    assert list(np.isnan(both.score)) == [False, True, True]
    z = normalise(np.full(3, 0.5), np.array([3, 3, 0]), np.array([4, 0, 4]), found, "z_norm")
    assert list(z.degenerate) == [False, False, True]
    empty = cohort_statistics(np.empty(0, np.int64), np.empty(0), 2, 1, "similarity", 3)
    assert empty.degenerate.all()


LAST = float(np.finfo(np.float64).max)


@pytest.mark.parametrize("power", [-1022, -600, 0, 600, 1021])
def test_the_size_of_numbers_changes_no_digit(power: int) -> None:
    """A power of two scales a float exactly, means and deviations with it: squares alone would be no numbers."""
    plain = cohort_statistics(IMAGE, SCORE, 2, 1, "similarity")
    scaled = cohort_statistics(IMAGE, np.ldexp(SCORE, power), 2, 1, "similarity")
    if power > -1000:  # below, numbers have fewer digits
        assert scaled.mean.tolist() == np.ldexp(plain.mean, power).tolist()
        assert scaled.deviation.tolist() == np.ldexp(plain.deviation, power).tolist()
    assert not scaled.degenerate.any()
    z = normalise(np.ldexp([0.62], power), np.array([0]), np.array([1]), scaled, "z_norm").score
    assert z == pytest.approx((0.62 - 0.25) / (np.sqrt(3.5) / 10))


def test_scores_at_the_end_of_the_numbers() -> None:
    """Of +-M four times the mean is 0 and the deviation, by n, M: scores of M and -M are at 1 and -1.

    By n - 1 the deviation is 1.15 M, which is no number; nor is 1 / 5e-324.
    """
    image = np.zeros(4, np.int64)
    ends = np.array([LAST, -LAST, LAST, -LAST])
    found = cohort_statistics(image, ends, 1, 0, "similarity")
    places = np.zeros(2, np.int64)
    assert normalise(np.array([LAST, -LAST]), places, places, found, "z_norm").score.tolist() == [1, -1]
    assert cohort_statistics(image, ends, 1, 1, "similarity").degenerate.tolist() == [True]
    near = cohort_statistics(image, np.array([LAST, LAST, LAST, LAST / 2]), 1, 0, "similarity")
    # The mean is 7/8 M, the deviation sqrt(3)/8 M, and -M is 15 / sqrt(3) of them below.
    low = normalise(np.array([-LAST]), places[:1], places[:1], near, "z_norm")
    assert low.score == pytest.approx(-15 / np.sqrt(3))
    tiny = cohort_statistics(image, np.array([0, 5e-324, 0, 5e-324]), 1, 1, "similarity")
    beyond = normalise(np.array([1.0]), places[:1], places[:1], tiny, "z_norm")
    assert (beyond.degenerate.tolist(), np.isnan(beyond.score).tolist()) == ([True], [True])
