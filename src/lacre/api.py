"""The Python API: `init` makes a ledger, `open` opens one, and a `Ledger`'s methods are the verbs.

This is the one place where clocks and entropy come from; everything below takes them as arguments.
Verbs that read pools are imported when they are called: SciPy and its kin come with them.
"""

import builtins
import getpass
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from lacre.broker import init as _init
from lacre.broker import show as _show
from lacre.broker.desk import Desk, OpenKeys
from lacre.broker.names import split_name
from lacre.broker.outcomes import LedgerMade
from lacre.broker.signers import Signers
from lacre.durable import make_folder, read_given
from lacre.errors import (
    FileExists,
    FileNotNamed,
    NotAName,
    StoreCorrupt,
    StoreForeign,
    StoreNotDatabase,
    printable,
)
from lacre.pools.keyring import Keyring
from lacre.pools.vault import Vault
from lacre.report import views
from lacre.report.views import (
    Amended,
    AmendmentPlanned,
    Audit,
    Checked,
    Deviated,
    Deviations,
    Entry,
    Erased,
    Exported,
    IdentityMade,
    InputsWritten,
    KeyChanged,
    KeyMade,
    Keys,
    KeysBackedUp,
    KeysRecovered,
    Log,
    PoolRewrapped,
    PoolSealed,
    ReadPlanned,
    Recovered,
    Registered,
    RegisterExported,
    RequestWritten,
    Result,
    Status,
    Study,
    Verified,
    Withdrawn,
)
from lacre.store.discover import Layout, find_ledger, folder_around, ledger_at
from lacre.store.engine import open_ledger
from lacre.store.memory import Memory
from lacre.store.reader import snapshot
from lacre.store.writer import Writer

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from lacre.audit.heads import Memory as Kept
    from lacre.broker.erase import Doomed
    from lacre.broker.keys import Part
    from lacre.ledger.note import VerifierKey
    from lacre.pools.identities import Passphrases
    from lacre.protocol.importing.fairness import Imported
    from lacre.rules.requests import Role
    from lacre.rules.state import StudyState

MOST_KEPT = 2_000_000  # bytes; no receipt or checkpoint has as many
UNREADABLE = (StoreCorrupt, StoreNotDatabase, StoreForeign)
"""What a ledger's database can be that is no reason for an audit to refuse, and is its finding."""

Passphrase = str | Callable[[], str | None] | None
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


def new_key(path: str | Path, *, passphrase: Passphrase = None, name: str | None = None) -> KeyMade:
    """Make a person's key pair in a new file; its public half is for an owner to enrol. Needs no ledger.

    `name` is only told back, for the command that enrols it. Raises `KeyExists`.
    """
    from lacre.broker.keys import new_key

    return KeyMade.of(new_key(Path(path), passphrase, os.urandom, name))


def new_identity(path: str | Path, *, passphrase: Passphrase = None) -> IdentityMade:
    """Make an age identity in a new file; its recipient is for who seals a pool to it. Raises `KeyExists`."""
    from lacre.broker.keys import new_identity

    return IdentityMade.of(new_identity(Path(path), passphrase, _clock()))


def open(  # noqa: A001 - `lacre.open` is the API's own name
    path: str | Path | None = None,
    *,
    passphrase: Passphrase = None,
    key: str | Path | None = None,
    identity_passphrase: "str | Passphrases | None" = None,
    progress: Progress | None = None,
    state: Path | None = None,
    _made: LedgerMade | None = None,
) -> "Ledger":
    """Open the ledger at `path`; without one, that of `LACRE_LEDGER`, else the nearest at or above here.

    `passphrase` may be a function, asked only when a closed key is needed. `identity_passphrase` is that of a
    closed identity file, or a function that gives what to try on it, where it is another. `key` is the file
    of the key that requests are signed with, else that of `LACRE_KEY`, else the ledger's own. Raises
    `LedgerNotFound`.
    """
    signing = key or os.environ.get("LACRE_KEY") or None
    layout = _layout(path)
    keys = _Keys(layout, passphrase, Path(signing) if signing else None)
    desk = _desk(layout, keys, progress or _quiet, state or state_folder())
    more = identity_passphrase
    tried = more if callable(more) else lambda _file: [_given(passphrase) if more is None else more]
    desk = replace(desk, passphrases=tried)
    return Ledger(desk, made=_made)


def _named() -> str | None:
    """What the environment names as the ledger."""
    return os.environ.get("LACRE_LEDGER")


def _layout(path: str | Path | None) -> Layout:
    named = path or _named()
    return ledger_at(Path(named)) if named else find_ledger(Path.cwd())


def _desk(layout: Layout, keys: OpenKeys, progress: Progress, state: Path) -> Desk:
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
        clock=_clock,
        entropy=os.urandom,
        progress=progress,
    )


class _Keys:
    """Opens a ledger's keys once; the passphrase is asked for, once too, when one of them is closed."""

    def __init__(self, layout: Layout, passphrase: Passphrase, key: Path | None) -> None:
        self._closed = Keyring(layout.keys, given=key)
        self._ring: Keyring | None = None
        self.passphrase = cache(partial(_given, passphrase))

    def __call__(self) -> Keyring:
        if self._ring is None:
            ring = self._closed
            self._ring = replace(ring, passphrase=self.passphrase()) if ring.closed else replace(ring)
        return self._ring

    def cache_clear(self) -> None:
        self._ring = None


def _given(passphrase: Passphrase) -> str | None:
    given = passphrase() if callable(passphrase) else passphrase
    return given if given is not None else os.environ.get("LACRE_PASSPHRASE")


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
        self,
        study: str,
        pool: str,
        files: str | Path | Sequence[str | Path],
        *,
        as_dev: bool = False,
        recipients: str | Sequence[str] = (),
        replace: bool = False,
        reason: str | None = None,
    ) -> PoolSealed:
        """Seal a pool: all its tables, each of one file or several, as `[TABLE=]FILE`.

        `recipients` (`age1…`) are who can open it, by default this ledger's own. With `replace`, and a reason, the
        files take the place of those of a pool that was not read yet.
        """
        from lacre.broker.seal import seal

        made = seal(
            self._desk,
            study,
            pool,
            _specs(files),
            as_dev=as_dev,
            recipients=_specs(recipients),
            replace=replace,
            reason=reason,
        )
        return PoolSealed.of(made)

    def rewrap(
        self,
        study: str,
        pool: str,
        recipients: str | Sequence[str],
        *,
        identity: str | Path | Sequence[str | Path] = (),
        reason: str | None = None,
    ) -> PoolRewrapped:
        """Hand a sealed pool, and all that is kept beside it, to other recipients; nothing of it is read.

        `identity` names age identity files to open it with, beside the ledger's own.
        """
        from lacre.broker.rewrap import rewrap

        made = rewrap(self._opening(identity), study, pool, _specs(recipients), reason=reason)
        return PoolRewrapped.of(made)

    def _opening(self, identity: str | Path | Sequence[str | Path]) -> Desk:
        """The desk, which opens pools with the identities in these files, too."""
        return self._desk.with_identities([Path(file) for file in _specs(identity)])

    def inputs(
        self,
        study: str,
        pool: str,
        output: str | Path,
        *,
        table: str | None = None,
        overwrite: bool = False,
        reason: str | None = None,
        identity: str | Path | Sequence[str | Path] = (),
    ) -> InputsWritten:
        """Write a pool's ids and input columns as CSV to `output`; on record, and never a reveal."""
        from lacre.broker.inputs import inputs

        desk = self._opening(identity)
        made = inputs(desk, study, pool, Path(output), table=table, overwrite=overwrite, reason=reason)
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
        identity: str | Path | Sequence[str | Path] = (),
    ) -> Result | ReadPlanned:
        """Reveal `teste`: the one read, running all its analyses; files as `[SYSTEM:][TABLE=]FILE`.

        `identity` names age identity files to open the pool with, beside the ledger's own.
        """
        from lacre.broker.reveal import reveal

        outcome = reveal(
            self._opening(identity),
            study,
            _specs(submission),
            accept_dev=accept_dev,
            accept_exposure=accept_exposure,
            dry_run=dry_run,
            protocol=protocol,
            reason=reason,
        )
        return views.result_or_plan(outcome)

    def request_reveal(
        self,
        study: str,
        submission: str | Path | Sequence[str | Path],
        output: str | Path,
        *,
        accept_dev: bool = False,
        accept_exposure: bool = False,
        dry_run: bool = False,
        protocol: str | Path | bytes | None = None,
        reason: str | None = None,
        overwrite: bool = False,
    ) -> RequestWritten | ReadPlanned:
        """Sign a request to reveal `teste` and write it to `output`, for whoever can open the pool.

        Nothing is appended to the ledger. Without a submission the request is to finish a reveal that crashed.
        """
        from lacre.broker.reveal import asked, request_read

        ask = asked(
            self._desk,
            study,
            _specs(submission),
            accept_dev=accept_dev,
            accept_exposure=accept_exposure,
            dry_run=dry_run,
            protocol=protocol,
            reason=reason,
        )
        return views.request_or_plan(request_read(self._desk, ask, Path(output), overwrite=overwrite))

    def answer_reveal(
        self,
        request: str | Path,
        *,
        study: str | None = None,
        dry_run: bool = False,
        protocol: str | Path | bytes | None = None,
        identity: str | Path | Sequence[str | Path] = (),
    ) -> Result | ReadPlanned:
        """Reveal `teste` as the request in a file asks, which somebody else signed; with `dry_run` only look."""
        from lacre.broker.answer import answer

        outcome = answer(
            self._opening(identity), Path(request), "reveal", study=study, dry_run=dry_run, protocol=protocol
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
        identity: str | Path | Sequence[str | Path] = (),
    ) -> Result | ReadPlanned:
        """Run one analysis on `dev` or `contraste`."""
        from lacre.broker.run import run

        outcome = run(
            self._opening(identity),
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

    def amend(
        self,
        protocol: str | Path | bytes,
        *,
        reason: str,
        accept_burn: bool = False,
        accept_infeasible: str | None = None,
        dry_run: bool = False,
        confirm: "Callable[[AmendmentPlanned], bool] | None" = None,
    ) -> Amended | AmendmentPlanned:
        """Put another protocol (a path, or its bytes) in force in the study that it names.

        `confirm` is shown what that does before it is done; its yes accepts the burn in it. With `dry_run`
        that is all there is.
        """
        from lacre.broker.amend import amend

        ask = None if confirm is None else lambda planned: confirm(AmendmentPlanned.of(planned))
        outcome = amend(
            self._desk,
            protocol,
            reason=reason,
            accept_burn=accept_burn,
            accept_infeasible=accept_infeasible,
            dry_run=dry_run,
            confirm=ask,
        )
        return views.amended_or_plan(outcome)

    def deviate(self, what: str, text: str) -> Deviated:
        """Put words on record about a `STUDY`, or about its entry or result `STUDY@ENTRY`."""
        from lacre.broker.deviate import deviate

        return Deviated.of(deviate(self._desk, what, text))

    def withdraw(
        self, study: str, *, reason: str, confirm: "Callable[[StudyState], bool] | None" = None
    ) -> Withdrawn:
        """End a study; what it has on record stays. `confirm` is asked first."""
        from lacre.broker.withdraw import withdraw

        return Withdrawn.of(withdraw(self._desk, study, reason=reason, confirm=confirm))

    def erratum(
        self,
        what: str,
        files: str | Path | Sequence[str | Path],
        *,
        reason: str,
        identity: str | Path | Sequence[str | Path] = (),
    ) -> Result:
        """Score the result `STUDY@ENTRY` again on corrected labels; files as `[TABLE=]FILE`, each table whole.

        `identity` names age identity files that open the pool, where the ledger's own does not.
        """
        from lacre.broker.erratum import erratum

        return Result.of(erratum(self._opening(identity), what, _specs(files), reason=reason))

    def deviations(self, study: str) -> Deviations:
        """Return the table of a study's deviations: what, when, why, and what was known then."""
        from lacre.broker.deviations import deviations

        return Deviations.of(deviations(self._desk, study))

    def recover(self, *, dry_run: bool = False) -> Recovered:
        """Let a ledger restored from a backup grow again to what this machine remembers of it."""
        from lacre.broker.recover import recover

        return Recovered.of(recover(self._desk, dry_run=dry_run))

    def enrol(self, public: str | Path, *roles: "Role", name: str | None = None) -> KeyChanged:
        """Enrol a person's key: its 64 digits, or a PEM file, with the roles `owner`, `registrant`, `custodian`."""
        from lacre.broker.keys import enrol

        return KeyChanged.of(enrol(self._desk, str(public), roles, name))

    def revoke(self, key: str, *, reason: str | None = None) -> KeyChanged:
        """Revoke a key, named by its id, its public half, or eight digits or more of the beginning of either."""
        from lacre.broker.keys import revoke

        return KeyChanged.of(revoke(self._desk, key, reason))

    def rotate(self, part: "Part", *, name: str | None = None) -> KeyChanged:
        """Have a new key take the place of the ledger's own: that of the `person`, the `broker` or the `log`."""
        from lacre.broker.keys import rotate

        return KeyChanged.of(rotate(self._desk, part, name))

    def keys(self) -> Keys:
        """List every key that was ever enrolled."""
        from lacre.broker.keys import listed

        return Keys.of(listed(self._desk))

    def backup_keys(self, path: str | Path, *, passphrase: Passphrase) -> KeysBackedUp:
        """Write all key files into one, closed with `passphrase`; None leaves it open to whoever finds it."""
        from lacre.broker.keys import backup

        return KeysBackedUp.of(backup(self._desk, Path(path), passphrase))

    def recover_keys(self, path: str | Path, *, passphrase: Passphrase = None) -> KeysRecovered:
        """Put back the key files that are missing from a backup with this passphrase, if it is of this ledger.

        `passphrase` may be a function, asked only for a closed backup.
        """
        from lacre.broker.keys import recover

        return KeysRecovered.of(recover(self._desk, Path(path), passphrase))

    def erase(
        self, what: str, *, which: str | None = None, confirm: "Callable[[Doomed], bool] | None" = None
    ) -> Erased:
        """Take a text out of the ledger for good: that which the entry `@ENTRY` named, or one by its digest.

        Of several, `which` says the one: `name`, `reason`, `text`, or its digest. Copies elsewhere stay.
        """
        from lacre.broker.erase import erase

        return Erased.of(erase(self._desk, what, which=which, confirm=confirm))

    def status(self) -> Status:
        """Say where things stand."""
        return Status.of(_show.status(self._desk))

    def log(self, study: str | None = None) -> Log:
        """List the entries, of one study or of all."""
        return Log.of(_show.log(self._desk, study))

    def show(self, what: str | None = None) -> Status | Study | Result | Entry:
        """Show the ledger, a `STUDY`, a result `STUDY@ENTRY`, or any entry by `@ENTRY`."""
        return views.anything_shown(_show.show(self._desk, what))

    def export(
        self, what: str, output: str | Path, *, only_study: bool = False, overwrite: bool = False
    ) -> Exported:
        """Write the result `STUDY@ENTRY` and all that shows it to `output`, a bundle that `verify` checks.

        With `only_study` the entries of other studies are left out, so completeness is not shown.
        """
        from lacre.publish.bundle import export_bundle

        desk, path = self._desk, Path(output)
        if path.exists() and not overwrite:
            raise FileExists(file=str(path))
        # While a snapshot lives nobody commits, so that what is shown in it is of the same moment.
        with desk.memory.snapshot(desk.engine) as reader:
            shown = self.show(what)
            if not isinstance(shown, Result):
                raise NotAName(what=what, verb="export")
            broker = desk.signers.broker(desk.signers.state(reader))
            return export_bundle(
                reader, shown, path, broker=broker, only_study=only_study, overwrite=overwrite
            )

    def export_registry(self, folder: str | Path) -> RegisterExported:
        """Write the public register to `folder`, or bring the one that is there up to date."""
        from lacre.publish.register import write_register
        from lacre.store.locks import hold

        desk = self._desk
        with (
            hold(make_folder(desk.layout.locks) / "export"),
            desk.memory.snapshot(desk.engine) as reader,
        ):
            return RegisterExported.of(write_register(reader, Path(folder)))

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
    registry: str | Path | None = None,
    key: str | None = None,
    memory: Sequence[str | Path] = (),
    state: Path | None = None,
) -> Audit:
    """Audit a ledger as `Ledger.audit` does, and report on one that cannot even be opened, too.

    With `registry` it is a published register, in that folder, that is audited, and nothing of this machine
    is believed or asked. `key` is a verifier key from elsewhere, which the checkpoint must be signed with.
    """
    from lacre.audit.audit import unreadable

    if registry is not None:
        return _audit_register(Path(registry), what, key, memory)
    try:
        layout = _layout(path)
        engine = open_ledger(layout.database)
    except UNREADABLE as error:
        return Audit.of(unreadable(error))
    try:
        return _audit(engine, layout, Memory(state or state_folder()), what, memory, key)
    finally:
        engine.dispose()


def verify(path: str | Path, *, key: str | None = None, memory: Sequence[str | Path] = ()) -> Verified:
    """Check a bundle offline: its log, its law, its result and the numbers in it. Needs no ledger.

    `key` is the log's verifier key, from elsewhere than the bundle; `memory` names receipts, checkpoints and
    register folders that were kept.
    """
    from lacre.publish.verify import verify as verify_bundle

    return Verified.of(verify_bundle(Path(path), key=_verifier(key), memories=_kept(memory)))


def _audit_register(folder: Path, what: str | None, key: str | None, files: Sequence[str | Path]) -> Audit:
    from lacre.audit.audit import audit as audit_source
    from lacre.audit.files import FolderFiles
    from lacre.audit.register import RegisterSource

    study, entry = (None, None) if what is None else split_name(what, "audit")
    source = RegisterSource(FolderFiles(folder))
    report = audit_source(source, memories=_kept(files), key=_verifier(key), study=study or None, entry=entry)
    return Audit.of(report)


def _verifier(key: str | None) -> "VerifierKey | None":
    from lacre.ledger.note import VerifierKey

    return None if key is None else VerifierKey.parse(key)


def _kept(files: Sequence[str | Path]) -> builtins.list["Kept"]:
    """Read what others kept: receipts, checkpoints, and of published registers their checkpoint."""
    from lacre.audit.heads import Memory as Kept
    from lacre.audit.register import CHECKPOINT

    kept = []
    for path in map(Path, files):
        file = path / CHECKPOINT if path.is_dir() else path
        kept.append(Kept.parse(path.name or str(path), read_given(file, most=MOST_KEPT)))
    return kept


def _audit(
    engine: "Engine",
    layout: Layout,
    known: Memory,
    what: str | None,
    files: Sequence[str | Path],
    key: str | None = None,
) -> Audit:
    from lacre.audit.audit import audit as audit_source
    from lacre.audit.audit import unreadable
    from lacre.audit.heads import Head
    from lacre.audit.source import StoreSource

    study, entry = (None, None) if what is None else split_name(what, "audit")
    kept, verifier = _kept(files), _verifier(key)
    try:
        # Read before the snapshot begins: a memory is only ever behind the ledger it was taken from.
        remembered = known.recall(engine)
        with snapshot(engine) as reader:
            report = audit_source(
                StoreSource(reader, layout.pools),
                remembered=Head(remembered.size, remembered.root) if remembered else None,
                memories=kept,
                key=verifier,
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
