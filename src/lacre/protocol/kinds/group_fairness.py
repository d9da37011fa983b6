"""The plan of a group-fairness gate: which errors, between which groups, within which tolerance."""

import math
from collections.abc import Collection, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from lacre.errors import FewerThanTwoGroups
from lacre.protocol.grammar import (
    Count,
    Identifier,
    Listed,
    Many,
    Model,
    Name,
    Rate,
    Whole,
    not_empty,
    refuse,
)
from lacre.protocol.kinds.parts import MOST_CELLS, Confidence, WorstGroup
from lacre.protocol.kinds.plan import TablePlan
from lacre.protocol.problems import Findings, Path, listed, quoted
from lacre.protocol.tables import Table
from lacre.text import N_

if TYPE_CHECKING:
    from lacre.protocol.models import Protocol

Metric = Literal["error", "false_positive", "false_negative", "selection"]


class Criterion(Model):
    """One acceptance rule on one rate: a largest gap between groups, or a bound for the worst of them."""

    id: Identifier
    metric: Metric
    by: Annotated[Many[Name], AfterValidator(not_empty)]
    max_group_gap: Rate | None = None
    worst_group: WorstGroup | None = None
    max_left_out: Rate = 0.10
    requires_manual_review: bool = False

    @model_validator(mode="after")
    def _is_one_rule(self) -> Self:
        if (self.max_group_gap is None) == (self.worst_group is None):
            raise refuse(N_("needs exactly one rule: `max_group_gap` or `worst_group`"))
        return self


class Assumption(Model):
    """Rates taken to be true, of every group alike, to say what a plan could find; they decide nothing."""

    label: Rate | None = None
    error: Rate | None = None
    false_positive: Rate | None = None
    false_negative: Rate | None = None
    selection: Rate | None = None


class GroupFairnessPlan(TablePlan):
    """A gate on error, false positive, false negative and selection rates between declared groups."""

    kind: Literal["group_fairness"]
    label: Name
    prediction: Name
    probability: Name | None = None
    attributes: Annotated[Many[Name], AfterValidator(not_empty)]
    intersections: list[Annotated[Listed[Name], Field(min_length=2)]] = Field(default_factory=list)
    assume: Assumption | None = None
    confidence: Confidence = 0.95
    min_cell: Count = 30
    calibration_bins: Annotated[Whole, Field(ge=1, le=1000)] | None = None
    requires_manual_review: bool = False
    criteria: Annotated[list[Criterion], AfterValidator(not_empty)]

    def columns(self) -> frozenset[str]:
        """Return the label, prediction, probability and attribute columns."""
        named = {self.label, self.prediction, *self.attributes}
        return frozenset(named if self.probability is None else {*named, self.probability})

    def labels(self) -> frozenset[str]:
        """Return the label."""
        return frozenset({self.label})

    def sorted_by(self) -> str:
        """Return the label."""
        return self.label

    def compares_groups(self) -> bool:
        """Tell whether every criterion is a gap between groups."""
        return all(criterion.max_group_gap is not None for criterion in self.criteria)

    def check(self, path: Path, table: Table, protocol: "Protocol", findings: Findings) -> None:
        """Find what contradicts itself between the plan and its table."""
        systems = list(protocol.systems) if self.systems is None else self.systems
        _Check(self, path, table, findings).run(systems)


class _Check:
    """The checks of one plan against its table."""

    def __init__(self, plan: GroupFairnessPlan, path: Path, table: Table, findings: Findings) -> None:
        self.plan = plan
        self.path = path
        self.table = table
        self.findings = findings
        self.section: Path = ("tables", plan.table, "columns")

    def run(self, systems: Collection[str]) -> None:
        self.outcomes(systems)
        self.scores()
        sizes = self.attributes()
        self.intersections()
        self.criteria(sizes)
        self.assumption()

    def outcomes(self, systems: Collection[str]) -> None:
        plan, table = self.plan, self.table
        for name, at in ((plan.label, "label"), (plan.prediction, "prediction")):
            column = self.findings.known(name, table.columns, self.section, (*self.path, at))
            if column is not None and column.type != "outcome":
                self.findings.add(
                    (*self.path, at),
                    N_("{name} is of type {type}; it must be an outcome"),
                    name=quoted(name),
                    type=column.type,
                )
        if plan.label == plan.prediction:
            self.findings.add((*self.path, "prediction"), N_("must be another column than `label`"))
        if plan.label in table.columns and table.supplied(plan.label):
            self.findings.add((*self.path, "label"), N_("comes from the submission: it would judge itself"))
        if plan.label in table.columns and "input" in table.columns[plan.label].is_:
            self.findings.add((*self.path, "label"), N_("is marked `is: input`, so it would be handed out"))
        if plan.prediction in table.columns and not table.supplied(plan.prediction) and len(systems) > 1:
            self.findings.add(
                (*self.path, "prediction"),
                N_("must say `from: submission`, or the systems compared would all predict the same"),
            )

    def scores(self) -> None:
        plan, at = self.plan, (*self.path, "probability")
        if plan.probability is None:
            if plan.calibration_bins is not None:
                self.findings.add(
                    (*self.path, "calibration_bins"), N_("needs `probability`, the column to be calibrated")
                )
            return
        column = self.findings.known(plan.probability, self.table.columns, self.section, at)
        if column is None:
            return
        name = quoted(plan.probability)
        if column.type != "number":
            self.findings.add(
                at, N_("{name} is of type {type}; it must be a number"), name=name, type=column.type
            )
        elif column.min is None or column.max is None or column.min < 0 or column.max > 1:
            self.findings.add(at, N_("{name} must be declared with `min: 0, max: 1`"), name=name)

    def attributes(self) -> dict[str, int]:
        """Return the number of declared values of each sound attribute."""
        sizes = {}
        for index, name in enumerate(self.plan.attributes):
            at = (*self.path, "attributes", index)
            column = self.findings.known(name, self.table.columns, self.section, at)
            if column is None:
                continue
            if column.type not in ("category", "ordinal"):
                self.findings.add(
                    at,
                    N_("{name} is of type {type}; groups come from a category or an ordinal"),
                    name=quoted(name),
                    type=column.type,
                )
            elif column.source is not None:
                self.findings.add(
                    at, N_("{name} comes from the submission; groups are the pool's own"), name=quoted(name)
                )
            else:
                sizes[name] = len(column.named_values)
        return sizes

    def intersections(self) -> None:
        seen: set[frozenset[str]] = set()
        for index, names in enumerate(self.plan.intersections):
            at = (*self.path, "intersections", index)
            for inner, name in enumerate(names):
                if name not in self.plan.attributes:
                    self.findings.add(
                        (*at, inner), N_("{name} is not among the attributes"), name=quoted(name)
                    )
            if frozenset(names) in seen:
                self.findings.add(at, N_("stands here twice"))
            seen.add(frozenset(names))

    def criteria(self, sizes: Mapping[str, int]) -> None:
        declared = {frozenset(names) for names in self.plan.intersections}
        seen: set[str] = set()
        for index, criterion in enumerate(self.plan.criteria):
            at = (*self.path, "criteria", index)
            if criterion.id in seen:
                self.findings.add(
                    (*at, "id"), N_("{name} is another criterion's id too"), name=quoted(criterion.id)
                )
            seen.add(criterion.id)
            if len(criterion.by) == 1 and criterion.by[0] not in self.plan.attributes:
                self.findings.add(
                    (*at, "by"), N_("{name} is not among the attributes"), name=quoted(criterion.by[0])
                )
            elif len(criterion.by) > 1 and frozenset(criterion.by) not in declared:
                self.findings.add(
                    (*at, "by"),
                    N_("{names} together are not among the intersections"),
                    names=listed(criterion.by),
                )
            elif set(criterion.by) <= sizes.keys():
                self.cells(criterion, math.prod(sizes[name] for name in criterion.by), at)

    def cells(self, criterion: Criterion, count: int, at: Path) -> None:
        if count > MOST_CELLS:
            self.findings.add(
                (*at, "by"),
                N_("makes {count} groups; at most {most} can be told apart"),
                count=count,
                most=MOST_CELLS,
            )
        if count < 2 and criterion.max_group_gap is not None:
            self.findings.add(
                at,
                N_("{names} has one declared group, and a difference needs two"),
                refusal=FewerThanTwoGroups,
                names=listed(criterion.by),
            )

    def assumption(self) -> None:
        # An error rate is made of its two kinds: error = label * FNR + (1 - label) * FPR.
        assume = self.plan.assume
        if assume is None or assume.label is None or assume.error is None:
            return
        label, error = Fraction(assume.label), Fraction(assume.error)
        missed = Fraction(assume.false_negative or 0) * label
        alarmed = Fraction(assume.false_positive or 0) * (1 - label)
        most = (missed if assume.false_negative is not None else label) + (
            alarmed if assume.false_positive is not None else 1 - label
        )
        slack = Fraction(1, 10**9)
        if not missed + alarmed - slack <= error <= most + slack:
            self.findings.add(
                (*self.path, "assume", "error"),
                N_(
                    "contradicts the other rates: "
                    "error = label * false_negative + (1 - label) * false_positive"
                ),
            )
