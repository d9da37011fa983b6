"""The gate on published decisions: ProPublica's COMPAS files, an Adult classifier with reversed labels."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.studies import HEAD

from lacre.analyses import analyse
from lacre.analyses.estimate import Estimate
from lacre.analyses.given import Given
from lacre.analyses.result import AnalysisResult
from lacre.analyses.verdict import State
from lacre.protocol.document import parse
from lacre.stats.proportions import wilson
from lacre.tables.formats import Format
from lacre.tables.join import join_submission
from lacre.tables.read import read_table

RACES = ["African-American", "Caucasian", "Hispanic", "Other", "Asian", "Native American"]
AEQUITAS = {
    "key": "entity_id",
    "columns": {
        "entity_id": {"type": "text"},
        "label_value": {"type": "outcome", "positive": "1", "negative": "0"},
        "score": {"type": "outcome", "positive": "1.0", "negative": "0.0", "from": "submission"},
        "race": {"type": "category", "values": RACES},
        "sex": {"type": "category", "values": ["Male", "Female"]},
    },
}
PROPUBLICA = {
    "key": "id",
    "columns": {
        "id": {"type": "text"},
        "two_year_recid": {"type": "outcome", "positive": "1", "negative": "0"},
        "score_text": {
            "type": "outcome",
            "positive": ["Medium", "High"],
            "negative": "Low",
            "from": "submission",
        },
        "race": {"type": "category", "values": RACES},
        "sex": {"type": "category", "values": ["Male", "Female"]},
        "days_b_screening_arrest": {"type": "number"},
    },
}
ADULT = {
    "key": "entity_id",
    "columns": {
        "entity_id": {"type": "text"},
        "label_value": {"type": "outcome", "positive": "1", "negative": "0"},
        "score": {"type": "outcome", "positive": "1.0", "negative": "0.0", "from": "submission"},
        "gender": {"type": "category", "values": ["Male", "Female"]},
        "race": {
            "type": "category",
            "values": ["White", "Black", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other"],
        },
    },
}


def expected(data_dir: Path, name: str) -> Any:
    entries = json.loads((data_dir / "expected.json").read_text())
    return next(e["expected"] for e in entries if any(f["file"] == f"1-fairness/{name}" for f in e["files"]))


def reveal(
    data_dir: Path, name: str, table: Mapping[str, Any], label: str, prediction: str, second: str = "sex"
) -> AnalysisResult:
    """Run a gap of .05 in false positives and false negatives by race and by race x sex on a file."""
    rules = [
        {"id": f"{metric}-{len(by)}", "metric": metric, "by": by, "max_group_gap": 0.05}
        for metric in ("false_positive", "false_negative")
        for by in (["race"], ["race", second])
    ]
    document = {
        **HEAD,
        "tables": {"cases": table}, "pools": {"teste": {"tables": ["cases"]}},
        "analyses": {"parity": {
            "kind": "group_fairness", "pool": "teste", "table": "cases",
            "label": label, "prediction": prediction,
            "attributes": ["race", second], "intersections": [["race", second]], "criteria": rules,
        }},
    }  # fmt: skip
    protocol = parse(json.dumps(document).encode())
    raw, declared = (data_dir / "1-fairness" / name).read_bytes(), protocol.tables["cases"]
    pool = read_table(raw, declared, "cases", Format.CSV, only="pool")
    joined = join_submission(pool, read_table(raw, declared, "cases", Format.CSV, only="submission"))
    return analyse("parity", Given.of_one(protocol, "cases", joined))


def rate(result: AnalysisResult, metric: str, **group: str) -> Estimate:
    found = next(each for each in result.estimates if each.metric == metric and dict(each.group) == group)
    assert isinstance(found, Estimate)
    return found


@pytest.mark.parametrize(
    ("name", "table", "label", "prediction"),
    [
        ("compas_for_aequitas.csv", AEQUITAS, "label_value", "score"),
        ("compas-scores-two-years.csv", PROPUBLICA, "two_year_recid", "score_text"),
    ],
)
def test_compas(data_dir: Path, name: str, table: Mapping[str, Any], label: str, prediction: str) -> None:
    published = expected(data_dir, "compas-scores-two-years.csv")
    result = reveal(data_dir, name, table, label, prediction)
    assert result.rows == 7214
    for group in ("all", "African-American", "Caucasian"):
        counts = published[group]
        where = {} if group == "all" else {"race": group}
        false_positive, false_negative = (
            rate(result, "false_positive", **where),
            rate(result, "false_negative", **where),
        )
        assert (false_positive.numerator, false_positive.denominator) == (
            counts["fp"],
            counts["fp"] + counts["tn"],
        )
        assert (false_negative.numerator, false_negative.denominator) == (
            counts["fn"],
            counts["fn"] + counts["tp"],
        )
        assert false_positive.value == pytest.approx(counts["FPR"], abs=5e-5)
        assert false_negative.value == pytest.approx(counts["FNR"], abs=5e-5)
        error = rate(result, "error", **where)
        assert error.numerator == counts["fp"] + counts["fn"]
        assert error.denominator == sum(counts[each] for each in ("tn", "fp", "fn", "tp"))
        assert rate(result, "selection", **where).numerator == counts["fp"] + counts["tp"]
    for group in ("Hispanic", "Other"):
        for metric, key in (("false_positive", "FPR"), ("false_negative", "FNR")):
            assert rate(result, metric, race=group).value == pytest.approx(published[group][key], abs=5e-5)
        assert rate(result, "error", race=group).denominator == published[group]["n"]
    for group in ("Asian", "Native American"):
        for metric, key in (("false_positive", "FPR"), ("false_negative", "FNR")):
            found = rate(result, metric, race=group)
            assert f"{found.numerator}/{found.denominator}" == published[group][key]
    for group in ("Male", "Female"):
        assert rate(result, "false_positive", sex=group).value == pytest.approx(
            published[group]["FPR"], abs=5e-5
        )


def test_compas_fails_with_small_groups_undecided(data_dir: Path) -> None:
    result = reveal(data_dir, "compas_for_aequitas.csv", AEQUITAS, "label_value", "score")
    assert result.state is State.FAIL
    assert [each.state for each in result.criteria] == [State.FAIL] * 4
    for criterion in result.criteria:
        for line in criterion.lines:
            small = line.denominator is not None and line.denominator < 30
            assert (line.reason.code in ("below-min-cell", "no-cases")) == small
            assert not small or line.state is State.INSUFFICIENT_EVIDENCE
    by_race = result.criteria[0]
    undecided = {line.group[0][1] for line in by_race.lines if line.state is State.INSUFFICIENT_EVIDENCE}
    assert undecided == {"Asian", "Native American"}
    women = next(
        line for line in result.criteria[1].lines if line.group == (("race", "Asian"), ("sex", "Female"))
    )
    assert (women.numerator, women.denominator) == (0, 1)  # two Asian women, one of them of label 0


def test_compas_wilson_intervals(data_dir: Path) -> None:
    published = expected(data_dir, "compas-scores-two-years.csv")["wilson95"]
    assert wilson(805, 1795, 0.05) == pytest.approx(published["FPR_black"], abs=5e-5)
    assert wilson(349, 1488, 0.05) == pytest.approx(published["FPR_white"], abs=5e-5)


def test_propublica_filter_is_a_registered_exclusion(data_dir: Path) -> None:
    """Screening within 30 days of the arrest, blanks dropped: 6,172 cases remain of 7,214 (307 blank)."""
    published = expected(data_dir, "compas-scores-two-years.csv")["filter_6172"]
    exclude = [
        {"column": "days_b_screening_arrest", "missing": True},
        {"column": "days_b_screening_arrest", "outside": [-30, 30]},
    ]
    table = {**PROPUBLICA, "exclude": exclude}
    result = reveal(data_dir, "compas-scores-two-years.csv", table, "two_year_recid", "score_text")
    assert result.rows == 6172
    assert [each.count for each in result.left_out] == [307, 735]
    for group, short in (("African-American", "black"), ("Caucasian", "white")):
        for metric, key in (("false_positive", "FPR"), ("false_negative", "FNR")):
            found = rate(result, metric, race=group).value
            assert found == pytest.approx(published[f"{short}_{key}"], abs=5e-5)


def test_adult_with_reversed_labels_is_reviewed(data_dir: Path) -> None:
    published = expected(data_dir, "adult_rf_binary.csv")
    result = reveal(data_dir, "adult_rf_binary.csv", ADULT, "label_value", "score", second="gender")
    assert rate(result, "error").value == pytest.approx(published["err_overall_approx"], abs=5e-3)
    assert rate(result, "false_positive", gender="Male").numerator == published["Male"]["fp"]
    assert rate(result, "false_negative", gender="Female").numerator == published["Female"]["fn"]
    assert result.state is State.MANUAL_REVIEW
    assert {each.state for each in result.criteria} == {State.MANUAL_REVIEW}
    assert {each.reason.code for each in result.criteria} == {"error-above-half"}
