"""One small study taken through its life, and every outcome its verbs gave; made once for all tests."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from lacre import api
from lacre.broker.outcomes import ReadPlanned, ResultShown
from lacre.errors import LacreError

PROTOCOL = """
lacre: 1
study: screen
title: Screen, parity of misses
question: Does the screen miss more often in one group?
language: en
data: {identifiable: false, prior_exposure: none}
tables:
  cases:
    key: id
    columns:
      id: {type: text}
      sex: {type: category, values: [female, male, other], is: input}
      label: {type: outcome, positive: "1", negative: "0"}
      prediction: {type: outcome, positive: "1", negative: "0", from: submission}
      score: {type: number, min: 0, max: 1, from: submission}
pools:
  dev: {tables: [cases], planned: {cases: 900}}
  teste: {tables: [cases], planned: {cases: 300}}
analyses:
  parity:
    kind: group_fairness
    pool: teste
    table: cases
    label: label
    prediction: prediction
    probability: score
    calibration_bins: 4
    attributes: [sex]
    criteria:
      - {id: misses, metric: false_negative, by: [sex], max_group_gap: 0.05}
      - {id: alarms, metric: false_positive, by: [sex], worst_group: {max: 0.25}}
"""

HOSTILE = "Ana [red]\x1b[31mLima\x07"
"""A name that markup or a terminal would obey."""


@dataclass(frozen=True)
class Life:
    """What each verb gave, by the name of the outcome."""

    folder: Path
    outcomes: Mapping[str, Any]
    refused: LacreError


def cases(prefix: str, count: int) -> tuple[str, str]:
    """A pool and a submission: half positive; a fifth of the women is missed, no man; `other` is rare."""
    pool, submission = ["id,sex,label,unused"], ["id,prediction,score,extra"]
    for number in range(count):
        sex = "other" if number % 100 == 99 else ("female", "male")[number % 2]
        label = number // 2 % 2
        missed = sex == "female" and label == 1 and number % 10 < 2
        prediction = "" if number == 4 else str(label if not missed else 0)
        pool.append(f"{prefix}{number},{'unknown' if number == 7 else sex},{label},x")
        submission.append(f"{prefix}{number},{prediction},{0.25 + label / 2},y")
    return "\n".join(pool) + "\n", "\n".join(submission) + "\n"


@pytest.fixture(scope="session")
def life(tmp_path_factory: pytest.TempPathFactory) -> Life:
    """Take the study from its ledger to its audit."""
    folder = tmp_path_factory.mktemp("life")
    state = folder / "state"
    (folder / "protocol.yaml").write_text(PROTOCOL, encoding="utf-8")
    for pool in ("dev", "teste"):
        held, submitted = cases(pool, 200)
        (folder / f"{pool}.csv").write_text(held, encoding="utf-8")
        (folder / f"{pool}-scores.csv").write_text(submitted, encoding="utf-8")
    scores = [folder / "teste-scores.csv"]
    made = api.init(folder, name=HOSTILE, origin="lab.example/bias", state=state)
    with made as ledger:
        found: dict[str, Any] = {"made": ledger.made, "empty": ledger.status()}
        found["checked"] = api.check(folder / "protocol.yaml")
        found["registered"] = ledger.register(folder / "protocol.yaml")
        found["waiting"] = ledger.status()
        found["sealed"] = ledger.seal("screen", "teste", [folder / "teste.csv"])
        found["unread"] = ledger.status()
        found["inputs"] = ledger.inputs("screen", "teste", folder / "inputs.csv")
        found["planned"] = ledger.reveal("screen", scores, dry_run=True)
        found["result"] = ledger.reveal("screen", scores, reason="\x1b[2Jbecause")
        with pytest.raises(LacreError) as refused:
            ledger.reveal("screen", scores)
        found["replanned"] = ledger.reveal("screen", scores, accept_dev=True, dry_run=True)
        found["again"] = ledger.reveal("screen", scores, accept_dev=True)
        ledger.seal("screen", "dev", [folder / "dev.csv"])
        found["rehearsed"] = ledger.run("screen", "parity", [folder / "dev-scores.csv"], pool="dev")
        found["status"] = ledger.status()
        found["log"] = ledger.log()
        found["study"] = ledger.show("screen")
        found["entry"] = ledger.show("@4")
        found["genesis"] = ledger.show("@0")
        found["audit"] = ledger.audit()
        result, again = found["result"], found["again"]
        found["story"] = ledger.audit(result.name)
        found["told-again"] = ledger.audit(again.name)
        found["seen-again"] = ledger.show(result.name)
        found["register"] = ledger.export_registry(folder / "registry")
        found["exported"] = ledger.export(result.name, folder / "r.zip")
        found["verified"] = api.verify(folder / "r.zip")
    assert isinstance(found["planned"], ReadPlanned)
    assert isinstance(result, ResultShown)
    return Life(folder, found, refused.value)
