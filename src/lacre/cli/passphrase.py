"""Where a passphrase comes from: a file, LACRE_PASSPHRASE, or a person at a terminal."""

import os
from collections.abc import Callable
from pathlib import Path

import click

from lacre.cli import screen
from lacre.errors import NotReadable, PassphraseNotAsked, PassphrasesDiffer, PassphraseUnreadable
from lacre.text import _

VARIABLE = "LACRE_PASSPHRASE"


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


def chosen(file: Path | None) -> str | None:
    """Return the passphrase for new keys; None, or an empty one from any source, leaves them open."""
    given = _given(file)
    if given is None and screen.can_ask():
        words = _("Passphrase for the new keys (empty for none)")
        given = click.prompt(words, hide_input=True, default="", show_default=False, err=True)
        again = given and click.prompt(_("The same again"), hide_input=True, err=True)
        if given != again:
            raise PassphrasesDiffer
    return given or None


def _given(file: Path | None) -> str | None:
    if file is None:
        return os.environ.get(VARIABLE)
    try:
        text = file.read_bytes().decode()
    except OSError as error:
        raise NotReadable(path=str(file), why=error.strerror or type(error).__name__) from error
    except UnicodeDecodeError as error:
        raise PassphraseUnreadable(path=str(file)) from error
    line = text.removesuffix("\n").removesuffix("\r")
    if "\n" in line:
        raise PassphraseUnreadable(path=str(file))
    return line
