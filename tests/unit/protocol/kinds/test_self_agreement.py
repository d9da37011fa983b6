"""The plan of agreement with oneself: its two forms, what it reads, and what is refused at registration."""

import pytest

from lacre.errors import ProtocolInvalid
from lacre.protocol.document import parse
from lacre.protocol.kinds.self_agreement import SelfAgreementPlan

HEAD = """
lacre: 1
study: twice
title: Twice
question: The same again?
language: en
data: {identifiable: false, prior_exposure: none}
systems: {a: {version: "1"}}
tables:
  faces:
    key: id
    columns:
      id: {type: text}
      age: {type: ordinal, values: [young, old]}
      again: {type: ordinal, values: [young, old]}
      turned: {type: ordinal, values: [old, young]}
      sad: {type: outcome, positive: "1", negative: "0"}
      glad: {type: outcome, positive: "0", negative: "1"}
      height: {type: number, bins: {small: [0, 10], large: [10, null]}}
      width: {type: number}
      guess: {type: category, values: [young, old], from: submission}
      sex: {type: category, values: [f, m]}
  images: {key: id, columns: {id: {type: text}, sad: {type: outcome, positive: "1", negative: "0"}}}
pools:
  teste: {tables: [faces]}
  dev: {tables: [faces, images]}
relabel:
  faces: {pool: teste, fraction: 0.10, columns: [age, sad], min_days_apart: 0, seed: 1}
  images: {pool: dev, fraction: 0.10, columns: [sad], min_days_apart: 0, seed: 1}
analyses:
"""
RELABEL = {"relabel": "faces"}
PASSES = {"table": "faces", "passes": "[age, again]"}


def text(**plan: str) -> str:
    lines = {"kind": "self_agreement", "pool": "teste", **plan}
    return HEAD + "  self:\n" + "".join(f"    {key}: {value}\n" for key, value in lines.items())


def plan_of(**plan: str) -> SelfAgreementPlan:
    found = parse(text(**plan).encode()).analyses["self"]
    assert isinstance(found, SelfAgreementPlan)
    return found


def test_it_answers_what_every_plan_answers() -> None:
    relabel = plan_of(**RELABEL, by="[[sex]]")
    assert (relabel.table, relabel.table_key) == ("faces", "relabel")
    assert relabel.labels() == {"age", "sad"}
    assert relabel.reads() == {"faces": {"age", "sad", "sex"}}
    assert not relabel.compares_groups()
    passes = plan_of(**PASSES)
    assert (passes.table, passes.table_key) == ("faces", "table")
    assert passes.reads() == {"faces": {"age", "again"}}


def test_the_canonical_form_is_read_the_same() -> None:
    """What a ledger keeps is the plan's JSON: its names are the file's, and it names the same columns again."""
    for said in (RELABEL, PASSES):
        protocol = parse(text(**said).encode())
        again = parse(protocol.model_dump_json(by_alias=True, exclude_none=True).encode())
        assert again == protocol
        assert again.analyses["self"].labels() == protocol.analyses["self"].labels()


def test_defaults() -> None:
    """The defaults of format 1: the issue of a change here is that registered hashes change."""
    plan = plan_of(**PASSES, criteria="[{id: c, metric: kappa, min: 0.6}]")
    assert (plan.confidence, plan.by, plan.requires_manual_review) == (0.95, [], False)
    assert (plan.criteria[0].max_left_out, plan.criteria[0].column) == (0.10, None)


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        ({}, "needs `relabel`, or `table` and `passes`"),
        ({**RELABEL, **PASSES}, "needs `relabel`, or `table` and `passes`"),
        ({"table": "faces"}, "needs `relabel`, or `table` and `passes`"),
        ({"table": "faces", "passes": "[age, age]"}, "two different columns"),
        ({"table": "faces", "passes": "[age, turned]"}, "same type and declare the same values"),
        ({"table": "faces", "passes": "[sad, glad]"}, "same type and declare the same values"),
        ({"table": "faces", "passes": "[age, sex]"}, "same type and declare the same values"),
        ({"table": "faces", "passes": "[age, guess]"}, "a person could give again"),
        ({"table": "faces", "passes": "[width, height]"}, "`width` is of type"),
        ({"table": "faces", "passes": "[age, nothing]"}, "not declared"),
        ({"table": "nothing", "passes": "[age, again]"}, "not declared"),
        ({"relabel": "nothing"}, "not declared"),
        ({"relabel": "images"}, "not among the tables of teste"),
        ({**PASSES, "systems": "[a]"}, "a person's, not a system's"),
        ({**PASSES, "by": "[[width]]"}, "strata come from"),
        ({**RELABEL, "criteria": "[{id: c, metric: kappa, min: 0.5}]"}, "needs `column`"),
        ({**RELABEL, "criteria": "[{id: c, metric: kappa, column: sex, min: 0.5}]"}, "not labelled twice"),
        ({**PASSES, "criteria": "[{id: c, metric: raw_agreement, min: -0.5}]"}, "from 0 to 1"),
        ({**PASSES, "criteria": "[{id: c, metric: kappa, min: 2}]"}, "from -1 to 1"),
        ({**PASSES, "criteria": "[{id: c, metric: kappa, max: 0.5, min: 0.1}]"}, "max"),
    ],
)
def test_refused(plan: dict[str, str], said: str) -> None:
    with pytest.raises(ProtocolInvalid) as caught:
        parse(text(**plan).encode())
    assert said in str(caught.value)


def test_a_relabel_of_another_pool_is_refused() -> None:
    with pytest.raises(ProtocolInvalid) as caught:
        parse(
            text(**RELABEL).replace("faces: {pool: teste, fraction", "faces: {pool: dev, fraction").encode()
        )
    assert "draws cases of `dev`" in str(caught.value)
