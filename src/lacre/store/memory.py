"""Rule 18: what this machine remembers of the ledgers it saw. A ledger grows at its end, and in no other way.

A ledger is known by its genesis hash; its folder ``ledgers/<genesis hash>/`` in the state folder holds

    entries      the entries' envelopes in order, each after its length (u32, big-endian)
    documents/   the documents beside them, as `lacre.store.filed` writes them; without those that were erased
    checkpoint   two slots, written in turn, so that a write that is cut off leaves the other. A slot: a line
                 with the SHA-256 of the rest; a line with the size, the root, and how many bytes of `entries`
                 belong to them; the signed checkpoint of that size; zeros
    lock         held while they are written

The order is: the ledger's commit, then `documents`, then `entries`, then `checkpoint`, each flushed to the disk.
So a crash leaves at worst documents, and a tail of `entries`, that no slot counts yet; the next writing cuts the
tail off. A memory that an older lacre wrote has no `documents`: the first writing takes in all of the ledger's.

**No false alarm.** A memory is written after the commit, so it is never ahead of the ledger; but it can be
ahead of a *snapshot* that began earlier. So either it is read first and the snapshot begins after
(`Memory.snapshot`, `Memory.recall`), or the comparison runs in a write transaction, which no commit can
overtake (`Memory.check`). Of several processes that write a memory, the one that saw most wins, whatever
their order.
"""

import os
import re
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol

from sqlalchemy import Engine

from lacre.canonical import sha256_hex
from lacre.durable import make_folder, sync_folder, writing_file
from lacre.errors import (
    LedgerForked,
    LedgerRolledBack,
    MemoryDamaged,
    NothingRemembered,
    NotReadable,
    reason_of,
)
from lacre.ledger import merkle
from lacre.ledger.merkle import Frontier
from lacre.store.filed import file_all, file_more, filed_digests, read_filed, unfile
from lacre.store.locks import hold
from lacre.store.reader import Document, Reader, snapshot
from lacre.text import _

_LENGTH = 4  # bytes before each entry
_SLOT = 8192  # bytes, a multiple of what disks write in one piece; a checkpoint takes a few hundred
_HEAD = re.compile(rb"([1-9][0-9]{0,18}) ([0-9a-f]{64}) ([1-9][0-9]{0,18})")


class Tree(Protocol):
    """What can be compared with a memory: a number of entries, and the root at each size up to it."""

    @property
    def size(self) -> int:
        """The number of entries."""

    def root_at(self, size: int) -> bytes:
        """Return the root at `size` entries."""


@dataclass(frozen=True, slots=True)
class Remembered:
    """The largest state of a ledger that was seen: entries, root (32 bytes), and its signed checkpoint.

    `kept` is how many bytes of the memory's file of entries belong to it, `slot` where it stands itself.
    """

    size: int
    root: bytes
    note: bytes
    kept: int
    slot: int


_NOTHING = Remembered(0, merkle.EMPTY_ROOT, b"", 0, 1)


@dataclass(frozen=True, slots=True)
class Growth:
    """What a transaction added to the ledger of this genesis hash: the envelopes after its first `start`.

    `start_root` is the root before, `root` the root after, for which the checkpoint `note` was signed.
    `documents` came with them; `erased` are the digests of those they take out.
    """

    genesis: str
    start: int
    start_root: bytes
    envelopes: tuple[bytes, ...]
    root: bytes
    note: bytes
    documents: tuple[Document, ...] = ()
    erased: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """The number of entries after it."""
        return self.start + len(self.envelopes)


def compare(tree: Tree, size: int, root: bytes) -> None:
    """Refuse a ledger that does not extend the `size` entries under `root` that were seen of it.

    Raises `LedgerRolledBack` for one that is smaller, `LedgerForked` for one whose first entries are others.
    """
    if tree.size < size:
        raise LedgerRolledBack(size=tree.size, remembered=size)
    if tree.root_at(size) != root:
        raise LedgerForked(remembered=size)


class Memory:
    """The memory of all ledgers in the folder `state` (``$XDG_STATE_HOME/lacre``), made when missing."""

    def __init__(self, state: Path) -> None:
        self._ledgers = state.absolute() / "ledgers"

    def folder(self, genesis: str) -> Path:
        """Return the folder for the ledger of this genesis hash (in hexadecimal)."""
        return self._ledgers / genesis

    def remembered(self, genesis: str) -> Remembered | None:
        """Return what is remembered of the ledger of this genesis hash, None if it was never seen.

        Raises `MemoryDamaged`, `NotReadable`.
        """
        return _remembered(self.folder(genesis) / "checkpoint")

    def recall(self, engine: Engine) -> Remembered | None:
        """Return what is remembered of a ledger, to compare with a snapshot that begins after this call."""
        with snapshot(engine) as reader:
            genesis = reader.genesis()
        return None if genesis is None else self.remembered(genesis)

    def checkpoints(self) -> list[bytes]:
        """Return the signed checkpoints of all ledgers that were seen, but those that cannot be read."""
        found = []
        for place in sorted(self._ledgers.glob("*/checkpoint")):
            with suppress(MemoryDamaged, NotReadable):
                known = _remembered(place)
                found += [known.note] if known is not None else []
        return found

    @contextmanager
    def snapshot(self, engine: Engine) -> Iterator[Reader]:
        """Read the ledger as it stands now, if it extends what is remembered of it.

        Raises what `compare`, `recall` and `lacre.store.reader.snapshot` do.
        """
        known = self.recall(engine)
        with snapshot(engine) as reader:
            if known is not None:
                compare(reader, known.size, known.root)
            yield reader

    def check(self, transaction: Reader) -> None:
        """Refuse to write to a ledger that does not extend the memory, or whose memory could not be written.

        To be asked inside the write transaction; of a snapshot it could complain without cause. Raises what
        `compare` and `remembered` do, and `NotWritten`.
        """
        genesis = transaction.genesis()
        if genesis is None:
            return
        folder = self.folder(genesis)
        _require_writable(folder)
        known = _remembered(folder / "checkpoint")
        if known is not None:
            compare(transaction, known.size, known.root)

    def require_writable(self) -> None:
        """Refuse, before anything is recorded, where nothing could be remembered. Raises `NotWritten`, `DiskFull`."""
        _require_writable(self._ledgers)

    def advance(self, engine: Engine, growth: Growth) -> None:
        """Remember a ledger after the commit that brought it `growth`; return once that is safe on the disk.

        If the memory stands elsewhere than where the growth began (other processes commit and remember too),
        it takes in the ledger as it is now. Raises what `compare` does when what is remembered by now is of
        another history, `MemoryDamaged`, `DiskFull`, `NotWritten`; the ledger stands as committed even so.
        """
        folder = self.folder(growth.genesis)
        if not folder.is_dir():
            make_folder(folder)
        place, path = folder / "checkpoint", folder / "entries"
        with hold(folder / "lock"), writing_file(folder), _open(path) as file:
            known = _remembered(place) or _NOTHING
            if os.fstat(file.fileno()).st_size < known.kept:
                raise MemoryDamaged(path=str(path), why=_("it is shorter than the checkpoint beside it says"))
            if (known.size, known.root) == (growth.start, growth.start_root):
                _file(folder / "documents", engine, growth)
                grown = _extend(file, known, growth.envelopes, growth.root, growth.note)
            else:
                grown = _catch_up(file, folder / "documents", known, engine, growth)
            if grown.size > known.size:
                _remember(place, grown, is_first=known is _NOTHING)

    def forget(self, genesis: str, digest: str) -> None:
        """Remove a document from the memory of a ledger, once an entry erased it; where it is not, do nothing.

        `advance` does the same with the entry. Raises `NotWritten`.
        """
        folder = self.folder(genesis)
        if folder.is_dir():
            with hold(folder / "lock"), writing_file(folder):
                unfile(folder / "documents", [digest])

    @contextmanager
    def kept(self, genesis: str) -> Iterator["Kept"]:
        """Hold on to what is remembered of a ledger, and read it; nobody else writes to it meanwhile.

        Raises `NothingRemembered`, `MemoryDamaged`, `NotReadable`, `NotWritten`.
        """
        if self.remembered(genesis) is None:
            raise NothingRemembered(path=str(self.folder(genesis)))
        with hold(self.folder(genesis) / "lock"):
            known = self.remembered(genesis)
            assert known is not None, "a memory never becomes none"
            yield Kept(self.folder(genesis), known)


class Kept:
    """All that is remembered of a ledger, read while the memory's lock is held. Made by `Memory.kept`."""

    def __init__(self, folder: Path, known: Remembered) -> None:
        self.entries_file = folder / "entries"
        self._documents = folder / "documents"
        self.checkpoint_file = folder / "checkpoint"
        self.known = known

    def entries(self, start: int = 0) -> Iterator[bytes]:
        """Yield the envelopes from entry `start` on. Raises `MemoryDamaged`, `NotReadable`."""
        with _reading(self.entries_file), self.entries_file.open("rb") as file:
            if os.fstat(file.fileno()).st_size < self.known.kept:
                raise self._damaged(_("it is shorter than the checkpoint beside it says"))
            for index in range(self.known.size):
                length = int.from_bytes(file.read(_LENGTH), "big")
                if file.tell() + length > self.known.kept:
                    raise self._damaged(_("its entry {index} does not end in it").format(index=index))
                if index < start:
                    file.seek(length, os.SEEK_CUR)
                else:
                    yield file.read(length)

    def root_at(self, size: int) -> bytes:
        """Return the root at `size` entries, once all that are kept proved to be those of the kept root.

        Raises `MemoryDamaged`, `NotReadable`.
        """
        frontier, root = Frontier(), merkle.EMPTY_ROOT
        for envelope in self.entries():
            frontier.append(merkle.leaf_hash(envelope))
            root = frontier.root() if frontier.size == size else root
        if frontier.root() != self.known.root:
            raise self._damaged(_("its entries are not those of the checkpoint beside it"))
        return root

    def has_tail(self) -> bool:
        """Whether there are entries after those that the checkpoint counts: a crash, or damage, leaves some."""
        with _reading(self.entries_file):
            return self.entries_file.stat().st_size > self.known.kept

    def digests(self) -> frozenset[str]:
        """Return the digests of the documents that are kept. Raises `NotReadable`."""
        return filed_digests(self._documents)

    def document(self, digest: str) -> Document | None:
        """Return a document, None if it is not kept. Raises `MemoryDocumentDamaged`, `NotReadable`."""
        return read_filed(self._documents, digest)

    def forget(self, digests: Iterable[str]) -> None:
        """Remove documents that entries erased. Raises `NotWritten`."""
        with writing_file(self._documents):
            unfile(self._documents, digests)

    def _damaged(self, why: str) -> MemoryDamaged:
        return MemoryDamaged(path=str(self.entries_file), why=why)


def _file(documents: Path, engine: Engine, growth: Growth) -> None:
    if documents.is_dir():
        unfile(documents, growth.erased)
        file_more(documents, growth.documents)
    elif not growth.start:
        file_all(documents, growth.documents)
    else:
        with snapshot(engine) as reader:
            compare(reader, growth.size, growth.root)
            file_all(documents, reader.documents())


def _require_writable(folder: Path) -> None:
    # Tried, and not asked: rights say one thing to their owner, and another to who may do everything.
    make_folder(folder)
    with writing_file(folder), tempfile.TemporaryFile(dir=folder):
        pass


def _catch_up(
    file: BinaryIO, documents: Path, known: Remembered, engine: Engine, growth: Growth
) -> Remembered:
    # Begun after the memory was read, and under its lock, a snapshot can only be ahead of it.
    with snapshot(engine) as reader:
        compare(reader, known.size, known.root)
        compare(reader, growth.size, growth.root)
        if documents.is_dir():
            lacking = reader.document_digests() - filed_digests(documents)
            file_more(documents, filter(None, map(reader.document, sorted(lacking))))
            unfile(documents, reader.erasures())
        else:
            file_all(documents, reader.documents())
        envelopes = (entry.envelope for entry in reader.entries(known.size))
        return _extend(file, known, envelopes, reader.root_at(reader.size), reader.checkpoint() or b"")


def _extend(
    file: BinaryIO, known: Remembered, envelopes: Iterable[bytes], root: bytes, note: bytes
) -> Remembered:
    size, kept = known.size, known.kept
    file.truncate(kept)
    file.seek(kept)
    for envelope in envelopes:
        file.write(len(envelope).to_bytes(_LENGTH, "big") + envelope)
        size, kept = size + 1, kept + _LENGTH + len(envelope)
    _flush(file)
    return Remembered(size, root, note, kept, 1 - known.slot)


def _remember(place: Path, known: Remembered, *, is_first: bool) -> None:
    rest = f"{known.size} {known.root.hex()} {known.kept}\n".encode() + known.note
    slot = sha256_hex(rest).encode() + b"\n" + rest
    if len(slot) > _SLOT:
        raise MemoryDamaged(path=str(place), why=_("a checkpoint is too long for it"))
    with _open(place) as file:
        if is_first:
            sync_folder(place.parent)  # the names of the files; whoever finds a slot filled finds them safe
        file.seek(known.slot * _SLOT)
        file.write(slot.ljust(_SLOT, b"\0"))
        _flush(file)


def _remembered(place: Path) -> Remembered | None:
    with _reading(place):
        try:
            data = place.read_bytes()
        except FileNotFoundError:
            return None
    slots = (_parse(data[:_SLOT], 0), _parse(data[_SLOT:], 1))
    known = max(filter(None, slots), key=lambda slot: slot.size, default=None)
    if known is None and data:
        raise MemoryDamaged(path=str(place), why=_("its checksums are not its own"))
    return known


def _parse(data: bytes, slot: int) -> Remembered | None:
    digest, _newline, rest = data.partition(b"\0")[0].partition(b"\n")
    if sha256_hex(rest).encode() != digest:
        return None
    head, _newline, note = rest.partition(b"\n")
    form = _HEAD.fullmatch(head)
    if form is None:
        return None
    return Remembered(int(form[1]), bytes.fromhex(form[2].decode()), note, int(form[3]), slot)


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise NotReadable(path=str(path), why=reason_of(error)) from error


def _open(path: Path) -> BinaryIO:
    return os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600), "r+b")


def _flush(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())
