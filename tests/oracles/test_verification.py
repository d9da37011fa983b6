"""Rates at thresholds against scikit-learn's curve, and RFW and deepface's pivot against published values."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from sklearn import metrics

from lacre.analyses import analyse
from lacre.analyses.given import Given
from lacre.errors import ProtocolInvalid
from lacre.protocol.document import parse
from lacre.report.kinds.verification_text import verification
from lacre.report.page import Page
from lacre.stats.dyads import compact, dyadic_size, dyadic_wilson
from lacre.stats.proportions import wilson
from lacre.stats.thresholds import (
    Direction,
    matches,
    threshold_for_false_match,
    threshold_for_false_non_match,
)
from lacre.stats.verification import (
    count_by_group,
    det_curve,
    differential_ratio,
    own_operating_points,
    rate_bounds,
    threshold_distance,
)
from lacre.tables.formats import Format
from lacre.tables.join import join_submission
from lacre.tables.read import read_table

RACES = ["African", "Asian", "Caucasian", "Indian"]


@pytest.mark.parametrize("direction", ["similarity", "distance"])
@pytest.mark.parametrize("decimals", [1, 2, 8])
def test_rates_are_the_best_of_scikit_learn_within_the_target(direction: Direction, decimals: int) -> None:
    """Of all thresholds whose false match rate is within the target the least false non-match rate, and reversed."""
    rng = np.random.default_rng(decimals)
    genuine, impostor = rng.normal(1.5, 1, 700).round(decimals), rng.normal(0, 1, 900).round(decimals)
    sign = 1 if direction == "similarity" else -1
    labels = np.repeat([1, 0], [700, 900])
    # Its curve lacks the threshold above all scores: nothing matches there.
    fmr, fnmr, _ = metrics.det_curve(labels, np.concatenate([genuine, impostor]))
    fmr, fnmr = np.append(fmr, 0), np.append(fnmr, 1)
    for target in (0, 0.0005, 0.001, 0.01, 0.0329, 0.1, 0.5):
        at = threshold_for_false_match(sign * impostor, target, direction)
        failed = 700 - matches(sign * genuine, at.threshold, direction).sum()
        assert at.events / 900 <= target
        assert failed / 700 == pytest.approx(fnmr[fmr <= target].min())
        back = threshold_for_false_non_match(sign * genuine, target, direction)
        matched = matches(sign * impostor, back.threshold, direction).sum()
        assert back.events / 700 <= target
        assert matched / 900 == pytest.approx(fmr[fnmr <= target].min())
    curve = det_curve(sign * genuine, sign * impostor, direction)
    points = set(zip((fmr * 900).round().astype(int), (fnmr * 700).round().astype(int), strict=True))
    found = zip((curve.false_match * 900).round(), (curve.false_non_match * 700).round(), strict=True)
    assert len(curve.false_match) > 10
    assert all(any(x == i and y <= j for i, j in points) for x, y in found)


@pytest.fixture(scope="module")
def rfw(data_dir: Path) -> pd.DataFrame:
    """RFW's pairs of four races; a subject is a code over all of them."""
    frames = [pd.read_csv(data_dir / "3-verification" / f"rfw_race_{race}_6000.csv") for race in RACES]
    pairs = pd.concat(frames, ignore_index=True)
    pairs["group"] = np.repeat(np.arange(4), 6000)
    both = pd.concat([pairs["Class_ID_s1"], pairs["Class_ID_s2"]]).factorize()[0]
    pairs["a"], pairs["b"] = both[: len(pairs)], both[len(pairs) :]
    pairs["same"] = pairs["issame"].astype(np.int64)
    return pairs


@pytest.fixture(scope="module")
def expected(data_dir: Path) -> dict[str, Any]:
    for entry in json.loads((data_dir / "expected.json").read_text()):
        if any("rfw_race_African" in file["file"] for file in entry.get("files", [])):
            found: dict[str, Any] = entry["expected"]
            return found
    raise AssertionError


def columns(
    pairs: pd.DataFrame,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    return pairs["bupt_cos_dist"].to_numpy(float), pairs["same"].to_numpy(), pairs["group"].to_numpy()


def test_rfw_at_a_common_threshold(rfw: pd.DataFrame, expected: dict[str, Any]) -> None:
    """The 120th of 12,000 impostor distances and the float below the 121st accept the same pairs."""
    score, same, group = columns(rfw)
    at = threshold_for_false_match(score[same == 0], 0.01, "distance")
    assert (at.events, at.cases, at.unresolved) == (120, 12_000, False)
    for threshold in (expected["T"], at.threshold):
        found = count_by_group(score, same, group, 4, threshold, "distance")
        for place, race in enumerate(RACES):
            assert f"{found.false_match[place]}/{found.impostor[place]}" == expected["FMR"][race]
            assert f"{found.false_non_match[place]}/{found.genuine[place]}" == expected["FNMR"][race]
    bounds = rate_bounds(found.false_match, found.impostor, 0.05)
    ratio = differential_ratio(found.false_match, found.impostor, bounds, "max_min")
    assert ratio.value == pytest.approx(expected["FMR_ratio_max_min"])
    # By hand of 78, 17, 4 and 21: 78 / (78 * 17 * 4 * 21)^(1/4).
    mean = differential_ratio(found.false_match, found.impostor, bounds, "max_gm")
    assert mean.value == pytest.approx(78 / (78 * 17 * 4 * 21) ** 0.25)
    assert 1 < ratio.low < 19.5 < ratio.high


def test_rfw_own_thresholds(rfw: pd.DataFrame, expected: dict[str, Any]) -> None:
    score, same, group = columns(rfw)
    found = own_operating_points(score, same, group, 4, [0.01], "false_match", "distance")
    own = expected["own_threshold_FMR1%"]
    assert [points[0].own.threshold for points in found] == [own[race] for race in RACES]
    assert all(points[0].own.events == 30 for points in found)
    impostor = same == 0
    ends = rfw["a"].to_numpy()[impostor], rfw["b"].to_numpy()[impostor]
    apart = threshold_distance(
        score[impostor],
        group[impostor],
        4,
        0.01,
        "false_match",
        "distance",
        alpha=0.05,
        resamples=1000,
        seed=1,
        ends=ends,
    )
    assert apart.thresholds == tuple(own[race] for race in RACES)
    assert apart.value == pytest.approx(own["Caucasian"] - own["African"])
    assert 0 < apart.low < apart.value < apart.high < 0.2


def test_rfw_shares_subjects(rfw: pd.DataFrame, expected: dict[str, Any]) -> None:
    """One identity stands at 41 ends of pairs; intervals are as wide as those of independent pairs, or wider."""
    score, same, group = columns(rfw)
    a, b = rfw["a"].to_numpy(), rfw["b"].to_numpy()
    assert np.bincount(np.concatenate([a, b])).max() == 41
    impostor = same == 0
    assert (a[impostor] != b[impostor]).all()
    assert (a[~impostor] == b[~impostor]).all()
    for side in (impostor, ~impostor):
        events = (score[side] <= expected["T"]).astype(np.int64)
        found = dyadic_size(events, a[side], b[side], group[side], 4)
        assert not found.dense.any()
        assert list(found.cases) == [3000] * 4
        assert list(found.subjects) == [
            len(compact(a[side & (group == g)], b[side & (group == g)])[0]) for g in range(4)
        ]
        low, high = dyadic_wilson(found, 0.05)
        naive = wilson(found.events, found.cases, 0.05)
        assert ((high - low) >= (naive.high - naive.low) * (1 - 1e-12)).all()
        assert ((high - low) > (naive.high - naive.low)).any()


def analysed(
    pairs: pd.DataFrame, plan: dict[str, Any], columns: dict[str, Any], threshold: float
) -> dict[str, Any]:
    """Run a verification over a file's rows as they are written; the submission is the score alone."""
    own = {name: value for name, value in plan.items() if name != "cluster"}
    pair = {
        "key": "pair",
        "cluster": plan.get("cluster", []),
        "columns": {"pair": {"type": "text"}, **columns},
    }
    document = {
        "lacre": 1, "study": "public", "title": "Public files", "question": "Apart?", "language": "en",
        "data": {"identifiable": False, "prior_exposure": "published"},
        "tables": {"pairs": pair},
        "pools": {"contraste": {"tables": ["pairs"]}, "teste": {"tables": ["pairs"]}},
        "thresholds": {"t": {"fixed": threshold}},
        "analyses": {"v": {"kind": "verification", "table": "pairs", "threshold": "t", **own}},
    }  # fmt: skip
    protocol = parse(json.dumps(document).encode())
    named = pairs.assign(pair=[f"p{place}" for place in range(len(pairs))])
    declared = protocol.tables["pairs"]
    raw = named.to_csv(index=False).encode()
    pool = read_table(raw, declared, "pairs", Format.CSV, only="pool")
    table = join_submission(pool, read_table(raw, declared, "pairs", Format.CSV, only="submission"))
    return analyse("v", Given.of_one(protocol, "pairs", table), [""]).as_json()


def test_rfw_as_a_study(data_dir: Path, expected: dict[str, Any]) -> None:
    """FMR, FNMR, own thresholds and the ratio of `expected.json`, and intervals of shared subjects and naive ones."""
    read = [
        pd.read_csv(data_dir / "3-verification" / f"rfw_race_{race}_6000.csv", dtype=str).assign(race=race)
        for race in RACES
    ]
    columns = {
        "Class_ID_s1": {"type": "text"},
        "Class_ID_s2": {"type": "text"},
        "issame": {"type": "outcome", "positive": "True", "negative": "False"},
        "race": {"type": "category", "values": RACES},
        "bupt_cos_dist": {"type": "number", "from": "submission"},
    }
    ratio = {"metric": "false_match", "by": "race", "max_group_ratio": {"form": "max_min", "max": 3}}
    plan = {
        "pool": "contraste", "score": "bupt_cos_dist", "same": "issame", "group": "race", "direction": "distance",
        "targets": {"false_match": [0.01]}, "bootstrap": {"resamples": 1000, "seed": 1},
        "criteria": [{"id": "ratio", **ratio}],
    }  # fmt: skip
    pairs = pd.concat(read, ignore_index=True)
    shared = analysed(pairs, {**plan, "cluster": ["Class_ID_s1", "Class_ID_s2"]}, columns, expected["T"])
    naive = analysed(pairs, plan, columns, expected["T"])
    assert (shared["state"], shared["criteria"][0]["value"]) == ("FAIL", pytest.approx(19.5))
    (apart,) = [
        each for each in shared["estimates"] if each["metric"] == "false_match_ratio" and each.get("versus")
    ]
    assert (apart["group"], apart["versus"]) == ({"race": "African"}, {"race": "Caucasian"})
    rates = {(each["metric"], each["group"].get("race")): each for each in shared["estimates"]}
    plain = {(each["metric"], each["group"].get("race")): each for each in naive["estimates"]}
    for race in RACES:
        for metric, key in (("false_match", "FMR"), ("false_non_match", "FNMR")):
            each, beside = rates[metric, race], plain[metric, race]
            assert f"{each['numerator']}/{each['denominator']}" == expected[key][race]
            assert each["high"] - each["low"] >= (beside["high"] - beside["low"]) * (1 - 1e-9)
        (own,) = [row for row in shared["tables"]["targets"] if row["group"] == {"race": race}]
        assert own["threshold"] == expected["own_threshold_FMR1%"][race]
        assert own["threshold_low"] < own["threshold"] < own["threshold_high"]
        assert (own["events"], own["cases"], own["unresolved"]) == (30, 3000, False)
    wider = [rates["false_non_match", race]["high"] - rates["false_non_match", race]["low"] for race in RACES]
    plainly = [
        plain["false_non_match", race]["high"] - plain["false_non_match", race]["low"] for race in RACES
    ]
    assert all(one > 1.2 * other for one, other in zip(wider, plainly, strict=True))


def test_deepface_pivot_has_no_errors(data_dir: Path) -> None:
    """Facenet's cosine distances part 140 genuine from 140 impostor pairs: 0/140 is "up to 2.1 %", never 0."""
    pairs = pd.read_csv(data_dir / "3-verification" / "deepface_face-recognition-pivot.csv", dtype=str)
    score: npt.NDArray[np.float64] = np.array(pairs["Facenet_cosine"], np.float64)
    same = (pairs["decision"] == "Yes").to_numpy()
    at = threshold_for_false_match(score[~same], 0.001, "distance")
    assert (at.events, at.cases, at.unresolved) == (0, 140, True)
    columns = {
        "decision": {"type": "outcome", "positive": "Yes", "negative": "No"},
        "everybody": {"type": "category", "values": ["all"]},
        "Facenet_cosine": {"type": "number", "from": "submission"},
    }
    plan = {
        "pool": "teste", "score": "Facenet_cosine", "same": "decision", "group": "everybody", "direction": "distance",
        "targets": {"false_match": [0.001]},
        "criteria": [{"id": str(most), "metric": "false_match", "max": most} for most in (0.05, 0.02)],
    }  # fmt: skip
    found = analysed(pairs.assign(everybody="all"), plan, columns, at.threshold)
    assert [each["state"] for each in found["criteria"]] == ["PASS", "INSUFFICIENT_EVIDENCE"]
    rates = [each for each in found["estimates"] if each["metric"] in ("false_match", "false_non_match")]
    assert [(each["numerator"], each["denominator"]) for each in rates] == [(0, 140)] * 4
    assert all(each["zero_bound"]["rule_of_three"] == pytest.approx(3 / 140) for each in rates)
    page = Page()
    verification(page, found)
    said = page.render(100)
    assert said.count("up to 2.1 %") >= 4
    assert not re.search(r"(?<![\d.])0(\.0+)? %", said)


def test_rates_without_counts_are_refused(data_dir: Path) -> None:
    """NIST's Annex 15 has rates by group in its columns: nothing in it is a comparison, and no interval can be made."""
    rates = pd.read_csv(data_dir / "3-verification" / "nist-frvt3-annex15-data-flat.csv")
    name = next(column for column in rates.columns if column.startswith("FMR"))
    columns = {
        "same": {"type": "outcome", "positive": "1", "negative": "0"},
        "group": {"type": "category", "values": ["F.Black", "F.White"]},
        name: {"type": "number", "from": "submission"},
    }
    plan = {
        "pool": "teste", "score": name, "same": "same", "group": "group", "direction": "similarity",
        "criteria": [{"id": "m", "metric": "false_match", "max": 0.1}],
    }  # fmt: skip
    with pytest.raises(
        ProtocolInvalid, match="without the comparisons they were counted on they have no interval"
    ):
        analysed(rates, plan, columns, 0.5)
