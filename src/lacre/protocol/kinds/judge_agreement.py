"""The plan of human-vs-judge agreement of one rater: the same cases labelled by a person and scored by a judge."""

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Discriminator,
    Field,
    Tag,
    ValidationInfo,
    model_validator,
)

from lacre.protocol.bins import ValueBin, names_of
from lacre.protocol.columns import CategoryColumn, ColumnBase, NumberColumn, OutcomeColumn, ValuedColumn
from lacre.protocol.grammar import (
    Identifier,
    Listed,
    Model,
    Name,
    Named,
    Number,
    Rate,
    not_empty,
    refuse,
    within,
)
from lacre.protocol.kinds.parts import BEYOND, Bootstrap, Checking, Confidence, Strata, stratum_values
from lacre.protocol.kinds.plan import TablePlan
from lacre.protocol.problems import Findings, Path, listed, quoted
from lacre.protocol.tables import Table
from lacre.text import N_

if TYPE_CHECKING:
    from lacre.protocol.models import Protocol

MOST_BINS = 30
"""More bins than this leave cells without cases, and resampled tables without bound."""

FEWEST_BINS = 2

PER_GROUP = ("by", "group", "groups", "stratum", "between", "worst_group", "max_group_gap")
"""Keys by which criteria of other kinds look at groups."""


def _kappa(value: str) -> str:
    if value != "kappa":
        raise refuse(
            N_(
                "{name} cannot be a bar for a judge: a share of agreement is high wherever one bin holds most cases. "
                "The bar is on `kappa`; raw agreement, AC and PABAK are always reported beside it"
            ),
            name=quoted(value),
        )
    return value


class JudgeCriterion(Model):
    """A floor for one dimension's pooled kappa, met by its point or by the lower end of its interval."""

    id: Identifier
    metric: Annotated[str, AfterValidator(_kappa)]
    dimension: Identifier
    min: Annotated[Number, AfterValidator(within(-1, 1))]
    decide_on: Literal["point", "low"] = "low"
    max_left_out: Rate = 0.10
    requires_manual_review: bool = False

    @property
    def max(self) -> None:
        """There is no ceiling."""
        return


class Sides(Model):
    """Two declared bins, of the human's scale and of the judge's, that have the same names in the same order."""

    human: Identifier
    judge: Identifier


def _sides_form(value: Any) -> str:
    return "bins of each side" if isinstance(value, dict | Sides) else "bins of both"


BinsOf = Annotated[
    Annotated[Identifier, Tag("bins of both")] | Annotated[Sides, Tag("bins of each side")],
    Discriminator(_sides_form),
]


class Dimension(Model):
    """What is judged: the column with the human's label and the one with the judge's score."""

    human: Name
    judge: Name
    bins: BinsOf | None = None


class Costs(Model):
    """What each disagreement counts: a row for each bin of the human's, a column for each of the judge's."""

    costs: Annotated[
        list[list[Annotated[Number, AfterValidator(within(0, 1_000_000))]]], AfterValidator(not_empty)
    ]


def _weights_form(value: Any) -> str:
    return "costs" if isinstance(value, dict | Costs) else "named weights"


def _crossings(value: Any) -> Any:
    return [[each] if isinstance(each, str) else each for each in value] if isinstance(value, list) else value


class JudgeAgreementPlan(TablePlan):
    """Chance-corrected agreement over frozen bins, of each dimension: pooled, and as a diagnostic by group.

    Without `bins` a dimension's columns have their own: declared values, or the bins of a number's column. Cases
    are resampled within `strata`, where the design fixed how many there are of each.
    """

    kind: Literal["judge_agreement"]
    bins: BinsOf | None = None
    weights: Annotated[
        Annotated[Literal["none", "linear", "quadratic"], Tag("named weights")]
        | Annotated[Costs, Tag("costs")],
        Discriminator(_weights_form),
    ]
    dimensions: Annotated[Named[Dimension], AfterValidator(not_empty)]
    diagnostics_by: Annotated[Listed[Strata], BeforeValidator(_crossings)] = Field(default_factory=list)
    strata: Name | None = None
    target: Annotated[Number, AfterValidator(within(-1, 1))] | None = None
    bootstrap: Bootstrap
    max_undefined: Rate = 0.05
    confidence: Confidence = 0.95
    criteria: list[JudgeCriterion] = Field(default_factory=list)
    requires_manual_review: bool = False

    @model_validator(mode="before")
    @classmethod
    def _bars_are_pooled(cls, value: Any, _info: ValidationInfo) -> Any:
        """Refuse a bar on one group before its key is merely not known."""
        if not isinstance(value, dict) or not isinstance(value.get("criteria"), list):
            return value
        by = value.get("diagnostics_by")
        named = (
            [name for each in by for name in (each if isinstance(each, list) else [each])]
            if isinstance(by, list)
            else []
        )
        for index, criterion in enumerate(value["criteria"]):
            keys = criterion if isinstance(criterion, dict) else ()
            for key in keys:
                if key in PER_GROUP or key in named:
                    raise refuse(
                        N_(
                            "is on a group, and the pooled kappa alone may decide: kappas by group are diagnostics. "
                            "If one group is what matters, register a study of its own, with a corpus of that group"
                        ),
                        at=("criteria", index, key),
                    )
        return value

    def columns(self) -> frozenset[str]:
        """Return the labels and scores, and the columns of the groups and strata."""
        named = {name for each in self.dimensions.values() for name in (each.human, each.judge)}
        named |= {name for names in self.diagnostics_by for name in names}
        return frozenset(named if self.strata is None else {*named, self.strata})

    def labels(self) -> frozenset[str]:
        """Return the columns of the human's labels."""
        return frozenset(each.human for each in self.dimensions.values())

    def compares_groups(self) -> bool:
        """Tell that no criterion compares groups."""
        return False

    def bins_of(self, dimension: Dimension) -> tuple[str | None, str | None]:
        """Return the names of the bins of the human's column and of the judge's; None where a column has its own."""
        named = dimension.bins if dimension.bins is not None else self.bins
        return (named.human, named.judge) if isinstance(named, Sides) else (named, named)

    def bar_of(self, dimension: str) -> Number | None:
        """Return the highest bar that is set on a dimension; None where none is."""
        return max((each.min for each in self.criteria if each.dimension == dimension), default=None)

    def check(self, path: Path, table: Table, protocol: "Protocol", findings: Findings) -> None:
        """Find what contradicts itself between the plan, its table and the rest of the protocol."""
        _JudgeChecking(path, self.table, table, protocol, findings).run(self)


def own_bins(column: ColumnBase) -> tuple[str, ...]:
    """Return what a column tells apart by itself, in declared order; nothing where it does not."""
    if isinstance(column, OutcomeColumn):
        return ((column.negative or ["0"])[0], (column.positive or ["1"])[0])
    return stratum_values(column) or ()


def labels_of(plan: JudgeAgreementPlan, dimension: Dimension, protocol: "Protocol") -> tuple[str, ...]:
    """Return the names of a dimension's bins, in declared order: those of both sides, in a sound plan."""
    named = plan.bins_of(dimension)[0]
    if named is None:
        return own_bins(protocol.tables[plan.table].columns[dimension.human])
    return names_of(protocol.bins[named])


class _JudgeChecking(Checking):
    def run(self, plan: JudgeAgreementPlan) -> None:
        self.judge(plan)
        for name, dimension in plan.dimensions.items():
            self.dimension(plan, name, dimension)
        for index, names in enumerate(plan.diagnostics_by):
            self.strata(names, ("diagnostics_by", index))
        if plan.strata is not None:
            self.values(plan.strata, ("strata",))
        for name, column in self.table.columns.items():
            if {"inclusion_probability", "weight"} & set(column.is_):
                self.add(
                    (),
                    N_(
                        "{name} says that cases were drawn with unequal probabilities: this cannot weigh them"
                    ),
                    name=quoted(name),
                )
        self.resampled(plan)
        self.unique_ids(plan.criteria)
        for index, criterion in enumerate(plan.criteria):
            if criterion.dimension not in plan.dimensions:
                self.add(
                    ("criteria", index, "dimension"),
                    N_("{name} is no dimension of this analysis; there are {known}"),
                    name=quoted(criterion.dimension),
                    known=listed(list(plan.dimensions)),
                )

    def resampled(self, plan: JudgeAgreementPlan) -> None:
        """Check that the bootstrap is fine enough for an interval at the confidence, or its share in one read."""
        reads = getattr(self.protocol.pools.get(plan.pool), "max_reads", None) or 1
        least = math.ceil(2 * BEYOND * reads / (1 - Fraction(str(plan.confidence))))
        if plan.bootstrap.resamples < least:
            self.add(
                ("bootstrap", "resamples"),
                N_(
                    "must be at least {least}, so that {beyond} resamples lie beyond each end of the interval"
                ),
                least=least,
                beyond=BEYOND,
            )

    def judge(self, plan: JudgeAgreementPlan) -> None:
        """Check that one judge is under study, frozen by the digest of its model and prompt."""
        names = list(self.protocol.systems) if plan.systems is None else plan.systems
        if len(names) != 1:
            self.add(
                ("systems",) if plan.systems is not None else (),
                N_(
                    "is of one judge, and there are {count}: declare it under `systems`, and name it "
                    "here if it is one of several"
                ),
                count=len(names),
            )
            return
        system = self.protocol.systems.get(names[0])
        if system is not None and system.digest is None:
            self.findings.add(
                ("systems", names[0]),
                N_(
                    "needs `digest`: the SHA-256 of the judge's model and prompt, which freezes them before a "
                    "label is written"
                ),
            )

    def dimension(self, plan: JudgeAgreementPlan, name: str, dimension: Dimension) -> None:
        """Check a label, a score, and that both fall into the same bins in the same order."""
        at: Path = ("dimensions", name)
        if dimension.human == dimension.judge:
            self.add((*at, "judge"), N_("must be another column than the human's"))
            return
        human = self.side(plan, dimension.human, (*at, "human"), "labels")
        judge = self.side(plan, dimension.judge, (*at, "judge"), "scores")
        if human is None or judge is None:
            return
        bins = plan.bins_of(dimension)
        where: Path = (
            (*at, "bins") if dimension.bins is not None else ("bins",) if plan.bins is not None else at
        )
        found = [
            self.binned(*each, where, plan)
            for each in zip((dimension.human, dimension.judge), (human, judge), bins, strict=True)
        ]
        if None in found:
            return
        first, second = (each for each in found if each is not None)
        if first != second:
            self.add(
                where,
                N_(
                    "the human's labels fall into {first} and the judge's scores into {second}: both need the "
                    "same bins in the same order"
                ),
                first=listed(first),
                second=listed(second),
            )
        elif not FEWEST_BINS <= len(first) <= MOST_BINS:
            self.add(
                where,
                N_("makes {count} bins; agreement is told of {least} to {most}"),
                count=len(first),
                least=FEWEST_BINS,
                most=MOST_BINS,
            )
        elif isinstance(plan.weights, Costs):
            self.costs(plan.weights, len(first))

    def side(self, plan: JudgeAgreementPlan, name: str, at: Path, part: str) -> ColumnBase | None:
        """Check one column: a person's label is the pool's own; of an open pool, each is committed in its part."""
        column = self.findings.known(name, self.table.columns, self.section, (*self.path, *at))
        if column is None:
            return None
        if self.column(name, at, "number", "category", "ordinal", "outcome") is None:
            return None
        if part == "labels" and self.table.supplied(name):
            self.add(at, N_("{name} comes from the submission: it would judge itself"), name=quoted(name))
            return None
        pool = self.protocol.pools.get(plan.pool)
        if pool is not None and pool.open is not None and column.part != part:
            self.add(
                at,
                N_("{name} must say `part: {part}`: labels are committed before the judge's scores"),
                name=quoted(name),
                part=part,
            )
            return None
        return column

    def binned(
        self, name: str, column: ColumnBase, bins: str | None, at: Path, plan: JudgeAgreementPlan
    ) -> tuple[str, ...] | None:
        """Return the bins that a column's values fall into, in order; None with the problem noted."""
        if bins is None:
            return self.own(name, column, at, plan)
        known = self.findings.known(bins, self.protocol.bins, ("bins",), (*self.path, *at))
        if known is None:
            return None
        if isinstance(known, list):
            return names_of(known) if self.of_values(name, column, bins, known, at) else None
        if not isinstance(column, NumberColumn):
            self.add(
                at,
                N_("{bins} has edges, and {name} is no number: its bins are a list of `{{bin, values}}`"),
                bins=quoted(bins),
                name=quoted(name),
            )
            return None
        self.covered(name, column, bins, known, at)
        return names_of(known)

    def own(
        self, name: str, column: ColumnBase, at: Path, plan: JudgeAgreementPlan
    ) -> tuple[str, ...] | None:
        """Return what a column tells apart by itself."""
        found = own_bins(column)
        if not found:
            self.add(at, N_("{name} is a number without bins: name its `bins`"), name=quoted(name))
            return None
        if (
            isinstance(column, CategoryColumn)
            and plan.weights in ("linear", "quadratic")
            and len(found) > FEWEST_BINS
        ):
            self.add(
                at,
                N_(
                    "the values of {name} have no order, and weights by distance need one: make it `ordinal`, "
                    "give `bins` in order, or take `weights: none`"
                ),
                name=quoted(name),
            )
            return None
        return found

    def of_values(self, name: str, column: ColumnBase, bins: str, known: list[ValueBin], at: Path) -> bool:
        """Check that the bins hold every declared value of a column, and no other."""
        if not isinstance(column, ValuedColumn):
            self.add(
                at,
                N_(
                    "{bins} takes values together, which only a category or an ordinal has; {name} is of type {type}"
                ),
                bins=quoted(bins),
                name=quoted(name),
                type=str(getattr(column, "type", "")),
            )
            return False
        held = [value for each in known for value in each.values]
        lacking = [value for value in column.named_values if value not in held]
        foreign = [value for value in held if value not in column.named_values]
        if lacking:
            self.add(
                at,
                N_("{bins} has no bin for {values} of {name}"),
                bins=quoted(bins),
                values=listed(lacking),
                name=quoted(name),
            )
        if foreign:
            self.add(
                at,
                N_("{bins} holds {values}, which {name} does not declare"),
                bins=quoted(bins),
                values=listed(foreign),
                name=quoted(name),
            )
        return not lacking and not foreign

    def covered(self, name: str, column: NumberColumn, bins: str, edges: Mapping[str, Any], at: Path) -> None:
        """Check that the bins reach as far as the column may go, where it says so."""
        low, high = next(iter(edges.values()))[0], [*edges.values()][-1][1]
        below = column.min is not None and column.min < low
        above = high is not None and column.max is not None and column.max > high
        if below or above:
            self.add(
                at,
                N_(
                    "{name} may lie outside the bins of {bins}: a score outside all of them could not be counted"
                ),
                name=quoted(name),
                bins=quoted(bins),
            )

    def costs(self, weights: Costs, bins: int) -> None:
        """Check that there is a cost for every pair of bins, none for agreement, and one at all."""
        rows = weights.costs
        if len(rows) != bins or any(len(row) != bins for row in rows):
            self.add(
                ("weights", "costs"), N_("must have {count} rows of {count}, one for each bin"), count=bins
            )
        elif any(rows[place][place] for place in range(bins)):
            self.add(("weights", "costs"), N_("must be 0 where both agree"))
        elif not any(cost for row in rows for cost in row):
            self.add(("weights", "costs"), N_("must have a cost above 0 for some disagreement"))
