"""JSON and JSON Lines: rows with each number in the digits of its source, or a refusal without the text."""

import json
import sys

import pytest

from lacre.errors import (
    LacreError,
    TableColumnAbsent,
    TableEmpty,
    TableMalformed,
    TableNoRows,
    TableNoText,
    TableNotScalar,
    TableNul,
    TableUndecodable,
)
from lacre.tables.formats import Cells
from lacre.tables.json_file import Place, read_json

Whole = dict[str, list[str | None]]


def rows(text: str | bytes, *places: Place, lines: bool = False) -> tuple[Whole, tuple[str, ...]]:
    """Read the columns at `places`, whole, and the unused names."""
    raw = text.encode() if isinstance(text, str) else text
    whole: Whole = {place.name: [] for place in places}

    def sink(batch: object) -> None:
        assert isinstance(batch, list)
        cells: Cells
        for place, cells in zip(places, batch, strict=True):
            whole[place.name].extend(cells)

    return whole, read_json(raw, places, sink, lines=lines, file="cases.json")


def refusal(text: str | bytes, *places: Place, lines: bool = False) -> LacreError:
    """Return the error that reading raises; nothing with the file's text must hang on it."""
    with pytest.raises(LacreError) as caught:
        rows(text, *places, lines=lines)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert "cases." in str(caught.value)
    return caught.value


ID = Place("id", ("id",))
X = Place("x", ("x",))


def test_an_array_and_lines_give_the_same_rows() -> None:
    objects = ['{"id": "1", "x": "NA"}', '{"x": "", "id": "2"}', '{"id": "3", "x": null}', '{"id": "4"}']
    expected = {"id": ["1", "2", "3", "4"], "x": ["NA", "", None, None]}
    assert rows(f"[{', '.join(objects)}]", ID, X)[0] == expected
    assert rows("\n".join(objects), ID, X, lines=True)[0] == expected
    assert rows("\ufeff" + "\r\n".join(objects) + "\r\n \n\n", ID, X, lines=True)[0] == expected
    assert rows(f"\ufeff \n[\t{' , '.join(objects)} ]\r\n", ID, X)[0] == expected


@pytest.mark.parametrize(
    "number",
    [
        "0",
        "-0",
        "1",
        "1.0",
        "0.10",
        "1e5",
        "1E+05",
        "16111901302299999999",
        "0.1000000000000000055511",
        "1e999",
    ],
)
def test_numbers_keep_the_digits_of_their_source(number: str) -> None:
    assert rows(f'[{{"id": {number}}}]', ID)[0] == {"id": [number]}


def test_booleans_are_text() -> None:
    assert rows('[{"id": true}, {"id": false}]', ID)[0] == {"id": ["true", "false"]}


def test_a_number_and_its_text_are_the_same_cell() -> None:
    assert rows('[{"id": 7}, {"id": "7"}]', ID)[0] == {"id": ["7", "7"]}


def test_a_path_leads_into_objects_and_lists() -> None:
    note = Place("nota", ("avaliacao", "nota"))
    second = Place("second", ("list", 1, "a b"))
    text = (
        '[{"avaliacao": {"nota": 40}, "list": [0, {"a b": "y"}]}, {"avaliacao": {}, "list": []},'
        ' {"avaliacao": null, "list": [0, {}]}, {"list": null}]'
    )
    assert rows(text, note, second)[0] == {
        "nota": ["40", None, None, None],
        "second": ["y", None, None, None],
    }


def test_a_name_with_dots_is_a_name() -> None:
    assert rows('[{"sch.wide": "Yes", "sch": {"wide": "No"}}]', Place("sch.wide", ("sch.wide",)))[0] == {
        "sch.wide": ["Yes"]
    }


def test_unused_names_are_the_keys_of_any_row() -> None:
    text = '[{"id": 1, "b": 1}, {"id": 2, "a": {"x": 1}, "b": 2}, {"id": 3, "c": []}]'
    assert rows(text, ID, Place("x", ("a", "x")))[1] == ("b", "c")


def test_rows_come_in_batches_that_lose_none() -> None:
    values = [str(number) for number in range(9_001)]
    assert rows(json.dumps([{"id": value} for value in values]), ID)[0] == {"id": values}


def test_a_column_that_no_row_has_is_absent() -> None:
    error = refusal('[{"id": 1, "predicton": 1}, {"id": 2}]', ID, Place("prediction", ("prediction",)))
    assert isinstance(error, TableColumnAbsent)
    assert error.fields["nearest"] == "`predicton`"
    assert isinstance(refusal('[{"a": {"nota_": 1}}]', Place("nota", ("a", "nota"))), TableColumnAbsent)


@pytest.mark.parametrize("cell", ["[]", "{}", "[1]", '{"a": 1}'])
def test_lists_and_objects_are_refused_with_the_count(cell: str) -> None:
    error = refusal(f'[{{"id": 1}}, {{"id": {cell}}}, {{"id": 2}}, {{"id": {cell}}}]', ID)
    assert isinstance(error, TableNotScalar)
    assert error.fields == {"file": "cases.json", "column": "id", "count": 2, "row": 2}


def test_a_path_through_one_value_is_refused_with_the_count() -> None:
    error = refusal('[{"a": {"b": 1}}, {"a": "text"}, {"a": [1]}]', Place("b", ("a", "b")))
    assert isinstance(error, TableNotScalar)
    assert (error.fields["count"], error.fields["row"]) == (2, 2)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"id": 1}', "begin with an array"),
        ("7", "begin with an array"),
        ('[{"id": 1}, 7]', "row 2 is not an object"),
        ('[["id"]]', "row 1 is not an object"),
        ('[{"id": 1} {"id": 2}]', "before row 2"),
        ('[{"id": 1}', "before row 2"),
        ('[{"id": 1},]', "row 2 is not valid JSON"),
        ('[{"id": 1', "row 1 is not valid JSON"),
        ("[", "row 1 is not valid JSON"),
        ("[{'id': 1}]", "row 1 is not valid JSON"),
        ('[{"id": 01}]', "row 1 is not valid JSON"),
        ('[{"id": "a\nb"}]', "row 1 is not valid JSON"),
        ('[{"id": 1}] 2', "something follows"),
        ('[{"id": 1, "id": 1}]', "same key twice"),
        ('[{"id": 1}, {"id": {"a": 1, "a": 2}}]', "row 2 has an object with the same key twice"),
        ('[{"id": NaN}]', "NaN or Infinity"),
        ('[{"id": 1, "other": -Infinity}]', "NaN or Infinity"),
        ('[{"id": 1, "\\udc00": 2}]', "a key that is no Unicode text"),
    ],
)
def test_what_is_no_array_of_objects_is_refused(text: str, why: str) -> None:
    error = refusal(text, ID)
    assert isinstance(error, TableMalformed)
    assert error.fields["format"] == "JSON"
    assert why in error.message


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"id": 1}\n\n{"id": 2}\n', "blank line where row 2"),
        ('\n{"id": 1}\n', "blank line where row 1"),
        ('{"id": 1} {"id": 2}\n', "row 1 is not valid JSON"),
        ('{"id": 1}\n[1]\n', "row 2 is not an object"),
        ('[{"id": 1}]', "row 1 is not an object"),
        ('{"id":\n1}\n', "row 1 is not valid JSON"),
        ('{"id": 1}\n{"id": Infinity}', "row 2 has a number"),
    ],
)
def test_what_is_no_object_a_line_is_refused(text: str, why: str) -> None:
    error = refusal(text, ID, lines=True)
    assert isinstance(error, TableMalformed)
    assert error.fields["format"] == "JSON Lines"
    assert why in error.message


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_deep_nesting_is_refused(opening: str) -> None:
    deep = opening * (sys.getrecursionlimit() * 100)
    for text in (f'[{{"id": {deep}', f"[{deep}"):
        error = refusal(text, ID)
        assert isinstance(error, TableMalformed)
        assert "nested too deeply" in error.message
    assert "nested too deeply" in refusal(f'{{"id": {deep}', ID, lines=True).message


@pytest.mark.parametrize("text", ["", "\ufeff", " \n\t"])
def test_nothing_is_refused_as_empty(text: str) -> None:
    assert isinstance(refusal(text, ID), TableEmpty)
    assert isinstance(refusal(text, ID, lines=True), TableEmpty)


def test_an_empty_array_has_no_rows() -> None:
    assert isinstance(refusal(" [ ] ", ID), TableNoRows)


def test_bytes_that_are_no_text_are_refused() -> None:
    assert isinstance(refusal(b'[{"id": "\xe7"}]', ID), TableUndecodable)
    assert isinstance(refusal('[{"id": 1}]'.encode("utf-16-le"), ID), TableNul)


def test_half_of_a_surrogate_pair_is_no_text() -> None:
    error = refusal('[{"id": "\\ud83d"}]', ID)
    assert isinstance(error, TableNoText)
    assert rows('[{"id": "\\ud83d\\ude00"}]', ID)[0] == {"id": ["\U0001f600"]}
    assert rows('[{"id": 1, "other": "\\ud83d"}]', ID)[0] == {"id": ["1"]}
