"""Comparisons that share subjects: against the sum over all pairs of comparisons, and against literal resamples."""

import itertools

import numpy as np
import numpy.typing as npt
import pytest
from scipy import sparse, special, stats

from lacre.stats.clusters import MIN_CLUSTERS, effective_size
from lacre.stats.dyads import (
    WeightedSum,
    disjoint_comparisons,
    dyadic_size,
    dyadic_wilson,
    subject_bootstrap,
    subject_weights,
)
from lacre.stats.proportions import Interval, wilson

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def variance(events: Ints, a: Ints, b: Ints) -> float:
    """Sum r_k r_l over all ordered pairs of comparisons that have a subject in common, by n squared."""
    residual = events - events.mean()
    ends = [{i, j} for i, j in zip(a, b, strict=True)]
    total = sum(
        residual[k] * residual[m] for k, m in itertools.product(range(len(a)), repeat=2) if ends[k] & ends[m]
    )
    return float(total) / len(a) ** 2


def mixed(subjects: int, comparisons: int, seed: int) -> tuple[Ints, Ints, Ints]:
    """Return events and ends; some comparisons are genuine, some pairs come several times, at either end."""
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, subjects, (2, comparisons))
    effect = rng.random(subjects)
    return (rng.random(comparisons) < effect[a] * effect[b]).astype(np.int64), a, b


def test_variance_is_the_sum_over_comparisons_that_share_a_subject() -> None:
    events, a, b = mixed(25, 200, 1)
    found = dyadic_size(events, a, b)
    expected = variance(events, a, b)
    share = events.mean()
    assert found.size[0] == pytest.approx(share * (1 - share) / expected)
    assert found.design_effect[0] == pytest.approx(expected * 200 / (share * (1 - share)))
    assert (found.cases[0], found.events[0], found.subjects[0]) == (200, events.sum(), 25)
    n_eff = found.size[0]
    low, high = dyadic_wilson(found, 0.05)
    assert (low[0], high[0]) == pytest.approx(tuple(map(float, wilson(share * n_eff, n_eff, 0.05))))


def test_genuine_comparisons_are_clusters() -> None:
    """The cluster-robust variance of stats.clusters is V G/(G-1), and its size is shrunk by Student's t."""
    rng = np.random.default_rng(2)
    subject = rng.integers(0, 30, 400)
    events = (rng.random(400) < rng.random(30)[subject]).astype(np.int64)
    clustered = effective_size(events, subject, 0.05)
    shrunk = (special.stdtrit(399, 0.975) / special.stdtrit(29, 0.975)) ** 2
    found = dyadic_size(events, subject, subject)
    assert found.size[0] == pytest.approx(clustered.size[0] / shrunk * 30 / 29)


def test_one_subject_in_41_pairs() -> None:
    """A star: its comparisons all share the subject, so V = (sum r)^2 / n^2 = 0, which says nothing.

    It is worth one comparison if they all are the same, with events or without: G* is 1, which tells of no variance.
    """
    a, b = np.zeros(41, np.int64), np.arange(1, 42)
    events = (b <= 10).astype(np.int64)
    found = dyadic_size(events, a, b)
    assert (found.subjects[0], found.dense[0]) == (42, False)
    assert found.size[0] == pytest.approx(1)
    none = dyadic_size(0 * events, a, b)
    assert (none.size[0], none.disjoint[0]) == (1, 1)
    low, high = dyadic_wilson(none, 0.05)
    assert (low[0], high[0]) == pytest.approx((0, float(wilson(0, 1, 0.05).high)))
    # Ten further pairs of subjects of their own, listed last: all are disjoint, and one pair of the star with them.
    more = np.arange(50, 70)
    both = dyadic_size(np.zeros(51), np.append(a, more[::2]), np.append(b, more[1::2]))
    assert both.disjoint[0] == 11


def test_a_variance_below_zero_is_worth_all_cases() -> None:
    """Each of 25 subjects has an event with two others: every S_i is 0, and V = -sum R_ij^2 / n^2."""
    a, b = np.triu_indices(25, 1)
    found = dyadic_size(np.isin(b - a, [1, 24]).astype(np.int64), a, b)
    assert (found.size[0], found.events[0], found.design_effect[0]) == (300, 25, 0)


@pytest.mark.parametrize("matches", [1, 3, 10])
def test_one_subject_in_every_comparison_lends_no_certainty(matches: int) -> None:
    """A star of 300 comparisons is worth one, whatever its events are: all of it may be the one subject's doing.

    The residuals at the subject that all share add up to 0, so the others' alone would say that 300 comparisons
    tell as much as independent ones.
    """
    events = (np.arange(300) < matches).astype(np.int64)
    found = dyadic_size(events, np.zeros(300, np.int64), np.arange(1, 301))
    assert found.size[0] == pytest.approx(1)
    assert dyadic_wilson(found, 0.05).high[0] > 0.7


def test_a_subject_in_many_comparisons_is_left_out_in_turn() -> None:
    """One subject in 40 of 100 comparisons, 160 others in one each: p is taken again without each subject's own.

    V is 160/161 times the sum of the squared differences; t is of 160 degrees of freedom, since (2 * 100)^2 / (40^2 +
    160) = 22.7 equal subjects would leave as much. G* = (40^2 + 160)^2 / (40^4 + 160) = 1.2, so they are uneven.
    """
    a = np.r_[np.zeros(40, np.int64), np.arange(41, 101)]
    b = np.r_[np.arange(1, 41), np.arange(101, 161)]
    events = np.r_[np.tile([1, 0], 20), np.tile([0, 0, 1], 20)].astype(np.int64)
    p = events.mean()
    without = np.array([events[(a != each) & (b != each)].mean() for each in range(161)])
    jackknifed = 160 / 161 * ((without - p) ** 2).sum()
    t = [float(stats.t.ppf(0.975, freedom)) for freedom in (99, 160)]
    found = dyadic_size(events, a, b)
    assert found.size[0] == pytest.approx(p * (1 - p) / jackknifed * (t[0] / t[1]) ** 2)
    assert found.size[0] < 0.8 * p * (1 - p) / variance(events, a, b)
    assert found.design_effect[0] == pytest.approx(100 / found.size[0])


def test_coverage_where_one_subject_is_in_two_fifths_of_the_comparisons() -> None:
    """As `test_coverage`, sparse: 300 subjects, 600 comparisons, 240 of them with the first; simulated, .83 before."""
    rng = np.random.default_rng(20261130)
    truth, covered, rounds = float(special.ndtr(-0.5 / np.sqrt(1 + 2 * 0.64))), 0, 200
    for _ in range(rounds):
        a = np.r_[np.zeros(240, np.int64), rng.integers(1, 300, 360)]
        b = np.r_[rng.integers(1, 300, 240), rng.integers(1, 300, 360)]
        a, b = a[a != b], b[a != b]
        effect = rng.normal(0, 0.8, 300)
        events = (rng.random(len(a)) < special.ndtr(-0.5 + effect[a] + effect[b])).astype(np.int64)
        covered += covers(dyadic_wilson(dyadic_size(events, a, b), 0.05), truth)
    assert covered / rounds >= 0.92


def test_subjects_seldom_met_come_first() -> None:
    """Ten chains c - a - b - d, the middle pair listed first: 20 disjoint pairs, where the middle ones are 10."""
    a, b, c, d = np.arange(40).reshape(4, 10)
    assert disjoint_comparisons(np.concatenate([a, c, b]), np.concatenate([b, a, d])) == 20
    assert disjoint_comparisons(39 - np.concatenate([a, c, b]), 39 - np.concatenate([b, a, d])) == 20


def test_zero_events_and_nothing_but_events_count_disjoint_comparisons() -> None:
    a, b = np.triu_indices(MIN_CLUSTERS, 1)
    subject = np.repeat(np.arange(25), 3)
    for event in (0, 1):
        every = dyadic_size(np.full(len(a), event), a, b)
        assert (every.size[0], every.dense[0]) == (10, True)
        assert np.isnan(every.design_effect[0])
        genuine = dyadic_size(np.full(75, event), subject, subject)
        assert (genuine.size[0], genuine.disjoint[0]) == (25, 25)


def test_disjoint_comparisons_are_maximal() -> None:
    """A maximal matching has at least half the pairs of a maximum one, which scipy finds in bipartite graphs."""
    rng = np.random.default_rng(3)
    for probes, pairs in ((40, 30), (40, 200), (300, 400)):
        a, b = rng.integers(0, probes, pairs), rng.integers(0, probes, pairs)
        graph = sparse.csr_array(
            (np.ones(pairs), (a.astype(np.int32), b.astype(np.int32))), shape=(probes, probes)
        )
        most = int((sparse.csgraph.maximum_bipartite_matching(graph) >= 0).sum())
        found = disjoint_comparisons(a, b + probes)
        assert most / 2 <= found <= most
        assert disjoint_comparisons(b + probes, a) == found
        order = rng.permutation(pairs)
        assert disjoint_comparisons(a[order], b[order] + probes) == found
    assert disjoint_comparisons(np.empty(0, int), np.empty(0, int)) == 0


def test_what_is_not_estimable() -> None:
    """Fewer than twenty subjects, or a cell without comparisons."""
    a, b = np.triu_indices(MIN_CLUSTERS - 1, 1)
    for events in (np.zeros(len(a), int), np.arange(len(a)) % 2):
        found = dyadic_size(events, a, b, np.zeros(len(a), int), 2)
        assert np.isnan(found.size).all()
        assert np.isnan(dyadic_wilson(found, 0.05)).all()
        assert (found.cases[1], found.subjects[1], found.dense[1]) == (0, 0, False)
        assert np.isnan(subject_bootstrap(events, a, b, 0.05, 100, 1)[:2]).all()


def test_cells_are_apart() -> None:
    events, a, b = mixed(60, 900, 4)
    cell = np.random.default_rng(5).integers(0, 3, 900)
    together = dyadic_size(events, a * 1000, b * 1000, cell, 4)
    for at in range(3):
        inside = cell == at
        alone = dyadic_size(events[inside], a[inside], b[inside])
        for name in ("size", "cases", "events", "subjects", "dense", "design_effect"):
            assert getattr(together, name)[at] == pytest.approx(getattr(alone, name)[0])


def test_density_counts_pairs_once() -> None:
    """Of 25 subjects' 300 pairs half is 150; the same pair again, or turned around, is no further one."""
    a, b = np.triu_indices(25, 1)
    order = np.random.default_rng(6).permutation(300)
    for pairs, dense in ((150, True), (149, False)):
        some = order[:pairs]
        one, other = np.append(a[some], b[some]), np.append(b[some], a[some])
        assert dyadic_size(np.arange(2 * pairs) % 2, one, other).dense[0] == dense


@pytest.mark.parametrize(("subjects", "comparisons"), [(30, 600), (3000, 500)])
def test_weighted_sums(subjects: int, comparisons: int) -> None:
    """Both forms, a full and a sparse matrix, against the sum written out."""
    _, a, b = mixed(subjects, comparisons, 7)
    a[:50] = b[:50]
    weights = subject_weights(subjects, 20, np.random.default_rng(8))
    assert (weights.sum(axis=0) == subjects).all()
    expected = [sum(w[i] if i == j else w[i] * w[j] for i, j in zip(a, b, strict=True)) for w in weights.T]
    np.testing.assert_array_equal(WeightedSum(a, b)(weights), expected)


def test_subjects_are_drawn_as_they_always_were() -> None:
    """Row by row out of one stream of numbers, so that a result of an earlier version comes out again."""
    weights = subject_weights(2500, 7, np.random.default_rng(3))
    drawn = np.random.default_rng(3).integers(0, 2500, (7, 2500))
    expected = np.stack([np.bincount(row, minlength=2500) for row in drawn], axis=1)
    assert np.array_equal(weights, expected)


@pytest.mark.parametrize("turned", [False, True])
def test_weighted_sums_of_a_star(turned: bool) -> None:
    """Two subjects in 400 comparisons each, at either end, and some genuine ones: w_a w_b added one by one."""
    rng = np.random.default_rng(4)
    a, b = np.repeat([0, 1], 400), np.arange(2, 802)
    a, b = np.append(a, [5, 6, 6]), np.append(b, [5, 6, 6])
    weights = subject_weights(802, 9, rng)
    expected = [
        sum(float(w[i] * w[j]) if i != j else float(w[i]) for i, j in zip(a, b, strict=True))
        for w in weights.T
    ]
    ends = (b, a) if turned else (a, b)
    assert WeightedSum(*ends)(weights) == pytest.approx(expected)


def test_bootstrap_is_that_of_literal_resamples() -> None:
    """Each of 300 resamples written out from the same draws, in two cells; one has resamples without any case."""
    events, a, b = mixed(40, 300, 9)
    cell = np.zeros(300, int)
    cell[-1:] = 1
    rare = np.array([0, 0, 0, 1])
    events, cell = np.append(events, rare), np.append(cell, np.full(4, 1))
    a, b = np.append(a, [0, 0, 1, 1]), np.append(b, [0, 0, 1, 1])
    found = subject_bootstrap(events, a, b, 0.1, 300, 10, cell, 3)
    weights = subject_weights(40, 250, rng := np.random.default_rng(10)), subject_weights(40, 50, rng)
    rates = []
    for draw in np.concatenate(weights, axis=1).T:
        weight = np.where(a == b, draw[a], draw[a] * draw[b]) * (cell == 0)
        rates.append((weight * events).sum() / weight.sum())
    expected = np.quantile(rates, [0.05, 0.95])
    assert (found.low[0], found.high[0]) == pytest.approx(tuple(expected))
    assert list(found.undefined) == [0, 0, 0]
    assert np.isnan([found.low[1:], found.high[1:]]).all()  # four subjects at most, and none


def test_undefined_resamples_are_counted_and_left_out() -> None:
    """20 subjects, but each comparison one of subject 0, who is drawn in a resample with 1 - (19/20)^20 = .642."""
    a, b = np.zeros(19, np.int64), np.arange(1, 20)
    found = subject_bootstrap(np.arange(19) % 2, a, b, 0.05, 2000, 3)
    assert found.undefined[0] / 2000 == pytest.approx(1 - 0.642, abs=0.04)
    assert 0 < found.low[0] < 9 / 19 < found.high[0] < 1


def test_bootstrap_of_no_events_says_nothing() -> None:
    """It would be [0, 0]."""
    a, b = np.triu_indices(30, 1)
    for event in (0, 1):
        assert np.isnan(subject_bootstrap(np.full(len(a), event), a, b, 0.05, 100, 1)[:2]).all()


def covers(interval: Interval, truth: float) -> bool:
    return bool(interval.low[0] <= truth <= interval.high[0])


def test_coverage() -> None:
    """Events by a normal effect of each subject, added: at nominal .95 n_eff and the bootstrap hold, Wilson does not.

    P(event) = E Phi((-1.2 + u_i + u_j)) = Phi(-1.2 / sqrt(1 + 2 s^2)). STATISTICS e: naive .69, n_eff .90 to .96,
    the bootstrap .97 where dense.
    """
    rng = np.random.default_rng(12)
    spread, subjects, rounds = 0.3, 60, 250
    truth = float(special.ndtr(-1.2 / np.sqrt(1 + 2 * spread**2)))
    a, b = np.triu_indices(subjects, 1)
    naive = sized = drawn = 0
    for seed in range(rounds):
        effect = rng.normal(0, spread, subjects)
        events = (rng.random(len(a)) < special.ndtr(-1.2 + effect[a] + effect[b])).astype(np.int64)
        plain = wilson(events.sum(), len(a), 0.05)
        naive += covers(Interval(plain.low[None], plain.high[None]), truth)
        found = dyadic_size(events, a, b)
        assert found.dense[0]
        sized += covers(dyadic_wilson(found, 0.05), truth)
        low, high, _ = subject_bootstrap(events, a, b, 0.05, 300, seed)
        drawn += covers(Interval(low, high), truth)
    assert naive / rounds < 0.75
    assert 0.90 <= sized / rounds <= 0.97
    assert 0.92 <= drawn / rounds <= 0.99
