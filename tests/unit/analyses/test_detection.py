"""Recall and protective failure: from rows as a user's files have them to shares, strata, differences, verdicts."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats
from tests.studies import HEAD

from lacre.analyses import analyse
from lacre.analyses.calibrating import calibrate
from lacre.analyses.given import Drawn, Given
from lacre.analyses.reasons import render
from lacre.analyses.result import AnalysisResult
from lacre.canonical import canonical_json
from lacre.errors import ThresholdBeyondNumbers, ThresholdNotAttained
from lacre.protocol.document import parse
from lacre.protocol.models import Protocol, bases_of
from lacre.stats.clusters import effective_size
from lacre.stats.proportions import clopper_pearson, wilson
from lacre.tables.formats import Format
from lacre.tables.join import join_submission
from lacre.tables.read import read_table

COLUMNS: Mapping[str, Any] = {
    "id": {"type": "text"},
    "image": {"type": "text"},
    "frame": {"type": "category", "values": ["rare", "common"]},
    "person": {"type": "outcome", "positive": "1", "negative": "0"},
    "age": {"type": "ordinal", "values": ["child", "adult", "old"], "is": "demographic"},
    "height": {"type": "number", "bins": {"small": ["1/3", 32], "large": [32, 100]}},
    "score": {"type": "number", "from": "submission"},
    "found": {"type": "outcome", "positive": "1", "negative": "0", "from": "submission"},
}
Rows = Iterable[Mapping[str, Any]]


def study(
    *criteria: Mapping[str, Any],
    kind: str = "recall",
    blank: str = "not_detected",
    table: Mapping[str, Any] | None = None,
    columns: Mapping[str, Any] | None = None,
    identifiable: bool = False,
    systems: Iterable[str] = (),
    sampling: Mapping[str, Any] | None = None,
    thresholds: Mapping[str, Any] | None = None,
    **plan: Any,
) -> Protocol:
    event = plan.pop("event", {"column": "found", "blank": blank})
    own = {"detected": event} if kind == "recall" else {"found": event, "person": "person"}
    document = {
        **HEAD, "data": {"identifiable": identifiable, "prior_exposure": "none"},
        "systems": {name: {"version": "1"} for name in systems},
        "tables": {"faces": {"key": "id", "columns": {**COLUMNS, **(columns or {})}, **(table or {})}},
        "pools": {"dev": {"tables": ["faces"]}, "teste": {"tables": ["faces"]}},
        "sampling": sampling or {},
        "thresholds": thresholds or {},
        "analyses": {"it": {
            "kind": kind, "pool": "teste", "table": "faces", **own, **plan,
            "criteria": [{"id": str(n), "metric": kind, **each} for n, each in enumerate(criteria)],
        }},
    }  # fmt: skip
    return parse(json.dumps(document).encode())


def given(protocol: Protocol, rows: Rows, system: str = "", **more: Any) -> Given:
    names = list(protocol.tables["faces"].columns)
    lines = [",".join(names)]
    for n, row in enumerate(rows):
        cells = {"id": f"f{n}", "image": f"i{n}", "person": 1, "frame": "rare", **row}
        lines.append(",".join(str(cells.get(name, "")) for name in names))
    raw, declared = ("\n".join(lines) + "\n").encode(), protocol.tables["faces"]
    pool = read_table(raw, declared, "faces", Format.CSV, only="pool")
    joined = join_submission(pool, read_table(raw, declared, "faces", Format.CSV, only="submission"))
    return Given(protocol, {(system, "faces"): joined}, **more)


def run(protocol: Protocol, rows: Rows, **more: Any) -> AnalysisResult:
    result = analyse("it", given(protocol, rows, **more))
    canonical_json(result.as_json())
    return result


def faces(found: int, missed: int, blank: int = 0, **cells: Any) -> list[dict[str, Any]]:
    return [
        {**cells, "found": value} for value, n in ((1, found), (0, missed), ("", blank)) for _ in range(n)
    ]


def share(result: AnalysisResult, **group: str) -> dict[str, Any]:
    (found,) = (
        each for each in result.as_json()["estimates"]
        if each["group"] == group and "versus" not in each and not each.get("details")
    )  # fmt: skip
    return dict(found)


# --- shares and strata -------------------------------------------------------------------------------------


def test_recall_is_wilson_s_and_zero_misses_leave_a_bound() -> None:
    """81 of 263 is .255289 to .366210 (STATISTICS a); 0 of 14 leaves 3/14, one-sided (Hanley, Lippman-Hand 1983)."""
    whole = share(run(study({"min": 0.2}), faces(81, 182)))
    assert (whole["numerator"], whole["denominator"]) == (81, 263)
    assert [whole["low"], whole["high"]] == pytest.approx([0.255289, 0.366210], abs=5e-7)
    none = share(run(study({"max": 0.5}, kind="protective_failure"), faces(14, 0)))
    assert none["value"] == 0
    assert none["zero_bound"]["rule_of_three"] == pytest.approx(0.21429, abs=5e-6)
    assert none["zero_bound"]["exact"] == pytest.approx(0.19264, abs=5e-6)


def test_an_image_without_a_person_is_no_case() -> None:
    """Of 60 images with a person 3 are missed; what is found, or not, in the others says nothing."""
    rows = [*faces(57, 3), *faces(10, 40, person=0), *faces(5, 5, person="?")]
    result = run(study({"max": 0.2}, kind="protective_failure"), rows)
    whole = share(result)
    assert (whole["numerator"], whole["denominator"]) == (3, 60)
    (out,) = result.left_out
    assert (out.reason, out.column, out.count) == ("undeclared", "person", 10)


@pytest.mark.parametrize(
    ("blank", "events", "cases", "missing"), [("not_detected", 80, 100, 0), ("left_out", 80, 90, 0),
                                              ("worst_case", 80, 100, 10)],
)  # fmt: skip
def test_a_blank_means_what_is_registered(blank: str, events: int, cases: int, missing: int) -> None:
    """80 found, 10 missed, 10 blank; the bounds of worst_case are those of 80 and of 90 among 100."""
    result = run(study({"min": 0.5}, blank=blank), faces(80, 10, 10))
    whole = share(result)
    assert (whole["numerator"], whole["denominator"], whole["missing"]) == (events, cases, missing)
    ends = [float(wilson(events, cases, 0.05).low), float(wilson(events + missing, cases, 0.05).high)]
    assert [whole["low"], whole["high"]] == pytest.approx(ends)


def test_what_is_no_declared_answer_counts_as_a_blank() -> None:
    """Else whoever submits could take a miss out of the share by writing junk over it."""
    rows = [*faces(30, 5), *({"found": "?"} for _ in range(5))]
    assert share(run(study({"min": 0.5}), rows))["denominator"] == 40


def test_bins_are_closed_below_and_their_edges_exact() -> None:
    """0.3333333333 is below 1/3, 32 opens its bin, and the last one holds its upper end."""
    heights = ["0.3333333333", "0.3333333334", "31.9", "32", "100", "100.1", ""]
    rows = [{"height": each, "found": 1} for each in heights] * 20
    result = run(study({"min": 0.1}, by=[["height"]]), rows)
    assert [share(result, height=name)["denominator"] for name in ("small", "large")] == [40, 40]
    assert {(each.reason, each.count) for each in result.left_out} == {("missing", 20), ("undeclared", 40)}


def test_the_worst_stratum_decides_and_all_declared_ones_share_the_error_rate() -> None:
    """Six crossings are declared, two of them never seen; the bound is Wilson's at .05/6, and an unseen one blocks."""
    rows = [
        *faces(95, 5, age="child", height=10), *faces(60, 40, age="child", height=50),
        *faces(99, 1, age="adult", height=10), *faces(98, 2, age="adult", height=50),
    ]  # fmt: skip
    rule = {"by": ["age", "height"], "worst_group": {"min": 0.8}}
    protocol = study(rule, by=[["age", "height"]], control="height")
    (decided,) = run(protocol, rows).criteria
    assert (decided.state, decided.reason.code) == ("FAIL", "floor-broken")
    assert decided.high == pytest.approx(float(wilson(60, 100, 0.05 / 6).high))
    (kept,) = run(protocol, [row for row in rows if row["height"] == 10]).criteria
    assert (kept.state, kept.reason.code) == ("INSUFFICIENT_EVIDENCE", "groups-not-decided")
    lines = {tuple(value for _name, value in line.group): line for line in kept.lines}
    assert lines["old", "small"].reason.code == "no-cases"
    assert lines["old", "small"].value is None


def test_strata_without_a_criterion_hold_each_by_itself() -> None:
    result = run(study({"min": 0.1}, by=[["height"]]), faces(30, 10, height=10))
    small = share(result, height="small")
    assert small["simultaneous"] == 1
    assert small["low"] == pytest.approx(float(wilson(30, 40, 0.05).low))
    assert share(result, height="large")["note"]["code"] == "no-cases"


def test_too_many_left_out_decides_nothing() -> None:
    rows = [*faces(80, 0, height=10), *faces(20, 0)]
    rule = {"by": ["height"], "worst_group": {"min": 0.1}}
    (decided,) = run(study(rule, by=[["height"]]), rows).criteria
    assert (decided.state, decided.reason.code) == ("INSUFFICIENT_EVIDENCE", "too-many-left-out")
    assert decided.reason.fields == {"count": 20, "rows": 100, "limit": 0.1}


def test_a_gate_spends_its_share_of_the_error_rate() -> None:
    """One of five reads: every interval is at 1 - .05/5."""
    protocol = study({"max": 0.1}, kind="protective_failure")
    whole = share(run(protocol, faces(97, 3), share=Fraction(1, 5)))
    assert whole["confidence"] == pytest.approx(0.99)
    assert whole["high"] == pytest.approx(float(wilson(3, 100, 0.01).high))


# --- clusters and weights ----------------------------------------------------------------------------------


def test_clusters_decide_the_interval() -> None:
    """40 images of five faces, all found or all missed: worth about the 40 images, not the 200 faces."""
    rows = [
        {"image": f"i{n}", "found": int(n % 8 > 0)} for n in range(40) for _face in range(5)
    ]  # fmt: skip
    clustered = share(run(study({"min": 0.1}, table={"cluster": "image"}), rows))
    plain = share(run(study({"min": 0.1}), rows))
    assert clustered["method"] == "wilson on effective sample size"
    n = 40 * (stats.t.ppf(0.975, 199) / stats.t.ppf(0.975, 39)) ** 2 * 39 / 40
    low, high = wilson(0.875 * n, n, 0.05)
    assert [clustered["low"], clustered["high"]] == pytest.approx([float(low), float(high)])
    assert clustered["high"] - clustered["low"] > 2 * (plain["high"] - plain["low"])
    few = share(run(study({"min": 0.1}, table={"cluster": "image"}), rows[:50]))
    assert few["note"]["code"] == "too-few-clusters"


DRAWN = {"faces": Drawn({"rare": 100, "common": 10_000}, {"rare": 50, "common": 50}, 7)}
WEIGHTED: dict[str, Any] = {
    "columns": {"p": {"type": "number", "is": "inclusion_probability"}},
    "sampling": {"faces": {"pool": "teste", "strata": "frame", "sizes": {"rare": 50, "common": 50}, "seed": 1}},
    "weights": {"column": "p", "draw": "faces"},
}  # fmt: skip


def weighted_rows() -> list[dict[str, Any]]:
    """25 of 50 rare ones are found and 45 of 50 common ones."""
    return [
        *faces(25, 25, frame="rare", p="0.5"), *faces(45, 5, frame="common", p="0.005"),
    ]  # fmt: skip


def test_inclusion_probabilities_decide_and_the_plain_rate_stands_beside() -> None:
    """The Hájek mean is (100 · .5 + 10,000 · .9)/10,100; its stratified variance, by hand, gives the sample size."""
    result = run(study({"min": 0.5}, **WEIGHTED), weighted_rows(), draws=DRAWN)
    whole = share(result)
    mean = (100 * 0.5 + 10_000 * 0.9) / 10_100
    assert whole["value"] == pytest.approx(mean)
    assert whole["scale"] == "share"
    variance = sum(
        size**2 * (1 - 50 / size) * p * (1 - p) / 49 for size, p in ((100, 0.5), (10_000, 0.9))
    ) / 10_100**2  # fmt: skip
    n = mean * (1 - mean) / variance * (stats.t.ppf(0.975, 99) / stats.t.ppf(0.975, 98)) ** 2
    assert whole["low"] == pytest.approx(float(wilson(mean * n, n, 0.05).low), rel=1e-9)
    plain = next(each for each in result.as_json()["estimates"] if each.get("details"))
    assert (plain["numerator"], plain["denominator"], plain["details"]) == (70, 100, {"weights": "none"})
    assert result.criteria[0].value == pytest.approx(mean)


@pytest.mark.parametrize(("absent", "kept"), [(0, True), (11, True), (12, False)])
def test_drawn_cases_that_never_were_sealed_are_left_out(absent: int, kept: bool) -> None:
    """Beside 100 that were sealed, 11 are less than a tenth of all that were drawn, and 12 of 112 are more."""
    draws = {"faces": replace(DRAWN["faces"], absent=absent)}
    result = run(study({"min": 0.5}, **WEIGHTED), weighted_rows(), draws=draws)
    assert result.rows == 100 + absent
    told = [each.count for each in result.left_out if each.reason == "not-sealed"]
    assert told == ([absent] if absent else [])
    assert (result.criteria[0].reason.code == "too-many-left-out") is not kept
    assert share(result)["denominator"] == 100


@pytest.mark.parametrize(
    ("draws", "change", "code"),
    [
        ({}, {}, "no-draw"),
        (DRAWN, {"p": "0.4"}, "weights-not-drawn"),
        (DRAWN, {"p": "1.5"}, "bad-weights"),
        (DRAWN, {"p": ""}, "bad-weights"),
        (DRAWN, {"frame": ""}, "bad-weights"),
    ],
)
def test_chances_that_are_not_those_of_the_draw_give_no_interval(
    draws: Mapping[str, Drawn], change: Mapping[str, str], code: str
) -> None:
    rows = weighted_rows()
    rows[0] = {**rows[0], **change}
    result = run(study({"min": 0.5}, **WEIGHTED), rows, draws=draws)
    assert share(result)["note"]["code"] == code
    assert result.criteria[0].state == "INSUFFICIENT_EVIDENCE"
    assert result.criteria[0].value is None


def test_a_rehearsal_without_the_draw_tells_of_no_design_effect() -> None:
    """On dev nothing is drawn: no weight is in the clusters' design effect, so it is not that of both."""
    rows = [{**row, "image": f"i{n % 30}"} for n, row in enumerate(weighted_rows())]
    protocol = study({"min": 0.5}, table={"cluster": "image"}, **WEIGHTED)
    assert "design-effect" in {note.code for note in run(protocol, rows, draws=DRAWN).notes}
    rehearsed = run(protocol, rows)
    assert not {"design-effect", "unweighted-beside"} & {note.code for note in rehearsed.notes}
    assert "for this pool" in render(rehearsed.criteria[0].reason)


def test_a_stratum_with_one_case_allows_no_variance() -> None:
    rows = [*faces(25, 25, frame="rare", p="0.5"), *faces(1, 0, frame="common", p="0.005")]
    result = run(study({"min": 0.5}, **WEIGHTED), rows, draws=DRAWN)
    assert result.criteria[0].reason.fields == {"stratum": "common"}
    assert result.criteria[0].reason.code == "lonely-stratum"


def test_crossed_clusters_are_not_estimated() -> None:
    result = run(study({"min": 0.5}, table={"cluster": ["image", "frame"]}), faces(40, 2))
    assert share(result)["note"]["code"] == "crossed-clusters"
    assert result.criteria[0].state == "INSUFFICIENT_EVIDENCE"


# --- differences -------------------------------------------------------------------------------------------

BETWEEN = [{"age": "child", "height": "large"}, {"age": "adult", "height": "large"}]


def test_a_difference_between_strata_is_first_less_second() -> None:
    """.6 less .9 of 200 each; the normal interval, which is near, is -.379 to -.221."""
    rows = [*faces(120, 80, age="child", height=50), *faces(180, 20, age="adult", height=50)]
    rule = {"metric": "stratum_difference", "between": BETWEEN, "min": -0.05}
    protocol = study(rule, control="height", bootstrap={"resamples": 4000, "seed": 5})
    result = run(protocol, rows)
    (decided,) = result.criteria
    assert decided.value == pytest.approx(-0.3)
    assert [decided.low, decided.high] == pytest.approx([-0.379, -0.221], abs=0.01)
    assert (decided.state, decided.reason.code) == ("FAIL", "min-broken")
    assert [(line.numerator, line.denominator) for line in decided.lines] == [(120, 200), (180, 200)]
    again = run(protocol, rows).as_json()
    assert canonical_json(again) == canonical_json(result.as_json())


def test_a_difference_to_nobody_is_not_a_gap_of_zero() -> None:
    rule = {"metric": "stratum_difference", "between": BETWEEN, "min": -0.05}
    (decided,) = run(study(rule, control="height"), faces(120, 80, age="child", height=50)).criteria
    assert (decided.state, decided.reason.code, decided.value) == ("INSUFFICIENT_EVIDENCE", "no-cases", None)


def test_nothing_missed_in_either_stratum_does_not_pass_a_narrow_margin() -> None:
    """40 of 40 in both: what none of 40 still allows, two-sided, is .088 (Clopper and Pearson), beyond .05."""
    rows = [*faces(40, 0, age="child", height=50), *faces(40, 0, age="adult", height=50)]
    rule = {"metric": "stratum_difference", "between": BETWEEN, "min": -0.05}
    (decided,) = run(study(rule, control="height"), rows).criteria
    assert decided.state == "INSUFFICIENT_EVIDENCE"
    assert decided.low == pytest.approx(-float(clopper_pearson(0, 40, 0.05).high))


def test_two_systems_are_compared_on_the_same_cases() -> None:
    """8 found by the first alone and 24 by the second alone of 160: McNemar's exact p is .00700 (STATISTICS b)."""
    protocol = study({"metric": "difference", "systems": ["a", "b"], "min": 0}, systems=["a", "b"])
    first = [*faces(50, 0), *faces(8, 0), *faces(0, 24), *faces(0, 78)]
    second = [*faces(50, 0), *faces(0, 8), *faces(24, 0), *faces(0, 78)]
    tables = {**given(protocol, first, "a").tables, **given(protocol, second, "b").tables}
    result = analyse("it", Given(protocol, tables))
    (row,) = result.tables["paired"]
    assert (row["first_only"], row["second_only"], row["pairs"]) == (8, 24, 160)
    assert row["p_exact"] == pytest.approx(0.00700, abs=5e-6)
    assert row["difference"] == pytest.approx((58 - 74) / 160)
    (decided,) = result.criteria
    assert (decided.state, decided.reason.code) == ("FAIL", "test-broken")


# --- thresholds --------------------------------------------------------------------------------------------


def calibrated(
    target: Mapping[str, float], rows: Rows, kind: str = "recall", blank: str = "not_detected", **more: Any
) -> Any:
    thresholds = {"t": {"calibrate_on": "dev", "table": "faces", "score": "score", "at": target}}
    event = {"score": "score", "threshold": "t", "blank": blank}
    rule = {"min": 0.1} if kind == "recall" else {"max": 0.9}
    protocol = study(rule, kind=kind, event=event, thresholds=thresholds, **more)
    (basis,) = bases_of(protocol, "t")
    return calibrate(given(protocol, rows), "t", basis, "")


def test_a_recall_threshold_is_the_highest_that_keeps_it() -> None:
    """Of scores .01 to 1.00, .95 recall lets 5 go: the sixth lowest, .06; 95 of 100 are at or above it."""
    rows = [{"score": f"{n / 100:.2f}"} for n in range(1, 101)]
    found = calibrated({"recall": 0.95}, rows)
    assert (found.value, found.events, found.cases, found.unresolved) == (0.06, 95, 100, False)
    assert found.low < found.value < found.high


def test_blanks_are_missed_at_any_threshold() -> None:
    """With 3 of 100 blank only two more may go; with 6 blank nothing keeps a recall of .95."""
    rows = [{"score": f"{n / 100:.2f}"} for n in range(4, 101)]
    assert calibrated({"recall": 0.95}, [*rows, {}, {}, {}]).value == 0.06
    assert calibrated({"recall": 0.95}, [*rows, {}, {}, {}], blank="left_out").cases == 97
    with pytest.raises(ThresholdNotAttained) as refused:
        calibrated({"recall": 0.95}, [*rows[3:], *({} for _ in range(6))])
    assert (refused.value.fields["events"], refused.value.fields["cases"]) == (6, 100)


def test_no_threshold_lies_beyond_the_last_number() -> None:
    """Above a score that is the largest float there is none to refuse it at, and no blank is to blame."""
    last = str(np.finfo(np.float64).max)
    rows = [{"score": last, "person": 0} for _ in range(20)]
    with pytest.raises(ThresholdBeyondNumbers) as refused:
        calibrated({"false_positive": 0.05}, [*rows, *({"score": 1} for _ in range(9))], "protective_failure")
    assert "the last number there is" in refused.value.message
    near = [{"score": f"1.{n}e308", "person": 0} for n in range(40, 80, 2)]
    with pytest.raises(ThresholdBeyondNumbers):  # and none that these are rounded up to
        calibrated({"false_positive": 0.05}, [*near, {"score": 1}], "protective_failure", identifiable=True)
    rows[5:] = [{"score": "1", "person": 0} for _ in range(15)]
    found = calibrated({"false_positive": 0.25}, [*rows, {"score": 1}], "protective_failure")
    assert (found.value, found.events) == (float(np.nextafter(1, 2)), 5)


def test_ties_never_exceed_a_target() -> None:
    """Half of all scores are .5: a threshold at .5 keeps all, and the next float up would lose half."""
    rows = [{"score": "0.5"}] * 50 + [{"score": "0.9"}] * 50
    assert calibrated({"recall": 0.95}, rows).value == 0.5
    assert calibrated({"recall": 0.5}, rows).value == 0.9


def test_false_positives_are_counted_where_nobody_is() -> None:
    """Nobody is in 100 images that score .01 to 1.00: at most 5 % of them lie at the float above .95 or more."""
    rows = [{"score": f"{n / 100:.2f}", "person": 0} for n in range(1, 101)]
    found = calibrated(
        {"false_positive": 0.05}, [*rows, *({"score": 1} for _ in range(9))], "protective_failure"
    )
    assert (found.value, found.events, found.cases) == (float(np.nextafter(0.95, 1)), 5, 100)


def test_an_identifiable_threshold_is_nobody_s_score() -> None:
    """Of scores .001 to 1.000, .95 recall lets 50 go: .051, one case's score; .05 is of one in five.

    From .05 on there are 951: the recall is kept. Of false positives of 5 %, the float above .95 is rounded upwards to
    .955, where 46 are left. Woodruff's ends are of the counts 36 and 64 (binomial quantiles of 1,000 at .05: 37 less
    one, and 64), so .037 and .065: outwards .035, and .065 as it is, the last of five.
    """
    rows = [{"score": f"{n / 1000:.3f}", "person": 1} for n in range(1, 1001)]
    found = calibrated({"recall": 0.95}, rows, identifiable=True)
    assert (found.value, found.events, found.cases) == (0.05, 951, 1000)
    assert (stats.binom.ppf(0.025, 1000, 0.05) - 1, stats.binom.ppf(0.975, 1000, 0.05)) == (36, 64)
    assert (found.low, found.high) == (0.035, 0.065)
    nobody = [{**row, "person": 0} for row in rows]
    kept = calibrated({"false_positive": 0.05}, nobody, "protective_failure", identifiable=True)
    assert (kept.value, kept.events) == (0.955, 46)


def test_a_threshold_s_interval_widens_under_clusters() -> None:
    """Faces of one image score alike; the effective size is far below 200, and the interval the wider for it."""
    scores = [n / 40 for n in range(40)]
    rows = [{"score": f"{score:.3f}", "image": f"i{n}"} for n, score in enumerate(scores) for _ in range(5)]
    thresholds = {"t": {"calibrate_on": "dev", "table": "faces", "score": "score", "at": {"recall": 0.8}}}
    event = {"score": "score", "threshold": "t", "blank": "not_detected"}
    widths = []
    for table in ({}, {"cluster": "image"}):
        protocol = study({"min": 0.1}, event=event, thresholds=thresholds, table=table)
        (basis,) = bases_of(protocol, "t")
        found = calibrate(given(protocol, rows), "t", basis, "")
        widths.append(found.high - found.low)
    assert widths[1] > 1.5 * widths[0]
    event_of = np.repeat(np.array(scores) >= 0.2, 5)
    assert effective_size(event_of, np.repeat(np.arange(40), 5), 0.05).size[0] < 45


def test_what_is_identifiable_withholds_small_strata() -> None:
    rows = [*faces(3, 0, height=10), *faces(60, 3, height=50)]
    result = run(study({"min": 0.1}, by=[["height"]], identifiable=True), rows)
    assert share(result, height="small")["note"]["code"] == "withheld"
    assert share(result, height="large")["denominator"] is None
    assert share(result)["denominator"] == 66
