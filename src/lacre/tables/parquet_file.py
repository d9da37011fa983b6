"""Parquet through pyarrow, its values turned to the text they would have in a CSV.

| in the file | as text |
|---|---|
| text, dictionaries of text, bytes that are UTF-8 | as it is |
| whole numbers | plain digits: ``1`` |
| floats | the shortest digits that give the value back in its own width; ``1.0`` if it is whole |
| decimals | all their digits: ``1.50`` |
| booleans | ``true``, ``false`` |
| dates, timestamps | ISO 8601 to the precision stored; with a zone, in UTC and marked ``Z`` |
| null | a missing cell; a NaN is no null, and reads as ``nan`` |

pyarrow is imported when the first such file is read, and never otherwise.

A few kilobytes may stand for billions of cells, so what a file expands to is bounded: as CSV its wanted cells may
have `MOST_TEXT` bytes, or `MOST_EXPANDED` times those of the file. What the file says of itself is looked at
first, and then what comes out of it; texts are read as dictionaries, which repeat nothing until they were weighed.
How far a single page may expand, pyarrow alone decides (its format has 2 GiB).
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from lacre.errors import (
    ParquetUnavailable,
    TableColumnType,
    TableEmpty,
    TableExpands,
    TableNoRows,
    TableNoText,
    TableParquet,
)
from lacre.tables.formats import Cells, Sink
from lacre.tables.header import locate, unused

MOST_TEXT = 1 << 26
MOST_EXPANDED = 64

_ROWS = 1 << 16
_END = object()
_OF_CPP = (OSError, ValueError, IndexError, ArithmeticError, RuntimeError, MemoryError)
"""What Cython makes of an exception of C++ that has no Python name of its own."""
_Convert: TypeAlias = Callable[[Any], Iterable[str]]


def read_parquet(raw: bytes, wanted: Sequence[str], sink: Sink, *, file: str) -> tuple[str, ...]:
    """Give the columns `wanted` of the Parquet file `raw` to `sink`, some rows at a time; return unused ones.

    Raises what `locate` does, and `ParquetUnavailable`, `TableEmpty`, `TableNoRows`, `TableParquet` for a
    file that cannot be read, `TableExpands` for one that is too much of it, `TableColumnType` for a wanted
    column that is nested or binary in a way no text has, and `TableNoText`.
    """
    if not raw:
        raise TableEmpty(file=file)
    arrow, parquet = _pyarrow(file)
    source = _tried(arrow, lambda: parquet.ParquetFile(arrow.BufferReader(raw)))
    schema = _tried(arrow, lambda: source.schema_arrow) if source is not None else None
    if schema is None:
        raise TableParquet(file=file)
    converters = {}
    texts = []
    for name, position in zip(wanted, locate(schema.names, wanted, file=file), strict=True):
        convert = _converter(arrow, schema.field(position).type)
        if convert is None:
            kind = str(schema.field(position).type).partition("<")[0]
            raise TableColumnType(file=file, column=name, type=kind)
        converters[name] = convert
        if _is_text(arrow, schema.field(position).type):
            texts.append(name)
    most = max(MOST_TEXT, MOST_EXPANDED * len(raw))
    stated = _tried(arrow, lambda: _stated(source.metadata, len(wanted)))
    weighed = _tried(arrow, lambda: parquet.ParquetFile(arrow.BufferReader(raw), read_dictionary=texts))
    if stated is None or weighed is None:
        raise TableParquet(file=file)
    if stated > most:
        raise TableExpands(file=file, most=most)
    if _give(arrow, weighed, converters, sink, file, most) == 0:
        raise TableNoRows(file=file)
    return unused(schema.names, wanted)


def _stated(metadata: Any, columns: int) -> int:
    """How many bytes there are, as the file itself says: of that many columns as CSV, or of its pages.

    Columns are not asked for theirs: of one whose statistics are damaged, pyarrow 26 aborts the process.
    """
    pages = sum(metadata.row_group(group).total_byte_size for group in range(metadata.num_row_groups))
    return int(max(metadata.num_rows * columns, pages))


def _weight(arrow: Any, array: Any) -> int:
    """How many bytes the cells of an array have as CSV; those of numbers and the like count for one."""
    if not arrow.types.is_dictionary(array.type) or not _is_text(arrow, array.type.value_type):
        return len(array)
    from pyarrow import compute

    lengths = compute.binary_length(array.dictionary).cast(arrow.int64()).take(array.indices)
    return len(array) + (compute.sum(lengths).as_py() or 0)


def _give(arrow: Any, source: Any, converters: dict[str, _Convert], sink: Sink, file: str, most: int) -> int:
    rows = 0
    left = most
    batches = source.iter_batches(batch_size=_ROWS, columns=list(converters))
    while (batch := _tried(arrow, partial(next, batches, _END))) is not _END:
        if batch is None:
            raise TableParquet(file=file)
        for array in batch.columns:
            left -= _weight(arrow, array)
        if left < 0:
            raise TableExpands(file=file, most=most)
        columns: list[Cells] = []
        for name, convert in converters.items():
            cells = _tried(arrow, partial(_texts, batch.column(name), convert))
            if cells is None:
                raise TableNoText(file=file, column=name)
            columns.append(cells)
        if batch.num_rows:
            sink(columns)
            rows += batch.num_rows
    return rows


def _pyarrow(file: str) -> tuple[Any, Any]:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise ParquetUnavailable(file=file) from None
    return pa, parquet


def _tried(arrow: Any, call: Callable[[], Any]) -> Any:
    # pyarrow's errors may quote a value, so none of them is kept as the context of what is raised.
    try:
        return call()
    except (arrow.ArrowException, *_OF_CPP):
        return None


def _texts(array: Any, convert: _Convert) -> list[str | None]:
    texts = iter(convert(array.drop_null()))
    return [next(texts) if there else None for there in array.is_valid().to_pylist()]


def _texts_of(types: Any) -> tuple[Callable[[Any], bool], ...]:
    return types.is_string, types.is_large_string, types.is_string_view


def _binaries_of(types: Any) -> tuple[Callable[[Any], bool], ...]:
    return types.is_binary, types.is_large_binary


def _is_text(arrow: Any, kind: Any) -> bool:
    return any(test(kind) for test in (*_texts_of(arrow.types), *_binaries_of(arrow.types)))


def _converter(arrow: Any, kind: Any) -> _Convert | None:
    """Return what turns an array of `kind`, without nulls, to text; None where nothing does."""
    types = arrow.types
    if types.is_dictionary(kind):
        convert = _converter(arrow, kind.value_type)
        return None if convert is None else lambda array: convert(array.dictionary_decode())
    table: tuple[tuple[tuple[Callable[[Any], bool], ...], _Convert], ...] = (
        (_texts_of(types), lambda array: array.to_pylist()),
        (_binaries_of(types), lambda array: array.cast(arrow.large_string()).to_pylist()),
        ((types.is_boolean,), lambda array: ("true" if value else "false" for value in array.to_pylist())),
        ((types.is_integer,), lambda array: map(str, array.to_pylist())),
        # The scalars of numpy know their width; a Python float would show the digits of a double.
        ((types.is_floating,), lambda array: map(str, array.to_numpy(zero_copy_only=False))),
        ((types.is_decimal,), lambda array: (format(value, "f") for value in array.to_pylist())),
        ((types.is_date,), lambda array: _dates(array.cast(arrow.date32()))),
        ((types.is_timestamp,), _timestamps),
        ((types.is_null,), lambda _array: ()),
    )
    return next((convert for tests, convert in table if any(test(kind) for test in tests)), None)


def _dates(array: Any) -> Iterable[str]:
    return map(str, np.datetime_as_string(array.to_numpy(zero_copy_only=False)))


def _timestamps(array: Any) -> Iterable[str]:
    zone = "Z" if array.type.tz is not None else ""
    return (f"{text}{zone}" for text in np.datetime_as_string(array.to_numpy(zero_copy_only=False)))
