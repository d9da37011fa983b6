"""What a plan can find: whether a rule can pass or fail at all, how often it would, and the cases that takes.

All of it asks the code that decides. The first is exact and needs no rate (`lacre.analyses.attainable`); the
rest is simulated at the assumed ones, and the same plan gets the same answer.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import ceil, sqrt

import numpy as np
from scipy import special

from lacre.analyses.attainable import MOST_CASES, Attainable, Judged, Minimum
from lacre.analyses.criteria import rule_of
from lacre.analyses.families import error_rate
from lacre.analyses.planned import group_shares, label_share, room
from lacre.analyses.verdict import Rule
from lacre.protocol.grammar import as_float
from lacre.protocol.kinds.group_fairness import Criterion, GroupFairnessPlan
from lacre.protocol.models import Protocol
from lacre.rules.requests import Infeasible
from lacre.stats.proportions import Floats, clopper_pearson
from lacre.text import N_

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
class Power:
    """Shares of simulated data sets on which a rule passed and failed; the rest decided nothing."""

    passes: float
    fails: float
    simulations: int

    @property
    def passes_error(self) -> float:
        """The standard error that the simulation leaves `passes`."""
        return sqrt(self.passes * (1 - self.passes) / self.simulations)

    @property
    def fails_error(self) -> float:
        """The standard error that the simulation leaves `fails`."""
        return sqrt(self.fails * (1 - self.fails) / self.simulations)


@dataclass(frozen=True, slots=True)
class Needed:
    """The size at which a rule passes with the probability `WANTED`, if the assumed rate is true.

    `smallest` counts the cases of the smallest group in the rate's denominator, `rows` the table's, which is None
    where the plan does not say what share of them is in the denominator. Both are None where no size of up to
    `MOST_NEEDED` cases in all groups together is enough. Since counts are whole numbers the probability rises with the
    size in small steps up and down, so the size is one at which it crosses, and about right.
    """

    rows: int | None
    smallest: int | None


@dataclass(frozen=True, slots=True)
class Need:
    """What one criterion of an analysis asks of each of its declared groups, and what the plan can find.

    `attainable` is exact, for the planned rows. `prospect` is simulated at the planned rows and the assumed rates,
    `needed` at the assumed rates; None where what it takes is not given, and where cases come in clusters:
    a plan does not say how large these are, and without them the answer would be too good.
    """

    analysis: str
    criterion: str
    metric: str
    groups: int
    minimum: Minimum
    attainable: Attainable
    planned: int | None = None
    prospect: Power | None = None
    needed: Needed | None = None

    @property
    def infeasible(self) -> bool:
        """Whether no outcome at all passes, or none fails."""
        return not (self.attainable.passes and self.attainable.fails)

    @property
    def too_few_planned(self) -> bool:
        """Whether the rule could pass, but at no outcome of as few cases as are planned."""
        return self.minimum.to_pass is not None and not self.attainable.passes


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
            alpha=error_rate(self.plan.confidence),
            min_cell=self.plan.min_cell,
            clustered=bool(declared.cluster),
            estimable=len(declared.cluster) < 2 and not roles & {"inclusion_probability", "weight"},
        )

    def attainable(self) -> Attainable:
        return self.judged().within(room(self.protocol, self.plan, self.criterion))

    def rate(self) -> float | None:
        rate = getattr(self.plan.assume, self.criterion.metric, None)
        return None if rate is None else as_float(rate)


def _every(protocol: Protocol) -> list[_Asked]:
    return [
        _Asked(protocol, name, plan, criterion)
        for name, plan in protocol.analyses.items()
        if isinstance(plan, GroupFairnessPlan)
        for criterion in plan.criteria
    ]


def infeasible(protocol: Protocol) -> tuple[Infeasible, ...]:
    """Return the criteria of `protocol` that pass, or fail, at no outcome at all, in the protocol's order."""
    found = ((asked, asked.attainable()) for asked in _every(protocol))
    return tuple(
        Infeasible(
            analysis=asked.analysis,
            criterion=asked.criterion.id,
            passes=reached.passes,
            fails=reached.fails,
        )
        for asked, reached in found
        if not all(reached)
    )


def _quiet(_label: str, _done: int, _total: int | None) -> None:
    """Show no progress."""


def requirements(protocol: Protocol, progress: Progress = _quiet) -> tuple[Need, ...]:
    """Return what every criterion of `protocol` asks of its groups, in the protocol's order."""
    every = _every(protocol)
    needs, total = [], STEPS * len(every)
    for place, asked in enumerate(every):
        needs.append(_need(asked, partial(_report, progress, STEPS * place, total)))
        progress(N_("simulating"), STEPS * (place + 1), total)
    return tuple(needs)


def _report(progress: Progress, before: int, total: int, step: int) -> None:
    progress(N_("simulating"), before + min(step, STEPS), total)


def _need(asked: _Asked, step: Callable[[int], None]) -> Need:
    judged, rate = asked.judged(), asked.rate()
    planned = asked.protocol.pools[asked.plan.pool].planned.get(asked.plan.table)
    prospect, needed = None, None
    if rate is not None and not judged.clustered and judged.estimable:
        part = label_share(asked.protocol, asked.plan, asked.criterion.metric)
        design = _Design(judged, rate, group_shares(asked.protocol, asked.plan, asked.criterion), step)
        if planned is not None and part is not None:
            prospect = design.power(planned * part)
        needed = design.needed(part)
    return Need(
        analysis=asked.analysis,
        criterion=asked.criterion.id,
        metric=asked.criterion.metric,
        groups=judged.groups,
        minimum=judged.minimum(),
        attainable=asked.attainable(),
        planned=planned,
        prospect=prospect,
        needed=needed,
    )


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
