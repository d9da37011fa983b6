"""CSV as RFC 4180 has it, read to the letter and in bounded memory: only wanted columns are kept.

Python's own `csv` module in its strict mode parses, because it neither pads short rows nor renames doubled
columns, and because it tells a quoted line feed from the end of a row. A quote in the middle of an unquoted
cell is that character, as every reader of the field has it; one that opens a cell must close at its end.
Blank lines after the last row are no rows; anywhere else they are rows that are too short.
"""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from operator import itemgetter
from typing import TYPE_CHECKING, NoReturn

from lacre.errors import TableEmpty, TableLineEnds, TableNoRows, TableQuotes, TableRagged
from lacre.tables.decoding import text_begins
from lacre.tables.formats import Cells, Sink
from lacre.tables.header import BLANKS, locate, unused

if TYPE_CHECKING:
    from _csv import Reader

# As many rows at a time as stay in a processor's cache; fewer when rows have very many cells.
_ROWS = 1 << 12
_CELLS = 1 << 22


@dataclass(frozen=True)
class Dialect:
    """How a table's CSV files are written: `strip` takes the blanks off names and cells, quoted ones too."""

    delimiter: str = ","
    encoding: str = "utf-8"
    strip: bool = False


def read_csv(
    raw: bytes, wanted: Sequence[str], sink: Sink, dialect: Dialect, *, file: str
) -> tuple[str, ...]:
    """Give the columns `wanted` of the CSV file `raw` to `sink`, some rows at a time; return unused names.

    Rows are counted from 1 below the header. Raises what `text_begins` and `locate` do, and `TableEmpty`,
    `TableNoRows`, `TableRagged`, `TableQuotes` and `TableLineEnds`.
    """
    begin = text_begins(raw, dialect.encoding, file)
    # The module's limit guards those who read from a stream of unknown length. It belongs to the process, so
    # it is only ever raised: to put it back could take it from under another thread.
    if csv.field_size_limit() < len(raw):
        csv.field_size_limit(len(raw))
    malformed = False
    unused_names: tuple[str, ...] = ()
    try:
        unused_names = _read(raw, begin, wanted, sink, dialect, file)
    except csv.Error:
        malformed = True
    if malformed:
        _refuse_malformed(raw, begin, dialect, file)
    return unused_names


def _read(
    raw: bytes, begin: int, wanted: Sequence[str], sink: Sink, dialect: Dialect, file: str
) -> tuple[str, ...]:
    reader = _reader(raw, begin, dialect)
    header = next(reader)
    if dialect.strip:
        header = [name.strip(BLANKS) for name in header]
    if not header and not any(reader):
        raise TableEmpty(file=file)
    positions = locate(header, wanted, file=file, delimiter=dialect.delimiter)
    size = max(1, min(_ROWS, _CELLS // len(header)))
    done = 0
    while rows := list(islice(reader, size)):
        if set(map(len, rows)) != {len(header)}:
            rows = _without_blank_end(rows, reader)
            bad = next((i for i, row in enumerate(rows) if len(row) != len(header)), None)
            if bad is not None:
                _refuse_ragged(raw, begin, dialect, file, done + bad + 1)
        if rows:
            sink(_columns(rows, positions, strip=dialect.strip))
            done += len(rows)
    if done == 0:
        raise TableNoRows(file=file)
    return unused(header, wanted)


def _reader(raw: bytes, begin: int, dialect: Dialect) -> "Reader":
    stream = io.BytesIO(raw)
    stream.seek(begin)
    # Lines end at LF alone: a CR is then the reader's to judge, and not one of Unicode's many line ends.
    lines = io.TextIOWrapper(stream, encoding=dialect.encoding, newline="\n")
    skip = dialect.strip and dialect.delimiter != " "
    return csv.reader(lines, delimiter=dialect.delimiter, strict=True, skipinitialspace=skip)


def _columns(rows: Sequence[Sequence[str]], positions: Sequence[int], *, strip: bool) -> list[Cells]:
    if strip:
        return [[row[position].strip(BLANKS) for row in rows] for position in positions]
    return [list(map(itemgetter(position), rows)) for position in positions]


def _without_blank_end(rows: list[list[str]], reader: "Reader") -> list[list[str]]:
    filled = len(rows)
    while filled and not rows[filled - 1]:
        filled -= 1
    # What the reader has left only matters when blank lines were met, and is refused if it holds a row.
    return rows if filled == len(rows) or any(reader) else rows[:filled]


def _refuse_ragged(raw: bytes, begin: int, dialect: Dialect, file: str, row: int) -> NoReturn:
    reader = _reader(raw, begin, dialect)
    expected = len(next(reader))
    for _ in islice(reader, row - 1):
        pass
    line = reader.line_num + 1
    raise TableRagged(file=file, row=row, line=line, cells=len(next(reader)), expected=expected)


def _refuse_malformed(raw: bytes, begin: int, dialect: Dialect, file: str) -> NoReturn:
    reader = _reader(raw, begin, dialect)
    line = 1
    bare = False
    try:
        for _ in reader:
            line = reader.line_num + 1
    except csv.Error as error:
        bare = "new-line" in str(error)
    if bare:
        raise TableLineEnds(file=file, line=reader.line_num)
    raise TableQuotes(file=file, line=line)
