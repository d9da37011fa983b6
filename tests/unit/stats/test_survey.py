"""Estimates from samples of known probabilities: by enumeration of every sample, and by hand."""

from itertools import combinations, product
from math import prod

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from lacre.stats.proportions import rule_of_three, wilson
from lacre.stats.survey import (
    Estimates,
    Joint,
    horvitz_thompson_variance,
    interval,
    joint_faults,
    known_mean,
    mean,
    overlap_probability,
    proportion_interval,
    ratio,
    sen_yates_grundy_variance,
    strata,
    strata_faults,
    total,
    weights_of,
)

Floats = npt.NDArray[np.float64]

SIZES = np.array([1, 2, 3, 10])
VALUES = np.array([11.0, 20.0, 24.0, 245.0])


def successive() -> tuple[Floats, Floats]:
    """Joint and own probabilities of two draws, each with probability proportional to the sizes left.

    First i and then j: p_i p_j/(1 - p_i); a pair comes in either order.
    """
    p = SIZES / SIZES.sum()
    ordered = p[:, None] * p / (1 - p)[:, None]
    joint = ordered + ordered.T
    np.fill_diagonal(joint, 0)
    own = joint.sum(axis=1)  # of two units drawn, each has one other
    np.fill_diagonal(joint, own)
    return joint, own


def sample(*rows: int) -> tuple[Floats, Joint]:
    joint, own = successive()
    return VALUES[list(rows)], Joint(1 / own[list(rows)], joint[np.ix_(rows, rows)])


def test_probabilities_of_successive_draws() -> None:
    assert successive()[1] == pytest.approx([0.1900, 0.3705, 0.5393, 0.9002], abs=5e-5)


@pytest.mark.parametrize(
    ("rows", "value", "by_ht", "by_syg"),
    [((0, 1), 111.87, -14691.5, 47.1), ((2, 3), 316.67, 6782.8, 3259.8)],
)
def test_two_variances_of_one_sample(
    rows: tuple[int, int], value: float, by_ht: float, by_syg: float
) -> None:
    y, design = sample(*rows)
    assert joint_faults(design) == 0
    found = total(y, design)
    assert found.value[0] == pytest.approx(value, abs=0.005)
    assert found.variance[0] == pytest.approx(by_syg, abs=0.05)
    assert horvitz_thompson_variance(y, design) == pytest.approx(by_ht, abs=0.05)


def test_both_variances_are_right_on_average() -> None:
    """Over the six samples: the total 300 and, for both, the variance of its estimate, 4383.562."""
    joint, _ = successive()
    chance, values, syg, ht = [], [], [], []
    for rows in combinations(range(4), 2):
        y, design = sample(*rows)
        chance.append(joint[rows])
        values.append(total(y, design).value[0])
        syg.append(sen_yates_grundy_variance(y, design))
        ht.append(horvitz_thompson_variance(y, design))
    assert sum(chance) == pytest.approx(1)
    assert np.dot(chance, values) == pytest.approx(300)
    assert np.dot(chance, (np.array(values) - 300) ** 2) == pytest.approx(4383.562, abs=5e-4)
    assert np.dot(chance, syg) == pytest.approx(4383.562, abs=5e-4)
    assert np.dot(chance, ht) == pytest.approx(4383.562, abs=5e-4)


def test_a_negative_variance_is_reported_and_leaves_no_interval() -> None:
    """With p_12 above p_1 p_2, two far values make Sen-Yates-Grundy negative: (.3 - .4)/.4 (10 - 2)^2 * ..."""
    design = Joint(np.array([2.0, 1 / 0.6]), np.array([[0.5, 0.4], [0.4, 0.6]]))
    found = mean([5.0, 1.2], design)
    whole = total([5.0, 1.2], design)
    assert whole.variance[0] == pytest.approx((0.3 - 0.4) / 0.4 * (10 - 2) ** 2)
    assert whole.negative.tolist() == [True]
    assert np.isnan(interval(whole, 0.05)).all()
    assert found.negative.tolist() == [True]
    assert np.isnan(proportion_interval(mean([1, 0], design), 0.05).size).all()


def test_joint_probabilities_that_cannot_be_are_counted() -> None:
    joint = np.array(
        [[0.5, 0.6, 0.2, 0.0], [0.6, 0.5, 0.4, 0.2], [0.2, 0.4, 0.8, 0.4], [0.0, 0.25, 0.4, 0.6]]
    )
    # 1-2 is above both, 1-3 below .5 + .8 - 1, 1-4 is 0, 2-4 not symmetric; the fourth row's own is not .5.
    assert joint_faults(Joint(np.array([2.0, 2.0, 1.25, 2.0]), joint)) == 5


def test_pairs_of_simple_draws_give_the_stratified_variance() -> None:
    """In strata, p_ij = n(n-1)/N(N-1) inside one and the product across: both designs are one, domains too."""
    rng = np.random.default_rng(2)
    n, population = np.array([6, 9]), np.array([20, 15])
    h = np.repeat([0, 1], n)
    p = (n / population)[h]
    inside = (n * (n - 1) / (population * (population - 1)))[h]
    joint = np.where(h[:, None] == h, inside, p[:, None] * p)
    np.fill_diagonal(joint, p)
    y, x, domain = rng.normal(5, 2, 15), rng.normal(9, 1, 15), rng.integers(-1, 2, 15)
    one, other = strata(1 / p, h, population), Joint(1 / p, joint)
    assert joint_faults(other) == 0
    pairs: list[tuple[Estimates, Estimates]] = [
        (total(y, one, domain, 2), total(y, other, domain, 2)),
        (mean(y, one, domain, 2), mean(y, other, domain, 2)),
        (ratio(y, x, one), ratio(y, x, other)),
    ]
    for mine, theirs in pairs:
        assert mine.value == pytest.approx(theirs.value)
        assert mine.variance == pytest.approx(theirs.variance)
        assert mine.leverage.heaviest == pytest.approx(theirs.leverage.heaviest)
        assert mine.cases.tolist() == theirs.cases.tolist()


@pytest.mark.parametrize("clustered", [False, True])
def test_totals_and_their_variance_are_right_on_average(clustered: bool) -> None:
    """Over all 60 samples of 2 of 4 and 3 of 5 units, in two domains and outside: unbiased, both.

    Clustered, a unit is three rows, of both domains and none, and drawn whole. Strata share their codes.
    """
    rng = np.random.default_rng(8)
    rows = 3 if clustered else 1
    stratum = np.repeat([0] * 4 + [1] * 5, rows)
    unit = np.repeat([0, 1, 2, 3, 0, 1, 2, 3, 4], rows)
    y, domain = rng.integers(0, 20, 9 * rows).astype(float), rng.integers(-1, 2, 9 * rows)
    values, variances = [], []
    for first, second in product(combinations(range(4), 2), combinations(range(5), 3)):
        taken = np.where(stratum == 0, np.isin(unit, first), np.isin(unit, second))
        weight = np.where(stratum == 0, 4 / 2, 5 / 3)[taken]
        design = strata(weight, stratum[taken], [4, 5], unit[taken] if clustered else None)
        assert strata_faults(design)[3] == 0
        assert design.sampled.tolist() == [2, 3]
        found = total(y[taken], design, domain[taken], 2)
        values.append(found.value)
        variances.append(found.variance)
    true = [y[domain == d].sum() for d in range(2)]
    assert len(values) == 60
    assert np.mean(values, axis=0) == pytest.approx(true)
    assert np.mean(variances, axis=0) == pytest.approx(np.var(values, axis=0))


def test_a_domain_keeps_the_whole_sample() -> None:
    """By hand: stratum of 4 out of 10, the domain's values 3 and 5 in two of the four.

    Mean 4, residuals -1/5, 1/5, 0, 0 (the domain weighs 2 x 2.5), so t = -.5, .5, 0, 0 and
    V = (1 - 4/10) 4/3 (.25 + .25) = .4; had the domain been a sample of its own, (1 - 2/10) 2 (.5) = .8.
    The values outside the domain are not read.
    """
    design = strata(np.full(4, 2.5), np.zeros(4, int), [10])
    found = mean([3, 5, np.nan, 1.7e308], design, [0, 0, -1, -1], 2)
    assert found.value[0] == 4
    assert found.variance[0] == pytest.approx(0.4)
    assert (found.cases[0], found.units[0], found.freedom[0], found.leverage.heaviest[0]) == (2, 2, 1, 0.5)
    low, high = interval(found, 0.05)
    half = 12.7062 * 0.4**0.5  # Student's t of one degree of freedom
    assert (low[0], high[0]) == pytest.approx((4 - half, 4 + half), rel=1e-5)
    assert np.isnan([found.value[1], found.variance[1], low[1], high[1]]).all()
    known = known_mean([3, 5, 0, 0], design, [4, 1], [0, 0, -1, -1], 2)
    assert known.value.tolist() == [5, 0]
    assert known.variance[0] == pytest.approx(total([3, 5, 0, 0], design).variance[0] / 16)


def test_lonely_unsampled_and_short_strata_are_named() -> None:
    design = strata([5, 2, 2, 1, 1, 1, 3], [0, 1, 1, 3, 3, 3, 4], [5, 4, 7, 2, 3])
    found = strata_faults(design)
    assert [each.tolist() for each in found[:3]] == [[0, 4], [2], [3]]
    assert found.apart == 3  # the rows of stratum 3, which weigh 1 and not 2/3
    assert np.isnan(mean(np.arange(7.0), design).variance).all()
    apart = mean(np.arange(7.0), design, [0, 1, 1, 2, 2, 2, 3], 4).variance
    assert np.isnan(apart).tolist() == [True, False, True, True]


def test_a_stratum_drawn_whole_adds_no_variance_even_if_it_is_one_unit() -> None:
    design = strata([1, 5, 5], [0, 1, 1], [1, 10])
    assert [len(each) for each in strata_faults(design)[:3]] == [0, 0, 0]
    found = total([100, 1, 3], design)
    assert found.value[0] == 120
    assert found.variance[0] == pytest.approx(
        (1 - 2 / 10) * 10**2 / 2 * 2
    )  # N^2 (1 - f) s^2 / n, with s^2 = 2


def test_a_ratio_to_nothing_is_undefined() -> None:
    design = strata(np.full(4, 2.0), np.zeros(4, int), [8])
    found = ratio([1, 2, 3, 4], [0, 0, 1, 2], design, [0, 0, 1, 1], 2)
    assert np.isnan([found.value[0], found.variance[0]]).all()
    assert found.value[1] == pytest.approx(7 / 3)


def test_the_interval_of_a_thing_that_never_varies_is_undefined_unless_all_were_seen() -> None:
    part = strata(np.full(30, 4.0), np.zeros(30, int), [120])
    for value in (0.0, 0.1):
        assert np.isnan(interval(mean(np.full(30, value), part), 0.05)).all()
    whole = strata(np.ones(30), np.zeros(30, int), [30])
    low, high = interval(total(np.arange(30.0), whole), 0.05)
    assert (low[0], high[0]) == (435, 435)


def test_weights_are_at_least_one_and_probabilities_at_most() -> None:
    found = weights_of([0.5, 1, 0, -0.1, 1.01, np.nan, np.inf], "probability")
    assert found.bad.tolist() == [False, False, True, True, True, True, True]
    assert found.weight[:2].tolist() == [2, 1]
    assert np.isnan(found.weight[2:]).all()
    found = weights_of([2, 1, 0.99, np.nan, np.inf], "weight")
    assert found.bad.tolist() == [False, False, True, True, True]
    assert found.weight[:2].tolist() == [2, 1]


def test_overlapping_strata() -> None:
    """1 - (1 - .2)(1 - .5) = .6; in one stratum alone its own probability; certain in one is certain."""
    found = overlap_probability([[0.2, 0.5], [0.2, 0.0], [1.0, 0.5], [0.0, 0.0], [1e-12, 1e-12]])
    assert found[:4] == pytest.approx([0.6, 0.2, 1, 0])
    assert found[4] == pytest.approx(2e-12, rel=1e-9)
    three = list(product((0.1, 0.3), repeat=3))
    every = [1 - prod(1 - p for p in drawn) for drawn in three]
    assert overlap_probability(np.array(three)) == pytest.approx(every)


def test_a_simple_sample_of_very_many_is_wilson_on_its_cases_less_one() -> None:
    """V = pq/(n-1), so n_eff = n - 1, and both t have n - 1 degrees of freedom."""
    events = np.repeat([1, 0], [12, 48])
    found = proportion_interval(mean(events, strata(np.full(60, 50.0), np.zeros(60, int), [np.inf])), 0.05)
    low, high = wilson(0.2 * 59, 59, 0.05)
    assert found.size[0] == pytest.approx(59)
    assert found.design_effect[0] == pytest.approx(60 / 59)
    assert (found.interval.low[0], found.interval.high[0]) == pytest.approx((float(low), float(high)))


def test_unequal_weights_shrink_a_proportion() -> None:
    """Two strata by hand: W = .1 and .9, n = 60 and 40 of very many, p = .5 and .1.

    p = .14, V = .01 x .25/59 + .81 x .09/39 = .0019116, n_eff = .1204/.0019116 = 62.98, less the quantiles
    of t with 99 and 98 degrees of freedom.
    """
    weight = np.repeat([1000 / 60, 9000 / 40], [60, 40])
    events = np.repeat([1, 0, 1, 0], [30, 30, 4, 36])
    design = strata(weight, np.repeat([0, 1], [60, 40]), [np.inf, np.inf])
    found = mean(events, design)
    assert found.value[0] == pytest.approx(0.14)
    assert found.variance[0] == pytest.approx(0.01 * 0.25 / 59 + 0.81 * 0.09 / 39)
    size = 0.1204 / found.variance[0] * (stats.t.ppf(0.975, 99) / stats.t.ppf(0.975, 98)) ** 2
    assert proportion_interval(found, 0.05).size[0] == pytest.approx(size)


def test_no_proportion_is_worth_more_than_its_cases() -> None:
    """A sample of nearly all has almost no variance left; the cap keeps Wilson's interval of its cases."""
    events = np.repeat([1, 0], [12, 48])
    found = proportion_interval(mean(events, strata(np.full(60, 61 / 60), np.zeros(60, int), [61])), 0.05)
    assert found.size[0] == 60


def test_zero_events_count_cases_of_equal_weight() -> None:
    """0 of 60: the rule of three on 60, 5 %; and all of 60 likewise."""
    design = strata(np.full(60, 10.0), np.repeat([0, 1], 30), [300, 300])
    none, every = (proportion_interval(mean(np.full(60, value), design), 0.05) for value in (0, 1))
    assert none.size[0] == pytest.approx(60)
    assert rule_of_three(none.size).rule_of_three[0] == pytest.approx(0.05)
    assert none.interval.low[0] == 0
    assert none.interval.high[0] == pytest.approx(float(wilson(0, 60, 0.05).high))
    assert every.interval.high[0] == 1
    assert every.interval.low[0] == pytest.approx(1 - none.interval.high[0])


def test_zero_events_where_few_cases_stand_for_most() -> None:
    """990 rows that stand for one each and 10 that stand for 99: events among the latter are easily missed.

    With events among 11 % of what the ten stand for, which is half of all, none of the ten is one in .89^10 =
    31 % of samples: 3/1000 would be wrong. The weight of all is that of 1980/99 = 20 of them, and 3/20 = .15
    covers the (1 - .05^(1/10))/2 = .13 that ten cases of one half leave.
    """
    weight = np.repeat([1.0, 99.0], [990, 10])
    design = strata(weight, np.repeat([0, 1], [990, 10]), [np.inf, np.inf])
    found = proportion_interval(mean(np.zeros(1000), design), 0.05)
    assert found.size[0] == pytest.approx(20)
    bound = rule_of_three(found.size).rule_of_three[0]
    assert bound == pytest.approx(0.15)
    assert bound > (1 - 0.05**0.1) / 2
    # All of one stratum and none of the other: the variance is 0, which is no knowledge either.
    apart = proportion_interval(mean(weight == 1, design), 0.05)
    assert apart.size[0] == pytest.approx(20)
    assert apart.interval.high[0] - apart.interval.low[0] > 0.3


def test_fewer_than_twenty_clusters_are_not_estimable() -> None:
    for count, known in ((19, False), (20, True)):
        unit = np.repeat(np.arange(count), 4)
        design = strata(np.full(4 * count, 10.0), np.zeros(4 * count, int), [10 * count], unit)
        events = np.arange(4 * count) % 3 == 0
        for each in (events, np.zeros(4 * count)):
            found = proportion_interval(mean(each, design), 0.05)
            assert bool(np.isfinite(found.interval.high[0])) is known
    assert found.size[0] == pytest.approx(20)  # none of 80 rows in 20 clusters


def test_a_unit_that_carries_a_domain_is_left_out_in_turn() -> None:
    """60 clusters of one case and one of 10, a seventh, of weight 5: V is of the means that each leaves without it.

    The 61 means are computed one by one; V = 60/61 times the sum of their squared distances from their own mean, the
    jackknife of one stratum drawn out of very many. G* = 160^2 / (10^4 + 60) = 2.5, and 70^2/160 = 30.6 equal clusters
    would leave as much: t is of 60 degrees of freedom. Of 40 single cases it is 17.9, and no less than that worth.
    """
    for singles in (60, 40):
        cluster = np.r_[np.arange(singles), np.full(10, singles)]
        events = np.r_[np.tile([0, 0, 0, 1], singles // 4), np.tile([0, 1], 5)]
        n = len(events)
        design = strata(np.full(n, 5.0), np.zeros(n, int), [np.inf], cluster)
        found, p = mean(events, design), events.mean()
        left = np.array([events[cluster != each].mean() for each in range(singles + 1)])
        variance = singles / (singles + 1) * ((left - left.mean()) ** 2).sum()
        assert found.without[0] == pytest.approx(variance)
        t = [float(stats.t.ppf(0.975, freedom)) for freedom in (n - 1, singles)]
        worth = n**2 / (100 + singles)
        size = p * (1 - p) / variance * (t[0] / t[1]) ** 2 if singles == 60 else worth
        assert proportion_interval(found, 0.05).size[0] == pytest.approx(max(size, worth))
        assert max(size, worth) < 0.97 * p * (1 - p) / found.variance[0]


def test_one_row_of_a_domain_says_what_one_case_says() -> None:
    design = strata(np.full(4, 2.5), np.zeros(4, int), [10])
    found = proportion_interval(mean([1, 0, 0, 1], design, [0, 1, -1, -1], 3), 0.05)
    assert found.size[:2] == pytest.approx([1, 1])
    assert found.interval.low[0] == pytest.approx(float(wilson(1, 1, 0.05).low))
    assert np.isnan([found.size[2], found.interval.low[2]]).all()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("large", [1e155, 1e200, 1e308])
def test_what_is_more_than_a_float_holds_is_infinite_and_not_warned_of(large: float) -> None:
    """Squares overflow from 1e155 on, sums at 1e308; of mixed signs neither is nan, which says another thing."""
    values = np.array([1, -1, 3, -1]) * min(large, 5e307)
    stratified = strata(np.full(4, 10.0), np.zeros(4), [40])
    sampled = Joint(np.full(4, 2.0), np.where(np.eye(4), 0.5, 0.2))
    for found in (mean(values, stratified), total(values, stratified), ratio(values, values**0, sampled)):
        assert np.isinf(found.variance)
        assert not np.isnan(found.value)
        assert not np.isfinite(interval(found, 0.05)).any()
    assert np.isinf(ratio([1, 1, 1, 1], np.full(4, 1e308), stratified).value)
    assert np.isnan(ratio([1, 1, 1, 1], np.zeros(4), stratified).value)
    assert np.isinf(horvitz_thompson_variance(values, sampled))
