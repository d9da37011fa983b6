"""A transaction on the ledger: entries and documents, and at its end a new signed checkpoint; or nothing."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass

from sqlalchemy import Connection, Engine, bindparam, delete, insert, update
from sqlalchemy.exc import IntegrityError

from lacre.errors import (
    DocumentDiffers,
    FormatError,
    InternalError,
    LacreError,
    LedgerForked,
    NonceRepeated,
    ReadAlreadySpent,
    StoreCorrupt,
    StoreError,
)
from lacre.ledger import merkle
from lacre.ledger.checkpoint import Checkpoint
from lacre.ledger.merkle import Frontier
from lacre.store import tables
from lacre.store.engine import path_of, writing
from lacre.store.failures import committing, refusing
from lacre.store.memory import Growth, Memory, Remembered
from lacre.store.reader import SALT_SIZE, Columns, Document, Reader, document_digest
from lacre.text import _

_INSERT_ENTRY = insert(tables.entries)
_INSERT_NODE = insert(tables.nodes)
_INSERT_DOCUMENT = insert(tables.documents)
_DELETE_DOCUMENT = delete(tables.documents).where(tables.documents.c.digest == bindparam("gone"))
_INSERT_CHECKPOINT = insert(tables.checkpoint)
_UPDATE_CHECKPOINT = update(tables.checkpoint)

SignCheckpoint = Callable[[Reader], bytes]
"""Sign the checkpoint of a ledger as it will stand, of `size` entries under the root `root_at(size)`."""


@dataclass(frozen=True, slots=True)
class Appended:
    """Where an entry came to stand, and its leaf hash (32 bytes)."""

    index: int
    leaf_hash: bytes


@dataclass(frozen=True, slots=True)
class _Edge:
    """The tree's right edge as of a checkpoint; good for as long as that is the store's latest."""

    note: bytes
    frontier: Frontier


class Transaction(Reader):
    """The ledger while it is written: all a `Reader` reads, appended entries included. Made by `Writer`."""

    def __init__(self, connection: Connection, edge: _Edge | None) -> None:
        super().__init__(connection)
        self._start = self._size
        known = edge is not None and edge.note == self._note and edge.frontier.size == self._size
        self._frontier = edge.frontier if edge is not None and known else self._load_frontier()
        self._start_root = self._frontier.root()
        self._envelopes: list[bytes] = []
        self._documents: dict[str, Document] = {}
        self._erased: list[str] = []
        self._has_erased = False
        self._has_keys = False
        self._failure: LacreError | None = None

    def root_at(self, size: int) -> bytes:
        """Return the root at `size` entries; of the present size without reading."""
        return self._frontier.root() if size == self._size else super().root_at(size)

    @property
    def head(self) -> bytes | None:
        """The signed checkpoint, where it is of all the entries that changed the ledger's keys; else None."""
        return self._note if self._checkpoint_size == self._start and not self._has_keys else None

    def append(self, envelope: bytes, columns: Columns) -> Appended:
        """Append an entry's bytes with the columns that are derived from them.

        Raises `ReadAlreadySpent` for a second first read of a pool, `NonceRepeated` for a request that is in
        the ledger, `StoreRefused`, `DiskFull`. After any of them nothing of the transaction is kept.
        """
        added = Appended(self._size, merkle.leaf_hash(envelope))
        row = {"index": added.index, "envelope": envelope, "leaf_hash": added.leaf_hash, **asdict(columns)}
        with self._all_or_nothing():
            try:
                self._connection.execute(_INSERT_ENTRY, row)
            except IntegrityError as error:
                raise _conflict(error, columns) or error from error
            nodes = self._frontier.append(added.leaf_hash)
            if nodes:
                rows = [
                    {"level": level, "position": position, "hash": node} for level, position, node in nodes
                ]
                self._connection.execute(_INSERT_NODE, rows)
        self._envelopes.append(envelope)
        if columns.erases is not None:
            self._erased.append(columns.erases)
        if columns.kind == "key":
            self._key_change, self._has_keys = added.leaf_hash, True
        self._size += 1
        self._time = columns.time
        self._genesis = self._genesis if added.index else envelope
        return added

    def put_document(self, body: bytes, media: str, salt: bytes | None = None) -> str:
        """Keep a document of the type `media`, unless it is there; return its digest.

        A salt has `SALT_SIZE` bytes. Raises `DocumentDiffers`, `DiskFull`; then nothing of the transaction is
        kept.
        """
        if salt is not None and len(salt) != SALT_SIZE:
            raise InternalError(kind="salt", where="lacre.store.writer")
        document = Document(document_digest(body, salt), media, salt, body)
        with self._all_or_nothing():
            known = self.document(document.digest)
            if known is None:
                self._connection.execute(_INSERT_DOCUMENT, asdict(document))
                self._documents[document.digest] = document
            elif known != document:
                raise DocumentDiffers(digest=document.digest)
        return document.digest

    def erase_document(self, digest: str) -> bool:
        """Remove a document whose erasure has its entry; return whether it was there.

        Raises `StoreRefused` for one that no entry erases, or that has no salt; then nothing of the
        transaction is kept.
        """
        with self._all_or_nothing():
            gone = self._connection.execute(_DELETE_DOCUMENT, {"gone": digest}).rowcount > 0
        self._documents.pop(digest, None)
        self._has_erased |= gone
        return gone

    def write_checkpoint(self, sign_checkpoint: SignCheckpoint) -> bool:
        """Have a checkpoint of the present size signed, and store it; return whether there is a change.

        `Writer` calls it last. Raises again what `append` or `put_document` raised.
        """
        if self._failure is not None:
            raise self._failure
        if self._size == (self._checkpoint_size or 0):
            return bool(self._documents) or self._has_erased
        note = sign_checkpoint(self)
        values = {"size": self._size, "note": note}
        with refusing(self.path):
            if self._note is None:
                self._connection.execute(_INSERT_CHECKPOINT, {"id": 1, **values})
            else:
                self._connection.execute(_UPDATE_CHECKPOINT, values)
        self._checkpoint_size, self._note = self._size, note
        return True

    def growth(self) -> Growth | None:
        """Return what the memory is to be advanced by once the block ended; None if nothing was added."""
        genesis = self.genesis()
        if genesis is None or self._note is None or not (self._envelopes or self._documents):
            return None
        return Growth(
            genesis,
            self._start,
            self._start_root,
            tuple(self._envelopes),
            self._frontier.root(),
            self._note,
            tuple(self._documents.values()),
            tuple(self._erased),
        )

    def edge(self) -> "_Edge | None":
        """Return the tree's right edge for the next transaction; None while there is no checkpoint."""
        return None if self._note is None else _Edge(self._note, self._frontier)

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        # A caller that goes on after a refusal must not commit the half that was written before it.
        try:
            with refusing(self.path):
                yield
        except LacreError as error:
            self._failure = error
            raise

    def _load_frontier(self) -> Frontier:
        # The new checkpoint vouches for what the stored hashes say: so they are held against the last one.
        frontier = Frontier.at(self._size, self.subtree)
        size, root = 0, merkle.EMPTY_ROOT
        if self._note is not None:
            try:
                said = Checkpoint.of_note(self._note)
            except FormatError as error:
                raise StoreCorrupt(path=self.path, why=_("its checkpoint cannot be read")) from error
            size, root = said.size, said.root
        if (size, root) != (self._size, frontier.root()):
            raise StoreCorrupt(path=self.path, why=_("its checkpoint is not that of its entries"))
        return frontier


class Writer:
    """What appends to a ledger, and signs its checkpoints.

    `sign_checkpoint` is given the transaction and returns a signed C2SP checkpoint's bytes.
    """

    def __init__(self, engine: Engine, sign_checkpoint: SignCheckpoint, memory: Memory) -> None:
        self._engine = engine
        self._sign_checkpoint = sign_checkpoint
        self._memory = memory
        self._edge: _Edge | None = None

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """Lock out other writers; at the block's end sign a checkpoint and commit, or write nothing.

        The ledger is compared with the memory first (rule 18). After the block the transaction still tells
        its size, its checkpoint and its growth, by which the memory is to be advanced. Raises what
        `Memory.check` does, `StoreBusy`, `StoreReadOnly`, `StoreCorrupt`; at the end `StoreCommitUncertain`
        when what was written may stand or not, and `DiskFull` when it does not.
        """
        with self._transaction(self._sign_checkpoint) as transaction:
            self._memory.check(transaction)
            yield transaction

    @contextmanager
    def recovery(self, known: Remembered, *, keep: bool = True) -> Iterator[Transaction]:
        """Lock out other writers and let the ledger grow to what is remembered of it, or write nothing.

        Nothing is signed: the remembered checkpoint becomes the ledger's own. Raises `LedgerForked` at the end
        for any other tree than its, and what `transaction` does. Without `keep` nothing is written.
        """

        def remembered(ledger: Reader) -> bytes:
            if (ledger.size, ledger.root_at(ledger.size)) != (known.size, known.root):
                raise LedgerForked(remembered=known.size)
            return known.note

        with self._transaction(remembered, keep=keep) as transaction:
            yield transaction

    @contextmanager
    def _transaction(self, sign_checkpoint: SignCheckpoint, *, keep: bool = True) -> Iterator[Transaction]:
        path = path_of(self._engine)
        with refusing(path), writing(self._engine) as connection:
            connection.begin()
            edge, self._edge = self._edge, None  # handed over: a transaction changes it
            transaction = Transaction(connection, edge)
            yield transaction
            changed = transaction.write_checkpoint(sign_checkpoint)
            if not keep:
                return
            if changed:
                try:
                    with committing(path):
                        connection.commit()
                except StoreError:
                    # SQLAlchemy takes the transaction to be over, the database may not; closing settles it.
                    connection.invalidate()
                    raise
        self._edge = transaction.edge()


def _conflict(error: IntegrityError, columns: Columns) -> LacreError | None:
    # The trigger speaks first, and the unique index behind it names its columns.
    said = str(error.orig)
    if said.startswith("entries_teste_once") or said.endswith("entries.study, entries.pool"):
        return ReadAlreadySpent(study=columns.study, pool=columns.pool)
    if said.startswith("entries_nonce_once") or said.endswith("entries.nonce"):
        return NonceRepeated()
    return None
