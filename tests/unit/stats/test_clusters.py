"""Effective sample sizes: worked by hand on designs whose variance is known."""

import numpy as np
import pytest
from scipy import stats

from lacre.stats.clusters import MIN_CLUSTERS, clustered_wilson, effective_size
from lacre.stats.proportions import Interval, wilson

# Student's t at .975 (tables): 19, 39, 79 and 799 degrees of freedom.
T = {19: 2.093024, 39: 2.022691, 79: 1.990450}


def ends(interval: Interval) -> tuple[float, float]:
    return float(interval.low), float(interval.high)


def test_identical_cases_in_a_cluster_are_worth_one() -> None:
    """20 clusters of two equal cases, half of them events: V = 20/19 * 20 / 40^2 = 1/76.

    pq/V = .25 * 76 = 19 = G - 1, shrunk by (t_39/t_19)^2; the design effect is (1/76)/(.25/40) = 40/19.
    """
    cluster = np.repeat(np.arange(20), 2)
    events = np.repeat([0, 1], 20)
    found = effective_size(events, cluster, 0.05)
    assert found.design_effect[0] == pytest.approx(40 / 19)
    assert found.size[0] == pytest.approx(19 * (T[39] / T[19]) ** 2, rel=1e-6)
    expected = wilson(found.size[0] / 2, found.size[0], 0.05)
    assert ends(clustered_wilson(events, cluster, 0.05)) == pytest.approx(ends(expected))


def test_clusters_better_than_independent_are_worth_no_more_than_their_cases() -> None:
    """Every cluster holds one event and one non-event, so V = 0: n_eff = n, shrunk, never infinite."""
    cluster = np.repeat(np.arange(20), 2)
    events = np.tile([0, 1], 20)
    assert effective_size(events, cluster, 0.05).size[0] == pytest.approx(40 * (T[39] / T[19]) ** 2, rel=1e-6)


def test_zero_events_count_clusters() -> None:
    cluster = np.repeat(np.arange(40), 2)
    zero = clustered_wilson(np.zeros(80, int), cluster, 0.05)
    assert ends(zero) == pytest.approx(ends(wilson(0, 40, 0.05)))
    every = clustered_wilson(np.ones(80, int), cluster, 0.05)
    assert ends(every) == pytest.approx(ends(wilson(40, 40, 0.05)))
    assert every.high == 1


def test_fewer_than_twenty_clusters_are_not_estimable() -> None:
    cluster = np.repeat(np.arange(MIN_CLUSTERS - 1), 10)
    for events in (np.zeros(190, int), np.tile([0, 1], 95)):
        assert np.isnan(effective_size(events, cluster, 0.05).size[0])
        assert np.isnan(clustered_wilson(events, cluster, 0.05)).all()


def test_cells_are_apart() -> None:
    """Two cells worked in one call give what each gives alone, although they share their clusters."""
    rng = np.random.default_rng(3)
    cluster = rng.integers(0, 60, 900)
    cell = rng.integers(0, 3, 900)
    events = (rng.random(900) < 0.3).astype(int)
    together = effective_size(events, cluster, 0.05, cell, 4)
    for c in range(3):
        alone = effective_size(events[cell == c], cluster[cell == c], 0.05)
        assert together.size[c] == pytest.approx(alone.size[0])
        assert together.clusters[c] == alone.clusters[0]
    assert np.isnan(together.size[3])
    assert together.cases[3] == 0


@pytest.mark.parametrize("missed", [1, 10, 50])
def test_a_cluster_that_is_most_of_a_cell_lends_it_no_certainty(missed: int) -> None:
    """1,000 cases of one cluster and 25 of their own are worth 1025^2 / (1000^2 + 25) clusters, not 26.

    The large cluster's residuals add up to about 0, so the variance between clusters alone would give nearly all
    1,025 cases, or more. G* is 1 but for 5e-5, and leaves no degree of freedom: the worth is all there is.
    """
    cluster = np.r_[np.zeros(1000, int), np.arange(1, 26)]
    events = np.r_[np.repeat([0, 1], [missed, 1000 - missed]), np.ones(25, int)]
    found = effective_size(events, cluster, 0.05)
    worth = 1025**2 / (1000**2 + 25)
    assert found.size[0] == pytest.approx(worth)
    assert found.design_effect[0] == pytest.approx(1025 / worth)
    assert clustered_wilson(events, cluster, 0.05).low < 0.35


def test_a_cluster_of_a_fifth_is_left_out_in_turn() -> None:
    """60 clusters of one case and one of 15, a fifth: G* = 285^2 / (15^4 + 60) = 1.6, and 19.7 equal ones.

    V is 60/61 times the sum of (p without a cluster - p)^2, worked out cluster by cluster. With 80 single cases
    (G* = 1.8, 29.6 equal ones) t is of 80 degrees of freedom; with 60, of G* - 1, and the worth is more.
    """
    for singles in (80, 60):
        cluster = np.r_[np.arange(singles), np.full(15, singles)]
        events = np.r_[np.tile([0, 0, 0, 0, 1], singles // 5), np.tile([1, 0, 0, 1, 0], 3)]
        n, p = len(events), events.mean()
        without = np.array([events[cluster != each].mean() for each in range(singles + 1)])
        variance = singles / (singles + 1) * ((without - p) ** 2).sum()
        t = [float(stats.t.ppf(0.975, freedom)) for freedom in (n - 1, singles)]
        jackknifed = p * (1 - p) / variance * (t[0] / t[1]) ** 2
        worth = n**2 / (15**2 + singles)
        expected = max(jackknifed, worth) if singles == 80 else worth
        found = effective_size(events, cluster, 0.05)
        assert found.size[0] == pytest.approx(expected)
        assert found.design_effect[0] == pytest.approx(n / expected)
        none = effective_size(0 * events, cluster, 0.05)
        assert none.size[0] == pytest.approx(n / 15)


def test_coverage_where_one_cluster_has_two_fifths_of_the_cases() -> None:
    """200 clusters of 5 and one of 667, each with its own rate of a beta distribution, of mean .3 and correlation .1.

    Simulated at nominal .95: the variance between clusters alone covers about .81 (its size computed here), and it is
    to be .93 at least.
    """
    rng = np.random.default_rng(20261130)
    sizes = np.r_[667, np.full(200, 5)]
    cluster, n = np.repeat(np.arange(201), sizes), int(sizes.sum())
    plain = held = 0
    for _ in range(300):
        rates = rng.beta(0.3 * 9, 0.7 * 9, 201)
        events = (rng.random(n) < rates[cluster]).astype(int)
        p = events.mean()
        residual = np.bincount(cluster, weights=events - p)
        bare = min(n, p * (1 - p) * n**2 / (201 / 200 * (residual**2).sum()))
        low, high = wilson(bare * p, bare, 0.05)
        plain += bool(low <= 0.3 <= high)
        low, high = clustered_wilson(events, cluster, 0.05)
        held += bool(low <= 0.3 <= high)
    assert plain / 300 < 0.88
    assert held / 300 >= 0.93


def test_uneven_clusters_that_are_many_are_left_alone() -> None:
    """30 clusters of 2 to 4 cases are worth 90^2 / 290 = 27.9: the variance between them stands as it is."""
    sizes = np.repeat([2, 3, 4], 10)
    cluster = np.repeat(np.arange(30), sizes)
    events = np.concatenate([np.arange(size) == 0 for size in sizes]).astype(int)
    residual = np.array([1 - size / 3 for size in sizes])
    variance = 30 / 29 * (residual**2).sum() / 90**2
    assert effective_size(events, cluster, 0.05).design_effect[0] == pytest.approx(variance * 90 / (2 / 9))
