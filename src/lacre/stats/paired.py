"""Paired outcomes: all 2x2 tables of several variants, tests of no difference, Holm's adjustment.

Of two variants of the same items, b counts the items positive under the first alone and c those positive
under the second alone: the discordant pairs. The rest says nothing about a difference.
"""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import fft, special

from lacre.stats.clusters import Ints
from lacre.stats.proportions import Floats

EXACT, MID_P, ASYMPTOTIC, CONTINUITY = TESTS = (
    "mcnemar_exact",
    "mcnemar_mid_p",
    "mcnemar_asymptotic",
    "mcnemar_continuity",
)

BLOCK = 2**18
"""Outcomes multiplied at a time."""

EXACTLY = 2**24
"""Up to here single precision counts exactly."""

CONVOLVED = 2**28
"""Products up to which a sign-flip distribution is multiplied out; beyond, it is transformed."""

TRANSFORMED = 1e-12
"""What a transform resolves: it reports no p value below this."""


class McNemar(NamedTuple):
    """Arrays of the counts' shape: the statistic (nan for a test that has none), p, and b + c.

    No discordant pairs (`discordant` 0): p is 1 and the statistic 0.
    """

    statistic: Floats
    p: Floats
    discordant: Floats


def mcnemar(b: npt.ArrayLike, c: npt.ArrayLike, test: str = EXACT) -> McNemar:
    """Test no difference between two variants, two-sided, from their discordant counts.

    `mcnemar_exact`: twice the binomial tail at min(b, c) of b + c, at most 1. `mcnemar_mid_p`: that less the
    probability of min(b, c); with b = c, 1 less half of it. `mcnemar_asymptotic`: (b-c)^2/(b+c) against
    chi-square with one degree of freedom; `mcnemar_continuity`: (|b-c|-1)^2/(b+c), and 0 where b = c. nan
    for negative counts. Valid for pairs independent of each other: see `sign_flips` for those that are not.

    Sources: McNemar 1947; Edwards 1948 (continuity); Fagerland, Lydersen and Laake 2013 (mid-p).
    """
    first, second = np.broadcast_arrays(np.asarray(b, np.float64), np.asarray(c, np.float64))
    n, less = first + second, np.minimum(first, second)
    equal, defined = first == second, less >= 0
    safe = np.where(defined, less, 0.0)
    size = np.where(defined, n, 0.0)
    if test in (EXACT, MID_P):
        at, below = binomial_tail(safe, size, 0.5), binomial_tail(safe - 1, size, 0.5)
        # F(k) + F(k - 1) is twice F(k) less the probability of k, without the subtraction.
        p = np.minimum(1.0, 2 * at) if test == EXACT else np.where(equal, 1 - (at - below) / 2, at + below)
        statistic = np.full(n.shape, np.nan)
    elif test in (ASYMPTOTIC, CONTINUITY):
        apart = np.abs(first - second) - (test == CONTINUITY)
        statistic = np.where(equal, 0.0, apart**2 / np.where(n > 0, n, 1.0))
        p = special.chdtrc(1.0, statistic)
    else:
        raise ValueError(f"no such test: {test}")
    statistic = np.where(n == 0, 0.0, statistic)
    p = np.where(n == 0, 1.0, p)
    return McNemar(np.where(defined, statistic, np.nan), np.where(defined, p, np.nan), n)


def binomial_tail(k: npt.ArrayLike, n: npt.ArrayLike, p: npt.ArrayLike) -> Floats:
    """Return P(K <= k) for K binomial of n at p: 0 below k = 0, 1 from k = n on; whole numbers, as floats.

    By the incomplete beta function, which keeps its digits in the tail at any n.
    """
    count, size = np.broadcast_arrays(np.asarray(k, np.float64), np.asarray(n, np.float64))
    inside = (count >= 0) & (count < size)
    low = np.where(inside, count, 0.0)
    tail = special.betainc(np.where(inside, size, 1.0) - low, low + 1, 1 - np.asarray(p, np.float64))
    return np.where(inside, tail, np.where(count < 0, 0.0, 1.0))


class PairTables(NamedTuple):
    """The 2x2 tables of every pair of V variants: arrays (V, V), at [i, j] of variant i against variant j.

    `first` is positive under i alone and `second` under j alone, so `second` is the transpose of `first`.
    """

    both: Ints
    first: Ints
    second: Ints
    neither: Ints


def pair_tables(
    outcomes: npt.NDArray[np.bool_ | np.uint8], seen: npt.NDArray[np.bool_] | None = None
) -> PairTables:
    """Count all pairs of variants at once: `outcomes` (items, V) holds 0 and 1, or false and true.

    One matrix product X'X over blocks of rows gives the items positive under both; all else follows from it.
    Where `seen` (the same shape) is false there is no outcome, and the item is left out of that variant's
    pairs.
    """
    width = outcomes.shape[1]
    both, positive, pairs = np.zeros((3, width, width), np.int64)
    rows = max(1, min(BLOCK // max(width, 1), EXACTLY))
    for start in range(0, len(outcomes), rows):
        x = outcomes[start : start + rows].astype(np.float32)
        if seen is not None:
            mask = seen[start : start + rows].astype(np.float32)
            x *= mask
            positive += (x.T @ mask).astype(np.int64)
            pairs += (mask.T @ mask).astype(np.int64)
        both += (x.T @ x).astype(np.int64)
    if seen is None:
        positive += both.diagonal()[:, None]
        pairs += len(outcomes)
    first = positive - both
    return PairTables(both, first, first.T.copy(), pairs - both - first - first.T)


class SignFlips(NamedTuple):
    """The p value of flipping the clusters' signs, their total, and the clusters whose own sum is not 0."""

    p: float
    total: int
    clusters: int


def sign_flips(sums: npt.ArrayLike) -> SignFlips:
    """Test no paired difference between variants where a cluster holds several pairs, two-sided.

    `sums` holds per cluster its pairs positive under the first variant alone less those under the second
    alone, whole numbers. Under the null a cluster may as well have come with the other sign, all its pairs
    together: p is the share of all 2^G assignments of signs whose total is at least as far from 0 as the
    observed one. It is counted, not sampled: the distribution is the product over clusters of (1 + x^|s|)/2,
    formed value by value, and only up to the tail that is asked for. With one pair a cluster this is exact
    McNemar. Beyond `CONVOLVED` products the same distribution comes from its transform, no p below
    `TRANSFORMED`. Source: Fisher 1935; Pagano and Tritchler 1983.
    """
    signed = np.asarray(sums, np.int64)
    signed = signed[signed != 0]
    total = int(signed.sum())
    size, clusters = np.unique(np.abs(signed), return_counts=True)
    if total == 0:
        return SignFlips(1.0, 0, len(signed))
    last = (int(np.abs(signed).sum()) - abs(total)) // 2
    if len(size) == 1:
        tail = float(binomial_tail(last // int(size[0]), len(signed), 0.5))
    elif len(signed) * (last + 1) <= CONVOLVED:
        tail = _convolved_tail(size, clusters, last)
    else:
        tail = max(_transformed_tail(size, clusters, last), TRANSFORMED / 2)
    return SignFlips(min(1.0, 2 * tail), total, len(signed))


def _convolved_tail(size: Ints, clusters: Ints, last: int) -> float:
    """Return P(sum of size_j B_j <= last), B_j binomial of clusters_j at 1/2: by products of polynomials."""
    known = np.zeros(last + 1)
    known[0] = 1.0
    for step, many in zip(size.tolist(), clusters.tolist(), strict=True):
        k = np.arange(min(many, last // step) + 1, dtype=np.float64)
        ways = special.gammaln(many + 1.0) - special.gammaln(k + 1) - special.gammaln(many - k + 1)
        weight = np.exp(ways - many * math.log(2))
        following = np.zeros(last + 1)
        for at, share in enumerate(weight.tolist()):
            if share > 0:
                following[at * step :] += share * known[: last + 1 - at * step]
        known = following
    return math.fsum(known)


def _transformed_tail(size: Ints, clusters: Ints, last: int) -> float:
    """Return what `_convolved_tail` does, from the characteristic function: to an absolute 1e-12 or so."""
    whole = int((size * clusters).sum())
    length = fft.next_fast_len(whole + 1, real=True)
    turn = np.arange(length // 2 + 1) / length
    amplitude = np.ones(len(turn))
    for step, many in zip(size.tolist(), clusters.tolist(), strict=True):
        amplitude *= np.cos(np.pi * step * turn) ** many
    density = fft.irfft(amplitude * np.exp(-1j * np.pi * whole * turn), length)
    return float(density[: last + 1].sum())


def holm(p: npt.ArrayLike, family: int | None = None) -> Floats:
    """Return p values adjusted by Holm's step-down method, in the order given.

    The i-th smallest (from 0) is multiplied by family - i; none is below a smaller one's, or above 1. `family`
    is the number of hypotheses declared, where not all have a p value. Raises ValueError for a p value that
    is nan or outside [0, 1]. Source: Holm 1979.
    """
    values = np.asarray(p, np.float64)
    if not ((values >= 0) & (values <= 1)).all():
        raise ValueError("a p value is not in [0, 1]")
    order = np.argsort(values, kind="stable")
    steps = (len(values) if family is None else family) - np.arange(len(values))
    adjusted = np.empty(len(values))
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(values[order] * steps))
    return adjusted
