"""Every outcome as JSON: the names that programs rely on, and values that JSON can hold."""

import json
from typing import Any

import pytest

from lacre.report.json import as_json

from .conftest import HOSTILE, Life
from .test_text import NAMES


@pytest.mark.parametrize("name", NAMES)
def test_every_document_is_json(life: Life, name: str) -> None:
    document = as_json(life.outcomes[name])
    assert json.loads(json.dumps(document, allow_nan=False)) == document


def test_a_result_has_the_names_of_the_contract(life: Life) -> None:
    document = as_json(life.outcomes["seen-again"])
    assert list(document)[:13] == [
        *("result", "study", "protocol", "pool", "standing", "now", "read", "confirmatory", "state"),
        *("analyses", "custody", "anchors", "engine"),
    ]
    assert (document["result"], document["standing"], document["now"]) == ("screen@5", "teste", "dev")
    assert (document["read"], document["confirmatory"], document["anchors"]) == (1, True, [])
    assert document["protocol"].startswith("sha256:")
    assert document["engine"].keys() >= {"lacre", "statistics", "numpy", "scipy", "seed"}
    (analysis,) = document["analyses"]
    assert analysis.keys() >= {
        "id",
        "kind",
        "state",
        "confirmatory",
        "estimates",
        "criteria",
        "left_out",
        "notes",
    }
    names = (
        "metric",
        "system",
        "group",
        "numerator",
        "denominator",
        "value",
        "low",
        "high",
        "confidence",
        "method",
    )
    assert analysis["estimates"][0].keys() >= {*names, "zero_bound", "note"}
    assert analysis["criteria"][0].keys() >= {
        *("id", "metric", "state", "reason", "value", "low", "high", "threshold")
    }
    assert analysis["left_out"][0].keys() >= {"reason", "count"}


def test_a_result_is_what_was_stored_and_what_is_added(life: Life) -> None:
    shown = life.outcomes["result"]
    document = as_json(shown)
    assert {name: document[name] for name in shown.document} == dict(shown.document)
    assert document["shortfall"] == [{"table": "cases", "planned": 300, "rows": 200}]
    assert document["ignored"] == {"cases": ["extra"]}


def test_an_audit_has_the_names_of_the_contract(life: Life) -> None:
    document = as_json(life.outcomes["audit"])
    assert {"ok", "entries", "root", "checkpoint", "findings", "warnings", "history"} <= document.keys()
    assert document["ok"] is True
    assert document["entries"] == len(document["history"]) == 11
    assert document["checkpoint"].startswith("lab.example/bias\n11\n")
    for line in document["history"]:
        assert {"entry", "time", "kind", "study", "by", "what"} <= line.keys()
    assert [line["kind"] for line in document["history"][:4]] == ["genesis", "register", "seal", "read"]


def test_a_story_has_its_custody(life: Life) -> None:
    story = as_json(life.outcomes["story"])["story"]
    assert story["seal"]["custody"] == "self-held"
    assert [read["when"] for read in story["reads"]] == ["before", "itself", "after"]


def test_a_status_has_pools_and_reads(life: Life) -> None:
    document = as_json(life.outcomes["status"])
    (study,) = document["studies"]
    teste = study["pools"]["teste"]
    assert (teste["now"], teste["burned"]) == ("dev", 6)
    assert [(read["class"], read["number"], read["result"]) for read in teste["reads"]] == [
        ("inputs", 1, None),
        ("teste", 1, 5),
        ("dev", 2, 7),
    ]
    assert as_json(life.outcomes["waiting"])["studies"][0]["pools"] == {"dev": None, "teste": None}
    assert document["keys"][0]["name"] == HOSTILE


def test_a_check_has_its_needs(life: Life) -> None:
    document: dict[str, Any] = as_json(life.outcomes["checked"])
    assert document["needs"][0]["criterion"] == "misses"
    assert document["canonical"]["study"] == document["study"] == "screen"


def test_an_entry_has_its_signed_bytes(life: Life) -> None:
    document = as_json(life.outcomes["entry"])
    assert document["envelope"]["payloadType"] == "application/vnd.in-toto+json"
    assert document["statement"]["predicateType"] == "urn:lacre:read:v1"
    assert "\x1b[2Jbecause" in document["documents"].values()
    assert list(as_json(life.outcomes["genesis"])["documents"].values()) == [HOSTILE]
