"""A result's estimates as a frame: no two rows that say the same of different numbers."""

from types import SimpleNamespace
from typing import Any

from lacre.report.frames import estimates_frame


def estimate(**more: Any) -> dict[str, Any]:
    plain: dict[str, Any] = {
        "metric": "recall",
        "system": None,
        "group": {},
        "numerator": 9,
        "denominator": 10,
        "value": 0.9,
    }
    return {**plain, "low": 0.55, "high": 1.0, "confidence": 0.95, "method": "clopper-pearson", **more}


def test_estimates_of_one_group_are_told_apart_by_what_they_are_weighted_by_and_compared_with() -> None:
    """What an estimate has beside metric, system and group (`versus`, `details`) is a column wherever one has it."""
    found = [
        estimate(group={"age": "old"}),
        estimate(group={"age": "old"}, details={"weights": "none"}),
        estimate(group={"age": "old"}, versus={"age": "young"}, metric="stratum_difference"),
        estimate(group={"age": "old"}, details={"age": "a detail of an attribute's name"}),
    ]
    shown: Any = SimpleNamespace(document={"analyses": [{"id": "found", "estimates": found}]})
    frame = estimates_frame(shown)
    assert list(frame.columns) == [
        *("analysis", "metric", "system", "age", "weights", "against_age", "detail_age"),
        *("numerator", "denominator", "value", "low", "high", "confidence", "method"),
    ]
    assert frame["weights"].fillna("").tolist() == ["", "none", "", ""]
    assert frame["against_age"].fillna("").tolist() == ["", "", "young", ""]
    assert frame["age"].tolist() == ["old"] * 4
    assert not frame.astype(str).duplicated().any()
