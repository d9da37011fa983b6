"""Short ways to declare a table and to read bytes as a file of it."""

from collections.abc import Callable
from typing import Any

import pytest

from lacre.protocol.tables import Table
from lacre.tables.columns import TypedTable
from lacre.tables.formats import Format
from lacre.tables.read import read_table

FILE = "cases.file"


@pytest.fixture(scope="session")
def declare() -> Callable[..., Table]:
    """Declare a table of these columns, keyed by `id`, a text column added where it is not declared."""

    def build(columns: dict[str, Any], **table: Any) -> Table:
        table.setdefault("key", ["id"])
        declared = {"id": {"type": "text"}, **columns} if table["key"] == ["id"] else columns
        return Table.model_validate({"columns": declared, **table})

    return build


@pytest.fixture(scope="session")
def read(declare: Callable[..., Table]) -> Callable[..., TypedTable]:
    """Read bytes, or text as UTF-8, as a file of a table of these columns."""

    def run(
        content: bytes | str,
        columns: dict[str, Any],
        *,
        format: Format = Format.CSV,  # noqa: A002 - as the function under test
        only: Any = "pool",
        keep: tuple[str, ...] = (),
        **table: Any,
    ) -> TypedTable:
        raw = content.encode() if isinstance(content, str) else content
        return read_table(raw, declare(columns, **table), "cases", format, only=only, file=FILE, keep=keep)

    return run
