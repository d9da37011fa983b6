"""What is audited, behind one face: the store's reader, and whatever else holds a log and its documents.

A source hands out bytes and believes none of them. What only the place can show where a ledger is kept (its
database's own state, its sealed blobs) stands apart, as `Premises`, which a copy made for strangers has not.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Protocol

from lacre.audit.findings import Noted
from lacre.audit.tree import Tree
from lacre.durable import sha256_of
from lacre.errors import NotReadable, PoolNameUnsafe
from lacre.store.discover import BlobKind, blob_name, pool_folder
from lacre.store.reader import SALT_SIZE, Columns, Document as StoredDocument, Reader, document_digest

STORED = ("leaf_hash", *(field.name for field in fields(Columns)))
"""What a database keeps beside an entry, each of it derived again by the audit."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry's index and exact bytes; `stored` is what a database keeps beside them, by column."""

    index: int
    data: bytes
    stored: Mapping[str, object] | None = None


@dataclass(frozen=True, slots=True)
class Redacted:
    """An entry that a copy leaves out: its index, and the hash of its leaf, which stands for it in the tree."""

    index: int
    leaf: bytes


@dataclass(frozen=True, slots=True)
class Document:
    """A document beside the log: its bytes, the salt of its digest if it has one, and its media type.

    Where the media type is None the place keeps plain files: then `body` begins with the salt, if there is one.
    """

    body: bytes
    salt: bytes | None
    media: str | None

    @property
    def digest(self) -> str:
        """The SHA-256 of salt and body, in hexadecimal."""
        return document_digest(self.body, self.salt)

    def read_as(self, *, media: str, salted: bool) -> "Document":
        """Return the document as an entry names it, its salt apart and its type known, of a plain file too."""
        if self.media is not None:
            return self
        if not salted:
            return Document(self.body, None, media)
        return Document(self.body[SALT_SIZE:], self.body[:SALT_SIZE], media)


class Premises(Protocol):
    """What only the place shows where a ledger is kept."""

    def integrity(self) -> Sequence[str]:
        """Return what the database itself finds damaged."""

    def form(self) -> Mapping[str, str]:
        """Return what the database is made of: a digest of each table, index and trigger, by name."""

    def nodes(self) -> Iterator[tuple[int, int, bytes]]:
        """Yield the stored nodes of the tree above its leaves: level, position, hash."""

    def documents(self) -> Iterator[tuple[str, Document]]:
        """Yield all stored documents, each under the digest it is filed by."""

    def checkpoint_size(self) -> int | None:
        """Return the number of entries the checkpoint is filed under; None where there is no checkpoint."""

    def blob(self, study: str, pool: str, kind: BlobKind, digest: str) -> bool | None:
        """Tell whether a blob has this SHA-256; None where it cannot be read."""


class Published(Protocol):
    """What a published copy shows beside its log and documents: that it is whole, and nothing else is in it."""

    @property
    def bundle(self) -> bool:
        """Whether it is the copy of one moment, which a ledger may well have outgrown."""

    def erased_ahead(self) -> Collection[str]:
        """Return the digests of texts that are gone already, by an entry beyond the checkpoint."""

    def check(self, tree: Tree, named: Collection[str], copies: Mapping[str, str]) -> Iterator[Noted]:
        """Hold its files against the entries' `tree` (roots, nodes, leaves).

        `named` are the digests of the documents that entries name, `copies` those of the documents that
        stand a second time, by the path they have there.
        """


class Source(Protocol):
    """A log and its documents. Methods raise `LacreError` alone, where the bytes cannot be got at."""

    def entries(self) -> Iterator[Entry | Redacted]:
        """Yield the entries by rising index; a missing one is left out."""

    def document(self, digest: str) -> Document | None:
        """Return the document filed under `digest` (64 hexadecimal digits)."""

    def checkpoint(self) -> bytes | None:
        """Return the latest signed checkpoint, a C2SP note."""

    def premises(self) -> Premises | None:
        """Return what else can be looked at, where the ledger itself is at hand."""

    def published(self) -> Published | None:
        """Return what else can be looked at, where the log is a copy for strangers."""

    def holds(self, study: str | None) -> bool:
        """Tell whether documents of `study` (None: of the ledger itself) belong into this copy of the log."""


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

    def published(self) -> None:
        """Return nothing: this is no copy."""

    def holds(self, study: str | None) -> bool:  # noqa: ARG002 - of every study
        """Tell that all documents belong here."""
        return True

    def integrity(self) -> Sequence[str]:
        """Return what SQLite finds damaged."""
        return self._reader.integrity()

    def form(self) -> Mapping[str, str]:
        """Return what the database is made of."""
        return self._reader.form()

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
