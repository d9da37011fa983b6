"""`lacre report`, as it is typed: one file, whole or not at all, and never over another unasked."""

import hashlib
from pathlib import Path

import pytest

from .conftest import Shell


@pytest.fixture
def revealed(shell: Shell) -> Shell:
    """The small study, revealed: `small@4` is its result."""
    assert shell.json(*shell.seal_small()[:-1])["result"] == "small@4"
    return shell


def test_a_report_is_one_file_and_the_same_again(revealed: Shell) -> None:
    file = revealed.folder / "report.html"
    written = revealed.json("report", "small@4", "-o", "report.html")
    data = file.read_bytes()
    assert written == {
        "path": "report.html",
        "result": "small@4",
        "state": "PASS",
        "bytes": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
    }
    assert data.startswith(b'<!DOCTYPE html>\n<html lang="en">')
    assert data.endswith(b"</html>\n")
    assert file.stat().st_mode & 0o777 == 0o644
    again = revealed.lacre("report", "small@4", "-o", "again.html")
    assert (again.status, again.err) == (0, "")
    assert again.out.startswith("small@4 in again.html  PASS\n")
    assert "proves nothing by itself" in again.out
    assert (revealed.folder / "again.html").read_bytes() == data


def test_a_report_says_what_came_later(revealed: Shell) -> None:
    revealed.json("report", "small@4", "-o", "before.html")
    revealed.json("deviate", "small@4", "<b>Two clinics</b> joined late")
    revealed.json("report", "small@4", "-o", "after.html")
    before, after = (
        (revealed.folder / name).read_text(encoding="utf-8") for name in ("before.html", "after.html")
    )
    assert "Two clinics" not in before
    assert "&lt;b&gt;Two clinics&lt;/b&gt; joined late" in after


def test_no_file_is_written_over_unasked(revealed: Shell) -> None:
    file = revealed.folder / "report.html"
    file.write_text("mine")
    refused = revealed.json("report", "small@4", "-o", "report.html", expect=2)
    assert refused["error"]["code"] == "file-exists"
    assert file.read_text() == "mine"
    revealed.json("report", "small@4", "-o", "report.html", "--overwrite")
    assert file.read_text().startswith("<!DOCTYPE html>")


@pytest.mark.parametrize(
    ("what", "output", "code"),
    [
        ("small", "r.html", "result-not-named"),
        ("@2", "r.html", "not-a-name"),
        ("small@3", "r.html", "result-not-named"),
        ("small@9", "r.html", "entry-not-found"),
        ("other@4", "r.html", "study-not-registered"),
        ("small@4", "none/r.html", "not-written"),
        ("small@4", ".lacre/r.html", "export-into-ledger"),
        ("small@4", ".", "file-exists"),
    ],
)
def test_what_is_refused_leaves_nothing(revealed: Shell, what: str, output: str, code: str) -> None:
    before = sorted(map(str, revealed.folder.rglob("*")))
    assert revealed.json("report", what, "-o", output, expect=2)["error"]["code"] == code
    assert sorted(map(str, revealed.folder.rglob("*"))) == before


def test_a_report_needs_a_place(revealed: Shell) -> None:
    assert revealed.lacre("report", "small@4").status == 2
    assert not list(Path(revealed.folder).glob("*.html"))
