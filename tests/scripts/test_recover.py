"""A disk dies, and a backup is put back: refused, recovered, and nothing of the record is lost."""

import random
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Shell = Any


def _restore(shell: Shell, backup: Path, *, blobs: bool) -> None:
    """Put a backup over the ledger; without `blobs`, in place of it."""
    ledger = shell.folder / ".lacre"
    if not blobs:
        shutil.rmtree(ledger)
    shutil.copytree(backup, ledger, dirs_exist_ok=True)


@pytest.mark.slow
def test_a_restored_backup_is_refused_recovered_and_audited(shell: Shell) -> None:
    reveal = shell.seal_small()
    backup = shutil.copytree(shell.folder / ".lacre", shell.folder / "backup")
    result = shell.json(*reveal[:-1])
    root = shell.json("status")["root"]

    _restore(shell, backup, blobs=True)
    refused = shell.lacre(*reveal[:-1])
    assert refused.status == 2
    assert "was rolled back" in refused.err
    assert "`lacre recover`" in refused.err
    assert "`lacre recover`" in " ".join(shell.lacre("status").out.split())
    assert [each["code"] for each in shell.json("audit", expect=1)["findings"]] == ["memory-shrunk"]

    planned = shell.json("recover", "--dry-run")
    assert shell.json("audit", expect=1)["entries"] == 3, "a dry run writes nothing"
    said = shell.lacre("recover")
    assert (said.status, said.err) == (0, "")
    assert said.out.startswith("2 entries came back\nFrom 3 entries to 5\n")
    audit = shell.json("audit")
    assert (audit["ok"], audit["findings"], audit["root"]) == (True, [], root)
    assert planned["root"] == root
    assert [line["kind"] for line in planned["recovered"]] == ["read", "result"]
    shown = shell.json("show", "small@4")
    assert {name: shown[name] for name in ("analyses", "state", "standing", "read", "confirmatory")} == {
        name: result[name] for name in ("analyses", "state", "standing", "read", "confirmatory")
    }
    assert shell.json(*reveal[:-1], expect=2)["error"]["code"] == "teste-already-read"
    assert shell.lacre("recover").out.startswith("Nothing to recover")


@pytest.mark.slow
def test_sealed_files_are_named_when_they_are_lost(shell: Shell) -> None:
    reveal = shell.seal_small()
    backup = shutil.copytree(shell.folder / ".lacre", shell.folder / "backup")
    shell.json(*reveal[:-1])
    died = shutil.copytree(shell.folder / ".lacre", shell.folder / "died")

    _restore(shell, backup, blobs=False)
    recovered = shell.json("recover")
    kinds = [(each["study"], each["pool"], each["entry"], each["kind"]) for each in recovered["lost_files"]]
    assert kinds == [("small", "teste", 3, "submission"), ("small", "teste", 3, "submission-key")]
    codes = {each["code"] for each in shell.json("audit", expect=1)["findings"]}
    assert codes == {"blob-missing"}

    for lost in recovered["lost_files"]:
        path = Path(lost["path"])
        shutil.copyfile(died / path.relative_to(shell.folder / ".lacre"), path)
    assert shell.json("audit")["ok"] is True


def test_refusals_of_recover(shell: Shell) -> None:
    assert shell.json("recover", expect=2)["error"]["code"] == "ledger-not-found"
    shell.json("init")
    assert shell.json("recover")["recovered"] == []
    shutil.rmtree(Path(shell.environment["XDG_STATE_HOME"]) / "lacre")
    refusal = shell.json("recover", expect=2)["error"]
    assert refusal["code"] == "nothing-remembered"
    assert "put that folder there" in refusal["way_out"]


@pytest.mark.slow
def test_a_killed_recovery_leaves_the_older_ledger_or_the_newer(shells: Callable[[], Shell]) -> None:
    shell = shells()
    shell.seal_small()
    backup = shutil.copytree(shell.folder / ".lacre", shell.folder / "backup")
    for _ in range(6):
        shell.json("inputs", "small", "teste", "-o", "inputs.csv", "--overwrite", "--reason", "again")
    root = shell.json("status")["root"]
    draw = random.Random(18)
    for turn in range(5):
        _restore(shell, backup, blobs=False)
        process = shell.start("recover")
        time.sleep(draw.uniform(0.3, 1.5))
        process.kill()
        process.communicate()
        entries = shell.json("status")["entries"]
        assert entries in {3, 9}, turn
        shell.json("recover")
        audit = shell.json("audit")
        assert (audit["ok"], audit["root"]) == (True, root), turn
