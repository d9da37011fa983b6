"""Whole studies of faces on the public files, against published numbers.

Expected counts stand in the data's own `expected.json`; what it lacks is computed here by other means than
lacre's, from the definitions of the sources that are named.
"""

import json
import math
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint
from tests.scripts.real import Answer, Shell, expected_of, plan_of, read, rows_of, write

RACES = ("African", "Asian", "Caucasian", "Indian")
COMMON = 0.4691405892372131
"""RFW's common threshold, of `expected.json`."""


# --- verification ------------------------------------------------------------------------------------------

RATIOS = [
    {"id": f"{metric}-{form}", "metric": metric, "by": ["group"], "max_group_ratio": {"form": form, "max": 3}}
    for metric in ("false_match", "false_non_match")
    for form in ("max_min", "max_gm")
]


def _rfw(data_dir: Path) -> list[dict[str, str]]:
    found = [
        {**row, "group": race}
        for race in RACES
        for row in rows_of(data_dir / "3-verification" / f"rfw_race_{race}_6000.csv")
    ]
    return [{"pair": f"p{place}", **row} for place, row in enumerate(found)]


def _dyadic_variance(rows: Sequence[Mapping[str, str]], events: Sequence[int]) -> float:
    """(sum of S_i squared - sum of R_ij squared) / M squared; Cameron and Miller 2014, as in."""
    rate = sum(events) / len(events)
    touching: defaultdict[str, float] = defaultdict(float)
    between: defaultdict[frozenset[str], float] = defaultdict(float)
    for row, event in zip(rows, events, strict=True):
        pair = frozenset((row["Class_ID_s1"], row["Class_ID_s2"]))
        between[pair] += event - rate
        for subject in pair:
            touching[subject] += event - rate
    alone = sum(r * r for pair, r in between.items() if len(pair) == 2)
    return (sum(s * s for s in touching.values()) - alone) / len(events) ** 2


def _exact(rows: Sequence[Mapping[str, str]], events: Sequence[int], *, shared: bool) -> tuple[float, float]:
    """Clopper-Pearson at .05 over four groups, on the cases or on the effective sample size of dyads."""
    rate, size, alpha = sum(events) / len(events), float(len(events)), 0.05 / len(RACES)
    if shared:
        size = min(size, rate * (1 - rate) / _dyadic_variance(rows, events))
    k = rate * size
    return stats.beta.ppf(alpha / 2, k, size - k + 1), stats.beta.isf(alpha / 2, k + 1, size - k)


def test_faces_in_the_wild_by_race(shell: Shell, data_dir: Path) -> None:
    """RFW: 24,000 pairs, one identity in up to 41 of them; a distance, at one threshold and at each race's own."""
    rows = _rfw(data_dir)
    shared_by = ("Class_ID_s1", "Class_ID_s2")
    kept = ("pair", *shared_by, "issame", "group")
    pool = write(shell.folder / "pairs.csv", [{name: row[name] for name in kept} for row in rows])
    scored = [{name: row[name] for name in ("pair", "bupt_cos_dist")} for row in rows]
    columns = {
        **{name: {"type": "text"} for name in ("pair", *shared_by)},
        "issame": {"type": "outcome", "positive": "True", "negative": "False"},
        "group": {"type": "category", "values": list(RACES), "is": "demographic"},
        "bupt_cos_dist": {"type": "number", "from": "submission"},
    }
    plan = {
        "kind": "verification",
        "score": "bupt_cos_dist",
        "same": "issame",
        "group": "group",
        "direction": "distance",
        "threshold": "common",
        "targets": {"false_match": [0.01]},
        "bootstrap": {"resamples": 6000, "seed": 1},
        "criteria": [
            *RATIOS,
            {"id": "apart", "metric": "threshold_distance", "target": {"false_match": 0.01}, "max": 0.05},
        ],
    }
    table = {"key": "pair", "cluster": list(shared_by), "columns": columns}
    thresholds = {"common": {"fixed": COMMON}}
    document = plan_of("rfw", {"pairs": table}, {"race": plan}, "contraste", thresholds=thresholds)
    answer = read(shell, document, [pool], [write(shell.folder / "scores.csv", scored)])
    published = expected_of(data_dir, "rfw_race_African_6000.csv")
    assert published["T"] == COMMON
    bounds: dict[str, dict[str, tuple[float, float]]] = {}
    wider = {}
    for metric, short, truth in (("false_match", "FMR", "False"), ("false_non_match", "FNMR", "True")):
        bounds[metric] = {}
        for race in RACES:
            assert answer.counts(metric, group=race) == published[short][race]
            cases = [row for row in rows if (row["group"], row["issame"]) == (race, truth)]
            accepted = [float(row["bupt_cos_dist"]) <= COMMON for row in cases]
            events = [int(each == (truth == "False")) for each in accepted]
            told = answer.estimate(metric, group=race)
            bounds[metric][race] = _exact(cases, events, shared=True)
            assert (told["low"], told["high"]) == pytest.approx(bounds[metric][race], rel=1e-9)
            naive = _exact(cases, events, shared=False)
            wider[metric, race] = (told["high"] - told["low"]) / (naive[1] - naive[0])
    assert min(wider.values()) >= 1 - 1e-9
    assert max(wider.values()) > 1.4, "subjects that are shared must widen an interval"
    of_each = [row for row in answer.analysis()["tables"]["targets"] if row["group"]]
    targets = {row["group"]["group"]: row for row in of_each}
    for race in RACES:
        assert targets[race]["threshold"] == published["own_threshold_FMR1%"][race]
        assert (targets[race]["events"], targets[race]["cases"]) == (30, 3000)
    criteria = answer.criteria()
    for metric, ends in bounds.items():
        counts = [answer.estimate(metric, group=race)["numerator"] for race in RACES]
        _ratio(criteria[f"{metric}-max_min"], max(counts) / min(counts), _max_min(ends))
        mean = math.prod(counts) ** (1 / len(counts))
        _ratio(criteria[f"{metric}-max_gm"], max(counts) / mean, _max_gm(ends))
    assert criteria["false_match-max_min"]["value"] == published["FMR_ratio_max_min"] == 19.5
    assert criteria["false_match-max_min"]["state"] == "FAIL"
    assert criteria["false_non_match-max_min"]["state"] == "PASS"
    own = published["own_threshold_FMR1%"].values()
    apart = max(each for each in own if isinstance(each, float)) - published["own_threshold_FMR1%"]["African"]
    assert criteria["apart"]["value"] == pytest.approx(apart, abs=1e-12)
    assert criteria["apart"]["low"] < apart < criteria["apart"]["high"]
    assert "78 of 3000" in answer.text
    assert "19.5" in answer.page


def _max_min(bounds: Mapping[str, tuple[float, float]]) -> tuple[float, float]:
    pairs = [(a, b) for a in bounds for b in bounds if a != b]
    return (
        max(1, *(bounds[a][0] / bounds[b][1] for a, b in pairs)),
        max(bounds[a][1] / bounds[b][0] for a, b in pairs),
    )


def _max_gm(bounds: Mapping[str, tuple[float, float]]) -> tuple[float, float]:
    count = len(bounds)

    def over(group: str, own: int) -> float:
        rest = math.prod(bounds[each][1 - own] for each in bounds if each != group)
        return float(bounds[group][own] ** ((count - 1) / count) / rest ** (1 / count))

    return max(1, *(over(each, 0) for each in bounds)), max(over(each, 1) for each in bounds)


def _ratio(criterion: Mapping[str, Any], value: float, bounds: tuple[float, float]) -> None:
    assert criterion["value"] == pytest.approx(value, rel=1e-12)
    assert (criterion["low"], criterion["high"]) == pytest.approx(bounds, rel=1e-9)


def test_nothing_counted_is_never_told_as_zero(shell: Shell, data_dir: Path) -> None:
    """The pivot of deepface: a threshold with no error on 140 and 140 pairs; 3/140, and 1 - .05^(1/140) exactly."""
    rows = rows_of(data_dir / "3-verification" / "deepface_face-recognition-pivot.csv")
    cells = [{**row, "half": ("first", "second")[place % 2]} for place, row in enumerate(rows)]
    by = {said: [float(r["Facenet_cosine"]) for r in rows if r["decision"] == said] for said in ("Yes", "No")}
    assert max(by["Yes"]) < min(by["No"])
    files = ("file_x", "file_y")
    pool = write(shell.folder / "p.csv", [{n: r[n] for n in (*files, "decision", "half")} for r in cells])
    scores = write(shell.folder / "s.csv", [{n: r[n] for n in (*files, "Facenet_cosine")} for r in cells])
    columns = {
        **{name: {"type": "text"} for name in files},
        "decision": {"type": "outcome", "positive": "Yes", "negative": "No"},
        "half": {"type": "category", "values": ["first", "second"]},
        "Facenet_cosine": {"type": "number", "from": "submission"},
    }
    plan = {
        "kind": "verification",
        "score": "Facenet_cosine",
        "same": "decision",
        "group": "half",
        "direction": "distance",
        "threshold": "between",
        "criteria": [
            {"id": "matches", "metric": "false_match", "max": 0.02},
            {"id": "ratio", "metric": "false_match", "by": "half",
             "max_group_ratio": {"form": "max_min", "max": 3}},
        ],
    }  # fmt: skip
    between = (max(by["Yes"]) + min(by["No"])) / 2
    document = plan_of(
        "pivot",
        {"pairs": {"key": list(files), "columns": columns}},
        {"pivot": plan},
        thresholds={"between": {"fixed": between}},
    )
    answer = read(shell, document, [pool], [scores])
    for metric in ("false_match", "false_non_match"):
        assert answer.counts(metric) == "0/140"
        bound = answer.estimate(metric)["zero_bound"]
        assert bound["rule_of_three"] == 3 / 140
        assert bound["exact"] == pytest.approx(1 - 0.05 ** (1 / 140), rel=1e-12)
    ratio = answer.criteria()["ratio"]
    assert (ratio["state"], ratio["value"], ratio["low"], ratio["high"]) == (
        "INSUFFICIENT_EVIDENCE", None, 1, None,
    )  # fmt: skip
    assert answer.criteria()["matches"]["state"] == "INSUFFICIENT_EVIDENCE"
    told = [line for line in answer.text.splitlines() if "0 of 140" in line or line.startswith("  matches ")]
    assert len(told) >= 4
    assert all("up to 2.1 %" in line for line in told if "matches  INSUFF" not in line)
    assert answer.page.count("up to 2.1 %") >= 4
    for cell in (r">0(\.0+)? ?%</td>", r">0(\.0+)?</td>\s*<td[^>]*>0(\.0+)?–"):
        assert re.search(cell, answer.page) is None
    assert re.search(r"of 140 +0(\.0+)? ?%", answer.text) is None


RATE_COLUMNS = {
    "Algorithm": {"type": "text"},
    "FMR.F.Black": {"type": "number"},
    "FNMR.F.Black": {"type": "number"},
}
VERIFICATION = {
    "kind": "verification",
    "score": "FMR.F.Black",
    "same": "same",
    "group": "group",
    "direction": "distance",
    "threshold": "t",
    "criteria": [{"id": "ratio", "metric": "false_match", "by": "group",
                  "max_group_ratio": {"form": "max_min", "max": 3}}],
}  # fmt: skip


@pytest.mark.parametrize(
    "tried",
    [
        VERIFICATION,
        {**VERIFICATION, "same": "FNMR.F.Black"},
        {**{k: v for k, v in VERIFICATION.items() if k not in ("score", "same")}, "fmr": "FMR.F.Black"},
        {**VERIFICATION, "rates": {"F.Black": "FMR.F.Black"}},
        {**VERIFICATION, "false_match_rate": "FMR.F.Black"},
    ],
    ids=["as-score", "as-truth", "fmr", "rates", "false-match-rate"],
)
def test_rates_without_counts_are_refused_with_the_reason(
    shell: Shell, data_dir: Path, tried: Mapping[str, Any]
) -> None:
    """NIST IR 8280, annex 15: a false match rate a group and algorithm, and of how many comparisons nobody says."""
    columns = list(rows_of(data_dir / "3-verification" / "nist-frvt3-annex15-data-flat.csv")[0])
    assert set(RATE_COLUMNS) <= set(columns)
    table = {
        "key": "Algorithm",
        "columns": {
            **RATE_COLUMNS,
            "same": {"type": "outcome", "positive": "1", "negative": "0"},
            "group": {"type": "category", "values": ["F.Black", "M.White"]},
        },
    }
    document = plan_of(
        "annex", {"rates": table}, {"annex": tried}, "contraste", thresholds={"t": {"fixed": 1}}
    )
    (shell.folder / "annex.json").write_text(json.dumps(document))
    shell.json("init")
    for verb in ("check", "register"):
        refused = shell.lacre(verb, "annex.json", "--json")
        assert refused.status == 2
        assert "without the comparisons they were counted on they have no interval" in refused.out
    assert shell.json("status")["studies"] == []


# --- detection ---------------------------------------------------------------------------------------------

HEIGHTS = {"<16": [0, 16], "16-31": [16, 32], "32-63": [32, 64], "64-127": [64, 128], ">=128": [128, None]}
SKINS = ("I", "II", "III", "IV", "V", "VI")


def _wider(shell: Shell, data_dir: Path, blank: str) -> Answer:
    columns = {
        "row": {"type": "text"},
        "image": {"type": "text"},
        "skin": {"type": "ordinal", "values": list(SKINS), "missing": ["", "Not Sure"], "is": "demographic"},
        "h": {"type": "number", "min": 0, "unit": "px", "bins": HEIGHTS},
        "confidence": {"type": "number", "from": "submission"},
    }
    plan = {
        "kind": "recall",
        "detected": {"score": "confidence", "threshold": "half", "blank": blank},
        "by": [["h"], ["skin", "h"]],
        "control": "h",
        "criteria": [
            {"id": "all", "metric": "recall", "min": 0.8},
            {
                "id": "worst",
                "metric": "recall",
                "by": ["skin", "h"],
                "worst_group": {"min": 0.5},
                "min_cell": 30,
            },
        ],
    }
    table = {"key": "row", "cluster": "image", "columns": columns}
    document = plan_of("wider", {"faces": table}, {"recall": plan}, thresholds={"half": {"fixed": 0.5}})
    source = str(data_dir / "4-detection" / "DERIVED_widerface_yolov7_join.csv")
    return read(shell, document, [source], [source])


def test_faces_found_by_skin_and_height(shell: Shell, data_dir: Path) -> None:
    """WIDER FACE, boxes of a detector: skin is unknown of 19.4 %, which is no tenth; clusters are images.

    The design effect is V/(pq/n), V = G/(G-1) * sum of squared cluster residuals / n^2, here 2.22. Bootstraps of
    the images scatter around it: 10,000 resamples, ten times over, 2.23 give or take .03; 4,000 of one seed, 2.17.
    The interval is Wilson's on n_eff * (t_{n-1}/t_{G-1})^2 (Korn and Graubard 1998).
    """
    answer = _wider(shell, data_dir, "not_detected")
    published = expected_of(data_dir, "DERIVED_widerface_yolov7_join.csv")["recall_conf>=0.5"]
    whole = answer.estimate("recall")
    assert (answer.counts("recall"), round(whole["value"], 4)) == ("10258/12190", published["all"])
    for height, counts in published["height_px"].items():
        if height != "<16":
            assert answer.counts("recall", h=height) == counts
    tiny = answer.estimate("recall", h="<16")
    assert (tiny["denominator"], tiny["value"], tiny["note"]["code"]) == (9, None, "too-few-clusters")
    for skin in SKINS:
        cells = [answer.estimate("recall", skin=skin, h=height) for height in HEIGHTS]
        # The cells of less than 16 px cannot be estimated; none of their faces is found.
        found = sum(cell["numerator"] or 0 for cell in cells)
        assert f"{found}/{sum(cell['denominator'] for cell in cells)}" == published["skin"][skin]
    criteria = answer.criteria()
    assert criteria["all"]["state"] == "PASS"
    worst = criteria["worst"]
    assert (worst["state"], worst["reason"]["code"]) == ("INSUFFICIENT_EVIDENCE", "too-many-left-out")
    assert worst["reason"]["fields"] == {"count": 2365, "rows": 12190, "limit": 0.1}
    assert round(2365 / 12190, 3) == 0.194
    assert answer.document["state"] == "INSUFFICIENT_EVIDENCE"

    rows = rows_of(data_dir / "4-detection" / "DERIVED_widerface_yolov7_join.csv")
    rate, size = 10258 / 12190, len(rows)
    residuals: defaultdict[str, float] = defaultdict(float)
    for row in rows:
        residuals[row["image"]] += (row["confidence"] != "" and float(row["confidence"]) >= 0.5) - rate
    clusters = len(residuals)
    variance = sum(r * r for r in residuals.values()) / size**2 * clusters / (clusters - 1)
    effect = variance / (rate * (1 - rate) / size)
    assert f"Design effect over all cases: {effect:.2f} " in answer.text
    assert f"{effect:.2f}" == "2.22"
    effective = size / effect * (stats.t.ppf(0.975, size - 1) / stats.t.ppf(0.975, clusters - 1)) ** 2
    wilson = proportion_confint(rate * effective, effective, 0.05, "wilson")
    assert (whole["low"], whole["high"]) == pytest.approx(wilson, rel=1e-6)


def test_blank_scores_left_out_are_another_recall(shell: Shell, data_dir: Path) -> None:
    """A blank means that nothing was found: leaving it out gives .9029 for .8415, as published."""
    answer = _wider(shell, data_dir, "left_out")
    assert round(answer.estimate("recall")["value"], 4) == 0.9029
    assert {"column": "confidence", "count": 829, "reason": "missing"} in answer.analysis()["left_out"]
