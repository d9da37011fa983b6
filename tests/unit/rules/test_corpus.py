"""The law of an open pool alone: order, what is refused of a part, and what a run may say."""

from __future__ import annotations

from typing import Any

import pytest
from tests import open_corpus
from tests.unit.rules.conftest import ENGINE, PERSON, World, Z

from lacre import errors
from lacre.protocol.document import parse, protocol_hash
from lacre.rules.answers import Overlap, PartFacts, ReadDecision, ReadFacts
from lacre.rules.requests import CommitPart, OpenFile, Read

SEALED = Overlap(study="judge", pool="teste", kind="cases", count=3)
UNREAD = Overlap(study="other", pool="teste", kind="cases", count=3)


def add(world: World, **changed: Any) -> str:
    protocol = parse(open_corpus.plan(**changed).encode())
    world.protocols[protocol_hash(protocol)] = protocol
    return protocol_hash(protocol)


@pytest.fixture
def begun() -> World:
    world = World(study="judge")
    world.register(add(world))
    return world


def commit(world: World, part: str, *, tables: tuple[str, ...] = ("cases",), **found: Any) -> Any:
    files = tuple(OpenFile(table=table, format="csv", sha256=Z) for table in tables)
    fields = {"pool": "corpus", "part": part, "protocol": world.in_force(), "files": files}
    prints = Z if part == "cases" else None
    request = CommitPart.model_validate(world._bound(**fields, fingerprints=prints))
    return world.ask(request, PartFacts(rows=found.pop("rows", dict.fromkeys(tables, 200)), **found))


def run(world: World, **more: Any) -> ReadDecision:
    corpus = world.state.study and world.state.study.corpus
    fields = {
        "purpose": "run",
        "pool": "corpus",
        "protocol": world.in_force(),
        "analyses": ("parity",),
        "parts": corpus.entries if corpus else (),
        **more,
    }
    made = world.ask(Read.model_validate(world._bound(**fields)), ReadFacts(engine=ENGINE))
    assert isinstance(made, ReadDecision)
    return made


def whole(world: World) -> World:
    for part in ("cases", "labels", "scores"):
        commit(world, part)
    return world


@pytest.mark.parametrize(
    ("before", "part"),
    [((), "labels"), ((), "scores"), (("cases",), "scores")],
)
def test_rule_04_a_part_waits_for_the_one_before(begun: World, before: tuple[str, ...], part: str) -> None:
    for each in before:
        commit(begun, each)
    with pytest.raises(errors.PartOutOfOrder):
        commit(begun, part)


@pytest.mark.parametrize("part", ["cases", "labels", "scores"])
def test_rule_04_each_part_is_committed_once(begun: World, part: str) -> None:
    whole(begun)
    with pytest.raises(errors.PartCommitted):
        commit(begun, part)


@pytest.mark.parametrize(
    ("part", "found", "refusal"),
    [
        ("labels", {"misplaced": ("judge",)}, errors.PartHoldsOthers),
        ("labels", {"foreign": 1}, errors.PartForeign),
        ("labels", {"early": 1}, errors.CorpusLabelsEarly),
        ("scores", {"disordered": 1}, errors.ScoresBeforeLabels),
        ("scores", {"misplaced": ("human",)}, errors.PartHoldsOthers),
        ("cases", {"misplaced": ("human",)}, errors.PartHoldsOthers),
        ("cases", {"tables": ()}, errors.PartTablesDiffer),
        ("cases", {"tables": ("cases", "more")}, errors.PartTablesDiffer),
        ("cases", {"rows": {}}, errors.PartTablesDiffer),
        ("cases", {"exposes": (UNREAD,)}, errors.CorpusExposes),
    ],
)
def test_what_is_refused_of_a_part(
    begun: World, part: str, found: dict[str, Any], refusal: type[errors.LacreError]
) -> None:
    for before in ("cases", "labels", "scores")[: ("cases", "labels", "scores").index(part)]:
        commit(begun, before)
    with pytest.raises(refusal):
        commit(begun, part, **found)
    commit(begun, part)  # what was refused is not on record


def test_rule_12_a_corpus_shares_with_no_pool_that_stands_apart(begun: World) -> None:
    begun.seal("teste")
    with pytest.raises(errors.CorpusExposes):
        commit(begun, "cases", shared=(SEALED,))
    told = SEALED.model_copy(update={"kind": "contents"})  # not by their ids: that is told, and bars nothing
    commit(begun, "cases", shared=(told,))


def test_rule_12_cases_that_were_sealed_as_dev_may_be_in_the_open(begun: World) -> None:
    begun.seal("teste", as_dev=True)
    commit(begun, "cases", shared=(SEALED,))


def test_rule_04_a_run_waits_for_all_parts_and_reads_those_it_means(begun: World) -> None:
    for part in ("cases", "labels", "scores"):
        with pytest.raises(errors.CorpusIncomplete):
            run(begun)
        commit(begun, part)
    with pytest.raises(errors.RequestOutdated):
        run(begun, parts=(2, 3))
    made = run(begun)
    assert (made.read_class, made.number, made.confirmatory, made.burns) == ("corpus", 1, True, False)
    assert run(begun).number == 2


@pytest.mark.parametrize("more", [{"accept_dev": True}, {"rung": "tuned"}, {"ciphertext": Z}])
def test_rule_09_a_run_on_the_open_takes_nothing_of_a_sealed_pool(begun: World, more: dict[str, Any]) -> None:
    whole(begun)
    with pytest.raises(errors.CorpusTakesNothing):
        run(begun, **more)


@pytest.mark.parametrize("purpose", ["reveal", "gate", "inputs"])
def test_rule_02_nothing_else_reads_the_open(begun: World, purpose: str) -> None:
    whole(begun)
    with pytest.raises(errors.PoolIsOpen):
        run(begun, purpose=purpose, parts=None, analyses=() if purpose == "inputs" else ("parity",))


def test_rule_15_what_is_amended_after_the_labels_is_exploratory_until_it_is_as_it_was(begun: World) -> None:
    first = begun.in_force()
    commit(begun, "cases")
    begun.amend(add(begun, version="judge-2"))
    commit(begun, "labels")
    commit(begun, "scores")
    assert run(begun).confirmatory  # amended before the labels: that is the plan
    begun.amend(first)
    assert run(begun).exploratory == ("amended-since-labels",)
    assert not run(begun).confirmatory
    begun.amend(add(begun, version="judge-2"))
    assert run(begun).exploratory == ()


def test_a_person_without_the_role_commits_nothing(begun: World) -> None:
    fields = {"pool": "corpus", "part": "cases", "protocol": begun.in_force(), "files": (), "fingerprints": Z}
    request = CommitPart.model_validate(begun._bound(**fields))
    with pytest.raises(errors.KeyNotEntitled):
        begun.ask(request, PartFacts(rows={}), begun.custodian)
    with pytest.raises(errors.PartTablesDiffer):
        begun.ask(request, PartFacts(rows={}), PERSON.keyid)
