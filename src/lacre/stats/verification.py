"""Comparisons of two images by group: false matches and non-matches, their ratios, and thresholds apart.

A comparison has a score, whether both images show the same subject (`same`, 0 or 1), and the code of its group,
0 to groups - 1. A score of nan is an abstention: it has its own count and is in neither rate.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from lacre.stats.clusters import MIN_CLUSTERS
from lacre.stats.dyads import BLOCK, WeightedSum, compact, subject_weights
from lacre.stats.proportions import Floats, Interval, clopper_pearson
from lacre.stats.thresholds import (
    Attained,
    Direction,
    Rate,
    Target,
    exact,
    floor_of,
    matches,
    thresholds_allowing,
    thresholds_for_false_match,
    thresholds_for_false_non_match,
)

Form = Literal["max_min", "max_gm"]

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.integer[Any]]

_CELLS = 1 << 22


class GroupCounts(NamedTuple):
    """Counts per group at one threshold; `impostor` and `genuine` are the rates' denominators."""

    false_match: Ints
    impostor: Ints
    false_non_match: Ints
    genuine: Ints
    abstained_impostor: Ints
    abstained_genuine: Ints


def count_by_group(
    score: Floats, same: Codes, group: Codes, groups: int, threshold: float, direction: Direction
) -> GroupCounts:
    """Count false matches, false non-matches and abstentions per group, in one pass."""
    matched = matches(score, threshold, direction).astype(np.int64)
    matched[np.isnan(score)] = 2
    index = (np.asarray(group, np.int64) * 2 + same) * 3 + matched
    n = np.bincount(index, minlength=groups * 6).astype(np.int64).reshape(groups, 2, 3)
    answered = n[:, :, :2].sum(axis=2)
    return GroupCounts(n[:, 0, 1], answered[:, 0], n[:, 1, 0], answered[:, 1], n[:, 0, 2], n[:, 1, 2])


def rate_bounds(events: Codes, cases: Codes, alpha: float, size: Floats | None = None) -> Interval:
    """Bounds of each group's rate that hold for all groups at once: Clopper-Pearson at 1 - alpha/G.

    `events` and `cases` have one place per declared group, observed or not, and their number is G. With an
    effective `size` the counts are (p size, size). Where nothing is known the rate lies between 0 and 1.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        share = events / np.asarray(cases, np.float64)
    worth = np.asarray(cases, np.float64) if size is None else size
    low, high = clopper_pearson(np.minimum(share * worth, worth), worth, alpha / len(share))
    return Interval(np.where(np.isnan(low), 0.0, low), np.where(np.isnan(high), 1.0, high))


class Ratio(NamedTuple):
    """A differential ratio: nan where a group has no events or no cases; its bounds need neither."""

    value: float
    low: float
    high: float


def differential_ratio(events: Codes, cases: Codes, bounds: Interval, form: Form) -> Ratio:
    """Return the largest rate over the smallest (`max_min`), or over the geometric mean of all (`max_gm`).

    `bounds` are simultaneous ones of the same groups. The lower bound is max(1, max_g l_g / min_{h != g} u_h), or
    max(1, max_g l_g^((G-1)/G) / prod_{h != g} u_h^(1/G)); the upper one has u and l exchanged, and is infinite
    where a lower bound below the line is 0. No epsilon stands in for zero events. Fewer than two groups have
    no ratio: nan. Source of the forms: Grother 2022 (NIST IR 8429).
    """
    count = len(events)
    if count < 2:
        return Ratio(np.nan, np.nan, np.nan)
    low, high = np.asarray(bounds.low, np.float64), np.asarray(bounds.high, np.float64)
    least = max(1.0, _largest(low, high, form))
    most = max(1.0, _largest(high, low, form))
    if (events == 0).any() or (cases == 0).any():
        return Ratio(np.nan, least, most)
    rates = events / np.asarray(cases, np.float64)
    below = rates.min() if form == "max_min" else np.exp(np.log(rates).mean())
    return Ratio(max(1.0, float(rates.max() / below)), least, most)


def _largest(above: Floats, below: Floats, form: Form) -> float:
    """Return the largest ratio of any group's `above` to the others' `below`; infinite over zero."""
    count = len(above)
    with np.errstate(divide="ignore", invalid="ignore"):
        up, down = np.log(above), np.log(below)
        if form == "max_min":
            first, second = np.partition(down, 1)[:2]
            log = up - np.where(np.arange(count) == down.argmin(), second, first)
        else:
            others = np.array([down[np.arange(count) != g].sum() for g in range(count)])
            log = ((count - 1) * up - others) / count
    # 0/0: with nothing above the line there is nothing to say.
    return float(np.exp(np.where(np.isnan(log), -np.inf, log)).max())


class OperatingPoint(NamedTuple):
    """A group's own threshold for a target of one rate, and the `events` among `cases` of the other rate there."""

    own: Attained
    events: int
    cases: int


def own_operating_points(
    score: Floats,
    same: Codes,
    group: Codes,
    groups: int,
    targets: Sequence[Target],
    rate: Rate,
    direction: Direction,
) -> list[list[OperatingPoint]]:
    """Return, per group and target of `rate`, the group's own threshold and the other rate at it.

    It is FMR at a fixed FNMR, or the reverse. A group without cases of `rate` has a threshold of nan, at which
    nothing of the other rate is known: no events among no cases.
    """
    found = []
    for genuine, impostor in _groups(score, same, group, groups):
        at = (
            thresholds_for_false_match(impostor, targets, direction)
            if rate == "false_match"
            else thresholds_for_false_non_match(genuine, targets, direction)
        )
        points = []
        for own in at:
            other = genuine if rate == "false_match" else impostor
            hits = int(np.count_nonzero(matches(other, own.threshold, direction)))
            events = len(other) - hits if rate == "false_match" else hits
            points.append(OperatingPoint(own, events, len(other)) if own.cases else OperatingPoint(own, 0, 0))
        found.append(points)
    return found


def _groups(score: Floats, same: Codes, group: Codes, groups: int) -> Iterator[tuple[Floats, Floats]]:
    """Yield each group's genuine and impostor scores without its abstentions."""
    answered = ~np.isnan(score)
    for at in range(groups):
        inside = answered & (group == at)
        yield score[inside & (same == 1)], score[inside & (same == 0)]


class DetCurve(NamedTuple):
    """Attained rates at thresholds that are not told, in the order of rising false match rates."""

    false_match: Floats
    false_non_match: Floats


def det_curve(
    genuine: Floats, impostor: Floats, direction: Direction, per_decade: int = 10, least: int = 1
) -> DetCurve:
    """Return the points of the detection error trade-off where the false match rate attains a fixed grid.

    The grid has `per_decade` rates a decade below 1, equally far apart in their logarithms, down to one
    impostor; equal points are one. Neither scores nor thresholds can be read off it. With `least` above 1 no
    point rests on fewer false matches or false non-matches. Empty without genuine or impostor scores.
    Source: Martin et al. 1997.
    """
    cases = len(impostor)
    if cases == 0 or len(genuine) == 0:
        return DetCurve(np.empty(0), np.empty(0))
    steps = int(math.log10(cases) * per_decade + 1e-9)
    allowed = sorted({floor_of(10 ** (-step / per_decade), cases) for step in range(1, steps + 1)})
    at = thresholds_allowing("false_match", impostor, allowed, direction)
    sign = 1.0 if direction == "similarity" else -1.0
    falling = sign * np.array([threshold for threshold, _ in at])
    # Thresholds fall as more is allowed, so a score matches from its first place on.
    first = len(at) - np.searchsorted(falling[::-1], sign * genuine, side="right")
    matched = np.cumsum(np.bincount(first, minlength=len(at) + 1))[: len(at)]
    points = np.array([[events for _, events in at], len(genuine) - matched])
    points = np.unique(points, axis=1)
    if least > 1:
        points = points[:, (points >= least).all(axis=0)]
    return DetCurve(points[0] / cases, points[1] / len(genuine))


class ThresholdDistance(NamedTuple):
    """The largest distance between two groups' thresholds, in the score's unit, and its bootstrap bounds.

    `value` is nan where some group's threshold is. `undefined` resamples had a group without comparisons and
    stayed out. `thresholds` are the groups' own.
    """

    value: float
    low: float
    high: float
    undefined: int
    thresholds: tuple[float, ...]


class _Group(NamedTuple):
    """One group's scores in the order in which they become events, their ends, and the sum over all of them."""

    scores: Floats
    a: Ints
    b: Ints
    total: WeightedSum


def threshold_distance(
    score: Floats,
    group: Codes,
    groups: int,
    target: Target,
    rate: Rate,
    direction: Direction,
    *,
    alpha: float,
    resamples: int,
    seed: int,
    ends: tuple[Codes, Codes] | None = None,
    sizes: Floats | None = None,
) -> ThresholdDistance:
    """Return how far apart are the thresholds that the groups need for `target`, with bounds at 1 - `alpha`.

    `score` holds the comparisons of `rate`'s denominator alone (impostors for false_match), nan an abstention.
    `ends` are the subjects' codes, which are drawn as in `subject_bootstrap` (for one cluster, the same codes
    twice); without them comparisons are drawn, of each group apart.

    The bounds come from percentile (type 7) intervals of the signed difference of each pair of groups at
    alpha / pairs: the largest of the pairs' lower bounds, and of their upper ones. (Percentiles of the largest
    distance itself lie far from 0 even if all thresholds are the same.) A group's threshold is open on one
    side where its cases (or effective `sizes`) would show no event at all with probability above half of
    alpha / pairs: the upper bound is infinite then, as it is for a group that is absent, or has fewer than
    `MIN_CLUSTERS` subjects. nan for fewer than two groups.
    """
    if groups < 2:
        return ThresholdDistance(np.nan, np.nan, np.nan, 0, ())
    flip = -1.0 if (rate == "false_match") == (direction == "similarity") else 1.0
    answered = ~np.isnan(score)
    members = [np.flatnonzero(answered & (group == at)) for at in range(groups)]
    members = [where[np.argsort(flip * score[where], kind="stable")] for where in members]
    own = [_own(rate, score[where], target, direction) for where in members]
    pairs = groups * (groups - 1) // 2
    drawn = _draws(score * flip, members, exact(target), resamples, seed, ends)
    defined = ~np.isnan(drawn[[len(where) > 0 for where in members]]).any(axis=0)
    drawn = drawn[:, defined]
    unbounded = np.array([_unbounded(where, ends) for where in members])
    worth = np.array([len(where) for where in members]) if sizes is None else sizes
    with np.errstate(invalid="ignore"):
        is_open = ~((1 - float(exact(target))) ** worth <= alpha / pairs / 2)
    low = high = 0.0
    for g, h in itertools.combinations(range(groups), 2):
        if unbounded[g] or unbounded[h] or not defined.any():
            high = np.inf
            continue
        tail = alpha / pairs / 2
        least, most = np.quantile(drawn[g] - drawn[h], [tail, 1 - tail])
        # In this order an open threshold may be any lower.
        least, most = (-np.inf if is_open[g] else least), (np.inf if is_open[h] else most)
        low, high = max(low, least, -most), max(high, most, -least)
    return ThresholdDistance(
        float(np.max(own) - np.min(own)),
        float(low),
        float(high),
        int(resamples - np.count_nonzero(defined)),
        tuple(own),
    )


def _own(rate: Rate, scores: Floats, target: Target, direction: Direction) -> float:
    [(threshold, _)] = thresholds_allowing(rate, scores, [floor_of(target, len(scores))], direction)
    return threshold


def _unbounded(where: Ints, ends: tuple[Codes, Codes] | None) -> bool:
    """Tell whether a group is too small for anything to be drawn from it."""
    if ends is None:
        return len(where) == 0
    return len(compact(ends[0][where], ends[1][where])[0]) < MIN_CLUSTERS


def _draws(
    ordered: Floats,
    members: Sequence[Ints],
    target: Target,
    resamples: int,
    seed: int,
    ends: tuple[Codes, Codes] | None,
) -> Floats:
    """Return each resample's threshold in each group: (groups, resamples), nan where the group is empty."""
    rng = np.random.default_rng(seed)
    drawn = np.full((len(members), resamples), np.nan)
    if ends is None:
        for at, where in enumerate(members):
            n = len(where)
            if n:
                k = min(floor_of(target, n), n - 1)
                # The (k + 1)-th of n draws with replacement lies at a place that has this distribution.
                place = np.minimum((n * rng.beta(k + 1, n - k, resamples)).astype(np.int64), n - 1)
                drawn[at] = ordered[where][place]
        return drawn
    present, a, b = compact(
        np.concatenate([ends[0][w] for w in members]), np.concatenate([ends[1][w] for w in members])
    )
    starts = np.cumsum([0, *(len(where) for where in members)])
    parts = []
    for at, where in enumerate(members):
        one, other = a[starts[at] : starts[at + 1]], b[starts[at] : starts[at + 1]]
        parts.append(_Group(ordered[where], one, other, WeightedSum(one, other)))
    for start in range(0, resamples, BLOCK):
        width = min(BLOCK, resamples - start)
        weights = subject_weights(len(present), width, rng)
        for at, part in enumerate(parts):
            if len(part.scores):
                drawn[at, start : start + width] = _weighted_thresholds(part, weights, target)
    return drawn


def _weighted_thresholds(part: _Group, weights: npt.NDArray[np.float32], target: Target) -> Floats:
    """Return, per column of weights, the first score whose cumulative weight exceeds what `target` allows."""
    total = part.total(weights)
    allowed = np.array([floor_of(target, int(weight)) for weight in total], np.float64)
    found = np.full(len(total), np.nan)
    n = len(part.scores)
    reach = min(n, 2 * floor_of(target, n) + 1000)
    left = np.flatnonzero(allowed < total)
    while len(left):
        step = max(1, _CELLS // reach)
        missed = []
        for start in range(0, len(left), step):
            columns = left[start : start + step]
            mine = weights[:, columns]
            a, b = part.a[:reach], part.b[:reach]
            weight = mine[a] * np.where((a != b)[:, None], mine[b], np.float32(1))
            beyond = (np.cumsum(weight, axis=0, dtype=np.float64) <= allowed[columns]).sum(axis=0)
            inside = beyond < reach
            found[columns[inside]] = part.scores[beyond[inside]]
            missed.append(columns[~inside])
        left = np.concatenate(missed) if reach < n else left[:0]
        reach = min(n, 4 * reach)
    return found
