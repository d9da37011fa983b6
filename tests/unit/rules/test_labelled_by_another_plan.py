"""Second labels of cases that another plan drew: they are asked for again before anything is looked at."""

from pathlib import Path

import pytest
from tests import four_pools

from lacre import api
from lacre.errors import RelabelsOutOfPlace

SEED = ("min_days_apart: 2, seed: 7", "min_days_apart: 2, seed: 8")


def test_what_another_plan_handed_out_is_not_committed(tmp_path: Path) -> None:
    """Were the first labels looked at, that look would stand for the hand-out of the next call."""
    four_pools.write_ahead(tmp_path)
    ledger = api.init(tmp_path, name="Ana")
    ledger.register(tmp_path / "faces.yaml")
    ledger.sample("faces", "faces", tmp_path / "frame.csv", tmp_path / "drawn.csv")
    ledger.seal("faces", "teste", tmp_path / "teste-faces.csv")
    ledger.sample_relabels("faces", "faces", tmp_path / "blank.csv")
    four_pools.write_again(tmp_path)
    plan = tmp_path / "seed.yaml"
    plan.write_text(four_pools.changed(four_pools.PLAN, SEED))
    ledger.amend(plan, reason="another seed")
    assert "--relabel faces" in str(ledger.show("faces"))
    before = len(ledger.log("faces").entries)
    for _ in range(2):
        with pytest.raises(RelabelsOutOfPlace):
            ledger.commit("faces", "relabels", tmp_path / "again.csv")
    assert len(ledger.log("faces").entries) == before
    ledger.sample_relabels("faces", "faces", tmp_path / "other.csv")
    four_pools.write_again(tmp_path, "other.csv")
    assert "commit faces relabels" in str(ledger.show("faces"))
    assert ledger.commit("faces", "relabels", tmp_path / "again.csv").rows == 30
