"""The verb that looks for leaks: scan."""

from pathlib import Path

import click

from lacre.cli.command import Call, Example, option, passphrase_option, verb
from lacre.cli.exits import DONE, FINDING
from lacre.text import N_


@verb(
    "scan",
    N_(
        "Source, notebooks, logs, tables, archives and names of files are looked through for ids, digests and contents "
        "of the pools that are to stay unseen. Each PATH is a file or a folder; without one it is the folder here. It "
        "goes by fingerprints: no pool is read, nothing is put on record, and places and counts are told, never "
        "content.\n\nThe exit status is 1 if something was found, so that it can stand in a repository's checks."
    ),
    [
        Example("lacre scan .", N_("The files here.")),
        Example("lacre scan --history .", N_("And every version of them that git knows.")),
        Example("lacre scan src notebooks --exclude '*.parquet'", N_("Two folders, without some files.")),
    ],
)
@click.argument("paths", metavar="[PATH]...", nargs=-1, type=click.Path(path_type=Path))
@option("--history", is_flag=True, help=N_("Look through the git history, too."))
@option("--study", metavar="STUDY", help=N_("Look for the pools of one study alone."))
@option(
    "--exclude",
    multiple=True,
    metavar="PATTERN",
    help=N_("Leave out files and folders whose path or name is like PATTERN; as often as needed."),
)
@passphrase_option
def scan_verb(
    call: Call,
    /,
    *,
    paths: tuple[Path, ...],
    history: bool,
    study: str | None,
    exclude: tuple[str, ...],
    passphrase_file: Path | None,
) -> int:
    """Look for leaks."""
    with call.ledger(passphrase_file) as ledger:
        scanned = ledger.scan(*paths, history=history, study=study, exclude=exclude)
    call.show(scanned)
    return DONE if scanned.ok else FINDING
