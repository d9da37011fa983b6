"""The verbs before any data: init, new, check, register."""

import os
from pathlib import Path

import click

from lacre.cli import screen
from lacre.cli.command import (
    Call,
    Example,
    accept_infeasible_option,
    option,
    passphrase_option,
    path_option,
    signing_options,
    verb,
)
from lacre.cli.receipts import receipt_file, receipt_option
from lacre.errors import ReceiptExists, printable
from lacre.text import N_, _


@verb(
    "init",
    N_(
        "The ledger is the folder .lacre, here or as --ledger says: a database, your keys, and later the "
        "sealed pools. Keys may be closed with a passphrase; without a terminal to ask on, none given "
        "means none.\n\nBeside your key stands a name, on record and in every export: your login name on this system, "
        "unless --name says another, or none with --name ''. It can be erased: `lacre erase @0 --which name`."
    ),
    [
        Example("lacre init", N_("A ledger in ./.lacre.")),
        Example(
            "lacre init --origin lab.example/bias --name 'Ana Lima'",
            N_("Say whose log it is, and who signs."),
        ),
        Example("lacre init --passphrase-file ~/.lacre-phrase", N_("Close the keys, without being asked.")),
    ],
)
@option(
    "--origin", metavar="NAME", help=N_("Name the log in its checkpoints (else lacre/ and eight digits).")
)
@option(
    "--name",
    metavar="PERSON",
    help=N_("Write PERSON beside the key that signs requests (else your login name; '' for none)."),
)
@passphrase_option
def init_verb(call: Call, origin: str | None, name: str | None, passphrase_file: Path | None) -> int:
    """Make a ledger."""
    from lacre import api
    from lacre.cli.passphrase import chosen

    passphrase = chosen(passphrase_file)
    with api.init(call.folder, origin=origin, name=name, passphrase=passphrase) as ledger:
        call.show(ledger.made)
    return 0


@verb(
    "new",
    N_(
        "Without a name, the templates there are. Each is valid as it stands and explains itself: change "
        "what is not yours, and ask `lacre check` about it.\n\n"
        "With --from, a protocol made from the block `fairness` of a YAML file: name, cases (a file, a table or "
        "a count), label and prediction (a column, or {column, positive, negative}), probability, attributes "
        "with their lists of values, intersections, min_cell, unit, calibration_bins, and rules of {id, rate, "
        "attribute, max_group_gap or worst_group, max_left_out}. A rate is error, false_positive (or fpr), "
        'false_negative (fnr) or selection; an attribute is one, or several as [a, b] or "a*b". What the file '
        "leaves open is assumed, marked in a comment and told; so is what a protocol does not hold."
    ),
    [
        Example("lacre new", N_("List the templates.")),
        Example("lacre new fairness > protocol.yaml", N_("Begin a protocol.")),
        Example(
            "lacre new fairness --from audit.yaml > protocol.yaml",
            N_("Make one from what another tool reads."),
        ),
    ],
)
@click.argument("name", required=False)
@path_option("--from", "source", metavar="FILE", help=N_("Make it from the block `fairness` of FILE."))
def new_verb(call: Call, name: str | None, source: Path | None) -> int:
    """Print a template, or list them; or print a protocol made from a file."""
    from lacre.protocol import templates

    if source is not None:
        return _import(call, name, source)
    if name is None:
        names = list(templates.names())
        call.say({"templates": names}, "\n".join(names))
    else:
        text = templates.read(name, call.language)
        call.say({"name": name, "text": text}, text)
    return 0


def _import(call: Call, name: str | None, source: Path) -> int:
    from lacre import api

    if name != "fairness":
        raise click.UsageError(
            _("--from makes a protocol of the kind fairness: `lacre new fairness --from FILE`.")
        )
    made = api.import_fairness(source, language=call.language)
    call.say(made.as_json(), str(made))
    if not call.as_json:
        told = [_("Assumed: {what}").format(what=each) for each in made.assumed]
        told += [_("Not carried over: {what}").format(what=each) for each in made.not_carried]
        screen.write_error("\n".join(map(printable, told)))
    return 0


@verb(
    "check",
    N_(
        "Problems are listed together, with line and column; what rests on a part that cannot be read is looked at "
        "once that part is mended. For each criterion it says whether it can pass and "
        "fail at all, and how many cases a group needs before even zero errors can pass; with rates to assume, "
        "also how likely it is to at the planned size, by simulation, and what size 80 % would take. Files, if "
        "given, are read as the protocol declares its tables: try it on cases that are no secret, or on predictions "
        "to come, which are read as a submission where a file holds none of the pool's own columns. Nothing is "
        "recorded, and no ledger is needed."
    ),
    [
        Example("lacre check protocol.yaml", N_("Is it valid, and can its criteria pass?")),
        Example("lacre check protocol.yaml tried.csv", N_("Does it fit a file of the form to come?")),
    ],
)
@click.argument("protocol", type=click.Path(path_type=Path))
@click.argument("files", nargs=-1)
def check_verb(call: Call, protocol: Path, files: tuple[str, ...]) -> int:
    """Check a protocol."""
    from lacre import api
    from lacre.cli.progress import bars

    with bars() as progress:
        checked = api.check(protocol, files, progress=progress)
    call.show(checked)
    return 0


@verb(
    "register",
    N_(
        "From here on the plan stands: its hash is signed and in the log, before any pool is sealed. The "
        "receipt proves to anyone, without this ledger, that the entry is in it; keep it where the ledger "
        "is not. A criterion of which PASS or FAIL is out of reach at the planned counts, whatever is found, is "
        "refused unless you say why it is kept."
    ),
    [
        Example("lacre register protocol.yaml", N_("Register, and keep the receipt in STUDY@ENTRY.receipt.")),
        Example(
            "lacre register protocol.yaml --receipt safe/triage.receipt", N_("Keep the receipt elsewhere.")
        ),
        Example(
            "lacre register protocol.yaml --accept-infeasible 'a pilot, for the rates'",
            N_("Keep a criterion that can never pass, and put on record why."),
        ),
    ],
)
@click.argument("protocol", type=click.Path(path_type=Path))
@receipt_option
@accept_infeasible_option
@signing_options
def register_verb(
    call: Call,
    protocol: Path,
    receipt: Path | None,
    accept_infeasible: str | None,
    passphrase_file: Path | None,
) -> int:
    """Register a protocol and keep its receipt."""
    from lacre.broker.register import load_protocol

    _name, plan = load_protocol(protocol)
    with receipt_file(receipt) as keep:
        with call.ledger(passphrase_file) as ledger:
            # A study that is registered already is refused as such, and not for the receipt it has.
            if plan.study not in {study.slug for study in ledger.status().studies}:
                _refuse_to_overwrite(receipt, plan.study)
            registered = ledger.register(protocol, accept_infeasible=accept_infeasible)
        path = keep(registered.study, registered.entry, registered.receipt)
    call.show_receipt(registered, path)
    return 0


def _refuse_to_overwrite(receipt: Path | None, study: str) -> None:
    # A study is registered once in a ledger, so any receipt of that name here is another ledger's.
    there = [receipt] if receipt is not None else sorted(Path().glob(f"{study}@*.receipt"))
    for path in there:
        if os.path.lexists(path):
            raise ReceiptExists(path=str(path))
