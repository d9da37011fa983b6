"""Identity files that a user gives: age's own format, open or closed with a passphrase."""

from collections.abc import Callable, Iterable
from pathlib import Path

import pyrage

from lacre.durable import read_given
from lacre.errors import IdentityFileInvalid, IdentityPassphraseWrong, PassphraseNeeded
from lacre.pools.keyring import MOST_KEY_BYTES, encode_passphrase, is_closed
from lacre.pools.seal import Identity, identities_of_file
from lacre.text import _

Passphrases = Callable[[Path], Iterable[str | None]]
"""Gives the passphrases to try on a closed identity file, one after the other, asking only when it comes to it."""


def read_identities(path: Path, passphrases: Passphrases) -> tuple[Identity, ...]:
    """Return the identities of the file at `path`, which `age --passphrase` may have closed.

    Raises `FileMissing`, `NotReadable`, `IdentityFileInvalid`, `PassphraseNeeded`, `IdentityPassphraseWrong`,
    `PassphraseNotText`.
    """
    content = read_given(path, most=MOST_KEY_BYTES)
    if len(content) > MOST_KEY_BYTES:
        why = _("it has more than {most} bytes").format(most=MOST_KEY_BYTES)
        raise IdentityFileInvalid(path=str(path), why=why)
    if is_closed(content):
        content = _opened(content, path, passphrases(path))
    found = identities_of_file(content)
    if found is None:
        raise IdentityFileInvalid(path=str(path), why=_("it is no file of X25519 identities"))
    return found


def _opened(content: bytes, path: Path, passphrases: Iterable[str | None]) -> bytes:
    tried = set()
    for passphrase in passphrases:
        if passphrase in tried or not encode_passphrase(passphrase):
            continue
        tried.add(passphrase)
        try:
            return bytes(pyrage.passphrase.decrypt(content, passphrase))
        except pyrage.DecryptError:
            continue
    if tried:
        raise IdentityPassphraseWrong(path=str(path))
    raise PassphraseNeeded
