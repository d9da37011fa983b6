"""Second labels that are dated later than now: kept, with a warning that counts them."""

import json
from collections.abc import Sequence

import numpy as np
import pytest
from pydantic import TypeAdapter
from tests.studies import HEAD

from lacre.broker.relabel import _altered, _dated_ahead
from lacre.protocol.document import parse
from lacre.protocol.tables import Table
from lacre.tables.columns import TypedTable
from lacre.tables.formats import Format
from lacre.tables.read import read_table

NOW = "2026-03-01T12:00:00.000000Z"


def labelled(*times: str, zone: str | None = None) -> tuple[Table, TypedTable]:
    document = {
        **HEAD,
        "tables": {
            "cases": {
                "key": "id",
                "columns": {
                    "id": {"type": "text"},
                    "y": {"type": "outcome", "positive": "1", "negative": "0"},
                    "at": {"type": "time", "is": "labelled", **({} if zone is None else {"zone": zone})},
                },
            }
        },
        "pools": {"teste": {"tables": ["cases"]}},
        "analyses": {
            "self": {"kind": "self_agreement", "pool": "teste", "table": "cases", "passes": ["y", "again"]}
        },
    }
    document["tables"]["cases"]["columns"]["again"] = document["tables"]["cases"]["columns"]["y"]
    declared = parse(json.dumps(document).encode()).tables["cases"]
    lines = ["id,y,again,at", *(f"c{place},1,1,{time}" for place, time in enumerate(times))]
    raw = ("\n".join(lines) + "\n").encode()
    return declared, read_table(raw, declared, "cases", Format.CSV, only="pool")


@pytest.mark.parametrize(
    ("times", "zone", "begins"),
    [
        (["2026-03-01T12:00:00Z", "2026-02-01T00:00:00Z", ""], None, None),
        (["2026-03-01T12:00:01Z", "2026-02-01T00:00:00Z"], None, "1 second label is dated later than now"),
        (["2026-03-02T00:00:00Z", "2099-01-01T00:00:00Z"], None, "2 second labels are dated later than now"),
        (["2026-03-01T13:59:00+02:00"], None, None),
    ],
)
def test_labels_dated_ahead_are_counted(times: Sequence[str], zone: str | None, begins: str | None) -> None:
    declared, again = labelled(*times, zone=zone)
    said = _dated_ahead(declared, again, NOW)
    if begins is None:
        assert said == ()
    else:
        assert said == (f"{begins}: days apart are as true as the dates.",)


INPUTS = {
    "id": {"type": "text"},
    "size": {"type": "number", "is": "input"},
    "kind": {"type": "category", "values": ["a", "b"], "is": "input"},
    "when": {"type": "time", "is": "input"},
    "note": {"type": "text", "is": "input"},
}


@pytest.mark.parametrize(
    ("column", "sealed", "back", "count"),
    [
        ("size", "25.0", "25", 0),
        ("size", "25.0", "26", 1),
        ("size", "", "", 0),
        ("size", "", "0", 1),
        ("kind", "a", "b", 1),
        ("kind", "A", "A", 0),
        ("kind", "A", "B", 1),  # neither is declared, and they are no one value
        ("when", "2026-03-01T12:00:00Z", "2026-03-01T13:00:00+01:00", 0),
        ("when", "2026-03-01T12:00:00Z", "2026-03-01T12:00:01Z", 1),
        ("note", "a word", "a word ", 1),
        ("note", '"one\r\ntwo"', '"one\ntwo"', 0),
        ("note", "caf\u00e9", "cafe\u0301", 0),
        ("note", "caf\u00e9", "cafe", 1),
    ],
)
def test_inputs_that_come_back_are_held_against_those_sealed(
    column: str, sealed: str, back: str, count: int
) -> None:
    """A number or an instant may be written in another way, and is the same input; the row is the case's own."""
    declared = TypeAdapter(Table).validate_python({"key": "id", "columns": INPUTS})

    def table(*cells: str) -> TypedTable:
        rows = [{**dict.fromkeys(INPUTS, ""), "id": f"c{place}"} for place, _ in enumerate(cells)]
        for row, cell in zip(rows, cells, strict=True):
            row[column] = cell
        raw = "\n".join([",".join(INPUTS), *(",".join(row[name] for name in INPUTS) for row in rows)]) + "\n"
        return read_table(raw.encode(), declared, "cases", Format.CSV, only="pool", keep=tuple(INPUTS))

    first, again = table("", sealed), table(back)
    assert _altered(again, first, column, np.array([1])) == count
