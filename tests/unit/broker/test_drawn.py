"""What is drawn by plan: sealed after the draw, with its chances, and labelled again in declared words."""

from pathlib import Path

import pytest
from tests import four_pools

from lacre import api, errors


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
    four_pools.write(tmp_path / "other.csv", tuple(rows[0]), [tuple(row.values()) for row in rows])
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
