"""How long `lacre --help` takes as a process, beside a click program of one command, and what it imports."""

import subprocess
import sys
from importlib.metadata import version
from statistics import median
from time import perf_counter

from tests.bench.measured import Measured

BAR = 2.0
BARE = """
import click

@click.command()
@click.option("--name")
def main(name):
    "A program of one command."

main()
"""


def run(rounds: int = 15) -> Measured:
    """Call both in turn, `rounds` times, after one call that is not counted; the pairs' median ratio is told."""
    ours, theirs = [], []
    for _round in range(rounds + 1):
        ours.append(_seconds("-m", "lacre", "--help"))
        theirs.append(_seconds("-c", BARE, "--help"))
    pairs = [mine / other for mine, other in zip(ours[1:], theirs[1:], strict=True)]
    return Measured(
        "lacre --help", "s", median(ours[1:]), f"click {version('click')}: one bare command", median(theirs[1:]),
        median(pairs), BAR, at_least=False,
    )  # fmt: skip


def _seconds(*words: str) -> float:
    started = perf_counter()
    subprocess.run([sys.executable, *words], check=True, capture_output=True)
    return perf_counter() - started
