"""What a registered criterion is said to ask, beside what its result says it asked."""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from lacre.analyses import analyse
from lacre.analyses.given import Drawn, Given
from lacre.protocol.document import parse
from lacre.protocol.models import Protocol
from lacre.report import asked, told
from lacre.tables.formats import Format
from lacre.tables.join import join_submission
from lacre.tables.read import read_table

COLUMNS: Mapping[str, Any] = {
    "id": {"type": "text"},
    "variant": {"type": "category", "values": ["original", "half"]},
    "sex": {"type": "category", "values": ["f", "m"]},
    "y": {"type": "outcome", "positive": "1", "negative": "0"},
    "again": {"type": "outcome", "positive": "1", "negative": "0"},
    "weight": {"type": "number", "unit": "g", "min": 0},
    "other": {"type": "number", "min": 0},
    "debt": {"type": "number", "unit": "R$"},
    "pi": {"type": "number", "is": "inclusion_probability"},
    "yhat": {"type": "outcome", "positive": "1", "negative": "0", "from": "submission"},
    "score": {"type": "number", "unit": "cos", "from": "submission"},
}
EVENT = {"column": "yhat", "blank": "left_out"}
PLANS: Mapping[str, tuple[Mapping[str, Any], list[Mapping[str, Any]]]] = {
    "gate": (
        {"kind": "group_fairness", "label": "y", "prediction": "yhat", "attributes": ["sex"]},
        [{"metric": "error", "by": ["sex"], "max_group_gap": 0.05},
         {"metric": "selection", "by": ["sex"], "worst_group": {"min": 0.2}}],
    ),
    "recall": (
        {"kind": "recall", "detected": EVENT, "by": [["sex"]]},
        [{"metric": "recall", "by": ["sex"], "worst_group": {"min": 0.8}}, {"metric": "recall", "max": 0.995},
         {"metric": "difference", "systems": ["a", "b"], "min": 0}],
    ),
    "failure": (
        {"kind": "protective_failure", "person": "y", "found": EVENT},
        [{"metric": "protective_failure", "max": 0.05}],
    ),
    "pairs": (
        {"kind": "paired_variants", "pair_on": "id", "baseline": "original", "detected": EVENT},
        [{"metric": "difference", "variant": "half", "min": -0.05},
         {"metric": "difference", "systems": ["a", "b"], "max": 0.1}],
    ),
    "compare": (
        {"kind": "verification", "score": "score", "same": "y", "group": "sex", "direction": "distance",
         "threshold": "at"},
        [{"metric": "false_match", "by": "sex", "max_group_ratio": {"form": "max_gm", "max": 3}},
         {"metric": "threshold_distance", "target": {"false_non_match": 0.01}, "max": 0.05},
         {"metric": "false_match", "max": 0.01},
         {"metric": "false_non_match", "by": "sex", "worst_group": {"max": 0.1}}],
    ),
    "self": (
        {"kind": "self_agreement", "passes": ["y", "again"]},
        [{"metric": "raw_agreement", "min": 0.8}, {"metric": "kappa", "min": 0.6}],
    ),
    "judge": (
        {"kind": "judge_agreement", "systems": "a", "weights": "none", "bootstrap": {"resamples": 1000, "seed": 1},
         "dimensions": {"d": {"human": "y", "judge": "yhat"}}},
        [{"metric": "kappa", "dimension": "d", "min": 0.6},
         {"metric": "kappa", "dimension": "d", "min": "2/3", "decide_on": "point"}],
    ),
    "mean": ({"kind": "estimate", "of": "mean", "value": "weight"}, [{"metric": "mean", "min": 80}]),
    "share": ({"kind": "estimate", "of": "mean", "value": "y"}, [{"metric": "mean", "max": 0.3}]),
    "total": ({"kind": "estimate", "of": "total", "value": "debt"}, [{"metric": "total", "max": 1e6}]),
    "ratio": ({"kind": "estimate", "of": "ratio", "value": "weight", "over": "other"}, [{"metric": "ratio", "max": 2}]),
    "signed": ({"kind": "estimate", "of": "ratio", "value": "debt", "over": "other"}, [{"metric": "ratio", "max": 2}]),
}  # fmt: skip


def protocol_of(name: str) -> Protocol:
    plan, criteria = PLANS[name]
    weights = {"column": "pi", "strata": "sex", "population": {"f": 9, "m": 9}}
    estimate = plan["kind"] == "estimate"
    more = {"weights": weights} if estimate else {}
    listed = [{"id": str(place), **each} for place, each in enumerate(criteria)]
    columns = {each: column for each, column in COLUMNS.items() if estimate or each != "pi"}
    document = {
        "lacre": 1, "study": "s", "title": "T", "question": "Q?", "language": "en",
        "data": {"identifiable": False, "prior_exposure": "none"},
        "systems": {each: {"version": "1", "digest": f"sha256:{'a' * 64}"} for each in "ab"},
        "tables": {"t": {"key": ["id", "variant"], "columns": columns}},
        "pools": {"teste": {"tables": ["t"]}},
        "thresholds": {"at": {"fixed": 0.5}},
        "analyses": {name: {"pool": "teste", "table": "t", "criteria": listed, **plan, **more}},
    }  # fmt: skip
    return parse(json.dumps(document).encode())


@pytest.mark.parametrize("name", PLANS)
def test_it_is_told_as_in_the_result(name: str) -> None:
    """Of an analysis without a single case, which still has every criterion."""
    protocol = protocol_of(name)
    raw = (",".join(COLUMNS) + "\n" + "c,original," + "," * (len(COLUMNS) - 3) + "\n").encode()
    declared = protocol.tables["t"]
    own = read_table(raw, declared, "t", Format.CSV, only="pool")
    one = join_submission(own, read_table(raw, declared, "t", Format.CSV, only="submission"))
    table = one.select(np.zeros(1, np.bool_))
    drawn = {"t": Drawn({"f": 9, "m": 9}, {"f": 1, "m": 1}, 1)}
    result = analyse(name, Given(protocol, {(each, "t"): table for each in ("a", "b")}, draws=drawn))
    plan = protocol.analyses[name]
    said = {rule.id: asked.rule(protocol, plan, rule) for rule in plan.criteria}  # type: ignore[attr-defined]
    assert len(said) == len(PLANS[name][1])
    assert {each.id: told.rule(each.as_json()) for each in result.criteria} == said


def test_it_names_the_strata_of_a_difference() -> None:
    document = protocol_of("recall").model_dump(mode="json", by_alias=True, exclude_none=True)
    between = [{"sex": "f"}, {"sex": "m"}]
    document["analyses"]["recall"]["criteria"] = [
        {"id": "gap", "metric": "stratum_difference", "between": between, "min": -0.05}
    ]
    protocol = parse(json.dumps(document).encode())
    plan = protocol.analyses["recall"]
    (rule,) = plan.criteria  # type: ignore[attr-defined]
    said = asked.rule(protocol, plan, rule)
    assert said == "difference between strata: at least −5 points (f against m)"
