"""Registered conditions drop rows, in order, and are counted."""

from collections.abc import Callable
from typing import Any

import pytest

from lacre.protocol.tables import Exclusion
from lacre.tables.columns import TypedTable
from lacre.tables.exclude import apply_exclusions
from lacre.tables.formats import Format

Read = Callable[..., TypedTable]

COLUMNS: dict[str, Any] = {
    "days": {"type": "number"},
    "charge": {"type": "category", "values": ["F", "M"], "missing": ["", "NA"]},
}
TEXT = "id,days,charge\n1,-30,F\n2,30,M\n3,31,O\n4,-30.5,F\n5,,O\n6,0,NA\n7,0,\n"


def excluded(read: Read, *conditions: dict[str, Any]) -> tuple[list[str], tuple[int, ...]]:
    """Return the keys that stay, and the counts."""
    table = read(TEXT, COLUMNS, exclude=list(conditions))
    found = apply_exclusions(table, [Exclusion.model_validate(each) for each in conditions])
    return table.select(found.kept).keys.tolist(), found.counts


@pytest.mark.parametrize(
    ("condition", "dropped"),
    [
        ({"column": "days", "outside": [-30, 30]}, "34"),
        ({"column": "days", "outside": [None, 30]}, "3"),
        ({"column": "days", "outside": [-30, None]}, "4"),
        ({"column": "days", "outside": ["-61/2", 31]}, ""),
        ({"column": "days", "missing": True}, "5"),
        ({"column": "charge", "missing": True}, "67"),
        ({"column": "charge", "in": ["O"]}, "35"),
        ({"column": "charge", "in": ["O", "NA"]}, "356"),
        ({"column": "charge", "in": ["o"]}, ""),
    ],
)
def test_each_condition(read: Read, condition: dict[str, Any], dropped: str) -> None:
    kept, counts = excluded(read, condition)
    assert kept == [key for key in "1234567" if key not in dropped]
    assert counts == (len(dropped),)


def test_a_row_counts_under_the_first_condition_that_holds(read: Read) -> None:
    kept, counts = excluded(
        read,
        {"column": "days", "outside": [-30, 30]},
        {"column": "charge", "in": ["O"]},
        {"column": "days", "missing": True},
    )
    assert kept == ["1", "2", "6", "7"]
    assert counts == (2, 1, 0)


def test_no_condition_drops_nothing(read: Read) -> None:
    assert excluded(read) == (list("1234567"), ())


def test_a_null_is_in_no_list(read: Read) -> None:
    condition = {"column": "x", "in": [""]}
    table = read(
        '[{"id": 1, "x": ""}, {"id": 2, "x": null}]',
        {"x": {"type": "text"}},
        format=Format.JSON,
        exclude=[condition],
    )
    assert apply_exclusions(table, [Exclusion.model_validate(condition)]).kept.tolist() == [False, True]
