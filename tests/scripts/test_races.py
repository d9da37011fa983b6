"""Many processes ask for the one reveal at once."""

import json
from typing import Any

import pytest

Shell = Any
PROCESSES = 24


@pytest.mark.slow
@pytest.mark.parametrize("accept_dev", [False, True], ids=["plain", "accept-dev"])
def test_one_of_many_reveals_is_the_first(shell: Shell, accept_dev: bool) -> None:
    words = [*shell.seal_small(), *(["--accept-dev"] if accept_dev else [])]
    processes = [shell.start(*words) for _ in range(PROCESSES)]
    ended = [(process, *process.communicate(timeout=300)) for process in processes]
    documents = [json.loads(out) for _process, out, _err in ended]
    classes = sorted(d["standing"] for d in documents if "standing" in d)
    refusals = [d["error"]["code"] for d in documents if "error" in d]
    if accept_dev:
        assert classes == ["dev"] * (PROCESSES - 1) + ["teste"], refusals
        numbers = sorted(d["read"] for d in documents)
        assert numbers == list(range(1, PROCESSES + 1))
    else:
        assert classes == ["teste"]
        assert len(refusals) == PROCESSES - 1
        assert set(refusals) <= {"teste-already-read", "read-in-progress"}
    assert {p.returncode for p, _out, _err in ended} <= {0, 2, 3}
    reads = [line for line in shell.json("log")["history"] if line["kind"] == "read"]
    assert len(reads) == (PROCESSES if accept_dev else 1), "every read is on record, and no refusal is one"
    audit = shell.json("audit")
    assert (audit["ok"], audit["findings"]) == (True, [])
