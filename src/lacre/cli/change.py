"""The verbs that change a study, all of it on record: amend, deviate, withdraw, erratum."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lacre.cli.asks import sure
from lacre.cli.command import (
    Call,
    Example,
    accept_infeasible_option,
    identity_option,
    option,
    path_option,
    required_reason_option,
    signing_options,
    verb,
    yes_option,
)
from lacre.cli.receipts import receipt_file, receipt_option
from lacre.errors import NotReadable, ReceiptExists, UsageError, WordsMissing
from lacre.text import N_, _

if TYPE_CHECKING:
    from lacre.broker.outcomes import AmendmentPlanned
    from lacre.rules.state import StudyState

MOST_BYTES = 1_000_000  # of words in a file: far more than are kept


@verb(
    "amend",
    N_(
        "PROTOCOL is the new plan, whole; the study is the one it names. What it changes is shown field by "
        "field, with what had been read by then, and you are asked. Before the first read of teste nothing is "
        "lost. After it, an amendment of anything that an analysis of teste uses makes teste a dev pool for "
        "good, which takes --accept-burn or your yes; its title, question or language, or an analysis of "
        "another pool, burn nothing. Earlier results stand as they were reported."
    ),
    [
        Example(
            "lacre amend protocol.yaml --reason 'a column was misnamed' --dry-run", N_("What would it do?")
        ),
        Example("lacre amend protocol.yaml --reason 'a column was misnamed'", N_("Show it, ask, and amend.")),
        Example(
            "lacre amend protocol.yaml --reason 'the bar was wrong' --yes --accept-burn",
            N_("Amend unasked, even if teste is burnt by it."),
        ),
    ],
)
@click.argument("protocol", type=click.Path(path_type=Path))
@required_reason_option
@option("--accept-burn", is_flag=True, help=N_("Amend even if that makes a pool dev that was read."))
@accept_infeasible_option
@option("--dry-run", is_flag=True, help=N_("Show what it would do, and stop there."))
@yes_option
@receipt_option
@signing_options
def amend_verb(
    call: Call,
    *,
    protocol: Path,
    reason: str,
    accept_burn: bool,
    accept_infeasible: str | None,
    dry_run: bool,
    yes: bool,
    receipt: Path | None,
    passphrase_file: Path | None,
) -> int:
    """Amend a study."""
    from lacre.broker.outcomes import Amended

    if dry_run:
        with call.ledger(passphrase_file) as ledger:
            call.show(
                ledger.amend(protocol, reason=reason, accept_infeasible=accept_infeasible, dry_run=True)
            )
        return 0

    def ask(planned: "AmendmentPlanned") -> bool:
        if not planned.burns:
            return sure(_("Amend it?"), verb="amend", option="--yes", about=planned)
        pools = ", ".join(planned.burns)
        question = _("Amend it, and make {pools} dev for good?").format(pools=pools)
        needed = "--yes" if accept_burn else "--yes --accept-burn"
        return sure(question, verb="amend", option=needed, about=planned)

    if receipt is not None and os.path.lexists(receipt):
        raise ReceiptExists(path=str(receipt))
    with receipt_file(receipt) as keep:
        with call.ledger(passphrase_file) as ledger:
            amended = ledger.amend(
                protocol,
                reason=reason,
                accept_burn=accept_burn,
                accept_infeasible=accept_infeasible,
                confirm=None if yes else ask,
            )
        assert isinstance(amended, Amended)
        path = keep(amended.study, amended.entry, amended.receipt)
    call.show_receipt(amended, path)
    return 0


@verb(
    "deviate",
    N_(
        "WHAT is a study, or one of its entries or results as STUDY@ENTRY. A deviation is words: what happened "
        "otherwise than planned, and why. It is shown wherever the study, or that result, is shown from then on, "
        "with what had been read when it was said, and it changes nothing else."
    ),
    [
        Example("lacre deviate credit-screen 'Two clinics joined late.'", N_("About a study.")),
        Example("lacre deviate credit-screen@5 --file note.txt", N_("About a result, from a file.")),
    ],
)
@click.argument("what")
@click.argument("text", required=False)
@path_option(
    "--file", metavar="FILE", help=N_("Read the words from FILE, or from standard input if it is -.")
)
@signing_options
def deviate_verb(
    call: Call, *, what: str, text: str | None, file: Path | None, passphrase_file: Path | None
) -> int:
    """Put a deviation on record."""
    if text is not None and file is not None:
        raise UsageError(why=_("The words are given twice, as TEXT and with --file."), verb="deviate")
    words = _from(file) if file is not None else text
    if words is None:
        raise WordsMissing(verb="deviate")
    with call.ledger(passphrase_file) as ledger:
        call.show(ledger.deviate(what, words))
    return 0


def _from(file: Path) -> str:
    from lacre.durable import read_given

    if str(file) == "-":
        body, name = sys.stdin.buffer.read(MOST_BYTES + 1), _("standard input")
    else:
        body, name = read_given(file, most=MOST_BYTES), str(file)
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise NotReadable(path=name, why=_("it is not text in UTF-8")) from None


@verb(
    "withdraw",
    N_(
        "Nothing more is registered, sealed or read in a withdrawn study, and nothing of it goes away: it is "
        "listed as withdrawn for ever, with its entries, its results and why. You are asked first."
    ),
    [Example("lacre withdraw credit-screen --reason 'consent was taken back'", N_("End a study."))],
)
@click.argument("study")
@required_reason_option
@yes_option
@signing_options
def withdraw_verb(call: Call, *, study: str, reason: str, yes: bool, passphrase_file: Path | None) -> int:
    """Withdraw a study."""

    def ask(known: "StudyState") -> bool:
        question = _("Withdraw {study} for ever?").format(study=known.slug)
        return sure(question, verb="withdraw", option="--yes")

    with call.ledger(passphrase_file) as ledger:
        call.show(ledger.withdraw(study, reason=reason, confirm=None if yes else ask))
    return 0


@verb(
    "erratum",
    N_(
        "For labels that turned out to be wrong. The submission of the result STUDY@ENTRY is scored again, by "
        "the same analyses, on corrected tables: give each that changed, whole, as [TABLE=]FILE, with the cases "
        "it was sealed with and nothing changed but labels. It is a read, and exploratory: who corrects labels has "
        "seen what they gave. Both numbers stand side by side from then on.\n\nBeing exploratory, it never reads PASS: "
        "a criterion that is met is INSUFFICIENT_EVIDENCE. The exit status is the verdict: 1 FAIL, 3 "
        "INSUFFICIENT_EVIDENCE, 4 MANUAL_REVIEW."
    ),
    [
        Example(
            "lacre erratum credit-screen@5 corrected.csv --reason 'two forms swapped'",
            N_("Score the same submission on corrected labels."),
        )
    ],
)
@click.argument("what")
@click.argument("files", nargs=-1, required=True, metavar="[TABLE=]FILE...")
@required_reason_option
@identity_option
@signing_options
def erratum_verb(
    call: Call,
    *,
    what: str,
    files: tuple[str, ...],
    reason: str,
    identity: tuple[Path, ...],
    passphrase_file: Path | None,
) -> int:
    """Score a result again."""
    with call.ledger(passphrase_file) as ledger:
        outcome = ledger.erratum(what, files, reason=reason, identity=identity)
    return call.show_read(outcome)
