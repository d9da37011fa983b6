"""No byte of a pool's content goes out of a process, through no call of the system: not to a file that is gone again.

A library written in C (`writes.c`) is preloaded into a process that lives the whole story, and looks at whatever it
writes, sends or copies.
"""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.secrets.canaries import CANARY
from tests.secrets.conftest import write_files
from tests.secrets.story import lines

Shell = Any
HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory, preloaded: Callable[[Path, Path], Path]) -> Path:
    """The compiled library."""
    return preloaded(HERE / "writes.c", tmp_path_factory.mktemp("shim"))


def watched(shell: Shell, shim: Path, log: Path, *words: str) -> list[str]:
    """Let a process live with the library in it, and return what that noted."""
    ran = subprocess.run(
        [sys.executable, HERE / "told.py", *words],
        cwd=shell.folder,
        env={
            **shell.environment,
            "LD_PRELOAD": str(shim),
            "LACRE_WATCH_FOR": CANARY,
            "LACRE_WATCH_LOG": str(log),
            "TMPDIR": str(shell.folder.parent),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    *noted, seen = log.read_text().splitlines()
    assert int(seen.removeprefix("seen ")) > 0, "it was not there"
    return noted


def test_no_plaintext_is_written_whatever_becomes_of_it(shell: Shell, shim: Path, tmp_path: Path) -> None:
    write_files(shell.folder)
    assert watched(shell, shim, tmp_path / "noted", json.dumps(lines())) == []


def test_a_temporary_file_that_is_gone_again_is_seen(shell: Shell, shim: Path, tmp_path: Path) -> None:
    write_files(shell.folder)
    (noted,) = watched(shell, shim, tmp_path / "noted", "[]", "--leak")
    assert noted.startswith("write ")
    assert noted.endswith("(deleted)")
