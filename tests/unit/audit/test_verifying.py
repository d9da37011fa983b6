"""Signatures verified here, and in a process beside this one: the same is found either way."""

import hashlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from lacre.audit.verifying import Verifying
from lacre.ledger.envelope import PAYLOAD_ENTRY, Envelope, Signature
from lacre.ledger.keys import PrivateKey

Start = Callable[..., "subprocess.Popen[bytes]"]
COUNT = 300
WRONG = (0, 7, 123, 299)


def key(number: int) -> PrivateKey:
    return PrivateKey.from_seed(hashlib.sha256(b"%d" % number).digest())


def expect_all(work: Verifying) -> None:
    """Expect `COUNT` signatures of three keys, those in `WRONG` of a fourth that made none."""
    for number in range(COUNT):
        signed = Envelope.sign(PAYLOAD_ENTRY, b"%d" % number * (number + 1), [key(number % 3)])
        wanted = key(9 if number in WRONG else number % 3)
        work.expect(signed, wanted.public.raw.hex(), "signature-wrong", number)


def found(many: int) -> list[int | None]:
    with closing(Verifying(many)) as work:
        expect_all(work)
        return [each.entry for each in work.check()]


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Iterator[list["subprocess.Popen[bytes]"]]:
    """The processes that are started, on a machine of two processors."""
    processes: list[subprocess.Popen[bytes]] = []
    start: Start = subprocess.Popen

    def begin(*words: Any, **options: Any) -> "subprocess.Popen[bytes]":
        processes.append(start(*words, **options))
        return processes[-1]

    monkeypatch.setattr(subprocess, "Popen", begin)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _process: {0, 1})
    yield processes
    for process in processes:
        assert process.poll() is not None, "no process is left behind"


def test_a_few_are_verified_here(started: list[Any]) -> None:
    assert found(many=COUNT + 1) == list(WRONG)
    assert started == []


@pytest.mark.parametrize("many", [1, 100, COUNT])
def test_many_are_verified_beside(started: list[Any], many: int) -> None:
    assert found(many) == list(WRONG)
    assert len(started) == 1
    assert started[0].returncode == 0


def test_one_processor_has_no_room_beside(started: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _process: {1})
    assert found(many=1) == list(WRONG)
    assert started == []


@pytest.mark.parametrize("program", ["", "/there/is/no/such/python"])
def test_without_a_python_to_start_all_is_verified_here(
    monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _process: {0, 1})
    monkeypatch.setattr(sys, "executable", program)
    assert found(many=1) == list(WRONG)


@pytest.mark.parametrize(
    "answer",
    [
        "import sys; sys.stdin.buffer.read(); print(0)",
        f"import sys; sys.stdin.buffer.read(); print({COUNT}); sys.exit(3)",
        "import sys; sys.stdin.buffer.read()",
        "pass",
        "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
        "print('no number')",
        f"import sys; sys.stdin.buffer.read(); print({COUNT}); print('9' * 5000)",
        f"import sys; sys.stdin.buffer.read(); print({COUNT}); print({COUNT})",
        f"import sys; sys.stdin.buffer.read(); print({COUNT}); print(7); print(0)",
    ],
)
def test_whoever_does_not_answer_for_all_is_not_believed(
    monkeypatch: pytest.MonkeyPatch, answer: str
) -> None:
    start: Start = subprocess.Popen

    def other(_words: Any, *more: Any, **options: Any) -> "subprocess.Popen[bytes]":
        return start([sys.executable, "-c", answer], *more, **options)

    monkeypatch.setattr(subprocess, "Popen", other)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _process: {0, 1})
    assert found(many=1) == list(WRONG)


def test_a_process_killed_midway_is_replaced_by_this_one(started: list[Any]) -> None:
    with closing(Verifying(10)) as work:
        expect_all(work)
        started[0].send_signal(signal.SIGKILL)
        assert [each.entry for each in work.check()] == list(WRONG)


def test_it_runs_this_code_and_none_that_stands_in_its_way(
    started: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A package of the same name, in the folder one audits in and on a path that is relative to it."""
    for place in (tmp_path, tmp_path / "src"):
        (place / "lacre" / "audit").mkdir(parents=True)
        (place / "lacre" / "__init__.py").touch()
        (place / "lacre" / "audit" / "__init__.py").touch()
        other = (
            f"import sys\ndef answer_all():\n    sys.stdin.buffer.read()\n    print({COUNT})\nanswer_all()\n"
        )
        (place / "lacre" / "audit" / "verifying.py").write_text(other)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", "src:.")
    assert found(many=1) == list(WRONG)
    assert started[0].returncode == 0


def test_an_audit_that_ends_early_leaves_no_process(started: list[Any]) -> None:
    with closing(Verifying(10)) as work:
        expect_all(work)
        assert started[0].poll() is None


def test_an_envelope_that_bears_the_signature_second_is_signed(started: list[Any]) -> None:
    """The process beside looks at the first signature alone; whichever fits counts, as in `Envelope.verify`."""
    one, other = key(1), key(2)
    both = Envelope.sign(PAYLOAD_ENTRY, b"both", [one, other])
    mixed = Envelope(
        PAYLOAD_ENTRY, b"both", (Signature(both.signatures[0].keyid, bytes(64)), both.signatures[1])
    )
    with closing(Verifying(1)) as work:
        work.expect(both, other.public.raw.hex(), "signature-wrong", 1)
        work.expect(mixed, other.public.raw.hex(), "signature-wrong", 1)
        assert list(work.check()) == []
    assert len(started) == 1


def test_it_begins_without_what_only_the_rest_needs() -> None:
    """The process is beside the walk from its first signatures on only if it is up in little time."""
    loaded = "import sys, lacre.audit.verifying; print([m for m in sys.argv[1:] if m in sys.modules])"
    heavy = ["sqlalchemy", "pydantic", "numpy", "pandas", "scipy"]
    ran = subprocess.run([sys.executable, "-c", loaded, *heavy], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
