"""A process that is killed in the middle of a read leaves no core, and no library of its own tells where it stood."""

import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.secrets.canaries import sings

Shell = Any

CALLS = {
    "check": ("sealed", "lacre.tables.read.objects", "check protocol.yaml dev.csv"),
    "seal": ("sealed", "lacre.tables.read.objects", "seal secret contraste more.csv"),
    "inputs": ("sealed", "lacre.pools.seal.decrypt", "inputs secret teste -o out.csv"),
    "reveal": ("sealed", "lacre.pools.seal.decrypt", "reveal secret --submission teste-predictions.csv"),
    "rewrap": ("sealed", "lacre.pools.seal.unwrap", "rewrap secret teste --recipient {recipient}"),
    "erratum": ("revealed", "lacre.pools.seal.decrypt", "erratum secret@5 corrected.csv --reason swapped"),
    "sample": ("faces", "lacre.pools.seal.decrypt", "sample faces --relabel faces -o out.csv"),
    "commit": ("faces", "lacre.pools.seal.decrypt", "commit faces relabels again.csv"),
    "calibrate": (
        "faces",
        "lacre.pools.seal.decrypt",
        "calibrate faces detector --submission dev-scores.csv",
    ),
    "gate": ("faces", "lacre.pools.seal.decrypt", "gate faces --submission good.csv"),
    "answer": ("sealed", "lacre.pools.seal.decrypt", "reveal --request ask.lacre"),
}
"""For each verb that has cells, or what opens them, in memory: a function that runs before it does."""

CODE = """
import ctypes, importlib, json, os, resource, signal, sys
module, _dot, name = sys.argv[1].rpartition(".")
def die(*_given, **_named):
    canaries = [open(path).read() for path in ("dev.csv", "teste.csv")]
    print(json.dumps([resource.getrlimit(resource.RLIMIT_CORE)[0], ctypes.CDLL(None).prctl(3, 0, 0, 0, 0)]), flush=True)
    os.kill(os.getpid(), signal.SIGABRT)
setattr(importlib.import_module(module), name, die)
from lacre.cli import main
main(sys.argv[2:])
"""


def _ready() -> None:
    """Let a process dump its core, as far as the system lets it."""
    resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def dies(folder: Path, environment: dict[str, str], *words: str) -> tuple[str, str, bool]:
    """Let a process die of SIGABRT; return what it wrote, and whether the system says that it dumped a core."""
    out, err = folder / "stdout.log", folder / "stderr.log"
    with out.open("w") as standard, err.open("w") as error:
        process = subprocess.Popen(
            [sys.executable, "-X", "dev", "-W", "always", "-c", *words],
            cwd=folder,
            env={**environment, "PYTHONFAULTHANDLER": "1"},
            stdout=standard,
            stderr=error,
            preexec_fn=_ready,  # noqa: PLW1509 - pytest has no other thread here
        )
        _child, status = os.waitpid(process.pid, 0)
        process.returncode = status
    assert os.WTERMSIG(status) == signal.SIGABRT, err.read_text()
    return out.read_text(), err.read_text(), os.WCOREDUMP(status)


@pytest.mark.parametrize("verb", CALLS)
def test_a_process_that_dies_with_cells_in_memory_leaves_no_core(
    at: Callable[[str], Shell], verb: str
) -> None:
    """The limit and the kernel's own flag are looked at where the process dies, since a system may dump none anyway."""
    stage, place, line = CALLS[verb]
    shell = at(stage)
    if verb == "answer":
        shell.json("reveal", "secret", "--submission", "teste-predictions.csv", "--request-out", "ask.lacre")
    recipient = shell.json("key", "new", "to.txt", "--identity")["recipient"]
    words = line.format(recipient=recipient).split()
    before = {*shell.folder.iterdir()}
    out, err, dumped = dies(shell.folder, dict(shell.environment), CODE, place, *words)
    assert json.loads(out) == [0, 0]
    assert not dumped
    assert not [new for new in {*shell.folder.iterdir()} - before if "core" in new.name]
    assert not sings(out + err)
    assert "Abort" in err, "the fault handler was there, and had nothing to tell"


def test_a_process_that_looks_on_may_dump(at: Callable[[str], Shell]) -> None:
    """What holds no cell is left as it is; so the limit above is lacre's doing."""
    shell = at("sealed")
    out, _err, _dumped = dies(
        shell.folder, dict(shell.environment), CODE, "lacre.report.json.as_json", "log", "--json"
    )
    assert json.loads(out) == [resource.RLIM_INFINITY, 1]
