"""Where a ledger lies, and how its folder comes to be there whole or not at all."""

import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, suppress
from pathlib import Path

import pytest

from lacre.errors import LedgerExists, LedgerNotFound, NotReadable, NotWritten
from lacre.store.discover import Layout, create_layout, find_ledger, ledger_at

Nobody = Callable[[], AbstractContextManager[None]]


def make(folder: Path) -> Layout:
    with create_layout(folder) as layout:
        layout.database.write_bytes(b"")
    return Layout(folder / ".lacre")


def test_a_layout_is_private_and_ignored_by_git(tmp_path: Path) -> None:
    layout = make(tmp_path)
    assert list(tmp_path.iterdir()) == [layout.root]
    assert {path.name for path in layout.root.iterdir()} == {
        ".gitignore",
        "keys",
        "ledger.db",
        "locks",
        "pools",
    }
    assert (layout.root / ".gitignore").read_bytes() == b"*\n"
    for folder in (layout.root, layout.keys, layout.pools, layout.locks):
        assert folder.stat().st_mode & 0o777 == 0o700


def test_a_ledger_is_found_upwards(tmp_path: Path) -> None:
    layout = make(tmp_path / "study")
    deep = tmp_path / "study" / "a" / "b"
    deep.mkdir(parents=True)
    for start in (tmp_path / "study", deep, layout.root, layout.keys):
        assert find_ledger(start) == layout
    inner = make(deep)
    assert find_ledger(deep) == inner
    with pytest.raises(LedgerNotFound):
        find_ledger(tmp_path)


def test_a_ledger_is_named_by_either_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    layout = make(tmp_path)
    monkeypatch.chdir(tmp_path)
    for named in (tmp_path, layout.root, Path(), Path(".lacre")):
        assert ledger_at(named) == layout
    (tmp_path / "below").mkdir()
    for named in (tmp_path / "below", tmp_path / "absent", layout.database):
        with pytest.raises(LedgerNotFound) as caught:
            ledger_at(named)
        assert "lacre init" in caught.value.way_out


def test_a_ledger_is_made_once_in_a_place(tmp_path: Path) -> None:
    layout = make(tmp_path)
    layout.database.write_bytes(b"mine")
    with pytest.raises(LedgerExists):
        make(tmp_path)
    assert layout.database.read_bytes() == b"mine"
    assert list(tmp_path.iterdir()) == [layout.root]


def test_of_two_makers_one_succeeds(tmp_path: Path) -> None:
    with ExitStack() as slower:
        slower.enter_context(create_layout(tmp_path)).database.write_bytes(b"slower")
        make(tmp_path).database.write_bytes(b"faster")
        with pytest.raises(LedgerExists):
            slower.close()
    assert find_ledger(tmp_path).database.read_bytes() == b"faster"
    assert len(list(tmp_path.iterdir())) == 1


def test_a_failed_making_leaves_nothing(tmp_path: Path) -> None:
    with suppress(ZeroDivisionError), create_layout(tmp_path) as layout:
        layout.database.write_bytes(b"")
        with pytest.raises(LedgerNotFound):
            find_ledger(tmp_path)
        _ = 1 / 0
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_vanished_meanwhile(tmp_path: Path) -> None:
    (tmp_path / "study").mkdir()
    with ExitStack() as maker:
        maker.enter_context(create_layout(tmp_path / "study"))
        shutil.rmtree(tmp_path / "study")
        with pytest.raises(NotWritten):
            maker.close()


def test_places_one_may_not_enter(open_folder: Path, as_nobody: Nobody) -> None:
    (open_folder / "closed").mkdir(mode=0o700)
    with as_nobody():
        for look in (find_ledger, ledger_at):
            with pytest.raises(NotReadable):
                look(open_folder / "closed")
        with pytest.raises(NotWritten):
            make(open_folder)


def test_a_file_is_no_place(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(NotWritten):
        make(tmp_path / "file")
    with pytest.raises(LedgerNotFound):
        ledger_at(tmp_path / "file")
