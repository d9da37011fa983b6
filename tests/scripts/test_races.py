"""Many processes ask for the one reveal at once."""

import json
from pathlib import Path
from typing import Any

import pytest

Shell = Any
PROCESSES = 24

PROTOCOL = """
lacre: 1
study: raced
title: Errors by sex
question: Does it err more often for one sex?
language: en
data: {identifiable: false, prior_exposure: none}
tables:
  cases:
    key: case_id
    columns:
      case_id: {type: text}
      label: {type: outcome, positive: "1", negative: "0"}
      prediction: {type: outcome, positive: "1", negative: "0", from: submission}
      sex: {type: category, values: [female, male]}
pools:
  teste: {tables: [cases]}
analyses:
  parity: {kind: group_fairness, pool: teste, table: cases, label: label, prediction: prediction,
           attributes: [sex], criteria: [{id: gap, metric: error, by: [sex], max_group_gap: 0.5}]}
"""


def _ready(folder: Path) -> None:
    (folder / "protocol.yaml").write_text(PROTOCOL)
    rows = [f"{n},{n % 3 == 0:d},{'female' if n % 2 else 'male'}" for n in range(200)]
    (folder / "cases.csv").write_text("case_id,label,sex\n" + "\n".join(rows) + "\n")
    predicted = [f"{n},{n % 3 == 0:d}" for n in range(200)]
    (folder / "predictions.csv").write_text("case_id,prediction\n" + "\n".join(predicted) + "\n")


@pytest.mark.slow
@pytest.mark.parametrize("accept_dev", [False, True], ids=["plain", "accept-dev"])
def test_one_of_many_reveals_is_the_first(shell: Shell, accept_dev: bool) -> None:
    _ready(shell.folder)
    shell.json("init")
    shell.json("register", "protocol.yaml")
    shell.json("seal", "raced", "teste", "cases.csv")
    words = ["reveal", "raced", "--submission", "predictions.csv", "--json"]
    if accept_dev:
        words.append("--accept-dev")
    processes = [shell.start(*words) for _ in range(PROCESSES)]
    ended = [(process, *process.communicate(timeout=300)) for process in processes]
    documents = [json.loads(out) for _process, out, _err in ended]
    classes = sorted(d["standing"] for d in documents if "standing" in d)
    refusals = [d["error"]["code"] for d in documents if "error" in d]
    if accept_dev:
        assert classes == ["dev"] * (PROCESSES - 1) + ["teste"], refusals
        numbers = sorted(d["read"] for d in documents)
        assert numbers == list(range(1, PROCESSES + 1))
    else:
        assert classes == ["teste"]
        assert len(refusals) == PROCESSES - 1
        assert set(refusals) <= {"teste-already-read", "read-in-progress"}
    assert {p.returncode for p, _out, _err in ended} <= {0, 2, 3}
    reads = [line for line in shell.json("log")["history"] if line["kind"] == "read"]
    assert len(reads) == (PROCESSES if accept_dev else 1), "every read is on record, and no refusal is one"
    audit = shell.json("audit")
    assert (audit["ok"], audit["findings"]) == (True, [])
