"""The files of a published copy, in a folder or in memory: read with bounds, and never through a link."""

import errno
import os
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from lacre.errors import FileUnfit, NotReadable, reason_of
from lacre.text import _

MOST_DEEP = 12  # folders below one another; the deepest path of a log has fewer


class Files(Protocol):
    """Files by their paths, parts joined by `/`. Methods raise `LacreError` alone."""

    def tops(self) -> Sequence[str]:
        """Return the names at the top, sorted."""

    def below(self, folder: str) -> Sequence[str]:
        """Return the paths of all that is below a folder at the top and is no folder, sorted."""

    def read(self, path: str, most: int) -> bytes | None:
        """Return a file's bytes, or None where there is none.

        Raises `FileUnfit` for one of more than `most` bytes and for what is no regular file, `NotReadable`.
        """


class HeldFiles:
    """Files in memory."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self._files = files

    def tops(self) -> Sequence[str]:
        """Return the names at the top."""
        return sorted({path.partition("/")[0] for path in self._files})

    def below(self, folder: str) -> Sequence[str]:
        """Return the paths below a folder."""
        return sorted(path for path in self._files if path.startswith(f"{folder}/"))

    def read(self, path: str, most: int) -> bytes | None:
        """Return a file's bytes."""
        data = self._files.get(path)
        if data is not None and len(data) > most:
            raise _too_large(path, most)
        return data


class FolderFiles:
    """The files of a folder that somebody else may have filled: links in it are not followed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def tops(self) -> Sequence[str]:
        """Return the names at the top. Raises `NotReadable` when there is no such folder."""
        return sorted(name for name, _deeper in self._listed(""))

    def below(self, folder: str) -> Sequence[str]:
        """Return the paths below a folder; of folders nested too deep, their own."""
        found: list[str] = []
        waiting = [folder] if (folder, True) in self._listed("") else []
        while waiting:
            place = waiting.pop()
            for name, deeper in self._listed(place):
                path = f"{place}/{name}"
                deep = path.count("/") >= MOST_DEEP
                (waiting if deeper and not deep else found).append(path)
        return sorted(found)

    def read(self, path: str, most: int) -> bytes | None:
        """Return a file's bytes."""
        try:
            return self._read(path, most)
        except FileNotFoundError:
            return None
        except OSError as error:
            if error.errno in {errno.ELOOP, errno.ENOTDIR, errno.ENXIO}:
                raise FileUnfit(path=path, why=_("it is no regular file")) from error
            raise NotReadable(path=path, why=reason_of(error)) from error

    def _read(self, path: str, most: int) -> bytes:
        *folders, name = path.split("/")
        place = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for folder in folders:
                flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
                deeper = os.open(folder, flags, dir_fd=place)
                os.close(place)
                place = deeper
            # Without O_NONBLOCK a pipe would be waited on for ever.
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            handle = os.open(name, flags, dir_fd=place)
        finally:
            os.close(place)
        with os.fdopen(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise FileUnfit(path=path, why=_("it is no regular file"))
            data = file.read(most + 1)
        if len(data) > most:
            raise _too_large(path, most)
        return data

    def _listed(self, place: str) -> list[tuple[str, bool]]:
        folder = self._folder / place
        try:
            with os.scandir(folder) as found:
                return [(each.name, each.is_dir(follow_symlinks=False)) for each in found]
        except OSError as error:
            raise NotReadable(path=str(folder), why=reason_of(error)) from error


def _too_large(path: str, most: int) -> FileUnfit:
    return FileUnfit(path=path, why=_("it has more than {most} bytes").format(most=most))
