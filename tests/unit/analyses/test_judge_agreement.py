"""Human-vs-judge agreement as an analysis: decisions, diagnostics, paradoxes, edges, and what is not there."""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from tests.judging import COLUMNS, protocol_of, rows_of, run

from lacre.analyses.estimate import Estimate, Measure, NotEstimable, Withheld
from lacre.analyses.judge_cases import near_edges
from lacre.analyses.result import AnalysisResult
from lacre.analyses.verdict import State
from lacre.errors import OutsideBins
from lacre.stats.proportions import wilson

THREE = [[75, 1, 4], [5, 4, 1], [0, 0, 10]]  # kappa .722222 linear; raw .89
LOPSIDED = [[118, 5], [2, 0]]  # kappa -.02339, AC1 .94078, PABAK .888, marginals .984 and .96
MIDDLES = (0.1, 0.5, 0.9)
HALVES = {"bins": {"degree": {"bad": [0, 0.5], "good": [0.5, 1]}}}


def bar(least: Any, decide_on: str = "point", **more: Any) -> dict[str, Any]:
    criterion = {"id": "bar", "metric": "kappa", "dimension": "truth", "min": least, "decide_on": decide_on}
    return {"criteria": [{**criterion, **more}]}


def notes(result: AnalysisResult) -> dict[str, Mapping[str, Any]]:
    return {note.code: note.fields for note in result.notes}


def row(result: AnalysisResult, **group: str) -> Mapping[str, Any]:
    return next(each for each in result.tables["judge_agreement"] if each["group"] == group)


def test_all_that_kappa_is_read_with_stands_together() -> None:
    result = run(protocol_of(), rows_of(THREE, MIDDLES))
    raw, kappa, gwet, pabak = result.estimates
    assert isinstance(raw, Estimate)
    assert (raw.numerator, raw.denominator) == (89, 100)
    assert (raw.low, raw.high) == tuple(map(float, wilson(89, 100, 0.05)))
    assert isinstance(kappa, Measure)
    assert kappa.value == pytest.approx(0.722222, abs=5e-7)
    assert kappa.low < 0.722222 < kappa.high
    assert (kappa.cases, kappa.method, kappa.details) == (
        100,
        "bootstrap, percentile, 1000 resamples, seed 5",
        {"dimension": "truth"},
    )
    assert [each.metric for each in (raw, kappa, gwet, pabak)] == ["raw_agreement", "kappa", "ac2", "pabak"]
    (line,) = result.tables["judge_agreement"]
    assert line["bins"] == ["low", "middle", "high"]
    assert line["counts"] == THREE
    assert (line["human_marginal"], line["judge_marginal"]) == ([80, 10, 10], [80, 5, 15])
    assert line["bias_index"] == pytest.approx([0, 0.05, 0.05])
    assert (line["raw"], line["kappa"], line["kappa_low"]) == (raw.value, kappa.value, kappa.low)
    assert (line["pabak"], line["use"]) == (pytest.approx(0.835), "pooled")
    assert result.state is State.PASS  # nothing was asked
    assert "cases-independent" in notes(result)


def test_the_same_inputs_give_the_same_bytes() -> None:
    protocol, rows = protocol_of({"diagnostics_by": ["locale"]}), rows_of(THREE, MIDDLES, locale="en")
    first, second = (json.dumps(run(protocol, each).as_json()) for each in (rows, rows))
    assert first == second
    turned = [{**each, "id": f"c{place}"} for place, each in enumerate(rows)][::-1]
    assert json.dumps(run(protocol, turned).as_json()) == first  # the order of the cases is none of kappa's


@pytest.mark.parametrize(
    ("least", "decide_on", "state", "code"),
    [
        (0.72, "point", State.PASS, "point-kept"),
        (0.73, "point", State.FAIL, "point-broken"),
        # By the interval, of about .53 to .88
        (0.40, "low", State.PASS, "min-kept"),
        (0.72, "low", State.INSUFFICIENT_EVIDENCE, "undecided"),
        (0.95, "low", State.FAIL, "min-broken"),
    ],
)
def test_a_bar_is_met_by_the_point_or_by_the_interval(
    least: float, decide_on: str, state: State, code: str
) -> None:
    result = run(protocol_of(bar(least, decide_on)), rows_of(THREE, MIDDLES))
    (criterion,) = result.criteria
    assert (criterion.state, criterion.reason.code, result.state) == (state, code, state)
    assert criterion.details == {"dimension": "truth", "decide_on": decide_on}
    assert criterion.low is not None
    assert criterion.low < 0.72 < (criterion.high or 0)


def test_a_kappa_that_is_the_bar_meets_it() -> None:
    """3/24 disagree of the 1/4 that chance leaves: exactly 1/2, though doubles make it less (see `lacre.stats`)."""
    result = run(protocol_of(bar(0.5), **HALVES), rows_of([[2, 1], [2, 19]], (0.1, 0.9)))
    assert (result.state, result.criteria[0].value) == (State.PASS, 0.5)


def test_blanks_are_counted_under_their_first_reason() -> None:
    rows = [*rows_of(THREE, MIDDLES), {"judge": 0.5}, {"human": 0.5}, {}, {"human": 0.5}]
    result = run(protocol_of(bar(0.6, max_left_out=0.03)), rows)
    (criterion,) = result.criteria
    assert {(each.reason, each.column): each.count for each in criterion.left_out} == {
        ("missing", "human"): 2,
        ("missing", "judge"): 2,
    }
    assert (criterion.state, criterion.reason.code) == (State.INSUFFICIENT_EVIDENCE, "too-many-left-out")
    assert run(protocol_of(bar(0.6, max_left_out=0.04)), rows).state is State.PASS
    assert result.rows == 104
    assert row(result)["n"] == 100


def test_groups_are_diagnostics_and_decide_nothing() -> None:
    """pt has three cases, of whose resamples 2 in 27 use one bin alone; es has none; and the bar is on all of them."""
    rows = [
        *rows_of(THREE, MIDDLES, locale="en"),
        *rows_of([[1, 1], [0, 1]], MIDDLES, locale="pt"),
        {"human": 0.1, "judge": 0.1, "locale": "xx"},
        {"human": 0.1, "judge": 0.1},
    ]
    result = run(protocol_of({**bar(0.6), "diagnostics_by": ["locale"]}), rows)
    assert result.state is State.PASS
    grouped = [each for each in result.estimates if each.group]
    assert {each.details["use"] for each in grouped} == {"diagnostic"}
    assert {line["use"] for line in result.tables["judge_agreement"] if line["group"]} == {"diagnostic"}
    assert row(result, locale="en")["kappa"] == pytest.approx(0.722222, abs=5e-7)
    few = row(result, locale="pt")
    assert (few["n"], few["agree"], few["kappa"]) == (3, 2, None)
    assert few["kappa_note"]["code"] == "kappa-resamples-undefined"
    assert few["raw_low"] < 2 / 3 < few["raw_high"] < 1
    absent = [each for each in grouped if each.group == (("locale", "es"),)]
    assert all(isinstance(each, NotEstimable) and each.reason.code == "no-cases" for each in absent)
    assert row(result)["n"] == 105
    assert {(each.reason, each.column): each.count for each in result.left_out} == {
        ("undeclared", "locale"): 1,
        ("missing", "locale"): 1,
    }


def test_a_paradox_is_named_and_changes_no_verdict() -> None:
    """[118, 5; 2, 0]: kappa -.02 below .6, AC1 .94 above it, one bin with .984 and .96 of the marginals."""
    asked = {**bar(0.6), "weights": "none", "diagnostics_by": ["locale"]}
    result = run(protocol_of(asked, **HALVES), rows_of(LOPSIDED, (0.1, 0.9), locale="en"))
    assert result.state is State.FAIL
    assert notes(result)["paradox"] == {"dimension": "truth", "bin": "bad", "bar": 0.6}
    assert notes(result)["paradox-of-group"]["group"] == "en"
    assert row(result)["paradox"] == {"bin": "bad", "human": 123 / 125, "judge": 120 / 125, "bar": 0.6}
    line = row(result, locale="en")
    assert (line["gwet"], line["pabak"]) == (pytest.approx(0.94078, abs=6e-6), pytest.approx(0.888))
    assert line["prevalence_index"] == pytest.approx([0.944, 0.944])
    without = run(protocol_of({"weights": "none"}, **HALVES), rows_of(LOPSIDED, (0.1, 0.9)))
    assert row(without)["paradox"] is None  # there is no bar to fall below


def test_a_low_kappa_of_disagreement_is_no_paradox() -> None:
    """[25, 35; 5, 35]: kappa .26 and AC1 .27 (p_e = 2 x .45 x .55) are both below the bar."""
    result = run(
        protocol_of({**bar(0.6), "weights": "none"}, **HALVES), rows_of([[25, 35], [5, 35]], (0.1, 0.9))
    )
    assert result.state is State.FAIL
    assert row(result)["paradox"] is None
    assert "paradox" not in notes(result)


def test_the_target_is_told_and_decides_nothing() -> None:
    two = {
        "dimensions": {
            "truth": {"human": "human", "judge": "judge"},
            "same": {"human": "human", "judge": "twin"},
        },
        "target": 0.9,
    }
    table = {"columns": {**COLUMNS, "twin": COLUMNS["judge"]}}
    rows = [{**each, "twin": each["human"]} for each in rows_of(THREE, MIDDLES)]
    result = run(protocol_of({**bar(0.6), **two}, table), rows)
    assert result.state is State.PASS
    # The mean of .722222 and 1
    assert notes(result)["target-missed"] == {
        "mean": pytest.approx(0.861111, abs=5e-7),
        "target": 0.9,
        "count": 2,
    }
    assert "target-reached" in notes(run(protocol_of({**bar(0.6), **two, "target": 0.86}, table), rows))
    blank = [{**each, "twin": ""} for each in rows]
    assert notes(run(protocol_of({**bar(0.6), **two}, table), blank))["target-open"] == {"target": 0.9}


# --- what cannot be estimated


def test_one_bin_on_both_sides_leaves_raw_agreement_alone() -> None:
    result = run(protocol_of(bar(0.6)), rows_of([[60]], MIDDLES))
    raw, kappa, gwet, _pabak = result.estimates
    assert isinstance(raw, Estimate)
    assert (raw.numerator, raw.denominator) == (60, 60)
    assert isinstance(kappa, NotEstimable)
    assert kappa.reason.code == "kappa-one-bin"
    assert isinstance(gwet, Measure)
    assert gwet.note is not None
    assert gwet.note.code == "resamples-alike"
    (criterion,) = result.criteria
    assert (criterion.state, criterion.reason.code) == (State.INSUFFICIENT_EVIDENCE, "kappa-one-bin")
    assert row(result)["counts"] == [[60, 0, 0], [0, 0, 0], [0, 0, 0]]
    assert run(protocol_of(), rows_of([[60]], MIDDLES)).state is State.INSUFFICIENT_EVIDENCE


def test_a_judge_that_says_one_thing_fails() -> None:
    """Kappa is 0 whatever the human said, and its interval is not a point."""
    result = run(protocol_of(bar(0.6), **HALVES), rows_of([[50, 0], [40, 0]], (0.1, 0.9)))
    assert (result.state, result.criteria[0].value) == (State.FAIL, 0.0)
    assert result.criteria[0].low is not None
    assert result.criteria[0].low < 0


def test_no_case_at_all() -> None:
    result = run(protocol_of(bar(0.6)), [{"human": 0.5}])
    assert all(isinstance(each, NotEstimable) for each in result.estimates)
    assert result.state is State.INSUFFICIENT_EVIDENCE
    assert row(result)["prevalence_index"] is None


def test_clusters_are_resampled_whole_and_few_are_not_estimable() -> None:
    """Five copies of each case in an essay are worth no more than one: naive, the interval is about half as wide."""
    one = rows_of(THREE, MIDDLES)
    rows = [{**each, "essay": f"e{place}"} for place, each in enumerate(one) for _ in range(5)]
    clustered, naive, single = (
        run(protocol_of({}, table), cases).estimates[1]
        for table, cases in (({"cluster": "essay"}, rows), ({}, rows), ({}, one))
    )
    assert isinstance(clustered, Measure)
    assert isinstance(naive, Measure)
    assert isinstance(single, Measure)
    assert clustered.method == "cluster bootstrap, percentile, 1000 resamples, seed 5"
    width = clustered.high - clustered.low
    assert width == pytest.approx(single.high - single.low, rel=0.15)
    assert width > 1.7 * (naive.high - naive.low)
    few = [{**each, "essay": f"e{place % 19}"} for place, each in enumerate(one)]
    result = run(protocol_of(bar(0.6), {"cluster": "essay"}), few)
    assert result.criteria[0].reason.code == "too-few-clusters"
    lost = [{**each, "essay": ""} if place == 0 else each for place, each in enumerate(rows)]
    assert [
        (each.column, each.count)
        for each in run(protocol_of(bar(0.6), {"cluster": "essay"}), lost).criteria[0].left_out
    ] == [("essay", 1)]


def test_strata_that_tear_clusters_apart_give_no_interval() -> None:
    one = rows_of(THREE, MIDDLES)
    protocol = protocol_of({"strata": "locale"}, {"cluster": "essay"})
    whole = [{**each, "essay": place, "locale": ("en", "es")[place % 2]} for place, each in enumerate(one)]
    assert isinstance(run(protocol, whole).estimates[1], Measure)
    torn = run(protocol, [*whole, {"human": 0.1, "judge": 0.1, "essay": 0, "locale": "es"}]).estimates[1]
    assert isinstance(torn, NotEstimable)
    assert (torn.reason.code, torn.reason.fields) == ("clusters-cross-strata", {"count": 1})


# --- bins


def test_edges_are_closed_below_and_exact() -> None:
    """0.3333333333 is below 1/3, and so is the double nearest to it; 0.6666666667 is above 2/3."""
    values = [0, 0.3333333333, 1 / 3, 0.33333333333333337, 0.5, 0.6666666667, 1]
    result = run(protocol_of(), [{"human": value, "judge": value} for value in values])
    assert row(result)["counts"] == [[3, 0, 0], [0, 2, 0], [0, 0, 2]]
    assert [note.fields for note in result.notes if note.code == "near-edge"] == [
        {"column": "human", "count": 4},
        {"column": "judge", "count": 4},
    ]


def test_what_lies_on_an_edge_that_is_a_double_is_not_near_it() -> None:
    values = np.array([0.4, np.nextafter(0.4, 0), 0.4 + 1e-6 - 1e-12, 0.4 + 2e-6, np.nan])
    assert near_edges(values, {0.4}) == 2


def test_a_value_outside_all_bins_is_refused_and_counted() -> None:
    wide = {"columns": {**COLUMNS, "human": {"type": "number"}, "judge": {"type": "number"}}}
    rows = [*rows_of(THREE, MIDDLES), {"human": 0.5, "judge": 1.0000001}, {"human": 0.5, "judge": -1}]
    with pytest.raises(OutsideBins) as caught:
        run(protocol_of({}, wide), rows)
    assert caught.value.fields == {"table": "cases", "column": "judge", "dimension": "truth", "count": 2}
    assert "1.0000001" not in str(caught.value) + caught.value.way_out


def test_scales_are_mapped_by_declaration() -> None:
    """A human's 0 to 5 and a judge's A to D, by bins of one name and order; what is not declared is refused."""
    declared = {
        **COLUMNS,
        "human": {"type": "number"},
        "judge": {"type": "category", "values": ["A", "B", "C", "D"]},
    }
    bins = {
        "stars": {"low": [0, 2], "middle": [2, 4], "high": [4, 5]},
        "marks": [
            {"bin": "low", "values": ["D"]},
            {"bin": "middle", "values": ["C", "B"]},
            {"bin": "high", "values": "A"},
        ],
    }
    protocol = protocol_of({"bins": {"human": "stars", "judge": "marks"}}, {"columns": declared}, bins=bins)
    given = [(0, "D"), (1.9, "C"), (2, "B"), (3.9, "A"), (4, "A"), (5, "A"), (4.5, "D")]
    result = run(protocol, [{"human": stars, "judge": mark} for stars, mark in given])
    assert row(result)["counts"] == [[1, 1, 0], [0, 1, 1], [1, 0, 2]]
    with pytest.raises(OutsideBins):
        run(protocol, [{"human": 3, "judge": "E"}])


def test_columns_with_declared_values_need_no_bins() -> None:
    ordinal = {"type": "ordinal", "values": ["0", "40", "80"]}
    outcome = {"type": "outcome", "positive": "yes", "negative": "no"}
    table = {"columns": {**COLUMNS, "human": ordinal, "judge": ordinal}}
    result = run(protocol_of({"bins": None}, table), rows_of(THREE, ("0", "40", "80")))
    assert row(result)["kappa"] == pytest.approx(0.722222, abs=5e-7)
    table = {"columns": {**COLUMNS, "human": outcome, "judge": outcome}}
    result = run(
        protocol_of({"bins": None, "weights": "none"}, table), rows_of([[5, 5], [10, 80]], ("no", "yes"))
    )
    assert row(result)["bins"] == ["no", "yes"]
    assert row(result)["kappa"] == pytest.approx(0.31818, abs=5e-6)


def test_costs_of_ones_own() -> None:
    """Cohen 1968: .347826; Gwet's coefficient takes the weights 1 - cost/6."""
    costs = {"costs": [[0, 1, 3], [1, 0, 6], [3, 6, 0]]}
    rows = rows_of([[44, 7, 9], [5, 20, 5], [1, 3, 6]], MIDDLES)
    result = run(protocol_of({"weights": costs}), rows)
    assert row(result)["kappa"] == pytest.approx(0.347826, abs=5e-7)
    assert row(result)["gwet_name"] == "ac2"


# --- what is told of whom


def test_of_an_open_pool_nothing_is_withheld_unless_it_is_asked_for() -> None:
    """Its cases are published themselves; of a sealed one, identifiable, fewer than five are not told."""
    rows = [*rows_of(THREE, MIDDLES, locale="en"), *rows_of([[2, 0], [0, 2]], MIDDLES, locale="pt")]
    asked = {"diagnostics_by": ["locale"]}
    data = {"data": {"identifiable": True, "prior_exposure": "none"}}
    shut = run(protocol_of(asked, **data), rows)
    withheld = [each for each in shut.estimates if isinstance(each, Withheld)]
    assert {each.group for each in withheld} >= {(("locale", "pt"),)}
    assert row(shut)["counts"] == [[77, 1, 4], [5, 6, 1], [0, 0, 10]]
    # Less those of en these would be those of pt.
    assert not any("counts" in line and line["counts"] for line in shut.tables["judge_agreement"][1:])
    protocol = protocol_of(asked, **data)
    opened = protocol.pools["dev"].model_copy(update={"open": "written for this"})
    told = run(protocol.model_copy(update={"pools": {"dev": opened}}), rows)
    assert not any(isinstance(each, Withheld) for each in told.estimates)
    assert row(told, locale="pt")["counts"] == [[2, 0, 0], [0, 2, 0], [0, 0, 0]]
    asked_for = protocol_of(asked, **data, disclosure={"min_count": 5})
    again = run(asked_for.model_copy(update={"pools": {"dev": opened}}), rows)
    assert any(isinstance(each, Withheld) for each in again.estimates)


def test_a_kappa_that_would_tell_its_table_is_not_told() -> None:
    """A margin of four, where fewer than five are not told: with the agreement beside it kappa gives the table back."""
    data = {"data": {"identifiable": True, "prior_exposure": "none"}}
    rows = rows_of([[50, 1], [2, 2]], (0.1, 0.9))
    asked = {**bar(0.3), "weights": "none", "target": 0.5}
    result = run(protocol_of(asked, **HALVES, **data), rows)
    raw, kappa, gwet, pabak = result.estimates
    assert isinstance(raw, Estimate)
    assert isinstance(kappa, Withheld)
    assert isinstance(gwet, Withheld)
    assert isinstance(pabak, Measure)  # it says what raw agreement says
    (criterion,) = result.criteria
    assert (criterion.state, criterion.value, criterion.reason.code) == (State.PASS, None, "withheld")
    told = row(result)
    hidden = (
        "counts",
        "human_marginal",
        "prevalence_index",
        "kappa",
        "kappa_low",
        "gwet",
        "paradox",
        "undefined_resamples",
    )
    assert {name: told[name] for name in hidden} == dict.fromkeys(hidden)
    assert not {"paradox", "target-reached", "target-missed"} & notes(result).keys()
