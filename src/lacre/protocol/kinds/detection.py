"""What recall and protective failure have in common: a share of cases by stratum, and the criteria on it."""

from abc import abstractmethod
from collections.abc import Collection
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from lacre.protocol.grammar import Listed, Name
from lacre.protocol.kinds.parts import (
    Basis,
    Bootstrap,
    Checking,
    Confidence,
    Event,
    Interval,
    RateCriterion,
    Strata,
    Weights,
)
from lacre.protocol.kinds.plan import TablePlan
from lacre.protocol.problems import Findings, Path, listed, quoted
from lacre.protocol.tables import Table
from lacre.text import N_

if TYPE_CHECKING:
    from lacre.protocol.models import Protocol

STRATUM_DIFFERENCE = "stratum_difference"
DIFFERENCE = "difference"


class DetectionPlan(TablePlan):
    """A share of cases, in every declared stratum."""

    rate: ClassVar[str]
    """The metric: the name of the share."""

    by: Listed[Strata] = Field(default_factory=list)
    control: Name | None = None
    interval: Interval = "wilson"
    confidence: Confidence = 0.95
    weights: Weights | None = None
    bootstrap: Bootstrap | None = None
    requires_manual_review: bool = False

    @property
    @abstractmethod
    def event(self) -> Event:
        """What happened to a case."""

    @property
    @abstractmethod
    def rules(self) -> "list[RateCriterion]":
        """The criteria."""

    def weighed(self) -> bool:
        """Tell whether cases are weighed."""
        return self.weights is not None

    def drawn(self) -> str | None:
        """Return the draw that the weights come from."""
        return None if self.weights is None else self.weights.draw

    def population(self) -> frozenset[str]:
        """Return the columns that say whether a row is one of the share's cases."""
        return frozenset()

    def columns(self) -> frozenset[str]:
        """Return the event's column, those of the strata, and the weights."""
        named = {self.event.reads, *self.population(), *(name for names in self.by for name in names)}
        for rule in self.rules:
            named |= {name for stratum in rule.between or () for name in stratum}
        return frozenset(named | ({self.weights.column} if self.weights else set()))

    def labels(self) -> frozenset[str]:
        """Return the columns that tell the cases and their strata apart."""
        return self.columns() - {self.event.reads} - ({self.weights.column} if self.weights else set())

    def thresholds(self) -> frozenset[str]:
        """Return the event's threshold, where it has one."""
        return frozenset() if self.event.threshold is None else frozenset({self.event.threshold})

    def compares_groups(self) -> bool:
        """Tell whether every criterion is a difference between strata."""
        return all(rule.between is not None for rule in self.rules)

    def basis(self, threshold: str) -> Basis | None:
        """Return how a threshold's score is read; None if this plan does not use it."""
        if threshold != self.event.threshold or self.event.score is None:
            return None
        truth = next(iter(self.population()), None)
        targets = ("recall", "false_negative", *(() if truth is None else ("false_positive",)))
        return Basis(self.table, self.event.score, truth, self.event.direction, targets, self.event.blank)


class DetectionChecking(Checking):
    """The checks of a share of cases."""

    def __init__(
        self, plan: DetectionPlan, path: Path, table: Table, protocol: "Protocol", findings: Findings
    ) -> None:
        super().__init__(path, plan.table, table, protocol, findings)
        self.plan = plan

    def run(self, at: str) -> None:
        """Check all; `at` is the plan's key for its event."""
        plan = self.plan
        systems: Collection[str] = self.protocol.systems if plan.systems is None else plan.systems
        self.event(plan.event, (at,), systems)
        for index, names in enumerate(plan.by):
            self.strata(names, ("by", index))
            self.controlled(names, ("by", index))
        if plan.control is not None:
            self.values(plan.control, ("control",))
        self.drawn()
        self.unique_ids(plan.rules)
        for index, rule in enumerate(plan.rules):
            self.rule(rule, ("criteria", index), systems)

    def drawn(self) -> None:
        """Check the weights; who declares unequal chances is not answered as if they were equal."""
        if self.plan.weights is not None:
            self.weights(self.plan.weights)
            return
        for name, column in self.table.columns.items():
            if {"inclusion_probability", "weight"} & set(column.is_):
                self.add(
                    (),
                    N_("needs `weights`: {name} says that cases were drawn with unequal probabilities"),
                    name=quoted(name),
                )

    def controlled(self, names: Collection[str], at: Path) -> None:
        """Refuse a demographic stratum that is not crossed with the scale of what is to be found."""
        shown = [name for name in names if self.demographic(name)]
        if not shown or (self.plan.control is not None and self.plan.control in names):
            return
        self.add(
            at,
            N_(
                "{names} must be crossed with {control}: else a group that is photographed from further away "
                "looks like one that is missed"
            ),
            names=listed(shown),
            control=quoted(self.plan.control) if self.plan.control else N_("a scale, named by `control`"),
        )

    def demographic(self, name: str) -> bool:
        """Tell whether a column says who somebody is."""
        column = self.table.columns.get(name)
        return column is not None and "demographic" in column.is_

    def rule(self, rule: RateCriterion, at: Path, systems: Collection[str]) -> None:
        """Check one criterion."""
        wanted = {
            self.plan.rate: (rule.worst_group is not None) != (rule.min is not None or rule.max is not None)
            and not rule.is_difference,
            STRATUM_DIFFERENCE: rule.between is not None
            and rule.systems is None
            and rule.worst_group is None,
            DIFFERENCE: rule.systems is not None and rule.between is None and rule.worst_group is None,
        }[rule.metric]
        one = rule.worst_group is not None or (rule.min is None) != (rule.max is None)
        if not (wanted and one):
            self.add(at, FORMS[rule.metric], rate=self.plan.rate)
            return
        if rule.metric == self.plan.rate:
            self.bound(rule, at)
        elif rule.between is not None:
            self.between(rule, at)
        else:
            for index, name in enumerate(rule.systems or ()):
                if name not in systems:
                    self.add(
                        (*at, "systems", index),
                        N_("{name} is not among the systems of this analysis"),
                        name=quoted(name),
                    )

    def bound(self, rule: RateCriterion, at: Path) -> None:
        """Check a bound on the share of all, or of each stratum."""
        for key, value in (("min", rule.min), ("max", rule.max)):
            if value is not None and value < 0:
                self.add((*at, key), N_("must be from {low} to {high}, and is {value}"), low="0", high="1",
                         value=str(value))  # fmt: skip
        if (rule.worst_group is None) != (rule.by is None):
            self.add(at, N_("`by` and `worst_group` go together: the strata, and the bound for each"))
        elif rule.by is not None and set(rule.by) not in [set(names) for names in self.plan.by]:
            self.add((*at, "by"), N_("{names} together are not among `by`"), names=listed(rule.by))

    def between(self, rule: RateCriterion, at: Path) -> None:
        """Check a difference between two strata of the same columns."""
        assert rule.between is not None
        first, second = rule.between
        for index, stratum in enumerate(rule.between):
            self.stratum(stratum, (*at, "between", index))
        self.controlled(first.keys(), (*at, "between"))
        if first.keys() != second.keys():
            self.add((*at, "between"), N_("must name values of the same columns twice"))
        elif first == second:
            self.add((*at, "between"), N_("must name two different strata"))
        control = self.plan.control
        if control is not None and control in first and first[control] != second.get(control):
            self.add((*at, "between"), N_("compares two values of {name}, the control"), name=quoted(control))


FORMS = {
    "recall": N_("needs `min` or `max`, or `by` with `worst_group`"),
    "protective_failure": N_("needs `min` or `max`, or `by` with `worst_group`"),
    STRATUM_DIFFERENCE: N_("needs `between`, two strata, and `min` or `max`"),
    DIFFERENCE: N_("needs `systems`, two of them, and `min` or `max`"),
}
