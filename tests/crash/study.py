"""A tiny study in three pools, whose cells and predictions have words in them that must lie nowhere."""

from pathlib import Path

from tests import four_pools, open_corpus
from tests.studies import plan

CELL, SAID = "canario-nas-celulas-4711", "canario-nas-respostas-4712"
NAME = "Nome-Que-Se-Apaga"
"""Of who made the ledger; it is on record from the beginning, and can be erased."""
RECIPIENT = "age1zzfm0n6jwd2mk2xyymg2aux9l355njtnrfp3dwlhpmg86w2mnfmsl3xv6d"
ROWS = 24

PLAN = plan(
    columns={"age": "{type: text, is: input}"},
    pools={"dev": "", "teste": "", "contraste": ""},
    analyses={"parity": "teste", "contrast": "contraste"},
    gap="0.9",
)


def write_given(folder: Path) -> None:
    """Write what is given to the verbs: plans, cases, predictions; and the study of all four pools."""
    folder.mkdir()
    (folder / "plan.yaml").write_text(PLAN)
    (folder / "amended.yaml").write_text(PLAN.replace("title: Errors", "title: On errors"))
    for pool, start in (("dev", 0), ("teste", 1000), ("contraste", 2000), ("other", 3000)):
        (folder / f"{pool}.csv").write_text(_cases(start))
        (folder / f"{pool}-predictions.csv").write_text(_predictions(start))
    (folder / "corrected.csv").write_text(_cases(1000, swapped=3))
    (folder / "open").mkdir()
    (folder / "open" / "open.yaml").write_text(open_corpus.plan())
    for write in (open_corpus.cases, open_corpus.labels, open_corpus.scores):
        write(folder / "open")
    (folder / "faces").mkdir()
    four_pools.write_ahead(folder / "faces", CELL)


def _cases(start: int, swapped: int = 0) -> str:
    old = 20 + start // 20  # each pool has inputs of its own
    rows = (
        f"{n},{old + n % 50},{(n % 3 == 0) != (n < start + swapped):d},{'female' if n % 2 else 'male'},{CELL}-{n}"
        for n in range(start, start + ROWS)
    )
    return "case_id,age,label,sex,diary\n" + "\n".join(rows) + "\n"


def _predictions(start: int) -> str:
    rows = (f"{n},{n % 3 == 0:d},{SAID}-{n}" for n in range(start, start + ROWS))
    return "case_id,prediction,remark\n" + "\n".join(rows) + "\n"
