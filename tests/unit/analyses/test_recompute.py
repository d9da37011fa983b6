"""A result computed again from itself: what the engine gave always comes out, and what was changed never does."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest
from scipy.stats import beta
from tests.unit.analyses.stored import FIRST, evaluated

from lacre.analyses.recompute import recompute
from lacre.rules.answers import ReadDecision

if TYPE_CHECKING:
    from tests.unit.analyses.conftest import Gate

    MakeGate = Callable[..., Gate]

GAP = {"id": "gap", "metric": "error", "by": ["sex"], "max_group_gap": 0.2}
WORST = {"id": "worst", "metric": "false_negative", "by": ["age"], "worst_group": {"max": 0.3}}
FLOOR = {"id": "floor", "metric": "selection", "by": ["sex", "age"], "worst_group": {"min": 0.1}}
ATTRIBUTES = {"attributes": ["sex", "age"], "intersections": [["sex", "age"]]}


def rows(count: int = 240, **more: Any) -> list[dict[str, Any]]:
    return [
        {
            "sex": ("female", "male")[number % 2],
            "age": ("young", "middle", "old")[number % 3],
            "label": number // 2 % 2,
            "prediction": (number // 2 + (number % 11 == 0)) % 2,
            "score": number % 7 / 7,
            **{name: value(number) for name, value in more.items()},
        }
        for number in range(count)
    ]


def stored(gate: Gate, cases: list[dict[str, Any]], decision: ReadDecision = FIRST) -> dict[str, Any]:
    """The document that the ledger would keep, as it is read back."""
    return evaluated(gate.protocol, "parity", {"cases": gate.read(cases)}, decision)


DESIGNS: dict[str, tuple[dict[str, Any], dict[str, Any], ReadDecision]] = {
    "plain": ({}, {}, FIRST),
    "reversed": ({}, {"prediction": lambda number: 1 - number // 2 % 2}, FIRST),
    "blank": ({}, {"prediction": lambda number: "" if number % 7 == 0 else number // 2 % 2}, FIRST),
    "outside": ({}, {"sex": lambda number: "x" if number % 5 == 0 else "male"}, FIRST),
    "one group": ({}, {"sex": lambda _number: "male"}, FIRST),
    "no positives": ({}, {"label": lambda _number: 0, "prediction": lambda _number: 0}, FIRST),
    "small cells": ({"min_cell": 100}, {}, FIRST),
    "clusters": ({"table": {"cluster": ["site"]}}, {"site": lambda number: number % 40}, FIRST),
    "few clusters": ({"table": {"cluster": ["site"]}}, {"site": lambda number: number % 22}, FIRST),
    "uneven clusters, no errors": (
        {"table": {"cluster": ["site"]}},
        {"site": lambda number: max(0, number - 90), "prediction": lambda number: number // 2 % 2},
        FIRST,
    ),
    "crossed": ({"table": {"cluster": ["site", "person"]}}, {"site": lambda number: number % 40}, FIRST),
    "disclosure": (
        {"protocol": {"disclosure": {"min_count": 25}}},
        {"age": lambda number: "old" if number % 30 == 0 else ("young", "middle")[number // 4 % 2]},
        FIRST,
    ),
    "nothing shown": ({"protocol": {"disclosure": {"min_count": 1000}}}, {}, FIRST),
    "systems": ({"protocol": {"systems": {"a": {"version": "1"}, "b": {"version": "2"}}}}, {}, FIRST),
    "review": ({"requires_manual_review": True}, {}, FIRST),
    "changed engine": ({}, {}, FIRST.model_copy(update={"review": ("engine-changed",)})),
    "exploratory": (
        {},
        {},
        ReadDecision(read_class="dev", number=2, confirmatory=False, exploratory=("not-the-registered-pool",)),
    ),
    "calibration": ({"probability": "score", "calibration_bins": 4}, {}, FIRST),
    "other confidence": ({"confidence": 0.9}, {}, FIRST),
}  # fmt: skip


def small(gate: MakeGate, name: str) -> tuple[Gate, dict[str, Any]]:
    """A design with few groups, to try many changes on."""
    plan, more, decision = DESIGNS[name]
    one = gate(GAP, {**WORST, "by": ["sex"]}, attributes=["sex"], intersections=[], **plan)
    return one, stored(one, rows(**more), decision)


def made(gate: MakeGate, name: str) -> tuple[Gate, dict[str, Any]]:
    plan, more, decision = DESIGNS[name]
    one = gate(GAP, WORST, FLOOR, **ATTRIBUTES, **plan)
    return one, stored(one, rows(**more), decision)


@pytest.mark.parametrize("name", DESIGNS)
def test_what_the_engine_gave_comes_out_again(gate: MakeGate, name: str) -> None:
    one, document = made(gate, name)
    again = recompute(document, one.protocol)
    assert again.differences == ()
    told = document["analyses"][0]
    codes = [(each["note"] or {}).get("code") for each in told["estimates"]]
    withheld, empty = codes.count("withheld"), codes.count("no-cases")
    with_bounds = sum(each["low"] is not None for each in told["estimates"])
    systems = 2 if name == "systems" else 1
    assert len(told["estimates"]) == 4 * (1 + 2 + 3 + 6) * systems
    assert again.estimates == with_bounds + empty
    # Bounds over clusters, and rates without any, do not follow from the counts.
    clustered = "clusters" in name
    assert again.bounds == (0 if clustered else with_bounds)
    assert again.beyond == len(told["estimates"]) - withheld - empty - again.bounds
    if name == "disclosure":
        assert 0 < withheld < len(told["estimates"])
    if not withheld:
        assert (again.criteria, again.withheld) == (3 * systems, 0)
    else:
        assert again.criteria + again.withheld - withheld == 3


def test_the_bounds_are_those_of_the_literature(gate: MakeGate) -> None:
    """Clopper and Pearson by quantiles of the beta distribution, at 1 - 0.05/2 for two groups."""
    one, document = made(gate, "plain")
    estimate = next(each for each in document["analyses"][0]["estimates"] if each["group"] == {"sex": "male"})
    events, cases, alpha = estimate["numerator"], estimate["denominator"], 0.05 / 2
    low, high = (
        beta.ppf(alpha / 2, events, cases - events + 1),
        beta.ppf(1 - alpha / 2, events + 1, cases - events),
    )
    for name, value in (("low", low), ("high", high)):
        changed = copy.deepcopy(document)
        for each in changed["analyses"][0]["estimates"]:
            if each["group"] == {"sex": "male"} and each["metric"] == estimate["metric"]:
                each[name] = float(value)
        for criterion in changed["analyses"][0]["criteria"]:
            for line in criterion["groups"]:
                if line["group"] == {"sex": "male"} and criterion["metric"] == estimate["metric"]:
                    line[name] = float(value)
        assert recompute(changed, one.protocol).differences == ()


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, each in items:
            yield from leaves(each, (*path, key))
    else:
        yield path


def put(document: dict[str, Any], path: tuple[Any, ...], value: object) -> dict[str, Any]:
    changed = copy.deepcopy(document)
    place: Any = changed
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return changed


FREE = {"confirmatory", "rows", "notes", "left_out", "calibration", "note", "fields", "id", "sides", "state"}
"""What does not follow from counts; the states that may be called by are held against the read elsewhere."""


@pytest.mark.parametrize("name", ["plain", "blank", "no positives"])
def test_every_number_verdict_and_name_that_is_changed_is_found(gate: MakeGate, name: str) -> None:
    one, document = small(gate, name)
    tried = 0
    for path in leaves(document["analyses"], ("analyses",)):
        if FREE & {*path}:
            continue
        if path[-1] == "code" and "groups" in path:
            continue  # the words for a group's line
        value: Any = document
        for key in path:
            value = value[key]
        other: object = None
        if isinstance(value, int | float):
            other = value + 1
        elif value is None:
            other = "x" if path[-1] in {"system", "method"} else 0.5
        else:
            other = "FAIL" if value == "PASS" else "PASS"
        assert recompute(put(document, path, other), one.protocol).differences, (path, other)
        if isinstance(value, float):
            assert recompute(put(document, path, value * (1 + 1e-6)), one.protocol).differences, path
        tried += 1
    assert tried > 120


def test_estimates_and_criteria_left_out_or_doubled_are_found(gate: MakeGate) -> None:
    one, document = small(gate, "plain")
    for part in ("estimates", "criteria"):
        for place in range(len(document["analyses"][0][part])):
            for change in ("drop", "double"):
                changed = copy.deepcopy(document)
                items = changed["analyses"][0][part]
                if change == "drop":
                    del items[place]
                else:
                    items.append(items[place])
                assert recompute(changed, one.protocol).differences, (part, place, change)


def test_a_withheld_number_is_counted_and_cannot_hide_a_shown_one(gate: MakeGate) -> None:
    one, document = made(gate, "disclosure")
    shown = [
        ("analyses", 0, "estimates", place, "low")
        for place, each in enumerate(document["analyses"][0]["estimates"])
        if each["low"] is not None
    ]
    assert shown
    for path in shown:
        assert recompute(put(document, path, 0.9), one.protocol).differences, path


JUNK: tuple[object, ...] = (None, True, -1, 0, 2**53 - 1, 1e308, -1e-300, "x", "", [], {}, [1], {"a": 1})


def test_no_document_makes_it_fail(gate: MakeGate) -> None:
    one, document = small(gate, "plain")
    protocol = one.protocol
    places = list(leaves(document))
    parents = {path[:depth] for path in places for depth in range(1, len(path))}
    for number, path in enumerate([*places, *sorted(parents, key=str)]):
        for junk in JUNK[number % 3 :: 3]:
            recompute(put(document, path, junk), protocol)
    for junk in ({}, {"analyses": 1}, {"analyses": [1, None, {}, {"id": []}]}, {"analyses": {}, "review": 1}):
        recompute(junk, protocol)
    assert recompute({"analyses": [{"id": "nothing"}]}, protocol).differences
    assert json.dumps(document)
