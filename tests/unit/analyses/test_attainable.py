"""Whether a rule can pass or fail at all, against every outcome there is of a few cases."""

import json
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import stats

from lacre.analyses.attainable import Attainable, Judged
from lacre.analyses.feasibility import infeasible, requirements
from lacre.analyses.planned import UNLIMITED, Margin, Pair, Room
from lacre.analyses.verdict import Rule, State
from lacre.protocol.document import parse
from lacre.protocol.models import Protocol
from lacre.rules.answers import Infeasible
from lacre.tables.columns import TypedTable

Make = Callable[..., Any]
FORMS = ("max_group_gap", "worst_group_max", "worst_group_min")


def bounds(cases: int, error: float) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Give Clopper and Pearson's bounds of 0 to `cases` events, by their definition as beta quantiles."""
    events = np.arange(cases + 1)
    low = np.where(events == 0, 0.0, stats.beta.ppf(error / 2, np.maximum(events, 1), cases - events + 1))
    high = np.where(
        events == cases, 1.0, stats.beta.isf(error / 2, events + 1, np.maximum(cases - events, 1))
    )
    return low, high


def verdicts(form: str, limit: float, error: float, min_cell: int, sizes: Sequence[int]) -> set[str]:
    """Return every verdict that any events of groups of these sizes come to, by the definition of the rules."""
    found = set()
    each = [list(zip(*bounds(n, error), strict=True)) if n >= min_cell else [None] for n in sizes]
    for outcome in product(*each):
        usable = [one for one in outcome if one is not None]
        whole = len(usable) == len(outcome)
        if form == "max_group_gap":
            pairs = [(g, h) for i, g in enumerate(usable) for j, h in enumerate(usable) if i != j]
            passes = whole and all(g[1] - h[0] <= limit for g, h in pairs)
            fails = any(g[0] - h[1] > limit for g, h in pairs)
        elif form == "worst_group_max":
            passes = whole and all(one[1] <= limit for one in usable)
            fails = any(one[0] > limit for one in usable)
        else:
            passes = whole and all(one[0] >= limit for one in usable)
            fails = any(one[1] < limit for one in usable)
        found |= {"PASS"} if passes else {"FAIL"} if fails else set()
    return found


def divided(cases: int, groups: int, most: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Give the group sizes that add up to `cases` at most."""
    for sizes in product(*(range(one + 1) for one in most[: groups - 1])):
        left = cases - sum(sizes)
        if left >= 0:
            yield (*sizes, min(left, most[groups - 1]))


@pytest.mark.parametrize(
    ("form", "groups", "most"),
    [
        *((form, groups, most) for form in FORMS for groups, most in ((2, 16), (3, 10))),
        *((form, 1, 14) for form in FORMS[1:]),
    ],
)
@pytest.mark.parametrize("min_cell", [1, 3])
def test_every_outcome_of_groups_of_any_size(form: str, groups: int, most: int, min_cell: int) -> None:
    """With the sizes left open, what is said to be out of reach is exactly what no outcome comes to."""
    for limit, alpha, cases in product(
        (0.0, 0.2, 0.35, 0.5, 0.8, 0.95, 1.0), (0.5, 0.3), range(1, most + 1, 3)
    ):
        seen: set[str] = set()
        for sizes in divided(cases, groups, [cases] * groups):
            seen |= verdicts(form, limit, alpha / groups, min_cell, sizes)
        room = Room(cases, (Margin((0,) * groups, cases),))
        found = Judged(Rule(form, limit), groups, alpha, min_cell).within(room)  # type: ignore[arg-type]
        assert found == ("PASS" in seen, "FAIL" in seen), (form, groups, limit, alpha, cases)


@pytest.mark.parametrize("form", FORMS)
def test_every_outcome_of_groups_of_fixed_size(form: str) -> None:
    """With fixed sizes, what is said to be out of reach is never reached; only of a gap may too little be said."""
    differing = 0
    for limit, alpha, min_cell in product((0.1, 0.3, 0.5, 0.8), (0.5, 0.2), (1, 4)):
        for sizes in [(3, 3), (2, 12), (5, 30), (12, 4), (9, 9), (4, 4, 12), (7, 7, 7), (0, 9), (6, 16)]:
            seen = set(verdicts(form, limit, alpha / len(sizes), min_cell, sizes))
            room = Room(sum(sizes), (Margin(sizes, 0),))
            found = Judged(Rule(form, limit), len(sizes), alpha, min_cell).within(room)  # type: ignore[arg-type]
            assert found.fails == ("FAIL" in seen), (form, limit, alpha, min_cell, sizes)
            assert found.passes >= ("PASS" in seen), (form, limit, alpha, min_cell, sizes)
            differing += found.passes != ("PASS" in seen)
    assert differing <= (8 if form == "max_group_gap" else 0)


def test_a_small_group_may_pass_a_gap_beside_a_large_one() -> None:
    """60 and 1,000 cases, a gap of .05: 0/60 has u = .0704, and 34/1000 lies within .0204 and .05.

    Of 60 and 100 no outcome passes: half of both widths together is above .05 already where no events are.
    """
    error = 0.025
    high = bounds(60, error)[1][0]
    low_other, high_other = (ends[34] for ends in bounds(1000, error))
    assert high - low_other <= 0.05
    assert high_other <= 0.05
    gate = Judged(Rule("max_group_gap", 0.05), 2, 0.05, 30)
    assert gate.minimum().to_pass == 86
    assert gate.within(Room(1060, (Margin((1000, 60), 0),))).passes
    assert not gate.within(Room(160, (Margin((100, 60), 0),))).passes
    # As a total 172 is needed, whatever the groups; 171 leave one of them with 85, and none that makes up for it.
    assert gate.within(Room(172, (Margin((0, 0), 172),))).passes
    assert not gate.within(Room(171, (Margin((0, 0), 171),))).passes


@pytest.mark.parametrize("error", [0.25, 0.1, 0.025, 0.05 / 6, 1e-4, 1e-8])
def test_the_narrowest_intervals(error: float) -> None:
    """No interval is narrower than that of no events; of 1 to n - 1 events, than that of one; both fall with n."""
    last = (2.0, 2.0)
    for cases in (*range(2, 80), 200, 1000, 4000):
        low, high = bounds(cases, error)
        width = high - low
        assert width.min() >= width[0] - 1e-12
        assert width[1:-1].min() >= width[1] - 1e-12
        assert (width[0], width[1]) < last
        last = (width[0], width[1])


def test_without_limit_only_the_ends_are_out_of_reach() -> None:
    """A bound at which nothing can be above, or below; any other is reached by enough cases."""
    free = Room(UNLIMITED, (Margin((0, 0), UNLIMITED),))
    expected = {0.0: (False, True), 1e-12: (True, True), 0.5: (True, True), 1.0: (True, False)}
    for form in FORMS:
        for limit, reached in expected.items():
            other = reached[::-1] if form == "worst_group_min" else reached
            assert Judged(Rule(form, limit), 2, 0.05, 30).within(free) == other, (form, limit)  # type: ignore[arg-type]


def test_clusters_ask_for_twenty_of_them() -> None:
    """A case may be a cluster of its own, and fewer than 20 clusters give no interval."""
    rule = Rule("worst_group_max", 0.9)
    assert Judged(rule, 1, 0.05, 1).minimum().to_pass == 2  # .025^(1/2) = .158
    clustered = Judged(rule, 1, 0.05, 1, clustered=True)
    assert clustered.minimum().to_pass == 20
    assert not clustered.within(Room(19, (Margin((0,), 19),))).passes
    assert clustered.within(Room(20, (Margin((0,), 20),))) == (
        True,
        False,
    )  # .025^(1/20) = .83 is not above .9


def test_nothing_estimable_has_no_verdict() -> None:
    gate = Judged(Rule("worst_group_max", 0.5), 1, 0.05, 1, estimable=False)
    assert gate.within(Room(UNLIMITED, (Margin((0,), UNLIMITED),))) == Attainable(passes=False, fails=False)
    assert (gate.minimum().to_pass, gate.minimum().to_fail) == (None, None)


def test_large_plans_are_judged_at_once() -> None:
    """A gap of a millionth asks for log(.0125) / log(1 - 1e-6) = 4.4 million cases of each of two groups."""
    gate = Judged(Rule("max_group_gap", 1e-6), 2, 0.05, 30)
    assert not gate.within(Room(8_000_000, (Margin((0, 0), 8_000_000),))).passes
    assert gate.within(Room(9_000_000, (Margin((0, 0), 9_000_000),))).passes
    assert gate.within(Room(10**15, (Margin((5 * 10**14, 5 * 10**14), 0),))) == (True, True)


# --- room --------------------------------------------------------------------------------------------------


def test_room_for_every_cell_of_crossed_margins() -> None:
    """2 x 3 cells of 10: 30 rows of each of two values and 20 of each of three, against every table there is."""
    assert Room(60, (Margin((30, 30), 0), Margin((20, 20, 20), 0))).holds(10, 10)
    assert not Room(60, (Margin((29, 31), 0), Margin((20, 20, 20), 0))).holds(10, 10)
    assert Room(60, (Margin((29, 30), 1), Margin((20, 20, 20), 0))).holds(10, 10)
    assert not Room(59, (Margin((30, 30), 0), Margin((20, 20, 20), 0))).holds(10, 10)
    assert Room(60, (Margin((29, 31), 0), Margin((19, 21, 20), 0))).holds(10, 9)
    assert not Room(60, (Margin((30, 30), 0, frozenset({0})), Margin((20, 20, 20), 0))).holds(31, 31)
    closed = Room(60, (Margin((0, 30), 30, frozenset({0})),))
    assert (closed.holds(1, 1), closed.largest()) == (False, 60)


@pytest.mark.parametrize(
    "margins", [((2, 4), (3, 3)), ((1, 5), (2, 4)), ((3, 3), (1, 1, 4)), ((0, 6), (2, 2, 2))]
)
def test_room_against_every_table_with_the_margins(margins: tuple[tuple[int, ...], ...]) -> None:
    rows, columns = margins
    tables = [
        table
        for cells in product(range(7), repeat=len(rows) * len(columns))
        if sum(cells) == 6
        for table in [np.array(cells).reshape(len(rows), len(columns))]
        if tuple(table.sum(axis=1)) == rows and tuple(table.sum(axis=0)) == columns
    ]
    room = Room(6, (Margin(rows, 0), Margin(columns, 0)))
    assert room.largest() == max(table.max() for table in tables)
    for each, one in ((1, 1), (1, 0), (2, 1), (2, 0)):
        possible = any((table < each).sum() <= 1 and table.min() >= one for table in tables)
        assert room.holds(each, one) == possible, (each, one)
    reached = {
        (int(a), int(b))
        for table in tables
        for i, a in enumerate(table.flat)
        for j, b in enumerate(table.flat)
        if i != j
    }
    for first, second in product(range(1, 7), repeat=2):
        held = any(first <= p.first and second <= p.second and first + second <= p.both for p in room.pairs())
        assert held == any(first <= a and second <= b for a, b in reached), (first, second)


def test_pairs_of_a_single_attribute() -> None:
    assert set(Room(100, (Margin((50, 10, 20), 5),)).pairs()) == {Pair(55, 25, 75), Pair(25, 55, 75)}
    assert list(Room(100, (Margin((50,), 0),)).pairs()) == []


# --- protocols ---------------------------------------------------------------------------------------------


def declare(gate: Make, rule: Any, *, rows: int | None, composition: Any = None, **more: Any) -> Any:
    """Make a gate with a pool of so many planned rows and such a composition."""
    pool: dict[str, Any] = {"tables": ["cases"]}
    if rows is not None:
        pool["planned"] = {"cases": rows}
    if composition:
        pool["composition"] = composition
    return gate(rule, protocol={"pools": {"teste": pool}}, **more)


def every_table(typed: Make, cases: int, others: int, events: str) -> Iterator[TypedTable]:
    """Give every table of `cases` positive ones in two groups and `others` negative ones that are right.

    An event is a miss (`missed`), or a case that is selected and of the label it was given (`selected`).
    """
    for women in range(cases + 1):
        sex = [0] * women + [1] * (cases - women) + [0] * others
        for here, there in product(range(women + 1), range(cases - women + 1)):
            hit = np.array([1] * here + [0] * (women - here) + [1] * there + [0] * (cases - women - there))
            label = hit if events == "selected" else np.ones(cases, int)
            prediction = hit if events == "selected" else 1 - hit
            tail = np.zeros(others, int)
            yield typed(sex=sex, label=np.append(label, tail), prediction=np.append(prediction, tail))


@pytest.mark.parametrize(
    "rule",
    [
        {"max_group_gap": 0.5}, {"max_group_gap": 0.3}, {"max_group_gap": 0.0}, {"max_group_gap": 0.7},
        {"worst_group": {"max": 0.4}}, {"worst_group": {"max": 0.7}}, {"worst_group": {"min": 0.65}},
        {"worst_group": {"min": 0.1}}, {"worst_group": {"max": 1}},
    ],
)  # fmt: skip
@pytest.mark.parametrize(("metric", "events"), [("false_negative", "missed"), ("selection", "selected")])
@pytest.mark.parametrize("cases", [3, 6, 8])
def test_every_table_through_the_engine(
    gate: Make, typed: Make, rule: Any, metric: str, events: str, cases: int
) -> None:
    """No table of the planned rows comes to a verdict that is out of reach, and some comes to every other.

    Of the misses as many negative cases are planned, which are right, so that no review is triggered.
    """
    others = cases if events == "missed" else 0
    composition = {"label": {"1": cases, "0": others}} if others else None
    made = declare(
        gate, {"id": "rule", "metric": metric, "by": "sex", **rule}, rows=cases + others, composition=composition,
        confidence=0.5, attributes=["sex"], intersections=[], min_cell=2,
    )  # fmt: skip
    states = {made.run(table).criteria[0].state for table in every_table(typed, cases, others, events)}
    assert State.MANUAL_REVIEW not in states
    (need,) = requirements(made.protocol)
    assert need.attainable == (State.PASS in states, State.FAIL in states)
    expected = [] if all(need.attainable) else [("parity", "rule", *need.attainable)]
    assert [(e.analysis, e.criterion, e.passes, e.fails) for e in infeasible(made.protocol)] == expected


GAP = {"id": "gap", "metric": "false_negative", "by": "sex", "max_group_gap": 0.05}


def reached(made: Any) -> tuple[bool, bool]:
    (need,) = requirements(made.protocol)
    return need.attainable.passes, need.attainable.fails


def test_rows_of_one_label(gate: Make) -> None:
    """86 positive cases of each of two groups: 172 rows that may all be positive, and 344 of which half are."""
    assert reached(declare(gate, GAP, rows=172)) == (True, True)
    assert reached(declare(gate, GAP, rows=171)) == (False, True)
    half = {"assume": {"label": 0.5}}
    assert reached(declare(gate, GAP, rows=343, **half)) == (True, True)  # 171.5, rounded in its favour
    assert reached(declare(gate, GAP, rows=342, **half)) == (False, True)
    # What the composition says of the label goes before what is assumed.
    counted = {"composition": {"label": {"1": 172, "0": 28}}}
    assert reached(declare(gate, GAP, rows=200, **counted, **half)) == (True, True)
    few = {"composition": {"label": {"1": 171, "0": 29}}}
    assert reached(declare(gate, GAP, rows=200, **few)) == (False, True)
    other = {**GAP, "metric": "false_positive"}
    # 28 do not make a group of 30.
    assert reached(declare(gate, other, rows=200, min_cell=30, **counted)) == (False, False)
    assert reached(declare(gate, other, rows=None, **half)) == (True, True)


def test_rows_of_each_group(gate: Make) -> None:
    """The composition counts; what it leaves out may be anything."""

    def sexes(women: int, men: int) -> dict[str, Any]:
        return {"composition": {"sex": {"female": women, "male": men}}}

    error = {**GAP, "metric": "error", "max_group_gap": 0.05}
    assert reached(declare(gate, error, rows=1000, **sexes(914, 86))) == (True, True)
    assert reached(declare(gate, error, rows=1000, **sexes(971, 29), min_cell=30)) == (False, False)
    assert reached(declare(gate, error, rows=1000, **sexes(900, 29), min_cell=30)) == (True, True)
    crossed = {"id": "c", "metric": "error", "by": ["sex", "age"], "worst_group": {"max": 0.1}}
    # 1 - (.05 / 12)^(1/n) <= .1 from n = 53 on; three ages of each sex.
    assert reached(declare(gate, crossed, rows=2000, **sexes(1841, 159))) == (True, True)
    assert reached(declare(gate, crossed, rows=2000, **sexes(1842, 158))) == (False, True)


def test_a_group_that_is_excluded(gate: Make) -> None:
    """A declared value whose rows are all dropped has no cases, so that no rule over the groups can pass."""
    table = {"exclude": [{"column": "sex", "in": ["male"]}]}
    assert reached(declare(gate, GAP, rows=None, table=table)) == (False, False)
    ceiling = {"id": "c", "metric": "error", "by": "sex", "worst_group": {"max": 0.5}}
    assert reached(declare(gate, ceiling, rows=None, table=table)) == (False, True)
    label = {"exclude": [{"column": "label", "in": ["1"]}]}
    assert reached(declare(gate, GAP, rows=None, table=label)) == (False, False)
    assert reached(declare(gate, ceiling, rows=None, table=label)) == (True, True)
    text = {"exclude": [{"column": "site", "in": ["male"]}]}
    assert reached(declare(gate, GAP, rows=None, table=text)) == (True, True)


def test_a_design_without_intervals(gate: Make) -> None:
    weight = {"w": {"type": "number", "is": "weight"}}
    assert reached(declare(gate, GAP, rows=9000, columns=weight)) == (False, False)
    assert reached(declare(gate, GAP, rows=9000, table={"cluster": ["site", "person"]})) == (False, False)
    assert reached(declare(gate, GAP, rows=9000, table={"cluster": ["site"]})) == (True, True)


def test_a_composition_that_two_tables_share_binds_neither(gate: Make) -> None:
    """It does not say of which it speaks."""
    protocol = declare(
        gate, {**GAP, "metric": "error"}, rows=1000, composition={"sex": {"female": 990, "male": 10}}
    ).protocol
    assert [each.criterion for each in infeasible(protocol)] == ["gap"]
    document = json.loads(protocol.model_dump_json(by_alias=True, exclude_none=True))
    document["tables"]["more"] = document["tables"]["cases"]
    document["pools"]["teste"]["tables"] = ["cases", "more"]
    assert infeasible(parse(json.dumps(document).encode())) == ()


def test_reviews_are_left_aside(gate: Make) -> None:
    """A rule that a person is to look at is not out of reach for that."""
    assert reached(declare(gate, {**GAP, "requires_manual_review": True}, rows=172)) == (True, True)


def test_what_is_recorded(gate: Make) -> None:
    """As facts of an entry have it, in the protocol's order."""
    rules = [GAP, {**GAP, "id": "never", "max_group_gap": 0}, {**GAP, "id": "always", "max_group_gap": 1}]
    protocol: Protocol = gate(*rules).protocol
    assert infeasible(protocol) == (
        Infeasible(analysis="parity", criterion="never", passes=False, fails=True),
        Infeasible(analysis="parity", criterion="always", passes=True, fails=False),
    )
