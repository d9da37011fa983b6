"""What the Python API gives back shows itself: as text, as the command line's document, as a frame."""

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import lacre
from lacre import api, errors
from lacre.broker.texts import MOST

Study = Any


def test_every_outcome_prints_and_has_the_command_lines_document(study: Study, tmp_path: Path) -> None:
    protocol = study.protocol()
    outcomes = [
        api.check(protocol),
        study.ledger.register(protocol),
        study.ledger.seal("parity", "teste", study.cases(0)),
        study.ledger.inputs("parity", "teste", tmp_path / "in.csv"),
        study.ledger.reveal("parity", study.predictions(0), dry_run=True),
        study.ledger.reveal("parity", study.predictions(0)),
        study.ledger.status(),
        study.ledger.log(),
        study.ledger.log("parity"),
        study.ledger.show(),
        study.ledger.show("parity"),
        study.ledger.show("@3"),
        study.ledger.show("parity@5"),
        study.ledger.audit(),
        study.ledger.audit("parity@5"),
    ]
    for outcome in outcomes:
        text = str(outcome)
        assert text.strip()
        assert max(map(len, text.splitlines())) <= 100
        assert json.loads(json.dumps(outcome.as_json()))


def test_estimates_never_stand_without_their_interval(study: Study) -> None:
    """Two groups of 100 and everybody, four rates: rates that are given lie within their bounds."""
    study.begin()
    study.seal("teste", 0)
    frame = study.ledger.reveal("parity", study.predictions(0, wrong=20)).estimates()
    errors_by_sex = frame[(frame["metric"] == "error") & frame["sex"].notna()]
    assert dict(zip(errors_by_sex["sex"], errors_by_sex["numerator"], strict=True)) == {
        "female": 10,
        "male": 10,
    }
    assert set(errors_by_sex["denominator"]) == {100}
    assert (frame["low"] <= frame["value"]).all()
    assert (frame["value"] <= frame["high"]).all()


def test_an_outcome_is_one_line_where_it_is_looked_at(study: Study) -> None:
    study.begin()
    for outcome in (study.ledger.status(), study.ledger.log(), study.ledger.audit()):
        assert repr(outcome).startswith("<lacre ")
        assert len(repr(outcome)) < 150


def test_a_plan_is_tried_on_a_file_before_it_is_registered(study: Study) -> None:
    checked = api.check(study.protocol(), study.cases(0, 150))
    assert (checked.rows, checked.outside) == ({"cases": 150}, {})
    bad = study.cases(500)
    bad.write_text(bad.read_text().replace("code", "codes"))
    with pytest.raises(errors.TableColumnAbsent) as refused:
        api.check(study.protocol(), bad)
    assert bad.name in refused.value.message
    assert study.size == 1, "nothing was recorded"


def test_a_plan_too_small_to_pass_says_so(study: Study) -> None:
    """200 cases planned, two groups, a gap of .05: 86 cases each are needed, and 172 are; of .02, more than that."""
    needs = {need.analysis: need for need in api.check(study.protocol(gap="0.05")).needs}
    assert (needs["parity"].minimum.to_pass, needs["parity"].too_few_planned) == (86, False)
    needs = {need.analysis: need for need in api.check(study.protocol(gap="0.02")).needs}
    assert needs["parity"].too_few_planned
    assert not needs["rehearsal"].too_few_planned, "nothing is planned for dev"


def test_a_check_says_how_far_it_is(study: Study) -> None:
    seen: list[tuple[str, int, int | None]] = []
    api.check(study.protocol(), progress=lambda *said: seen.append(said))
    label, done, total = seen[-1]
    assert (label, done) == ("simulating", total)


def test_an_infeasible_plan_is_kept_for_a_reason_alone(study: Study) -> None:
    """Of 200 cases in two groups no outcome passes a gap of .02; on dev and contraste there is no limit."""
    plan = study.protocol(gap="0.02")
    with pytest.raises(errors.CriterionInfeasible) as refused:
        study.ledger.register(plan)
    assert "parity.gap" in refused.value.message
    assert "rehearsal" not in refused.value.message
    registered = study.ledger.register(plan, accept_infeasible="a pilot")
    assert [(each.analysis, each.passes, each.fails) for each in registered.infeasible] == [
        ("parity", False, True)
    ]
    assert study.ledger.audit().ok


def test_whatever_takes_words_takes_some_pages_at_most(study: Study, tmp_path: Path) -> None:
    study.begin()
    study.seal("teste", 0)
    before = study.size
    long, ledger = "x" * (MOST + 1), study.ledger
    said: list[Callable[[], object]] = [
        lambda: ledger.register(study.protocol(gap="0.02", study="another"), accept_infeasible=long),
        lambda: study.seal("dev", 1000, reason=long),
        lambda: ledger.inputs("parity", "teste", tmp_path / "in.csv", reason=long),
        lambda: ledger.reveal("parity", study.predictions(0), reason=long),
        lambda: ledger.request_reveal("parity", study.predictions(0), tmp_path / "ask", reason=long),
    ]
    for each in said:
        with pytest.raises(errors.WordsTooLong):
            each()
    assert study.size == before


def test_files_are_named(study: Study) -> None:
    study.begin()
    with pytest.raises(errors.FileNotNamed):
        study.ledger.seal("parity", "teste", [{"case_id": 1}])
    with pytest.raises(errors.FilesByName) as mapping:
        study.ledger.seal("parity", "teste", {"cases": Path("cases.csv")})
    assert "['cases=cases.csv']" in mapping.value.way_out, "as it is to be written"
    with pytest.raises(errors.FilePrefixUnknown) as refused:
        study.ledger.seal("parity", "teste", "casos=cases.csv")
    assert "casos" in refused.value.message


def test_names_that_are_no_entrys_are_refused(study: Study) -> None:
    study.begin()
    study.seal("teste", 0)
    for name, error in {
        "nothing": errors.StudyNotRegistered,
        "parity@99": errors.EntryNotFound,
        "parity@x": errors.UsageError,
        "parity@": errors.UsageError,
        "other@1": errors.LacreError,
        "@99999999999999999999": errors.UsageError,
    }.items():
        with pytest.raises(error):
            study.ledger.show(name)
    with pytest.raises(errors.NotAResult):
        study.ledger.audit("parity@1")


def test_a_ledger_is_found_upwards_and_by_the_environment(
    study: Study, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    below = study.folder / "a" / "b"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    with lacre.open() as found:
        assert found.folder == study.ledger.folder
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    with pytest.raises(errors.LedgerNotFound):
        lacre.open()
    monkeypatch.setenv("LACRE_LEDGER", str(study.folder))
    with lacre.open() as found:
        assert found.folder == study.ledger.folder


def test_closed_keys_are_asked_for_only_when_needed(tmp_path: Path) -> None:
    lacre.init(tmp_path, passphrase="segredo", name="Ana").close()
    asked = []

    def ask() -> str:
        asked.append(1)
        return "segredo"

    with lacre.open(tmp_path, passphrase=ask) as ledger:
        ledger.status()
        ledger.audit()
        assert asked == []
    with lacre.open(tmp_path, passphrase="errado") as ledger, pytest.raises(errors.PassphraseWrong):
        ledger.register(Path(__file__).parents[3] / "registry" / "compas" / "protocol.yaml")
    with lacre.open(tmp_path, passphrase=ask) as ledger:
        ledger.register(Path(__file__).parents[3] / "registry" / "compas" / "protocol.yaml")
        assert asked == [1]


@pytest.mark.parametrize("statement", ["DROP TABLE entries", "DROP TABLE checkpoint", "DELETE FROM entries"])
def test_a_gutted_database_is_a_finding(study: Study, statement: str) -> None:
    study.begin()
    study.ledger.close()
    with sqlite3.connect(study.ledger.folder / "ledger.db") as connection:
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            connection.execute(f'DROP TRIGGER "{name}"')
        connection.execute(statement)
    connection.close()
    assert not api.audit(study.folder).ok


def test_a_ledger_without_its_first_entry_refuses_and_does_not_crash(study: Study) -> None:
    study.begin()
    study.ledger.close()
    with sqlite3.connect(study.ledger.folder / "ledger.db") as connection:
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            connection.execute(f'DROP TRIGGER "{name}"')
        connection.execute('DELETE FROM entries WHERE "index" = 0')
    connection.close()
    with study.reopened() as ledger:
        for call in (
            ledger.status,
            lambda: ledger.show("parity"),
            lambda: ledger.register(study.protocol("b")),
        ):
            with pytest.raises(errors.LacreError):
                call()
    assert not api.audit(study.folder).ok


def test_a_ledger_without_its_database_is_not_taken_for_one_further_up(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = study.folder / "inner"
    lacre.init(inner).close()
    (inner / ".lacre" / "ledger.db").unlink()
    monkeypatch.chdir(inner)
    with pytest.raises(errors.StoreCorrupt):
        lacre.open()
    assert not api.audit().ok


def test_a_damaged_database_is_a_finding(study: Study) -> None:
    study.begin()
    study.ledger.close()
    database = study.ledger.folder / "ledger.db"
    database.write_bytes(b"nothing of the kind" * 100)
    report = api.audit(study.folder)
    assert not report.ok
    assert [finding.code for finding in report.findings] == ["source-unreadable"]
