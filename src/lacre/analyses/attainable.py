"""Whether a criterion can come to PASS, and to FAIL, at any outcome at all: exact, with no rate assumed.

An outcome is whatever the rows a plan asks for may turn out to be: how they fall into the groups, as far as the
plan leaves that open, and which of them are events. Reviews are left aside: that a person decides is a verdict
of its own. Only what provably cannot be counts as out of reach.

What follows rests on the bounds of Clopper and Pearson at one error rate, [l(k, n), u(k, n)]; 1 holds for those of
Wilson, too, and is all that a bound on each group asks for:

1. Both rise with the events k. l(n, n) rises with n and u(0, n) falls, and 1 - l(n, n) = u(0, n).
2. No interval of n cases is narrower than that of no events, and none of 1 to n - 1 events is narrower than that
   of one; both of these fall with n. (Seen on a grid by the tests, for every k.)
3. A case without a prediction only widens. Cases in clusters are worth at most their own number, and as many
   where each is a cluster of its own and all or none are events, so the same holds; below `MIN_CLUSTERS`
   clusters there are no bounds, and real counts may be below one, so that only the first half of 2 is used.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lacre.analyses.planned import Room
from lacre.analyses.verdict import Booleans, Decision, Rule
from lacre.stats.clusters import MIN_CLUSTERS
from lacre.stats.fairness import Ints
from lacre.stats.proportions import Floats, Interval, clopper_pearson

Bounds = Callable[[npt.ArrayLike, npt.ArrayLike, float], Interval]
"""Of events, cases and an error rate: the interval of each."""

MOST_CASES = 10**9
"""Cases of one group up to which a size is looked for."""

MOST_TRIED = 100_000
"""Group sizes that are gone through one by one; where there are more, the rule counts as within reach."""

SLACK = 1e-9
"""What the last digits of a bound may be off by, given to the rule."""


@dataclass(frozen=True, slots=True)
class Minimum:
    """Cases with a prediction in each group's denominator below which a rule cannot pass, and cannot fail.

    All groups are of one size. `to_pass` if no case speaks against the rule, `to_fail` if every case does;
    None where no number up to `MOST_CASES` is enough.
    """

    to_pass: int | None
    to_fail: int | None


class Attainable(NamedTuple):
    """Whether some outcome passes, and whether some outcome fails."""

    passes: bool
    fails: bool


@dataclass(frozen=True, slots=True)
class Judged:
    """A rule over `groups` declared groups, and how small one of them may be to be judged at all.

    `alpha` is the error rate that the groups share. With `estimable` false there are never any bounds. `bounds` are
    those of a bound on each group (a gap's are Clopper and Pearson's).
    """

    rule: Rule
    groups: int
    alpha: float
    min_cell: int
    clustered: bool = False
    estimable: bool = True
    bounds: Bounds = clopper_pearson

    @property
    def least(self) -> int:
        """The fewest cases with which a group is judged; in clusters, each case may be one of its own."""
        return max(self.min_cell, MIN_CLUSTERS) if self.clustered else self.min_cell

    def minimum(self) -> Minimum:
        """Return the smallest equal group sizes at which the rule can pass, and fail."""
        if not self.estimable:
            return Minimum(None, None)
        return minimum_cases(self.rule, self.groups, self.alpha, self.least, self.bounds)

    def within(self, room: Room) -> Attainable:
        """Tell which verdicts some outcome comes to whose group sizes there is `room` for."""
        if not self.estimable:
            return Attainable(passes=False, fails=False)
        least = self.minimum()
        gap = self.rule.form == "max_group_gap"
        # Only at the very end of the scale is there nothing beyond the limit, or are no bounds ever on it.
        at_most, at_least = self.rule.limit <= 0, self.rule.limit >= 1
        strictest, idle = (at_least, at_most) if self.rule.form == "worst_group_min" else (at_most, at_least)
        to_pass = _bar(least.to_pass, impossible=strictest)
        to_fail = _bar(least.to_fail, impossible=idle)
        passes = to_pass is not None and (
            room.holds(to_pass, to_pass) or (gap and self._one_is_small(room, to_pass))
        )
        if to_fail is None:
            return Attainable(passes, fails=False)
        fails = self._two_apart(room, to_fail) if gap else room.largest() >= to_fail
        return Attainable(passes, fails)

    def _one_is_small(self, room: Room, to_pass: int) -> bool:
        """Tell whether a gap could pass though some group is smaller than zero events everywhere ask for.

        A gap passes where u_g - l_h <= T for every two groups, so the widths of any two add up to 2 T at most:
        at most one group, g, can be wider than T, as it is with fewer than `to_pass` cases. All others then have
        their bounds between u_g - T > 0 and l_g + T < 1, so some events but not all, and a width of at most
        2 T - (u_g - l_g). By 2 that asks of them for u(0, n_g) + u(1, n_h) - l(1, n_h) <= 2 T. Whether bounds
        that are narrow enough also lie where they must is not asked.

        Where there are too many sizes to try, less is asked: u(0, n_g) <= 2 T, and of the total what equal
        groups would need (u(0, n) is convex in n, so unequal ones need no less).
        """
        last = min(to_pass - 1, MOST_CASES)
        if last - self.least > MOST_TRIED:
            widest = 2 * self.rule.limit + SLACK
            one = _first(lambda n: self._width(0, n) <= widest, np.array([self.least]))[0]
            return self.groups * last <= room.cases and room.holds(to_pass, min(int(one), to_pass))
        sizes = np.arange(self.least, last + 1)
        left = 2 * self.rule.limit - self._width(0, sizes) + SLACK
        sizes, left = sizes[left > 0], left[left > 0]
        events = 0 if self.clustered else 1
        others = _first(lambda n: self._width(events, n) <= left, np.full(len(sizes), to_pass))
        tried = zip(others.tolist(), sizes.tolist(), strict=True)
        return any(other <= MOST_CASES and room.holds(other, size) for other, size in tried)

    def _width(self, events: int, cases: Ints) -> Floats:
        bounds = clopper_pearson(np.minimum(events, cases), cases, self.alpha / self.groups)
        return bounds.high - bounds.low

    def _two_apart(self, room: Room, to_fail: int) -> bool:
        """Tell whether two groups can be as far apart as it takes to fail: all events here, and there none."""
        return any(
            min(pair.first, pair.second) >= self.least
            and self._apart(np.array([pair.first]), np.array([pair.second]))
            and (
                (min(pair.first, pair.second) >= to_fail and pair.both >= 2 * to_fail)
                or self._apart_at_some(pair.first, pair.second, pair.both)
            )
            for pair in room.pairs()
        )

    def _apart_at_some(self, first: int, second: int, both: int) -> bool:
        most = min(first, both - self.least)
        if most - self.least > MOST_TRIED:
            return True
        sizes = np.arange(self.least, most + 1, dtype=np.int64)
        return self._apart(sizes, np.minimum(second, both - sizes))

    def _apart(self, all_events: Ints, no_events: Ints) -> bool:
        error = self.alpha / self.groups
        here = clopper_pearson(all_events, all_events, error)
        there = clopper_pearson(np.zeros_like(no_events), no_events, error)
        low, high = (np.stack(ends, axis=-1) for ends in zip(here, there, strict=True))
        return bool(self.rule.decide(low, high, np.ones(2, np.bool_)).fails.any())


def _bar(cases: int | None, *, impossible: bool) -> int | None:
    """Return the cases a verdict needs; where none up to `MOST_CASES` do, more than that unless none ever do."""
    return MOST_CASES + 1 if cases is None and not impossible else cases


def _first(enough: Callable[[Ints], Booleans], start: Ints) -> Ints:
    """Return, for each place, the first number from `start` on that is enough; above `MOST_CASES` if none is."""
    low, high = start - 1, np.full_like(start, MOST_CASES + 1)
    while (high - low > 1).any():
        middle = (low + high) // 2
        found = enough(middle)
        low, high = np.where(found, low, middle), np.where(found, middle, high)
    return high


def minimum_cases(
    rule: Rule, groups: int, alpha: float, min_cell: int, bounds: Bounds = clopper_pearson
) -> Minimum:
    """Return the smallest equal group sizes at which `rule` over `groups` declared groups can pass, and fail.

    It passes soonest with no events (a floor: with events alone) and fails soonest with events alone (a
    floor: with none; a gap: in one group all, in the others none).
    """
    none, every = np.zeros(groups), np.ones(groups)
    mixed = np.arange(groups) == 0
    floor = rule.form == "worst_group_min"
    against = mixed.astype(float) if rule.form == "max_group_gap" else none if floor else every
    usable = np.ones(groups, np.bool_)

    def decided(cases: int, shares: Floats) -> Decision:
        n = np.full(groups, cases, np.int64)
        return rule.decide(*bounds((shares * cases).astype(np.int64), n, alpha / groups), usable)

    return Minimum(
        to_pass=smallest(lambda n: bool(decided(n, every if floor else none).passes), min_cell),
        to_fail=smallest(lambda n: bool(decided(n, against).fails), min_cell),
    )


def smallest(enough: Callable[[int], bool], least: int) -> int | None:
    """Return the first number from `least` on that is enough, as all above it are; None above `MOST_CASES`."""
    if enough(least):
        return least
    low, high = least, 2 * max(1, least)
    while not enough(high):
        low, high = high, 2 * high
        if low > MOST_CASES:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
