"""What this machine cannot remember is refused before it is recorded; what fails after is told as recorded."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import lacre
from lacre import errors
from lacre.store.memory import Memory

Study = Any


def test_nothing_is_recorded_that_could_not_be_remembered(study: Study, tmp_path: Path) -> None:
    """The state folder is to be made below a file, which nobody can, whatever their rights."""
    study.begin()
    blocked = tmp_path / "a-file"
    blocked.write_text("")
    with study.reopened(state=blocked / "state") as ledger:
        acts: tuple[Callable[[], Any], ...] = (
            lambda: ledger.deviate("parity", "a word"),
            lambda: ledger.withdraw("parity", reason="over"),
            lambda: ledger.rotate("broker"),
            lambda: ledger.seal("parity", "dev", study.cases(0)),
        )
        for act in acts:
            with pytest.raises((errors.NotWritten, errors.NotReadable)):
                act()
    assert study.size == 2
    assert study.ledger.audit().ok


def test_a_ledger_is_not_made_where_it_could_not_be_remembered(tmp_path: Path) -> None:
    (tmp_path / "a-file").write_text("")
    with pytest.raises(errors.NotWritten):
        lacre.init(tmp_path / "here", state=tmp_path / "a-file" / "state")
    assert not (tmp_path / "here" / ".lacre").exists()


def test_what_stands_and_is_not_remembered_says_so(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    study.begin()

    def full(*_given: object) -> None:
        raise errors.DiskFull(path="state")

    monkeypatch.setattr(Memory, "advance", full)
    with pytest.raises(errors.NotRemembered) as told:
        study.ledger.deviate("parity", "a word")
    monkeypatch.undo()
    assert told.value.fields["entry"] == 2
    assert "Do not repeat" in told.value.way_out
    assert study.size == 3
    study.ledger.deviate("parity", "another")
    report = study.ledger.audit()
    assert (report.ok, report.entries) == (True, 4)
