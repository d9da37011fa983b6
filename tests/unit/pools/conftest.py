"""What the tests of pools share: entropy that repeats, and tables made without files."""

import random
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pytest

from lacre.protocol.document import parse
from lacre.protocol.models import Protocol
from lacre.tables.columns import Codes, Digests, Numbers, Outcomes, Texts, Times, TypedColumn, TypedTable

PROTOCOL = b"""
lacre: 1
study: alvo
title: A study for tests
question: Are these the same cases?
language: en
data: {identifiable: false, prior_exposure: none}
tables:
  cases:
    key: case_id
    unit: person
    columns:
      case_id:    {type: text}
      person:     {type: text}
      label:      {type: outcome, positive: "1", negative: "0"}
      prediction: {type: outcome, positive: "1", negative: "0", from: submission}
      sex:        {type: category, values: [female, male], is: input}
      age:        {type: number, is: input}
      note:       {type: text, is: input}
      seen:       {type: time, zone: UTC, is: input}
      image:      {type: digest}
      camera:     {type: text}
      lens:       {type: text}
  registry:
    key: case_id
    id_namespace: br-sus
    columns:
      case_id: {type: text}
      age:     {type: number, is: input}
disjoint: [[camera, lens]]
pools:
  dev:   {tables: [cases]}
  teste: {tables: [cases]}
analyses:
  parity:
    kind: group_fairness
    pool: teste
    table: cases
    label: label
    prediction: prediction
    attributes: [sex]
    criteria: [{id: gap, metric: error, by: [sex], max_group_gap: 0.1}]
"""

Make = Callable[..., TypedTable]


@pytest.fixture(scope="session")
def protocol() -> Protocol:
    return parse(PROTOCOL)


@pytest.fixture
def entropy() -> Callable[[int], bytes]:
    return random.Random(20260902).randbytes


def _column(kind: str, cells: Sequence[object]) -> TypedColumn:
    if kind == "category":
        values = ("female", "male")
        codes = [-1 if c is None else values.index(str(c)) if c in values else -2 for c in cells]
        return Codes(np.array(codes, dtype=np.int32), values)
    if kind == "outcome":
        return Outcomes(np.array([-1 if c is None else int(str(c)) for c in cells], dtype=np.int8))
    if kind == "number":
        return Numbers(np.array([np.nan if c is None else float(str(c)) for c in cells], dtype=np.float64))
    if kind == "time":
        return Times(np.array(["NaT" if c is None else str(c) for c in cells], dtype="datetime64[us]"))
    values_ = np.empty(len(cells), dtype=np.object_)
    values_[:] = cells
    return Digests(values_) if kind == "digest" else Texts(values_)


@pytest.fixture(scope="session")
def table(protocol: Protocol) -> Make:
    """Make a typed table: its ids, then the cells of each column by name."""

    def make(ids: Sequence[str], name: str = "cases", **cells: Sequence[object]) -> TypedTable:
        declared = protocol.tables[name].columns
        given: Mapping[str, Sequence[object]] = {"case_id": ids, **cells}
        keys = np.empty(len(ids), dtype=np.object_)
        keys[:] = ids
        columns = {column: _column(declared[column].type, values) for column, values in given.items()}
        return TypedTable(name, len(ids), columns, keys)

    return make
