"""Thresholds from the scores of `dev`: the value that keeps a registered rate, and how well it is known."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from lacre.analyses.clustering import Clusters, clusters_of, effective_sizes
from lacre.analyses.disclosure import min_count
from lacre.analyses.given import Given
from lacre.analyses.normalised import normalised_scores
from lacre.errors import ScoresNotNormalised, ThresholdBeyondNumbers, ThresholdNotAttained
from lacre.protocol.grammar import as_float
from lacre.protocol.kinds.parts import Basis
from lacre.protocol.thresholds import CalibratedThreshold
from lacre.rules.thresholds import CONFIDENCE
from lacre.stats import thresholds
from lacre.stats.proportions import Floats
from lacre.tables.columns import Numbers, Outcomes
from lacre.tables.exclude import apply_exclusions

MATCHED = frozenset({"false_match", "false_positive"})
"""Targets that are kept among the negative cases; the others are among the positive ones."""

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Found:
    """A threshold of one system: its value, the events at it among cases, and its interval (infinite: open)."""

    name: str
    system: str
    value: float
    target: str
    at: float
    events: int
    cases: int
    low: float
    high: float
    unresolved: bool
    confidence: float = CONFIDENCE


def calibrate(given: Given, name: str, basis: Basis, system: str) -> Found:
    """Return the registered threshold `name`, set on one system's scores.

    Raises `ThresholdNotAttained` where no score keeps the rate (too many blanks, or no cases),
    `ThresholdBeyondNumbers` where it would lie beyond the largest number, and `ScoresNotNormalised` where the cohort
    leaves a score without its normalised form.
    """
    registered = given.protocol.thresholds[name]
    assert isinstance(registered, CalibratedThreshold)
    ((target, at),) = registered.at.items()
    scores, kept, clusters = _scores(given, basis, system, matched=target in MATCHED)
    rate: thresholds.Rate = "false_match" if target in MATCHED else "false_non_match"
    wanted = thresholds.complement(at) if target == "recall" else thresholds.exact(at)
    found, low, high = _set(scores[kept], rate, wanted, basis, _part(clusters, kept))
    if found.reached and np.isinf(found.threshold) and _at_the_end(scores[kept]):
        raise ThresholdBeyondNumbers(threshold=name, system=system, target=target)
    if found.cases == 0 or not found.reached or not np.isfinite(found.threshold):
        raise ThresholdNotAttained(
            threshold=name, system=system, target=target, events=found.events, cases=found.cases
        )
    least = min_count(given.protocol, registered.calibrate_on)
    if least is not None:
        found, low, high = _coarse(found, (low, high), scores[kept], rate, basis, least)
        if np.isinf(found.threshold):  # rounded beyond the largest number there is
            raise ThresholdBeyondNumbers(threshold=name, system=system, target=target)
    events = found.cases - found.events if target == "recall" else found.events
    return Found(
        name=name, system=system, value=found.threshold, target=target, at=as_float(at),
        events=events, cases=found.cases, low=low, high=high, unresolved=found.unresolved,
    )  # fmt: skip


def _at_the_end(scores: Floats) -> bool:
    """Whether a score is the last number there is, so that none lies beyond it."""
    return bool((np.abs(scores[~np.isnan(scores)]) == np.finfo(np.float64).max).any())


def _set(
    scores: Floats, rate: thresholds.Rate, wanted: Fraction, basis: Basis, clusters: Clusters | None
) -> tuple[thresholds.Attained, float, float]:
    """Return the threshold with its interval, at the effective size of the rate where cases come in clusters."""
    blank = np.isnan(scores)
    if basis.blank == "left_out":
        scores, clusters, blank = scores[~blank], _part(clusters, ~blank), blank[~blank]
    there, blanks = scores[~blank], int(blank.sum())
    setting = {
        "false_match": thresholds.threshold_for_false_match,
        "false_non_match": thresholds.threshold_for_false_non_match,
    }[rate]
    found = setting(there, wanted, basis.direction, blanks)
    size = None
    if clusters is not None and len(scores) and np.isfinite(found.threshold):
        hit = np.zeros(len(scores), np.bool_)
        hit[~blank] = thresholds.matches(there, found.threshold, basis.direction)
        event = hit if rate == "false_match" else ~hit
        size = float(effective_sizes(event, clusters, 1 - CONFIDENCE)[0])
    ends = thresholds.threshold_interval(there, wanted, rate, basis.direction, 1 - CONFIDENCE, size, blanks)
    # At a small effective size the interval may end short of the threshold itself, and is then as long as that.
    return found, min(ends.low, found.threshold), max(ends.high, found.threshold)


def _coarse(
    found: thresholds.Attained,
    ends: tuple[float, float],
    scores: Floats,
    rate: thresholds.Rate,
    basis: Basis,
    least: int,
) -> tuple[thresholds.Attained, float, float]:
    """Return a threshold and its interval as they may be told: each is one case's score of `dev`.

    The threshold is rounded to the side that keeps its rate, the ends of the interval outwards, and the events are
    those at what it is rounded to, a blank being no match.
    """
    there = scores[~np.isnan(scores)]
    strict = rate == "false_match"
    up = strict == (basis.direction == "similarity")
    value = thresholds.coarse(found.threshold, there, least, up=up)
    (matched,), _cases = thresholds.count_matches(there, value, basis.direction)
    events = int(matched) if strict else found.cases - int(matched)
    low, high = (
        thresholds.coarse(end, there, least, up=upper) for end, upper in zip(ends, (False, True), strict=True)
    )
    return found._replace(threshold=value, events=events), min(low, value), max(high, value)


def _scores(
    given: Given, basis: Basis, system: str, *, matched: bool
) -> tuple[Floats, Mask, Clusters | None]:
    """Return all scores, which of them the rate is of, and what clusters the cases are in."""
    declared = given.protocol.tables[basis.table]
    table = given.table(system, basis.table)
    table = table.select(apply_exclusions(table, declared.exclude).kept)
    if basis.normalise is None:
        column = table.columns[basis.score]
        assert isinstance(column, Numbers)
        scores = column.values
    else:
        cohort = given.table(system, basis.normalise.table)
        excluded = given.protocol.tables[basis.normalise.table].exclude
        cohort = cohort.select(apply_exclusions(cohort, excluded).kept)
        made = normalised_scores(table, cohort, basis.score, basis.normalise, basis.direction)
        if made.degenerate or made.without:
            raise ScoresNotNormalised(table=basis.table, degenerate=made.degenerate, without=made.without)
        scores = made.scores
    kept = np.ones(table.rows, np.bool_)
    if basis.truth is not None:
        truth = table.columns[basis.truth]
        assert isinstance(truth, Outcomes)
        kept = truth.codes == (0 if matched else 1)
    clusters = clusters_of(declared, table)
    if clusters is not None:
        kept &= clusters.known
    return scores, kept, clusters


def _part(clusters: Clusters | None, kept: Mask) -> Clusters | None:
    return None if clusters is None else clusters.select(kept)
