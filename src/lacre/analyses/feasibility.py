"""What a plan could find: the cases each group needs, and how often a rule would decide, by simulation.

Both ask the code that decides. Without rates to assume only the first can be said.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod

import numpy as np

from lacre.analyses.criteria import rule_of
from lacre.analyses.families import error_rate, exact
from lacre.analyses.verdict import Rule
from lacre.protocol.grammar import as_float
from lacre.protocol.kinds.group_fairness import Criterion, GroupFairnessPlan
from lacre.protocol.models import Protocol
from lacre.stats.fairness import RateCounts, simultaneous_bounds
from lacre.stats.proportions import Floats, clopper_pearson

LABELLED = frozenset({"false_positive", "false_negative"})
"""The rates whose denominator is the cases of one label."""

SIMULATIONS = 10_000
"""Enough for a standard error of at most half a percentage point."""

SEED = 20260902
"""The same plan gets the same answer."""

MOST_CASES = 10**9
"""A rule that needs more cases in a group than this is one that cannot be met."""


@dataclass(frozen=True, slots=True)
class Minimum:
    """Cases with a prediction in each group's denominator below which a rule cannot pass, and cannot fail.

    `to_pass` if no case speaks against the rule, `to_fail` if every case does; None where no number is
    enough.
    """

    to_pass: int | None
    to_fail: int | None


@dataclass(frozen=True, slots=True)
class Power:
    """Shares of simulated data sets on which a rule passed and failed; the rest decided nothing."""

    passes: float
    fails: float
    simulations: int


@dataclass(frozen=True, slots=True)
class Need:
    """What one criterion of an analysis asks of each of its declared groups, and what the plan can find.

    `prospect` is simulated at the planned rows and the assumed rates; None where either is not given.
    """

    analysis: str
    criterion: str
    metric: str
    groups: int
    minimum: Minimum
    planned: int | None = None
    prospect: Power | None = None

    @property
    def too_few_planned(self) -> bool:
        """Whether the planned cases, all of them in the denominator, are too few for the rule to pass."""
        least = self.minimum.to_pass
        return self.planned is not None and least is not None and self.planned < least * self.groups


def minimum_cases(rule: Rule, groups: int, alpha: float, min_cell: int) -> Minimum:
    """Return the smallest equal group sizes at which `rule` over `groups` declared groups can pass, and fail.

    It passes soonest with no events (a floor: with events alone) and fails soonest with events alone (a
    floor: with none; a gap: in one group all, in the others none).
    """
    none, every = np.zeros(groups), np.ones(groups)
    mixed = np.arange(groups) == 0
    floor = rule.form == "worst_group_min"
    against = mixed.astype(float) if rule.form == "max_group_gap" else none if floor else every
    return Minimum(
        to_pass=_smallest(rule, every if floor else none, alpha, min_cell, passes=True),
        to_fail=_smallest(rule, against, alpha, min_cell, passes=False),
    )


def _smallest(rule: Rule, shares: Floats, alpha: float, min_cell: int, *, passes: bool) -> int | None:
    groups = len(shares)
    usable = np.ones(groups, np.bool_)

    def decided(cases: int) -> bool:
        n = np.full(groups, cases, np.int64)
        counts = RateCounts((shares * cases).astype(np.int64), np.zeros(groups, np.int64), n)
        decision = rule.decide(*simultaneous_bounds(counts, alpha, groups), usable)
        return bool(decision.passes if passes else decision.fails)

    if decided(min_cell):
        return min_cell
    low, high = min_cell, 2 * min_cell
    while not decided(high):
        low, high = high, 2 * high
        if low > MOST_CASES:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if decided(middle) else (middle, high)
    return high


def requirements(protocol: Protocol) -> tuple[Need, ...]:
    """Return what every criterion of `protocol` asks of its groups, in the protocol's order."""
    return tuple(
        need
        for name, plan in protocol.analyses.items()
        if isinstance(plan, GroupFairnessPlan)
        for need in _of_plan(name, plan, protocol)
    )


def _of_plan(name: str, plan: GroupFairnessPlan, protocol: Protocol) -> list[Need]:
    declared = protocol.tables[plan.table]
    planned = protocol.pools[plan.pool].planned.get(plan.table)
    alpha = error_rate(plan.confidence)
    found = []
    for criterion in plan.criteria:
        groups = prod(len(declared.columns[each].named_values) for each in criterion.by)
        minimum = minimum_cases(rule_of(criterion), groups, alpha, plan.min_cell)
        prospect = _prospect(plan, criterion, protocol)
        found.append(Need(name, criterion.id, criterion.metric, groups, minimum, planned, prospect))
    return found


def _prospect(plan: GroupFairnessPlan, criterion: Criterion, protocol: Protocol) -> Power | None:
    """Simulate a criterion at the planned rows, at one assumed rate for every group."""
    pool, assumed = protocol.pools[plan.pool], plan.assume
    planned = pool.planned.get(plan.table)
    rate = None if assumed is None else getattr(assumed, criterion.metric)
    if assumed is None or planned is None or rate is None:
        return None
    part = Fraction(1)
    if criterion.metric in LABELLED:
        if assumed.label is None:
            return None
        positive = exact(assumed.label)
        part = positive if criterion.metric == "false_negative" else 1 - positive
    declared = protocol.tables[plan.table].columns
    shares = [_shares(declared[name].named_values, pool.composition.get(name)) for name in criterion.by]
    cases = [int(planned * part * prod(each)) for each in product(*shares)]
    return power(
        rule_of(criterion),
        cases,
        [as_float(rate)] * len(cases),
        alpha=error_rate(plan.confidence),
        min_cell=plan.min_cell,
        simulations=SIMULATIONS,
        seed=SEED,
    )


def _shares(values: Sequence[str], counts: Mapping[str, int] | None) -> list[Fraction]:
    """Return each group's share of the cases: as the pool's composition says, else all alike."""
    total = sum(counts.values()) if counts else 0
    if not counts or not total:
        return [Fraction(1, len(values))] * len(values)
    return [Fraction(counts.get(value, 0), total) for value in values]


def power(
    rule: Rule,
    cases: Sequence[int],
    rates: Sequence[float],
    *,
    alpha: float,
    min_cell: int,
    simulations: int,
    seed: int,
) -> Power:
    """Simulate `rule` at true `rates` with `cases` in each declared group's denominator, all predicted.

    The standard error of a share p is sqrt(p (1 - p) / simulations).
    """
    sizes = np.asarray(cases, np.int64)
    events = np.random.default_rng(seed).binomial(sizes, rates, size=(simulations, len(sizes)))
    low, high = np.empty(events.shape), np.empty(events.shape)
    for group, size in enumerate(sizes):
        seen, where = np.unique(events[:, group], return_inverse=True)
        bounds = clopper_pearson(seen, size, alpha / len(sizes))
        low[:, group], high[:, group] = bounds.low[where], bounds.high[where]
    decision = rule.decide(low, high, sizes >= min_cell)
    return Power(float(decision.passes.mean()), float(decision.fails.mean()), simulations)
