"""What `lacre key` and `lacre erase` answer, as text."""

from collections.abc import Mapping
from types import MappingProxyType

from lacre.broker.outcomes import (
    Erased,
    IdentityMade,
    KeyChanged,
    KeyMade,
    KeysBackedUp,
    KeysRecovered,
    KeysShown,
)
from lacre.errors import printable
from lacre.report import words
from lacre.report.page import Cell, Column, Page, Row
from lacre.report.result_text import warnings
from lacre.rules.history import Key
from lacre.text import N_, _, ngettext

ENDED: Mapping[str, str] = MappingProxyType(
    {
        "owner": N_("It enrols and revokes no key and erases no text."),
        "registrant": N_("It registers, amends and withdraws no study and asks for no read."),
        "custodian": N_("It seals no pool and hands none to anybody."),
        "log": N_(
            "Checkpoints are signed without it; those of before verify with its verifier key as they did."
        ),
    }
)
"""What a revoked key no longer does, by role."""


def made_page(made: KeyMade) -> Page:
    """Write a new key, and how an owner enrols it."""
    page = Page()
    page.heading(_("A key is in {path}").format(path=made.path))
    page.say(_("Its public half: {public}").format(public=made.public))
    page.say(_("Its id: {keyid}").format(keyid=made.keyid))
    _closing(page, passphrase=made.passphrase)
    page.gap()
    name = f" --name {words.shell_word(made.name)}" if made.name else ""
    page.say(_("It may do nothing yet. An owner of the ledger enrols it:"))
    page.block(f"lacre key enrol \\\n  {made.public} \\\n  --role registrant{name}")
    page.say(_("Then sign with it: --key {path}, or LACRE_KEY.").format(path=made.path))
    return page


def identity_page(made: IdentityMade) -> Page:
    """Write a new age identity."""
    page = Page()
    page.heading(_("An age identity is in {path}").format(path=made.path))
    page.say(_("Its recipient: {recipient}").format(recipient=made.recipient))
    _closing(page, passphrase=made.passphrase)
    page.gap()
    page.say(
        _("Hand the recipient to whoever seals a pool for you (`lacre seal --recipient`), and keep the file.")
    )
    return page


def changed_page(changed: KeyChanged) -> Page:
    """Write a change of who may act, and what follows."""
    key, keyid = changed.key, changed.key.keyid
    page = Page()
    page.heading(_headline(changed))
    page.say(_("Id: {keyid}").format(keyid=keyid))
    page.say(_("Roles: {roles}").format(roles=words.listing(sorted(key.roles))))
    page.say(words.on_record(changed.entry, changed.time))
    page.gap()
    for line in _follows(changed):
        page.say(line)
    warnings(page, changed.warnings)
    return page


def shown_page(shown: KeysShown) -> Page:
    """Write every key, with its roles and the entries of its beginning and end."""
    page = Page()
    columns = [
        Column(_("key")),
        Column(_("name"), wraps=True),
        Column(_("roles"), wraps=True),
        Column(_("since"), right=True),
        Column(_("until"), right=True),
    ]
    page.table(columns, [_row(key, shown) for key in shown.keys])
    page.gap()
    page.say(_("Since and until: the entries that enrolled and revoked the key."))
    for verifier in shown.verifier_keys:
        page.say(_("Checkpoints are verified with: {key}").format(key=verifier))
    return page


def backed_up_page(backup: KeysBackedUp) -> Page:
    """Write what a backup holds."""
    page = Page()
    count = len(backup.files)
    said = ngettext("{n} key file is in {path}", "{n} key files are in {path}", count)
    page.heading(said.format(n=count, path=backup.path))
    page.say(words.listing(backup.files))
    page.say(_("It was read back, and holds what was written."))
    if backup.passphrase:
        page.say(
            _(
                "It opens with its passphrase alone: here with `lacre key recover`, elsewhere with age and tar."
            )
        )
    elif backup.closed:
        said = _("It is open. Still closed in it, with the passphrase that the ledger's keys have: {files}.")
        page.say(said.format(files=words.listing(backup.closed)))
        rest = [name for name in backup.files if name not in backup.closed]
        if rest:
            page.say(_("Whoever finds it has these: {files}.").format(files=words.listing(rest)))
    else:
        page.say(_("It is open: whoever finds it has these keys."))
    page.gap()
    page.say(_("Keep it where the ledger is not. After a key changed, make another."))
    return page


def recovered_page(recovered: KeysRecovered) -> Page:
    """Write which key files came back."""
    page = Page()
    count = len(recovered.restored)
    said = (
        ngettext("{n} key file came back", "{n} key files came back", count).format(n=count)
        if count
        else _("No key file was missing")
    )
    page.heading(said)
    page.say(_("In {folder}").format(folder=recovered.folder))
    if recovered.restored:
        page.say(words.listing(recovered.restored))
    if recovered.same:
        page.say(_("There already, and the same: {files}").format(files=words.listing(recovered.same)))
    if recovered.left_out:
        page.say(
            _(
                "Left out, since no entry of this ledger enrols them: {files}. If the ledger itself was restored "
                "from a backup, run `lacre recover` and then this again."
            ).format(files=words.listing(recovered.left_out))
        )
    return page


def erased_page(erased: Erased) -> Page:
    """Write what was erased, and what the erasure does not reach."""
    page = Page()
    page.heading(_("Erased: the {what} of entry {entry}").format(what=erased.what, entry=erased.named))
    page.say(_("Its digest, which stays named: {digest}").format(digest=erased.digest))
    page.say(words.on_record(erased.entry, erased.time))
    if not erased.present:
        page.say(_("The text itself was missing before. From now on it counts as erased."))
    if erased.same:
        page.gap()
        page.say(
            Cell(_("Warning: "), "yellow"),
            _("the same words are still on record elsewhere. To erase them, too:"),
        )
        for each in erased.same:
            page.say(f"lacre erase @{each.entry} --which {each.digest[:16]}", indent=1)
    page.gap()
    page.say(
        _(
            "It is gone from the ledger's database and from this machine's memory. Copies elsewhere are not reached: "
            "backups of the folder, other machines that saw the ledger, and bundles and registers handed out before."
        )
    )
    warnings(page, erased.warnings)
    return page


def _headline(changed: KeyChanged) -> str:
    name = printable(changed.name) if changed.name else words.short(changed.key.keyid)
    if changed.action == "revoke":
        return _("Revoked: {name}").format(name=name)
    if changed.action == "enrol":
        return _("Enrolled: {name}").format(name=name)
    return _("A new key: {name}").format(name=name)


def _follows(changed: KeyChanged) -> list[str]:
    key = changed.key
    if changed.action == "revoke":
        ended = [_(ENDED[role]) for role in ENDED if role in key.roles]
        before = _("What it signed before entry {entry} stays valid.").format(entry=changed.entry)
        return [*ended, before, *_void(key)]
    if changed.action == "enrol":
        return [_("Whoever holds its private half signs with --key FILE, from the next entry on.")]
    old = words.short(changed.replaces or "")
    lines = [_("Its private half is in {path}: back it up (`lacre key backup`).").format(path=changed.file)]
    if "log" not in key.roles:
        lines.append(
            _("The key {old}… signs nothing more; what it signed before stays valid.").format(old=old)
        )
        return [*lines, *_void(key)]
    lines += [
        _("Both keys sign each checkpoint now. Publish the new verifier key beside the old one:"),
        *changed.verifier_keys,
        _("When everybody has the new one, end the old: `lacre key revoke {old}`.").format(old=old),
    ]
    return lines


def _void(key: Key) -> list[str]:
    """Say what becomes of the requests that a key signed and nobody answered yet, if it may have."""
    if "registrant" not in key.roles:
        return []
    return [
        _(
            "Requests that it signed (`lacre reveal --request-out`) and that nobody has answered yet are void: make "
            "them anew."
        )
    ]


def _row(key: Key, shown: KeysShown) -> Row:
    name = printable(shown.names.get(key.keyid, ""))
    if key.keyid in shown.erased:
        name = _("erased by entry {entry}").format(entry=shown.erased[key.keyid])
    revoked = "" if key.revoked is None else str(key.revoked)
    roles = words.listing(sorted(key.roles))
    return [Cell(words.short(key.keyid), "bold"), name, roles, str(key.enrolled), revoked]


def _closing(page: Page, *, passphrase: bool) -> None:
    if passphrase:
        page.say(_("The file is closed with its passphrase."))
    else:
        page.say(_("The file is open: whoever can read it can use it."))
