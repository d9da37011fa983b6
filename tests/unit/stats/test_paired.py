"""Paired tests, tables, intervals and power: worked by hand, by enumeration, and as published."""

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from lacre.stats import paired
from lacre.stats.paired import (
    ASYMPTOTIC,
    CONTINUITY,
    EXACT,
    MID_P,
    TESTS,
    holm,
    mcnemar,
    pair_tables,
    sign_flips,
)
from lacre.stats.paired_intervals import clustered_difference, pairs_needed, tango
from lacre.stats.paired_power import conditional_power, discordant_needed, mcnemar_power

Ints = npt.NDArray[np.int64]


@pytest.mark.parametrize(
    ("b", "c", "expected"),
    [
        (150, 86, {ASYMPTOTIC: 3.0993e-5, CONTINUITY: 4.1146e-5, EXACT: 3.7159e-5, MID_P: 2.8934e-5}),
        (1, 7, {ASYMPTOTIC: 0.033895, CONTINUITY: 0.077100, EXACT: 0.0703125, MID_P: 0.0390625}),
        (5, 0, {EXACT: 0.0625, MID_P: 0.03125}),
    ],
)
def test_published_tables(b: int, c: int, expected: dict[str, float]) -> None:
    """[794,150;86,570] and [1,1;7,12], as in Agresti and in Fagerland, Lydersen and Laake."""
    for test, p in expected.items():
        assert mcnemar(b, c, test).p == pytest.approx(p, rel=2e-5)
        assert mcnemar(c, b, test).p == mcnemar(b, c, test).p
    if b == 150:
        assert mcnemar(b, c, ASYMPTOTIC).statistic == pytest.approx(17.355932, abs=5e-7)
        assert mcnemar(b, c, CONTINUITY).statistic == pytest.approx(16.817797, abs=5e-7)


@pytest.mark.parametrize("test", TESTS)
def test_nothing_discordant_and_equal_counts(test: str) -> None:
    """b + c = 0: p is 1. b = c: statistic 0, p 1, also with continuity; mid-p is 1 - C(8,4)/2^9."""
    statistic, p, discordant = mcnemar([0, 4, -1], [0, 4, 3], test)
    assert (statistic[0], p[0], discordant[0]) == (0, 1, 0)
    assert p[1] == (1 - 70 / 512 if test == MID_P else 1)
    if test in (ASYMPTOTIC, CONTINUITY):
        assert statistic[1] == 0
    assert np.isnan(p[2])
    assert mcnemar(3, 4, CONTINUITY).p == 1
    with pytest.raises(ValueError, match="no such test"):
        mcnemar(1, 2, "mcnemar")


def test_large_counts_are_exact() -> None:
    """9,700 of 20,000 in whole numbers; at 10^9 the normal law with its half, right to 1/n."""
    n, k = 20_000, 9_700
    term, tail = 1, 1
    for i in range(1, k + 1):
        term = term * (n - i + 1) // i
        tail += term
    assert mcnemar(k, n - k, EXACT).p == pytest.approx(float(Fraction(2 * tail, 2**n)), rel=1e-11)
    assert mcnemar(k, n - k, MID_P).p == pytest.approx(float(Fraction(2 * tail - term, 2**n)), rel=1e-11)
    half, off = 5 * 10**8, 50_000
    z = (2 * off - 1) / math.sqrt(2 * half)
    assert mcnemar(half - off, half + off, EXACT).p == pytest.approx(math.erfc(z / math.sqrt(2)), rel=1e-7)


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("kind", [np.uint8, np.bool_])
def test_pair_tables_are_the_counts(masked: bool, kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every pair of variants, item by item, in several blocks."""
    monkeypatch.setattr(paired, "BLOCK", 100)
    rng = np.random.default_rng(2)
    outcomes = (rng.random((230, 4)) < [0.9, 0.6, 0.5, 0.0]).astype(kind)
    seen = rng.random((230, 4)) < 0.8
    found = pair_tables(outcomes, seen if masked else None)
    for i, j in itertools.product(range(4), repeat=2):
        kept = seen[:, i] & seen[:, j] if masked else np.ones(230, bool)
        x, y = outcomes[kept, i].astype(bool), outcomes[kept, j].astype(bool)
        counts = [(x & y).sum(), (x & ~y).sum(), (~x & y).sum(), (~x & ~y).sum()]
        assert [table[i, j] for table in found] == counts


def by_enumeration(sums: Ints) -> float:
    """Return the sign-flip p value over all 2^G signs."""
    signs = np.array(list(itertools.product((-1, 1), repeat=len(sums))))
    return float((np.abs(signs @ sums) >= abs(sums.sum())).mean())


def test_sign_flips_are_all_sign_flips() -> None:
    rng = np.random.default_rng(5)
    for clusters in (1, 2, 5, 9, 12):
        for _ in range(8):
            sums = rng.integers(-6, 7, clusters)
            assert sign_flips(sums).p == pytest.approx(by_enumeration(sums), rel=1e-12)
    assert sign_flips([]) == (1.0, 0, 0)
    assert sign_flips([0, 3, -3]) == (1.0, 0, 2)


@pytest.mark.parametrize(("b", "c"), [(5, 0), (92, 1), (8, 24), (13, 12), (1100, 1000), (0, 1)])
def test_sign_flips_of_single_pairs_are_exact_mcnemar(b: int, c: int) -> None:
    """And so they are where every cluster is the same three pairs, counted as clusters."""
    sums = np.repeat([1, -1, 0], [b, c, 40])
    assert sign_flips(sums).p == mcnemar(b, c).p
    assert tuple(sign_flips(3 * sums)) == (float(mcnemar(b, c).p), 3 * (b - c), b + c)


def test_sign_flips_three_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    """The transform and the product agree, and the product agrees with the binomial law at 2,000 clusters."""
    sums = np.random.default_rng(7).integers(-4, 6, 400)
    convolved = sign_flips(sums).p
    assert 1e-9 < convolved < 1e-4
    monkeypatch.setattr(paired, "CONVOLVED", 0)
    assert sign_flips(sums).p == pytest.approx(convolved, abs=1e-12)
    # Almost all one way: no p value is made of rounding.
    assert sign_flips(np.repeat([1, 2], 300)).p == 1e-12
    tail = paired._convolved_tail(np.array([2]), np.array([2000]), 1800)
    assert tail == pytest.approx(stats.binom.cdf(900, 2000, 0.5), rel=1e-9)


def test_no_more_errors_than_stated_whatever_the_clusters() -> None:
    """Given what clusters hold, all 2^G signs are alike under the null: the level holds exactly.

    Exact McNemar counts the same pairs as if each were alone, and rejects several times as often.
    """
    size = np.array([6, 5, 4, 4, 3, 3, 2, 2, 1, 1])
    signs = np.array(list(itertools.product((-1, 1), repeat=len(size))))
    p = np.array([sign_flips(row).p for row in signs * size])
    naive = mcnemar(np.where(signs > 0, size, 0).sum(axis=1), np.where(signs < 0, size, 0).sum(axis=1)).p
    for alpha in (0.01, 0.05, 0.1):
        assert (p <= alpha).mean() <= alpha
    assert (p <= 0.05).mean() > 0.03
    assert (naive <= 0.05).mean() > 0.15


def test_six_faces_an_image() -> None:
    """Exact McNemar at .05 errs about .16 of the time, sign-flips no more than .05.

    3 faces in 10 are discordant; each takes its image's direction with probability .8, else its own coin, so
    that two directions of an image correlate .64 and the variance is 1 + .64 * 5 * .3 = 1.96 times that of
    independent pairs: 2 Phi(-1.96/1.4) = .1615.
    """
    rng = np.random.default_rng(163)
    rows, images, faces = 2000, 150, 6
    shape = (rows, images, faces)
    own, image = rng.choice([-1, 1], shape), rng.choice([-1, 1], (rows, images, 1))
    pairs = np.where(rng.random(shape) < 0.8, image, own) * (rng.random(shape) < 0.3)
    naive = mcnemar((pairs > 0).sum(axis=(1, 2)), (pairs < 0).sum(axis=(1, 2))).p
    assert (naive <= 0.05).mean() == pytest.approx(0.1615, abs=0.03)
    flipped = np.array([sign_flips(sums).p for sums in pairs.sum(axis=2)])
    # At a true level of .05 one run in a thousand has more errors than this.
    assert (flipped <= 0.05).sum() <= stats.binom.ppf(0.999, rows, 0.05)
    assert (flipped <= 0.05).mean() > 0.03


def test_tango_without_discordant_pairs() -> None:
    """z^2/(n + z^2): .1135 at 30, which passes no margin of .05; a single pair says almost nothing."""
    square = 1.959964**2
    low, high = tango(0, 0, [30, 73, 1], 0.05)
    assert high == pytest.approx(square / (np.array([30, 73, 1]) + square), rel=1e-6)
    assert (low == -high).all()
    assert (low[0] < -0.05, low[1] >= -0.05) == (True, True)


def test_tango_by_hand_and_as_published() -> None:
    """[1,1;7,12]: -.517 to -.026, as in Fagerland, Lydersen and Laake 2014.

    Three one-way discordants in 103 (exact p .25): -.008 to .082, which holds 0.
    """
    low, high = tango(1, 7, 21, 0.05)
    assert (low, high) == pytest.approx((-0.517, -0.026), abs=5e-4)
    low, high = tango(3, 0, 103, 0.05)
    assert (low, high) == pytest.approx((-0.0079, 0.0822), abs=5e-5)
    assert mcnemar(3, 0).p == 0.25


def test_tango_at_the_edges() -> None:
    """All pairs discordant one way end at 1 exactly; where counts do not fit there is no interval."""
    low, high = tango([10, 1, 0, 5, 3, 0], [0, 0, 1, 5, 3, 0], [10, 1, 1, 10, 5, 0], 0.05)
    assert (high[0], high[1], low[2]) == (1, 1, -1)
    assert low[0] == pytest.approx(-tango(0, 10, 10, 0.05).high, abs=1e-15)
    assert low[3] == pytest.approx(-high[3], abs=1e-15)
    assert np.isnan([low[4], high[4], low[5], high[5]]).all()
    assert ((low >= -1) & (high <= 1))[:4].all()
    # At 10^9 pairs it is the normal interval, .001 -+ 1.96 sqrt((.003 - 10^-6)/n), and alpha may be tiny.
    low, high = tango(2e6, 1e6, 1e9, [0.05, 1e-12])
    assert (high - low)[0] / 2 == pytest.approx(1.959964 * math.sqrt(0.002999e-9), rel=1e-4)
    assert (high - low)[1] > 3.5 * (high - low)[0]


def test_tango_agrees_with_the_asymptotic_test() -> None:
    """It holds 0 exactly where (b-c)^2/(b+c) <= z^2: at d = 0 the score test is McNemar's."""
    b, c = (each.ravel() for each in np.meshgrid(np.arange(25), np.arange(25)))
    low, high = tango(b, c, 60, 0.05)
    assert (((low <= 0) & (high >= 0)) == (mcnemar(b, c, ASYMPTOTIC).p >= 0.05)).all()


def test_cluster_bootstrap_of_three_one_way_discordants() -> None:
    """A resample's total is binomial of 103 at 3/103: 0 and 7 are its quantiles at .025 and .975.

    The lower end goes below 0 by the zero-event bound: 3/103 - (1 - .025^(1/103)) = -.0061.
    """
    found = clustered_difference(
        np.repeat([1, 0], [3, 100]), np.ones(103), alpha=0.05, resamples=20_000, seed=1
    )
    assert [stats.binom.ppf(q, 103, 3 / 103) for q in (0.025, 0.975)] == [0, 7]
    assert (found.low, found.high) == pytest.approx((3 / 103 - (1 - 0.025 ** (1 / 103)), 7 / 103))
    assert (found.pairs, found.clusters) == (103, 103)


def test_nothing_discordant_over_thirty_clusters_passes_no_margin() -> None:
    found = clustered_difference(np.zeros(30), np.full(30, 6), alpha=0.05, resamples=1000, seed=1)
    bound = 1 - 0.025 ** (1 / 30)
    assert found[:3] == pytest.approx((0, -bound, bound))
    assert bound > 0.11
    few = clustered_difference(np.zeros(19), np.full(19, 600), alpha=0.05, resamples=1000, seed=1)
    assert (few.difference, few.pairs, few.clusters) == (0, 11400, 19)
    assert np.isnan([few.low, few.high]).all()
    assert np.isnan(clustered_difference([], [], alpha=0.05, resamples=1000, seed=1)[:3]).all()


def test_clusters_widen_the_interval() -> None:
    """Six pairs that are all the same pair are worth one: the interval is that of the clusters."""
    sums, sizes = np.repeat([1, -1, 0], [30, 10, 160]), np.ones(200)
    one = clustered_difference(sums, sizes, alpha=0.05, resamples=4000, seed=2)
    six = clustered_difference(6 * sums, 6 * sizes, alpha=0.05, resamples=4000, seed=2)
    assert six[:3] == pytest.approx(one[:3])
    assert one.low < 0.1 - 1.5 * math.sqrt((0.2 - 0.01) / 200)


def test_power_as_published() -> None:
    """N = 50, p12 = .08, p21 = .32: .839357 one-sided at .05, .740153 two-sided."""
    assert mcnemar_power(50, 0.08, 0.32, 0.05, sides=1) == pytest.approx(0.839357, abs=5e-7)
    assert mcnemar_power(50, 0.08, 0.32, 0.05) == pytest.approx(0.740153, abs=5e-7)
    assert mcnemar_power(50, 0.32, 0.08, 0.05) == pytest.approx(0.740153, abs=5e-7)
    assert mcnemar_power(50, 0.0, 0.0, 0.05) == 0


def test_power_by_summing_every_table() -> None:
    """All (b, c) of 30 pairs, each with its multinomial probability, for every test."""
    n, p, q = 30, 0.25, 0.1
    tables = [(b, c) for b in range(n + 1) for c in range(n + 1 - b)]
    b, c = np.array(tables).T
    chance = stats.multinomial.pmf(np.array([b, c, n - b - c]).T, n, [p, q, 1 - p - q])
    for test in TESTS:
        rejects = mcnemar(b, c, test).p <= 0.05
        assert mcnemar_power(n, p, q, 0.05, test=test) == pytest.approx(chance[rejects].sum(), rel=1e-9)
        rejects = (mcnemar(b, c, test).p / 2 <= 0.05) & (b > c)
        one = mcnemar_power(n, p, q, 0.05, test=test, sides=1)
        assert one == pytest.approx(chance[rejects].sum(), rel=1e-9)


def test_power_of_many_pairs_is_the_normal_laws() -> None:
    """By Connor (1987), as an approximation: N = 20,000, p12 = .11, p21 = .10."""
    n, d, both = 20_000, 0.01, 0.21
    z = (d * math.sqrt(n) - 1.959964 * math.sqrt(both)) / math.sqrt(both - d * d)
    assert mcnemar_power(n, 0.11, 0.1, 0.05, test=MID_P) == pytest.approx(stats.norm.cdf(z), abs=0.003)
    # The range summed over holds all of the distribution: a test that rejects always has power 1.
    assert mcnemar_power(n, 0.2, 0.0, 0.05) == pytest.approx(1, abs=1e-9)
    assert mcnemar_power(400, 1.0, 0.0, 0.05) == pytest.approx(1, abs=1e-9)


def test_power_given_the_discordant_pairs() -> None:
    """Of 6 the exact test rejects 0 and 6 only; of 5 it rejects nothing, and nothing is all they allow."""
    assert conditional_power([6, 5, 0], 0.9, 0.05) == pytest.approx([0.9**6 + 0.1**6, 0, 0])
    # Of 20: 5 or fewer on either side (2 P(K <= 5) = .0414; at 6, .1153).
    at = stats.binom.cdf(5, 20, 0.3) + stats.binom.sf(14, 20, 0.3)
    assert conditional_power(20, 0.3, 0.05) == pytest.approx(at)


def test_what_a_criterion_needs() -> None:
    """2/2^6 = .03125, 1/2^5 = .03125, 4 >= 1.96^2 and (6-1)^2/6 = 4.17 reject at .05, one less does not.

    A margin of .05: z^2 * 19 = 72.99 pairs by Tango, ln(.025)/ln(.95) = 71.9 clusters by the zero-event bound.
    """
    assert [discordant_needed(0.05, test) for test in TESTS] == [6, 5, 4, 6]
    # Among four variants the first step of Holm is at .0125: 2/2^8 = .0078, and 2/2^7 = .0156 is too much.
    assert discordant_needed(0.05 / 4) == 8
    assert pairs_needed(0.05, 0.05) == (73, 72)
    assert pairs_needed(0.5, 0.05) == (4, 20)
    for margin, alpha in itertools.product((0.01, 0.03, 0.1), (0.05, 0.01)):
        pairs, clusters = pairs_needed(margin, alpha)
        assert tango(0, 0, pairs, alpha).high <= margin < tango(0, 0, pairs - 1, alpha).high
        if clusters > 20:
            assert 1 - (alpha / 2) ** (1 / clusters) <= margin < 1 - (alpha / 2) ** (1 / (clusters - 1))


def test_holm_by_hand() -> None:
    """.005*4, .01*3, .03*2, .04*1 but not below the one before; ties share; nothing is above 1."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.02, 0.02, 0.9]) == pytest.approx([0.06, 0.06, 0.9])
    assert holm([0.4, 1.0, 0.5]).tolist() == [1, 1, 1]
    # Two of five declared have a p value: they are adjusted as if the three were the largest.
    assert holm([0.02, 0.01], family=5) == pytest.approx([0.08, 0.05])
    assert holm([]).tolist() == []
    for bad in ([0.1, math.nan], [1.2], [-0.1]):
        with pytest.raises(ValueError, match="p value"):
            holm(bad)
