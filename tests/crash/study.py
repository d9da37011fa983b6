"""A tiny study in three pools, whose cells and predictions have words in them that must lie nowhere."""

import base64
from collections.abc import Iterator
from pathlib import Path

CELL, SAID = "canario-nas-celulas-4711", "canario-nas-respostas-4712"
NAME = "Nome-Que-Se-Apaga"
"""Of who made the ledger; it is on record from the beginning, and can be erased."""
RECIPIENT = "age1zzfm0n6jwd2mk2xyymg2aux9l355njtnrfp3dwlhpmg86w2mnfmsl3xv6d"
ROWS = 24

PLAN = """
lacre: 1
study: small
title: Errors by sex
question: Does it err more often for one sex?
language: en
data: {identifiable: false, prior_exposure: none}
tables:
  cases:
    key: case_id
    columns:
      case_id: {type: text}
      age: {type: text, is: input}
      label: {type: outcome, positive: "1", negative: "0"}
      prediction: {type: outcome, positive: "1", negative: "0", from: submission}
      sex: {type: category, values: [female, male]}
pools:
  dev: {tables: [cases]}
  teste: {tables: [cases]}
  contraste: {tables: [cases]}
analyses:
  parity: {kind: group_fairness, pool: teste, table: cases, label: label, prediction: prediction,
           attributes: [sex], criteria: [{id: gap, metric: error, by: [sex], max_group_gap: 0.9}]}
  contrast: {kind: group_fairness, pool: contraste, table: cases, label: label, prediction: prediction,
             attributes: [sex], criteria: [{id: far, metric: error, by: [sex], max_group_gap: 0.9}]}
"""


def write_given(folder: Path) -> None:
    """Write what is given to the verbs: plans, cases, predictions."""
    folder.mkdir()
    (folder / "plan.yaml").write_text(PLAN)
    (folder / "amended.yaml").write_text(PLAN.replace("title: Errors", "title: On errors"))
    for pool, start in (("dev", 0), ("teste", 1000), ("contraste", 2000), ("other", 3000)):
        (folder / f"{pool}.csv").write_text(_cases(start))
        (folder / f"{pool}-predictions.csv").write_text(_predictions(start))
    (folder / "corrected.csv").write_text(_cases(1000, swapped=3))


def _cases(start: int, swapped: int = 0) -> str:
    rows = (
        f"{n},{20 + n % 50},{(n % 3 == 0) != (n < start + swapped):d},{'female' if n % 2 else 'male'},{CELL}-{n}"
        for n in range(start, start + ROWS)
    )
    return "case_id,age,label,sex,diary\n" + "\n".join(rows) + "\n"


def _predictions(start: int) -> str:
    rows = (f"{n},{n % 3 == 0:d},{SAID}-{n}" for n in range(start, start + ROWS))
    return "case_id,prediction,remark\n" + "\n".join(rows) + "\n"


def needles() -> Iterator[bytes]:
    """What the planted words look like, as they are and in base64, wherever in it they begin."""
    for word in (CELL.encode(), SAID.encode()):
        yield word
        for shift in range(3):
            yield base64.b64encode(b"\0" * shift + word)[4 if shift else 0 : -4]
