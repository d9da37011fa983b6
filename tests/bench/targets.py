"""Four thresholds from ten million comparisons, beside scikit-learn's whole curve: how long, and in what memory.

One comparison in ten is of one subject; ours begins with picking the others' scores. Both are timed `rounds` times, in
turn, and each one's best is told. Memory is what a process beside holds at most beyond the scores, for each of the two.
"""

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter

import numpy as np
import numpy.typing as npt
import sklearn
from sklearn.metrics import det_curve
from tests.bench.measured import Measured

from lacre.stats.thresholds import Attained, thresholds_for_false_match

BAR = 15
TARGETS = (1e-1, 1e-2, 1e-3, 1e-4)
Scores = npt.NDArray[np.float64]
Same = npt.NDArray[np.bool_]


def run(size: int = 10_000_000, rounds: int = 3, seed: int = 20260902) -> list[Measured]:
    """Find both answers to `size` scores, after their memory, and see that they are the same."""
    with ProcessPoolExecutor(1, get_context("spawn")) as fresh:
        held, bare = (fresh.submit(_held, which, size, seed).result() for which in ("lacre", "peer"))
    same, score = _data(size, seed)
    ours, theirs = [], []
    for _round in range(rounds):
        started = perf_counter()
        found = _ours(same, score)
        ours.append(perf_counter() - started)
        started = perf_counter()
        false_match, _missed, _thresholds = det_curve(same, score)
        theirs.append(perf_counter() - started)
    for target, at in zip(TARGETS, found, strict=True):
        assert at.events / at.cases == false_match[false_match <= target].max()
    peer = f"scikit-learn {sklearn.__version__}: det_curve"
    return [
        Measured(
            f"{len(TARGETS)} false match targets, {size:,} scores", "s", min(ours), peer, min(theirs),
            min(theirs) / min(ours), BAR,
        ),
        Measured(
            "the memory that takes, beyond the scores", "MiB", held, peer, bare, held / bare, 1, at_least=False
        ),
    ]  # fmt: skip


def _data(size: int, seed: int) -> tuple[Same, Scores]:
    rng = np.random.default_rng(seed)
    same = rng.random(size) < 0.1
    return same, rng.normal(2.0 * same)


def _ours(same: Same, score: Scores) -> tuple[Attained, ...]:
    return thresholds_for_false_match(score[~same], TARGETS, "similarity")


def _held(which: str, size: int, seed: int) -> float:
    """How much more memory this process held at most than before, in MiB."""
    same, score = _data(size, seed)
    # A peak is kept for as long as a process lives, and the making of the scores is in it.
    Path("/proc/self/clear_refs").write_text("5")
    before = _status("VmRSS")
    if which == "lacre":
        _ours(same, score)
    else:
        det_curve(same, score)
    return (_status("VmHWM") - before) / 1024


def _status(name: str) -> int:
    """A figure of this process, in KiB (Linux). `getrusage` would tell the peak of the process that began this one."""
    [line] = [each for each in Path("/proc/self/status").read_text().splitlines() if each.startswith(name)]
    return int(line.split()[1])
