"""Estimates: a rate cannot be built without its interval.

Every number that leaves an analysis is one of four: `Estimate`, a rate with counts, value, interval and how it was
made; `Measure`, any other number with its interval; `NotEstimable`, with the reason instead; `Withheld`, by
disclosure control. None is a bare number.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from lacre.analyses.reasons import Reason
from lacre.errors import BareRate
from lacre.stats.proportions import ONE_SIDED_ALPHA, rule_of_three
from lacre.text import _

Group: TypeAlias = tuple[tuple[str, str], ...]
"""A group: its (attribute, value) pairs in declared order; empty for everybody."""


Details: TypeAlias = Mapping[str, str | int | float]
"""What tells numbers of one metric, system and group apart: a variant, a rung, a target."""


def no_details() -> Details:
    """Return no details, the default."""
    return MappingProxyType({})


def details_json(details: Details) -> dict[str, Any]:
    """Return the details as a result stores them: nothing where there are none."""
    return {"details": dict(sorted(details.items()))} if details else {}


def group_json(group: Group) -> dict[str, str]:
    """Return the group as a result stores it."""
    return dict(group)


def group_name(group: Group) -> str:
    """Return the group as people read it: its values, joined."""
    return " × ".join(value for _attribute, value in group)


@dataclass(frozen=True, slots=True)
class ZeroBound:
    """What zero events leave possible, one-sided: the rule of three, and the exact bound."""

    rule_of_three: float
    exact: float
    confidence: float = 1 - ONE_SIDED_ALPHA

    @classmethod
    def of(cls, cases: float) -> "ZeroBound":
        """Return the bound of zero events in `cases` (or clusters) above 0."""
        three, exact = rule_of_three(cases)
        return cls(float(three), float(exact))

    def as_json(self) -> dict[str, Any]:
        """Return the bound as a result stores it; it is labelled, since the interval is two-sided."""
        return {
            "sides": 1,
            "confidence": self.confidence,
            "rule_of_three": self.rule_of_three,
            "exact": self.exact,
        }


def _empty(metric: str, system: str, group: Group) -> dict[str, Any]:
    return {
        "metric": metric,
        "system": system or None,
        "group": group_json(group),
        "numerator": None,
        "denominator": None,
        "value": None,
        "low": None,
        "high": None,
        "confidence": None,
        "method": None,
        "zero_bound": None,
        "note": None,
    }


@dataclass(frozen=True, slots=True)
class Estimate:
    """A rate with its interval.

    `numerator` events among `denominator` cases; `missing` of these have no outcome, count as no event in
    `value` and `low` and as events in `high`. `confidence` is of all `simultaneous` declared groups at once.
    Raises `BareRate` when the numbers are no rate with an interval around it, or when zero events come
    without their one-sided bound.
    """

    metric: str
    system: str
    group: Group
    numerator: int
    denominator: int
    value: float
    low: float
    high: float
    confidence: float
    method: str
    simultaneous: int = 1
    missing: int = 0
    zero_bound: ZeroBound | None = None
    note: Reason | None = None
    details: Details = field(default_factory=no_details)

    def __post_init__(self) -> None:
        problem = _problem(self)
        if problem is not None:
            raise BareRate(metric=self.metric, why=problem)

    @property
    def text(self) -> str:
        """The rate for people, in percent: never a bare number, and never zero."""
        if self.zero_bound is not None:
            return _("up to {bound} % (one-sided {confidence} %)").format(
                bound=percent(self.zero_bound.rule_of_three), confidence=percent(self.zero_bound.confidence)
            )
        if self.numerator == 0:
            return _("up to {bound} %").format(bound=percent(self.high))
        return _("{value} % ({low} to {high} %)").format(
            value=percent(self.value), low=percent(self.low), high=percent(self.high)
        )

    def as_json(self) -> dict[str, Any]:
        """Return the estimate as a result stores it."""
        return {
            "metric": self.metric,
            "system": self.system or None,
            "group": group_json(self.group),
            "numerator": self.numerator,
            "denominator": self.denominator,
            "missing": self.missing,
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "confidence": self.confidence,
            "simultaneous": self.simultaneous,
            "method": self.method,
            "zero_bound": None if self.zero_bound is None else self.zero_bound.as_json(),
            "note": None if self.note is None else self.note.as_json(),
            **details_json(self.details),
        }


def _problem(rate: Estimate) -> str | None:
    numbers = (rate.value, rate.low, rate.high, rate.confidence)
    if not all(isinstance(number, float) and math.isfinite(number) for number in numbers):
        return _("a number is missing")
    if not 0 <= rate.numerator <= rate.denominator or rate.denominator == 0:
        return _("the counts make no rate")
    if not 0 <= rate.missing <= rate.denominator - rate.numerator:
        return _("more outcomes are missing than there are")
    if rate.value != rate.numerator / rate.denominator:
        return _("the value is not that of the counts")
    if not 0 <= rate.low <= rate.value <= rate.high <= 1 or rate.low == rate.high:
        return _("the interval does not hold the value")
    if not 0 < rate.confidence < 1 or rate.simultaneous < 1:
        return _("the confidence is none")
    if (rate.zero_bound is not None) != (rate.numerator == 0 and rate.missing == 0):
        return _("zero events go with their one-sided bound, and nothing else does")
    return None


Scale = Literal["share", "difference", "ratio", "score", "number", "kappa"]
"""What a number is: a share of 1, a difference of shares, a ratio, in the unit of a score or column, an agreement."""

_RANGES: Mapping[str, tuple[float, float]] = MappingProxyType(
    {"share": (0, 1), "difference": (-1, 1), "ratio": (0, math.inf), "kappa": (-math.inf, 1)}
)


@dataclass(frozen=True, slots=True)
class Measure:
    """A number that is no plain share of counted cases, with its interval.

    It rests on `cases`, and compares `group` with `versus` where there is one. An end of the interval may be
    infinite (a ratio whose lower rate may be 0): it is None in JSON. `value` is None where only bounds are
    known, as of a ratio to a rate of zero events. Raises `BareRate` where it is no number with an interval around
    it; a percentile interval need not hold the value.
    """

    metric: str
    system: str
    group: Group
    value: float | None
    low: float
    high: float
    confidence: float
    method: str
    cases: int
    scale: Scale
    unit: str | None = None
    versus: Group | None = None
    simultaneous: int = 1
    zero_bound: ZeroBound | None = None
    note: Reason | None = None
    details: Details = field(default_factory=no_details)

    def __post_init__(self) -> None:
        problem = _measure_problem(self)
        if problem is not None:
            raise BareRate(metric=self.metric, why=problem)

    @property
    def groups(self) -> tuple[Group, ...]:
        """The groups it rests on."""
        return (self.group,) if self.versus is None else (self.group, self.versus)

    def as_json(self) -> dict[str, Any]:
        """Return the number as a result stores it, under the names of an estimate and a few more."""
        return {
            **_empty(self.metric, self.system, self.group),
            "denominator": self.cases,
            "value": self.value,
            "low": self.low if math.isfinite(self.low) else None,
            "high": self.high if math.isfinite(self.high) else None,
            "confidence": self.confidence,
            "simultaneous": self.simultaneous,
            "method": self.method,
            "zero_bound": None if self.zero_bound is None else self.zero_bound.as_json(),
            "note": None if self.note is None else self.note.as_json(),
            "scale": self.scale,
            "unit": self.unit,
            **({} if self.versus is None else {"versus": group_json(self.versus)}),
            **details_json(self.details),
        }


def _measure_problem(measure: Measure) -> str | None:
    low, high, value = measure.low, measure.high, measure.value
    if not all(isinstance(number, float) for number in (low, high, measure.confidence)):
        return _("a number is missing")
    if math.isnan(low) or math.isnan(high) or not low <= high or (low == high and math.isinf(low)):
        return _("the interval is none")
    least, most = _RANGES.get(measure.scale, (-math.inf, math.inf))
    if not (least <= low or math.isinf(low)) or not (high <= most or math.isinf(high)):
        return _("the interval does not lie where such numbers do")
    if not 0 < measure.confidence < 1 or measure.simultaneous < 1 or measure.cases < 1:
        return _("the confidence is none")
    if value is None:
        return None
    if not isinstance(value, float) or not math.isfinite(value):
        return _("a number is missing")
    if "percentile" not in measure.method and not low <= value <= high:
        return _("the interval does not hold the value")
    return None


@dataclass(frozen=True, slots=True)
class NotEstimable:
    """A rate that has no value, and why; never 0, 1 or a gap of 0."""

    metric: str
    system: str
    group: Group
    denominator: int
    reason: Reason
    details: Details = field(default_factory=no_details)
    versus: Group | None = None

    @property
    def text(self) -> str:
        """The place of the rate for people."""
        return _("not estimable")

    def as_json(self) -> dict[str, Any]:
        """Return the absence as a result stores it, under the names of an estimate."""
        empty = _empty(self.metric, self.system, self.group)
        return {
            **empty,
            "denominator": self.denominator,
            "note": self.reason.as_json(),
            **({} if self.versus is None else {"versus": group_json(self.versus)}),
            **details_json(self.details),
        }


@dataclass(frozen=True, slots=True)
class Withheld:
    """A rate that disclosure control keeps back, with its counts.

    `cases` are its denominator, for other analyses of one read to be held against it; no result tells them.
    """

    metric: str
    system: str
    group: Group
    reason: Reason
    details: Details = field(default_factory=no_details)
    versus: Group | None = None
    cases: int | None = field(default=None, repr=False, compare=False)

    @property
    def text(self) -> str:
        """The place of the rate for people."""
        return _("withheld")

    def as_json(self) -> dict[str, Any]:
        """Return the absence as a result stores it, under the names of an estimate."""
        return {
            **_empty(self.metric, self.system, self.group),
            "note": self.reason.as_json(),
            **({} if self.versus is None else {"versus": group_json(self.versus)}),
            **details_json(self.details),
        }


Answer: TypeAlias = Estimate | Measure | NotEstimable | Withheld


def percent(rate: float) -> str:
    """Return `rate` in percent to two significant digits, as "up to" and intervals are read (0.0252 is 2.5).

    From 10 % up one decimal is kept, so that intervals of large samples do not collapse.
    """
    scaled = 100 * rate
    if scaled >= 10:
        return f"{scaled:.1f}".removesuffix(".0")
    return f"{scaled:.2g}" if scaled >= 0.0001 else f"{scaled:.1e}" if scaled else "0"
