"""Make the golden ledger: a small study's whole life, written by the lacre that made it, for all later ones to audit.

Run once per format, in an empty folder: ``python make.py DIR``. The ledger is kept without its keys.
"""

import shutil
import sys
from pathlib import Path

import lacre

PROTOCOL = """\
lacre: 1
study: golden
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
      sex: {type: category, values: [female, male], is: input}
pools:
  dev: {tables: [cases]}
  teste: {tables: [cases], planned: {cases: 300}}
analyses:
  parity: {kind: group_fairness, pool: teste, table: cases, label: label, prediction: prediction,
           attributes: [sex], criteria: [{id: gap, metric: error, by: [sex], max_group_gap: 0.25}]}
"""


def _files(folder: Path, first: int, count: int) -> tuple[Path, Path]:
    cases, predictions = ["case_id,label,sex"], ["case_id,prediction"]
    for n in range(first, first + count):
        cases.append(f"{n:05d},{n // 2 % 2},{'female' if n % 2 else 'male'}")
        predictions.append(f"{n:05d},{n // 2 % 2 if n % 10 else 1 - n // 2 % 2}")
    made = folder / f"cases-{first}.csv", folder / f"predictions-{first}.csv"
    for path, lines in zip(made, (cases, predictions), strict=True):
        path.write_text("\n".join(lines) + "\n")
    return made


def main(target: Path) -> None:
    """Live the study in `target` and keep its ledger there, without keys."""
    target.mkdir()
    dev, dev_predictions = _files(target, 0, 100)
    teste, predictions = _files(target, 1000, 240)
    with lacre.init(target, name="Golden", origin="example.org/golden", state=target / "state") as ledger:
        ledger.register(PROTOCOL.encode())
        ledger.seal("golden", "dev", dev)
        ledger.run("golden", "parity", dev_predictions, pool="dev")
        ledger.seal("golden", "teste", teste)
        ledger.inputs("golden", "teste", target / "inputs.csv", reason="to predict on")
        ledger.reveal("golden", predictions)
        ledger.reveal("golden", predictions, accept_dev=True, reason="a second look")
    shutil.rmtree(target / ".lacre" / "keys")
    shutil.rmtree(target / ".lacre" / "locks")
    (target / ".lacre" / ".gitignore").unlink()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
