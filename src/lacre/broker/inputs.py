"""`inputs`: hand out a pool's ids and input columns to predict on; no label, and the reading on record."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from lacre.broker.desk import Desk, put_on_record, sign_request
from lacre.broker.files import check_output
from lacre.broker.handing import as_csv
from lacre.broker.opening import open_tables, sealed_of
from lacre.broker.outcomes import InputsWritten
from lacre.broker.register import engine
from lacre.broker.submissions import context_of
from lacre.broker.texts import salted_words
from lacre.broker.unfinished import Unfinished, not_remembered_leaves, refusal_leaves
from lacre.durable import staged
from lacre.errors import (
    IdentityCannotOpen,
    InputsCannotOpen,
    InputsUnfinished,
    NoInputs,
    NotWritten,
    TableNotNamed,
)
from lacre.pools import vault
from lacre.protocol.models import Protocol
from lacre.protocol.tables import Table
from lacre.rules.common import require_study
from lacre.rules.custody import grade_of
from lacre.rules.reading import sealed_pool
from lacre.rules.requests import Read, ReadFacts
from lacre.rules.state import PoolState
from lacre.tables.columns import TypedTable
from lacre.tables.formulas import begins_as_formula
from lacre.text import _


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
    check_output(output, overwrite=overwrite)
    try:
        vault.check_pool(desk.vault, context_of(state, study, sealed), sealed_of(sealed), desk.identities())
    except IdentityCannotOpen as error:
        raise InputsCannotOpen(**error.fields) from error
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
    # What cannot be written is found out before the read is on record.
    with staged(output.absolute().parent, what=output.name) as file:
        with not_remembered_leaves(_unfinished(pool)):
            made, warnings = put_on_record(desk, study, signed, ReadFacts(engine=engine()), text)
        with refusal_leaves(_unfinished(pool), made.index, pool):
            opened = open_tables(desk, state, known, sealed, content=False, keep=columns)[name]
            delimiter = "\t" if output.suffix.lower() == ".tsv" else protocol.tables[name].delimiter
            cells = [opened.texts[each] for each in columns]
            encoding = _encoding(protocol, sealed, name)
            for piece in as_csv(columns, cells, range(opened.rows), delimiter, encoding):
                file.write(piece)
            if not file.keep(output.name, replace=overwrite):
                raise NotWritten(path=str(output), why=_("a file came there meanwhile"))
    return InputsWritten(
        study=study,
        pool=pool,
        entry=made.index,
        table=name,
        path=output,
        rows=opened.rows,
        columns=columns,
        custody=grade_of(sealed, state.recipient),
        formulas=sum(map(begins_as_formula, _cells(opened, columns))),
        warnings=warnings,
    )


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


def _encoding(protocol: Protocol, pool: PoolState, table: str) -> str:
    """The table's declared encoding, where its cells came from files in it; JSON and Parquet hold any text."""
    formats = {record.format for record in pool.sealed.request.records if record.table == table}
    return protocol.tables[table].encoding if formats <= {"csv", "tsv"} else "utf-8"


def _cells(table: TypedTable, columns: Sequence[str]) -> Iterator[str]:
    """Every text that is handed out: the columns' names, and their cells."""
    yield from columns
    for name in columns:
        yield from filter(None, table.texts[name])
