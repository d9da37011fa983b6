"""A stranger's table held against a sealed pool: rows that have a declared table's key under its declared name.

Here ids too plain to be looked for in a text are found: a file that has the key's columns and another declared one
is a table of these cases, and no list of numbers. Contents decide as they do between pools (`lacre.pools.chance`).
"""

from collections.abc import Iterable, Sequence

from lacre.errors import TableError, cells_untold
from lacre.pools.exposure import Shared, fingerprint, shared_within_study
from lacre.pools.traces import Wanted
from lacre.protocol.columns import path_steps
from lacre.protocol.tables import Table
from lacre.tables.cells import objects, typer_for
from lacre.tables.columns import TypedColumn, TypedTable
from lacre.tables.csv_file import Dialect, read_csv
from lacre.tables.formats import Cells, Format, Sink
from lacre.tables.json_file import Place, read_json
from lacre.tables.keys import join_keys
from lacre.tables.parquet_file import read_parquet

DELIMITERS = (",", ";", "\t", "|")


@cells_untold
def shared_with(raw: bytes, form: Format, wanted: Wanted, *, genesis: str, key: bytes) -> Shared | None:
    """Return what a table in the bytes `raw` has in common with a pool; None where it is no table of its cases."""
    best: Shared | None = None
    for name, declared in wanted.protocol.tables.items():
        typed = _typed(raw, form, name, declared)
        if typed is None:
            continue
        prints = fingerprint({name: typed}, wanted.protocol, study=wanted.study, genesis=genesis, key=key)
        found = shared_within_study(wanted.prints, prints)
        if best is None or found.cases > best.cases:
            best = found
    return best


def _typed(raw: bytes, form: Format, name: str, declared: Table) -> TypedTable | None:
    for delimiter in dict.fromkeys((declared.delimiter, *DELIMITERS)) if form is Format.CSV else ("\t",):
        others = _names(raw, form, declared, delimiter)
        if others is None:
            continue
        known = [each for each in others if each in declared.columns]
        if not known:
            return None
        own = [each for each in known if not declared.supplied(each) and not declared.derived(each)]
        return _table(raw, form, name, declared, delimiter, [*declared.key, *own])
    return None


def _names(raw: bytes, form: Format, declared: Table, delimiter: str) -> tuple[str, ...] | None:
    """The names of a table's columns beside the key; None where it has no such key."""
    try:
        return _read(raw, form, declared, delimiter, declared.key, lambda _batch: None)
    except TableError:
        return None


def _read(
    raw: bytes, form: Format, declared: Table, delimiter: str, wanted: Sequence[str], sink: Sink
) -> tuple[str, ...]:
    if form is Format.PARQUET:
        return read_parquet(raw, wanted, sink, file="")
    if form in {Format.JSON, Format.JSON_LINES}:
        places = [Place(each, _steps(declared, each)) for each in wanted]
        return read_json(raw, places, sink, lines=form is Format.JSON_LINES, file="")
    return read_csv(raw, wanted, sink, Dialect(delimiter, declared.encoding, strip=True), file="")


def _steps(declared: Table, name: str) -> tuple[str | int, ...]:
    path = declared.columns[name].path
    return (name,) if path is None else path_steps(path)


def _table(
    raw: bytes, form: Format, name: str, declared: Table, delimiter: str, wanted: Sequence[str]
) -> TypedTable | None:
    cells: dict[str, list[str | None]] = {each: [] for each in wanted}

    def take(batch: Sequence[Cells]) -> None:
        for each, more in zip(wanted, batch, strict=True):
            cells[each].extend(more)

    try:
        _read(raw, form, declared, delimiter, wanted, take)
    except TableError:
        return None
    rows = _first_rows(cells, declared.key)
    keys = join_keys([[cells[each][row] or "" for row in rows] for each in declared.key])
    columns = {
        each: column
        for each in wanted
        if (column := _column(each, [cells[each][row] for row in rows], declared)) is not None
    }
    return TypedTable(name=name, rows=len(rows), columns=columns, keys=objects(keys)) if rows else None


def _first_rows(cells: dict[str, list[str | None]], key: Iterable[str]) -> list[int]:
    """The first row of each key: a log has a case as often as it was met."""
    first: dict[tuple[str | None, ...], int] = {}
    for row, of in enumerate(zip(*(cells[each] for each in key), strict=True)):
        if all(of):
            first.setdefault(of, row)
    return list(first.values())


def _column(name: str, cells: Cells, declared: Table) -> TypedColumn | None:
    try:
        typer = typer_for(name, declared.columns[name], file="", decimal=declared.decimal)
        typer.add(cells)
        return typer.finish()
    except TableError:
        return None  # what is not written as declared is not recognised by its content
