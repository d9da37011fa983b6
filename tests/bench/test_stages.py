"""Every stage of the measuring runs, on little: what it would show of speed is not looked at here."""

import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from tests.bench.__main__ import HEADERS
from tests.bench.measured import Measured

LITTLE: dict[str, dict[str, Any]] = {
    "helping": {"rounds": 1},
    "append": {"entries": 40, "appends": 3},
    "auditing": {"entries": 40, "rounds": 1},
    "sealing": {"size": 3 << 20, "rounds": 1, "rows": 500},
    "gate": {"rows": 4000},
    "targets": {"size": 200_000, "rounds": 1},
    "pairs": {"items": 500, "variants": 4, "rounds": 1, "peer_pairs": 2},
    "paired_bootstrap": {"items": 500, "resamples": 1000, "rounds": 1},
    "judge_kappa": {"sizes": (200,), "resamples": 1000, "rounds": 1, "peer_resamples": 5},
    "dyads": {"comparisons": 4000, "subjects": 60, "resamples": 100, "rounds": 1},
}


@pytest.mark.parametrize("stage", LITTLE)
def test_a_stage_measures_both_in_one_run(stage: str) -> None:
    run: Callable[..., Measured | list[Measured]] = import_module(f"tests.bench.{stage}").run
    made = run(**LITTLE[stage])
    measured = [made] if isinstance(made, Measured) else made
    for each in measured:
        # Memory is what may not have grown: a few pages are there already.
        assert each.ours > 0 or each.unit == "MiB"
        assert each.theirs is None or each.theirs > 0
        assert len(each.row()) == len(HEADERS)
    assert any(each.bar is not None for each in measured)


@pytest.mark.parametrize(
    ("ratio", "at_least", "met"),
    [(0.36, True, True), (0.34, True, False), (0.36, False, False), (0.34, False, True), (None, True, True)],
)
def test_a_bar_has_two_sides(ratio: float | None, at_least: bool, met: bool) -> None:
    line = Measured("x", "s", 1, "peer", 2, ratio, 0.35, at_least)
    assert line.met is met
    assert ("MISSED" in "".join(line.row())) is not met


def test_the_command_knows_every_stage() -> None:
    here = Path(__file__).resolve().parents[2]
    ran = subprocess.run(
        [sys.executable, "-m", "tests.bench", "--help"], cwd=here, capture_output=True, text=True, check=True
    )
    printed = "".join(ran.stdout.split())  # The usage is broken within words.
    assert all(stage in printed for stage in LITTLE)
    written = {path.stem for path in Path(__file__).parent.glob("*.py")}
    assert written - {"__main__", "measured", "ledgers", "test_stages"} == set(LITTLE)
