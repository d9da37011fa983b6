"""`lacre` as a user calls it, in a folder of its own, and a study to call it about."""

import json
import os
import shutil
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


@pytest.fixture(scope="session")
def sealed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder `work` of the study, and its machine's memory, `state`; made once, to be copied."""
    folder = tmp_path_factory.mktemp("sealed")
    work = folder / "work"
    work.mkdir()
    (work / "protocol.yaml").write_text(PROTOCOL, encoding="utf-8")
    for pool in ("dev", "teste"):
        held, good = cases(pool)
        (work / f"{pool}.csv").write_text(held, encoding="utf-8")
        (work / f"{pool}-good.csv").write_text(good, encoding="utf-8")
    (work / "good.csv").write_text(cases("teste")[1], encoding="utf-8")
    (work / "bad.csv").write_text(cases("teste", missed=50)[1], encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(folder / "state"))
        patch.chdir(work)
        for call in (["init"], ["register", "protocol.yaml"], ["seal", "screen", "teste", "teste.csv"]):
            assert main(call) == 0, call
    return folder


@pytest.fixture
def study(sealed: Path, lacre: Lacre, tmp_path: Path) -> Lacre:
    """A study with `teste` sealed; `good.csv` predicts all rightly, `bad.csv` misses half the women."""
    shutil.copytree(sealed / "work", tmp_path, dirs_exist_ok=True)
    shutil.copytree(sealed / "state", os.environ["XDG_STATE_HOME"], dirs_exist_ok=True)
    return lacre
