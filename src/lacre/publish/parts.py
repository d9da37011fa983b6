"""What of a ledger goes out to strangers: its entries, and the documents that they name and nobody erased."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from lacre.audit.register import copies_of
from lacre.audit.tree import Tree
from lacre.errors import DocumentMissing, StoreCorrupt
from lacre.ledger.checkpoint import Checkpoint
from lacre.ledger.merkle import leaf_hash
from lacre.ledger.note import Note
from lacre.ledger.tiles import Tile
from lacre.protocol.models import Protocol
from lacre.rules.named import named_by
from lacre.rules.record import Answered, Recorded, parse_entry
from lacre.rules.requests import Erase
from lacre.rules.state import State, fold
from lacre.store.reader import Reader
from lacre.text import _

FILE, FOLDER = 0o644, 0o755
"""The modes of what is to be served or handed on."""

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


def gather(reader: Reader, wanted: Wanted) -> Parts:
    """Go through the ledger once. Raises `StoreCorrupt` where its checkpoint is not of its entries."""
    note = reader.checkpoint()
    if note is None:
        raise StoreCorrupt(path=reader.path, why=_("it has no checkpoint"))
    parts = Parts(Checkpoint.parse(Note.parse(note).text), note)
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

    def none(digest: str) -> Protocol:
        raise DocumentMissing(digest=digest)

    return fold((parse_entry(row.index, row.envelope) for row in reader.study_entries("")), none)


def documents(reader: Reader, parts: Parts) -> Iterator[tuple[str, bytes]]:
    """Yield each document that goes out, its salt before its body. Raises `DocumentMissing`."""
    for digest in sorted(parts.named.keys() - parts.erased):
        found = reader.document(digest)
        if found is None:
            raise DocumentMissing(digest=digest)
        yield digest, (found.salt or b"") + found.body


def entries_of(reader: Reader, tile: Tile) -> list[bytes]:
    """Return the entries of a bundle of the log."""
    return [row.envelope for row in reader.entries(tile.start, tile.stop)]
