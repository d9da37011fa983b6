"""How numbers read: by what they are, shares and differences, ratios, scores, agreements."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from lacre.errors import printable
from lacre.report import words
from lacre.text import N_, _

Document = Mapping[str, Any]

NONE = "–"
_FORMS: Mapping[str, str] = MappingProxyType(
    {
        "max": N_("{metric}: at most {limit}"),
        "min": N_("{metric}: at least {limit}"),
        "max_group_ratio": N_("{metric} by {by}: no ratio between groups above {limit}"),
    }
)
_RATIOS: Mapping[object, str] = MappingProxyType(
    {"max_min": N_("largest to smallest"), "max_gm": N_("largest to geometric mean")}
)
_SAID: Mapping[tuple[str, object], str] = MappingProxyType(
    {
        ("weights", "none"): N_("unweighted"),
        ("decide_on", "point"): N_("decided by the point"),
        ("decide_on", "low"): N_("decided by the interval"),
        ("use", "diagnostic"): N_("diagnostic"),
    }
)
_OF_GROUPS = "worst_group"


def value(
    number: float | None, kind: str = "share", unit: str | None = None, *, bar: float | None = None
) -> str:
    """Return a number of a kind: one that is observed, rounded so that it does not look like `bar`."""
    if number is None:
        return NONE
    match kind:
        case "share":
            return words.rate(number, apart_from=bar)
        case "gap":
            return words.points(words.rate(number, apart_from=bar))
        case "difference":
            return words.points(_signed(words.rate(number, apart_from=bar)))
        case "ratio":
            return f"{number:.3f}" if number < 10 else f"{number:.4g}"
        case "kappa":
            return f"{number:.3f}"
        case _:
            return f"{number:.4g}{_unit(unit)}" if kind == "score" else f"{number:.7g}{_unit(unit)}"


def limit(number: float, kind: str = "share", unit: str | None = None) -> str:
    """Return a number that somebody chose, as short as it is."""
    match kind:
        case "share":
            return words.percent(number)
        case "gap":
            return words.points(words.percent(number))
        case "difference":
            return words.points(_signed(words.percent(number)))
        case _:
            return f"{number:.12g}{_unit(unit) if kind in {'score', 'number'} else ''}"


def interval(
    low: float | None,
    high: float | None,
    kind: str = "share",
    unit: str | None = None,
    *,
    bar: float | None = None,
) -> str:
    """Return an interval, of which an end may be open."""
    if low is None and high is None:
        return NONE
    if low is None or high is None:
        bound = value(high if low is None else low, kind, unit, bar=bar)
        return (_("up to {bound}") if low is None else _("{bound} or more")).format(bound=bound)
    if kind == "share":
        return words.interval(low, high, apart_from=bar)
    ends = [value(end, kind, None, bar=bar) for end in (low, high)]
    if kind in {"difference", "gap"}:
        return _("{low} to {high}").format(low=ends[0].split(" ", 1)[0], high=ends[1])
    return _("{low} to {high}").format(low=ends[0], high=ends[1]) + _unit(unit)


def scale_of(criterion: Document) -> str:
    """Return what a criterion's number is."""
    if criterion.get("rule") == "max_group_gap":
        return "gap"
    return str(criterion.get("scale") or "share")


def rule(criterion: Document) -> str:
    """Return what a criterion asks."""
    form, by = str(criterion.get("rule", "")), criterion.get("by") or ()
    if form not in _FORMS:
        said = words.rule(criterion["metric"], by, form, criterion["threshold"])
    else:
        bound = limit(criterion["threshold"], scale_of(criterion), criterion.get("unit"))
        said = _(_FORMS[form]).format(
            metric=words.metric(criterion["metric"]),
            by=" × ".join(printable(name) for name in by) or _("group"),
            limit=bound,
        )
    more = details(criterion)
    return f"{said} ({more})" if more else said


def observed(criterion: Document, estimates: Sequence[Document] = ()) -> tuple[str, str]:
    """Return the value of a criterion, and its interval; `estimates` are those of its analysis."""
    kind, unit, bar = scale_of(criterion), criterion.get("unit"), criterion["threshold"]
    # Nothing counted is never told as a zero.
    if kind == "share" and criterion["value"] == 0 and criterion["high"]:
        shown = up_to(zero_bound(criterion, estimates))
    elif kind == "gap" and criterion["value"] == 0 and criterion["high"]:
        shown = interval(None, criterion["high"], kind, bar=bar)
    else:
        shown = value(criterion["value"], kind, unit, bar=bar)
    return (
        shown,
        interval(criterion["low"], criterion["high"], kind, unit, bar=bar),
    )


def zero_bound(criterion: Document, estimates: Sequence[Document]) -> float:
    """Return what a share of which nothing was counted is at most: of all cases, what their estimate says."""
    known = (criterion.get("details") or {}).items()
    found = [
        each["zero_bound"]["rule_of_three"]
        for each in estimates
        if each.get("zero_bound")
        and not criterion.get("by")
        and (each["metric"], each.get("system")) == (criterion["metric"], criterion.get("system"))
        and not each["group"]
        and (each.get("details") or {}).items() <= known
    ]
    return float(found[0] if found else criterion["high"])


def held_to(criterion: Document) -> float | None:
    """Return the bar that each group's own bounds are held against, if they are."""
    return criterion["threshold"] if str(criterion.get("rule", "")).startswith(_OF_GROUPS) else None


def bar_name(criterion: Document) -> str:
    """Return what is written beside a criterion's bar."""
    shown = limit(criterion["threshold"], scale_of(criterion), criterion.get("unit"))
    floor = str(criterion.get("rule", "")) in {"min", "worst_group_min"}
    return (_("floor {limit}") if floor else _("ceiling {limit}")).format(limit=shown)


def details(document: Document) -> str:
    """Return what tells a number from others of its metric, system and group: a variant, a rung, a target."""
    found = document.get("details") or {}
    shown = {
        name: _(_RATIOS[each])
        if each in _RATIOS
        else words.percent(each)
        if isinstance(each, float) and name == "at"
        else _(_SAID[name, each])
        if (name, each) in _SAID
        else printable(str(each))
        for name, each in found.items()
    }
    target = shown.pop("target", None)
    at = shown.pop("at", None)
    parts = list(shown.values())
    if target is not None:
        parts.append(at_target(target, at))
    elif at is not None:
        parts.append(at)
    return ", ".join(parts)


def at_target(target: str, at: str | None) -> str:
    """Return a target, such as 1 % of false matches."""
    name = words.metric(target)
    return _("at {rate} {errors}").format(rate=at, errors=name) if at else name


def group(document: Document, by: Sequence[str] = ()) -> str:
    """Return which group a number is of, and which it is compared with."""
    own = words.group(document.get("group") or {}, by)
    if not document.get("versus"):
        return own
    return _("{group} against {other}").format(group=own, other=words.group(document["versus"], by))


def _signed(text: str) -> str:
    if text.startswith("-"):
        return f"−{text[1:]}"
    return text if text.startswith(("0.0 ", "0 ")) else f"+{text}"


def _unit(unit: str | None) -> str:
    return f" {printable(unit)}" if unit else ""


def up_to(bound: float) -> str:
    """Return a bound on a rate of which nothing was counted."""
    return _("up to {bound}").format(bound=words.rate(bound) if bound < 1 else words.percent(1))


def counted(rate: float | None, events: int | None, cases: int | None) -> str:
    """Return an observed rate that has no bound beside it: of nothing counted, that it was none of how many."""
    if rate == 0:
        return _("none") if not cases or events is None else _("none of {cases}").format(cases=cases)
    return value(rate)


def count(number: int | None) -> str:
    """Return a count."""
    return NONE if number is None else str(number)
