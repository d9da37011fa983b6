"""ruff, its formatter and mypy have nothing to say, anywhere."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CHECKED = ("src", "tests", "migrations")


def _run(*command: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *command, *CHECKED],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_ruff_has_nothing_to_say() -> None:
    _run("ruff", "check", "--quiet", "--no-cache")


def test_every_file_is_formatted() -> None:
    _run("ruff", "format", "--check", "--quiet", "--no-cache")


def test_mypy_has_nothing_to_say() -> None:
    _run("mypy", "--no-error-summary")
