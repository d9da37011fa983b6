"""Where a passphrase comes from: a file, LACRE_PASSPHRASE, or a person at a terminal."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import click

from lacre.cli import screen
from lacre.errors import (
    InterruptedBefore,
    KeyBackupOpen,
    NotReadable,
    PassphraseNotAsked,
    PassphrasesDiffer,
    PassphraseUnreadable,
    printable,
    reason_of,
)
from lacre.text import _

VARIABLE = "LACRE_PASSPHRASE"
BACKUP_VARIABLE = "LACRE_BACKUP_PASSPHRASE"
MOST_BYTES = 1 << 16  # of a passphrase file: far more than a passphrase may have


def asking(file: Path | None) -> Callable[[], str]:
    """Return what gives the passphrase when, and only when, keys turn out to be closed.

    Raises, when called, `NotReadable` or `PassphraseUnreadable` for a file, and `PassphraseNotAsked` where
    there is nobody to ask.
    """

    def ask() -> str:
        given = _given(file)
        if given is not None:
            return given
        if not screen.can_ask():
            raise PassphraseNotAsked
        return str(click.prompt(_("Passphrase of the keys"), hide_input=True, err=True))

    return ask


def trying(file: Path | None) -> Callable[[Path], Iterator[str]]:
    """Return what gives the passphrases to try on a closed identity file: what is given, then what is typed.

    Raises, when called, as what `asking` returns does.
    """

    def give(identity: Path) -> Iterator[str]:
        given = _given(file)
        if given is not None:
            yield given
        if screen.can_ask():
            words = _("Passphrase of {file}").format(file=printable(identity.name))
            yield str(click.prompt(words, hide_input=True, err=True))
        elif given is None:
            raise PassphraseNotAsked

    return give


def chosen(file: Path | None) -> str | None:
    """Return the passphrase for new keys; None, or an empty one from any source, leaves them open."""
    given = _given(file)
    if given is None and screen.can_ask():
        given = _twice(_("Passphrase for the new keys (empty for none)"), may_be_empty=True)
    return given or None


def asking_for_backup(file: Path | None) -> Callable[[], str]:
    """Return what gives the passphrase of a closed backup of keys. Raises, when called, as `asking` does."""

    def ask() -> str:
        given = _given(file, BACKUP_VARIABLE)
        if given is None and screen.can_ask():
            given = str(click.prompt(_("Passphrase of the backup"), hide_input=True, err=True))
        return given or ""

    return ask


def choosing_for_backup(file: Path | None) -> Callable[[], str]:
    """Return what gives the passphrase for a new backup of keys; `KeyBackupOpen` for none, or an empty one."""

    def choose() -> str:
        given = _given(file, BACKUP_VARIABLE)
        if given is None and screen.can_ask():
            given = _twice(_("Passphrase for the backup"))
        if not given:
            raise KeyBackupOpen
        return given

    return choose


def _twice(words: str, *, may_be_empty: bool = False) -> str:
    """Ask for a new passphrase, and once more. Raises `PassphrasesDiffer`, and `InterruptedBefore` for a Ctrl-C."""
    default = "" if may_be_empty else None
    try:
        given = str(click.prompt(words, default=default, show_default=False, hide_input=True, err=True))
        again = click.prompt(_("The same again"), hide_input=True, err=True) if given else ""
    except click.Abort:
        raise InterruptedBefore from None
    if given != again:
        raise PassphrasesDiffer
    return given


def _given(file: Path | None, variable: str = VARIABLE) -> str | None:
    if file is None:
        return os.environ.get(variable)
    try:
        # Not `read_given`: a shell hands over a pipe, as in `--passphrase-file <(pass show lacre)`.
        with file.open("rb") as source:
            body = source.read(MOST_BYTES + 1)
        text = body.decode()
    except OSError as error:
        raise NotReadable(path=str(file), why=reason_of(error)) from error
    except UnicodeDecodeError as error:
        raise PassphraseUnreadable(path=str(file)) from error
    line = text.removesuffix("\n").removesuffix("\r")
    if "\n" in line or len(body) > MOST_BYTES:
        raise PassphraseUnreadable(path=str(file))
    return line
