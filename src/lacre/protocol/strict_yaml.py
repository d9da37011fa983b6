"""YAML without surprises: the core types of YAML 1.2, and none of what lets a text mean two things.

PyYAML supplies the events (the syntax, with marks); types, keys and limits are decided here. Refused: keys
twice in one map or that are no text, anchors, aliases, tags, merge keys, directives, more than one document,
NaN and infinities, whole numbers past 2^53, control characters, bytes that are not UTF-8, and documents over
`MAX_BYTES` or nested deeper than `MAX_DEPTH`.
"""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from lacre.errors import ProtocolInvalid, printable
from lacre.protocol.grammar import LARGEST
from lacre.protocol.problems import Path, quoted
from lacre.text import N_, _

MAX_BYTES = 2**18
MAX_DEPTH = 50
MAX_PROBLEMS = 100

# YAML 1.2.2, section 10.3.2 (the core schema's tag resolution).
_NULL = frozenset(("null", "Null", "NULL", "~", ""))
_BOOL = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INT = re.compile(r"[-+]?[0-9]+")
_OCTAL = re.compile(r"0o[0-7]+")
_HEX = re.compile(r"0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")

# U+0085, U+2028 and U+2029 end a line in YAML 1.1 and not in 1.2; the rest is not printable in either.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")
_LINE_END = re.compile("\r\n|\r|\n")


@dataclass(frozen=True, order=True)
class Position:
    """A place in a text: line and column, both from 1, columns counted in characters."""

    line: int
    column: int


@dataclass(frozen=True)
class Loaded:
    """The value of a document, and where each of its parts stands.

    `positions` gives a scalar's own place, and a map's or list's the place of its key where it has one;
    `keys` gives the place of each key.
    """

    value: Any
    positions: Mapping[Path, Position]
    keys: Mapping[Path, Position]


def load(data: bytes, name: str = "protocol.yaml") -> Loaded:
    """Return the value of the one document in `data`.

    Raises `ProtocolInvalid`, listing every problem up to the first that leaves the rest unreadable; `name`
    is what the message calls the document.
    """
    reader = _Reader()
    try:
        value = reader.read(data)
    except _Unreadable as error:
        reader.problems.append((error.position, error.sentence))
    if reader.problems:
        raise invalid(name, [f"{at.line}:{at.column} {sentence}" for at, sentence in reader.problems])
    return Loaded(value, reader.positions, reader.keys)


def has_control(text: str) -> bool:
    """Tell whether `text` holds a control character other than a tab or a line end."""
    return _CONTROL.search(text) is not None or "\r" in text


def invalid(name: str, problems: list[str]) -> ProtocolInvalid:
    """Return the error that lists `problems`, each a line of its own."""
    shown = problems[:MAX_PROBLEMS]
    if len(problems) > MAX_PROBLEMS:
        shown.append(_("... and {more} more").format(more=len(problems) - MAX_PROBLEMS))
    return ProtocolInvalid(name=name, count=len(problems), problems="\n".join(shown))


class _Unreadable(Exception):
    """What ends the reading."""

    def __init__(self, position: Position, sentence: str) -> None:
        super().__init__(sentence)
        self.position = position
        self.sentence = sentence


@dataclass
class _Open:
    """A map or list that has begun and not ended."""

    value: dict[str, Any] | list[Any]
    path: Path
    key: str | None = None


@dataclass
class _Reader:
    problems: list[tuple[Position, str]] = field(default_factory=list)
    positions: dict[Path, Position] = field(default_factory=dict)
    keys: dict[Path, Position] = field(default_factory=dict)
    stack: list[_Open] = field(default_factory=list)
    root: Any = None

    def read(self, data: bytes) -> Any:
        started = False
        for event in _events(_text(data)):
            if isinstance(event, yaml.DocumentStartEvent):
                if started:
                    raise _Unreadable(_at(event), _("a second document begins here; a protocol is one"))
                started = True
                if event.tags or event.version not in (None, (1, 2)):
                    self.refuse(event, N_("directives (%) are not used here; take the line out"))
            elif isinstance(event, yaml.NodeEvent):
                self.node(event)
            elif isinstance(event, yaml.CollectionEndEvent):
                self.stack.pop()
        if not started:
            raise _Unreadable(Position(1, 1), _("the file is empty"))
        return self.root

    def refuse(self, event: yaml.Event, template: str, **fields: str) -> None:
        said = _(template).format(**{name: printable(text) for name, text in fields.items()})
        self.problems.append((_at(event), said))

    def node(self, event: yaml.NodeEvent) -> None:
        if isinstance(event, yaml.AliasEvent):
            raise _Unreadable(_at(event), _("aliases (*) are not used here; write the value out"))
        if event.anchor is not None:
            self.refuse(event, N_("anchors (&) are not used here; take it out"))
        if getattr(event, "tag", None) is not None:
            self.refuse(event, N_("tags (!) are not used here; text goes in quotes"))
        if self.stack and isinstance(self.stack[-1].value, dict) and self.stack[-1].key is None:
            self.key(event)
            return
        if isinstance(event, yaml.ScalarEvent):
            self.attach(self.scalar(event), event)
            return
        if len(self.stack) >= MAX_DEPTH:
            raise _Unreadable(_at(event), _("nested deeper than {depth}").format(depth=MAX_DEPTH))
        value: dict[str, Any] | list[Any] = {} if isinstance(event, yaml.MappingStartEvent) else []
        path = self.attach(value, event)
        self.stack.append(_Open(value, path))

    def key(self, event: yaml.NodeEvent) -> None:
        if not isinstance(event, yaml.ScalarEvent):
            raise _Unreadable(_at(event), _("a key must be text, and this is a list or a map"))
        here = self.stack[-1]
        value = self.scalar(event, key=True)
        if not isinstance(value, str):
            self.refuse(event, N_("a key must be text: write {key} in quotes"), key=quoted(event.value))
            value = event.value
        elif value == "<<" and event.implicit[0]:
            self.refuse(event, N_("merge keys (<<) are not used here; write the keys out"))
        path = (*here.path, value)
        if value in here.value:
            first = self.keys[path].line
            self.refuse(
                event,
                N_("{key} stands twice in one map, first on line {line}"),
                key=quoted(value),
                line=str(first),
            )
        here.key = value
        self.keys[path] = _at(event)

    def attach(self, value: Any, event: yaml.NodeEvent) -> Path:
        """Put a value where the reading has come to, and return its path."""
        if not self.stack:
            self.root = value
            self.positions[()] = _at(event)
            return ()
        here = self.stack[-1]
        if isinstance(here.value, list):
            path: Path = (*here.path, len(here.value))
            here.value.append(value)
            self.positions[path] = _at(event)
            return path
        key, here.key = str(here.key), None
        path = (*here.path, key)
        here.value[key] = value
        self.positions[path] = (
            self.keys[path] if isinstance(value, dict | list) or value is None else _at(event)
        )
        return path

    def scalar(self, event: yaml.ScalarEvent, *, key: bool = False) -> Any:
        text = event.value
        if has_control(text):
            self.refuse(event, N_("holds a control character"))
        if not event.implicit[0]:
            return text
        if text in _NULL:
            return None
        if text in _BOOL:
            return _BOOL[text]
        if _NOT_FINITE.fullmatch(text):
            if not key:
                self.refuse(event, N_("{number} is not finite"), number=quoted(text))
            return 0.0
        return self.number(event, text)

    def number(self, event: yaml.ScalarEvent, text: str) -> str | int | float:
        for pattern, base in ((_INT, 10), (_OCTAL, 8), (_HEX, 16)):
            if pattern.fullmatch(text):
                digits = text.lstrip("+-") if base == 10 else text[2:]
                digits = digits.lstrip("0") or "0"
                value = int(digits, base) if len(digits) <= 20 else LARGEST + 1
                if value > LARGEST:
                    self.refuse(
                        event,
                        N_("{number} is past 2^53; if it is an id, write it in quotes"),
                        number=quoted(text),
                    )
                    return 0
                return -value if text.startswith("-") else value
        if _FLOAT.fullmatch(text):
            number = float(text)
            if not math.isfinite(number):
                self.refuse(event, N_("{number} is not finite"), number=quoted(text))
                return 0.0
            return number
        return text


def _text(data: bytes) -> str:
    if len(data) > MAX_BYTES:
        raise _Unreadable(Position(1, 1), _("the file is over {bytes} bytes").format(bytes=MAX_BYTES))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8-sig")
        raise _Unreadable(_end(before), _("the file is not UTF-8 from here on")) from None
    if found := _CONTROL.search(text):
        raise _Unreadable(
            _end(text[: found.start()]),
            _("a control or invisible character stands here (U+{code})").format(code=f"{ord(found[0]):04X}"),
        )
    return text


def _end(text: str) -> Position:
    lines = _LINE_END.split(text)
    return Position(len(lines), len(lines[-1]) + 1)


def _at(event: yaml.Event) -> Position:
    mark = event.start_mark
    return Position(1, 1) if mark is None else Position(mark.line + 1, mark.column + 1)


def _events(text: str) -> Iterator[yaml.Event]:
    """Yield PyYAML's events; whatever it raises becomes `_Unreadable`, with the place it had come to."""
    last = Position(1, 1)
    try:
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            last = _at(event)
            yield event
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        at = Position(mark.line + 1, mark.column + 1) if mark is not None else last
        why = error.problem or error.context or ""
        raise _Unreadable(at, _("this is not YAML: {why}").format(why=printable(why))) from None
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        # PyYAML lets through what `chr` raises for an escape beyond Unicode.
        raise _Unreadable(last, _("this is not YAML: {why}").format(why=printable(str(error)))) from None
