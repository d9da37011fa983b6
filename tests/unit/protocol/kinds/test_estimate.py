"""The plan of an estimate: what it may say, what it reads, and what is refused at registration."""

import pytest

from lacre.errors import ProtocolInvalid
from lacre.protocol.document import parse
from lacre.protocol.kinds.estimate import EstimatePlan

HEAD = """
lacre: 1
study: counting
title: Counting
question: How many?
language: en
data: {identifiable: false, prior_exposure: none}
tables:
  cases:
    key: id
    columns:
      id: {type: text}
      y: {type: number}
      x: {type: number}
      hit: {type: outcome, positive: "1", negative: "0"}
      kind: {type: category, values: [a, b]}
      size: {type: number, bins: {small: [0, 10], large: [10, null]}}
      guess: {type: number, from: submission}
      pi: {type: number, is: inclusion_probability}
      pw: {type: number, is: weight}
      n: {type: number}
  pairs:
    key: [one, two]
    columns: {one: {type: text}, two: {type: text}, both: {type: number}}
  others:
    key: id
    columns: {id: {type: text}, kind: {type: category, values: [a, b]}}
pools:
  teste: {tables: [cases, pairs]}
  dev: {tables: [others]}
  contraste: {tables: [cases]}
sampling:
  cases: {pool: teste, strata: kind, sizes: {a: 5, b: 5}, seed: 1}
  others: {pool: dev, strata: kind, sizes: {a: 5, b: 5}, seed: 1}
analyses:
"""
SIZED = "{column: pw, strata: kind, population: {a: 40, b: 60}}"
JOINT = "{column: pi, joint: {table: pairs, of: [one, two], column: both}}"


def text(**changes: str) -> str:
    plan = {
        "kind": "estimate", "pool": "teste", "table": "cases", "of": "mean", "value": "y", "weights": SIZED, **changes,
    }  # fmt: skip
    return HEAD + "  est:\n" + "".join(f"    {key}: {value}\n" for key, value in plan.items())


def plan_of(**changes: str) -> EstimatePlan:
    plan = parse(text(**changes).encode()).analyses["est"]
    assert isinstance(plan, EstimatePlan)
    return plan


def test_it_answers_what_every_plan_answers() -> None:
    plan = plan_of(of="ratio", over="x", by="[[kind, size]]")
    assert plan.columns() == {"y", "x", "pw", "kind", "size"}
    assert plan.labels() == {"y", "x", "kind", "size"}
    assert plan.reads() == {"cases": plan.columns()}
    assert not plan.compares_groups()
    joint = plan_of(weights=JOINT)
    assert joint.reads() == {"cases": {"y", "pi"}, "pairs": {"one", "two", "both"}}


def test_defaults() -> None:
    """The defaults of format 1: the issue of a change here is that registered hashes change."""
    plan = plan_of(criteria="[{id: c, metric: mean, min: 3}]")
    assert (plan.confidence, plan.by, plan.requires_manual_review, plan.over) == (0.95, [], False, None)
    assert (plan.criteria[0].max_left_out, plan.criteria[0].requires_manual_review) == (0.10, False)


@pytest.mark.parametrize(
    "weights",
    [
        "{column: pi, draw: cases}",
        "{column: pw, fpc: n}",
        "{column: pw, strata: kind, fpc: n}",
        "{column: pw, strata: size, population: {small: 3, large: 4}}",
        JOINT,
    ],
)
def test_designs(weights: str) -> None:
    plan_of(weights=weights)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"weights": "{column: pw}"}, "there is no interval"),
        ({"weights": "{column: pw, strata: kind}"}, "there is no interval"),
        ({"weights": "{column: pi, draw: cases, fpc: n}"}, "exactly one"),
        ({"weights": "{column: pw, population: {a: 40, b: 60}}"}, "needs `strata`"),
        ({"weights": "{column: pi, draw: cases, strata: kind}"}, "goes with"),
        ({"weights": "{column: pw, strata: kind, population: {a: 40}}"}, "says nothing of `b`"),
        ({"weights": "{column: pw, strata: kind, population: {a: 1, b: 1, c: 1}}"}, "`c` is not among"),
        ({"weights": "{column: pw, strata: y, population: {a: 1}}"}, "strata come from"),
        ({"weights": "{column: n, fpc: n}"}, "is: inclusion_probability"),
        ({"weights": "{column: pw, fpc: kind}"}, "must be one of `number`"),
        ({"weights": "{column: guess, fpc: n}"}, "comes from the submission"),
        ({"weights": "{column: pi, draw: others}"}, "another table"),
        ({"weights": "{column: pi, draw: nobody}"}, "not declared"),
        ({"weights": JOINT.replace("pairs", "others")}, "not among the tables of `teste`"),
        ({"weights": JOINT.replace("both", "one")}, "must be one of `number`"),
        ({"weights": JOINT.replace("[one, two]", "[one, both]")}, "`both` is of type"),
        ({"of": "ratio"}, "go together"),
        ({"over": "x"}, "go together"),
        ({"of": "median"}, "median"),
        ({"value": "kind"}, "must be one of"),
        ({"of": "ratio", "value": "hit", "over": "x"}, "must be one of `number`"),
        ({"by": "[[y]]"}, "strata come from"),
        ({"criteria": "[{id: c, metric: total, min: 3}]"}, "not what is estimated"),
        ({"criteria": "[{id: c, metric: mean}]"}, "exactly one bound"),
        ({"criteria": "[{id: c, metric: mean, min: 1, max: 2}]"}, "exactly one bound"),
        (
            {"criteria": "[{id: c, metric: mean, min: 1}, {id: c, metric: mean, max: 2}]"},
            "another criterion's",
        ),
    ],
)
def test_refused(changes: dict[str, str], said: str) -> None:
    with pytest.raises(ProtocolInvalid) as caught:
        parse(text(**changes).encode())
    assert said in str(caught.value)


def test_pairs_know_no_clusters_and_one_key() -> None:
    for broken, said in (
        ("key: [id, kind]", "whose key is one column"),
        ("key: id\n    cluster: kind", "clusters"),
    ):
        with pytest.raises(ProtocolInvalid) as caught:
            parse(text(weights=JOINT).replace("key: id", broken, 1).encode())
        assert said in str(caught.value)
