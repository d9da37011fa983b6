"""What is private is for its owner alone: files 0600, folders 0700, whatever the mask, and while they are written too.

Public is what is made to be handed out: registers, bundles, reports, receipts, and the public half of a key. All else
that lacre writes is private: the ledger, this machine's memory, keys, backups, requests, and what `inputs` and
`sample` hand out.
"""

import os
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.secrets.conftest import write_files
from tests.secrets.story import lines

Shell = Any
PUBLIC = ("registry", "bundle.zip", "only.zip", "report.html", ".receipt", ".pub")


@contextmanager
def masked(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


def modes(*folders: Path) -> dict[str, int]:
    """The mode of everything below the folders, and of them, by path."""
    found = {}
    for folder in folders:
        for path in (folder, *folder.rglob("*")):
            found[str(path)] = stat.S_IMODE(path.stat().st_mode)
    return found


def open_to_others(found: dict[str, int]) -> dict[str, str]:
    """What is neither a file 0600 nor a folder 0700."""
    return {
        path: oct(mode) for path, mode in found.items() if mode != (0o700 if Path(path).is_dir() else 0o600)
    }


@pytest.mark.parametrize("mask", [0, 0o077], ids=oct)
def test_what_is_private_is_its_owner_s_alone(shell: Shell, mask: int) -> None:
    """Under the mask that takes nothing, and the one that takes all that others could have; the rest lie between."""
    write_files(shell.folder)
    given = set(shell.folder.iterdir())
    named = {"custodian": ""}
    with masked(mask):
        for words, status in lines():
            ran = shell.lacre(*(word.format(**named) for word in words), "--json")
            assert ran.status == status, words
            if words[:3] == ["key", "new", "custodian.txt"]:
                named["custodian"] = ran.document["recipient"]
    state = Path(shell.environment["XDG_STATE_HOME"]) / "lacre"
    assert open_to_others(modes(shell.folder / ".lacre", state)) == {}
    made = {path for path in shell.folder.iterdir() if path not in given and path.name != ".lacre"}
    private = {path for path in made if not path.name.endswith(PUBLIC)}
    assert {path.name for path in private} == {
        "ana.pem",
        "ask.lacre",
        "backup.age",
        "blank.csv",
        "custodian.txt",
        "drawn.csv",
        "to-predict.csv",
    }
    assert open_to_others(modes(*private)) == {}
    for path in (made - private) | set((shell.folder / "registry").rglob("*")):
        wanted = 0o755 if path.is_dir() else 0o644
        assert stat.S_IMODE(path.stat().st_mode) == wanted, "made to be served, whatever the mask"


def test_so_it_is_while_they_are_written(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """At every flush to the disk what lies there is looked at: temporary files, journals, folders in the making."""
    write_files(shell.folder)
    state = Path(shell.environment["XDG_STATE_HOME"])
    seen: dict[str, int] = {}
    flush = os.fsync

    def look(handle: int) -> None:
        for folder in (shell.folder, state):
            for path in folder.rglob("*"):
                if ".lacre" in str(path.relative_to(folder.parent)) or folder == state:
                    seen[str(path)] = stat.S_IMODE(path.stat().st_mode)
        flush(handle)

    with masked(0):
        for words, status in lines(SHORT):
            with monkeypatch.context() as patch:
                if words[0] != "register":  # it writes a receipt, which is public
                    patch.setattr(os, "fsync", look)
                assert shell.lacre(*words).status == status, words
    assert len(seen) > 50
    assert {path: oct(mode) for path, mode in seen.items() if mode & 0o077} == {}


SHORT = """
init
register protocol.yaml
seal secret teste teste.csv
inputs secret teste -o to-predict.csv
reveal secret --submission teste-predictions.csv
"""


def test_the_database_s_journal_is_too(shell: Shell) -> None:
    """SQLite gives a journal the mode of its database; it is there while a transaction writes."""
    write_files(shell.folder)
    with masked(0):
        shell.json("init")
        shell.json("register", "protocol.yaml")
        found: set[int] = set()
        done = threading.Event()
        journal = shell.folder / ".lacre" / "ledger.db-journal"

        def watch() -> None:
            while not done.is_set():
                try:
                    found.add(stat.S_IMODE(journal.stat().st_mode))
                except FileNotFoundError:
                    continue

        watcher = threading.Thread(target=watch)
        watcher.start()
        for number in range(5):
            shell.json("deviate", "secret", f"words {number}")
        done.set()
        watcher.join()
    assert found == {0o600}
