"""From files to typed tables: of a pool about to be sealed, of one just opened, and of submissions."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal

from lacre.analyses.families import check_unit
from lacre.analyses.judge_cases import check_bins
from lacre.broker.desk import BLANK, Progress
from lacre.broker.files import Given
from lacre.errors import NothingDeclared, TableColumnAbsent, TableError, cells_untold
from lacre.pools import vault
from lacre.pools.content import Content, Held, OnDisk
from lacre.pools.cores import leave_no_core
from lacre.protocol.models import Protocol
from lacre.rules.requests import SealedRecord
from lacre.tables.columns import UNDECLARED, Codes, Outcomes, TypedTable
from lacre.tables.exclude import apply_exclusions
from lacre.tables.formats import Format, format_of
from lacre.tables.join import concat
from lacre.tables.parts import dated_after, labelled_before
from lacre.tables.read import read_table
from lacre.text import N_


@dataclass(frozen=True, slots=True)
class Raw:
    """One file and how it is read."""

    table: str
    format: Format
    content: Content
    name: str | None = None
    """What messages call the file; the table, where it came out of a sealed pool."""


@dataclass(frozen=True, slots=True)
class PoolTable:
    """A table of a pool: its files as they came, and what they say."""

    raws: tuple[Raw, ...]
    typed: TypedTable


def load(given: Sequence[Given]) -> tuple[Raw, ...]:
    """Take note of files, which are read when they are needed; their names say how.

    Raises `TableFormatUnknown`, `FileMissing`, `NotReadable`.
    """
    leave_no_core()
    return tuple(Raw(g.table, format_of(g.path), OnDisk.at(g.path), g.path.name) for g in given)


@cells_untold
def outside(protocol: Protocol, tables: Mapping[str, PoolTable]) -> dict[str, int]:
    """Count, by `table.column`, the cells whose value the protocol does not declare.

    Raises `NothingDeclared` for a column in which no cell holds a declared value: that is another spelling.
    """
    found = {}
    for table, read in tables.items():
        for name, column in read.typed.columns.items():
            if not isinstance(column, Codes | Outcomes):
                continue
            undeclared = int((column.codes == UNDECLARED).sum())
            if undeclared and not (column.codes >= 0).any():
                values = protocol.tables[table].columns[name].named_values
                file = read.raws[0].name or table
                raise NothingDeclared(file=file, column=name, count=undeclared, values=", ".join(values))
            if undeclared:
                found[f"{table}.{name}"] = undeclared
    return found


def read_pool_tables(
    protocol: Protocol, raws: Sequence[Raw], progress: Progress, *, keep: Collection[str] = ()
) -> dict[str, PoolTable]:
    """Type the tables of a pool, each of one file or several, in the protocol's order.

    The columns in `keep` stand in the tables' `texts` as they are written, too.
    """
    return _read(protocol, raws, progress, "pool", keep)


def read_submission_tables(
    protocol: Protocol, raws: Sequence[Raw], progress: Progress
) -> dict[str, PoolTable]:
    """Type the key and `from: submission` columns of the tables a submission gives."""
    return _read(protocol, raws, progress, "submission")


def looks_submitted(protocol: Protocol, raw: Raw) -> bool:
    """Whether a file holds what a submission does, and of the pool's own columns none but the key."""
    declared = protocol.tables[raw.table]
    stored = {name for name in declared.columns if not declared.derived(name)} - {*declared.key}
    own = {name for name in stored if not declared.supplied(name)}
    if own == stored or not own:
        return False
    try:
        unused = read_table(
            raw.content.read(), declared, raw.table, raw.format, only="submission", file=raw.name
        ).undeclared
    except TableColumnAbsent:
        return False
    except TableError:
        return not _reads_as_pool(protocol, raw)
    return own.isdisjoint(unused)


def _reads_as_pool(protocol: Protocol, raw: Raw) -> bool:
    try:
        read_table(raw.content.read(), protocol.tables[raw.table], raw.table, raw.format, only="pool")
    except TableColumnAbsent:
        return False
    except TableError:
        return True  # it has the columns, and another read of it will say what is wrong with them
    return True


@cells_untold
def check_units(protocol: Protocol, tables: Mapping[str, PoolTable]) -> None:
    """Refuse tables that no analysis would take, before they are sealed: a unit repeats, or bins do not hold a value.

    Raises `UnitRepeated` or `OutsideBins`, with the count.
    """
    for name, table in tables.items():
        declared = protocol.tables[name]
        used = table.typed.select(apply_exclusions(table.typed, declared.exclude).kept)
        check_unit(declared, used)
        check_bins(protocol, name, used)


def _read(
    protocol: Protocol,
    raws: Sequence[Raw],
    progress: Progress,
    only: Literal["pool", "submission"],
    keep: Collection[str] = (),
) -> dict[str, PoolTable]:
    tables: dict[str, PoolTable] = {}
    done = 0
    for name, declared in protocol.tables.items():
        files = tuple(raw for raw in raws if raw.table == name)
        parts = []
        for raw in files:
            progress(N_("reading"), done, len(raws))
            parts.append(
                read_table(
                    raw.content.read(), declared, name, raw.format, only=only, keep=keep, file=raw.name
                )
            )
            done += 1
        if parts:
            tables[name] = PoolTable(files, concat(parts))
    progress(N_("reading"), len(raws), len(raws))
    return tables


@cells_untold
def early_labels(protocol: Protocol, table: str, typed: TypedTable, registered: str) -> int:
    """How many rows of a table were labelled before the registration (rule 3)."""
    return labelled_before(protocol.tables[table], typed, registered)


@cells_untold
def late_labels(protocol: Protocol, table: str, typed: TypedTable, now: str) -> int:
    """How many rows of a table have a label dated in the future, by more than a clock or a zone may be off (rule 3)."""
    return dated_after(protocol.tables[table], typed, now, roles=("labelled",), slack=CLOCKS_APART)


CLOCKS_APART = timedelta(days=1)
"""A zone that was left out is off by 14 hours at most, and clocks are by less than what is left of a day."""


def typed_of(tables: Mapping[str, PoolTable]) -> dict[str, TypedTable]:
    """The typed tables alone."""
    return {name: table.typed for name, table in tables.items()}


def unsealed(raws: Sequence[Raw]) -> dict[str, Any]:
    """What a request will say of files once they are sealed, as it is put to the law beforehand."""
    records = tuple(SealedRecord(table=raw.table, format=raw.format.value, hmac=BLANK) for raw in raws)
    return {"records": records, "ciphertext": BLANK, "wrapped_key": BLANK, "recipients": ()}


def raws_of(opened: Sequence[tuple[str, bytes]], records: Sequence[SealedRecord]) -> tuple[Raw, ...]:
    """Files that were opened, each with its table, and how the entry's `records` say they are read."""
    return tuple(
        Raw(table, Format(record.format), Held(data))
        for (table, data), record in zip(opened, records, strict=True)
    )


def contents(raws: Sequence[Raw]) -> list[tuple[str, Content]]:
    """Files as they are sealed: each with its table."""
    return [(raw.table, raw.content) for raw in raws]


def digests(raws: Sequence[Raw]) -> list[tuple[str, str]]:
    """The SHA-256 of each file in hexadecimal, with its table: what it is recognised by, and never shown."""
    return [(raw.table, raw.content.sha256) for raw in raws]


def records_of(raws: Sequence[Raw], records: Sequence[vault.Record]) -> tuple[SealedRecord, ...]:
    """The committed form of files: table, format and salted digest."""
    return tuple(
        SealedRecord(table=raw.table, format=raw.format.value, hmac=record.hmac)
        for raw, record in zip(raws, records, strict=True)
    )
