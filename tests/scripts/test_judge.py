"""A judge's calibration from its design lock to both its numbers, told on the command line."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.growing import PARADOX, PLAN, cases_of, write_cases, write_labels, write_scores

Shell = Any


@pytest.fixture
def begun(shell: Shell) -> Shell:
    """A registered study, its cases committed, and the files of its labels and scores."""
    first = cases_of(PARADOX)
    (shell.folder / "judge.yaml").write_text(PLAN)
    write_cases(shell.folder / "cases.csv", first)
    write_labels(shell.folder / "labels.csv", first)
    write_scores(shell.folder / "scores.csv", first)
    assert shell.lacre("init").status == 0
    assert shell.lacre("register", "judge.yaml").status == 0
    return shell


def refused(shell: Shell, *words: str) -> str:
    """What a call is refused with."""
    ran = shell.lacre(*words, "--json")
    assert ran.status == 2, ran.err
    return str(ran.document["error"]["code"])


def test_the_whole_story(begun: Shell) -> None:
    """The numbers are derived in `tests.growing`: kappa .2908 on 100 cases, whose agreement is 92 %."""
    shell, folder = begun, begun.folder
    assert refused(shell, "commit", "judge", "scores", "scores.csv") == "part-out-of-order"
    assert shell.lacre("commit", "judge", "cases", "cases.csv").status == 0
    assert refused(shell, "commit", "judge", "scores", "scores.csv") == "part-out-of-order"
    assert refused(shell, "run", "judge", "agreement") == "corpus-incomplete"
    assert shell.lacre("commit", "judge", "labels", "labels.csv").status == 0
    write_scores(folder / "early.csv", cases_of(PARADOX), at="2098-12-31T00:00:00Z")
    assert refused(shell, "commit", "judge", "scores", "early.csv") == "scores-before-labels"
    assert shell.lacre("commit", "judge", "scores", "scores.csv").status == 0
    assert refused(shell, "commit", "judge", "scores", "scores.csv") == "part-already-committed"

    failed = shell.lacre("run", "judge", "agreement")
    assert failed.status == 1
    told = " ".join(failed.out.split())
    assert "0.291" in told
    assert "raw agreement: 92.0 %" in told
    assert "a kappa paradox" in told

    (folder / "lower.yaml").write_text(PLAN.replace("min: 0.60", "min: 0.25"))
    lowering = ("amend", "lower.yaml", "--reason", "it is nearly there", "--yes")
    assert refused(shell, *lowering) == "fields-locked"

    again = shell.json("rebalance", "judge", "-o", "again.csv")
    assert (again["version"], again["rows"], again["left"]) == (2, 10, 0)
    drawn = [line.partition(",")[0] for line in (folder / "again.csv").read_text().splitlines()[1:]]
    old, new = (
        cases_of(PARADOX),
        cases_of({("low", "low"): 40, ("high", "high"): 10, ("low", "high"): 3}, 100),
    )
    asked = {**{each: old[each] for each in drawn}, **new}
    write_cases(folder / "cases2.csv", {**old, **new})
    write_labels(folder / "labels2.csv", asked)
    write_scores(folder / "scores2.csv", asked)
    for part in ("cases", "labels", "scores"):
        assert shell.lacre("commit", "judge", part, f"{part}2.csv").status == 0
    assert refused(shell, *lowering) == "fields-locked"

    passed = shell.lacre("run", "judge", "agreement")
    assert passed.status == 0
    told = " ".join(passed.out.split())
    assert "1 judge@6 truth 92 of 100 0.291" in told
    assert "2 this one truth 142 of 153" in told
    assert refused(shell, "rebalance", "judge", "-o", "more.csv") == "rebalances-spent"
    assert shell.json("audit")["findings"] == []


def test_a_stranger_has_all_of_it(begun: Shell, tmp_path: Path) -> None:
    """The bundle holds every version's files, and whoever has it computes both numbers again."""
    shell, folder = begun, begun.folder
    for part in ("cases", "labels", "scores"):
        assert shell.lacre("commit", "judge", part, f"{part}.csv").status == 0
    shell.lacre("run", "judge", "agreement")
    shell.lacre("rebalance", "judge", "-o", "again.csv")
    old, new = cases_of(PARADOX), cases_of({("low", "low"): 60}, 100)
    drawn = [line.partition(",")[0] for line in (folder / "again.csv").read_text().splitlines()[1:]]
    asked = {**{each: old[each] for each in drawn}, **new}
    shell.lacre("commit", "judge", "cases", str(write_cases(folder / "c.csv", {**old, **new})))
    shell.lacre("commit", "judge", "labels", str(write_labels(folder / "l.csv", asked)))
    shell.lacre("commit", "judge", "scores", str(write_scores(folder / "s.csv", asked)))
    result = shell.json("run", "judge", "agreement")
    assert shell.lacre("export", result["result"], "-o", "r.zip").status == 0
    stranger = tmp_path / "stranger"
    stranger.mkdir()
    shutil.copy(folder / "r.zip", stranger)
    ran = shell.lacre("verify", str(stranger / "r.zip"), "--json")
    assert ran.status == 0, ran.out
    assert json.loads(ran.out)["findings"] == []
