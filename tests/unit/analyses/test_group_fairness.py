"""The gate, from rows to verdict: every decision, and every way evidence can be missing."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lacre.analyses.estimate import Estimate, NotEstimable
from lacre.analyses.reasons import Reason
from lacre.analyses.result import AnalysisResult
from lacre.analyses.verdict import LeftOut, State
from lacre.canonical import canonical_json
from lacre.errors import UnitRepeated
from lacre.tables.columns import TypedTable

Make = Callable[..., Any]

FNR_GAP = {"id": "fnr", "metric": "false_negative", "by": "sex", "max_group_gap": 0.05}


def misses(
    rows: Make, sex: str, missed: int, cases: int, blank: int = 0, **cells: Any
) -> list[dict[str, Any]]:
    """Give `cases` of label 1: `missed` predicted 0, `blank` without a prediction."""
    made = rows(missed, sex=sex, label=1, prediction=0, **cells)
    made += rows(blank, sex=sex, label=1, **cells)
    return [*made, *rows(cases - missed - blank, sex=sex, label=1, prediction=1, **cells)]


def estimate(result: AnalysisResult, metric: str, **group: str) -> Any:
    return next(each for each in result.estimates if each.metric == metric and dict(each.group) == group)


# --- the worked examples -----------------------------------------------------------------------------------


def test_compas_false_positive_gap_fails(gate: Make, rows: Make) -> None:
    """805/1795 against 349/1488, K = 2: the gap is at least .161861, above .05."""
    data = rows(805, sex="female", label=0, prediction=1) + rows(990, sex="female", label=0, prediction=0)
    data += rows(349, sex="male", label=0, prediction=1) + rows(1139, sex="male", label=0, prediction=0)
    result = gate({"id": "fpr", "metric": "false_positive", "by": "sex", "max_group_gap": 0.05})(data)
    (criterion,) = result.criteria
    assert result.state is criterion.state is State.FAIL
    assert criterion.low == pytest.approx(0.161861, abs=1e-6)
    assert criterion.high == pytest.approx(0.264866, abs=1e-6)
    assert criterion.value == pytest.approx(805 / 1795 - 349 / 1488)
    assert criterion.reason.code == "gap-broken"
    assert {criterion.reason.fields["first"], criterion.reason.fields["second"]} == {"female", "male"}
    female = estimate(result, "false_positive", sex="female")
    assert (female.numerator, female.denominator) == (805, 1795)
    assert (female.low, female.high) == pytest.approx((0.422008, 0.475142), abs=5e-7)
    assert (female.confidence, female.simultaneous) == (0.95, 2)


def test_an_undecided_gap(gate: Make, rows: Make) -> None:
    """10/200 against 18/200 at .05: 0 to .124191."""
    result = gate(FNR_GAP)(misses(rows, "female", 10, 200) + misses(rows, "male", 18, 200))
    (criterion,) = result.criteria
    assert criterion.state is State.INSUFFICIENT_EVIDENCE
    assert criterion.reason.code == "undecided"
    assert (criterion.low, criterion.high) == pytest.approx((0, 0.124191), abs=5e-7)
    assert [line.state for line in criterion.lines] == [State.INSUFFICIENT_EVIDENCE] * 2


def test_missing_predictions_widen_their_group(gate: Make, rows: Make) -> None:
    """10/200 with 8 missing predictions, K = 2: .021649-.145840; the denominator holds them."""
    result = gate(FNR_GAP)(misses(rows, "female", 10, 200, blank=8) + misses(rows, "male", 10, 200))
    found = estimate(result, "false_negative", sex="female")
    assert (found.numerator, found.denominator, found.missing) == (10, 200, 8)
    assert (found.low, found.high) == pytest.approx((0.021649, 0.145840), abs=5e-7)
    assert Reason("missing-predictions", {"count": 8}) in result.notes
    assert result.criteria[0].left_out == ()


@pytest.mark.parametrize(("groups", "gap", "enough"), [(["sex"], 0.05, 86), (["sex", "age"], 0.10, 53)])
def test_zero_errors_pass_from_the_stated_number_of_cases(
    gate: Make, rows: Make, groups: list[str], gap: float, enough: int
) -> None:
    """With zero errors everywhere the example's rules need 86 (K = 2) and 53 (K = 6) cases per cell."""
    make = gate({"id": "c", "metric": "false_negative", "by": groups, "max_group_gap": gap})
    ages = ("young", "middle", "old") if len(groups) == 2 else ("young",)
    for cases, state in ((enough, State.PASS), (enough - 1, State.INSUFFICIENT_EVIDENCE)):
        data = [row for s in ("female", "male") for age in ages for row in misses(rows, s, 0, cases, age=age)]
        assert make(data).criteria[0].state is state


# --- rules -------------------------------------------------------------------------------------------------


def test_worst_group_ceiling_and_floor(gate: Make, rows: Make) -> None:
    """Error of 0/200 and 60/200: at K = 2 about 0 to .02 and .3 ± 2.24 × .0324, that is .23 to .37."""
    data = misses(rows, "female", 0, 200) + misses(rows, "male", 60, 200)
    bounds = {"max": (0.45, 0.35, 0.2), "min": (0.0, 0.3, 0.45)}
    for side, (kept, undecided, broken) in bounds.items():
        for limit, state in (
            (kept, State.PASS),
            (undecided, State.INSUFFICIENT_EVIDENCE if side == "max" else State.FAIL),
            (broken, State.FAIL),
        ):
            rule = {"id": "c", "metric": "error", "by": "sex", "worst_group": {side: limit}}
            assert gate(rule)(data).criteria[0].state is state, (side, limit)


def test_lines_stand_for_their_own_group(gate: Make, rows: Make) -> None:
    rule = {"id": "c", "metric": "error", "by": "sex", "worst_group": {"max": 0.2}}
    (criterion,) = gate(rule)(misses(rows, "female", 0, 200) + misses(rows, "male", 60, 200)).criteria
    assert [line.state for line in criterion.lines] == [State.PASS, State.FAIL]
    assert criterion.reason.code == "ceiling-broken"
    assert criterion.reason.fields["group"] == "male"
    assert criterion.value == 0.3


def test_any_failing_criterion_fails_and_all_must_pass(gate: Make, rows: Make) -> None:
    data = misses(rows, "female", 0, 200) + misses(rows, "male", 60, 200)
    loose = {"id": "loose", "metric": "error", "by": "sex", "worst_group": {"max": 0.9}}
    tight = {"id": "tight", "metric": "error", "by": "sex", "worst_group": {"max": 0.1}}
    open_ = {"id": "open", "metric": "error", "by": "sex", "worst_group": {"max": 0.3}}
    assert gate(loose)(data).state is State.PASS
    assert gate(loose, open_)(data).state is State.INSUFFICIENT_EVIDENCE
    result = gate(loose, open_, tight)(data)
    assert result.state is State.FAIL
    assert Reason("criteria-uncorrected", {"count": 3}) in result.notes


def test_alpha_is_divided_by_declared_groups_observed_or_not(gate: Make, rows: Make) -> None:
    """A third declared sex, never seen, leaves 10/200 the bounds of K = 3, and blocks the pass."""
    third = {"sex": {"type": "category", "values": ["female", "male", "other"]}}
    data = misses(rows, "female", 0, 500) + misses(rows, "male", 0, 500)
    assert gate(FNR_GAP)(data).criteria[0].state is State.PASS
    (criterion,) = gate(FNR_GAP, columns=third)(data).criteria
    assert criterion.state is State.INSUFFICIENT_EVIDENCE
    assert criterion.reason == Reason("groups-not-decided", {"count": 1, "groups": 3})
    absent = criterion.lines[2]
    assert (absent.state, absent.reason.code) == (State.INSUFFICIENT_EVIDENCE, "no-cases")
    assert absent.value is absent.low is absent.high is None
    # 1 - (.05 / 6)^(1/500): the exact upper bound of zero events at K = 3
    assert criterion.lines[0].high == pytest.approx(1 - (0.05 / 6) ** (1 / 500))


# --- evidence that cannot decide ---------------------------------------------------------------------------


def test_a_group_without_positives_has_no_false_negative_rate(gate: Make, rows: Make) -> None:
    """Its FNR is not 0.0, its gap to the others not 0."""
    data = misses(rows, "female", 10, 200) + rows(200, sex="male", label=0, prediction=0)
    result = gate(FNR_GAP)(data)
    absent = estimate(result, "false_negative", sex="male")
    assert isinstance(absent, NotEstimable)
    assert (absent.denominator, absent.reason.code) == (0, "no-cases")
    (criterion,) = result.criteria
    assert criterion.state is State.INSUFFICIENT_EVIDENCE
    assert criterion.reason.code == "nothing-to-compare"
    assert criterion.value is criterion.low is criterion.high is None


def test_no_cases_at_all(gate: Make, rows: Make) -> None:
    """Nobody of label 1; and no row at all, every one of them being excluded."""
    make = gate(FNR_GAP, table={"exclude": [{"column": "site", "in": ["b"]}]})
    for data in (rows(50, sex="male", label=0, prediction=0), misses(rows, "male", 10, 50, site="b")):
        (criterion,) = make(data).criteria
        assert (criterion.state, criterion.reason.code) == (State.INSUFFICIENT_EVIDENCE, "no-cases")


def test_small_cells_block_a_pass_and_do_not_fail(gate: Make, rows: Make) -> None:
    """29 of 29 missed would fail any gap; below `min_cell` 30 it does neither, and others still may."""
    third = {"sex": {"type": "category", "values": ["female", "male", "other"]}}
    fine = misses(rows, "female", 0, 500) + misses(rows, "male", 0, 500)
    small = misses(rows, "other", 29, 29)
    (criterion,) = gate(FNR_GAP, columns=third, min_cell=30)(fine + small).criteria
    assert criterion.state is State.INSUFFICIENT_EVIDENCE
    assert criterion.reason == Reason("groups-not-decided", {"count": 1, "groups": 3})
    assert [line.state for line in criterion.lines] == [State.PASS, State.PASS, State.INSUFFICIENT_EVIDENCE]
    assert criterion.lines[2].reason == Reason("below-min-cell", {"cases": 29, "min_cell": 30})
    apart = misses(rows, "female", 0, 500) + misses(rows, "male", 250, 500)
    assert gate(FNR_GAP, columns=third, min_cell=30)(apart + small).criteria[0].state is State.FAIL


def test_min_cell_counts_predicted_cases_of_the_denominator(gate: Make, rows: Make) -> None:
    """200 women of label 0 and 30 of label 1, one of them without a prediction: 29 count for the FNR."""
    data = misses(rows, "female", 0, 30, blank=1) + rows(200, sex="female", label=0, prediction=0)
    data += misses(rows, "male", 0, 400)
    line = gate(FNR_GAP, min_cell=30)(data).criteria[0].lines[0]
    assert (line.denominator, line.reason) == (30, Reason("below-min-cell", {"cases": 29, "min_cell": 30}))


def test_left_out_cases_are_counted_by_reason(gate: Make, rows: Make) -> None:
    data = misses(rows, "female", 0, 40) + misses(rows, "male", 0, 40)
    data += rows(1, sex="", label=1, prediction=1) + rows(2, sex="unknown", label="", prediction="x")
    data += rows(3, sex="male", label="", prediction=1) + rows(4, sex="male", label="2", prediction="x")
    data += rows(5, sex="male", label=1, prediction="maybe") + rows(6, sex="male", label=1, prediction="")
    result = gate(FNR_GAP)(data)
    assert result.rows == 101
    assert result.criteria[0].left_out == (
        LeftOut("missing", "sex", 1),
        LeftOut("undeclared", "sex", 2),
        LeftOut("missing", "label", 3),
        LeftOut("undeclared", "label", 4),
    )
    # By itself each reason counts every case it holds for; nobody's age is given.
    assert result.left_out == (
        LeftOut("missing", "sex", 1),
        LeftOut("undeclared", "sex", 2),
        LeftOut("missing", "age", 101),
        LeftOut("missing", "label", 5),
        LeftOut("undeclared", "label", 4),
    )


def test_a_prediction_that_is_no_declared_value_counts_as_none(gate: Make, rows: Make) -> None:
    """Junk in the column that the submitter writes changes bounds as a blank does, and hides no error.

    150 of 300 men are missed; written as junk instead, they are still in the denominator, and the upper bound
    takes all of them for misses: the gap cannot pass.
    """
    plan = gate({"id": "g", "metric": "false_negative", "by": "sex", "max_group_gap": 0.15})
    women = misses(rows, "female", 0, 300)
    honest = plan(women + misses(rows, "male", 150, 300))
    assert honest.criteria[0].state is State.FAIL
    junk, blank = (
        plan(women + misses(rows, "male", 0, 150) + rows(150, sex="male", label=1, prediction=value))
        for value in ("n/a", "")
    )
    assert junk.criteria == blank.criteria
    assert junk.criteria[0].state is State.INSUFFICIENT_EVIDENCE
    assert junk.criteria[0].lines[1].denominator == 300
    assert junk.criteria[0].left_out == ()
    assert Reason("undeclared-predictions", {"count": 150, "column": "prediction"}) in junk.notes


def test_selection_needs_no_label(gate: Make, rows: Make) -> None:
    data = rows(10, sex="male", prediction=1) + rows(30, sex="female", label=0, prediction=0)
    result = gate({"id": "s", "metric": "selection", "by": "sex", "worst_group": {"max": 1}})(data)
    assert result.criteria[0].left_out == ()
    assert (
        estimate(result, "selection", sex="male").numerator,
        estimate(result, "selection").denominator,
    ) == (10, 40)


@pytest.mark.parametrize(("out", "state"), [(10, State.PASS), (11, State.INSUFFICIENT_EVIDENCE)])
def test_more_left_out_than_registered(gate: Make, rows: Make, out: int, state: State) -> None:
    """A tenth of 100 rows is allowed to the row, in exact decimals; one more decides nothing, nor fails."""
    data = misses(rows, "female", 0, 45) + misses(rows, "male", 0, 55 - out) + rows(out, sex="", label=1)
    rule = {
        "id": "c",
        "metric": "false_negative",
        "by": "sex",
        "worst_group": {"max": 0.5},
        "max_left_out": 0.1,
    }
    (criterion,) = gate(rule)(data).criteria
    assert criterion.state is state
    if state is not State.PASS:
        assert criterion.reason == Reason("too-many-left-out", {"count": 11, "rows": 100, "limit": 0.1})
        failing = {**rule, "worst_group": {"min": 0.99}}
        assert gate(failing)(data).criteria[0].state is State.INSUFFICIENT_EVIDENCE


def test_registered_exclusions_are_no_left_out_cases(gate: Make, rows: Make) -> None:
    """Half of the rows excluded by a registered condition, counted, and no part of the share."""
    data = misses(rows, "female", 0, 50, site="a") + misses(rows, "male", 0, 50, site="a")
    data += rows(100, sex="", label="", site="b")
    rule = {"id": "c", "metric": "false_negative", "by": "sex", "worst_group": {"max": 0.5}}
    result = gate(rule, table={"exclude": [{"column": "site", "in": ["b"]}]})(data)
    assert result.rows == 100
    assert result.left_out[0] == LeftOut("excluded", "site", 100)
    assert result.criteria[0].left_out == ()
    assert result.state is State.PASS


# --- review ------------------------------------------------------------------------------------------------


def test_error_above_one_half_reviews_everything(gate: Make, rows: Make) -> None:
    """Are label and prediction the right way round? Exactly one half is not above it."""
    loose = {"id": "loose", "metric": "selection", "by": "sex", "worst_group": {"max": 1}}
    right, wrong = rows(50, sex="male", label=1, prediction=1), rows(50, sex="male", label=1, prediction=0)
    one = rows(1, sex="female", label=0, prediction=1)
    assert gate(loose)(right + wrong + rows(9, sex="male", label=1)).state is not State.MANUAL_REVIEW
    result = gate(loose, FNR_GAP)(right + wrong + one)
    assert result.state is State.MANUAL_REVIEW
    assert [each.state for each in result.criteria] == [State.MANUAL_REVIEW] * 2
    assert {each.reason.code for each in result.criteria} == {"error-above-half"}
    assert Reason("error-above-half") in result.notes


def test_registered_review(gate: Make, rows: Make) -> None:
    data = misses(rows, "female", 0, 100) + misses(rows, "male", 0, 100)
    asked = {**FNR_GAP, "requires_manual_review": True}
    other = {"id": "c", "metric": "error", "by": "sex", "worst_group": {"max": 0.5}}
    result = gate(asked, other)(data)
    assert [each.state for each in result.criteria] == [State.MANUAL_REVIEW, State.PASS]
    assert result.state is State.MANUAL_REVIEW
    whole = gate(other, requires_manual_review=True)(data)
    assert (whole.state, whole.criteria[0].state) == (State.MANUAL_REVIEW, State.MANUAL_REVIEW)


def test_review_comes_before_missing_evidence(gate: Make, rows: Make) -> None:
    asked = {**FNR_GAP, "requires_manual_review": True}
    assert gate(asked)(rows(10, sex="", label=1)).criteria[0].state is State.MANUAL_REVIEW


def test_review_from_outside(gate: Make, rows: Make) -> None:
    data = misses(rows, "female", 0, 100) + misses(rows, "male", 0, 100)
    result = gate(FNR_GAP)(data, review=("statistics-changed",))
    assert result.criteria[0].reason == Reason("statistics-changed")
    assert result.state is State.MANUAL_REVIEW


# --- units and clusters ------------------------------------------------------------------------------------


def test_a_repeated_unit_is_refused(gate: Make, rows: Make) -> None:
    make = gate(FNR_GAP, table={"unit": "person"})
    data = misses(rows, "female", 0, 100)
    assert "independence-assumed" not in {note.code for note in make(data).notes}
    data[0]["person"] = data[1]["person"] = data[2]["person"] = "somebody"
    with pytest.raises(UnitRepeated) as refusal:
        make(data)
    assert refusal.value.fields["count"] == 2
    assert "somebody" not in str(refusal.value)


def test_an_excluded_row_repeats_no_unit(gate: Make, rows: Make) -> None:
    make = gate(FNR_GAP, table={"unit": "person", "exclude": [{"column": "site", "in": ["b"]}]})
    data = misses(rows, "female", 0, 10)
    data[0] |= {"person": "x", "site": "b"}
    data[1] |= {"person": "x"}
    assert make(data).rows == 9


def test_blank_units_are_counted(gate: Make, rows: Make) -> None:
    result = gate(FNR_GAP, table={"unit": "person"})(misses(rows, "female", 0, 3, person=""))
    assert Reason("unit-blank", {"count": 3}) in result.notes


def test_without_a_unit_the_assumption_is_stated(gate: Make, rows: Make) -> None:
    assert Reason("independence-assumed") in gate(FNR_GAP)(misses(rows, "female", 0, 3)).notes


def test_a_cluster_decides_the_interval(gate: Make, typed: Make) -> None:
    """Two equal cases in each of 200 sites are worth about half: wider bounds, zero events count sites.

    Zero events in 200 clusters at K = 2: 1 - .0125^(1/200).
    """
    site = np.repeat(np.arange(400), 2)
    sex = np.repeat([0, 1], 400)
    prediction = np.ones(800, int)
    prediction[400:480] = 0
    table = typed(label=np.ones(800, int), prediction=prediction, sex=sex, site=site)
    plain, clustered = (gate(FNR_GAP, table=more).run(table) for more in ({}, {"cluster": "site"}))
    zero = estimate(clustered, "false_negative", sex="female")
    assert zero.high == pytest.approx(1 - 0.0125 ** (1 / 200))
    assert zero.zero_bound.rule_of_three == 3 / 200
    wide, narrow = (estimate(each, "false_negative", sex="male") for each in (clustered, plain))
    assert wide.low < narrow.low < narrow.high < wide.high
    assert wide.method == "clopper-pearson on effective sample size"
    assert "independence-assumed" not in {note.code for note in clustered.notes}


def test_few_clusters_are_not_estimable(gate: Make, typed: Make) -> None:
    site, sex = np.tile(np.arange(19), 20), np.repeat([0, 1], 190)
    table = typed(label=np.ones(380, int), prediction=np.ones(380, int), sex=sex, site=site)
    result = gate(FNR_GAP, table={"cluster": "site"}).run(table)
    absent = estimate(result, "false_negative", sex="female")
    assert absent.reason == Reason("too-few-clusters", {"least": 20})
    assert result.criteria[0].lines[0].numerator is None
    assert result.state is State.INSUFFICIENT_EVIDENCE


def test_a_category_may_be_the_cluster(gate: Make, typed: Make) -> None:
    """Three ages are three clusters, and three are too few."""
    table = typed(label=np.ones(90, int), prediction=np.ones(90, int), sex=[0] * 90, age=np.arange(90) % 3)
    result = gate(FNR_GAP, table={"cluster": "age"}).run(table)
    assert estimate(result, "error").reason == Reason("too-few-clusters", {"least": 20})


def test_cases_without_a_cluster_are_left_out(gate: Make, typed: Make) -> None:
    site = [None, *range(99)]
    table = typed(label=np.ones(100, int), prediction=np.ones(100, int), sex=np.zeros(100, int), site=site)
    result = gate(FNR_GAP, table={"cluster": "site"}).run(table)
    assert result.rows == 100
    assert result.criteria[0].left_out == (LeftOut("missing", "site", 1),)
    assert estimate(result, "error").denominator == 99


@pytest.mark.parametrize(
    ("table", "columns", "code"),
    [
        ({"cluster": ["site", "person"]}, {}, "crossed-clusters"),
        ({}, {"weight": {"type": "number", "min": 0, "is": "weight"}}, "weighted-sample"),
        ({}, {"p": {"type": "number", "min": 0, "max": 1, "is": "inclusion_probability"}}, "weighted-sample"),
    ],
)
def test_a_design_the_intervals_do_not_hold_for(
    gate: Make, typed: Make, table: Any, columns: Any, code: str
) -> None:
    """The naive interval is never printed as the answer."""
    data = typed(label=np.ones(900, int), prediction=np.ones(900, int), sex=np.tile([0, 1], 450))
    result = gate(FNR_GAP, table=table, columns=columns).run(data)
    assert not any(isinstance(each, Estimate) for each in result.estimates)
    assert result.criteria[0].reason == Reason(code)
    assert result.state is State.INSUFFICIENT_EVIDENCE


# --- what a result holds -----------------------------------------------------------------------------------


def test_every_declared_group_is_estimated(gate: Make, rows: Make) -> None:
    """Everybody, 2 sexes, 3 ages and 6 crossed cells, four rates each; all K known to their family."""
    result = gate(FNR_GAP)(misses(rows, "female", 3, 50, age="old"))
    assert len(result.estimates) == (1 + 2 + 3 + 6) * 4
    crossed = estimate(result, "error", sex="female", age="old")
    assert (crossed.simultaneous, crossed.numerator, crossed.denominator) == (6, 3, 50)
    assert isinstance(estimate(result, "error", sex="male", age="old"), NotEstimable)
    everybody = estimate(result, "error")
    assert everybody.simultaneous == 1
    assert (everybody.low, everybody.high) == pytest.approx((0.012549, 0.165482), abs=5e-6)


def test_zero_events_carry_their_bound(gate: Make, rows: Make) -> None:
    result = gate(FNR_GAP)(misses(rows, "female", 0, 119) + misses(rows, "male", 0, 119, blank=1))
    zero = estimate(result, "false_negative", sex="female")
    assert zero.zero_bound.exact == pytest.approx(0.024860, abs=5e-7)
    assert zero.high > zero.zero_bound.rule_of_three
    unsure = estimate(result, "false_negative", sex="male")
    assert unsure.zero_bound is None
    assert unsure.text.startswith("up to ")


def test_criteria_follow_the_order_of_their_intersection(gate: Make, rows: Make) -> None:
    rule = {"id": "c", "metric": "error", "by": ["age", "sex"], "worst_group": {"max": 1}}
    (criterion,) = gate(rule)(misses(rows, "female", 3, 50, age="old")).criteria
    assert criterion.by == ("age", "sex")
    assert criterion.lines[2].group == (("sex", "female"), ("age", "old"))
    assert criterion.lines[2].denominator == 50


def test_calibration_describes(gate: Make, typed: Make) -> None:
    """The two worked examples as two groups; a case without a probability is left out of it."""
    score = [0.25, 0.25, 0.55, 0.75, 0.75, 0, 1, 0, 1, np.nan]
    label = np.array([0, 0, 1, 1, 1, 0, 1, 1, 1, 1])
    sex = [0] * 5 + [1] * 5
    table = typed(label=label, prediction=label, sex=sex, score=score)
    result = gate(FNR_GAP, probability="score", calibration_bins=2).run(table)
    found = {each.group: each for each in result.calibration}
    assert found[("sex", "female"),].error == pytest.approx(0.29)
    male = found[("sex", "male"),]
    assert (male.error, male.cases, male.left_out) == (pytest.approx(0.25), 4, 1)
    assert found[("age", "old"),].error is None
    assert Reason("calibration-describes") in result.notes
    assert gate(FNR_GAP, probability="score").run(table).calibration == ()


def test_confidence_is_read_in_decimals(gate: Make, rows: Make) -> None:
    """At .90 and K = 2, zero of 100: 1 - .025^(1/100)."""
    data = misses(rows, "female", 0, 100)
    found = estimate(gate(FNR_GAP, confidence=0.9)(data), "false_negative", sex="female")
    assert found.high == pytest.approx(1 - 0.025 ** (1 / 100), rel=1e-12)
    assert found.confidence == 0.9


def test_the_same_inputs_give_the_same_bytes(gate: Make, rows: Make) -> None:
    rng = np.random.default_rng(7)
    data = [
        {
            "sex": rng.choice(["female", "male", ""]),
            "age": rng.choice(["young", "middle", "old", "?"]),
            "label": rng.choice(["0", "1", ""], p=[0.5, 0.49, 0.01]),
            "prediction": rng.choice(["0", "1", "", "x"], p=[0.5, 0.4, 0.09, 0.01]),
            "score": round(float(rng.random()), 3),
        }
        for _ in range(500)
    ]
    make = gate(FNR_GAP, probability="score", calibration_bins=10)
    first = canonical_json(make(data, system="a").as_json())
    assert canonical_json(make(data, system="a").as_json()) == first
    # The order of rows is no input: counts and verdicts are the same.
    turned = make(data[::-1], system="a")
    assert turned.criteria == make(data, system="a").criteria
    assert turned.estimates == make(data, system="a").estimates


def test_typed_table_is_not_changed(gate: Make, rows: Make) -> None:
    make = gate(FNR_GAP)
    table: TypedTable = make.read(misses(rows, "female", 3, 50))
    before = {name: column.array.copy() for name, column in table.columns.items()}
    make.run(table)
    for name, column in table.columns.items():
        if column.array.dtype != np.float64:
            assert (column.array == before[name]).all()
