"""The verbs of sealed pools: seal; inputs, which hands out what may be predicted on; rewrap."""

from pathlib import Path

import click

from lacre.cli.command import (
    Call,
    Example,
    identity_option,
    option,
    path_option,
    reason_option,
    signing_options,
    verb,
)
from lacre.text import N_


@verb(
    "seal",
    N_(
        "Give all the tables of the pool in one call, as [TABLE=]FILE; the prefix may be left out where "
        "the pool has one table, and a table in several files is named once for each. The files are "
        "checked against the protocol and against every other pool, encrypted, and committed to in the "
        "log. Your own copies stay where they are.\n\nWho can open the pool are the recipients, as age has them; "
        "without one named, this ledger's own. Sealed to somebody else's alone, it can only be read by them, or "
        "with their identity, once you delete your own copies. Until its first read a pool can be replaced by other "
        "files, on the record."
    ),
    [
        Example("lacre seal credit-screen teste cases.csv", N_("A pool of one table.")),
        Example("lacre seal faces teste images=images.csv faces=boxes.parquet", N_("A pool of two.")),
        Example(
            "lacre seal credit-screen teste seen.csv --as-dev",
            N_("Cases that were seen can still serve as dev."),
        ),
        Example(
            "lacre seal credit-screen teste c.csv --recipient age1… --recipient age1…",
            N_("To a custodian, and to whoever keeps the spare key."),
        ),
        Example(
            'lacre seal credit-screen teste c.csv --replace --reason "wrong export"',
            N_("Another file in the place of one that nobody has read."),
        ),
    ],
)
@click.argument("study")
@click.argument("pool")
@click.argument("files", nargs=-1, required=True, metavar="[TABLE=]FILE...")
@option("--as-dev", is_flag=True, help=N_("Let the pool count as dev from the start."))
@option(
    "--recipient",
    "recipients",
    multiple=True,
    metavar="age1…",
    help=N_("Let the holder of this recipient open it; once for each (else the ledger's own alone)."),
)
@option(
    "--replace",
    is_flag=True,
    help=N_("Take the place of what is sealed, unread; its recipients stay unless others are named."),
)
@reason_option
@signing_options
def seal_verb(
    call: Call,
    *,
    study: str,
    pool: str,
    files: tuple[str, ...],
    as_dev: bool,
    recipients: tuple[str, ...],
    replace: bool,
    reason: str | None,
    passphrase_file: Path | None,
) -> int:
    """Seal a pool."""
    with call.ledger(passphrase_file) as ledger:
        sealed = ledger.seal(
            study, pool, files, as_dev=as_dev, recipients=recipients, replace=replace, reason=reason
        )
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
@reason_option
@identity_option
@signing_options
def inputs_verb(
    call: Call,
    *,
    study: str,
    pool: str,
    output: Path,
    table: str | None,
    overwrite: bool,
    reason: str | None,
    identity: tuple[Path, ...],
    passphrase_file: Path | None,
) -> int:
    """Write a pool's inputs."""
    with call.ledger(passphrase_file) as ledger:
        written = ledger.inputs(
            study, pool, output, table=table, overwrite=overwrite, reason=reason, identity=identity
        )
    call.show(written)
    return 0


@verb(
    "rewrap",
    N_(
        "The keys of the pool, of the submissions kept beside it and of its errata are wrapped to the new "
        "recipients, which takes an identity that opens them now. The old wrapped keys stay: whoever could open "
        "the pool before, and kept a copy of them, still can."
    ),
    [
        Example("lacre rewrap credit-screen teste --recipient age1…", N_("Hand it to somebody else.")),
        Example(
            "lacre rewrap faces teste --recipient age1… --identity old.txt",
            N_("By whoever holds it now."),
        ),
    ],
)
@click.argument("study")
@click.argument("pool")
@option(
    "--recipient",
    "recipients",
    multiple=True,
    required=True,
    metavar="age1…",
    help=N_("Let the holder of this recipient open it; once for each. They take the place of all before."),
)
@reason_option
@identity_option
@signing_options
def rewrap_verb(
    call: Call,
    *,
    study: str,
    pool: str,
    recipients: tuple[str, ...],
    reason: str | None,
    identity: tuple[Path, ...],
    passphrase_file: Path | None,
) -> int:
    """Hand a pool to other recipients."""
    with call.ledger(passphrase_file) as ledger:
        handed = ledger.rewrap(study, pool, recipients, identity=identity, reason=reason)
    call.show(handed)
    return 0
