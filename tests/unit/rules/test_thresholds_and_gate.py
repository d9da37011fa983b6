"""Rules 7, 8 and 10: thresholds frozen on `dev`, what their calibration burns, and the budget of `guarda`."""

from collections.abc import Callable
from typing import Any

import pytest
from tests import four_pools
from tests.unit.rules.asking import (
    BOTH,
    DRAWN,
    RECALL,
    TABLES,
    TITLE,
    VETO,
    calibrate,
    changed,
    contrast,
    faces,
    gate,
    look,
    ready,
    relabel,
    reveal,
)
from tests.unit.rules.conftest import World as Law

from lacre.errors import (
    CalibratesDevOnly,
    CalibrationBurns,
    CalibrationOutOfPlace,
    FinishDiffers,
    GateOnlyGuarda,
    GuardaExhausted,
    GuardaRetired,
    GuardaSpentElsewhere,
    KeyNotEntitled,
    NotCalibrated,
    NothingToCalibrate,
    PoolAlreadyRead,
    ProtocolNotInForce,
    RecordInvalid,
    SealedAsOther,
    SharedCases,
    SubmittedTablesDiffer,
    SystemsDiffer,
    ThresholdNotDeclared,
)
from lacre.rules.answers import Engine, Gated, ReadFacts
from lacre.rules.gating import reads_left, share_of
from lacre.rules.reading import RECALIBRATED
from lacre.rules.thresholds import frozen_for

__all__ = ["faces", "ready"]  # fixtures
World = Any


def four_sealed(plan: str, **tables: tuple[str, ...]) -> World:
    """A study of four pools by another plan, drawn and sealed."""
    made = Law(study="faces")
    made.register(made.put(plan))
    made.sample(DRAWN)
    for pool, names in {**TABLES, **tables}.items():
        made.seal(pool, tables=names)
    return made


# --- rule 8: thresholds


@pytest.mark.parametrize("pool", ["teste", "contraste", "guarda"])
def test_rule_08_thresholds_are_calibrated_on_dev_alone(faces: World, pool: str) -> None:
    with pytest.raises(CalibratesDevOnly):
        faces.read("calibrate", pool, thresholds=("detector",), submissions=faces.given["faces"])


def test_rule_08_a_pool_sealed_as_dev_is_calibrated_on_no_more_than_before(faces: World) -> None:
    faces.seal("teste", tables=("faces",), as_dev=True, replaces=faces.index - 3, reason="0" * 64)
    with pytest.raises(CalibratesDevOnly):
        faces.read("calibrate", "teste", thresholds=("detector",), submissions=faces.given["faces"])


def test_rule_08_only_registered_thresholds_with_a_rule_are_calibrated(faces: World) -> None:
    for names in (("other",), ("detector", "other")):
        with pytest.raises(ThresholdNotDeclared):
            faces.read("calibrate", "dev", thresholds=names)
    with pytest.raises(NothingToCalibrate):
        faces.read("calibrate", "dev", thresholds=())
    fixed = "  detector: {calibrate_on: dev, table: faces, score: score, at: {recall: 0.9}}"
    faces.amend(changed(faces, (fixed, "  detector: {fixed: 0.5}")))
    with pytest.raises(ThresholdNotDeclared):
        faces.read("calibrate", "dev", thresholds=("detector",))
    look(faces, "matcher")


def test_rule_08_a_plan_without_rules_calibrates_nothing(sealed: World) -> None:
    with pytest.raises(NothingToCalibrate):
        sealed.read("calibrate", "dev", thresholds=("detector",))


def test_rule_05_each_table_of_the_thresholds_is_submitted(faces: World) -> None:
    with pytest.raises(SubmittedTablesDiffer):
        look(faces, submissions=faces.given["faces"])
    with pytest.raises(SubmittedTablesDiffer):
        look(faces, "detector", submissions=faces.given["pairs"])
    with pytest.raises(SystemsDiffer):
        look(faces, submissions=())
    assert look(faces, "detector")


def test_rule_08_thresholds_are_frozen_once_from_a_read_made_for_them(faces: World) -> None:
    read = look(faces, "detector")
    for wrong in (read - 1, 0):
        with pytest.raises(CalibrationOutOfPlace):
            faces.calibrate(wrong, ("detector",))
    with pytest.raises(CalibrationOutOfPlace):
        faces.calibrate(read, BOTH)  # the read was for one of them
    assert faces.calibrate(read, ("detector",)).number == 1
    with pytest.raises(CalibrationOutOfPlace):
        faces.calibrate(read, ("detector",))
    assert calibrate(faces).number == 2


def test_rule_08_what_is_frozen_is_what_was_asked_for_of_every_system(faces: World) -> None:
    read = look(faces, "detector")
    for wrong in ((), (("detector", "other"),), (("matcher", ""),), (("detector", ""), ("detector", ""))):
        with pytest.raises(RecordInvalid):
            faces.calibrate(read, ("detector",), frozen=wrong)


def test_rule_08_an_amendment_between_asks_for_another_read(faces: World) -> None:
    read = look(faces)
    faces.amend(changed(faces, TITLE))
    with pytest.raises(CalibrationOutOfPlace):
        faces.calibrate(read, BOTH)
    with pytest.raises(ProtocolNotInForce):
        faces.calibrate(read, BOTH, protocol="9" * 64)


def test_rule_08_who_may_not_read_does_not_calibrate(faces: World) -> None:
    with pytest.raises(KeyNotEntitled):
        look(faces, by=faces.custodian)
    read = look(faces)
    with pytest.raises(KeyNotEntitled):
        faces.calibrate(read, BOTH, by=faces.custodian)


def test_rule_08_no_analysis_runs_before_its_thresholds_are_frozen(faces: World) -> None:
    relabel(faces)
    for ask in (reveal, contrast):
        with pytest.raises(NotCalibrated):
            ask(faces)
    calibrate(faces, "matcher")
    assert contrast(faces).confirmatory
    with pytest.raises(NotCalibrated) as refused:
        reveal(faces)
    assert refused.value.fields["thresholds"] == "detector"
    calibrate(faces, "detector")
    assert reveal(faces).confirmatory
    assert gate(faces).confirmatory, "its analysis uses none"


def test_rule_08_a_gate_waits_for_its_thresholds(faces: World) -> None:
    at = "image_id: {type: text}"
    own = "found: {column: found_face, blank: not_detected}"
    score = "found: {score: found_score, threshold: gate, blank: not_detected}"
    rule = "{calibrate_on: dev, table: images, score: found_score, at: {recall: 0.9}}"
    before, release = four_pools.PLAN.split("  release:")
    plan = four_pools.changed(
        before + "  release:" + release.replace(own, score),
        (at, f"{at}\n      found_score: {{type: number, from: submission}}"),
        ("thresholds:\n", f"thresholds:\n  gate: {rule}\n"),
        ("dev: {tables: [faces, pairs]}", "dev: {tables: [faces, pairs, images]}"),
    )
    world = type(faces)(study="faces")
    world.register(world.put(plan))
    world.sample(DRAWN)
    for pool, tables in TABLES.items():
        world.seal(pool, tables=(*tables, "images") if pool == "dev" else tables)
    world.given = faces.given
    with pytest.raises(NotCalibrated):
        gate(world)
    read = world.read("calibrate", "dev", thresholds=("gate",), submissions=world.given["images"])
    assert read.read_class == "dev"
    world.calibrate(world.index - 1, ("gate",))
    assert gate(world).confirmatory


def test_rule_08_an_amended_rule_asks_for_a_new_calibration(ready: World) -> None:
    ready.amend(changed(ready, RECALL))
    with pytest.raises(NotCalibrated):
        reveal(ready)
    assert contrast(ready).confirmatory, "its own rule is what it was"
    calibrate(ready, "detector")
    assert reveal(ready).confirmatory


def test_rule_08_the_threshold_of_one_system_is_not_that_of_another_under_its_name(
    submitted: Callable[..., Any],
) -> None:
    """Its version and the digest of its weights are what it is; what became of other systems is nothing to it."""
    systems = "systems:\n  mine: {version: '1'}\n  theirs: {version: '1'}\n"
    plan = four_pools.changed(
        four_pools.PLAN,
        ("tables:\n  images", f"{systems}tables:\n  images"),
        ("    same: same\n", "    same: same\n    systems: [mine]\n"),
    )
    world = four_sealed(plan)
    given = (submitted("mine", table="pairs"),)
    mine = (("matcher", "mine"),)
    world.read("calibrate", "dev", thresholds=("matcher",), submissions=given)
    world.calibrate(world.index - 1, ("matcher",), mine)
    other = ("theirs: {version: '1'}", "theirs: {version: '2'}")
    world.amend(world.put(four_pools.changed(plan, other)))
    world.run("differential", "contraste", submissions=given)
    for now in ("{version: '2'}", f"{{version: '1', digest: 'sha256:{'1' * 64}'}}"):
        world.amend(world.put(four_pools.changed(plan, ("mine: {version: '1'}", f"mine: {now}"))))
        with pytest.raises(NotCalibrated):
            world.run("differential", "contraste", submissions=given)
    world.read("calibrate", "dev", thresholds=("matcher",), submissions=given)
    world.calibrate(world.index - 1, ("matcher",), mine)
    world.run("differential", "contraste", submissions=given)


def test_rule_08_an_amended_cohort_asks_for_a_new_calibration(submitted: Callable[..., Any]) -> None:
    plan = four_pools.changed(four_pools.PLAN, *four_pools.COHORT)
    world = four_sealed(plan, dev=("faces", "pairs", "cohort"), contraste=("pairs", "cohort"))
    pairs, cohort = (submitted(table=name) for name in ("pairs", "cohort"))
    both = (pairs.model_copy(update={"records": (*pairs.records, *cohort.records)}),)
    names = ("matcher", "normed")
    read = world.read("calibrate", "dev", thresholds=names, submissions=both)
    assert read.read_class == "dev"
    world.calibrate(world.index - 1, names)
    world.run("differential", "contraste", submissions=both)
    fewer = (
        "    key: [image, face]\n",
        "    key: [image, face]\n    exclude: [{column: subject, in: [x]}]\n",
    )
    world.amend(world.put(four_pools.changed(plan, fewer)))
    with pytest.raises(NotCalibrated) as refused:
        world.run("differential", "contraste", submissions=both)
    assert refused.value.fields["thresholds"] == "normed", "the other is of no cohort"


def test_rule_08_an_amendment_of_other_things_keeps_what_is_frozen(ready: World) -> None:
    ready.amend(changed(ready, TITLE, VETO))
    assert reveal(ready).confirmatory


def test_rule_08_amended_back_the_first_calibration_counts_again(ready: World) -> None:
    frozen = ready.state.study.calibrations[0].entry
    ready.amend(changed(ready, RECALL))
    ready.amend(changed(ready))
    study = ready.state.study
    (made,) = {made.entry for _each, made in frozen_for(study, study.in_force.protocol, ("recall",)).values()}
    assert made == frozen
    assert reveal(ready).confirmatory


def test_rule_16_a_read_goes_on_with_the_thresholds_of_its_beginning(ready: World) -> None:
    first = ready.state.study.calibrations[0].entry
    reveal(ready)
    read = ready.index - 1
    calibrate(ready, "detector", accept_burn=True)
    study = ready.state.study
    for before, expected in ((read, first), (None, ready.index - 1)):
        (made,) = frozen_for(study, study.in_force.protocol, ("recall",), before).values()
        assert made[1].entry == expected


def test_rule_08_a_read_to_calibrate_finishes_nothing(ready: World) -> None:
    look(ready)
    with pytest.raises(FinishDiffers):
        look(ready, finishes=ready.index - 1)


# --- rule 7: what a calibration burns


def test_rule_07_a_calibration_before_the_read_burns_nothing(ready: World) -> None:
    assert calibrate(ready).burns == ()
    assert ready.standing("teste") == "teste"


def test_rule_07_a_calibration_after_the_read_is_asked_for_and_burns(ready: World) -> None:
    reveal(ready)
    with pytest.raises(CalibrationBurns):
        look(ready, "detector")
    read = look(ready, "detector", accept_burn=True)
    assert ready.standing("teste") == "teste", "thresholds are frozen by the calibration, not by its read"
    with pytest.raises(CalibrationBurns):
        ready.calibrate(read, ("detector",))
    assert ready.calibrate(read, ("detector",), accept_burn=True).burns == ("teste",)
    assert ready.standing("teste") == "dev"
    assert reveal(ready, accept_dev=True).exploratory
    assert calibrate(ready, "detector").burns == (), "it is dev already"


def test_rule_07_only_thresholds_that_teste_uses_burn_it(ready: World) -> None:
    reveal(ready)
    assert calibrate(ready, "matcher").burns == ()
    assert ready.standing("teste") == "teste"


def test_rule_09_after_a_recalibration_contraste_is_exploratory(ready: World) -> None:
    assert contrast(ready).confirmatory
    calibrate(ready, "detector")
    assert contrast(ready).confirmatory, "another analysis's threshold"
    calibrate(ready, "matcher")
    later = contrast(ready)
    assert (later.confirmatory, later.exploratory) == (False, (RECALIBRATED,))


# --- rule 10: the gate


def test_rule_10_a_gate_runs_all_analyses_of_guarda_and_no_other(ready: World) -> None:
    for analyses in ((), ("recall",), ("release", "recall"), ("release", "release")):
        with pytest.raises(GateOnlyGuarda):
            gate(ready, analyses=analyses)
    for pool in ("teste", "contraste", "dev"):
        with pytest.raises(GateOnlyGuarda):
            ready.read("gate", pool, "release", submissions=ready.given["images"])
    with pytest.raises(SubmittedTablesDiffer):
        gate(ready, submissions=ready.given["faces"])


def test_rule_10_guarda_is_read_as_often_as_its_budget_allows(ready: World) -> None:
    study = ready.state.study
    assert reads_left(study, study.pools["guarda"]) == 2
    assert [gate(ready).number for _ in range(2)] == [1, 2]
    assert reads_left(study, ready.state.study.pools["guarda"]) == 0
    with pytest.raises(GuardaExhausted):
        gate(ready)


def had(reads: int, most: int, study: str = "earlier", cases: int = 300) -> Gated:
    """Verdicts that another study had on the same cases."""
    return Gated(study=study, pool="guarda", cases=cases, reads=reads, most=most)


@pytest.mark.parametrize(
    ("gated", "allowed"),
    [
        ((had(1, 2),), 1),
        ((had(2, 2),), 0),
        ((had(1, 20),), 1),
        ((had(11, 20),), 0),
        ((had(1, 4), had(1, 4, "second")), 1),
        ((had(2, 4), had(1, 4, "second")), 0),
        ((had(1, 1, cases=1),), 0),
    ],
)
def test_rule_10_all_reads_of_the_same_cases_share_one_error_rate(
    ready: World, gated: tuple[Gated, ...], allowed: int
) -> None:
    """At two reads of a half each: what is left of the whole, less the shares reads/most spent elsewhere, by halves."""
    for number in range(1, allowed + 1):
        assert gate(ready, gated=gated).confirmatory
        assert ready.state.study.pools["guarda"].of_class("guarda")[-1].decision.number == number
    with pytest.raises(GuardaSpentElsewhere) as refused:
        gate(ready, gated=gated)
    assert gated[0].study in refused.value.message
    assert "Nothing was read" in refused.value.message
    study = ready.state.study
    expected = 0 if allowed else 2  # it is known from the last read's entry, and before the first nothing is
    assert reads_left(study, study.pools["guarda"]) == expected


def test_rule_10_a_read_after_another_studys_counts_those_of_both(ready: World) -> None:
    gate(ready)
    with pytest.raises(GuardaSpentElsewhere):
        gate(ready, gated=(had(1, 2),))
    assert gate(ready).number == 2, "its own budget alone would allow it"
    with pytest.raises(GuardaExhausted):
        gate(ready, gated=(had(1, 2),))


def test_rule_10_the_fact_is_absent_where_nobody_asked_before() -> None:
    assert "gated" not in ReadFacts(engine=Engine(lacre="1", statistics="1")).as_json()


def test_rule_10_each_read_has_its_share_of_the_error_rate(faces: World) -> None:
    """alpha over max_reads, by DESIGN.md: two reads, so a half each; other classes spend it whole."""
    protocol = faces.state.study.in_force.protocol
    assert float(share_of(protocol, "guarda", "guarda")) == 0.5
    assert share_of(protocol, "teste", "teste") == 1


def test_rule_10_an_amendment_after_a_read_retires_guarda(ready: World) -> None:
    gate(ready)
    read = ready.index - 1
    ready.amend(changed(ready, VETO))
    with pytest.raises(GuardaRetired) as refused:
        gate(ready)
    assert refused.value.fields["entry"] == read
    ready.amend(changed(ready))
    assert gate(ready).number == 2, "amended back, with what is left of its budget"


def test_rule_10_a_budget_is_not_raised_after_a_read(ready: World) -> None:
    gate(ready)
    ready.amend(changed(ready, ("max_reads: 2", "max_reads: 3")))
    with pytest.raises(GuardaRetired):
        gate(ready)


def test_rule_10_an_amendment_before_any_read_retires_nothing(ready: World) -> None:
    ready.amend(changed(ready, VETO))
    assert gate(ready).confirmatory
    ready.amend(changed(ready, VETO, TITLE))
    assert gate(ready).confirmatory, "a title is used by no analysis"


def test_rule_10_sealed_as_dev_guarda_gives_no_verdict(ready: World) -> None:
    at = ready.state.study.pools["guarda"].sealed.entry
    ready.seal("guarda", tables=("images",), as_dev=True, replaces=at, reason="0" * 64)
    with pytest.raises(SealedAsOther):
        gate(ready)


def test_rule_02_once_it_gave_a_verdict_guarda_is_not_replaced(ready: World) -> None:
    at = ready.state.study.pools["guarda"].sealed.entry
    gate(ready)
    with pytest.raises(PoolAlreadyRead):
        ready.seal("guarda", tables=("images",), replaces=at, reason="0" * 64)


def test_rule_12_verdicts_expose_nothing(ready: World, overlap: Callable[..., Any]) -> None:
    gate(ready)
    assert not ready.state.study.pools["guarda"].was_read
    assert ready.state.study.pools["guarda"].is_to_stay_unseen
    for found in ({"shared": (overlap(),)}, {"exposed": (overlap(),)}):
        with pytest.raises(SharedCases):
            gate(ready, **found)


def test_rule_16_a_crashed_gate_is_finished_and_costs_one_read(ready: World) -> None:
    gate(ready)
    read = ready.index - 1
    finished = gate(ready, finishes=read)
    assert (finished.number, finished.read_class) == (1, "guarda")
    study = ready.state.study
    assert reads_left(study, study.pools["guarda"]) == 1
    ready.result(ready.index - 1, "PASS", "guarda")
    with pytest.raises(FinishDiffers):
        gate(ready, finishes=read)
