"""A criterion on one number: a floor or a ceiling, decided from its interval."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, Protocol

import numpy as np

from lacre.analyses.criteria import too_many_left_out
from lacre.analyses.estimate import Details, Scale, no_details
from lacre.analyses.reasons import Reason
from lacre.analyses.verdict import CriterionResult, LeftOut, Line, State, ceiling, floor
from lacre.protocol.grammar import as_float


class Bounded(Protocol):
    """A criterion with a floor `min` or a ceiling `max`."""

    @property
    def id(self) -> str:
        """Its name."""

    @property
    def metric(self) -> str:
        """The number it is on."""

    @property
    def min(self) -> Fraction | float | None:
        """The floor."""

    @property
    def max(self) -> Fraction | float | None:
        """The ceiling."""

    @property
    def max_left_out(self) -> Fraction | float:
        """The share of cases that may be left out."""

    @property
    def requires_manual_review(self) -> bool:
        """Whether a person decides."""


@dataclass(frozen=True, slots=True)
class Number:
    """What a criterion judges: a value with its interval, or the `obstacle` to having one.

    `scale` and `unit` say what it is, as of a `Measure`.
    """

    value: float | None = None
    low: float | None = None
    high: float | None = None
    obstacle: Reason | None = None
    scale: Scale = "share"
    unit: str | None = None


def bound_of(criterion: Bounded) -> tuple[Literal["max", "min"], float]:
    """Return the form of a criterion's bound, and where it is."""
    if criterion.max is not None:
        return "max", as_float(criterion.max)
    assert criterion.min is not None
    return "min", as_float(criterion.min)


def decide_number(
    criterion: Bounded,
    number: Number,
    *,
    system: str,
    rows: int,
    left_out: Sequence[LeftOut] = (),
    review: Reason | None = None,
    lines: tuple[Line, ...] = (),
    details: Details | None = None,
    decided: tuple[State, Reason] | None = None,
) -> CriterionResult:
    """Decide a criterion on one number: review first, then what cannot be decided, then its interval.

    `left_out` are cases of the `rows`, each under its first reason; the number rests on all of `lines`. What is
    `decided` otherwise, as by the point, stands in place of the interval's decision.
    """
    form, limit = bound_of(criterion)
    if review is None and criterion.requires_manual_review:
        review = Reason("review-registered")
    obstacle = too_many_left_out(left_out, rows, criterion.max_left_out) or number.obstacle
    if review is not None:
        state, reason = State.MANUAL_REVIEW, review
    elif obstacle is not None:
        state, reason = State.INSUFFICIENT_EVIDENCE, obstacle
    else:
        state, reason = decided or by_bounds(form, limit, number.low, number.high)
    return CriterionResult(
        id=criterion.id,
        metric=criterion.metric,
        system=system,
        by=(),
        form=form,
        threshold=limit,
        state=state,
        reason=reason,
        value=number.value,
        low=number.low,
        high=number.high,
        lines=lines,
        left_out=tuple(left_out),
        rests_on=frozenset(range(len(lines))),
        scale=number.scale,
        unit=number.unit,
        details=no_details() if details is None else details,
    )


def by_bounds(
    form: Literal["max", "min"], limit: float, low: float | None, high: float | None
) -> tuple[State, Reason]:
    """Decide by the bounds; one that is None is open to that side."""
    ends = np.array(-np.inf if low is None else low), np.array(np.inf if high is None else high)
    state = (ceiling if form == "max" else floor)(*ends, limit).state()
    fields: dict[str, float] = {"threshold": limit}
    fields |= {name: end for name, end in (("low", low), ("high", high)) if end is not None}
    code = {State.PASS: f"{form}-kept", State.FAIL: f"{form}-broken"}.get(state, "undecided")
    if code == "undecided" and (low is None or high is None):
        code = "undecided-open"
    return state, Reason(code, fields)
