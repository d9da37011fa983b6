"""`lacre` as a user calls it, in a folder of its own, and a study to call it about."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.secrets.canaries import CANARY, COLUMN, sings

from lacre.cli import main

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
      sex: {type: category, values: [female, male], is: input}
      label: {type: outcome, positive: "1", negative: "0"}
      prediction: {type: outcome, positive: "1", negative: "0", from: submission}
pools:
  dev: {tables: [cases]}
  teste: {tables: [cases]}
analyses:
  parity:
    kind: group_fairness
    pool: teste
    table: cases
    label: label
    prediction: prediction
    attributes: [sex]
    criteria:
      - {id: misses, metric: false_negative, by: [sex], max_group_gap: 0.05}
"""


@dataclass(frozen=True)
class Answer:
    """What a call gave."""

    status: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The one JSON document of standard output."""
        return json.loads(self.out)


Lacre = Callable[..., Answer]


@pytest.fixture
def lacre(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Lacre:
    """Call `lacre` with arguments, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")

    def call(*arguments: str | Path) -> Answer:
        capsys.readouterr()
        status = main([str(argument) for argument in arguments])
        written = capsys.readouterr()
        assert not sings(written.out), "a cell of a sealed pool"
        assert not sings(written.err), "a cell of a sealed pool"
        return Answer(status, written.out, written.err)

    return call


def cases(prefix: str, missed: int = 0) -> tuple[str, str]:
    """A pool of 100 women and 100 men, all positive, and predictions that miss the first `missed` women."""
    ids = [f"{prefix}{number:03}" for number in range(200)]
    pool = [f"{name},{'female' if place < 100 else 'male'},1,{CANARY}" for place, name in enumerate(ids)]
    submission = [f"{name},{0 if place < missed else 1}" for place, name in enumerate(ids)]
    return "\n".join([f"id,sex,label,{COLUMN}", *pool]) + "\n", "\n".join(
        ["id,prediction", *submission]
    ) + "\n"


@pytest.fixture
def study(lacre: Lacre, tmp_path: Path) -> Lacre:
    """A study with `teste` sealed; `good.csv` predicts all rightly, `bad.csv` misses half the women."""
    (tmp_path / "protocol.yaml").write_text(PROTOCOL, encoding="utf-8")
    for pool in ("dev", "teste"):
        held, good = cases(pool)
        (tmp_path / f"{pool}.csv").write_text(held, encoding="utf-8")
        (tmp_path / f"{pool}-good.csv").write_text(good, encoding="utf-8")
    (tmp_path / "good.csv").write_text(cases("teste")[1], encoding="utf-8")
    (tmp_path / "bad.csv").write_text(cases("teste", missed=50)[1], encoding="utf-8")
    for call in (["init"], ["register", "protocol.yaml"], ["seal", "screen", "teste", "teste.csv"]):
        answer = lacre(*call)
        assert answer.status == 0, answer.err
    return lacre
