"""Floors of labels given twice: printed with what rests on them, and the differences that lie under them named."""

import json
from dataclasses import replace
from typing import Any

import pytest
from tests.studies import HEAD

from lacre.analyses.estimate import Measure, NotEstimable
from lacre.analyses.floors import Floor, floor_notes, floors_of, needs
from lacre.analyses.reasons import Reason, render
from lacre.analyses.result import AnalysisResult
from lacre.analyses.verdict import CriterionResult, State
from lacre.protocol.document import parse
from lacre.protocol.kinds.self_agreement import SelfAgreementPlan
from lacre.protocol.models import Protocol

SEX = {"type": "category", "values": ["f", "m"]}


def protocol_of(planned: int | None = 100, **relabel: Any) -> Protocol:
    gate = {
        "kind": "group_fairness",
        "pool": "teste",
        "table": "cases",
        "label": "y",
        "prediction": "yhat",
        "attributes": ["sex"],
    }
    document = {
        **HEAD,
        "tables": {
            name: {
                "key": "id",
                "columns": {
                    "id": {"type": "text"},
                    "y": {"type": "outcome", "positive": "1", "negative": "0"},
                    "yhat": {"type": "outcome", "positive": "1", "negative": "0", "from": "submission"},
                    "sex": SEX,
                    "age": {"type": "ordinal", "values": ["a", "b"]},
                },
            }
            for name in ("cases", "others")
        },
        "pools": {
            "teste": {
                "tables": ["cases", "others"],
                **({} if planned is None else {"planned": {"cases": planned}}),
            }
        },
        "relabel": {
            "cases": {
                "pool": "teste",
                "fraction": 0.07,
                "min_days_apart": 0,
                "columns": ["sex"],
                "seed": 1,
                **relabel,
            }
        },
        "analyses": {
            "self": {"kind": "self_agreement", "pool": "teste", "relabel": "cases"},
            "gate": {
                **gate,
                "criteria": [
                    {"id": "gap", "metric": "error", "by": "sex", "max_group_gap": 0.03},
                    {"id": "worst", "metric": "error", "by": "sex", "worst_group": {"max": 0.2}},
                ],
            },
            "elsewhere": {
                **gate,
                "table": "others",
                "criteria": [{"id": "gap", "metric": "error", "by": "sex", "max_group_gap": 0.05}],
            },
        },
    }
    return parse(json.dumps(document).encode())


def agreement(floor: float | None, **row: Any) -> AnalysisResult:
    rows = ({"column": "sex", "second": "sex", "group": {}, "floor": floor, **row},)
    return AnalysisResult("self", "self_agreement", State.PASS, 10, (), (), tables={"agreement": rows})


def criterion(name: str, value: float | None, **more: Any) -> CriterionResult:
    given: dict[str, Any] = {
        "id": name, "metric": "error", "system": "", "by": ("sex",), "form": "max_group_gap", "threshold": 0.03,
        "state": State.PASS, "reason": Reason("gap-kept"), "value": value, "low": 0.0, "high": 0.1, "lines": (),
        "left_out": (), **more,
    }  # fmt: skip
    return CriterionResult(**given)


GATE = AnalysisResult(
    "gate",
    "group_fairness",
    State.PASS,
    10,
    (
        Measure(
            "difference", "x", (("sex", "f"),), -0.05, -0.1, 0.1, 0.95, "bootstrap", 9, "difference",
            versus=(("sex", "m"),), details={"variant": "grey"},
        ),
        Measure("difference", "", (), 0.3, 0.1, 0.4, 0.95, "bootstrap", 9, "difference"),
        Measure("error", "", (), 0.01, 0.0, 0.4, 0.95, "wilson", 9, "share"),
        NotEstimable("difference", "", (), 0, Reason("no-cases")),
    ),
    (
        criterion("gap", 0.02, system="x"),
        criterion("far", 0.2),
        criterion("absent", None),
        criterion("worst", 0.01, form="worst_group_max"),
        criterion("variant", -0.06, form="min", scale="difference"),
    ),
)  # fmt: skip


def test_what_rests_on_the_labels_prints_the_floor_and_what_lies_under_it() -> None:
    """A floor of .07: the gap of .02, the variant's -.06 and the difference of -.05 are under it, no share is."""
    elsewhere = replace(GATE, id="elsewhere")
    own, gate, other = floor_notes(protocol_of(), [agreement(0.07), GATE, elsewhere])
    assert own == agreement(0.07)
    assert other == elsewhere
    assert gate.notes[0] == Reason("agreement-floor", {"column": "sex", "floor": 0.07})
    under = [(note.code, note.fields["what"], note.fields["value"]) for note in gate.notes[1:]]
    assert under == [
        ("under-floor", "x gap", 0.02),
        ("under-floor", "variant", -0.06),
        ("under-floor", "x difference f m grey", -0.05),
    ]


def test_a_pass_on_a_bar_under_the_floor_says_so_itself() -> None:
    """A floor of .07 and a gap of .03 that is allowed: what is kept cannot be told on these labels, and the verdict
    says it. A floor of .02 is under the bar, a FAIL claims nothing of no difference, and a rate is no difference.
    """
    failed = replace(GATE, criteria=(*GATE.criteria, criterion("failed", 0.2, state=State.FAIL)))
    gate = floor_notes(protocol_of(), [agreement(0.07), failed])[1]
    noted = {each.id: each.note for each in gate.criteria}
    said = Reason("floor-above-bound", {"column": "sex", "floor": 0.07, "threshold": 0.03})
    assert noted == {"gap": said, "far": said, "absent": said, "worst": None, "variant": said, "failed": None}
    assert gate.criteria[0].as_json()["note"] == said.as_json()
    assert "note" not in gate.criteria[3].as_json()
    assert "does not show that there is no difference" in render(said)
    under = floor_notes(protocol_of(), [agreement(0.02), failed])[1]
    assert {each.note for each in under.criteria} == {None}


def test_later_reads_print_it_too_and_the_newest_counts() -> None:
    earlier = floors_of(protocol_of(), [json.loads(json.dumps(agreement(0.07).as_json()))])
    assert earlier == (Floor("cases", "sex", frozenset({"sex"}), 0.07),)
    (gate,) = floor_notes(protocol_of(), [GATE], earlier)
    assert gate.notes[0].fields["floor"] == 0.07
    _own, gate = floor_notes(protocol_of(), [agreement(0.01), GATE], earlier)
    assert [note.fields["floor"] for note in gate.notes] == [0.01]


def test_no_floor_no_note() -> None:
    """The floor is of a column the analysis does not read."""
    protocol = protocol_of(columns=["age"])
    assert floor_notes(protocol, [agreement(0.07, column="age", second="age"), GATE])[1] == GATE
    assert floor_notes(protocol, [agreement(None, column="age", second="age"), GATE])[1] == GATE


def test_an_agreement_without_a_floor_is_told_with_what_rests_on_the_labels() -> None:
    """None was computed, or of a group alone, or it is withheld, or nothing but a verdict left a gate."""
    unknown = (Reason("floor-unknown", {"column": "sex"}),)
    withheld = replace(agreement(0.07), tables={"agreement": ({"group": {}, "withheld": True},)})
    bare = replace(agreement(0.07), tables={})
    for rest in (agreement(None), agreement(0.07, group={"age": "a"}), withheld, bare):
        assert floor_notes(protocol_of(), [rest, GATE])[1].notes == unknown
        later = floors_of(protocol_of(), [json.loads(json.dumps(rest.as_json()))])
        assert later == (Floor("cases", "sex", frozenset({"sex"}), None),)
        assert floor_notes(protocol_of(), [GATE], later)[0].notes == unknown
    assert "no floor is known" in render(unknown[0])


def test_a_floor_that_another_analysis_tells_counts() -> None:
    """In whichever order two of one read are told; of two reads the newer counts."""
    one, other = agreement(0.01).as_json(), agreement(None).as_json()
    for both in ([one, other], [other, one]):
        assert [each.floor for each in floors_of(protocol_of(), both)] == [None, 0.01]
    earlier = floors_of(protocol_of(), [one])
    assert floor_notes(protocol_of(), [agreement(None), GATE], earlier)[1].notes[0].code == "floor-unknown"


def of_plan(protocol: Protocol) -> SelfAgreementPlan:
    plan = protocol.analyses["self"]
    assert isinstance(plan, SelfAgreementPlan)
    return plan


def test_what_a_plan_needs() -> None:
    """.07 of 100 are 7 relabels (in binary, a little more): a floor of z^2/(7 + z^2); three points take 125."""
    protocol = protocol_of()
    found = needs(protocol, "self", of_plan(protocol))
    assert found.planned == 7
    assert found.floor == pytest.approx(3.841459 / 10.841459, abs=1e-7)
    assert [(each.analysis, each.criterion, each.difference, each.relabels) for each in found.wanted] == [
        ("gate", "gap", 0.03, 125)
    ]
    unplanned = protocol_of(None)
    assert needs(unplanned, "self", of_plan(unplanned)).planned is None
    assert needs(unplanned, "self", of_plan(unplanned)).floor is None
    other = protocol_of(columns=["age"])
    assert needs(other, "self", of_plan(other)).wanted == ()
