"""The verbs about keys, `lacre key …`, and `erase`."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from lacre.cli.asks import sure
from lacre.cli.command import (
    Call,
    Example,
    option,
    passphrase_option,
    path_option,
    reason_option,
    signing_options,
    verb,
    yes_option,
)
from lacre.text import N_, _

if TYPE_CHECKING:
    from lacre.broker.keys import Part
    from lacre.rules.named import Named
    from lacre.rules.requests import Role

ROLES = ("owner", "registrant", "custodian")
PARTS = ("person", "broker", "log")

backup_passphrase_option = path_option(
    "--backup-passphrase-file",
    metavar="FILE",
    help=N_("Read the backup's passphrase from FILE (else LACRE_BACKUP_PASSPHRASE, else it is asked)."),
)


@verb(
    "key list",
    N_(
        "Each key with its id, its name if one is on record, its roles, and the entries it was enrolled and revoked "
        "by. What a key signed is judged by what it might do at that entry, for ever."
    ),
    [Example("lacre key list", N_("All keys."))],
)
def key_list_verb(call: Call) -> int:
    """List the keys."""
    with call.ledger() as ledger:
        call.show(ledger.keys())
    return 0


@verb(
    "key new",
    N_(
        "The private half is written to FILE, which must not exist; it needs no ledger, and stays with the person. "
        "The public half is printed: an owner of a ledger enrols it. With --identity, an age identity instead, for "
        "somebody who is to hold pools of others; its recipient is printed, for `lacre seal --recipient`."
    ),
    [
        Example("lacre key new ana.pem --name 'Ana Lima'", N_("A key, and the command that enrols it.")),
        Example("lacre key new --identity custodian.age", N_("An identity, and its recipient.")),
    ],
)
@click.argument("file", type=click.Path(path_type=Path))
@option("--name", metavar="PERSON", help=N_("Put PERSON in the command that is printed for the owner."))
@option("--identity", is_flag=True, help=N_("Make an age identity, as age-keygen writes it."))
@passphrase_option
def key_new_verb(
    call: Call, *, file: Path, name: str | None, identity: bool, passphrase_file: Path | None
) -> int:
    """Make a key or an identity."""
    from lacre import api
    from lacre.cli.passphrase import chosen

    choose = partial(chosen, passphrase_file)
    if identity:
        call.show(api.new_identity(file, passphrase=choose))
    else:
        call.show(api.new_key(file, passphrase=choose, name=name))
    return 0


@verb(
    "key enrol",
    N_(
        "PUBLIC is the 64 digits that `lacre key new` printed, or a PEM file to read them from. An owner signs it. "
        "owner: enrols and revokes keys, erases texts. registrant: registers, amends, deviates, withdraws, asks for "
        "reads. custodian: seals pools and hands them to others."
    ),
    [
        Example(
            "lacre key enrol ana.pem --role registrant --name 'Ana Lima'", N_("Let Ana register and read.")
        ),
        Example("lacre key enrol rui.pem --role owner --role custodian", N_("With two roles.")),
    ],
)
@click.argument("public")
@option(
    "--role",
    "roles",
    multiple=True,
    required=True,
    type=click.Choice(ROLES),
    help=N_("Give it this role; as often as needed."),
)
@option("--name", metavar="PERSON", help=N_("Write PERSON beside the key; it can be erased."))
@signing_options
def key_enrol_verb(
    call: Call, *, public: str, roles: tuple[str, ...], name: str | None, passphrase_file: Path | None
) -> int:
    """Enrol a key."""
    with call.ledger(passphrase_file) as ledger:
        call.show(ledger.enrol(public, *cast("tuple[Role, ...]", roles), name=name))
    return 0


@verb(
    "key rotate",
    N_(
        "A new key is written beside the old one, and enrolled in its place; an owner signs it. A person's and the "
        "broker's old key end with that entry. Of the log both sign every checkpoint until the old one is revoked, so "
        "that whoever knows only one of them can still verify."
    ),
    [
        Example("lacre key rotate broker", N_("Replace the key that signs entries.")),
        Example("lacre key rotate log", N_("Begin to replace the key that signs checkpoints.")),
    ],
)
@click.argument("part", type=click.Choice(PARTS))
@option("--name", metavar="PERSON", help=N_("Write PERSON beside the new key (else the old key's name)."))
@signing_options
def key_rotate_verb(call: Call, *, part: str, name: str | None, passphrase_file: Path | None) -> int:
    """Replace a key."""
    with call.ledger(passphrase_file) as ledger:
        call.show(ledger.rotate(cast("Part", part), name=name))
    return 0


@verb(
    "key revoke",
    N_(
        "KEY is a key's id, its public half, eight digits or more of the beginning of either, or a PEM file to read it "
        "from. It signs nothing from this entry on; what it signed before stays valid. It cannot be enrolled again. "
        "The last owner, broker or log key cannot be revoked, only replaced."
    ),
    [Example("lacre key revoke 3fa9c01d --reason 'left the laboratory'", N_("End what a key may do."))],
)
@click.argument("key")
@reason_option
@signing_options
def key_revoke_verb(call: Call, *, key: str, reason: str | None, passphrase_file: Path | None) -> int:
    """Revoke a key."""
    with call.ledger(passphrase_file) as ledger:
        call.show(ledger.revoke(key, reason=reason))
    return 0


@verb(
    "key backup",
    N_(
        "Without its keys a ledger can be read and audited, and neither written to nor its pools opened. FILE is an "
        "age file of a tar archive: age and tar open it, too. Keys that have a passphrase keep it inside."
    ),
    [
        Example("lacre key backup /media/safe/keys.age", N_("The passphrase is asked for.")),
        Example("lacre key backup keys.age --backup-passphrase-file phrase", N_("From a file.")),
    ],
)
@click.argument("file", type=click.Path(path_type=Path))
@backup_passphrase_option
@option("--open", "is_open", is_flag=True, help=N_("Leave the backup open to whoever finds it."))
def key_backup_verb(call: Call, *, file: Path, backup_passphrase_file: Path | None, is_open: bool) -> int:
    """Back the keys up."""
    from lacre.cli.passphrase import choosing_for_backup

    choose = None if is_open else choosing_for_backup(backup_passphrase_file)
    with call.ledger() as ledger:
        call.show(ledger.backup_keys(file, passphrase=choose))
    return 0


@verb(
    "key recover",
    N_(
        "Key files that are there are never written over, and a backup of another ledger is refused. Keys that no "
        "entry of this ledger enrols are left out."
    ),
    [Example("lacre key recover /media/safe/keys.age", N_("Put back what is missing."))],
)
@click.argument("file", type=click.Path(path_type=Path))
@backup_passphrase_option
@passphrase_option
def key_recover_verb(
    call: Call, *, file: Path, backup_passphrase_file: Path | None, passphrase_file: Path | None
) -> int:
    """Put keys back."""
    from lacre.cli.passphrase import asking_for_backup

    with call.ledger(passphrase_file) as ledger:
        call.show(ledger.recover_keys(file, passphrase=asking_for_backup(backup_passphrase_file)))
    return 0


@verb(
    "erase",
    N_(
        "Names, reasons and the words of deviations are kept beside the log, which holds only their salted digests; "
        "so they can go, and the log still stands. WHAT is the entry that brought the text, as @ENTRY, or the text's "
        "digest. An owner signs it, and it cannot be undone: you are asked first. Copies elsewhere are not reached: "
        "backups, other machines, bundles and registers handed out before."
    ),
    [
        Example("lacre erase @0 --which name", N_("Erase the name given to `lacre init`.")),
        Example("lacre erase @7 --yes", N_("Erase the only text of entry 7, unasked.")),
    ],
)
@click.argument("what")
@option(
    "--which",
    metavar="TEXT",
    help=N_("Of several texts of the entry: name, reason or text, or its digest's beginning."),
)
@yes_option
@signing_options
def erase_verb(call: Call, *, what: str, which: str | None, yes: bool, passphrase_file: Path | None) -> int:
    """Erase a text."""

    def ask(text: "Named") -> bool:
        question = _("Erase the {what} of entry {entry} for good?").format(what=text.what, entry=text.entry)
        return sure(question, verb="erase", option="--yes")

    with call.ledger(passphrase_file) as ledger:
        call.show(ledger.erase(what, which=which, confirm=None if yes else ask))
    return 0
