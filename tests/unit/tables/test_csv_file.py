"""CSV is read to the letter, and what is no table is refused with where it goes wrong."""

from collections.abc import Iterable

import pytest

from lacre.errors import (
    LacreError,
    TableColumnAbsent,
    TableEmpty,
    TableLineEnds,
    TableNoRows,
    TableNotLatin1,
    TableNul,
    TableQuotes,
    TableRagged,
    TableUndecodable,
)
from lacre.protocol.problems import nearest
from lacre.tables import header
from lacre.tables.csv_file import Dialect, read_csv
from lacre.tables.formats import Cells


def columns(raw: bytes, *wanted: str, dialect: Dialect = Dialect()) -> dict[str, list[str | None]]:  # noqa: B008
    """Read the wanted columns of `raw`, whole."""
    whole: dict[str, list[str | None]] = {name: [] for name in wanted}

    def sink(batch: list[Cells] | tuple[Cells, ...] | object) -> None:
        assert isinstance(batch, list)
        for name, cells in zip(wanted, batch, strict=True):
            whole[name].extend(cells)

    read_csv(raw, wanted, sink, dialect, file="cases.csv")
    return whole


def refusal(raw: bytes, *wanted: str, dialect: Dialect = Dialect()) -> LacreError:  # noqa: B008
    """Return the error that reading `raw` raises; nothing with the file's text must hang on it."""
    with pytest.raises(LacreError) as caught:
        columns(raw, *wanted, dialect=dialect)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert "cases." in str(caught.value)
    return caught.value


@pytest.mark.parametrize(
    "raw",
    [
        b"id,x\n0001,NA\n0002,\n",
        b"id,x\r\n0001,NA\r\n0002,\r\n",
        b"id,x\n0001,NA\n0002,",
        b"\xef\xbb\xbfid,x\n0001,NA\n0002,\n",
        b'\xef\xbb\xbf"id","x"\r\n"0001","NA"\r\n"0002",""',
        b"id,x\n0001,NA\n0002,\n\n\r\n\n",
    ],
    ids=["lf", "crlf", "no final newline", "bom", "bom, quotes, crlf", "blank lines at the end"],
)
def test_line_ends_marks_and_quotes_change_nothing(raw: bytes) -> None:
    assert columns(raw, "id", "x") == {"id": ["0001", "0002"], "x": ["NA", ""]}


def test_cells_are_kept_to_the_letter() -> None:
    cells = [
        "00000000000191",
        "NA",
        "na",
        "None",
        "nan",
        "NULL",
        " 1 ",
        "1.0",
        "1,5",
        'a "b"',
        "l1\nl2",
        "\r\n",
    ]
    raw = "".join('"{}"\r\n'.format(cell.replace('"', '""')) for cell in ["id", *cells]).encode()
    assert columns(raw, "id") == {"id": cells}


def test_crlf_records_hold_lf_in_their_cells() -> None:
    assert columns(b'id,x\r\n1,"a\nb"\r\n2,"c\r\nd"\r\n', "x", "id") == {
        "x": ["a\nb", "c\r\nd"],
        "id": ["1", "2"],
    }


def test_a_quote_inside_an_unquoted_cell_is_itself() -> None:
    assert columns(b'id,x\n1,5\' 11"\n2,a"b"c\n', "x") == {"x": ["5' 11\"", 'a"b"c']}


def test_other_line_ends_of_unicode_end_no_row() -> None:
    raw = "id,x\n1,a\u2028b\x0bc\x0cd\x85e\x1ef\n".encode()
    assert columns(raw, "x") == {"x": ["a\u2028b\x0bc\x0cd\x85e\x1ef"]}


def test_only_wanted_columns_are_given_in_the_order_asked() -> None:
    batches: list[object] = []
    unused = read_csv(b"a,b,c,a\n1,2,3,4\n", ["c", "b"], batches.append, Dialect(), file="f")
    assert batches == [[["3"], ["2"]]]
    assert unused == ("a",)


def test_rows_come_in_batches_that_lose_none() -> None:
    count = 10_001
    raw = b"id\n" + b"".join(b"%d\n" % row for row in range(count))
    assert columns(raw, "id")["id"] == [str(row) for row in range(count)]


@pytest.mark.parametrize(
    ("delimiter", "raw"),
    [(";", b"id;x\n1;2,5\n"), ("\t", b"id\tx\n1\t2,5\n"), ("|", b"id|x\n1|2,5\n"), (" ", b"id x\n1 2,5\n")],
)
def test_the_delimiter_is_as_declared(delimiter: str, raw: bytes) -> None:
    for strip in (False, True):
        assert columns(raw, "id", "x", dialect=Dialect(delimiter, strip=strip)) == {"id": ["1"], "x": ["2,5"]}


def test_latin_1_is_read_where_it_is_declared() -> None:
    raw = "id,x\n1,ação\n".encode("latin-1")
    assert columns(raw, "x", dialect=Dialect(encoding="latin-1")) == {"x": ["ação"]}


def test_strip_takes_blanks_off_names_and_cells_quoted_ones_too() -> None:
    raw = 'id, x ,\ty\n1, a b\t,\u00a0c\n2, "d, e ",f\n'.encode()
    stripped = columns(raw, "id", "x", "y", dialect=Dialect(strip=True))
    assert stripped == {"id": ["1", "2"], "x": ["a b", "d, e"], "y": ["c", "f"]}


@pytest.mark.parametrize("raw", [b"", b"\xef\xbb\xbf", b"\n", b"\r\n\n\r\n"])
def test_nothing_is_refused_as_empty(raw: bytes) -> None:
    assert isinstance(refusal(raw, "id"), TableEmpty)


@pytest.mark.parametrize("raw", [b"id,x", b"id,x\n", b"\xef\xbb\xbfid,x\r\n\r\n"])
def test_a_header_alone_has_no_rows(raw: bytes) -> None:
    assert isinstance(refusal(raw, "id"), TableNoRows)


@pytest.mark.parametrize(
    ("raw", "row", "line", "cells"),
    [
        (b"id,x\n1,a\n2\n3,b\n", 2, 3, 1),
        (b"id,x\n1,a\n2,b,c\n", 2, 3, 3),
        (b'id,x\n1,"a\nb\nc"\n2,b,c\n', 2, 5, 3),
        (b"id,x\n1,a\n\n2,b\n", 2, 3, 0),
        (b"id,x\n\n1,a\n", 1, 2, 0),
        (b"id,x\n1,a\n \n", 2, 3, 1),
        (b"id,x\n1,a,\n", 1, 2, 3),
    ],
    ids=[
        "short",
        "long",
        "after cells of several lines",
        "blank",
        "blank first",
        "a blank",
        "delimiter at the end",
    ],
)
def test_ragged_rows_are_refused_with_their_place(raw: bytes, row: int, line: int, cells: int) -> None:
    error = refusal(raw, "id")
    assert isinstance(error, TableRagged)
    assert error.fields == {"file": "cases.csv", "row": row, "line": line, "cells": cells, "expected": 2}


def test_a_ragged_row_is_found_in_any_batch() -> None:
    raw = b"id,x\n" + b"1,a\n" * 9_000 + b"\n" * 9_000 + b"1,a\n"
    error = refusal(raw, "id")
    assert isinstance(error, TableRagged)
    assert error.fields["row"] == 9_001
    assert columns(raw[:-4], "id") == {"id": ["1"] * 9_000}


@pytest.mark.parametrize(
    ("raw", "line"),
    [
        (b'id,x\n1,"a\n2,b\n', 2),
        (b'id,x\n1,a\n2,"b"c\n', 3),
        (b'id,x\n1,"a\nb"\n2,"b" \n', 4),
        (b'"id,x\n1,a\n', 1),
    ],
    ids=["never closed", "text after it", "a blank after it", "in the header"],
)
def test_quotes_that_do_not_balance_are_refused(raw: bytes, line: int) -> None:
    error = refusal(raw, "id")
    assert isinstance(error, TableQuotes)
    assert error.fields == {"file": "cases.csv", "line": line}


@pytest.mark.parametrize(("raw", "line"), [(b"id,x\r1,a\r2,b\r", 1), (b"id,x\n1,a\rb\n", 2)])
def test_bare_carriage_returns_are_refused(raw: bytes, line: int) -> None:
    error = refusal(raw, "id")
    assert isinstance(error, TableLineEnds)
    assert error.fields["line"] == line


@pytest.mark.parametrize(
    ("raw", "offset"),
    [
        (b"id,x\n1,a\xe7\xe3o\n", 8),
        (b"\xef\xbb\xbfid\n\xff\n", 6),
        (b"id\n" + b"a" * (1 << 20) + b"\xc3", 3 + (1 << 20)),
        (b"id\n" + b"a" * ((1 << 20) - 4) + "é".encode() * 4 + b"\xc3(", 3 + (1 << 20) - 4 + 8),
        (b"id\n\xed\xa0\x80\n", 3),
    ],
    ids=["latin-1", "after the mark", "cut at the end", "across a step", "a surrogate"],
)
def test_what_is_no_utf_8_is_refused_with_the_byte(raw: bytes, offset: int) -> None:
    error = refusal(raw, "id")
    assert isinstance(error, TableUndecodable)
    assert error.fields["offset"] == offset
    assert "encoding: latin-1" in error.way_out


def test_utf_16_is_refused() -> None:
    error = refusal("id,x\n1,a\n".encode("utf-16"), "id")
    assert isinstance(error, TableNul)
    assert error.fields["offset"] == 3


def test_a_nul_is_refused_in_any_encoding() -> None:
    for encoding in ("utf-8", "latin-1"):
        error = refusal(b"id\na\0\n", "id", dialect=Dialect(encoding=encoding))
        assert isinstance(error, TableNul)


def test_utf_8_by_its_mark_is_not_read_as_latin_1() -> None:
    assert isinstance(
        refusal(b"\xef\xbb\xbfid\n1\n", "id", dialect=Dialect(encoding="latin-1")), TableNotLatin1
    )


def test_a_cell_may_be_longer_than_the_limit_of_the_csv_module() -> None:
    cell = "x" * 400_000
    assert columns(f"id\n{cell}\n".encode(), "id") == {"id": [cell]}


def test_a_header_of_a_million_names_takes_no_quadratic_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Likeness is what costs: of a million names, a bounded number is compared with the absent one."""
    compared: list[int] = []

    def counting(name: str, among: Iterable[str]) -> str | None:
        listed = list(among)
        compared.append(len(listed))
        return nearest(name, listed)

    monkeypatch.setattr(header, "nearest", counting)
    names = [f"column {number}" for number in range(1_000_000)]
    raw = (",".join(names) + "\n" + ",".join(["1"] * len(names)) + "\n").encode()
    assert columns(raw, names[-1], names[0]) == {names[-1]: ["1"], names[0]: ["1"]}
    assert compared == []
    assert isinstance(refusal(raw, "colunm 99"), TableColumnAbsent)
    assert len(compared) == 1
    assert 0 < compared[0] <= 10_000
