"""What a registered criterion asks, in words, whatever kind of analysis it is of."""

from typing import Any

from lacre.protocol.grammar import as_float
from lacre.report import told, words
from lacre.text import _

_SCALES = {
    "difference": "difference",
    "stratum_difference": "difference",
    "threshold_distance": "score",
    "kappa": "kappa",
    "mean": "number",
    "total": "number",
    "ratio": "number",
}
"""What the number is that a metric gives, where it is no share."""


def rule(criterion: Any) -> str:
    """Return what a criterion of a plan asks, as `told.rule` says it of a result's."""
    form, limit, details = _bound(criterion)
    scale = "ratio" if form == "max_group_ratio" else _SCALES.get(criterion.metric, "share")
    return told.rule(
        {
            "metric": criterion.metric,
            "rule": form,
            "by": getattr(criterion, "by", None) or (),
            "threshold": as_float(limit),
            "scale": scale,
            "details": {**details, **_details(criterion)},
        }
    )


def _bound(criterion: Any) -> tuple[str, Any, dict[str, Any]]:
    """Return the form of a rule, its bound, and what tells it from others of its form."""
    worst = getattr(criterion, "worst_group", None)
    if worst is not None:
        return ("worst_group_min", worst.min, {}) if worst.max is None else ("worst_group_max", worst.max, {})
    ratio = getattr(criterion, "max_group_ratio", None)
    if ratio is not None:
        return "max_group_ratio", ratio.max, {"form": ratio.form}
    for form in ("max_group_gap", "max", "min"):
        limit = getattr(criterion, form, None)
        if limit is not None:
            return form, limit, {}
    raise AssertionError("a criterion has one bound")


def _details(criterion: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    between = getattr(criterion, "between", None)
    if between is not None:
        first, second = (words.group(stratum) for stratum in between)
        found["between"] = _("{group} against {other}").format(group=first, other=second)
    systems = getattr(criterion, "systems", None)
    if systems is not None:
        found["systems"] = _("{group} against {other}").format(group=systems[0], other=systems[1])
    for name in ("variant", "column"):
        value = getattr(criterion, name, None)
        if value is not None:
            found[name] = value
    target = getattr(criterion, "target", None)
    if target:
        ((found["target"], at),) = target.items()
        found["at"] = as_float(at)
    return found
