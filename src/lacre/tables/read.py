"""Reading a table: the declared columns of a file, typed, with its keys checked."""

from collections.abc import Collection, Sequence
from typing import Literal

from lacre.errors import TableKeyMissing, TableKeyRepeated, cells_untold
from lacre.protocol.columns import OutcomeColumn, path_steps
from lacre.protocol.tables import Table
from lacre.tables.cells import objects, typer_for
from lacre.tables.columns import TypedTable
from lacre.tables.csv_file import Dialect, read_csv
from lacre.tables.derive import derive
from lacre.tables.formats import Cells, Format
from lacre.tables.json_file import Place, read_json
from lacre.tables.keys import join_keys, repeated
from lacre.tables.parquet_file import read_parquet
from lacre.tables.tally import Tally


@cells_untold
def read_table(
    raw: bytes,
    table: Table,
    name: str,
    format: Format,  # noqa: A002 - the word of the field
    *,
    only: Literal["pool", "submission"],
    file: str | None = None,
    keep: Collection[str] = (),
) -> TypedTable:
    """Read from the bytes `raw` the columns that `table` declares for a file of a pool, or of a submission.

    A pool's file must have every declared column that is not ``from: submission``; a submission's, the key
    and every column that is. All others are left alone and named in `undeclared`: in a pool's file that goes
    for columns of a submission, in a submission for those of the pool. Outcomes by `equals` stand in no file
    and are made here if both their columns are in this one.

    `delimiter`, `decimal`, `encoding` and `strip_header` say how CSV is written; JSON and Parquet have ways
    of their own. `path` is for JSON; elsewhere a column is found by its name.

    `name` is the table's; `file` is what messages call the file, the table's name if None. The columns in
    `keep`, and those that `exclude` or `equals` compare as text, stand in `texts` as they are written.

    Raises what the reader of the format does, the refusals of the columns' types, `TableKeyMissing` and
    `TableKeyRepeated`.
    """
    supplied = only == "submission"
    columns = [
        each
        for each in table.columns
        if not table.derived(each) and (table.supplied(each) == supplied or each in table.key)
    ]
    reading = _Reading(table, columns, format, file or name, frozenset(keep) | compared(table))
    undeclared = reading.read(raw)
    return reading.typed(name, undeclared)


def _pairs(table: Table) -> dict[str, tuple[str, str]]:
    return {
        name: column.equals
        for name, column in table.columns.items()
        if isinstance(column, OutcomeColumn) and column.equals is not None
    }


def compared(table: Table) -> frozenset[str]:
    """The columns of a table that `exclude` or `equals` compare as text."""
    excluded = {exclusion.column for exclusion in table.exclude if exclusion.in_ is not None}
    return frozenset(excluded.union(*_pairs(table).values()))


class _Reading:
    """One file being read: what its columns' typers, its keys and its kept texts have gathered so far."""

    def __init__(
        self, table: Table, columns: Sequence[str], format_: Format, file: str, kept: frozenset[str]
    ) -> None:
        self._table = table
        self._columns = columns
        self._format = format_
        self._file = file
        decimal = table.decimal if format_ in {Format.CSV, Format.TSV} else "."
        self._typers = [typer_for(name, table.columns[name], file=file, decimal=decimal) for name in columns]
        self._texts: dict[str, list[str | None]] = {name: [] for name in columns if name in kept}
        self._keys: list[str] = []
        self._marks = {name: frozenset(table.columns[name].missing) for name in table.key}
        self._no_key = {name: Tally() for name in table.key}
        self._rows = 0

    def read(self, raw: bytes) -> tuple[str, ...]:
        table, file = self._table, self._file
        if self._format in {Format.JSON, Format.JSON_LINES}:
            places = [Place(name, _steps(table, name)) for name in self._columns]
            return read_json(raw, places, self._take, lines=self._format is Format.JSON_LINES, file=file)
        if self._format is Format.PARQUET:
            return read_parquet(raw, self._columns, self._take, file=file)
        delimiter = "\t" if self._format is Format.TSV else table.delimiter
        dialect = Dialect(delimiter, table.encoding, table.strip_header)
        return read_csv(raw, self._columns, self._take, dialect, file=file)

    def _take(self, batch: Sequence[Cells]) -> None:
        by_name = dict(zip(self._columns, batch, strict=True))
        for typer, cells in zip(self._typers, batch, strict=True):
            typer.add(cells)
        for name, texts in self._texts.items():
            texts.extend(by_name[name])
        keys: list[list[str]] = []
        for name, marks in self._marks.items():
            present = [cell for cell in by_name[name] if cell is not None and cell not in marks]
            if len(present) < len(by_name[name]):
                self._note_no_key(name, by_name[name])
            keys.append(present)
        if not any(tally.count for tally in self._no_key.values()):
            self._keys.extend(join_keys(keys))
        self._rows += len(batch[0])

    def _note_no_key(self, name: str, cells: Cells) -> None:
        for row, cell in enumerate(cells, self._rows + 1):
            if cell is None or cell in self._marks[name]:
                self._no_key[name].note(row)

    def typed(self, name: str, undeclared: tuple[str, ...]) -> TypedTable:
        columns = {each: typer.finish() for each, typer in zip(self._columns, self._typers, strict=True)}
        for each, tally in self._no_key.items():
            if tally.count:
                raise TableKeyMissing(file=self._file, column=each, count=tally.count, row=tally.first)
        count = repeated(self._keys)
        if count:
            raise TableKeyRepeated(file=self._file, count=count)
        return derive(
            TypedTable(
                name=name,
                rows=self._rows,
                columns=columns,
                keys=objects(self._keys),
                undeclared=undeclared,
                texts={each: objects(cells) for each, cells in self._texts.items()},
                derivations=_pairs(self._table),
            )
        )


def _steps(table: Table, name: str) -> tuple[str | int, ...]:
    path = table.columns[name].path
    return (name,) if path is None else path_steps(path)
