"""Which files are looked at, and what each is called among the variants.

A folder is looked through to its end. What is hidden in it is left out, and so are links, which could lead anywhere,
and around in circles; each is told. What is named itself is taken, hidden or linked as it may be. Names of files
say nothing of what is in them: all are opened.
"""

import hashlib
import os
import stat
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lacre.errors import FileMissing, ImagesWithin, NotReadable, NotWritten, reason_of
from lacre.text import _

_LONGEST = 160
"""Bytes of a name; with what is added to it, it fits in the 255 that file systems take."""
_PLAIN = frozenset("._-")


@dataclass(frozen=True, slots=True)
class Source:
    """A file, and what it is called relative to the images; `skipped` is the code of why it is not opened."""

    path: Path
    name: str
    skipped: str = ""


def find_sources(images: Sequence[Path], output: Path) -> tuple[Source, ...]:
    """Return the files among `images`, which are files and folders, by name and each once; none that is in `output`.

    A name is the path below the one folder that is given, else below the folder that holds all that are. Raises
    `FileMissing`, `NotReadable`, `NotWritten`, `ImagesWithin`.
    """
    found: dict[Path, Source] = {}
    for image in images:
        if "\0" in str(image):
            raise NotReadable(path=str(image), why=_("a path holds no NUL"))
    places = [Path(os.path.abspath(image)) for image in images]  # noqa: PTH100 - links in it stay as they are given
    above = _above(places)
    if "\0" in str(output):
        raise NotWritten(path=str(output), why=_("a path holds no NUL"))
    own = Path(os.path.realpath(output))
    for place in places:
        real = Path(os.path.realpath(place))
        if real == own or own in real.parents:
            raise ImagesWithin(images=str(place), output=str(output))
        for path, skipped in _given(place, own):
            if path not in found or found[path].skipped:
                found[path] = Source(path, os.path.relpath(path, above), skipped)
    return tuple(sorted(found.values(), key=lambda source: os.fsencode(source.name)))


def _above(places: Sequence[Path]) -> str:
    if len(places) == 1 and places[0].is_dir():
        return str(places[0])
    return os.path.commonpath([place.parent for place in places])


def _given(place: Path, own: Path) -> Iterator[tuple[Path, str]]:
    try:
        mode = place.stat().st_mode
        if not stat.S_ISDIR(mode):
            yield place, "" if stat.S_ISREG(mode) else "not-a-file"
            return
        os.scandir(place).close()
    except FileNotFoundError as error:
        raise FileMissing(path=str(place), why=reason_of(error)) from error
    except OSError as error:
        raise NotReadable(path=str(place), why=reason_of(error)) from error
    yield from _below(place, own)


def _below(folder: Path, own: Path) -> Iterator[tuple[Path, str]]:
    waiting = [folder]
    while waiting:
        here = waiting.pop()
        try:
            with os.scandir(here) as entries:
                held = [(Path(entry.path), entry) for entry in entries]
        except OSError:
            yield here, "unreadable"
            continue
        for path, entry in held:
            if entry.is_symlink():
                yield path, "link"
            elif entry.name.startswith("."):
                yield path, "hidden"
            elif entry.is_dir(follow_symlinks=False):
                if os.path.realpath(path) != str(own):
                    waiting.append(path)
            else:
                yield path, "" if entry.is_file(follow_symlinks=False) else "not-a-file"


def shown(name: str) -> str:
    """Return a name as text, with bytes that are no UTF-8 as their escapes."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def distinct_names(names: Collection[str], taken: Collection[str] = ()) -> dict[str, str]:
    """Return for each name one that a file system and a spreadsheet leave as it is, and that no other has.

    Letters and digits of any script, `.`, `_` and `-` stay (in Unicode's composed form), the rest becomes `_`, as do a
    first `.` and `-`. Those that would then be one, in capitals or not, or are too long, get the beginning of the
    SHA-256 of the name itself. `taken` are not given.
    """
    given = {name: _plain(name) for name in names}
    digits = 8
    while True:
        times = Counter(name.casefold() for name in given.values()) + Counter(map(str.casefold, taken))
        doubled = [name for name, plain in given.items() if times[plain.casefold()] > 1]
        if not doubled:
            return given
        for name in doubled:
            given[name] = f"{_plain(name)}-{_digest(name)[:digits]}"
        digits = min(64, 2 * digits)


def _plain(name: str) -> str:
    composed = unicodedata.normalize("NFC", name)
    kept = "".join(c if c in _PLAIN or unicodedata.category(c)[0] in "LMN" else "_" for c in composed)
    kept = f"_{kept[1:]}" if kept[:1] in {".", "-"} else kept
    if len(kept.encode()) <= _LONGEST:
        return kept
    return f"{kept.encode()[:_LONGEST].decode(errors='ignore')}-{_digest(name)[:12]}"


def _digest(name: str) -> str:
    return hashlib.sha256(os.fsencode(name)).hexdigest()
