"""Disclosure control: what is withheld, what stays, and what nobody can subtract back."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from lacre.analyses.disclosure import cases_of, min_count, together, withhold
from lacre.analyses.estimate import Estimate, Group, Measure, Withheld, ZeroBound
from lacre.analyses.reasons import Reason
from lacre.analyses.result import AnalysisResult
from lacre.analyses.suppression import LAYERS, Cell, hidden_cells
from lacre.analyses.verdict import State
from lacre.canonical import canonical_json

Make = Callable[..., Any]
RULE = {"id": "c", "metric": "false_negative", "by": "sex", "worst_group": {"max": 0.5}}
IDENTIFIABLE = {"data": {"identifiable": True, "prior_exposure": "none"}}


def cell(rows: Make, sex: str, age: str, negatives: int, positives: int) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = rows(negatives, sex=sex, age=age, label=0, prediction=0)
    made += rows(positives, sex=sex, age=age, label=1, prediction=1)
    return made


def withheld(result: AnalysisResult) -> set[tuple[str, str]]:
    return {
        (each.metric, " ".join(value for _, value in each.group))
        for each in result.estimates
        if isinstance(each, Withheld)
    }


def test_when_it_applies(gate: Make) -> None:
    assert min_count(gate().protocol, "teste") is None
    assert min_count(gate(protocol=IDENTIFIABLE).protocol, "teste") == 5
    assert min_count(gate(protocol={"disclosure": {"min_count": 11}}).protocol, "teste") == 11


def test_nothing_small_nothing_withheld(gate: Make, rows: Make) -> None:
    data = [
        row for s in ("female", "male") for a in ("young", "middle", "old") for row in cell(rows, s, a, 5, 5)
    ]
    assert withheld(gate(RULE, protocol=IDENTIFIABLE)(data)) == set()


def test_a_small_group_takes_its_sibling_along(gate: Make, rows: Make) -> None:
    """Four women of label 1: with all 54 and the 50 men they would be 54 - 50. Label 0 stays as it is.

    By age the small cell is in `old`, so a second age and both sexes go with it: a block of 2 x 2.
    """
    sizes = {("female", "young"): 20, ("female", "middle"): 30, ("male", "young"): 25, ("male", "middle"): 15}
    data = [row for (s, a), n in sizes.items() for row in cell(rows, s, a, 10, n)]
    data += cell(rows, "female", "old", 10, 4) + cell(rows, "male", "old", 10, 10)
    gone = withheld(gate(RULE, protocol=IDENTIFIABLE)(data))
    crossed = {name for metric, name in gone if metric == "false_negative"}
    assert crossed == {"female old", "male old", "female young", "male young"}
    assert not any(metric == "false_positive" for metric, _ in gone)
    assert {name for metric, name in gone if metric == "error"} == crossed
    assert {name for metric, name in gone if metric == "selection"} == crossed


def test_error_and_selection_go_with_either_label(gate: Make, rows: Make) -> None:
    """400 of label 0 and 3 of label 1: error's 403 less false positive's 400 would give the 3."""
    data = cell(rows, "female", "young", 400, 3) + cell(rows, "male", "young", 400, 300)
    gone = withheld(gate(RULE, intersections=[], attributes=["sex"], protocol=IDENTIFIABLE)(data))
    assert gone == {
        (metric, sex) for metric in ("error", "selection", "false_negative") for sex in ("female", "male")
    }


def test_both_labels_of_everybody_add_up_to_the_rows(gate: Make, rows: Make) -> None:
    """Three of label 1 among 1,000 rows: 1,000 less the label 0 would be 3, so these go too."""
    data = cell(rows, "female", "young", 500, 1) + cell(rows, "male", "young", 497, 2)
    gone = withheld(gate(RULE, intersections=[], attributes=["sex"], protocol=IDENTIFIABLE)(data))
    assert {("false_positive", ""), ("false_negative", ""), ("error", "")} <= gone


def test_empty_groups_are_small_groups(gate: Make, rows: Make) -> None:
    """Two groups of none with a known sum of none are two known groups: a third goes with them.

    The women are the first of two equal groups in label 0; being incomplete then, they serve label 1 too.
    """
    third = {"sex": {"type": "category", "values": ["female", "male", "other", "unsaid"]}}
    data = cell(rows, "female", "young", 50, 60) + cell(rows, "male", "young", 50, 50)
    make = gate(RULE, columns=third, intersections=[], attributes=["sex"], protocol=IDENTIFIABLE)
    gone = withheld(make(data))
    for rate in ("error", "false_positive", "false_negative", "selection"):
        assert {name for metric, name in gone if metric == rate} == {"female", "other", "unsaid"}


def test_tiny_tables_show_nothing(gate: Make, rows: Make) -> None:
    result = gate(RULE, protocol=IDENTIFIABLE)(cell(rows, "female", "young", 2, 2))
    assert all(isinstance(each, Withheld) for each in result.estimates)


def test_states_stay_and_numbers_go(gate: Make, rows: Make) -> None:
    data = cell(rows, "female", "young", 50, 3) + cell(rows, "male", "young", 50, 100)
    options: dict[str, Any] = {"intersections": [], "attributes": ["sex"], "min_cell": 3}
    plain = gate(RULE, **options)(data)
    hidden = gate(RULE, **options, protocol=IDENTIFIABLE)(data)
    assert hidden.state is plain.state
    before, after = plain.criteria[0], hidden.criteria[0]
    assert [line.state for line in after.lines] == [line.state for line in before.lines]
    for line in after.lines:
        assert line.reason == Reason("withheld", {"min_count": 5})
        assert (
            line.value is line.low is line.high is line.numerator is line.denominator is line.missing is None
        )
    assert after.value is after.low is after.high is None
    assert not set(after.reason.fields) & {"low", "high", "group", "cases"}
    assert Reason("estimates-withheld", {"count": 6, "min_count": 5}) in hidden.notes


def test_what_rests_on_shown_groups_stays(gate: Make, rows: Make) -> None:
    """The worst of the shown groups is worse than any withheld: its numbers are its own."""
    third = {"sex": {"type": "category", "values": ["female", "male", "other", "unsaid"]}}
    data = rows(60, sex="female", label=1, prediction=0) + cell(rows, "female", "young", 200, 100)
    data += cell(rows, "male", "young", 50, 40) + cell(rows, "other", "young", 50, 30)
    data += cell(rows, "unsaid", "young", 50, 2)
    make = gate(RULE, columns=third, intersections=[], attributes=["sex"], min_cell=10, protocol=IDENTIFIABLE)
    (criterion,) = make(data).criteria
    shown = [line.denominator for line in criterion.lines]
    assert shown == [160, 40, None, None]
    assert criterion.value == 60 / 160
    assert criterion.high is not None


def test_calibration_goes_with_its_group(gate: Make, typed: Make) -> None:
    label = np.array([0] * 50 + [1] * 3 + [0] * 50 + [1] * 50)
    table = typed(label=label, prediction=label, sex=[0] * 53 + [1] * 100, score=np.full(153, 0.5))
    result = gate(
        RULE,
        intersections=[],
        attributes=["sex"],
        probability="score",
        calibration_bins=2,
        protocol=IDENTIFIABLE,
    ).run(table)
    everybody, *groups = result.calibration
    assert everybody.cases == 153
    for each in groups:
        assert each.cases is each.error is each.left_out is None


def test_systems_withhold_the_same_groups(gate: Make, rows: Make) -> None:
    """Denominators are of the cases and not of the predictions: each system withholds the same groups."""
    make = gate(RULE, intersections=[], attributes=["sex"], protocol=IDENTIFIABLE)
    data = cell(rows, "female", "young", 3, 1) + cell(rows, "male", "young", 50, 60)
    other = [{**row, "prediction": "?" if place % 2 else ""} for place, row in enumerate(data)]
    merged = make.of_systems(a=data, b=other)
    per_system: dict[str, set[Any]] = {"a": set(), "b": set()}
    for each in merged.estimates:
        if isinstance(each, Withheld):
            per_system[each.system].add((each.metric, each.group))
    assert per_system["a"] == per_system["b"] != set()
    assert merged.criteria[0].lines[0].denominator is None
    (note,) = (note for note in merged.notes if note.code == "estimates-withheld")
    assert note.fields["count"] == 2 * len(per_system["a"])
    canonical_json(merged.as_json())


def test_many_cells_show_no_crossing() -> None:
    """Past the size the algebra can take, crossed cells go and the attributes' totals are solved as ever."""
    sizes: dict[Cell, int] = {(layer, ()): 10_000 for layer in LAYERS}
    for layer in LAYERS:
        sizes |= {(layer, (("a", f"{i}"),)): 250 for i in range(40)}
        sizes |= {(layer, (("b", f"{i}"),)): 250 for i in range(40)}
        sizes |= {(layer, (("a", f"{i}"), ("b", f"{j}"))): (i + j) % 5 for i in range(40) for j in range(40)}
    hidden = hidden_cells(sizes, 5)
    assert hidden == {cell for cell in sizes if len(cell[1]) == 2}


def test_a_review_names_no_number(gate: Make, rows: Make) -> None:
    data = rows(4, sex="female", label=1, prediction=0)
    result = gate(RULE, protocol=IDENTIFIABLE)(data)
    assert result.state is State.MANUAL_REVIEW
    assert result.criteria[0].reason == Reason("error-above-half")


@pytest.mark.parametrize("least", [2, 5])
def test_shown_sums_hide_no_small_remainder(least: int) -> None:
    """Sizes 1 and 1 of a shown 100 would be known to be together 2: with `least` 5 a third goes along."""
    sizes: dict[Cell, int] = {(layer, ()): 100 for layer in LAYERS}
    for layer in LAYERS:
        sizes |= {(layer, (("a", name),)): n for name, n in (("p", 1), ("q", 1), ("r", 40), ("s", 58))}
    hidden = {group[0][1] for layer, group in hidden_cells(sizes, least) if group}
    assert hidden == ({"p", "q"} if least == 2 else {"p", "q", "r"})


def test_analyses_of_the_same_cases_hide_the_same_groups(gate: Make, rows: Make) -> None:
    """One analysis hides one pair of groups, another one another pair: together they would tell all three."""
    data = cell(rows, "female", "young", 9, 4) + cell(rows, "female", "old", 9, 3)
    data += cell(rows, "male", "young", 9, 15) + cell(rows, "male", "old", 9, 15)
    by_sex = gate(RULE, intersections=[], attributes=["sex"], protocol=IDENTIFIABLE)(data)
    crossed = gate(RULE, intersections=[["sex", "age"]], attributes=["sex", "age"], protocol=IDENTIFIABLE)(
        data
    )
    shown = together([by_sex, crossed], [("cases", "label")] * 2)
    hidden = [
        {(e.metric, e.group) for e in each.estimates if isinstance(e, Withheld) and e.metric in LAYERS}
        for each in shown
    ]
    groups = {(e.metric, e.group) for e in by_sex.estimates}
    assert hidden[0] == hidden[1] & groups
    apart = together([by_sex, crossed], [("cases", "label"), ("others", "label")])
    assert [each.estimates for each in apart] == [by_sex.estimates, crossed.estimates]


def shares_of(metric: str, sizes: dict[Group, int], least: int = 5, kind: str = "recall") -> AnalysisResult:
    """A result of one sort of cases: half of each group are events."""
    estimates = tuple(
        Estimate(metric, "", group, size // 2, size, (size // 2) / size, 0.0, 1.0, 0.95, "wilson",
                 zero_bound=ZeroBound.of(size) if size < 2 else None)
        for group, size in sizes.items()
    )  # fmt: skip
    return withhold(AnalysisResult(kind, kind, State.PASS, sizes[()], estimates, ()), least)


def gone_of(result: AnalysisResult) -> set[str]:
    return {" ".join(v for _, v in each.group) for each in result.estimates if isinstance(each, Withheld)}


def groups(**sizes: int) -> dict[Group, int]:
    return {(): sum(sizes.values()), **{(("skin", name),): size for name, size in sizes.items()}}


def test_what_one_kind_withholds_no_other_shows_of_the_same_cases() -> None:
    """By skin 4 and 20 are withheld; by skin and height all are 10 or more but the 4: together they would tell 20.

    (20 are 10 tall and 10 short ones: 50 in all, less 10 + 10, less the 26 of the third skin, are 4.)
    """
    recall = shares_of("recall", groups(a=4, b=20, c=26))
    crossed: dict[Group, int] = {(): 50}
    for name, tall, short in (("a", 0, 4), ("b", 10, 10), ("c", 13, 13)):
        crossed |= {
            (("skin", name), ("height", each)): n for each, n in (("tall", tall), ("short", short)) if n
        }
    failure = shares_of("protective_failure", crossed, kind="protective_failure")
    assert gone_of(recall) == {"a", "b"}
    assert {"a short"} <= gone_of(failure)
    shown = together([recall, failure], [("faces", None)] * 2)
    sizes = {e.group: cases_of(e) for each in shown for e in each.estimates if isinstance(e, Estimate)}
    by_skin = [group for group in sizes if group and group[0][1] == "b"]
    assert len(by_skin) < 2  # never both heights of b, with which a is what is left
    assert gone_of(shown[0]) >= {"a", "b"}


def test_kinds_withhold_the_same_groups_together() -> None:
    """One takes the smallest companion of its own: 20 of 70 persons, 25 of 70 photographs by their blanks."""
    recall = shares_of("recall", groups(a=4, b=20, c=46))
    failure = shares_of("protective_failure", groups(a=4, b=44, c=22), kind="protective_failure")
    assert (gone_of(recall), gone_of(failure)) == ({"a", "b"}, {"a", "c"})
    shown = together([recall, failure], [("faces", None)] * 2)
    assert [gone_of(each) for each in shown] == [{"a", "b", "c"}] * 2
    notes = [note for each in shown for note in each.notes if note.code == "estimates-withheld"]
    assert [note.fields["count"] for note in notes] == [3, 3]


def test_other_cases_of_a_table_are_left_alone() -> None:
    """Of 70 rows 30 were labelled again: that 3 of one group are among these withholds nothing of the 70."""
    recall = shares_of("recall", groups(a=10, b=20, c=40))
    again = shares_of("raw_agreement", groups(a=3, b=7, c=20), kind="self_agreement")
    assert gone_of(again) == {"a", "b"}
    shown = together([recall, again], [("faces", None)] * 2)
    assert [gone_of(each) for each in shown] == [set(), {"a", "b"}]


def test_two_sorts_and_one_are_withheld_together(gate: Make, rows: Make) -> None:
    """3 women of label 1: all women less the 50 of label 0 would be 3, if another kind told all women."""
    data = cell(rows, "female", "young", 50, 3) + cell(rows, "male", "young", 50, 100)
    errors = gate(RULE, intersections=[], attributes=["sex"], min_cell=3, protocol=IDENTIFIABLE)(data)
    women, men = (("sex", "female"),), (("sex", "male"),)
    recall = shares_of("recall", {(): 203, women: 53, men: 150})
    assert gone_of(recall) == set()
    shown = together([errors, recall], [("cases", "label"), ("cases", None)])
    assert gone_of(shown[1]) == {"female", "male"}
    assert withheld(shown[0]) == withheld(errors)


def test_the_interval_beside_another_goes_with_its_group() -> None:
    """A bootstrap beside an interval is a number of the group: it is no rate of its own, and goes with any of it."""
    made = shares_of("false_match", groups(a=4, b=20, c=46))
    beside = tuple(
        Measure("false_match_beside", "", group, 0.5, 0.4, 0.6, 0.95, "percentile", size, "share")
        for group, size in groups(a=4, b=20, c=46).items()
    )
    hidden = withhold(replace(shares_of("false_match", groups(a=4, b=20, c=46), 1), estimates=(
        *shares_of("false_match", groups(a=4, b=20, c=46), 1).estimates, *beside)), 5)  # fmt: skip
    assert gone_of(hidden) == gone_of(made) == {"a", "b"}
    assert sum(isinstance(each, Withheld) for each in hidden.estimates) == 4


def test_a_handful_of_predictions_tells_no_label(gate: Make, rows: Make) -> None:
    """Of 100 cases one is predicted: counts of blanks by label would say which label it has."""
    data = cell(rows, "female", "young", 25, 25) + cell(rows, "male", "young", 25, 25)
    alone = [{**row, "prediction": row["prediction"] if place == 7 else ""} for place, row in enumerate(data)]
    result = gate(RULE, intersections=[], attributes=["sex"], protocol=IDENTIFIABLE)(alone)
    everybody = [each for each in result.estimates if not each.group]
    assert everybody
    assert all(isinstance(each, Withheld) for each in everybody)
    assert all(isinstance(each, Withheld) for each in result.estimates if ("sex", "female") in each.group)
