"""Why a verdict is what it is, and what intervals are, in words: what every kind of analysis is told with."""

from collections.abc import Sequence
from typing import Any

from lacre.analyses.reasons import Reason, render
from lacre.report import told, words
from lacre.report.methods import method
from lacre.report.page import Cell, Page
from lacre.report.told import Document
from lacre.text import _, ngettext

_OF_GAPS = ("gap-kept", "gap-broken")
_ON_SHARES = ("too-many-left-out", "too-many-abstain")
"""Reasons whose limit is a share of the cases, whatever the scale of what is judged."""
_ON_KAPPA = ("paradox", "paradox-of-group", "target-reached", "target-missed", "target-open")
"""Reasons whose numbers are agreements beyond chance, wherever they are told."""
_CHOSEN = ("threshold", "limit", "bar", "target")


def reason(stored: Document | None, scale: str = "share", unit: str | None = None) -> str:
    """Make the sentence of a stored reason; bounds in it read as numbers of their `scale`, as all around does."""
    if stored is None:
        return ""
    code, fields = stored["code"], stored["fields"]
    if code in _ON_SHARES:
        scale = "share"
    elif code in _OF_GAPS:
        scale = "gap"
    elif code in _ON_KAPPA:
        scale = "kappa"
    bar = fields.get("threshold")
    return render(
        Reason(code, {name: _scaled(name, each, scale, unit, bar) for name, each in fields.items()})
    )


def _scaled(name: str, value: Any, scale: str, unit: str | None, bar: float | None) -> Any:
    if not isinstance(value, float):
        return value
    return told.limit(value, scale, unit) if name in _CHOSEN else told.value(value, scale, unit, bar=bar)


def explain(page: Page, found: Sequence[Document]) -> None:
    """Say what the intervals are, and what stands in the place of a zero."""
    example = next((rate for rate in found if rate.get("confidence")), None)
    if example is not None:
        groups = example.get("simultaneous", len(found))
        said = ngettext(
            "The interval holds at {confidence} ({method}).",
            "The intervals hold for the {count} declared groups together, at {confidence} ({method}).",
            groups,
        )
        confidence = words.percent(example["confidence"])
        page.say(said.format(count=groups, confidence=confidence, method=method(example["method"])), indent=2)
    bound = next((rate["zero_bound"] for rate in found if rate.get("zero_bound")), None)
    if bound is not None:
        said = _(
            "“up to” stands where nothing was counted: the one-sided {confidence} bound, by the rule of "
            "three; with blanks, the interval's own."
        )
        page.say(said.format(confidence=words.percent(bound["confidence"])), indent=2)


def verdict(state: str) -> Cell:
    """Return a verdict, to stand out."""
    return Cell(state, words.STATE_STYLES.get(state, ""))


def events_of(line: Document) -> str:
    """Return how many of how many cases a line counts, and how many of them are blank."""
    events, cases, blank = line["numerator"], line["denominator"], line["missing"]
    said = _("{events} of {cases}").format(events=told.count(events), cases=told.count(cases))
    return _("{said}, {n} blank").format(said=said, n=blank) if blank else said


def value_of(line: Document, rate: Document) -> str:
    """Return the rate of a line; where nothing was counted, what it is at most."""
    if rate.get("zero_bound"):
        return told.up_to(rate["zero_bound"]["rule_of_three"])
    if line["value"] == 0 and line["high"]:
        return told.up_to(line["high"])
    return words.rate(line["value"])
