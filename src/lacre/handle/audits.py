"""Audits of a ledger or a register, and of bundles: what needs no open ledger."""

import builtins
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lacre.broker.names import split_name
from lacre.durable import read_given
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

    from lacre.audit.heads import Memory as Kept
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

    study, entry = (None, None) if what is None else split_name(what, "audit")
    source = RegisterSource(FolderFiles(folder))
    report = audit_source(
        source, memories=kept_heads(files), key=verifier(key), study=study or None, entry=entry
    )
    return Audit.of(report)


def verifier(key: str | None) -> "VerifierKey | None":
    from lacre.ledger.note import VerifierKey

    return None if key is None else VerifierKey.parse(key)


def kept_heads(files: Sequence[str | Path]) -> builtins.list["Kept"]:
    """Read what others kept: receipts, checkpoints, and of published registers their checkpoint."""
    from lacre.audit.heads import Memory as Kept
    from lacre.audit.register import CHECKPOINT

    kept = []
    for path in map(Path, files):
        file = path / CHECKPOINT if path.is_dir() else path
        kept.append(Kept.parse(path.name or str(path), read_given(file, most=MOST_KEPT)))
    return kept


def audit_store(
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
    kept, known_by = kept_heads(files), verifier(key)
    try:
        # Read before the snapshot begins: a memory is only ever behind the ledger it was taken from.
        remembered = known.recall(engine)
        with snapshot(engine) as reader:
            report = audit_source(
                StoreSource(reader, layout.pools),
                remembered=Head(remembered.size, remembered.root) if remembered else None,
                memories=kept,
                key=known_by,
                study=study or None,
                entry=entry,
            )
    except UNREADABLE as error:
        report = unreadable(error)
    return Audit.of(report)
