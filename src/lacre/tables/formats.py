"""The formats of data files, known by their names, and what every reader of one gives."""

from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import PurePath
from typing import TypeAlias

from lacre.errors import TableFormatUnknown

Cells: TypeAlias = Sequence[str | None]
"""Cells of one column, in the file's order: their text, or None where a format has a null of its own."""

Sink: TypeAlias = Callable[[Sequence[Cells]], None]
"""Takes the wanted columns of some further rows, each as long as the others."""


class Format(StrEnum):
    """How the bytes of a table are read; the value is what a sealed pool records."""

    CSV = "csv"
    TSV = "tsv"
    JSON = "json"
    JSON_LINES = "jsonl"
    PARQUET = "parquet"


SUFFIXES = {
    ".csv": Format.CSV,
    ".tsv": Format.TSV,
    ".json": Format.JSON,
    ".jsonl": Format.JSON_LINES,
    ".ndjson": Format.JSON_LINES,
    ".parquet": Format.PARQUET,
}


def format_of(path: str | PurePath) -> Format:
    """Return the format that the name of the file at `path` says, its case aside.

    ``.tsv`` is CSV with a tab for its delimiter, whatever the table declares. Raises `TableFormatUnknown`.
    """
    name = PurePath(path).name
    found = SUFFIXES.get(PurePath(name).suffix.lower())
    if found is None:
        raise TableFormatUnknown(file=name, known=", ".join(SUFFIXES))
    return found
