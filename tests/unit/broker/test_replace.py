"""Rule 2: another file in the place of a sealed one, on the record, until it was read."""

from pathlib import Path
from typing import Any

import pytest

from lacre import errors
from lacre.broker import reading
from lacre.broker.desk import put_on_record
from lacre.pools.seal import Identity

Study = Any


def test_a_wrong_file_is_replaced_before_a_read_and_stays_on_record(study: Study) -> None:
    study.begin()
    study.seal("teste", 0)
    blobs = {path.name for path in study.ledger.folder.glob("pools/parity/teste/*")}
    made = study.seal("teste", 500, replace=True, reason="the old export")
    assert (made.entry, made.replaces, made.handed_out) == (3, 2, ())
    assert "takes the place of what was sealed at entry 2" in " ".join(str(made).split())
    assert blobs < {path.name for path in study.ledger.folder.glob("pools/parity/teste/*")}
    with pytest.raises(errors.ForeignCases):
        study.ledger.reveal("parity", study.predictions(0))
    assert study.ledger.reveal("parity", study.predictions(500)).document["confirmatory"] is True
    assert "the old export" in str(study.ledger.show("@3"))
    status = study.ledger.status()
    assert "entry 3, in place of 2" in " ".join(str(status).split())
    (shown,) = status.as_json()["studies"]
    assert shown["pools"]["teste"]["sealed"]["entry"] == 3
    assert [each["entry"] for each in shown["pools"]["teste"]["replaced"]] == [2]
    report = study.ledger.audit("parity@5")
    assert report.ok
    assert report.as_json()["story"]["replaced"] == [2]
    assert "took the place of the seal at entry 2" in " ".join(str(report).split())


def test_the_replaced_files_are_still_audited(study: Study) -> None:
    study.begin()
    study.seal("teste", 0)
    (blob,) = study.ledger.folder.glob("pools/parity/teste/*.pool")
    study.seal("teste", 500, replace=True, reason="wrong")
    blob.unlink()
    (found,) = study.ledger.audit().findings
    assert (found.code, found.entry) == ("blob-missing", 2)


def test_the_same_cases_again_are_no_overlap_with_themselves(study: Study) -> None:
    study.begin()
    study.seal("teste", 0)
    made = study.ledger.seal("parity", "teste", study.cases(100), replace=True, reason="half of them wrong")
    assert made.overlaps == ()
    study.seal("dev", 1000)
    with pytest.raises(errors.SharedCases):
        study.ledger.seal("parity", "teste", study.cases(1100), replace=True, reason="cases of dev")


def test_a_replacement_says_why(study: Study) -> None:
    study.begin()
    study.seal("teste", 0)
    for reason in (None, "", "  "):
        with pytest.raises(errors.ReplacementUnexplained) as refused:
            study.seal("teste", 500, replace=True, reason=reason)
        assert "--reason" in refused.value.way_out
    assert study.size == 3


def test_without_being_asked_nothing_is_replaced(study: Study) -> None:
    study.begin()
    with pytest.raises(errors.NothingToReplace):
        study.seal("teste", 0, replace=True, reason="x")
    study.seal("teste", 0)
    with pytest.raises(errors.PoolAlreadySealed) as refused:
        study.seal("teste", 500)
    assert "--replace" in refused.value.way_out
    assert study.size == 3


def test_after_a_read_nothing_is_replaced(study: Study) -> None:
    study.begin()
    study.seal("teste", 0)
    study.ledger.reveal("parity", study.predictions(0))
    before = study.size
    with pytest.raises(errors.PoolAlreadyRead) as refused:
        study.seal("teste", 500, replace=True, reason="better cases")
    assert "lacre erratum" in refused.value.way_out
    assert study.size == before


def test_inputs_do_not_close_it_and_are_told_to_be_of_the_old_file(study: Study, tmp_path: Path) -> None:
    study.begin()
    study.seal("teste", 0)
    study.ledger.inputs("parity", "teste", tmp_path / "old.csv")
    made = study.seal("teste", 500, replace=True, reason="wrong export")
    assert made.handed_out == (3,)
    assert "inputs handed out at entry 3 are those of the old files" in " ".join(str(made).split())
    study.ledger.inputs("parity", "teste", tmp_path / "new.csv")
    assert "000500," in (tmp_path / "new.csv").read_text()
    assert study.ledger.reveal("parity", study.predictions(500)).document["confirmatory"] is True


def test_a_replacement_keeps_the_recipients_unless_others_are_named(study: Study) -> None:
    first, second = Identity.generate().recipient, Identity.generate().recipient
    study.begin()
    study.seal("teste", 0, recipients=first)
    kept = study.seal("teste", 500, replace=True, reason="wrong export")
    assert (kept.recipients, kept.custody) == ((first,), "second keyholder")
    named = study.seal("teste", 900, replace=True, reason="again", recipients=second)
    assert (named.recipients, named.replaces) == ((second,), 3)
    (shown,) = study.ledger.status().as_json()["studies"]
    assert [each["entry"] for each in shown["pools"]["teste"]["replaced"]] == [2, 3]


def test_what_was_sealed_to_the_ledger_stays_self_held_though_it_was_replaced(study: Study) -> None:
    """The own identity still opens the old file, which may hold the very same cases."""
    study.begin()
    study.seal("teste", 0)
    made = study.seal("teste", 500, replace=True, reason="to her", recipients=Identity.generate().recipient)
    assert made.custody == "self-held"
    (shown,) = study.ledger.status().as_json()["studies"]
    assert shown["custody"] == {"teste": "self-held"}
    assert "teste self-held" in str(study.ledger.status())


def test_a_read_is_of_the_seal_it_was_asked_for(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    """A replacement between the look and the entry: nothing of the old file is read in the new one's name."""
    study.begin()
    study.seal("teste", 0)
    signed = reading._signed

    def replaced_meanwhile(*given: Any) -> Any:
        monkeypatch.setattr(reading, "_signed", signed)
        made = signed(*given)
        study.seal("teste", 500, replace=True, reason="meanwhile")
        return made

    monkeypatch.setattr(reading, "_signed", replaced_meanwhile)
    with pytest.raises(errors.RequestOutdated):
        study.ledger.reveal("parity", study.predictions(0))
    assert [each.kind for each in study.ledger.log("parity").entries] == ["register", "seal", "seal"]
    assert study.ledger.reveal("parity", study.predictions(500)).document["confirmatory"] is True
    assert study.ledger.audit().ok


def test_ids_and_inputs_are_of_the_seal_they_were_asked_for(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    study.begin()
    study.seal("teste", 0)

    def replaced_meanwhile(*given: Any) -> Any:
        study.seal("teste", 500, replace=True, reason="meanwhile")
        return put_on_record(*given)

    monkeypatch.setattr("lacre.broker.handing.put_on_record", replaced_meanwhile)
    with pytest.raises(errors.RequestOutdated):
        study.ledger.inputs("parity", "teste", study.folder / "inputs.csv")
    assert not (study.folder / "inputs.csv").exists()


def test_a_pool_of_another_reading_is_sealed_again_after_an_amendment(study: Study) -> None:
    """A new input column that the sealed file lacks: it cannot be read as declared, and is replaced."""
    study.begin()
    study.seal("teste", 0)
    path = study.folder / "amended.yaml"
    text = (study.folder / "parity.yaml").read_text()
    path.write_text(text.replace("      sex:", "      site: {type: text, is: input}\n      sex:"))
    study.ledger.amend(path, reason="the site matters")
    with pytest.raises(errors.SealedOtherwise):
        study.ledger.reveal("parity", study.predictions(0))
    with_site = study.folder / "with-site.csv"
    head, *rows = study.cases(0).read_text().splitlines()
    with_site.write_text("\n".join([f"{head},site", *(f"{row},north" for row in rows)]) + "\n")
    study.ledger.seal("parity", "teste", with_site, replace=True, reason="with the site")
    assert study.ledger.reveal("parity", study.predictions(0)).document["confirmatory"] is True
    assert study.ledger.audit().ok


def test_an_amendment_of_equal_reading_leaves_the_sealed_pool_readable(study: Study) -> None:
    """What values mean is the plan's: the file that was sealed under the first is typed by the second."""
    study.begin()
    study.seal("teste", 0)
    path = study.folder / "amended.yaml"
    text = (study.folder / "parity.yaml").read_text()
    path.write_text(text.replace("values: [female, male]", "values: [female, male, other]"))
    study.ledger.amend(path, reason="more groups")
    result = study.ledger.reveal("parity", study.predictions(0))
    groups = {
        each["group"].get("sex") for each in result.document["analyses"][0]["estimates"] if each["group"]
    }
    assert {"female", "male"} <= groups
    assert result.document["confirmatory"] is True
    assert study.ledger.audit().ok
