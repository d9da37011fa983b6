"""A published register: a C2SP tlog-tiles tree, the documents beside it, and a folder for each study.

    checkpoint                        the signed head
    tile/<L>/<N>[.p/<W>]              hashes of the tree
    tile/entries/<N>[.p/<W>]          the entries
    documents/<digest>                a document: its body, or its salt and its body; named by their SHA-256
    <study>/protocol@<entry>.json     a registered or amended version, and
    <study>/result@<entry>.json       a result: the documents once more, for people; and, of an open pool,
    <study>/<part>[-N]@<entry>.csv    the files of a part, as they were committed

A bundle is the same, in a zip, with the documents of one study. What a register says of itself is nowhere
believed: the checkpoint decides how many entries there are, and the entries which files there must be. Files
beyond the checkpoint are those of an export that is under way or was cut off: they are warned of.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from lacre.audit.files import Files
from lacre.audit.findings import Finding, Noted, finding, warned
from lacre.audit.source import Document, Entry, Redacted
from lacre.audit.tree import Tree
from lacre.canonical import sha256_hex
from lacre.durable import TEMPORARY
from lacre.errors import LacreError, TileInvalid
from lacre.ledger.checkpoint import Checkpoint
from lacre.ledger.encoding import is_sha256_hex
from lacre.ledger.merkle import HASH_SIZE, leaf_hash
from lacre.ledger.note import MAX_NOTE
from lacre.ledger.tiles import (
    FOLDER as TILES,
    MAX_BUNDLE,
    MAX_TILE,
    WIDTH,
    Tile,
    bundles_of,
    tiles_of,
    unpack,
)
from lacre.rules.named import PROTOCOL, RESULT, named_by
from lacre.rules.record import MOST_DOCUMENT, Answered, Recorded, parse_entry
from lacre.rules.requests import CommitPart, Erase
from lacre.text import ngettext

CHECKPOINT = "checkpoint"
DOCUMENTS = "documents"
MANIFEST, RESULT_JSON, REPORT = "manifest", "result.json", "report.txt"
"""What a bundle holds besides; a register has no such files of its own."""
MOST_NAMED = 10  # strange files that a warning names

_TAKEN = frozenset({CHECKPOINT, DOCUMENTS, TILES, MANIFEST})
_COPY = re.compile(
    r"(?:(?:protocol|result)@(0|[1-9][0-9]*)\.json"
    r"|(?:cases|labels|scores)(?:-[1-9][0-9]*)?@(0|[1-9][0-9]*)\.(?:csv|tsv|json|jsonl|parquet))"
)
_KEPT_TWICE = {PROTOCOL: "protocol", RESULT: "result"}


def study_folder(study: str) -> str:
    """Return the folder of a study; one that is named like a part of the register gets a mark no name has."""
    return f"{study}_" if study in _TAKEN else study


def copies_of(recorded: Recorded) -> Iterator[tuple[str, str]]:
    """Yield the documents of an entry that stand in its study's folder: path, digest."""
    if recorded.study is None:
        return
    for named in named_by(recorded):
        if named.kind in _KEPT_TWICE:
            name = f"{_KEPT_TWICE[named.kind]}@{recorded.index}.json"
            yield f"{study_folder(recorded.study)}/{name}", named.digest
    request = recorded.content.request if isinstance(recorded.content, Answered) else None
    if isinstance(request, CommitPart):
        for number, file in enumerate(request.files, 1):
            # By its number and not by its table, whose name may be anything in an entry that somebody forged.
            name = f"{request.part}{'' if number == 1 else f'-{number}'}@{recorded.index}.{file.format}"
            yield f"{study_folder(recorded.study)}/{name}", file.sha256


def is_copy(name: str) -> bool:
    """Tell whether a file in a study's folder is named like a document that stands there."""
    return _COPY.fullmatch(name) is not None


def _entry_of(path: str) -> int | None:
    """Return the entry that a file in a study's folder is named by."""
    named = _COPY.fullmatch(path.rpartition("/")[2])
    return int(named[1] or named[2]) if named else None


def document_path(digest: str) -> str:
    """Return where a document lies."""
    return f"{DOCUMENTS}/{digest}"


@dataclass
class _Ahead:
    """What stands beyond the checkpoint: the leaves, and what these entries name and erase."""

    leaves: list[bytes] = field(default_factory=list)
    named: set[str] = field(default_factory=set)
    copies: dict[str, str] = field(default_factory=dict)
    erased: set[str] = field(default_factory=set)


class RegisterSource:
    """A register, or with `study` a bundle: then other studies' documents are not in it, as it should be.

    With `redacted` entries may be left out, their leaf hashes standing for them.
    """

    def __init__(self, files: Files, *, study: str | None = None, redacted: bool = False) -> None:
        self._files = files
        self._study = study
        self._redacted = redacted
        self._noted: dict[tuple[str, int | str], Noted] = {}
        self._listed = files.below(TILES)
        self._bundles: dict[int, list[Tile]] = {}
        for path in self._listed:
            try:
                tile = Tile.parse(path)
            except TileInvalid:
                continue
            if tile.level is None:
                self._bundles.setdefault(tile.index, []).append(tile)
        for tiles in self._bundles.values():
            tiles.sort(key=lambda each: each.width)
        self._size = self._stated_size()
        self._ahead_of_it: _Ahead | None = None

    @property
    def bundle(self) -> bool:
        """Whether it is the copy of one moment."""
        return self._study is not None

    def published(self) -> "RegisterSource":
        """Return itself: it is a copy for strangers."""
        return self

    def premises(self) -> None:
        """Return nothing: the ledger is not at hand."""

    def holds(self, study: str | None) -> bool:
        """Tell whether a study's documents belong here: in a register all do, in a bundle its own."""
        return self._study is None or study is None or study == self._study

    def checkpoint(self) -> bytes | None:
        """Return the checkpoint."""
        return self._files.read(CHECKPOINT, MAX_NOTE)

    def document(self, digest: str) -> Document | None:
        """Return a document as the plain file that it is here."""
        data = self._read(document_path(digest), MOST_DOCUMENT)
        return None if data is None else Document(data, None, None)

    def entries(self) -> Iterator[Entry | Redacted]:
        """Yield the entries up to the checkpoint; without one, all there are."""
        for index, record in self._records(0, self._size):
            if record or not self._redacted:
                yield Entry(index, record)
                continue
            leaf = self._leaf(index)
            if leaf is not None:
                yield Redacted(index, leaf)

    def tree(self) -> Tree:
        """Return the tree of the entries up to the checkpoint, as far as they are there."""
        tree = Tree()
        for entry in self.entries():
            if entry.index != tree.size:
                tree.tear()
            tree.append(entry.leaf if isinstance(entry, Redacted) else leaf_hash(entry.data))
        return tree

    def erased_ahead(self) -> Collection[str]:
        """Return the digests of texts that an entry beyond the checkpoint erases."""
        return self._ahead().erased

    def check(self, tree: Tree, named: Collection[str], copies: Mapping[str, str]) -> Iterator[Noted]:
        """Hold every file against what the entries give; a file that cannot be read is a finding."""
        ahead = self._ahead()
        if ahead.leaves:
            yield warned("register-unfinished", count=len(ahead.leaves))
        whole = tree.extended(ahead.leaves) if ahead.leaves else tree
        yield from self._check_present(tree.size)
        yield from self._check_tiles(whole)
        yield from self._check_documents({*named}, ahead.named)
        yield from self._check_copies(copies, ahead.copies)
        yield from self._noted.values()

    # --- reading

    def _stated_size(self) -> int | None:
        try:
            note = self.checkpoint()
            return None if note is None else Checkpoint.of_note(note).size
        except LacreError:
            return None  # step 5 finds that

    def _read(self, path: str, most: int) -> bytes | None:
        try:
            return self._files.read(path, most)
        except LacreError as error:
            self._note_unfit(path, error.fields["why"])
            return None

    def _note_unfit(self, path: str, why: str) -> None:
        self._noted["file-unfit", path] = finding(
            "file-unfit", path=path, why=why
        )  # once, however often read

    def _records(self, start: int, stop: int | None) -> Iterator[tuple[int, bytes]]:
        for index in sorted(self._bundles):
            first = index * WIDTH
            if first + WIDTH <= start or (stop is not None and first >= stop):
                continue
            wanted = None if stop is None else min(stop - first, WIDTH)
            records = self._unpacked(self._chosen(index, wanted))
            for place, record in enumerate(records, first):
                if place >= start and (stop is None or place < stop):
                    yield place, record

    def _chosen(self, index: int, wanted: int | None) -> Tile:
        """Return the bundle to read: of the wanted width, or else the widest, which holds it too (C2SP)."""
        tiles = self._bundles[index]
        return next((each for each in tiles if each.width == wanted), tiles[-1])

    def _unpacked(self, tile: Tile) -> Sequence[bytes]:
        data = self._read(tile.path, MAX_BUNDLE)
        if data is None:
            return ()
        try:
            records = unpack(data)
        except TileInvalid as error:
            self._note_unfit(tile.path, error.fields["why"])
            return ()
        if len(records) != tile.width:
            self._note_unfit(
                tile.path,
                ngettext("it holds {count} entry", "it holds {count} entries", len(records)).format(
                    count=len(records)
                ),
            )
            return ()
        return records

    def _leaf(self, index: int) -> bytes | None:
        size = index + 1 if self._size is None else self._size
        width = min(size - index // WIDTH * WIDTH, WIDTH)
        data = self._read(Tile(0, index // WIDTH, width).path, MAX_TILE) or b""
        place = index % WIDTH * HASH_SIZE
        leaf = data[place : place + HASH_SIZE]
        return leaf if len(leaf) == HASH_SIZE else None

    def _ahead(self) -> _Ahead:
        if self._ahead_of_it is None:
            self._ahead_of_it = ahead = _Ahead()
            for index, record in self._records(self._size, None) if self._size is not None else ():
                ahead.leaves.append(leaf_hash(record))
                try:
                    recorded = parse_entry(index, record)
                except LacreError as error:
                    self._noted["entry-invalid", index] = finding("entry-invalid", index, why=error.message)
                    continue
                ahead.named |= {named.digest for named in named_by(recorded)}
                ahead.copies |= copies_of(recorded)
                content = recorded.content
                if isinstance(content, Answered) and isinstance(content.request, Erase):
                    ahead.erased.add(content.request.digest)
        return self._ahead_of_it

    # --- checking

    def _check_present(self, size: int) -> Iterator[Finding]:
        there = {*self._listed}
        for tile in (*bundles_of(size), *tiles_of(size)):
            if tile.path not in there and Tile(tile.level, tile.index).path not in there:
                yield finding("file-missing", path=tile.path)

    def _check_tiles(self, tree: Tree) -> Iterator[Noted]:
        for path in self._listed:
            if path.rpartition("/")[2].startswith(TEMPORARY):
                yield warned("file-unfinished", path=path)
                continue
            try:
                tile = Tile.parse(path)
            except TileInvalid:
                yield finding("file-unknown", path=path)
                continue
            if tile.level is None:
                yield from self._check_bundle(tile, tree)
            else:
                yield from self._check_hashes(tile, tree)

    def _check_hashes(self, tile: Tile, tree: Tree) -> Iterator[Finding]:
        level = 8 * (tile.level or 0)
        hashes = [tree.hash_at(level, place) for place in range(tile.start, tile.stop)]
        if None in hashes:
            if tree.whole:
                yield finding("file-unknown", path=tile.path)
            return
        data = self._read(tile.path, MAX_TILE) or b""
        if data != b"".join(each for each in hashes if each):
            there = (data[at : at + HASH_SIZE] for at in range(0, tile.width * HASH_SIZE, HASH_SIZE))
            places = enumerate(zip(hashes, there, strict=True), tile.start)
            place = next((place for place, (one, other) in places if one != other), tile.stop - 1)
            # The last entry that the first wrong hash is of.
            yield finding("file-differs", ((place + 1) << level) - 1, path=tile.path)

    def _check_bundle(self, tile: Tile, tree: Tree) -> Iterator[Finding]:
        """Hold each bundle against the tree, an entry that was left out apart."""
        for place, record in enumerate(self._unpacked(tile), tile.start):
            leaf = tree.leaf_at(place)
            left_out = self._redacted and not record
            if leaf is None and tree.whole:
                yield finding("file-unknown", path=tile.path)
                return
            if leaf is not None and not left_out and leaf_hash(record) != leaf:
                yield finding("file-differs", place, path=tile.path)
                return

    def _check_documents(self, named: Collection[str], ahead: Collection[str]) -> Iterator[Noted]:
        for path in self._files.below(DOCUMENTS):
            name = path.removeprefix(f"{DOCUMENTS}/")
            if name.startswith(TEMPORARY):
                yield warned("file-unfinished", path=path)
            elif not is_sha256_hex(name):
                yield finding("file-unknown", path=path)
            elif name in named:
                continue  # its bytes were held against its digest
            elif name not in ahead:
                yield finding("document-unnamed", digest=name)
            elif sha256_hex(self._read(path, MOST_DOCUMENT) or b"") != name:
                yield finding("file-differs", path=path)

    def _check_copies(self, copies: Mapping[str, str], ahead: Mapping[str, str]) -> Iterator[Noted]:
        there = {*self._files.tops()}
        strangers: list[str] = []
        folders = {path.partition("/")[0] for path in (*copies, *ahead)}
        for top in sorted(there - {CHECKPOINT, DOCUMENTS, TILES}):
            if top.startswith(TEMPORARY):
                yield warned("file-unfinished", path=top)
            elif top not in folders:
                strangers.append(top)
        found = [path for folder in sorted(folders & there) for path in self._files.below(folder)]
        for path in found:
            name = path.partition("/")[2]
            digest = copies.get(path) or ahead.get(path)
            if digest is not None:
                data = self._read(path, MOST_DOCUMENT)
                if data is not None and sha256_hex(data) != digest:
                    yield finding("file-differs", _entry_of(path), path=path)
            elif name.startswith(TEMPORARY):
                yield warned("file-unfinished", path=path)
            elif is_copy(name):
                yield finding("file-unknown", path=path)
            else:
                strangers.append(path)
        for path in sorted(copies.keys() - {*found}):
            yield finding("file-missing", _entry_of(path), path=path)
        yield from self._tell_strangers(strangers)

    def _tell_strangers(self, strangers: Sequence[str]) -> Iterator[Noted]:
        if self.bundle:
            # Its manifest names them, and a bundle holds nothing else.
            own = {MANIFEST, RESULT_JSON, REPORT}
            for path in strangers:
                if path not in own:
                    yield finding("file-unknown", path=path)
        elif strangers:
            named = ", ".join(strangers[:MOST_NAMED]) + (", …" if len(strangers) > MOST_NAMED else "")
            yield warned("not-of-register", count=len(strangers), names=named)
