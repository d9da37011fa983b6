"""What a stored result says of an analysis, typed: numbers that nobody checked yet."""

from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict

from lacre.analyses.reasons import Reason


class Told(BaseModel):
    """The base of what is told: unknown names are left aside, and no value is taken for one of another type."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


class CodeTold(Told):
    """A reason code with its fields."""

    code: str
    fields: dict[str, Any]

    @property
    def reason(self) -> Reason:
        """The reason it tells."""
        return Reason(self.code, self.fields)


class ZeroTold(Told):
    """The bound beside a rate of zero events."""

    confidence: float
    rule_of_three: float
    exact: float
    sides: int


Details = dict[str, str | int | float]


class Key(NamedTuple):
    """By what a number is found: what it is, of whom, compared with whom, and what else tells it apart."""

    metric: str
    system: str
    group: frozenset[tuple[str, str]]
    versus: frozenset[tuple[str, str]] | None = None
    details: frozenset[tuple[str, str | int | float]] = frozenset()


class EstimateTold(Told):
    """A number of a group, with its interval: a rate, or what `scale` says."""

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
    scale: str | None = None
    unit: str | None = None
    versus: dict[str, str] | None = None
    details: Details = {}

    @property
    def key(self) -> Key:
        """By what it is found."""
        versus = None if self.versus is None else frozenset(self.versus.items())
        details = frozenset(self.details.items())
        return Key(self.metric, self.system or "", frozenset(self.group.items()), versus, details)

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
    state: str
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
    scale: str = "share"
    unit: str | None = None
    details: Details = {}


class AnalysisTold(Told):
    """An analysis, whole."""

    kind: str
    computed: str
    rows: int
    estimates: list[EstimateTold]
    criteria: list[CriterionTold]
    notes: list[CodeTold]
    left_out: list[LeftOutTold]
    tables: dict[str, list[dict[str, Any]]] = {}
