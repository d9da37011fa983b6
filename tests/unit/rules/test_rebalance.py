"""Rule 13, the law alone: what a broker declares of a corpus that grows, and what follows from it."""

from typing import Any

import pytest
from tests import growing, open_corpus
from tests.unit.rules.conftest import ENGINE, World, Z

from lacre import errors
from lacre.protocol.document import parse, protocol_hash
from lacre.rules.answers import Grown, Paradox, PartFacts, ReadFacts, RebalanceFacts
from lacre.rules.requests import CommitPart, OpenFile, Read, Rebalance

REMEDY = "remedies: [rebalance]\nmax_rebalances: 1\n"
FOUND = RebalanceFacts(paradoxes=(Paradox(dimension="truth", bin="high"),), population=100, drawn=10)


def scored(plan: str, analysis: str) -> tuple[World, int]:
    """Return a study whose corpus is whole, and the entry of its one result."""
    protocol = parse(plan.encode())
    world = World(study="judge")
    world.protocols[protocol_hash(protocol)] = protocol
    world.register(protocol_hash(protocol))
    for part in ("cases", "labels", "scores"):
        commit(world, part)
    assert world.state.study is not None
    corpus = world.state.study.corpus
    assert corpus is not None
    fields: dict[str, Any] = {
        "purpose": "run",
        "pool": "corpus",
        "protocol": world.in_force(),
        "analyses": (analysis,),
        "parts": corpus.entries,
    }
    world.ask(Read.model_validate(world._bound(**fields)), ReadFacts(engine=ENGINE))
    assert world.state.last is not None
    world.result(world.state.last, pool="corpus")
    return world, world.state.last


def commit(world: World, part: str, **found: Any) -> Any:
    fields = {"pool": "corpus", "part": part, "protocol": world.in_force()}
    files = (OpenFile(table="cases", format="csv", sha256=Z),)
    prints = Z if part == "cases" else None
    request = CommitPart.model_validate(world._bound(**fields, files=files, fingerprints=prints))
    return world.ask(request, PartFacts(rows={"cases": 100}, **found))


def grow(world: World, result: int) -> None:
    fields = {"pool": "corpus", "protocol": world.in_force(), "result": result}
    world.ask(Rebalance.model_validate(world._bound(**fields)), FOUND)


def test_another_kind_flags_no_paradox_whatever_its_broker_declares() -> None:
    """A gap between groups has no bins: a paradox declared of it is made up."""
    world, result = scored(open_corpus.plan() + REMEDY, "parity")
    with pytest.raises(errors.RebalanceNeedsParadox):
        grow(world, result)


def test_scores_come_again_of_all_that_were_drawn_or_of_none() -> None:
    world, result = scored(growing.PLAN, "agreement")
    grow(world, result)
    commit(world, "cases", grown=Grown(added=5))
    for wrong in (Grown(unlabelled=1), Grown(unlabelled=10), Grown(dropped=1)):
        with pytest.raises(errors.VersionBeyondDraw):
            commit(world, "labels", grown=wrong)
    commit(world, "labels", grown=Grown())
    for wrong in (Grown(unlabelled=1), Grown(unlabelled=9), Grown(dropped=10), Grown(undrawn=1)):
        with pytest.raises(errors.VersionBeyondDraw):
            commit(world, "scores", grown=wrong)
    commit(world, "scores", grown=Grown(unlabelled=10))
