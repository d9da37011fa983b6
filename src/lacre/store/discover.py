"""Where a ledger lies: the folder `.lacre`, found from every folder below its own, as `.git` is."""

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal, get_args

from lacre.durable import TEMPORARY, make_folder, sync_folder, write_durably, writing_file
from lacre.errors import (
    LedgerExists,
    LedgerNotFound,
    NotReadable,
    PoolNameUnsafe,
    StoreCommitUncertain,
    StoreCorrupt,
    reason_of,
)
from lacre.store.locks import making
from lacre.text import _

FOLDER = ".lacre"

BlobKind = Literal["pool", "key", "prints", "submission", "submission-key"]
BLOB_KINDS: tuple[BlobKind, ...] = get_args(BlobKind)
"""The kinds of blobs beside a ledger, as their files' names end."""

_PARTS = frozenset({".gitignore", "ledger.db", "ledger.db-journal", "keys", "pools", "locks"})
_SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def pool_folder(pools: Path, study: str, pool: str) -> Path:
    """Return where the blobs of a pool lie. Raises `PoolNameUnsafe` for names that would lead elsewhere."""
    for name in (study, pool):
        if not _SAFE.fullmatch(name):
            raise PoolNameUnsafe(name=name)
    return pools / study / pool


def blob_name(kind: BlobKind, digest: str) -> str:
    """Return what a blob's file is called: its own SHA-256, and its kind."""
    return f"{digest}.{kind}"


@dataclass(frozen=True, slots=True)
class Layout:
    """The places of a ledger whose folder is `root`."""

    root: Path

    @property
    def database(self) -> Path:
        """The one file of entries, documents and the checkpoint."""
        return self.root / "ledger.db"

    @property
    def keys(self) -> Path:
        """The folder of keys."""
        return self.root / "keys"

    @property
    def pools(self) -> Path:
        """The folder of sealed pools and submissions."""
        return self.root / "pools"

    @property
    def locks(self) -> Path:
        """The folder of what processes hold while they live."""
        return self.root / "locks"


def folder_around(named: Path) -> Path:
    """Return the folder a ledger is made in: `named`, or the one around it if that is called `.lacre`."""
    return named.parent if named.name == FOLDER else named


def find_ledger(start: Path) -> Layout:
    """Return the ledger of `start` or the nearest folder above it that has one. Raises `LedgerNotFound`."""
    start = start.absolute()
    for folder in (start, *start.parents):
        layout = Layout(folder / FOLDER)
        if _holds_ledger(layout):
            return layout
        if os.path.lexists(layout.root):
            # A ledger that lost its database must not be taken for one that lies further up.
            raise StoreCorrupt(path=str(layout.database), why=_("there is no such file"))
    raise LedgerNotFound(path=str(start))


def ledger_at(named: Path) -> Layout:
    """Return the ledger that is `named` by its own folder or the one around it. Raises `LedgerNotFound`."""
    layouts = (Layout(named.absolute()), Layout(named.absolute() / FOLDER))
    for layout in layouts:
        if _holds_ledger(layout):
            return layout
    for layout in layouts:
        if layout.root.name == FOLDER and os.path.lexists(layout.root):
            raise StoreCorrupt(path=str(layout.database), why=_("there is no such file"))
    raise LedgerNotFound(path=str(named))


@contextmanager
def create_layout(folder: Path) -> Iterator[Layout]:
    """Make the ledger's folder in `folder`: it has its name, and is found, only once the block ended well.

    Inside the block it lies beside its place under another name, with empty folders (0700) and a
    `.gitignore`; the database must be closed before the block ends. So an interrupted making leaves no half
    ledger; what a killed one left, keys of a ledger that never was among it, goes with the next. Raises
    `LedgerExists`, `NotWritten`; `StoreCommitUncertain` where the ledger has its name, and may not keep it.
    """
    final = make_folder(folder.absolute()) / FOLDER
    with making(final.parent, partial(_tidy, final.parent)):
        with writing_file(final):
            if final.is_symlink() or final.exists():
                raise LedgerExists(path=str(final))
            unfinished = Layout(Path(tempfile.mkdtemp(prefix=TEMPORARY, dir=final.parent)))
        try:
            write_durably(unfinished.root / ".gitignore", b"*\n")
            for place in (unfinished.keys, unfinished.pools, unfinished.locks):
                make_folder(place)
            yield unfinished
            with writing_file(final):
                _rename(unfinished.root, final)
        except BaseException:
            shutil.rmtree(unfinished.root, ignore_errors=True)
            raise


def _rename(unfinished: Path, final: Path) -> None:
    sync_folder(unfinished)
    made = unfinished.stat().st_ino
    try:
        unfinished.rename(final)
        sync_folder(final.parent)
    except OSError as error:
        if not final.exists():
            raise
        if final.stat().st_ino != made:
            # Of a folder that stands in the way, systems say ENOTEMPTY or EEXIST; of a file, ENOTDIR.
            raise LedgerExists(path=str(final)) from error
        _take_back(unfinished, final, error)
        raise


def _take_back(unfinished: Path, final: Path, error: OSError) -> None:
    """Let a ledger lose the name that it might lose in a power cut; `StoreCommitUncertain` where that fails, too."""
    try:
        final.rename(unfinished)
    except OSError:
        raise StoreCommitUncertain(path=str(final), error=reason_of(error)) from error


def _tidy(folder: Path) -> None:
    """Remove ledgers that were never finished: folders with such a name, and nothing else in them."""
    for left in folder.glob(f"{TEMPORARY}*"):
        with suppress(OSError):
            if not left.is_symlink() and left.is_dir() and all(map(_is_of_layout, left.iterdir())):
                shutil.rmtree(left, ignore_errors=True)


def _is_of_layout(path: Path) -> bool:
    return path.name in _PARTS or path.name.startswith(TEMPORARY)


def _holds_ledger(layout: Layout) -> bool:
    try:
        return layout.database.is_file()
    except OSError as error:
        raise NotReadable(path=str(layout.root), why=reason_of(error)) from error
