"""The ledger that is tampered with, made once for each process; and the count of what was tried."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import pytest
from tests import once
from tests.tampering.forging import Forger
from tests.tampering.life import Life, lived
from tests.tampering.place import Place
from tests.tampering.tally import Tally
from tests.unit.publish.conftest import held

from lacre.publish.archive import unpack
from lacre.store import engine


@pytest.fixture(scope="session", autouse=True)
def _read_once() -> Iterator[None]:
    """Of thousands of audits each meets a history that differs in a place or two."""
    with pytest.MonkeyPatch.context() as patch:
        once.read_once(patch)
        yield


@pytest.fixture(scope="session")
def life(tmp_path_factory: pytest.TempPathFactory) -> Life:
    """The ledger, and what was copied on the way."""
    return lived(tmp_path_factory.mktemp("life"))


@pytest.fixture(scope="session")
def forger(life: Life) -> Forger:
    """Somebody who holds every key of the ledger, and writes its history again."""
    return Forger(life.datas, life.keys)


@pytest.fixture(scope="session")
def _place(life: Life, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with pytest.MonkeyPatch.context() as patch:
        # One for each path: its connections are closed after each audit, and its compiled statements are kept.
        patch.setattr(engine, "make_engine", lru_cache(engine.make_engine))
        yield Place(life, tmp_path_factory.mktemp("place"))


@pytest.fixture
def place(_place: Place) -> Place:
    """A copy of the ledger to lay hands on, as it was."""
    _place.restore()
    return _place


@pytest.fixture(scope="session")
def register(life: Life) -> dict[str, bytes]:
    """The files of the published register."""
    return held(life.now.registry)


@pytest.fixture(scope="session")
def bundled(life: Life) -> dict[str, bytes]:
    """The files of the bundle."""
    return unpack(life.now.bundle.read_bytes())


@pytest.fixture
def tally(record_property: Any) -> Iterator[Tally]:
    """Count what a test tries; nothing that it tried may have slipped through."""
    made = Tally()
    yield made
    for name, count in made.counts().items():
        record_property(name, count)
    assert not made.slipped, "\n".join([f"{len(made.slipped)} slipped through:", *made.slipped[:20]])
    assert made.tried or made.refused or made.same, "nothing was tried"


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say how many changes were tried and found, over all processes."""
    total: dict[str, int] = {}
    ended = (each for each in terminalreporter.stats.get("", ()) if each.when == "teardown")
    for report in ended:
        for name, count in report.user_properties:
            if str(name).startswith("tampering "):
                total[name] = total.get(name, 0) + count
    if total:
        said = ", ".join(f"{count} {name.removeprefix('tampering ')}" for name, count in total.items())
        terminalreporter.write_line(f"tampering: {said}")
