"""One analysis as text, from documents made by hand under the contract's names."""

from collections.abc import Mapping, Sequence
from typing import Any

from lacre.report import analysis_text, reasoned
from lacre.report.page import Page

Document = dict[str, Any]


def reason(code: str, **fields: Any) -> Document:
    return {"code": code, "fields": fields}


def line(sex: str, state: str = "PASS", **more: Any) -> Document:
    why = more.pop("why", reason("within", threshold=0.05))
    counted = {"numerator": 2, "denominator": 50, "missing": 0, "value": 0.04, "low": 0.01, "high": 0.13}
    return {"group": {"sex": sex}, "state": state, "reason": why, **counted, **more}


def criterion(**more: Any) -> Document:
    return {
        "id": "misses",
        "metric": "false_negative",
        "system": None,
        "by": ["sex"],
        "rule": "max_group_gap",
        "threshold": 0.05,
        "state": "PASS",
        "reason": reason("gap-kept", low=0.0, high=0.049, threshold=0.05),
        "value": 0.02,
        "low": 0.0,
        "high": 0.049,
        "groups": [line("female"), line("male")],
        "left_out": [],
        **more,
    }


def estimate(sex: str, **more: Any) -> Document:
    return {
        "metric": "false_negative",
        "system": None,
        "group": {"sex": sex},
        "confidence": 0.95,
        "simultaneous": 2,
        "method": "clopper-pearson",
        "zero_bound": None,
        **more,
    }


def written(criteria: Sequence[Mapping[str, Any]], width: int = 110, **more: Any) -> str:
    document = {
        "id": "parity",
        "kind": "group_fairness",
        "state": "PASS",
        "estimates": [estimate("female"), estimate("male")],
        "criteria": criteria,
        "left_out": [],
        "notes": [],
        **more,
    }
    page = Page()
    analysis_text.analysis(page, document)
    return " ".join(page.render(width).split())


def test_a_criterion_is_told_once_when_it_is_alone() -> None:
    text = written([criterion()])
    assert text.count("misses") == 1
    assert "No two groups are further apart than 4.9 points, and the largest gap allowed is 5 points." in text
    assert "female 2 of 50 4.0 % 1.0–13.0 % PASS" in text


def test_systems_are_told_apart() -> None:
    text = written([criterion(system="old"), criterion(system="new", state="FAIL")])
    assert "criterion system rule observed interval verdict" in text
    assert "misses (old) PASS" in text
    assert "misses (new) FAIL" in text


def test_what_the_read_does_not_allow_is_told_beside_what_was_computed() -> None:
    later = criterion(state="INSUFFICIENT_EVIDENCE", computed="PASS", reason=reason("exploratory"))
    text = written([later], state="INSUFFICIENT_EVIDENCE", computed="PASS")
    assert text.count("Computed PASS; what its read allows is INSUFFICIENT_EVIDENCE.") == 2


def test_a_group_without_a_rate_says_why() -> None:
    nothing = dict.fromkeys(("numerator", "denominator", "missing", "value", "low", "high"))
    kept_back = line("other", "INSUFFICIENT_EVIDENCE", why=reason("withheld", min_count=5), **nothing)
    text = written([criterion(groups=[line("female"), kept_back])])
    assert "other – of – – – INSUFFICIENT_EVIDENCE" in text
    assert "other: Withheld: a group of fewer than 5" in text


def test_nothing_counted_is_never_told_as_a_zero() -> None:
    none: dict[str, Any] = {"numerator": 0, "value": 0.0, "low": 0.0}
    bound = {"sides": 1, "confidence": 0.95, "rule_of_three": 0.06, "exact": 0.058}
    text = written(
        [
            criterion(groups=[line("female", **none), line("male", missing=3, **none)], value=0.0),
            criterion(id="more"),
        ],
        estimates=[estimate("female", zero_bound=bound), estimate("male")],
    )
    assert "up to 4.9 points" in text, "a gap is told in points, as its bar is"
    assert "female 0 of 50 up to 6.0 %" in text
    assert "male 0 of 50, 3 blank up to 13.0 %" in text
    assert "the one-sided 95 % bound, by the rule of three" in text


def test_a_rate_by_a_threshold_shows_its_side() -> None:
    worst = criterion(rule="worst_group_max", groups=[line("female", high=0.05004)])
    assert "1.0–5.004 %" in written([worst])
    assert "at least 5 % in every group" in written([criterion(rule="worst_group_min")])


def test_left_out_cases_are_told_with_their_reason() -> None:
    left_out = [
        {"reason": "missing", "column": "sex", "count": 2},
        {"reason": "undeclared", "column": "prediction", "count": 1, "system": "old"},
        {"reason": "of-a-later-version", "column": "x", "count": 1},
        {"reason": "excluded", "column": "age", "count": 0},
    ]
    text = written([criterion(left_out=left_out[:2])], left_out=left_out)
    assert (
        "3 cases are left out of this (2: sex is missing; 1: prediction holds a value that is not declared "
        "(old))." in text
    )
    assert "1: of-a-later-version x" in text
    assert "excluded" not in text


def test_a_calibration_has_its_systems() -> None:
    error = {"group": {}, "bins": 10, "cases": 5, "left_out": 1, "expected_calibration_error": 0.25}
    empty = {**error, "cases": 0, "expected_calibration_error": None, "system": "new"}
    text = written([criterion()], calibration=[{**error, "system": "old"}, empty])
    assert "expected calibration error, 10 bins group system cases left out error" in text
    assert "everybody old 5 1 0.250 everybody new 0 1 –" in text


def test_what_a_later_version_knows_is_still_readable() -> None:
    text = written([criterion(rule="max_ratio", reason=reason("of-a-later-version", low=0.5))])
    assert "false negatives sex 5 %" in text
    assert "of-a-later-version" in text
    assert reasoned.reason(None) == ""
