"""A file of a pool, or of a submission, is read by its table's declaration."""

import io
import traceback
from collections.abc import Callable
from typing import Any

import pytest

from lacre.errors import (
    LacreError,
    TableColumnAbsent,
    TableColumnDoubled,
    TableDelimiter,
    TableHeaderPadded,
    TableKeyMissing,
    TableKeyRepeated,
    TableNotNumber,
    TableNotScalar,
    TableQuotes,
    TableRagged,
    TableUndecodable,
)
from lacre.tables.columns import MISSING, Codes, Numbers, Outcomes, Texts, TypedTable
from lacre.tables.formats import Format
from lacre.tables.read import read_table

Read = Callable[..., TypedTable]

COLUMNS: dict[str, Any] = {
    "label": {"type": "outcome", "positive": "1", "negative": "0"},
    "prediction": {"type": "outcome", "positive": "1", "negative": "0", "from": "submission"},
    "score": {"type": "number", "from": "submission"},
    "sex": {"type": "category", "values": ["female", "male"]},
}


def test_a_pools_file_has_every_column_but_the_submissions(read: Read) -> None:
    table = read("free text,sex,id,label\nx,male,0001,1\ny,,0002,0\n", COLUMNS)
    assert (table.name, table.rows, table.keys.tolist()) == ("cases", 2, ["0001", "0002"])
    assert list(table.columns) == ["id", "label", "sex"]
    assert isinstance(table.columns["id"], Texts)
    assert isinstance(table.columns["sex"], Codes)
    assert table.columns["sex"].codes.tolist() == [1, MISSING]
    assert table.undeclared == ("free text",)
    assert dict(table.texts) == {}


def test_columns_of_a_submission_in_a_pools_file_are_named_and_not_read(read: Read) -> None:
    table = read("id,label,sex,score,prediction\n1,1,male,no number,1\n", COLUMNS)
    assert list(table.columns) == ["id", "label", "sex"]
    assert table.undeclared == ("score", "prediction")


def test_a_submission_has_the_key_and_its_own_columns(read: Read) -> None:
    table = read("score,id,label,prediction,note\n0.5,b,no label,1,x\n,a,,0,y\n", COLUMNS, only="submission")
    assert list(table.columns) == ["id", "prediction", "score"]
    assert table.keys.tolist() == ["b", "a"]
    assert table.undeclared == ("label", "note")


def test_a_misnamed_column_of_a_submission_is_refused_with_the_nearest(read: Read) -> None:
    with pytest.raises(TableColumnAbsent) as caught:
        read("id,predictions,score\n1,1,0.5\n", COLUMNS, only="submission")
    assert caught.value.message == "cases.file has no `prediction`, which the protocol declares."
    assert "`predictions`" in caught.value.way_out


def test_the_file_is_called_by_the_tables_name_when_it_has_none(declare: Callable[..., Any]) -> None:
    with pytest.raises(TableColumnAbsent) as caught:
        read_table(b"x\n1\n", declare({}), "cases", Format.CSV, only="pool")
    assert caught.value.fields["file"] == "cases"


def test_a_key_of_several_columns(read: Read) -> None:
    columns = {"face": {"type": "text"}, "variant": {"type": "category", "values": ["a", "b"]}}
    table = read("face,variant\n1,a\n1,b\n2,zz\n", columns, key=["face", "variant"])
    assert table.keys.tolist() == ['["1","a"]', '["1","b"]', '["2","zz"]']


def test_repeated_keys_are_refused_with_the_count(read: Read) -> None:
    with pytest.raises(TableKeyRepeated) as caught:
        read("id\na\nb\na\na\nb\n", {})
    assert caught.value.fields == {"file": "cases.file", "count": 3}


def test_missing_keys_are_refused_with_the_count(read: Read) -> None:
    with pytest.raises(TableKeyMissing) as caught:
        read('id,x\na,1\n,2\nb,3\n"",4\n', {})
    assert caught.value.fields == {"file": "cases.file", "column": "id", "count": 2, "row": 2}
    with pytest.raises(TableKeyMissing) as caught:
        read("id\nNA\n", {"id": {"type": "text", "missing": ["NA"]}})
    with pytest.raises(TableKeyMissing) as caught:
        read(
            '[{"a": 1, "b": 2}, {"a": 1}]',
            {"a": {"type": "text"}, "b": {"type": "text"}},
            key=["a", "b"],
            format=Format.JSON,
        )
    assert (caught.value.fields["column"], caught.value.fields["row"]) == ("b", 2)


def test_missing_keys_are_counted_over_all_batches(read: Read) -> None:
    lines = [f"{number},x" for number in range(10_000)]
    for row in (5_000, 9_999):
        lines[row - 1] = ",x"
    with pytest.raises(TableKeyMissing) as caught:
        read("id,x\n" + "\n".join(lines), {})
    assert (caught.value.fields["count"], caught.value.fields["row"]) == (2, 5_000)


def test_refused_cells_are_counted_over_all_batches(read: Read) -> None:
    lines = [f"{number},1" for number in range(10_000)]
    for row in (5_000, 9_999):
        lines[row - 1] = f"{row},x"
    with pytest.raises(TableNotNumber) as caught:
        read("id,x\n" + "\n".join(lines), {"x": {"type": "number"}})
    assert (caught.value.fields["count"], caught.value.fields["row"]) == (2, 5_000)


def test_columns_are_kept_as_written_where_asked(read: Read) -> None:
    columns = {
        "x": {"type": "number"},
        "y": {"type": "text", "missing": ["NA", ""]},
        "z": {"type": "category", "values": ["a"]},
    }
    exclude = [{"column": "z", "in": ["b"]}, {"column": "x", "missing": True}]
    table = read("id,x,y,z\n1,1.50,NA,b\n2,,,a\n", columns, keep=("x", "y", "absent"), exclude=exclude)
    assert {name: cells.tolist() for name, cells in table.texts.items()} == {
        "x": ["1.50", ""],
        "y": ["NA", ""],
        "z": ["b", "a"],
    }


def test_an_outcome_by_equality_is_made_of_the_text_of_two_columns(read: Read) -> None:
    columns = {
        "response": {"type": "text"},
        "category": {"type": "category", "values": ["knife"], "missing": ["", "?"]},
        "correct": {"type": "outcome", "equals": ["response", "category"]},
    }
    table = read(
        "id,response,category,correct\n1,knife,knife,9\n2,na,knife,9\n3,chair,chair,9\n4,,knife,9\n5,?,?,9\n6,Knife,knife,9\n",
        columns,
    )
    correct = table.columns["correct"]
    assert isinstance(correct, Outcomes)
    assert correct.codes.tolist() == [1, 0, 1, MISSING, MISSING, 0]
    assert table.undeclared == ("correct",)
    assert dict(table.derivations) == {}


def test_decimal_delimiter_and_encoding_are_the_tables(read: Read) -> None:
    raw = "id;x;grupo\n1;0,5;não\n".encode("latin-1")
    columns = {"x": {"type": "number"}, "grupo": {"type": "category", "values": ["não"]}}
    table = read(raw, columns, delimiter=";", decimal=",", encoding="latin-1")
    assert isinstance(table.columns["x"], Numbers)
    assert table.columns["x"].values.tolist() == [0.5]
    assert isinstance(table.columns["grupo"], Codes)
    assert table.columns["grupo"].codes.tolist() == [0]


def test_how_csv_is_written_is_said_of_csv_alone(read: Read) -> None:
    written = {"delimiter": ";", "decimal": ",", "encoding": "latin-1"}
    columns = {"x": {"type": "number"}, "é": {"type": "text", "path": "$.a.b"}}
    table = read('[{"id": 1, "x": 0.5, "a": {"b": "é"}}]', columns, format=Format.JSON, **written)
    assert table.columns["x"].array.tolist() == [0.5]
    assert table.columns["é"].array.tolist() == ["é"]
    tabs = read("id\tx\té\n1\t0,5\tb\n".encode("latin-1"), columns, format=Format.TSV, **written)
    assert tabs.columns["x"].array.tolist() == [0.5]
    assert tabs.columns["é"].array.tolist() == ["b"]


def test_json_lines_and_parquet(read: Read) -> None:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    stream = io.BytesIO()
    pq.write_table(pa.table({"id": ["a", "b"], "x": [0.5, None], "other": [1, 2]}), stream)
    lines = '{"id": "a", "x": 0.5, "other": 1}\n{"id": "b", "other": 2}\n'
    for raw, format_ in ((lines, Format.JSON_LINES), (stream.getvalue(), Format.PARQUET)):
        table = read(raw, {"x": {"type": "number"}}, format=format_)
        assert table.keys.tolist() == ["a", "b"]
        assert table.columns["x"].missing.tolist() == [False, True]
        assert table.undeclared == ("other",)


def test_a_header_with_blanks_is_read_where_it_is_declared(read: Read) -> None:
    text = "id, label\n1, Yes\n"
    columns = {"label": {"type": "category", "values": ["Yes"]}}
    with pytest.raises(TableHeaderPadded):
        read(text, columns)
    table = read(text, columns, strip_header=True)
    assert isinstance(table.columns["label"], Codes)
    assert table.columns["label"].codes.tolist() == [0]


def test_another_delimiter_and_doubled_columns_are_refused(read: Read) -> None:
    with pytest.raises(TableDelimiter):
        read("id;x\n1;2\n", {"x": {"type": "text"}})
    with pytest.raises(TableColumnDoubled):
        read("id,x,x\n1,2,3\n", {"x": {"type": "text"}})
    assert read("id,x,x\n1,2,3\n", {}).undeclared == ("x",)


SECRET = "Xyzzy-7734"


@pytest.mark.parametrize(
    ("raw", "format_", "expected"),
    [
        (f"id,x,y\n{SECRET},{SECRET},a\n", Format.CSV, TableNotNumber),
        (f"id,x,y\n{SECRET},1,a\n{SECRET},1,a\n", Format.CSV, TableKeyRepeated),
        (f"id,x,y\n{SECRET},1\n", Format.CSV, TableRagged),
        (f'id,x,y\n{SECRET},1,"{SECRET}\n', Format.CSV, TableQuotes),
        (f"id,x,y\n1,1,{SECRET}".encode() + b"\xff", Format.CSV, TableUndecodable),
        (f'[{{"id": "1", "x": ["{SECRET}"], "y": 1}}]', Format.JSON, TableNotScalar),
        (f'[{{"id": "1", "x": 1, "y": "{SECRET}]', Format.JSON, LacreError),
        (f'{{"id": "1", "x": "{SECRET}", "y": 1}}\n', Format.JSON_LINES, TableNotNumber),
        (f'{{"id": "1", "x": 1, "y": NaN, "z": "{SECRET}"}}\n', Format.JSON_LINES, LacreError),
    ],
)
def test_no_cell_reaches_a_message_or_a_traceback(
    read: Read, raw: str | bytes, format_: Format, expected: type[LacreError]
) -> None:
    with pytest.raises(expected) as caught:
        read(raw, {"x": {"type": "number"}, "y": {"type": "text"}}, format=format_)
    shown = "".join(traceback.format_exception(caught.value))
    assert SECRET not in shown
    assert SECRET not in repr(caught.value.fields)


def test_a_table_does_not_show_its_cells(read: Read) -> None:
    assert SECRET not in repr(read(f"id\n{SECRET}\n", {}))
