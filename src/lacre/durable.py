"""Files that are either whole and on the disk, or not there at all.

A file is written under a temporary name in its own folder, flushed to the disk, renamed, and then the folder
is flushed (without that last step a power cut can undo a rename). Whoever reads the final name sees the old
content or the new, never a part. Whatever goes wrong, the temporary file is removed; only `kill -9`, a power
cut and a disk that fails at that, too, can leave one behind, under a name that starts with `TEMPORARY`.
"""

import errno
import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from lacre.errors import DiskFull, FileMissing, NotEnoughSpace, NotReadable, NotWritten, reason_of
from lacre.text import _

CHUNK = 1 << 20
TEMPORARY = ".lacre-unfinished-"

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_NO_LINKS = frozenset({errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EMLINK})


class Staged:
    """A file being written under a temporary name; `keep` gives it its own."""

    def __init__(self, file: BinaryIO, temporary: Path, shown: Path) -> None:
        self._file = file
        self._temporary = temporary
        self._shown = shown
        self._hash = hashlib.sha256()
        self.size = 0

    def write(self, data: bytes) -> None:
        """Append `data`. Raises `DiskFull`, `NotWritten`."""
        try:
            self._file.write(data)
        except OSError as error:
            raise _refusal(self._shown, error) from error
        self._hash.update(data)
        self.size += len(data)

    @property
    def digest(self) -> str:
        """The SHA-256, in hexadecimal, of all that was written so far."""
        return self._hash.hexdigest()

    def keep(self, name: str, *, replace: bool = True) -> bool:
        """Make the content durable under `name` in the same folder.

        Returns whether it was done: with `replace` false, a file that is already there stays as it is. Raises
        `DiskFull`, `NotWritten`.
        """
        with writing_file(self._shown):
            self._file.flush()
            os.fsync(self._file.fileno())
            final = self._temporary.with_name(name)
            if replace:
                self._temporary.replace(final)
            elif not _give_name(self._temporary, final):
                return False
            sync_folder(final.parent)
            return True


@contextmanager
def staged(folder: Path, *, what: str = "", mode: int = 0o600) -> Iterator[Staged]:
    """Stage a file in `folder`, which must exist; `what` names it in a refusal.

    Left without `keep`, nothing remains. Raises `DiskFull`, `NotWritten`; what the block itself raises passes
    through.
    """
    shown = folder / what if what else folder
    with writing_file(shown):
        handle, name = tempfile.mkstemp(prefix=TEMPORARY, dir=folder)
        temporary, file = Path(name), os.fdopen(handle, "wb")
        try:
            os.fchmod(file.fileno(), mode)
            yield Staged(file, temporary, shown)
        finally:
            # What fails here changes nothing of what was done, or went wrong, before: so it says nothing.
            with suppress(OSError):
                file.close()
            with suppress(OSError):
                temporary.unlink()


def write_durably(path: Path, content: bytes | Iterable[bytes], *, mode: int = 0o600) -> str:
    """Write `content` (bytes, or chunks of them) to `path`, in place of what was there.

    Returns the content's SHA-256 in hexadecimal. The folder must exist. Raises `DiskFull` and `NotWritten`,
    in both cases with the former content of `path` untouched, unless it is the last flush, of the folder,
    that failed: then the new content stands, and may not survive a power cut.
    """
    with staged(path.parent, what=path.name, mode=mode) as file:
        for chunk in _chunked(content):
            file.write(chunk)
        file.keep(path.name)
        return file.digest


def create_durably(path: Path, content: bytes | Iterable[bytes], *, mode: int = 0o600) -> bool:
    """Write `content` to `path` if nothing is there; return whether it was written.

    Of several processes at once exactly one is told True, and each may read a whole file afterwards. Errors
    as of `write_durably`.
    """
    with staged(path.parent, what=path.name, mode=mode) as file:
        for chunk in _chunked(content):
            file.write(chunk)
        return file.keep(path.name, replace=False)


def make_folder(path: Path, *, mode: int = 0o700) -> Path:
    """Make `path`, with the folders above it that are missing, each of `mode`; return it. Raises `NotWritten`."""
    with writing_file(path):
        missing = [folder for folder in (path, *path.parents) if not folder.is_dir()]
        for folder in reversed(missing):
            folder.mkdir(mode=0o700, exist_ok=True)
            if mode != 0o700:
                folder.chmod(mode)  # a mask may have taken from it what is to be served
            sync_folder(folder.parent)
    return path


def sync_folder(path: Path) -> None:
    """Flush the names in a folder to the disk."""
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    except OSError as error:
        # Some network file systems keep no folder cache to flush, and say so in this way.
        if error.errno != errno.EINVAL:
            raise
    finally:
        os.close(handle)


def require_space(folder: Path, size: int) -> None:
    """Raise `NotEnoughSpace` unless `size` bytes fit below `folder`, which need not exist yet."""
    with _reading(folder):
        standing = next(place for place in (folder, *folder.absolute().parents) if place.exists())
        free = shutil.disk_usage(standing).free
    if free < size:
        raise NotEnoughSpace(folder=str(folder), needed=size, free=free)


def read_chunks(path: Path, *, size: int = CHUNK) -> Iterator[bytes]:
    """Yield the content of `path`, `size` bytes at a time. Raises `FileMissing`, `NotReadable`."""
    with _reading(path), path.open("rb") as file:
        while chunk := file.read(size):
            yield chunk


def read_hashed(path: Path) -> tuple[bytes, str]:
    """Return the content of `path` and its SHA-256 in hexadecimal. Raises `FileMissing`, `NotReadable`."""
    content = b"".join(read_chunks(path))
    return content, hashlib.sha256(content).hexdigest()


def require_regular(path: Path) -> None:
    """Refuse what may never end. Raises `FileMissing`, and `NotReadable` for what is no regular file."""
    with _reading(path):
        regular = stat.S_ISREG(path.stat().st_mode)
    if not regular:
        raise NotReadable(path=str(path), why=_("it is no regular file"))


def read_given(path: Path, *, most: int | None = None) -> bytes:
    """Return the content of a file that a user named, up to one byte more than `most`.

    Raises `FileMissing`, `NotReadable`; the latter for what is no regular file and may never end.
    """
    require_regular(path)
    with _reading(path), path.open("rb") as file:
        return file.read() if most is None else file.read(most + 1)


def list_folder(path: Path) -> list[Path]:
    """Return what is in a folder, sorted; nothing when there is no folder. Raises `NotReadable`."""
    with _reading(path):
        try:
            return sorted(path.iterdir())
        except FileNotFoundError:
            return []


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of the content of `path` in hexadecimal. Raises `FileMissing`, `NotReadable`."""
    digest = hashlib.sha256()
    for chunk in read_chunks(path):
        digest.update(chunk)
    return digest.hexdigest()


def _chunked(content: bytes | Iterable[bytes]) -> Iterable[bytes]:
    return (content,) if isinstance(content, bytes) else content


def _give_name(temporary: Path, final: Path) -> bool:
    # A link, unlike a rename, fails when the name is taken; file systems without links get the check before.
    try:
        final.hardlink_to(temporary)
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        if final.exists():
            return False
        temporary.replace(final)
    return True


@contextmanager
def writing_file(path: Path) -> Iterator[None]:
    """Turn the system's errors in the block into `DiskFull` or `NotWritten`, which name `path`."""
    try:
        yield
    except OSError as error:
        raise _refusal(path, error) from error


def _refusal(path: Path, error: OSError) -> DiskFull | NotWritten:
    if error.errno in _FULL:
        return DiskFull(path=str(path))
    return NotWritten(path=str(path), why=reason_of(error))


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as error:
        raise FileMissing(path=str(path), why=reason_of(error)) from error
    except OSError as error:
        raise NotReadable(path=str(path), why=reason_of(error)) from error
