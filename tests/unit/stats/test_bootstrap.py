"""Resampling of whole clusters: against distributions known in closed form, and where nothing was seen."""

import math

import numpy as np
import pytest
from scipy import stats

from lacre.stats import bootstrap
from lacre.stats.bootstrap import (
    Percentile,
    Types,
    cluster_totals,
    least_resamples,
    linked_clusters,
    not_narrower,
    percentile_interval,
    resampled_totals,
    stratum_difference,
    types_of,
)


def test_least_resamples_are_counted_in_decimals() -> None:
    """50 K / alpha: 1500 for three at .1, where floats make 1500.0000000000002; rounded up otherwise."""
    asked = [(0.05, 1), (0.05, 6), (0.1, 3), (0.01, 1), (0.3, 7)]
    assert [least_resamples(alpha, k) for alpha, k in asked] == [1000, 6000, 1500, 5000, 1167]
    assert [least_resamples(0.05 / k) for k in (3, 7, 19)] == [3000, 7000, 19000]
    with pytest.raises(ValueError, match="needs 1000"):
        percentile_interval(np.zeros(999), 0.05)


def test_quantiles_are_of_type_7() -> None:
    """Of 0, 1, …, 1000 the type 7 quantile at p is 1000 p; what is not finite is left out and counted."""
    values = np.random.default_rng(0).permutation(1001).astype(float)
    assert percentile_interval(values, 0.05) == pytest.approx((25, 975, 0))
    with_undefined = np.concatenate([values, np.full(52, np.nan)])
    assert percentile_interval(with_undefined, 0.05) == pytest.approx((25, 975, 52))


def test_too_many_undefined_resamples_estimate_nothing() -> None:
    """50 of 1000 is the share allowed; one more, and there is no interval: but the count is told."""
    values = np.arange(1000.0)
    values[:50] = np.inf
    assert percentile_interval(values, 0.05).undefined == 50
    assert not math.isnan(percentile_interval(values, 0.05).low)
    values[50] = np.nan
    low, high, undefined = percentile_interval(values, 0.05)
    assert np.isnan([low, high]).all()
    assert undefined == 51
    assert np.isnan(not_narrower(Percentile(low, high, undefined), 0.1, 40, 0.05)[:2]).all()


def test_types_are_the_distinct_clusters_whatever_their_order() -> None:
    cluster = np.array([7, 7, 3, 9, 3, 9, 9, 11])
    events = np.array([1, 0, 1, 0, 0, 1, 0, 0])
    totals = cluster_totals(cluster, events, np.ones(8))
    assert [total.tolist() for total in totals] == [[1, 1, 1, 0], [2, 2, 3, 1]]
    values, clusters = types_of(*totals)
    assert values.tolist() == [[0, 1], [1, 2], [1, 3]]
    assert clusters.tolist() == [1, 2, 1]
    shuffled = types_of(*(total[::-1] for total in totals))
    assert (shuffled.values == values).all()
    assert (shuffled.clusters == clusters).all()
    assert cluster_totals(None, events)[0].tolist() == events.tolist()


@pytest.mark.parametrize("shift", [0.0, -7.0, 1e15, 0.25])
def test_types_are_the_distinct_rows(shift: float) -> None:
    """As `numpy.unique` has them: small whole numbers, which are counted, and others, which are sorted."""
    rng = np.random.default_rng(12)
    table = [rng.integers(-1, 2, 300) + shift, rng.integers(1, 9, 300).astype(float)]
    for columns in (table, [*table, rng.integers(0, 90, 300)], [table[0][:1], table[1][:1]]):
        values, clusters = types_of(*columns)
        rows, expected = np.unique(np.stack(columns, axis=-1), axis=0, return_counts=True)
        assert (values == rows).all()
        assert (clusters == expected).all()


def test_rows_that_share_an_item_or_a_cluster_are_linked() -> None:
    """Items 1 and 2 in one image, 3 in two, the second of them 4's; 5 alone, whatever the codes."""
    item = np.array([1, 1, 2, 3, 3, 4, 5])
    image = np.array([70, 70, 70, 80, 90, 90, 30])
    found = linked_clusters(item, image)
    assert len(set(found)) == 3
    assert found[0] == found[1] == found[2]
    assert found[3] == found[4] == found[5]
    # A second kind of cluster links further: 5 shares a subject with 1.
    both = linked_clusters(item, image, np.array([0, 1, 2, 3, 4, 5, 0]))
    assert both[6] == both[0] != both[3]
    assert len(linked_clusters([], [])) == 0
    assert linked_clusters([4, 4, 2])[0] == linked_clusters([4, 4, 2])[1]


@pytest.mark.parametrize("distinct", [False, True])
def test_resampled_totals_are_binomial(distinct: bool) -> None:
    """Of 40 clusters, 10 with an event, a resample's events are binomial of 40 at 1/4.

    Drawn by types and, where real numbers make every cluster a type of its own, cluster by cluster.
    """
    events = np.repeat([1.0, 0.0], [10, 30])
    other = np.arange(40.0) if distinct else np.ones(40)
    drawn = resampled_totals(types_of(events, other), 20_000, 4)
    found = np.bincount(drawn[:, 0].astype(int), minlength=41)
    expected = stats.binom.pmf(np.arange(41), 40, 0.25) * 20_000
    kept = expected >= 5
    assert (
        stats.chisquare(found[kept], expected[kept] / expected[kept].sum() * found[kept].sum()).pvalue > 1e-3
    )
    # The mean of 0, …, 39 is 19.5 and its variance (1600 - 1)/12: a total's mean is 40 times the one.
    if distinct:
        assert drawn[:, 1].mean() == pytest.approx(40 * 19.5, abs=4 * math.sqrt(40 * 1599 / 12 / 20_000))


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    weights = np.random.default_rng(1).random(50)
    both = [types_of(weights), types_of(np.round(weights, 1))]
    assert [len(types.clusters) for types in both] == [50, 11]
    whole = [resampled_totals(types, 500, 9) for types in both]
    monkeypatch.setattr(bootstrap, "BLOCK", 700)
    for types, expected in zip(both, whole, strict=True):
        assert (resampled_totals(types, 500, 9) == expected).all()


def test_never_narrower_than_zero_events_allow() -> None:
    """0/119: .030523 to each side of the estimate (Clopper-Pearson's upper end), and within [-1, 1]."""
    point = Percentile(0.2, 0.2, 0)
    assert not_narrower(point, 0.2, 119, 0.05)[:2] == pytest.approx((0.169477, 0.230523), abs=5e-7)
    wide = Percentile(0.1, 0.4, 3)
    assert not_narrower(wide, 0.2, 119, 0.05) == wide
    assert not_narrower(Percentile(1.0, 1.0, 0), 1.0, 30, 0.05).high == 1.0


def difference(first: tuple[int, int], second: tuple[int, int]) -> bootstrap.StratumDifference:
    """Return the difference of two proportions of cases that are their own clusters."""
    event = np.concatenate([np.arange(n) < k for k, n in (first, second)])
    inside = np.repeat([1, 0], [first[1], second[1]])
    return stratum_difference(
        event * inside, inside, event * (1 - inside), 1 - inside, alpha=0.05, resamples=4000, seed=8
    )


def test_two_strata_without_events_still_differ_by_what_zero_allows() -> None:
    """0/40 against 0/60: nothing was seen, and 1 - .025^(1/40) = .0881 remains; no point, no 0 to 0."""
    found = difference((0, 40), (0, 60))
    assert (found.difference, found.clusters) == (0, (40, 60))
    bound = 1 - 0.025 ** (1 / 40)
    assert (found.low, found.high) == pytest.approx((-bound, bound))
    every = difference((40, 40), (0, 60))
    assert (every.difference, every.high) == (1, 1)
    assert every.low == pytest.approx(1 - bound)


def test_difference_of_independent_strata() -> None:
    """300/1000 - 200/1000: the normal interval is .1 -+ 1.96 sqrt(.21/1000 + .16/1000) = .1 -+ .0377."""
    found = difference((300, 1000), (200, 1000))
    assert found.difference == pytest.approx(0.1)
    assert (found.low, found.high) == pytest.approx((0.0623, 0.1377), abs=0.003)


def test_a_cluster_with_cases_of_both_strata_cancels() -> None:
    """Every image holds one case of each stratum, and both or neither is an event: the difference is 0.

    The clustered interval is then the zero-event bound on 200 images, far narrower than independent cases'.
    """
    event = np.repeat([1, 0], [80, 120])
    one = np.ones(200)
    found = stratum_difference(event, one, event, one, alpha=0.05, resamples=2000, seed=1)
    bound = 1 - 0.025 ** (1 / 200)
    assert (found.difference, found.low, found.high) == pytest.approx((0, -bound, bound))
    assert found.clusters == (200, 200)


def test_weights_of_one_size_change_nothing_but_rounding() -> None:
    rng = np.random.default_rng(6)
    cases = rng.integers(0, 4, (2, 300))
    events = rng.binomial(cases, [[0.4], [0.3]])
    plain = stratum_difference(events[0], cases[0], events[1], cases[1], alpha=0.05, resamples=2000, seed=3)
    weighted = stratum_difference(
        events[0] * 0.7, cases[0] * 0.7, events[1] * 0.7, cases[1] * 0.7, alpha=0.05, resamples=2000, seed=3
    )
    assert weighted[:3] == pytest.approx(plain[:3], abs=1e-12)


def test_clusters_without_a_case_of_either_do_not_count() -> None:
    """60 images without a face of either stratum are no draws: nothing changes by them."""
    rng = np.random.default_rng(14)
    cases = rng.integers(1, 3, (2, 60))
    events = rng.binomial(cases, 0.5)
    columns = [events[0], cases[0], events[1], cases[1]]
    padded = [np.concatenate([column, np.zeros(60)]) for column in columns]
    found = [stratum_difference(*each, alpha=0.05, resamples=1000, seed=2) for each in (columns, padded)]
    assert found[0] == found[1]


def test_not_estimable_is_told_as_such() -> None:
    """A stratum without cases has no difference; one with 19 clusters has no interval."""
    absent = difference((3, 40), (0, 0))
    assert np.isnan(absent[:3]).all()
    assert absent.clusters == (40, 0)
    few = difference((3, 40), (2, 19))
    assert few.difference == pytest.approx(3 / 40 - 2 / 19)
    assert np.isnan([few.low, few.high]).all()


def test_strata_too_rare_to_be_drawn_are_undefined(monkeypatch: pytest.MonkeyPatch) -> None:
    """One cluster of 40 holds the second stratum: (39/40)^40 = .363 of the resamples have none of it."""
    monkeypatch.setattr(bootstrap, "MIN_CLUSTERS", 1)
    found = difference((3, 39), (1, 1))
    assert found.undefined / 4000 == pytest.approx((39 / 40) ** 40, abs=0.03)
    assert np.isnan([found.low, found.high]).all()


def test_types_hold_real_numbers() -> None:
    assert types_of([0.1, 0.3, 0.1], [1, 1, 1])[1].tolist() == [2, 1]
    assert isinstance(types_of([0.1]), Types)
