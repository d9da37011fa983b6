"""A text taken out of a ledger: nowhere on the disk any more, and nothing else has changed."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import lacre
from lacre.errors import (
    Declined,
    EntryNotFound,
    EntryWithoutText,
    KeyNotEntitled,
    NotAName,
    NothingToErase,
    TextUnclear,
)
from lacre.rules.named import Named
from lacre.store.memory import Memory

from .conftest import Study

NAME = "Maria Quitéria de Jesus Medeiros"
REASON = "her consent was taken back, entry 4711 of the ward's book; " * 200
"""Long enough for SQLite to keep it on pages of its own."""


def traces(folders: list[Path], words: str) -> list[Path]:
    """The files that hold any part of the words, of thirty bytes or so, as bytes."""
    pieces = {words.encode()[:30], words.encode()[-30:]}
    return [
        path
        for folder in folders
        for path in folder.rglob("*")
        if path.is_file() and any(piece in path.read_bytes() for piece in pieces)
    ]


@pytest.fixture
def places(study: Study) -> list[Path]:
    """Where this machine keeps anything of the ledger."""
    state = study.ledger._desk.state_folder
    return [study.ledger.folder, state]


@pytest.fixture
def marked(study: Study) -> lacre.Ledger:
    """A ledger with a key (entry 1) whose name is to go, revoked (entry 2) for a reason that is to go."""
    made = lacre.new_key(study.folder / "maria.pem")
    study.ledger.enrol(made.public, "registrant", name=NAME)
    study.ledger.revoke(made.keyid, reason=REASON)
    return study.ledger


def test_after_an_erasure_the_words_are_nowhere(
    study: Study, marked: lacre.Ledger, places: list[Path]
) -> None:
    assert traces(places, NAME)
    assert traces(places, REASON)
    root = marked.status().root
    name, reason = marked.erase("@1"), marked.erase("2")
    assert (name.what, name.named, name.entry, name.present) == ("name", 1, 3, True)
    assert (reason.what, reason.named, reason.entry) == ("reason", 2, 4)
    for words in (NAME, REASON):
        assert traces(places, words) == []
    marked.close()
    assert traces(places, NAME) == []
    with study.reopened() as again:
        report = again.audit()
        assert report.ok
        assert [(each.what, each.named, each.entry) for each in report.erased] == [
            ("name", 1, 3),
            ("reason", 2, 4),
        ]
        assert report.as_json()["erased"][0]["digest"] == name.digest
        assert "The name of entry 1, by entry 3" in str(report)
        with again._desk.snapshot() as reader:
            assert reader.root_at(3).hex() == root


def test_an_erased_text_is_shown_as_erased_wherever_it_was(marked: lacre.Ledger) -> None:
    assert NAME in str(marked.status())
    marked.erase("@1")
    status, entry = marked.status(), marked.show("@1")
    assert NAME not in str(status)
    assert "erased by entry 3" in str(status)
    assert "erased by entry 3" in str(entry)
    assert [row["name_erased"] for row in status.as_json()["keys"]] == [None, None, None, 3]
    assert "erased by entry 3" in str(marked.keys())
    assert "key " in str(marked.log())
    assert "Ana" in str(marked.log())


def test_the_genesis_s_name_can_go_and_the_ledger_goes_on(study: Study, places: list[Path]) -> None:
    marked = study.ledger
    erased = marked.erase("@0")
    assert erased.named == 0
    study.begin()
    study.seal("dev", 1)
    assert "erased by entry 1" in str(marked.show("@0"))
    assert marked.audit().ok
    marked.rotate("person")
    assert marked.keys().names == {}, "a name that is gone is not carried on"


def test_a_deviation_and_the_reason_of_a_read_can_go(study: Study, places: list[Path]) -> None:
    study.begin()
    study.seal("teste", 1)
    study.ledger.reveal("parity", study.predictions(1), reason=REASON)
    study.ledger.deviate("parity", NAME)
    said = study.size - 1
    study.ledger.erase(f"parity@{said}")
    study.ledger.erase("@3")
    assert traces(places, NAME) == traces(places, REASON) == []
    assert f"erased by entry {said + 1}" in str(study.ledger.show("parity"))
    assert f"erased by entry {said + 2}" in str(study.ledger.show("@3"))
    study.ledger.show("parity@4")
    assert study.ledger.audit("parity@4").ok


def test_what_is_meant_has_to_be_clear(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    made = lacre.new_key(study.folder / "a.pem")
    study.ledger.enrol(made.public, "registrant", name="Eva")
    study.begin()
    for what, refusal in (
        ("@2", EntryWithoutText),
        ("@9", EntryNotFound),
        ("parity@1", EntryNotFound),
        ("nonsense", NotAName),
        ("f" * 64, NothingToErase),
        ("@1x", NotAName),
    ):
        with pytest.raises(refusal):
            study.ledger.erase(what)
    for which in ("reason", "text", "0" * 64, "name "):
        with pytest.raises(TextUnclear, match="name"):
            study.ledger.erase("@1", which=which)
    assert study.size == 3
    digest = study.ledger.erase("@1", which="name").digest
    for again in ("@1", digest, digest[:8]):
        with pytest.raises(NothingToErase):
            study.ledger.erase(again)
    assert study.size == 4


def test_of_two_texts_of_an_entry_the_one_that_is_named_goes(study: Study) -> None:
    """Infeasible criteria that are kept, and an amendment: two reasons in one entry, and both are words."""
    study.ledger.register(study.protocol())
    with_reason = study.protocol(gap="1.0")
    amended = study.ledger.amend(
        with_reason, reason="first words", accept_infeasible="other words", confirm=None
    )
    entry = f"@{amended.entry}"  # type: ignore[union-attr]
    with pytest.raises(TextUnclear):
        study.ledger.erase(entry)
    with pytest.raises(TextUnclear):
        study.ledger.erase(entry, which="reason")
    shown = study.ledger.show(entry)
    digest = next(text.digest for text in shown.texts.values() if text.words == "other words")  # type: ignore[union-attr]
    study.ledger.erase(entry, which=digest[:8])
    assert "first words" in str(study.ledger.show(entry))
    assert "other words" not in str(study.ledger.show(entry))
    with pytest.raises(TextUnclear):
        study.ledger.erase(entry)
    assert study.ledger.audit().ok


def test_only_an_owner_erases_and_only_who_confirms(
    study: Study, marked: lacre.Ledger, places: list[Path]
) -> None:
    made = lacre.new_key(study.folder / "rui.pem")
    marked.enrol(made.public, "registrant")
    with lacre.open(study.folder, key=made.path) as theirs, pytest.raises(KeyNotEntitled):
        theirs.erase("@1", confirm=lambda _text: pytest.fail("asked in vain"))
    asked: list[Named] = []

    def no(text: Named) -> bool:
        asked.append(text)
        return False

    with pytest.raises(Declined):
        marked.erase("@1", confirm=no)
    assert [(text.what, text.entry) for text in asked] == [("name", 1)]
    assert study.size == 4
    assert traces(places, NAME)
    marked.erase("@1", confirm=lambda _text: True)
    assert traces(places, NAME) == []


def test_of_two_erasures_of_one_text_at_once_one_is_made(
    study: Study, marked: lacre.Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    def meanwhile(_text: Named) -> bool:
        with study.reopened() as other:
            other.erase("@1")
        return True

    with pytest.raises(NothingToErase):
        marked.erase("@1", confirm=meanwhile)
    assert study.size == 4
    assert marked.audit().ok


def test_an_erasure_that_fails_leaves_both_the_text_and_no_entry(
    marked: lacre.Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*_given: object) -> bytes:
        raise ZeroDivisionError

    monkeypatch.setattr(marked._desk.writer, "_sign_checkpoint", crash)
    with pytest.raises(ZeroDivisionError):
        marked.erase("@1")
    monkeypatch.undo()
    assert NAME in str(marked.status())
    assert marked.audit().ok
    assert marked.erase("@1").entry == 3


def test_a_crash_before_the_memory_is_made_up_for(
    study: Study, marked: lacre.Ledger, places: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The entry stands, the memory still has the words: asking again, or the next writing, takes them out there."""

    def crash(*_given: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Memory, "advance", crash)
    with pytest.raises(KeyboardInterrupt):
        marked.erase("@1")
    monkeypatch.undo()
    assert traces(places, NAME)
    with pytest.raises(NothingToErase):
        marked.erase("@1")
    assert traces(places, NAME) == []
    study.begin()
    assert traces(places, NAME) == []
    assert marked.audit().ok


def test_a_text_that_was_lost_before_counts_as_erased_after(
    study: Study, marked: lacre.Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody's triggers let a text go without an entry; a database that was damaged may lack one all the same."""
    marked.close()
    with closing(sqlite3.connect(study.ledger.folder / "ledger.db")) as database, database:
        database.execute("DROP TRIGGER documents_undeleted")
        database.execute("DELETE FROM documents WHERE salt IS NOT NULL AND length(body) > 1000")
    with study.reopened() as again:
        assert [each.code for each in again.audit().findings] == ["form-missing", "document-missing"]
        erased = again.erase("@2")
        assert not erased.present
        assert "missing before" in str(erased)
        assert [each.code for each in again.audit().findings] == ["form-missing"], "its trigger is gone, too"


def test_a_name_that_stands_elsewhere_is_told_with_how_to_erase_it(study: Study) -> None:
    """A rotated person's key takes the name of the old one along: two texts with the same words."""
    study.ledger.rotate("person")
    made = study.ledger.erase("@0", which="name")
    (copy,) = made.same
    assert copy.entry == 1
    page = " ".join(str(made).split())
    assert f"lacre erase @1 --which {copy.digest[:16]}" in page
    assert made.as_json()["same"] == [{"what": "name", "entry": 1, "digest": copy.digest}]
    again = study.ledger.erase("@1", which=copy.digest[:16])
    assert again.same == ()
    assert "Ana" not in str(study.ledger.keys())
