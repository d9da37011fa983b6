"""`inputs`: hand out a pool's ids and input columns to predict on; no label, and the reading on record."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from lacre.broker.desk import Desk, sign_request
from lacre.broker.files import check_output
from lacre.broker.handing import as_csv, delimiter_of, encoding_of, hand_out
from lacre.broker.opening import open_tables, sealed_of
from lacre.broker.outcomes import InputsWritten
from lacre.broker.register import engine
from lacre.broker.submissions import context_of
from lacre.broker.texts import salted_words
from lacre.broker.unfinished import Unfinished
from lacre.errors import (
    IdentityCannotOpen,
    InputsCannotOpen,
    InputsUnfinished,
    NoInputs,
    TableNotNamed,
)
from lacre.pools import vault
from lacre.protocol.models import Protocol
from lacre.protocol.tables import Table
from lacre.rules.answers import ReadFacts
from lacre.rules.common import require_study
from lacre.rules.custody import grade_of
from lacre.rules.reading import sealed_pool
from lacre.rules.requests import Read
from lacre.rules.state import PoolState, State
from lacre.tables.columns import TypedTable
from lacre.tables.formulas import begins_as_formula


def inputs(
    desk: Desk,
    study: str,
    pool: str,
    output: Path,
    *,
    table: str | None = None,
    overwrite: bool = False,
    reason: str | None = None,
) -> InputsWritten:
    """Write the key and `is: input` columns of one table of a pool as CSV; a read of class `inputs`."""
    state = desk.view(study)
    known = require_study(state, study)
    sealed = sealed_pool(known, pool)
    protocol = known.in_force.protocol
    name = _table(protocol, pool, table)
    columns = handed_out(protocol.tables[name])
    if len(columns) == len(protocol.tables[name].key):
        raise NoInputs(table=name)
    check_output(output, desk.layout, overwrite=overwrite)
    _check_pool(desk, state, study, sealed)
    text = salted_words(desk, reason, "inputs")
    signed = sign_request(
        desk,
        Read,
        purpose="inputs",
        study=study,
        pool=pool,
        protocol=known.in_force.protocol_hash,
        ciphertext=sealed.sealed.request.ciphertext,
        reason=text.digest if text else None,
    )
    opened: list[TypedTable] = []

    def made_of() -> Iterator[bytes]:
        table = open_tables(desk, state, known, sealed, content=False, keep=columns)[name]
        opened.append(table)
        formats = (each.format for each in sealed.sealed.request.records if each.table == name)
        encoding = encoding_of(protocol.tables[name], formats)
        cells = [table.texts[each] for each in columns]
        delimiter = delimiter_of(output, protocol.tables[name])
        return as_csv(columns, cells, range(table.rows), delimiter, encoding)

    made, warnings = hand_out(
        desk, study, pool, signed, ReadFacts(engine=engine()), output, made_of, _unfinished(pool),
        overwrite=overwrite, text=text,
    )  # fmt: skip
    (written,) = opened
    return InputsWritten(
        study=study,
        pool=pool,
        entry=made.index,
        table=name,
        path=output,
        rows=written.rows,
        columns=columns,
        custody=grade_of(sealed, state.recipient),
        formulas=sum(map(begins_as_formula, _cells(written, columns))),
        warnings=warnings,
    )


def _check_pool(desk: Desk, state: State, study: str, pool: PoolState) -> None:
    try:
        vault.check_pool(desk.vault, context_of(state, study, pool), sealed_of(pool), desk.identities())
    except IdentityCannotOpen as error:
        raise InputsCannotOpen(**error.fields) from error


def _unfinished(pool: str) -> Unfinished:
    return lambda entry, why, way_out: InputsUnfinished(pool=pool, entry=entry, why=why, next=way_out)


def handed_out(table: Table) -> tuple[str, ...]:
    """The key, then the columns marked `is: input`."""
    inputs = (name for name, column in table.columns.items() if "input" in column.is_ and not column.source)
    return tuple(dict.fromkeys((*table.key, *inputs)))


def _table(protocol: Protocol, pool: str, table: str | None) -> str:
    held = protocol.pools[pool].tables
    if table is None and len(held) == 1:
        return held[0]
    if table is None or table not in held:
        raise TableNotNamed(pool=pool, tables=", ".join(held))
    return table


def _cells(table: TypedTable, columns: Sequence[str]) -> Iterator[str]:
    """Every text that is handed out: the columns' names, and their cells."""
    yield from columns
    for name in columns:
        yield from filter(None, table.texts[name])
