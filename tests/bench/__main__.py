"""Measure, and print a table: `python -m tests.bench [STAGE…] [--json]`, from the root of the project.

Every figure stands beside a peer's that was measured in the same run, since machines differ and drift. The exit status
is 1 if a ratio is on the wrong side of its bar.
"""

import json
import platform
import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module

import click
from rich.console import Console
from rich.table import Table
from tests.bench.measured import Measured

STAGES: Mapping[str, Callable[[], Measured | list[Measured]]] = {
    name: lambda name=name: import_module(f"tests.bench.{name}").run()  # type: ignore[misc]
    for name in (
        "helping",
        "append",
        "auditing",
        "sealing",
        "gate",
        "targets",
        "pairs",
        "paired_bootstrap",
        "dyads",
        "judge_kappa",
    )
}
"""Each in a file of its own; a stage to come joins by its name."""
HEADERS = ("measured", "lacre", "peer", "ratio", "bar", "the peer")


@click.command()
@click.argument("stages", nargs=-1, type=click.Choice(list(STAGES)))
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def main(stages: tuple[str, ...], as_json: bool) -> None:
    """Measure the STAGES, by default all of them, and hold the ratios against their bars."""
    found: list[Measured] = []
    for name in stages or STAGES:
        click.echo(f"{name} …", err=True)
        made = STAGES[name]()
        found += [made] if isinstance(made, Measured) else made
    if as_json:
        click.echo(
            json.dumps({"machine": _machine(), "measured": [each.as_json() for each in found]}, indent=1)
        )
    else:
        _print(found)
    sys.exit(0 if all(each.met for each in found) else 1)


def _machine() -> str:
    return f"Python {platform.python_version()}, {platform.system()} {platform.machine()}"


def _print(found: Iterable[Measured]) -> None:
    table = Table(*HEADERS, title=_machine(), box=None)
    for each in found:
        table.add_row(*each.row())
    Console(width=150, highlight=False, markup=False).print(table)


if __name__ == "__main__":
    main()
