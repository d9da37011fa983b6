"""The command line as a user has it: a process, a folder and a machine's memory of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest


@dataclass(frozen=True)
class Ran:
    """A finished call: its exit status and what it wrote."""

    status: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        """The one JSON document on stdout."""
        loaded: dict[str, Any] = json.loads(self.out)
        return loaded


@dataclass(frozen=True)
class Shell:
    """A folder in which lacre is called."""

    folder: Path
    environment: Mapping[str, str]

    def start(self, *words: str) -> "subprocess.Popen[str]":
        """Begin a call without waiting for it."""
        return subprocess.Popen(
            [sys.executable, "-m", "lacre", *words],
            cwd=self.folder,
            env=dict(self.environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def lacre(self, *words: str) -> Ran:
        """Call lacre and wait."""
        process = self.start(*words)
        out, err = process.communicate(timeout=300)
        return Ran(process.returncode, out, err)

    def json(self, *words: str, expect: int = 0) -> dict[str, Any]:
        """Call lacre with --json, expect an exit status, and return the document."""
        ran = self.lacre(*words, "--json")
        assert ran.status == expect, f"{words}: {ran.status}\n{ran.out}\n{ran.err}"
        return ran.document


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """An empty folder and a machine that remembers nothing."""
    return _shell(tmp_path)


@pytest.fixture
def shells(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Shell]:
    """More of them."""
    return lambda: _shell(tmp_path_factory.mktemp("shell"))


def _shell(root: Path) -> Shell:
    folder = root / "work"
    folder.mkdir()
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("LACRE_", "XDG_"))}
    return Shell(
        folder, {**kept, "XDG_STATE_HOME": str(root / "state"), "COLUMNS": "100", "LC_ALL": "C.UTF-8"}
    )
