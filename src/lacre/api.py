"""The Python API: `init` makes a ledger, `open` opens one, and a `Ledger`'s methods are the verbs.

Verbs that read pools are imported when they are called: SciPy and its kin come with them.
"""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from lacre import text
from lacre.broker import init as _init
from lacre.broker.outcomes import LedgerMade
from lacre.durable import read_given
from lacre.errors import LanguageUnknown, printable
from lacre.handle.audits import audit, verify
from lacre.handle.ledger import Ledger
from lacre.handle.making import (
    OpenedKeys,
    Passphrase,
    Progress,
    clock,
    entropy,
    given_passphrase,
    layout_of,
    make_desk,
    named,
    quiet,
    specs,
    state_folder,
    user,
)
from lacre.report.views import Checked, IdentityMade, KeyMade
from lacre.store.discover import folder_around

if TYPE_CHECKING:
    from lacre.pools.identities import Passphrases
    from lacre.protocol.importing.fairness import Imported

__all__ = [
    "Ledger",
    "audit",
    "check",
    "import_fairness",
    "init",
    "new_identity",
    "new_key",
    "open",
    "state_folder",
    "use_language",
    "verify",
]


def use_language(name: str) -> None:
    """Speak a language from here on: `en`, `pt-BR` or `es-419`, or a locale's name such as `pt_BR`.

    Without it, LACRE_LANG, a protocol's language for its results, and the locale say. Raises `LanguageUnknown`.
    """
    tag = text.tag_of(name)
    if tag is None:
        raise LanguageUnknown(name=name, given="use_language", known=", ".join(text.LANGUAGES))
    text.use_language(tag)


def check(
    protocol: str | Path | bytes,
    files: str | Path | Sequence[str | Path] = (),
    *,
    progress: Progress | None = None,
) -> Checked:
    """Validate a protocol file (a path, or its bytes) and say what its criteria can find; needs no ledger.

    `files`, as `[TABLE=]FILE`, are read as the protocol declares them, and nothing is kept. `progress` is called
    with what is being done, how much of it is done, and of how much. Raises `ProtocolError`.
    """
    from lacre.broker.register import check as check_protocol

    return Checked.of(check_protocol(protocol, specs(files), progress or quiet))


def import_fairness(source: str | Path | bytes, *, language: str = "en") -> "Imported":
    """Make a protocol from the block `fairness` of a YAML file (a path, or its bytes); needs no ledger.

    `lacre.protocol.importing.fairness` says what the block may hold. What comes back has the protocol's `text`,
    what was `assumed` in it, and what of the file is `not_carried`. Raises `ImportInvalid`.
    """
    from lacre.protocol.importing.fairness import import_fairness as make
    from lacre.protocol.strict_yaml import MAX_BYTES

    if isinstance(source, bytes):
        return make(source, language=language)
    path = Path(source)
    # A file's name may hold what is no text, or would not be shown.
    name = printable(path.name.encode("utf-8", "replace").decode())
    return make(read_given(path, most=MAX_BYTES), name, language)


def init(
    path: str | Path | None = None,
    *,
    origin: str | None = None,
    name: str | None = None,
    passphrase: str | None = None,
    state: str | Path | None = None,
) -> "Ledger":
    """Make a ledger in the folder `path` and open it.

    Without a path, where `LACRE_LEDGER` says, else here; the `.lacre` folder may be named itself.

    `origin` names the log, `name` the person (default: the system's user name; "" puts none on record); with a
    passphrase the keys are kept closed. `state` is where this machine's memory lies. Raises `LedgerExists`.
    """
    folder = Path(state) if state else state_folder()
    wanted = _init.Wanted(
        folder_around(Path(path or named() or ".")),
        origin,
        (user() if name is None else name.strip()) or None,
        passphrase or None,
    )
    made = _init.init(wanted, state_folder=folder, clock=clock, entropy=entropy)
    return open(made.folder, passphrase=passphrase, state=folder, _made=made)


def new_key(path: str | Path, *, passphrase: Passphrase = None, name: str | None = None) -> KeyMade:
    """Make a person's key pair in a new file; its public half is for an owner to enrol. Needs no ledger.

    `name` is only told back, for the command that enrols it. Raises `KeyExists`.
    """
    from lacre.broker.keys import new_key

    return KeyMade.of(new_key(Path(path), passphrase, entropy, name))


def new_identity(path: str | Path, *, passphrase: Passphrase = None) -> IdentityMade:
    """Make an age identity in a new file; its recipient is for who seals a pool to it. Raises `KeyExists`."""
    from lacre.broker.keys import new_identity

    return IdentityMade.of(new_identity(Path(path), passphrase, clock()))


def open(  # noqa: A001 - `lacre.open` is the API's own name
    path: str | Path | None = None,
    *,
    passphrase: Passphrase = None,
    key: str | Path | None = None,
    identity_passphrase: "str | Passphrases | None" = None,
    progress: Progress | None = None,
    state: str | Path | None = None,
    _made: LedgerMade | None = None,
) -> "Ledger":
    """Open the ledger at `path`; without one, that of `LACRE_LEDGER`, else the nearest at or above here.

    `passphrase` may be a function, asked only when a closed key is needed. `identity_passphrase` is that of a
    closed identity file, or a function that gives what to try on it, where it is another. `key` is the file
    of the key that requests are signed with, else that of `LACRE_KEY`, else the ledger's own. Raises
    `LedgerNotFound`.
    """
    signing = key or os.environ.get("LACRE_KEY") or None
    layout = layout_of(path)
    keys = OpenedKeys(layout, passphrase, Path(signing) if signing else None)
    desk = make_desk(layout, keys, progress or quiet, Path(state) if state else state_folder())
    more = identity_passphrase
    tried = more if callable(more) else lambda _file: [given_passphrase(passphrase) if more is None else more]
    desk = replace(desk, passphrases=tried)
    return Ledger(desk, made=_made)
