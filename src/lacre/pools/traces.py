"""Traces of sealed pools in other people's files, found through fingerprints and never from the pools.

A text is taken apart into whatever an id may be written as: the cells of a line, what stands between quotes, runs
without blanks, parts of paths, words. Each is hashed as the pools' ids, units and digests are, and looked up. Runs
of words are held against the spans of the pools' free texts.

An id that is a plain word or a short number stands in any text by chance; so only telling ones are looked for
there (`is_telling`). In a table whose columns have the declared names the others are found, too
(`lacre.pools.tables_traced`).
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from lacre.pools import spans
from lacre.pools.exposure import file_print, marks
from lacre.pools.prints import PrintArray, Prints, as_array
from lacre.protocol.models import Protocol

What = Literal["case", "unit", "digest", "span", "file", "content"]

DIGITS = 7
"""Digits of a number that is looked for: fewer are counts, years and offsets of anything."""

MIXED = 6
"""Characters of an id with letters, and with two digits at least."""

LETTERS = 12
"""Letters in a row of an id without digits: few words of a language are as long."""

LONGEST = 256
"""Characters of the longest id that is looked for in a text."""

KNOWN = 400_000
"""Pieces of text that are remembered as none of a pool's, so that they are hashed once."""

_QUOTED = re.compile(r"\"((?:[^\"\\\n]|\\.){1,256})\"|'((?:[^'\\\n]|\\.){1,256})'|`([^`\n]{1,256})`")
_CELL = re.compile(r"[^,;|\t\n]+")
_RUN = re.compile(r"[^\s,;|\"'`()\[\]{}<>=]+")
_NAME = re.compile(r"[^\W_][\w.:@+-]*")
_PARTS = re.compile(r"[/\\:?&#@]")
_WORDS = re.compile(r"\W+|_")
_LONG = re.compile(rf"[^\W\d_]{{{LETTERS}}}")
_HINT = re.compile(rf"\d.*\d|[^\W\d_]{{{LETTERS}}}")
_SUFFIX = re.compile(r"\.[A-Za-z0-9]{1,5}$")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|([nrt\"'/\\]))")
_PLAIN_ESCAPES = {"n": " ", "r": " ", "t": "\t", '"': '"', "'": "'", "/": "/", "\\": "\\"}


@dataclass(frozen=True, slots=True)
class Wanted:
    """A pool to look for: its study, its name, its fingerprints and the plan they were made by."""

    study: str
    pool: str
    prints: Prints
    protocol: Protocol


@dataclass(frozen=True, slots=True)
class Trace:
    """Something of the pool `wanted[pool]` in a text: what, in which line of it, and its print."""

    pool: int
    what: What
    line: int
    print: bytes


@dataclass(frozen=True, slots=True)
class _Mark:
    what: What
    make: Callable[[str], bytes]
    sections: tuple[tuple[int, PrintArray], ...]
    known: set[str]

    def look(self, pieces: Mapping[str, int]) -> Iterator[Trace]:
        new = [piece for piece in pieces if piece not in self.known]
        if not new:
            return
        made = as_array(self.make(piece) for piece in new)
        hit = np.zeros(len(new), dtype=np.bool_)
        for pool, section in self.sections:
            # The sections are sorted, and far longer than what is looked up in them.
            at = np.minimum(np.searchsorted(section, made), len(section) - 1)
            found = np.flatnonzero(section[at] == made)
            hit[found] = True
            for place in found:
                yield Trace(pool, self.what, pieces[new[place]], made[place].tobytes())
        if len(self.known) > KNOWN:
            self.known.clear()
        self.known.update(piece for piece, was in zip(new, hit, strict=True) if not was)


class Tracer:
    """Looks through texts and files for anything of the pools `wanted`. `key` is the ledger's fingerprint key."""

    def __init__(self, wanted: Sequence[Wanted], *, genesis: str, key: bytes) -> None:
        by_make: dict[tuple[What, bytes], tuple[Callable[[str], bytes], list[tuple[int, PrintArray]]]] = {}
        for pool, each in enumerate(wanted):
            for what, make, section in marks(
                each.prints, each.protocol, study=each.study, genesis=genesis, key=key
            ):
                # Tables of one namespace, and pools of one study, are looked up with one print.
                by_make.setdefault((what, make("")), (make, []))[1].append((pool, section))
        made = [_Mark(what, make, tuple(of), set()) for (what, _e), (make, of) in by_make.items()]
        self._ids = [mark for mark in made if mark.what in ("case", "unit")]
        self._digests = [mark for mark in made if mark.what == "digest"]
        self._spans = [mark for mark in made if mark.what == "span"]
        self._files = [(pool, each.prints.all("file")) for pool, each in enumerate(wanted)]
        self._key = key

    def look_through(self, lines: Iterable[str], first: int, words: list[tuple[str, int]]) -> Iterator[Trace]:
        """Yield the traces in some lines of a text, the first of which has the number `first`.

        `words` is empty at the beginning of a text, and given again with its next lines: it keeps the end of these,
        since a run of words may go on there.
        """
        ids: dict[str, int] = {}
        for number, line in enumerate(lines, first):
            text = unescape(line)
            for each in (line,) if text is line else (line, text):
                # Most lines have nothing that could be an id, and are not taken apart.
                if _HINT.search(each):
                    for piece in pieces(each):
                        ids.setdefault(piece, number)
            if self._spans:
                words.extend((word, number) for word in spans.words_of(text))
        digests = {piece.lower(): line for piece, line in ids.items() if _is_digest(piece)}
        told = {piece: line for piece, line in ids.items() if is_telling(piece)}
        for mark in self._ids:
            yield from mark.look(told)
        for mark in self._digests:
            yield from mark.look(digests)
        runs = _runs(words)
        for mark in self._spans:
            yield from mark.look(runs)
        del words[: max(len(words) - spans.WORDS + 1, 0)]

    def look_at_file(self, sha256: str) -> Iterator[Trace]:
        """Yield the traces that a file is by its SHA-256: a file of a pool, or an image of one of its cases."""
        made = as_array([file_print(sha256, key=self._key)])
        for pool, section in self._files:
            if np.isin(made, section).any():
                yield Trace(pool, "file", 0, made[0].tobytes())
        for mark in self._digests:
            yield from mark.look({sha256: 0})


def pieces(text: str) -> Iterator[str]:
    """Yield what an id in one line of a text may be, longer pieces first; some more than once."""
    for match in _QUOTED.finditer(text):
        yield next(group for group in match.groups() if group is not None)
    for match in _CELL.finditer(text):
        if len(cell := match.group().strip().strip("\"'")) <= LONGEST:
            yield cell
    for match in _RUN.finditer(text):
        run = match.group()
        if len(run) > LONGEST and "/" not in run:
            continue
        yield run.strip(".:!?*#")
        for part in _PARTS.split(run):
            yield part
            for name in _NAME.findall(part):
                yield name.rstrip(".:@+-_")
                yield _SUFFIX.sub("", name)
        yield from _WORDS.split(run)


def is_telling(piece: str) -> bool:
    """Whether a piece of text that is an id can hardly be anything else."""
    if len(piece) > LONGEST:
        return False
    digits = sum(map(str.isdigit, piece))
    letters = sum(map(str.isalpha, piece))
    if not letters:
        return digits >= DIGITS
    if not digits:
        return _LONG.search(piece) is not None
    return digits >= 2 and digits + letters >= MIXED


def unescape(line: str) -> str:
    r"""Return a line with the escapes of JSON and source code undone, ``\n`` as a blank: the line stays one."""
    if "\\" not in line:
        return line
    text = _ESCAPE.sub(lambda m: chr(int(m[1], 16)) if m[1] else _PLAIN_ESCAPES[m[2]], line)
    # Two escapes may be the halves of one character; a half by itself is none.
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _is_digest(piece: str) -> bool:
    return len(piece) == 64 and all(c in "0123456789abcdefABCDEF" for c in piece)


def _runs(words: Sequence[tuple[str, int]]) -> dict[str, int]:
    texts = [word for word, _line in words]
    found: dict[str, int] = {}
    for at in range(len(texts) - spans.WORDS + 1):
        run = texts[at : at + spans.WORDS]
        if spans.is_varied(run):
            found.setdefault(spans.span(run), words[at][1])
    return found
