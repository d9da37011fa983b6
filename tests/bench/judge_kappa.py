"""The bootstrap of a judge's weighted kappa, ten thousand resamples, beside a loop over scikit-learn.

Ours draws the table of bins and computes kappa, Gwet's coefficient and PABAK of every resample, as an analysis does.
The peer picks the cases of each resample and computes kappa alone; it runs fewer resamples and its time is scaled up,
in which it is linear, and the line says so. Ours is timed `rounds` times and its best is told.
"""

from time import perf_counter

import numpy as np
import sklearn
from sklearn.metrics import cohen_kappa_score
from tests.bench.measured import Measured

from lacre.stats.agreement import cross, linear
from lacre.stats.bootstrap import least_resamples
from lacre.stats.judge import resample

BARS = {1_000: 500.0, 100_000: 5_000.0}
BINS = 4


def run(
    sizes: tuple[int, ...] = (1_000, 100_000),
    resamples: int = 10_000,
    rounds: int = 7,
    peer_resamples: int = 40,
    seed: int = 20260613,
) -> list[Measured]:
    """Time `sizes` cases, at 95 %, and see that both resample alike."""
    measured = []
    for cases in sizes:
        rng = np.random.default_rng(seed)
        human = rng.choice(BINS, cases, p=[0.4, 0.3, 0.2, 0.1])
        judge = np.where(rng.random(cases) < 0.7, human, rng.integers(0, BINS, cases))
        ours = []
        for _round in range(rounds):
            started = perf_counter()
            table = cross(human, judge, BINS).table
            found = resample(
                [table], linear(BINS), alpha=0.05, resamples=max(resamples, least_resamples(0.05)), seed=seed
            )[0]
            ours.append(perf_counter() - started)
        started = perf_counter()
        values = []
        for _resample in range(peer_resamples):
            picked = rng.integers(0, cases, cases)
            values.append(
                cohen_kappa_score(human[picked], judge[picked], labels=[*range(BINS)], weights="linear")
            )
        scale = resamples / peer_resamples
        theirs = (perf_counter() - started) * scale
        # Of so few values the mean lies well inside the interval, if they are of the same distribution.
        assert found.low < np.mean(values) < found.high
        best = min(ours)
        peer = f"scikit-learn {sklearn.__version__}: cohen_kappa_score, a loop (from {peer_resamples:,} resamples)"
        measured.append(
            Measured(
                f"linear kappa, {resamples:,} resamples of {cases:,} cases", "s", best, peer, theirs,
                theirs / best, BARS.get(cases, 500.0),
            )
        )  # fmt: skip
    return measured
