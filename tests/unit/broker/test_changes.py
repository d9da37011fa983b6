"""Plans that change, words about what went otherwise, studies that end: rules 7, 13, 14 and 17, on real files."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lacre import errors
from lacre.broker.desk import sign_request
from lacre.broker.texts import MOST
from lacre.ledger.note import VerifierKey
from lacre.ledger.proof import Receipt
from lacre.report.next_steps import next_steps

Study = Any

UNUSED: dict[str, Callable[[str], str]] = {
    "title": lambda text: text.replace("Errors by sex", "Errors, by sex"),
    "question": lambda text: text.replace("Does it err", "Does the screen err"),
    "an analysis of dev": lambda text: _in("rehearsal", text, "max_group_gap: 0.9", "max_group_gap: 0.8"),
    "an analysis of contraste": lambda text: _in(
        "differential", text, "max_group_gap: 0.9", "max_group_gap: 0.8"
    ),
    "another planned size of dev": lambda text: text.replace(
        "dev: {tables: [cases]}", "dev: {tables: [cases], planned: {cases: 400}}"
    ),
    "one more analysis of dev": lambda text: text.replace("  rehearsal:", "  second:").replace(
        "analyses:\n", "analyses:\n" + _analysis(text, "rehearsal")
    ),
}
"""Amendments of what no analysis of `teste` uses."""

USED: dict[str, Callable[[str], str]] = {
    "its bar": lambda text: _in("parity", text, "max_group_gap: 0.9", "max_group_gap: 0.8"),
    "its planned size": lambda text: text.replace("planned: {cases: 200}", "planned: {cases: 250}"),
    "a column of its table": lambda text: text.replace("[female, male]", "[female, male, other]"),
    "prior exposure": lambda text: text.replace("prior_exposure: none", "prior_exposure: We saw a summary."),
    "one more analysis of it": lambda text: text.replace(
        "analyses:\n", "analyses:\n" + _analysis(text, "parity").replace("parity:", "more:")
    ),
}
"""Amendments of what an analysis of `teste` uses, or that could change what a result of it is."""


def _analysis(text: str, name: str) -> str:
    lines = text[text.index(f"  {name}:") :].splitlines(keepends=True)
    return "".join(lines[:2])


def _in(name: str, text: str, old: str, new: str) -> str:
    part = _analysis(text, name)
    assert old in part
    return text.replace(part, part.replace(old, new))


def amended(study: Study, change: Callable[[str], str]) -> Path:
    """The protocol as it was registered, changed."""
    path: Path = study.protocol()
    before = path.read_text()
    path.write_text(change(before))
    assert path.read_text() != before
    return path


def begun(study: Study) -> Study:
    """A study with `teste` sealed."""
    study.begin()
    study.seal("teste", 0)
    return study


def pool(study: Study, name: str = "teste") -> Any:
    """A pool as it stands."""
    return study.ledger.show("parity").study.pools[name]


# --- amendments --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("change", [*UNUSED.values(), *USED.values()], ids=[*UNUSED, *USED])
def test_before_any_read_nothing_burns(study: Study, change: Callable[[str], str]) -> None:
    """Rule 7: nobody has seen a result, so the first read is still to be had, and by the new plan."""
    begun(study)
    made = study.ledger.amend(amended(study, change), reason="we had it wrong")
    assert (made.version, made.burns, made.known) == (2, (), ())
    assert pool(study).standing == "teste"
    if not made.reseal:
        result = study.ledger.reveal("parity", study.predictions(0))
        assert result.document["standing"] == "teste"
        assert result.document["protocol"] == f"sha256:{made.protocol_hash}"
    assert study.ledger.audit().ok


def test_ids_that_were_handed_out_are_no_read_of_a_result(study: Study, tmp_path: Path) -> None:
    begun(study)
    study.ledger.inputs("parity", "teste", tmp_path / "in.csv")
    made = study.ledger.amend(amended(study, USED["its bar"]), reason="we had it wrong")
    assert made.burns == ()
    (known,) = made.known
    assert (known.pool, known.read_class, known.count, known.last) == ("teste", "inputs", 1, 3)
    assert study.ledger.reveal("parity", study.predictions(0)).document["confirmatory"] is True


@pytest.mark.parametrize("change", UNUSED.values(), ids=UNUSED)
def test_what_no_analysis_of_teste_uses_burns_nothing(study: Study, change: Callable[[str], str]) -> None:
    begun(study)
    result = study.ledger.reveal("parity", study.predictions(0))
    made = study.ledger.amend(amended(study, change), reason="for the reader")
    assert made.burns == ()
    assert [(each.pool, each.read_class, each.count, each.last) for each in made.known] == [
        ("teste", "teste", 1, 3)
    ]
    assert study.ledger.show(result.name).now == "teste"


@pytest.mark.parametrize("change", USED.values(), ids=USED)
def test_what_an_analysis_of_teste_uses_burns_it(study: Study, change: Callable[[str], str]) -> None:
    begun(study)
    result = study.ledger.reveal("parity", study.predictions(0))
    path, before = amended(study, change), study.size
    with pytest.raises(errors.AmendmentBurns) as refused:
        study.ledger.amend(path, reason="too late")
    assert "teste" in refused.value.message
    assert study.size == before
    made = study.ledger.amend(path, reason="too late", accept_burn=True)
    assert made.burns == ("teste",)
    assert (pool(study).standing, pool(study).burned) == ("dev", made.entry)
    shown = study.ledger.show(result.name)
    assert (shown.state, shown.document["confirmatory"], shown.now) == ("PASS", True, "dev")
    assert shown.document == result.document, "the earlier result stands as it was reported"
    assert (shown.version, shown.amended) == (1, (made.entry,))
    with pytest.raises(errors.AlreadyRevealed):
        study.ledger.reveal("parity", study.predictions(0))
    assert study.ledger.audit().ok


def test_what_burns_is_for_the_law_to_say_within_the_transaction(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A read that comes between the plan and the entry makes the same amendment burn: it is refused then."""
    begun(study)
    path = amended(study, USED["its bar"])

    def slow(*arguments: Any, **fields: Any) -> Any:
        signed = sign_request(*arguments, **fields)
        with study.reopened() as other:
            other.reveal("parity", study.predictions(0))
        return signed

    monkeypatch.setattr("lacre.broker.amend.sign_request", slow)
    with pytest.raises(errors.AmendmentBurns):
        study.ledger.amend(path, reason="before the read, we thought", confirm=lambda _planned: True)
    assert [each.kind for each in study.ledger.log().entries][-2:] == ["read", "result"]
    assert len(study.ledger.show("parity").study.versions) == 1
    assert study.ledger.audit().ok, "no document of the refused amendment is left behind"


def test_another_amendment_in_between_is_refused(study: Study) -> None:
    """The difference that was shown is no longer the one that would be made."""
    begun(study)
    first, path = amended(study, USED["its bar"]).read_bytes(), study.protocol()
    path.write_text(UNUSED["title"](path.read_text()))

    def confirm(_planned: Any) -> bool:
        with study.reopened() as other:
            other.amend(first, reason="meanwhile")
        return True

    with pytest.raises(errors.ProtocolNotInForce):
        study.ledger.amend(path, reason="a title", confirm=confirm)
    assert len(study.ledger.show("parity").study.versions) == 2


def test_a_dry_run_shows_all_and_writes_nothing(study: Study) -> None:
    begun(study)
    study.ledger.reveal("parity", study.predictions(0))
    before = study.size
    planned = study.ledger.amend(amended(study, USED["its bar"]), reason="look", dry_run=True)
    assert [(each.path, each.before, each.after) for each in planned.changes] == [
        ("analyses.parity.criteria.gap.max_group_gap", 0.9, 0.8)
    ]
    assert planned.burns == ("teste",)
    assert study.size == before
    assert "teste would be dev, for good" in str(planned)


def test_a_yes_accepts_the_burn_that_was_shown(study: Study) -> None:
    begun(study)
    study.ledger.reveal("parity", study.predictions(0))
    path, seen = amended(study, USED["its bar"]), []

    def confirm(planned: Any) -> bool:
        seen.append(planned.burns)
        return len(seen) > 1

    before = study.size
    with pytest.raises(errors.Declined):
        study.ledger.amend(path, reason="no", confirm=confirm)
    assert study.size == before
    assert study.ledger.amend(path, reason="yes", confirm=confirm).burns == ("teste",)
    assert seen == [("teste",), ("teste",)]


def test_an_amendment_leaves_reason_difference_and_receipt(study: Study) -> None:
    begun(study)
    made = study.ledger.amend(amended(study, USED["its bar"]), reason="  a typing error\n")
    shown = study.ledger.show(f"@{made.entry}")
    assert "a typing error" in {text.words for text in shown.texts.values()}
    text = str(shown)
    assert "Reason given: a typing error" in text
    assert "analyses.parity.criteria.gap.max_group_gap: 0.9 -> 0.8" in text
    receipt = Receipt.parse(made.receipt)
    assert receipt.index == made.entry
    key = VerifierKey.parse(study.ledger.status().verifier_key)
    assert receipt.verify(shown.recorded.envelope.encode(), [key]).size == made.entry + 1


def test_a_plan_that_reads_the_sealed_files_otherwise_names_what_to_seal_again(study: Study) -> None:
    """A new column of the file is not in the sealed one: `teste` can be replaced, `dev`, once read, cannot."""
    begun(study)
    study.seal("dev", 1000)
    study.ledger.run("parity", "rehearsal", study.predictions(1000), pool="dev")
    path = amended(study, lambda text: text.replace("      sex:", "      site: {type: text}\n      sex:"))
    made = study.ledger.amend(path, reason="the site matters")
    assert (made.reseal, made.closed) == (("teste",), ("dev",))
    assert "lacre seal parity teste FILE --replace" in " ".join(str(made).split())
    with pytest.raises(errors.SealedOtherwise):
        study.ledger.reveal("parity", study.predictions(0))
    steps = next_steps(study.ledger.show("parity").study)
    assert any(step.startswith("lacre seal parity teste FILE --replace") for step in steps)
    assert not any(step.startswith("lacre reveal") for step in steps)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (lambda text: text, errors.NothingAmended),
        (lambda text: text.replace("study: parity", "study: another"), errors.StudyNotRegistered),
    ],
)
def test_what_is_no_amendment_is_refused(
    study: Study, change: Callable[[str], str], error: type[errors.LacreError]
) -> None:
    begun(study)
    before = study.size
    with pytest.raises(error):
        study.ledger.amend(change(study.protocol().read_text()).encode(), reason="why not")
    assert study.size == before


def test_what_is_locked_stays(study: Study) -> None:
    path = study.protocol()
    path.write_text(path.read_text() + "locked: [analyses.parity]\n")
    study.ledger.register(path)
    path.write_text(_in("parity", path.read_text(), "max_group_gap: 0.9", "max_group_gap: 0.8"))
    with pytest.raises(errors.FieldsLocked) as refused:
        study.ledger.amend(path, reason="why not", dry_run=True)
    assert "analyses.parity.criteria.gap.max_group_gap" in refused.value.message


def test_a_bar_that_nothing_passes_is_kept_only_for_a_reason(study: Study) -> None:
    """`min_cell` larger than the planned cases leaves no group to judge, so no outcome passes."""
    begun(study)
    text = study.protocol().read_text().replace("attributes: [sex],", "attributes: [sex], min_cell: 5000,", 1)
    with pytest.raises(errors.CriterionInfeasible):
        study.ledger.amend(text.encode(), reason="a pilot")
    made = study.ledger.amend(text.encode(), reason="a pilot", accept_infeasible="to find the rates")
    assert [(each.analysis, each.criterion, each.passes) for each in made.infeasible] == [
        ("parity", "gap", False)
    ]
    assert "to find the rates" in str(study.ledger.show(f"@{made.entry}"))
    assert made.warnings == ()
    kinds = [row.kind for row in study.ledger.deviations("parity").rows]
    assert kinds == ["amendment", "infeasible"]


def test_a_reason_for_infeasible_criteria_that_are_none_is_not_kept(study: Study) -> None:
    begun(study)
    made = study.ledger.amend(amended(study, UNUSED["title"]), reason="a title", accept_infeasible="in case")
    assert "not on record" in made.warnings[0]
    assert "in case" not in str(study.ledger.show(f"@{made.entry}"))


# --- words -------------------------------------------------------------------------------------------------


def test_a_deviation_is_shown_wherever_its_study_is(study: Study) -> None:
    """Of a study: with every result of it, earlier and later ones; of a result: with that result alone."""
    begun(study)
    study.seal("dev", 1000)
    first = study.ledger.reveal("parity", study.predictions(0))
    made = study.ledger.deviate("parity", "Two clinics joined late.")
    about = study.ledger.deviate(first.name, "One rater was ill.")
    other = study.ledger.run("parity", "rehearsal", study.predictions(1000), pool="dev")
    assert (about.about, [each.read_class for each in about.known]) == (first.entry, ["teste"])
    said = {name: [r.entry for r in study.ledger.show(name).deviations] for name in (first.name, other.name)}
    assert said == {first.name: [made.entry, about.entry], other.name: [made.entry]}
    assert "Two clinics joined late." in str(other), "the output of the later read itself"
    assert "One rater was ill." not in str(other)
    page = str(study.ledger.show("parity"))
    assert "Two clinics joined late." in page
    assert "One rater was ill." in page
    assert "Departures on record: 2 (`lacre show parity --deviations`)" in str(study.ledger.status())
    document = study.ledger.show(first.name).as_json()
    assert [each["words"]["words"] for each in document["deviations"]] == [
        "Two clinics joined late.",
        "One rater was ill.",
    ]
    story = str(study.ledger.audit(first.name))
    assert "put a deviation on record: Two clinics joined late." in story
    assert f"about entry {first.entry}: One rater was ill." in story
    assert "One rater was ill." not in str(study.ledger.audit(other.name))
    assert pool(study).standing == "teste", "words change nothing"


def test_a_deviation_may_name_any_entry_of_its_study_alone(study: Study) -> None:
    begun(study)
    study.ledger.register(study.protocol("another"))
    assert study.ledger.deviate("@2", "The file came from the second export.").about == 2
    assert study.ledger.deviate("parity@2", "And from no other.").study == "parity"
    before = study.size
    with pytest.raises(errors.EntryNotOfStudy):
        study.ledger.deviate("parity@3", "That is another study's registration.")
    with pytest.raises(errors.NotAName):
        study.ledger.deviate("@0", "The genesis is nobody's.")
    with pytest.raises(errors.EntryNotFound):
        study.ledger.deviate("@99", "There is no such entry.")
    assert study.size == before


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", errors.WordsMissing),
        (" \n\t", errors.WordsMissing),
        ("x" * (MOST + 1), errors.WordsTooLong),
        ("\udcff", errors.TextNotUnicode),
    ],
)
def test_words_that_are_none_or_too_many_are_refused(
    study: Study, text: str, error: type[errors.LacreError]
) -> None:
    begun(study)
    before = study.size
    calls: tuple[Callable[[], Any], ...] = (
        lambda: study.ledger.deviate("parity", text),
        lambda: study.ledger.withdraw("parity", reason=text),
        lambda: study.ledger.amend(amended(study, UNUSED["title"]), reason=text),
    )
    for call in calls:
        with pytest.raises(error):
            call()
    assert study.size == before
    assert study.ledger.deviate("parity", "x" * MOST).words == "x" * MOST


# --- withdrawals -------------------------------------------------------------------------------------------


def test_a_withdrawn_study_stays_on_record_and_goes_no_further(study: Study) -> None:
    begun(study)
    study.seal("dev", 1000)
    result = study.ledger.reveal("parity", study.predictions(0))
    made = study.ledger.withdraw("parity", reason="consent was taken back")
    assert (made.unread, [each.count for each in made.known]) == ((), [1])
    assert "Withdrawn at entry" in str(study.ledger.status())
    assert "withdrew the study" in str(study.ledger.log("parity"))
    assert "consent was taken back" in str(study.ledger.show("parity"))
    shown = study.ledger.show(result.name)
    assert (shown.state, shown.withdrawn.text.words) == ("PASS", "consent was taken back")
    assert "consent was taken back" in str(shown)
    assert next_steps(study.ledger.show("parity").study) == []
    assert "withdrew the study: consent was taken back" in str(study.ledger.audit(result.name))
    before = study.size
    calls: tuple[Callable[[], Any], ...] = (
        lambda: study.ledger.reveal("parity", study.predictions(0), accept_dev=True),
        lambda: study.ledger.run("parity", "rehearsal", study.predictions(1000), pool="dev"),
        lambda: study.seal("contraste", 2000),
        lambda: study.ledger.amend(amended(study, UNUSED["title"]), reason="once more"),
        lambda: study.ledger.withdraw("parity", reason="again"),
        lambda: study.ledger.erratum(result.name, study.cases(0), reason="again"),
    )
    for call in calls:
        with pytest.raises(errors.StudyWithdrawn):
            call()
    assert study.size == before
    assert study.ledger.deviate("parity", "A word after the end.").entry == before
    assert study.ledger.audit().ok


def test_a_withdrawal_can_be_declined(study: Study) -> None:
    begun(study)
    before = study.size
    with pytest.raises(errors.Declined):
        study.ledger.withdraw("parity", reason="or not", confirm=lambda _study: False)
    assert study.size == before
    made = study.ledger.withdraw("parity", reason="or not", confirm=lambda known: known.slug == "parity")
    assert made.unread == ("teste",)
    assert "never to be read in it: teste" in str(made)
