"""Outcomes that are made of two other columns: whether both hold the same text."""

from dataclasses import replace

import numpy as np

from lacre.protocol.grammar import in_order
from lacre.tables.columns import MISSING, Outcomes, TypedTable


def derive(table: TypedTable) -> TypedTable:
    """Return `table` with each outcome of its `derivations` whose two columns it holds.

    1 where the cells are the same text as written, 0 where they differ, missing where either is missing.
    """
    columns = dict(table.columns)
    for name, (one, other) in table.derivations.items():
        if one in columns and other in columns:
            same = np.asarray(table.texts[one] == table.texts[other], dtype=np.bool_)
            missing = columns[one].missing | columns[other].missing
            columns[name] = Outcomes(np.where(missing, MISSING, same).astype(np.int8))
    left = {name: pair for name, pair in table.derivations.items() if name not in columns}
    return replace(table, columns=in_order(columns), derivations=left)
