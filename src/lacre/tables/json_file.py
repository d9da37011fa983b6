"""JSON and JSON Lines, row by row, with each number in the digits of its source.

A row is an object; a column is one of its keys, or a path into it. A null and an absent key are the same: a
missing cell. Booleans read as ``true`` and ``false``. Both formats are UTF-8 whatever encoding the
table declares (RFC 8259), and a key written twice is refused, as readers differ on which one counts.
"""

import io
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from lacre.errors import TableEmpty, TableMalformed, TableNoRows, TableNoText, TableNotScalar
from lacre.tables.decoding import text_begins
from lacre.tables.formats import Cells, Sink
from lacre.tables.header import refuse_absent, unused
from lacre.tables.tally import Tally
from lacre.text import N_, _

_ROWS = 1 << 12
_SPACE = re.compile(r"[ \t\n\r]*")
_SPACES = b" \t\n\r"
_SOMETHING = re.compile(rb"[^ \t\n\r]")
_NO_TEXT = re.compile("[\ud800-\udfff]")

_ABSENT = object()

_NOT_JSON = N_("row {row} is not valid JSON")
_NOT_OBJECT = N_("row {row} is not an object")
_DOUBLED = N_("row {row} has an object with the same key twice")
_KEY_NO_TEXT = N_("row {row} has a key that is no Unicode text")
_NOT_FINITE = N_("row {row} has a number that is NaN or Infinity")
_TOO_DEEP = N_("row {row} is nested too deeply")
_NOT_ARRAY = N_("it does not begin with an array")
_NOT_ENDED = N_("before row {row} there is neither a comma nor the end of the array")
_MORE = N_("something follows the end of the array")
_BLANK = N_("there is a blank line where row {row} should be")


@dataclass(frozen=True)
class Place:
    """Where a column is in a row: its name in messages, and the steps that lead to its cell."""

    name: str
    steps: tuple[str | int, ...]


class _Refused(Exception):
    """What is wrong with a row. It carries none of the text, unlike the errors of `json`."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


def read_json(raw: bytes, wanted: Sequence[Place], sink: Sink, *, lines: bool, file: str) -> tuple[str, ...]:
    """Give the columns `wanted` of the rows of `raw` to `sink`, some at a time; return the unused names.

    Those are the top-level keys of any row that lead to no wanted column. `lines` tells JSON Lines from JSON.
    Raises what `text_begins` does, `TableNoRows`, `TableMalformed`, `TableNotScalar`, `TableNoText`, and
    `TableColumnAbsent` for a column that no row has.
    """
    begin = text_begins(raw, "utf-8", file)
    if not _SOMETHING.search(raw, begin):
        raise TableEmpty(file=file)
    collector = _Collector(wanted, sink, escapes=b"\\u" in raw)
    rows = _line_rows(raw, begin) if lines else _array_rows(raw, begin)
    why = None
    try:
        for row in rows:
            collector.add(row)
    except _Refused as refused:
        why = refused.why
    # Raised here and not where it was caught, so that no error of `json`, which holds the whole text, is the
    # context of this one.
    if why is not None:
        shown = "JSON Lines" if lines else "JSON"
        raise TableMalformed(file=file, format=shown, why=_(why).format(row=collector.rows + 1))
    return collector.finish(file)


class _Collector:
    """The rows not given to the sink yet, and what was met in all of them."""

    def __init__(self, wanted: Sequence[Place], sink: Sink, *, escapes: bool) -> None:
        self.rows = 0
        self._wanted = wanted
        self._sink = sink
        self._escapes = escapes
        self._held: list[dict[str, Any]] = []
        self._met = [False] * len(wanted)
        self._nested = [Tally() for _place in wanted]
        self._no_text = [False] * len(wanted)
        self._names: dict[str, None] = {}

    def add(self, row: dict[str, Any]) -> None:
        if not row.keys() <= self._names.keys():
            if any(map(_NO_TEXT.search, row)):
                raise _Refused(_KEY_NO_TEXT)
            self._names.update(dict.fromkeys(row))
        self._held.append(row)
        self.rows += 1
        if len(self._held) == _ROWS:
            self._flush()

    def finish(self, file: str) -> tuple[str, ...]:
        if self.rows == 0:
            raise TableNoRows(file=file)
        self._flush()
        for place, rows in zip(self._wanted, self._nested, strict=True):
            if rows.count:
                raise TableNotScalar(file=file, column=place.name, count=rows.count, row=rows.first)
        absent = [place.name for place, met in zip(self._wanted, self._met, strict=True) if not met]
        if absent:
            refuse_absent(self._names, absent, file)
        for place, no_text in zip(self._wanted, self._no_text, strict=True):
            if no_text:
                raise TableNoText(file=file, column=place.name)
        return unused(self._names, [str(place.steps[0]) for place in self._wanted])

    def _flush(self) -> None:
        if self._held:
            self._sink([self._cells(number, place.steps) for number, place in enumerate(self._wanted)])
            self._held = []

    def _cells(self, number: int, steps: tuple[str | int, ...]) -> Cells:
        name = steps[0]
        if len(steps) == 1 and isinstance(name, str):
            values = [row.get(name, _ABSENT) for row in self._held]
        else:
            values = [_at(row, steps) for row in self._held]
        kinds = set(map(type, values))
        if kinds != {type(_ABSENT)}:
            self._met[number] = True
        if not kinds.isdisjoint((dict, list)):
            for row, value in enumerate(values, self.rows - len(values) + 1):
                if isinstance(value, dict | list):
                    self._nested[number].note(row)
        cells: Cells = values if kinds == {str} else list(map(_text, values))
        # Escapes may spell half of a surrogate pair, which is no character.
        if self._escapes and any(cell is not None and _NO_TEXT.search(cell) for cell in cells):
            self._no_text[number] = True
        return cells


def _text(value: Any) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else None


def _at(value: Any, steps: tuple[str | int, ...]) -> Any:
    """Return what the steps lead to; `_ABSENT` past the end of what is there, a list past a single value."""
    for step in steps:
        if isinstance(value, dict) and isinstance(step, str):
            if step not in value:
                return _ABSENT
            value = value[step]
        elif isinstance(value, list) and isinstance(step, int):
            if step >= len(value):
                return _ABSENT
            value = value[step]
        else:
            return _ABSENT if value is None else []
    return value


def _line_rows(raw: bytes, begin: int) -> Iterator[dict[str, Any]]:
    lines = io.BytesIO(raw)
    lines.seek(begin)
    blank = False
    for line in lines:
        text = line.strip(_SPACES).decode("utf-8")
        if not text:
            blank = True
            continue
        if blank:
            raise _Refused(_BLANK)
        row, end = _value(text, 0)
        if end != len(text):
            raise _Refused(_NOT_JSON)
        yield row


def _array_rows(raw: bytes, begin: int) -> Iterator[dict[str, Any]]:
    text = str(memoryview(raw)[begin:], "utf-8")
    at = _skip(text, 0)
    if text[at : at + 1] != "[":
        raise _Refused(_NOT_ARRAY)
    at = _skip(text, at + 1)
    ended = text[at : at + 1] == "]"
    while not ended:
        row, at = _value(text, at)
        yield row
        at = _skip(text, at)
        if text[at : at + 1] not in {",", "]"}:
            raise _Refused(_NOT_ENDED)
        ended = text[at] == "]"
        at = at if ended else _skip(text, at + 1)
    if _skip(text, at + 1) != len(text):
        raise _Refused(_MORE)


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return at if match is None else match.end()


def _value(text: str, at: int) -> tuple[dict[str, Any], int]:
    why = None
    value: Any = None
    end = at
    try:
        value, end = _DECODER.raw_decode(text, at)
    except RecursionError:
        why = _TOO_DEEP
    except ValueError:
        why = _NOT_JSON
    if why is None and not isinstance(value, dict):
        why = _NOT_OBJECT
    if why is not None:
        raise _Refused(why)
    return value, end


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise _Refused(_DOUBLED)
    return made


def _refuse_constant(_text: str) -> NoReturn:
    raise _Refused(_NOT_FINITE)


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_float=str, parse_int=str, parse_constant=_refuse_constant
)
