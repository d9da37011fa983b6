"""Proportions of comparisons that share subjects: the sample size they are worth, and a subject bootstrap.

A comparison has two ends, `a` and `b`, each the integer code of a subject, 0 and up. A genuine one has the same
subject at both and touches it once. Two comparisons that share a subject resemble each other, whichever ends
they share it at, so neither one of the columns alone nor the pair is a cluster.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from lacre.stats.clusters import MIN_CLUSTERS, held_back, jackknifed, leverage
from lacre.stats.proportions import Floats, Interval, wilson

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.integer[Any]]
Bools = npt.NDArray[np.bool_]

DENSE = 0.5
"""From this share of all possible pairs on, the subject bootstrap is the better interval."""

BLOCK = 250
"""Resamples drawn at a time: it bounds the memory, and no result depends on it."""

_MATRIX_LIMIT = 8192
_MATRIX_SHARE = 1 / 50
_MATCHING_BLOCK = 1 << 16
_TILE = 1 << 10


class Dyads(NamedTuple):
    """Per cell, arrays of shape (cells,).

    `size` is the effective sample size, nan where it cannot be estimated. `disjoint` is the size of a maximal
    set of comparisons that share no subject, counted where there are no events or nothing but events, else 0.
    `dense`: at least half of all pairs of different subjects are present. The design effect is nan where
    p q = 0.
    """

    size: Floats
    cases: Ints
    events: Ints
    subjects: Ints
    disjoint: Ints
    dense: Bools
    design_effect: Floats


def dyadic_size(
    events: npt.ArrayLike,
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    cell: npt.ArrayLike | None = None,
    cells: int = 1,
    alpha: float = 0.05,
) -> Dyads:
    """Return the effective sample size of a proportion of comparisons in each of `cells` cells.

    n_eff = min(n, p q / V) with V = (sum_i S_i^2 - sum_{i<j} R_ij^2) / n^2: S_i sums the residuals of the
    comparisons that touch subject i, R_ij of those between i and j. Where V <= 0, n_eff = n. Without events,
    or with nothing but events, V says nothing and n_eff is the number of disjoint comparisons. Fewer than
    `MIN_CLUSTERS` subjects in a cell: not estimable, nan. Where a few subjects are in many comparisons it is worth
    less, at the `alpha` that the interval is to have (`lacre.stats.clusters.held_back`): a subject's share is that
    of the comparisons it is in, and all that share a subject are taken to be the same, at worst.

    `events` is 0 or 1 per comparison. Sources: Fafchamps and Gubert 2007; Aronow, Samii and Assenova 2015.
    """
    seen = np.asarray(events, np.int64)
    present, one, other = compact(np.asarray(a, np.int64), np.asarray(b, np.int64))
    group = np.zeros(len(seen), np.int64) if cell is None else np.asarray(cell, np.int64)
    width = len(present)
    n = np.bincount(group, minlength=cells).astype(np.int64)
    k = np.bincount(group[seen == 1], minlength=cells).astype(np.int64)
    with np.errstate(divide="ignore", invalid="ignore"):
        p = k / n
    residual = seen - p[group]
    touched, sums, touches = _by_subject(residual, one, other, group, width)
    pairs, between, met = _by_pair(residual, one, other, group, width)
    of_pair = pairs // width**2
    subjects = np.bincount(touched // width, minlength=cells).astype(np.int64)
    squares = np.bincount(touched // width, weights=sums**2, minlength=cells)
    squares -= np.bincount(of_pair, weights=between**2, minlength=cells)
    possible = subjects * (subjects - 1) / 2
    dense = (subjects > 1) & (np.bincount(of_pair, minlength=cells) >= DENSE * possible)
    flat = (n > 0) & ((k == 0) | (k == n))
    disjoint = np.zeros(cells, np.int64)
    for at in np.flatnonzero(flat):
        inside = group == at
        disjoint[at] = disjoint_comparisons(one[inside], other[inside])
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = squares / n.astype(np.float64) ** 2
        size = np.where(variance > 0, np.minimum(n, p * (1 - p) / variance), n)
        effect = np.where(flat, np.nan, np.maximum(variance, 0) * n / (p * (1 - p)))
        of, squared = touched // width, n.astype(np.float64) ** 2
        share = touches / n[of]
        uneven = leverage(share, of, cells)
        alike = (1 / uneven.worth) - np.bincount(of_pair, weights=met**2, minlength=cells) / squared
        less = jackknifed(sums / n[of], share, of, cells)
        guarded = held_back(size, n, p, less, uneven._replace(worth=1 / alike), alpha)
        effect = np.where(~flat & (guarded < size), n / guarded, effect)
    size = np.where(flat, disjoint, guarded)
    return Dyads(np.where(subjects >= MIN_CLUSTERS, size, np.nan), n, k, subjects, disjoint, dense, effect)


def _by_subject(
    residual: Floats, one: Ints, other: Ints, group: Ints, width: int
) -> tuple[Ints, Floats, Floats]:
    """Return which subjects each cell touches, as cell * width + subject, their sums of residuals, and in how many."""
    apart = one != other
    keys = np.concatenate([group * width + one, group[apart] * width + other[apart]])
    return _sums(keys, np.concatenate([residual, residual[apart]]))


def _by_pair(
    residual: Floats, one: Ints, other: Ints, group: Ints, width: int
) -> tuple[Ints, Floats, Floats]:
    """Return the pairs of different subjects in each cell, their sums of residuals, and how many these are."""
    apart = one != other
    low, high = np.minimum(one, other)[apart], np.maximum(one, other)[apart]
    return _sums((group[apart] * width + low) * width + high, residual[apart])


def _sums(keys: Ints, values: Floats) -> tuple[Ints, Floats, Floats]:
    """Return the keys that occur, the sum of the values at each and their number; no sort where they lie densely."""
    size = int(keys.max(initial=-1)) + 1
    if size <= 4 * len(keys):
        counts = np.bincount(keys, minlength=size)
        found = np.flatnonzero(counts).astype(np.int64)
        sums = np.bincount(keys, weights=values, minlength=size).astype(np.float64, copy=False)
        return found, sums[found], counts[found].astype(np.float64)
    found, where, counts = np.unique(keys, return_inverse=True, return_counts=True)
    sums = np.bincount(where, weights=values, minlength=len(found)).astype(np.float64, copy=False)
    return found, sums, counts.astype(np.float64)


def disjoint_comparisons(a: Codes, b: Codes) -> int:
    """Return the size of a maximal set of comparisons no two of which share a subject.

    Greedy: comparisons are taken in the order of the number of comparisons that their subjects are in (the two
    numbers added; ties by the codes), each one unless a subject of it was taken. No comparison could be added.
    """
    one, other = np.minimum(a, b).astype(np.int64), np.maximum(a, b).astype(np.int64)
    if len(one) == 0:
        return 0
    degree = np.bincount(one, minlength=int(other.max()) + 1)
    degree += np.bincount(other[one != other], minlength=len(degree))
    width, both = len(degree), degree[one] + degree[other]
    if int(both.max()) < 2**63 // width**2 - 1:
        order = np.argsort((both * width + one) * width + other)  # one key sorts faster than three
    else:
        order = np.lexsort((other, one, both))
    taken = np.zeros(len(degree), np.bool_)
    count = 0
    for start in range(0, len(order), _MATCHING_BLOCK):
        block = order[start : start + _MATCHING_BLOCK]
        block = block[~(taken[one[block]] | taken[other[block]])]
        new: set[int] = set()
        for i, j in zip(one[block].tolist(), other[block].tolist(), strict=True):
            if i not in new and j not in new:
                new.update((i, j))
                count += 1
        taken[list(new)] = True
    return count


def dyadic_wilson(found: Dyads, alpha: float) -> Interval:
    """Wilson's interval per cell on the effective sample size; nan where not estimable."""
    with np.errstate(invalid="ignore", divide="ignore"):
        share = found.events / found.cases
    return wilson(share * found.size, found.size, alpha)


def compact(a: Codes, b: Codes) -> tuple[Ints, Ints, Ints]:
    """Return the codes that occur at either end, ascending, and both ends as places among them."""
    seen = np.zeros(int(max(a.max(initial=-1), b.max(initial=-1))) + 1, np.bool_)
    seen[a] = True
    seen[b] = True
    place = np.cumsum(seen) - 1
    return np.flatnonzero(seen), place[a], place[b]


def subject_weights(subjects: int, resamples: int, rng: np.random.Generator) -> npt.NDArray[np.float32]:
    """Return how often each subject is drawn: (subjects, resamples), each column one multinomial draw."""
    drawn = np.empty((resamples, subjects), np.float32)
    for row in drawn:  # one at a time: its counts stay in the processor's cache
        row[:] = np.bincount(rng.integers(0, subjects, subjects), minlength=subjects)
    weights = np.empty((subjects, resamples), np.float32)
    for start in range(0, subjects, _TILE):
        weights[start : start + _TILE] = drawn[:, start : start + _TILE].T
    return weights


class WeightedSum:
    """Sums over comparisons of w_a w_b (w_a where a = b), for many weights of the subjects at once.

    A quadratic form: a product of matrices where the pairs fill enough of one, else of a sparse one.
    """

    def __init__(self, a: Codes, b: Codes) -> None:
        self._subjects, one, other = compact(a, b)
        size = len(self._subjects)
        same = one == other
        self._single, single = np.unique(one[same], return_counts=True)
        self._times = single.astype(np.float64)
        one, other = one[~same], other[~same]
        self._matrix: Any = None
        self._rows = np.arange(size)
        if len(one) == 0:
            return
        if size <= _MATRIX_LIMIT and len(one) >= _MATRIX_SHARE * size**2:
            flat = np.bincount(one * size + other, minlength=size**2)
            self._matrix = flat.reshape(size, size).astype(np.float32)
        else:
            # Where one subject is in most comparisons, as good as all rows but one are empty.
            ends = [np.unique(each) for each in (one, other)]
            if len(ends[1]) < len(ends[0]):
                one, other, ends = other, one, ends[::-1]
            self._rows = ends[0]
            places = np.searchsorted(self._rows, one)
            shape = (len(self._rows), size)
            self._matrix = sparse.csr_array((np.ones(len(one), np.float32), (places, other)), shape=shape)

    @property
    def subjects(self) -> int:
        """How many subjects the comparisons touch."""
        return len(self._subjects)

    def __call__(self, weights: npt.NDArray[np.float32]) -> Floats:
        """Return one sum per column of `weights`, whose rows are all subjects by code."""
        own = weights[self._subjects]
        total: Floats = self._times @ own[self._single]
        if self._matrix is not None:
            rows = own if len(self._rows) == len(own) else own[self._rows]
            total = total + np.multiply(rows, self._matrix @ own, dtype=np.float64).sum(axis=0)
        return total


class Bootstrapped(NamedTuple):
    """Percentile intervals per cell, and how many resamples were undefined there and stayed out of them."""

    low: Floats
    high: Floats
    undefined: Ints


def subject_bootstrap(
    events: npt.ArrayLike,
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    alpha: float,
    resamples: int,
    seed: int,
    cell: npt.ArrayLike | None = None,
    cells: int = 1,
) -> Bootstrapped:
    """Return bootstrap intervals (type 7 percentiles) of a proportion of comparisons in each cell.

    Subjects are drawn, w ~ Multinomial; an impostor comparison weighs w_a w_b, a genuine one w_a. A resample
    without comparisons in a cell is undefined there. Without events, or with nothing but events, a bootstrap
    says nothing, and with fewer than `MIN_CLUSTERS` subjects too little: nan. Sources: Snijders and Borgatti
    1999 (the vertex bootstrap); Hyndman and Fan 1996 (type 7).
    """
    seen = np.asarray(events, np.int64)
    present, one, other = compact(np.asarray(a, np.int64), np.asarray(b, np.int64))
    group = np.zeros(len(seen), np.int64) if cell is None else np.asarray(cell, np.int64)
    low, high = np.full(cells, np.nan), np.full(cells, np.nan)
    undefined = np.zeros(cells, np.int64)
    forms: dict[int, tuple[WeightedSum, WeightedSum]] = {}
    for at in range(cells):
        inside = group == at
        hit = inside & (seen == 1)
        total = WeightedSum(one[inside], other[inside])
        if 0 < np.count_nonzero(hit) < np.count_nonzero(inside) and total.subjects >= MIN_CLUSTERS:
            forms[at] = WeightedSum(one[hit], other[hit]), total
    if forms:
        rng = np.random.default_rng(seed)
        rates = np.empty((cells, resamples))
        for start in range(0, resamples, BLOCK):
            width = min(BLOCK, resamples - start)
            weights = subject_weights(len(present), width, rng)
            with np.errstate(divide="ignore", invalid="ignore"):
                for at, (hits, total) in forms.items():
                    rates[at, start : start + width] = hits(weights) / total(weights)
        for at in forms:
            defined = rates[at][~np.isnan(rates[at])]
            undefined[at] = resamples - len(defined)
            if len(defined):
                low[at], high[at] = np.quantile(defined, [alpha / 2, 1 - alpha / 2])
    return Bootstrapped(low, high, undefined)
