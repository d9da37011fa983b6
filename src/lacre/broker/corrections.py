"""Corrected tables held against those of a pool: the same cases, and nothing changed but labels.

Before the read, through the pool's fingerprints: its ids, its inputs and its units are known by them. After it,
cell by cell: what no fingerprint holds (attributes, weights) is seen there alone.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lacre.broker.ingest import PoolTable, digests, typed_of
from lacre.errors import ErratumCasesDiffer, ErratumInputsDiffer, ErratumUnchanged, cells_untold
from lacre.pools.exposure import fingerprint, match_submission_ids
from lacre.pools.prints import Kind, Prints, common
from lacre.protocol.models import Protocol
from lacre.protocol.tables import Table
from lacre.tables.columns import TypedTable
from lacre.text import N_, _

_NEVER = frozenset({"input", "demographic", "inclusion_probability", "weight", "scored"})
"""The roles of columns that no erratum corrects."""
_COMPARED: tuple[tuple[Kind, str], ...] = (
    ("unit", N_("units")),
    ("disjoint", N_("values under `disjoint`")),
    ("digest", N_("digests")),
    ("row", N_("inputs")),
)
"""What is compared by fingerprints, and its name."""

Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Compared:
    """How many cells differ, by `table.column`: of labels, and of anything else."""

    labels: Mapping[str, int]
    others: Mapping[str, int]


# --- before the read ---------------------------------------------------------------------------------------


@cells_untold
def check_corrected(
    prints: Prints, protocol: Protocol, corrected: Mapping[str, PoolTable], *, genesis: str, key: bytes
) -> None:
    """Refuse corrected tables of other cases, with other inputs, or the same as before, in counts alone.

    `prints` are the pool's, made under `key`. Raises `ErratumCasesDiffer`, `ErratumInputsDiffer`,
    `ErratumUnchanged`, `PrintsInvalid`.
    """
    study = protocol.study
    for name, table in corrected.items():
        matched = match_submission_ids(
            prints, name, protocol.tables[name], table.typed, study=study, genesis=genesis, key=key
        )
        if matched.unknown or matched.absent:
            raise ErratumCasesDiffer(table=name, unknown=matched.unknown, absent=matched.absent)
    for name, table in corrected.items():
        files = digests(table.raws)
        typed = {name: table.typed}
        made = fingerprint(typed, protocol, study=study, genesis=genesis, key=key, files=files)
        sealed, given = prints.section("file", name), made.section("file", name)
        if len(sealed) == len(given) == len(common(sealed, given)):
            raise ErratumUnchanged(table=name)
        for kind, what in _COMPARED:
            new = sum(len(made.section(kind, label)) for label in made.labels(kind))
            new -= sum(
                len(common(made.section(kind, label), prints.section(kind, label)))
                for label in made.labels(kind)
            )
            if new:
                raise ErratumInputsDiffer(table=name, what=_(what), count=new)


# --- after it ----------------------------------------------------------------------------------------------


@cells_untold
def compare(
    protocol: Protocol,
    analyses: Iterable[str],
    sealed: Mapping[str, TypedTable],
    corrected: Mapping[str, TypedTable],
) -> Compared:
    """Compare corrected tables, whose rows are in the pool's order, with the sealed ones, cell by cell."""
    labels: dict[str, int] = {}
    others: dict[str, int] = {}
    named = tuple(analyses)
    for name, table in corrected.items():
        may_change = label_columns(protocol, named, name)
        for column in table.columns:
            if protocol.tables[name].derived(column):
                continue  # it stands in no file; what it is made from does
            count = int(_differ(sealed[name], table, column).sum())
            if count:
                (labels if column in may_change else others)[f"{name}.{column}"] = count
    return Compared(labels, others)


def label_columns(protocol: Protocol, analyses: Iterable[str], table: str) -> frozenset[str]:
    """The columns of a table that an erratum may correct.

    They are the labels of its analyses, what those are made from, whatever is declared as part of the labels,
    and when they were given; less what names a case, is an input or an attribute, or weighs.
    """
    declared = protocol.tables[table]
    plans = [plan for name in analyses if table in (plan := protocol.analyses[name]).reads()]
    labels = {label for plan in plans if plan.table == table for label in plan.labels()}
    parts = {part for label in labels for part in _made_from(declared, label)}
    marked = {
        name
        for name, column in declared.columns.items()
        if "labelled" in column.is_ or column.part == "labels"
    }
    fixed = {*declared.key, *declared.cluster, declared.unit}
    fixed |= {name for plan in plans for name in plan.reads()[table]} - labels
    fixed |= {name for name, column in declared.columns.items() if _NEVER & set(column.is_)}
    return frozenset(
        name for name in (labels | parts | marked) - fixed if declared.columns[name].source is None
    )


def _made_from(table: Table, label: str) -> tuple[str, ...]:
    column = table.columns[label]
    return (column.equals or ()) if column.type == "outcome" else ()


def in_order(table: TypedTable, keys: Iterable[str]) -> TypedTable:
    """The rows of a table in the order of `keys`, which are exactly its own."""
    places = {key: row for row, key in enumerate(table.keys)}
    rows = np.fromiter((places[key] for key in keys), np.intp)
    return replace(
        table,
        columns={name: column.take(rows) for name, column in table.columns.items()},
        keys=table.keys[rows],
        texts={name: cells[rows] for name, cells in table.texts.items()},
    )


def _differ(sealed: TypedTable, corrected: TypedTable, name: str) -> Bools:
    """Which cells of a column are not the same: another value, or, where the plan compares text, other text."""
    one, other = sealed.columns[name], corrected.columns[name]
    differ = np.asarray((one.array != other.array) & ~(one.missing & other.missing), dtype=np.bool_)
    if name in sealed.texts:
        # A null of JSON and an empty cell of CSV are one and the same.
        pairs = zip(sealed.texts[name], corrected.texts[name], strict=True)
        differ |= np.fromiter(((a or "") != (b or "") for a, b in pairs), np.bool_, sealed.rows)
    return differ


@cells_untold
def typed_in_order(
    corrected: Mapping[str, PoolTable], sealed: Mapping[str, TypedTable]
) -> dict[str, TypedTable]:
    """The corrected tables, each with its rows in the order of the sealed one's."""
    return {name: in_order(table, sealed[name].keys) for name, table in typed_of(corrected).items()}
