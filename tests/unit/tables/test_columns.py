"""Columns and tables are frozen, keep a missing cell apart from others, and do not show what they hold."""

import numpy as np
import pytest

from lacre.tables.cells import objects
from lacre.tables.columns import (
    MISSING,
    UNDECLARED,
    Codes,
    Digests,
    Numbers,
    Outcomes,
    Texts,
    Times,
    TypedColumn,
    TypedTable,
)

COLUMNS: list[TypedColumn] = [
    Texts(objects(["secret", None])),
    Digests(objects(["secret", None])),
    Codes(np.array([0, MISSING], np.int32), ("secret",)),
    Numbers(np.array([7.25, np.nan])),
    Outcomes(np.array([1, MISSING], np.int8)),
    Times(np.array(["2026-09-02", "NaT"], "datetime64[us]")),
]


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: type(column).__name__)
def test_taking_rows_gives_missing_cells_for_absent_ones(column: TypedColumn) -> None:
    taken = column.take(np.array([1, -1, 0, 0]))
    assert type(taken) is type(column)
    assert taken.array.dtype == column.array.dtype
    assert taken.missing.tolist() == [True, True, False, False]
    assert taken.array[2] == taken.array[3] == column.array[0]


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: type(column).__name__)
def test_columns_follow_one_another(column: TypedColumn) -> None:
    whole = column.followed_by([column, column])
    assert whole.array.dtype == column.array.dtype
    assert whole.missing.tolist() == [False, True] * 3


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: type(column).__name__)
def test_cells_cannot_be_changed_and_are_not_shown(column: TypedColumn) -> None:
    with pytest.raises(ValueError, match="read-only"):
        column.array[0] = column.array[1]
    assert repr(column) == f"<{type(column).__name__}: 2 cells>"


def test_an_undeclared_value_is_not_missing() -> None:
    assert not Codes(np.array([UNDECLARED], np.int32), ("a",)).missing.any()
    assert not Outcomes(np.array([UNDECLARED], np.int8)).missing.any()


def test_a_table_gives_the_selected_rows_of_everything() -> None:
    table = TypedTable(
        name="cases",
        rows=3,
        columns={"x": Numbers(np.array([1.0, 2.0, 3.0]))},
        keys=objects(["secret", "b", "c"]),
        texts={"x": objects(["1", "2", "3"])},
        absent=np.array([True, False, False]),
    )
    kept = table.select(np.array([True, False, True]))
    assert kept.rows == 2
    assert kept.keys.tolist() == ["secret", "c"]
    assert kept.columns["x"].array.tolist() == [1.0, 3.0]
    assert kept.texts["x"].tolist() == ["1", "3"]
    assert kept.absent is not None
    assert kept.absent.tolist() == [True, False]
    assert repr(kept) == "<TypedTable 'cases': 2 rows, 1 columns>"
