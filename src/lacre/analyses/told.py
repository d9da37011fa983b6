"""What a stored result says of an analysis, typed: numbers that nobody checked yet."""

from typing import Any

from pydantic import BaseModel, ConfigDict


class Told(BaseModel):
    """The base of what is told: unknown names are left aside, and no value is taken for one of another type."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


class CodeTold(Told):
    """A reason code with its fields."""

    code: str
    fields: dict[str, Any]


class ZeroTold(Told):
    """The bound beside a rate of zero events."""

    confidence: float
    rule_of_three: float
    exact: float


class EstimateTold(Told):
    """A rate of a group, with its interval."""

    metric: str
    system: str | None
    group: dict[str, str]
    numerator: int | None
    denominator: int | None
    missing: int = 0
    value: float | None
    low: float | None
    high: float | None
    confidence: float | None
    simultaneous: int = 1
    method: str | None
    zero_bound: ZeroTold | None
    note: CodeTold | None

    @property
    def key(self) -> tuple[str, str, frozenset[tuple[str, str]]]:
        """System, metric and group, by which it is found."""
        return self.system or "", self.metric, frozenset(self.group.items())

    @property
    def bare(self) -> bool:
        """Whether it has no number but, perhaps, a denominator."""
        numbers = (self.numerator, self.value, self.low, self.high, self.confidence, self.method)
        return self.zero_bound is None and {*numbers} == {None}

    @property
    def withheld(self) -> bool:
        """Whether disclosure control keeps it back."""
        hidden = self.note is not None and self.note.code == "withheld"
        return hidden and self.bare and self.denominator is None


class LineTold(Told):
    """A group's line in a criterion."""

    group: dict[str, str]
    computed: str
    reason: CodeTold
    numerator: int | None
    denominator: int | None
    missing: int | None
    value: float | None
    low: float | None
    high: float | None

    @property
    def fits(self) -> bool:
        """Whether it has the counts and bounds of a rate, or none but a denominator."""
        if self.denominator is None or self.denominator < 0:
            return False
        counts, bounds = (self.numerator, self.missing), (self.value, self.low, self.high)
        if None in counts or None in bounds:
            return {*counts, *bounds} == {None}
        events, missing = self.numerator or 0, self.missing or 0
        inside = 0 <= events <= events + missing <= self.denominator and missing >= 0 < self.denominator
        return inside and 0 <= (self.low or 0.0) <= (self.high or 0.0) <= 1


class LeftOutTold(Told):
    """Cases that were left out, and why."""

    reason: str
    column: str
    count: int


class CriterionTold(Told):
    """A criterion with its lines and verdict."""

    id: str
    metric: str
    system: str | None
    by: list[str]
    rule: str
    threshold: float
    state: str
    computed: str
    reason: CodeTold
    value: float | None
    low: float | None
    high: float | None
    groups: list[LineTold]
    left_out: list[LeftOutTold]


class AnalysisTold(Told):
    """An analysis, whole."""

    kind: str
    computed: str
    rows: int
    estimates: list[EstimateTold]
    criteria: list[CriterionTold]
    notes: list[CodeTold]
