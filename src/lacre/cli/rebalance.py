"""The one remedy for a kappa paradox: rebalance."""

from pathlib import Path

import click

from lacre.cli.command import Call, Example, option, path_option, reason_option, signing_options, verb
from lacre.cli.exits import DONE
from lacre.text import N_


@verb(
    "rebalance",
    N_(
        "A kappa can fail although the two agree, where one bin holds nearly all cases. The answer is more "
        "cases, never a lower bar: under `remedies: [rebalance]`, on a result that flags the paradox, and "
        "`max_rebalances` times, the corpus of STUDY grows. Its next version holds the old cases and new "
        "ones; a tenth of the old ones, drawn by the registered seed, is labelled again; new labels come "
        "before new scores. Bins, bars, weights and dimensions stay, and every version's number is reported "
        "with every later one.\n\nThe drawn cases are written to FILE without labels. Given again before the "
        "labels are committed, it writes the same cases and puts nothing on record."
    ),
    [
        Example("lacre rebalance judge -o again.csv", N_("Begin the next version.")),
        Example("lacre rebalance judge -o again.csv --dry-run", N_("May it grow, and what would be drawn?")),
    ],
)
@click.argument("study")
@path_option("-o", "--output", metavar="FILE", required=True, help=N_("Write the drawn cases to FILE."))
@option("--overwrite", is_flag=True, help=N_("Write over FILE if it is there."))
@option("--dry-run", is_flag=True, help=N_("Say what would be done, and put nothing on record."))
@reason_option
@signing_options
def rebalance_verb(
    call: Call,
    /,
    *,
    study: str,
    output: Path,
    overwrite: bool,
    dry_run: bool,
    reason: str | None,
    passphrase_file: Path | None,
) -> int:
    """Let a corpus grow."""
    with call.ledger(passphrase_file) as ledger:
        call.show(ledger.rebalance(study, output, reason=reason, dry_run=dry_run, overwrite=overwrite))
    return DONE
