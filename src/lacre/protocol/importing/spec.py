"""What a block `fairness` says, once it proved sound."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal


@dataclass(frozen=True, slots=True)
class Outcome:
    """A column that says yes or no, and the texts that mean each; `assumed` where the file names none."""

    column: str
    positive: tuple[str, ...]
    negative: tuple[str, ...]
    assumed: bool = False


@dataclass(frozen=True, slots=True)
class Rule:
    """One acceptance rule: a largest gap between groups, or a bound (`side` is max or min) for the worst."""

    id: str
    rate: str
    by: tuple[str, ...]
    gap: Fraction | float | None = None
    bound: Fraction | float | None = None
    side: Literal["max", "min"] = "max"
    side_assumed: bool = False
    max_left_out: Fraction | float | None = None


@dataclass(frozen=True, slots=True)
class Cases:
    """What the file says of its cases: a table's name, a count of those planned, or other words about them."""

    table: str | None = None
    planned: int | None = None
    words: str | None = None


@dataclass(frozen=True, slots=True)
class Spec:
    """A block `fairness` that is sound; `source` is what messages call its file."""

    source: str
    name: str
    cases: Cases
    label: Outcome
    prediction: Outcome
    probability: str | None
    attributes: Mapping[str, tuple[str, ...]]
    intersections: tuple[tuple[str, ...], ...]
    crossings: tuple[tuple[str, ...], ...]
    """Those that only rules ask for."""
    min_cell: int | None
    unit: str | None
    calibration_bins: int | None
    rules: tuple[Rule, ...]
    others: tuple[str, ...] = ()
    """The file's other blocks."""
