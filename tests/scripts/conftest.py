"""The command line as a user has it: a process, a folder and a machine's memory of its own."""

import contextlib
import io
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from tests.scripts.staged import Stages, lived
from tests.secrets.canaries import CANARY, COLUMN, sings
from tests.studies import plan

from lacre.cli import main

HEAD = f"case_id,note,{COLUMN},label,sex"
SMALL = plan(columns={"note": "{type: text, is: input}"})
"""A study whose gate 200 right predictions pass."""


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


class _Watched(subprocess.Popen[str]):
    """A process whose output holds no cell of a sealed pool."""

    def communicate(self, input: str | None = None, timeout: float | None = None) -> tuple[str, str]:  # noqa: A002
        out, err = super().communicate(input, timeout)
        assert not sings(out), "a cell of a sealed pool"
        assert not sings(err), "a cell of a sealed pool"
        return out, err


@dataclass(frozen=True)
class Shell:
    """A folder in which lacre is called."""

    folder: Path
    environment: Mapping[str, str]

    def start(self, *words: str) -> "subprocess.Popen[str]":
        """Begin a call without waiting for it."""
        return _Watched(
            [sys.executable, "-m", "lacre", *words],
            cwd=self.folder,
            env=dict(self.environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def lacre(self, *words: str) -> Ran:
        """Call lacre and wait: its `main`, with this folder and environment, as a process of its own would."""
        out, err = io.StringIO(), io.StringIO()
        with (
            contextlib.chdir(self.folder),
            mock.patch.dict(os.environ, dict(self.environment), clear=True),
            mock.patch.object(sys, "stdin", io.StringIO()),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
            warnings.catch_warnings(),
        ):
            status = main(list(words))
        assert not sings(out.getvalue()), "a cell of a sealed pool"
        assert not sings(err.getvalue()), "a cell of a sealed pool"
        return Ran(status, out.getvalue(), err.getvalue())

    def write_small(self, note: str = "") -> None:
        """Write the files of the small study."""
        (self.folder / "protocol.yaml").write_text(SMALL)
        rows = [f"{n},{note}{n},{CANARY},{n % 3 == 0:d},{'female' if n % 2 else 'male'}" for n in range(200)]
        (self.folder / "cases.csv").write_text(f"{HEAD}\n" + "\n".join(rows) + "\n")
        predicted = [f"{n},{n % 3 == 0:d}" for n in range(200)]
        (self.folder / "predictions.csv").write_text("case_id,prediction\n" + "\n".join(predicted) + "\n")

    def write_other(self, name: str) -> str:
        """Write the protocol of another study, which is the small one but for its name; return the file's name."""
        (self.folder / f"{name}.yaml").write_text(SMALL.replace("study: small", f"study: {name}"))
        return f"{name}.yaml"

    def write_cases(self, name: str) -> str:
        """Write 200 cases that no other file has; return the file's name."""
        rows = [
            f"{name}-{n},{name} {n},{CANARY},{n % 3 == 0:d},{'female' if n % 2 else 'male'}"
            for n in range(200)
        ]
        (self.folder / f"{name}.csv").write_text(f"{HEAD}\n" + "\n".join(rows) + "\n")
        return f"{name}.csv"

    def seal_small(self, note: str = "") -> tuple[str, ...]:
        """Register and seal the small study; return the words of its reveal."""
        self.write_small(note)
        self.json("init")
        self.json("register", "protocol.yaml")
        self.json("seal", "small", "teste", "cases.csv")
        return ("reveal", "small", "--submission", "predictions.csv", "--json")

    def json(self, *words: str, expect: int = 0) -> dict[str, Any]:
        """Call lacre with --json, expect an exit status, and return the document."""
        ran = self.lacre(*words, "--json")
        assert ran.status == expect, f"{words}: {ran.status}\n{ran.out}\n{ran.err}"
        return ran.document


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """An empty folder and a machine that remembers nothing."""
    return _shell(tmp_path)


@pytest.fixture(scope="session")
def shells(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Shell]:
    """More of them."""
    return lambda: _shell(tmp_path_factory.mktemp("shell"))


@pytest.fixture(scope="session")
def stages(shells: Callable[[], Shell], tmp_path_factory: pytest.TempPathFactory) -> Stages:
    """The study of all four pools; for `at` to copy."""
    return lived(shells(), tmp_path_factory.mktemp("stages"))


@pytest.fixture
def at(stages: Stages, tmp_path: Path) -> Callable[[str], Shell]:
    """Copy the study of all four pools at a stage."""
    return lambda stage: stages.copy(stage, tmp_path / stage)


def _shell(root: Path) -> Shell:
    folder = root / "work"
    folder.mkdir()
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("LACRE_", "XDG_"))}
    own = {"XDG_STATE_HOME": str(root / "state"), "COLUMNS": "100", "LC_ALL": "C.UTF-8", "LACRE_LANG": "en"}
    return Shell(folder, {**kept, **own})
