"""Paired variants: what changes when the same items are shown another way, or to another system.

Rows are put in pairs by item; an item without a row of both variants is left out of that pair, and counted. Each
declared variant is compared with the baseline, observed or not, and so are the systems that a criterion names.
Definitions of the comparison in `lacre.analyses.pairing`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from lacre.analyses.cases import absent, used_of
from lacre.analyses.detected import event_codes
from lacre.analyses.detection import DEFAULT_RESAMPLES, DEFAULT_SEED
from lacre.analyses.estimate import Answer, Estimate, Group, Measure, NotEstimable, ZeroBound
from lacre.analyses.families import error_rate, numbered
from lacre.analyses.given import Given
from lacre.analyses.pairing import SIGN_FLIPS, Asked, Compared, adjusted, compare, decide
from lacre.analyses.reasons import Reason
from lacre.analyses.result import AnalysisResult, merged
from lacre.analyses.shares import Shares, shares
from lacre.analyses.verdict import CriterionResult, LeftOut, Line, State, worst
from lacre.protocol.grammar import as_float
from lacre.protocol.kinds.paired_variants import (
    PairedCriterion,
    PairedVariantsPlan,
    comparisons,
    system_comparisons,
    variant_column,
    variant_values,
)
from lacre.protocol.models import Protocol
from lacre.protocol.tables import Table
from lacre.stats.bootstrap import linked_clusters
from lacre.stats.fairness import Ints
from lacre.stats.paired_intervals import pairs_needed
from lacre.stats.paired_power import discordant_needed
from lacre.tables.columns import MISSING, Codes, TypedTable

METRIC = "difference"
RATE = "detected"

NO_ROW, NO_RESULT = -3, -2
"""Places of an item's outcomes: nothing was there to be detected, or its blank is left out."""


@dataclass(frozen=True, eq=False)
class Items:
    """The items of one system: `outcome` (items, variants) is 1, 0, -1 for a blank that counts as both, or none.

    `cluster` is each item's, linked through all that it lies in; None where none is declared. `left_out` counts
    rows, each reason by itself. `shares` are of each variant, `everything` of all rows.
    """

    rows: int
    outcome: Ints
    cluster: Ints | None
    left_out: tuple[LeftOut, ...]
    blank: int
    shares: Shares
    everything: Shares


def prepare(plan: PairedVariantsPlan, given: Given, system: str, alpha: float) -> Items:
    """Return the items of `plan` as one system sees them."""
    declared, table = given.protocol.tables[plan.table], given.table(system, plan.table)
    used, _kept, excluded = used_of(declared, table)
    name = variant_column(plan, declared)
    assert name is not None
    values = variant_values(plan, declared)
    column = used.columns[name]
    assert isinstance(column, Codes)
    variant = column.codes.astype(np.int64)
    left_out = [*excluded, *absent(name, variant)]
    item, kept = _items(plan, used), variant >= 0
    kinds = [numbered(used.columns[each]) for each in declared.cluster]
    for each, codes in zip(declared.cluster, kinds, strict=True):
        left_out.append(LeftOut("missing", each, int(np.count_nonzero(codes < 0))))
        kept &= codes >= 0
    event = event_codes(plan.detected, used, given, system)
    blank = (event == MISSING) & kept
    if plan.detected.blank == "not_detected":
        event = np.where(event == MISSING, 0, event)
    elif plan.detected.blank == "left_out":
        left_out.append(LeftOut("missing", plan.detected.reads, int(blank.sum())))
        event = np.where(event == MISSING, NO_RESULT, event)
    linked = linked_clusters(item[kept], *(codes[kept] for codes in kinds))
    outcome = np.full((int(item.max(initial=-1)) + 1, len(values)), NO_ROW, np.int64)
    outcome[item[kept], variant[kept]] = event[kept]
    cluster = np.full(len(outcome), -1, np.int64)
    cluster[item[kept]] = linked
    there = event[kept] > NO_RESULT
    cells = np.where(there, variant[kept], -1)
    return Items(
        rows=used.rows,
        outcome=outcome,
        cluster=cluster if declared.cluster else None,
        left_out=tuple(each for each in left_out if each.count),
        blank=int(blank.sum()),
        shares=shares(event[kept], cells, len(values), alpha, "wilson", linked if declared.cluster else None),
        everything=shares(event[kept], np.where(there, 0, -1), 1, alpha, "wilson", linked),
    )


def _items(plan: PairedVariantsPlan, table: TypedTable) -> Ints:
    """Return a number for each distinct item, from 0."""
    codes = np.stack([numbered(table.columns[name]) for name in plan.pair_on])
    _values, place = np.unique(codes, axis=1, return_inverse=True)
    return place.reshape(-1).astype(np.int64)


class PairedVariants:
    """One system's analysis."""

    def __init__(self, plan: PairedVariantsPlan, given: Given, name: str, system: str) -> None:
        self.plan = plan
        self.given = given
        self.name = name
        self.system = system
        self.declared: Table = given.protocol.tables[plan.table]
        self.values = variant_values(plan, self.declared)
        self.asked = asked_of(plan, given, comparisons(plan, self.declared))
        self.items = prepare(plan, given, system, self.asked.alpha)
        self.triggers = [Reason("review-registered")] if plan.requires_manual_review else []
        self.triggers += [Reason(code) for code in given.review]
        counts = self.items.shares.counts
        at = self.values.index(plan.baseline)
        if 2 * (counts.predicted[at] - counts.events[at]) > counts.predicted[at]:
            self.triggers.append(Reason("baseline-missed", {"variant": plan.baseline}))

    @property
    def review(self) -> Reason | None:
        """The first reason to have a person decide all."""
        return self.triggers[0] if self.triggers else None

    def result(self) -> AnalysisResult:
        """Compare each variant with the baseline, decide, and put it in order."""
        rules = [rule for rule in self.plan.criteria if rule.systems is None]
        criteria = tuple(self.criterion(rule) for rule in rules)
        pooled = self.share(self.items.everything, 0, ())
        each = [self.share(self.items.shares, at, self.group(value)) for at, value in enumerate(self.values)]
        return AnalysisResult(
            id=self.name,
            kind=self.plan.kind,
            state=State.MANUAL_REVIEW if self.triggers else worst(each.state for each in criteria),
            rows=self.items.rows,
            estimates=(pooled, *each, *(self.answer(variant) for variant in self.compared)),
            criteria=criteria,
            left_out=self.items.left_out,
            notes=(*self.triggers, *self.notes()),
            tables={"paired": tuple(self.row(variant) for variant in self.compared)},
        )

    @cached_property
    def compared(self) -> dict[str, Compared]:
        """Every declared variant against the baseline; the difference is the variant's share less the baseline's."""
        variants = [value for value in self.values if value != self.plan.baseline]
        found = [
            compare(*self.pairs(self.plan.baseline, variant), self.asked, sign=-1) for variant in variants
        ]
        return dict(zip(variants, adjusted(found), strict=True))

    def pairs(self, first: str, second: str) -> tuple[Ints, Ints, Ints | None]:
        """Return the outcomes of the items that have both, and the items' clusters."""
        at = [self.values.index(value) for value in (first, second)]
        return paired(self.items.outcome[:, at[0]], self.items.outcome[:, at[1]], self.items.cluster)

    def group(self, variant: str) -> Group:
        """Return a variant as what tells its rows apart."""
        name = variant_column(self.plan, self.declared)
        assert name is not None
        return ((name, variant),)

    # --- numbers

    def share(self, found: Shares, index: int, group: Group) -> Answer:
        """Answer the share detected under one variant, or of all rows."""
        events, missing, cases = (int(each[index]) for each in found.counts)
        absent = found.absent(index)
        if absent is not None:
            return NotEstimable(RATE, self.system, group, cases, absent)
        return Estimate(
            metric=RATE, system=self.system, group=group,
            numerator=events, denominator=cases, value=events / cases,
            low=float(found.bounds.low[index]), high=float(found.bounds.high[index]),
            confidence=self.asked.confidence, method=found.method, missing=missing,
            zero_bound=ZeroBound.of(float(found.size[index])) if events == 0 and missing == 0 else None,
            note=Reason("blanks-worst-case", {"count": missing}) if missing else None,
        )  # fmt: skip

    def answer(self, variant: str) -> Answer:
        """Answer the difference of a variant and the baseline."""
        return measure(
            self.compared[variant], self.system, self.group(variant), self.group(self.plan.baseline)
        )

    def row(self, variant: str) -> dict[str, object]:
        """Return a variant's row of the table "paired"."""
        return {
            "system": self.system or None,
            "group": dict(self.group(variant)),
            "versus": dict(self.group(self.plan.baseline)),
            "variant": variant,
            "baseline": self.plan.baseline,
            **self.compared[variant].row(),
        }

    # --- verdicts

    def criterion(self, rule: PairedCriterion) -> CriterionResult:
        """Decide the criterion on one variant."""
        assert rule.variant is not None
        columns = [self.items.outcome[:, self.values.index(v)] for v in (self.plan.baseline, rule.variant)]
        return decide(
            rule,
            self.compared[rule.variant],
            system=self.system,
            rows=len(self.items.outcome),
            left_out=self.unpaired(*columns),
            review=self.review,
            lines=(self.line(self.plan.baseline), self.line(rule.variant)),
            details={"variant": rule.variant},
        )

    def unpaired(self, first: Ints, second: Ints) -> tuple[LeftOut, ...]:
        """Count the items that make no pair, each under its first reason."""
        name = variant_column(self.plan, self.declared) or ""
        absent = (first == NO_ROW) | (second == NO_ROW)
        blank = ~absent & ((first == NO_RESULT) | (second == NO_RESULT))
        found = (
            LeftOut("unpaired", name, int(absent.sum())),
            LeftOut("missing", self.plan.detected.reads, int(blank.sum())),
        )
        return tuple(each for each in found if each.count)

    def line(self, variant: str) -> Line:
        """Return the share detected under one variant, of which by itself nothing is asked."""
        return self.items.shares.described(self.values.index(variant), self.group(variant))

    def notes(self) -> list[Reason]:
        """Say what a reader must know."""
        plan, notes = self.plan, []
        if not self.declared.cluster:
            notes.append(Reason("independence-assumed"))
        if self.items.blank and plan.detected.blank != "left_out":
            code = "blanks-not-detected" if plan.detected.blank == "not_detected" else "blanks-worst-case"
            notes.append(Reason(code, {"count": self.items.blank}))
        if any(each.test == SIGN_FLIPS for each in self.compared.values()):
            notes.append(Reason("sign-flips"))
        count = len(self.compared)
        if count > 1:
            code = "paired-unadjusted" if plan.multiplicity == "none" else "paired-holm"
            notes.append(Reason(code, {"count": count}))
        if len(plan.criteria) > 1:
            notes.append(Reason("criteria-uncorrected", {"count": len(plan.criteria)}))
        return notes


def asked_of(plan: PairedVariantsPlan, given: Given, family: int) -> Asked:
    """Return how the plan asks pairs to be compared, `family` of them at one error rate."""
    alpha, planned = error_rate(plan.confidence, given.share), plan.bootstrap
    return Asked(
        alpha=alpha,
        confidence=as_float(plan.confidence) if given.share == 1 else 1 - alpha,
        family=family,
        test=plan.test,
        resamples=DEFAULT_RESAMPLES if planned is None else planned.resamples,
        seed=DEFAULT_SEED if planned is None else planned.seed,
    )


def paired(first: Ints, second: Ints, cluster: Ints | None) -> tuple[Ints, Ints, Ints | None]:
    """Return the items that have an outcome, or a blank that counts, on both sides."""
    kept = (first > NO_RESULT) & (second > NO_RESULT)
    return first[kept], second[kept], None if cluster is None else cluster[kept]


def measure(found: Compared, system: str, group: Group, versus: Group | None) -> Measure | NotEstimable:
    """Return a comparison as an answer."""
    if found.low is None or found.high is None or found.method is None:
        why = found.obstacle or Reason("no-pairs")
        return NotEstimable(METRIC, system, group, found.pairs, why, versus=versus)
    return Measure(
        metric=METRIC, system=system, group=group, versus=versus, value=found.difference,
        low=found.low, high=found.high, confidence=found.asked.confidence, method=found.method,
        cases=found.pairs, scale="difference", simultaneous=found.asked.family, note=found.note,
    )  # fmt: skip


def analyse(plan: PairedVariantsPlan, given: Given, *, name: str, systems: Sequence[str]) -> AnalysisResult:
    """Compute the analysis `name` of each of `systems`, and compare the systems that criteria name."""
    each = {system: PairedVariants(plan, given, name, system) for system in systems}
    result = merged([one.result() for one in each.values()])
    rules = [rule for rule in plan.criteria if rule.systems is not None]
    return _with_systems(result, plan, given, each, rules) if rules else result


def _with_systems(
    result: AnalysisResult,
    plan: PairedVariantsPlan,
    given: Given,
    each: dict[str, PairedVariants],
    rules: Sequence[PairedCriterion],
) -> AnalysisResult:
    """Add the comparisons of two systems, first less second, over the items of one variant."""
    asked, found = asked_of(plan, given, system_comparisons(plan)), {}
    for rule in rules:
        variant = rule.variant or plan.baseline
        # A system that is not among those asked for has no outcomes, and the comparison no pairs.
        there = [each.get(name) for name in rule.systems or ()]
        one = next(iter(each.values()))
        at = one.values.index(variant)
        columns = [
            np.full(len(one.items.outcome), NO_ROW) if other is None else other.items.outcome[:, at]
            for other in there
        ]
        pairs = paired(columns[0], columns[1], one.items.cluster)
        found[rule.systems, variant] = (one, columns, compare(*pairs, asked))
    keys = list(found)
    done = dict(zip(keys, adjusted([found[key][2] for key in keys]), strict=True))
    criteria, rows, answers = [], [], []
    for rule in rules:
        key = (rule.systems, rule.variant or plan.baseline)
        one, columns, _compared = found[key]
        names, group = list(rule.systems or ()), one.group(key[1])
        line = replace(one.line(key[1]), numerator=None, missing=None, value=None, low=None, high=None)
        criteria.append(
            decide(
                rule, done[key], system="", rows=len(one.items.outcome), left_out=one.unpaired(*columns),
                review=next((other.review for other in each.values() if other.review), None),
                lines=(replace(line, denominator=done[key].pairs),),
                details={"first": names[0], "second": names[1], "variant": key[1]},
            )
        )  # fmt: skip
        row = {"systems": names, "group": dict(group), "variant": key[1], **done[key].row()}
        if row not in rows:
            rows.append(row)
            details = {"first": names[0], "second": names[1]}
            answers.append(replace(measure(done[key], "", group, None), details=details))
    review = result.state is State.MANUAL_REVIEW
    states = [result.state, *(criterion.state for criterion in criteria)]
    return replace(
        result,
        state=State.MANUAL_REVIEW if review else worst(states),
        estimates=(*result.estimates, *answers),
        criteria=(*result.criteria, *criteria),
        tables={**result.tables, "paired": (*result.tables["paired"], *rows)},
    )


@dataclass(frozen=True, slots=True)
class Need:
    """What a criterion needs to be decided at all, at the best: nothing else happens than what it hopes for.

    `discordant` pairs, all in the direction that passes, reject no difference at the first step of the
    adjustment; without any, `pairs` (or `clusters`, where they are declared) pass the margin. None where it is
    not asked.
    """

    criterion: str
    level: float
    test: str
    discordant: int | None
    pairs: int | None
    clusters: int | None

    def as_json(self) -> dict[str, object]:
        """Return the need as `check` tells it."""
        return {
            "criterion": self.criterion, "level": self.level, "test": self.test,
            "discordant": self.discordant, "pairs": self.pairs, "clusters": self.clusters,
        }  # fmt: skip


def needs(plan: PairedVariantsPlan, protocol: Protocol) -> tuple[Need, ...]:
    """Return what each criterion needs, for `check`.

    A bound of 0 needs discordant pairs; a margin (`min` below 0, `max` above) needs pairs without any. A bound
    that a difference of 0 breaks (`min: 0.05`) needs more than can be told beforehand, and has neither.
    """
    declared = protocol.tables[plan.table]
    reads = getattr(protocol.pools[plan.pool], "max_reads", None) or 1
    alpha, found = error_rate(plan.confidence) / reads, []
    for rule in plan.criteria:
        family = comparisons(plan, declared) if rule.systems is None else system_comparisons(plan)
        bound = as_float(rule.min) if rule.min is not None else -as_float(rule.max or 0.0)
        least = pairs_needed(-bound, alpha / family) if bound < 0 else None
        found.append(
            Need(
                criterion=rule.id,
                level=alpha / family,
                test=plan.test,
                discordant=discordant_needed(alpha / family, plan.test) if bound == 0 else None,
                pairs=least.tango if least is not None and not declared.cluster else None,
                clusters=least.zero_event if least is not None and declared.cluster else None,
            )
        )
    return tuple(found)
