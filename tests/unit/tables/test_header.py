"""Declared columns are found in a header, or refused with the fix."""

import pytest

from lacre.errors import TableColumnAbsent, TableColumnDoubled, TableDelimiter, TableHeaderPadded
from lacre.tables.header import locate, unused


def test_columns_are_found_in_the_order_asked() -> None:
    assert locate(["a", "b", "c"], ["c", "a"], file="f") == [2, 0]


def test_undeclared_names_may_be_doubled_padded_and_empty() -> None:
    assert locate(["x", "x", " y", "", "", "a"], ["a"], file="f") == [5]


def test_names_are_compared_to_the_letter() -> None:
    with pytest.raises(TableColumnAbsent):
        locate(["Label"], ["label"], file="f")


def test_an_absent_column_is_refused_with_the_nearest() -> None:
    with pytest.raises(TableColumnAbsent) as caught:
        locate(["case_id", "predicton", "age"], ["case_id", "prediction"], file="preds.csv", delimiter=",")
    assert caught.value.fields == {"file": "preds.csv", "columns": "`prediction`", "nearest": "`predicton`"}
    assert "`predicton`" in caught.value.way_out


def test_all_absent_columns_are_named_at_once() -> None:
    with pytest.raises(TableColumnAbsent) as caught:
        locate(["id", "SCORE"], ["id", "score", "zzz"], file="f")
    assert caught.value.fields["columns"] == "`score`, `zzz`"
    assert caught.value.fields["nearest"] == "`SCORE`"


def test_nothing_near_is_said() -> None:
    with pytest.raises(TableColumnAbsent) as caught:
        locate(["a" * 500, "b"], ["prediction"], file="f")
    assert caught.value.fields["nearest"] == "nothing like it"


def test_a_doubled_declared_column_is_refused_with_the_count() -> None:
    with pytest.raises(TableColumnDoubled) as caught:
        locate(["id", "score", "x", "score", "score"], ["id", "score"], file="f")
    assert caught.value.fields == {"file": "f", "column": "score", "count": 3}


@pytest.mark.parametrize("padded", [" label1", "label1 ", "\tlabel1", "\u00a0label1"])
def test_a_padded_name_is_refused_with_the_fix(padded: str) -> None:
    with pytest.raises(TableHeaderPadded) as caught:
        locate(["row", padded], ["row", "label1"], file="f", delimiter=",")
    assert "`label1`" in caught.value.message
    assert "strip_header: true" in caught.value.way_out


@pytest.mark.parametrize(
    ("names", "delimiter", "found"),
    [
        (["id;x;y"], ",", '";"'),
        (['"id";"x";"y"'], ",", '";"'),
        (["id\tx\ty"], ",", r'"\t"'),
        (["id|x|y"], ";", '"|"'),
        (["id;x", "y;z"], ",", '";"'),
        (["id,x,y"], ";", '","'),
    ],
)
def test_another_delimiter_is_named(names: list[str], delimiter: str, found: str) -> None:
    with pytest.raises(TableDelimiter) as caught:
        locate(names, ["id", "x"], file="f", delimiter=delimiter)
    assert f"`delimiter: {found}`" in caught.value.way_out


def test_a_delimiter_that_would_not_help_is_not_named() -> None:
    with pytest.raises(TableColumnAbsent):
        locate(["id", "a;b"], ["id", "x"], file="f", delimiter=",")


def test_unused_names_come_once_in_their_order() -> None:
    assert unused(["b", "id", "a", "b", ""], ["id"]) == ("b", "a", "")
