"""A whole history written and signed again by the owner, who has every key: any older memory finds it.

Nothing in the copy itself can: its signatures are true, its tree is right, and the law was kept. That is the limit
that the audit, the bundle and the README state.
"""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.tampering.life import ENTRIES
from tests.tampering.place import put_history
from tests.tampering.test_register import audited

import lacre
from lacre import api
from lacre.audit.heads import Memory

if TYPE_CHECKING:
    from tests.tampering.forging import Forger, History, Predicate
    from tests.tampering.life import Life
    from tests.tampering.place import Place
    from tests.tampering.tally import Tally
    from tests.tampering.trees import Files

SIZES = range(1, ENTRIES)


@pytest.fixture(scope="module")
def rewritten(forger: Forger) -> History:
    """The same life, said to have begun on another day: no entry with a request in it keeps its bytes."""

    def edit(index: int, predicate: Predicate) -> None:
        if index == 0:
            predicate["time"] = "2020-01-01T00:00:00.000000Z"

    return forger.rewritten(edit)


@pytest.fixture
def told_anew(place: Place, rewritten: History) -> Place:
    with place.changing() as database:
        put_history(database, rewritten.datas, rewritten.nodes(), rewritten.checkpoint())
    return place


def test_without_a_memory_nothing_is_found_and_that_is_said(
    told_anew: Place, rewritten: History, register: Files, bundled: Files
) -> None:
    report = told_anew.audit()
    assert report.ok
    assert "rollback" in str(report)
    published = audited({**register, **rewritten.files()})
    assert published.ok
    assert {each.code for each in published.warnings} >= {"authenticity-not-shown"}
    assert rewritten.checkpoint() != bundled["checkpoint"]


def kept(folder: Path, history: History) -> dict[str, tuple[int, Path]]:
    """A receipt and a checkpoint for each size the ledger had, and a second receipt of an earlier entry."""
    made = {}
    for size in SIZES:
        for name, data in (
            (f"receipt of {size}", history.receipt(size - 1, size)),
            (f"receipt of {size}, earlier", history.receipt((size - 1) // 2, size)),
            (f"checkpoint of {size}", history.checkpoint(size)),
        ):
            path = folder / name
            path.write_bytes(data)
            made[name] = (size, path)
    return made


def test_every_older_receipt_and_checkpoint_finds_it(
    told_anew: Place, forger: Forger, tmp_path: Path, tally: Tally
) -> None:
    """All are held against it in one audit, each by itself: a finding names the memory it is of."""
    memories = kept(tmp_path, forger.history())
    report = told_anew.audit(memory=[path for _size, path in memories.values()])
    found = {each.fields["memory"] for each in report.findings if each.code == "memory-rewritten"}
    proved = {each.fields["memory"]: each.entry for each in report.findings if each.code == "memory-entry"}
    tally.tried += len(memories)
    tally.slipped += [name for name in memories if name not in found]
    for size in SIZES:
        if forger.datas[size - 1] != entries(told_anew)[size - 1]:
            assert proved[f"receipt of {size}"] == size - 1
    for name in ("receipt of 1", f"receipt of {ENTRIES - 1}", "checkpoint of 7"):
        tally.judge(name, partial(told_anew.audit, memory=[memories[name][1]]), codes={"memory-rewritten"})


def entries(place: Place) -> list[bytes]:
    with place.opened() as database:
        return [row[0] for row in database.execute('SELECT envelope FROM entries ORDER BY "index"')]


def test_the_history_itself_stands_against_all_of_them(place: Place, forger: Forger, tmp_path: Path) -> None:
    """Guards the test above."""
    memories = kept(tmp_path, forger.history())
    assert place.audit(memory=[path for _size, path in memories.values()]).ok


def test_every_older_register_finds_it(told_anew: Place, life: Life, tally: Tally) -> None:
    for moment in life.moments:
        found = tally.judge(f"register of {moment.size}", partial(told_anew.audit, memory=[moment.registry]),
                            codes={"memory-rewritten"})  # fmt: skip
        assert [each.code for each in found.findings] == ["memory-rewritten"]


def test_a_register_and_a_bundle_of_it_are_found_too(
    life: Life, forger: Forger, rewritten: History, register: Files, tmp_path: Path, tally: Tally
) -> None:
    files = {**register, **rewritten.files()}
    history = forger.history()
    memories = [Memory.parse(f"{size}", history.receipt(size // 2, size)) for size in SIZES]
    report = audited(files, memories)
    found = {each.fields["memory"] for each in report.findings if each.code == "memory-rewritten"}
    tally.tried += len(memories)
    tally.slipped += [f"register against {size}" for size in SIZES if str(size) not in found]
    # The bundle is the true one, and what is kept is of the other history: either way they are two.
    paths = [path for _size, path in kept(tmp_path, rewritten).values()]
    verified = lacre.verify(life.now.bundle, memory=paths)
    found = {each.fields["memory"] for each in verified.findings if each.code == "memory-rewritten"}
    tally.tried += len(paths)
    tally.slipped += [f"bundle against {path.name}" for path in paths if path.name not in found]
    assert "rewriting" in lacre.verify(life.now.bundle).not_shown


@pytest.mark.parametrize("first", [1, 2, 10, 11, 25, 34, ENTRIES - 2])
def test_a_history_rewritten_from_an_entry_on(
    place: Place, forger: Forger, life: Life, tmp_path: Path, tally: Tally, first: int
) -> None:
    """Memories that saw the entry find it, and those that saw less cannot; what this machine remembers does."""

    def edit(index: int, predicate: Predicate) -> None:
        if index == first:
            predicate["time"] = predicate["time"][:-2] + ("1Z" if predicate["time"][-2] == "0" else "0Z")

    history = forger.rewritten(edit)
    assert history.datas[:first] == life.datas[:first]
    assert history.datas[first] != life.datas[first]
    with place.changing() as database:
        put_history(database, history.datas, history.nodes(), history.checkpoint())
    assert place.audit().ok
    memories = kept(tmp_path, forger.history())
    report = place.audit(memory=[path for _size, path in memories.values()])
    found = {each.fields["memory"] for each in report.findings}
    saw = {name for name, (size, _path) in memories.items() if size > first}
    tally.tried += len(saw)
    tally.slipped += sorted(saw - found)
    assert found <= saw
    report = tally.judge("this machine", lambda: api.audit(place.folder, state=life.folder.parent / "state"))
    assert [each.code for each in report.findings] == ["memory-rewritten"]


def test_this_machine_finds_a_whole_history_rewritten(
    told_anew: Place, life: Life, tmp_path: Path, tally: Tally
) -> None:
    """Its genesis is another, so by that it would be a ledger never seen: but the log's own keys signed both."""
    state = tmp_path / "state"
    shutil.copytree(life.folder.parent / "state", state)
    report = tally.judge(
        "this machine", lambda: api.audit(told_anew.folder, state=state), codes={"memory-rewritten"}
    )
    assert [each.code for each in report.findings] == ["memory-rewritten"]
