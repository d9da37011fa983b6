"""kill -9 in the middle of a reveal: nothing is unrecorded, nothing lies in the open, and the same call finishes."""

import json
import random
import time
from pathlib import Path
from typing import Any

import pytest

Shell = Any
CANARY = "canario-4711-no-lacre"

PROTOCOL = """
lacre: 1
study: killed
title: Errors by sex
question: Does it err more often for one sex?
language: en
data: {identifiable: false, prior_exposure: none}
tables:
  cases:
    key: case_id
    columns:
      case_id: {type: text}
      note: {type: text, is: input}
      label: {type: outcome, positive: "1", negative: "0"}
      prediction: {type: outcome, positive: "1", negative: "0", from: submission}
      sex: {type: category, values: [female, male]}
pools:
  teste: {tables: [cases]}
analyses:
  parity: {kind: group_fairness, pool: teste, table: cases, label: label, prediction: prediction,
           attributes: [sex], criteria: [{id: gap, metric: error, by: [sex], max_group_gap: 0.5}]}
"""


def _plain_places(*folders: Path) -> list[Path]:
    """The files that hold the canary in the open."""
    files = (path for folder in folders for path in folder.rglob("*") if path.is_file())
    return [path for path in files if CANARY.encode() in path.read_bytes()]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_a_killed_reveal_is_finished_by_the_same_call(shell: Shell, seed: int) -> None:
    (shell.folder / "protocol.yaml").write_text(PROTOCOL)
    rows = [f"{n},{CANARY}-{n},{n % 3 == 0:d},{'female' if n % 2 else 'male'}" for n in range(200)]
    (shell.folder / "cases.csv").write_text("case_id,note,label,sex\n" + "\n".join(rows) + "\n")
    predicted = [f"{n},{n % 3 == 0:d}" for n in range(200)]
    (shell.folder / "predictions.csv").write_text("case_id,prediction\n" + "\n".join(predicted) + "\n")
    shell.json("init")
    shell.json("register", "protocol.yaml")
    shell.json("seal", "killed", "teste", "cases.csv")
    (shell.folder / "cases.csv").unlink()
    call = ("reveal", "killed", "--submission", "predictions.csv", "--json")
    draw = random.Random(seed)
    for _ in range(3):
        process = shell.start(*call)
        time.sleep(draw.uniform(0.2, 2.0))
        process.kill()
        process.communicate()
        assert shell.json("audit")["findings"] == []
    last = shell.lacre(*call)
    document = json.loads(last.out)
    assert last.status == 0 or document["error"]["code"] == "teste-already-read"
    history = shell.json("log")["history"]
    results = [entry for entry in history if entry["kind"] == "result"]
    assert len(results) == 1
    shown = shell.json("show", f"killed@{results[0]['entry']}")
    assert (shown["standing"], shown["read"], shown["confirmatory"]) == ("teste", 1, True)
    assert shell.json("audit")["ok"] is True
    assert _plain_places(shell.folder, Path(shell.environment["XDG_STATE_HOME"])) == []
