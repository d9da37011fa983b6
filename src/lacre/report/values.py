"""What every JSON document is made of."""

from collections.abc import Mapping, Sequence
from typing import Any

from lacre.rules.wire import Wire

Document = dict[str, Any]
"""JSON values only: what `json.dumps` writes as it is."""

PRESENTED = "sha256:"
"""Stands before a protocol's hash where people see it."""


def wires(records: Sequence[Wire]) -> list[Document]:
    """Return records as JSON values."""
    return [record.as_json() for record in records]


def lists(columns: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Return names, by what they belong to, as JSON values."""
    return {name: list(names) for name, names in columns.items()}
