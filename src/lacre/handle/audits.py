"""Audits of a ledger or a register, and of bundles: what needs no open ledger."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from lacre.broker.names import split_name
from lacre.durable import read_given
from lacre.errors import NotReadable, reason_of
from lacre.handle.making import MOST_KEPT, UNREADABLE, layout_of, state_folder
from lacre.report.views import (
    Audit,
    Verified,
)
from lacre.store.discover import Layout
from lacre.store.engine import open_ledger
from lacre.store.memory import Memory
from lacre.store.reader import snapshot

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from lacre.audit.heads import Log, Memory as OthersMemory
    from lacre.ledger.note import VerifierKey


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
        layout = layout_of(path)
        engine = open_ledger(layout.database)
    except UNREADABLE as error:
        return Audit.of(unreadable(error))
    try:
        return audit_store(engine, layout, Memory(state or state_folder()), what, memory, key)
    finally:
        engine.dispose()


def verify(path: str | Path, *, key: str | None = None, memory: Sequence[str | Path] = ()) -> Verified:
    """Check a bundle offline: its log, its law, its result and the numbers in it. Needs no ledger.

    `key` is the log's verifier key, from elsewhere than the bundle; `memory` names receipts, checkpoints and
    register folders that were kept.
    """
    from lacre.publish.verify import verify as verify_bundle

    return Verified.of(verify_bundle(Path(path), key=verifier(key), memories=kept_heads(memory)))


def _audit_register(folder: Path, what: str | None, key: str | None, files: Sequence[str | Path]) -> Audit:
    from lacre.audit.audit import audit as audit_source
    from lacre.audit.files import FolderFiles
    from lacre.audit.register import RegisterSource

    study, entry = _scope(what)
    source = RegisterSource(FolderFiles(folder))
    report = audit_source(source, memories=kept_heads(files), key=verifier(key), study=study, entry=entry)
    return Audit.of(report)


def _scope(what: str | None) -> tuple[str | None, int | None]:
    """Return the study and the entry that an audit is to tell of; None for what is not named."""
    study, entry = ("", None) if what is None else split_name(what, "audit")
    return study or None, entry


def verifier(key: str | None) -> "VerifierKey | None":
    """Read a verifier key that was given. Raises `VerifierKeyInvalid`."""
    from lacre.ledger.note import VerifierKey

    return None if key is None else VerifierKey.parse(key)


def kept_heads(files: Sequence[str | Path]) -> list["OthersMemory"]:
    """Read what others kept: receipts, checkpoints, and of published registers their checkpoint and tree.

    Raises `NotReadable`, and `FormatError`s.
    """
    from lacre.audit.heads import Memory as OthersMemory
    from lacre.audit.register import CHECKPOINT

    kept = []
    for path in map(Path, files):
        is_register = _is_folder(path)
        file = path / CHECKPOINT if is_register else path
        memory = OthersMemory.parse(path.name or str(path), read_given(file, most=MOST_KEPT))
        if is_register:
            # Its entries are read only where the checkpoint alone cannot tell.
            memory = replace(memory, log=cache(partial(_log_of, path)))
        kept.append(memory)
    return kept


def _log_of(folder: Path) -> "Log":
    from lacre.audit.audit import audit
    from lacre.audit.files import FolderFiles
    from lacre.audit.heads import Log
    from lacre.audit.register import RegisterSource

    source = RegisterSource(FolderFiles(folder))
    report = audit(source)
    keys = report.ledger.keys.values() if report.ok and report.ledger is not None else ()
    return Log(source.tree(), tuple(keys))


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError as error:  # of a name that is too long
        raise NotReadable(path=str(path), why=reason_of(error)) from error


def audit_store(
    engine: "Engine",
    layout: Layout,
    known: Memory,
    what: str | None,
    files: Sequence[str | Path],
    key: str | None = None,
) -> Audit:
    """Audit an opened ledger against what this machine (`known`) and others (`files`) remember of it."""
    from lacre.audit.audit import audit as audit_source, unreadable
    from lacre.audit.heads import Head
    from lacre.audit.source import StoreSource

    study, entry = _scope(what)
    kept, known_by = kept_heads(files), verifier(key)
    try:
        # Read before the snapshot begins: a memory is only ever behind the ledger it was taken from.
        remembered = known.recall(engine)
        twins = known.checkpoints()
        with snapshot(engine) as reader:
            report = audit_source(
                StoreSource(reader, layout.pools),
                remembered=Head(remembered.size, remembered.root) if remembered else None,
                twins=[note for note in twins if remembered is None or note != remembered.note],
                memories=kept,
                key=known_by,
                study=study,
                entry=entry,
            )
    except UNREADABLE as error:
        report = unreadable(error)
    return Audit.of(report)
