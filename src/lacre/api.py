"""The Python API: `init` makes a ledger, `open` opens one, and a `Ledger`'s methods are the verbs.

This is the one place where clocks and entropy come from; everything below takes them as arguments.
Verbs that read pools are imported when they are called: SciPy and its kin come with them.
"""

import builtins
import getpass
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from lacre.broker import init as _init
from lacre.broker import show as _show
from lacre.broker.desk import Desk
from lacre.broker.names import split_name
from lacre.broker.outcomes import LedgerMade
from lacre.durable import read_given
from lacre.errors import FileNotNamed, StoreCorrupt, StoreForeign, StoreNotDatabase
from lacre.pools.keyring import Keyring
from lacre.pools.vault import Vault
from lacre.report import views
from lacre.report.views import (
    Audit,
    Checked,
    Entry,
    InputsWritten,
    Log,
    PoolSealed,
    ReadPlanned,
    Recovered,
    Registered,
    Result,
    Status,
    Study,
)
from lacre.store.discover import Layout, find_ledger, folder_around, ledger_at
from lacre.store.engine import open_ledger
from lacre.store.memory import Memory
from lacre.store.reader import snapshot
from lacre.store.writer import Writer

if TYPE_CHECKING:
    from sqlalchemy import Engine

MOST_KEPT = 2_000_000  # bytes; no receipt or checkpoint has as many
UNREADABLE = (StoreCorrupt, StoreNotDatabase, StoreForeign)
"""What a ledger's database can be that is no reason for an audit to refuse, and is its finding."""

Passphrase = str | Callable[[], str] | None
Progress = Callable[[str, int, int | None], None]


def _clock() -> datetime:
    return datetime.now(UTC)


def _quiet(_label: str, _done: int, _total: int | None) -> None:
    """Show no progress."""


def state_folder() -> Path:
    """Where this machine remembers the ledgers it saw: `$XDG_STATE_HOME/lacre`."""
    base = os.environ.get("XDG_STATE_HOME")
    # The XDG specification has relative paths ignored.
    root = Path(base) if base and Path(base).is_absolute() else Path.home() / ".local" / "state"
    return root / "lacre"


def _user() -> str | None:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return None


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

    return Checked.of(check_protocol(protocol, _specs(files), progress or _quiet))


def init(
    path: str | Path | None = None,
    *,
    origin: str | None = None,
    name: str | None = None,
    passphrase: str | None = None,
    state: Path | None = None,
) -> "Ledger":
    """Make a ledger in the folder `path` and open it.

    Without a path, where `LACRE_LEDGER` says, else here; the `.lacre` folder may be named itself.

    `origin` names the log, `name` the person (default: the system's user name); with a passphrase the keys
    are kept closed. `state` is where this machine's memory lies. Raises `LedgerExists`.
    """
    folder = state or state_folder()
    wanted = _init.Wanted(
        folder_around(Path(path or _named() or ".")), origin, name or _user(), passphrase or None
    )
    made = _init.init(wanted, state_folder=folder, clock=_clock, entropy=os.urandom)
    return open(made.folder, passphrase=passphrase, state=folder, _made=made)


def open(  # noqa: A001 - `lacre.open` is the API's own name
    path: str | Path | None = None,
    *,
    passphrase: Passphrase = None,
    progress: Progress | None = None,
    state: Path | None = None,
    _made: LedgerMade | None = None,
) -> "Ledger":
    """Open the ledger at `path`; without one, that of `LACRE_LEDGER`, else the nearest at or above here.

    `passphrase` may be a function, asked only when a closed key is needed. Raises `LedgerNotFound`.
    """
    desk = _desk(_layout(path), passphrase, progress or _quiet, state or state_folder())
    return Ledger(desk, made=_made)


def _named() -> str | None:
    """What the environment names as the ledger."""
    return os.environ.get("LACRE_LEDGER")


def _layout(path: str | Path | None) -> Layout:
    named = path or _named()
    return ledger_at(Path(named)) if named else find_ledger(Path.cwd())


def _desk(layout: Layout, passphrase: Passphrase, progress: Progress, state: Path) -> Desk:
    engine = open_ledger(layout.database)
    keys = cache(lambda: _keyring(layout, passphrase))
    memory = Memory(state)
    origin = cache(lambda: _show.origin_of(engine))
    signer = _init.checkpoint_signer(origin, lambda: keys().log)
    return Desk(
        layout=layout,
        engine=engine,
        writer=Writer(engine, signer, memory),
        memory=memory,
        open_keys=keys,
        vault=Vault(layout.pools),
        state_folder=state,
        clock=_clock,
        entropy=os.urandom,
        progress=progress,
    )


def _keyring(layout: Layout, passphrase: Passphrase) -> Keyring:
    keys = Keyring(layout.keys)
    if not keys.closed:
        return keys
    given = passphrase() if callable(passphrase) else passphrase
    return Keyring(layout.keys, given if given is not None else os.environ.get("LACRE_PASSPHRASE"))


@dataclass(frozen=True)
class Ledger:
    """An open ledger. Each method is a verb of the command line and raises what that verb refuses with."""

    _desk: Desk = field(repr=False)
    made: LedgerMade | None = None

    @property
    def folder(self) -> Path:
        """The `.lacre` folder."""
        return self._desk.layout.root

    def close(self) -> None:
        """Let go of the database."""
        self._desk.engine.dispose()

    def __enter__(self) -> "Ledger":
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def register(self, protocol: str | Path | bytes, *, accept_infeasible: str | None = None) -> Registered:
        """Register a protocol (a path, or its bytes) as a new study; the receipt is yours to keep.

        A criterion that no outcome passes, or none fails, at the planned counts is refused
        (`CriterionInfeasible`), unless `accept_infeasible` says why it is kept; the reason goes on record.
        """
        from lacre.broker.register import register

        return Registered.of(register(self._desk, protocol, accept_infeasible=accept_infeasible))

    def seal(
        self, study: str, pool: str, files: str | Path | Sequence[str | Path], *, as_dev: bool = False
    ) -> PoolSealed:
        """Seal a pool: all its tables, each of one file or several, as `[TABLE=]FILE`."""
        from lacre.broker.seal import seal

        return PoolSealed.of(seal(self._desk, study, pool, _specs(files), as_dev=as_dev))

    def inputs(
        self,
        study: str,
        pool: str,
        output: str | Path,
        *,
        table: str | None = None,
        overwrite: bool = False,
        reason: str | None = None,
    ) -> InputsWritten:
        """Write a pool's ids and input columns as CSV to `output`; on record, and never a reveal."""
        from lacre.broker.inputs import inputs

        made = inputs(self._desk, study, pool, Path(output), table=table, overwrite=overwrite, reason=reason)
        return InputsWritten.of(made)

    def reveal(
        self,
        study: str,
        submission: str | Path | Sequence[str | Path] = (),
        *,
        accept_dev: bool = False,
        accept_exposure: bool = False,
        dry_run: bool = False,
        protocol: str | Path | bytes | None = None,
        reason: str | None = None,
    ) -> Result | ReadPlanned:
        """Reveal `teste`: the one read, running all its analyses; files as `[SYSTEM:][TABLE=]FILE`."""
        from lacre.broker.reveal import reveal

        outcome = reveal(
            self._desk,
            study,
            _specs(submission),
            accept_dev=accept_dev,
            accept_exposure=accept_exposure,
            dry_run=dry_run,
            protocol=protocol,
            reason=reason,
        )
        return views.result_or_plan(outcome)

    def run(
        self,
        study: str,
        analysis: str,
        submission: str | Path | Sequence[str | Path] = (),
        *,
        pool: str | None = None,
        accept_exposure: bool = False,
        dry_run: bool = False,
        protocol: str | Path | bytes | None = None,
        reason: str | None = None,
    ) -> Result | ReadPlanned:
        """Run one analysis on `dev` or `contraste`."""
        from lacre.broker.run import run

        outcome = run(
            self._desk,
            study,
            analysis,
            _specs(submission),
            pool=pool,
            accept_exposure=accept_exposure,
            dry_run=dry_run,
            protocol=protocol,
            reason=reason,
        )
        return views.result_or_plan(outcome)

    def recover(self, *, dry_run: bool = False) -> Recovered:
        """Let a ledger restored from a backup grow again to what this machine remembers of it."""
        from lacre.broker.recover import recover

        return Recovered.of(recover(self._desk, dry_run=dry_run))

    def status(self) -> Status:
        """Say where things stand."""
        return Status.of(_show.status(self._desk))

    def log(self, study: str | None = None) -> Log:
        """List the entries, of one study or of all."""
        return Log.of(_show.log(self._desk, study))

    def show(self, what: str | None = None) -> Status | Study | Result | Entry:
        """Show the ledger, a `STUDY`, a result `STUDY@ENTRY`, or any entry by `@ENTRY`."""
        return views.anything_shown(_show.show(self._desk, what))

    def audit(self, what: str | None = None, *, memory: Sequence[str | Path] = ()) -> Audit:
        """Re-derive the whole history from the signed entries; `what` is a `STUDY` or a result `STUDY@ENTRY`.

        `memory` names receipts and checkpoints kept elsewhere, which the ledger is held to as well.
        """
        desk = self._desk
        return _audit(desk.engine, desk.layout, desk.memory, what, memory)


def audit(
    path: str | Path | None = None,
    what: str | None = None,
    *,
    memory: Sequence[str | Path] = (),
    state: Path | None = None,
) -> Audit:
    """Audit a ledger as `Ledger.audit` does, and report on one that cannot even be opened, too."""
    from lacre.audit.audit import unreadable

    try:
        layout = _layout(path)
        engine = open_ledger(layout.database)
    except UNREADABLE as error:
        return Audit.of(unreadable(error))
    try:
        return _audit(engine, layout, Memory(state or state_folder()), what, memory)
    finally:
        engine.dispose()


def _audit(
    engine: "Engine", layout: Layout, known: Memory, what: str | None, files: Sequence[str | Path]
) -> Audit:
    from lacre.audit.audit import audit as audit_source
    from lacre.audit.audit import unreadable
    from lacre.audit.heads import Head
    from lacre.audit.heads import Memory as Kept
    from lacre.audit.source import StoreSource

    study, entry = (None, None) if what is None else split_name(what, "audit")
    kept = [Kept.parse(Path(file).name, read_given(Path(file), most=MOST_KEPT)) for file in files]
    try:
        # Read before the snapshot begins: a memory is only ever behind the ledger it was taken from.
        remembered = known.recall(engine)
        with snapshot(engine) as reader:
            report = audit_source(
                StoreSource(reader, layout.pools),
                remembered=Head(remembered.size, remembered.root) if remembered else None,
                memories=kept,
                study=study or None,
                entry=entry,
            )
    except UNREADABLE as error:
        report = unreadable(error)
    return Audit.of(report)


def _specs(files: str | Path | Sequence[str | Path]) -> builtins.list[str]:
    given = [files] if isinstance(files, str | Path) else list(files)
    for each in given:
        if not isinstance(each, str | Path):
            raise FileNotNamed(kind=type(each).__name__)
    return [str(each) for each in given]
