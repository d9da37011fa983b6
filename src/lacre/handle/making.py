"""Where clocks, entropy, keys and stores come from, and nowhere else: everything below takes them as arguments."""

import getpass
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path

from lacre.broker.desk import Desk, OpenKeys
from lacre.broker.signers import Signers
from lacre.errors import (
    FileNotNamed,
    FilesByName,
    StoreCorrupt,
    StoreForeign,
    StoreNotDatabase,
)
from lacre.pools.keyring import Keyring
from lacre.pools.vault import Vault
from lacre.store.discover import Layout, find_ledger, ledger_at
from lacre.store.engine import open_ledger
from lacre.store.memory import Memory
from lacre.store.writer import Writer

MOST_KEPT = 2_000_000  # bytes; no receipt or checkpoint has as many
UNREADABLE = (StoreCorrupt, StoreNotDatabase, StoreForeign)
"""What a ledger's database can be that is no reason for an audit to refuse, and is its finding."""

Passphrase = str | Callable[[], str | None] | None
Progress = Callable[[str, int, int | None], None]
Files = str | Path | Sequence[str | Path]
"""One file or several, as the verbs of an open ledger take them."""
Plan = str | Path | bytes | None
"""A protocol that a read is held against: its file, or the bytes of one."""


entropy = os.urandom
"""Random bytes, so many."""


def clock() -> datetime:
    """Return the time now."""
    return datetime.now(UTC)


def quiet(_label: str, _done: int, _total: int | None) -> None:
    """Show no progress."""


def state_folder() -> Path:
    """Where this machine remembers the ledgers it saw: `$XDG_STATE_HOME/lacre`."""
    base = os.environ.get("XDG_STATE_HOME")
    # The XDG specification has relative paths ignored.
    root = Path(base) if base and Path(base).is_absolute() else Path.home() / ".local" / "state"
    return root / "lacre"


def user() -> str | None:
    """Return what the system calls its user, if anything."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return None


def named() -> str | None:
    """What the environment names as the ledger."""
    return os.environ.get("LACRE_LEDGER")


def layout_of(path: str | Path | None) -> Layout:
    """Find the ledger at `path`, else where the environment says, else the nearest at or above here."""
    told = path or named()
    return ledger_at(Path(told)) if told else find_ledger(Path.cwd())


def make_desk(layout: Layout, keys: OpenKeys, progress: Progress, state: Path) -> Desk:
    """Put a ledger's parts together; `state` is the folder of this machine's memory."""
    engine = open_ledger(layout.database)
    memory = Memory(state)
    signers = Signers(keys)
    return Desk(
        layout=layout,
        engine=engine,
        writer=Writer(engine, signers.sign_checkpoint, memory),
        memory=memory,
        open_keys=keys,
        signers=signers,
        vault=Vault(layout.pools),
        state_folder=state,
        clock=clock,
        entropy=entropy,
        progress=progress,
    )


class OpenedKeys:
    """Opens a ledger's keys once; the passphrase is asked for, once too, when one of them is closed."""

    def __init__(self, layout: Layout, passphrase: Passphrase, key: Path | None) -> None:
        self._closed = Keyring(layout.keys, given=key)
        self._ring: Keyring | None = None
        self.passphrase = cache(partial(given_passphrase, passphrase))

    def __call__(self) -> Keyring:
        if self._ring is None:
            ring = self._closed
            self._ring = replace(ring, passphrase=self.passphrase()) if ring.closed else replace(ring)
        return self._ring

    def cache_clear(self) -> None:
        """Forget the keys, not the passphrase."""
        self._ring = None


def given_passphrase(passphrase: Passphrase) -> str | None:
    """Return a passphrase, asking for it if it is a function; else that of `LACRE_PASSPHRASE`."""
    given = passphrase() if callable(passphrase) else passphrase
    return given if given is not None else os.environ.get("LACRE_PASSPHRASE")


def specs(files: Files) -> list[str]:
    """Return one file or several as the command line has them.

    Raises `FileNotNamed` for what is no path, `FilesByName` for a mapping, of which only the keys would be seen.
    """
    if isinstance(files, Mapping):
        name, file = next(iter(files.items()), ("TABLE", "FILE"))
        raise FilesByName(kind=type(files).__name__, example=f"{name}={file}")
    given = [files] if isinstance(files, str | Path) else list(files)
    for each in given:
        if not isinstance(each, str | Path):
            raise FileNotNamed(kind=type(each).__name__)
    return [str(each) for each in given]
