"""The plan of paired variants: the same items in several renderings, each against the baseline."""

import math
from collections.abc import Collection
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import AfterValidator, model_validator

from lacre.protocol.grammar import Identifier, Many, Model, Name, Pair, Rate, not_empty, refuse
from lacre.protocol.kinds.parts import BEYOND, Basis, Bootstrap, Checking, Confidence, Difference, Event
from lacre.protocol.kinds.plan import TablePlan
from lacre.protocol.problems import Findings, Path, listed, quoted
from lacre.protocol.tables import Table
from lacre.protocol.thresholds import CalibratedThreshold
from lacre.text import N_

if TYPE_CHECKING:
    from lacre.protocol.models import Protocol

TESTS = ("mcnemar_exact", "mcnemar_mid_p", "mcnemar_asymptotic", "mcnemar_continuity")

VARIANT_TYPES = ("category", "ordinal")


def _paired_test(value: str) -> str:
    if value not in TESTS:
        raise refuse(
            N_("{test} is no paired test: variants of one item are not independent cases. There are {known}"),
            test=quoted(value),
            known=listed(TESTS),
        )
    return value


class PairedCriterion(Model):
    """One rule on a difference of shares over the same items.

    Of a `variant`: the variant less the baseline, so that a drop is negative. Of two `systems`: the first less the
    second, on the `variant` named, else on the baseline. A bound of 0 is decided by the test, another by the
    interval.
    """

    id: Identifier
    metric: Literal["difference"]
    variant: Name | None = None
    systems: Pair[Identifier] | None = None
    min: Difference | None = None
    max: Difference | None = None
    max_left_out: Rate = 0.10
    requires_manual_review: bool = False

    @model_validator(mode="after")
    def _is_one_rule(self) -> Self:
        if (self.max is None) == (self.min is None):
            raise refuse(N_("needs exactly one bound: `max` or `min`"))
        if self.variant is None and self.systems is None:
            raise refuse(N_("needs `variant`, to be compared with the baseline, or `systems`, two of them"))
        return self


class PairedVariantsPlan(TablePlan):
    """Detected or not, of the same items under several variants; one row for each item and variant."""

    kind: Literal["paired_variants"]
    pair_on: Annotated[Many[Name], AfterValidator(not_empty)]
    variant: Name | None = None
    baseline: Name
    detected: Event
    test: Annotated[str, AfterValidator(_paired_test)] = "mcnemar_exact"
    bootstrap: Bootstrap | None = None
    multiplicity: Literal["holm", "none"] = "holm"
    confidence: Confidence = 0.95
    requires_manual_review: bool = False
    criteria: Annotated[list[PairedCriterion], AfterValidator(not_empty)]

    def columns(self) -> frozenset[str]:
        """Return the event's column and those that pair the rows."""
        named = {self.detected.reads, *self.pair_on}
        return frozenset(named if self.variant is None else {*named, self.variant})

    def thresholds(self) -> frozenset[str]:
        """Return the event's threshold, where it has one."""
        return frozenset() if self.detected.threshold is None else frozenset({self.detected.threshold})

    def compares_groups(self) -> bool:
        """Tell that no criterion compares groups: variants are of the same items."""
        return False

    def basis(self, threshold: str) -> Basis | None:
        """Return how a threshold's score is read; None if this plan does not use it."""
        event = self.detected
        if threshold != event.threshold or event.score is None:
            return None
        return Basis(self.table, event.score, None, event.direction, ("recall", "false_negative"))

    def check(self, path: Path, table: Table, protocol: "Protocol", findings: Findings) -> None:
        """Find what contradicts itself between the plan, its table and the rest of the protocol."""
        PairedChecking(self, path, table, protocol, findings).run()


def variant_column(plan: PairedVariantsPlan, table: Table) -> str | None:
    """Return the column that tells the variants apart: the one named, else what the key has beside `pair_on`."""
    if plan.variant is not None:
        return plan.variant
    rest = [name for name in table.key if name not in plan.pair_on]
    return rest[0] if len(rest) == 1 else None


def variant_values(plan: PairedVariantsPlan, table: Table) -> tuple[str, ...]:
    """Return the declared variants, in order; none where the column has none."""
    name = variant_column(plan, table)
    column = None if name is None else table.columns.get(name)
    return () if column is None else column.named_values


def comparisons(plan: PairedVariantsPlan, table: Table) -> int:
    """Return how many variants are compared with the baseline, observed or not: they share an error rate."""
    return 1 if plan.multiplicity == "none" else max(1, len(variant_values(plan, table)) - 1)


def system_comparisons(plan: PairedVariantsPlan) -> int:
    """Return how many comparisons of two systems share an error rate."""
    asked = {(rule.systems, rule.variant) for rule in plan.criteria if rule.systems is not None}
    return 1 if plan.multiplicity == "none" else max(1, len(asked))


class PairedChecking(Checking):
    """The checks of a plan of paired variants."""

    def __init__(
        self, plan: PairedVariantsPlan, path: Path, table: Table, protocol: "Protocol", findings: Findings
    ) -> None:
        super().__init__(path, plan.table, table, protocol, findings)
        self.plan = plan

    def run(self) -> None:
        """Check all."""
        plan = self.plan
        systems: Collection[str] = self.protocol.systems if plan.systems is None else plan.systems
        self.event(plan.detected, ("detected",), systems)
        for name, column in self.table.columns.items():
            if {"inclusion_probability", "weight"} & set(column.is_):
                self.add(
                    (),
                    N_(
                        "{name} says that cases were drawn with unequal probabilities: this cannot weigh them"
                    ),
                    name=quoted(name),
                )
        self.unique_ids(plan.criteria)
        values = self.paired()
        if values is not None:
            self.covered()
            self.compared(values, systems)
            self.resampled()

    def threshold(self, name: str, score: str, at: Path) -> None:
        """Check that a threshold is declared, and calibrated on this score: of these items or of others."""
        threshold = self.findings.known(name, self.protocol.thresholds, ("thresholds",), (*self.path, *at))
        if isinstance(threshold, CalibratedThreshold) and threshold.score != score:
            self.add(
                at,
                N_("{name} is calibrated on {other} of {table}, and this is another score"),
                name=quoted(name),
                other=quoted(threshold.score),
                table=quoted(threshold.table),
            )

    def paired(self) -> tuple[str, ...] | None:
        """Check that the key is an item and a variant; return the declared variants."""
        plan, sound = self.plan, True
        for index, part in enumerate(plan.pair_on):
            at: Path = ("pair_on", index)
            known = self.findings.known(part, self.table.columns, self.section, (*self.path, *at))
            sound = sound and known is not None and part in self.table.key
            if known is not None and part not in self.table.key:
                self.add(
                    at,
                    N_("{name} is not in the key of {table}: a key names an item and its variant"),
                    name=quoted(part),
                    table=quoted(self.name),
                )
        at = () if plan.variant is None else ("variant",)
        name = variant_column(plan, self.table)
        if not sound:
            return None
        if name is None or {*plan.pair_on, name} != set(self.table.key) or name in plan.pair_on:
            self.add(
                at,
                N_("the key of {table} must be `pair_on` and one more column, the variant; it is {key}"),
                table=quoted(self.name),
                key=listed(self.table.key),
            )
            return None
        column = self.column(name, at, *VARIANT_TYPES, supplied=False)
        return None if column is None else self.table.columns[name].named_values

    def covered(self) -> None:
        """Check that what `lacre amplify` makes has a place in the column of some analysis like this."""
        covered: set[str] = set()
        for other in self.protocol.analyses.values():
            if isinstance(other, PairedVariantsPlan) and other.table in self.protocol.tables:
                covered |= {*variant_values(other, self.protocol.tables[other.table])}
        column = variant_column(self.plan, self.table)
        for name in self.protocol.variants:
            if name not in covered:
                self.findings.add(
                    ("variants", name),
                    N_(
                        "is not among the values of {column} in {table}, so nothing would be compared with it"
                    ),
                    column=quoted(column or ""),
                    table=quoted(self.name),
                )

    def compared(self, values: tuple[str, ...], systems: Collection[str]) -> None:
        """Check what is compared with what."""
        self.declared(self.plan.baseline, values, ("baseline",))
        if len(values) < 2 and any(rule.systems is None for rule in self.plan.criteria):
            self.add(("baseline",), N_("is the only declared variant: there is nothing to compare with it"))
        for index, rule in enumerate(self.plan.criteria):
            at: Path = ("criteria", index)
            if rule.variant is not None:
                self.declared(rule.variant, values, (*at, "variant"))
                if rule.systems is None and rule.variant == self.plan.baseline:
                    self.add((*at, "variant"), N_("is the baseline itself"))
            for inner, name in enumerate(rule.systems or ()):
                if name not in systems:
                    self.add(
                        (*at, "systems", inner),
                        N_("{name} is not among the systems of this analysis"),
                        name=quoted(name),
                    )
            if rule.systems is not None and rule.systems[0] == rule.systems[1]:
                self.add((*at, "systems"), N_("must name two different systems"))
            for key, bound in (("min", rule.min), ("max", rule.max)):
                if bound is not None and abs(bound) == 1:
                    self.add((*at, key), N_("bounds nothing: a difference of shares is never beyond it"))

    def resampled(self) -> None:
        """Check that a registered bootstrap is fine enough for the interval at its share of the error rate."""
        plan = self.plan
        if plan.bootstrap is None:
            return
        reads = getattr(self.protocol.pools.get(plan.pool), "max_reads", None) or 1
        shared = max(comparisons(plan, self.table), system_comparisons(plan)) * reads
        alpha = 1 - Fraction(str(plan.confidence))
        least = math.ceil(2 * BEYOND * shared / alpha)
        if plan.bootstrap.resamples < least:
            self.add(
                ("bootstrap", "resamples"),
                N_("must be at least {least}: {count} intervals share the error rate, and {beyond} resamples "
                   "must lie beyond each end"),
                least=least,
                count=shared,
                beyond=BEYOND,
            )  # fmt: skip

    def declared(self, value: str, values: tuple[str, ...], at: Path) -> None:
        """Check that a variant is a declared one."""
        if value not in values:
            self.add(
                at,
                N_("{value} is not a declared variant; there are {known}"),
                value=quoted(value),
                known=listed(values),
            )
