"""Fuzz readers, guided by coverage: ``python -m tests.fuzz READER… [-runs=N] [-max_total_time=SECONDS] [-seed=N]``.

A reader, a group of them, or `all`, one after the other; what begins with `-` is libFuzzer's own
(https://llvm.org/docs/LibFuzzer.html), but that a slow reader takes a part of the `-runs`. ``--list`` names the
readers. Without atheris (`pip install atheris`, for CPython on x86-64 Linux) the same examples are mutated at
random, blind to coverage.

Ends with 0, or with 1 when a reader met an input that it neither reads nor refuses; that is written to
``READER-crash-…`` in the current folder (or after what `-artifact_prefix` says), and ``--again READER FILE`` reads
it once more.
"""

import importlib
import os
import random
import shutil
import sys
import tempfile
import traceback
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

LIMITS: Mapping[str, str] = {
    "rss_limit_mb": "2048",
    "timeout": "20",
    "len_control": "0",
    "runs": "20000",
    "seed": "1",
    "artifact_prefix": "./",
}


def instrumented() -> Any:
    """Import all of lacre with its branches counted; return atheris, or None where there is none."""
    try:
        atheris = importlib.import_module("atheris")
    except ImportError:
        return None
    with atheris.instrument_imports(include=["lacre"]):
        for name in _modules():
            importlib.import_module(name)
    return atheris


def _modules() -> list[str]:
    root = Path(importlib.import_module("lacre").__file__ or "").parent
    found = (path.relative_to(root.parent).with_suffix("") for path in sorted(root.rglob("*.py")))
    return [".".join(path.parts) for path in found if path.stem not in {"__init__", "__main__"}]


def main(words: Sequence[str]) -> int:
    """Fuzz what the words name."""
    atheris = None if "--list" in words else instrumented()
    readers = importlib.import_module("tests.fuzz.readers")
    if "--list" in words:
        print("\n".join(f"{reader.group} {name}" for name, reader in readers.READERS.items()))
        return 0
    asked = [word for word in words if not word.startswith("-")]
    again = asked.pop() if "--again" in words else None
    chosen = {
        name: reader
        for name, reader in readers.READERS.items()
        if not {name, reader.group, "all"}.isdisjoint(asked)
    }
    if not chosen:
        print(__doc__, file=sys.stderr)
        return 2
    options = {**LIMITS, **dict(_option(word) for word in words if word[:1] == "-" and word[:2] != "--")}
    folder = Path(tempfile.mkdtemp(prefix="lacre-fuzz-"))
    os.environ["XDG_STATE_HOME"] = str(folder / "state")
    made = importlib.import_module("tests.fuzz.artefacts").make(folder)
    try:
        if again is not None:
            (reader,) = chosen.values()
            print(readers.attempt(reader.ready(made), Path(again).read_bytes()))
            return 0
        statuses = [
            _apart(lambda run=run: run.fuzz(atheris))  # type: ignore[misc]
            for run in (_Run(name, reader, made, readers.attempt, options) for name, reader in chosen.items())
        ]
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    failed = [name for name, status in zip(chosen, statuses, strict=True) if status]
    print(f"{len(chosen)} readers, failed: {', '.join(failed) or 'none'}", file=sys.stderr)
    return 1 if failed else 0


def _option(word: str) -> tuple[str, str]:
    name, _mark, value = word[1:].partition("=")
    return name, value


def _apart(fuzz: Callable[[], object]) -> int:
    """Call `fuzz` in a child, which libFuzzer ends as it likes."""
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        try:
            fuzz()
        except BaseException:  # noqa: BLE001 - the child's last door: its parent's clean-up is not its own
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    _pid, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


class _Run:
    """One reader being fuzzed."""

    def __init__(self, name: str, reader: Any, made: Any, attempt: Any, options: Mapping[str, str]) -> None:
        self._name = name
        self._reader = reader
        self._made = made
        self._attempt = attempt
        runs = int(options["runs"])
        self._options = {
            **options,
            "runs": str(max(runs // reader.cost, 1) if runs > 0 else runs),
            "max_len": str(reader.most),
            "artifact_prefix": f"{options['artifact_prefix']}{name}-",
        }

    def fuzz(self, atheris: Any) -> None:
        read = self._reader.ready(self._made)
        seeds = [bytes(seed) for seed in self._reader.seeds(self._made)]
        print(f"== {self._name}: {len(seeds)} seeds", file=sys.stderr, flush=True)

        def one(data: bytes) -> None:
            try:
                self._attempt(read, data)
            except BaseException:
                Path(f"{self._options['artifact_prefix']}crash-{sha256(data).hexdigest()[:16]}").write_bytes(
                    data
                )
                raise

        for seed in seeds:
            one(seed)
        if atheris is None:
            self._blindly(one, seeds)
            return
        corpus = self._made.folder / "corpus" / self._name
        corpus.mkdir(parents=True)
        for number, seed in enumerate(seeds):
            (corpus / f"{number:04d}").write_bytes(seed)
        given = [f"-{name}={value}" for name, value in self._options.items()]
        atheris.Setup(["tests.fuzz", *given, str(corpus)], one)
        atheris.Fuzz()

    def _blindly(self, one: Callable[[bytes], None], seeds: Sequence[bytes]) -> None:
        chance = random.Random(int(self._options["seed"]))
        for _run in range(int(self._options["runs"])):
            one(_mutated(chance, seeds)[: self._reader.most])


def _mutated(chance: random.Random, seeds: Sequence[bytes]) -> bytes:
    data = bytearray(chance.choice(seeds))
    for _time in range(chance.randint(1, 8)):
        at = chance.randrange(len(data) + 1)
        match chance.randrange(4):
            case 0:
                data[at : at + 1] = bytes([chance.randrange(256)])
            case 1:
                del data[at : at + chance.randint(1, 64)]
            case 2:
                other = chance.choice(seeds)
                start = chance.randrange(len(other) + 1)
                data[at:at] = other[start : start + chance.randint(1, 64)]
            case _:
                data[at:at] = chance.choice([b"\0", b"\x1b[2J", b"\n", b'"', b"[" * 200, b"9" * 40, b"\xff"])
    return bytes(data)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
