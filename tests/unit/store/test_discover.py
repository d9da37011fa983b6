"""Where a ledger lies, and how its folder comes to be there whole or not at all."""

import errno
import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, suppress
from pathlib import Path

import pytest

from lacre.durable import sync_folder
from lacre.errors import LedgerExists, LedgerNotFound, NotReadable, NotWritten, StoreCommitUncertain
from lacre.store import discover
from lacre.store.discover import Layout, create_layout, find_ledger, ledger_at
from lacre.store.locks import making

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


def test_what_a_killed_making_left_goes_with_the_next(tmp_path: Path) -> None:
    for name in ("dead", "another-s"):
        (tmp_path / f".lacre-unfinished-{name}" / "keys").mkdir(parents=True)
    (tmp_path / ".lacre-unfinished-dead" / "keys" / "person.pem").write_bytes(b"secret")
    (tmp_path / ".lacre-unfinished-another-s" / "thesis.tex").write_bytes(b"")
    (tmp_path / ".lacre-unfinished-file").write_bytes(b"another verb's")
    layout = make(tmp_path)
    kept = {".lacre-unfinished-another-s", ".lacre-unfinished-file"}
    assert {path.name for path in tmp_path.iterdir()} == {layout.root.name, *kept}


def test_nobody_tidies_while_another_makes(tmp_path: Path) -> None:
    """A making that looks dead may be that of a process which lives; while one does, nothing is removed."""
    (tmp_path / ".lacre-unfinished-dead" / "keys").mkdir(parents=True)
    with making(tmp_path, lambda: None):
        make(tmp_path)
        assert (tmp_path / ".lacre-unfinished-dead").exists()


@pytest.mark.parametrize("returns", [True, False])
def test_a_name_that_may_not_last_is_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, returns: bool
) -> None:
    """The flush after the last rename fails; then, it may be, the rename that takes it back does, too."""
    flush, rename = sync_folder, Path.rename

    def fail_at_last(folder: Path) -> None:
        if folder == tmp_path:
            raise OSError(errno.EIO, "Input/output error")
        flush(folder)

    def fail_to_return(self: Path, target: Path) -> Path:
        if self.name == ".lacre" and not returns:
            raise OSError(errno.EIO, "Input/output error")
        return rename(self, target)

    monkeypatch.setattr(discover, "sync_folder", fail_at_last)
    monkeypatch.setattr(Path, "rename", fail_to_return)
    with pytest.raises(NotWritten if returns else StoreCommitUncertain):
        make(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ([] if returns else [".lacre"])


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
