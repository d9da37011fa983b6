"""The story of a result, told from the small ledger of `conftest`, whose entries are written out there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lacre.audit.audit import audit
from lacre.audit.findings import FINDINGS, WARNINGS, finding, warned
from lacre.audit.story import Story
from lacre.errors import EntryNoResult, NotAResult, StudyNotRegistered
from lacre.rules.answers import Engine, ReadFacts

if TYPE_CHECKING:
    from tests.unit.audit.conftest import Builder, Held


def told(held: Held, study: str, entry: int) -> Story:
    report = audit(held, study=study, entry=entry)
    assert report.ok
    assert report.story is not None
    return report.story


def test_the_first_result(builder: Builder, held: Held) -> None:
    story = told(held, "one", 5)
    person = builder.person.public.keyid
    assert story.name == "one@5"
    assert (story.pool, story.role, story.now) == ("teste", "teste", "dev")
    assert (story.registration.entry, story.registration.by) == (1, person)
    assert story.registration.time == "2026-09-02T14:00:02.000000Z"
    assert story.seal is not None
    assert (story.seal.entry, story.seal.by, story.seal.standing) == (2, person, "teste")
    assert [(each.table, each.planned, each.rows) for each in story.seal.shortfall] == [("cases", 200, 100)]
    assert (story.seal.recipients, story.custody) == (("age1own",), "self-held")
    assert [(each.entry, each.when, each.read_class, each.number) for each in story.reads] == [
        (4, "itself", "teste", 1),
        (8, "after", "dev", 2),
    ]
    assert [(each.result, each.state, each.burns) for each in story.reads] == [
        (5, "PASS", False),
        (10, "INSUFFICIENT_EVIDENCE", True),
    ]
    assert (story.result.state, story.result.confirmatory) == ("PASS", True)
    assert (story.result.exploratory, story.result.retrospective, story.result.review) == ((), False, ())


def test_a_later_result_says_why_it_is_not_confirmatory(held: Held) -> None:
    story = told(held, "one", 10)
    assert [(each.entry, each.when) for each in story.reads] == [(4, "before"), (8, "itself")]
    assert not story.result.confirmatory
    assert story.result.exploratory == ("not-the-registered-pool",)


def test_a_result_that_a_finished_read_gave(held: Held) -> None:
    """Entry 9 was spent and crashed; entry 11 finished it, and entry 12 is the result of both."""
    story = told(held, "two", 12)
    assert story.now == "teste"
    assert [(each.entry, each.purpose, each.finishes, each.result, each.when) for each in story.reads] == [
        (7, "inputs", None, None, "before"),
        (9, "reveal", None, None, "before"),
        (11, "reveal", 9, 12, "itself"),
    ]
    assert (story.result.state, story.result.confirmatory) == ("FAIL", True)


def test_a_result_on_cases_that_were_met_before(builder: Builder) -> None:
    """Rule 15: what the broker had met before makes a result retrospective, its verdict as computed."""
    builder.register("three")
    builder.seal("three", "teste")
    facts = ReadFacts(engine=Engine(lacre="0.1.0", statistics="1"), remembered=7)
    read = builder.read("three", "teste", facts=facts)
    result = builder.result("three", read, "PASS")
    story = told(builder.held(), "three", result)
    assert (story.result.state, story.result.confirmatory, story.result.retrospective) == (
        "PASS",
        False,
        True,
    )


@pytest.mark.parametrize(("study", "entry"), [("one", 4), ("one", 12), ("one", 99), ("two", 5), ("two", 0)])
def test_entries_that_are_no_result_of_the_study(held: Held, study: str, entry: int) -> None:
    with pytest.raises(NotAResult) as caught:
        audit(held, study=study, entry=entry)
    assert "lacre show" in caught.value.way_out


def test_a_result_by_its_entry_alone(held: Held) -> None:
    report = audit(held, entry=12)
    assert report.story is not None
    assert report.story.name == "two@12"
    assert {each.study for each in report.history} == {"two"}


@pytest.mark.parametrize("entry", [0, 1, 4, 99])
def test_entries_that_are_no_result_at_all(held: Held, entry: int) -> None:
    with pytest.raises((EntryNoResult, NotAResult)):
        audit(held, entry=entry)


def test_a_study_that_is_not_there(held: Held) -> None:
    for entry in (None, 5):
        with pytest.raises(StudyNotRegistered):
            audit(held, study="three", entry=entry)


def test_findings_come_before_a_refusal(held: Held) -> None:
    """Who asks for the story of a result that was tampered away is told what was found."""
    changed = held.with_entry(5, b"{}")
    report = audit(changed, study="one", entry=5)
    assert ("entry-invalid", 5) in {(each.code, each.entry) for each in report.findings}
    assert report.story is None
    assert "story-not-told" in {each.code for each in report.warnings}
    report = audit(changed, study="three")
    assert "study-not-told" in {each.code for each in report.warnings}
    assert all(each.message for each in report.warnings)


def test_the_story_of_a_sound_study_is_told_beside_findings_elsewhere(held: Held) -> None:
    report = audit(held.with_entry(12, b"{}"), study="one", entry=5)
    assert not report.ok
    assert report.story is not None
    assert report.story.result.state == "PASS"


def test_no_code_is_both_a_finding_and_a_warning() -> None:
    assert not FINDINGS.keys() & WARNINGS.keys()


def test_control_characters_never_reach_a_terminal() -> None:
    said = finding("document-media", 3, digest="00", stored="\x1b[2J\u202e", expected="text/plain")
    assert said.message == (r"The document 00 is kept as \x1b[2J\u202e, and it is text/plain.")
    assert warned("study-not-told", study="\n").message == r"No entry that can be read belongs to \n."
