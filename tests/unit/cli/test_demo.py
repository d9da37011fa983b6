"""The demo as it is typed: it ends well, leaves nothing behind, and tells the same to programs."""

from pathlib import Path

import pytest

from .conftest import Lacre


def test_the_demo_reads_from_the_plan_to_the_audit(lacre: Lacre, tmp_path: Path) -> None:
    answer = lacre("demo")
    assert (answer.status, answer.err) == (0, "")
    text = " ".join(answer.out.replace("│", " ").split())
    places = [
        text.index(said)
        for said in (
            "$ lacre init",
            "$ lacre register protocol.yaml",
            "is not sealed yet",
            "$ lacre seal compas teste cases.csv",
            "max_group_gap: 0.05 -> 0.3",
            "compas@4 FAIL",
            # Clopper-Pearson at 1 - 0.05/2, as in the published statistics of this score
            "805 of 1795 44.8 % 42.2–47.5 %",
            "349 of 1488 23.5 % 21.0–26.0 %",
            "add --accept-dev",
            "compas@6 FAIL",
            "Exploratory",
            "dev, since entry 5",
            "$ lacre audit --ledger tampered",
            "findings",
            "$ lacre audit compas@4 --memory compas@1.receipt",
            "Audit: sound",
            "The story of compas@4",
            "What this shows, and what it does not",
        )
    ]
    assert places == sorted(places)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_the_demo_fits_the_terminal(lacre: Lacre, monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    answer = lacre("demo")
    assert answer.status == 0
    assert max(len(line) for line in answer.out.splitlines()) <= width


def test_the_demo_is_one_document_for_programs(lacre: Lacre) -> None:
    answer = lacre("demo", "--json")
    assert answer.status == 0
    steps = answer.document["demo"]
    assert [step["error"]["code"] for step in steps if step["error"]] == [
        *("pool-not-sealed", "protocol-not-in-force", "teste-already-read"),
    ]
    by_command = {step["command"]: step["outcome"] for step in steps if step["outcome"]}
    assert by_command["lacre audit --ledger tampered"]["ok"] is False
    assert by_command["lacre audit compas@4 --memory compas@1.receipt"]["ok"] is True


def test_the_demo_can_be_kept_and_looked_around_in(lacre: Lacre) -> None:
    kept = lacre("demo", "--keep", "tour")
    assert kept.status == 0
    assert "lacre status --ledger tour" in kept.out
    assert lacre("show", "compas@4", "--ledger", "tour").out.startswith("compas@4  FAIL")
    assert lacre("audit", "--ledger", "tour").status == 0
    again = lacre("demo", "--keep", "tour", "--json")
    assert (again.status, again.document["error"]["code"]) == (2, "folder-taken")
