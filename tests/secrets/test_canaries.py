"""The search for canaries finds them in every form, so that what other tests do not see is not there."""

import base64
import json
import shutil
import zipfile
from contextlib import AbstractContextManager
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest
from tests import conftest
from tests.secrets.canaries import CANARY, COLUMN, forms, listening, nests, sings

from lacre.errors import FileMissing, LacreError

PLAIN = CANARY.encode()


@pytest.mark.parametrize("before", ["", "a", "ab", "abc", "four", "fivefi"])
@pytest.mark.parametrize("after", ["", "z", "zy", "zyx"])
def test_it_is_found_wherever_it_begins(before: str, after: str) -> None:
    """In base64 it looks like one of three, in base64 within base64 like one of nine, and never like itself."""
    text = f"{before}{CANARY}{after}"
    once = base64.b64encode(text.encode())
    envelope = json.dumps({"payload": once.decode()}).encode()
    padded = f"{before}{envelope.decode()}{after}".encode()
    for held in (
        text,
        once,
        base64.b64encode(padded),
        text.encode().hex(),
        text.encode("utf-16-le"),
        text.encode("utf-16-be"),
    ):
        assert sings(held)
    assert sings(base64.urlsafe_b64encode(text.encode()))
    assert sings(json.dumps([text]))
    assert sings(repr(text.encode()))


def test_another_word_is_not_found() -> None:
    other = CANARY.replace("4711", "4712").encode()
    for held in (
        other,
        base64.b64encode(other),
        base64.b64encode(base64.b64encode(other)),
        other.hex().encode(),
    ):
        assert not sings(held)
    assert min(map(len, forms())) > 20, "none so short that chance would bring it about"


def test_files_that_hold_it_are_found_and_planted_ones_are_not(tmp_path: Path) -> None:
    work = tmp_path / "work"
    ledger = work / ".lacre"
    ledger.mkdir(parents=True)
    table = f"id,{COLUMN}\n1,{CANARY}\n"
    (work / "cases.csv").write_text(table)
    (work / "nothing.csv").write_text("id\n1\n")
    assert list(nests([tmp_path])) == []
    leaks = {
        "a temporary file": work / ".lacre-unfinished-1",
        "a file of the ledger": ledger / "cases.csv",
        "what was handed out": work / "inputs.csv",
        "a database": ledger / "ledger.db",
        f"{CANARY}.txt": work / f"{CANARY}.txt",
    }
    for path in leaks.values():
        path.write_text(
            f"id\n{CANARY}" if path.name == "inputs.csv" else table if path.suffix != ".txt" else ""
        )
    with zipfile.ZipFile(work / "bundle.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("documents/1", table * 9)
    assert set(nests([tmp_path])) == {*leaks.values(), work / "bundle.zip"}
    shutil.rmtree(work)


def only_here() -> AbstractContextManager[object]:
    """Let nobody else listen, who would fail this test for what it is about."""
    return mock.patch.object(LacreError, "__init__", vars(LacreError)["__init__"].__wrapped__)


def _refuse(given: Exception, *, chained: bool | None = None) -> None:
    """Refuse what was met: as its cause, in its context, or (None) without it."""
    try:
        raise given
    except Exception as error:
        if chained is None:
            raise FileMissing(path="p", why="x") from None
        if chained:
            raise FileMissing(path="p", why="x") from error
        raise FileMissing(path="p", why="x")  # noqa: B904 - Python shows it all the same


def test_errors_that_show_it_are_heard() -> None:
    with only_here(), listening() as heard:
        FileMissing(path=CANARY, why="x")
        with pytest.raises(FileMissing):
            _refuse(ValueError(CANARY), chained=True)
        with pytest.raises(FileMissing):
            _refuse(KeyError("x", [CANARY]), chained=False)
    assert heard == [
        "FileMissing in its fields",
        "FileMissing, which shows ValueError",
        "FileMissing, which shows KeyError",
    ]


def test_errors_that_do_not_show_it_are_not() -> None:
    with only_here(), listening() as heard, pytest.raises(FileMissing):
        _refuse(ValueError(CANARY))
    assert heard == []


@pytest.mark.parametrize("name", ["Captured stdout call", "Captured stderr call", "Captured log call"])
def test_a_test_that_lets_it_out_fails(name: str) -> None:
    for text, outcome in ((f"… {CANARY} …", "failed"), ("nothing", "passed")):
        report: Any = SimpleNamespace(sections=[(name, text)], outcome="passed", longrepr=None)
        hook = conftest.pytest_runtest_makereport()
        next(hook)
        with pytest.raises(StopIteration) as ended:
            hook.send(report)
        assert ended.value.value.outcome == outcome
