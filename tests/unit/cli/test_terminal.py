"""`lacre` on a real terminal: it asks, it colours, and it leaves standard output to the answer."""

import os
import pty
import re
import select
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

PATIENCE = 60.0  # seconds


# A session of its own, whose terminal is its standard input: what is typed there can interrupt it.
# (`pty.fork` would do that too, and is unsafe in a process with threads.)
OWN_TERMINAL = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.executable, [sys.executable, "-m", "lacre", *sys.argv[1:]])
"""


def typed(arguments: Sequence[str], answers: Sequence[str] = (), **environment: str) -> tuple[int, str]:
    """Run `lacre` on a terminal, answer its questions in turn, and return its status and its screen."""
    terminal, inside = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", OWN_TERMINAL, *arguments],
        stdin=inside,
        stdout=inside,
        stderr=inside,
        start_new_session=True,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "80", **environment},
    )
    os.close(inside)
    screen, asked, waiting = b"", 0, list(answers)
    while select.select([terminal], [], [], PATIENCE)[0]:
        try:
            read = os.read(terminal, 65536)
        except OSError:  # how Linux says that the other end was closed
            break
        if not read:
            break
        screen += read
        if waiting and screen[asked:].endswith(b": "):
            asked = len(screen)
            os.write(terminal, waiting.pop(0).encode() + b"\n")
    os.close(terminal)
    status = process.wait(PATIENCE)
    assert not waiting, screen
    return status, screen.decode().replace("\r\n", "\n")


@pytest.fixture(autouse=True)
def _somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NO_COLOR", raising=False)


def test_new_keys_are_closed_by_what_is_typed(tmp_path: Path) -> None:
    status, screen = typed(["init"], ["secret", "secret"])
    assert status == 0
    assert "secret" not in screen
    assert "closed with your passphrase" in " ".join(screen.split())
    assert (tmp_path / ".lacre").is_dir()


def test_what_is_typed_differently_makes_no_ledger(tmp_path: Path) -> None:
    status, screen = typed(["init"], ["secret", "other"])
    assert status == 2
    assert "no ledger was made" in screen
    assert not (tmp_path / ".lacre").exists()


def test_empty_leaves_the_keys_open() -> None:
    status, screen = typed(["init"], [""])
    assert status == 0
    assert "whoever can read the folder can use them" in " ".join(screen.split())


def test_an_answer_is_coloured_unless_asked_not_to_be() -> None:
    assert typed(["init"], [""])[0] == 0
    assert "\x1b[1;36m" in typed(["status"])[1]
    plain = typed(["status"], NO_COLOR="1")[1]
    assert "\x1b[" not in plain
    assert not re.search(r"\x1b", typed(["status", "--json"])[1])


def test_an_interruption_at_a_question_is_130() -> None:
    status, screen = typed(["init"], ["\x03"])
    assert status == 130
    assert "lacre: Interrupted." in screen
