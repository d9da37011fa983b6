"""The plan of a group-fairness gate."""

from collections.abc import Callable
from fractions import Fraction

import pytest

from lacre.errors import FewerThanTwoGroups, LawError, ProtocolInvalid
from lacre.protocol.document import parse
from lacre.protocol.kinds import KINDS
from lacre.protocol.kinds.group_fairness import GroupFairnessPlan

HEAD = """
lacre: 1
study: gate
title: A gate
question: Equal?
language: en
data: {identifiable: false, prior_exposure: none}
systems: {a: {version: "1"}, b: {version: "2"}}
tables:
  cases:
    key: id
    columns:
      id: {type: text}
      y: {type: outcome, positive: "1", negative: "0"}
      old: {type: outcome, positive: "1", negative: "0"}
      yhat: {type: outcome, positive: "1", negative: "0", from: submission}
      p: {type: number, min: 0, max: 1, from: submission}
      q: {type: number, from: submission}
      sex: {type: category, values: [f, m]}
      age: {type: ordinal, values: [a, b, c]}
      one: {type: category, values: [all]}
      guess: {type: category, values: [f, m], from: submission}
      wide: {type: ordinal, values: [WIDE]}
      broad: {type: ordinal, values: [WIDE]}
pools:
  dev: {tables: cases}
  teste: {tables: cases}
  contraste: {tables: cases}
  guarda: {tables: cases, max_reads: 2}
  corpus: {tables: cases, open: made up}
analyses:
""".replace("WIDE", ", ".join(f"v{n}" for n in range(101)))


def gate(criteria: str = "{id: c, metric: error, by: sex, max_group_gap: 0.05}", **changes: str) -> str:
    plan = {
        "kind": "group_fairness", "pool": "teste", "table": "cases", "label": "y", "prediction": "yhat",
        "attributes": "[sex, age]", "intersections": "[[sex, age]]", "criteria": f"[{criteria}]", **changes,
    }  # fmt: skip
    return HEAD + "  gate:\n" + "".join(f"    {key}: {value}\n" for key, value in plan.items() if value)


def plan_of(text: str) -> GroupFairnessPlan:
    plan = parse(text.encode()).analyses["gate"]
    assert isinstance(plan, GroupFairnessPlan)
    return plan


def test_it_answers_what_every_plan_answers() -> None:
    plan = plan_of(gate(probability="p", calibration_bins="10"))
    assert plan.columns() == {"y", "yhat", "p", "sex", "age"}
    assert plan.thresholds() == frozenset()
    assert plan.compares_groups()


def test_defaults() -> None:
    """The defaults of format 1: the issue of a change here is that registered hashes change."""
    plan = plan_of(gate())
    criterion = plan.criteria[0]
    assert (plan.confidence, plan.min_cell, plan.calibration_bins, plan.systems) == (0.95, 30, None, None)
    assert (plan.probability, plan.assume, plan.requires_manual_review) == (None, None, False)
    assert (criterion.max_left_out, criterion.requires_manual_review, criterion.worst_group) == (
        0.10,
        False,
        None,
    )


def test_a_bound_for_the_worst_group_compares_no_groups() -> None:
    """Law 9: contraste answers only comparisons between groups, so one criterion that is none is one "
    "too many."""
    bound = "{id: d, metric: error, by: sex, worst_group: {max: 0.2}}"
    assert not plan_of(gate(bound)).compares_groups()
    assert not plan_of(
        gate(f"{{id: c, metric: error, by: sex, max_group_gap: 0.05}}, {bound}")
    ).compares_groups()


def test_fractions_are_exact() -> None:
    plan = plan_of(gate('{id: c, metric: error, by: sex, max_group_gap: "1/20"}', confidence='"19/20"'))
    assert plan.criteria[0].max_group_gap == Fraction(1, 20)
    assert plan.confidence == Fraction(19, 20)


@pytest.mark.parametrize("pool", ["dev", "teste", "contraste"])
def test_pools_it_answers_from(pool: str) -> None:
    assert plan_of(gate(pool=pool)).pool == pool


@pytest.mark.parametrize("by", ["[age, sex]", "[sex, age]"])
def test_the_order_of_a_crossing_is_free(by: str) -> None:
    plan_of(gate(f"{{id: c, metric: error, by: {by}, max_group_gap: 0.05}}"))


ERROR = "{id: c, metric: error, by: sex, max_group_gap: 0.05}"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (gate(label="sex"), "label: `sex` is of type category; it must be an outcome"),
        (gate(label="yhat"), "prediction: must be another column than `label`"),
        (gate(label="yhat"), "label: comes from the submission: it would judge itself"),
        (gate(prediction="p"), "prediction: `p` is of type number; it must be an outcome"),
        (
            gate(prediction="old"),
            "prediction: must say `from: submission`, or the systems compared would all predict the same",
        ),
        (gate(probability="sex"), "probability: `sex` is of type category; it must be a number"),
        (gate(probability="q"), "probability: `q` must be declared with `min: 0, max: 1`"),
        (gate(calibration_bins="10"), "calibration_bins: needs `probability`, the column to be calibrated"),
        (gate(calibration_bins="0", probability="p"), "calibration_bins: must be 1 or more"),
        (
            gate(attributes="[sex, age, p]"),
            "attributes.2: `p` is of type number; groups come from a category or an ordinal",
        ),
        (
            gate(attributes="[sex, age, guess]"),
            "attributes.2: `guess` comes from the submission; groups are the pool's own",
        ),
        (gate(attributes="[sex, age, sex]"), "attributes.2: holds `sex` twice"),
        (gate(attributes="[]"), "attributes: must hold at least one"),
        (gate(intersections="[[sex, one]]"), "intersections.0.1: `one` is not among the attributes"),
        (gate(intersections="[[sex]]"), "intersections.0: must hold at least 2, and holds 1"),
        (gate(intersections="[[sex, age], [age, sex]]"), "intersections.1: stands here twice"),
        (gate(intersections="[[sex, sex]]"), "intersections.0.1: holds `sex` twice"),
        (gate(confidence="0.05"), "confidence: must lie between 0.5 and 1, and is 0.05"),
        (gate(confidence="1"), "confidence: must lie between 0.5 and 1, and is 1"),
        (gate(min_cell="0"), "min_cell: must be 1 or more"),
        (gate(systems="[a, c]"), "systems.1: `c` is not declared under systems, which has `a`, `b`"),
        (gate(systems="[]"), "systems: must hold at least one"),
        (
            gate(assume="{label: 0.4, false_negative: 0.5, error: 0.1}"),
            (
                "assume.error: contradicts the other rates: error = label * false_negative + (1 - label) * "
                "false_positive"
            ),
        ),
        (
            gate(assume="{label: 0.4, false_negative: 0.1, false_positive: 0.2, error: 0.17}"),
            (
                "assume.error: contradicts the other rates: error = label * false_negative + (1 - label) * "
                "false_positive"
            ),
        ),
        (gate(criteria=""), "criteria: must hold at least one"),
        (gate(f"{ERROR}, {ERROR}"), "criteria.c.id: `c` is another criterion's id too"),
        (
            gate("{id: c, metric: error, by: one, max_group_gap: 0.05}"),
            "criteria.c.by: `one` is not among the attributes",
        ),
        (
            gate(ERROR.replace("by: sex", "by: [sex, age]"), intersections=""),
            "criteria.c.by: `sex`, `age` together are not among the intersections",
        ),
        (
            gate("{id: c, metric: error, by: sex}"),
            "criteria.c: needs exactly one rule: `max_group_gap` or `worst_group`",
        ),
        (
            gate("{id: c, metric: error, by: sex, max_group_gap: 0.1, worst_group: {max: 0.1}}"),
            "criteria.c: needs exactly one rule: `max_group_gap` or `worst_group`",
        ),
        (
            gate("{id: c, metric: error, by: sex, worst_group: {max: 0.1, min: 0.1}}"),
            "criteria.c.worst_group: needs exactly one bound: `max` or `min`",
        ),
        (
            gate("{id: c, metric: error, by: sex, worst_group: {}}"),
            "criteria.c.worst_group: needs exactly one bound: `max` or `min`",
        ),
        (gate("{metric: error, by: sex, max_group_gap: 0.1}"), "criteria.0.id: is missing"),
        (
            gate(
                ERROR.replace("by: sex", "by: [wide, broad]"),
                attributes="[wide, broad, sex]",
                intersections="[[wide, broad]]",
            ),
            "criteria.c.by: makes 10201 groups; at most 10000 can be told apart",
        ),
    ],
)
def test_what_contradicts_itself(problems: Callable[[str], list[str]], text: str, said: str) -> None:
    assert f"analyses.gate.{said}" in problems(text)


@pytest.mark.parametrize(
    "assume",
    [
        "{label: 0.4, false_negative: 0.10, error: 0.15}",
        "{label: 0.4, false_negative: 0.1, false_positive: 0.2, error: 0.16}",
        "{label: 0.4, error: 1}",
        "{error: 0.9, false_negative: 0.1}",
        "{}",
    ],
)
def test_rates_that_may_be_assumed(assume: str) -> None:
    assert plan_of(gate(assume=assume)).assume is not None


def test_one_system_may_be_judged_by_what_the_pool_holds() -> None:
    assert plan_of(gate(prediction="old", systems="a")).prediction == "old"


# --- law 9 -----------------------------------------------------------------------------------------------


ONE = "{id: c, metric: error, by: one, max_group_gap: 0.05}"


def test_law_9_a_difference_needs_two_declared_groups() -> None:
    with pytest.raises(FewerThanTwoGroups) as caught:
        parse(gate(ONE, attributes="[one]", intersections="").encode())
    assert isinstance(caught.value, LawError)
    assert caught.value.rule == 9
    assert caught.value.fields == {"where": "analyses.gate.criteria.c"}


def test_law_9_crossed_cells_count() -> None:
    crossed = "{id: c, metric: error, by: [one, sex], max_group_gap: 0.05}"
    plan_of(gate(crossed, attributes="[one, sex]", intersections="[[one, sex]]"))


def test_law_9_a_bound_needs_no_second_group() -> None:
    plan_of(
        gate("{id: c, metric: error, by: one, worst_group: {max: 0.2}}", attributes="[one]", intersections="")
    )


def test_law_9_is_listed_with_what_else_is_wrong() -> None:
    with pytest.raises(ProtocolInvalid) as caught:
        parse(gate(ONE, attributes="[one]", intersections="", label="z").encode())
    assert caught.value.fields["count"] == 2
    assert (
        "criteria.c: `one` has one declared group, and a difference needs two"
        in caught.value.fields["problems"]
    )


def test_the_table_of_kinds() -> None:
    """The kinds are those of the design."""
    built = "group_fairness recall protective_failure paired_variants verification self_agreement estimate"
    assert set(KINDS) == {*built.split(), "judge_agreement"}
