"""`recover`: let a ledger that was restored from a backup grow again to what this machine remembers of it.

Entries come back byte for byte, with their documents, under the checkpoint that was signed then: nothing is
signed anew, no key is needed, and either all of it is written or nothing. What the memory does not keep are the
sealed files; those that are not there are named.
"""

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from lacre.broker.desk import Desk, names_of, view
from lacre.broker.outcomes import Recovered
from lacre.broker.parts import LostBlob, LostDocument
from lacre.errors import FormatError, LedgerForked, MemoryDamaged, StoreCorrupt
from lacre.ledger.checkpoint import SignedCheckpoint
from lacre.rules.keys import log_verifiers
from lacre.rules.named import Named, named_by
from lacre.rules.record import Recorded, columns_of, parse_entry
from lacre.store.blobs import blobs_of
from lacre.store.memory import Kept, compare
from lacre.store.reader import Columns
from lacre.store.writer import Transaction
from lacre.text import N_, _


def recover(desk: Desk, *, dry_run: bool = False) -> Recovered:
    """Bring back the entries and documents that the ledger lacks and this machine remembers.

    With `dry_run` all of it is done and taken back. Raises `NothingRemembered`; `LedgerForked` for a ledger
    that is no beginning of what is remembered; `MemoryDamaged`, `MemoryDocumentDamaged`; and what writing does.
    """
    with desk.snapshot() as reader:
        genesis = reader.genesis()
        if genesis is None:
            raise StoreCorrupt(path=reader.path, why=_("it has no entry"))
    with desk.memory.kept(genesis) as kept:
        with desk.writer.recovery(kept.known, keep=not dry_run) as tx:
            start = tx.size
            entries = tuple(_append(desk, tx, kept))
            returned = _return_documents(tx, kept)
            recovered = Recovered(
                folder=desk.layout.root,
                dry_run=dry_run,
                before=start,
                size=tx.size,
                root=tx.root_at(tx.size).hex(),
                entries=entries,
                documents=returned.documents,
                erased=returned.erased,
                lost_documents=returned.lost,
                lost_blobs=tuple(_lost_blobs(desk, entries)),
                names=names_of(tx, view(tx, "")),
                warnings=tuple(_warnings(kept, entries)),
            )
            erased = frozenset(tx.erasures())
        if not dry_run:
            kept.forget(erased)
    return recovered


# --- entries -----------------------------------------------------------------------------------------------


def _append(desk: Desk, tx: Transaction, kept: Kept) -> Iterator[Recorded]:
    """Append what the ledger lacks, once what is remembered proved whole and the ledger its beginning."""
    known, start = kept.known, tx.size
    root = kept.root_at(min(start, known.size))
    if start >= known.size:
        compare(tx, known.size, known.root)
        return
    if tx.root_at(start) != root:
        raise LedgerForked(remembered=start)
    for index, envelope in enumerate(kept.entries(start), start):
        made = parse_entry(index, envelope)
        tx.append(envelope, Columns(**columns_of(made)))
        desk.progress(N_("recovering"), index + 1 - start, known.size - start)
        yield made
    _check_note(tx, kept)


def _check_note(tx: Transaction, kept: Kept) -> None:
    """The remembered checkpoint becomes the ledger's own: it must be one."""
    state = view(tx, "")
    verifiers = log_verifiers(state.origin, state.keys.values(), tx.size)
    try:
        checkpoint = SignedCheckpoint.open(kept.known.note, verifiers).checkpoint
    except FormatError as error:
        raise MemoryDamaged(path=str(kept.checkpoint_file), why=error.message.rstrip(".")) from error
    if (checkpoint.size, checkpoint.root) != (tx.size, tx.root_at(tx.size)):
        raise MemoryDamaged(
            path=str(kept.checkpoint_file), why=_("its signed checkpoint is not that of its entries")
        )


def _warnings(kept: Kept, entries: Sequence[Recorded]) -> Iterator[str]:
    if kept.has_tail():
        yield _(
            "{path} holds more than the checkpoint beside it counts: an entry that was being remembered in a crash, "
            "or whose checkpoint was damaged. It was not brought back."
        ).format(path=kept.entries_file)
    for recorded in entries:
        if recorded.kind == "key":
            yield _(
                "Entry {entry} changed the ledger's keys. The key files in this folder may be those from before: "
                "put back newer ones if you have them."
            ).format(entry=recorded.index)


# --- documents ---------------------------------------------------------------------------------------------


class _Returned(NamedTuple):
    """How many documents were put back, and taken out; and those that neither the ledger nor the memory has."""

    documents: int
    erased: int
    lost: tuple[LostDocument, ...]


def _return_documents(tx: Transaction, kept: Kept) -> _Returned:
    erased, here, kept_here = frozenset(tx.erasures()), tx.document_digests(), kept.digests()
    named: dict[str, Named] = {}
    for stored in tx.entries():
        for each in named_by(parse_entry(stored.index, stored.envelope)):
            named.setdefault(each.digest, each)
    lacking = named.keys() - here - erased
    return _Returned(
        documents=_put(tx, kept, sorted(lacking & kept_here)),
        erased=sum(tx.erase_document(digest) for digest in sorted(erased & here)),
        lost=tuple(
            LostDocument(each.what, each.digest, each.entry)
            for digest, each in named.items()
            if digest in lacking - kept_here
        ),
    )


def _put(tx: Transaction, kept: Kept, digests: Collection[str]) -> int:
    for digest in digests:
        document = kept.document(digest)
        assert document is not None, "its name is in the folder, whose lock is held"
        tx.put_document(document.body, document.media, document.salt)
    return len(digests)


# --- sealed files ------------------------------------------------------------------------------------------


def _lost_blobs(desk: Desk, entries: Sequence[Recorded]) -> Iterator[LostBlob]:
    """Name each file once, by the entry that brought it."""
    seen: set[Path] = set()
    for recorded in entries:
        for blob in blobs_of(recorded):
            path = desk.vault.path(blob.study, blob.pool, blob.kind, blob.digest)
            if path not in seen and not path.is_file():
                yield LostBlob(blob.study, blob.pool, blob.entry, blob.kind, path)
            seen.add(path)
