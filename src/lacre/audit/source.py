"""What is audited, behind one face: the store's reader, and whatever else holds a log and its documents.

A source hands out bytes and believes none of them. What only the place can show where a ledger is kept (its
database's own state, its sealed blobs) stands apart, as `Premises`, which a copy made for strangers has not.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Protocol

from lacre.durable import sha256_of
from lacre.errors import NotReadable, PoolNameUnsafe
from lacre.store.discover import BlobKind, blob_name, pool_folder
from lacre.store.reader import Columns, Reader, document_digest
from lacre.store.reader import Document as StoredDocument

STORED = ("leaf_hash", *(field.name for field in fields(Columns)))
"""What a database keeps beside an entry, each of it derived again by the audit."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry's index and exact bytes; `stored` is what a database keeps beside them, by column."""

    index: int
    data: bytes
    stored: Mapping[str, object] | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """A document beside the log: its bytes, the salt of its digest if it has one, and its media type."""

    body: bytes
    salt: bytes | None
    media: str

    @property
    def digest(self) -> str:
        """The SHA-256 of salt and body, in hexadecimal."""
        return document_digest(self.body, self.salt)


class Premises(Protocol):
    """What only the place shows where a ledger is kept."""

    def integrity(self) -> Sequence[str]:
        """Return what the database itself finds damaged."""

    def nodes(self) -> Iterator[tuple[int, int, bytes]]:
        """Yield the stored nodes of the tree above its leaves: level, position, hash."""

    def documents(self) -> Iterator[tuple[str, Document]]:
        """Yield all stored documents, each under the digest it is filed by."""

    def checkpoint_size(self) -> int | None:
        """Return the number of entries the checkpoint is filed under; None where there is no checkpoint."""

    def blob(self, study: str, pool: str, kind: BlobKind, digest: str) -> bool | None:
        """Tell whether a blob has this SHA-256; None where it cannot be read."""


class Source(Protocol):
    """A log and its documents. Methods raise `LacreError` alone, where the bytes cannot be got at."""

    def entries(self) -> Iterator[Entry]:
        """Yield the entries by rising index; a missing one is left out."""

    def document(self, digest: str) -> Document | None:
        """Return the document filed under `digest` (64 hexadecimal digits)."""

    def checkpoint(self) -> bytes | None:
        """Return the latest signed checkpoint, a C2SP note."""

    def premises(self) -> Premises | None:
        """Return what else can be looked at, where the ledger itself is at hand."""


class StoreSource:
    """A ledger at hand: a snapshot of its store, and the folder of its sealed pools."""

    def __init__(self, reader: Reader, pools: Path) -> None:
        self._reader = reader
        self._pools = pools

    def entries(self) -> Iterator[Entry]:
        """Yield the entries with their stored columns."""
        for row in self._reader.entries():
            stored = {name: getattr(row, name) for name in STORED}
            yield Entry(row.index, _bytes(row.envelope), stored)

    def document(self, digest: str) -> Document | None:
        """Return the document filed under `digest`."""
        found = self._reader.document(digest)
        return None if found is None else _document(found)

    def checkpoint(self) -> bytes | None:
        """Return the stored checkpoint."""
        note = self._reader.checkpoint()
        return None if note is None else _bytes(note)

    def premises(self) -> Premises:
        """Return the ledger's own place."""
        return self

    def integrity(self) -> Sequence[str]:
        """Return what SQLite finds damaged."""
        return self._reader.integrity()

    def nodes(self) -> Iterator[tuple[int, int, bytes]]:
        """Yield the stored nodes."""
        return self._reader.nodes()

    def documents(self) -> Iterator[tuple[str, Document]]:
        """Yield all stored documents."""
        for row in self._reader.documents():
            yield str(row.digest), _document(row)

    def checkpoint_size(self) -> int | None:
        """Return the size the checkpoint is filed under."""
        return self._reader.checkpoint_size

    def blob(self, study: str, pool: str, kind: BlobKind, digest: str) -> bool | None:
        """Tell whether the file of a blob has the SHA-256 it is named by."""
        try:
            return sha256_of(pool_folder(self._pools, study, pool) / blob_name(kind, digest)) == digest
        except (NotReadable, PoolNameUnsafe):
            return None


def _document(row: StoredDocument) -> Document:
    salt = None if row.salt is None else _bytes(row.salt)
    return Document(_bytes(row.body), salt, str(row.media))


def _bytes(value: object) -> bytes:
    # A database that was tampered with may hold anything in a column.
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")
