"""Where a study departed from its plan: each departure once, in log order, with what was known then."""

from typing import Any

import pytest

from lacre.protocol.difference import Change
from lacre.rules.answers import Engine, Infeasible
from lacre.rules.deviations import Departure, departures

from .conftest import TEMPLATE, World, Z, one_submission


def told(world: World) -> list[tuple[str, int, str | None]]:
    """Kind, entry and pool of each departure."""
    return [(each.kind, each.entry, each.pool) for each in found(world)]


def found(world: World) -> tuple[Departure, ...]:
    return departures(world.history, world.protocols.__getitem__)


def plan() -> str:
    return TEMPLATE.format(study="parity", exposure="none", gap="max_group_gap: 0.05")


def test_a_study_that_went_as_planned_has_none(sealed: World) -> None:
    """Registered, sealed in full, ids handed out, rehearsed on `dev`, revealed once."""
    sealed.read("inputs", "teste")
    sealed.run("parity", "dev")
    sealed.result(7, pool="dev")
    sealed.reveal()
    sealed.result(9)
    assert found(sealed) == ()


def test_a_short_pool_and_one_that_counts_as_dev(registered: World) -> None:
    registered.seal("teste", 60, as_dev=True)
    assert told(registered) == [("shortfall", 2, "teste"), ("as-dev", 2, "teste")]
    assert found(registered)[0].changes == (Change("teste.cases", 100, 60),)


def test_cases_met_before(registered: World) -> None:
    """At the seal 4 were; by the read of the same pool 6 had been, which is told there."""
    registered.seal("teste", remembered=4)
    registered.reveal(remembered=6)
    registered.result(3)
    assert [(each.kind, each.entry, each.count) for each in found(registered)] == [
        ("met", 2, 4),
        ("met", 3, 6),
    ]


def test_a_replaced_pool(registered: World) -> None:
    registered.seal("teste", 120)
    registered.read("inputs", "teste")
    registered.seal("teste", 110, replaces=2, reason=Z)
    (one,) = found(registered)
    assert (one.kind, one.entry, one.about, one.words) == ("replacement", 4, 2, Z)
    assert one.changes == (Change("teste.cases", 120, 110),)
    assert [(each.read_class, each.count) for each in one.known] == [("inputs", 1)]


def test_later_reads(sealed: World) -> None:
    """A second read of `teste`; on `contraste` a second submission of a system, not the first."""
    sealed.reveal()
    sealed.result(6)
    sealed.reveal(accept_dev=True)
    sealed.result(8)
    sealed.run("differential", "contraste")
    sealed.result(10, pool="contraste")
    sealed.run("differential", "contraste", submissions=(one_submission(digest="1" * 64),))
    again, second = found(sealed)
    assert (again.entry, again.result, again.burns) == (8, 9, ("teste",))
    assert (second.entry, second.result, second.codes) == (12, None, ("later-submission",))
    assert [(each.pool, each.read_class, each.count) for each in again.known] == [("teste", "teste", 1)]


def test_a_read_without_a_result(sealed: World) -> None:
    """Until it is finished; the attempt that finishes it is the same read."""
    sealed.reveal()
    assert told(sealed) == [("unfinished", 6, "teste")]
    sealed.reveal(finishes=6)
    assert told(sealed) == [("unfinished", 6, "teste")]
    sealed.result(7)
    assert found(sealed) == ()


def test_amendments_words_and_the_end(sealed: World) -> None:
    sealed.reveal()
    sealed.result(6)
    changed = (
        plan()
        .replace("title: Errors", "title: All errors")
        .replace("planned: {cases: 100}", "planned: {cases: 90}")
    )
    sealed.amend(sealed.put(changed), accept_burn=True)
    sealed.deviate()
    sealed.deviate(7)
    sealed.withdraw()
    amendment, one, other, end = found(sealed)
    assert (amendment.kind, amendment.entry, amendment.version, amendment.burns) == (
        "amendment",
        8,
        2,
        ("teste",),
    )
    assert [(each.path, each.before, each.after) for each in amendment.changes] == [
        ("title", "Errors by sex", "All errors by sex"),
        ("pools.teste.planned.cases", 100, 90),
    ]
    assert [(each.kind, each.entry, each.about) for each in (one, other, end)] == [
        ("deviation", 9, None),
        ("deviation", 10, 7),
        ("withdrawal", 11, None),
    ]
    assert {each.words for each in (amendment, one, other, end)} == {Z}
    assert [(k.pool, k.read_class, k.count, k.last) for k in end.known] == [("teste", "teste", 1, 6)]


def test_what_is_new_is_one_change_and_not_one_for_each_field(sealed: World) -> None:
    head, tail = plan().split("  rehearsal:\n")
    rehearsal = tail.split("  differential:\n")[0]
    sealed.amend(sealed.put(f"{head}  second:\n{rehearsal}  rehearsal:\n{tail}"))
    (one,) = found(sealed)
    assert [each.path for each in one.changes] == ["analyses.second"]
    assert one.changes[0].after["criteria"][0]["id"] == "gap"


def test_criteria_that_can_only_come_out_one_way(world: World) -> None:
    infeasible = (Infeasible(analysis="parity", criterion="gap", passes=False, fails=True),)
    world.register(infeasible=infeasible, accept_infeasible=Z)
    (one,) = found(world)
    assert (one.kind, one.entry, one.infeasible, one.words) == ("infeasible", 1, infeasible, Z)
    assert one.known == ()


def test_a_pool_that_changed_hands(registered: World) -> None:
    registered.seal("teste")
    registered.rewrap("teste", ("age1other", "age1third"), (Z,))
    (one,) = found(registered)
    assert (one.kind, one.entry) == ("handing", 3)
    assert one.changes == (Change("teste.recipients", ["age1"], ["age1other", "age1third"]),)


@pytest.mark.parametrize("result", [True, False])
def test_an_erratum(sealed: World, result: bool) -> None:
    sealed.reveal()
    sealed.result(6)
    sealed.erratum(7)
    if result:
        sealed.result(8)
    (one,) = found(sealed)
    assert (one.kind, one.entry, one.about, one.result) == ("erratum", 8, 7, 9 if result else None)


def test_a_crashed_read_that_another_engine_finished(sealed: World) -> None:
    """Rule 16: its result is for a person to review, and why is told; finished by the same engine nothing is."""
    sealed.reveal()
    sealed.reveal(finishes=6, engine=Engine(lacre="2", statistics="1"))
    sealed.result(7)
    (one,) = found(sealed)
    assert (one.kind, one.entry, one.about, one.codes) == ("review", 7, 6, ("engine-changed",))


def test_a_read_whose_statistics_are_not_those_of_the_plan(sealed: World) -> None:
    sealed.reveal(engine=Engine(lacre="2", statistics="2"))
    sealed.reveal(finishes=6, engine=Engine(lacre="2", statistics="2"))
    sealed.result(7)
    (one,) = found(sealed)
    assert (one.kind, one.entry, one.codes) == ("review", 6, ("statistics-changed",))


def test_a_read_that_exposed_another_studys_pool(sealed: World, overlap: Any) -> None:
    """In this study as it was declared; in the other one as its own pool, which it still has to read."""
    exposes = overlap(study="second", pool="teste", count=7)
    sealed.run("rehearsal", "dev", exposes=(exposes,), accept_exposure=True)
    sealed.result(6, pool="dev")
    (one,) = found(sealed)
    assert (one.kind, one.entry, one.pool, one.overlaps, one.result) == ("exposing", 6, "dev", (exposes,), 7)

    second = World(study="second")
    second.register(second.add(study="second"))
    second.seal("teste")
    (made,) = departures(second.history, second.protocols.__getitem__, sealed.history[6:])
    assert (made.kind, made.entry, made.pool, made.known) == ("exposed", 6, "teste", ())
    (seen,) = made.overlaps
    assert (seen.study, seen.pool, seen.kind, seen.count) == ("parity", "dev", "cases", 7)


def test_an_exposure_of_other_pools_or_before_the_seal_is_none_of_this_study(
    sealed: World, overlap: Any
) -> None:
    exposes = (overlap(study="third", pool="teste"), overlap(study="second", pool="contraste"))
    sealed.run("rehearsal", "dev", exposes=exposes, accept_exposure=True)
    second = World(study="second")
    second.register(second.add(study="second"))
    second.seal("teste")
    assert departures(second.history, second.protocols.__getitem__, sealed.history[6:]) == ()


def test_pools_sealed_under_another_form_are_told_as_not_compared(registered: World) -> None:
    """`dev` was sealed under another key; under the first one again, `teste` cannot be held against it by ids."""
    registered.amend(registered.put(plan().replace("key: case_id", "key: [case_id, sex]")))
    registered.seal("dev")
    registered.amend(registered.put(plan()))
    registered.seal("teste")
    (one,) = [each for each in found(registered) if each.kind == "not-compared"]
    assert (one.entry, one.pool, one.others) == (5, "teste", ("dev",))


def test_pools_that_are_alike_are_told_once(registered: World, overlap: Any) -> None:
    """At the seal that found it, and not again at a read, from either side; what a read newly finds is."""
    registered.seal("dev")
    registered.seal("teste", shared=(overlap(study="parity", pool="dev", kind="contents", count=5),))
    registered.run(
        "rehearsal", "dev", shared=(overlap(study="parity", pool="teste", kind="contents", count=5),)
    )
    registered.result(4, pool="dev")
    digests = overlap(study="parity", pool="dev", kind="digests", count=2)
    contents = overlap(study="parity", pool="dev", kind="contents", count=5)
    registered.reveal(shared=(contents, digests))
    registered.result(6)
    told = [(each.kind, each.entry, each.pool, each.overlaps) for each in found(registered)]
    assert told == [("alike", 3, "teste", (contents,)), ("alike", 6, "teste", (digests,))]
