"""An open corpus through the Python API: its parts in order, what is refused of them, runs, and what strangers see."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests import open_corpus as made
from tests.dates import LABELLED
from tests.unit.broker.conftest import Study

import lacre
from lacre import api, errors
from lacre.broker import corpus as broker, corpus_run
from lacre.protocol.grammar import Part
from lacre.store.reader import Reader
from lacre.tables.columns import Outcomes
from lacre.tables.parts import PartRead, count_part

PARTS: tuple[Part, ...] = ("cases", "labels", "scores")


@pytest.fixture
def begun(study: Study) -> Study:
    """A study with an open corpus, registered."""
    study.ledger.register(made.plan().encode())
    return study


@pytest.fixture
def whole(begun: Study) -> Study:
    """All parts of it committed."""
    for part in PARTS:
        begun.ledger.commit("judge", part, FILES[part](begun.folder))
    return begun


FILES: Mapping[str, Callable[..., Path]] = {
    "cases": made.cases,
    "labels": made.labels,
    "scores": made.scores,
}


def refused(code: str, call: Callable[..., Any], *given: Any, **more: Any) -> errors.LacreError:
    with pytest.raises(errors.LacreError) as caught:
        call(*given, **more)
    assert caught.value.code == code
    return caught.value


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


# --- in order ----------------------------------------------------------------------------------------------


def test_parts_are_committed_in_their_order_and_once(begun: Study) -> None:
    ledger, size = begun.ledger, begun.size
    assert refused("part-out-of-order", ledger.commit, "judge", "scores", "s.csv").fields["first"] == "cases"
    refused("part-out-of-order", ledger.commit, "judge", "labels", "l.csv")
    refused("corpus-incomplete", ledger.run, "judge", "parity")
    assert begun.size == size
    kept = ledger.commit("judge", "cases", made.cases(begun.folder))
    assert (kept.next, kept.rows, kept.shortfall) == ("labels", {"cases": made.CASES}, ())
    refused("part-already-committed", ledger.commit, "judge", "cases", made.cases(begun.folder))
    missing = refused("corpus-incomplete", ledger.run, "judge", "parity").fields["missing"]
    assert missing == "labels, scores"
    assert ledger.commit("judge", "labels", made.labels(begun.folder)).next == "scores"
    assert ledger.commit("judge", "scores", made.scores(begun.folder)).next is None
    refused("part-already-committed", ledger.commit, "judge", "scores", made.scores(begun.folder, wrong=0))


def test_what_is_next_is_said(begun: Study) -> None:
    for part in PARTS:
        assert f"lacre commit judge {part} FILE" in str(begun.ledger.status())
        begun.ledger.commit("judge", part, FILES[part](begun.folder))
    assert "lacre run judge parity" in str(begun.ledger.status())
    begun.ledger.run("judge", "parity")
    assert "Next: lacre run" not in str(begun.ledger.status())
    pool = begun.ledger.show("judge").as_json()["pools"]["corpus"]
    assert [each["part"] for each in pool["parts"]] == ["cases", "labels", "scores"]
    assert pool["rows"] == {"cases": made.CASES}


def test_fewer_cases_than_planned_are_a_deviation(study: Study) -> None:
    study.ledger.register(made.plan(planned=300).encode())
    kept = study.ledger.commit("judge", "cases", made.cases(study.folder))
    assert [(each.planned, each.rows) for each in kept.shortfall] == [(300, made.CASES)]
    assert "shortfall" in [row["kind"] for row in study.ledger.deviations("judge").as_json()["deviations"]]


# --- what a part may hold ----------------------------------------------------------------------------------

HEAD = "case_id,human,labelled_at"
TELLING = "a-cell-that-tells-4711"
ROW = f"0000,good,{made.LABELLED}"
LABELS = {
    "scores among labels": ("part-holds-others", f"{HEAD},judge\n{ROW},good\n"),
    "a time of scores among labels": ("part-holds-others", f"{HEAD},scored_at\n{ROW},{made.SCORED}\n"),
    "cases that were not committed": ("part-of-foreign-cases", f"{HEAD}\n{ROW}\n9999,good,{made.LABELLED}\n"),
    "labels from before the plan": (
        "corpus-labels-before-registration",
        f"{HEAD}\n0000,good,2020-01-01T00:00:00Z\n",
    ),
    "a case twice": ("table-key-repeated", f"{HEAD}\n{ROW}\n{ROW}\n"),
    "a time without a zone": ("table-zone-absent", f"{HEAD}\n0000,good,2099-01-01T00:00:00\n"),
    "blanks after the commas": ("table-header-padded", f"case_id, human, labelled_at\n{ROW}\n"),
    "another spelling throughout": ("table-nothing-declared", f"{HEAD}\n0000,Good,{made.LABELLED}\n"),
}


@pytest.mark.parametrize("name", LABELS)
def test_a_file_with_labels_is_refused(begun: Study, name: str) -> None:
    begun.ledger.commit("judge", "cases", made.cases(begun.folder))
    size = begun.size
    code, text = LABELS[name]
    refused(code, begun.ledger.commit, "judge", "labels", written(begun.folder, "bad.csv", text))
    assert begun.size == size


def test_scores_hold_no_labels_and_cases_hold_neither(begun: Study) -> None:
    cases = made.cases(begun.folder).read_text().splitlines()
    both = "\n".join([f"{cases[0]},human", *(f"{line},good" for line in cases[1:])])
    refused("part-holds-others", begun.ledger.commit, "judge", "cases", written(begun.folder, "b.csv", both))
    begun.ledger.commit("judge", "cases", made.cases(begun.folder))
    begun.ledger.commit("judge", "labels", made.labels(begun.folder))
    both = f"case_id,judge,scored_at,human\n0000,good,{made.SCORED},good\n"
    refused("part-holds-others", begun.ledger.commit, "judge", "scores", written(begun.folder, "b.csv", both))


def test_labels_of_json_under_the_path_of_a_score_are_refused(study: Study) -> None:
    plan = made.plan().replace("human: {type: outcome,", "human: {type: outcome, path: $.word.human,")
    plan = plan.replace("judge: {type: outcome,", "judge: {type: outcome, path: $.word.judge,")
    study.ledger.register(plan.encode())
    study.ledger.commit("judge", "cases", made.cases(study.folder))
    row = '{"case_id": "0000", "labelled_at": "%s", "word": {"human": "good"%s}}\n'
    bad = written(study.folder, "bad.jsonl", row % (made.LABELLED, ', "judge": "good"'))
    refused("part-holds-others", study.ledger.commit, "judge", "labels", bad)
    good = written(study.folder, "good.jsonl", row % (made.LABELLED, ""))
    assert study.ledger.commit("judge", "labels", good).absent == {"cases": made.CASES - 1}


@pytest.mark.parametrize(
    "text",
    [
        f"{HEAD}\n{TELLING},good,{made.LABELLED}\n",
        f"{HEAD}\n0000,{TELLING},{made.LABELLED}\n",
        f"{HEAD}\n0000,good,{TELLING}\n",
        f"{HEAD},judge\n{ROW},{TELLING}\n",
        f'{HEAD}\n0000,"{TELLING},{made.LABELLED}\n',
    ],
)
def test_no_cell_is_in_what_is_said_of_a_file_that_is_refused(begun: Study, text: str) -> None:
    """What is refused was not committed, and may well be of people."""
    begun.ledger.commit("judge", "cases", made.cases(begun.folder))
    with pytest.raises(errors.LacreError) as caught:
        begun.ledger.commit("judge", "labels", written(begun.folder, "bad.csv", text))
    assert TELLING not in f"{caught.value} {caught.value.fields}"
    assert TELLING.encode() not in b"".join(
        path.read_bytes() for path in begun.folder.rglob(".lacre/**/*") if path.is_file()
    )


@pytest.mark.parametrize(
    ("scored", "count"),
    [
        (made.SCORED, 0),
        (made.LABELLED, made.CASES),  # at the same moment is not before
        ("2098-12-31T23:59:59Z", made.CASES),
        ("2098-12-31T23:00:00-03:00", 0),  # 02:00 in UTC, and so after midnight
        ("2099-01-01T02:00:00+03:00", made.CASES),  # 23:00 in UTC, the day before
        ("", made.CASES),  # no time shows no order
    ],
)
def test_a_case_is_labelled_before_it_is_scored(begun: Study, scored: str, count: int) -> None:
    for part in PARTS[:2]:
        begun.ledger.commit("judge", part, FILES[part](begun.folder))
    given = made.scores(begun.folder, at=scored)
    if count:
        found = refused("scores-before-labels", begun.ledger.commit, "judge", "scores", given)
        assert found.fields["count"] == count
    else:
        assert begun.ledger.commit("judge", "scores", given).rows == {"cases": made.CASES}


def test_files_as_they_come(begun: Study) -> None:
    """A byte order mark, CRLF, LF within a cell, a no-break space: the ids and the blanks survive."""
    text = '\ufeffcase_id,locale,text\r\n01,en,"two\nlines"\r\n1,pt-BR,a\u00a0b\r\n'
    kept = begun.ledger.commit("judge", "cases", written(begun.folder, "c.csv", text))
    assert kept.rows == {"cases": 2}
    kept = begun.ledger.commit(
        "judge", "labels", written(begun.folder, "l.csv", f"{HEAD}\r\n01,good,{made.LABELLED}\r\n")
    )
    assert kept.absent == {"cases": 1}
    assert any("later than now" in each for each in kept.warnings)


# --- runs --------------------------------------------------------------------------------------------------


def test_a_run_counts_what_is_in_the_files_and_every_run_the_same(whole: Study) -> None:
    """Of 200 cases, half in each language, the first 7 are scored wrongly: ids 0 to 6, of which 4 are even, in `en`."""
    first = whole.ledger.run("judge", "parity")
    document = first.as_json()
    rates = {
        each["group"]["locale"]: (each["numerator"], each["denominator"])
        for each in document["analyses"][0]["estimates"]
        if each["metric"] == "error" and each["group"]
    }
    assert rates == {"en": (4, 100), "pt-BR": (3, 100)}
    assert (document["standing"], document["state"], document["confirmatory"]) == ("corpus", "PASS", True)
    assert document["custody"] == "open"
    second = whole.ledger.run("judge", "parity").as_json()
    assert (second["analyses"], second["read"]) == (document["analyses"], 2)
    size = whole.size
    whole.ledger.run("judge", "parity", dry_run=True)
    assert whole.size == size


def test_cases_without_a_label_are_left_out_and_counted(begun: Study) -> None:
    """Ten of 200 cases have no row among the labels: their label is blank."""
    begun.ledger.commit("judge", "cases", made.cases(begun.folder))
    kept = begun.ledger.commit("judge", "labels", made.labels(begun.folder, made.CASES - 10))
    assert kept.absent == {"cases": 10}
    begun.ledger.commit("judge", "scores", made.scores(begun.folder))
    analysis = begun.ledger.run("judge", "parity").as_json()["analyses"][0]
    assert sum(each["count"] for each in analysis["left_out"]) == 10


def test_a_run_takes_no_submission_and_other_pools_nothing_of_it(whole: Study) -> None:
    size = whole.size
    refused("corpus-takes-nothing", whole.ledger.run, "judge", "parity", made.scores(whole.folder))
    refused("pool-is-open", whole.ledger.seal, "judge", "corpus", made.cases(whole.folder))
    refused("pool-is-open", whole.ledger.inputs, "judge", "corpus", whole.folder / "in.csv")
    assert whole.size == size


@pytest.mark.parametrize(
    ("change", "exploratory"),
    [
        (("judge-1", "judge-2"), ["amended-since-labels"]),
        (("title: Human and judge", "title: A human and a judge"), []),
    ],
)
def test_a_judge_that_is_changed_after_the_labels_makes_results_exploratory(
    whole: Study, change: tuple[str, str], exploratory: list[str]
) -> None:
    whole.ledger.amend(made.plan().replace(*change).encode(), reason="another one")
    document = whole.ledger.run("judge", "parity").as_json()
    assert document["exploratory"] == exploratory
    assert document["state"] == ("INSUFFICIENT_EVIDENCE" if exploratory else "PASS")
    assert document["confirmatory"] is not bool(exploratory)


def test_a_judge_that_is_changed_before_the_labels_is_the_plan(begun: Study) -> None:
    begun.ledger.commit("judge", "cases", made.cases(begun.folder))
    begun.ledger.amend(made.plan(version="judge-2").encode(), reason="a better one")
    for part in PARTS[1:]:
        begun.ledger.commit("judge", part, FILES[part](begun.folder))
    assert begun.ledger.run("judge", "parity").as_json()["confirmatory"]


def test_the_bar_is_locked_and_the_parts_stay_what_they_were(whole: Study) -> None:
    locked = made.plan(gap="0.01").encode()
    refused("fields-locked", whole.ledger.amend, locked, reason="it would fail")
    moved = made.plan().replace(
        "type: time, is: scored, part: scores", "type: time, is: scored, part: scores, zone: UTC"
    )
    whole.ledger.amend(moved.encode(), reason="times have a zone")
    refused("corpus-read-otherwise", whole.ledger.run, "judge", "parity")


def test_labels_are_not_corrected_with_the_scores_at_hand(whole: Study) -> None:
    result = whole.ledger.run("judge", "parity").name
    refused("erratum-of-corpus", whole.ledger.erratum, result, made.labels(whole.folder), reason="typos")


# --- exposure (rule 12) ------------------------------------------------------------------------------------


def sealed(folder: Path, count: int, *, first: int = 0, study: str = "judge") -> Path:
    """Write whole cases, as a sealed pool has them."""
    rows = list(csv.DictReader(io.StringIO(made.cases(folder, count, first=first, study=study).read_text())))
    path = folder / f"sealed-{study}-{first}.csv"
    lines = ["case_id,locale,text,human,labelled_at,judge,scored_at"]
    lines += [f"{r['case_id']},{r['locale']},{r['text']},good,{LABELLED},good,{made.SCORED}" for r in rows]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_corpus_holds_no_case_of_a_sealed_pool(begun: Study) -> None:
    begun.ledger.seal("judge", "teste", sealed(begun.folder, 30, first=190))
    size = begun.size
    found = refused(
        "corpus-exposes-sealed-pool", begun.ledger.commit, "judge", "cases", made.cases(begun.folder)
    )
    assert "10 cases" in found.message  # 190 to 199
    assert begun.size == size
    begun.ledger.commit("judge", "cases", made.cases(begun.folder, 190))


def test_a_sealed_pool_holds_no_case_of_a_corpus_of_its_study_or_of_another(begun: Study) -> None:
    begun.ledger.commit("judge", "cases", made.cases(begun.folder))
    refused("shared-cases", begun.ledger.seal, "judge", "teste", sealed(begun.folder, 30, first=190))
    begun.ledger.register(made.plan("other").encode())
    # The same texts under the same ids, in another study: exposed from the commit on, without any run.
    found = refused("shared-cases", begun.ledger.seal, "other", "teste", sealed(begun.folder, 30, first=190))
    assert "judge/corpus" in found.message
    kept = begun.ledger.seal("other", "teste", sealed(begun.folder, 30, first=500))
    assert kept.overlaps == ()


def test_cases_met_in_another_ledger_make_results_retrospective(
    whole: Study, another: Callable[[], Study]
) -> None:
    other = another()
    other.ledger.register(made.plan().encode())
    kept = other.ledger.commit("judge", "cases", made.cases(other.folder))
    assert kept.remembered == made.CASES
    for part in PARTS[1:]:
        other.ledger.commit("judge", part, FILES[part](other.folder))
    document = other.ledger.run("judge", "parity").as_json()
    assert (document["retrospective"], document["confirmatory"], document["state"]) == (True, False, "PASS")


# --- what strangers see ------------------------------------------------------------------------------------


def test_the_files_go_out_whole_with_the_register_and_with_a_bundle(whole: Study) -> None:
    result = whole.ledger.run("judge", "parity").name or ""
    registry, bundle = whole.folder / "registry", whole.folder / "r.zip"
    whole.ledger.export_registry(registry)
    for path in (made.cases, made.labels, made.scores):
        raw = path(whole.folder).read_bytes()
        assert (registry / "documents" / hashlib.sha256(raw).hexdigest()).read_bytes() == raw
    for part, entry in (("cases", 2), ("labels", 3), ("scores", 4)):
        assert (registry / "judge" / f"{part}@{entry}.csv").read_bytes() == FILES[part](
            whole.folder
        ).read_bytes()
    whole.ledger.export(result, bundle)
    verified = lacre.verify(bundle)
    assert verified.ok
    assert "opened" in verified.shown
    assert "data" not in verified.not_shown
    assert whole.ledger.audit().ok
    assert whole.ledger.audit(result).ok


def test_a_published_file_that_was_changed_is_found(whole: Study) -> None:
    registry = whole.folder / "registry"
    whole.ledger.export_registry(registry)
    labels = made.labels(whole.folder).read_bytes()
    published = registry / "documents" / hashlib.sha256(labels).hexdigest()
    assert api.audit(registry=registry).ok
    published.write_bytes(labels.replace(b"0001,good", b"0001,bad!"))
    report = api.audit(registry=registry)
    assert [each.code for each in report.findings] == ["document-differs"]
    (registry / "judge" / "labels@3.csv").write_bytes(b"")
    assert "file-differs" in [each.code for each in api.audit(registry=registry).findings]
    (registry / "judge" / "labels@3.csv").write_bytes(labels)
    published.unlink()
    assert [each.code for each in api.audit(registry=registry).findings] == ["document-missing"]


def test_a_file_that_was_changed_in_the_ledger_is_not_run(
    whole: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if somebody had got past the triggers of the database: what is read then is not what was committed."""
    size, found = whole.size, Reader.require_document
    monkeypatch.setattr(
        Reader,
        "require_document",
        lambda self, digest: replace(it := found(self, digest), body=it.body.replace(b"bad", b"mad")),
    )
    refused("corpus-document-changed", whole.ledger.run, "judge", "parity")
    monkeypatch.undo()
    assert whole.size == size


def test_a_result_that_does_not_follow_from_the_open_files_is_found(
    whole: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A broker scores the first case for the judge before it computes: all counts agree with each other, and lie."""

    def embellished(*given: Any) -> list[dict[str, PartRead]]:
        (parts,) = broker.open_versions(*given)
        table = parts["scores"].tables["cases"]
        codes = table.columns["judge"].array.copy()
        codes[0] = 1 - codes[0]
        columns = {**table.columns, "judge": Outcomes(codes)}
        changed = replace(parts["scores"], tables={"cases": replace(table, columns=columns)})
        return [{**parts, "scores": changed}]

    monkeypatch.setattr(corpus_run, "open_versions", embellished)
    result = whole.ledger.run("judge", "parity").name or ""
    monkeypatch.undo()
    whole.ledger.export(result, whole.folder / "r.zip")
    found = lacre.verify(whole.folder / "r.zip").findings
    assert {each.code for each in found} == {"opened-differs"}
    numerator = next(each for each in found if each.fields["what"].endswith("numerator"))
    assert (numerator.fields["stated"], numerator.fields["expected"]) in {("3", "4"), ("6", "7")}


LIES: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "early": (f"{HEAD}\n0000,good,2020-01-01T00:00:00Z\n", {"early": 0}),
    "misplaced": (f"{HEAD},judge\n{ROW},good\n", {"misplaced": (), "undeclared": {}}),
    "foreign": (f"{HEAD}\n{ROW}\n9999,good,{made.LABELLED}\n", {"foreign": 0}),
    "rows": (f"{HEAD}\n{ROW}\n", {"rows": {"cases": 150}, "absent": {"cases": 50}}),
}


@pytest.mark.parametrize("name", LIES)
def test_a_broker_that_declares_otherwise_than_the_files_say_is_found(
    begun: Study, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """The law is given what the broker says it found; whoever reads the same files finds something else."""
    begun.ledger.commit("judge", "cases", made.cases(begun.folder))
    text, lie = LIES[name]
    monkeypatch.setattr(broker, "count_part", lambda *given: replace(count_part(*given), **lie))
    entry = begun.ledger.commit("judge", "labels", written(begun.folder, "forged.csv", text)).entry
    found = begun.ledger.audit().findings
    assert {(each.code, each.entry) for each in found} == {("facts-differ", entry)}
    assert {each.fields["what"] for each in found} == lie.keys()


def test_scores_before_labels_are_found_whatever_the_broker_declares(
    begun: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    for part in PARTS[:2]:
        begun.ledger.commit("judge", part, FILES[part](begun.folder))
    monkeypatch.setattr(broker, "count_part", lambda *given: replace(count_part(*given), disordered=0))
    begun.ledger.commit("judge", "scores", made.scores(begun.folder, at="2098-01-01T00:00:00Z"))
    (found,) = begun.ledger.audit().findings
    assert (found.code, found.fields["stated"], found.fields["expected"]) == ("facts-differ", 0, made.CASES)


def test_a_judge_is_run_on_the_open_audited_and_verified(study: Study) -> None:
    """193 of 200 cases agree. The human has 100 in each bin, the judge 99 and 101, so chance agrees in half of them:
    kappa is (0.965 - 0.5) / (1 - 0.5) = 0.93.
    """
    plan = made.plan().partition("analyses:\n")[0] + JUDGE
    plan = plan.replace(
        "{type: outcome, positive: good, negative: bad,", "{type: category, values: [good, bad],"
    )
    study.ledger.register(plan.replace('"judge-1"', f'"judge-1", digest: "sha256:{"0" * 64}"').encode())
    for part in PARTS:
        study.ledger.commit("judge", part, FILES[part](study.folder))
    shown = study.ledger.run("judge", "juiz")
    kappa = next(each for each in shown.as_json()["analyses"][0]["criteria"] if each["id"] == "k")
    assert (kappa["value"], kappa["state"]) == (pytest.approx(0.93), "PASS")
    assert study.ledger.audit().ok
    study.ledger.export(shown.name or "", study.folder / "r.zip")
    verified = lacre.verify(study.folder / "r.zip")
    assert verified.ok
    assert "opened" in verified.shown


JUDGE = """\
analyses:
  juiz: {kind: judge_agreement, pool: corpus, table: cases, weights: none,
    dimensions: {quality: {human: human, judge: judge}}, bootstrap: {resamples: 1000, seed: 1},
    criteria: [{id: k, metric: kappa, dimension: quality, min: 0.6, decide_on: point}]}
"""
