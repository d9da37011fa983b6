"""Verdicts: four states, the rules that decide from bounds alone, and a criterion's answer.

A ceiling T passes if and only if the upper bound is at most T and fails if and only if the lower bound is
above it; a floor the other way round; whatever is between is INSUFFICIENT_EVIDENCE. All decisions work on
arrays, so that feasibility simulates with the code that decides.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from lacre.analyses.estimate import Details, Group, Scale, details_json, group_json, no_details
from lacre.analyses.reasons import Reason
from lacre.rules import verdicts
from lacre.stats.fairness import largest_gap
from lacre.stats.proportions import Floats

Booleans = npt.NDArray[np.bool_]


class State(StrEnum):
    """What a criterion, an analysis or a result comes to."""

    PASS = "PASS"  # noqa: S105 - a verdict, not a password
    FAIL = "FAIL"
    INSUFFICIENT_EVIDENCE = "INSUFFICIENT_EVIDENCE"
    MANUAL_REVIEW = "MANUAL_REVIEW"


def worst(states: Iterable[State]) -> State:
    """Return the worst of `states`; of none it is PASS, since nothing was asked."""
    return State(verdicts.worst(states))


class Decision(NamedTuple):
    """Where bounds pass and where they fail; where neither, they cannot tell."""

    passes: Booleans
    fails: Booleans

    def state(self, index: int | tuple[()] = ()) -> State:
        """Return the state at one place of the arrays."""
        if self.fails[index]:
            return State.FAIL
        return State.PASS if self.passes[index] else State.INSUFFICIENT_EVIDENCE


def ceiling(low: Floats, high: Floats, limit: float) -> Decision:
    """Decide `value <= limit` from bounds; nan decides nothing."""
    return Decision(np.asarray(high <= limit), np.asarray(low > limit))


def floor(low: Floats, high: Floats, limit: float) -> Decision:
    """Decide `value >= limit` from bounds; nan decides nothing."""
    return Decision(np.asarray(low >= limit), np.asarray(high < limit))


GroupForm = Literal["max_group_gap", "worst_group_max", "worst_group_min"]
"""The forms of rules over groups of equal kind, each decided from the groups' own bounds."""

Form = GroupForm | Literal["max", "min", "max_group_ratio"]
"""What a criterion's threshold is: a bound for groups as above, for one number, or for a ratio between groups."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule over groups: their largest gap, or a ceiling or floor that each must keep; `limit` a rate."""

    form: GroupForm
    limit: float

    def each(self, low: Floats, high: Floats) -> Decision:
        """Decide each group by its own bounds (`worst_group` only)."""
        return (floor if self.form == "worst_group_min" else ceiling)(low, high, self.limit)

    def decide(self, low: Floats, high: Floats, usable: Booleans) -> Decision:
        """Decide the rule from bounds of shape (…, K) of the declared groups, `usable` of shape (K,).

        A group that is not usable (too small, not estimable) blocks a pass and neither passes nor fails, nor
        does a pair it is in.
        """
        low, high = low[..., usable], high[..., usable]
        if self.form == "max_group_gap":
            gap = ceiling(*largest_gap(low, high), self.limit)
            return Decision(gap.passes & usable.all(), gap.fails)
        single = self.each(low, high)
        passes = single.passes.all(axis=-1) & usable.all()
        return Decision(np.asarray(passes), np.asarray(single.fails.any(axis=-1)))


@dataclass(frozen=True, slots=True)
class Line:
    """One group of a criterion: its rate and bounds (None where not estimable), and its own state."""

    group: Group
    state: State
    reason: Reason
    numerator: int | None
    denominator: int | None
    missing: int | None
    value: float | None
    low: float | None
    high: float | None

    def as_json(self) -> dict[str, Any]:
        """Return the line as a result stores it."""
        return {
            "group": group_json(self.group),
            "state": self.state.value,
            "reason": self.reason.as_json(),
            "numerator": self.numerator,
            "denominator": self.denominator,
            "missing": self.missing,
            "value": self.value,
            "low": self.low,
            "high": self.high,
        }


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Cases left out for what a `column` holds: missing, undeclared, or excluded as registered."""

    reason: str
    column: str
    count: int

    def as_json(self) -> dict[str, Any]:
        """Return the count as a result stores it."""
        return {"reason": self.reason, "column": self.column, "count": self.count}


@dataclass(frozen=True, slots=True)
class CriterionResult:
    """A criterion's verdict: of the gap or the worst group, with a line for each declared group.

    `value`, `low` and `high` are of the largest gap, or of the worst rate, among the groups that can be
    estimated, None where there are none. `left_out` counts each case under its first reason, so it adds up.
    `rests_on` are the places in `lines` that value and bounds were taken from. `note` is what the verdict must not be
    read without.
    """

    id: str
    metric: str
    system: str
    by: tuple[str, ...]
    form: Form
    threshold: float
    state: State
    reason: Reason
    value: float | None
    low: float | None
    high: float | None
    lines: tuple[Line, ...]
    left_out: tuple[LeftOut, ...]
    rests_on: frozenset[int] = frozenset()
    scale: Scale = "share"
    unit: str | None = None
    details: Details = field(default_factory=no_details)
    note: Reason | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the verdict as a result stores it."""
        return {
            "id": self.id,
            "metric": self.metric,
            "system": self.system or None,
            "by": list(self.by),
            "rule": self.form,
            "threshold": self.threshold,
            "state": self.state.value,
            "reason": self.reason.as_json(),
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "groups": [line.as_json() for line in self.lines],
            "left_out": [each.as_json() for each in self.left_out],
            **({} if self.scale == "share" else {"scale": self.scale, "unit": self.unit}),
            **details_json(self.details),
            **({} if self.note is None else {"note": self.note.as_json()}),
        }
