"""Words and names that people type: what says nothing is refused, and what names nothing is told so."""

from collections.abc import Callable
from typing import Any

import pytest

from lacre.broker.texts import require_words, visible
from lacre.errors import (
    EntryNotFound,
    LacreError,
    NotAName,
    StudyMisspelt,
    StudyNotRegistered,
    StudyWithEntry,
    WordsMissing,
)

from .conftest import Study

BLANK = [
    "",
    " \n",
    "\u200b\u200d",
    "\u2060\ufeff",
    "\u00ad",
    "\u3164",
    "\u2800",
    "\u115f\u1160",
    "\ufe0f",
    "\u034f",
]
"""Nothing of it can be seen: separators, formats, marks on nothing, and letters that are drawn as blanks."""


@pytest.mark.parametrize("text", BLANK)
def test_words_that_cannot_be_seen_are_none(text: str) -> None:
    with pytest.raises(WordsMissing):
        require_words(text, "deviate")
    assert visible(text) is None


@pytest.mark.parametrize("text", ["é", "e\u0301", "?", "✓", "दो", "\u200bx"])
def test_words_that_can_be_seen_stay_as_they_are(text: str) -> None:
    assert require_words(f" {text}\n", "deviate") == text


@pytest.mark.parametrize("text", BLANK[2:5])
def test_a_reason_that_cannot_be_seen_is_refused_by_every_verb(study: Study, text: str) -> None:
    study.begin()
    study.seal("teste", 0)
    size, ledger = study.size, study.ledger
    calls: list[Callable[[], Any]] = [
        lambda: ledger.deviate("parity", text),
        lambda: ledger.withdraw("parity", reason=text),
        lambda: ledger.amend(study.protocol(gap="0.8"), reason=text),
        lambda: ledger.seal("parity", "teste", study.cases(0), replace=True, reason=text),
        lambda: ledger.reveal("parity", study.predictions(0), reason=text),
    ]
    for call in calls:
        with pytest.raises(WordsMissing):
            call()
    assert study.size == size


ODD = ["", "é", "../x", "a@4@4", "x" * 5000, "PARITY", "parity/teste", "-", "\u200b", "@", "parity@", "@x"]


@pytest.mark.parametrize("name", ODD)
def test_what_names_no_study_is_refused_by_every_verb(study: Study, name: str) -> None:
    """Each verb says so itself: none fails on a name that no study could have."""
    study.begin()
    study.seal("teste", 0)
    size, ledger = study.size, study.ledger
    out = study.folder / "out"
    calls: dict[str, Any] = {
        "deviate": lambda: ledger.deviate(name, "late"),
        "withdraw": lambda: ledger.withdraw(name, reason="over"),
        "erratum": lambda: ledger.erratum(name, study.cases(0), reason="slip"),
        "log": lambda: ledger.log(name),
        "show": lambda: ledger.show(name),
        "deviations": lambda: ledger.deviations(name),
        "export": lambda: ledger.export(name, out),
        "erase": lambda: ledger.erase(name),
        "rewrap": lambda: ledger.rewrap(name, "teste", ledger.status().recipient),
        "inputs": lambda: ledger.inputs(name, "teste", out),
        "seal": lambda: ledger.seal(name, "dev", study.cases(1000)),
        "run": lambda: ledger.run(name, "rehearsal", study.predictions(0)),
        "reveal": lambda: ledger.reveal(name, study.predictions(0)),
    }
    for verb, call in calls.items():
        with pytest.raises((StudyNotRegistered, NotAName, EntryNotFound)) as caught:
            call()
        assert caught.value.way_out, verb
    assert study.size == size


@pytest.mark.parametrize("name", [name for name in ODD if name])
def test_an_audit_of_what_names_no_study_is_a_refusal_or_says_so(study: Study, name: str) -> None:
    study.begin()
    with pytest.raises(LacreError):
        study.ledger.audit(name)


def test_a_misspelt_study_is_told_the_nearest(study: Study) -> None:
    study.begin()
    with pytest.raises(StudyMisspelt) as caught:
        study.ledger.log("partiy")
    assert "Did you mean 'parity'?" in caught.value.way_out
    with pytest.raises(StudyNotRegistered) as other:
        study.ledger.log("triage")
    assert type(other.value) is StudyNotRegistered


def test_an_entry_where_a_study_is_needed_is_told_so(study: Study) -> None:
    study.begin()
    with pytest.raises(StudyWithEntry) as caught:
        study.ledger.deviations("parity@1")
    assert "'parity'" in caught.value.way_out
