"""Locks that last as long as the process that holds them, and leave files behind that mean nothing.

A crash releases a lock (the system does, with `flock`), so that a lock which is held says: that process
lives. The files are never removed: a lock on a removed file would keep nobody out. A child that was forked
while its parent held a lock holds it too.
"""

import fcntl
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from lacre.durable import make_folder, writing_file
from lacre.errors import InternalError

_NAME = re.compile(r"[A-Za-z0-9_@][A-Za-z0-9_@.-]{0,199}")
_TRIES, _PAUSE = 40, 0.025  # for as long as nobody needs to tidy a folder


class Lock:
    """A lock that is held until `release`, or until the process ends."""

    def __init__(self, handle: int) -> None:
        self._handle = handle

    def release(self) -> None:
        """Let go; for the second time, do nothing."""
        handle, self._handle = self._handle, -1
        if handle >= 0:
            os.close(handle)


def try_lock(folder: Path, name: str) -> Lock | None:
    """Take the lock `name` in `folder` (made when missing); return None when another holder has it.

    The other may be a thread of this process. A name is of letters, digits and `_@.-`. Raises `NotWritten`.
    """
    if not _NAME.fullmatch(name):
        raise InternalError(kind="lock name", where="lacre.store.locks")
    handle = _open(make_folder(folder) / name)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        return None
    return Lock(handle)


@contextmanager
def hold(path: Path) -> Iterator[None]:
    """Hold the lock on the file at `path` through the block, after waiting for it. Raises `NotWritten`."""
    handle = _open(path)
    try:
        with writing_file(path):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


@contextmanager
def making(folder: Path, tidy: Callable[[], None]) -> Iterator[None]:
    """Make something in `folder` through the block; `tidy` first, if nobody else does, what makers that died left.

    The lock is on the folder itself, and shared: only who tidies holds it alone, for a moment. Where it cannot be
    had (a file system without it, another program that holds it for long) nothing is tidied. Raises `NotWritten`.
    """
    with writing_file(folder):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        if _flocked(handle, fcntl.LOCK_EX):
            tidy()
        for _try in range(_TRIES):
            if _flocked(handle, fcntl.LOCK_SH):
                break
            time.sleep(_PAUSE)
        yield
    finally:
        os.close(handle)


def _flocked(handle: int, how: int) -> bool:
    try:
        fcntl.flock(handle, how | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _open(path: Path) -> int:
    with writing_file(path):
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
