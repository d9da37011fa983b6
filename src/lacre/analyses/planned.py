"""What a plan says of the data to come: how many cases a group can have, and how the cases are shared out.

The exact part of feasibility asks how much room there is; the simulation asks for shares.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import ceil, prod
from typing import NamedTuple

from lacre.protocol.grammar import exact
from lacre.protocol.kinds.group_fairness import Criterion, GroupFairnessPlan
from lacre.protocol.kinds.parts import stratum_values
from lacre.protocol.kinds.plan import AnalysisPlan
from lacre.protocol.models import Protocol

UNLIMITED = 10**18
"""More cases than any rule asks for; stands where a plan does not say how many there are."""

POSITIVE = {"false_positive": False, "false_negative": True}
"""Of the rates whose denominator is the cases of one label: whether that label is the positive one."""


@dataclass(frozen=True, slots=True)
class Margin:
    """Rows by one attribute: planned of each declared value, and `spare` ones of which no value is planned.

    A value that is `closed` gets none of them: a registered exclusion drops every row that has it.
    """

    own: tuple[int, ...]
    spare: int
    closed: frozenset[int] = frozenset()

    def most(self, place: int) -> int:
        """Return how many rows can be of one value."""
        return self.own[place] + (0 if place in self.closed else self.spare)


class Pair(NamedTuple):
    """Two groups: the most cases of the one, of the other, and of both together."""

    first: int
    second: int
    both: int


@dataclass(frozen=True, slots=True)
class Room:
    """The group sizes that a plan leaves open: `cases` in the denominator in all, and a margin per attribute.

    Groups are the crossings of the margins. Margins of one dimension, and a total, can be met together however
    the rest is filled in: where every margin has what some cells need of it, and the total what they need in
    all, those cells can have it at once, and the rows that remain are dealt to the margins that remain.
    """

    cases: int
    margins: tuple[Margin, ...]

    def holds(self, each: int, one: int) -> bool:
        """Tell whether every group can have `each` cases at once, but for some one of them, which has `one`.

        `one` is at most `each`. What the one group lacks is of most help where its margin is the shortest, in
        each attribute; so that is the group.
        """
        groups = prod(len(margin.own) for margin in self.margins)
        if (groups - 1) * each + one > self.cases:
            return False
        for margin in self.margins:
            needs = [each * (groups // len(margin.own))] * len(margin.own)
            needs[min(range(len(needs)), key=margin.own.__getitem__)] -= each - one
            lacks = [max(0, need - own) for need, own in zip(needs, margin.own, strict=True)]
            if sum(lacks) > margin.spare or any(lacks[place] for place in margin.closed):
                return False
        return True

    def largest(self) -> int:
        """Return the most cases that any one group can have."""
        tops = (max(map(margin.most, range(len(margin.own)))) for margin in self.margins)
        return min((self.cases, *tops))

    def two(self, first: Sequence[int], second: Sequence[int]) -> Pair:
        """Return the most cases of two groups, each by the place of its value in every margin."""
        caps = [_cap(margin, *places) for margin, *places in zip(self.margins, first, second, strict=True)]
        return Pair(*(min((self.cases, *each)) for each in zip(*caps, strict=True)))

    def pairs(self) -> Iterator[Pair]:
        """Give the pairs of groups that any other pair has at most as many cases as.

        In each attribute the two groups share its largest value or take its two largest ones, either way
        round; they differ in at least one attribute.
        """
        ways = [_ways(margin) for margin in self.margins]
        for chosen in sorted(set(product(*ways))):
            if any(differ for _, differ in chosen):
                caps = [cap for cap, _ in chosen]
                yield Pair(*(min(self.cases, *each) for each in zip(*caps, strict=True)))


def _cap(margin: Margin, first: int, second: int) -> Pair:
    """Return what one attribute leaves two groups of these values of it."""
    if first == second:
        return Pair(margin.most(first), margin.most(first), margin.most(first))
    both = margin.own[first] + margin.own[second] + margin.spare
    return Pair(margin.most(first), margin.most(second), both)


def _ways(margin: Margin) -> list[tuple[Pair, bool]]:
    """Return what one attribute leaves two groups that share a value of it, and two that differ in it."""
    first, *rest = sorted(range(len(margin.own)), key=margin.most, reverse=True)
    ways = [(_cap(margin, first, first), False)]
    if rest:
        pair = _cap(margin, first, rest[0])
        ways += [(pair, True), (Pair(pair.second, pair.first, pair.both), True)]
    return ways


def room(protocol: Protocol, plan: GroupFairnessPlan, criterion: Criterion) -> Room:
    """Return the sizes that the plan leaves open to a criterion's groups, in its rate's denominator.

    Rows are those planned for the table; where none are planned there is no limit. A composition fixes how many
    rows of each value there are, and those it does not speak of may be of any; it counts only where one table
    of the pool has the column, else it does not say of which table it speaks. The label's composition, or else
    the assumed share of positive labels, fixes how many cases a rate of one label has; otherwise all may be of
    that label. A value that `exclude` drops has no cases.
    """
    of = (plan.label, POSITIVE[criterion.metric]) if criterion.metric in POSITIVE else None
    found = room_of(protocol, plan, criterion.by, of)
    rows = protocol.pools[plan.pool].planned.get(plan.table)
    if of is None or plan.assume is None or plan.assume.label is None or rows is None:
        return found
    if _composition(protocol, plan, plan.label) and _values_of(protocol, plan, *of) is not None:
        return found
    share = exact(plan.assume.label)
    return Room(min(found.cases, ceil(rows * (share if of[1] else 1 - share))), found.margins)


def room_of(
    protocol: Protocol, plan: AnalysisPlan, by: Sequence[str] = (), of: tuple[str, bool] | None = None
) -> Room:
    """Return the sizes that the plan leaves open to the crossings of the strata `by`, as `room` says.

    Of a column `of` outcomes only the cases that are positive, or not, are in the denominator.
    """
    rows = protocol.pools[plan.pool].planned.get(plan.table)
    columns = protocol.tables[plan.table].columns
    margins = tuple(_margin(protocol, plan, name, stratum_values(columns[name]) or ()) for name in by)
    cases = UNLIMITED if rows is None else rows
    return Room(cases if of is None else min(cases, _of_outcome(protocol, plan, *of, cases)), margins)


def margin_of(protocol: Protocol, plan: AnalysisPlan, name: str) -> Margin:
    """Return how many rows the plan leaves open to each declared value of a column."""
    return _margin(protocol, plan, name, protocol.tables[plan.table].columns[name].named_values)


def _margin(protocol: Protocol, plan: AnalysisPlan, name: str, values: Sequence[str]) -> Margin:
    dropped = _dropped(protocol, plan, name)
    closed = frozenset(place for place, value in enumerate(values) if value in dropped)
    rows = protocol.pools[plan.pool].planned.get(plan.table)
    counts = _composition(protocol, plan, name)
    own = [0 if place in closed else counts.get(value, 0) for place, value in enumerate(values)]
    spare = UNLIMITED if rows is None else max(0, rows - sum(counts.values()))
    return Margin(tuple(own), spare, closed)


def _composition(protocol: Protocol, plan: AnalysisPlan, name: str) -> Mapping[str, int]:
    pool = protocol.pools[plan.pool]
    holders = [each for each in pool.tables if name in protocol.tables[each].columns]
    return pool.composition.get(name, {}) if holders == [plan.table] else {}


def _dropped(protocol: Protocol, plan: AnalysisPlan, name: str) -> frozenset[str]:
    # A row with such a value counts as excluded, and so in no group.
    conditions = protocol.tables[plan.table].exclude
    return frozenset(value for each in conditions if each.column == name for value in each.in_ or ())


def _values_of(protocol: Protocol, plan: AnalysisPlan, name: str, positive: bool) -> Sequence[str] | None:
    column = protocol.tables[plan.table].columns[name]
    assert column.type == "outcome"
    return column.positive if positive else column.negative


def _of_outcome(protocol: Protocol, plan: AnalysisPlan, name: str, positive: bool, rows: int) -> int:
    """Return the most rows that can have an outcome."""
    values = _values_of(protocol, plan, name, positive)
    if values is None:
        return rows
    margin = _margin(protocol, plan, name, values)
    if len(margin.closed) == len(values):
        return 0
    return sum(margin.own) + margin.spare if _composition(protocol, plan, name) else rows


def label_share(protocol: Protocol, plan: GroupFairnessPlan, metric: str) -> Fraction | None:
    """Return the share of the rows that is in a rate's denominator; None where the plan does not say.

    By the composition of the label, or else the assumed share of positive ones.
    """
    if metric not in POSITIVE:
        return Fraction(1)
    column = protocol.tables[plan.table].columns[plan.label]
    counts = protocol.pools[plan.pool].composition.get(plan.label, {})
    total = sum(counts.values())
    if column.type == "outcome" and column.positive is not None and total:
        share = Fraction(sum(counts.get(value, 0) for value in column.positive), total)
    elif plan.assume is not None and plan.assume.label is not None:
        share = exact(plan.assume.label)
    else:
        return None
    return share if POSITIVE[metric] else 1 - share


def group_shares(protocol: Protocol, plan: GroupFairnessPlan, criterion: Criterion) -> list[Fraction]:
    """Return each group's share of the cases, in the declared order: attributes are taken as independent."""
    shares = [_value_shares(protocol, plan, name) for name in criterion.by]
    return [prod(each, start=Fraction(1)) for each in product(*shares)]


def _value_shares(protocol: Protocol, plan: GroupFairnessPlan, name: str) -> list[Fraction]:
    """Return each value's share: as the composition says, what it leaves open in equal parts, else all alike."""
    pool = protocol.pools[plan.pool]
    values = protocol.tables[plan.table].columns[name].named_values
    dropped = _dropped(protocol, plan, name)
    counts = pool.composition.get(name, {})
    weights = [Fraction(0 if value in dropped else counts.get(value, 0)) for value in values]
    unsaid = [place for place, value in enumerate(values) if value not in counts and value not in dropped]
    spare = pool.planned.get(plan.table, 0) - sum(counts.values()) if sum(counts.values()) else len(values)
    for place in unsaid:
        weights[place] = Fraction(max(0, spare), len(unsaid))
    total = sum(weights)
    return [each / total for each in weights] if total else [Fraction(0)] * len(values)
