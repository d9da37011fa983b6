"""The life of a study through the broker: what is spent, what is refused, what is on record."""

import json
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from lacre import errors
from lacre.broker import reading
from lacre.store.locks import try_lock

Study = Any


def test_a_reveal_is_the_one_read_and_gives_the_verdict(study: Study) -> None:
    study.begin()
    study.seal("teste", 0)
    result = study.ledger.reveal("parity", study.predictions(0))
    assert (result.state, result.now, result.custody) == ("PASS", "teste", "self-held")
    assert result.document["confirmatory"] is True
    assert result.document["standing"] == "teste"
    assert result.name == f"parity@{result.entry}"
    assert study.ledger.show(result.name).document == result.document


def test_a_second_reveal_is_refused_and_spends_nothing(study: Study) -> None:
    study.begin()
    study.seal("teste", 0)
    study.ledger.reveal("parity", study.predictions(0))
    before = study.size
    with pytest.raises(errors.AlreadyRevealed):
        study.ledger.reveal("parity", study.predictions(0))
    assert study.size == before
    again = study.ledger.reveal("parity", study.predictions(0), accept_dev=True)
    assert (again.state, again.now) == ("INSUFFICIENT_EVIDENCE", "dev")
    (analysis,) = again.document["analyses"]
    assert (analysis["computed"], analysis["state"]) == ("PASS", "INSUFFICIENT_EVIDENCE")
    (criterion,) = analysis["criteria"]
    assert (criterion["computed"], criterion["state"]) == ("PASS", "INSUFFICIENT_EVIDENCE")
    assert criterion["reason"]["code"] == "exploratory"
    assert {group["state"] for group in criterion["groups"]} == {"INSUFFICIENT_EVIDENCE"}
    assert again.document["confirmatory"] is False
    first = study.ledger.show("parity@4")
    assert (first.document["confirmatory"], first.now) == (True, "dev"), "the earlier result stands"


@pytest.mark.parametrize(
    ("content", "error"),
    [
        ("case_id,predicted\n000001,1\n", errors.TableColumnAbsent),
        ("case_id,prediction\nX1,1\n", errors.ForeignCases),
        ("case_id,prediction\n000001,1\n000001,0\n", errors.TableKeyRepeated),
        ("", errors.TableEmpty),
        ("case_id,prediction\n\xff", errors.TableUndecodable),
    ],
)
def test_a_submission_that_does_not_fit_costs_nothing(
    study: Study, content: str, error: type[Exception]
) -> None:
    study.begin()
    study.seal("teste", 0)
    before = study.size
    path = study.folder / "bad.csv"
    path.write_bytes(content.encode("latin-1"))
    with pytest.raises(error):
        study.ledger.reveal("parity", path)
    with pytest.raises(errors.SubmissionMissing):
        study.ledger.reveal("parity")
    assert study.size == before
    assert study.ledger.reveal("parity", study.predictions(0)).document["standing"] == "teste"


def test_a_changed_or_missing_pool_costs_nothing(study: Study) -> None:
    study.begin()
    study.seal("teste", 0)
    before = study.size
    (blob,) = study.ledger.folder.glob("pools/parity/teste/*.pool")
    kept = blob.read_bytes()
    blob.write_bytes(kept[:-1] + bytes([kept[-1] ^ 1]))
    with pytest.raises(errors.PoolBlobChanged):
        study.ledger.reveal("parity", study.predictions(0))
    blob.unlink()
    with pytest.raises(errors.PoolBlobMissing):
        study.ledger.reveal("parity", study.predictions(0))
    assert study.size == before
    blob.write_bytes(kept)
    assert study.ledger.reveal("parity", study.predictions(0)).state == "PASS"


def test_dry_run_says_what_would_be_and_spends_nothing(study: Study) -> None:
    study.begin()
    study.seal("teste", 0)
    before = study.size
    plan = study.ledger.reveal("parity", study.predictions(0, 150), dry_run=True)
    assert (plan.decision.read_class, plan.decision.confirmatory) == ("teste", True)
    assert [(s.rows, s.absent) for s in plan.submissions] == [(150, 50)]
    assert study.size == before


def test_missing_rows_are_blanks_and_not_refused(study: Study) -> None:
    study.begin()
    study.seal("teste", 0)
    result = study.ledger.reveal("parity", study.predictions(0, 150))
    assert result.state == "PASS", "no 25 blanks of 100 can part two groups by more than .9"
    (criterion,) = result.document["analyses"][0]["criteria"]
    assert [(g["denominator"], g["missing"]) for g in criterion["groups"]] == [(100, 25), (100, 25)]


def test_a_protocol_file_must_be_the_one_in_force(study: Study) -> None:
    study.begin()
    study.seal("teste", 0)
    changed = study.protocol("parity", gap="0.95")
    with pytest.raises(errors.ProtocolNotInForce) as refused:
        study.ledger.reveal("parity", study.predictions(0), protocol=changed)
    assert "max_group_gap" in refused.value.message
    assert "0.95" in refused.value.message
    result = study.ledger.reveal("parity", study.predictions(0), protocol=study.protocol("parity"))
    assert result.state == "PASS"


def test_inputs_hand_out_ids_and_inputs_alone_and_never_spend(study: Study, tmp_path: Path) -> None:
    study.begin()
    source = study.cases(0)
    study.ledger.seal("parity", "teste", source)
    out = tmp_path / "in.csv"
    made = study.ledger.inputs("parity", "teste", out)
    rows = [line.split(",") for line in source.read_text().splitlines()]
    expected = [",".join((row[0], row[1], row[3])) for row in rows]
    assert out.read_text().splitlines() == expected
    assert made.columns == ("case_id", "code", "sex")
    with pytest.raises(errors.FileExists):
        study.ledger.inputs("parity", "teste", out)
    assert study.ledger.reveal("parity", study.predictions(0)).document["standing"] == "teste"


# --- the law at the seal ------------------------------------------------------------------------------------


def test_early_labels_are_refused_with_the_count(study: Study) -> None:
    study.begin()
    early = study.cases(0, labelled="2001-01-01T00:00:00Z")
    with pytest.raises(errors.LabelsBeforeRegistration) as refused:
        study.ledger.seal("parity", "teste", early)
    assert refused.value.fields["count"] == 200
    assert list(study.ledger.folder.glob("pools/**/*.pool")) == [], (
        "nothing was encrypted for a refused request"
    )
    assert study.ledger.seal("parity", "dev", early).standing == "dev"


def test_labels_in_the_future_are_refused_with_the_count(study: Study) -> None:
    """Fourteen hours is what a zone that was left out can be off by; a day, and clocks are off as well."""
    study.begin()
    now = datetime.now(UTC)
    at = [(now + timedelta(hours=hours)).strftime("%Y-%m-%dT%H:%M:%SZ") for hours in (14, 25)]
    late = study.cases(0, labelled=at[1])
    with pytest.raises(errors.LabelsInTheFuture) as refused:
        study.ledger.seal("parity", "teste", late)
    assert refused.value.fields["count"] == 200
    assert list(study.ledger.folder.glob("pools/**/*.pool")) == []
    assert study.ledger.seal("parity", "dev", late).standing == "dev"
    assert study.ledger.seal("parity", "teste", study.cases(200, labelled=at[0])).standing == "teste"


def test_shared_cases_are_refused_unless_as_dev(study: Study) -> None:
    study.begin()
    study.seal("dev", 0)
    with pytest.raises(errors.SharedCases) as refused:
        study.ledger.seal("parity", "teste", study.cases(150))
    assert "50 cases of parity/dev" in refused.value.message
    made = study.ledger.seal("parity", "teste", study.cases(150), as_dev=True)
    assert made.standing == "dev"
    with pytest.raises(errors.SealedAsDev):
        study.ledger.reveal("parity", study.predictions(150))
    assert (
        study.ledger.reveal("parity", study.predictions(150), accept_dev=True).state
        == "INSUFFICIENT_EVIDENCE"
    )


def test_a_short_pool_is_told_and_stays_told(study: Study) -> None:
    study.begin()
    made = study.ledger.seal("parity", "teste", study.cases(0, 160))
    assert [(s.planned, s.rows) for s in made.shortfall] == [(200, 160)]
    result = study.ledger.reveal("parity", study.predictions(0, 160))
    assert [(s.planned, s.rows) for s in result.shortfall] == [(200, 160)]


def test_a_table_in_several_files_is_one_table(study: Study) -> None:
    study.begin()
    made = study.ledger.seal("parity", "teste", [f"cases={study.cases(0, 120)}", study.cases(120, 80)])
    assert made.rows == {"cases": 200}
    files = [study.predictions(0, 50), study.predictions(50, 150)]
    assert study.ledger.reveal("parity", files).state == "PASS"


def test_a_repeated_unit_is_refused_before_anything_is_sealed(study: Study) -> None:
    path = study.protocol()
    path.write_text(path.read_text().replace("    key: case_id\n", "    key: case_id\n    unit: code\n"))
    study.ledger.register(path)
    doubled = study.cases(0)
    doubled.write_text(doubled.read_text().replace("c7919,", "c15838,"))
    with pytest.raises(errors.UnitRepeated) as refused:
        study.ledger.seal("parity", "teste", doubled)
    assert refused.value.fields["count"] == 1
    assert study.size == 2
    assert study.ledger.seal("parity", "teste", study.cases(1000)).standing == "teste"


def test_values_nobody_declared_are_told_at_the_seal_and_a_whole_column_of_them_refused(study: Study) -> None:
    study.begin()
    some = study.cases(0)
    some.write_text(some.read_text().replace(",female,", ",feminino,", 3))
    made = study.ledger.seal("parity", "dev", some)
    assert made.outside == {"cases.sex": 3}
    other = study.cases(1000)
    other.write_text(other.read_text().replace("female", "F").replace("male", "M"))
    with pytest.raises(errors.NothingDeclared) as refused:
        study.ledger.seal("parity", "teste", other)
    assert (refused.value.fields["count"], refused.value.fields["values"]) == (200, "female, male")


def test_a_submission_in_another_spelling_spends_nothing(study: Study) -> None:
    study.begin()
    study.seal("teste", 0)
    floats = study.predictions(0)
    right = floats.read_text()
    floats.write_text(right.replace(",1\n", ",1.0\n").replace(",0\n", ",0.0\n"))
    before = study.size
    for dry_run in (True, False):
        with pytest.raises(errors.NothingDeclared):
            study.ledger.reveal("parity", floats, dry_run=dry_run)
    assert study.size == before
    floats.write_text(right.replace(",1\n", ",yes\n", 2))
    assert study.ledger.reveal("parity", floats, dry_run=True).outside == {"cases.prediction": 2}


def test_inputs_come_in_the_tables_own_writing(study: Study, tmp_path: Path) -> None:
    """Delimiter and encoding as declared, the key first, so that what is made of it can be submitted."""
    path = study.protocol()
    text = path.read_text().replace(
        "    key: case_id\n", '    key: case_id\n    delimiter: ";"\n    encoding: latin-1\n'
    )
    path.write_text(text.replace("values: [female, male]", "values: [female, mañana]"))
    study.ledger.register(path)
    cases = study.cases(0)
    written = cases.read_text().replace(",male,", ",mañana,").replace(",", ";")
    cases.write_bytes(written.encode("latin-1"))
    study.ledger.seal("parity", "teste", cases)
    made = study.ledger.inputs("parity", "teste", tmp_path / "in.csv")
    assert made.columns[0] == "case_id"
    rows = [line.split(";") for line in written.splitlines()]
    expected = [";".join((row[0], row[1], row[3])) for row in rows]
    assert (tmp_path / "in.csv").read_bytes().decode("latin-1").splitlines() == expected


def test_inputs_that_cannot_be_written_are_not_read(study: Study, tmp_path: Path) -> None:
    study.begin()
    study.seal("teste", 0)
    before = study.size
    for output in (tmp_path, tmp_path / "nowhere" / "in.csv", Path()):
        with pytest.raises((errors.NotWritten, errors.FileExists)):
            study.ledger.inputs("parity", "teste", output, overwrite=True)
    assert study.size == before


def test_a_file_that_never_ends_is_not_begun(study: Study) -> None:
    study.begin()
    endless = study.folder / "endless.csv"
    endless.symlink_to("/dev/zero")
    with pytest.raises(errors.NotReadable):
        study.ledger.seal("parity", "teste", endless)
    with pytest.raises(errors.NotReadable):
        study.ledger.register(endless)
    with pytest.raises(errors.NotReadable):
        study.ledger.audit(memory=[endless])


# --- between studies and ledgers ----------------------------------------------------------------------------


def test_cases_read_in_another_study_are_exposed(study: Study) -> None:
    study.begin("parity")
    study.begin("second")
    study.ledger.seal("second", "dev", study.cases(0))
    study.ledger.run("second", "rehearsal", study.predictions(0))
    with pytest.raises(errors.SharedCases):
        study.ledger.seal("parity", "teste", study.cases(0))


def test_the_same_file_is_known_whatever_a_plan_says_of_its_columns(study: Study) -> None:
    study.begin("parity")
    hidden = study.protocol("hidden")
    hidden.write_text(hidden.read_text().replace(", is: input", ""))
    study.ledger.register(hidden)
    study.ledger.seal("parity", "teste", study.cases(0))
    study.ledger.seal("hidden", "teste", study.cases(0))
    with pytest.raises(errors.ExposesSealedPool):
        study.ledger.reveal("hidden", study.predictions(0))
    study.ledger.reveal("hidden", study.predictions(0), accept_exposure=True)
    with pytest.raises(errors.SharedCases) as refused:
        study.ledger.reveal("parity", study.predictions(0))
    assert "200 cases of hidden/teste" in refused.value.message


def test_exposure_after_the_seal_is_found_when_teste_is_read(study: Study) -> None:
    study.begin("parity")
    study.ledger.seal("parity", "teste", study.cases(0))
    study.begin("second")
    study.ledger.seal("second", "dev", study.cases(0))
    with pytest.raises(errors.ExposesSealedPool):
        study.ledger.run("second", "rehearsal", study.predictions(0))
    study.ledger.run("second", "rehearsal", study.predictions(0), accept_exposure=True)
    with pytest.raises(errors.SharedCases):
        study.ledger.reveal("parity", study.predictions(0))
    result = study.ledger.reveal("parity", study.predictions(0), accept_dev=True)
    assert (result.document["standing"], result.now) == ("dev", "dev")


def test_cases_met_in_another_ledger_make_a_study_retrospective(
    study: Study, another: Callable[[], Study]
) -> None:
    other = another()
    other.begin()
    other.seal("dev", 0)
    study.begin()
    study.seal("teste", 0)  # nothing was read there yet, so the seal has nothing to tell
    other.ledger.run("parity", "rehearsal", other.predictions(0))
    result = study.ledger.reveal("parity", study.predictions(0))
    assert (result.document["standing"], result.document["retrospective"]) == ("teste", True)
    assert (result.document["confirmatory"], result.state) == (False, "PASS")


# --- runs ---------------------------------------------------------------------------------------------------


def test_runs_on_dev_and_contraste(study: Study) -> None:
    study.begin()
    study.seal("dev", 0)
    study.seal("contraste", 1000)
    rehearsal = study.ledger.run("parity", "rehearsal", study.predictions(0))
    assert (rehearsal.state, rehearsal.document["confirmatory"]) == ("PASS", False)
    elsewhere = study.ledger.run("parity", "parity", study.predictions(0), pool="dev")
    assert elsewhere.state == "INSUFFICIENT_EVIDENCE"
    first = study.ledger.run("parity", "differential", study.predictions(1000))
    assert first.document["confirmatory"] is True
    again = study.ledger.run("parity", "differential", study.predictions(1000))
    assert again.document["confirmatory"] is True, "the same submission is no other"
    later = study.ledger.run("parity", "differential", study.predictions(1000, wrong=1))
    assert (later.document["confirmatory"], later.state) == (False, "INSUFFICIENT_EVIDENCE")


def test_several_systems_in_one_reveal(study: Study) -> None:
    study.begin(systems='systems: {old: {version: "1"}, new: {version: "2"}}', gap="0.3")
    study.seal("teste", 0)
    bad = study.predictions(0, wrong=100)
    good = study.predictions(0)
    with pytest.raises(errors.FilePrefixNeeded):
        study.ledger.reveal("parity", good)
    with pytest.raises(errors.SubmissionMissing):
        study.ledger.reveal("parity", f"new:{good}")
    result = study.ledger.reveal("parity", [f"old:{bad}", f"new:cases={good}"])
    assert result.document["read"] == 1
    systems = {(c["system"], c["state"]) for a in result.document["analyses"] for c in a["criteria"]}
    assert {system for system, _state in systems} == {"old", "new"}
    assert ("new", "PASS") in systems


def test_a_declared_system_whose_predictions_are_in_the_pool_needs_no_submission(study: Study) -> None:
    path = study.protocol(systems='systems: {old: {version: "1"}}')
    text = path.read_text().replace(", from: submission}", "}")
    path.write_text(text.replace("attributes: [sex],", "attributes: [sex], systems: [old],"))
    study.ledger.register(path)
    rows = study.cases(0).read_text().splitlines()
    both = [rows[0] + ",prediction", *(f"{row},{row.split(',')[2]}" for row in rows[1:])]
    study.cases(0).write_text("\n".join(both) + "\n")
    study.ledger.seal("parity", "teste", study.folder / "cases-c-0-200.csv")
    result = study.ledger.reveal("parity")
    assert result.state == "PASS"
    assert {c["system"] for c in result.document["analyses"][0]["criteria"]} == {"old"}


def test_on_contraste_each_systems_first_submission_is_confirmatory(study: Study) -> None:
    """The same bytes read as another format are another submission; a system's own is known beside a new one."""
    study.begin(systems='systems: {old: {version: "1"}, new: {version: "2"}}')
    study.seal("contraste", 1000)
    good, bad = study.predictions(1000), study.predictions(1000, wrong=3, name="bad")
    call = ("parity", "differential", [f"old:{good}", f"new:{good}"])
    assert study.ledger.run(*call).document["confirmatory"] is True
    assert study.ledger.run(*call).document["confirmatory"] is True
    changed = ("parity", "differential", [f"old:{good}", f"new:{bad}"])
    assert study.ledger.run(*changed).document["confirmatory"] is False
    lines = "\n".join(json.dumps({"case_id": row.split(",")[0], "prediction": row.split(",")[1]})
                      for row in good.read_text().splitlines()[1:])  # fmt: skip
    other = study.folder / "good.jsonl"
    other.write_text(lines + "\n")
    again = ("parity", "differential", [f"old:{other}", f"new:{good}"])
    assert study.ledger.run(*again).document["confirmatory"] is False


@pytest.mark.parametrize("text", ["\udcff"])
def test_words_that_are_no_unicode_are_refused(study: Study, text: str) -> None:
    study.begin()
    study.seal("teste", 0)
    before = study.size
    with pytest.raises(errors.TextNotUnicode):
        study.ledger.reveal("parity", study.predictions(0), reason=text)
    with pytest.raises(errors.TextNotUnicode):
        study.ledger.show(text)
    assert study.size == before


# --- rule 16: a crash between the read and its result -------------------------------------------------------


def _crash(monkeypatch: pytest.MonkeyPatch) -> None:
    def die(*_arguments: object, **_more: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(reading, "record_result", die)


def test_rule_16_the_same_call_finishes_a_crashed_reveal(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    study.begin()
    study.seal("teste", 0)
    with monkeypatch.context() as patch:
        _crash(patch)
        with pytest.raises(KeyboardInterrupt):
            study.ledger.reveal("parity", study.predictions(0))
        with pytest.raises(KeyboardInterrupt):
            study.ledger.reveal("parity", study.predictions(0))
    with pytest.raises(errors.AlreadyRevealed):
        study.ledger.reveal("parity", study.predictions(0, wrong=3))
    result = study.ledger.reveal("parity", study.predictions(0))
    assert (result.finished, result.document["read"], result.document["confirmatory"]) == (3, 1, True)
    with pytest.raises(errors.AlreadyRevealed):
        study.ledger.reveal("parity", study.predictions(0))


def test_rule_16_what_goes_wrong_after_the_read_is_finished_by_the_same_call(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    study.begin()
    study.seal("teste", 0)

    def full(*_arguments: object, **_more: object) -> None:
        raise errors.DiskFull(path="x")

    with monkeypatch.context() as patch:
        patch.setattr(reading, "record_result", full)
        with pytest.raises(errors.ReadUnfinished) as refused:
            study.ledger.reveal("parity", study.predictions(0))
    assert refused.value.fields["entry"] == 3
    assert "same call again" in refused.value.way_out
    assert study.ledger.reveal("parity", study.predictions(0)).finished == 3


def test_rule_16_the_kept_submission_is_enough(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    study.begin()
    study.seal("teste", 0)
    with monkeypatch.context() as patch:
        _crash(patch)
        with pytest.raises(KeyboardInterrupt):
            study.ledger.reveal("parity", study.predictions(0))
    assert study.ledger.reveal("parity").finished == 3


def test_rule_16_a_living_process_is_not_finished_by_another(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    study.begin()
    study.seal("teste", 0)
    with monkeypatch.context() as patch:
        _crash(patch)
        with pytest.raises(KeyboardInterrupt):
            study.ledger.reveal("parity", study.predictions(0))
    nonce = study.ledger.show("@3").recorded.content.request.nonce
    lock = try_lock(study.ledger.folder / "locks", nonce)
    assert lock is not None
    with pytest.raises(errors.ReadInProgress):
        study.ledger.reveal("parity", study.predictions(0))
    lock.release()
    assert study.ledger.reveal("parity", study.predictions(0)).finished == 3


def test_rule_16_accept_dev_never_finishes_anothers_read(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    study.begin()
    study.seal("teste", 0)
    with monkeypatch.context() as patch:
        _crash(patch)
        with pytest.raises(KeyboardInterrupt):
            study.ledger.reveal("parity", study.predictions(0))
    again = study.ledger.reveal("parity", study.predictions(0), accept_dev=True)
    assert (again.finished, again.document["read"], again.document["standing"]) == (None, 2, "dev")
    first = study.ledger.reveal("parity", study.predictions(0))
    assert (first.finished, first.document["read"], first.now) == (3, 1, "dev")


# --- rule 18: this machine's memory -------------------------------------------------------------------------


def test_rule_18_an_older_copy_put_back_is_refused(
    study: Study, tmp_path_factory: pytest.TempPathFactory
) -> None:
    study.begin()
    older = tmp_path_factory.mktemp("backup") / ".lacre"
    shutil.copytree(study.ledger.folder, older)
    study.seal("teste", 0)
    study.ledger.close()
    shutil.rmtree(study.ledger.folder)
    shutil.copytree(older, study.ledger.folder)
    with study.reopened() as back:
        with pytest.raises(errors.LedgerRolledBack):
            back.seal("parity", "dev", study.cases(5000))
        assert back.status().size == 2, "looking is not refused"
        for shown in (back.status(), back.log(), back.show("parity"), back.show("@1")):
            assert "it was rolled back" in " ".join(str(shown).split()), "and says so"
            assert shown.as_json()["warnings"]


def test_rule_18_a_ledger_that_went_its_own_way_is_refused(
    study: Study, tmp_path_factory: pytest.TempPathFactory
) -> None:
    study.begin()
    root = tmp_path_factory.mktemp("fork")
    shutil.copytree(study.ledger.folder, root / ".lacre")
    study.seal("teste", 0)
    study.ledger.close()
    shutil.rmtree(study.ledger.folder)
    forked = ledger_at(root, root / "state")
    forked.seal("parity", "dev", study.cases(9000))
    forked.close()
    shutil.copytree(root / ".lacre", study.ledger.folder)
    with study.reopened() as back, pytest.raises(errors.LedgerForked):
        back.seal("parity", "contraste", study.cases(5000))


def ledger_at(folder: Path, state: Path) -> Any:
    import lacre

    return lacre.open(folder, state=state)


def test_an_exposure_departs_in_both_studies_and_the_reveal_is_no_longer_next(study: Study) -> None:
    study.begin("parity")
    study.ledger.seal("parity", "teste", study.cases(0))
    assert "Next: lacre reveal parity --submission FILE" in str(study.ledger.status())
    study.begin("second")
    study.ledger.seal("second", "dev", study.cases(0))
    made = study.ledger.run("second", "rehearsal", study.predictions(0), accept_exposure=True)
    read = made.entry - 1
    (own,) = study.ledger.deviations("second").rows
    (other,) = study.ledger.deviations("parity").rows
    assert (own.kind, own.entry, own.overlaps[0].study, own.overlaps[0].count) == (
        "exposing",
        read,
        "parity",
        200,
    )
    assert (other.kind, other.entry, other.pool, other.overlaps[0].study) == (
        "exposed",
        read,
        "teste",
        "second",
    )
    for page in (str(study.ledger.status()), str(study.ledger.show("parity"))):
        words = " ".join(page.split())
        assert "lacre reveal parity" not in words
        assert f"some of these were read in another study at entry {read}" in words
        assert "Departures on record: 1 (`lacre show parity --deviations`)" in words
    study.ledger.seal("parity", "teste", study.cases(5000), replace=True, reason="the old ones were read")
    assert "Next: lacre reveal parity --submission FILE" in str(study.ledger.status())
    study.ledger.reveal("parity", study.predictions(5000))
