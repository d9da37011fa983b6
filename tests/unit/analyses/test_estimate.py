"""A rate cannot be built without its interval."""

from typing import Any

import pytest

from lacre.analyses.estimate import Estimate, NotEstimable, Withheld, ZeroBound, group_name, percent
from lacre.analyses.reasons import Reason
from lacre.canonical import canonical_json
from lacre.errors import BareRate, EvidenceError

SOUND: dict[str, Any] = {
    "metric": "error",
    "system": "",
    "group": (("sex", "female"),),
    "numerator": 5,
    "denominator": 100,
    "value": 0.05,
    "low": 0.02,
    "high": 0.11,
    "confidence": 0.95,
    "method": "clopper-pearson",
}
# The names of an estimate in the results' JSON contract.
NAMES = {
    "metric", "system", "group", "numerator", "denominator", "value", "low", "high", "confidence", "method",
    "zero_bound", "note",
}  # fmt: skip


@pytest.mark.parametrize(
    "wrong",
    [
        {"low": None},
        {"high": None},
        {"value": None},
        {"low": float("nan")},
        {"high": 1.0000000000000002, "value": 1.0, "numerator": 100, "low": 0.9},
        {"low": 0.06},
        {"high": 0.04},
        {"low": -0.01},
        {"numerator": 6},
        {"numerator": -1},
        {"numerator": 101, "value": 1.01},
        {"denominator": 0},
        {"missing": 96},
        {"missing": -1},
        {"confidence": 1.0},
        {"simultaneous": 0},
        {"zero_bound": ZeroBound.of(100)},
        {"numerator": 0, "value": 0.0, "low": 0.0},
        {"numerator": 0, "value": 0.0, "low": 0.0, "high": 0.0, "zero_bound": ZeroBound.of(100)},
    ],
)
def test_no_rate_without_its_interval(wrong: dict[str, Any]) -> None:
    with pytest.raises(BareRate) as refusal:
        Estimate(**{**SOUND, **wrong})
    assert isinstance(refusal.value, EvidenceError)
    assert "error" in refusal.value.message


def test_zero_events_print_what_they_leave_possible() -> None:
    """0/60 prints "up to 5 %" (3/60), 0/119 "up to 2.5 %" (3/119 = .0252), neither prints zero."""
    for cases, words in (
        (60, "up to 5 %"),
        (119, "up to 2.5 %"),
        (842, "up to 0.36 %"),
        (14, "up to 21.4 %"),
    ):
        zero = {
            "numerator": 0,
            "value": 0.0,
            "low": 0.0,
            "denominator": cases,
            "zero_bound": ZeroBound.of(cases),
        }
        text = Estimate(**{**SOUND, **zero}).text
        assert text.startswith(words)
        assert "one-sided 95 %" in text


def test_zero_events_with_missing_outcomes_are_not_zero_events() -> None:
    rate = Estimate(**{**SOUND, "numerator": 0, "value": 0.0, "low": 0.0, "missing": 3})
    assert rate.text == "up to 11 %"


def test_a_rate_prints_its_interval() -> None:
    assert Estimate(**SOUND).text == "5 % (2 to 11 %)"


def test_an_absent_rate_prints_no_number() -> None:
    assert NotEstimable("error", "", (), 0, Reason("no-cases")).text == "not estimable"
    assert Withheld("error", "", (), Reason("withheld", {"min_count": 5})).text == "withheld"


def test_json_has_the_names_of_the_contract() -> None:
    shown = Estimate(**SOUND).as_json()
    absent = NotEstimable("error", "", (("sex", "female"),), 0, Reason("no-cases")).as_json()
    withheld = Withheld("error", "a", (), Reason("withheld", {"min_count": 5})).as_json()
    for each in (shown, absent, withheld):
        assert set(each) >= NAMES
        canonical_json(each)
    assert shown["group"] == {"sex": "female"}
    assert shown["system"] is None
    for each in (absent, withheld):
        assert each["value"] is each["low"] is each["high"] is each["numerator"] is None
    assert absent["denominator"] == 0
    assert withheld["denominator"] is None
    assert withheld["system"] == "a"


def test_the_zero_bound_is_labelled() -> None:
    zero = {"numerator": 0, "value": 0.0, "low": 0.0, "denominator": 119, "zero_bound": ZeroBound.of(119)}
    bound = Estimate(**{**SOUND, **zero}).as_json()["zero_bound"]
    assert bound["sides"] == 1
    assert bound["confidence"] == 0.95
    assert bound["rule_of_three"] == pytest.approx(0.025210, abs=5e-7)
    assert bound["exact"] == pytest.approx(0.024860, abs=5e-7)


@pytest.mark.parametrize(
    ("rate", "words"),
    [
        (0.0, "0"),
        (1.0, "100"),
        (0.0252, "2.5"),
        (0.05, "5"),
        (0.4485, "44.9"),
        (0.00356, "0.36"),
        (3e-9, "3.0e-07"),
    ],
)
def test_percent(rate: float, words: str) -> None:
    assert percent(rate) == words


def test_group_names() -> None:
    assert group_name((("sex", "female"), ("age", "old"))) == "female × old"
