"""Two protocols, field by field."""

import copy
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from lacre.errors import LacreError
from lacre.protocol.difference import ABSENT, Change, difference, render
from lacre.protocol.document import parse, protocol_hash, value_of

Spoil = Callable[[str, str, str], str]


def changes(before: str, after: str) -> tuple[Change, ...]:
    return difference(parse(before.encode()), parse(after.encode()))


def test_nothing_changed(loans: str, whole: str) -> None:
    assert changes(loans, loans) == ()
    assert changes(whole, "# a remark\r\n" + whole.replace("\n", "\r\n")) == ()
    assert render(()) == ""


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            "max_group_gap: 0.1}",
            "max_group_gap: 0.2}",
            [Change("analyses.gate.criteria.gap.max_group_gap", 0.1, 0.2)],
        ),
        (
            "max_group_gap: 0.1}",
            "worst_group: {max: 0.1}}",
            [
                Change("analyses.gate.criteria.gap.max_group_gap", 0.1, ABSENT),
                Change("analyses.gate.criteria.gap.worst_group.max", ABSENT, 0.1),
            ],
        ),
        (
            "max_group_gap: 0.1}",
            'max_group_gap: "1/10"}',
            [Change("analyses.gate.criteria.gap.max_group_gap", 0.1, "1/10")],
        ),
        ("values: [f, m]", "values: [f, m, x]", [Change("tables.cases.columns.sex.values.2", ABSENT, "x")]),
        (
            "values: [f, m]",
            "values: [m, f]",
            [
                Change("tables.cases.columns.sex.values.0", "f", "m"),
                Change("tables.cases.columns.sex.values.1", "m", "f"),
            ],
        ),
        (
            "is: input",
            "missing: x",
            [
                Change("tables.cases.columns.sex.is.0", "input", ABSENT),
                Change("tables.cases.columns.sex.missing.0", "", "x"),
            ],
        ),
        ("type: text", "type: digest", [Change("tables.cases.columns.id.type", "text", "digest")]),
        (
            "language: en",
            "language: en\nsystems: {a: {version: '1'}}",
            [Change("systems.a.version", ABSENT, "1")],
        ),
        ("language: en", "language: en\nvariants: {a: {}}", [Change("variants.a", ABSENT, {})]),
        (
            "language: en",
            "language: en\ndisclosure: {min_count: 5}",
            [Change("disclosure.min_count", ABSENT, 5)],
        ),
        ("    key: id", "    key: id\n    unit: id", [Change("tables.cases.unit", ABSENT, "id")]),
        ("study: loans", "study: loans-2", [Change("study", "loans", "loans-2")]),
    ],
)
def test_what_changed(loans: str, spoil: Spoil, old: str, new: str, expected: list[Change]) -> None:
    assert list(changes(loans, spoil(loans, old, new))) == expected


def test_it_is_the_same_both_ways(loans: str, whole: str) -> None:
    there, back = changes(loans, whole), changes(whole, loans)
    assert {(c.path, str(c.before), str(c.after)) for c in there} == {
        (c.path, str(c.after), str(c.before)) for c in back
    }


def test_criteria_are_matched_by_id(whole: str, spoil: Spoil) -> None:
    """A criterion put in front moves none of the others; the same in another order is one change."""
    floor = "      - {id: floor, metric: selection, by: stage, worst_group: {min: 0.01}}\n"
    without = spoil(whole, floor, "")
    assert {change.path.rsplit(".", 1)[0] for change in changes(without, whole)} == {
        "analyses.gate.criteria.floor",
        "analyses.gate.criteria.floor.by",
        "analyses.gate.criteria.floor.worst_group",
    }
    moved = spoil(without, "    criteria:\n", f"    criteria:\n{floor}")
    assert changes(whole, moved) == (
        Change("analyses.gate.criteria", ["gap", "floor", "roof"], ["floor", "gap", "roof"]),
    )


def _leaves(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    if isinstance(value, dict | list):
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _leaves(each, (*path, key))
    else:
        yield path


def test_it_is_empty_exactly_when_the_hash_is_the_same(whole: str) -> None:
    """Every leaf of the whole grammar taken out, wherever that leaves a protocol."""
    before = parse(whole.encode())
    plain = value_of(before)
    seen = 0
    for path in _leaves(plain):
        other = copy.deepcopy(plain)
        here: Any = other
        for step in path[:-1]:
            here = here[step]
        del here[path[-1]]
        try:
            after = parse(json.dumps(other).encode())
        except LacreError:
            continue
        found = difference(before, after)
        assert (found == ()) == (protocol_hash(before) == protocol_hash(after)), path
        seen += bool(found)
    assert seen > 10


def test_it_reads_as_lines(loans: str, spoil: Spoil) -> None:
    other = spoil(loans, "question: Equal errors?", 'question: "Crédito\\nnovo"')
    other = spoil(other, "max_group_gap: 0.1}", "worst_group: {max: 0.1}}")
    assert render(changes(loans, other)).split("\n") == [
        'question: "Equal errors?" -> "Crédito\\nnovo"',
        "analyses.gate.criteria.gap.max_group_gap: 0.1 -> (absent)",
        "analyses.gate.criteria.gap.worst_group.max: (absent) -> 0.1",
    ]
