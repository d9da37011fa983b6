"""The verb that writes a result as a page for people: report."""

from pathlib import Path

import click

from lacre.cli.command import Call, Example, option, path_option, verb
from lacre.text import N_


@verb(
    "report",
    N_(
        "Writes the result STUDY@ENTRY as one HTML file: the verdict and why, every stratum drawn and in a table, "
        "custody and its limits, history, and the plan. The file needs nothing else: no network, no scripts, no "
        "fonts. It reads in light and dark, on a phone, printed, and by a screen reader. The same ledger gives "
        "the same bytes.\n\nIt proves nothing by itself: for a stranger who is to check the result, there is "
        "`lacre export`."
    ),
    [
        Example("lacre report credit-screen@5 -o report.html", N_("A result, to be read or printed.")),
        Example(
            "lacre report credit-screen@5 -o report.html --overwrite",
            N_("Again, after something was put on record."),
        ),
    ],
)
@click.argument("what")
@path_option("-o", "--output", required=True, metavar="FILE", help=N_("Write the page to FILE."))
@option("--overwrite", is_flag=True, help=N_("Write over FILE if it is there."))
def report_verb(call: Call, what: str, output: Path, *, overwrite: bool) -> int:
    """Write a result as HTML."""
    with call.ledger() as ledger:
        written = ledger.report(what, output, overwrite=overwrite)
    call.show(written)
    return 0
