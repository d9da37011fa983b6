"""The verbs that look and change nothing: status, log, show, audit."""

from pathlib import Path

import click

from lacre.cli import screen
from lacre.cli.command import Call, Example, option, path_option, verb
from lacre.cli.exits import FINDING
from lacre.cli.give import memory_option, verifier_key_option
from lacre.errors import UsageError
from lacre.text import N_, _


@verb(
    "status",
    N_("Each study with its pools: what each counts as now, its reads and results, and what comes next."),
    [
        Example("lacre status", N_("The ledger here.")),
        Example("lacre status --ledger /srv/audit/.lacre", N_("Another.")),
    ],
)
def status_verb(call: Call) -> int:
    """Show where things stand."""
    with call.ledger() as ledger:
        status = ledger.status()
    call.show(status)
    return 0


@verb(
    "log",
    N_("One line for each entry: when, which study, who asked, and what happened."),
    [Example("lacre log", N_("All entries.")), Example("lacre log credit-screen", N_("Those of a study."))],
)
@click.argument("study", required=False)
def log_verb(call: Call, study: str | None) -> int:
    """List entries."""
    with call.ledger() as ledger:
        log = ledger.log(study)
    call.show(log)
    return 0


@verb(
    "show",
    N_(
        "WHAT is a study, a result as STUDY@ENTRY, or an entry as @ENTRY or its number; without it, the "
        "whole ledger. With --deviations it is the table of a study's deviations that a paper needs: what "
        "departed from the plan, when, why, and what was known then."
    ),
    [
        Example("lacre show credit-screen", N_("A study: its plan, pools, reads and entries.")),
        Example("lacre show credit-screen@5", N_("A result, as when it was first told.")),
        Example("lacre show @3", N_("An entry: its signed bytes and what they say.")),
        Example(
            "lacre show credit-screen --deviations --format csv > deviations.csv",
            N_("A study's deviations, as a table."),
        ),
    ],
)
@click.argument("what", required=False)
@option("--deviations", is_flag=True, help=N_("Show the table of a study's deviations."))
@option(
    "--format",
    "form",
    type=click.Choice(["text", "markdown", "csv"]),
    help=N_("Write the table of deviations so (else text)."),
)
def show_verb(call: Call, *, what: str | None, deviations: bool, form: str | None) -> int:
    """Show a study, a result or an entry."""
    if deviations:
        return _show_deviations(call, what, form)
    if form is not None:
        raise UsageError(why=_("--format is for --deviations."), verb="show")
    with call.ledger() as ledger:
        shown = ledger.show(what)
    call.show(shown)
    return 0


def _show_deviations(call: Call, study: str | None, form: str | None) -> int:
    if study is None:
        raise UsageError(why=_("--deviations needs the name of a study."), verb="show")
    with call.ledger() as ledger:
        table = ledger.deviations(study)
    if call.as_json or form in {None, "text"}:
        call.show(table)
    else:
        screen.write(table.markdown() if form == "markdown" else table.csv())
    return 0


@verb(
    "audit",
    N_(
        "Signatures, tree, law and results are checked from the entries' bytes alone, and against what "
        "this machine remembers; the broker's word counts for nothing but what a stranger cannot recheck, "
        "and that is marked. With STUDY@ENTRY it tells the history of that result.\n\nThe exit status is 0 "
        "for a sound history, whatever the verdicts in it, and 1 for a finding."
    ),
    [
        Example("lacre audit", N_("The whole ledger.")),
        Example("lacre audit credit-screen@5", N_("The story of a result.")),
        Example(
            "lacre audit --memory credit-screen@1.receipt",
            N_("Hold it to a receipt that was kept elsewhere."),
        ),
        Example(
            "lacre audit --registry registry",
            N_("A published register, as a stranger does: without a ledger."),
        ),
    ],
)
@click.argument("what", required=False)
@path_option("--registry", metavar="DIR", help=N_("Audit the public register in DIR, and no ledger."))
@verifier_key_option
@memory_option
def audit_verb(
    call: Call, what: str | None, registry: Path | None, key: str | None, memory: tuple[Path, ...]
) -> int:
    """Audit the ledger."""
    from lacre import api

    # Not by opening the ledger first: one that cannot be opened is a finding too.
    report = api.audit(call.folder, what, registry=registry, key=key, memory=memory)
    call.show(report)
    return 0 if report.ok else FINDING
