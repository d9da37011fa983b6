"""What every JSON document is made of."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from lacre.rules.wire import Wire

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

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


def told(
    record: "DataclassInstance", names: Mapping[str, str] = MappingProxyType({}), **own: Any
) -> Document:
    """Return an outcome field by field, under other `names` where there are any; fields in `own` are told so."""
    return {
        names.get(each.name, each.name): own.get(each.name, _value(getattr(record, each.name)))
        for each in fields(record)
    }


def _value(value: Any) -> Any:
    if isinstance(value, Wire):
        return value.as_json()
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, tuple):
        return [_value(each) for each in value]
    return value
