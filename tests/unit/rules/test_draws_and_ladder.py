"""Draws, second labels, the mitigation ladder, and what a read may say at all."""

from collections.abc import Callable
from typing import Any

import pytest
from tests import four_pools
from tests.unit.rules.asking import (
    BOTH,
    DRAWN,
    TABLES,
    TITLE,
    calibrate,
    changed,
    contrast,
    faces,
    gate,
    ready,
    relabel,
    reveal,
)

from lacre.errors import (
    DrawMissing,
    DrawnFromAnother,
    DrawNotDeclared,
    DrawTooLate,
    FinishDiffers,
    InputsTakeNothing,
    KeyNotEntitled,
    NoRungs,
    NotARung,
    RecordInvalid,
    RelabelsCommitted,
    RelabelsMissing,
    RelabelsOutOfPlace,
    RelabelsTooLate,
    RelabelsTooSoon,
    RungsFirst,
)
from lacre.rules.answers import Engine
from lacre.rules.drawing import relabels_of
from lacre.rules.reading import LATER_SUBMISSION

__all__ = ["faces", "ready"]  # fixtures
World = Any
TRAINING = ", {id: tuned, kind: training}, {id: retrained, kind: training}"
WITHOUT_TRAINING = (TRAINING, "")
Submitter = Callable[..., Any]
RELABELLED = (
    ("min_days_apart: 2, seed: 7", "min_days_apart: 2, seed: 8"),
    ("fraction: 0.25", "fraction: 0.5"),
    ("columns: [medium], min", "columns: [hint], min"),
)
"""Amendments of which cases are labelled again, or how."""


# --- draws


def test_a_draw_is_made_as_it_is_registered(world: World) -> None:
    world.study = "faces"
    world.register(world.put(four_pools.PLAN))
    with pytest.raises(DrawNotDeclared):
        world.sample(DRAWN, draw="pairs")
    for wrong in ({"high": 60}, {"high": 60, "low": 59}, {**DRAWN, "other": 0}):
        with pytest.raises(RecordInvalid):
            world.sample(wrong)
    with pytest.raises(KeyNotEntitled):
        world.sample(DRAWN, by=world.custodian)
    assert world.sample(DRAWN).number == 1


def test_one_plan_draws_from_one_frame(world: World) -> None:
    world.study = "faces"
    world.register(world.put(four_pools.PLAN))
    world.sample(DRAWN)
    with pytest.raises(DrawnFromAnother):
        world.sample(DRAWN, frame="1" * 64)
    assert world.sample(DRAWN).number == 2
    seed = ("sizes: {high: 60, low: 60}, seed: 7", "sizes: {high: 60, low: 60}, seed: 8")
    world.amend(changed(world, seed))
    assert world.sample(DRAWN, frame="1" * 64).number == 1, "another plan, another draw"


def test_a_draw_comes_before_its_pool_is_sealed(world: World) -> None:
    world.study = "faces"
    world.register(world.put(four_pools.PLAN))
    world.seal("teste", tables=("faces",))
    with pytest.raises(DrawTooLate):
        world.sample(DRAWN)


def test_a_draw_may_be_repeated_after_the_seal_from_the_same_frame(faces: World) -> None:
    assert faces.sample(DRAWN).number == 2


def test_a_reveal_waits_for_the_draw_that_it_weighs_by(world: World, submitted: Callable[..., Any]) -> None:
    world.study = "faces"
    world.register(world.put(four_pools.PLAN))
    for pool, tables in TABLES.items():
        world.seal(pool, tables=tables)
    world.given = {name: (submitted(table=name),) for name in ("faces", "pairs", "images")}
    calibrate(world, "detector")
    relabel(world)
    with pytest.raises(DrawMissing):
        reveal(world)
    weighed = ("    weights: {column: inclusion, draw: faces}\n", "")
    world.amend(changed(world, weighed, ("      inclusion: {type: number, is: inclusion_probability}\n", "")))
    calibrate(world, "detector")  # of a table that is declared otherwise
    assert reveal(world).confirmatory


# --- second labels


def test_second_labels_are_of_cases_that_were_handed_out_and_looked_at(faces: World) -> None:
    with pytest.raises(RelabelsOutOfPlace):
        faces.commit(faces.index - 1)
    faces.read("relabel", "teste", draw="faces")
    with pytest.raises(RelabelsOutOfPlace):
        faces.commit(faces.index - 1)  # handed out, and not held against the first labels yet
    faces.read("relabel", "teste", draw="faces")
    faces.commit(faces.index - 1)


def test_relabels_are_drawn_from_the_pool_they_are_registered_on(faces: World) -> None:
    with pytest.raises(DrawNotDeclared):
        faces.read("relabel", "teste", draw="pairs")
    with pytest.raises(DrawNotDeclared):
        faces.read("relabel", "teste")
    with pytest.raises(RelabelsOutOfPlace):
        faces.read("relabel", "contraste", draw="faces")
    with pytest.raises(InputsTakeNothing):
        faces.read("relabel", "teste", "recall", draw="faces")


def test_second_labels_are_given_once(ready: World) -> None:
    with pytest.raises(RelabelsCommitted):
        ready.read("relabel", "teste", draw="faces")
    with pytest.raises(RelabelsCommitted):
        ready.commit(ready.index - 2)


def test_second_labels_are_given_days_after_the_first(faces: World) -> None:
    faces.read("relabel", "teste", draw="faces")
    faces.read("relabel", "teste", draw="faces")
    with pytest.raises(RelabelsTooSoon):
        faces.commit(faces.index - 1, early=1)


def test_an_analysis_of_second_labels_waits_for_them(faces: World) -> None:
    calibrate(faces)
    with pytest.raises(RelabelsMissing):
        reveal(faces)
    with pytest.raises(RelabelsMissing):
        faces.run("agreement", "dev", submissions=())  # another pool has other cases
    relabel(faces)
    assert reveal(faces).confirmatory


def test_second_labels_come_before_the_pool_is_read(faces: World) -> None:
    calibrate(faces)
    faces.amend(changed(faces, ("  agreement: {kind: self_agreement, pool: teste, relabel: faces}\n", "")))
    faces.read("relabel", "teste", draw="faces")
    faces.read("relabel", "teste", draw="faces")
    looked = faces.index - 1
    faces.read("reveal", "teste", "recall", submissions=faces.given["faces"])
    with pytest.raises(RelabelsTooLate):
        faces.commit(looked)
    with pytest.raises(RelabelsTooLate):
        faces.read("relabel", "teste", draw="faces")


def test_labels_of_a_seal_that_was_replaced_are_not_those_of_the_new_one(ready: World) -> None:
    at = ready.state.study.pools["teste"].sealed.entry
    ready.seal("teste", tables=("faces",), replaces=at, reason="0" * 64)
    with pytest.raises(RelabelsMissing):
        reveal(ready)
    with pytest.raises(RelabelsOutOfPlace):
        ready.commit(ready.index - 2)
    relabel(ready)
    assert reveal(ready).confirmatory


@pytest.mark.parametrize("change", RELABELLED)
def test_what_was_handed_out_under_another_plan_is_not_what_is_labelled(
    faces: World, change: tuple[str, str]
) -> None:
    faces.read("relabel", "teste", draw="faces")
    faces.amend(changed(faces, change))
    faces.read("relabel", "teste", draw="faces")
    with pytest.raises(RelabelsOutOfPlace):
        faces.commit(faces.index - 1)  # it is the first under this plan
    faces.read("relabel", "teste", draw="faces")
    faces.commit(faces.index - 1)


@pytest.mark.parametrize("change", RELABELLED)
def test_labels_that_were_committed_under_another_plan_are_not_revealed(
    ready: World, change: tuple[str, str]
) -> None:
    first = ready.index - 1
    ready.amend(changed(ready, change))
    with pytest.raises(RelabelsMissing):
        reveal(ready)
    relabel(ready)
    second = ready.index - 1
    study, plans = ready.state.study, [version.protocol for version in ready.state.study.versions]
    found = [relabels_of(study, plan, study.pools["teste"], "faces") for plan in plans]
    assert [each and each.entry for each in found] == [first, second]
    assert reveal(ready).confirmatory


def test_an_amendment_of_other_things_keeps_the_labels_that_were_handed_out(faces: World) -> None:
    calibrate(faces)
    faces.read("relabel", "teste", draw="faces")
    faces.amend(changed(faces, TITLE))
    faces.read("relabel", "teste", draw="faces")
    faces.commit(faces.index - 1)
    faces.amend(changed(faces))
    with pytest.raises(RelabelsCommitted):
        faces.read("relabel", "teste", draw="faces")
    assert reveal(faces).confirmatory


# --- rule 9: the ladder


def test_rule_09_a_rung_is_one_of_training_that_is_registered(ready: World) -> None:
    for rung in ("none-yet", "other"):
        with pytest.raises(NotARung, match="which has: tuned, retrained"):
            contrast(ready, rung)


def test_rule_09_where_no_training_is_registered_the_refusal_says_so(ready: World) -> None:
    """It names no rung to take instead, since there is none."""
    ready.amend(changed(ready, WITHOUT_TRAINING))
    with pytest.raises(NoRungs) as refused:
        contrast(ready, "tuned")
    assert (
        refused.value.message
        == "'differential' has no mitigation by training, so there is no 'tuned' to run."
    )
    assert "Name one of these" not in refused.value.way_out


def test_rule_09_training_opens_once_the_earlier_rungs_ran(ready: World) -> None:
    with pytest.raises(RungsFirst):
        contrast(ready, "tuned")
    contrast(ready)
    with pytest.raises(RungsFirst):
        contrast(ready, "tuned")  # it has no result yet
    ready.result(ready.index - 1, "INSUFFICIENT_EVIDENCE", "contraste")
    with pytest.raises(RungsFirst):
        contrast(ready, "retrained")  # its turn is after the one before it
    contrast(ready, "tuned", "FAIL")
    contrast(ready, "retrained", "FAIL")


def test_rule_09_training_stays_closed_once_every_criterion_passes(ready: World) -> None:
    contrast(ready, state="PASS")
    with pytest.raises(RungsFirst):
        contrast(ready, "tuned")


def test_rule_09_a_rung_stays_closed_once_the_one_before_it_passes(ready: World) -> None:
    contrast(ready, state="FAIL")
    contrast(ready, "tuned", "PASS")
    with pytest.raises(RungsFirst):
        contrast(ready, "retrained")


def test_rule_09_nor_does_a_rung_open_after_a_pass_that_is_no_evidence(
    ready: World, submitted: Submitter
) -> None:
    """A trained system is a later submission, so that its PASS reads INSUFFICIENT_EVIDENCE; it passed all the same.

    Entries of the first version did not tell what was computed: they opened the next rung, and stay lawful.
    """
    contrast(ready, state="FAIL")
    other = (submitted(table="pairs", digest="1" * 64),)
    made = contrast(ready, "tuned", "INSUFFICIENT_EVIDENCE", "PASS", submissions=other)
    assert made.exploratory == (LATER_SUBMISSION,)
    with pytest.raises(RungsFirst) as refused:
        contrast(ready, "retrained")
    assert "every criterion passes without it" in refused.value.message


@pytest.mark.parametrize(("computed", "opens"), [("PASS", False), (None, True), ("FAIL", True)])
def test_rule_09_nor_after_a_pass_that_was_left_to_a_person(
    ready: World, computed: str | None, opens: bool
) -> None:
    contrast(ready, state="MANUAL_REVIEW", computed=computed)
    if opens:
        contrast(ready, "tuned")
        return
    with pytest.raises(RungsFirst):
        contrast(ready, "tuned")


def test_rule_09_a_second_run_on_other_scores_opens_no_rung(ready: World, submitted: Submitter) -> None:
    """Its PASS is no evidence, and its FAIL none against the first."""
    contrast(ready, state="PASS")
    other = (submitted(table="pairs", digest="1" * 64),)
    for state in ("INSUFFICIENT_EVIDENCE", "FAIL"):
        assert contrast(ready, state=state, submissions=other).exploratory == (LATER_SUBMISSION,)
        with pytest.raises(RungsFirst):
            contrast(ready, "tuned")


def test_rule_09_nor_does_one_on_the_same_scores(ready: World) -> None:
    contrast(ready, state="PASS")
    assert contrast(ready, state="MANUAL_REVIEW").exploratory == ()
    with pytest.raises(RungsFirst):
        contrast(ready, "tuned")


def test_rule_09_nor_does_one_that_was_made_before_the_first_had_its_result(
    ready: World, submitted: Submitter
) -> None:
    contrast(ready)
    crashed = ready.index - 1
    other = (submitted(table="pairs", digest="1" * 64),)
    contrast(ready, state="FAIL", submissions=other)
    contrast(ready, state="PASS", finishes=crashed)
    with pytest.raises(RungsFirst):
        contrast(ready, "tuned")


def test_rule_09_of_exploratory_runs_the_first_says_how_a_rung_did(
    ready: World, submitted: Submitter
) -> None:
    contrast(ready, state="FAIL")
    for digest, state in (("1", "FAIL"), ("2", "PASS")):
        other = (submitted(table="pairs", digest=digest * 64),)
        assert contrast(ready, "tuned", state, submissions=other).exploratory
    contrast(ready, "retrained")


def test_rule_09_results_under_an_older_plan_open_no_rung(ready: World) -> None:
    contrast(ready, state="FAIL")
    ratio = ("{form: max_min, max: 3}", "{form: max_min, max: 30}")
    ready.amend(changed(ready, ratio))
    with pytest.raises(RungsFirst):
        contrast(ready, "tuned")
    contrast(ready, state="FAIL")
    contrast(ready, "tuned")


def test_rule_09_nor_do_they_keep_one_closed(ready: World) -> None:
    contrast(ready, state="PASS")
    ready.amend(changed(ready, ("{form: max_min, max: 3}", "{form: max_min, max: 1.1}")))
    contrast(ready, state="FAIL")
    contrast(ready, "tuned")
    ready.amend(changed(ready))
    with pytest.raises(RungsFirst):
        contrast(ready, "tuned")  # amended back, what passed then is what counts


def test_rule_16_a_crashed_rung_is_finished_as_the_same_rung(ready: World) -> None:
    contrast(ready, state="FAIL")
    contrast(ready, "tuned")
    read = ready.index - 1
    for other in (None, "retrained"):
        with pytest.raises(FinishDiffers):
            contrast(ready, other, finishes=read)
    contrast(ready, "tuned", finishes=read)


@pytest.mark.parametrize(
    ("purpose", "fields"),
    [
        ("reveal", {"rung": "tuned"}),
        ("reveal", {"thresholds": ("detector",)}),
        ("reveal", {"accept_burn": True}),
        ("reveal", {"draw": "faces"}),
        ("gate", {"rung": "tuned"}),
        ("gate", {"accept_dev": True}),
        ("calibrate", {"analyses": ("recall",)}),
        ("calibrate", {"rung": "tuned"}),
        ("inputs", {"draw": "faces"}),
        ("inputs", {"thresholds": ("detector",)}),
        ("relabel", {"rung": "tuned"}),
    ],
)
def test_rule_05_a_read_asks_for_nothing_that_is_another_purposes(
    ready: World, purpose: str, fields: dict[str, Any]
) -> None:
    """A `reveal` with a rung, say, would show that one rung and spend the read of `teste` on it."""
    pools = {"reveal": "teste", "gate": "guarda", "calibrate": "dev", "inputs": "teste", "relabel": "teste"}
    given = {"reveal": "faces", "gate": "images", "calibrate": "both"}
    analyses = {"reveal": ("agreement", "recall"), "gate": ("release",)}.get(purpose, ())
    needed: dict[str, dict[str, Any]] = {"calibrate": {"thresholds": BOTH}, "relabel": {"draw": "faces"}}
    own = needed.get(purpose, {})
    more = {"submissions": ready.given[given[purpose]]} if purpose in given else {}
    asked = {**own, **more, **fields}
    analyses = asked.pop("analyses", analyses)
    with pytest.raises((RecordInvalid, InputsTakeNothing)):
        ready.read(purpose, pools[purpose], *analyses, **asked)


def test_rule_16_a_changed_engine_asks_for_review_of_a_gate(ready: World) -> None:
    gate(ready)
    changed_engine = Engine(lacre="2", statistics="1")
    assert gate(ready, finishes=ready.index - 1, engine=changed_engine).review == ("engine-changed",)
