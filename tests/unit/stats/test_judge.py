"""One rater and a judge: the coefficients of section c, their exact form, and what is drawn again."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest

from lacre.stats.agreement import cross, kappa, linear, quadratic, unweighted
from lacre.stats.bootstrap import least_resamples
from lacre.stats.judge import (
    Coefficients,
    Resampled,
    clusters_of,
    coefficients,
    dominant_bin,
    exact_coefficients,
    is_paradox,
    marginals,
    resample,
)

Costs = Callable[[int], npt.NDArray[np.float64]]

FOUR = [[21, 12, 0, 0], [4, 17, 1, 0], [3, 9, 15, 2], [0, 0, 0, 1]]
THREE = [[75, 1, 4], [5, 4, 1], [0, 0, 10]]
LOPSIDED = [[118, 5], [2, 0]]


def whole(costs: npt.NDArray[np.float64]) -> list[list[Fraction]]:
    return [[Fraction(int(cost)) for cost in row] for row in costs]


def drawn(table: object, alpha: float = 0.05, seed: int = 7, **more: float) -> tuple[Resampled, ...]:
    counts = np.array(table)
    resamples = least_resamples(alpha)
    return resample([counts], linear(len(counts)), alpha=alpha, resamples=resamples, seed=seed, **more)


@pytest.mark.parametrize(
    ("table", "costs", "values"),
    [
        # The published values of section c; raw agreement of FOUR is 54/85, of THREE 89/100.
        (FOUR, linear, (0.568399, 0.71881, (4 * 54 / 85 - 1) / 3)),
        (THREE, linear, (0.722222, None, (3 * 0.89 - 1) / 2)),
        ([[80, 10], [5, 5]], unweighted, (0.31818, 0.808, 0.70)),
        (LOPSIDED, unweighted, (-0.02339, 0.94078, 0.888)),
    ],
)
def test_the_coefficients_of_published_tables(
    table: list[list[int]], costs: Costs, values: tuple[float | None, ...]
) -> None:
    found = coefficients(table, costs(len(table)))
    for value, expected in zip(found, values, strict=True):
        if expected is not None:
            assert float(value) == pytest.approx(expected, abs=6e-6)


def test_ac2_of_a_table_by_hand() -> None:
    """Weights 1, 1/2, 0 by distance; T = 3 + 4/2 = 5 of k(k - 1) = 6.

    p_a = (8 + 1/2)/10 = .85; marginals 3, 3, 4 and 3, 4, 3 give pi = .3, .35, .35 and the sum of pi(1 - pi) = .665;
    p_e = 5/6 x .665 = 133/240. AC2 = (.85 - 133/240)/(1 - 133/240) = 71/107. Doubled costs are the same weights.
    """
    table = [[2, 1, 0], [0, 3, 0], [1, 0, 3]]
    assert exact_coefficients(table, whole(linear(3))).gwet == Fraction(71, 107)
    assert exact_coefficients(table, whole(2 * linear(3))).gwet == Fraction(71, 107)


def test_costs_of_ones_own() -> None:
    """Cohen 1968, three diagnoses of 100 cases: .347826 = 8/23."""
    table = [[44, 7, 9], [5, 20, 5], [1, 3, 6]]
    costs = [[0, 1, 3], [1, 0, 6], [3, 6, 0]]
    assert exact_coefficients(table, whole(np.array(costs))).kappa == Fraction(8, 23)


def test_a_bar_is_met_exactly() -> None:
    """Disagreement 3/24 of the 1/4 that chance leaves is a kappa of 1/2; doubles make it less."""
    table = [[2, 1], [2, 19]]
    assert float(kappa(table).value) < 0.5
    assert exact_coefficients(table, whole(unweighted(2))).kappa == Fraction(1, 2)


@pytest.mark.parametrize("costs", [unweighted, linear, quadratic])
def test_exact_and_double_are_one_formula_and_kappa_is_the_other_modules(costs: Costs) -> None:
    rng = np.random.default_rng(3)
    tables = rng.integers(0, 9, (20, 4, 4))
    many = coefficients(tables, costs(4))
    for place, table in enumerate(tables):
        exact = exact_coefficients(table, whole(costs(4)))
        for one, other in zip(exact, many, strict=True):
            assert float(one) == pytest.approx(float(other[place]), rel=1e-12)
    assert many.kappa == pytest.approx(kappa(tables, costs(4)).value, rel=1e-12)


def test_one_bin_alone_is_undefined_and_never_a_number() -> None:
    """Raw agreement is all there is of it; Gwet's coefficient and PABAK are 1."""
    found = exact_coefficients([[9, 0], [0, 0]], whole(unweighted(2)))
    assert np.isnan(found.kappa)
    assert (found.gwet, found.pabak) == (1, 1)
    assert all(np.isnan(each) for each in exact_coefficients([[0, 0], [0, 0]], whole(unweighted(2))))


def test_indexes_of_two_bins_and_of_more() -> None:
    """[80, 10; 5, 5]: |a - d| = .75. [118, 5; 2, 0]: .944, |b - c| = .024. Of k bins each is held against the rest."""
    assert marginals([[80, 10], [5, 5]]).prevalence.tolist() == [0.75, 0.75]
    found = marginals(LOPSIDED)
    assert found.prevalence.tolist() == [0.944, 0.944]
    assert found.bias.tolist() == [0.024, 0.024]
    many = marginals(THREE)
    assert (many.human.tolist(), many.judge.tolist()) == ([80, 10, 10], [80, 5, 15])
    for place in range(3):
        rest = [each for each in range(3) if each != place]
        two = [[np.array(THREE)[np.ix_(i, j)].sum() for j in ([place], rest)] for i in ([place], rest)]
        alone = marginals(two)
        assert many.prevalence[place] == pytest.approx(alone.prevalence[0])
        assert many.bias[place] == pytest.approx(alone.bias[0])
    assert np.isnan(marginals([[0, 0], [0, 0]]).bias).all()


@pytest.mark.parametrize(
    ("table", "found", "place"),
    [
        ([[75, 0], [0, 25]], (0.5, 0.7), 0),  # .75 of both
        ([[74, 1], [0, 25]], (0.5, 0.7), None),  # .75 and .74
        ([[75, 25], [0, 0]], (0.5, 0.7), 0),  # 1 and .75
        ([[0, 0], [0, 0]], (0.5, 0.7), None),
    ],
)
def test_a_dominant_bin(table: list[list[int]], found: tuple[float, float], place: int | None) -> None:
    assert dominant_bin(table) == place
    low, high = found
    assert is_paradox(Coefficients(low, high, 0), 0.6, table) == (place is not None)
    assert not is_paradox(Coefficients(0.6, high, 0), 0.6, table)  # at the bar
    assert is_paradox(Coefficients(low, 0.6, 0), 0.6, table) == (place is not None)
    assert not is_paradox(Coefficients(low, 0.59, 0), 0.6, table)  # the agreement is low as well
    assert not is_paradox(Coefficients(float("nan"), high, 0), 0.6, table)


# --- resampling


def test_the_same_seed_gives_the_same_interval_and_another_does_not() -> None:
    assert drawn(FOUR) == drawn(FOUR)
    assert drawn(FOUR) != drawn(FOUR, seed=8)


def test_the_interval_agrees_with_the_asymptotic_one_of_many_cases() -> None:
    """100 times the cases of THREE: kappa +- 1.96 x .084301/10, to the noise of 1,000 resamples."""
    low, high, undefined, widened = drawn(100 * np.array(THREE))[0]
    half = 1.959964 * 0.0084301
    assert (low, high) == pytest.approx((0.722222 - half, 0.722222 + half), abs=0.002)
    assert (undefined, widened) == (0, False)


def test_undefined_resamples_are_counted_and_too_many_are_no_interval() -> None:
    """19 of one bin and 1 of the other, all agreed: (19/20)^20 = .358 of the resamples lack the one."""
    kappa_found, gwet, pabak = drawn([[19, 0], [0, 1]])
    assert np.isnan([kappa_found.low, kappa_found.high]).all()
    assert kappa_found.undefined == pytest.approx(358, abs=61)  # four standard deviations
    assert gwet.undefined == pabak.undefined == 0
    allowed = drawn([[19, 0], [0, 1]], max_undefined=0.5)[0]
    assert allowed.high == 1
    assert allowed.undefined == kappa_found.undefined
    for most in (0.05, 1):
        nothing = drawn([[9, 0], [0, 0]], max_undefined=most)[0]
        assert (nothing.undefined, bool(np.isnan(nothing.low))) == (1000, True)


def test_no_disagreement_is_no_proof() -> None:
    """50 and 40 cases, all agreed: u = 1 - .025^(1/90); chance disagrees in 2 x 5/9 x 4/9 = 40/81 of them.

    Kappa may be 1 - u/(40/81); PABAK 1 - 2u; AC1, whose chance is the same 40/81, 1 - u/(41/81).
    """
    u = 1 - 0.025 ** (1 / 90)
    found = drawn([[50, 0], [0, 40]])
    expected = (1 - u / (40 / 81), 1 - u / (41 / 81), 1 - 2 * u)
    for each, low in zip(found, expected, strict=True):
        assert (each.high, each.widened) == (1.0, True)
        assert each.low == pytest.approx(low, abs=1e-12)


def test_a_judge_that_says_one_thing_has_an_interval_around_nothing() -> None:
    """Kappa is 0 in every resample, whatever the human said: it could be as far off as u = 1 - .025^(1/90) allows.

    Chance disagrees in 4/9 of the cases.
    """
    found = drawn([[50, 0], [40, 0]])[0]
    width = (1 - 0.025 ** (1 / 90)) / (4 / 9)
    assert (found.low, found.high) == pytest.approx((-width, width))


def test_clusters_are_drawn_whole() -> None:
    """Each case twice in a cluster of two: what is drawn is that of the single cases, whatever the doubled number."""
    human = np.repeat(np.arange(3), np.array(THREE).sum(axis=1))
    judge = np.concatenate([np.repeat(np.arange(3), row) for row in THREE])
    doubled = clusters_of(np.tile(human, 2), np.tile(judge, 2), 3, np.tile(np.arange(100), 2))
    found = resample([doubled], linear(3), alpha=0.05, resamples=4000, seed=1)[0]
    alone = resample([np.array(THREE)], linear(3), alpha=0.05, resamples=4000, seed=2)[0]
    naive = resample([2 * np.array(THREE)], linear(3), alpha=0.05, resamples=4000, seed=3)[0]
    assert found[:2] == pytest.approx(alone[:2], abs=0.025)
    assert found.high - found.low > 1.25 * (naive.high - naive.low)


def test_strata_keep_their_sizes() -> None:
    """Two strata, each of one agreed bin: every resample has 30 and 20, so that none differs."""
    strata = [np.array([[30, 0], [0, 0]]), np.array([[0, 0], [0, 20]])]
    within = resample(strata, linear(2), alpha=0.05, resamples=1000, seed=1)[0]
    assert (within.widened, within.undefined) == (True, 0)


def test_strata_are_drawn_as_a_loop_over_their_cases_draws_them() -> None:
    """A loop that picks cases of each stratum by itself: our ends lie at its 5 and 95 %, within four sd."""
    rng = np.random.default_rng(11)
    strata = [np.array([[12, 3], [1, 4]]), np.array([[2, 6], [1, 21]])]
    loop = []
    for _ in range(1000):
        cells = np.concatenate(
            [rng.choice(np.repeat(np.arange(4), each.ravel()), each.sum()) for each in strata]
        )
        loop.append(float(kappa(np.bincount(cells, minlength=4).reshape(2, 2)).value))
    found = resample(strata, unweighted(2), alpha=0.1, resamples=4000, seed=5)[0]
    for end, share in ((found.low, 0.05), (found.high, 0.95)):
        assert np.mean(np.array(loop) <= end) == pytest.approx(share, abs=0.032)


def test_an_empty_middle_bin_keeps_its_place_in_every_coefficient() -> None:
    """Bins 0 and 2 of three: chance of AC2 and PABAK goes by the three declared, not by the two that were used."""
    wide = cross([0, 0, 2, 2, 0], [0, 2, 2, 2, 0], 3).table
    narrow = cross([0, 0, 1, 1, 0], [0, 1, 1, 1, 0], 2).table
    assert exact_coefficients(wide, whole(unweighted(3))).pabak == Fraction(7, 10)
    assert exact_coefficients(narrow, whole(unweighted(2))).pabak == Fraction(3, 5)
