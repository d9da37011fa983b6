"""Rates by group: one count over codes, exact simultaneous bounds, gaps between groups, calibration.

A *code* is -2 for a value outside the declared ones, -1 for none, 0 and up for the declared values in
their declared order; of an outcome, 0 is negative and 1 positive. A *count* is an integer array with one axis
per attribute of the group and two more, label and prediction, each indexed by code + 2.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from lacre.stats.proportions import Floats, Interval, clopper_pearson

RATES = ("error", "false_positive", "false_negative", "selection")

UNDECLARED, MISSING, NEGATIVE, POSITIVE = range(4)
"""Positions on the label and prediction axes of a count."""

DECLARED = 2
"""Where the declared values begin on every axis."""

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.integer[Any]]


def count(attributes: Sequence[tuple[Codes, int]], label: Codes, prediction: Codes) -> Ints:
    """Count every combination of codes in one pass.

    `attributes` gives each one's codes per case and how many values it declares. The result's shape is
    (values_1 + 2, …, values_A + 2, 4, 4).
    """
    shape = (*(values + DECLARED for _, values in attributes), 4, 4)
    size = int(np.prod(shape, dtype=np.int64))
    index: Codes = np.zeros(len(label), np.int32 if size < 2**31 else np.int64)
    for (codes, _), width in zip((*attributes, (label, 2), (prediction, 2)), shape, strict=True):
        np.multiply(index, width, out=index)
        np.add(index, codes, out=index, casting="same_kind")
        np.add(index, DECLARED, out=index)
    return np.bincount(index, minlength=size).astype(np.int64).reshape(shape)


def declared_cells(counted: Ints) -> Ints:
    """Return the cells whose every attribute holds a declared value: (K, 4, 4), in the declared order."""
    attributes = counted.ndim - 2
    return counted[(slice(DECLARED, None),) * attributes].reshape(-1, 4, 4)


class RateCounts(NamedTuple):
    """One rate's counts per cell: events, cases with no prediction, and the denominator, which holds both."""

    events: Ints
    missing: Ints
    cases: Ints

    @property
    def predicted(self) -> Ints:
        """Cases of the denominator that have a prediction."""
        return self.cases - self.missing


def rate_counts(cells: Ints, rate: str) -> RateCounts:
    """Return the counts of one of `RATES` from `cells` of shape (K, 4, 4).

    error: wrong among all cases with a label; false_positive: predicted positive among label 0;
    false_negative: predicted negative among label 1; selection: predicted positive among all cases, whatever
    their label. A case without a prediction stays in its denominator.
    """
    rows = {
        "error": slice(NEGATIVE, POSITIVE + 1),
        "false_positive": slice(NEGATIVE, POSITIVE),
        "false_negative": slice(POSITIVE, POSITIVE + 1),
        "selection": slice(UNDECLARED, POSITIVE + 1),
    }[rate]
    read = cells[:, rows, :].sum(axis=1)
    events = {
        "error": cells[:, NEGATIVE, POSITIVE] + cells[:, POSITIVE, NEGATIVE],
        "false_positive": cells[:, NEGATIVE, POSITIVE],
        "false_negative": cells[:, POSITIVE, NEGATIVE],
        "selection": read[:, POSITIVE],
    }[rate]
    return RateCounts(events, read[:, MISSING], read[:, MISSING:].sum(axis=1))


class Read(NamedTuple):
    """Masks over the cases: which are in a rate's denominator, which are events, which have no prediction."""

    inside: npt.NDArray[np.bool_]
    event: npt.NDArray[np.bool_]
    missing: npt.NDArray[np.bool_]


def read_cases(label: Codes, prediction: Codes, rate: str) -> Read:
    """Tell case by case what `rate_counts` counts."""
    predicted = prediction >= 0
    inside = prediction >= -1
    if rate == "selection":
        event = prediction == 1
    else:
        inside &= {"error": label >= 0, "false_positive": label == 0, "false_negative": label == 1}[rate]
        event = predicted & (prediction != label)
    return Read(inside, inside & event, inside & ~predicted)


def simultaneous_bounds(counts: RateCounts, alpha: float, groups: int) -> Interval:
    """Bounds that hold for all of `groups` declared groups at once: Clopper-Pearson at 1 - alpha/groups.

    The lower bound takes the cases without a prediction as non-events, the upper one as events, and the
    denominator holds them in both. `groups` is what was declared, observed or not. nan without cases.
    """
    low = clopper_pearson(counts.events, counts.cases, alpha / groups).low
    high = clopper_pearson(counts.events + counts.missing, counts.cases, alpha / groups).high
    return Interval(low, high)


def gap_between(low_g: Floats, high_g: Floats, low_h: Floats, high_h: Floats) -> Interval:
    """Bounds of |rate_g - rate_h| from bounds of both rates that hold together."""
    low = np.maximum(0.0, np.maximum(low_g - high_h, low_h - high_g))
    return Interval(low, np.maximum(high_g - low_h, high_h - low_g))


def gaps(low: Floats, high: Floats) -> Interval:
    """Bounds of each group's largest gap to another; the last axis runs over two groups or more.

    Formed from each group's own bounds and the extremes of all others, without forming the pairs.
    """
    least = np.maximum(0.0, np.maximum(low - _others_least(high), -_others_least(-low) - high))
    return Interval(least, np.maximum(high - _others_least(low), -_others_least(-high) - low))


def _others_least(values: Floats) -> Floats:
    """Each place's least value of all other places on the last axis."""
    two = np.partition(values, 1, axis=-1)[..., :2]
    own = np.arange(values.shape[-1]) == values.argmin(axis=-1)[..., None]
    return np.where(own, two[..., 1:2], two[..., 0:1])


def largest_gap(low: Floats, high: Floats) -> Interval:
    """Bounds of the largest gap between two of several groups; the last axis runs over the groups.

    It is the largest of the pairs' lower bounds and the largest of their upper bounds. nan where fewer than
    two groups are given.
    """
    if low.shape[-1] < 2:
        empty = np.full(low.shape[:-1], np.nan)
        return Interval(empty, empty)
    each = gaps(low, high)
    return Interval(np.asarray(each.low.max(axis=-1)), np.asarray(each.high.max(axis=-1)))


class Calibration(NamedTuple):
    """Per cell: the expected calibration error (nan without cases) and the cases it was taken over."""

    error: Floats
    cases: Ints


def expected_calibration_error(
    probability: Floats, label: Codes, bins: int, cell: Codes | None = None, cells: int = 1
) -> Calibration:
    """Return the expected calibration error of the positive class's probability, per cell.

    The sum over `bins` bins of equal width of |sum of (label - probability)|, divided by the cases. A
    probability p is in bin min(floor(p B), B - 1), decided against the edges j/B so that a decimal on an edge
    opens its bin (0.29 of 100 is in bin 29, though 0.29 * 100 is below it in binary). `probability` in
    [0, 1], `label` 0 or 1 and `cell` 0 to cells - 1 have one length. Source: Naeini, Cooper and Hauskrecht
    2015; Guo et al. 2017.
    """
    edges = np.arange(1, bins) / bins
    index = np.searchsorted(edges, probability, side="right")
    if cell is not None:
        index = index + np.asarray(cell, np.int64) * bins
    off = np.bincount(index, weights=label - probability, minlength=cells * bins).reshape(cells, bins)
    cases = np.bincount(index, minlength=cells * bins).reshape(cells, bins).sum(axis=1).astype(np.int64)
    with np.errstate(invalid="ignore"):
        return Calibration(np.abs(off).sum(axis=1) / cases, cases)
