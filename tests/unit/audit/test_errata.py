"""Results on corrected labels, and all that changed around a result, as a stranger finds them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from lacre.audit.audit import audit

from .test_whole_life import erratum, whole

if TYPE_CHECKING:
    from tests.unit.audit.conftest import Builder


def test_a_result_that_says_what_it_corrects_is_sound(builder: Builder) -> None:
    read = erratum(builder, 5, 4)
    builder.result("one", read, "FAIL")
    assert builder.found() == set()


@pytest.mark.parametrize(
    "said",
    [
        {"corrects": "one@10", "changed": {"cases.label": 2}},
        {"corrects": "two@5", "changed": {"cases.label": 2}},
        {"corrects": 5, "changed": {"cases.label": 2}},
        {"corrects": "one@5"},
        {"corrects": "one@5", "changed": [2]},
        {"corrects": "one@5", "changed": {"cases.label": 0}},
        {"corrects": "one@5", "changed": {"cases.label": True}},
        {"corrects": "one@5", "changed": {"cases.label": "2"}},
        {"corrects": "one@5", "changed": {"faces.label": 2}},
        {"corrects": "one@5", "changed": {"label": 2}},
        {},
        None,
        "one@5",
    ],
)
def test_a_result_that_says_otherwise_is_found(builder: Builder, said: Any) -> None:
    """Entry 5 is the result it corrects, and `cases` the one table that was given."""
    read = erratum(builder, 5, 4)
    index = builder.result("one", read, "FAIL", lambda document: {**document, "erratum": said})
    assert builder.found() == {("result-differs", index)}


def test_a_result_that_does_not_say_it_is_found(builder: Builder) -> None:
    read = erratum(builder, 5, 4)

    def silent(document: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in document.items() if name != "erratum"}

    index = builder.result("one", read, "FAIL", silent)
    assert builder.found() == {("result-differs", index)}


@pytest.mark.parametrize("said", [{"corrects": "one@5", "changed": {}}, None])
def test_no_other_result_says_it(builder: Builder, said: Any) -> None:
    index = builder.result("one", builder.later(), "FAIL", lambda document: {**document, "erratum": said})
    assert builder.found() == {("result-differs", index)}


def test_an_erratum_that_calls_itself_confirmatory_is_found(builder: Builder) -> None:
    read = erratum(builder, 5, 4)
    index = builder.result("one", read, "FAIL", confirmatory=True)
    assert {("result-misplaced", index), ("result-differs", index)} == builder.found()


def test_the_story_tells_what_changed_around_a_result() -> None:
    """`whole` writes each entry's number beside it."""
    told = audit(whole().held(), study="one", entry=9).story
    assert told is not None
    assert [(each.entry, each.version, each.when, each.burns) for each in told.amendments] == [
        (5, 2, "before", ()),
        (14, 3, "after", ("teste",)),
    ]
    assert [each.why.words for each in told.amendments] == ["why 5", "why 14"]
    assert [[(k.pool, k.read_class, k.count) for k in each.known] for each in told.amendments] == [
        [],
        [("teste", "teste", 1), ("teste", "erratum", 1)],
    ]
    assert [(each.entry, each.about, each.text.words) for each in told.deviations] == [
        (10, 9, "the clinic was closed on Mondays")
    ]
    assert told.withdrawn is not None
    assert (told.withdrawn.entry, told.withdrawn.text.words) == (17, "consent was withdrawn")
    assert [(each.entry, each.purpose, each.corrects, each.result) for each in told.reads] == [
        (8, "reveal", None, 9),
        (11, "erratum", 9, 12),
    ]


def test_the_story_of_an_erratum_has_the_deviations_of_what_it_corrects() -> None:
    told = audit(whole().held(), study="one", entry=12).story
    assert told is not None
    assert [each.entry for each in told.deviations] == [10]
    assert (told.result.exploratory, told.result.state) == (("label-erratum",), "INSUFFICIENT_EVIDENCE")


def test_an_erased_reason_is_told_as_erased() -> None:
    from lacre.rules.answers import EraseFacts
    from lacre.rules.requests import Erase

    builder = whole()
    why = next(k for k, document in builder.documents.items() if document.body == b"why 5")
    index = builder.enter(Erase, EraseFacts(named=5), study=None, digest=why)
    del builder.documents[why]
    told = audit(builder.held(), study="one", entry=9).story
    assert told is not None
    assert (told.amendments[0].why.words, told.amendments[0].why.erased) == (None, index)
