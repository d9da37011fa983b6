"""Thresholds from scores: the one that keeps a rate at or below its target, and how well it is known.

Scores are finite; a *blank* is a case that has none and so can never match. A pair matches iff its score is at
or above the threshold (similarity), or at or below it (distance). Ties never exceed a target: the attained
rate is the nearest one on the target's own side, which is not always the nearest.
"""

import math
from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, localcontext
from fractions import Fraction
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import special

from lacre.stats.proportions import Floats

Direction = Literal["similarity", "distance"]
Rate = Literal["false_match", "false_non_match"]
Target: TypeAlias = Fraction | Decimal | float

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.integer]


def exact(target: Target) -> Fraction:
    """Return the number that was written: a float stands for its shortest decimal, 0.29 for 29/100."""
    return Fraction(target) if isinstance(target, Fraction | Decimal | int) else Fraction(repr(float(target)))


def complement(target: Target) -> Fraction:
    """Return 1 - `target` exactly: the false non-match target that a recall of `target` is."""
    return 1 - exact(target)


def floor_of(target: Target, n: int) -> int:
    """Return how many of `n` cases `target` allows, in exact decimals: floor(0.29 x 100) = 29."""
    return int(exact(target) * n // 1)


class Attained(NamedTuple):
    """A threshold, and the `events` among `cases` at it: false matches of impostors, or false non-matches.

    `unresolved`: the target allows less than one event among so many cases, so that zero events do not show
    it. `reached` is false where blanks alone exceed a target of false non-matches; every score matches then.
    `threshold` is nan without cases.
    """

    threshold: float
    events: int
    cases: int
    unresolved: bool
    reached: bool = True


class Ends(NamedTuple):
    """The two ends of an interval on the scores' own scale; infinite where the scores leave an end open."""

    low: float
    high: float


def matches(scores: Floats, threshold: float, direction: Direction) -> npt.NDArray[np.bool_]:
    """Tell which scores match."""
    return scores >= threshold if direction == "similarity" else scores <= threshold


def count_matches(
    scores: Floats, threshold: float, direction: Direction, group: Codes | None = None, groups: int = 1
) -> tuple[Ints, Ints]:
    """Return matches and cases per group, arrays of shape (groups,); `group` holds 0 to groups - 1 per score."""
    found = matches(scores, threshold, direction)
    if group is None:
        return np.array([np.count_nonzero(found)]), np.array([len(scores)])
    cases = np.bincount(group, minlength=groups).astype(np.int64)
    return np.bincount(group[found], minlength=groups).astype(np.int64), cases


def threshold_for_false_match(
    impostor: Floats, target: Target, direction: Direction, blanks: int = 0
) -> Attained:
    """Return the lowest threshold (distance: the highest) at which at most `target` of impostors match.

    With k = floor(target n) it is the float next above the (k + 1)-th highest score. `blanks` are counted in
    n and never match. A target of 1 lets everything match, at an infinite threshold.
    """
    return thresholds_for_false_match(impostor, [target], direction, blanks)[0]


def thresholds_for_false_match(
    impostor: Floats, targets: Sequence[Target], direction: Direction, blanks: int = 0
) -> tuple[Attained, ...]:
    """Return `threshold_for_false_match` of each target, from one partition of a copy of the scores."""
    return _thresholds("false_match", impostor, targets, direction, blanks)


def threshold_for_false_non_match(
    genuine: Floats, target: Target, direction: Direction, blanks: int = 0
) -> Attained:
    """Return the highest threshold (distance: the lowest) at which at most `target` of genuine pairs fail.

    With k = floor(target n) it is the lowest score but k. `blanks` are counted in n and fail at every
    threshold. A target of 1 lets nothing match, at an infinite threshold. A recall of at least r is a target
    of `complement(r)`.
    """
    return thresholds_for_false_non_match(genuine, [target], direction, blanks)[0]


def thresholds_for_false_non_match(
    genuine: Floats, targets: Sequence[Target], direction: Direction, blanks: int = 0
) -> tuple[Attained, ...]:
    """Return `threshold_for_false_non_match` of each target, from one partition of a copy of the scores."""
    return _thresholds("false_non_match", genuine, targets, direction, blanks)


def _thresholds(
    rate: Rate, scores: Floats, targets: Sequence[Target], direction: Direction, blanks: int
) -> tuple[Attained, ...]:
    cases = len(scores) + blanks
    allowed = [floor_of(target, cases) for target in targets]
    at = thresholds_allowing(rate, scores, allowed, direction, blanks)
    return tuple(
        Attained(
            threshold,
            events,
            cases,
            unresolved=exact(target) * cases < 1,
            reached=cases > 0 and events <= most,
        )
        for (threshold, events), most, target in zip(at, allowed, targets, strict=True)
    )


def thresholds_allowing(
    rate: Rate, scores: Floats, allowed: Sequence[int], direction: Direction, blanks: int = 0
) -> list[tuple[float, int]]:
    """Return, for each count of `allowed` events, the threshold at which no more occur, and how many do.

    Below zero allowed events the threshold is the infinite one without any. Raises ValueError where a score is
    not finite.
    """
    size = len(scores)
    if size and not (np.isfinite(scores.min()) and np.isfinite(scores.max())):
        raise ValueError("scores must be finite")
    # Ordered so that the scores which become events first come first.
    flip = (rate == "false_match") == (direction == "similarity")
    ordered = np.negative(scores) if flip else np.array(scores, np.float64)
    blank = blanks if rate == "false_non_match" else 0
    places = [count - blank for count in allowed]
    inside = sorted({place for place in places if 0 <= place < size})
    _partition(ordered, inside)
    none, all_of_them = (-np.inf, np.inf)
    found = []
    for place in places:
        if size + blanks == 0:
            value, events = np.nan, 0
        elif place < 0:
            value, events = none, blank
        elif place >= size:
            value, events = all_of_them, size + blank
        else:
            value = float(ordered[place])
            events = blank + int(np.count_nonzero(ordered[:place] < value))
            if rate == "false_match":
                value = math.nextafter(value, -math.inf)
        found.append((-value if flip else value, events))
    return found


def coarse(threshold: float, scores: Floats, least: int, *, up: bool) -> float:
    """Return a threshold rounded `up` or down until the numbers that are rounded so hold `least` scores or more.

    A threshold is one case's score, or the float next to one: rounded to a multiple of 1, 2 or 5 times a power of ten
    it may be that of any of `least` cases. The finest that does so is taken. Of fewer scores than `least` in all, none
    does, and it is rounded beyond them. `up` is the side on which the rate stays kept.
    """
    if not np.isfinite(threshold) or not len(scores):
        return threshold
    largest = max(float(np.abs(scores).max()), abs(threshold), np.finfo(np.float64).tiny)
    magnitude = int(np.floor(np.log10(largest)))
    exactly, rounding = Decimal(repr(float(threshold))), ROUND_CEILING if up else ROUND_FLOOR
    rounded = exactly
    with localcontext(Context(prec=800)):
        steps = (
            Decimal(n).scaleb(power) for power in range(magnitude - 16, magnitude + 2) for n in (1, 2, 5)
        )
        for step in steps:
            rounded = (exactly / step).to_integral_value(rounding) * step
            other = float(rounded - step if up else rounded + step)
            inside = (
                (scores > other) & (scores <= float(rounded))
                if up
                else (scores >= float(rounded)) & (scores < other)
            )
            if np.count_nonzero(inside) >= least:
                break
    return float(rounded)


def _partition(values: Floats, places: list[int]) -> None:
    """Put the values of the given ascending places where a sort would, and the lower ones before each."""
    end = len(values)
    for place in reversed(places):
        values[:end].partition(place)
        end = place


def threshold_interval(
    scores: Floats,
    target: Target,
    rate: Rate,
    direction: Direction,
    alpha: float,
    effective_size: float | None = None,
    blanks: int = 0,
) -> Ends:
    """Return a distribution-free interval, at 1 - `alpha`, of the threshold that `target` asks of all cases.

    The scores beyond the true threshold are binomial with the *target* as their rate, so the ends are the
    thresholds that allow as many events as its quantiles at `alpha`/2 and 1 - `alpha`/2, the first less one.
    (Wilson's bounds of the attained rate would be skewed the wrong way: a target of .05 on 100 cases would be
    covered 88 % of the time.) At an `effective_size` N below n the counts are taken at N and scaled to n,
    outwards. An end is infinite where no score is far enough out. nan without cases, or where the effective
    size is. Sources: Woodruff 1952; David and Nagaraja 2003, 7.1.
    """
    cases = len(scores) + blanks
    size = float(cases) if effective_size is None else min(float(effective_size), float(cases))
    if cases == 0 or not size > 0:
        return Ends(np.nan, np.nan)
    p = float(exact(target))
    scale = cases / size
    fewest = int(np.floor(_binomial_quantile(alpha / 2, size, p) * scale)) - 1
    most = int(np.ceil(_binomial_quantile(1 - alpha / 2, size, p) * scale))
    (one, _), (other, _) = thresholds_allowing(rate, scores, [fewest, most], direction, blanks)
    return Ends(min(one, other), max(one, other))


def _binomial_quantile(quantile: float, n: float, p: float) -> int:
    """Return the least count whose cumulative probability reaches `quantile`; `n` may be any positive number."""
    if p <= 0 or p >= 1:
        return 0 if p <= 0 else int(np.floor(n))
    low, high = -1, int(np.ceil(n))
    while high - low > 1:
        middle = (low + high) // 2
        if special.betainc(n - middle, middle + 1.0, 1 - p) >= quantile:
            high = middle
        else:
            low = middle
    return high
