"""Verification by group: what is counted, how it is decided, the ladder, and what disclosure keeps back."""

import csv
import io
import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.studies import HEAD
from tests.unit.analyses.stored import given_to

from lacre.analyses import analyse
from lacre.analyses.feasible_verification import few_resamples
from lacre.analyses.given import Frozen, Given
from lacre.analyses.reasons import TEMPLATES, render
from lacre.analyses.recompute import recompute
from lacre.analyses.result import AnalysisResult
from lacre.broker.register import check
from lacre.protocol.document import canonical, parse
from lacre.protocol.models import Protocol
from lacre.report.kinds.verification_text import verification
from lacre.report.page import Page
from lacre.stats.dyads import subject_bootstrap
from lacre.tables.columns import TypedTable
from lacre.tables.formats import Format
from lacre.tables.join import join_submission
from lacre.tables.read import read_table

RATIO = {
    "id": "ratio",
    "metric": "false_match",
    "by": "group",
    "max_group_ratio": {"form": "max_min", "max": 3},
}
FAR = {"id": "far", "metric": "threshold_distance", "target": {"false_match": 0.1}, "max": 0.05}
MOST = {"id": "most", "metric": "false_match", "max": 0.1}
TEXT = {"type": "text"}
PAIRS = {
    "pair": TEXT,
    "image_a": TEXT,
    "image_b": TEXT,
    "subject_a": TEXT,
    "subject_b": TEXT,
    "same": {"type": "outcome", "positive": "1", "negative": "0"},
    "group": {"type": "category", "values": ["a", "b", "c"]},
    "score": {"type": "number", "from": "submission", "unit": "cosine"},
}
COHORT = {"image": TEXT, "face": TEXT, "person": TEXT, "score": {"type": "number", "from": "submission"}}
SCORES = {"table": "cohort", "on": {"image_a": "image", "image_b": "image"}, "subject": "person"}
Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Study:
    """A protocol with one verification, `v`."""

    protocol: Protocol

    def table(self, name: str, rows: Rows) -> TypedTable:
        declared = self.protocol.tables[name]
        file = io.StringIO()
        writer = csv.DictWriter(file, list(declared.columns), restval="")
        writer.writeheader()
        writer.writerows(rows)
        raw = file.getvalue().encode()
        pool = read_table(raw, declared, name, Format.CSV, only="pool")
        return join_submission(pool, read_table(raw, declared, name, Format.CSV, only="submission"))

    def given(self, rows: Rows, cohort: Rows = (), system: str = "", **more: Any) -> Given:
        named = [{"pair": f"p{place}", **row} for place, row in enumerate(rows)]
        faces = [{"face": f"f{place}", "person": f"q{place}", **row} for place, row in enumerate(cohort)]
        tables = {(system, "pairs"): self.table("pairs", named)}
        if faces:
            tables[system, "cohort"] = self.table("cohort", faces)
        return Given(self.protocol, tables, **more)

    def __call__(self, rows: Rows, cohort: Rows = (), **more: Any) -> AnalysisResult:
        return analyse("v", self.given(rows, cohort, **more), [""])


def study(
    *criteria: Mapping[str, Any], at: float = 0.6, protocol: Mapping[str, Any] | None = None, **plan: Any
) -> Study:
    """Make a study; `cluster` is of its table, and the rest of its plan."""
    cluster = plan.pop("cluster", [])
    document = {
        **HEAD,
        "tables": {
            "pairs": {"key": "pair", "cluster": cluster, "columns": PAIRS},
            "cohort": {"key": ["image", "face"], "columns": COHORT},
        },
        "pools": {"teste": {"tables": ["pairs", "cohort"]}},
        "thresholds": {"t": {"fixed": at}, "n": {"fixed": 2.0}},
        "analyses": {
            "v": {
                "kind": "verification", "pool": "teste", "table": "pairs", "score": "score", "same": "same",
                "group": "group", "direction": "similarity", "threshold": "t", "criteria": list(criteria) or [MOST],
                **plan,
            }
        },
        **(protocol or {}),
    }  # fmt: skip
    return Study(parse(json.dumps(document).encode()))


def pairs(group: str, same: int | str, *scores: float | str, **more: Any) -> list[dict[str, Any]]:
    return [{"group": group, "same": same, "score": score, **more} for score in scores]


def counted(
    group: str, match: int, impostors: int, miss: int = 10, genuine: int = 100
) -> list[dict[str, Any]]:
    """Make a group of so many false matches and non-matches at .6."""
    return [
        *pairs(group, 0, *[0.9] * match, *[0.1] * (impostors - match)),
        *pairs(group, 1, *[0.1] * miss, *[0.9] * (genuine - miss)),
    ]


def estimate(result: AnalysisResult, metric: str, group: str | None = None, **details: Any) -> dict[str, Any]:
    """Return the one estimate of a metric, group and details."""
    wanted = {} if group is None else {"group": group}
    (found,) = [
        each.as_json()
        for each in result.estimates
        if each.metric == metric
        and (metric.endswith("_ratio") or dict(each.group) == wanted)
        and dict(each.details) == details
    ]
    return found


def state(result: AnalysisResult, place: int = 0) -> tuple[str, str]:
    criterion = result.criteria[place]
    assert criterion.reason.code in TEMPLATES
    assert render(criterion.reason) != criterion.reason.code, "a field is missing in the sentence"
    return criterion.state.value, criterion.reason.code


def test_the_worked_example_with_abstentions() -> None:
    """STATISTICS e at t = .6: 2 of 10 and 2 of 8; three abstentions are in neither, a group of them has no rate."""
    rows = [
        *pairs("a", 1, 0.3, 0.5, 0.6, 0.7, 0.8, 0.8, 0.9, 0.95, ""),
        *pairs("a", 0, 0.1, 0.2, 0.3, 0.3, 0.4, 0.5, 0.6, 0.8, 0.2, 0.1, "", ""),
        *pairs("b", 1, ""),
        *pairs("c", 1, 0.7),
        *pairs("", 1, 0.7),
        *pairs("x", 0, 0.1),
        *pairs("a", "", 0.7),
    ]  # fmt: skip
    result = study(targets={"false_match": [0.05, 0.1, 0.25]})(rows)
    groups = {tuple(row["group"].values()): row for row in result.tables["groups"]}
    names = ("impostor", "false_match", "genuine", "false_non_match", "abstained")
    assert [groups[("a",)][name] for name in names] == [10, 2, 8, 2, 3]
    assert [groups[("b",)][name] for name in names] == [0, 0, 0, 0, 1]
    assert [groups[("c",)][name] for name in names] == [0, 0, 1, 0, 0]
    assert [groups[()][name] for name in names] == [11, 2, 10, 2, 4]
    assert estimate(result, "false_match", "a")["value"] == 0.2
    assert estimate(result, "false_match", "b")["note"]["code"] == "no-cases"
    zero = estimate(result, "false_non_match", "c")
    assert (zero["numerator"], zero["zero_bound"]["rule_of_three"]) == (0, 1.0)
    assert {(each.reason, each.column, each.count) for each in result.left_out} == {
        ("missing", "same", 1), ("missing", "group", 1), ("undeclared", "group", 1)
    }  # fmt: skip
    found = [row for row in result.tables["targets"] if row["group"] == {"group": "a"}]
    assert [(row["achieved"], row["other_rate"], row["unresolved"]) for row in found] == [
        (0, 0.75, True), (0.1, 0.375, False), (0.2, 0.25, False)
    ]  # fmt: skip
    nothing = next(row for row in result.tables["targets"] if row["group"] == {"group": "b"})
    assert [nothing[name] for name in ("threshold", "events", "achieved", "other_rate")] == [None] * 4
    json.dumps(result.as_json(), allow_nan=False)


def test_distances_are_the_mirror_image() -> None:
    rows = [*counted("a", 5, 60), *counted("b", 20, 80), *counted("c", 1, 50)]
    mirrored = [{**row, "score": -row["score"]} for row in rows]
    plan: dict[str, Any] = {"targets": {"false_match": [0.1], "false_non_match": [0.1]}}
    one = study(RATIO, FAR, **plan)(rows).as_json()
    other = study(RATIO, FAR, at=-0.6, direction="distance", **plan)(mirrored).as_json()
    assert one["estimates"] == other["estimates"]
    assert one["criteria"] == other["criteria"]
    assert one["tables"]["det"] == other["tables"]["det"]


def test_zero_events_leave_a_ratio_open() -> None:
    """STATISTICS e: 0, 5 and 20 of 10,000 at .05: lower bounds 2.2743 (max/min) and 1.2277 (max/GM), and no ratio."""
    rows = [*counted("a", 0, 10_000), *counted("b", 5, 10_000), *counted("c", 20, 10_000)]
    ratio = [
        {**RATIO, "id": str(most), "max_group_ratio": {"form": "max_min", "max": most}}
        for most in (2.27, 2.28)
    ]
    gm = {**RATIO, "id": "gm", "max_group_ratio": {"form": "max_gm", "max": 1.22}}
    result = study(*ratio, gm)(rows)
    found = estimate(result, "false_match_ratio", form="max_min")
    assert (found["value"], round(found["low"], 4), found["high"]) == (None, 2.2743, None)
    found = estimate(result, "false_match_ratio", form="max_gm")
    assert (found["value"], round(found["low"], 4), found["high"]) == (None, 1.2277, None)
    assert [state(result, place) for place in range(3)] == [
        ("FAIL", "ratio-broken"), ("INSUFFICIENT_EVIDENCE", "ratio-open"), ("FAIL", "ratio-broken")
    ]  # fmt: skip
    assert estimate(result, "false_match", "a")["simultaneous"] == 3
    assert estimate(result, "false_non_match", "a")["simultaneous"] == 1
    assert result.criteria[0].details == {"form": "max_min"}


def test_ratios_are_kept_and_undecided() -> None:
    """10 % of 2,000 each: bounds at .05/3 are .0846 and .1171 (Clopper-Pearson), and their ratio 1.385."""
    rows = [row for group in "abc" for row in counted(group, 200, 2000)]
    kept = {**RATIO, "max_group_ratio": {"form": "max_min", "max": 1.4}}
    open_ = {**RATIO, "id": "o", "max_group_ratio": {"form": "max_min", "max": 1.37}}
    result = study(kept, open_)(rows)
    assert state(result) == ("PASS", "ratio-kept")
    assert state(result, 1) == ("INSUFFICIENT_EVIDENCE", "ratio-undecided")
    assert (result.criteria[0].value, result.criteria[0].low) == (1, 1)
    assert result.criteria[0].high == pytest.approx(1.385, abs=0.002)


def test_a_group_without_impostors_blocks_a_pass_but_not_a_fail() -> None:
    equal = [*counted("a", 200, 2000), *counted("b", 200, 2000), *counted("c", 0, 0)]
    result = study(RATIO)(equal)
    assert state(result) == ("INSUFFICIENT_EVIDENCE", "groups-not-decided")
    assert (result.criteria[0].value, result.criteria[0].high) == (None, None)
    assert result.criteria[0].lines[2].reason.code == "no-cases"
    apart = [*counted("a", 20, 2000), *counted("b", 200, 2000), *counted("c", 0, 0)]
    assert state(study(RATIO)(apart)) == ("FAIL", "ratio-broken")
    few = [*counted("a", 200, 2000), *counted("b", 200, 2000), *counted("c", 20, 20)]
    assert state(study(RATIO)(few)) == ("FAIL", "ratio-broken")
    assert state(study({**RATIO, "min_cell": 30})(few)) == ("INSUFFICIENT_EVIDENCE", "groups-not-decided")
    one = [*counted("a", 200, 2000)]
    assert state(study(RATIO)(one)) == ("INSUFFICIENT_EVIDENCE", "nothing-to-compare")
    assert (
        estimate(study(RATIO)(one), "false_match_ratio", form="max_gm")["note"]["code"]
        == "nothing-to-compare"
    )
    assert state(study(RATIO, FAR)(pairs("a", 1, 0.9)), 0) == ("INSUFFICIENT_EVIDENCE", "no-cases")
    assert state(study(RATIO, FAR)(pairs("a", 1, 0.9)), 1) == ("INSUFFICIENT_EVIDENCE", "nothing-to-compare")


def test_a_ceiling_on_all_and_on_the_worst_group() -> None:
    rows = [*counted("a", 2, 200), *counted("b", 2, 200), *counted("c", 60, 200)]
    worst = {"id": "w", "metric": "false_match", "by": "group", "worst_group": {"max": 0.1}}
    result = study(MOST, worst, {**MOST, "id": "m", "max": 0.2}, {**MOST, "id": "x", "max": 0.05})(rows)
    assert [state(result, place) for place in range(4)] == [
        ("INSUFFICIENT_EVIDENCE", "undecided"),
        ("FAIL", "ceiling-broken"),
        ("PASS", "max-kept"),
        ("FAIL", "max-broken"),
    ]
    assert [line.state.value for line in result.criteria[1].lines] == ["PASS", "PASS", "FAIL"]


def test_the_order_of_a_verdict() -> None:
    """Review, then too many abstentions (in any group) or left out, then the bounds."""
    rows = [*counted("a", 0, 2000), *counted("b", 200, 2000), *counted("c", 200, 2000)]
    assert state(study(RATIO)(rows))[0] == "FAIL"
    silent = [*rows, *pairs("c", 1, *[""] * 300)]
    plan = study(RATIO, max_abstention=0.12)
    assert state(plan(silent))[1] == "too-many-abstain"
    assert state(study(RATIO, max_abstention=0.125)(silent))[0] == "FAIL"  # 300 of 2,400
    missing = [*rows, *pairs("", 1, *[0.9] * 800)]
    assert state(study(RATIO)(missing)) == ("INSUFFICIENT_EVIDENCE", "too-many-left-out")
    assert state(study(MOST)(missing))[0] == "PASS"  # the group is not asked for
    reviewed = study({**RATIO, "requires_manual_review": True}, MOST)(silent)
    assert state(reviewed) == ("MANUAL_REVIEW", "review-registered")
    result = study(RATIO)(silent, review=("engine-changed",))
    assert (result.state.value, state(result)) == ("MANUAL_REVIEW", ("MANUAL_REVIEW", "engine-changed"))


def test_a_reversed_direction_is_reviewed() -> None:
    rows = [*counted("a", 190, 200, 95, 100), *counted("b", 190, 200, 95, 100)]
    result = study(RATIO, MOST)(rows)
    assert result.state.value == "MANUAL_REVIEW"
    assert state(result) == ("MANUAL_REVIEW", "verification-reversed")
    assert study(MOST, direction="distance")(rows).state.value != "MANUAL_REVIEW"
    half = counted("a", 100, 200, 50, 100)
    assert study(MOST)(half).state.value == "FAIL"
    assert study(MOST)([*half, *pairs("a", 0, 0.9)]).state.value == "MANUAL_REVIEW"


# --- subjects ----------------------------------------------------------------------------------------------


def complete(subjects: int, seed: int) -> list[dict[str, Any]]:
    """Compare every two subjects of group a, whose scores have an effect of each, and each with itself, once."""
    rng = np.random.default_rng(seed)
    effect = rng.normal(0, 0.3, subjects)
    rows = []
    for i, j in itertools.combinations_with_replacement(range(subjects), 2):
        score = float(rng.normal(effect[i] + effect[j] + (2 if i == j else -1.2)))
        rows.append(
            {"group": "a", "same": int(i == j), "score": score, "subject_a": f"s{i}", "subject_b": f"s{j}"}
        )
    return rows


def test_shared_subjects_widen_the_interval_and_where_most_pairs_are_there_the_bootstrap_decides() -> None:
    rows = complete(40, 1)
    limit = {**MOST, "max": 0.3}
    plan: dict[str, Any] = {"at": 0.0, "bootstrap": {"resamples": 500, "seed": 3}}
    plain = study(limit, **plan)(rows)
    shared = study(limit, cluster=["subject_a", "subject_b"], **plan)(rows)
    naive, drawn, wide = (
        estimate(plain, "false_match"), estimate(shared, "false_match"), estimate(shared, "false_match_beside")
    )  # fmt: skip
    assert (naive["numerator"], naive["denominator"]) == (drawn["numerator"], drawn["denominator"])
    assert wide["high"] - wide["low"] > 1.3 * (naive["high"] - naive["low"])
    assert (naive["method"], wide["method"]) == ("wilson", "wilson on effective sample size")
    impostors = [row for row in rows if not row["same"]]
    a, b = (np.array([int(row[name][1:]) for row in impostors]) for name in ("subject_a", "subject_b"))
    events = np.array([row["score"] >= 0 for row in impostors])
    low, high, _ = subject_bootstrap(events, a, b, 0.05, 500, 3)
    assert (drawn["low"], drawn["high"]) == pytest.approx((low[0], high[0]))
    assert drawn["method"] == "subject bootstrap, percentile, 500 resamples, seed 3"
    assert (shared.criteria[0].low, shared.criteria[0].high) == (drawn["low"], drawn["high"])
    together = study(RATIO, cluster=["subject_a", "subject_b"], **plan)(rows)
    assert estimate(together, "false_match", "a")["method"] == "clopper-pearson on effective sample size"
    assert estimate(together, "false_match_beside", "a")["method"] == drawn["method"]
    page = Page()
    verification(page, shared.as_json())
    assert "Beside it: Wilson on effective sample size." in page.render(100)
    assert not [note for note in shared.notes if note.code == "comparisons-independent"]
    assert [note for note in plain.notes if note.code == "comparisons-independent"]
    row = next(row for row in shared.tables["groups"] if row["group"] == {"group": "a"})
    assert (row["false_match_subjects"], row["false_match_dense"]) == (40, True)


def test_subjects_are_the_same_on_either_side_and_truths_that_contradict_them_are_counted() -> None:
    """A chain s0-s1-s2-… listed as a, b: each subject stands once on either side. One pair lies."""
    rows = [
        {"group": "a", "same": 0, "score": 0.1, "subject_a": f"s{i}", "subject_b": f"s{i + 1}"}
        for i in range(40)
    ]
    rows += [{"group": "a", "same": 1, "score": 0.9, "subject_a": "s1", "subject_b": "s2"}]
    rows += [{"group": "a", "same": 0, "score": 0.9, "subject_a": "", "subject_b": "s2"}]
    result = study(MOST, cluster=["subject_a", "subject_b"])(rows)
    found = estimate(result, "false_match", "a")
    # 41 subjects, and 40 comparisons of which 20 share none: 3/20.
    assert (found["denominator"], found["zero_bound"]["rule_of_three"]) == (40, pytest.approx(0.15))
    assert [note.fields["count"] for note in result.notes if note.code == "subjects-contradict"] == [1]
    assert [(each.column, each.count) for each in result.left_out] == [("subject_a+subject_b", 1)]


def test_few_subjects_are_not_estimable() -> None:
    rows = [{**row, "group": "b"} for row in complete(19, 2)] + complete(30, 3)
    result = study(RATIO, FAR, at=0.0, cluster=["subject_a", "subject_b"])(rows)
    assert estimate(result, "false_match", "b")["note"]["code"] == "too-few-clusters"
    assert state(result)[1] == "nothing-to-compare"
    assert state(result, 1)[1] == "nothing-to-compare"


# --- thresholds apart --------------------------------------------------------------------------------------


def shifted(by: float, n: int = 2000) -> list[dict[str, Any]]:
    """Make the same impostors in three groups, those of c higher by `by`."""
    scores = np.random.default_rng(4).normal(0, 0.1, n).round(6).tolist()
    return [row for g in "abc" for row in pairs(g, 0, *(score + by * (g == "c") for score in scores))]


@pytest.mark.parametrize(("by", "verdict"), [(0.5, "FAIL"), (0.0, "PASS"), (0.05, "INSUFFICIENT_EVIDENCE")])
def test_distance_of_thresholds(by: float, verdict: str) -> None:
    """A threshold at .1 of 2,000 of deviation .1 is known to about .004, a distance of two to .006."""
    result = study(FAR, bootstrap={"resamples": 1000, "seed": 1}, at=5.0)(shifted(by))
    criterion = result.criteria[0]
    assert criterion.state.value == verdict
    assert criterion.value == pytest.approx(by)
    assert (criterion.scale, criterion.unit) == ("score", "cosine")
    assert criterion.details == {"target": "false_match", "at": 0.1}
    found = estimate(result, "threshold_distance", target="false_match", at=0.1)
    assert (found["value"], found["low"], found["high"]) == (criterion.value, criterion.low, criterion.high)
    own = [row for row in result.tables["targets"] if row["group"]]
    assert [(row["events"], row["achieved"], row["other_rate"]) for row in own] == [(200, 0.1, None)] * 3
    assert own[2]["threshold"] - own[0]["threshold"] == pytest.approx(by)
    assert [note.fields for note in result.notes if note.code == "few-resamples"] == [
        {"resamples": 1000, "least": 3000}
    ]


def test_an_open_distance_is_undecided() -> None:
    """A target of .001 of 200: no event need be seen, and nothing bounds the thresholds from above."""
    far = {**FAR, "target": {"false_match": 0.001}, "max": 10}
    result = study(far, at=5.0)(shifted(0.0, 200))
    assert state(result) == ("INSUFFICIENT_EVIDENCE", "undecided-open")
    assert result.criteria[0].high is None
    assert all(row["unresolved"] for row in result.tables["targets"] if row["group"])


def test_comparisons_of_few_subjects_leave_a_distance_open() -> None:
    """Each of 25 subjects has one score 80 times: worth 25, of which none need be beyond a threshold for .1."""
    scores = np.random.default_rng(6).normal(0, 0.1, 25).round(6).tolist()
    rows = [
        row
        for group in "abc"
        for place, score in enumerate(scores)
        for row in pairs(group, 0, *[score] * 80, subject_a=f"{group}{place}")
    ]
    clustered = study(FAR, cluster=["subject_a"], at=5.0)(rows)
    assert state(clustered) == ("INSUFFICIENT_EVIDENCE", "undecided-open")
    assert study(FAR, at=5.0)(rows).criteria[0].high is not None


# --- the ladder --------------------------------------------------------------------------------------------

ENROLLED = [0.1, 0.3, 0.2, 0.4, 0.5, 0.0]
TESTED = [0.05, 0.25, 0.45, 0.15, 0.35, 0.55]
S_NORM = {"id": "s", "kind": "s_norm", "scores": SCORES, "ddof": 0, "threshold": "n"}


def cohort(**images: Sequence[float | str]) -> list[dict[str, Any]]:
    return [
        {"image": image, "face": f"f{place}", "person": f"q{place}", "score": score}
        for image, scores in images.items()
        for place, score in enumerate(scores)
    ]


@pytest.mark.parametrize(
    ("rung", "score"),
    [
        (S_NORM, 2.020113),
        ({**S_NORM, "kind": "adaptive_s_norm", "top": 3}, 2.388252),
        ({**S_NORM, "kind": "z_norm"}, 2.166498),
        ({**S_NORM, "kind": "t_norm"}, 1.873728),
        ({**S_NORM, "kind": "z_norm", "scores": {**SCORES, "enrolled": "image_b"}}, 1.873728),
    ],
)
def test_normalised_scores(rung: Mapping[str, Any], score: float) -> None:
    """STATISTICS i. z = .37/(.1 sqrt(35/12)) = 2.166498 and t = .32/(.1 sqrt(35/12)) = 1.873728: steps of .1."""
    rows = pairs("a", 1, 0.62, image_a="e", image_b="q")
    made = study(MOST, mitigations=[rung], targets={"false_non_match": [0.5]})(
        rows, cohort(e=ENROLLED, q=TESTED)
    )
    (found,) = [row["threshold"] for row in made.tables["targets"] if row["group"] == {}]
    assert found == pytest.approx(score, abs=1e-6)


def ladder_rows() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Two groups, of which b scores higher by .5 everywhere: normalised by the cohort they are the same."""
    rng = np.random.default_rng(5)
    scores = rng.normal(0, 0.1, 400).tolist()
    rows, images = [], {}
    for group, lift in (("a", 0.0), ("b", 0.5), ("c", 0.0)):
        images[group] = [lift + 0.1 * step for step in (-1, 0, 1)] * 4
        rows += pairs(group, 0, *(lift + score for score in scores), image_a=group, image_b=group)
        rows += pairs(group, 1, *[lift + 1] * 50, image_a=group, image_b=group)
    return rows, cohort(**images)


LADDER = [{"id": "none"}, S_NORM, {"id": "t", "kind": "training"}]


def test_the_verdict_is_that_of_the_last_rung_and_all_stand_side_by_side() -> None:
    """t = .3 on raw scores: .0013 of a and .98 of b match. t = 2 on normalised ones (deviation .0816): .05 of all."""
    rows, faces = ladder_rows()
    worst = {"id": "w", "metric": "false_match", "by": "group", "worst_group": {"max": 0.12}}
    result = study(worst, FAR, at=0.3, mitigations=LADDER)(rows, faces)
    assert [(row["rung"], row["kind"], row["ran"], row["state"]) for row in result.tables["rungs"]] == [
        ("none", None, True, "FAIL"), ("s", "s_norm", True, "INSUFFICIENT_EVIDENCE"), ("t", "training", False, None)
    ]  # fmt: skip
    assert [each["state"] for each in result.tables["rungs"][1]["criteria"]] == [
        "PASS",
        "INSUFFICIENT_EVIDENCE",
    ]
    before, after = (row["criteria"][0] for row in result.tables["rungs"][:2])
    assert (before["state"], after["state"], after["id"], after["threshold"]) == ("FAIL", "PASS", "w", 0.12)
    assert result.state.value == "INSUFFICIENT_EVIDENCE"
    assert [each.details["rung"] for each in result.criteria] == ["s", "s"]
    assert result.criteria[1].unit is None
    assert estimate(result, "false_match", "b", rung="none")["value"] > 0.9
    assert estimate(result, "false_match", "b", rung="s")["value"] < 0.1
    assert {row["rung"] for row in result.tables["groups"]} == {"none", "s"}
    assert [note.fields["rung"] for note in result.notes if note.code == "verdict-of-rung"] == ["s"]
    assert {"cohort-unchecked", "enrolled-side"} <= {note.code for note in result.notes}
    page = Page()
    verification(page, result.as_json())
    said = page.render(100)
    assert "mitigations, in the registered order" in said
    assert "not run" in said


def test_training_is_a_read_of_its_own() -> None:
    rows, faces = ladder_rows()
    result = study(MOST, at=0.3, mitigations=LADDER)(rows, rung="t")
    assert [(row["rung"], row["ran"]) for row in result.tables["rungs"]] == [
        ("none", False),
        ("s", False),
        ("t", True),
    ]
    assert result.criteria[0].details == {"rung": "t"}
    assert {each.details["rung"] for each in result.estimates} == {"t"}
    assert len(faces) == 36


@pytest.mark.parametrize(
    ("change", "code", "count"),
    [
        ({"a": [""] * 12}, "cohort-missing", 450),
        ({"a": [0.2] * 12}, "cohort-degenerate", 450),
        ({"a": [0.2]}, "cohort-degenerate", 450),
    ],
)
def test_a_cohort_that_leaves_scores_out_is_an_obstacle(
    change: Mapping[str, Sequence[float | str]], code: str, count: int
) -> None:
    """Whatever the bounds would say; the rung before is computed all the same."""
    rows, faces = ladder_rows()
    kept = [face for face in faces if face["image"] != "a"]
    result = study(RATIO, MOST, FAR, at=0.3, mitigations=LADDER)(rows, [*kept, *cohort(**change)])
    for place in range(3):
        assert state(result, place) == ("INSUFFICIENT_EVIDENCE", code)
        criterion = result.criteria[place]
        assert (criterion.value, criterion.low, criterion.high) == (None, None, None)
        assert criterion.reason.fields["count"] == count
    assert result.tables["rungs"][1]["reason"]["code"] == code
    assert not result.tables["rungs"][1]["ran"]
    assert result.tables["rungs"][0]["ran"]
    assert estimate(result, "false_match", "b", rung="s")["note"]["code"] == code
    assert estimate(result, "false_match", "b", rung="none")["value"] > 0.9
    page = Page()
    verification(page, result.as_json())
    assert "not run" in page.render(100)


def test_who_is_tested_may_not_be_in_the_cohort() -> None:
    rows, faces = ladder_rows()
    people = [f"s{place}" for place in range(30)]
    named = [
        {**row, "subject_a": people[place % 30], "subject_b": people[(place + 1 - row["same"]) % 30]}
        for place, row in enumerate(rows)
    ]
    plan = study(MOST, at=0.3, mitigations=LADDER, cluster=["subject_a", "subject_b"])
    apart = plan(named, faces)
    assert state(apart)[1] != "cohort-overlaps"
    assert "cohort-unchecked" not in {note.code for note in apart.notes}
    result = plan(named, [{**face, "person": "s7"} if face["face"] == "f3" else face for face in faces])
    assert state(result) == ("INSUFFICIENT_EVIDENCE", "cohort-overlaps")
    assert result.criteria[0].reason.fields["count"] == 1


# --- what all kinds promise --------------------------------------------------------------------------------


def test_small_groups_are_withheld_in_every_number_that_rests_on_them() -> None:
    """Three impostors of c: neither its rate, nor a ratio, a distance, a rung's number or a row shows it."""
    rows = [*counted("a", 20, 200), *counted("b", 30, 200), *counted("c", 1, 3, 1, 50)]
    protocol = {"data": {"identifiable": True, "prior_exposure": "none"}}
    worst = {"id": "w", "metric": "false_match", "by": "group", "worst_group": {"max": 0.5}}
    plan: dict[str, Any] = {"targets": {"false_match": [0.1, 0.01]}, "mitigations": [{"id": "none"}]}
    result = study(RATIO, FAR, worst, protocol=protocol, **plan)(rows)
    shown = result.as_json()
    for each in shown["estimates"]:
        own = each["group"] == {"group": "c"} and each["metric"] == "false_match"
        rests = own or each["metric"].endswith("_ratio") or each["metric"] == "threshold_distance"
        assert not rests or (each["value"], each["low"], each["high"], each["numerator"]) == (None,) * 4, each
    for criterion in shown["criteria"][:2]:
        assert (criterion["value"], criterion["low"], criterion["high"]) == (None,) * 3
        assert not {"low", "high"} & set(criterion["reason"]["fields"])
    for name in ("groups", "targets", "det", "operating"):
        bare = [row for row in shown["tables"][name] if row["group"] == {"group": "c"}]
        assert bare
        assert all(set(row) <= {"group", "system", "withheld"} for row in bare)
    assert all(each["value"] is None for row in shown["tables"]["rungs"] for each in row["criteria"])
    kept = [row for row in shown["tables"]["targets"] if row["group"] == {} and not row.get("withheld")]
    assert [(row["at"], row["threshold"], row["events"]) for row in kept] == [(0.1, None, 0), (0.01, None, 0)]
    points = [
        point for row in shown["tables"]["det"] if row["group"] == {} for point in row.get("points", ())
    ]
    assert points
    assert all(round(match * 403) >= 5 and round(fail * 250) >= 5 for match, fail in points)
    open_ = study(RATIO, FAR, worst, **plan)(rows).as_json()
    assert all(row["threshold"] is not None for row in open_["tables"]["targets"])


@pytest.mark.parametrize(
    ("by", "verdict", "told"),
    [
        (0.5, ("FAIL", "max-broken"), (0.05, None)),
        (0.0, ("PASS", "max-kept"), (0.0, 0.05)),
        (0.05, ("INSUFFICIENT_EVIDENCE", "withheld"), (None, None)),
    ],
)
def test_no_score_is_told_where_small_groups_are_withheld(
    by: float, verdict: tuple[str, str], told: tuple[float | None, float | None]
) -> None:
    """A threshold is one case's score: whoever submitted it knows the case. A distance tells its verdict alone."""
    rows = [*shifted(by), *(row for group in "abc" for row in pairs(group, 1, *[9.0] * 40))]
    plan: dict[str, Any] = {"bootstrap": {"resamples": 1000, "seed": 1}, "at": 5.0}
    plan["targets"] = {"false_non_match": [0.1], "false_match": [0.2]}
    made = study(FAR, **plan, protocol={"disclosure": {"min_count": 5}})
    result = made(rows)
    plain = study(FAR, **plan)(rows)
    assert state(result) == verdict
    assert result.criteria[0].state is plain.criteria[0].state
    found = estimate(result, "threshold_distance", target="false_match", at=0.1)
    for each in (result.criteria[0].as_json(), found, result.tables["rungs"][0]["criteria"][0]):
        assert each["value"] is None
        assert (each["low"], each["high"]) == pytest.approx(told)
    other = estimate(result, "threshold_distance", target="false_match", at=0.2)
    assert (other["low"], other["high"], other["note"]["code"]) == (None, None, "withheld")
    names = ("threshold", "threshold_low", "threshold_high")
    own = [row[name] for row in result.tables["targets"] for name in names]
    assert own == [None] * 36  # three targets, everybody and three groups
    assert all(row["threshold"] is not None for row in plain.tables["targets"])
    (note,) = [note for note in result.notes if note.code == "estimates-withheld"]
    assert note.fields == {"count": 2 + (told[0] is None), "min_count": 5}
    assert recompute(given_to("v", made.given(rows)), made.protocol).differences == ()


def test_a_share_of_the_error_rate() -> None:
    """One of five reads has a fifth: the intervals are those at .99."""
    rows = [*counted("a", 5, 100), *counted("b", 5, 100)]
    part = study(MOST)(rows, share=Fraction(1, 5)).as_json()["estimates"]
    whole = study(MOST, confidence=0.99)(rows).as_json()["estimates"]
    rates = [each for each in part if each["metric"].startswith("false")]
    assert rates == [each for each in whole if each["metric"].startswith("false")]


def test_systems_are_apart_and_have_their_own_frozen_thresholds() -> None:
    rows = [*counted("a", 5, 100), *counted("b", 5, 100)]
    protocol = {
        "systems": {"x": {"version": "1"}, "y": {"version": "1"}},
        "pools": {"teste": {"tables": ["pairs", "cohort"]}, "dev": {"tables": ["pairs"]}},
        "thresholds": {
            "t": {"calibrate_on": "dev", "table": "pairs", "score": "score", "at": {"false_match": 0.1}}
        },
    }
    plan = study(MOST, protocol=protocol)
    tables = {**plan.given(rows, system="x").tables, **plan.given(rows[::-1], system="y").tables}
    frozen = {("t", "x"): Frozen(0.6, 3), ("t", "y"): Frozen(0.95, 3)}
    result = analyse("v", Given(plan.protocol, tables, frozen), ["x", "y"])
    assert [(row["system"], row["threshold"]) for row in result.tables["operating"] if row["group"] == {}] == [
        ("x", 0.6), ("y", 0.95)
    ]  # fmt: skip
    assert [(each.system, each.value) for each in result.criteria] == [("x", 0.05), ("y", 0.0)]


def test_the_same_rows_give_the_same_bytes() -> None:
    rows, faces = ladder_rows()
    plan = study(RATIO, FAR, at=0.3, mitigations=LADDER)
    one, other = (json.dumps(plan(rows, faces).as_json()) for _ in range(2))
    assert one == other


def test_every_comparison_tied_at_one_score() -> None:
    """Constant scores: all match or none, and no score tells groups apart."""
    rows = [*pairs("a", 0, *[0.6] * 50), *pairs("b", 0, *[0.6] * 50), *pairs("a", 1, *[0.6] * 200)]
    result = study(RATIO, FAR, targets={"false_match": [0.1], "false_non_match": [0.1]})(rows)
    assert estimate(result, "false_match", "a")["value"] == 1
    assert result.criteria[0].value is None
    own = [row for row in result.tables["targets"] if row["target"] == "false_match" and row["cases"]]
    assert {(row["events"], row["other_rate"]) for row in own if row["group"] in ({}, {"group": "a"})} == {
        (0, 1.0)
    }
    json.dumps(result.as_json(), allow_nan=False)


def test_too_few_resamples_are_told_before_the_data() -> None:
    """Three groups are three pairs: 50 * 3 / .05 = 3,000. Of a plan that compares no thresholds nothing is drawn."""
    fewer = study(FAR, bootstrap={"resamples": 2000, "seed": 1}).protocol
    (said,) = few_resamples(fewer)
    assert said.fields == {"analysis": "v", "resamples": 2000, "least": 3000}
    assert "3000" in render(said)
    assert check(canonical(fewer), [], lambda *_: None).warnings == (render(said),)
    enough: list[dict[str, Any]] = [{"bootstrap": {"resamples": 3000, "seed": 1}}, {}]
    for plan in enough:
        assert list(few_resamples(study(FAR, **plan).protocol)) == []
    assert list(few_resamples(study(MOST, bootstrap={"resamples": 2000, "seed": 1}).protocol)) == []


def test_a_distance_without_an_upper_end_says_why() -> None:
    """Six impostors of one group leave the upper end of its threshold open: no score lies far enough out."""
    rows = [*counted("a", 1, 6), *counted("b", 30, 300), *counted("c", 30, 300)]
    result = study(FAR, bootstrap={"resamples": 1000, "seed": 1})(rows)
    assert result.criteria[0].reason.code == "undecided-open"
    assert "too few cases lie beyond its threshold" in render(result.criteria[0].reason)
