"""A raw file as it is sealed: its bytes in pieces, as often as they are asked for, and the same each time."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Protocol

from lacre.durable import CHUNK, read_chunks, require_regular
from lacre.errors import NotReadable
from lacre.text import _


class Content(Protocol):
    """A raw file: its size in bytes, its SHA-256 in hexadecimal, and its bytes."""

    @property
    def size(self) -> int:
        """The number of bytes."""

    @property
    def sha256(self) -> str:
        """Their SHA-256 in hexadecimal."""

    def chunks(self) -> Iterator[bytes]:
        """Yield the bytes in pieces of at most `CHUNK`."""

    def read(self) -> bytes:
        """Return all of them."""


@dataclass(frozen=True)
class Held:
    """A raw file in memory."""

    data: bytes = field(repr=False)

    @property
    def size(self) -> int:
        """The number of bytes."""
        return len(self.data)

    @cached_property
    def sha256(self) -> str:
        """Their SHA-256 in hexadecimal."""
        return hashlib.sha256(self.data).hexdigest()

    def chunks(self) -> Iterator[bytes]:
        """Yield the bytes in pieces."""
        view = memoryview(self.data)
        for start in range(0, len(view), CHUNK):
            yield bytes(view[start : start + CHUNK])

    def read(self) -> bytes:
        """Return all of them."""
        return self.data


@dataclass(frozen=True, slots=True)
class OnDisk:
    """A raw file that stays where it is; whoever reads it finds what it held at first, or a refusal."""

    path: Path
    size: int
    sha256: str = field(repr=False)  # no salt is in it: what a file holds could be guessed by it

    @classmethod
    def at(cls, path: Path) -> "OnDisk":
        """Take note of a file that a user named. Raises `FileMissing`, and `NotReadable`, also for no regular file."""
        require_regular(path)
        digest, size = hashlib.sha256(), 0
        for chunk in read_chunks(path):
            digest.update(chunk)
            size += len(chunk)
        return cls(path, size, digest.hexdigest())

    def chunks(self) -> Iterator[bytes]:
        """Yield the bytes in pieces. Raises `FileMissing`, and `NotReadable` in place of an end that is another."""
        digest = hashlib.sha256()
        for chunk in read_chunks(self.path):
            digest.update(chunk)
            yield chunk
        if digest.hexdigest() != self.sha256:
            raise NotReadable(path=str(self.path), why=_("it was changed while it was being read"))

    def read(self) -> bytes:
        """Return all of them. Errors as of `chunks`."""
        return b"".join(self.chunks())
