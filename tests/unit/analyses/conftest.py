"""A gate to test: a protocol and a typed table from a few words, both read as a user's files are."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from tests.studies import HEAD

from lacre.analyses import analyse
from lacre.analyses.given import Given
from lacre.analyses.result import AnalysisResult
from lacre.protocol.document import parse
from lacre.protocol.models import Protocol
from lacre.tables.columns import Codes, Numbers, Outcomes, Texts, TypedColumn, TypedTable
from lacre.tables.formats import Format
from lacre.tables.join import join_submission
from lacre.tables.read import read_table

COLUMNS = {
    "id": {"type": "text"},
    "person": {"type": "text"},
    "site": {"type": "text"},
    "label": {"type": "outcome", "positive": "1", "negative": "0"},
    "prediction": {"type": "outcome", "positive": "1", "negative": "0", "from": "submission"},
    "score": {"type": "number", "min": 0, "max": 1, "from": "submission"},
    "sex": {"type": "category", "values": ["female", "male"]},
    "age": {"type": "ordinal", "values": ["young", "middle", "old"]},
}


@dataclass(frozen=True)
class Gate:
    """A protocol with one analysis, `parity`, of the table `cases`."""

    protocol: Protocol

    def read(self, rows: Sequence[Mapping[str, Any]]) -> TypedTable:
        """Type rows as a pool's file and a submission, and join them; absent cells are empty."""
        names = list(COLUMNS)
        lines = [",".join(names)]
        for place, row in enumerate(rows):
            cells = {"id": f"c{place}", "person": f"p{place}", "site": f"s{place}", **row}
            lines.append(",".join(str(cells.get(name, "")) for name in names))
        raw = ("\n".join(lines) + "\n").encode()
        declared = self.protocol.tables["cases"]
        pool = read_table(raw, declared, "cases", Format.CSV, only="pool")
        return join_submission(pool, read_table(raw, declared, "cases", Format.CSV, only="submission"))

    def run(self, table: TypedTable, system: str = "", review: Sequence[str] = ()) -> AnalysisResult:
        given = Given.of_one(self.protocol, "cases", table, system, review)
        return analyse("parity", given, [system])

    def of_systems(self, **rows: Sequence[Mapping[str, Any]]) -> AnalysisResult:
        """Analyse several systems, each with its own submission, in one result."""
        tables = {(system, "cases"): self.read(each) for system, each in rows.items()}
        return analyse("parity", Given(self.protocol, tables), list(rows))

    def __call__(self, rows: Sequence[Mapping[str, Any]], **options: Any) -> AnalysisResult:
        return self.run(self.read(rows), **options)


@pytest.fixture
def gate() -> Callable[..., Gate]:
    """Make a gate: its criteria, more of its plan, more of its table, more of the protocol."""

    def make(
        *criteria: Mapping[str, Any],
        table: Mapping[str, Any] | None = None,
        columns: Mapping[str, Any] | None = None,
        protocol: Mapping[str, Any] | None = None,
        **plan: Any,
    ) -> Gate:
        document = {
            **HEAD,
            "tables": {"cases": {"key": "id", "columns": {**COLUMNS, **(columns or {})}, **(table or {})}},
            "pools": {"teste": {"tables": ["cases"]}},
            "analyses": {
                "parity": {
                    "kind": "group_fairness",
                    "pool": "teste",
                    "table": "cases",
                    "label": "label",
                    "prediction": "prediction",
                    "attributes": ["sex", "age"],
                    "intersections": [["sex", "age"]],
                    "min_cell": 1,
                    "criteria": list(criteria)
                    or [{"id": "err", "metric": "error", "by": "sex", "worst_group": {"max": 1}}],
                    **plan,
                }
            },
            **(protocol or {}),
        }
        return Gate(parse(json.dumps(document).encode()))

    return make


@pytest.fixture
def rows() -> Callable[..., list[dict[str, Any]]]:
    """Make `n` rows alike; `rows(3, sex="male", label=1, prediction=0)` are three missed men."""

    def make(n: int, **cells: Any) -> list[dict[str, Any]]:
        return [dict(cells) for _ in range(n)]

    return make


@pytest.fixture
def typed() -> Callable[..., TypedTable]:
    """Make a table from code arrays, without a file: for many rows."""

    def make(**codes: Any) -> TypedTable:
        length = len(codes["label"])
        values = {"sex": ("female", "male"), "age": ("young", "middle", "old")}
        columns: dict[str, TypedColumn] = {
            name: Codes(np.asarray(codes.get(name, np.full(length, -1)), np.int32), known)
            for name, known in values.items()
        }
        for name in ("label", "prediction"):
            columns[name] = Outcomes(np.asarray(codes[name], np.int8))
        columns["score"] = Numbers(np.asarray(codes.get("score", np.full(length, np.nan)), np.float64))
        for name in ("person", "site"):
            given = codes.get(name, np.arange(length))
            columns[name] = Texts(np.array([None if v is None else str(v) for v in given], object))
        keys = np.array([f"c{place}" for place in range(length)], object)
        return TypedTable("cases", length, columns, keys)

    return make
