"""The register of a ledger as files that any web host can serve, written and extended.

**At every moment sound.** The entries and the hashes over them are written first, then the documents, and the
checkpoint last, each file whole or not there: until then a reader finds all that the former checkpoint is of,
and beyond it what an export under way looks like. A text that was erased goes as soon as the entry that says
so is there.

**Partial tiles stay** until the full one is there: whoever fetched the checkpoint a moment ago asks for them,
and C2SP wants them kept as long.

**Two exports at once** wait for each other, by a lock beside the ledger, so that the later checkpoint stands.
"""

from collections import deque
from collections.abc import Sequence
from pathlib import Path

from lacre.audit.files import FolderFiles
from lacre.audit.register import CHECKPOINT, DOCUMENTS, document_path
from lacre.durable import TEMPORARY, make_folder, sync_folder, write_durably
from lacre.errors import (
    FileUnfit,
    FormatError,
    LacreError,
    NotWritten,
    RegisterAhead,
    RegisterForeign,
    reason_of,
)
from lacre.ledger.checkpoint import Checkpoint, SignedCheckpoint
from lacre.ledger.note import MAX_NOTE
from lacre.ledger.tiles import FOLDER as TILES, Tile, bundles_of, tiles_of
from lacre.publish.parts import FILE, FOLDER, Parts, document_files, gather, keys_of, log_files
from lacre.report.published import RegisterExported
from lacre.rules.keys import log_verifiers
from lacre.rules.state import State
from lacre.store.reader import Reader
from lacre.text import _


def write_register(reader: Reader, folder: Path) -> RegisterExported:
    """Write the ledger's register to `folder`, or bring the one that is there up to date.

    Files that are no part of it stay as they are. Raises `RegisterForeign` and `RegisterAhead` for a register
    that the ledger does not extend, `DocumentMissing` and `StoreCorrupt` for a ledger that is not whole,
    `DiskFull`, `NotWritten`.
    """
    parts = gather(reader, lambda _recorded: True)
    deque(document_files(reader, parts), maxlen=0)  # all of them are there, before anything is written
    place = _Place(folder)
    before = place.checkpoint()
    if before is not None:
        _check_extends(folder, before, keys_of(reader), parts)
    for path, data in log_files(reader, parts):
        place.put(path, data)
    for digest in parts.erased:
        place.remove(document_path(digest))
    for path, data in document_files(reader, parts):
        place.put(path, data)
    place.put(CHECKPOINT, parts.note)
    place.tidy({path.partition("/")[0] for path in parts.copies}, parts.size)
    return RegisterExported(
        folder=folder,
        origin=parts.checkpoint.origin,
        entries=parts.size,
        root=parts.tree.root.hex(),
        before=None if before is None else before[0].size,
        written=place.written,
        removed=place.removed,
    )


def _check_extends(folder: Path, before: tuple[Checkpoint, bytes], state: State, parts: Parts) -> None:
    checkpoint, note = before
    try:
        SignedCheckpoint.open(note, log_verifiers(state.origin, state.keys.values()))
    except LacreError as error:
        raise RegisterForeign(path=str(folder), why=error.message) from error
    if checkpoint.size > parts.size:
        raise RegisterAhead(path=str(folder), published=checkpoint.size, size=parts.size)
    if parts.tree.root_at(checkpoint.size) != checkpoint.root:
        why = _("its first {size} entries are others").format(size=checkpoint.size)
        raise RegisterForeign(path=str(folder), why=why)


class _Place:
    """The folder of a register; counts what it writes and removes."""

    def __init__(self, folder: Path) -> None:
        self._folder = make_folder(folder.absolute(), mode=FOLDER)
        self._files = FolderFiles(self._folder)
        self.written = 0
        self.removed = 0

    def checkpoint(self) -> tuple[Checkpoint, bytes] | None:
        """Return the checkpoint that is there. Raises `RegisterForeign` for anything else under its name."""
        try:
            note = self._files.read(CHECKPOINT, MAX_NOTE)
            return None if note is None else (Checkpoint.of_note(note), note)
        except (FormatError, FileUnfit) as error:
            raise RegisterForeign(path=str(self._folder), why=error.message) from error

    def put(self, path: str, data: bytes) -> None:
        """Write a file, unless it is there with just these bytes."""
        try:
            if self._files.read(path, len(data)) == data:
                return
        except FileUnfit:
            pass  # longer, or a link: it is written anew
        place = self._folder / path
        make_folder(place.parent, mode=FOLDER)
        write_durably(place, data, mode=FILE)
        self.written += 1

    def remove(self, path: str) -> None:
        """Remove a file, if it is there. Raises `NotWritten`."""
        place = self._folder / path
        try:
            place.unlink()
            sync_folder(place.parent)
        except FileNotFoundError:
            return
        except OSError as error:
            raise NotWritten(path=str(place), why=reason_of(error)) from error
        self.removed += 1

    def tidy(self, folders: set[str], size: int) -> None:
        """Remove partial tiles whose full one is there, and what exports that were cut off left behind."""
        full = {tile.path for tile in (*bundles_of(size), *tiles_of(size)) if tile.full}
        tops = self._files.tops()
        lost = [top for top in tops if top.startswith(TEMPORARY)]
        for folder in sorted({*folders, TILES, DOCUMENTS} & {*tops}):
            paths = self._files.below(folder)
            lost += [path for path in paths if path.rpartition("/")[2].startswith(TEMPORARY)]
            if folder == TILES:
                lost += _superseded(paths, full)
        for path in lost:
            self.remove(path)


def _superseded(paths: Sequence[str], full: set[str]) -> list[str]:
    found = []
    for path in paths:
        try:
            tile = Tile.parse(path)
        except FormatError:
            continue
        if not tile.full and Tile(tile.level, tile.index).path in full:
            found.append(path)
    return found
