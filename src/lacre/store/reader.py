"""A snapshot of the ledger: everything read through one `Reader` is of one moment.

While a snapshot lives, others read and prepare their writes, and wait with the commit: use it and let go. Who
writes reads through the transaction itself (`lacre.store.writer`), never through a snapshot beside it.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Engine, Executable, Row, bindparam, func, or_, select, text

from lacre.canonical import MAX_SAFE, sha256_hex
from lacre.errors import DocumentMissing, EntryNotFound, StoreCorrupt, StoreError
from lacre.ledger import merkle
from lacre.store import tables
from lacre.store.engine import path_of
from lacre.store.failures import refusing, while_others_get_on
from lacre.store.form import OBJECTS, form_of
from lacre.text import _

SALT_SIZE = 32
"""The one length of a document's salt in bytes, so that where it ends and the body begins is no question."""

_BATCH = 256
_UNKNOWN = b""  # no leaf hash


@dataclass(frozen=True, kw_only=True, slots=True)
class Columns:
    """What the store keeps beside an entry to find it by; all of it can be derived from the signed bytes.

    `previous` is the study's entry before, `finishes` the read that a read finishes, `erases` the digest of
    the text that an entry takes out.
    """

    kind: str
    time: str
    study: str | None = None
    pool: str | None = None
    read_class: str | None = None
    previous: int | None = None
    nonce: str | None = None
    finishes: int | None = None
    erases: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredEntry(Columns):
    """An entry as it is stored: its envelope's bytes, its leaf hash (32 bytes), and its columns."""

    index: int
    envelope: bytes
    leaf_hash: bytes


@dataclass(frozen=True, slots=True)
class Document:
    """A document beside the log; `digest` is `document_digest(body, salt)` in a sound store."""

    digest: str
    media: str
    salt: bytes | None
    body: bytes


def document_digest(body: bytes, salt: bytes | None = None) -> str:
    """Return the SHA-256 of `body`, or of salt and body, in hexadecimal: what entries name a document by."""
    return sha256_hex((salt or b"") + body)


_index = tables.entries.c["index"]
_NAMES = tuple(tables.entries.c.keys())
_HEAD = select(
    select(func.max(_index)).scalar_subquery().label("last"),
    select(tables.entries.c.envelope).where(_index == 0).scalar_subquery().label("genesis"),
    select(tables.entries.c.time).order_by(_index.desc()).limit(1).scalar_subquery().label("time"),
    select(tables.checkpoint.c.size).scalar_subquery().label("checkpoint_size"),
    select(tables.checkpoint.c.note).scalar_subquery().label("note"),
)
_IN_RANGE = (_index >= bindparam("start"), _index < bindparam("stop"))
_RANGE = select(tables.entries).where(*_IN_RANGE).order_by(_index)
_IN_STUDY = or_(tables.entries.c.study == bindparam("study"), text(tables.KEY_KINDS))
_OF_STUDY = select(tables.entries).where(_IN_STUDY, _index >= bindparam("start")).order_by(_index)
_STUDIES = (
    select(tables.entries.c.study)
    .where(tables.entries.c.study.is_not(None))
    .group_by(tables.entries.c.study)
    .order_by(func.min(_index))
)
_DOCUMENT = select(tables.documents).where(tables.documents.c.digest == bindparam("digest"))
_DOCUMENTS = select(tables.documents).order_by(tables.documents.c.digest)
_DIGESTS = select(tables.documents.c.digest)
_ERASURES = (
    select(tables.entries.c.erases, func.min(_index).label("entry"))
    .where(tables.entries.c.erases.is_not(None))
    .group_by(tables.entries.c.erases)
)
_KEY_CHANGE = (
    select(tables.entries.c.leaf_hash)
    .where(text(tables.KEY_KINDS), tables.entries.c.kind == "key")
    .order_by(_index.desc())
    .limit(1)
)
_OBJECTS = text(OBJECTS)
_LEAF = select(tables.entries.c.leaf_hash).where(_index == bindparam("position"))
_NODES = select(tables.nodes).order_by(tables.nodes.c.level, tables.nodes.c.position)
_NODE = select(tables.nodes.c.hash).where(
    tables.nodes.c.level == bindparam("level"), tables.nodes.c.position == bindparam("position")
)


class Reader:
    """What the ledger holds at one moment. Made by `snapshot`; of no use after its block."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.path = path_of(connection.engine)
        with refusing(self.path):
            # What is read first takes the lock that all the rest is read under.
            row = while_others_get_on(self.path, lambda: connection.execute(_HEAD).one())
        if row.last is not None and row.last >= MAX_SAFE:
            raise StoreCorrupt(path=self.path, why=_("its entries are not numbered one after the other"))
        self._size = 0 if row.last is None else row.last + 1
        self._genesis: bytes | None = row.genesis
        self._time: str | None = row.time
        self._checkpoint_size: int | None = row.checkpoint_size
        self._note: bytes | None = row.note
        self._key_change: bytes | None = _UNKNOWN

    @property
    def size(self) -> int:
        """The number of entries."""
        return self._size

    @property
    def head(self) -> bytes | None:
        """The signed checkpoint, where it is of all the entries that changed the ledger's keys; else None."""
        return self._note if self._checkpoint_size == self._size else None

    @property
    def last_time(self) -> str | None:
        """The stored time of the last entry; None while there is none."""
        return self._time

    def genesis(self) -> str | None:
        """Return the genesis hash (the leaf hash of entry 0) in hexadecimal; None while there is none."""
        return None if self._genesis is None else merkle.leaf_hash(self._genesis).hex()

    def checkpoint(self) -> bytes | None:
        """Return the latest signed checkpoint, a C2SP note; None before the first."""
        return self._note

    def entry(self, index: int) -> StoredEntry:
        """Return the entry `index`. Raises `EntryNotFound`."""
        for entry in self.entries(index, index + 1):
            return entry
        raise EntryNotFound(index=index, size=self.size)

    def entries(self, start: int = 0, stop: int | None = None) -> Iterator[StoredEntry]:
        """Yield the entries from `start` up to, not including, `stop` (default: all there are), in order."""
        start, stop = max(start, 0), self.size if stop is None else min(stop, self.size)
        if start < stop:
            yield from map(_entry, self._stream(_RANGE, {"start": start, "stop": stop}))

    def study_entries(self, study: str, start: int = 0) -> tuple[StoredEntry, ...]:
        """Return the entries, from index `start` on, that the state of `study` depends on, in order.

        They are its own and the ledger's genesis and key entries, found through indexes.
        """
        return tuple(map(_entry, self._rows(_OF_STUDY, study=study, start=start)))

    def studies(self) -> tuple[str, ...]:
        """Return the names of the studies, in the order of their first entries."""
        return tuple(row.study for row in self._rows(_STUDIES))

    def document(self, digest: str) -> Document | None:
        """Return the document of this digest (64 hexadecimal digits), or None."""
        for row in self._rows(_DOCUMENT, digest=digest):
            return Document(row.digest, row.media, row.salt, row.body)
        return None

    def require_document(self, digest: str) -> Document:
        """Return the document of this digest. Raises `DocumentMissing`."""
        found = self.document(digest)
        if found is None:
            raise DocumentMissing(digest=digest)
        return found

    def documents(self) -> Iterator[Document]:
        """Yield all documents, by digest."""
        for row in self._stream(_DOCUMENTS, {}):
            yield Document(row.digest, row.media, row.salt, row.body)

    def document_digests(self) -> frozenset[str]:
        """Return the digests of all documents."""
        return frozenset(row.digest for row in self._rows(_DIGESTS))

    def erasures(self) -> dict[str, int]:
        """Return the digests of the documents that entries took out, each with the entry that did."""
        return {row.erases: row.entry for row in self._rows(_ERASURES)}

    def key_change(self) -> bytes | None:
        """Return the leaf hash of the latest entry that changed the ledger's keys; None where none did.

        Entries are never changed, so for whoever folded the keys once it tells whether they are still the same.
        """
        if self._key_change is _UNKNOWN:
            self._key_change = next((row.leaf_hash for row in self._rows(_KEY_CHANGE)), None)
        return self._key_change

    def nodes(self) -> Iterator[tuple[int, int, bytes]]:
        """Yield the stored nodes of the tree above its leaves: level, position, hash."""
        for row in self._stream(_NODES, {}):
            yield row.level, row.position, row.hash

    @property
    def checkpoint_size(self) -> int | None:
        """The number of entries the latest checkpoint is filed under; None before the first."""
        return self._checkpoint_size

    def subtree(self, level: int, position: int) -> bytes:
        """Return the hash of the complete subtree at `level` and `position`: the merkle module's `Subtree`.

        Raises `StoreCorrupt` when it is not stored.
        """
        for (node,) in self._rows(_NODE if level else _LEAF, level=level, position=position):
            if len(node) == merkle.HASH_SIZE:
                return bytes(node)
        why = _("the tree lacks its node {position} at level {level}").format(level=level, position=position)
        raise StoreCorrupt(path=self.path, why=why)

    def root_at(self, size: int) -> bytes:
        """Return the root the ledger had at `size` entries, from the stored hashes.

        Raises `EntryNotFound` past the ledger's size, and `StoreCorrupt`.
        """
        if not 0 <= size <= self.size:
            raise EntryNotFound(index=size - 1, size=self.size)
        return merkle.root_at(size, self.subtree)

    def integrity(self) -> tuple[str, ...]:
        """Return what SQLite's own integrity check finds wrong with the file; nothing when it is sound."""
        try:
            found = tuple(str(row[0]) for row in self._rows(text("PRAGMA integrity_check")))
        except StoreError as error:
            return (error.message,)
        return () if found == ("ok",) else found

    def form(self) -> dict[str, str]:
        """Return what the database is made of, as `lacre.store.form` describes it."""
        (version,) = self._rows(text("PRAGMA user_version"))[0]
        return form_of(version, ((row.name, row.sql) for row in self._rows(_OBJECTS)))

    def _rows(self, statement: Executable, **values: Any) -> Sequence[Row[Any]]:
        with refusing(self.path):
            try:
                return self._connection.execute(statement, values).all()
            except (UnicodeEncodeError, OverflowError):
                return []  # values that no row can hold

    def _stream(self, statement: Executable, values: Mapping[str, Any]) -> Iterator[Row[Any]]:
        with refusing(self.path):
            result = self._connection.execute(statement, values, execution_options={"yield_per": _BATCH})
        with result:
            while True:
                with refusing(self.path):
                    rows = result.fetchmany(_BATCH)
                if not rows:
                    return
                yield from rows


@contextmanager
def snapshot(engine: Engine) -> Iterator[Reader]:
    """Read the ledger as it stands now, however long the block takes."""
    with refusing(path_of(engine)), engine.connect() as connection:
        yield Reader(connection)


def _entry(row: Row[Any]) -> StoredEntry:
    return StoredEntry(**dict(zip(_NAMES, row, strict=True)))
