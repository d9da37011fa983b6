"""The plan of a judge's calibration: what it reads, what it must freeze, and what may not be a bar."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.judging import COLUMNS, DIGEST, THIRDS, document_of, protocol_of

from lacre.analyses.feasibility import infeasible
from lacre.errors import ProtocolInvalid
from lacre.protocol.document import canonical, from_canonical, parse, value_of
from lacre.protocol.kinds.judge_agreement import JudgeAgreementPlan, labels_of

VECTORS = Path(__file__).resolve().parents[3] / "vectors" / "protocol"
BAR = {"id": "bar", "metric": "kappa", "dimension": "truth", "min": 0.6}
VALUES = [
    {"bin": "low", "values": ["D", "C"]},
    {"bin": "middle", "values": "B"},
    {"bin": "high", "values": ["A"]},
]
MARKS = {"type": "category", "values": ["A", "B", "C", "D"]}


def problems(document: Mapping[str, Any]) -> list[str]:
    with pytest.raises(ProtocolInvalid) as caught:
        parse(json.dumps(document).encode())
    lines: list[str] = caught.value.fields["problems"].splitlines()
    return [line.split(" ", 1)[1] for line in lines]


def of_plan(**plan: Any) -> list[str]:
    return problems(document_of(plan))


def with_columns(plan: Mapping[str, Any] | None = None, **columns: Any) -> dict[str, Any]:
    return document_of(plan, {"columns": {**COLUMNS, **columns}})


def test_it_answers_what_every_plan_answers() -> None:
    plan = protocol_of({"diagnostics_by": ["locale"], "criteria": [BAR]}).analyses["judge"]
    assert isinstance(plan, JudgeAgreementPlan)
    assert plan.columns() == {"human", "judge", "locale"}
    assert plan.labels() == {"human"}
    assert not plan.compares_groups()
    assert plan.criteria[0].decide_on == "low"
    assert plan.bar_of("truth") == 0.6
    assert plan.bar_of("lies") is None


def test_the_canonical_form_is_read_again_and_bins_of_values_keep_their_order() -> None:
    document = with_columns({"bins": {"human": "degree", "judge": "marks"}}, judge=MARKS)
    document["bins"]["marks"] = VALUES
    protocol = parse(json.dumps(document).encode())
    again = from_canonical(canonical(protocol))
    assert again == protocol
    assert [each["bin"] for each in value_of(again)["bins"]["marks"]] == ["low", "middle", "high"]
    plan = again.analyses["judge"]
    assert isinstance(plan, JudgeAgreementPlan)
    assert labels_of(plan, plan.dimensions["truth"], again) == ("low", "middle", "high")


def test_a_bar_on_a_group_is_refused_with_the_way_out() -> None:
    for key, value in (
        ("locale", "en"),
        ("by", ["locale"]),
        ("group", {"locale": "en"}),
        ("worst_group", {"min": 0.5}),
    ):
        (problem,) = of_plan(diagnostics_by=["locale"], criteria=[{**BAR, key: value}])
        assert problem.startswith(
            f"analyses.judge.criteria.bar.{key}: is on a group, and the pooled kappa alone may decide"
        )
        assert "register a study of its own" in problem


@pytest.mark.parametrize("metric", ["accuracy", "raw_agreement", "agreement", "ac1", "pabak", "f1"])
def test_a_share_of_agreement_is_no_bar(metric: str) -> None:
    (problem,) = of_plan(criteria=[{**BAR, "metric": metric}])
    assert f"criteria.bar.metric: `{metric}` cannot be a bar for a judge" in problem


def test_the_judge_is_one_and_frozen_by_its_digest() -> None:
    none = problems({**document_of(), "systems": {}})
    assert none[0].startswith("analyses.judge: is of one judge, and there are 0: declare it under `systems`")
    two = {name: {"version": "1", "digest": DIGEST} for name in ("a", "b")}
    assert "there are 2" in problems({**document_of(), "systems": two})[0]
    assert protocol_of({"systems": "b"}, systems=two).analyses["judge"].systems == ["b"]
    bare = problems({**document_of(), "systems": {"judge": {"version": "1"}}})
    assert bare[0].startswith("systems.judge: needs `digest`: the SHA-256 of the judge's model and prompt")


@pytest.mark.parametrize(
    ("plan", "problem"),
    [
        ({"dimensions": {}}, "analyses.judge.dimensions: must hold at least one"),
        (
            {"criteria": [{**BAR, "dimension": "lies"}]},
            "criteria.bar.dimension: `lies` is no dimension of this analysis",
        ),
        ({"criteria": [{**BAR, "min": 1.5}]}, "criteria.bar.min: must be from -1 to 1, and is 1.5"),
        ({"criteria": [BAR, BAR]}, "criteria.bar.id: `bar` is another criterion's id too"),
        (
            {"dimensions": {"truth": {"human": "human", "judge": "human"}}},
            "must be another column than the human's",
        ),
        ({"dimensions": {"truth": {"human": "human", "judge": "jugde"}}}, "did you mean `judge`?"),
        ({"bins": "degrees"}, "did you mean `degree`?"),
        ({"bins": None}, "dimensions.truth: `human` is a number without bins"),
        ({"weights": "cubic"}, "`cubic` is none of those known here"),
        ({"weights": {"costs": [[0, 1], [1, 0]]}}, "weights.costs: must have 3 rows of 3, one for each bin"),
        (
            {"weights": {"costs": [[0, 1, 2], [1, 1, 2], [1, 1, 0]]}},
            "weights.costs: must be 0 where both agree",
        ),
        (
            {"weights": {"costs": [[0] * 3] * 3}},
            "weights.costs: must have a cost above 0 for some disagreement",
        ),
        ({"bootstrap": None}, "analyses.judge.bootstrap: is missing"),
        (
            {"bootstrap": {"resamples": 999, "seed": 1}},
            "bootstrap.resamples: must be at least 1000, so that 25",
        ),
        ({"confidence": 0.99}, "bootstrap.resamples: must be at least 5000, so that 25"),
        ({"diagnostics_by": ["essay"]}, "`essay` is of type text; strata come from"),
        ({"strata": "human"}, "strata come from a category, an ordinal or a number with `bins`"),
        ({"target": 2}, "analyses.judge.target: must be from -1 to 1, and is 2"),
    ],
)
def test_what_contradicts_itself_in_a_plan(plan: Mapping[str, Any], problem: str) -> None:
    assert problem in of_plan(**plan)[0]


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        (lambda: with_columns(judge={"type": "text"}), "`judge` is of type text; it must be one of"),
        (lambda: with_columns(human={**COLUMNS["human"], "from": "submission"}), "it would judge itself"),
        (
            lambda: with_columns(judge={"type": "number", "min": 0, "max": 5}),
            "`judge` may lie outside the bins of `degree`",
        ),
        (
            lambda: with_columns(judge={"type": "number", "min": -1}),
            "`judge` may lie outside the bins of `degree`",
        ),
        (lambda: with_columns(judge=MARKS), "`degree` has edges, and `judge` is no number"),
        (
            lambda: with_columns({"bins": None}, human=MARKS, judge=MARKS),
            "the values of `human` have no order",
        ),
        (
            lambda: with_columns(
                {"bins": None},
                human={**MARKS, "type": "ordinal"},
                judge={"type": "ordinal", "values": ["D", "C", "B", "A"]},
            ),
            "both need the same bins in the same order",
        ),
        (
            lambda: {**document_of(), "bins": {"degree": {"all": [0, 1]}}},
            "makes 1 bins; agreement is told of 2 to 30",
        ),
        (
            lambda: {
                **document_of(),
                "bins": {"degree": {f"b{n:02}": [f"{n}/31", f"{n + 1}/31"] for n in range(31)}},
            },
            "makes 31 bins; agreement is told of 2 to 30",
        ),
        (
            lambda: {**with_columns(judge=MARKS), "bins": {"degree": VALUES[:2]}},
            "`degree` takes values together",
        ),
        (
            lambda: {**with_columns(human=MARKS, judge=MARKS), "bins": {"degree": VALUES[:2]}},
            "`degree` has no bin for `A` of `human`",
        ),
        (
            lambda: {
                **with_columns(human=MARKS, judge={**MARKS, "values": ["A", "B", "C"]}),
                "bins": {"degree": VALUES},
            },
            "`degree` holds `D`, which `judge` does not declare",
        ),
        (
            lambda: {**document_of(), "bins": {"degree": [VALUES[0], {"bin": "middle", "values": ["D"]}]}},
            "bins.degree.1.values: `D` is in `low` as well; a value lies in one bin",
        ),
        (
            lambda: {**document_of(), "bins": {"degree": [VALUES[0], {"bin": "low", "values": ["E"]}]}},
            "bins.degree.1.bin: `low` is another bin's name too",
        ),
        (lambda: {**document_of(), "bins": {"degree": []}}, "bins.degree: must hold at least one"),
        (lambda: with_columns(essay={"type": "number", "is": "weight"}), "drawn with unequal probabilities"),
    ],
)
def test_what_contradicts_itself_with_the_rest(
    document: Callable[[], Mapping[str, Any]], problem: str
) -> None:
    assert any(problem in each for each in problems(document()))


def test_bins_of_a_dimension_go_before_those_of_the_plan() -> None:
    dimension = {"human": "human", "judge": "judge", "bins": "halves"}
    protocol = protocol_of(
        {"dimensions": {"truth": dimension}},
        bins={"degree": THIRDS, "halves": {"bad": [0, 0.5], "good": [0.5, 1]}},
    )
    plan = protocol.analyses["judge"]
    assert isinstance(plan, JudgeAgreementPlan)
    assert labels_of(plan, plan.dimensions["truth"], protocol) == ("bad", "good")


# --- the canonical form, and the interface -----------------------------------------------------------------


def test_the_canonical_form_of_a_judge_says_every_default() -> None:
    """Written out by hand from the grammar; what is absent is left out, and crossings are lists of lists."""
    protocol = parse((VECTORS / "judge.yaml").read_bytes())
    common = {"kind": "judge_agreement", "pool": "corpus", "table": "texts", "bins": "degree"}
    defaults = {"confidence": 0.95, "requires_manual_review": False, "diagnostics_by": [["locale"]]}
    bar = {"metric": "kappa", "max_left_out": 0.1, "requires_manual_review": False}
    truth = {"human": "human", "judge": "judge"}
    assert value_of(protocol)["analyses"] == {
        "judge": {
            **common,
            **defaults,
            "weights": "linear",
            "dimensions": {
                "truth": truth,
                "style": {"human": "mark", "judge": "grade", "bins": {"human": "marks", "judge": "grades"}},
            },
            "target": 0.65,
            "bootstrap": {"resamples": 10000, "seed": 1},
            "max_undefined": 0.05,
            "criteria": [
                {**bar, "id": "truth", "dimension": "truth", "min": 0.6, "decide_on": "point"},
                {**bar, "id": "style", "dimension": "style", "min": "2/3", "decide_on": "low"},
            ],
        },
        "costly": {
            **common,
            **defaults,
            "weights": {"costs": [[0, 1], [2, 0]]},
            "dimensions": {"truth": truth},
            "strata": "locale",
            "bootstrap": {"resamples": 2000, "seed": 2},
            "max_undefined": 0.1,
            "criteria": [],
        },
    }
    assert value_of(protocol)["bins"] == {
        "degree": {"bad": [0, "1/3"], "good": ["1/3", 1]},
        "marks": [{"bin": "bad", "values": ["1", "2"]}, {"bin": "good", "values": ["3", "4"]}],
        "grades": [{"bin": "bad", "values": ["C"]}, {"bin": "good", "values": ["B", "A"]}],
    }


def test_the_interface_is_read_as_it_is(data_dir: Path, absent: Callable[[str, str], None]) -> None:
    """The interface: shared/protocols/calibracao-juiz.yaml, which stands beside the test data."""
    path = data_dir.parent / "protocols" / "calibracao-juiz.yaml"
    if not path.is_file():
        absent("the protocol", "protocols")
    protocol = parse(path.read_bytes(), path.name)
    plan = protocol.analyses["juiz"]
    assert isinstance(plan, JudgeAgreementPlan)
    assert labels_of(plan, plan.dimensions["fidelidade"], protocol) == ("infiel", "parcial", "solido")
    assert plan.diagnostics_by == [["locale"]]
    assert [rule.decide_on for rule in plan.criteria] == ["point", "point"]
    assert infeasible(protocol) == ()


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ("part: labels}\n      mark", "human: `human` must say `part: labels`: labels are committed before"),
        ("part: scores}\n      grade", "judge: `judge` must say `part: scores`"),
    ],
)
def test_of_an_open_pool_each_column_is_committed_in_its_part(change: str, problem: str) -> None:
    text = (VECTORS / "judge.yaml").read_text()
    _part, rest = change.split("}", 1)
    assert change in text
    with pytest.raises(ProtocolInvalid) as caught:
        parse(text.replace(change, "missing: []}" + rest).encode())
    assert problem in caught.value.fields["problems"]
