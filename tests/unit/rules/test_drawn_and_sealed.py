"""Facts of draws, seals, calibrations and second labels that no honest broker can have found, and those it can."""

from collections.abc import Mapping
from typing import Any

import pytest
from tests import four_pools
from tests.unit.rules.asking import DRAWN, calibrate, changed, faces, look, relabel, reveal
from tests.unit.rules.conftest import World as Law

from lacre.errors import (
    CasesNotDrawn,
    DrawFirst,
    DrawImpossible,
    DrawnOtherwise,
    LacreError,
    RecordInvalid,
    RelabelsImpossible,
    SealedNotAsDrawn,
    ThresholdImpossible,
)
from lacre.protocol.difference import Change
from lacre.rules.deviations import departures
from lacre.rules.drawing import absent_of, draws_told

__all__ = ["faces"]  # a fixture
World = Any
ONE, TWO = "1" * 64, "2" * 64
SEED = ("sizes: {high: 60, low: 60}, seed: 7", "sizes: {high: 60, low: 60}, seed: 8")


def registered() -> World:
    made = Law(study="faces")
    made.register(made.put(four_pools.PLAN))
    return made


def draw(world: World, cases: str = ONE, **more: Any) -> int:
    """Draw as registered, with the cases on record; the entry."""
    world.sample(DRAWN, pool="teste", cases=cases, **more)
    return int(world.index - 1)


def seal(world: World, rows: int = 120, **held: Any) -> Any:
    """Seal `teste`, of whose draw so much was found."""
    return world.seal("teste", rows, tables=("faces",), draws=({"draw": "faces", **held},))


# --- the cases drawn, and those sealed


def test_rule_14_drawn_cases_without_a_label_are_nonresponse_and_are_counted() -> None:
    world = registered()
    entry = draw(world)
    assert seal(world, 118, entry=entry, undrawn=0, absent=2).standing == "teste"
    study = world.state.study
    assert absent_of(study, study.in_force.protocol, "faces") == 2
    (departure,) = departures(world.history, world.protocols.__getitem__)
    assert (departure.kind, departure.pool) == ("nonresponse", "teste")
    assert departure.changes == (Change("teste.faces", 120, 118),)


@pytest.mark.parametrize(
    ("rows", "held", "refusal"),
    [
        (120, {"undrawn": 1, "absent": 1}, CasesNotDrawn),
        (121, {"undrawn": 1, "absent": 0}, CasesNotDrawn),
        (120, {"undrawn": 0, "absent": 0, "chances": 3}, SealedNotAsDrawn),
        (118, {"undrawn": 0, "absent": 1}, DrawImpossible),  # 120 were drawn
        (120, {"undrawn": 0, "absent": 2}, DrawImpossible),
        (120, {"undrawn": 0}, DrawImpossible),
        (120, {"absent": 0}, DrawImpossible),
        (120, {"undrawn": 0, "absent": 0, "entry": 1}, DrawImpossible),  # the registration
        (120, {"undrawn": 0, "absent": 0, "entry": None}, DrawImpossible),
        (120, {"draw": "pairs"}, RecordInvalid),
    ],
)
def test_rule_14_what_is_sealed_is_what_was_drawn(
    rows: int, held: dict[str, Any], refusal: type[LacreError]
) -> None:
    world = registered()
    entry = draw(world)
    with pytest.raises(refusal):
        seal(world, rows, **{"entry": entry, **held})
    assert seal(world, entry=entry, undrawn=0, absent=0)


def test_rule_14_a_seal_says_nothing_of_draws_only_where_none_tells_its_cases() -> None:
    """As in ledgers from before it was asked: their draws tell none, and the seals stand."""
    world = registered()
    world.sample(DRAWN)
    world.seal("teste", tables=("faces",))
    world = registered()
    draw(world)
    for draws in ({}, {"draws": ()}):
        with pytest.raises((DrawImpossible, RecordInvalid)):
            world.seal("teste", 120, tables=("faces",), **draws)


def test_rule_14_a_draw_that_tells_no_cases_was_compared_with_none() -> None:
    world = registered()
    world.sample(DRAWN)
    with pytest.raises(DrawImpossible):
        seal(world, undrawn=0, absent=0, entry=world.index - 1)
    assert seal(world)


def test_rule_14_a_seal_that_tells_of_draws_waits_for_them() -> None:
    world = registered()
    with pytest.raises(DrawFirst):
        seal(world)


@pytest.mark.parametrize(
    ("found", "refusal"),
    [({"undrawn": 1, "absent": 1}, CasesNotDrawn), ({"undrawn": 0, "absent": 1}, DrawImpossible)],
)
def test_rule_14_a_read_finds_the_cases_that_the_seal_told_of(
    faces: World, found: dict[str, int], refusal: type[LacreError]
) -> None:
    """Whoever reads holds the fingerprints against each other again, and need not be who sealed."""
    world = registered()
    entry = draw(world)
    world.seal("dev", tables=("faces", "pairs"))
    seal(world, entry=entry, undrawn=0, absent=0)
    world.given = faces.given
    calibrate(world)
    relabel(world)
    with pytest.raises(refusal):
        reveal(world, draws=({"draw": "faces", "entry": entry, **found},))
    assert reveal(world, draws=({"draw": "faces", "entry": entry, "undrawn": 0, "absent": 0},)).confirmatory


@pytest.mark.parametrize(
    "change",
    [
        (
            "    key: face_id\n    columns:",
            "    key: face_id\n    id_namespace: faces.example.org\n    columns:",
        ),
        ("    key: face_id\n    columns:", "    key: [face_id, picture]\n    columns:"),
    ],
)
def test_rule_14_cases_are_called_what_they_were_drawn_by(change: tuple[str, str]) -> None:
    world = registered()
    entry = draw(world)
    world.amend(changed(world, change))
    with pytest.raises(DrawnOtherwise):
        seal(world, entry=entry, undrawn=0, absent=0)
    again = draw(world, TWO)  # the same cases under other names
    assert seal(world, entry=again, undrawn=0, absent=0)


@pytest.mark.parametrize(
    "more",
    [
        {"population": 59},
        {"pool": "dev", "cases": ONE},
        {"cases": ONE},
        {"pool": "teste"},
    ],
)
def test_rule_14_a_draw_is_one_that_can_be_made(more: dict[str, Any]) -> None:
    with pytest.raises(DrawImpossible):
        registered().sample(DRAWN, **more)


@pytest.mark.parametrize("other", [{"population": 999}, {"outside": 1}])
@pytest.mark.parametrize("seeds", [(), (SEED,)])
def test_rule_14_the_same_list_has_the_same_strata(other: dict[str, Any], seeds: Any) -> None:
    world = registered()
    draw(world)
    world.amend(changed(world, ("title: Faces found", "title: Faces"), *seeds))
    with pytest.raises(DrawImpossible):
        draw(world, ONE if not seeds else TWO, **other)
    draw(world, ONE if not seeds else TWO)


def test_rule_14_the_same_plan_draws_the_same_cases() -> None:
    world = registered()
    draw(world)
    with pytest.raises(DrawImpossible):
        draw(world, TWO)
    world.amend(changed(world, SEED))
    draw(world, TWO)


def test_rule_14_every_draw_before_the_seal_is_told_with_the_result() -> None:
    """A seed that is amended, tried on another list, and amended back is on record, and so in what results tell."""
    world = registered()
    entry = draw(world)
    world.amend(changed(world, SEED))
    other = draw(world, TWO, frame=ONE)
    world.amend(changed(world))
    seal(world, 117, entry=entry, undrawn=0, absent=3)
    draw(world)  # after the seal: it changes nothing
    world.read("inputs", "teste")
    study = world.state.study
    pool = study.pools["teste"]
    (told,) = draws_told(study, pool, pool.reads[-1])
    assert (told.draw, told.entry, told.size, told.absent) == ("faces", entry, 120, 3)
    assert (told.made, told.entries, told.seeds, told.frames) == (2, (entry, other), 2, 2)
    world.seal("dev", tables=("faces", "pairs"))
    world.read("inputs", "dev")
    dev = world.state.study.pools["dev"]
    assert draws_told(world.state.study, dev, dev.reads[-1]) == ()


# --- thresholds


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("detector", {"target": "false_match"}),
        ("detector", {"at": "0.5"}),
        ("detector", {"confidence": "0.1"}),
        ("detector", {"events": 900, "cases": 3}),
        ("detector", {"events": 10**9, "cases": 10**9}),
        ("detector", {"events": 101, "cases": 101}),  # 100 rows were sealed
        ("detector", {"events": 0, "cases": 0}),
        ("detector", {"events": 89}),  # .9 of 100 are to be found
        ("matcher", {"events": 11}),  # .1 of 100 may match
        ("matcher", {"unresolved": True}),
        ("matcher", {"cases": 9, "events": 0}),  # .1 of 9 is less than one
        ("detector", {"low": "9", "high": "1"}),
        ("detector", {"value": "0.3"}),
        ("detector", {"value": "0.7"}),
        ("detector", {"value": "1e+999", "high": None}),
        ("detector", {"value": "-1e+999", "low": None}),
    ],
)
def test_rule_08_a_frozen_threshold_is_one_that_its_rule_can_find(
    faces: World, name: str, found: Mapping[str, Any]
) -> None:
    read = look(faces, name)
    with pytest.raises(ThresholdImpossible):
        faces.calibrate(read, (name,), found=found)
    assert faces.calibrate(read, (name,)).number == 1


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("detector", {"events": 100}),
        ("detector", {"events": 9, "cases": 10}),  # a tenth of 10 is one
        ("detector", {"events": 9, "cases": 9, "unresolved": True}),
        ("matcher", {"events": 0}),
        ("matcher", {"low": None, "high": None}),
        ("matcher", {"low": "0.5", "high": "0.5"}),
    ],
)
def test_rule_08_and_what_can_be_found_is_frozen(faces: World, name: str, found: Mapping[str, Any]) -> None:
    assert faces.calibrate(look(faces, name), (name,), found=found).number == 1


# --- second labels


@pytest.mark.parametrize(
    "found",
    [
        {"rows": 10**6, "absent": 10**6},
        {"rows": 24},  # a quarter of 100 is 25
        {"rows": 25, "absent": 1},
        {"days_apart": 1},
        {"days_apart": None},
    ],
)
def test_rule_04_second_labels_are_the_share_drawn_days_apart(faces: World, found: dict[str, Any]) -> None:
    for _time in range(2):
        faces.read("relabel", "teste", draw="faces")
    with pytest.raises(RelabelsImpossible):
        faces.commit(faces.index - 1, **found)
    faces.commit(faces.index - 1, rows=20, absent=5)
    calibrate(faces)
    assert reveal(faces).confirmatory


def test_rule_04_second_labels_of_nobody_are_no_days_apart(faces: World) -> None:
    for _time in range(2):
        faces.read("relabel", "teste", draw="faces")
    faces.commit(faces.index - 1, rows=0, absent=25, days_apart=None)
