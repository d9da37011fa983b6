"""What plans of several kinds are made of: events by a column or a threshold, strata, bounds, bootstraps."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from lacre.protocol.columns import CategoryColumn, NumberColumn, OrdinalColumn, OutcomeColumn, Text
from lacre.protocol.grammar import (
    Count,
    Identifier,
    Listed,
    Model,
    Name,
    Number,
    Pair,
    Rate,
    Seed,
    Whole,
    in_order,
    not_empty,
    refuse,
    within,
)
from lacre.protocol.problems import Findings, Path, listed, quoted
from lacre.protocol.tables import Table
from lacre.protocol.thresholds import CalibratedThreshold
from lacre.text import N_

if TYPE_CHECKING:
    from lacre.protocol.models import Protocol

Confidence = Annotated[Number, AfterValidator(within(0.5, 1, open_high=True))]
Difference = Annotated[Number, AfterValidator(within(-1, 1))]
Direction = Literal["similarity", "distance"]
Blank = Literal["not_detected", "worst_case", "left_out"]
Interval = Literal["wilson", "clopper_pearson"]
Strata = Annotated[Listed[Name], AfterValidator(not_empty)]
Stratum = Annotated[dict[Name, Text], AfterValidator(not_empty), AfterValidator(in_order)]
"""One value of each of some columns."""

MOST_CELLS = 10_000
"""More cells than this leave each an error rate of no use, and the working set of the engine unbounded."""


BEYOND = 25
"""Resamples that lie beyond each end of a percentile interval, in the mean, as `lacre.stats.bootstrap` asks."""


class Bootstrap(Model):
    """How often cases, or their clusters, are drawn again, and from which seed."""

    resamples: Annotated[Whole, Field(ge=100, le=1_000_000)]
    seed: Seed


class Event(Model):
    """What happened to a case: an outcome column, or a score on the right side of a registered threshold.

    `blank` is what a case without it counts as.
    """

    column: Name | None = None
    score: Name | None = None
    threshold: Identifier | None = None
    direction: Direction = "similarity"
    blank: Blank

    @model_validator(mode="after")
    def _is_one_form(self) -> Self:
        if (self.column is None) == (self.score is None):
            raise refuse(N_("needs `column`, an outcome, or `score` and `threshold`"))
        if (self.score is None) != (self.threshold is None):
            raise refuse(N_("needs `score` and `threshold` together"))
        return self

    @property
    def reads(self) -> str:
        """The column it is found in."""
        name = self.column if self.score is None else self.score
        assert name is not None
        return name


class Weights(Model):
    """The column with each case's inclusion probability, and the registered draw whose strata it goes by."""

    column: Name
    draw: Identifier


class WorstGroup(Model):
    """A bound that every group must keep: a ceiling `max` or a floor `min`."""

    max: Rate | None = None
    min: Rate | None = None

    @model_validator(mode="after")
    def _is_one_bound(self) -> Self:
        if (self.max is None) == (self.min is None):
            raise refuse(N_("needs exactly one bound: `max` or `min`"))
        return self


class RateCriterion(Model):
    """One rule on a share of cases: a bound for all, for every stratum, or for a difference.

    A difference is between two strata, first less second (`between`), or between two systems on the same
    cases, first less second (`systems`).
    """

    id: Identifier
    metric: str
    by: Strata | None = None
    worst_group: WorstGroup | None = None
    between: Pair[Stratum] | None = None
    systems: Pair[Identifier] | None = None
    min: Difference | None = None
    max: Difference | None = None
    min_cell: Count = 1
    max_left_out: Rate = 0.10
    requires_manual_review: bool = False

    @property
    def is_difference(self) -> bool:
        """Whether it is on a difference, and not on a share."""
        return self.between is not None or self.systems is not None


@dataclass(frozen=True, slots=True)
class Normalise:
    """How scores are normalised by those against a frozen cohort (z-, t-, s-norm, or adaptive s-norm).

    `table` holds a score per key and face of the cohort; `on` pairs columns of the comparisons (first the enrolled
    side, then the tested one) with the key column of that table. `top` is the N of the adaptive form.
    """

    kind: str
    table: str
    score: str
    on: tuple[tuple[str, str], ...]
    ddof: int
    top: int | None = None


@dataclass(frozen=True, slots=True)
class Basis:
    """How a threshold's score is read: which column tells the two kinds of cases apart, and which way it goes.

    Without `truth` every case is one that should be detected. `targets` are the rates it may be set at, and `blank` is
    what a case without a score counts as.
    """

    table: str
    score: str
    truth: str | None
    direction: Direction
    targets: tuple[str, ...]
    blank: Blank = "left_out"
    normalise: "Normalise | None" = None

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return asdict(self)

    def cohort_reads(self) -> Mapping[str, tuple[str, ...]]:
        """Return what is read of the cohort that scores are normalised by: columns by table."""
        return {} if self.normalise is None else {self.normalise.table: (self.normalise.score,)}


# --- checks ------------------------------------------------------------------------------------------------


class Checking:
    """The checks of one plan against its table; each finds what contradicts itself and goes on."""

    def __init__(self, path: Path, name: str, table: Table, protocol: "Protocol", findings: Findings) -> None:
        self.path = path
        self.name = name
        self.table = table
        self.protocol = protocol
        self.findings = findings
        self.section: Path = ("tables", name, "columns")

    def add(self, at: Path, template: str, **fields: Any) -> None:
        """Note a problem at `at` below the plan."""
        self.findings.add((*self.path, *at), template, **fields)

    def column(self, name: str, at: Path, *types: str, supplied: bool | None = None) -> object | None:
        """Return the column of a name if it is one of `types`; `supplied` says whether a submission has it."""
        column = self.findings.known(name, self.table.columns, self.section, (*self.path, *at))
        if column is None:
            return None
        if column.type not in types:
            self.add(
                at,
                N_("{name} is of type {type}; it must be one of {types}"),
                name=quoted(name),
                type=column.type,
                types=listed(types),
            )
            return None
        if supplied is not None and self.table.supplied(name) != supplied:
            said = (
                N_("{name} must say `from: submission`")
                if supplied
                else N_("{name} comes from the submission; it must be the pool's own")
            )
            self.add(at, said, name=quoted(name))
            return None
        return column

    def event(self, event: Event, at: Path, systems: Collection[str]) -> None:
        """Check what happened to a case, and that its threshold is on the same score."""
        supplied = True if len(systems) > 1 else None
        if event.column is not None:
            self.column(event.column, (*at, "column"), "outcome", supplied=supplied)
            return
        assert event.score is not None
        assert event.threshold is not None
        self.column(event.score, (*at, "score"), "number", supplied=supplied)
        self.threshold(event.threshold, event.score, (*at, "threshold"))

    def threshold(self, name: str, score: str, at: Path) -> None:
        """Check that a threshold is declared, and calibrated on this score of this table if it is at all."""
        threshold = self.findings.known(name, self.protocol.thresholds, ("thresholds",), (*self.path, *at))
        if not isinstance(threshold, CalibratedThreshold):
            return
        if (threshold.table, threshold.score) != (self.name, score):
            self.add(
                at,
                N_("{name} is calibrated on {other} of {table}, and this is another score"),
                name=quoted(name),
                other=quoted(threshold.score),
                table=quoted(threshold.table),
            )

    def strata(self, names: Sequence[str], at: Path) -> int | None:
        """Return how many cells the strata of some columns make; None where a column has no declared values."""
        sizes = []
        for index, name in enumerate(names):
            values = self.values(name, (*at, index))
            if values is None:
                return None
            sizes.append(len(values))
        cells = math.prod(sizes)
        if cells > MOST_CELLS:
            self.add(
                at, N_("makes {count} groups; at most {most} can be told apart"), count=cells, most=MOST_CELLS
            )
        return cells

    def values(self, name: str, at: Path) -> tuple[str, ...] | None:
        """Return a stratum column's declared values, or the names of its bins."""
        column = self.findings.known(name, self.table.columns, self.section, (*self.path, *at))
        if column is None:
            return None
        if self.table.supplied(name):
            self.add(at, N_("{name} comes from the submission; groups are the pool's own"), name=quoted(name))
            return None
        found = stratum_values(column)
        if found is None:
            self.add(
                at,
                N_(
                    "{name} is of type {type}; strata come from a category, an ordinal or a number with `bins`"
                ),
                name=quoted(name),
                type=column.type,
            )
        return found

    def stratum(self, stratum: Mapping[str, str], at: Path) -> None:
        """Check one value of each of some columns."""
        for name, value in stratum.items():
            known = self.values(name, (*at, name))
            if known is not None and value not in known:
                self.add(
                    (*at, name),
                    N_("{value} is not a declared value of {name}, which has {known}"),
                    value=quoted(value),
                    name=quoted(name),
                    known=listed(known),
                )

    def unique_ids(self, criteria: Sequence[object]) -> None:
        """Check that no two criteria have the same id."""
        seen: set[str] = set()
        for index, criterion in enumerate(criteria):
            name = str(getattr(criterion, "id", ""))
            if name in seen:
                self.add(
                    ("criteria", index, "id"), N_("{name} is another criterion's id too"), name=quoted(name)
                )
            seen.add(name)

    def weights(self, weights: Weights) -> None:
        """Check the declared inclusion probabilities and the draw they come from."""
        column = self.column(weights.column, ("weights", "column"), "number", supplied=False)
        if isinstance(column, NumberColumn) and not {"inclusion_probability", "weight"} & set(column.is_):
            self.add(
                ("weights", "column"),
                N_("{name} must say `is: inclusion_probability` or `is: weight`: files hold either"),
                name=quoted(weights.column),
            )
        draw = self.findings.known(
            weights.draw, self.protocol.sampling, ("sampling",), (*self.path, "weights", "draw")
        )
        if draw is not None and weights.draw != self.name:
            self.add(
                ("weights", "draw"),
                N_("{draw} draws cases of another table than {table}"),
                draw=quoted(weights.draw),
                table=quoted(self.name),
            )


def stratum_values(column: object) -> tuple[str, ...] | None:
    """Return the names of a column's strata, in declared order; None for a type that has none."""
    match column:
        case CategoryColumn() | OrdinalColumn():
            return tuple(column.values)
        case NumberColumn() if column.bins is not None:
            return tuple(column.bins)
        case OutcomeColumn():
            return None
    return None
