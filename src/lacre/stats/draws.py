"""Draws without replacement that anybody can repeat: no generator's stream, only SHA-256.

Units are put in the order of a digest of the seed, their stratum and their key, and the first are taken. No
library's random numbers are read, so the same draw comes out of any language, on any machine, in any year; and
neither the order of the rows nor a stratum's place among the declared ones changes it.

The digest of a unit is SHA-256 over these fields, one after the other, each preceded by its length in bytes
as an unsigned big-endian number of 8 bytes, so that no two inputs are the same bytes:

1. `lacre-draw-v1` in a stratified draw, `lacre-relabel-v1` in a draw of a share (ASCII);
2. the seed in decimal digits (ASCII), 0 or without a leading zero;
3. the stratum's declared value (UTF-8), empty in a draw of a share;
4. each part of the unit's key (UTF-8), in the key's order: one part where the key is one text.

Digests are compared as bytes, the first byte first. Of a stratum of N_h units and size n_h, the n_h units with
the smallest digests are drawn, in that order. Texts are taken as given: whoever calls decides on normal forms.
"""

import hashlib
import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lacre.stats.proportions import Floats
from lacre.stats.thresholds import Target, exact

DRAW = b"lacre-draw-v1"
RELABEL = b"lacre-relabel-v1"
LENGTH = 8
"""How many bytes say how long a field is."""

Ints = npt.NDArray[np.int64]
Key = str | tuple[str, ...]


class Short(NamedTuple):
    """A stratum that has fewer units than are to be drawn from it."""

    stratum: int
    population: int
    size: int


class Draw(NamedTuple):
    """A stratified draw; arrays over H strata but `drawn`, the rows drawn.

    `drawn` goes stratum by stratum, each in the order of its digests. `probability` is n_h/N_h, nan in a
    stratum without units. `doubled` counts rows whose key an earlier row had, `outside` rows whose code is no
    stratum (they are not drawn from). Where a stratum is short or a key doubled, nothing is drawn.
    """

    drawn: Ints
    population: Ints
    size: Ints
    probability: Floats
    short: tuple[Short, ...]
    doubled: int
    outside: int


class Share(NamedTuple):
    """A draw of a share of n rows; `drawn` in the order of their digests, empty if keys are doubled."""

    drawn: Ints
    population: int
    size: int
    doubled: int


def stratified(
    keys: Sequence[Key], stratum: npt.ArrayLike, names: Sequence[str], sizes: npt.ArrayLike, seed: int
) -> Draw:
    """Draw `sizes[h]` of the rows in each stratum h, simply at random and without replacement.

    `keys` identify the rows, `stratum` is each row's code: its place among `names`, the strata's declared
    values, or less than 0 for none. The module says how, byte by byte. Over seeds each unit of a stratum is
    drawn with probability n_h/N_h, and each pair with n_h (n_h - 1)/(N_h (N_h - 1)), so far as SHA-256 cannot
    be told from random.
    """
    codes = np.asarray(stratum, np.int64)
    size = np.asarray(sizes, np.int64)
    inside = (codes >= 0) & (codes < len(names))
    population = np.bincount(codes[inside], minlength=len(names)).astype(np.int64)
    lacking = np.flatnonzero(size > population)
    short = tuple(Short(int(h), int(population[h]), int(size[h])) for h in lacking)
    doubled = _doubled(keys)
    with np.errstate(divide="ignore", invalid="ignore"):
        probability = np.where(population > 0, size / population, np.nan)
    drawn: list[int] = []
    if not short and not doubled:
        for h, name in enumerate(names):
            rows: list[int] = np.flatnonzero(inside & (codes == h)).tolist()
            drawn += _first(keys, rows, _fields(DRAW, str(seed), name), int(size[h]))
    outside = len(codes) - int(inside.sum())
    return Draw(np.array(drawn, np.int64), population, size, probability, short, doubled, outside)


def share(keys: Sequence[Key], fraction: Target, seed: int) -> Share:
    """Draw the `fraction` of the rows, rounded up to a whole row: a tenth of 41 is 5.

    The fraction is the decimal that was written, so that .07 of 100 is 7, though .07 * 100 is above it in
    binary.
    """
    size = math.ceil(exact(fraction) * len(keys))
    doubled = _doubled(keys)
    rows = [] if doubled else range(len(keys))
    drawn = _first(keys, rows, _fields(RELABEL, str(seed), ""), size)
    return Share(np.array(drawn, np.int64), len(keys), size, doubled)


def digest(seed: int, stratum: str, key: Key, tag: bytes = DRAW) -> bytes:
    """Return the digest (32 bytes) that puts one unit in its place."""
    return hashlib.sha256(_fields(tag, str(seed), stratum) + _fields(*_parts(key))).digest()


def _first(keys: Sequence[Key], rows: Iterable[int], head: bytes, size: int) -> list[int]:
    begun = hashlib.sha256(head)

    def place(row: int) -> bytes:
        hashed = begun.copy()
        hashed.update(_fields(*_parts(keys[row])))
        return hashed.digest()

    return sorted(rows, key=place)[:size]


def _doubled(keys: Sequence[Key]) -> int:
    return len(keys) - len({_parts(key) for key in keys})


def _parts(key: Key) -> tuple[str, ...]:
    return (key,) if isinstance(key, str) else key


def _fields(*fields: bytes | str) -> bytes:
    encoded = [field.encode() if isinstance(field, str) else field for field in fields]
    return b"".join(len(field).to_bytes(LENGTH, "big") + field for field in encoded)
