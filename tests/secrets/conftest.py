"""A study whose pools are full of canary cells, at the stages of its life, each to be copied."""

import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from tests import four_pools
from tests.dates import LABELLED
from tests.scripts.conftest import Shell, shell, shells
from tests.secrets.canaries import CANARY, COLUMN
from tests.studies import plan

__all__ = ["shell", "shells"]  # fixtures

PROTOCOL = plan(
    "secret",
    columns={
        "code": "{type: text, is: input}",
        "age": "{type: number}",
        "seen": "{type: time, zone: UTC, is: labelled}",
        "note": "{type: text}",
    },
    pools={"dev": "", "teste": "", "contraste": ""},
    analyses={"parity": "teste", "rehearsal": "dev"},
    gap="0.9",
    criterion=", max_left_out: 0.1",
)
HEAD = ("case_id", "code", COLUMN, "label", "sex", "age", "seen", "note")
Row = dict[str, str]


def rows(tag: str, count: int = 120) -> list[Row]:
    """Cases with a canary in a column that is declared for nothing, in one that is not declared, and in a label and a
    category that are none of the declared ones.
    """
    made = []
    for n in range(count):
        sex = "female" if n % 2 else "male"
        cells = (
            f"{tag}{n}",
            f"{tag}-{n * 7919}",
            CANARY,
            str(n // 2 % 2),
            sex,
            str(20 + n),
            LABELLED,
            CANARY,
        )
        made.append(dict(zip(HEAD, cells, strict=True)))
    made[5]["label"] = made[6]["sex"] = CANARY
    return made


def csv(cases: Sequence[Row], head: Sequence[str] = HEAD) -> str:
    """A table as CSV."""
    return "\n".join([",".join(head), *(",".join(row.values()) for row in cases)]) + "\n"


def predictions(cases: Sequence[Row]) -> str:
    """Right predictions for cases."""
    return "case_id,prediction\n" + "".join(f"{row['case_id']},{n // 2 % 2}\n" for n, row in enumerate(cases))


def write_files(work: Path) -> None:
    """Write the study's plan, another one, pools (one of them as JSON), predictions and corrected labels.

    Beside them lies the study of all four pools.
    """
    four_pools.write_ahead(work, CANARY)
    (work / "protocol.yaml").write_text(PROTOCOL)
    (work / "amended.yaml").write_text(PROTOCOL.replace("max_group_gap: 0.9", "max_group_gap: 0.8"))
    for tag in ("dev", "teste", "more"):
        (work / f"{tag}.csv").write_text(csv(rows(tag)))
        (work / f"{tag}-predictions.csv").write_text(predictions(rows(tag)))
    (work / "contraste.json").write_text(json.dumps(rows("more")))
    corrected = rows("teste")
    corrected[0]["label"] = "1"
    (work / "corrected.csv").write_text(csv(corrected))


@dataclass(frozen=True)
class Stages:
    """Copies of the study's folder and of its machine's memory."""

    shell: Shell
    sealed: Path
    revealed: Path
    faces: Path

    def copy(self, stage: str, to: Path) -> Shell:
        """The study at a stage, in a folder of its own."""
        shutil.copytree(getattr(self, stage), to, dirs_exist_ok=True)
        environment = {**self.shell.environment, "XDG_STATE_HOME": str(to / "state")}
        return replace(self.shell, folder=to / "work", environment=environment)


@pytest.fixture(scope="session")
def stages(shells: Callable[[], Shell], tmp_path_factory: pytest.TempPathFactory) -> Stages:
    """The study when `dev` and `teste` are sealed, and when `teste` was revealed (entry 5) and `dev` read.

    And that of all four pools, when they are sealed and cases were handed out to be labelled again.
    """
    shell = shells()
    copies = tmp_path_factory.mktemp("stages")
    work = shell.folder
    write_files(work)
    shell.json("init")
    shell.json("register", "protocol.yaml")
    shell.json("seal", "secret", "dev", "dev.csv")
    shell.json("seal", "secret", "teste", "teste.csv")
    shutil.copytree(work.parent, copies / "sealed")
    shell.json("reveal", "secret", "--submission", "teste-predictions.csv")
    shell.json("run", "secret", "rehearsal", "--submission", "dev-predictions.csv")
    shutil.copytree(work.parent, copies / "revealed")
    # A folder of its own: what it has in common with the other one is the machine alone.
    other = shells()
    write_files(other.folder)
    other.json("init")
    other.json("register", "faces.yaml")
    other.json("sample", "faces", "faces", "frame.csv", "-o", "drawn.csv")
    for pool, *files in four_pools.SEALS:
        other.json("seal", "faces", pool, *files)
    other.json("sample", "faces", "--relabel", "faces", "-o", "blank.csv")
    shutil.copytree(other.folder.parent, copies / "faces")
    return Stages(shell, copies / "sealed", copies / "revealed", copies / "faces")


@pytest.fixture
def at(stages: Stages, tmp_path: Path) -> Callable[[str], Shell]:
    """Copy the study at a stage."""
    return lambda stage: stages.copy(stage, tmp_path / stage)
