"""Canary cells: words that tests plant in what is sealed, and the search for them everywhere else.

A file that holds them on purpose, what a pool or a corrected table is sealed from, is known by the column `COLUMN` in
its head. It is no column that anything hands out, so that what lacre writes has no reason to begin with it; and below
a ledger, a state folder or a register nothing is such a file.
"""

import base64
import functools
import io
import os
import sys
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from lacre.errors import LacreError

CANARY = "-".join(("canario", "4711", "no", "lacre"))
"""ASCII and in small letters: JSON, YAML, `repr`, percent and case folding leave it as it is.

It is put together, since tests copy the checkout, in which it must not be found.
"""
COLUMN = "diario"
"""The column that planted files have it in."""

_HEAD = 400  # bytes of a file, within which its columns are named
_DATA = {".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".parquet"}
_OWN = {".lacre", "state", "lacre", "registry", "register"}
_MOST = 1 << 24  # bytes; larger files are benchmarks'


def _base64(data: bytes) -> set[bytes]:
    """What `data` looks like within longer data in base64, at each of the three places it can begin at.

    The characters that hold bits of what stands before or after it are left out.
    """
    found = set()
    for shift in range(3):
        text = base64.b64encode(bytes(shift) + data)
        first = -(-shift * 8 // 6)
        found.add(text[first : (shift + len(data)) * 8 // 6])
    return found


@functools.cache
def forms(word: str = CANARY) -> tuple[bytes, ...]:
    """Every form in which a word is looked for; an entry holds a request in base64 within base64."""
    plain = word.encode()
    once = {plain, plain.hex().encode(), plain.hex().upper().encode(), word.encode("utf-16-le")[:-1]}
    once |= _base64(plain)
    twice = {outer for inner in _base64(plain) for outer in _base64(inner)}
    return tuple(sorted(once | twice))


def sings(data: bytes | str) -> bool:
    """Whether a canary is in `data`, in any of its forms."""
    held = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    return any(form in held for form in forms())


def is_source(path: Path, head: bytes) -> bool:
    """Whether a file is one that a test planted canaries in, for something to be sealed from."""
    return path.suffix in _DATA and COLUMN.encode() in head[:_HEAD] and _OWN.isdisjoint(path.parts[-4:-1])


def nests(folders: Iterable[Path]) -> Iterator[Path]:
    """Yield every file below `folders` that holds a canary, in the open or in a zip, and was not planted."""
    for folder in folders:
        for above, _names, files in os.walk(folder):
            for name in files:
                path = Path(above, name)
                if _holds(path):
                    yield path


def _holds(path: Path) -> bool:
    try:
        if path.is_symlink() or not path.is_file() or path.stat().st_size > _MOST:
            return False
        data = path.read_bytes()
    except OSError:
        return False  # what a test took the rights to away, or removes at this moment
    if sings(path.name):
        return True
    if sings(data):
        return not is_source(path, data)
    return data.startswith(b"PK") and any(map(sings, _unzipped(data)))


def _unzipped(data: bytes) -> Iterator[bytes]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for name in archive.namelist():
                yield archive.read(name)
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, RuntimeError):
        return  # broken on purpose


def _shown_with(handled: BaseException | None) -> Iterator[BaseException]:
    """An error and those that Python shows with it, lacre's own apart: those are heard themselves."""
    seen: set[int] = set()
    while handled is not None and id(handled) not in seen:  # SQLAlchemy's go round in a circle
        seen.add(id(handled))
        if not isinstance(handled, LacreError):
            yield handled
        handled = _below(handled)


def _below(error: BaseException) -> BaseException | None:
    """The error that Python prints above this one."""
    return error.__cause__ or (None if error.__suppress_context__ else error.__context__)


@contextmanager
def listening() -> Iterator[list[str]]:
    """Hear every error of lacre's that is made in the block; what it gives names those that a canary is shown by.

    That is in an error's fields, of which its text and its arguments are made, or in the text or arguments of an
    error that Python shows above it in a traceback.
    """
    heard: list[str] = []
    suspects: list[tuple[LacreError, BaseException]] = []
    make = LacreError.__init__

    @functools.wraps(make)
    def made(self: LacreError, **fields: Any) -> None:
        make(self, **fields)
        if sings(repr(fields)):
            heard.append(f"{type(self).__name__} in its fields")
        suspects.extend((self, each) for each in _shown_with(sys.exc_info()[1]) if sings(f"{each!r} {each}"))

    with mock.patch.object(LacreError, "__init__", made):
        yield heard
    heard += [
        f"{type(error).__name__}, which shows {type(handled).__name__}"
        for error, handled in suspects
        if any(each is handled for each in _shown_with(_below(error)))
    ]
