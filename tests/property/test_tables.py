"""Tables, for any content: what a writer wrote is read back, and what is no table is refused in words."""

import csv
import io
import json
from typing import Any

from hypothesis import HealthCheck, example, given, settings, strategies as st

from lacre.errors import LacreError
from lacre.protocol.tables import Table
from lacre.tables.columns import TypedTable
from lacre.tables.formats import Format
from lacre.tables.keys import join_keys
from lacre.tables.read import read_table

# The first example imports pyarrow, and machines of a test service stall: how long one takes says nothing.
UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12)
TRICKY = st.sampled_from(
    ["", " ", '"', '""', ",", ";", "\n", "\r\n", "\r", "NA", "nan", "0001", "1.0", "\ufeff", "#", "\x1a"]
)
CELL = st.one_of(TEXT, TRICKY, st.lists(TRICKY, max_size=4).map("".join))


@st.composite
def grids(draw: st.DrawFn) -> list[list[str]]:
    """Rows of as many cells as each other."""
    width = draw(st.integers(1, 4))
    return draw(st.lists(st.lists(CELL, min_size=width, max_size=width), min_size=1, max_size=8))


def typed(raw: bytes, format_: Format, names: list[str], **table: Any) -> TypedTable:
    """Read `raw` as a table of texts keyed by its first column."""
    columns = {name: {"type": "text", "missing": ["\0"]} for name in names}
    declared = Table.model_validate({"key": names[0], "columns": columns, **table})
    return read_table(raw, declared, "t", format_, only="pool", keep=names)


def attempt(raw: bytes, declared: Table, format_: Format, only: Any) -> TypedTable | LacreError:
    """Read `raw`, or return what refuses it; any other error is raised."""
    try:
        return read_table(raw, declared, "t", format_, only=only)
    except LacreError as error:
        return error


def cells(table: TypedTable, names: list[str]) -> list[list[str | None]]:
    """Return the rows as written, without the numbers they were given for keys."""
    return [list(row) for row in zip(*(table.texts[name] for name in names[1:]), strict=True)]


@UNHURRIED
@given(
    grid=grids(),
    end=st.sampled_from(["\n", "\r\n"]),
    mark=st.booleans(),
    final=st.booleans(),
    delimiter=st.sampled_from([",", ";", "\t", "|"]),
    quoting=st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]),
)
@example(grid=[["\r"]], end="\n", mark=True, final=False, delimiter=",", quoting=csv.QUOTE_ALL)
def test_csv_that_a_writer_wrote_is_read_back(
    grid: list[list[str]], end: str, mark: bool, final: bool, delimiter: str, quoting: Any
) -> None:
    # Python before 3.13 leaves a lone CR without quotes when lines end in LF, and so makes it part of a CRLF.
    if quoting == csv.QUOTE_MINIMAL and any("\r" in cell for row in grid for cell in row):
        end = "\r\n"
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator=end, delimiter=delimiter, quoting=quoting)
    names = ["key", *(f"c{number}" for number in range(len(grid[0])))]
    writer.writerow(names)
    writer.writerows([f"k{number}", *row] for number, row in enumerate(grid))
    text = stream.getvalue()
    if not final:
        text = text.removesuffix(end)
    raw = ("\ufeff" if mark else "").encode() + text.encode()
    table = typed(raw, Format.CSV, names, delimiter=delimiter)
    assert cells(table, names) == grid
    assert table.keys.tolist() == [f"k{number}" for number in range(len(grid))]


@UNHURRIED
@given(grid=grids(), lines=st.booleans(), ascii_=st.booleans(), indent=st.sampled_from([None, 1]))
def test_json_that_a_writer_wrote_is_read_back(
    grid: list[list[str]], lines: bool, ascii_: bool, indent: int | None
) -> None:
    names = ["key", *(f"c{number}" for number in range(len(grid[0])))]
    rows = [dict(zip(names, [f"k{number}", *row], strict=True)) for number, row in enumerate(grid)]
    if lines:
        text = "\n".join(json.dumps(row, ensure_ascii=ascii_) for row in rows)
    else:
        text = json.dumps(rows, ensure_ascii=ascii_, indent=indent)
    table = typed(text.encode(), Format.JSON_LINES if lines else Format.JSON, names)
    assert cells(table, names) == grid


@UNHURRIED
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_numbers_that_python_wrote_are_read_back(values: list[float]) -> None:
    columns = {"id": {"type": "text"}, "x": {"type": "number"}}
    declared = Table.model_validate({"key": "id", "columns": columns, "decimal": ","})
    lines = "".join(f'{number};"{value!r}"\n'.replace(".", ",") for number, value in enumerate(values))
    declared = declared.model_copy(update={"delimiter": ";"})
    table = read_table(f"id;x\n{lines}".encode(), declared, "t", Format.CSV, only="pool")
    assert table.columns["x"].array.tolist() == values


@UNHURRIED
@given(rows=st.lists(st.tuples(CELL, CELL), unique=True, max_size=30))
def test_different_rows_have_different_keys(rows: list[tuple[str, str]]) -> None:
    keys = join_keys([[first for first, _second in rows], [second for _first, second in rows]])
    assert len(set(keys)) == len(rows)


TYPED: dict[str, dict[str, Any]] = {
    "id": {"type": "text"},
    "n": {"type": "number", "min": 0, "max": "1/3"},
    "t": {"type": "time", "zone": "America/Sao_Paulo"},
    "d": {"type": "digest"},
    "c": {"type": "category", "values": ["a"]},
    "o": {"type": "outcome", "positive": "1", "negative": "0"},
}
HEADER = b"id,n,t,d,c,o\n"
BYTES = st.one_of(
    st.binary(max_size=200),
    st.binary(max_size=200).map(lambda tail: HEADER + tail),
    st.lists(
        st.sampled_from([b",", b"\n", b'"', b"\r", b"1", b"0.2", b"2026-09-02", b"a", b"\xc3", b"\0"]),
        max_size=60,
    ).map(lambda parts: HEADER + b"".join(parts)),
    st.lists(
        st.sampled_from(list('[]{}:,"\\\n '))
        | st.sampled_from(["NaN", '"id"', "1", "1e9", "null", "\\ud800"]),
        max_size=60,
    ).map(lambda parts: "".join(parts).encode()),
)


@UNHURRIED
@given(
    raw=BYTES,
    format_=st.sampled_from(Format),
    strip=st.booleans(),
    only=st.sampled_from(["pool", "submission"]),
)
def test_any_bytes_are_a_table_or_are_refused(raw: bytes, format_: Format, strip: bool, only: Any) -> None:
    columns = {**TYPED, "o": {**TYPED["o"], "from": "submission"}}
    declared = Table.model_validate({"key": "id", "columns": columns, "strip_header": strip})
    found = attempt(raw, declared, format_, only)
    if isinstance(found, LacreError):
        # The words must exist for whatever was in the file, and print on any terminal.
        assert str(found).isprintable()
        assert found.__context__ is None
    else:
        assert found.rows > 0
        assert all(len(column.array) == found.rows for column in found.columns.values())


@UNHURRIED
@given(data=st.data())
def test_any_change_of_a_cell_is_read_or_refused_without_showing_it(data: st.DataObject) -> None:
    secret = "Xyzzy7734"
    column = data.draw(st.sampled_from(sorted(TYPED)))
    value = data.draw(CELL) + secret
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\r\n")
    writer.writerow(TYPED)
    row = {"id": "1", "n": "0.25", "t": "2026-09-02", "d": "a" * 64, "c": "a", "o": "1", column: value}
    writer.writerow(row.values())
    declared = Table.model_validate({"key": "id", "columns": TYPED})
    found = attempt(stream.getvalue().encode(), declared, Format.CSV, "pool")
    assert isinstance(found, LacreError) == (column in ("n", "t", "d"))
    if isinstance(found, LacreError):
        assert secret not in str(found)
        assert secret not in repr(found.fields)
    assert secret not in repr(found)
