"""Tables by somebody with bad intent: a million columns, bombs, bytes that are no text, escapes, formulae.

What comes out is a table or one of lacre's own refusals, in bounded time and memory; and no refusal shows what
stands in the file, but for the one name of a column that is nearest to one that is missing.
"""

import codecs
import csv
import io
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings, strategies as st
from tests.studies import plan

from lacre.broker.handing import as_csv as handed
from lacre.errors import (
    LacreError,
    TableColumnAbsent,
    TableColumnDoubled,
    TableExpands,
    TableNotLatin1,
    TableNul,
    TableRagged,
    TableUndecodable,
)
from lacre.protocol.tables import Table
from lacre.tables import parquet_file
from lacre.tables.cells import objects
from lacre.tables.columns import Texts, TypedTable
from lacre.tables.formats import Format
from lacre.tables.formulas import begins_as_formula
from lacre.tables.read import read_table

UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
SECRET = "Xyzzy7734"
MILLION = 1_000_000
CASES: dict[str, Any] = {
    "key": "case_id",
    "columns": {
        "case_id": {"type": "text"},
        "note": {"type": "text", "is": "input"},
        "n": {"type": "number"},
    },
}
DECLARED = Table.model_validate(CASES)
PROTOCOL = plan(pools={"dev": "", "teste": ""})


def refused(raw: bytes, format_: Format, declared: Table = DECLARED) -> LacreError:
    """Read a table that is refused; its words are one harmless line of bounded length."""
    with pytest.raises(LacreError) as found:
        read_table(raw, declared, "cases", format_, only="pool")
    said = str(found.value)
    assert said.isprintable()
    assert len(said) < 1500
    assert SECRET not in said
    return found.value


# --- a million columns -------------------------------------------------------------------------------------


def as_csv(names: Iterable[str]) -> bytes:
    return (",".join(names) + "\n").encode()


def as_json(names: Iterable[str]) -> bytes:
    return json.dumps([dict.fromkeys(names, 1)]).encode()


def as_lines(names: Iterable[str]) -> bytes:
    return json.dumps(dict.fromkeys(names, 1)).encode()


WIDE: list[tuple[Callable[[Iterable[str]], bytes], Format]] = [
    (as_csv, Format.CSV),
    (as_json, Format.JSON),
    (as_lines, Format.JSON_LINES),
]


@pytest.mark.parametrize(("write", "format_"), WIDE, ids=[format_.name for _write, format_ in WIDE])
def test_a_million_names_that_are_not_the_declared_ones(
    write: Callable[[Iterable[str]], bytes], format_: Format
) -> None:
    raw = write(f"{SECRET}-{number}" for number in range(MILLION))
    begun = time.process_time()
    error = refused(raw, format_)
    assert time.process_time() - begun < 20
    assert isinstance(error, TableColumnAbsent)


def test_a_declared_name_a_million_times() -> None:
    error = refused(as_csv(["case_id", "n", *["note"] * MILLION]), Format.CSV)
    assert isinstance(error, TableColumnDoubled)
    assert error.fields["count"] == MILLION


def test_rows_shorter_than_a_million_names() -> None:
    raw = as_csv(["case_id", "note", "n", *map(str, range(MILLION))]) + b"1,,2\n" * 100
    assert isinstance(refused(raw, Format.CSV), TableRagged)


def test_a_wide_parquet_file() -> None:
    import pyarrow as pa
    from pyarrow import parquet

    sink = io.BytesIO()
    parquet.write_table(pa.table({f"{SECRET}-{number}": [1] for number in range(3000)}), sink)
    assert isinstance(refused(sink.getvalue(), Format.PARQUET), TableColumnAbsent)


def measured(folder: Path, *words: str) -> tuple[int, str, int]:
    """Run lacre as a process: its status, all it wrote, and the most memory it had, in MiB."""
    with (folder / "written").open("wb") as written:
        process = subprocess.Popen(
            [sys.executable, "-m", "lacre", *words],
            cwd=folder,
            stdout=written,
            stderr=written,
            env={**os.environ, "XDG_STATE_HOME": str(folder)},
        )
        _pid, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, (folder / "written").read_text(), usage.ru_maxrss // 1024


def test_a_million_columns_that_nobody_declared_are_read_past_and_fill_no_screen(tmp_path: Path) -> None:
    """The seal lists some of them; each takes some hundred bytes of memory at most."""
    import lacre

    names = ["case_id", "label", "sex", *(f"unused\x1b[2J {number}" for number in range(MILLION))]
    (tmp_path / "wide.csv").write_bytes(as_csv(names) + b"1,1,male" + b"," * MILLION + b"\n")
    (tmp_path / "narrow.csv").write_bytes(b"case_id,label,sex\n2,1,male\n")
    with lacre.init(tmp_path, state=tmp_path / "state") as ledger:
        ledger.register(PROTOCOL.encode(), accept_infeasible="a test")
    used = []
    for name, pool in (("narrow", "dev"), ("wide", "teste")):
        status, text, most = measured(tmp_path, "seal", "small", pool, f"{name}.csv")
        assert status == 0, text
        used.append(most)
    assert "and 999900 more (--json lists all)" in " ".join(text.split())
    assert len(text) < 5000
    assert used[1] - used[0] < 600


# --- bytes that are no text --------------------------------------------------------------------------------

GOOD = "case_id,note,n\n1,é,2\n"


@pytest.mark.parametrize(
    ("raw", "error"),
    [
        (GOOD.encode("utf-16"), TableNul),
        (GOOD.encode("utf-16-be"), TableNul),
        (GOOD.encode("utf-32"), TableNul),
        (GOOD.encode("latin-1"), TableUndecodable),
        (GOOD.encode()[:-4], TableUndecodable),
        (b"case_id,note,n\n1,\xc0\x80,2\n", TableUndecodable),  # an overlong NUL
        (b"case_id,note,n\n1,\xed\xa0\x80,2\n", TableUndecodable),  # half of a surrogate pair
        (b"case_id,note,n\n1,\xf4\x90\x80\x80,2\n", TableUndecodable),  # past Unicode
        (b"case_id,note,n\n1,a\0b,2\n", TableNul),
        (b"\0" * 4096, TableNul),
    ],
)
@pytest.mark.parametrize("format_", [Format.CSV, Format.TSV, Format.JSON, Format.JSON_LINES])
def test_other_encodings_are_refused(raw: bytes, error: type[LacreError], format_: Format) -> None:
    """Of JSON the same bytes: what they say does not matter, as they are no text."""
    assert isinstance(refused(raw, format_), error)


def test_a_mark_of_utf8_before_latin1() -> None:
    declared = Table.model_validate({**CASES, "encoding": "latin-1"})
    assert isinstance(refused(codecs.BOM_UTF8 + GOOD.encode("latin-1"), Format.CSV, declared), TableNotLatin1)


# --- cells of any content ----------------------------------------------------------------------------------

TRICKS = [
    "", " ", "\x1b[2J", "\x1b]52;c;SGk=\x07", "\x9b31m", "\u202e", "\u200b", "\ufeff", "\x7f", "\x08", "\r", "\n",
    "\r\n", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\x1a", '"', "'", ",", ";", "\t", "|", "=1+1", "+1", "-1", "-x",
    "@SUM(A1)", "\t=1", " =1", "＝1", "=cmd|' /C calc'!A0", "#", "漢" * 3, "\U000e0041", "a" * 5000,
]  # fmt: skip
CELL = st.sampled_from(TRICKS) | st.text(st.sampled_from("".join(TRICKS[:24]) + "ab=-+@"), max_size=8)


def attempt(raw: bytes) -> TypedTable | LacreError:
    """Read `raw`, or return what refuses it; any other error is raised."""
    try:
        return read_table(raw, DECLARED, "cases", Format.CSV, only="pool", keep=["note"])
    except LacreError as error:
        return error


def written(rows: Iterable[Sequence[str]], end: str = "\r\n") -> bytes:
    stream = io.StringIO(newline="")
    csv.writer(stream, lineterminator=end, quoting=csv.QUOTE_ALL).writerows(rows)
    return stream.getvalue().encode()


@UNHURRIED
@given(
    cells=st.lists(CELL, min_size=1, max_size=6),
    end=st.sampled_from(["\n", "\r\n"]),
    mark=st.booleans(),
    drop=st.integers(0, 3),
    change=st.binary(max_size=3),
    at=st.integers(0, 10_000),
)
def test_any_cells_and_any_damage_give_a_table_or_a_refusal_that_shows_none_of_it(
    cells: list[str], end: str, mark: bool, drop: int, change: bytes, at: int
) -> None:
    rows = [
        ["case_id", "note", "n"],
        *([f"{n}", cell + SECRET, "1"][: 3 - drop % 4] for n, cell in enumerate(cells)),
    ]
    raw = (codecs.BOM_UTF8 if mark else b"") + written(rows, end)
    if change:
        raw = raw[: at % len(raw)] + change + raw[at % len(raw) + 1 :]
    found = attempt(raw)
    if isinstance(found, LacreError):
        assert str(found).isprintable()
        assert SECRET not in str(found)
        assert found.__context__ is None
    elif not change:
        assert found.texts["note"].tolist() == [cell + SECRET for cell in cells]


# --- what is handed out ------------------------------------------------------------------------------------


def handed_out(rows: Sequence[tuple[str, str]], delimiter: str) -> tuple[bytes, TypedTable]:
    """The bytes of `lacre inputs` for two columns of these cells."""
    texts = {name: objects([row[place] for row in rows]) for place, name in enumerate(("case_id", "note"))}
    columns = {name: Texts(cells) for name, cells in texts.items()}
    table = TypedTable("cases", len(rows), columns, texts["case_id"], texts=texts)
    return b"".join(handed(list(texts), list(texts.values()), range(table.rows), delimiter, "utf-8")), table


@UNHURRIED
@given(
    notes=st.lists(CELL, min_size=1, max_size=8),
    delimiter=st.sampled_from([",", ";", "\t", "|"]),
    last=st.booleans(),
)
@example(notes=["x\r"], delimiter=",", last=True)
@example(notes=["\r"], delimiter=",", last=True)
def test_inputs_are_read_back_as_they_were_sealed(notes: list[str], delimiter: str, last: bool) -> None:
    """By lacre, and by any reader of RFC 4180: not a character of a cell is another, formulae included."""
    rows = [(f"{n}", note) if last else (f"{note}{n}", "x") for n, note in enumerate(notes)]
    raw, _table = handed_out(rows, delimiter)
    stream = io.StringIO(raw.decode(), newline="")
    assert list(csv.reader(stream, delimiter=delimiter, strict=True)) == [
        ["case_id", "note"],
        *map(list, rows),
    ]
    if not any("\0" in cell for row in rows for cell in row):
        declared = Table.model_validate(
            {
                "key": "case_id",
                "columns": {n: {"type": "text"} for n in ("case_id", "note")},
                "delimiter": delimiter,
            }
        )
        table = read_table(raw, declared, "t", Format.CSV, only="pool", keep=["case_id", "note"])
        assert [*zip(*(table.texts[name] for name in ("case_id", "note")), strict=True)] == rows


@pytest.mark.parametrize(
    ("cell", "begins"),
    [
        *(
            (cell, True)
            for cell in ("=1", "+x", "-x", "@a", "\tx", "\rx", "\nx", " =1", "＝1", "＋x", "－1", "＠a")
        ),
        *((cell, True) for cell in ("-1-1", "+1;=2", "--1", "-", "=", "-1e", "+.", "-1 ")),
        *((cell, False) for cell in ("", "x", "1", "-1", "+1.5", "-1,5", "-.5", "+1e-3", "a=1", "'=1", "漢")),
    ],
)
def test_what_a_spreadsheet_would_compute(cell: str, begins: bool) -> None:
    """OWASP's list (=, +, -, @, tab, carriage return, line feed, and the full-width forms), and signed numbers."""
    assert begins_as_formula(cell) == begins


def test_formulae_are_counted_and_told(tmp_path: Path) -> None:
    import lacre

    columns = PROTOCOL.replace("sex: {type", '"=note": {type: text, is: input}\n      sex: {type')
    cells = [f"=1+{n}" if n < 3 else f"-{n}" if n < 6 else "x" for n in range(80)]
    rows = [f"{n},{cell},{n // 2 % 2},{('male', 'female')[n % 2]}" for n, cell in enumerate(cells)]
    (tmp_path / "cases.csv").write_text("case_id,=note,label,sex\n" + "\n".join(rows) + "\n")
    with lacre.init(tmp_path, state=tmp_path / "state") as ledger:
        ledger.register(columns.encode())
        ledger.seal("small", "teste", tmp_path / "cases.csv")
        made = ledger.inputs("small", "teste", tmp_path / "inputs.csv")
    assert made.formulas == 1 + 3  # the column's name too
    assert made.as_json()["formulas"] == 4
    assert "4 cells in it begin as formulas do." in " ".join(str(made).split())
    assert (tmp_path / "inputs.csv").read_text().splitlines()[:2] == ["case_id,=note", "0,=1+0"]


# --- bombs -------------------------------------------------------------------------------------------------


def bomb(kind: str) -> bytes:
    """A Parquet file of some kilobytes that stands for gigabytes."""
    import pyarrow as pa
    from pyarrow import parquet

    sink = io.BytesIO()
    if kind == "one long text, many times":
        count = 20_000
        long = pa.DictionaryArray.from_arrays(
            pa.array(np.zeros(count, np.int32)), pa.array(["x" * (1 << 20)])
        )
        table = pa.table({"case_id": [str(n) for n in range(count)], "note": long, "n": [1] * count})
        parquet.write_table(table, sink, compression="zstd", store_schema=False)
    elif kind == "millions of empty rows":
        schema = pa.schema([("case_id", pa.string()), ("note", pa.string()), ("n", pa.int8())])
        with parquet.ParquetWriter(sink, schema, compression="zstd") as writer:
            part = pa.table([pa.nulls(3_000_000, each.type) for each in schema], schema)
            for _part in range(10):
                writer.write_table(part, row_group_size=3_000_000)
    else:
        table = pa.table({"case_id": ["a"], "note": ["\0" * (1 << 27)], "n": [1]})
        parquet.write_table(table, sink, compression="zstd", use_dictionary=False)
    return sink.getvalue()


@pytest.mark.parametrize("kind", ["one long text, many times", "millions of empty rows", "one page"])
def test_a_small_file_that_would_fill_the_memory_is_refused_before_it_does(kind: str) -> None:
    raw = bomb(kind)
    assert len(raw) < 600_000
    begun = time.process_time()
    assert isinstance(refused(raw, Format.PARQUET), TableExpands)
    assert time.process_time() - begun < 10


def test_what_comes_out_is_weighed_where_the_file_says_nothing_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own account may be false; so each batch counts, its texts before they are repeated."""
    raw = bomb("one long text, many times")
    monkeypatch.setattr(parquet_file, "_stated", lambda _metadata, _wanted: 0)
    assert isinstance(refused(raw, Format.PARQUET), TableExpands)


def test_an_honest_file_that_compresses_well_is_read() -> None:
    """A million rows of constant columns take 16 MB as CSV, and some hundred kilobytes here."""
    import pyarrow as pa
    from pyarrow import parquet

    sink = io.BytesIO()
    count = 200_000
    columns = {"case_id": [str(n) for n in range(count)], "note": ["the same text"] * count, "n": [1] * count}
    parquet.write_table(pa.table(columns), sink, compression="zstd")
    table = read_table(sink.getvalue(), DECLARED, "cases", Format.PARQUET, only="pool")
    assert table.rows == count
