"""The verbs that read a pool's content: calibrate, reveal, run, gate."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ParamSpec

import click

from lacre.cli.command import Call, Example, identity_option, option, path_option, signing_options, verb
from lacre.cli.exits import DONE
from lacre.errors import RequestCarriesAll, StudyNotNamed
from lacre.text import N_

P = ParamSpec("P")


def _read_options(function: Callable[P, int]) -> Callable[P, int]:
    """Declare what every read may be asked with."""
    for decorate in (
        signing_options,
        identity_option,
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
            "--submission",
            multiple=True,
            metavar="FILE",
            help=N_("Predictions, as [SYSTEM:][TABLE=]FILE; once for each file."),
        ),
    ):
        function = decorate(function)
    return function


exposure_option = option(
    "--accept-exposure",
    is_flag=True,
    help=N_("Read even if that exposes cases of another study's sealed pool."),
)


@verb(
    "calibrate",
    N_(
        "Reads dev and sets each registered threshold by its rule; value, rule, n and interval are frozen in an entry, "
        "and every later analysis goes by it. Repeat it for as long as nothing was revealed with it: after a read of "
        "teste whose analyses use a threshold, to calibrate it anew makes teste dev, and is asked for with "
        "--accept-burn."
    ),
    [
        Example("lacre calibrate faces --submission dev-scores.csv", N_("All thresholds of the plan.")),
        Example("lacre calibrate faces detector --submission faces=dev-scores.csv", N_("One of them.")),
    ],
)
@click.argument("study")
@click.argument("thresholds", nargs=-1)
@option("--accept-burn", is_flag=True, help=N_("Calibrate although that makes teste a dev pool for good."))
@exposure_option
@_read_options
def calibrate_verb(
    call: Call, /, *, study: str, thresholds: tuple[str, ...], passphrase_file: Path | None, **asked: Any
) -> int:
    """Freeze thresholds."""
    with call.ledger(passphrase_file) as ledger:
        call.show(ledger.calibrate(study, asked.pop("submission"), thresholds=thresholds, **asked))
    return DONE


@verb(
    "reveal",
    N_(
        "The first read of teste is the one whose result is confirmatory. A later one must be asked for "
        "with --accept-dev, is on record, is exploratory, and makes teste a dev pool for good. All that "
        "can be checked beforehand is; a refusal there spends nothing. A reveal that crashed is finished "
        "by asking for it again.\n\nWhere somebody else can open the pool, --request-out writes what you ask "
        "for, signed, to a file, and reads nothing; they answer it with --request, in this same ledger: "
        "with --ledger on a folder that both of you reach, never on a copy, which would fork the log. The submission "
        "travels in it, encrypted to them; anybody can read what else is in it.\n\nThe exit status is the verdict: 0 "
        "PASS, 1 FAIL, 3 INSUFFICIENT_EVIDENCE, 4 MANUAL_REVIEW."
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
        Example(
            "lacre reveal credit-screen --submission p.csv --request-out ask.lacre",
            N_("Ask the custodian, who can open it."),
        ),
        Example(
            "lacre reveal --request ask.lacre --identity custodian.txt", N_("The custodian reads it for you.")
        ),
    ],
)
@click.argument("study", required=False)
@option(
    "--accept-dev",
    is_flag=True,
    help=N_("Read although teste was read: exploratory, and teste is dev from then on."),
)
@path_option(
    "--request-out",
    metavar="FILE",
    help=N_("Read nothing; write a signed request to FILE, for whoever can open the pool."),
)
@option("--overwrite", is_flag=True, help=N_("Write over the FILE of --request-out if it exists."))
@path_option(
    "--request",
    metavar="FILE",
    help=N_("Answer the request in FILE, as it was signed; with --dry-run look at it."),
)
@exposure_option
@_read_options
def reveal_verb(call: Call, /, *, study: str | None, passphrase_file: Path | None, **asked: Any) -> int:
    """Reveal teste, or ask for it, or answer who does."""
    identity = asked.pop("identity")
    request, output, overwrite = (asked.pop(name) for name in ("request", "request_out", "overwrite"))
    if request is not None:
        _refuse_beside({**asked, "request_out": output, "overwrite": overwrite})
    elif study is None:
        raise StudyNotNamed(verb="reveal")
    with call.ledger(passphrase_file) as ledger:
        if request is not None:
            looked = {name: asked[name] for name in ("dry_run", "protocol")}
            return call.show_read(ledger.answer_reveal(request, study=study, identity=identity, **looked))
        assert study is not None
        if output is not None:
            call.show(
                ledger.request_reveal(study, asked.pop("submission"), output, overwrite=overwrite, **asked)
            )
            return DONE
        return call.show_read(ledger.reveal(study, asked.pop("submission"), identity=identity, **asked))


def _refuse_beside(asked: Mapping[str, Any]) -> None:
    """Refuse what a signed request says itself."""
    options = [f"--{name.replace('_', '-')}" for name, value in asked.items() if value]
    beside = [option for option in options if option not in {"--dry-run", "--protocol"}]
    if beside:
        raise RequestCarriesAll(options=", ".join(sorted(beside)))


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
@option("--rung", metavar="ID", help=N_("Run this mitigation by training, once the earlier ones ran."))
@exposure_option
@_read_options
def run_verb(
    call: Call,
    *,
    study: str,
    analysis: str,
    pool: str | None,
    rung: str | None,
    submission: tuple[str, ...],
    accept_exposure: bool,
    dry_run: bool,
    protocol: Path | None,
    reason: str | None,
    identity: tuple[Path, ...],
    passphrase_file: Path | None,
) -> int:
    """Run an analysis."""
    with call.ledger(passphrase_file) as ledger:
        outcome = ledger.run(
            study,
            analysis,
            submission,
            pool=pool,
            rung=rung,
            accept_exposure=accept_exposure,
            dry_run=dry_run,
            protocol=protocol,
            reason=reason,
            identity=identity,
        )
    return call.show_read(outcome)


@verb(
    "gate",
    N_(
        "Runs all analyses of guarda and answers verdicts alone: no value, bound or count leaves it. The plan says how "
        "often it may be asked, and each read spends its share of the error rate; how many are left is shown. A "
        "release passes only if every criterion does.\n\nThe exit status is the verdict: 0 PASS, 1 FAIL, 3 "
        "INSUFFICIENT_EVIDENCE, 4 MANUAL_REVIEW; whatever is not 0 is a veto."
    ),
    [
        Example("lacre gate faces --submission candidate.csv", N_("May this release go out?")),
        Example(
            "lacre gate faces --submission candidate.csv --dry-run", N_("Would it work? Spends nothing.")
        ),
    ],
)
@click.argument("study")
@_read_options
def gate_verb(call: Call, /, *, study: str, passphrase_file: Path | None, **asked: Any) -> int:
    """Ask guarda."""
    with call.ledger(passphrase_file) as ledger:
        return call.show_read(ledger.gate(study, asked.pop("submission"), **asked))
