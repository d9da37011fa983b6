"""Estimates and agreement with oneself as people read them: intervals everywhere, no bare zero, words for reasons."""

from typing import Any

from lacre.report.kinds.agreement_text import agreement
from lacre.report.kinds.estimate_text import estimate
from lacre.report.page import Page

NOTHING = {"code": "no-cases", "fields": {}}


def text(write: Any, document: dict[str, Any], width: int = 100) -> str:
    page = Page()
    page.heading("analysis")
    write(page, document)
    return page.render(width)


def answer(**more: Any) -> dict[str, Any]:
    return {
        "metric": "mean", "system": None, "group": {}, "numerator": None, "denominator": 200, "value": 662.287363,
        "low": 643.73, "high": 680.84, "confidence": 0.95, "simultaneous": 1, "method": "Hájek mean, stratified",
        "zero_bound": None, "note": None, "scale": "number", "unit": None, **more,
    }  # fmt: skip


def sample(*answers: dict[str, Any], **tables: Any) -> dict[str, Any]:
    return {"kind": "estimate", "estimates": answers, "tables": tables}


def test_an_estimate_has_its_interval_its_error_and_its_design() -> None:
    document = sample(
        answer(unit="points"),
        answer(
            group={"stype": "E"},
            simultaneous=3,
            value=None,
            low=None,
            high=None,
            confidence=None,
            note=NOTHING,
        ),
        estimates=[{"system": None, "group": {}, "standard_error": 9.408941}],
        design=[
            {"stratum": "E", "population": 4421, "drawn": 100, "respondents": 99, "units": "cases"},
            {"stratum": "H", "population": None, "drawn": None, "respondents": None, "units": "cases"},
        ],
    )
    said = text(estimate, document)
    assert "662.2874 points" in said
    assert "643.73 to 680.84" in said
    assert "9.408941" in said
    assert "The interval holds at 95 % (Hájek mean, stratified)." in said
    assert "E: There are no cases." in said
    assert [line.split() for line in said.splitlines() if "4421" in line] == [["E", "4421", "100", "99"]]
    assert [line.split() for line in said.splitlines() if line.strip().startswith("H ")] == [
        ["H", "–", "–", "–"]
    ]


def test_a_share_of_none_is_never_zero() -> None:
    bound = {"sides": 1, "confidence": 0.95, "rule_of_three": 0.05, "exact": 0.0487}
    said = text(estimate, sample(answer(value=0.0, low=0.0, high=0.06, scale="share", zero_bound=bound)))
    assert "up to 5.0 %" in said
    assert "0.0–6.0 %" in said


def test_clusters_and_everybody_are_named() -> None:
    design = [{"stratum": "", "population": 757, "drawn": 15, "respondents": 183, "units": "clusters"}]
    said = text(estimate, sample(answer(), design=design))
    assert "clusters drawn" in said
    assert [line.split() for line in said.splitlines() if "757" in line] == [
        ["everybody", "757", "15", "183"]
    ]


def test_other_kinds_have_no_such_section() -> None:
    bare = text(estimate, {"kind": "recall", "estimates": [answer()], "tables": {}})
    assert bare == text(agreement, {"kind": "recall", "tables": {}}) == "analysis\n"


def row(**more: Any) -> dict[str, Any]:
    return {
        "column": "age", "second": "age", "group": {}, "values": ["young", "old"], "counts": [[50, 5], [10, 35]],
        "n": 100, "agree": 85, "raw": 0.85, "low": 0.767164, "high": 0.90694, "confidence": 0.95, "method": "wilson",
        "kappa": 0.694, "kappa_low": 0.55, "kappa_high": 0.838, "kappa_note": None, "disagreement": 0.15,
        "floor": 0.232836, "note": None, **more,
    }  # fmt: skip


def test_agreement_with_its_floor_and_its_counts() -> None:
    absent = row(
        group={"sex": "m"}, raw=None, low=None, high=None, agree=None, kappa=None, kappa_low=None, kappa_high=None,
        floor=None, confidence=None, method=None, note=NOTHING, kappa_note=NOTHING,
    )  # fmt: skip
    told = {"tables": {"agreement": [row(), absent, {"group": {"sex": "f"}, "withheld": True}]}}
    said = text(agreement, told)
    assert "85 of 100" in said
    assert "85.0 % (76.7–90.7 %)" in said
    assert "0.694 (0.550 to 0.838)" in said
    assert "23.3 %" in said
    assert "No smaller difference can be claimed on these labels." in said
    assert said.count("age m: There are no cases.") == 1
    assert [line.split() for line in said.splitlines() if "35" in line] == [["old", "10", "35"]]
    assert [line.split() for line in said.splitlines() if line.strip().startswith("f ")] == [["f", *"––––"]]


def test_two_passes_name_both_columns_and_hidden_counts_stay_hidden() -> None:
    why = {"code": "kappa-undefined", "fields": {}}
    hidden = row(second="again", counts=None, kappa=None, kappa_note=why)
    said = text(agreement, {"tables": {"agreement": [hidden]}})
    assert "age, again" in said
    assert "kappa is undefined" in said
    assert "first label by row" not in said
