"""Rows brought together: a submission beside its pool, and the files of one table under one another."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from lacre.errors import TableForeignKeys, TableKeyRepeated
from lacre.tables.columns import Texts, TypedTable
from lacre.tables.derive import derive
from lacre.tables.header import unused
from lacre.tables.keys import repeated


def join_submission(pool: TypedTable, submission: TypedTable) -> TypedTable:
    """Return `pool` with the columns of `submission`, a table of the same declaration, beside its own.

    The pool's rows and their order stay; a row that the submission lacks has missing cells in its columns,
    and `absent` marks those. Outcomes by `equals` that waited for the submission are made. Raises
    `TableForeignKeys`, with the count, when rows of the submission have keys that the pool does not hold, and
    `TableKeyRepeated` when a key comes twice.
    """
    _refuse_repeated(submission)
    places = {key: row for row, key in enumerate(submission.keys)}
    rows = np.fromiter((places.get(key, -1) for key in pool.keys), np.intp, pool.rows)
    matched = int((rows >= 0).sum())
    if matched < submission.rows:
        raise TableForeignKeys(file=submission.name, count=submission.rows - matched)
    columns = {name: column.take(rows) for name, column in submission.columns.items()}
    texts = {name: Texts(cells).take(rows).values for name, cells in submission.texts.items()}
    joined = replace(
        pool,
        columns={**columns, **pool.columns},
        texts={**texts, **pool.texts},
        derivations={**submission.derivations, **pool.derivations},
        absent=rows < 0,
    )
    return derive(joined)


def concat(tables: Sequence[TypedTable]) -> TypedTable:
    """Return the rows of `tables`, at least one and all read from files of one table, as one table.

    Raises `TableKeyRepeated` when a key of one file comes in another.
    """
    first, *others = tables
    if not others:
        return first
    whole = replace(
        first,
        rows=sum(table.rows for table in tables),
        columns={
            name: column.followed_by([other.columns[name] for other in others])
            for name, column in first.columns.items()
        },
        keys=np.concatenate([table.keys for table in tables]),
        texts={
            name: np.concatenate([cells, *(other.texts[name] for other in others)])
            for name, cells in first.texts.items()
        },
        undeclared=unused((name for table in tables for name in table.undeclared), ()),
    )
    _refuse_repeated(whole)
    return whole


def _refuse_repeated(table: TypedTable) -> None:
    count = repeated(table.keys)
    if count:
        raise TableKeyRepeated(file=table.name, count=count)
