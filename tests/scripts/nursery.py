"""Real processes of `lacre`, many at once: nursery.py, with a list of jobs as one JSON document on standard input.

lacre and what it reads tables and computes with are imported once, here; every call is then a process of its own,
forked from this one, with its own standard output and error (files). All jobs begin at the same moment: each first
call waits for the end of a pipe whose other end this process lets go of when the last of them is there.

A job is `{"name", "calls": [[word…]…], "until_done": bool, "folder"}`. One call is made after the other; with
`until_done` they begin again until every job without it has ended. On standard output stands one line of JSON for
each call: `{"job", "words", "status", "out", "err"}`.
"""

import importlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lacre.cli import main

WARM = (
    "lacre.api",
    "lacre.audit.audit",
    "lacre.broker.erase",
    "lacre.broker.erratum",
    "lacre.broker.keys",
    "lacre.broker.reveal",
    "lacre.broker.run",
    "lacre.broker.seal",
    "lacre.cli.change",
    "lacre.cli.give",
    "lacre.cli.keep",
    "lacre.cli.keys",
    "lacre.cli.look",
    "lacre.cli.plan",
    "lacre.cli.pools",
    "lacre.cli.reads",
    "lacre.publish.bundle",
    "lacre.publish.register",
    "lacre.report.json",
    "scipy.stats",
)
Job = dict[str, Any]
PAUSE = 0.2  # seconds, after each call of a job that goes on and on; the others want to get ahead, too


def called(words: list[str], folder: str) -> tuple[int, str, str]:
    """Make one call in a process of its own; return its wait status and what it wrote."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = os.fork()
        if child == 0:
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(out.fileno(), 1)
            os.dup2(err.fileno(), 2)
            sys.stdin, sys.stdout, sys.stderr = (
                os.fdopen(n, mode) for n, mode in ((0, "r"), (1, "w"), (2, "w"))
            )
            os.chdir(folder)
            status = 99
            try:
                status = main(words)
            finally:  # whatever came out of `main`, this process is not to go on as its parent
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(status)
        _child, ended = os.waitpid(child, 0)
        return os.waitstatus_to_exitcode(ended), _text(out.fileno()), _text(err.fileno())


def _text(handle: int) -> str:
    return os.pread(handle, os.fstat(handle).st_size, 0).decode()


def rounds(job: Job, done: Path) -> Iterator[list[str]]:
    """The calls of a job, for as long as it makes them."""
    while True:
        yield from job["calls"]
        if not job["until_done"] or done.exists():
            return


def work(job: Job, gate: int, done: Path, into: Path) -> None:
    """Wait at the gate, then make a job's calls."""
    os.read(gate, 1)
    with into.open("w") as file:
        for words in rounds(job, done):
            status, out, err = called(words, job["folder"])
            if job["until_done"]:
                time.sleep(PAUSE)
            line = {"job": job["name"], "words": words, "status": status, "out": out, "err": err}
            file.write(json.dumps(line) + "\n")


def race(jobs: list[Job], folder: Path) -> None:
    """Let all jobs begin at once, and wait for all of them."""
    gate, open_gate = os.pipe()
    done = folder / "done"
    working: dict[int, Job] = {}
    for number, job in enumerate(jobs):
        child = os.fork()
        if child == 0:
            os.close(open_gate)
            try:
                work(job, gate, done, folder / str(number))
            finally:
                os._exit(0)
        working[child] = job
    os.close(open_gate)
    while working:
        del working[os.wait()[0]]
        if all(job["until_done"] for job in working.values()):
            done.touch()
    for number in range(len(jobs)):
        sys.stdout.write((folder / str(number)).read_text())


if __name__ == "__main__":
    for module in WARM:
        importlib.import_module(module)
    with tempfile.TemporaryDirectory() as scratch:
        race(json.load(sys.stdin), Path(scratch))
