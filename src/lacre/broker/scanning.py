"""Looking through one file for sealed pools: as text, as strings in a binary, as a table, and what is packed in it."""

import gzip
import hashlib
import lzma
import re
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import BinaryIO, Protocol

from lacre.broker.trees import UNREADABLE, Item, Skipped
from lacre.errors import TableError
from lacre.pools.tables_traced import shared_with
from lacre.pools.traces import LONGEST, Trace, Tracer, Wanted, What
from lacre.tables.formats import format_of
from lacre.text import N_

CHUNK = 2**20
"""Bytes that are looked through at a time."""

LARGEST_TABLE = 64 * 2**20
"""Bytes of the largest file that is read as a table, too."""

MOST_UNPACKED = 256 * 2**20
"""Bytes that are unpacked from one file."""

MOST_LINES = 100
"""Lines that are told of one place."""

EXPANDS = N_("packed, and larger than 256 MiB unpacked")
NOT_UNPACKED = N_("packed in a way that could not be opened")

_STRINGS = re.compile(rb"[\x20-\x7e\t]{6,}")
_MARKS = ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"), (b"\xef\xbb\xbf", "utf-8"))
_HEAD = 8192


@dataclass(slots=True)
class Found:
    """What was found of one pool in one place: how many different cases or things, and in which lines."""

    prints: set[bytes] = field(default_factory=set)
    count: int = 0
    lines: dict[int, None] = field(default_factory=dict)


Finds = dict[tuple[int, What], Found]


class Looking:
    """Looks through files, one after the other."""

    def __init__(
        self, tracer: Tracer, wanted: Sequence[Wanted], genesis: str, key: bytes, skipped: Skipped
    ) -> None:
        self._tracer, self._wanted = tracer, wanted
        self._genesis, self._key = genesis, key
        self._skipped = skipped
        self.bytes = 0

    def look_at(self, item: Item) -> Finds:
        """Return what an item holds. What cannot be read is counted as skipped."""
        finds: Finds = defaultdict(Found)
        try:
            with item.open() as file:
                self._unpack(item.name, file, self._look_into(item.name, file, finds), finds)
        except OSError:
            self._skipped.note(UNREADABLE)
        return finds

    def look_at_name(self, name: str) -> Finds:
        """Return what a name itself holds."""
        finds: Finds = defaultdict(Found)
        _note(self._tracer.look_through([name], 0, []), finds)
        return finds

    def _look_into(self, name: str, file: "_Readable", finds: Finds) -> bytes:
        """Look through the bytes of a file; return the first of them."""
        sha256 = hashlib.sha256()
        whole: list[bytes] | None = []
        size = 0
        words: list[tuple[str, int]] = []
        reader = _Lines()
        while chunk := file.read(CHUNK):
            sha256.update(chunk)
            size += len(chunk)
            self.bytes += len(chunk)
            if whole is not None:
                whole = [*whole, chunk] if size <= LARGEST_TABLE else None
            for first, lines in reader.take(chunk):
                _note(self._tracer.look_through(lines, first, words), finds)
        for first, lines in reader.finish():
            _note(self._tracer.look_through(lines, first, words), finds)
        _note(self._tracer.look_at_file(sha256.hexdigest()), finds)
        if whole is not None:
            self._look_at_table(name, b"".join(whole), finds)
        return reader.head

    def _look_at_table(self, name: str, raw: bytes, finds: Finds) -> None:
        try:
            form = format_of(name)
        except TableError:
            return
        for pool, wanted in enumerate(self._wanted):
            shared = shared_with(raw, form, wanted, genesis=self._genesis, key=self._key)
            if shared is None:
                continue
            counts: tuple[tuple[What, int], ...] = (
                ("case", shared.cases), ("unit", shared.units), ("content", shared.contents)
            )  # fmt: skip
            for what, count in counts:
                if count:
                    found = finds[pool, what]
                    found.count = max(found.count, count)

    def _unpack(self, name: str, file: BinaryIO, head: bytes, finds: Finds) -> None:
        if not head.startswith((b"PK\x03\x04", b"\x1f\x8b")):
            return
        file.seek(0)
        room = MOST_UNPACKED
        try:
            for inner, content in _members(name, file, head):
                bounded = _Bounded(content, room)
                self._look_into(inner, bounded, finds)
                room -= bounded.given
        except _TooLarge:
            self._skipped.note(EXPANDS)
        except (
            OSError,
            EOFError,
            ValueError,
            RuntimeError,
            NotImplementedError,
            zipfile.BadZipFile,
            lzma.LZMAError,
            zlib.error,
        ):
            self._skipped.note(NOT_UNPACKED)


def _members(name: str, file: BinaryIO, head: bytes) -> Iterator[tuple[str, BinaryIO]]:
    if head.startswith(b"\x1f\x8b"):
        yield name.removesuffix(".gz"), gzip.GzipFile(fileobj=file)  # type: ignore[misc]
        return
    with zipfile.ZipFile(file) as archive:
        for each in archive.infolist():
            if not each.is_dir():
                with archive.open(each) as member:
                    yield each.filename.rpartition("/")[2], member  # type: ignore[misc]


def _note(traces: Iterator[Trace], finds: Finds) -> None:
    for trace in traces:
        found = finds[trace.pool, trace.what]
        found.prints.add(trace.print)
        found.count = max(found.count, len(found.prints))
        if trace.line and len(found.lines) < MOST_LINES:
            found.lines[trace.line] = None


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


class _TooLarge(Exception):
    """A file that expands beyond what is looked through."""


class _Bounded:
    """A packed file of which no more than some bytes are unpacked."""

    def __init__(self, file: BinaryIO, most: int) -> None:
        self._file, self._most = file, most
        self.given = 0

    def read(self, size: int, /) -> bytes:
        chunk = self._file.read(size)
        self.given += len(chunk)
        if self.given > self._most:
            raise _TooLarge
        return chunk


class _Lines:
    """Cuts bytes into lines of text, some at a time, with the number of the first of them; 0 for no lines at all.

    What has a byte order mark is read by it; what holds a NUL is no text, and its printable runs are looked at. Bytes
    that are no UTF-8 are taken for Windows-1252, as whoever wrote them may have meant them.
    """

    def __init__(self) -> None:
        self.head = b""
        self._encoding = "utf-8"
        self._binary = False
        self._rest = b""
        self._line = 1

    def take(self, chunk: bytes) -> Iterator[tuple[int, list[str]]]:
        """Yield the lines that end in a further chunk."""
        if not self.head:
            self.head = chunk[:_HEAD]
            mark = next(((m, e) for m, e in _MARKS if chunk.startswith(m)), None)
            if mark is not None:
                chunk, self._encoding = chunk[len(mark[0]) :], mark[1]
            self._binary = mark is None and b"\0" in self.head
        whole = self._rest + chunk
        newline = "\n".encode(self._encoding)
        cut = whole.rfind(newline)
        if len(newline) == 2:
            while cut > 0 and cut % 2:
                cut = whole.rfind(newline, 0, cut + 1)
        if cut < 0 and len(whole) > CHUNK:
            # A line without end is cut anywhere, and what may hold an id that was cut is seen twice.
            cut = self._between(whole, len(whole) - 1)
            yield (0 if self._binary else self._line), self._texts(whole[:cut])
            self._rest = whole[self._between(whole, cut - 2 * LONGEST) :]
            return
        if cut >= 0:
            lines = self._texts(whole[:cut])
            yield (0 if self._binary else self._line), lines
            self._line += 0 if self._binary else len(lines)
            self._rest = whole[cut + len(newline) :]
        else:
            self._rest = whole

    def finish(self) -> Iterator[tuple[int, list[str]]]:
        """Yield what is left."""
        if self._rest:
            yield (0 if self._binary else self._line), self._texts(self._rest)

    def _between(self, data: bytes, at: int) -> int:
        """The last place up to `at` where a character begins, if one does that near."""
        if self._encoding != "utf-8":
            return at // 2 * 2
        return next((place for place in range(at, at - 4, -1) if data[place] & 0xC0 != 0x80), at)

    def _texts(self, data: bytes) -> list[str]:
        if self._binary:
            return [run.decode("ascii") for run in _STRINGS.findall(data)]
        try:
            return data.decode(self._encoding).split("\n")
        except UnicodeDecodeError:
            if self._encoding != "utf-8":
                return data.decode(self._encoding, errors="replace").split("\n")
        return list(map(_text, data.split(b"\n")))


def _text(line: bytes) -> str:
    """One line by itself: a single byte that is no UTF-8 must not garble all others."""
    try:
        return line.decode()
    except UnicodeDecodeError:
        return line.decode("cp1252", errors="replace")
