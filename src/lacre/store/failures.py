"""What SQLite says, as refusals of lacre: none of its errors leaves the store raw."""

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from sqlalchemy.exc import DBAPIError

from lacre.errors import (
    DiskFull,
    LedgerNotFound,
    StoreBusy,
    StoreCommitUncertain,
    StoreCorrupt,
    StoreDenied,
    StoreError,
    StoreFailed,
    StoreNotDatabase,
    StoreReadOnly,
    StoreRefused,
)

T = TypeVar("T")

BUSY_SECONDS = 60
"""How long one waits for another process. A write takes milliseconds, the audit of a long ledger seconds.

Many processes that write one after the other may take longer than that together: `while_others_get_on`.
"""

# By primary result code (https://sqlite.org/rescode.html); the extended codes share its low byte.
_BY_CODE: dict[int, Callable[[str, sqlite3.Error], StoreError]] = {
    sqlite3.SQLITE_BUSY: lambda path, _error: StoreBusy(path=path, seconds=BUSY_SECONDS),
    sqlite3.SQLITE_LOCKED: lambda path, _error: StoreBusy(path=path, seconds=BUSY_SECONDS),
    sqlite3.SQLITE_FULL: lambda path, _error: DiskFull(path=path),
    sqlite3.SQLITE_READONLY: lambda path, _error: StoreReadOnly(path=path),
    sqlite3.SQLITE_PERM: lambda path, _error: StoreDenied(path=path),
    sqlite3.SQLITE_AUTH: lambda path, _error: StoreDenied(path=path),
    sqlite3.SQLITE_CANTOPEN: lambda path, _error: _cannot_open(path),
    sqlite3.SQLITE_NOTADB: lambda path, _error: StoreNotDatabase(path=path),
    sqlite3.SQLITE_CORRUPT: lambda path, error: StoreCorrupt(path=path, why=str(error)),
    sqlite3.SQLITE_FORMAT: lambda path, error: StoreCorrupt(path=path, why=str(error)),
    sqlite3.SQLITE_CONSTRAINT: lambda path, error: StoreRefused(path=path, why=str(error)),
}
# At a commit these say that nothing was written: the lock was never got, or the journal still undoes it all.
_UNDONE = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY})


def while_others_get_on(path: str, attempt: Callable[[], T]) -> T:
    """Return what `attempt` does, which waits `BUSY_SECONDS` for the lock of the database at `path`.

    SQLite lets in whoever asks at the right moment, and no queue is kept; so who waited in vain, while others
    committed, asks again. Only a database in which nothing moved all that time is held up. What `attempt` raises
    otherwise passes through.
    """
    while True:
        before = _changed(path)
        try:
            return attempt()
        except (DBAPIError, sqlite3.Error) as error:
            if _code(_original(error)) != sqlite3.SQLITE_BUSY or _changed(path) == before:
                raise


def _changed(path: str) -> int | None:
    try:
        return os.stat(path).st_mtime_ns  # noqa: PTH116 - a path as errors name it
    except OSError:
        return None


@contextmanager
def refusing(path: str) -> Iterator[None]:
    """Turn the database's errors in the block into `StoreError`s that name `path`."""
    try:
        yield
    except (DBAPIError, sqlite3.Error) as error:
        raise _refusal(path, _original(error)) from error


@contextmanager
def committing(path: str) -> Iterator[None]:
    """Turn the errors of a commit into `StoreCommitUncertain`, unless they say that nothing was written."""
    try:
        yield
    except (DBAPIError, sqlite3.Error) as error:
        original = _original(error)
        if _code(original) in _UNDONE:
            raise _refusal(path, original) from error
        raise StoreCommitUncertain(path=path, error=_name(original)) from error


def _original(error: DBAPIError | sqlite3.Error) -> sqlite3.Error:
    original = error.orig if isinstance(error, DBAPIError) else error
    assert isinstance(original, sqlite3.Error)
    return original


def _refusal(path: str, error: sqlite3.Error) -> StoreError:
    make = _BY_CODE.get(_code(error))
    if make is not None:
        return make(path, error)
    # SQLITE_ERROR has no finer code; a table that is not there is the one case a user can meet.
    if str(error).startswith("no such "):
        return StoreCorrupt(path=path, why=str(error))
    return StoreFailed(path=path, error=_name(error))


def _cannot_open(path: str) -> StoreError:
    try:
        there = Path(path).is_file()
    except OSError:
        there = True  # in a folder that may not be searched
    return StoreDenied(path=path) if there else LedgerNotFound(path=path)


def _code(error: sqlite3.Error) -> int:
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF


def _name(error: sqlite3.Error) -> str:
    return getattr(error, "sqlite_errorname", type(error).__name__)
