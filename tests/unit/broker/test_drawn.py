"""What is drawn by plan: sealed after the draw, with its chances, and labelled again in declared words."""

import hashlib
from pathlib import Path
from typing import Any

import pytest
from tests import four_pools

from lacre import api, errors
from lacre.broker import seal
from lacre.broker.drawn import held_against_draws
from lacre.report.views import Result
from lacre.rules.answers import DrawHeld


@pytest.fixture
def ledger(tmp_path: Path) -> api.Ledger:
    four_pools.write_files(tmp_path)
    made = api.init(tmp_path, name="Ana")
    made.register(tmp_path / "faces.yaml")
    return made


def draw(ledger: api.Ledger, work: Path) -> None:
    ledger.sample("faces", "faces", work / "frame.csv", work / "drawn.csv")
    four_pools.write_drawn(work)


def test_a_seal_waits_for_the_draw(ledger: api.Ledger, tmp_path: Path) -> None:
    four_pools.write_ahead(tmp_path)
    with pytest.raises(errors.DrawFirst, match="no draw of faces"):
        ledger.seal("faces", "teste", tmp_path / "teste-faces.csv")
    assert [each.kind for each in ledger.log("faces").entries] == ["register"]
    draw(ledger, tmp_path)
    assert ledger.seal("faces", "teste", tmp_path / "teste-faces.csv").rows == {"faces": 120}


@pytest.mark.parametrize("chance", ["0.9", "", "0"])
def test_chances_are_those_of_the_draw(ledger: api.Ledger, tmp_path: Path, chance: str) -> None:
    draw(ledger, tmp_path)
    rows = four_pools.read(tmp_path / "teste-faces.csv")
    rows[1]["inclusion"] = chance
    four_pools.write_rows(tmp_path / "other.csv", rows)
    with pytest.raises(errors.SealedNotAsDrawn) as refused:
        ledger.seal("faces", "teste", tmp_path / "other.csv")
    assert (refused.value.fields["count"], refused.value.fields["table"]) == (1, "faces")
    assert ledger.seal("faces", "teste", tmp_path / "teste-faces.csv").rows == {"faces": 120}


def test_second_labels_are_declared_ones(ledger: api.Ledger, tmp_path: Path) -> None:
    draw(ledger, tmp_path)
    ledger.seal("faces", "teste", tmp_path / "teste-faces.csv")
    ledger.sample_relabels("faces", "faces", tmp_path / "blank.csv")
    four_pools.write_again(tmp_path)
    again = tmp_path / "again.csv"
    rows = again.read_text().splitlines()
    again.write_text("\n".join([rows[0], *(row.replace("paper", "papel") for row in rows[1:])]) + "\n")
    strange = sum("papel" in row for row in again.read_text().splitlines())
    assert strange
    before = len(ledger.log("faces").entries)
    with pytest.raises(errors.RelabelsUndeclared, match=f"^{strange} second labels in medium") as refused:
        ledger.commit("faces", "relabels", again)
    assert "papel" not in str(refused.value)
    assert len(ledger.log("faces").entries) == before


def without(work: Path, count: int, name: str = "fewer.csv") -> Path:
    """All labelled cases but the last so many."""
    rows = four_pools.read(work / "teste-faces.csv")[:-count]
    four_pools.write_rows(work / name, rows)
    return work / name


def test_cases_that_were_not_drawn_are_refused_with_the_count(ledger: api.Ledger, tmp_path: Path) -> None:
    """Two in the place of two others, each with the chance of its stratum: sizes and chances are as drawn."""
    draw(ledger, tmp_path)
    rows = four_pools.read(tmp_path / "teste-faces.csv")
    drawn = {row["face_id"] for row in rows}
    strange = [row for row in four_pools.read(tmp_path / "frame.csv") if row["face_id"] not in drawn]
    for row in rows[:2]:
        other = next(each for each in strange if each["hint"] == row["hint"])
        strange.remove(other)
        row.update(face_id=other["face_id"], picture=other["picture"])
    four_pools.write_rows(tmp_path / "other.csv", rows)
    with pytest.raises(errors.CasesNotDrawn) as refused:
        ledger.seal("faces", "teste", tmp_path / "other.csv")
    assert (refused.value.fields["count"], refused.value.fields["table"]) == (2, "faces")
    assert [each.kind for each in ledger.log("faces").entries] == ["register", "sample"]


def test_the_cases_drawn_are_kept_as_keyed_hashes_under_the_digest_of_the_entry(
    ledger: api.Ledger, tmp_path: Path
) -> None:
    """Neither a plain digest of the ids nor one of a single id is in the file, whatever their order."""
    draw(ledger, tmp_path)
    request = ledger.log("faces").entries[-1].content.request  # type: ignore[union-attr]
    kept = ledger.folder / "pools" / "faces" / "teste" / f"{request.cases}.prints"  # type: ignore[union-attr]
    content = kept.read_bytes()
    assert hashlib.sha256(content).hexdigest() == request.cases  # type: ignore[union-attr]
    ids = [row["face_id"].encode() for row in four_pools.read(tmp_path / "drawn.csv")]
    assert len(content) > 16 * len(ids)
    assert not any(hashlib.sha256(each).digest()[:16] in content or each + b"\n" in content for each in ids)
    kept.unlink()
    with pytest.raises(errors.DrawnCasesMissing, match="lacre sample faces faces"):
        ledger.seal("faces", "teste", tmp_path / "teste-faces.csv")
    assert "blob-missing" in {each.code for each in ledger.audit().findings}
    ledger.sample("faces", "faces", tmp_path / "frame.csv", tmp_path / "again.csv")
    assert ledger.seal("faces", "teste", tmp_path / "teste-faces.csv").rows == {"faces": 120}
    assert ledger.audit().ok


def reveal(ledger: api.Ledger, work: Path, absent: int) -> Result:
    """Seal all but so many drawn cases, and everything up to the reveal."""
    draw(ledger, work)
    ledger.seal("faces", "dev", [f"{table}={work / f'dev-{table}.csv'}" for table in ("faces", "pairs")])
    sealed = ledger.seal("faces", "teste", without(work, absent))
    said = f"faces: {absent} of 120 cases drawn were not sealed"
    assert said in " ".join(str(sealed).split())
    ledger.calibrate("faces", work / "dev-scores.csv", thresholds="detector")
    ledger.sample_relabels("faces", "faces", work / "blank.csv")
    four_pools.write_again(work)
    ledger.commit("faces", "relabels", work / "again.csv")
    scores = four_pools.read(work / "scores.csv")[:-absent]
    four_pools.write_rows(work / "fewer-scores.csv", scores)
    revealed = ledger.reveal("faces", work / "fewer-scores.csv")
    assert isinstance(revealed, Result)
    assert said in " ".join(str(revealed).split())
    assert said in revealed._repr_html_()
    (told,) = revealed.as_json()["draws"]
    assert (told["absent"], told["size"], told["made"]) == (absent, 120, 1)
    return revealed


def test_drawn_cases_that_were_not_sealed_count_as_left_out(ledger: api.Ledger, tmp_path: Path) -> None:
    """Of 120 drawn a tenth may be left out, 12; the plan says nothing of it, and a tenth is what nothing means."""
    absent = 13
    revealed = reveal(ledger, tmp_path, absent)
    analyses = {each["id"]: each for each in revealed.document["analyses"]}
    recall = analyses["recall"]
    left_out = {(each["reason"], each["column"]): each["count"] for each in recall["left_out"]}
    assert left_out["not-sealed", "faces"] == absent
    assert recall["rows"] == 120
    (criterion,) = recall["criteria"]
    assert criterion["reason"]["code"] == "too-many-left-out"
    assert criterion["reason"]["fields"] == {"count": absent, "rows": 120, "limit": 0.1}
    assert not [each for each in analyses["agreement"]["left_out"] if each["reason"] == "not-sealed"]
    assert ledger.audit(revealed.name).ok
    ledger.export(revealed.name, tmp_path / "bundle.zip")
    assert api.verify(tmp_path / "bundle.zip").ok


def test_a_pool_sealed_with_other_cases_is_found_before_it_is_read(
    ledger: api.Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever sealed said that all cases were drawn; who reads sees by the fingerprints that one was not."""
    draw(ledger, tmp_path)
    rows = four_pools.read(tmp_path / "teste-faces.csv")
    rows[0]["face_id"] = "t1000"
    four_pools.write_rows(tmp_path / "other.csv", rows)

    def made_up(*given: Any) -> tuple[DrawHeld, ...]:
        held = held_against_draws(*given)
        assert held is not None
        assert (held[0].undrawn, held[0].absent) == (1, 1)
        return tuple(each.model_copy(update={"undrawn": 0, "absent": 0}) for each in held)

    monkeypatch.setattr(seal, "held_against_draws", made_up)
    ledger.seal("faces", "teste", tmp_path / "other.csv")
    assert ledger.audit().ok, "nothing on record contradicts it"
    plan = four_pools.changed(
        four_pools.PLAN,
        ("{score: score, threshold: detector, blank", "{score: score, threshold: fixed, blank"),
        ("thresholds:\n", "thresholds:\n  fixed: {fixed: 0.5}\n"),
        ("  agreement: {kind: self_agreement, pool: teste, relabel: faces}\n", ""),
    )
    ledger.amend(plan.encode(), reason="no second labels, no calibration")
    four_pools.write(tmp_path / "scores.csv", ("face_id", "score"), [(row["face_id"], 0.7) for row in rows])
    before = len(ledger.log("faces").entries)
    with pytest.raises(errors.CasesNotDrawn):
        ledger.reveal("faces", tmp_path / "scores.csv")
    assert len(ledger.log("faces").entries) == before


def test_second_labels_are_of_the_inputs_that_were_handed_out(ledger: api.Ledger, tmp_path: Path) -> None:
    """Two cases whose pictures changed places: two cells are not what was handed out, and neither is told."""
    draw(ledger, tmp_path)
    ledger.seal("faces", "teste", tmp_path / "teste-faces.csv")
    ledger.sample_relabels("faces", "faces", tmp_path / "blank.csv")
    four_pools.write_again(tmp_path)
    rows = four_pools.read(tmp_path / "again.csv")
    swapped = [dict(row) for row in rows]
    swapped[0]["picture"], swapped[1]["picture"] = rows[1]["picture"], rows[0]["picture"]
    four_pools.write_rows(tmp_path / "swapped.csv", swapped)
    with pytest.raises(errors.CommitUnfinished, match=r"2 cells of inputs .*\(picture\)") as refused:
        ledger.commit("faces", "relabels", tmp_path / "swapped.csv")
    assert rows[0]["picture"] not in str(refused.value)
    bare = [{name: row[name] for name in row if name != "picture"} for row in rows]
    four_pools.write_rows(tmp_path / "bare.csv", bare)
    assert ledger.commit("faces", "relabels", tmp_path / "bare.csv").rows == 30
