"""status, log, show and audit, as they are typed; they change nothing, and a finding ends with 1."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from .conftest import Lacre


@pytest.fixture
def revealed(study: Lacre) -> Lacre:
    assert study("reveal", "screen", "--submission", "bad.csv").status == 1
    return study


def test_what_is_shown_is_what_was_asked_for(revealed: Lacre) -> None:
    assert "teste" in revealed("status").out
    assert revealed("show").out == revealed("status").out
    assert "parity of misses" in revealed("show", "screen").out
    assert revealed("show", "screen@4").out.startswith("screen@4  FAIL")
    assert revealed("show", "@1").out.startswith("Entry 1: registered")
    assert revealed("show", "1", "--json").document["kind"] == "register"
    for absent in ("other", "screen@99", "@99", "screen@x"):
        assert revealed("show", absent).status == 2


def test_a_fail_is_shown_without_failing(revealed: Lacre) -> None:
    assert revealed("show", "screen@4").status == 0
    assert revealed("audit").status == 0
    story = revealed("audit", "screen@4")
    assert story.status == 0
    assert "The story of screen@4" in story.out


def test_the_log_is_of_all_or_of_one_study(revealed: Lacre) -> None:
    whole = revealed("log", "--json").document["history"]
    own = revealed("log", "screen", "--json").document["history"]
    assert [line["entry"] for line in whole] == [0, 1, 2, 3, 4]
    assert own == whole[1:]
    assert "read teste, class teste, number 1" in revealed("log").out
    assert revealed("log", "other").status == 2


@pytest.mark.parametrize("verb", ["status", "log", "show", "audit"])
@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_no_line_is_wider_than_the_terminal(
    revealed: Lacre, monkeypatch: pytest.MonkeyPatch, verb: str, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    assert max(len(line) for line in revealed(verb).out.splitlines()) <= width


def test_looking_changes_nothing(revealed: Lacre, tmp_path: Path) -> None:
    before = (tmp_path / ".lacre" / "ledger.db").read_bytes()
    for call in (["status"], ["log"], ["show", "screen"], ["audit"]):
        revealed(*call)
    assert (tmp_path / ".lacre" / "ledger.db").read_bytes() == before


def test_a_changed_byte_is_a_finding(revealed: Lacre, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / ".lacre" / "ledger.db")) as database, database:
        for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            database.execute(f"DROP TRIGGER {name}")
        (entry,) = database.execute('SELECT envelope FROM entries WHERE "index" = 2').fetchone()
        changed = entry[:300] + (b"B" if entry[300:301] == b"A" else b"A") + entry[301:]
        database.execute('UPDATE entries SET envelope = ? WHERE "index" = 2', (changed,))
    answer = revealed("audit", "--json")
    assert answer.status == 1
    assert answer.document["ok"] is False
    assert 2 in {found["entry"] for found in answer.document["findings"]}
    assert "finding" in revealed("audit").out


def test_a_ledger_that_cannot_be_opened_is_a_finding(revealed: Lacre, tmp_path: Path) -> None:
    (tmp_path / ".lacre" / "ledger.db").write_bytes(b"SQLite format 3\x00" + b"\xff" * 4096)
    answer = revealed("audit", "--json")
    assert (answer.status, answer.document["ok"]) == (1, False)
    assert revealed("status").status == 2


def test_an_older_copy_put_back_is_refused(study: Lacre, tmp_path: Path) -> None:
    shutil.copytree(tmp_path / ".lacre", tmp_path / "copy")
    assert study("reveal", "screen", "--submission", "bad.csv").status == 1
    shutil.rmtree(tmp_path / ".lacre")
    (tmp_path / "copy").rename(tmp_path / ".lacre")
    assert study("audit").status == 1
    refused = study("reveal", "screen", "--submission", "good.csv", "--json")
    assert refused.status == 2
    assert refused.document["error"]["code"] != "internal"
