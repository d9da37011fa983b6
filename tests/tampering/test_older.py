"""An older copy put back: of the database, of a register, of a bundle; every newer receipt finds it."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.tampering.life import ENTRIES
from tests.unit.publish.conftest import held

import lacre
from lacre import api

if TYPE_CHECKING:
    from tests.tampering.forging import Forger
    from tests.tampering.life import Life, Moment
    from tests.tampering.place import Place
    from tests.tampering.tally import Tally

SHORT = {"memory-shrunk", "memory-invalid"}
"""The latter where the log's key of then is not enrolled yet in the copy."""
MOMENTS = range(6)
"""All but the last, which is the ledger as it stands."""


@pytest.fixture(scope="module")
def newer(forger: Forger, tmp_path_factory: pytest.TempPathFactory) -> dict[int, list[Path]]:
    """A receipt and a checkpoint of each size."""
    folder, history = tmp_path_factory.mktemp("newer"), forger.history()
    made: dict[int, list[Path]] = {}
    for size in range(1, ENTRIES + 1):
        for name, data in (
            ("receipt", history.receipt(size // 3, size)),
            ("checkpoint", history.checkpoint(size)),
        ):
            path = folder / f"{name}-{size}"
            path.write_bytes(data)
            made.setdefault(size, []).append(path)
    return made


def after(newer: dict[int, list[Path]], moment: Moment) -> list[Path]:
    return [path for size, paths in newer.items() if size > moment.size for path in paths]


def slipped(tally: Tally, memories: list[Path], report: Any, code: str, size: int) -> None:
    """Each of the memories must be named: as what the copy falls short of, from its last entry on; or, where a key
    of the log signed it that was enrolled after that entry, as one that does not hold for the copy."""
    found = {each.fields["memory"] for each in report.findings if (each.code, each.entry) == (code, size)}
    later = {each.fields["memory"] for each in report.findings if each.code == "memory-invalid"}
    assert found or not memories
    tally.tried += len(memories)
    tally.slipped += [path.name for path in memories if path.name not in found | later]


def until(newer: dict[int, list[Path]], moment: Moment) -> list[Path]:
    return [path for size, paths in newer.items() if size <= moment.size for path in paths]


@pytest.fixture
def moment(life: Life, request: pytest.FixtureRequest) -> Moment:
    assert len(life.moments) == len(MOMENTS) + 1
    made: Moment = life.moments[request.param]
    return made


each_moment = pytest.mark.parametrize("moment", MOMENTS, indirect=True)


@each_moment
def test_an_older_database(
    place: Place, life: Life, moment: Moment, newer: dict[int, list[Path]], tally: Tally
) -> None:
    """By itself it is sound; blobs that came later are what a crash would leave."""
    place.database.write_bytes(moment.database.read_bytes())
    assert place.audit().ok
    assert place.audit(memory=until(newer, moment)).ok
    memories = after(newer, moment)
    report = place.audit(memory=memories)
    slipped(tally, memories, report, "memory-shrunk", moment.size)
    tally.judge("the register of later", lambda: place.audit(memory=[life.now.registry]), codes=SHORT)
    tally.judge(
        "this machine",
        lambda: api.audit(place.folder, state=life.folder.parent / "state"),
        entries={moment.size},
        codes=SHORT,
    )


@each_moment
def test_an_older_register(life: Life, moment: Moment, newer: dict[int, list[Path]], tally: Tally) -> None:
    assert api.audit(registry=moment.registry).ok
    assert api.audit(registry=moment.registry, memory=until(newer, moment)).ok
    memories = after(newer, moment)
    report = api.audit(registry=moment.registry, memory=memories)
    slipped(tally, memories, report, "memory-shrunk", moment.size)
    for later in life.moments:
        if later.size > moment.size:
            tally.judge(f"register of {later.size}",
                        partial(api.audit, registry=moment.registry, memory=[later.registry]),
                        codes=SHORT)  # fmt: skip


@each_moment
@pytest.mark.parametrize("name", ["result.zip", "result-only.zip"])
def test_an_older_bundle(
    life: Life, moment: Moment, newer: dict[int, list[Path]], tally: Tally, name: str
) -> None:
    """A newer receipt finds it. The folder of a newer register, which has the entries, shows whether it is a
    beginning of that: then it is the copy of one moment, and no more than that is said."""
    bundle = moment.folder / name
    if not bundle.exists():
        assert moment.size < 12  # before there was a result
        tally.same += 1
        return
    assert lacre.verify(bundle).ok
    assert lacre.verify(bundle, memory=until(newer, moment)).ok
    memories = after(newer, moment)
    verified = lacre.verify(bundle, memory=memories)
    slipped(tally, memories, verified, "memory-unproved", moment.size)
    shown = lacre.verify(bundle, memory=[*memories, life.now.registry])
    tally.unchanged("with the register", shown.audit, lacre.verify(bundle).audit)
    assert {each.code for each in shown.warnings} >= {"memory-newer"}


def test_every_moment_has_what_is_put_back(life: Life) -> None:
    """Guards the suite: the copies differ, and the newest is the ledger as it stands."""
    assert [moment.size for moment in life.moments] == sorted({moment.size for moment in life.moments})
    assert life.now.size == ENTRIES
    assert len({moment.database.read_bytes() for moment in life.moments}) == len(life.moments)
    assert all(held(moment.registry) for moment in life.moments)
