"""The verbs that seal a pool and hand out what may be predicted on: seal, inputs."""

from pathlib import Path

import click

from lacre.cli.command import Call, Example, option, passphrase_option, path_option, verb
from lacre.text import N_


@verb(
    "seal",
    N_(
        "Give all the tables of the pool in one call, as [TABLE=]FILE; the prefix may be left out where "
        "the pool has one table, and a table in several files is named once for each. The files are "
        "checked against the protocol and against every other pool, encrypted, and committed to in the "
        "log. Your own copies stay where they are."
    ),
    [
        Example("lacre seal credit-screen teste cases.csv", N_("A pool of one table.")),
        Example("lacre seal faces teste images=images.csv faces=boxes.parquet", N_("A pool of two.")),
        Example(
            "lacre seal credit-screen teste seen.csv --as-dev",
            N_("Cases that were seen can still serve as dev."),
        ),
    ],
)
@click.argument("study")
@click.argument("pool")
@click.argument("files", nargs=-1, required=True, metavar="[TABLE=]FILE...")
@option("--as-dev", is_flag=True, help=N_("Let the pool count as dev from the start."))
@passphrase_option
def seal_verb(
    call: Call,
    *,
    study: str,
    pool: str,
    files: tuple[str, ...],
    as_dev: bool,
    passphrase_file: Path | None,
) -> int:
    """Seal a pool."""
    with call.ledger(passphrase_file) as ledger:
        sealed = ledger.seal(study, pool, files, as_dev=as_dev)
    call.show(sealed)
    return 0


@verb(
    "inputs",
    N_(
        "What is written are the key and the columns that the protocol marks `is: input`, never a label. "
        "It is a read and goes on record, but it spends nothing: teste stays teste."
    ),
    [
        Example("lacre inputs credit-screen teste -o to-predict.csv", N_("Ids and inputs of teste.")),
        Example("lacre inputs faces teste -o images.csv --table images", N_("One table of several.")),
    ],
)
@click.argument("study")
@click.argument("pool")
@path_option("-o", "--output", required=True, metavar="FILE", help=N_("Write to FILE, which must not exist."))
@option("--table", metavar="TABLE", help=N_("Take this table (needed where the pool has several)."))
@option("--overwrite", is_flag=True, help=N_("Write over FILE if it exists."))
@option("--reason", metavar="TEXT", help=N_("Put on record why; the words can be erased."))
@passphrase_option
def inputs_verb(
    call: Call,
    *,
    study: str,
    pool: str,
    output: Path,
    table: str | None,
    overwrite: bool,
    reason: str | None,
    passphrase_file: Path | None,
) -> int:
    """Write a pool's inputs."""
    with call.ledger(passphrase_file) as ledger:
        written = ledger.inputs(study, pool, output, table=table, overwrite=overwrite, reason=reason)
    call.show(written)
    return 0
