"""Second labels that are dated later than now: kept, with a warning that counts them."""

import json
from collections.abc import Sequence

import pytest

from lacre.broker.relabel import _dated_ahead
from lacre.protocol.document import parse
from lacre.protocol.tables import Table
from lacre.tables.columns import TypedTable
from lacre.tables.formats import Format
from lacre.tables.read import read_table

NOW = "2026-03-01T12:00:00.000000Z"


def labelled(*times: str, zone: str | None = None) -> tuple[Table, TypedTable]:
    document = {
        "lacre": 1,
        "study": "study",
        "title": "Title",
        "question": "Question?",
        "language": "en",
        "data": {"identifiable": False, "prior_exposure": "none"},
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
    document["tables"]["cases"]["columns"]["again"] = document["tables"]["cases"]["columns"]["y"]  # type: ignore[index]
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
