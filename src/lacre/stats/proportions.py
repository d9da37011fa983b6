"""Intervals of a proportion: Wilson, Clopper-Pearson, and the bound that zero events still leave.

Counts may be real numbers, as an effective sample size makes them. Outside the domain (no cases, or events
outside 0 to n) there is no interval and both ends are nan, never 0 and 1.
"""

from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import special

Floats: TypeAlias = npt.NDArray[np.float64]

ONE_SIDED_ALPHA = 0.05
"""The error of the zero-event bound; "the rule of three" is this number and no other."""


class Interval(NamedTuple):
    """The two ends of an interval, arrays of the counts' broadcast shape."""

    low: Floats
    high: Floats


class ZeroBound(NamedTuple):
    """The one-sided 95 % upper bounds that zero events among n leave: 3/n, and the exact one."""

    rule_of_three: Floats
    exact: Floats


def _counts(k: npt.ArrayLike, n: npt.ArrayLike) -> tuple[Floats, Floats, npt.NDArray[np.bool_]]:
    events, cases = np.broadcast_arrays(np.asarray(k, np.float64), np.asarray(n, np.float64))
    return events, cases, (cases > 0) & (events >= 0) & (events <= cases)


def _ends(
    low: Floats, high: Floats, events: Floats, cases: Floats, defined: npt.NDArray[np.bool_]
) -> Interval:
    """Make the ends at 0 and n exact, keep both inside [0, 1], and leave nan where nothing is defined."""
    low = np.where(events == 0, 0.0, np.clip(low, 0.0, 1.0))
    high = np.where(events == cases, 1.0, np.clip(high, 0.0, 1.0))
    return Interval(np.where(defined, low, np.nan), np.where(defined, high, np.nan))


def wilson(k: npt.ArrayLike, n: npt.ArrayLike, alpha: npt.ArrayLike) -> Interval:
    """Return Wilson's score interval for `k` events in `n` cases, two-sided at 1 - `alpha`.

    The lower end is computed from the upper one (their product is k^2 / (n (n + z^2))), so that it keeps its
    digits when k is small and n large. Source: Wilson 1927; Brown, Cai and DasGupta 2001.
    """
    events, cases, defined = _counts(k, n)
    square = special.ndtri(np.asarray(alpha, np.float64) / 2) ** 2
    safe = np.where(defined, cases, 1.0)
    seen = np.where(defined, events, 0.0)

    def upper(count: Floats) -> Floats:
        spread = np.sqrt(square * (count * (safe - count) / safe + square / 4))
        return np.asarray((count + square / 2 + spread) / (safe + square))

    high = upper(seen)
    low = seen**2 / (safe * (safe + square) * high)
    return _ends(low, high, events, cases, defined)


def clopper_pearson(k: npt.ArrayLike, n: npt.ArrayLike, alpha: npt.ArrayLike) -> Interval:
    """Return the exact interval of Clopper and Pearson (1934) for `k` of `n`, two-sided at 1 - `alpha`.

    The ends are quantiles of the beta distribution, taken by inverting the incomplete beta function and its
    complement, which keeps eight digits at n = 1e9 and at an `alpha` divided among hundreds of groups.
    """
    events, cases, defined = _counts(k, n)
    tail = np.asarray(alpha, np.float64) / 2
    inside_low = defined & (events > 0)
    inside_high = defined & (events < cases)
    a = np.where(inside_low, events, 1.0)
    low = special.betaincinv(a, np.where(inside_low, cases - events + 1, 1.0), tail)
    b = np.where(inside_high, cases - events, 1.0)
    high = special.betainccinv(np.where(inside_high, events + 1, 1.0), b, tail)
    return _ends(np.asarray(low), np.asarray(high), events, cases, defined)


def rule_of_three(n: npt.ArrayLike) -> ZeroBound:
    """Return what zero events in `n` cases still allow, one-sided at 95 %.

    3/n (at most 1), and the exact 1 - 0.05^(1/n).

    Source: Hanley and Lippman-Hand 1983. Undefined (nan) without cases.
    """
    cases = np.asarray(n, np.float64)
    safe = np.where(cases > 0, cases, np.nan)
    exact: Any = -np.expm1(np.log(ONE_SIDED_ALPHA) / safe)
    return ZeroBound(np.minimum(3.0 / safe, 1.0), np.asarray(exact))
