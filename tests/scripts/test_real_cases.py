"""The whole path on published decided cases: COMPAS in two forms, and Adult with its labels reversed.

Expected counts stand in the data's own `expected.json`, computed by the publishers' definitions.
"""

import json
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Shell = Any
RACES = ("African-American", "Caucasian", "Hispanic", "Other", "Asian", "Native American")

PROTOCOL = """
lacre: 1
study: {study}
title: Errors of a score by group
question: Do the errors of the score differ between groups?
language: en
data: {{identifiable: false, prior_exposure: none}}
tables:
  cases:
    key: {key}
    columns:
      {key}: {{type: text}}
      {label}: {{type: outcome, positive: "1", negative: "0"}}
      {prediction}: {{type: outcome, positive: {positive}, negative: {negative}, from: submission}}
      race: {{type: category, values: [{races}], is: input}}
      {sex}: {{type: category, values: [Male, Female], is: input}}
pools:
  teste: {{tables: [cases]}}
analyses:
  parity:
    kind: group_fairness
    pool: teste
    table: cases
    label: {label}
    prediction: {prediction}
    attributes: [race, {sex}]
    intersections: [[race, {sex}]]
    criteria:
      - {{id: fpr-race, metric: false_positive, by: [race], max_group_gap: 0.05}}
      - {{id: fnr-race, metric: false_negative, by: [race], max_group_gap: 0.05}}
      - {{id: fpr-crossed, metric: false_positive, by: [race, {sex}], max_group_gap: 0.05}}
      - {{id: fnr-crossed, metric: false_negative, by: [race, {sex}], max_group_gap: 0.05}}
"""

AEQUITAS = {
    "study": "aequitas",
    "key": "entity_id",
    "label": "label_value",
    "prediction": "score",
    "positive": '"1.0"',
    "negative": '"0.0"',
    "races": ", ".join(RACES),
    "sex": "sex",
    "file": "compas_for_aequitas.csv",
}
PROPUBLICA = {
    "study": "propublica",
    "key": "id",
    "label": "two_year_recid",
    "prediction": "score_text",
    "positive": "[Medium, High]",
    "negative": "Low",
    "races": ", ".join(RACES),
    "sex": "sex",
    "file": "compas-scores-two-years.csv",
}
ADULT = {
    "study": "adult",
    "key": "entity_id",
    "label": "label_value",
    "prediction": "score",
    "positive": '"1.0"',
    "negative": '"0.0"',
    "races": "White, Black, Asian-Pac-Islander, Amer-Indian-Eskimo, Other",
    "sex": "gender",
    "file": "adult_rf_binary.csv",
}


def _sealed(shell: Shell, data_dir: Path, form: dict[str, str]) -> str:
    """Register and seal; the file that serves as submission too."""
    (shell.folder / "protocol.yaml").write_text(PROTOCOL.format(**form))
    source = str(data_dir / "1-fairness" / form["file"])
    shell.json("init")
    shell.json("register", "protocol.yaml")
    shell.json("seal", form["study"], "teste", source)
    return source


@pytest.fixture
def expected(data_dir: Path) -> Callable[[str], dict[str, Any]]:
    """What a file's counts must be."""
    published = json.loads((data_dir / "expected.json").read_text())

    def find(name: str) -> dict[str, Any]:
        return next(e["expected"] for e in published if any(f["file"].endswith(name) for f in e["files"]))

    return find


def _estimate(document: dict[str, Any], metric: str, **group: str) -> tuple[int, int]:
    (found,) = [
        e for e in document["analyses"][0]["estimates"] if e["metric"] == metric and e["group"] == group
    ]
    assert found["low"] <= found["value"] <= found["high"]
    return found["numerator"], found["denominator"]


@pytest.mark.parametrize("form", [AEQUITAS, PROPUBLICA], ids=["aequitas", "propublica"])
def test_compas_fails_with_the_published_counts(
    shell: Shell, data_dir: Path, expected: Callable[[str], dict[str, Any]], form: dict[str, str]
) -> None:
    source = _sealed(shell, data_dir, form)
    study = form["study"]
    result = shell.json("reveal", study, "--submission", source, expect=1)
    assert (result["state"], result["standing"], result["confirmatory"]) == ("FAIL", "teste", True)
    published = expected("compas-scores-two-years.csv")
    for race in ("African-American", "Caucasian"):
        counts = published[race]
        negatives, positives = counts["fp"] + counts["tn"], counts["fn"] + counts["tp"]
        assert _estimate(result, "false_positive", race=race) == (counts["fp"], negatives)
        assert _estimate(result, "false_negative", race=race) == (counts["fn"], positives)
    for race in ("Asian", "Native American"):
        for metric, short in (("false_positive", "FPR"), ("false_negative", "FNR")):
            assert "{}/{}".format(*_estimate(result, metric, race=race)) == published[race][short]
    for race in ("Hispanic", "Other"):
        for metric, short in (("false_positive", "FPR"), ("false_negative", "FNR")):
            numerator, denominator = _estimate(result, metric, race=race)
            assert round(numerator / denominator, 4) == published[race][short]
    for sex in ("Male", "Female"):
        numerator, denominator = _estimate(result, "false_positive", sex=sex)
        assert round(numerator / denominator, 4) == published[sex]["FPR"]

    criteria = {c["id"]: c for c in result["analyses"][0]["criteria"]}
    assert {c["state"] for c in criteria.values()} == {"FAIL"}
    small = {line["group"]["race"] for line in criteria["fpr-race"]["groups"] if line["denominator"] < 30}
    assert small == {"Asian", "Native American"}
    for line in criteria["fpr-race"]["groups"]:
        if line["group"]["race"] in small:
            assert line["state"] == "INSUFFICIENT_EVIDENCE"
            assert line["reason"]["code"]
    assert len(criteria["fpr-crossed"]["groups"]) == 12

    entries = shell.json("status")["entries"]
    refused = shell.json("reveal", study, "--submission", source, expect=2)
    assert refused["error"]["code"] == "teste-already-read"
    assert shell.json("status")["entries"] == entries, "a refusal spends nothing"
    again = shell.json("reveal", study, "--submission", source, "--accept-dev", expect=1)
    assert (again["confirmatory"], again["standing"], again["now"]) == (False, "dev", "dev")
    assert shell.json("audit")["findings"] == []


def test_a_label_the_wrong_way_round_is_a_manual_review(shell: Shell, data_dir: Path) -> None:
    source = _sealed(shell, data_dir, ADULT)
    result = shell.json("reveal", "adult", "--submission", source, expect=4)
    assert result["state"] == "MANUAL_REVIEW"
    assert {c["state"] for c in result["analyses"][0]["criteria"]} == {"MANUAL_REVIEW"}
    assert {c["reason"]["code"] for c in result["analyses"][0]["criteria"]} == {"error-above-half"}
    assert _estimate(result, "false_positive", gender="Male") == (3968, 3968 + 608)
    assert _estimate(result, "false_negative", gender="Female") == (213, 213 + 145)
    text = shell.lacre("show", result["result"])
    assert "reversed" in text.out


def test_a_pass_read_again_never_exits_0(shell: Shell, data_dir: Path) -> None:
    """A bar at 1 is met by any outcome of any case; read again as dev it is no evidence, and ends so."""
    form = {**AEQUITAS, "study": "wide"}
    (shell.folder / "wide.yaml").write_text(
        PROTOCOL.format(**form)
        .replace("max_group_gap: 0.05", "worst_group: {max: 1}")
        .replace("    criteria:", "    min_cell: 1\n    criteria:")
    )
    source = str(data_dir / "1-fairness" / form["file"])
    shell.json("init")
    refused = shell.json("register", "wide.yaml", expect=2)
    assert refused["error"]["code"] == "criterion-infeasible"
    shell.json("register", "wide.yaml", "--accept-infeasible", "to see what a PASS read again says")
    shell.json("seal", "wide", "teste", source)
    first = shell.json("reveal", "wide", "--submission", source, expect=0)
    assert first["state"] == "PASS"
    again = shell.json("reveal", "wide", "--submission", source, "--accept-dev", expect=3)
    assert again["state"] == "INSUFFICIENT_EVIDENCE"


@pytest.mark.parametrize(
    ("header", "code"),
    [
        ("entity_id,scores\n1,1.0\n", "table-column-absent"),
        ("entity_id,score\nnobody,1.0\n", "foreign-cases"),
    ],
)
def test_a_submission_that_does_not_fit_leaves_the_pool_unspent(
    shell: Shell, data_dir: Path, header: str, code: str
) -> None:
    source = _sealed(shell, data_dir, AEQUITAS)
    (shell.folder / "bad.csv").write_text(header)
    refused = shell.json("reveal", "aequitas", "--submission", "bad.csv", expect=2)
    assert refused["error"]["code"] == code
    assert "nobody" not in json.dumps(refused)
    assert shell.json("reveal", "aequitas", "--submission", source, expect=1)["standing"] == "teste"


def test_one_byte_changed_in_any_entry_is_found(shell: Shell, data_dir: Path) -> None:
    source = _sealed(shell, data_dir, AEQUITAS)
    shell.json("reveal", "aequitas", "--submission", source, expect=1)
    database = shell.folder / ".lacre" / "ledger.db"
    sound = database.read_bytes()
    with sqlite3.connect(database) as connection:
        sizes = connection.execute('SELECT "index", length(envelope) FROM entries').fetchall()
        triggers = [
            name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        ]
    connection.close()
    assert len(sizes) == 5
    for index, size in sizes:
        position = (index * 7919 + 11) % size
        with sqlite3.connect(database) as connection:
            for trigger in triggers:
                connection.execute(f'DROP TRIGGER "{trigger}"')
            (envelope,) = connection.execute(
                'SELECT envelope FROM entries WHERE "index" = ?', (index,)
            ).fetchone()
            changed = envelope[:position] + bytes([envelope[position] ^ 1]) + envelope[position + 1 :]
            connection.execute('UPDATE entries SET envelope = ? WHERE "index" = ?', (changed, index))
        connection.close()
        report = shell.json("audit", expect=1)
        assert index in {finding["entry"] for finding in report["findings"]}
        database.write_bytes(sound)
    assert shell.json("audit")["ok"] is True


def test_an_older_copy_put_back_is_refused(shell: Shell, data_dir: Path) -> None:
    source = _sealed(shell, data_dir, AEQUITAS)
    older = shell.folder / "older"
    shutil.copytree(shell.folder / ".lacre", older)
    shell.json("reveal", "aequitas", "--submission", source, expect=1)
    shutil.rmtree(shell.folder / ".lacre")
    shutil.copytree(older, shell.folder / ".lacre")
    refused = shell.json("reveal", "aequitas", "--submission", source, expect=2)
    assert refused["error"]["code"] == "ledger-rolled-back"
    report = shell.json("audit", expect=1)
    assert report["findings"]
