"""The plan of an estimate: the mean or total of a column, or the ratio of two, from a sample of known design."""

from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from lacre.protocol.columns import NumberColumn, Text
from lacre.protocol.grammar import (
    Count,
    Identifier,
    Listed,
    Model,
    Name,
    Number,
    Pair,
    Rate,
    in_order,
    not_empty,
    refuse,
)
from lacre.protocol.kinds.parts import Checking, Confidence, Strata, stratum_values
from lacre.protocol.kinds.plan import TablePlan
from lacre.protocol.problems import Findings, Path, listed, quoted
from lacre.protocol.tables import NAMING_TYPES, Table
from lacre.text import N_

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lacre.protocol.models import Protocol

Of = Literal["mean", "total", "ratio"]


class JointProbabilities(Model):
    """A table with the probability that two cases are both in the sample, which must be of fixed size.

    `of` are the two columns that name the cases by their keys; `column` holds the probability.
    """

    table: Identifier
    of: Pair[Name]
    column: Name


class SampleWeights(Model):
    """The column with each case's inclusion probability or weight, and what tells how cases were drawn.

    That is one of: a registered `draw`; the `population` of each of the `strata`; a column `fpc` that holds, in
    every row, how many its stratum has (without `strata`, how many there are); `joint` probabilities.
    """

    column: Name
    draw: Identifier | None = None
    strata: Name | None = None
    population: Annotated[dict[Text, Count], AfterValidator(not_empty), AfterValidator(in_order)] | None = (
        None
    )
    fpc: Name | None = None
    joint: JointProbabilities | None = None

    @model_validator(mode="after")
    def _tells_one_design(self) -> Self:
        said = (self.draw, self.population, self.fpc, self.joint)
        if sum(each is not None for each in said) != 1:
            raise refuse(
                N_(
                    "needs exactly one of `draw`, `population`, `fpc` and `joint`: without the size of each stratum, "
                    "or the probabilities of pairs, there is no interval"
                )
            )
        if self.population is not None and self.strata is None:
            raise refuse(N_("`population` needs `strata`, the column whose values it counts"))
        if self.strata is not None and self.population is None and self.fpc is None:
            raise refuse(N_("`strata` goes with `population` or `fpc`"), at=("strata",))
        return self


class EstimateCriterion(Model):
    """A bound on the number for all cases, in the column's unit: a floor `min` or a ceiling `max`."""

    id: Identifier
    metric: Of
    min: Number | None = None
    max: Number | None = None
    max_left_out: Rate = 0.10
    requires_manual_review: bool = False

    @model_validator(mode="after")
    def _is_one_bound(self) -> Self:
        if (self.max is None) == (self.min is None):
            raise refuse(N_("needs exactly one bound: `max` or `min`"))
        return self


class EstimatePlan(TablePlan):
    """What is estimated of which column, for all and by strata, and how the cases were drawn."""

    kind: Literal["estimate"]
    of: Of
    value: Name
    over: Name | None = None
    weights: SampleWeights
    by: Listed[Strata] = Field(default_factory=list)
    confidence: Confidence = 0.95
    criteria: list[EstimateCriterion] = Field(default_factory=list)
    requires_manual_review: bool = False

    @model_validator(mode="after")
    def _has_what_it_divides(self) -> Self:
        if (self.of == "ratio") != (self.over is not None):
            raise refuse(N_("`of: ratio` and `over`, the column that is divided by, go together"))
        return self

    @property
    def measured(self) -> tuple[str, ...]:
        """The columns whose values are summed."""
        return (self.value,) if self.over is None else (self.value, self.over)

    def columns(self) -> frozenset[str]:
        """Return the columns that are summed, those of the design and those of the strata."""
        weights = self.weights
        named = {*self.measured, weights.column, weights.strata, weights.fpc}
        return frozenset({name for name in named if name} | {name for names in self.by for name in names})

    def reads(self) -> "Mapping[str, frozenset[str]]":
        """Return all it reads, with the table of joint probabilities where there is one."""
        found = {self.table: self.columns()}
        joint = self.weights.joint
        if joint is not None:
            found[joint.table] = found.get(joint.table, frozenset()) | {*joint.of, joint.column}
        return found

    def labels(self) -> frozenset[str]:
        """Return the columns that are summed, and those of the strata."""
        return frozenset({*self.measured, *(name for names in self.by for name in names)})

    def weighed(self) -> bool:
        """Tell that cases are weighed."""
        return True

    def drawn(self) -> str | None:
        """Return the draw that the weights come from, if one is named."""
        return self.weights.draw

    def compares_groups(self) -> bool:
        """Tell that no criterion compares groups."""
        return False

    def check(self, path: Path, table: Table, protocol: "Protocol", findings: Findings) -> None:
        """Find what contradicts itself between the plan, its table and the rest of the protocol."""
        _EstimateChecking(path, self.table, table, protocol, findings).run(self)


class _EstimateChecking(Checking):
    def run(self, plan: EstimatePlan) -> None:
        types = ("number", "outcome") if plan.of != "ratio" else ("number",)
        self.column(plan.value, ("value",), *types)
        if plan.over is not None:
            self.column(plan.over, ("over",), "number")
        self.design(plan.weights, plan.pool)
        for index, names in enumerate(plan.by):
            self.strata(names, ("by", index))
        self.unique_ids(plan.criteria)
        for index, criterion in enumerate(plan.criteria):
            if criterion.metric != plan.of:
                self.add(
                    ("criteria", index, "metric"),
                    N_("{metric} is not what is estimated, which is {of}"),
                    metric=quoted(criterion.metric),
                    of=quoted(plan.of),
                )

    def design(self, weights: SampleWeights, pool: str) -> None:
        """Check the weights and what tells how the cases were drawn."""
        self.role(weights.column, ("weights", "column"))
        if weights.strata is not None:
            values = self.values(weights.strata, ("weights", "strata"))
            if values is not None and weights.population is not None:
                self.population(values, weights.population)
        if weights.fpc is not None:
            self.column(weights.fpc, ("weights", "fpc"), "number", supplied=False)
        if weights.draw is not None:
            self.drawn(weights.draw)
        if weights.joint is not None:
            self.joint(weights.joint, pool)

    def role(self, name: str, at: Path) -> None:
        """Check that the column of weights says which it holds."""
        column = self.column(name, at, "number", supplied=False)
        if isinstance(column, NumberColumn) and not {"inclusion_probability", "weight"} & set(column.is_):
            self.add(
                at,
                N_("{name} must say `is: inclusion_probability` or `is: weight`: files hold either"),
                name=quoted(name),
            )

    def population(self, values: "tuple[str, ...]", population: "Mapping[str, int]") -> None:
        """Check that the population is given of the declared strata, and of all of them."""
        at = ("weights", "population")
        for value in population:
            if value not in values:
                self.add(
                    (*at, value),
                    N_("{value} is not among the strata, which are {known}"),
                    value=quoted(value),
                    known=listed(values),
                )
        lacking = [value for value in values if value not in population]
        if lacking:
            self.add(at, N_("says nothing of {values}"), values=listed(lacking))

    def drawn(self, name: str) -> None:
        """Check that the draw is of this table, and of strata with declared values."""
        at = ("weights", "draw")
        draw = self.findings.known(name, self.protocol.sampling, ("sampling",), (*self.path, *at))
        if draw is None:
            return
        if name != self.name:
            self.add(
                at,
                N_("{draw} draws cases of another table than {table}"),
                draw=quoted(name),
                table=quoted(self.name),
            )
            return
        column = self.table.columns.get(draw.strata)
        if column is not None and stratum_values(column) is None:
            self.add(at, N_("{name} has no declared values"), name=quoted(draw.strata))

    def joint(self, joint: JointProbabilities, pool: str) -> None:
        """Check the table of joint probabilities, which must be sealed with the cases."""
        at = ("weights", "joint")
        if len(self.table.key) != 1:
            self.add(at, N_("needs cases whose key is one column"))
        if len(self.table.cluster):
            self.add(at, N_("cannot be combined with clusters"))
        other = self.findings.known(
            joint.table, self.protocol.tables, ("tables",), (*self.path, *at, "table")
        )
        if other is None:
            return
        held = self.protocol.pools.get(pool)
        if held is not None and joint.table not in held.tables:
            self.add(
                (*at, "table"),
                N_("{name} is not among the tables of {pool}"),
                name=quoted(joint.table),
                pool=quoted(pool),
            )
        checking = Checking((*self.path, *at), joint.table, other, self.protocol, self.findings)
        for index, name in enumerate(joint.of):
            checking.column(name, ("of", index), *NAMING_TYPES, supplied=False)
        checking.column(joint.column, ("column",), "number", supplied=False)
