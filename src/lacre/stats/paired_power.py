"""What McNemar's tests can detect: their power, and the discordant pairs that they need."""

import math

import numpy as np
import numpy.typing as npt
from scipy import special

from lacre.stats.paired import EXACT, binomial_tail, mcnemar
from lacre.stats.proportions import Floats

DEVIATIONS = 9
"""Standard deviations of the number of discordant pairs that are summed over: all but 1e-18 of it."""

MOST_NEEDED = 4096
"""Discordant pairs searched: all in one direction, they reject at any level a float can hold."""


def discordant_needed(alpha: float, test: str = EXACT) -> int:
    """Return the least discordant pairs, all in one direction, that reject no difference at `alpha`.

    At .05: 6 by the exact test (2/2^6), 5 by mid-p (1/2^5), 4 by the asymptotic one (4 >= 1.96^2), 6 by the
    one with continuity. A test rejects where p <= `alpha`.
    """
    many = np.arange(MOST_NEEDED)
    return int(np.argmax(mcnemar(many, 0, test).p <= alpha))


def conditional_power(
    discordant: npt.ArrayLike, share: npt.ArrayLike, alpha: float, test: str = EXACT
) -> Floats:
    """Return the power of the two-sided test on so many discordant pairs, in either direction.

    `share` is the probability that a discordant pair is of the first kind; the arrays broadcast.
    """
    pairs, first = np.broadcast_arrays(np.asarray(discordant, np.float64), np.asarray(share, np.float64))
    most = _most_rejected(pairs, alpha, test)
    return binomial_tail(most, pairs, first) + binomial_tail(most, pairs, 1 - first)


def mcnemar_power(
    pairs: int, first: float, second: float, alpha: float, *, test: str = EXACT, sides: int = 2
) -> float:
    """Return the power of a McNemar test of `pairs` pairs.

    `first` and `second` are the probabilities of the two kinds of discordant pair. The number of discordant
    pairs is not fixed: the power is the mean, over its binomial distribution, of the power given it. With
    `sides` 1 the alternative is the direction of the larger probability. Source: Schork and Williams 1980.
    """
    both = first + second
    if both == 0:
        return 0.0
    spread = DEVIATIONS * math.sqrt(pairs * both * (1 - both)) + 50
    least, most = math.floor(pairs * both - spread), math.ceil(pairs * both + spread)
    discordant = np.arange(max(0, least), min(pairs, most) + 1, dtype=np.float64)
    ways = (
        special.gammaln(pairs + 1.0)
        - special.gammaln(discordant + 1)
        - special.gammaln(pairs - discordant + 1)
    )
    chance = np.exp(ways + special.xlogy(discordant, both) + special.xlog1py(pairs - discordant, -both))
    rejected = _most_rejected(discordant, alpha if sides == 2 else 2 * alpha, test)
    power = binomial_tail(rejected, discordant, min(first, second) / both)
    if sides == 2:
        power += binomial_tail(rejected, discordant, max(first, second) / both)
    return float((chance * power).sum())


def _most_rejected(discordant: Floats, alpha: float, test: str) -> Floats:
    """Return per number of discordant pairs the largest smaller count that rejects; -1 where none does."""
    low, high = np.full(discordant.shape, -1.0), np.floor(discordant / 2) + 1
    while (high - low > 1).any():
        middle = np.floor((low + high) / 2)
        kept = (mcnemar(middle, discordant - middle, test).p <= alpha) & (middle >= 0)
        low, high = np.where(kept, middle, low), np.where(kept, high, middle)
    return low
