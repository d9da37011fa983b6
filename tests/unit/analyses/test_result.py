"""Results over several systems, on reads they were not registered for, and as JSON."""

from collections.abc import Callable
from typing import Any

import pytest

from lacre.analyses import analyse
from lacre.analyses.given import Given
from lacre.analyses.reasons import Reason
from lacre.analyses.verdict import LeftOut, State
from lacre.canonical import canonical_json, parse_canonical
from lacre.errors import KindNotBuilt

Make = Callable[..., Any]
CEILING = {"id": "c", "metric": "error", "by": "sex", "worst_group": {"max": 0.2}}
# The names of an analysis and of a criterion in the results' JSON contract.
ANALYSIS = {"id", "kind", "state", "confirmatory", "estimates", "criteria", "left_out", "notes"}
CRITERION = {"id", "metric", "state", "reason", "value", "low", "high", "threshold"}


def made(rows: Make, wrong: int, blank: int = 0, extra: str = "1") -> list[dict[str, Any]]:
    """Give 200 women predicted rightly and 200 men, `wrong` of them not and `blank` not at all."""
    data: list[dict[str, Any]] = rows(200, sex="female", label=1, prediction=1)
    data += rows(wrong, sex="male", label=1, prediction=0)
    data += rows(blank, sex="male", label=1)
    data += rows(199 - wrong - blank, sex="male", label=1, prediction=1)
    data += rows(1, sex="male", label=1, prediction=extra)
    return data


def test_json_has_the_names_of_the_contract(gate: Make, rows: Make) -> None:
    result = gate(CEILING)(made(rows, 10))
    stored = parse_canonical(canonical_json(result.as_json()))
    assert set(stored) >= ANALYSIS
    assert set(stored["criteria"][0]) >= CRITERION
    assert stored["id"] == "parity"
    assert stored["kind"] == "group_fairness"
    assert stored["confirmatory"] is None
    assert stored["criteria"][0]["threshold"] == 0.2
    assert [line["group"] for line in stored["criteria"][0]["groups"]] == [{"sex": "female"}, {"sex": "male"}]


def test_systems_merge_in_order_and_the_worst_state_counts(gate: Make, rows: Make) -> None:
    make = gate(CEILING)
    good, bad = make(made(rows, 0), system="a"), make(made(rows, 100, extra="?"), system="b")
    merged = make.of_systems(a=made(rows, 0), b=made(rows, 100, extra="?"))
    assert merged.state is State.FAIL
    assert [each.system for each in merged.criteria] == ["a", "b"]
    assert [each.state for each in merged.criteria] == [State.PASS, State.FAIL]
    assert len(merged.estimates) == len(good.estimates) + len(bad.estimates)
    # What is the table's own stands once.
    assert merged.left_out == (LeftOut("missing", "age", 400),)
    assert all(note in merged.notes for note in good.notes)
    assert Reason("undeclared-predictions", {"count": 1, "column": "prediction"}) in merged.notes


def test_a_kind_that_is_not_built(gate: Make, rows: Make) -> None:
    made_gate = gate(CEILING)
    table = made_gate.read(made(rows, 0))
    plan = made_gate.protocol.analyses["parity"].model_copy(update={"kind": "divination"})
    protocol = made_gate.protocol.model_copy(update={"analyses": {"parity": plan}})
    with pytest.raises(KindNotBuilt):
        analyse("parity", Given.of_one(protocol, "cases", table))
