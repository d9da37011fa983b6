"""Estimates as an analysis: R's schools, the four units of a textbook, registered draws, and refusals to estimate."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.studies import HEAD, typed

from lacre.analyses import analyse
from lacre.analyses.estimate import Measure, NotEstimable
from lacre.analyses.given import Drawn, Given
from lacre.analyses.result import AnalysisResult
from lacre.analyses.verdict import State
from lacre.canonical import canonical_json
from lacre.protocol.document import parse
from lacre.protocol.models import Protocol
from lacre.tables.formats import Format
from lacre.tables.join import join_submission
from lacre.tables.read import read_table

COLUMNS = {
    "id": {"type": "text"},
    "site": {"type": "text"},
    "kind": {"type": "category", "values": ["a", "b"]},
    "sex": {"type": "category", "values": ["f", "m"]},
    "size": {"type": "number", "min": 0, "unit": "px"},
    "all": {"type": "number", "min": 0},
    "fpc": {"type": "number"},
    "hit": {"type": "outcome", "positive": "1", "negative": "0"},
    "pi": {"type": "number", "is": "inclusion_probability"},
    "pw": {"type": "number", "is": "weight"},
}
SIZED = {"column": "pw", "strata": "kind", "population": {"a": 40, "b": 60}}


def protocol_of(
    plan: Mapping[str, Any],
    columns: Mapping[str, Any] = COLUMNS,
    table: Mapping[str, Any] | None = None,
    tables: Mapping[str, Any] | None = None,
    **more: Any,
) -> Protocol:
    named = {"cases": {"key": "id", "columns": columns, **(table or {})}, **(tables or {})}
    document = {
        **HEAD,
        "tables": named,
        "pools": {"teste": {"tables": list(named)}},
        "analyses": {"est": {"kind": "estimate", "pool": "teste", "table": "cases", **plan}},
        **more,
    }
    return parse(json.dumps(document).encode())


def run(protocol: Protocol, rows: Sequence[Mapping[str, Any]], **given: Any) -> AnalysisResult:
    table = typed(protocol, rows)
    return analyse("est", replace(Given.of_one(protocol, "cases", table), **given), [""])


def sample(a: Sequence[float], b: Sequence[float], **more: Any) -> list[dict[str, Any]]:
    """Cases of two strata that hold 40 and 60, of these sizes; an event where the size is 1."""
    return [
        {"kind": kind, "size": size, "hit": int(size == 1), "pw": of / len(sizes), "fpc": of, **more}
        for kind, sizes, of in (("a", a, 40), ("b", b, 60))
        for size in sizes
    ]


def reason(result: AnalysisResult, place: int = 0) -> str:
    answer = result.estimates[place]
    assert isinstance(answer, NotEstimable)
    return answer.reason.code


def measure(result: AnalysisResult, place: int = 0) -> Measure:
    answer = result.estimates[place]
    assert isinstance(answer, Measure)
    return answer


SCHOOLS = {
    "cds": {"type": "text"},
    "stype": {"type": "category", "values": ["E", "H", "M"]},
    "dnum": {"type": "text"},
    "api00": {"type": "number"},
    "enroll": {"type": "number", "min": 0},
    "api.stu": {"type": "number", "min": 0},
    "pw": {"type": "number", "is": "weight"},
    "fpc": {"type": "number"},
}
STRATIFIED = {"column": "pw", "strata": "stype", "fpc": "fpc"}
COUNTED = {"column": "pw", "strata": "stype", "population": {"E": 4421, "H": 755, "M": 1018}}


@pytest.mark.parametrize("weights", [STRATIFIED, COUNTED])
@pytest.mark.parametrize(
    ("plan", "value", "error"),
    [
        ({"of": "mean", "value": "api00"}, 662.287363, 9.408941),
        ({"of": "total", "value": "enroll"}, 3687177.53, 114641.716),
        ({"of": "ratio", "value": "api.stu", "over": "enroll"}, 0.836957, 0.007757),
    ],
)
def test_the_stratified_schools(
    data_dir: Path, weights: Mapping[str, Any], plan: Mapping[str, Any], value: float, error: float
) -> None:
    protocol = protocol_of({**plan, "weights": weights}, SCHOOLS, {"key": "cds"})
    raw = (data_dir / "6-sampling-relabel" / "api_apistrat.csv").read_bytes()
    table = read_table(raw, protocol.tables["cases"], "cases", Format.CSV, only="pool")
    result = analyse("est", Given.of_one(protocol, "cases", table), [""])
    found = measure(result)
    assert found.value == pytest.approx(value, rel=1e-6)
    half = 1.972079 * error  # Student's t at .975 of 197
    assert (found.low, found.high) == pytest.approx((value - half, value + half), rel=2e-6)
    (row,) = result.tables["estimates"]
    assert row["standard_error"] == pytest.approx(error, rel=1e-4)
    assert (row["cases"], row["units"], row["freedom"]) == (200, 200, 197)
    assert [
        [each[key] for key in ("stratum", "population", "drawn")] for each in result.tables["design"]
    ] == [
        ["E", 4421, 100],
        ["H", 755, 50],
        ["M", 1018, 50],
    ]


def test_the_schools_by_district(data_dir: Path) -> None:
    """15 districts, one cluster each: 644.17 (23.542) as R has it, with 14 degrees of freedom."""
    plan = {"of": "mean", "value": "api00", "weights": {"column": "pw", "fpc": "fpc"}}
    protocol = protocol_of(plan, SCHOOLS, {"key": "cds", "cluster": "dnum"})
    raw = (data_dir / "6-sampling-relabel" / "api_apiclus1.csv").read_bytes()
    table = read_table(raw, protocol.tables["cases"], "cases", Format.CSV, only="pool")
    result = analyse("est", Given.of_one(protocol, "cases", table), [""])
    found = measure(result)
    assert found.value == pytest.approx(644.1694, abs=5e-5)
    assert found.high - 644.1694 == pytest.approx(2.144787 * 23.542, abs=1e-2)
    assert found.method == "Hájek mean, stratified, by clusters, Student's t"
    assert result.tables["design"][0] == {
        "stratum": "", "population": 757, "drawn": 15, "respondents": 183, "units": "clusters",
    }  # fmt: skip
    assert [note.code for note in result.notes] == ["whole-clusters-assumed"]


def textbook(*rows: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Two of four units of sizes 1, 2, 3, 10, drawn one after the other by size: the cases and the pairs."""
    p, t = np.array([1, 2, 3, 10]) / 16, [11, 20, 24, 245]
    joint = p[:, None] * p / (1 - p)[:, None]
    joint = joint + joint.T
    own = joint.sum(axis=1) - np.diag(joint)
    cases = [{"id": f"u{i}", "size": t[i], "pi": repr(float(own[i]))} for i in rows]
    pairs = [
        {"id": f"p{i}{j}", "one": f"u{i}", "two": f"u{j}", "both": repr(float(joint[i, j]))}
        for i in range(4)
        for j in range(i)
    ]
    return cases, pairs


JOINT = {"column": "pi", "joint": {"table": "pairs", "of": ["one", "two"], "column": "both"}}
PAIRS = {
    "key": "id",
    "columns": {
        "id": {"type": "text"},
        "one": {"type": "text"},
        "two": {"type": "text"},
        "both": {"type": "number"},
    },
}


def of_pairs(
    cases: Sequence[Mapping[str, Any]], pairs: Sequence[Mapping[str, Any]], **plan: Any
) -> AnalysisResult:
    registered = {"of": "total", "value": "size", "weights": JOINT, **plan}
    protocol = protocol_of(registered, tables={"pairs": PAIRS})
    tables = {("", "cases"): typed(protocol, cases), ("", "pairs"): typed(protocol, pairs, "pairs")}
    return analyse("est", Given(protocol, tables), [""])


def test_the_textbook_of_unequal_probabilities() -> None:
    """{C, D} of section g: 316.67, with a Sen-Yates-Grundy variance of 3259.8 on one degree of freedom."""
    result = of_pairs(*textbook(2, 3))
    found = measure(result)
    assert found.value == pytest.approx(316.67, abs=0.005)
    half = 12.706205 * 3259.8**0.5
    assert (found.low, found.high) == pytest.approx((316.67 - half, 316.67 + half), abs=0.01)
    assert found.method == "Horvitz-Thompson total, Sen-Yates-Grundy, Student's t"
    assert "fixed-size-assumed" in {note.code for note in result.notes}


def test_joint_probabilities_that_are_absent_or_cannot_be() -> None:
    cases, pairs = textbook(2, 3)
    assert reason(of_pairs(cases, [each for each in pairs if each["id"] != "p32"])) == "pairs-missing"
    assert reason(of_pairs(cases, [{**each, "both": 0.99} for each in pairs])) == "bad-pairs"
    turned = [*pairs, {"id": "again", "one": "u2", "two": "u3", "both": 0.5}]
    assert reason(of_pairs(cases, turned)) == "bad-pairs"
    again = next(each for each in pairs if each["id"] == "p32")
    assert reason(of_pairs(cases, [{**again, "id": "again", "both": 0.5}, *pairs])) == "bad-pairs"
    same = [*pairs, {"id": "again", "one": "u2", "two": "u3", "both": again["both"]}]
    assert measure(of_pairs(cases, same)).value == pytest.approx(316.67, abs=0.005)


def test_a_negative_variance_is_reported() -> None:
    """p_12 = .4 above p_1 p_2 = .3: (.3 - .4)/.4 (10 - 2)^2 = -16."""
    cases = [{"id": "u1", "size": 5, "pi": 0.5}, {"id": "u2", "size": 1.2, "pi": 0.6}]
    result = of_pairs(cases, [{"id": "p", "one": "u1", "two": "u2", "both": 0.4}])
    answer = result.estimates[0]
    assert isinstance(answer, NotEstimable)
    assert answer.reason.code == "negative-variance"
    assert answer.reason.fields["variance"] == "-16"
    assert result.tables["estimates"][0]["standard_error"] is None


def test_criteria_are_decided_in_the_columns_unit() -> None:
    """Two strata by hand: means 3 and 6, so 4.8; V = .16 (1 - 5/40) 2.5/5 + .36 (1 - 5/60) 2.5/5 = .235."""
    rows = sample([1, 2, 3, 4, 5], [4, 5, 6, 7, 8])
    half = 2.306004 * 0.235**0.5  # 10 cases, 2 strata
    bounds = {"pass": 4.8 - half - 0.01, "open": 4.8, "fail": 4.8 + half + 0.01}
    criteria = [{"id": name, "metric": "mean", "min": bound} for name, bound in bounds.items()]
    criteria.append({"id": "ceiling", "metric": "mean", "max": 4.8 + half + 0.01})
    result = run(protocol_of({"of": "mean", "value": "size", "weights": SIZED, "criteria": criteria}), rows)
    found = measure(result)
    assert (found.low, found.high) == pytest.approx((4.8 - half, 4.8 + half))
    assert (found.scale, found.unit) == ("number", "px")
    states = [State.PASS, State.INSUFFICIENT_EVIDENCE, State.FAIL, State.PASS]
    assert [each.state for each in result.criteria] == states
    assert result.state == State.FAIL
    by_column = {"column": "pw", "strata": "kind", "fpc": "fpc"}
    again = run(
        protocol_of({"of": "mean", "value": "size", "weights": by_column, "criteria": criteria}), rows
    )
    assert again == result


def test_a_share_has_wilsons_interval_and_never_a_zero() -> None:
    """No event in 10 cases that stand for 8 and 12 each: their weight is that of 100/12 of the heaviest."""
    plan = {"of": "mean", "value": "hit", "weights": SIZED, "by": [["sex"]]}
    criteria = [{"id": "c", "metric": "mean", "max": 0.3}]
    result = run(protocol_of({**plan, "criteria": criteria}), sample([2] * 5, [3] * 5, sex="f"))
    found = measure(result)
    assert (found.scale, found.value, found.low) == ("share", 0, 0)
    assert found.zero_bound is not None
    assert found.zero_bound.rule_of_three == pytest.approx(3 / (100 / 12))
    assert found.high == pytest.approx(3.841459 / (100 / 12 + 3.841459), rel=1e-6)  # Wilson of none
    assert result.criteria[0].state == State.INSUFFICIENT_EVIDENCE
    women = measure(result, 1)
    assert women.group == (("sex", "f"),)
    assert (women.simultaneous, women.high > found.high) == (2, True)
    assert reason(result, 2) == "no-cases"
    varied = run(protocol_of(plan), sample([1, 2, 1, 2, 2], [1, 3, 3, 3, 3]))
    assert measure(varied).value == pytest.approx(0.4 * 0.4 + 0.6 * 0.2)
    assert measure(varied).method.endswith("wilson on effective sample size")


def test_a_domain_keeps_the_sample_it_is_of() -> None:
    """Values 3 and 5 of women among five of 40 in a; the design of all ten stays.

    Mean 4, w = 8, W = 16, t = -.5, .5, 0, 0, 0, V = (1 - 5/40) 5/4 .5 = .546875, 2 units less 1 stratum.
    """
    rows = sample([3, 5, 9, 9, 9], [7] * 5)
    for row in rows[:2]:
        row["sex"] = "f"
    plan = {"of": "mean", "value": "size", "weights": SIZED, "by": [["sex"]]}
    result = run(protocol_of(plan), rows)
    women = measure(result, 1)
    assert women.value == 4
    half = 25.4517 * 0.546875**0.5  # Student's t of one degree of freedom at 1 - .05/4
    assert women.high == pytest.approx(4 + half, rel=1e-5)
    assert {(each.reason, each.column, each.count) for each in result.left_out} == {("missing", "sex", 8)}


def test_cases_without_a_value_are_left_out_of_a_mean_and_no_total_can_miss_one() -> None:
    rows = [*sample([1, 2, 3, 4, 5], [4, 5, 6, 7, 8])]
    rows[0]["size"] = ""
    criterion = {"id": "c", "metric": "mean", "min": 0, "max_left_out": 0.05}
    result = run(
        protocol_of({"of": "mean", "value": "size", "weights": SIZED, "criteria": [criterion]}), rows
    )
    assert measure(result).cases == 9
    assert measure(result).value == pytest.approx((8 * 14 + 12 * 30) / (8 * 4 + 12 * 5))
    assert result.criteria[0].reason.code == "too-many-left-out"
    assert [each["respondents"] for each in result.tables["design"]] == [4, 5]
    assert [each["drawn"] for each in result.tables["design"]] == [5, 5]
    total = run(protocol_of({"of": "total", "value": "size", "weights": SIZED}), rows)
    assert reason(total) == "total-needs-all"


def test_the_excluded_are_no_cases_but_were_drawn() -> None:
    """What a registered condition drops is a domain left out: n_h stays 5, so it is no sample of 4."""
    rows = sample([1, 2, 3, 4, 500], [4, 5, 6, 7, 8])
    table = {"exclude": [{"column": "size", "outside": [0, 100]}]}
    result = run(protocol_of({"of": "total", "value": "size", "weights": SIZED}, table=table), rows)
    assert measure(result).value == 8 * 10 + 12 * 30
    assert result.rows == 9
    assert [(each.reason, each.count) for each in result.left_out] == [("excluded", 1)]
    values = np.array([1, 2, 3, 4, 0])
    spread = [8**2 * (1 - 5 / 40) * 5 * values.var(ddof=1), 12**2 * (1 - 5 / 60) * 5 * 2.5]
    assert result.tables["estimates"][0]["standard_error"] == pytest.approx(sum(spread) ** 0.5)


def test_designs_that_allow_nothing() -> None:
    plan = {"of": "mean", "value": "size", "weights": SIZED}
    good = sample([1, 2, 3], [4, 5, 6])
    assert isinstance(run(protocol_of(plan), good).estimates[0], Measure)
    assert reason(run(protocol_of(plan), good[2:])) == "lonely-stratum"
    assert reason(run(protocol_of(plan), good[:3])) == "unsampled-stratum"
    assert reason(run(protocol_of(plan), [{**good[0], "pw": 0.5}, *good[1:]])) == "bad-weights"
    assert reason(run(protocol_of(plan), [{**good[0], "kind": "z"}, *good[1:]])) == "no-stratum"
    few = {**plan, "weights": {**SIZED, "population": {"a": 2, "b": 60}}}
    assert reason(run(protocol_of(few), good)) == "short-stratum"
    sized = {**plan, "weights": {"column": "pw", "strata": "kind", "fpc": "fpc"}}
    assert reason(run(protocol_of(sized), [{**good[0], "fpc": 41}, *good[1:]])) == "sizes-differ"
    assert reason(run(protocol_of(plan), sample([3, 3, 3], [3, 3, 3]))) == "nothing-varies"
    assert reason(run(protocol_of(plan, table={"cluster": "site"}), good)) == "no-cluster"
    crossed = protocol_of(plan, table={"cluster": ["site", "sex"]})
    assert reason(run(crossed, good)) == "crossed-clusters"
    probability = {**plan, "weights": {**SIZED, "column": "pi"}}
    assert reason(run(protocol_of(probability), [{**row, "pi": 1.5} for row in good])) == "bad-weights"
    ratio = {"of": "ratio", "value": "size", "over": "all", "weights": SIZED}
    assert reason(run(protocol_of(ratio), [{**row, "all": 0} for row in good])) == "divided-by-nothing"
    failing = {**plan, "criteria": [{"id": "c", "metric": "mean", "min": 100}]}
    result = run(protocol_of(failing), good[2:])
    assert (result.criteria[0].state, result.criteria[0].value) == (State.INSUFFICIENT_EVIDENCE, None)
    assert result.criteria[0].reason.fields == {"stratum": "a"}


def test_a_ratio_of_what_is_never_negative_is_not_below_zero() -> None:
    """Three cases a stratum, far apart: Student's interval would reach below 0, and the columns cannot."""
    rows = sample([0, 0, 9], [0, 0, 9], all=2)
    found = measure(run(protocol_of({"of": "ratio", "value": "size", "over": "all", "weights": SIZED}), rows))
    assert (found.scale, found.value, found.low) == ("ratio", 1.5, 0)
    mean = measure(run(protocol_of({"of": "mean", "value": "size", "weights": SIZED}), rows))
    assert mean.low < 0
    signed = {**COLUMNS, "size": {"type": "number"}}
    plan = {"of": "ratio", "value": "size", "over": "all", "weights": SIZED}
    open_ = measure(run(protocol_of(plan, signed), rows))
    assert (open_.scale, open_.low < 0) == ("number", True)


def test_a_registered_draw() -> None:
    """The draw on record tells N_h, and every probability must be the one it gives; clusters count as well."""
    sampling = {"cases": {"pool": "teste", "strata": "kind", "sizes": {"a": 5, "b": 5}, "seed": 1}}
    plan = {"of": "mean", "value": "size", "weights": {"column": "pi", "draw": "cases"}}
    rows = [{**row, "pi": repr(1 / row["pw"])} for row in sample([1, 2, 3, 4, 5], [4, 5, 6, 7, 8])]
    protocol = protocol_of(plan, sampling=sampling)
    drawn = {"cases": Drawn({"a": 40, "b": 60}, {"a": 5, "b": 5}, 7)}
    assert reason(run(protocol, rows)) == "no-draw"
    result = run(protocol, rows, draws=drawn)
    assert (measure(result).value, measure(result).high) == pytest.approx((4.8, 4.8 + 2.306004 * 0.235**0.5))
    other = {"cases": Drawn({"a": 50, "b": 60}, {"a": 5, "b": 5}, 7)}
    assert reason(run(protocol, rows, draws=other)) == "weights-not-drawn"
    # Pairs of equal cases: five clusters in all, which is the wider.
    clustered = protocol_of(plan, sampling=sampling, table={"cluster": "site"})
    doubled = [{**row, "site": place % 5, "size": place % 5} for place, row in enumerate(rows)]
    wide = measure(run(clustered, doubled, draws=drawn))
    alone = measure(run(protocol, doubled, draws=drawn))
    assert wide.value == alone.value
    assert wide.high - wide.low > 1.4 * (alone.high - alone.low)


@pytest.mark.parametrize("absent", [0, 1, 2])
def test_a_draw_whose_cases_were_not_all_sealed(absent: int) -> None:
    """Of ten cases and one more a tenth is left out, of ten and two more too many; a total has none to lose."""
    sampling = {"cases": {"pool": "teste", "strata": "kind", "sizes": {"a": 5, "b": 5}, "seed": 1}}
    rows = [{**row, "pi": repr(1 / row["pw"])} for row in sample([1, 2, 3, 4, 5], [4, 5, 6, 7, 8])]
    draws = {"cases": Drawn({"a": 40, "b": 60}, {"a": 5, "b": 5}, 7, absent)}
    weights = {"column": "pi", "draw": "cases"}
    mean, total = (
        run(
            protocol_of(
                {
                    "of": of,
                    "value": "size",
                    "weights": weights,
                    "criteria": [{"id": "c", "metric": of, "max": 900}],
                },
                sampling=sampling,
            ),
            rows,
            draws=draws,
        )
        for of in ("mean", "total")
    )
    assert measure(mean).value == pytest.approx(4.8)
    assert (mean.rows, mean.criteria[0].state) == (
        10 + absent,
        "INSUFFICIENT_EVIDENCE" if absent == 2 else "PASS",
    )
    assert [each.count for each in mean.left_out if each.reason == "not-sealed"] == (
        [absent] if absent else []
    )
    if absent:
        assert reason(total) == "total-needs-all"
    else:
        assert measure(total).value == pytest.approx(480)


def test_each_system_has_its_estimate_and_a_share_of_the_error_rate() -> None:
    columns = {**COLUMNS, "size": {"type": "number", "from": "submission"}}
    systems = {"x": {"version": "1"}, "y": {"version": "1"}}
    protocol = protocol_of({"of": "mean", "value": "size", "weights": SIZED}, columns, systems=systems)
    tables = {}
    for system, add in (("x", 0), ("y", 1)):
        rows = sample([1 + add, 2, 3], [4, 5, 6])
        raw = "\n".join(
            [",".join(columns), *(",".join(str(row.get(c, f"c{i}" if c == "id" else "")) for c in columns)
                                  for i, row in enumerate(rows))]
        ).encode()  # fmt: skip
        declared = protocol.tables["cases"]
        pool, own = (
            read_table(raw, declared, "cases", Format.CSV, only=each) for each in ("pool", "submission")
        )
        tables[system, "cases"] = join_submission(pool, own)
    result = analyse("est", Given(protocol, tables, share=Fraction(1, 5)))
    assert [each.system for each in result.estimates] == ["x", "y"]
    assert measure(result, 1).value == pytest.approx(measure(result, 0).value + 0.4 / 3)  # type: ignore[operator]
    assert measure(result).confidence == pytest.approx(0.99)
    own_column = protocol_of({"of": "mean", "value": "all", "weights": SIZED}, systems=systems)
    rows = [{**row, "all": row["size"]} for row in sample([1, 2, 3], [4, 5, 6])]
    once = analyse("est", Given(own_column, {(name, "cases"): typed(own_column, rows) for name in systems}))
    assert [each.system for each in once.estimates] == [""]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "plan",
    [{"of": "mean"}, {"of": "total"}, {"of": "ratio", "over": "fpc"}, {"of": "ratio", "over": "size"}],
    ids=["mean", "total", "ratio", "ratio to itself"],
)
@pytest.mark.parametrize(
    "large", [("1e155", "-1e155"), ("1e200", "3e200"), ("1e308", "-1e308"), ("1.7e308", "1.6e308")]
)
def test_numbers_larger_than_a_float_holds_are_not_estimable(
    plan: Mapping[str, Any], large: Sequence[str]
) -> None:
    """The result can be stored: without the read is spent for nothing. The same, divided by itself, is 1."""
    columns = {**COLUMNS, "size": {"type": "number"}}
    least = {"id": "c", "metric": plan["of"], "max": 5}
    asked = {"value": "size", "weights": SIZED, "by": [["sex"]], "criteria": [least], **plan}
    rows = sample([large[0], large[1], large[1]], [large[0], large[1], large[0]], sex="m")  # type: ignore[list-item]
    result = run(protocol_of(asked, columns), rows)
    json.dumps(result.as_json(), allow_nan=False)
    canonical_json(result.as_json())
    criterion = result.criteria[0]
    assert criterion.state is State.INSUFFICIENT_EVIDENCE
    if plan.get("over") != "size" and (plan.get("over"), large[0]) != (
        "fpc",
        "1e155",
    ):  # of 1e153, it has one
        assert reason(result) == criterion.reason.code == "no-variance"
        assert (criterion.value, criterion.low, criterion.high) == (None, None, None)
        assert result.tables["estimates"][0]["standard_error"] is None


@pytest.mark.filterwarnings("error")
def test_a_population_too_large_to_be_written_down_is_told_as_endless() -> None:
    plan = {"of": "mean", "value": "size", "weights": {"column": "pw", "fpc": "fpc"}}
    result = run(protocol_of(plan), [{"size": size, "pw": 2, "fpc": "1e300"} for size in (1, 2, 4)])
    canonical_json(result.as_json())
    assert [row["population"] for row in result.tables["design"]] == [None]


def test_a_result_is_json_and_the_same_bytes_again() -> None:
    plan = {"of": "ratio", "value": "size", "over": "fpc", "weights": SIZED, "by": [["sex"]]}
    rows = sample([1, 2, 3], [4, 5, 6], sex="m")
    first, second = (json.dumps(run(protocol_of(plan), rows).as_json(), allow_nan=False) for _ in range(2))
    assert first == second


def test_the_simple_sample(data_dir: Path) -> None:
    """A single stratum: 656.585 (9.2497), as published."""
    plan = {"of": "mean", "value": "api00", "weights": {"column": "pw", "fpc": "fpc"}}
    protocol = protocol_of(plan, SCHOOLS, {"key": "cds"})
    file = pd.read_csv(data_dir / "6-sampling-relabel" / "api_apisrs.csv", dtype=str)
    raw = file.to_csv(index=False).encode()
    table = read_table(raw, protocol.tables["cases"], "cases", Format.CSV, only="pool")
    result = analyse("est", Given.of_one(protocol, "cases", table), [""])
    assert measure(result).value == pytest.approx(656.585)
    assert result.tables["estimates"][0]["standard_error"] == pytest.approx(9.2497, abs=5e-5)
