"""The plans of recall and protective failure: what they read, and what is refused before anything is seen."""

from collections.abc import Callable

import pytest

from lacre.protocol.document import parse
from lacre.protocol.kinds.protective_failure import ProtectiveFailurePlan
from lacre.protocol.kinds.recall import RecallPlan

HEAD = """
lacre: 1
study: faces
title: T
question: Q?
language: en
data: {identifiable: false, prior_exposure: none}
systems: {a: {version: "1"}, b: {version: "2"}}
tables:
  faces:
    key: face
    cluster: image
    columns:
      face: {type: text}
      image: {type: text}
      person: {type: outcome, positive: "1", negative: "0"}
      age: {type: ordinal, values: [child, adult], is: demographic}
      pose: {type: category, values: [front, side]}
      height: {type: number, min: 0, bins: {small: [0, 32], large: [32, null]}}
      width: {type: number}
      score: {type: number, from: submission}
      found: {type: outcome, positive: "1", negative: "0", from: submission}
pools:
  dev: {tables: [faces]}
  teste: {tables: [faces]}
  contraste: {tables: [faces], groups: age}
thresholds:
  detector: {calibrate_on: dev, table: faces, score: score, at: {recall: 0.95}}
analyses:
  it:
"""
WORST = "{id: c, metric: recall, by: [age, height], worst_group: {min: 0.8}, min_cell: 30}"
BETWEEN = "[{age: child, height: large}, {age: adult, height: large}]"


def recall(criteria: str = WORST, head: str = HEAD, **changes: str | None) -> str:
    plan = {
        "kind": "recall", "pool": "teste", "table": "faces", "by": "[[height], [age, height], [pose]]",
        "control": "height", "detected": "{score: score, threshold: detector, blank: not_detected}",
        "criteria": f"[{criteria}]", **changes,
    }  # fmt: skip
    return head + "".join(f"    {key}: {value}\n" for key, value in plan.items() if value)


def failure(criteria: str = "{id: c, metric: protective_failure, max: 0.05}", **changes: str | None) -> str:
    plan = {
        "kind": "protective_failure", "pool": "teste", "table": "faces", "person": "person",
        "found": "{column: found, blank: not_detected}", "criteria": f"[{criteria}]", **changes,
    }  # fmt: skip
    head = HEAD.replace("thresholds:\n", "").replace(
        "  detector: {calibrate_on: dev, table: faces, score: score, at: {recall: 0.95}}\n", ""
    )
    return head + "".join(f"    {key}: {value}\n" for key, value in plan.items() if value)


def test_recall_answers_what_every_plan_answers() -> None:
    plan = parse(recall().encode()).analyses["it"]
    assert isinstance(plan, RecallPlan)
    assert plan.columns() == {"score", "height", "age", "pose"}
    assert plan.labels() == {"height", "age", "pose"}
    assert plan.thresholds() == {"detector"}
    assert not plan.compares_groups()
    basis = plan.basis("detector")
    assert basis is not None
    assert (basis.truth, basis.targets) == (None, ("recall", "false_negative"))
    assert plan.basis("another") is None


def test_protective_failure_answers_what_every_plan_answers() -> None:
    plan = parse(failure().encode()).analyses["it"]
    assert isinstance(plan, ProtectiveFailurePlan)
    assert plan.columns() == {"person", "found"}
    assert plan.labels() == {"person"}
    assert plan.thresholds() == frozenset()


def test_only_differences_between_strata_compare_groups() -> None:
    rule = f"{{id: c, metric: stratum_difference, between: {BETWEEN}, min: -0.05}}"
    assert parse(recall(rule, pool="contraste").encode()).analyses["it"].compares_groups()


def test_defaults_are_those_of_the_format() -> None:
    """Frozen: a change of one would change the hash of every registered plan."""
    plan = parse(failure().encode()).analyses["it"].model_dump(mode="json", exclude_none=True)
    assert plan == {
        "kind": "protective_failure", "pool": "teste", "table": "faces", "by": [], "interval": "wilson",
        "confidence": 0.95, "requires_manual_review": False, "person": "person",
        "found": {"column": "found", "direction": "similarity", "blank": "not_detected"},
        "criteria": [{
            "id": "c", "metric": "protective_failure", "max": 0.05, "min_cell": 1, "max_left_out": 0.1,
            "requires_manual_review": False,
        }],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (recall(by="[[age]]", criteria="{id: c, metric: recall, min: 0.8}"),
         "by.0: `age` must be crossed with `height`: else a group"),
        (recall(control=None, by="[[age, pose]]", criteria="{id: c, metric: recall, min: 0.8}"),
         "by.0: `age` must be crossed with a scale, named by `control`"),
        (recall(by="[[width]]", criteria="{id: c, metric: recall, min: 0.8}"),
         "by.0.0: `width` is of type number; strata come from a category, an ordinal or a number with `bins`"),
        (recall(by="[[found]]", criteria="{id: c, metric: recall, min: 0.8}"),
         "by.0.0: `found` comes from the submission; groups are the pool's own"),
        (recall("{id: c, metric: recall, by: [pose, height], worst_group: {min: 0.8}}"),
         "criteria.c.by: `pose`, `height` together are not among `by`"),
        (recall("{id: c, metric: recall, by: [pose]}"), "criteria.c: needs `min` or `max`, or `by` with"),
        (recall("{id: c, metric: recall, min: 0.8, max: 0.9}"), "criteria.c: needs `min` or `max`, or `by` with"),
        (recall("{id: c, metric: recall, min: -0.5}"), "criteria.c.min: must be from 0 to 1, and is -0.5"),
        (recall("{id: c, metric: stratum_difference, between: [{age: child, height: large}, "
                "{age: adult, height: small}], min: -0.05}"),
         "criteria.c.between: compares two values of `height`, the control"),
        (recall("{id: c, metric: stratum_difference, between: [{age: child}, {age: adult}], min: -0.05}"),
         "criteria.c.between: `age` must be crossed with `height`"),
        (recall("{id: c, metric: stratum_difference, between: [{pose: front}, {pose: front}], min: 0}"),
         "criteria.c.between: must name two different strata"),
        (recall("{id: c, metric: stratum_difference, between: [{pose: front}, {pose: up}], min: 0}"),
         "criteria.c.between.1.pose: `up` is not a declared value of `pose`"),
        (recall("{id: c, metric: stratum_difference, between: [{pose: front}, {height: small}], min: 0}"),
         "criteria.c.between: must name values of the same columns twice"),
        (recall("{id: c, metric: difference, systems: [a, c], min: 0}"),
         "criteria.c.systems.1: `c` is not among the systems"),
        (recall("{id: c, metric: difference, min: 0}"), "criteria.c: needs `systems`, two of them"),
        (recall(detected="{column: person, blank: left_out}"), "detected.column: `person` must say `from:"),
        (recall(detected="{score: score, blank: left_out}"), "detected: needs `score` and `threshold` together"),
        (recall(detected="{blank: left_out}"), "detected: needs `column`, an outcome, or `score`"),
        (failure(person="found"), "person: `found` comes from the submission"),
        (failure(person="age"), "person: `age` is of type ordinal"),
        (failure("{id: c, metric: recall, max: 0.05}"), "criteria.c.metric: `recall` is none of those known here"),
        (recall(f"{WORST}, {WORST}"), "criteria.c.id: `c` is another criterion's id too"),
    ],
)  # fmt: skip
def test_what_contradicts_itself(problems: Callable[[str], list[str]], text: str, said: str) -> None:
    assert any(each.startswith(f"analyses.it.{said}") for each in problems(text)), problems(text)


def test_unequal_chances_are_not_answered_as_if_they_were_equal(
    problems: Callable[[str], list[str]],
) -> None:
    head = HEAD.replace(
        "      width: {type: number}\n", "      p: {type: number, is: inclusion_probability}\n"
    )
    (said,) = problems(recall(head=head))
    assert said.startswith("analyses.it: needs `weights`: `p` says that cases were drawn")


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        (
            "{false_match: 0.01}",
            "thresholds.detector.at: `false_match` cannot be told by the analyses that use it",
        ),
        ("{false_positive: 0.01}", "thresholds.detector.at: `false_positive` cannot be told"),
    ],
)
def test_a_threshold_is_set_at_what_its_analyses_can_tell(
    problems: Callable[[str], list[str]], rule: str, said: str
) -> None:
    (found,) = problems(recall(head=HEAD.replace("{recall: 0.95}", rule)))
    assert found.startswith(said)


def test_a_threshold_is_of_the_score_it_is_used_on(problems: Callable[[str], list[str]]) -> None:
    head = HEAD.replace("table: faces, score: score", "table: faces, score: other").replace(
        "      width: {type: number}\n", "      other: {type: number, from: submission}\n"
    )
    (found,) = problems(recall(head=head))
    assert found.startswith("analyses.it.detected.threshold: `detector` is calibrated on `other` of `faces`")
