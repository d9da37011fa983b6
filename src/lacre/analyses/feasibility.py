"""What a plan can find: whether a rule can pass or fail at all, how often it would, and the cases that takes.

All of it asks the code that decides. The first is exact and needs no rate (`lacre.analyses.attainable`); the
rest is simulated at the rates that a plan of group fairness assumes, and the same plan gets the same answer. What
other kinds ask is in `lacre.analyses.feasible_shares`, `feasible_pairs` and `feasible_verification`.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from math import ceil, sqrt

import numpy as np
from scipy import special

from lacre.analyses.attainable import MOST_CASES, Judged
from lacre.analyses.criteria import rule_of
from lacre.analyses.feasible_judges import judge_needs
from lacre.analyses.feasible_pairs import paired_needs
from lacre.analyses.feasible_shares import agreement_of_plan, detection_needs, estimate_needs
from lacre.analyses.feasible_verification import verification_needs
from lacre.analyses.need import Need, Needed, Power, alpha_of, planned_rows
from lacre.analyses.planned import group_shares, label_share, room
from lacre.analyses.verdict import Rule
from lacre.protocol.grammar import as_float
from lacre.protocol.kinds.detection import DetectionPlan
from lacre.protocol.kinds.estimate import EstimatePlan
from lacre.protocol.kinds.group_fairness import Criterion, GroupFairnessPlan
from lacre.protocol.kinds.judge_agreement import JudgeAgreementPlan
from lacre.protocol.kinds.paired_variants import PairedVariantsPlan
from lacre.protocol.kinds.plan import AnalysisPlan
from lacre.protocol.kinds.self_agreement import SelfAgreementPlan
from lacre.protocol.kinds.verification import VerificationPlan
from lacre.protocol.models import Protocol
from lacre.rules.answers import Infeasible
from lacre.stats.proportions import Floats, clopper_pearson
from lacre.text import N_

__all__ = ["Need", "Needed", "Power", "infeasible", "infeasible_needs", "power", "requirements"]

SIMULATIONS = 10_000
"""Enough for a standard error of at most half a percentage point."""

FEWEST_SIMULATIONS = 1_000
MOST_DRAWN = 5_000_000
"""Draws for one answer: where it takes more, many groups get fewer simulations, down to the fewest."""

SEED = 20260902
"""The same plan gets the same answer."""

WANTED = 0.8
"""The probability of PASS that a plan's size is looked for at."""

MOST_NEEDED = 10**7
"""Cases of all groups together up to which that size is looked for."""

BLOCK = 1_000_000
"""Draws held at once."""

REACH = 8
"""Standard deviations around the mean beyond which no count is looked up (6e-16 of them lie there)."""

MOST_COUNTED = 10_000
"""Counts of events that are looked up for one group: every one, or as many a small part of a deviation apart."""

STEPS = 64
"""Simulations that one criterion takes at most, as progress counts them."""

Progress = Callable[[str, int, int | None], None]


@dataclass(frozen=True, slots=True)
class _Asked:
    """A criterion and what it stands in."""

    protocol: Protocol
    analysis: str
    plan: GroupFairnessPlan
    criterion: Criterion

    def judged(self) -> Judged:
        declared = self.protocol.tables[self.plan.table]
        groups = 1
        for name in self.criterion.by:
            groups *= len(declared.columns[name].named_values)
        roles = {role for column in declared.columns.values() for role in column.is_}
        return Judged(
            rule=rule_of(self.criterion),
            groups=groups,
            alpha=alpha_of(self.protocol, self.plan),
            min_cell=self.plan.min_cell,
            clustered=bool(declared.cluster),
            estimable=len(declared.cluster) < 2 and not roles & {"inclusion_probability", "weight"},
        )

    def need(self) -> Need:
        judged = self.judged()
        return Need(
            analysis=self.analysis,
            criterion=self.criterion.id,
            metric=self.criterion.metric,
            groups=judged.groups,
            minimum=judged.minimum(),
            attainable=judged.within(room(self.protocol, self.plan, self.criterion)),
            planned=planned_rows(self.protocol, self.plan),
        )

    def rate(self) -> float | None:
        rate = getattr(self.plan.assume, self.criterion.metric, None)
        return None if rate is None else as_float(rate)


def _of_groups(protocol: Protocol, name: str, plan: GroupFairnessPlan) -> list[_Asked]:
    return [_Asked(protocol, name, plan, criterion) for criterion in plan.criteria]


def _needs(protocol: Protocol, name: str, plan: AnalysisPlan) -> Iterable[Need]:
    """Tell what an analysis asks, of whatever kind; nothing is simulated."""
    match plan:
        case GroupFairnessPlan():
            return [asked.need() for asked in _of_groups(protocol, name, plan)]
        case DetectionPlan():
            return detection_needs(protocol, name, plan)
        case PairedVariantsPlan():
            return paired_needs(protocol, name, plan)
        case VerificationPlan():
            return verification_needs(protocol, name, plan)
        case SelfAgreementPlan():
            return agreement_of_plan(protocol, name, plan)
        case EstimatePlan():
            return estimate_needs(protocol, name, plan)
        case JudgeAgreementPlan():
            return judge_needs(protocol, name, plan)
    return ()


def infeasible_needs(protocol: Protocol) -> tuple[Need, ...]:
    """Return what the criteria ask that pass, or fail, at no outcome at all; nothing is simulated."""
    return tuple(
        need
        for name, plan in protocol.analyses.items()
        for need in _needs(protocol, name, plan)
        if need.criterion is not None and need.infeasible
    )


def infeasible(protocol: Protocol) -> tuple[Infeasible, ...]:
    """Return the criteria of `protocol` that pass, or fail, at no outcome at all, in the protocol's order."""
    return tuple(
        Infeasible(
            analysis=need.analysis,
            criterion=str(need.criterion),
            passes=need.attainable.passes,
            fails=need.attainable.fails,
        )
        for need in infeasible_needs(protocol)
    )


def _quiet(_label: str, _done: int, _total: int | None) -> None:
    """Show no progress."""


def requirements(protocol: Protocol, progress: Progress = _quiet) -> tuple[Need, ...]:
    """Return what every criterion of `protocol` asks of its groups, in the protocol's order.

    After those of an analysis comes what it asks as a whole, of the kinds that ask something.
    """
    simulated = sum(
        len(plan.criteria) for plan in protocol.analyses.values() if isinstance(plan, GroupFairnessPlan)
    )
    needs: list[Need] = []
    place, total = 0, STEPS * simulated
    for name, plan in protocol.analyses.items():
        if not isinstance(plan, GroupFairnessPlan):
            needs += _needs(protocol, name, plan)
            continue
        for asked in _of_groups(protocol, name, plan):
            needs.append(_simulated(asked, partial(_report, progress, STEPS * place, total)))
            place += 1
            progress(N_("simulating"), STEPS * place, total)
    return tuple(needs)


def _report(progress: Progress, before: int, total: int, step: int) -> None:
    progress(N_("simulating"), before + min(step, STEPS), total)


def _simulated(asked: _Asked, step: Callable[[int], None]) -> Need:
    judged, rate = asked.judged(), asked.rate()
    need = asked.need()
    if rate is None or judged.clustered or not judged.estimable:
        return need
    part = label_share(asked.protocol, asked.plan, asked.criterion.metric)
    design = _Design(judged, rate, group_shares(asked.protocol, asked.plan, asked.criterion), step)
    prospect = None
    if need.planned is not None and part is not None:
        prospect = design.power(need.planned * part)
    return replace(need, prospect=prospect, needed=design.needed(part))


class _Design:
    """A rule over groups that have fixed shares of the cases, and one rate."""

    def __init__(
        self, judged: Judged, rate: float, shares: Sequence[Fraction], step: Callable[[int], None]
    ) -> None:
        self.judged = judged
        self.rate = rate
        self.shares = shares
        self.step = step
        self.taken = 0

    def sizes(self, cases: Fraction | int) -> list[int]:
        """Return each group's cases, of `cases` in the rate's denominator; more than a billion are as good."""
        return [min(int(cases * share), MOST_CASES) for share in self.shares]

    def power(self, cases: Fraction | int) -> Power:
        """Simulate the rule."""
        self.taken += 1
        self.step(self.taken)
        return power(
            self.judged.rule,
            self.sizes(cases),
            [self.rate] * len(self.shares),
            alpha=self.judged.alpha,
            min_cell=self.judged.min_cell,
            simulations=max(FEWEST_SIMULATIONS, min(SIMULATIONS, MOST_DRAWN // len(self.shares))),
            seed=SEED,
        )

    def needed(self, part: Fraction | None) -> Needed:
        """Look for the size: doubled until it is enough, then halved towards the last that was not.

        `part` of the rows is in the denominator; None where that is not known.
        """
        smallest = min(self.shares)

        def enough(cases: int) -> bool:
            return self.power(cases).passes >= WANTED

        if not smallest or part == 0 or self._hopeless():
            return Needed(None, None)
        low, high = 0, ceil(self.judged.least / smallest)
        while high <= MOST_NEEDED and not enough(high):
            low, high = high, 2 * high
        if high > MOST_NEEDED:
            return Needed(None, None)
        while low and high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if enough(middle) else (middle, high)
        rows = ceil(high / part) if part else None
        return Needed(rows, min(self.sizes(high)))

    def _hopeless(self) -> bool:
        """Tell whether the rate is on the wrong side: an interval that shuts it out has a probability below 1/2."""
        rule = self.judged.rule
        if rule.form == "worst_group_max":
            return self.rate >= rule.limit
        return rule.limit == 0 if rule.form == "max_group_gap" else self.rate <= rule.limit


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

    The events of a group are the quantile of its binomial distribution at a uniform number, so that designs
    that differ a little in size are compared on the same luck.
    """
    sizes = np.asarray(cases, np.int64)
    groups = len(sizes)
    known: dict[tuple[int, float], _Bounds] = {}
    for one in zip(sizes.tolist(), rates, strict=True):
        if one not in known:
            known[one] = _bounds(*one, alpha / groups)
    tables = [known[one] for one in zip(sizes.tolist(), rates, strict=True)]
    random = np.random.default_rng(seed)
    passes = fails = 0
    block = max(1, BLOCK // groups)
    for begin in range(0, simulations, block):
        luck = random.random((min(block, simulations - begin), groups))
        low, high = np.empty_like(luck), np.empty_like(luck)
        for group, table in enumerate(tables):
            at = np.searchsorted(table.below, luck[:, group], side="right")
            low[:, group], high[:, group] = table.low[at], table.high[at]
        decision = rule.decide(low, high, sizes >= min_cell)
        passes += int(decision.passes.sum())
        fails += int(decision.fails.sum())
    return Power(passes / simulations, fails / simulations, simulations)


@dataclass(frozen=True, slots=True)
class _Bounds:
    """A group's bounds at each count of events that may come up.

    `below` holds the probabilities of at most as many events, of every count but the last.
    """

    below: Floats
    low: Floats
    high: Floats


def _bounds(cases: int, rate: float, error: float) -> _Bounds:
    spread = REACH * sqrt(cases * rate * (1 - rate)) + REACH
    first = max(0, int(cases * rate - spread))
    last = min(cases, ceil(cases * rate + spread))
    # Where there are more counts than the simulation can tell apart, one stands for its neighbours.
    events = np.append(np.arange(first, last, max(1, (last - first) // MOST_COUNTED)), last)
    bounds = clopper_pearson(events, cases, error)
    below = special.bdtr(events[:-1].astype(np.float64), cases, rate)
    return _Bounds(np.asarray(below), bounds.low, bounds.high)
