"""Parquet: values as the text they would have in a CSV."""

import datetime as dt
import decimal
import io
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from lacre.errors import (
    LacreError,
    ParquetUnavailable,
    TableColumnAbsent,
    TableColumnDoubled,
    TableColumnType,
    TableEmpty,
    TableNoRows,
    TableNoText,
    TableParquet,
)
from lacre.tables.formats import Cells
from lacre.tables.parquet_file import read_parquet

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def written(columns: dict[str, Any] | Any, **options: Any) -> bytes:
    """Return a Parquet file of these columns."""
    stream = io.BytesIO()
    pq.write_table(pa.table(columns) if isinstance(columns, dict) else columns, stream, **options)
    return stream.getvalue()


def read(raw: bytes, *wanted: str) -> tuple[dict[str, list[str | None]], tuple[str, ...]]:
    """Read the wanted columns, whole, and the unused names."""
    whole: dict[str, list[str | None]] = {name: [] for name in wanted}

    def sink(batch: Sequence[Cells]) -> None:
        for name, cells in zip(wanted, batch, strict=True):
            whole[name].extend(cells)

    return whole, read_parquet(raw, wanted, sink, file="cases.parquet")


def refusal(raw: bytes, *wanted: str) -> LacreError:
    """Return the error that reading raises; nothing with a value must hang on it."""
    with pytest.raises(LacreError) as caught:
        read(raw, *wanted)
    assert caught.value.__context__ is None
    assert "cases." in str(caught.value)
    return caught.value


NAIVE = dt.datetime(2026, 9, 2, 14, 30, 0, 5)  # noqa: DTZ001 - a timestamp without zone is meant


@pytest.mark.parametrize(
    ("values", "kind", "texts"),
    [
        (["0001", "NA", "", None], "string", ["0001", "NA", "", None]),
        (["a", None, "a"], pa.dictionary(pa.int32(), pa.string()), ["a", None, "a"]),
        (["ação"], "large_string", ["ação"]),
        ([b"abc", None], "binary", ["abc", None]),
        ([2**63 - 1, -1, None], "int64", ["9223372036854775807", "-1", None]),
        ([2**64 - 1], "uint64", ["18446744073709551615"]),
        ([1.0, 0.1, 1e-5, None, float("nan")], "float64", ["1.0", "0.1", "1e-05", None, "nan"]),
        ([1.0, 0.1, None], "float32", ["1.0", "0.1", None]),
        ([np.float16(0.1)], "float16", ["0.1"]),
        ([True, False, None], "bool", ["true", "false", None]),
        ([decimal.Decimal("1.50"), decimal.Decimal("0.00")], pa.decimal128(30, 2), ["1.50", "0.00"]),
        ([dt.date(2026, 9, 2), None], "date32", ["2026-09-02", None]),
        ([dt.date(2026, 9, 2)], "date64", ["2026-09-02"]),
        ([NAIVE, None], pa.timestamp("us"), ["2026-09-02T14:30:00.000005", None]),
        ([NAIVE], pa.timestamp("us", "America/Sao_Paulo"), ["2026-09-02T14:30:00.000005Z"]),
        ([1], pa.timestamp("ns"), ["1970-01-01T00:00:00.000000001"]),
        ([None, None], "null", [None, None]),
    ],
)
def test_values_are_text(values: list[Any], kind: Any, texts: list[str | None]) -> None:
    assert read(written({"x": pa.array(values, kind)}), "x")[0] == {"x": texts}


def test_only_wanted_columns_are_read_and_the_others_named() -> None:
    raw = written({"a.b": ["x"], "a": pa.array([{"b": 1}]), "id": [7]})
    assert read(raw, "id", "a.b") == ({"id": ["7"], "a.b": ["x"]}, ("a",))


def test_row_groups_and_batches_lose_no_row() -> None:
    raw = written({"id": list(range(70_000))}, row_group_size=66_000)
    assert read(raw, "id")[0] == {"id": [str(number) for number in range(70_000)]}


@pytest.mark.parametrize(
    ("values", "kind", "name"),
    [
        ([[1]], pa.list_(pa.int64()), "list"),
        ([{"a": 1}], pa.struct([("a", pa.int64())]), "struct"),
        ([dt.timedelta(1)], pa.duration("s"), "duration[s]"),
        ([dt.time(1)], pa.time64("us"), "time64[us]"),
    ],
)
def test_other_types_are_refused_where_they_are_declared(values: list[Any], kind: Any, name: str) -> None:
    raw = written({"id": [1], "x": pa.array(values, kind)})
    error = refusal(raw, "x")
    assert isinstance(error, TableColumnType)
    assert error.fields["type"] == name
    assert read(raw, "id") == ({"id": ["1"]}, ("x",))


def test_bytes_that_are_no_utf_8_are_no_text() -> None:
    assert isinstance(refusal(written({"x": pa.array([b"\xff"])}), "x"), TableNoText)
    unchecked = pa.Array.from_buffers(
        pa.string(), 1, [None, pa.array([0, 1], "int32").buffers()[1], pa.py_buffer(b"\xff")]
    )
    assert isinstance(refusal(written({"x": unchecked}), "x"), TableNoText)


def test_columns_are_absent_and_doubled_as_in_other_formats() -> None:
    assert isinstance(refusal(written({"id": [1]}), "label"), TableColumnAbsent)
    doubled = pa.Table.from_arrays([pa.array([1]), pa.array([2]), pa.array([3])], names=["x", "x", "id"])
    assert isinstance(refusal(written(doubled), "x"), TableColumnDoubled)
    assert read(written(doubled), "id") == ({"id": ["3"]}, ("x",))


def test_no_rows_and_no_bytes_are_refused() -> None:
    assert isinstance(refusal(written({"id": pa.array([], "string")}), "id"), TableNoRows)
    assert isinstance(refusal(b"", "id"), TableEmpty)


def test_a_damaged_file_is_refused() -> None:
    raw = written({"id": ["a"] * 100})
    for damaged in (b"id\n1\n", raw[:-1], raw[: len(raw) // 2], raw[:4] + b"\0" * 40 + raw[44:]):
        assert isinstance(refusal(damaged, "id"), TableParquet | TableNoText)


def test_without_pyarrow_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = written({"id": ["a"]})
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ParquetUnavailable) as caught:
        read(raw, "id")
    assert "pip install 'lacre[parquet]'" in caught.value.way_out
