"""Effective sample sizes: worked by hand on designs whose variance is known."""

import numpy as np
import pytest

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
    1,025 cases, or more. The design effect is what the worth says, n / worth.
    """
    cluster = np.r_[np.zeros(1000, int), np.arange(1, 26)]
    events = np.r_[np.repeat([0, 1], [missed, 1000 - missed]), np.ones(25, int)]
    found = effective_size(events, cluster, 0.05)
    worth = 1025**2 / (1000**2 + 25)
    assert found.design_effect[0] == pytest.approx(1025 / worth)
    assert found.size[0] < worth
    assert clustered_wilson(events, cluster, 0.05).low < 0.35


def test_uneven_clusters_that_are_many_are_left_alone() -> None:
    """30 clusters of 2 to 4 cases are worth 90^2 / 290 = 27.9: the variance between them stands as it is."""
    sizes = np.repeat([2, 3, 4], 10)
    cluster = np.repeat(np.arange(30), sizes)
    events = np.concatenate([np.arange(size) == 0 for size in sizes]).astype(int)
    residual = np.array([1 - size / 3 for size in sizes])
    variance = 30 / 29 * (residual**2).sum() / 90**2
    assert effective_size(events, cluster, 0.05).design_effect[0] == pytest.approx(variance * 90 / (2 / 9))
