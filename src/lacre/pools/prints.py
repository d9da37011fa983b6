"""A set of fingerprints as bytes: sorted arrays of 16-byte keyed hashes, by what was hashed.

Layout, with numbers big-endian::

    lacre-fingerprints-v1 LF
    check (16 bytes)                  the same for every set made under the same key
    u32 number of sections
    each section, in order:           u8 kind, u32 length and UTF-8 bytes of its label, u64 number of prints
    the prints of each section        16 bytes each, sorted; a `content` section may hold one several times

Sections are ordered by kind and label, no two are the same, and nothing follows: one set has one form.
"""

import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from lacre.errors import PrintsInvalid
from lacre.text import _

WIDTH = 16
"""Bytes of an HMAC-SHA-256 that are kept. Among 10^9 prints, chance makes two alike once in 10^20 sets."""

Kind = Literal[
    "case", "unit", "disjoint", "digest", "id", "content", "passage", "row", "next", "file", "cohort", "span"
]
KINDS: tuple[Kind, ...] = get_args(Kind)
REPEATING: frozenset[Kind] = frozenset({"content"})
PrintArray = NDArray[np.bytes_]
Sections = dict[tuple[Kind, str], PrintArray]

_MAGIC = b"lacre-fingerprints-v1\n"
_COUNT = struct.Struct(">I")
_HEAD = struct.Struct(">BI")
_SIZE = struct.Struct(">Q")


def as_array(prints: Iterable[bytes]) -> PrintArray:
    """Return prints, each of `WIDTH` bytes, as an array in their order."""
    return _array(b"".join(prints))


def sorted_set(prints: Iterable[bytes]) -> PrintArray:
    """Return prints as a sorted array, each once."""
    return np.unique(as_array(prints))


def common(a: PrintArray, b: PrintArray) -> PrintArray:
    """Return the prints that are in both of two sorted sets."""
    return np.intersect1d(a, b, assume_unique=True)


@dataclass(frozen=True, slots=True, eq=False)
class Prints:
    """The fingerprints of one pool (see `lacre.pools.exposure` for what each kind is).

    `check` tells sets under different keys apart: two such share nothing whatever they hold. The arrays of
    `sections` are sorted.
    """

    check: bytes
    sections: Mapping[tuple[Kind, str], PrintArray]

    def section(self, kind: Kind, label: str) -> PrintArray:
        """Return one section's prints; none if there is no such section."""
        return self.sections.get((kind, label), _array(b""))

    def labels(self, kind: Kind) -> tuple[str, ...]:
        """Return the labels of the sections of a kind."""
        return tuple(label for of, label in self.sections if of == kind)

    def all(self, kind: Kind) -> PrintArray:
        """Return the prints of all sections of a kind, sorted, each once."""
        of_kind = (self.sections[kind, label] for label in self.labels(kind))
        return np.unique(np.concatenate([_array(b""), *of_kind]))

    def require_same_key(self, other: "Prints") -> None:
        """Raise `PrintsInvalid` unless both sets were made under one key."""
        if self.check != other.check:
            raise PrintsInvalid(why=_("they were made under another key"))

    def encode(self) -> bytes:
        """Return the one form of this set."""
        ordered = sorted(self.sections, key=_place)
        parts = [_MAGIC, self.check, _COUNT.pack(len(ordered))]
        for kind, label in ordered:
            name = label.encode()
            parts += (_HEAD.pack(KINDS.index(kind), len(name)), name)
            parts.append(_SIZE.pack(len(self.sections[kind, label])))
        parts += (self.sections[at].tobytes() for at in ordered)
        return b"".join(parts)

    @classmethod
    def decode(cls, data: bytes) -> "Prints":
        """Return the set whose form `data` is. Raises `PrintsInvalid` for any other bytes."""
        cursor = _Cursor(data)
        if cursor.take(len(_MAGIC)) != _MAGIC:
            raise PrintsInvalid(why=_("they begin as no known version does"))
        check = cursor.take(WIDTH)
        heads = [_head(cursor) for _section in range(_COUNT.unpack(cursor.take(_COUNT.size))[0])]
        places = [_place(at) for at, _size in heads]
        if any(a >= b for a, b in pairwise(places)):
            raise PrintsInvalid(why=_("the sections are out of order"))
        sections = {at: _body(cursor, at[0], size) for at, size in heads}
        cursor.finish()
        return cls(check, sections)


def _place(section: tuple[Kind, str]) -> tuple[int, str]:
    return KINDS.index(section[0]), section[1]


def _head(cursor: "_Cursor") -> tuple[tuple[Kind, str], int]:
    kind, length = _HEAD.unpack(cursor.take(_HEAD.size))
    if kind >= len(KINDS):
        raise PrintsInvalid(why=_("a section is of an unknown kind"))
    try:
        label = cursor.take(length).decode()
    except UnicodeDecodeError:
        raise PrintsInvalid(why=_("a label is no text")) from None
    return (KINDS[kind], label), _SIZE.unpack(cursor.take(_SIZE.size))[0]


def _body(cursor: "_Cursor", kind: Kind, size: int) -> PrintArray:
    prints = _array(cursor.take(size * WIDTH))
    before, after = prints[:-1], prints[1:]
    ordered = before <= after if kind in REPEATING else before < after
    if not ordered.all():
        raise PrintsInvalid(why=_("the prints are not sorted"))
    return prints


def _array(data: bytes) -> PrintArray:
    return np.frombuffer(data, dtype=f"S{WIDTH}")


class _Cursor:
    """Takes exact numbers of bytes from the front."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def take(self, size: int) -> bytes:
        if size > len(self._data) - self._at:
            raise PrintsInvalid(why=_("they end too early"))
        self._at += size
        return self._data[self._at - size : self._at]

    def finish(self) -> None:
        if self._at != len(self._data):
            raise PrintsInvalid(why=_("more bytes follow their end"))
