"""Keys of several columns are one text, and no two different rows share it."""

import pytest

from lacre.tables.cells import objects
from lacre.tables.keys import join_keys, repeated


def test_the_text_of_a_single_column_is_the_key() -> None:
    assert join_keys([["0001", '["a"]']]) == ["0001", '["a"]']


def test_several_columns_are_joined_without_ambiguity() -> None:
    rows = [
        ("a", "b"),
        ("a,b", ""),
        ("", "a,b"),
        ('a","b', ""),
        ("a", '","b'),
        ("[", "]"),
        ("a\\", "b"),
        ("a", "\\b"),
    ]
    keys = join_keys([[first for first, _second in rows], [second for _first, second in rows]])
    assert len(set(keys)) == len(rows)
    assert keys[0] == '["a","b"]'


def test_text_of_any_script_stays_as_it_is() -> None:
    assert join_keys([["ação"], ["日本"]]) == ['["ação","日本"]']


@pytest.mark.parametrize(
    ("values", "count"),
    [
        ([], 0),
        (["a", "b"], 0),
        (["a", "b", "a", "a"], 2),
        ([None, None, "a"], 0),
        ([None, "a", "b", "b", "a"], 2),
    ],
)
def test_repeated_counts_what_came_before(values: list[str | None], count: int) -> None:
    assert repeated(values) == count
    assert repeated(objects(values)) == count
