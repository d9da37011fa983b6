"""Scores normalised against a frozen cohort: z-, t- and s-norm, and each of them over the nearest N of the cohort.

`image` is an integer code, 0 to images - 1. The cohort's scores come in bulk, one per image and cohort face.
"""

from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from lacre.stats.proportions import Floats
from lacre.stats.thresholds import Direction

Norm = Literal["z_norm", "t_norm", "s_norm"]

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.integer[Any]]
Bools = npt.NDArray[np.bool_]


class CohortStatistics(NamedTuple):
    """Per image: mean and standard deviation of its scores against the cohort, and how many scores it has.

    `degenerate` images have too few scores (fewer than two, than ddof + 1, or than the registered N), or a
    standard deviation of zero: nothing can be normalised by them, and both figures are nan.
    """

    mean: Floats
    deviation: Floats
    cases: Ints
    degenerate: Bools


def cohort_statistics(
    image: Codes,
    score: Floats,
    images: int,
    ddof: int,
    direction: Direction,
    nearest: int | None = None,
) -> CohortStatistics:
    """Return the statistics of each image's cohort scores; with `nearest`, of its nearest N alone.

    The nearest are the highest (similarity) or the lowest (distance). `image` and `score` have one place per
    cohort score; a score of nan is none, and is not counted in `cases`. The deviation divides by n - `ddof`.
    """
    present = ~np.isnan(score)
    if not present.all():
        image, score = image[present], score[present]
    cases = np.bincount(image, minlength=images).astype(np.int64)
    short = cases < max(2, ddof + 1, nearest or 0)
    used = cases
    if nearest is not None:
        image, score = _nearest(image, score, cases, nearest, direction)
        used = np.minimum(cases, nearest)
    # Powers of two leave every digit as it is, and sums and squares of what is scaled stay within the numbers.
    size = np.zeros(images)
    np.maximum.at(size, image, np.abs(score))
    power = np.frexp(size)[1]
    scaled = np.ldexp(score, -power[image])
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        mean = np.bincount(image, weights=scaled, minlength=images) / used
        squares = np.bincount(image, weights=(scaled - mean[image]) ** 2, minlength=images)
        mean, deviation = np.ldexp(mean, power), np.ldexp(np.sqrt(squares / (used - ddof)), power)
    # Rounding leaves equal scores a deviation that is not quite zero, so equality is asked of the scores.
    any_of_them = np.zeros(images)
    any_of_them[image] = score
    varied = np.bincount(image[score != any_of_them[image]], minlength=images) > 0
    degenerate = short | ~varied | ~(deviation > 0) | ~np.isfinite(deviation)
    mean[degenerate] = deviation[degenerate] = np.nan
    return CohortStatistics(mean, deviation, cases, degenerate)


def _nearest(
    image: Codes, score: Floats, cases: Ints, nearest: int, direction: Direction
) -> tuple[Codes, Floats]:
    """Return the `nearest` scores of each image, or all where it has no more."""
    order = np.argsort(image, kind="stable")
    image, score = image[order], score[order]
    sign = -1.0 if direction == "similarity" else 1.0
    counts = cases[cases > 0]
    if len(counts) and (counts == counts[0]).all():
        width = int(counts[0])
        if nearest >= width:
            return image, score
        rows = np.partition(sign * score.reshape(-1, width), nearest - 1, axis=1)[:, :nearest]
        return np.repeat(image[::width], nearest), sign * rows.ravel()
    order = np.lexsort((sign * score, image))
    image, score = image[order], score[order]
    starts = np.cumsum(cases) - cases
    inside = np.arange(len(image)) - starts[image] < nearest
    return image[inside], score[inside]


class Normalised(NamedTuple):
    """Normalised scores, and which comparisons have none: an image is degenerate, or it is beyond the numbers."""

    score: Floats
    degenerate: Bools


def normalise(
    score: Floats, enrolled: Codes, tested: Codes, statistics: CohortStatistics, norm: Norm
) -> Normalised:
    """Return each comparison's normalised score; nan where it abstained or cannot be normalised.

    z = (s - mean) / deviation by the `enrolled` image's cohort scores, t by the `tested` image's, and
    s-norm = (z + t) / 2; with statistics over the nearest N they are the adaptive norms. Similarities stay
    similarities and distances distances. Sources: Auckenthaler, Carey and Lloyd-Thomas 2000 (z, t); Kenny
    2010 (s); Matejka et al. 2017 (adaptive s).
    """
    sides = {"z_norm": (enrolled,), "t_norm": (tested,), "s_norm": (enrolled, tested)}[norm]
    parts = [_standardised(score, statistics.mean[side], statistics.deviation[side]) for side in sides]
    beyond = np.logical_or.reduce([np.isinf(part) for part in parts])
    degenerate = np.logical_or.reduce([beyond, *(statistics.degenerate[side] for side in sides)])
    made: Floats = np.mean(np.where(beyond, np.nan, parts), axis=0)
    return Normalised(made, degenerate)


def _standardised(score: Floats, mean: Floats, deviation: Floats) -> Floats:
    """Return (score - mean) / deviation; infinite where that is beyond the numbers."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        difference = score - mean
        # A difference of two numbers may be none; that of their halves is.
        halves = (score / 2 - mean / 2) / (deviation / 2)
        found: Floats = np.where(np.isinf(difference), halves, difference / deviation)
    return found
