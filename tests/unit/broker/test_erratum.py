"""The same submission on corrected labels: what may differ, what is on record, and both numbers side by side."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import lacre
from lacre import errors
from lacre.broker import corrections
from lacre.protocol.document import parse

Study = Any
Change = Callable[[list[str]], list[str]]


def revealed(study: Study, wrong: int = 10, plan: Callable[[str], str] = str) -> Any:
    """The result of a study on 200 cases, of whose predictions the first `wrong` are wrong."""
    study.ledger.register(plan(study.protocol().read_text()).encode())
    study.seal("teste", 0)
    return study.ledger.reveal("parity", study.predictions(0, wrong=wrong))


def corrected(study: Study, rows: Sequence[int] = (), change: Change = lambda cells: cells) -> Path:
    """The sealed file with the labels of `rows` turned round, and `change` done to the first row."""
    head, *lines = study.cases(0).read_text().splitlines()
    cells = [line.split(",") for line in lines]
    for row in rows:
        cells[row][2] = str(1 - int(cells[row][2]))
    cells[0] = change(cells[0])
    path: Path = study.folder / "corrected.csv"
    path.write_text("\n".join([head, *map(",".join, cells)]) + "\n")
    return path


def errors_of(document: Any) -> dict[str, int]:
    """How many errors the criterion counted in each group."""
    (criterion,) = document["analyses"][0]["criteria"]
    return {line["group"]["sex"]: line["numerator"] for line in criterion["groups"]}


def test_the_same_submission_is_scored_on_corrected_labels(study: Study) -> None:
    """Cases 0 to 9 are predicted wrongly, half of each sex. Turning round the labels of 1, 3 (women) and 0
    (a man), which were wrong themselves, makes those predictions right; that of case 150 (a man), which was
    predicted rightly, becomes an error: 5 - 2 = 3 women and 5 - 1 + 1 = 5 men.
    """
    first = revealed(study)
    assert errors_of(first.document) == {"female": 5, "male": 5}
    second = study.ledger.erratum(first.name, corrected(study, [0, 1, 3, 150]), reason="two forms swapped")
    assert errors_of(second.document) == {"female": 3, "male": 5}
    document = second.document
    assert document["erratum"] == {"corrects": first.name, "changed": {"cases.label": 4}}
    assert (document["standing"], document["read"]) == ("erratum", 1)
    assert document["confirmatory"] is False
    assert document["exploratory"] == ["label-erratum"]
    assert (document["state"], document["analyses"][0]["computed"]) == ("INSUFFICIENT_EVIDENCE", "PASS")
    assert second.now == "teste", "it is no second reveal, and burns nothing"
    kinds = [each.kind for each in study.ledger.log().entries]
    assert kinds == ["genesis", "register", "seal", "read", "result", "erratum", "result"]
    assert study.ledger.audit().ok


def test_both_numbers_stand_side_by_side_ever_after(study: Study) -> None:
    first = revealed(study)
    second = study.ledger.erratum(first.name, corrected(study, [0]), reason="a slip of the pen")
    shown = study.ledger.show(first.name)
    assert shown.document == first.document
    (told,) = shown.errata
    assert (told.read, told.result, told.reason.words) == (5, second.entry, "a slip of the pen")
    assert (dict(told.changed), told.document) == ({"cases.label": 1}, second.document)
    again = study.ledger.show(second.name)
    assert (again.corrects.name, again.corrects.document, again.errata) == (first.name, first.document, ())
    for page in (str(shown), str(again)):
        assert "cases.label: 1 cell was corrected" in page
        words = [(line.split() or [""])[0] for line in page.splitlines()]
        beside = words[words.index("criterion,") :]
        assert beside[1:4] == ["parity.gap", first.name, second.name]
    numbers = shown.as_json()["errata"][0]
    assert (numbers["result"], numbers["state"]) == (second.name, "INSUFFICIENT_EVIDENCE")
    (old,) = again.as_json()["corrects"]["analyses"][0]["criteria"]
    assert (old["state"], old["value"]) == ("PASS", 0.0)
    assert f"@{second.entry} INSUFFICIENT_EVIDENCE (erratum of @{first.entry})" in " ".join(
        str(study.ledger.status()).split()
    )
    story = str(study.ledger.audit(first.name))
    assert f"scored the result at entry {first.entry} again on corrected labels" in " ".join(story.split())


def test_rows_in_another_order_are_the_same_cases(study: Study) -> None:
    first = revealed(study)
    path = corrected(study, [0])
    head, *lines = path.read_text().splitlines()
    path.write_text("\n".join([head, *reversed(lines)]) + "\n")
    assert study.ledger.erratum(first.name, path, reason="sorted anew").document["erratum"]["changed"] == {
        "cases.label": 1
    }


def test_another_format_of_the_same_values_is_no_change(study: Study) -> None:
    """The protocol types the cells: a JSON file of the same values differs in its labels alone."""
    first = revealed(study)
    head, *lines = corrected(study, [0, 2]).read_text().splitlines()
    rows = [dict(zip(head.split(","), line.split(","), strict=True)) for line in lines]
    path = study.folder / "corrected.json"
    path.write_text(json.dumps(rows))
    made = study.ledger.erratum(first.name, path, reason="from the database")
    assert made.document["erratum"]["changed"] == {"cases.label": 2}


def test_when_a_label_was_given_may_be_corrected_too(study: Study) -> None:
    first = revealed(study)
    path = corrected(study, [], lambda cells: [*cells[:4], "2099-02-02T00:00:00Z", *cells[5:]])
    made = study.ledger.erratum(first.name, path, reason="the second rating")
    assert made.document["erratum"]["changed"] == {"cases.labelled_at": 1}
    assert errors_of(made.document) == errors_of(first.document)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (lambda cells: ["X" * 6, *cells[1:]], errors.ErratumCasesDiffer),
        (lambda cells: [cells[0], "c-other", *cells[2:]], errors.ErratumInputsDiffer),
        (lambda cells: [*cells[:3], "female", *cells[4:]], errors.ErratumInputsDiffer),
        (lambda cells: [*cells[:4], "yesterday", *cells[5:]], errors.TableNotTime),
    ],
)
def test_what_can_be_seen_without_reading_costs_nothing(
    study: Study, change: Change, error: type[errors.LacreError]
) -> None:
    """Keys and inputs are known by their fingerprints: the first row's are changed here."""
    first = revealed(study)
    before = study.size
    with pytest.raises(error) as refused:
        study.ledger.erratum(first.name, corrected(study, [1], change), reason="labels")
    assert study.size == before
    assert "c-other" not in str(refused.value)
    assert "XXXXXX" not in str(refused.value)


def test_a_case_more_or_less_is_refused_with_counts(study: Study) -> None:
    first = revealed(study)
    path, before = corrected(study, [0]), study.size
    lines = path.read_text().splitlines()
    path.write_text("\n".join(lines[:-3]) + "\n")
    with pytest.raises(errors.ErratumCasesDiffer) as refused:
        study.ledger.erratum(first.name, path, reason="labels")
    assert (refused.value.fields["unknown"], refused.value.fields["absent"]) == (0, 3)
    path.write_text("\n".join([*lines, "999999,c1,1,male,2099-01-01T00:00:00Z,"]) + "\n")
    with pytest.raises(errors.ErratumCasesDiffer) as refused:
        study.ledger.erratum(first.name, path, reason="labels")
    assert (refused.value.fields["unknown"], refused.value.fields["absent"]) == (1, 0)
    assert study.size == before


def test_the_sealed_file_itself_corrects_nothing(study: Study) -> None:
    first = revealed(study)
    before = study.size
    with pytest.raises(errors.ErratumUnchanged):
        study.ledger.erratum(first.name, study.cases(0), reason="labels")
    assert study.size == before


def test_a_change_that_only_the_read_shows_is_a_failed_attempt(study: Study) -> None:
    """An attribute that is no input is in no fingerprint: cell by cell it is seen, after the entry."""
    first = revealed(
        study, plan=lambda text: text.replace("values: [female, male], is: input", "values: [female, male]")
    )
    path = corrected(study, [1], lambda cells: [*cells[:3], "female", *cells[4:]])
    with pytest.raises(errors.ErratumChangesMore) as refused:
        study.ledger.erratum(first.name, path, reason="labels, and more")
    assert refused.value.fields["columns"] == "cases.sex: 1"
    assert [each.kind for each in study.ledger.log().entries][-1] == "erratum"
    (failed,) = study.ledger.show(first.name).errata
    assert (failed.read, failed.result) == (5, None)
    assert "It gave no result." in str(study.ledger.show(first.name))
    assert study.ledger.audit().ok
    made = study.ledger.erratum(first.name, corrected(study, [1]), reason="labels alone")
    assert [(e.number, e.result) for e in study.ledger.show(first.name).errata] == [
        (1, None),
        (2, made.entry),
    ]
    rows = study.ledger.deviations("parity").rows
    assert [(row.kind, row.entry, row.result) for row in rows] == [
        ("erratum", 5, None),
        ("erratum", 6, made.entry),
    ]
    assert study.ledger.audit(made.name).ok


def test_a_crash_leaves_an_attempt_and_the_next_call_makes_another(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = revealed(study)
    path = corrected(study, [0])
    with monkeypatch.context() as broken:

        def crash(*_arguments: Any, **_more: Any) -> Any:
            raise errors.DiskFull(path="/")

        broken.setattr("lacre.broker.erratum.record_result", crash)
        with pytest.raises(errors.ErratumUnfinished) as refused:
            study.ledger.erratum(first.name, path, reason="labels")
    assert refused.value.fields["entry"] == 5
    made = study.ledger.erratum(first.name, path, reason="labels")
    assert made.document["read"] == 2
    assert [(e.read, e.result) for e in study.ledger.show(first.name).errata] == [(5, None), (6, made.entry)]
    assert study.ledger.audit().ok


def test_an_erratum_goes_by_the_plan_of_its_own_read(study: Study) -> None:
    """The bar was moved since, and another column declared: the result is judged as it was promised."""
    first = revealed(study)
    text = study.protocol().read_text().replace("max_group_gap: 0.9", "max_group_gap: 0.8")
    study.ledger.amend(text.encode(), reason="a narrower bar", accept_burn=True)
    made = study.ledger.erratum(first.name, corrected(study, [0]), reason="labels")
    assert made.document["protocol"] == first.document["protocol"]
    assert made.document["analyses"][0]["criteria"][0]["threshold"] == 0.9
    assert (made.version, made.amended) == (2, ()), "it was made after the amendment"
    assert study.ledger.audit(made.name).ok


def test_an_erratum_corrects_first_results_alone(study: Study) -> None:
    first = revealed(study)
    made = study.ledger.erratum(first.name, corrected(study, [0]), reason="labels")
    before, path = study.size, corrected(study, [0, 1])
    for name in (made.name, "parity@3", "parity@2"):
        with pytest.raises(errors.CorrectsNoResult):
            study.ledger.erratum(name, path, reason="labels")
    for name in ("parity", "@4"):
        with pytest.raises(errors.NotAName):
            study.ledger.erratum(name, path, reason="labels")
    assert study.size == before
    second = study.ledger.erratum(first.name, path, reason="more labels")
    assert second.document["erratum"]["changed"] == {"cases.label": 2}, "against the sealed labels"


def test_nothing_of_an_erratum_is_in_clear_beside_the_pool(study: Study) -> None:
    first = revealed(study)
    study.ledger.erratum(first.name, corrected(study, [0]), reason="labels")
    folder = study.ledger.folder / "pools" / "parity" / "teste"
    assert sorted(path.suffix for path in folder.iterdir()) == sorted(
        [".pool", ".key", ".prints", ".submission", ".submission-key", ".pool", ".key"]
    )
    for path in folder.iterdir():
        assert b"case_id" not in path.read_bytes()


def test_results_on_other_pools_can_be_corrected_too(study: Study) -> None:
    study.begin()
    study.seal("contraste", 0)
    first = study.ledger.run("parity", "differential", study.predictions(0, wrong=10))
    made = study.ledger.erratum(first.name, corrected(study, [0]), reason="labels")
    assert (made.document["pool"], made.document["analyses"][0]["id"]) == ("contraste", "differential")
    later = study.ledger.run("parity", "differential", study.predictions(0, wrong=10))
    assert later.document["confirmatory"] is True, "it is the same submission, and no second one"


def test_a_pool_that_changed_hands_is_corrected_by_who_can_open_it(study: Study, tmp_path: Path) -> None:
    """Sealed to the ledger's own identity, handed to another, corrected, handed back: each time all goes along."""
    first = revealed(study)
    other = lacre.new_identity(tmp_path / "rui.age")
    study.ledger.rewrap("parity", "teste", other.recipient, reason="Rui keeps it now")
    path, before = corrected(study, [0]), study.size
    with pytest.raises(errors.IdentityCannotOpen):
        study.ledger.erratum(first.name, path, reason="labels")
    assert study.size == before
    made = study.ledger.erratum(first.name, path, reason="labels", identity=tmp_path / "rui.age")
    assert made.document["erratum"]["changed"] == {"cases.label": 1}
    own = study.ledger.show("@0").recorded.content.recipient
    study.ledger.rewrap("parity", "teste", own, identity=tmp_path / "rui.age", reason="back again")
    again = study.ledger.erratum(first.name, corrected(study, [0, 2]), reason="more labels")
    assert again.document["erratum"]["changed"] == {"cases.label": 2}
    assert [row.kind for row in study.ledger.deviations("parity").rows] == [
        "handing",
        "erratum",
        "handing",
        "erratum",
    ]
    assert study.ledger.audit().ok


TWO_TABLES = """
lacre: 1
study: two
title: Labels made of answers
question: Which columns may an erratum correct?
language: en
data: {identifiable: false, prior_exposure: none}
tables:
  cases:
    key: case_id
    unit: person
    columns:
      case_id: {type: text}
      person: {type: text}
      answer: {type: text}
      truth: {type: text}
      right: {type: outcome, equals: [answer, truth]}
      said: {type: outcome, positive: "1", negative: "0", from: submission}
      other: {type: outcome, positive: "1", negative: "0"}
      rated_at: {type: time, is: labelled}
      notes: {type: text, part: labels}
      sex: {type: category, values: [female, male], is: demographic}
      weight: {type: number, is: weight}
pools:
  teste: {tables: [cases]}
analyses:
  parity: {kind: group_fairness, pool: teste, table: cases, label: right, prediction: said,
           attributes: [sex], criteria: [{id: gap, metric: error, by: [sex], max_group_gap: 0.9}]}
"""


def test_which_columns_are_labels() -> None:
    """The label is made of `answer` and `truth`, so they may be corrected; `other` is no label of the analysis."""
    columns = corrections.label_columns(parse(TWO_TABLES.encode()), ["parity"], "cases")
    assert columns == {"right", "answer", "truth", "rated_at", "notes"}
    assert corrections.label_columns(parse(TWO_TABLES.encode()), [], "cases") == {"rated_at", "notes"}


def test_a_result_must_name_what_it_corrects(study: Study) -> None:
    """The audit holds the document's own words against its read: see `tests/unit/audit/test_results.py`."""
    first = revealed(study)
    made = study.ledger.erratum(first.name, corrected(study, [0]), reason="labels")
    report = study.ledger.audit(made.name)
    assert report.ok
    assert report.story.reads[-1].corrects == first.entry
