"""What a result says against its read, its entry or its own parts: each is found, at its entry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from lacre.audit.audit import audit

if TYPE_CHECKING:
    from tests.unit.audit.conftest import Builder


def test_a_result_of_no_read(builder: Builder) -> None:
    index = builder.result("one", 4, read=6)
    assert builder.found() == {("out-of-place", index)}


def test_a_result_of_a_read_of_another_study(builder: Builder) -> None:
    index = builder.result("one", 4, read=11)
    assert builder.found() == {("out-of-place", index)}


def test_a_second_result_of_a_read(builder: Builder) -> None:
    index = builder.result("one", 4, "FAIL")
    assert ("out-of-place", index) in builder.found()


def test_a_result_of_inputs_handed_out(builder: Builder) -> None:
    index = builder.result("two", 11, read=7)
    assert ("result-misplaced", index) in builder.found()


def test_a_result_in_another_pools_name(builder: Builder) -> None:
    index = builder.result("one", builder.later(), pool="dev")
    assert {("result-misplaced", index), ("result-differs", index)} == builder.found()


def test_a_result_that_calls_itself_confirmatory(builder: Builder) -> None:
    index = builder.result("one", builder.later(), confirmatory=True)
    assert {("result-misplaced", index), ("result-differs", index)} == builder.found()


def test_an_exploratory_pass(builder: Builder) -> None:
    """Rule 15: a PASS on a pool that is not what was registered reads INSUFFICIENT_EVIDENCE."""

    def passed(document: dict[str, Any]) -> dict[str, Any]:
        analyses = [{**each, "state": "PASS"} for each in document["analyses"]]
        return {**document, "state": "PASS", "analyses": analyses}

    index = builder.result("one", builder.later(), "PASS", passed, state="PASS")
    report = audit(builder.held())
    assert {(each.code, each.entry) for each in report.findings} == {("result-state", index)}
    assert [each.fields["expected"] for each in report.findings] == ["INSUFFICIENT_EVIDENCE"] * 2


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("study", "two"),
        ("protocol", "sha256:" + "ab" * 32),
        ("pool", "dev"),
        ("standing", "teste"),
        ("read", 1),
        ("read", None),
        ("confirmatory", True),
        ("retrospective", True),
        ("exploratory", []),
        ("review", ["engine-changed"]),
        ("engine", {"lacre": "9", "statistics": "1"}),
        ("engine", {"lacre": "0.1.0", "statistics": "9"}),
        ("engine", None),
        ("analyses", []),
        ("analyses", None),
        ("analyses", [1]),
        ("analyses", {"id": "parity"}),
    ],
)
def test_a_result_whose_document_says_something_else(builder: Builder, path: Any, value: Any) -> None:
    index = builder.result("one", builder.later(), "FAIL", lambda document: {**document, path: value})
    assert ("result-differs", index) in builder.found()


@pytest.mark.parametrize("state", ["PASS", "INSUFFICIENT_EVIDENCE", "MANUAL_REVIEW", "", 0, None])
def test_a_result_whose_state_is_not_that_of_its_analyses(builder: Builder, state: Any) -> None:
    index = builder.result("one", builder.later(), "FAIL", lambda document: {**document, "state": state})
    assert {("result-differs", index), ("result-state", index)} == builder.found()


@pytest.mark.parametrize(
    ("computed", "sound"), [("PASS", True), (None, True), ("FAIL", False), ("INSUFFICIENT_EVIDENCE", False)]
)
def test_what_an_entry_says_was_computed_is_what_its_document_says(
    builder: Builder, computed: str | None, sound: bool
) -> None:
    """A PASS that is no evidence opens no rung; a broker who calls it another one would open it. None is of before."""
    index = builder.result("one", builder.later(), "PASS", computed=computed)
    assert builder.found() == (set() if sound else {("result-state", index)})


def test_a_criterion_that_passes_where_no_pass_is_allowed(builder: Builder) -> None:
    def passed(document: dict[str, Any]) -> dict[str, Any]:
        analysis = document["analyses"][0]
        return {**document, "analyses": [{**analysis, "criteria": [{"computed": "PASS", "state": "PASS"}]}]}

    index = builder.result("one", builder.later(), "PASS", passed)
    assert builder.found() == {("result-state", index)}


def test_an_analysis_that_reads_better_than_its_criteria(builder: Builder) -> None:
    def better(document: dict[str, Any]) -> dict[str, Any]:
        analysis = document["analyses"][0]
        return {**document, "analyses": [{**analysis, "criteria": [{"computed": "FAIL", "state": "FAIL"}]}]}

    index = builder.result("one", builder.later(), "PASS", better)
    assert builder.found() == {("result-state", index)}


def test_an_analysis_may_ask_for_a_review_whatever_its_criteria_say(builder: Builder) -> None:
    def reviewed(document: dict[str, Any]) -> dict[str, Any]:
        analysis = document["analyses"][0]
        return {**document, "analyses": [{**analysis, "criteria": [{"computed": "FAIL", "state": "FAIL"}]}]}

    builder.result("one", builder.later(), "MANUAL_REVIEW", reviewed)
    assert builder.found() == set()


def test_a_result_that_left_its_registered_analysis_out(builder: Builder) -> None:
    def without(document: dict[str, Any]) -> dict[str, Any]:
        return {**document, "analyses": [{**document["analyses"][0], "id": "other"}]}

    index = builder.result("one", builder.later(), "FAIL", without)
    assert builder.found() == {("result-differs", index)}


@pytest.mark.parametrize("document", [[], "FAIL", None, 1])
def test_a_result_whose_document_is_no_record(builder: Builder, document: Any) -> None:
    index = builder.result("one", builder.later(), "FAIL", lambda _: document)
    assert builder.found() == {("document-invalid", index)}


@pytest.mark.parametrize("body", [b"", b"{ }", b'{"state":NaN}', b"[" * 5000, b"\xff"])
def test_a_result_whose_document_is_in_no_canonical_form(builder: Builder, body: bytes) -> None:
    index = builder.result("one", builder.later(), "FAIL", result=builder.put(body, "result"))
    assert ("document-invalid", index) in builder.found()
