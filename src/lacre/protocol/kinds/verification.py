"""The plan of a verification: false matches and non-matches by group, and the mitigations tried, in order."""

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from lacre.errors import FewerThanTwoGroups
from lacre.protocol.grammar import (
    Count,
    Identifier,
    Many,
    Model,
    Name,
    Number,
    Rate,
    Whole,
    in_order,
    not_empty,
    refuse,
    within,
)
from lacre.protocol.kinds.parts import (
    Basis,
    Bootstrap,
    Checking,
    Confidence,
    Direction,
    Normalise,
    WorstGroup,
)
from lacre.protocol.kinds.plan import TablePlan
from lacre.protocol.problems import Findings, Path, listed, quoted
from lacre.protocol.tables import NAMING_TYPES, Table
from lacre.protocol.thresholds import CalibratedThreshold
from lacre.text import N_

if TYPE_CHECKING:
    from lacre.protocol.models import Protocol

ErrorRate = Literal["false_match", "false_non_match"]
RATES: tuple[ErrorRate, ...] = ("false_match", "false_non_match")
DISTANCE = "threshold_distance"
TRAINING = "training"

_RATES_ALONE = re.compile(
    r"(rates?|fn?mr|far|frr|tar|tmr|eer|false_(non_)?match_rate)([ ._-].*)?", re.IGNORECASE
)
_NO_COUNTS = N_(
    "{name} names rates: without the comparisons they were counted on they have no interval; "
    "give one row a comparison, with its `score` and whether both are the `same`"
)

OpenRate = Annotated[Number, AfterValidator(within(0, 1, open_low=True, open_high=True))]


def _metric(value: Any) -> Any:
    if isinstance(value, str) and value.replace("-", "_") in ("accuracy", "balanced_accuracy", "eer"):
        raise refuse(
            N_(
                "{metric} is not answered: it adds false matches to false non-matches, whose prices differ, by "
                "how many of each sort a list happens to hold; use {known}"
            ),
            metric=quoted(value),
            known=listed((*RATES, DISTANCE)),
        )
    return value


class GroupRatio(Model):
    """A ceiling on how many times the largest rate is the smallest, or the geometric mean of all."""

    form: Literal["max_min", "max_gm"]
    max: Annotated[Number, AfterValidator(within(1, 1_000_000))]


def _one_target(targets: dict[ErrorRate, Any]) -> dict[ErrorRate, Any]:
    if len(targets) != 1:
        raise refuse(N_("must hold one target rate, such as {example}"), example="{false_match: 0.01}")
    return targets


class VerificationCriterion(Model):
    """One rule on a rate at the common threshold, or on how far the groups' own thresholds are apart."""

    id: Identifier
    metric: Annotated[
        Literal["false_match", "false_non_match", "threshold_distance"], BeforeValidator(_metric)
    ]
    by: Annotated[Many[Name], AfterValidator(not_empty)] | None = None
    max_group_ratio: GroupRatio | None = None
    worst_group: WorstGroup | None = None
    target: Annotated[dict[ErrorRate, OpenRate], AfterValidator(_one_target)] | None = None
    max: Number | None = None
    min_cell: Count = 1
    max_left_out: Rate = 0.10
    requires_manual_review: bool = False

    @model_validator(mode="after")
    def _is_one_rule(self) -> Self:
        rules = (self.max_group_ratio, self.worst_group, self.max)
        if sum(each is not None for each in rules) != 1:
            raise refuse(N_("needs exactly one rule: `max_group_ratio`, `worst_group` or `max`"))
        if (self.metric == DISTANCE) != (self.target is not None):
            raise refuse(N_("`target` goes with {metric}, and only with it"), metric=quoted(DISTANCE))
        if self.metric == DISTANCE and self.max is None:
            raise refuse(N_("{metric} needs `max`, in the unit of the score"), metric=quoted(DISTANCE))
        if self.worst_group is not None and self.worst_group.max is None:
            raise refuse(N_("an error needs a ceiling, `max`"), at=("worst_group",))
        if self.metric != DISTANCE and self.max is not None and self.max > 1:
            raise refuse(N_("must be from {low} to {high}, and is {value}"), at=("max",), low="0", high="1",
                         value=str(self.max))  # fmt: skip
        if self.max is not None and self.max < 0:
            raise refuse(N_("must not be negative"), at=("max",))
        return self

    @property
    def min(self) -> None:
        """There are no floors on errors."""

    @property
    def compares(self) -> bool:
        """Whether it is on a difference between groups."""
        return self.max_group_ratio is not None or self.metric == DISTANCE

    @property
    def asked(self) -> tuple[ErrorRate, Number] | None:
        """The target of a distance between thresholds."""
        return None if self.target is None else next(iter(self.target.items()))


def _two(columns: dict[str, str]) -> dict[str, str]:
    if len(columns) != 2:
        raise refuse(
            N_("must join both images of a comparison: two columns, each to one of the cohort's table")
        )
    return in_order(columns)


class CohortScores(Model):
    """The cohort's scores: their table, and how each image of a comparison is found in it.

    `score` is the table's column, that of the comparisons unless it says another; `enrolled` names the column of the
    image that is enrolled, the first in the order of their names unless it says the other; `subject` is the
    column of the cohort's subjects, unless `disjoint` tells.
    """

    table: Identifier
    on: Annotated[dict[Name, Name], AfterValidator(_two)]
    score: Name | None = None
    enrolled: Name | None = None
    subject: Name | None = None

    @property
    def sides(self) -> tuple[tuple[str, str], tuple[str, str]]:
        """The enrolled image's column with the cohort's, then the tested image's."""
        first, second = self.on.items()
        return (second, first) if self.enrolled == second[0] else (first, second)


class Mitigation(Model):
    """A rung of the ladder: nothing done, a normalisation by the cohort, or training."""

    normalising: ClassVar[tuple[str, ...]] = ("z_norm", "t_norm", "s_norm", "adaptive_s_norm")

    id: Identifier
    kind: Literal["z_norm", "t_norm", "s_norm", "adaptive_s_norm", "training"] | None = None
    scores: CohortScores | None = None
    ddof: Annotated[Whole, Field(ge=0, le=1)] | None = None
    top: Annotated[Whole, Field(ge=2)] | None = None
    threshold: Identifier | None = None

    @model_validator(mode="after")
    def _is_one_kind(self) -> Self:
        given = {"scores": self.scores, "ddof": self.ddof, "threshold": self.threshold, "top": self.top}
        needed = set(given) - {"top"} if self.normalises else set()
        needed |= {"top"} if self.kind == "adaptive_s_norm" else set()
        allowed = needed | ({"threshold"} if self.kind == TRAINING else set())
        if missing := sorted(name for name in needed if given[name] is None):
            raise refuse(
                N_("{kind} needs {missing}: conventions differ, so each is registered"),
                kind=quoted(str(self.kind)),
                missing=listed(missing),
            )
        if extra := sorted(
            name for name, value in given.items() if value is not None and name not in allowed
        ):
            raise refuse(N_("{extra} means nothing here"), extra=listed(extra))
        return self

    @property
    def normalises(self) -> bool:
        """Whether it normalises scores by the cohort."""
        return self.kind in self.normalising


class VerificationPlan(TablePlan):
    """False matches and false non-matches of comparisons, by group."""

    kind: Literal["verification"]
    score: Name
    same: Name
    group: Name
    direction: Direction
    threshold: Identifier
    targets: Annotated[dict[ErrorRate, Annotated[Many[OpenRate], AfterValidator(not_empty)]],
                       AfterValidator(in_order)] = Field(default_factory=dict)  # fmt: skip
    max_abstention: Rate = 0.10
    mitigations: list[Mitigation] = Field(default_factory=list)
    confidence: Confidence = 0.95
    bootstrap: Bootstrap | None = None
    requires_manual_review: bool = False
    criteria: Annotated[list[VerificationCriterion], AfterValidator(not_empty)]

    @model_validator(mode="before")
    @classmethod
    def _has_counts(cls, value: Any) -> Any:
        for key in value if isinstance(value, dict) else ():
            if isinstance(key, str) and _RATES_ALONE.fullmatch(key):
                raise refuse(_NO_COUNTS, at=(key,), name=quoted(key))
        return value

    @property
    def normalised(self) -> list[Mitigation]:
        """The rungs that normalise scores."""
        return [rung for rung in self.mitigations if rung.normalises]

    def training(self) -> tuple[str, ...]:
        """Return the ids of the rungs of training, which come last."""
        return tuple(rung.id for rung in self.mitigations if rung.kind == TRAINING)

    def columns(self) -> frozenset[str]:
        """Return the score, the truth, the group, and the images that the cohort is joined by."""
        images = {name for rung in self.normalised if rung.scores for name in rung.scores.on}
        return frozenset({self.score, self.same, self.group, *images})

    def cohorts(self) -> Mapping[str, frozenset[str]]:
        """Return the tables of the cohort's scores, and their columns that name images of the comparisons."""
        rungs = [rung.scores for rung in self.normalised if rung.scores is not None]
        return {scores.table: frozenset(scores.on.values()) for scores in rungs}

    def reads(self) -> Mapping[str, frozenset[str]]:
        """Return the columns it reads of its table, and of the cohort's."""
        found = {self.table: self.columns()}
        for rung in self.normalised:
            assert rung.scores is not None
            named = {*rung.scores.on.values(), rung.scores.score or self.score}
            if rung.scores.subject is not None:
                named.add(rung.scores.subject)
            found[rung.scores.table] = found.get(rung.scores.table, frozenset()) | named
        return found

    def labels(self) -> frozenset[str]:
        """Return whether both are the same, and the group."""
        return frozenset({self.same, self.group})

    def sorted_by(self) -> str:
        """Return the column that says whether both are the same."""
        return self.same

    def thresholds(self) -> frozenset[str]:
        """Return the common threshold and those of the rungs."""
        own = {rung.threshold for rung in self.mitigations if rung.threshold is not None}
        return frozenset({self.threshold, *own})

    def compares_groups(self) -> bool:
        """Tell whether every criterion compares groups."""
        return all(rule.compares for rule in self.criteria)

    def normalise(self, rung: Mitigation) -> Normalise | None:
        """Return how a rung normalises scores; None where it does not."""
        if rung.scores is None or rung.ddof is None:
            return None
        return Normalise(
            kind=str(rung.kind),
            table=rung.scores.table,
            score=rung.scores.score or self.score,
            on=rung.scores.sides,
            ddof=rung.ddof,
            top=rung.top,
        )

    def basis(self, threshold: str) -> Basis | None:
        """Return how a threshold's score is read; None if this plan does not use it."""
        if threshold == self.threshold:
            return Basis(self.table, self.score, self.same, self.direction, RATES)
        for rung in self.mitigations:
            if threshold == rung.threshold:
                how = self.normalise(rung)
                return Basis(self.table, self.score, self.same, self.direction, RATES, normalise=how)
        return None

    def check(self, path: Path, table: Table, protocol: "Protocol", findings: Findings) -> None:
        """Find what contradicts itself between the plan, its table and the rest of the protocol."""
        _Check(self, path, table, protocol, findings).run()


NORMS: Mapping[str, str] = MappingProxyType(
    {"z_norm": "z-norm", "t_norm": "t-norm", "s_norm": "s-norm", "adaptive_s_norm": "s-norm"}
)
"""What a threshold calls the scores that a rung makes."""


class _Check(Checking):
    """The checks of one plan."""

    def __init__(
        self, plan: VerificationPlan, path: Path, table: Table, protocol: "Protocol", findings: Findings
    ) -> None:
        super().__init__(path, plan.table, table, protocol, findings)
        self.plan = plan

    def run(self) -> None:
        plan = self.plan
        systems = self.protocol.systems if plan.systems is None else plan.systems
        if _RATES_ALONE.fullmatch(plan.score):
            self.add(("score",), _NO_COUNTS, name=quoted(plan.score))
        self.column(plan.score, ("score",), "number", supplied=True if len(systems) > 1 else None)
        self.column(plan.same, ("same",), "outcome", supplied=False)
        self.drawn()
        if len(self.table.cluster) > 2:
            self.add(("table",), N_("its `cluster` may name one column, or the two subjects of a comparison"))
        groups = self.values(plan.group, ("group",))
        self.rung_threshold(plan.threshold, None, ("threshold",))
        self.unique_ids(plan.criteria)
        for index, rule in enumerate(plan.criteria):
            self.rule(rule, ("criteria", index), groups)
        self.ladder()

    def drawn(self) -> None:
        """Refuse comparisons that were drawn with unequal probabilities: nothing here weighs them."""
        for name, column in self.table.columns.items():
            if {"inclusion_probability", "weight"} & set(column.is_):
                self.add(
                    ("table",),
                    N_(
                        "{name} says that cases were drawn with unequal probabilities, which this kind cannot weigh"
                    ),
                    name=quoted(name),
                )

    def rule(self, rule: VerificationCriterion, at: Path, groups: Sequence[str] | None) -> None:
        """Check one criterion."""
        grouped = rule.max_group_ratio is not None or rule.worst_group is not None
        if grouped and rule.by is None:
            self.add(at, N_("needs `by`, the groups: {group}"), group=quoted(self.plan.group))
        if rule.by is not None and rule.by != [self.plan.group]:
            self.add((*at, "by"), N_("must be {group}, the analysis's group"), group=quoted(self.plan.group))
        elif rule.by is not None and not grouped and rule.metric != DISTANCE:
            self.add((*at, "by"), N_("goes with `max_group_ratio` or `worst_group`"))
        if rule.compares and groups is not None and len(groups) < 2:
            self.add(
                at,
                N_("{names} has one declared group, and a difference needs two"),
                refusal=FewerThanTwoGroups,
                names=quoted(self.plan.group),
            )

    def ladder(self) -> None:
        """Check the rungs, in their order."""
        seen: set[str] = set()
        for index, rung in enumerate(self.plan.mitigations):
            at: Path = ("mitigations", index)
            if rung.id in seen:
                self.add((*at, "id"), N_("{name} is another rung's id too"), name=quoted(rung.id))
            seen.add(rung.id)
            before = self.plan.mitigations[:index]
            trained = any(each.kind == TRAINING for each in before)
            if rung.kind == TRAINING and all(each.kind == TRAINING for each in before):
                self.add(at, N_("training needs an earlier rung: what costs less is tried before"))
            if rung.kind != TRAINING and trained:
                self.add(at, N_("comes after training, which is last: what costs less is tried before"))
            if rung.kind is None and index:
                self.add(at, N_("does nothing; such a rung is the first, or left out"))
            if rung.threshold is not None:
                self.rung_threshold(rung.threshold, rung, (*at, "threshold"))
            if rung.scores is not None:
                self.cohort(rung.scores, (*at, "scores"))

    def rung_threshold(self, name: str, rung: Mitigation | None, at: Path) -> None:
        """Check that a threshold is of this score, normalised as its rung normalises it."""
        self.threshold(name, self.plan.score, at)
        threshold = self.protocol.thresholds.get(name)
        if rung is not None and rung.normalises and name == self.plan.threshold:
            self.add(at, N_("must be a threshold of normalised scores, and not the common one"))
        if not isinstance(threshold, CalibratedThreshold):
            return
        norm = None if rung is None or not rung.normalises else NORMS[str(rung.kind)]
        if threshold.normalise != norm:
            self.add(
                at,
                N_("{name} is calibrated on scores normalised by {its}, and these are by {here}"),
                name=quoted(name),
                its=quoted(threshold.normalise or "nothing"),
                here=quoted(norm or "nothing"),
            )

    def cohort(self, scores: CohortScores, at: Path) -> None:
        """Check the cohort's table, and that its subjects can be told from the comparisons'."""
        table = self.findings.known(
            scores.table, self.protocol.tables, ("tables",), (*self.path, *at, "table")
        )
        if table is None:
            return
        pool = self.protocol.pools.get(self.plan.pool)
        if pool is not None and scores.table not in pool.tables:
            self.add(
                (*at, "table"),
                N_("{name} is not among the tables of {pool}"),
                name=quoted(scores.table),
                pool=pool.role,
            )
        other = Checking((*self.path, *at), scores.table, table, self.protocol, self.findings)
        supplied = (
            True if self.table.columns.get(self.plan.score) and self.table.supplied(self.plan.score) else None
        )
        other.column(scores.score or self.plan.score, ("score",), "number", supplied=supplied)
        for here, there in scores.on.items():
            self.column(here, (*at, "on", here), *NAMING_TYPES, supplied=False)
            other.column(there, ("on", here), *NAMING_TYPES, supplied=False)
        if scores.enrolled is not None and scores.enrolled not in scores.on:
            self.add(
                (*at, "enrolled"),
                N_("must be one of the columns joined: {names}"),
                names=listed(list(scores.on)),
            )
        if scores.subject is not None:
            other.column(scores.subject, ("subject",), *NAMING_TYPES, supplied=False)
        elif self.table.cluster and not cohort_subjects(self.protocol, self.plan.table, scores):
            self.add(
                at,
                N_(
                    "needs `subject`, the cohort's subjects, or a list under `disjoint` that has them beside {names}: "
                    "who is tested may not be in the cohort"
                ),
                names=listed(self.table.cluster),
            )


def cohort_subjects(protocol: "Protocol", table: str, scores: CohortScores) -> tuple[str, ...]:
    """Return the columns that hold the cohort's subjects: named, or found beside the comparisons' under `disjoint`."""
    if scores.subject is not None:
        return (scores.subject,)
    subjects = set(protocol.tables[table].cluster)
    cohort = protocol.tables.get(scores.table)
    if cohort is None or not subjects:
        return ()
    beside = {name for names in protocol.disjoint if subjects <= set(names) for name in names} - subjects
    return tuple(name for name in cohort.columns if name in beside)
