"""The study of all four pools at the stages of its life, each to be copied; and what is asked of it again and again."""

import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tests import four_pools
from tests.secrets.canaries import CANARY

Shell = Any
Document = dict[str, Any]

BOTH = ("--submission", "faces=dev-scores.csv", "--submission", "pairs=dev-likeness.csv")
DETECTOR = ("detector", "--submission", "dev-scores.csv")
REVEAL = ("reveal", "faces", "--submission", "scores.csv")
COMMIT = ("commit", "faces", "relabels", "again.csv")
GATE = ("gate", "faces", "--submission", "good.csv")


@dataclass(frozen=True)
class Stages:
    """Copies of the study's folder and of its machine's memory, by what was done last."""

    shell: Shell
    kept: Path

    def keep(self, stage: str) -> None:
        shutil.copytree(self.shell.folder.parent, self.kept / stage)

    def copy(self, stage: str, to: Path) -> Shell:
        shutil.copytree(self.kept / stage, to)
        environment = {**self.shell.environment, "XDG_STATE_HOME": str(to / "state")}
        return replace(self.shell, folder=to / "work", environment=environment)


def lived(shell: Shell, kept: Path) -> Stages:
    """The study as it was registered (entry 1), drawn (2), sealed (6), calibrated (8), labelled again (11)."""
    made = Stages(shell, kept)
    work = shell.folder
    four_pools.write_files(work, CANARY)
    shell.json("init")
    shell.json("register", "faces.yaml")
    made.keep("registered")
    shell.json("sample", "faces", "faces", "frame.csv", "-o", "drawn.csv")
    four_pools.write_drawn(work, secret=CANARY)
    made.keep("drawn")
    for pool, *files in four_pools.SEALS:
        shell.json("seal", "faces", pool, *files)
    made.keep("sealed")
    shell.json("calibrate", "faces", *BOTH)
    made.keep("calibrated")
    shell.json("sample", "faces", "--relabel", "faces", "-o", "blank.csv")
    four_pools.write_again(work)
    shell.json("commit", "faces", "relabels", "again.csv")
    made.keep("ready")
    return made


def clean(shell: Shell) -> Document:
    """The audit, which finds nothing."""
    report: Document = shell.json("audit")
    assert report["findings"] == []
    return report


def refused(shell: Shell, *words: str) -> str:
    """The code that a call is refused with; nothing is on record after it that was not before."""
    before = shell.json("status")["root"]
    code = shell.json(*words, expect=2)["error"]["code"]
    assert shell.json("status")["root"] == before
    return str(code)


def following(shell: Shell) -> list[str]:
    """What `status` says comes next."""
    lines = shell.lacre("status").out.splitlines()
    return [line.removeprefix("Next: ").strip() for line in lines if line.startswith("Next: ")]


def changed(shell: Shell, *changes: tuple[str, str]) -> None:
    """Write the plan with words changed."""
    (shell.folder / "faces.yaml").write_text(four_pools.changed(four_pools.PLAN, *changes))
