"""kill -9 in the middle of a reveal: nothing is unrecorded, nothing lies in the open, and the same call finishes."""

import json
import random
import time
from pathlib import Path
from typing import Any

import pytest

Shell = Any
CANARY = "canario-4711-no-lacre"


def _plain_places(*folders: Path) -> list[Path]:
    """The files that hold the canary in the open."""
    files = (path for folder in folders for path in folder.rglob("*") if path.is_file())
    return [path for path in files if CANARY.encode() in path.read_bytes()]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_a_killed_reveal_is_finished_by_the_same_call(shell: Shell, seed: int) -> None:
    call = shell.seal_small(f"{CANARY}-")
    (shell.folder / "cases.csv").unlink()
    draw = random.Random(seed)
    for _ in range(3):
        process = shell.start(*call)
        time.sleep(draw.uniform(0.2, 2.0))
        process.kill()
        process.communicate()
        assert shell.json("audit")["findings"] == []
    last = shell.lacre(*call)
    document = json.loads(last.out)
    assert last.status == 0 or document["error"]["code"] == "teste-already-read"
    history = shell.json("log")["history"]
    results = [entry for entry in history if entry["kind"] == "result"]
    assert len(results) == 1
    shown = shell.json("show", f"small@{results[0]['entry']}")
    assert (shown["standing"], shown["read"], shown["confirmatory"]) == ("teste", 1, True)
    assert shell.json("audit")["ok"] is True
    assert _plain_places(shell.folder, Path(shell.environment["XDG_STATE_HOME"])) == []
