"""The verbs that read a pool's content: reveal, run."""

from collections.abc import Callable
from pathlib import Path
from typing import ParamSpec

import click

from lacre.cli.command import Call, Example, option, passphrase_option, path_option, verb
from lacre.text import N_

P = ParamSpec("P")


def _read_options(function: Callable[P, int]) -> Callable[P, int]:
    """Declare what every read may be asked with."""
    for decorate in (
        passphrase_option,
        option(
            "--reason",
            metavar="TEXT",
            help=N_("Put on record why the pool is read; the words can be erased."),
        ),
        path_option(
            "--protocol",
            metavar="FILE",
            help=N_("Refuse unless FILE is the protocol in force; show the difference."),
        ),
        option(
            "--dry-run",
            is_flag=True,
            help=N_("Check all that can be checked without reading, and stop there."),
        ),
        option(
            "--accept-exposure",
            is_flag=True,
            help=N_("Read even if that exposes cases of another study's sealed pool."),
        ),
        option(
            "--submission",
            multiple=True,
            metavar="FILE",
            help=N_("Predictions, as [SYSTEM:][TABLE=]FILE; once for each file."),
        ),
    ):
        function = decorate(function)
    return function


@verb(
    "reveal",
    N_(
        "The first read of teste is the one whose result is confirmatory. A later one must be asked for "
        "with --accept-dev, is on record, is exploratory, and makes teste a dev pool for good. All that "
        "can be checked beforehand is; a refusal there spends nothing. A reveal that crashed is finished "
        "by asking for it again.\n\nThe exit status is the verdict: 0 PASS, 1 FAIL, 3 "
        "INSUFFICIENT_EVIDENCE, 4 MANUAL_REVIEW."
    ),
    [
        Example("lacre reveal credit-screen --submission predictions.csv", N_("The one read of teste.")),
        Example(
            "lacre reveal credit-screen --submission predictions.csv --dry-run",
            N_("Would it work? Spends nothing."),
        ),
        Example(
            "lacre reveal two-screens --submission old:a.csv --submission new:b.csv",
            N_("Two systems, compared."),
        ),
    ],
)
@click.argument("study")
@option(
    "--accept-dev",
    is_flag=True,
    help=N_("Read although teste was read: exploratory, and teste is dev from then on."),
)
@_read_options
def reveal_verb(
    call: Call,
    *,
    study: str,
    accept_dev: bool,
    submission: tuple[str, ...],
    accept_exposure: bool,
    dry_run: bool,
    protocol: Path | None,
    reason: str | None,
    passphrase_file: Path | None,
) -> int:
    """Reveal teste."""
    with call.ledger(passphrase_file) as ledger:
        outcome = ledger.reveal(
            study,
            submission,
            accept_dev=accept_dev,
            accept_exposure=accept_exposure,
            dry_run=dry_run,
            protocol=protocol,
            reason=reason,
        )
    return call.show_read(outcome)


@verb(
    "run",
    N_(
        "On the pool the analysis is registered for, or on another with --pool, which is exploratory. "
        "teste is read by `lacre reveal` alone.\n\nThe exit status is the verdict: 0 PASS, 1 FAIL, 3 "
        "INSUFFICIENT_EVIDENCE, 4 MANUAL_REVIEW."
    ),
    [
        Example("lacre run credit-screen parity --pool dev --submission dev.csv", N_("Rehearse on dev.")),
        Example(
            "lacre run faces gap --submission predictions.csv", N_("An analysis registered on contraste.")
        ),
    ],
)
@click.argument("study")
@click.argument("analysis")
@option("--pool", metavar="POOL", help=N_("Read this pool (else the one the analysis is registered for)."))
@_read_options
def run_verb(
    call: Call,
    *,
    study: str,
    analysis: str,
    pool: str | None,
    submission: tuple[str, ...],
    accept_exposure: bool,
    dry_run: bool,
    protocol: Path | None,
    reason: str | None,
    passphrase_file: Path | None,
) -> int:
    """Run an analysis."""
    with call.ledger(passphrase_file) as ledger:
        outcome = ledger.run(
            study,
            analysis,
            submission,
            pool=pool,
            accept_exposure=accept_exposure,
            dry_run=dry_run,
            protocol=protocol,
            reason=reason,
        )
    return call.show_read(outcome)
