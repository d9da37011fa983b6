"""The verbs that give to strangers, and that strangers use: export, verify."""

from pathlib import Path

import click

from lacre.cli.command import Call, Example, option, passphrase_option, path_option, verb
from lacre.cli.exits import FINDING
from lacre.text import N_

verifier_key_option = option(
    "--key",
    metavar="VKEY",
    help=N_("Ask for the signature of this log key, NAME+HASH+KEY, which you have from elsewhere."),
)
memory_option = path_option(
    "--memory",
    multiple=True,
    metavar="FILE",
    help=N_("Hold it to a receipt, a checkpoint or a register's folder that was kept; as often as needed."),
)


@verb(
    "export",
    N_(
        "With -o, a bundle of the result STUDY@ENTRY: one zip with the whole log, the documents of the study, "
        "the result, a report and a signed manifest, which `lacre verify` checks with nothing else at hand. "
        "With --registry, the public register of the ledger: a C2SP tiled log that any web host can serve, "
        "with its documents and a folder for each study. It is written, or brought up to date if it is there; "
        "files in the folder that are no part of it stay.\n\nNames, reasons and other words that are on record "
        "go along, until they are erased. Nothing of a sealed pool does."
    ),
    [
        Example("lacre export credit-screen@5 -o r.zip", N_("A result, for somebody offline.")),
        Example(
            "lacre export credit-screen@5 -o r.zip --only-study",
            N_("Without what other studies put on record: completeness is not shown then."),
        ),
        Example("lacre export --registry registry", N_("The register, to be served or committed.")),
    ],
)
@click.argument("what", required=False)
@path_option("-o", "--output", metavar="FILE", help=N_("Write the bundle to FILE."))
@path_option("--registry", metavar="DIR", help=N_("Write or extend the public register in DIR."))
@option(
    "--only-study", is_flag=True, help=N_("Leave out the entries of other studies, but for their hashes.")
)
@option("--overwrite", is_flag=True, help=N_("Write over FILE if it is there."))
@passphrase_option
def export_verb(
    call: Call,
    what: str | None,
    output: Path | None,
    registry: Path | None,
    only_study: bool,
    overwrite: bool,
    passphrase_file: Path | None,
) -> int:
    """Write a bundle or the register."""
    from lacre.errors import ExportUnclear

    if (what is None) != (output is None) or (output is None) == (registry is None):
        raise ExportUnclear
    with call.ledger(passphrase_file) as ledger:
        if what is not None and output is not None:
            call.show(ledger.export(what, output, only_study=only_study, overwrite=overwrite))
        elif registry is not None:
            call.show(ledger.export_registry(registry))
    return 0


@verb(
    "verify",
    N_(
        "Needs no ledger and no network. The log's tree and checkpoint, the signatures, the law for the "
        "study, the documents and the manifest are checked, and the numbers of the result computed again from "
        "its own counts. It then says what this shows, and what it does not.\n\nThe exit status is 0 for a "
        "sound bundle, whatever its verdict, and 1 for a finding."
    ),
    [
        Example(
            "lacre verify r.zip --key example.org/log+1a2b3c4d+AbCd…",
            N_("Also ask whose log it is, by a key from elsewhere."),
        ),
        Example("lacre verify r.zip --memory registry", N_("Hold it to a register that was fetched before.")),
    ],
)
@click.argument("bundle", type=click.Path(path_type=Path))
@verifier_key_option
@memory_option
def verify_verb(call: Call, bundle: Path, key: str | None, memory: tuple[Path, ...]) -> int:
    """Check a bundle."""
    from lacre import api

    verified = api.verify(bundle, key=key, memory=memory)
    call.show(verified)
    return 0 if verified.ok else FINDING
