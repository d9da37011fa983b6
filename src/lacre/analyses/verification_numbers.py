"""The numbers of a verification: rates, ratios and distances of thresholds, and the tables they come from.

What is withheld here is what `lacre.analyses.disclosure` cannot see: numbers that rest on every group, and
scores. A group's own threshold, or an end of its interval, is one case's score, by which whoever submitted the scores
knows the case; a distance is the difference of two. Of a distance is told on which side of the registered limits it is.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from lacre.analyses.comparisons import RATES, Comparisons, Rates
from lacre.analyses.estimate import (
    Answer,
    Details,
    Estimate,
    Group,
    Measure,
    NotEstimable,
    Withheld,
    ZeroBound,
    group_json,
)
from lacre.analyses.ladder import Rung, both_rates, details_of, side_of
from lacre.analyses.reasons import Reason
from lacre.protocol.grammar import as_float
from lacre.protocol.kinds.verification import VerificationPlan
from lacre.stats.bootstrap import least_resamples
from lacre.stats.dyads import subject_bootstrap
from lacre.stats.fairness import Ints
from lacre.stats.proportions import Floats, Interval
from lacre.stats.thresholds import Rate, Target, threshold_interval
from lacre.stats.verification import (
    Form,
    ThresholdDistance,
    det_curve,
    differential_ratio,
    own_operating_points,
    threshold_distance,
)

DEFAULT_SEED = 20260902
FORMS: tuple[Form, ...] = ("max_min", "max_gm")
OTHER: Mapping[Rate, Rate] = {"false_match": "false_non_match", "false_non_match": "false_match"}
MOST_UNDEFINED = 0.05
"""The share of resamples without comparisons above which there is no bootstrap interval."""

Row = Mapping[str, Any]


class Numbers:
    """What one system's rungs come to."""

    def __init__(
        self,
        plan: VerificationPlan,
        read: Comparisons,
        system: str,
        alpha: float,
        confidence: float,
        least: int | None,
    ) -> None:
        self.plan = plan
        self.read = read
        self.system = system
        self.alpha = alpha
        self.confidence = confidence
        self.least = least
        self._bootstraps: dict[tuple[str, Rate, bool], Interval | None] = {}
        self._distances: dict[tuple[str, Rate, Fraction | float], ThresholdDistance] = {}

    # --- rates

    def simultaneous(self, rate: Rate) -> int:
        """Return how many groups share the error rate: all, where a criterion is on a rate of theirs."""
        asked = any(rule.metric == rate and rule.by is not None for rule in self.plan.criteria)
        return len(self.read.groups) if asked else 1

    def bounds(self, rung: Rung, rate: Rate) -> Interval:
        """Return the interval of each group's rate; nan where there is none."""
        found = rung.by_group[rate]
        if self.simultaneous(rate) == 1:
            return found.interval(self.alpha)
        low, high = found.together(self.alpha)
        return Interval(np.where(found.known, low, np.nan), np.where(found.known, high, np.nan))

    def answers(self, rung: Rung) -> Iterator[Answer]:
        """Answer the rates of all and of each group, how many times they differ, and how far thresholds do."""
        for rate in RATES:
            yield from self._shares(rung, rate, rung.everybody[rate], ((),), 1)
            yield from self._shares(
                rung, rate, rung.by_group[rate], self.read.groups, self.simultaneous(rate)
            )
        for rate in RATES:
            for form in FORMS:
                yield self._ratio(rung, rate, form)
        for rate, at in self.asked():
            yield self._distance(rung, rate, at)

    def _shares(
        self, rung: Rung, rate: Rate, found: Rates, groups: Sequence[Group], divided: int
    ) -> Iterator[Answer]:
        """Answer one rate of each group; where subjects are drawn again, the other interval stands beside it."""
        plain = found.interval(self.alpha) if divided == 1 else self.bounds(rung, rate)
        name = "wilson" if divided == 1 else "clopper-pearson"
        name = name if found.units is None else f"{name} on effective sample size"
        drawn = self._drawn(rung, rate, everybody=groups == ((),))
        resamples, seed = self.resamples(1)
        bootstrap = f"subject bootstrap, percentile, {resamples} resamples, seed {seed}"
        for index, group in enumerate(groups):
            events, cases = int(found.events[index]), int(found.cases[index])
            absent = rung.obstacle or found.absent(index)
            if absent is not None:
                yield NotEstimable(rate, self.system, group, cases, absent, rung.details)
                continue
            ways = [(name, plain, divided)]
            if drawn is not None and np.isfinite(drawn.low[index]):
                # Where groups share the error rate, it is the exact bounds that hold for all of them.
                ways.insert(0 if divided == 1 else 1, (bootstrap, drawn, 1))
            value = events / cases
            (method, ends, simultaneous), *beside = ways
            yield Estimate(
                metric=rate, system=self.system, group=group, numerator=events, denominator=cases,
                value=value, low=float(ends.low[index]), high=float(ends.high[index]),
                confidence=self.confidence, simultaneous=simultaneous, details=rung.details, method=method,
                zero_bound=ZeroBound.of(float(found.size[index])) if events == 0 else None,
            )  # fmt: skip
            for method, ends, simultaneous in beside:
                yield Measure(
                    metric=f"{rate}_beside", system=self.system, group=group, value=value,
                    low=float(ends.low[index]), high=float(ends.high[index]), confidence=self.confidence,
                    simultaneous=simultaneous, method=method, cases=cases, scale="share", details=rung.details,
                )  # fmt: skip

    # --- the bootstrap of subjects, where most of their pairs are there

    def _drawn(self, rung: Rung, rate: Rate, *, everybody: bool) -> Interval | None:
        """Return the subject bootstrap's intervals; nan where it is not the better one, or does not hold the rate."""
        if rung.obstacle is not None:
            return None
        if (rung.id, rate, everybody) not in self._bootstraps:
            found = rung.everybody[rate] if everybody else rung.by_group[rate]
            cell = np.zeros(self.read.kept, np.int64) if everybody else self.read.group
            self._bootstraps[rung.id, rate, everybody] = self._bootstrap(rung, rate, found, cell)
        return self._bootstraps[rung.id, rate, everybody]

    def _bootstrap(self, rung: Rung, rate: Rate, found: Rates, cell: Ints) -> Interval | None:
        clusters = self.read.clusters
        if clusters is None or not clusters.dyadic or not (found.dense & found.known).any():
            return None
        dense = np.append(found.dense & found.known, False)
        at = np.flatnonzero(side_of(self.read, rung.score, rate) & dense[cell])
        matched = _matched(rung.score[at], rung.threshold, self.plan)
        event = matched if rate == "false_match" else ~matched
        a, b = (codes[at] for codes in clusters.codes)
        resamples, seed = self.resamples(1)
        made = subject_bootstrap(event, a, b, self.alpha, resamples, seed, cell[at], len(found.cases))
        with np.errstate(invalid="ignore"):
            held = (made.low <= found.value) & (found.value <= made.high) & (made.low < made.high)
        held &= made.undefined <= MOST_UNDEFINED * resamples
        return Interval(np.where(held, made.low, np.nan), np.where(held, made.high, np.nan))

    def everybody(self, rung: Rung, rate: Rate) -> tuple[float, float]:
        """Return the bounds that decide on everybody's rate: the bootstrap's where most pairs are there."""
        drawn = self._drawn(rung, rate, everybody=True)
        plain = rung.everybody[rate].interval(self.alpha)
        ends = drawn if drawn is not None and np.isfinite(drawn.low[0]) else plain
        return float(ends.low[0]), float(ends.high[0])

    def resamples(self, pairs: int) -> tuple[int, int]:
        """Return how often, and from which seed, cases are drawn again: as registered, or enough for all pairs."""
        registered = self.plan.bootstrap
        if registered is None:
            return max(2000, least_resamples(self.alpha, max(1, pairs))), DEFAULT_SEED
        return registered.resamples, registered.seed

    # --- between groups

    def hidden(self) -> bool:
        """Tell whether some group is too small for a number to be shown that rests on all."""
        if self.least is None:
            return False
        sides = [side_of(self.read, self.read.score, rate) & (self.read.group >= 0) for rate in RATES]
        counts = [np.bincount(self.read.group[side], minlength=len(self.read.groups)) for side in sides]
        return bool((np.concatenate(counts) < self.least).any())

    def _all_groups(self, rung: Rung, rate: Rate, metric: str, details: Details) -> Answer | None:
        """Return why a number that rests on all groups cannot be given."""
        found = rung.by_group[rate]
        if self.hidden():
            return Withheld(metric, self.system, (), self.withheld(), details)
        absent = rung.obstacle or (None if found.known.sum() > 1 else Reason("nothing-to-compare"))
        if absent is None:
            return None
        return NotEstimable(metric, self.system, (), int(found.cases.sum()), absent, details)

    def _ratio(self, rung: Rung, rate: Rate, form: Form) -> Answer:
        metric, details = f"{rate}_ratio", details_of(rung, form=form)
        absent = self._all_groups(rung, rate, metric, details)
        if absent is not None:
            return absent
        found = rung.by_group[rate]
        ratio = differential_ratio(found.events, found.cases, found.together(self.alpha), form)
        value = None if math.isnan(ratio.value) else ratio.value
        names = self.read.groups
        pair = form == "max_min" and value is not None
        return Measure(
            metric=metric, system=self.system,
            group=names[int(found.value.argmax())] if pair else (),
            versus=names[len(names) - 1 - int(found.value[::-1].argmin())] if pair else None,
            value=value, low=ratio.low, high=ratio.high, confidence=self.confidence,
            simultaneous=len(names), cases=int(found.cases.sum()), scale="ratio", details=details,
            method="clopper-pearson" if found.units is None else "clopper-pearson on effective sample size",
        )  # fmt: skip

    def asked(self) -> list[tuple[Rate, Fraction | float]]:
        """Return every target, of the plan and of its criteria, once."""
        found = [(rate, at) for rate in RATES for at in self.plan.targets.get(rate, ())]
        found += [rule.asked for rule in self.plan.criteria if rule.asked is not None]
        return list(dict.fromkeys(found))

    def distance(self, rung: Rung, rate: Rate, at: Fraction | float) -> ThresholdDistance:
        """Return how far the groups' own thresholds for a target are apart."""
        if (rung.id, rate, at) not in self._distances:
            inside = np.flatnonzero(side_of(self.read, rung.score, rate) & (self.read.group >= 0))
            clusters, groups = self.read.clusters, len(self.read.groups)
            ends = None if clusters is None else (clusters.codes[0][inside], clusters.codes[-1][inside])
            resamples, seed = self.resamples(groups * (groups - 1) // 2)
            _points, own = self._own(rung, rate, at, self.read.group, groups)
            self._distances[rung.id, rate, at] = threshold_distance(
                rung.score[inside], self.read.group[inside], groups, at, rate, self.plan.direction,
                alpha=self.alpha, resamples=resamples, seed=seed, ends=ends,
                sizes=None if clusters is None else own[rate].size,
            )  # fmt: skip
        return self._distances[rung.id, rate, at]

    def shown_distance(self, rung: Rung, rate: Rate, at: Fraction | float) -> ThresholdDistance | None:
        """Return the distance as it may be told; None where nothing of it may.

        Where small counts are not told, no score is: then only the limits of criteria between which it lies.
        """
        found = self.distance(rung, rate, at)
        if self.least is None:
            return found
        limits = [as_float(rule.max) for rule in self.plan.criteria
                  if rule.asked == (rate, at) and rule.max is not None]  # fmt: skip
        low = max((math.nextafter(each, math.inf) for each in limits if found.low > each), default=0.0)
        high = min((each for each in limits if found.high <= each), default=math.inf)
        if low == 0 and math.isinf(high):
            return None
        return ThresholdDistance(math.nan, low, high, found.undefined, ())

    def withheld(self) -> Reason:
        """Return the reason of what is withheld."""
        return Reason("withheld", {"min_count": self.least or 0})

    def _distance(self, rung: Rung, rate: Rate, at: Fraction | float) -> Answer:
        details = details_of(rung, target=rate, at=as_float(at))
        absent = self._all_groups(rung, rate, "threshold_distance", details)
        if absent is not None:
            return absent
        found = self.shown_distance(rung, rate, at)
        if found is None:
            return Withheld("threshold_distance", self.system, (), self.withheld(), details)
        groups = len(self.read.groups)
        resamples, seed = self.resamples(groups * (groups - 1) // 2)
        what = "case" if self.read.clusters is None else "subject" if self.read.clusters.dyadic else "cluster"
        return Measure(
            metric="threshold_distance", system=self.system, group=(),
            value=found.value if math.isfinite(found.value) else None, low=found.low, high=found.high,
            confidence=self.confidence, cases=int(rung.by_group[rate].cases.sum()),
            method=f"{what} bootstrap, percentile, {resamples} resamples, seed {seed}",
            scale="score", unit=rung.unit, simultaneous=groups * (groups - 1) // 2, details=details,
        )  # fmt: skip

    # --- tables

    def tables(self, rungs: Sequence[Rung]) -> dict[str, tuple[Row, ...]]:
        """Return the kind's own tables; a rung without scores has no rows in them."""
        ran = [rung for rung in rungs if rung.obstacle is None]
        made = {
            "groups": self._group_rows,
            "targets": self._target_rows,
            "det": self._det_rows,
            "operating": self._operating_rows,
        }
        return {name: tuple(row for rung in ran for row in rows(rung)) for name, rows in made.items()}

    def _named(self, rung: Rung, group: Group) -> dict[str, Any]:
        return {"system": self.system or None, "rung": rung.id or None, "group": group_json(group)}

    def _cells(self, rung: Rung) -> Iterator[tuple[Group, int, Any, Mapping[Rate, Rates]]]:
        """Yield everybody, then each group: its place, and its counts and rates."""
        yield (), 0, rung.whole, rung.everybody
        for index, group in enumerate(self.read.groups):
            yield group, index, rung.groups, rung.by_group

    def _group_rows(self, rung: Rung) -> Iterator[Row]:
        for group, index, counts, found in self._cells(rung):
            of = {name: int(getattr(counts, name)[index]) for name in counts._fields}
            yield {
                **self._named(rung, group),
                **of,
                "abstained": of["abstained_impostor"] + of["abstained_genuine"],
                **{f"{rate}_size": _number(found[rate].size[index]) for rate in RATES},
                **{f"{rate}_subjects": _whole(found[rate].units, index) for rate in RATES},
                **{f"{rate}_dense": bool(found[rate].dense[index]) for rate in RATES},
            }

    def _operating_rows(self, rung: Rung) -> Iterator[Row]:
        for group, index, _counts, found in self._cells(rung):
            yield {
                **self._named(rung, group),
                "fmr": _number(found["false_match"].value[index]),
                "fnmr": _number(found["false_non_match"].value[index]),
                "threshold": rung.threshold,
            }

    def _det_rows(self, rung: Rung) -> Iterator[Row]:
        for group, index, _counts, _found in self._cells(rung):
            inside = np.ones(self.read.kept, np.bool_) if group == () else self.read.group == index
            genuine, impostor = (
                rung.score[inside & side_of(self.read, rung.score, rate)]
                for rate in ("false_non_match", "false_match")
            )
            curve = det_curve(genuine, impostor, self.plan.direction, least=max(1, self.least or 1))
            points = [[float(x), float(y)] for x, y in zip(*curve, strict=True)]
            yield {**self._named(rung, group), "points": points}

    def _own(
        self, rung: Rung, rate: Rate, at: Fraction | float, cell: Ints, cells: int
    ) -> tuple[list[Any], dict[Rate, Rates]]:
        """Return each cell's own operating point for a target, and both rates at these."""
        points = [
            each[0]
            for each in own_operating_points(
                rung.score, self.read.same, cell, cells, [at], rate, self.plan.direction
            )
        ]
        own = np.array([*(point.own.threshold for point in points), np.nan])
        return points, both_rates(self.read, rung.score, own[cell], self.plan, self.alpha, cell, cells)

    def _target_rows(self, rung: Rung) -> Iterator[Row]:
        everybody = np.zeros(self.read.kept, np.int64)
        for rate, at in self.asked():
            for cell, groups in ((everybody, ((),)), (self.read.group, self.read.groups)):
                points, found = self._own(rung, rate, at, cell, len(groups))
                for index, group in enumerate(groups):
                    inside = side_of(self.read, rung.score, rate) & (cell == index)
                    row = self._target(points[index], found, index, rung.score[inside], rate, at)
                    yield {**self._named(rung, group), "target": rate, "at": as_float(at), **row}

    def _target(
        self, point: Any, found: Mapping[Rate, Rates], index: int, scores: Floats, rate: Rate, at: Target
    ) -> Row:
        own, other = found[rate], found[OTHER[rate]]
        told = self.least is None  # a threshold is one case's score
        size = float(own.size[index])
        ends = threshold_interval(scores, at, rate, self.plan.direction, self.alpha, size)
        achieved, beside = own.interval(self.alpha), other.interval(self.alpha)
        known = point.own.cases > 0
        return {
            "threshold": _number(point.own.threshold) if told else None,
            "threshold_low": _number(ends.low) if told else None,
            "threshold_high": _number(ends.high) if told else None,
            "events": point.own.events if known else None,
            "cases": point.own.cases,
            "achieved": _number(own.value[index]),
            "low": _number(achieved.low[index]),
            "high": _number(achieved.high[index]),
            "other_rate": _number(other.value[index]) if known else None,
            "other_events": point.events if known else None,
            "other_cases": int(other.cases[index]),
            "other_low": _number(beside.low[index]) if known else None,
            "other_high": _number(beside.high[index]) if known else None,
            "unresolved": bool(point.own.unresolved),
        }


def _matched(score: Floats, threshold: float, plan: VerificationPlan) -> Any:
    return score >= threshold if plan.direction == "similarity" else score <= threshold


def _number(value: float | np.floating[Any]) -> float | None:
    return float(value) if math.isfinite(value) else None


def _whole(values: Ints | None, index: int) -> int | None:
    return None if values is None else int(values[index])
