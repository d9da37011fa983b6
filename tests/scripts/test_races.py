"""32 processes ask for the one reveal at the same moment, while others seal, amend, look and audit.

A verb to come joins by a line in `MEANWHILE`.
"""

import itertools
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests import four_pools

from lacre.rules.answers import ReadDecision
from lacre.rules.record import Answered, Recorded, Result, parse_entry
from lacre.store.engine import open_ledger
from lacre.store.memory import Memory
from lacre.store.reader import snapshot

Shell = Any
NURSERY = Path(__file__).with_name("nursery.py")
ROOT = Path(__file__).resolve().parents[2]
PROCESSES = 32
FEW = 4
"""As many again from nothing: each an interpreter of its own."""

MEANWHILE: dict[str, list[str]] = {
    "seal": [f"seal sealed-{n} teste sealed-{n}.csv" for n in (1, 2, 3)],
    "replace": [f"seal replaced teste replaced-{n}.csv --replace --reason again" for n in (2, 1)],
    "register": [f"register new-{n}.yaml" for n in (1, 2, 3)],
    "amend": [f"amend changed-{n}.yaml --reason again --yes" for n in (2, 1)],
    "deviate": ["deviate small words", "deviate changed words"],
    "withdraw": ["withdraw gone --reason over --yes"],
    "inputs": [f"inputs small teste -o inputs-{n}.csv" for n in (1, 2, 3)],
    "rewrap": ["rewrap handed teste --recipient {recipient}"],
    "erase": ["erase @0 --which name --yes"],
    "enrol": ["key enrol {public} --role registrant --name Ana", "key revoke {public} --reason gone"],
    "rotate": ["key rotate log", "key rotate broker"],
    "calibrate": ["calibrate faces detector --submission dev-scores.csv"] * 2,
    "draw": ["sample faces faces frame.csv -o again.csv"],
    "commit": ["sample faces --relabel faces -o more.csv", "commit faces relabels again-labelled.csv"],
    "gate": ["gate faces --submission good.csv"] * 2,
}
"""What other processes write meanwhile, each line of the table in one job; every call is one process."""
LOOKS = {
    "audit": ["audit"],
    "audit-study": ["audit small", "recover --dry-run"],
    "look": ["status", "log", "show small", "key list"],
    "export": ["export --registry registry", "audit --registry registry"],
}
"""What others do over and over until the last reveal has ended."""

READS = ("reveal", "gate")
"""The verbs whose entries are two, a read and its result, of which they tell the latter."""
LOOKS_FIRST = ("calibrate", "commit")
"""The verbs whose entries are two, a read and what it is for, and which tell both."""


@dataclass(frozen=True)
class Called:
    """One process: the job that it belonged to, what was asked, and how it ended."""

    job: str
    words: Sequence[str]
    status: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        loaded: dict[str, Any] = json.loads(self.out)
        return loaded

    @property
    def refusal(self) -> str | None:
        """The code it was refused with, if it was."""
        error = self.document.get("error")
        return None if error is None else str(error["code"])


def job(shell: Shell, name: str, lines: Iterable[str], *, until_done: bool = False) -> dict[str, Any]:
    calls = [[*line.split(), "--json"] for line in lines]
    return {"name": name, "calls": calls, "until_done": until_done, "folder": str(shell.folder)}


def race(shell: Shell, jobs: Sequence[dict[str, Any]]) -> list[Called]:
    """Let the jobs begin at one moment, and return every call they made."""
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", str(NURSERY)],
        input=json.dumps(jobs),
        env={**shell.environment, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=500,
        check=True,
    )
    assert ran.stderr == ""
    return [Called(**json.loads(line)) for line in ran.stdout.splitlines()]


@pytest.fixture
def raced(shell: Shell) -> tuple[Shell, dict[str, str]]:
    """A ledger with `small` sealed and unread, and with what the others need; and what their lines name."""
    shell.seal_small()
    for name in ("sealed-1", "sealed-2", "sealed-3", "replaced", "handed", "changed", "gone"):
        shell.json("register", shell.write_other(name))
    for name in ("new-1", "new-2", "new-3"):
        shell.write_other(name)
    shell.json("seal", "replaced", "teste", shell.write_cases("replaced-1"))
    shell.json("seal", "handed", "teste", shell.write_cases("handed"))
    for name in ("replaced-2", "sealed-1", "sealed-2", "sealed-3"):
        shell.write_cases(name)
    plan = (shell.folder / "changed.yaml").read_text()
    (shell.folder / "changed-1.yaml").write_text(plan)
    (shell.folder / "changed-2.yaml").write_text(plan.replace("title: ", "title: Other "))
    _four_pools(shell)
    named = {
        "public": shell.json("key", "new", "ana.pem")["public"],
        "recipient": shell.json("key", "new", "custodian.txt", "--identity")["recipient"],
    }
    return shell, named


def _four_pools(shell: Shell) -> None:
    """A study of all four pools: drawn, sealed, and handed out to be labelled again."""
    four_pools.write_ahead(shell.folder)
    (shell.folder / "again.csv").rename(shell.folder / "again-labelled.csv")
    shell.json("register", "faces.yaml")
    shell.json("sample", "faces", "faces", "frame.csv", "-o", "drawn.csv")
    for pool, *files in four_pools.SEALS:
        shell.json("seal", "faces", pool, *files)
    shell.json("sample", "faces", "--relabel", "faces", "-o", "blank.csv")


@pytest.mark.slow
@pytest.mark.parametrize("accept_dev", [False, True], ids=["plain", "accept-dev"])
def test_one_of_32_reveals_is_the_first_whatever_others_do(
    raced: tuple[Shell, dict[str, str]], accept_dev: bool
) -> None:
    shell, named = raced
    before = shell.json("status")["entries"]
    reveal = "reveal small --submission predictions.csv" + (" --accept-dev" if accept_dev else "")
    reveals = [job(shell, "reveal", [reveal]) for _ in range(PROCESSES)]
    writers = [
        job(shell, name, [line.format(**named) for line in lines]) for name, lines in MEANWHILE.items()
    ]
    looks = [job(shell, name, lines, until_done=True) for name, lines in LOOKS.items()]
    # Whoever comes first at the gate is not always a reveal.
    jobs = [*itertools.chain(*itertools.zip_longest(reveals, writers, looks))]
    called = race(shell, [each for each in jobs if each is not None])
    _no_accident(called)
    _one_is_the_first([each for each in called if each.job == "reveal"], accept_dev=accept_dev)
    _looked_well([each for each in called if each.job in LOOKS])
    for each in called:
        if each.job in MEANWHILE:
            assert each.status == 0, (each.words, each.out)
    _all_on_record(shell, called, before)


@pytest.mark.slow
@pytest.mark.parametrize("accept_dev", [False, True], ids=["plain", "accept-dev"])
def test_so_it_is_among_interpreters_of_their_own(shell: Shell, accept_dev: bool) -> None:
    words = [*shell.seal_small(), *(["--accept-dev"] if accept_dev else [])]
    processes = [shell.start(*words) for _ in range(FEW)]
    ended = [(process, *process.communicate(timeout=300)) for process in processes]
    called = [Called("reveal", words, process.returncode, out, err) for process, out, err in ended]
    _no_accident(called)
    _one_is_the_first(called, accept_dev=accept_dev)
    _all_on_record(shell, called, 3)


def _no_accident(called: Sequence[Called]) -> None:
    """One document on standard output and nothing beside it: no traceback, no lock, no fault of lacre's own."""
    for each in called:
        assert each.err == "", each.words
        assert each.status in {0, 1, 2, 3, 4}, (each.words, each.status, each.out)
        assert each.document
        for word in ("is locked", "Traceback", "rolled back", "forked"):
            assert word not in each.out, each.words


def _one_is_the_first(reveals: Sequence[Called], *, accept_dev: bool) -> None:
    count = len(reveals)
    classes = Counter(each.document.get("standing") for each in reveals)
    refusals = {each.refusal for each in reveals} - {None}
    if accept_dev:
        assert classes == {"teste": 1, "dev": count - 1}, refusals
        assert sorted(each.document["read"] for each in reveals) == list(range(1, count + 1))
    else:
        assert classes == {"teste": 1, None: count - 1}
        assert refusals <= {"teste-already-read", "read-in-progress"}
    (first,) = (each.document for each in reveals if each.document.get("standing") == "teste")
    assert (first["read"], first["confirmatory"], first["state"]) == (1, True, "PASS")


def _looked_well(looks: Sequence[Called]) -> None:
    """No audit found anything, and none warned: the memory raised no false alarm."""
    for each in looks:
        assert each.status == 0, (each.words, each.out)
        if each.words[0] == "audit":
            assert (each.document["ok"], each.document["findings"]) == (True, [])
            warned = {one["code"] for one in each.document["warnings"]}
            assert warned == ({"authenticity-not-shown"} if "--registry" in each.words else set())
    for name in LOOKS:
        assert [each for each in looks if each.job == name], f"{name} was never asked"


def _all_on_record(shell: Shell, called: Sequence[Called], before: int) -> None:
    """Every entry that a process spoke of is there, and there is no other: of a result, its read's comes with it."""
    entries = _entries(shell)
    told: list[int] = []
    for each in called:
        document = each.document
        if "result" in document and each.words[0] in READS:
            entry = int(document["result"].partition("@")[2])
            content = entries[entry].content
            assert isinstance(content, Result)
            read = entries[content.read].content
            assert isinstance(read, Answered)
            assert isinstance(read.decision, ReadDecision)
            assert (read.decision.read_class, read.decision.number) == (
                document["standing"],
                document["read"],
            )
            told += [content.read, entry]
        elif each.status == 0 and "entry" in document:
            told.append(document["entry"])
            if each.words[0] in LOOKS_FIRST:
                told.append(document["read"])
    assert sorted(told) == list(range(before, len(entries)))
    report, status = shell.json("audit"), shell.json("status")
    assert (report["ok"], report["findings"], report["warnings"]) == (True, [], [])
    known = Memory(Path(shell.environment["XDG_STATE_HOME"]) / "lacre").remembered(status["genesis"])
    assert known is not None
    assert (known.size, known.root.hex()) == (len(entries), status["root"])


def _entries(shell: Shell) -> list[Recorded]:
    engine = open_ledger(shell.folder / ".lacre" / "ledger.db")
    with snapshot(engine) as reader:
        entries = [parse_entry(stored.index, stored.envelope) for stored in reader.entries()]
    engine.dispose()
    return entries
