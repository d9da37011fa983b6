"""The plan of agreement with oneself: the same cases labelled twice by the same person, on another day."""

from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import Field, PrivateAttr, model_validator

from lacre.protocol.columns import NumberColumn, OutcomeColumn
from lacre.protocol.grammar import Identifier, Listed, Model, Name, Number, Pair, Rate, refuse
from lacre.protocol.kinds.parts import Checking, Confidence, Strata, stratum_values
from lacre.protocol.kinds.plan import AnalysisPlan
from lacre.protocol.problems import Findings, Path, listed, quoted
from lacre.protocol.tables import Table
from lacre.text import N_

if TYPE_CHECKING:
    from lacre.protocol.models import Protocol


class AgreementCriterion(Model):
    """A floor for the agreement on one column; `column` is named where more than one is labelled again."""

    id: Identifier
    metric: Literal["raw_agreement", "kappa"]
    min: Number
    column: Name | None = None
    max_left_out: Rate = 0.10
    requires_manual_review: bool = False

    @property
    def max(self) -> None:
        """There is no ceiling."""
        return


class SelfAgreementPlan(AnalysisPlan):
    """Which labels were given twice: those of a registered `relabel`, or two `passes` in one table."""

    kind: Literal["self_agreement"]
    relabel: Identifier | None = None
    in_table: Identifier | None = Field(alias="table", default=None)
    passes: Pair[Name] | None = None
    by: Listed[Strata] = Field(default_factory=list)
    confidence: Confidence = 0.95
    criteria: list[AgreementCriterion] = Field(default_factory=list)
    requires_manual_review: bool = False
    _relabelled: tuple[str, ...] = PrivateAttr(default=())

    @model_validator(mode="after")
    def _is_one_form(self) -> Self:
        if (self.relabel is None) == (self.passes is None) or (self.passes is None) != (
            self.in_table is None
        ):
            raise refuse(
                N_("needs `relabel`, or `table` and `passes`: the columns of the first and the second labels")
            )
        if self.passes is not None and self.passes[0] == self.passes[1]:
            raise refuse(N_("must name two different columns"), at=("passes",))
        return self

    @property
    def table_key(self) -> str:  # type: ignore[override]
        """The key under which the plan names its table: a relabel is named after the table it is of."""
        return "table" if self.relabel is None else "relabel"

    @property
    def table(self) -> str:
        """The table whose cases were labelled twice."""
        name = self.in_table if self.relabel is None else self.relabel
        assert name is not None
        return name

    @property
    def labelled(self) -> tuple[tuple[str, str], ...]:
        """The columns of the first and of the second label; of a relabel both have one name."""
        return (self.passes,) if self.passes is not None else tuple((n, n) for n in self._relabelled)

    def columns(self) -> frozenset[str]:
        """Return the labels, and the columns of the strata."""
        return self.labels() | {name for names in self.by for name in names}

    def labels(self) -> frozenset[str]:
        """Return the columns that were labelled twice."""
        return frozenset(name for pair in self.labelled for name in pair)

    def relabels(self) -> tuple[str, ...]:
        """Return the registered relabel, if the second labels are a file of their own."""
        return () if self.relabel is None else (self.relabel,)

    def compares_groups(self) -> bool:
        """Tell that no criterion compares groups."""
        return False

    def check(self, path: Path, table: Table, protocol: "Protocol", findings: Findings) -> None:
        """Find what contradicts itself between the plan, its table and the rest of the protocol."""
        _AgreementChecking(path, self.table, table, protocol, findings).run(self)

    def take_columns(self, protocol: "Protocol") -> None:
        """Learn which columns the registered relabel is of; the plan itself names none of them."""
        if self.relabel in protocol.relabel:
            self._relabelled = tuple(protocol.relabel[self.relabel].columns)


class _AgreementChecking(Checking):
    def run(self, plan: SelfAgreementPlan) -> None:
        if plan.systems is not None:
            self.add(("systems",), N_("means nothing here: labels are a person's, not a system's"))
        if plan.relabel is not None:
            self.relabel(plan)
        else:
            self.passes(plan)
        for index, names in enumerate(plan.by):
            self.strata(names, ("by", index))
        self.unique_ids(plan.criteria)
        for index, criterion in enumerate(plan.criteria):
            self.criterion(plan, criterion, ("criteria", index))

    def relabel(self, plan: SelfAgreementPlan) -> None:
        """Check the registered relabel, and learn its columns."""
        assert plan.relabel is not None
        known = self.findings.known(
            plan.relabel, self.protocol.relabel, ("relabel",), (*self.path, "relabel")
        )
        if known is None:
            return
        if known.pool != plan.pool:
            self.add(
                ("relabel",),
                N_("{name} draws cases of {pool}, and this analysis reads {other}"),
                name=quoted(plan.relabel),
                pool=quoted(known.pool),
                other=quoted(plan.pool),
            )
        if known.min_days_apart and not any("labelled" in each.is_ for each in self.table.columns.values()):
            self.add(
                ("relabel",),
                N_(
                    "is to be days apart, and no column of {table} says when a case was labelled (`is: labelled`)"
                ),
                table=quoted(self.name),
            )
        plan.take_columns(self.protocol)
        for name in known.columns:
            self.labelled(name, ("relabel",))

    def passes(self, plan: SelfAgreementPlan) -> None:
        """Check that both columns hold the same kind of label."""
        assert plan.passes is not None
        found = [self.labelled(name, ("passes", index)) for index, name in enumerate(plan.passes)]
        if None not in found and found[0] != found[1]:
            self.add(("passes",), N_("must have the same type and declare the same values"))

    def labelled(self, name: str, at: Path) -> Any:
        """Return what makes two labels comparable; None, with the problem noted, where nothing does."""
        column = self.findings.known(name, self.table.columns, self.section, (*self.path, *at))
        if column is None:
            return None
        if self.table.supplied(name) or self.table.derived(name):
            self.add(at, N_("{name} is not a label a person could give again"), name=quoted(name))
            return None
        if isinstance(column, OutcomeColumn):
            return column.type, (column.positive, column.negative)
        values = stratum_values(column)
        if values is None:
            self.add(
                at,
                N_(
                    "{name} is of type {type}; agreement is of a category, an ordinal, an outcome, or a number "
                    "with `bins`"
                ),
                name=quoted(name),
                type=column.type,
            )
            return None
        return column.type, values, column.bins if isinstance(column, NumberColumn) else None

    def criterion(self, plan: SelfAgreementPlan, criterion: AgreementCriterion, at: Path) -> None:
        """Check which column a criterion is on, and that its floor can be reached."""
        names = [first for first, _second in plan.labelled]
        if criterion.column is None and len(names) > 1:
            self.add(at, N_("needs `column`, one of {names}"), names=listed(names))
        elif criterion.column is not None and names and criterion.column not in names:
            self.add(
                (*at, "column"),
                N_("{name} is not labelled twice; {names} are"),
                name=quoted(criterion.column),
                names=listed(names),
            )
        least = 0 if criterion.metric == "raw_agreement" else -1
        if not least <= criterion.min <= 1:
            self.add(
                (*at, "min"),
                N_("must be from {low} to {high}, and is {value}"),
                low=str(least),
                high="1",
                value=str(criterion.min),
            )
