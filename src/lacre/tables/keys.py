"""The keys of a table as one text a row."""

import json
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray


def join_keys(columns: Sequence[Sequence[str]]) -> list[str]:
    """Return one key a row for the key `columns`, each a sequence of that row's texts.

    A single column's text is the key. Several are joined as a JSON array of strings without spaces
    (``["f1","original"]``), which no two different rows share. Keys are compared as text: ``1`` is not
    ``1.0``.
    """
    if len(columns) == 1:
        return list(columns[0])
    encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
    return [encode(parts) for parts in zip(*columns, strict=True)]


def repeated(values: Iterable[str | None] | NDArray[np.object_]) -> int:
    """Return how many of `values` had the same value before them; None, a missing one, repeats nothing."""
    there = [value for value in values if value is not None]
    return len(there) - len(frozenset(there))
