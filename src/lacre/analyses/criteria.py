"""A criterion's verdict: review first, then evidence that cannot decide, then the bounds."""

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple, Protocol

import numpy as np

from lacre.analyses.estimate import group_name
from lacre.analyses.families import Family
from lacre.analyses.reasons import Reason
from lacre.analyses.verdict import Booleans, CriterionResult, Decision, LeftOut, Line, Rule, State, ceiling
from lacre.protocol.grammar import as_float, exact
from lacre.protocol.kinds.group_fairness import Criterion
from lacre.protocol.kinds.parts import WorstGroup
from lacre.stats.clusters import MIN_CLUSTERS
from lacre.stats.fairness import gap_between, gaps
from lacre.stats.proportions import Floats


class GroupCriterion(Protocol):
    """A criterion on groups: what is asked of each, or of two of them."""

    @property
    def id(self) -> str:
        """Its name."""

    @property
    def metric(self) -> str:
        """The rate it is on."""

    @property
    def by(self) -> Sequence[str] | None:
        """The columns whose values are the groups."""

    @property
    def max_left_out(self) -> Fraction | float:
        """The share of cases that may be left out."""

    @property
    def requires_manual_review(self) -> bool:
        """Whether a person decides."""


def rule_of(criterion: Criterion) -> Rule:
    """Return the rule that a group-fairness criterion registers."""
    if criterion.max_group_gap is not None:
        return Rule("max_group_gap", as_float(criterion.max_group_gap))
    assert criterion.worst_group is not None
    return worst_group_rule(criterion.worst_group)


def worst_group_rule(bound: WorstGroup) -> Rule:
    """Return the rule that every group keeps a bound."""
    if bound.max is not None:
        return Rule("worst_group_max", as_float(bound.max))
    assert bound.min is not None
    return Rule("worst_group_min", as_float(bound.min))


def decide(
    criterion: GroupCriterion,
    rule: Rule,
    family: Family,
    *,
    min_cell: int,
    rows: int,
    left_out: tuple[LeftOut, ...],
    system: str,
    review: Reason | None,
) -> CriterionResult:
    """Decide one criterion by `rule` on the counts of its family.

    `left_out` are cases of the `rows` that are none of this criterion's, each under its first reason; `review` is a
    reason that the whole analysis has.
    """
    judged = _Judged(rule, criterion, min_cell, family)
    if review is None and criterion.requires_manual_review:
        review = Reason("review-registered")
    if review is not None:
        state, reason = State.MANUAL_REVIEW, review
    else:
        state, reason = judged.obstacle(left_out, rows) or judged.verdict()
    worst = judged.worst
    return CriterionResult(
        id=criterion.id,
        metric=criterion.metric,
        system=system,
        by=tuple(criterion.by or ()),
        form=judged.rule.form,
        threshold=judged.rule.limit,
        state=state,
        reason=reason,
        value=None if worst is None else worst.value,
        low=None if worst is None else worst.low,
        high=None if worst is None else worst.high,
        lines=judged.lines(),
        left_out=left_out,
        rests_on=frozenset() if worst is None else worst.rests_on,
    )


def too_many_left_out(left_out: Sequence[LeftOut], rows: int, limit: Fraction | float) -> Reason | None:
    """Return the reason why so many cases are left out that nothing can be decided, if they are."""
    out = sum(each.count for each in left_out)
    if not rows or Fraction(out, rows) <= exact(limit):
        return None
    return Reason("too-many-left-out", {"count": out, "rows": rows, "limit": as_float(limit)})


class _Worst(NamedTuple):
    """The largest gap or the worst rate: its value and bounds, who shows the rule broken, all it rests on."""

    value: float
    low: float
    high: float
    culprits: tuple[int, ...]
    rests_on: frozenset[int]


class _Judged:
    """One rule on one rate of one family; the arrays run over the K declared groups."""

    def __init__(self, rule: Rule, criterion: GroupCriterion, min_cell: int, family: Family) -> None:
        self.rule = rule
        self.metric = criterion.metric
        self.limit = criterion.max_left_out
        self.min_cell = min_cell
        self.family = family
        self.counts = family.counts[self.metric]
        self.low, self.high = family.bounds[self.metric]
        self.usable: Booleans = np.isfinite(self.low) & (self.counts.predicted >= self.min_cell)
        self.value: Floats = family.value(self.metric)
        self.worst = self._worst_gap() if rule.form == "max_group_gap" else self._worst_group()

    def _worst_gap(self) -> _Worst | None:
        places = np.flatnonzero(self.usable)
        if len(places) < 2:
            return None
        low, high, value = self.low[places], self.high[places], self.value[places]
        each = gaps(low, high)
        pairs = [(int(value.argmax()), int(value.argmin()))]
        for bound, end in ((each.low, 0), (each.high, 1)):
            one = int(bound.argmax())
            to_others = gap_between(low[one], high[one], low, high)[end]
            to_others[one] = -1.0
            pairs.append((one, int(to_others.argmax())))
        return _Worst(
            value=float(value.max() - value.min()),
            low=float(each.low.max()),
            high=float(each.high.max()),
            culprits=tuple(sorted(int(places[one]) for one in pairs[1])),
            rests_on=frozenset(int(places[one]) for pair in pairs for one in pair),
        )

    def _worst_group(self) -> _Worst | None:
        places = np.flatnonzero(self.usable)
        if len(places) == 0:
            return None
        highest = self.rule.form == "worst_group_max"
        at = [
            int(places[array[places].argmax() if highest else array[places].argmin()])
            for array in (self.value, self.low, self.high)
        ]
        return _Worst(
            value=float(self.value[at[0]]),
            low=float(self.low[at[1]]),
            high=float(self.high[at[2]]),
            culprits=(at[1] if highest else at[2],),
            rests_on=frozenset(at),
        )

    def obstacle(self, left_out: tuple[LeftOut, ...], rows: int) -> tuple[State, Reason] | None:
        """Return why the evidence cannot decide at all, None where it may."""
        reason = too_many_left_out(left_out, rows, self.limit)
        if reason is not None:
            pass
        elif not self.counts.cases.any():
            reason = Reason("no-cases")
        elif self.family.obstacle is not None:
            reason = Reason(self.family.obstacle, self.family.obstacle_fields)
        elif not self.usable.any():
            reason = self._blocked()
        elif self.worst is None:
            reason = Reason("nothing-to-compare")
        return None if reason is None else (State.INSUFFICIENT_EVIDENCE, reason)

    def verdict(self) -> tuple[State, Reason]:
        """Decide by the bounds, of which there are enough."""
        assert self.worst is not None
        state = self.rule.decide(self.low, self.high, self.usable).state()
        bounds = {"low": self.worst.low, "high": self.worst.high, "threshold": self.rule.limit}
        names = [group_name(self.family.groups[place]) for place in self.worst.culprits]
        gap = self.rule.form == "max_group_gap"
        what = "gap" if gap else "ceiling" if self.rule.form == "worst_group_max" else "floor"
        if state is State.PASS:
            return state, Reason(f"{what}-kept", bounds)
        if state is State.FAIL:
            whose = {"first": names[0], "second": names[1]} if gap else {"group": names[0]}
            return state, Reason(f"{what}-broken", {**bounds, **whose})
        usable = np.ones(int(self.usable.sum()), np.bool_)
        if self.rule.decide(self.low[self.usable], self.high[self.usable], usable).passes:
            return state, self._blocked()
        return state, Reason("undecided", bounds)

    def _blocked(self) -> Reason:
        groups = len(self.usable)
        return Reason("groups-not-decided", {"count": groups - int(self.usable.sum()), "groups": groups})

    def lines(self) -> tuple[Line, ...]:
        """Return a line for each declared group, judged alone or against every other group."""
        decision = Decision(np.zeros(len(self.usable), np.bool_), np.zeros(len(self.usable), np.bool_))
        if self.rule.form != "max_group_gap":
            decision = self.rule.each(self.low, self.high)
        elif self.worst is not None:
            each = ceiling(*gaps(self.low[self.usable], self.high[self.usable]), self.rule.limit)
            decision.passes[self.usable], decision.fails[self.usable] = each
        return tuple(self._line(index, decision) for index in range(len(self.usable)))

    def _line(self, index: int, decision: Decision) -> Line:
        events, missing, cases = (int(counts[index]) for counts in self.counts)
        absent = self.family.not_estimable(self.metric, index)
        state, reason = State.INSUFFICIENT_EVIDENCE, Reason("nothing-to-compare")
        if absent is not None:
            fields = self.family.obstacle_fields if absent == self.family.obstacle else {}
            reason = Reason(absent, {"least": MIN_CLUSTERS} if absent == "too-few-clusters" else fields)
        elif not self.usable[index]:
            reason = Reason("below-min-cell", {"cases": cases - missing, "min_cell": self.min_cell})
        elif self.worst is not None:
            state = decision.state(index)
            code = {State.PASS: "within", State.FAIL: "beyond"}.get(state, "open")
            reason = Reason(code, {"threshold": self.rule.limit})
        known = absent is None
        return Line(
            group=self.family.groups[index],
            state=state,
            reason=reason,
            numerator=events if known else None,
            denominator=cases,
            missing=missing if known else None,
            value=float(self.value[index]) if known else None,
            low=float(self.low[index]) if known else None,
            high=float(self.high[index]) if known else None,
        )
