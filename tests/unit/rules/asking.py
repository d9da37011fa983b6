"""The study of four pools before the law alone: what is asked again and again of it, and its fixtures."""

from collections.abc import Callable
from typing import Any

import pytest
from tests import four_pools

World = Any
TABLES = {"dev": ("faces", "pairs"), "teste": ("faces",), "contraste": ("pairs",), "guarda": ("images",)}
DRAWN = {"high": 60, "low": 60}
BOTH = ("detector", "matcher")
RECALL = ("at: {recall: 0.9}", "at: {recall: 0.8}")
TITLE = ("title: Faces found", "title: Faces missed")
VETO = ("metric: protective_failure, max: 0.2", "metric: protective_failure, max: 0.3")


@pytest.fixture
def faces(world: World, submitted: Callable[..., Any]) -> World:
    """The study of four pools, drawn and sealed, with a submission for each table by name."""
    world.study = "faces"
    world.register(world.put(four_pools.PLAN))
    world.sample(DRAWN)
    for pool, tables in TABLES.items():
        world.seal(pool, tables=tables)
    world.given = {name: (submitted(table=name),) for name in ("faces", "pairs", "images")}
    record = {name: world.given[name][0].records[0] for name in ("faces", "pairs")}
    both = submitted().model_copy(update={"records": (record["faces"], record["pairs"])})
    world.given["both"] = (both,)
    return world


def changed(world: World, *changes: tuple[str, str]) -> str:
    """The plan with words changed, as a document; its hash."""
    return str(world.put(four_pools.changed(four_pools.PLAN, *changes)))


def look(world: World, *thresholds: str, **more: Any) -> int:
    """Read `dev` for thresholds; the entry of the read."""
    names = thresholds or BOTH
    tables = {"detector": "faces", "matcher": "pairs"}
    which = "both" if len(names) == 2 else tables[names[0]]
    more.setdefault("submissions", world.given[which])
    assert world.read("calibrate", "dev", thresholds=names, **more).read_class == "dev"
    return int(world.index - 1)


def calibrate(world: World, *thresholds: str, **more: Any) -> Any:
    """Read `dev` for thresholds and freeze them."""
    accept = {"accept_burn": True} if more.get("accept_burn") else {}
    return world.calibrate(look(world, *thresholds, **accept), thresholds or BOTH, **more)


def relabel(world: World) -> None:
    """Hand out cases of `teste` to be labelled again, and commit to their labels."""
    world.read("relabel", "teste", draw="faces")
    world.read("relabel", "teste", draw="faces")
    world.commit(world.index - 1)


def reveal(world: World, **more: Any) -> Any:
    """Reveal `teste`."""
    more.setdefault("submissions", world.given["faces"])
    return world.read("reveal", "teste", "agreement", "recall", **more)


def contrast(
    world: World,
    rung: str | None = None,
    state: str | None = None,
    computed: str | None = None,
    **more: Any,
) -> Any:
    """Run the analysis on `contraste`, and record a result in `state` if one is given."""
    more.setdefault("submissions", world.given["pairs"])
    made = world.run("differential", "contraste", **({} if rung is None else {"rung": rung}), **more)
    if state is not None:
        world.result(world.index - 1, state, "contraste", computed)
    return made


def gate(world: World, **more: Any) -> Any:
    """Ask `guarda`."""
    more.setdefault("submissions", world.given["images"])
    return world.read("gate", "guarda", *more.pop("analyses", ("release",)), **more)


@pytest.fixture
def ready(faces: World) -> World:
    """The study with its thresholds frozen and its second labels committed."""
    calibrate(faces)
    relabel(faces)
    return faces
