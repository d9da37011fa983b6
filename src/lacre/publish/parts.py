"""What of a ledger goes out to strangers: its entries, and the documents that they name and nobody erased."""

import os
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from lacre.audit.register import copies_of, document_path, is_copy
from lacre.audit.tree import Tree
from lacre.errors import (
    ExportForked,
    ExportIntoLedger,
    ExportRolledBack,
    LedgerForked,
    LedgerRolledBack,
    NotWritten,
    StoreCorrupt,
)
from lacre.ledger.checkpoint import Checkpoint
from lacre.ledger.merkle import leaf_hash
from lacre.ledger.tiles import bundles_of, pack, tiles_of
from lacre.rules.named import named_by
from lacre.rules.record import Answered, Recorded, parse_entry
from lacre.rules.requests import Erase
from lacre.rules.state import State, fold_ledger
from lacre.store.discover import Layout
from lacre.store.memory import Memory
from lacre.store.reader import Reader
from lacre.text import _

if TYPE_CHECKING:
    from sqlalchemy import Engine

FILE, FOLDER = 0o644, 0o755
"""The modes of what is to be served or handed on."""

PRIVATE = (Layout(Path()).database.name, Layout(Path()).keys.name)
"""What only the folder of a ledger has, or a folder where keys are kept."""

Wanted = Callable[[Recorded], bool]


@dataclass
class Parts:
    """The parts that belong to the wanted entries, by digest and path; `tree` is of all entries.

    `erased` are digests that no longer have a document, `left_out` the entries that were not wanted.
    """

    checkpoint: Checkpoint
    note: bytes
    tree: Tree = field(default_factory=Tree)
    named: dict[str, int] = field(default_factory=dict)
    copies: dict[str, str] = field(default_factory=dict)
    erased: set[str] = field(default_factory=set)
    left_out: set[int] = field(default_factory=set)

    @property
    def size(self) -> int:
        """The number of entries."""
        return self.tree.size

    def hash_at(self, level: int, position: int) -> bytes:
        """Return a hash of the tree, which has it."""
        found = self.tree.hash_at(level, position)
        assert found is not None
        return found


@contextmanager
def snapshot_to_export(memory: Memory, engine: "Engine") -> Iterator[Reader]:
    """Read the ledger as it stands now, if it extends what this machine remembers of it.

    Raises `ExportRolledBack`, `ExportForked`, and what else `Memory.snapshot` does.
    """
    try:
        with memory.snapshot(engine) as reader:
            yield reader
    except LedgerRolledBack as error:
        raise ExportRolledBack(**error.fields) from error
    except LedgerForked as error:
        raise ExportForked(**error.fields) from error


def check_outside(place: Path, layout: Layout) -> None:
    """Refuse a file or a folder for strangers where a ledger keeps what is secret.

    Raises `ExportIntoLedger`, and `NotWritten` for a path that no place has.
    """
    try:
        real, root = place.resolve(), layout.root.resolve()
        is_folder = real.is_dir()
        private = [name for name in PRIVATE if is_folder and os.path.lexists(real / name)]
    except (OSError, RuntimeError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise NotWritten(path=str(place), why=why) from error
    if real == root or root in real.parents:
        raise ExportIntoLedger(path=str(place), why=_("it is the folder of this ledger, or in it"))
    # A study may be called `keys`, and then a register has a folder for it.
    if private and not (private == [PRIVATE[1]] and _is_study(real / PRIVATE[1])):
        raise ExportIntoLedger(path=str(place), why=_("it holds {name}").format(name=private[0]))


def _is_study(folder: Path) -> bool:
    """Tell whether a folder holds nothing but what a register keeps of a study."""
    return folder.is_dir() and all(is_copy(each.name) for each in folder.iterdir())


def gather(reader: Reader, wanted: Wanted) -> Parts:
    """Go through the ledger once. Raises `StoreCorrupt` where its checkpoint is not of its entries."""
    note = reader.checkpoint()
    if note is None:
        raise StoreCorrupt(path=reader.path, why=_("it has no checkpoint"))
    parts = Parts(Checkpoint.of_note(note), note)
    for row in reader.entries():
        recorded = parse_entry(row.index, row.envelope)
        parts.tree.append(leaf_hash(row.envelope))
        content = recorded.content
        if isinstance(content, Answered) and isinstance(content.request, Erase):
            parts.erased.add(content.request.digest)
        if not wanted(recorded):
            parts.left_out.add(row.index)
            continue
        for named in named_by(recorded):
            parts.named.setdefault(named.digest, recorded.index)
        parts.copies |= copies_of(recorded)
    if (parts.checkpoint.size, parts.checkpoint.root) != (parts.tree.size, parts.tree.root):
        raise StoreCorrupt(path=reader.path, why=_("its checkpoint is not that of its entries"))
    return parts


def keys_of(reader: Reader) -> State:
    """Return the ledger as its own entries make it: its name, and its keys."""
    return fold_ledger(parse_entry(row.index, row.envelope) for row in reader.study_entries(""))


def log_files(
    reader: Reader, parts: Parts, left_out: Collection[int] = frozenset()
) -> Iterator[tuple[str, bytes]]:
    """Yield the files of the log, path and content: its entries, those `left_out` empty, and their hashes."""
    for tile in bundles_of(parts.size):
        rows = reader.entries(tile.start, tile.stop)
        yield tile.path, pack(b"" if row.index in left_out else row.envelope for row in rows)
    for tile in tiles_of(parts.size):
        yield tile.path, tile.hashes(parts.hash_at)


def document_files(reader: Reader, parts: Parts) -> Iterator[tuple[str, bytes]]:
    """Yield each document that goes out, path and content: its salt before its body; then the studies' copies.

    Raises `DocumentMissing`.
    """
    for digest in sorted(parts.named.keys() - parts.erased):
        found = reader.require_document(digest)
        yield document_path(digest), (found.salt or b"") + found.body
    for path, digest in parts.copies.items():
        yield path, reader.require_document(digest).body
