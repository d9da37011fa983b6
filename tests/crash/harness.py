"""Points of crash: the shim built, the zygote started, states prepared, and one point after the other tried."""

import base64
import json
import os
import shutil
import struct
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.crash.study import CELL, SAID, write_given
from tests.crash.verbs import STATES, Verb
from tests.secrets.canaries import forms

HERE = Path(__file__).parent
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
_HEAD = struct.Struct("<cbQqIII")


@dataclass(frozen=True, slots=True)
class Call:
    """A call as the shim kept it: what it was, of which inode, at which offset or of which size, and its paths."""

    op: str
    file: int
    number: int
    one: str
    two: str
    data: bytes


def read_log(log: bytes) -> list[Call]:
    """The calls of a log."""
    calls, place = [], 0
    while place < len(log):
        op, _done, file, number, one, two, size = _HEAD.unpack_from(log, place)
        place += _HEAD.size
        parts = [log[place : place + one], log[place + one : place + one + two]]
        place += one + two
        paths = [os.fsdecode(part) for part in parts]
        calls.append(Call(op.decode(), file, number, paths[0], paths[1], log[place : place + size]))
        place += size
    return calls


@dataclass(frozen=True)
class Harness:
    """A zygote, and the folder in which it works."""

    process: "subprocess.Popen[str]"
    folder: Path

    @classmethod
    def begin(cls, shim: Path, folder: Path) -> "Harness":
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("LACRE_", "XDG_"))}
        environment = {**kept, **dict.fromkeys(THREADS, "1"), "LD_PRELOAD": str(shim), "LC_ALL": "C.UTF-8"}
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.crash.zygote", str(shim)],
            cwd=HERE.parents[1],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        return cls(process, folder)

    def end(self) -> None:
        self.process.communicate(timeout=60)

    def ask(self, what: str, root: Path, **fields: Any) -> dict[str, Any]:
        """Have the zygote do something; its answer."""
        asked = {"do": what, "root": str(root), **fields}
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(asked) + "\n")
        self.process.stdin.flush()
        said: dict[str, Any] = json.loads(self.process.stdout.readline())
        assert "failed" not in said, said["failed"]
        return said

    def state(self, name: str) -> Path:
        """The folder with a ledger in this state, made when it is first asked for."""
        place = self.folder / "states" / name
        if place.exists():
            return place
        state = STATES[name]
        if state.after is None:
            for part in ("work", "state", "tmp"):
                (place / part).mkdir(parents=True)
            write_given(place / "given")
            return place
        shutil.copytree(self.state(state.after), place)
        for call in state.calls:
            first, path = call[0], place / "work" / call[1:]
            if first == "-":
                path.unlink()
                continue
            if first in "=~":
                kept = path.with_name(f"{path.name}-kept")
                if first == "=":
                    shutil.copytree(path, kept)
                else:
                    shutil.rmtree(path)
                    kept.rename(path)
                continue
            said = self.ask("call", place, words=call.split())
            assert said["status"] in {0, 1, 3, 4}, f"{call}: {said}"
        return place

    def whole(self, verb: Verb) -> dict[str, Any]:
        """A verb that nothing happens to, given once: what it does, and what is there `before`."""
        found = self.point(verb, "count", 0, again=False)
        return {**found, "before": self.ask("look", self.state(verb.start))}

    @property
    def place(self) -> Path:
        """Where points are tried."""
        return self.folder / "point"

    def examine(self, verb: Verb) -> dict[str, Any]:
        """Look at what lies in `place`, and give the verb again."""
        return self.ask("examine", self.place, **self._asked(verb))

    def _asked(self, verb: Verb) -> dict[str, Any]:
        return {
            "again": [*verb.words.split(), "--json"],
            "then": [*verb.then.split(), "--json"] if verb.then else [],
            "gone": verb.gone,
            "needles": [form.hex() for word in (CELL, SAID) for form in forms(word)],
        }

    def point(self, verb: Verb, mode: str, at: int, *, again: bool = True) -> dict[str, Any]:
        """Try a verb from its start, with something done to its call number `at`; and then again."""
        asked = self._asked(verb)
        found = self.ask(
            "point",
            self.place,
            start=str(self.state(verb.start)),
            words=asked["again"],
            mode=mode,
            at=at,
            **(asked if again else {**asked, "again": []}),
        )
        log = read_log(base64.b64decode(found.pop("log")))
        return {**found, "log": log, "marks": [each.one for each in log if each.op == "#"]}

    def points(self, verb: Verb, mode: str, whole: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Every point of a verb in one mode, those left out that leave what another one leaves."""
        calls = [call for call in whole["log"] if call.op != "#"]
        for at in range(1, len(calls) + 1):
            if goes_on(calls[:at]) and not verb.every:
                continue
            if _is_like_another(mode, calls[at - 1], calls[at - 2] if at > 1 else None):
                continue
            found = self.point(verb, mode, at)
            if not found["same"]:
                assert found["fired"], f"{verb.words}: {mode} at {at} was not reached"
                yield {**found, "at": at, "mode": mode}


def goes_on(calls: Sequence[Call]) -> bool:
    """Whether the last of the calls is the third write, or a later one, of a run of writes to one file.

    All of them write pages of SQLite's journal, or of its database: code that is the same in every verb.
    """
    run = calls[-3:]
    return len(run) == 3 and {each.op for each in run} == {"w"} and len({each.file for each in run}) == 1


def _is_like_another(mode: str, call: Call, before: Call | None) -> bool:
    """What can be told from the run that nothing happened to; of the rest, the shim tells it."""
    if mode == "kill":
        return before is not None and before.op == "s"  # a flush changes nothing that is seen
    if mode == "torn":
        return len(call.data) < 2  # as if killed before the next
    if mode == "kept":
        return call.op == "s"  # flushed or not, it looks the same
    return mode == "full" and call.op not in "owml"  # as if full from the next on
