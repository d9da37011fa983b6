"""Intervals of rates over comparisons that share subjects: from the subjects' sums, and by drawing subjects.

A million comparisons in four groups are held against two seconds, with false matches and, which is slower, with none.
They are of probes against others, who are nobody's probe: there, and only there, clustering by both ends, as
statsmodels has it, is the same number. The subject bootstrap has no peer but a loop, which is run on a few resamples
and scaled up. All are timed `rounds` times and the best is told.
"""

from collections.abc import Callable
from importlib.metadata import version
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt
from statsmodels.regression.linear_model import OLS
from statsmodels.stats.sandwich_covariance import cov_cluster_2groups
from tests.bench.measured import Measured

from lacre.stats.dyads import dyadic_size, dyadic_wilson, subject_bootstrap

SECONDS = 2.0
GROUPS = 4
Ints = npt.NDArray[np.int64]


def run(
    comparisons: int = 1_000_000,
    subjects: int = 4000,
    resamples: int = 1000,
    rounds: int = 3,
    peer_resamples: int = 3,
    seed: int = 20260902,
) -> list[Measured]:
    """Time `comparisons` over four groups of `subjects`, and `resamples` of six tenths of all pairs of them."""
    rng = np.random.default_rng(seed)
    return [
        *_sums(rng, comparisons, subjects, rounds),
        _drawn(rng, subjects, resamples, rounds, peer_resamples),
    ]


def _sums(rng: np.random.Generator, comparisons: int, subjects: int, rounds: int) -> list[Measured]:
    group = rng.integers(0, GROUPS, comparisons)
    probe = rng.integers(0, subjects, comparisons) + group * 2 * subjects
    other = rng.integers(0, subjects, comparisons) + group * 2 * subjects + subjects
    ease = rng.exponential(1.0, GROUPS * 2 * subjects)
    event = (rng.random(comparisons) < 0.01 * ease[probe] * ease[other]).astype(np.int64)

    def interval(events: Ints) -> Any:
        found = dyadic_size(events, probe, other, group, GROUPS)
        dyadic_wilson(found, 0.05)
        return found

    ours, found = _best(rounds, lambda: interval(event))
    none, _ = _best(rounds, lambda: interval(np.zeros_like(event)))
    theirs, variances = _best(
        rounds, lambda: [_two_way(event, probe, other, group == at) for at in range(GROUPS)]
    )
    rate = found.events / found.cases
    effective = np.minimum(found.cases, rate * (1 - rate) / np.array(variances))
    assert np.allclose(found.size, effective, rtol=1e-6)
    name = f"dyadic intervals, {comparisons:,} comparisons"
    peer = f"statsmodels {version('statsmodels')}: OLS, cov_cluster_2groups"
    return [
        Measured(name, "s", ours, peer, theirs, theirs / ours),
        Measured(
            "  beside what it may take", "s", ours, "what it may take", SECONDS, ours / SECONDS, 1, at_least=False
        ),
        Measured(
            "  and without a false match", "s", none, "what it may take", SECONDS, none / SECONDS, 1, at_least=False
        ),
    ]  # fmt: skip


def _two_way(event: Ints, probe: Ints, other: Ints, inside: npt.NDArray[np.bool_]) -> float:
    """The variance of a mean, clustered by both ends."""
    fitted = OLS(event[inside], np.ones(np.count_nonzero(inside))).fit()
    variance, _, _ = cov_cluster_2groups(fitted, probe[inside], other[inside], use_correction=False)
    return float(np.asarray(variance).ravel()[0])


def _drawn(
    rng: np.random.Generator, subjects: int, resamples: int, rounds: int, peer_resamples: int
) -> Measured:
    one, other = np.triu_indices(subjects, 1)
    kept = rng.random(len(one)) < 0.6
    one, other = one[kept], other[kept]
    ease = rng.exponential(1.0, subjects)
    event = rng.random(len(one)) < 0.01 * ease[one] * ease[other]

    def loop() -> list[float]:
        rates = []
        for _resample in range(peer_resamples):
            drawn = np.bincount(rng.integers(0, subjects, subjects), minlength=subjects)
            weight = drawn[one] * drawn[other]
            rates.append(weight[event].sum() / weight.sum())
        return rates

    ours, found = _best(rounds, lambda: subject_bootstrap(event, one, other, 0.05, resamples, 20260902))
    theirs, rates = _best(rounds, loop)
    theirs *= resamples / peer_resamples
    # A resample's rate lies well within twice the interval's width of it.
    width = found.high[0] - found.low[0]
    assert all(found.low[0] - 2 * width < rate < found.high[0] + 2 * width for rate in rates)
    return Measured(
        f"subject bootstrap of {resamples:,}, {subjects:,} subjects", "s", ours,
        f"numpy {np.__version__}: a loop over {len(one):,} comparisons (from {peer_resamples} resamples)", theirs,
        theirs / ours,
    )  # fmt: skip


def _best(rounds: int, work: Callable[[], Any]) -> tuple[float, Any]:
    """The fewest seconds that `work` took, and what it gave."""
    seconds, given = [], None
    for _round in range(rounds):
        started = perf_counter()
        given = work()
        seconds.append(perf_counter() - started)
    return min(seconds), given
