"""One analysis of a result as text: its criteria, every group's line, and what was left out and why."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from lacre.errors import printable
from lacre.report import told, words
from lacre.report.kinds import (
    agreement_text,
    detection_text,
    estimate_text,
    judge_text,
    paired_text,
    verification_text,
)
from lacre.report.page import Cell, Column, Page, Row
from lacre.report.reasoned import events_of, explain, reason, value_of, verdict
from lacre.report.told import Document
from lacre.text import N_, _, ngettext

LEFT_OUT: Mapping[str, str] = MappingProxyType(
    {
        "excluded": N_("excluded as registered, by {column}"),
        "missing": N_("{column} is missing"),
        "undeclared": N_("{column} holds a value that is not declared"),
        "unknown": N_("{column} names no case of the pool"),
        "not-sealed": N_("drawn from {column}, and not among what was sealed"),
        "unpaired": N_("no row of both variants to make a pair ({column})"),
    }
)
DECIDED = ("within", "beyond", "open", "exploratory", "described")

Rates = Mapping[tuple[str, str | None, frozenset[tuple[str, str]]], Document]
"""Estimates by metric, system and group."""


def analysis(page: Page, document: Document) -> None:
    """Write one analysis, whole."""
    heading(page, document)
    _computed(page, document)
    criteria = document["criteria"]
    rates = {(each["metric"], each["system"], _key(each)): each for each in document["estimates"]}
    if len(criteria) > 1:
        summary(page, criteria, document["estimates"])
    for criterion in criteria:
        _criterion(page, criterion, rates)
    detection_text.strata(page, document)
    paired_text.paired(page, document)
    verification_text.verification(page, document)
    agreement_text.agreement(page, document)
    judge_text.judge(page, document)
    estimate_text.estimate(page, document)
    _calibration(page, document.get("calibration", ()))
    _left_out(page, document["left_out"])
    _notes(page, document["notes"])


def heading(page: Page, document: Document) -> None:
    """Write the name of an analysis and its verdict."""
    page.heading(f"{document['id']} ({words.kind(document['kind'])})  ", verdict(document["state"]))


def summary(page: Page, criteria: Sequence[Document], estimates: Sequence[Document]) -> None:
    """Write a line for each criterion of an analysis with these estimates."""
    systems = any(each.get("system") for each in criteria)
    columns = [
        Column(_("criterion"), wraps=True),
        *([Column(_("system"))] if systems else []),
        Column(_("rule"), wraps=True, spare=True),
        Column(_("observed"), right=True),
        Column(_("interval"), right=True),
        Column(_("verdict")),
    ]
    rows: list[Row] = [
        [
            Cell(each["id"], "bold"),
            *([each.get("system") or ""] if systems else []),
            told.rule(each),
            *told.observed(each, estimates),
            verdict(each["state"]),
        ]
        for each in criteria
    ]
    page.table(columns, rows)


def _computed(page: Page, document: Document) -> None:
    """Say what the numbers alone would have given, where the read allows less."""
    computed = document.get("computed", document["state"])
    if computed != document["state"]:
        said = _("Computed {computed}; what its read allows is {state}.")
        page.say(said.format(computed=computed, state=document["state"]), indent=1)


# --- one criterion -----------------------------------------------------------------------------------------


def _criterion(page: Page, criterion: Document, rates: Rates) -> None:
    page.gap()
    system = f" ({criterion['system']})" if criterion.get("system") else ""
    page.say(Cell(criterion["id"] + system, "bold"), "  ", verdict(criterion["state"]), indent=1)
    page.say(told.rule(criterion), indent=1)
    scale = told.scale_of(criterion)
    page.say(reason(criterion["reason"], scale, criterion.get("unit")), indent=1)
    if criterion.get("note"):
        page.say(reason(criterion["note"], scale, criterion.get("unit")), indent=1)
    _computed(page, criterion)
    lines = criterion.get("groups", ())
    if lines and scale not in ("share", "gap"):
        found = [_rate(rates, criterion, line) for line in lines]
        _rests_on(page, criterion, lines, found)
        explain(page, [rate for rate in found if rate.get("zero_bound")])
    elif lines:
        found = [_rate(rates, criterion, line) for line in lines]
        _groups(page, criterion, lines, found)
        explain(page, found)
    left_out = criterion.get("left_out", ())
    if left_out:
        total = sum(each["count"] for each in left_out)
        said = ngettext("{count} case is left out of this", "{count} cases are left out of this", total)
        whys = "; ".join(left_out_words(each) for each in left_out)
        page.say(said.format(count=total), f" ({whys}).", indent=1)


def _rests_on(page: Page, criterion: Document, lines: Sequence[Document], found: Sequence[Document]) -> None:
    """Write the groups whose shares a difference or a ratio is of; of each by itself nothing is asked."""
    columns = [
        Column(_("group"), wraps=True, names=True),
        Column(_("events"), right=True),
        Column(_("rate"), right=True),
        Column(_("interval"), right=True),
    ]
    rows: list[Row] = [
        [
            words.group(line["group"], criterion["by"]),
            events_of(line),
            value_of(line, rate),
            told.interval(line["low"], line["high"]),
        ]
        for line, rate in zip(lines, found, strict=True)
    ]
    page.table(columns, rows)


def _groups(page: Page, criterion: Document, lines: Sequence[Document], found: Sequence[Document]) -> None:
    columns = [
        Column(_("group"), wraps=True, names=True),
        Column(_("events"), right=True),
        Column(_("rate"), right=True),
        Column(_("interval"), right=True),
        Column(_("verdict")),
    ]
    rows: list[Row] = [
        [
            words.group(line["group"], criterion["by"]),
            events_of(line),
            value_of(line, rate),
            words.interval(line["low"], line["high"], apart_from=_bar(criterion)),
            # Of what is asked of all cases, their line's verdict is the criterion's.
            verdict((criterion if line["reason"]["code"] == "described" else line)["state"]),
        ]
        for line, rate in zip(lines, found, strict=True)
    ]
    page.table(columns, rows)
    for line in lines:
        if line["reason"] is not None and line["reason"]["code"] not in DECIDED:
            name = words.group(line["group"], criterion["by"])
            page.say(_("{group}: {why}").format(group=name, why=reason(line["reason"])), indent=2)


def _calibration(page: Page, errors: Sequence[Document]) -> None:
    if not errors:
        return
    systems = any(each.get("system") for each in errors)
    page.gap()
    title = _("expected calibration error, {bins} bins").format(bins=errors[0]["bins"])
    page.say(Cell(title, "bold"), indent=1)
    columns = [
        Column(_("group"), wraps=True),
        *([Column(_("system"))] if systems else []),
        Column(_("cases"), right=True),
        Column(_("left out"), right=True),
        Column(_("error"), right=True),
    ]
    rows: list[Row] = [
        [
            words.group(each["group"]),
            *([each.get("system") or ""] if systems else []),
            _count(each["cases"]),
            _count(each["left_out"]),
            "–"
            if each["expected_calibration_error"] is None
            else f"{each['expected_calibration_error']:.3f}",
        ]
        for each in errors
    ]
    page.table(columns, rows, indent=2)


def _left_out(page: Page, left_out: Sequence[Document]) -> None:
    counted = [each for each in left_out if each["count"]]
    if not counted:
        return
    page.gap()
    page.say(_("Left out, each reason counted by itself:"), indent=1)
    for each in counted:
        page.say(left_out_words(each), indent=2)


def left_out_words(each: Document) -> str:
    """Return how many cases are left out, and why."""
    column = printable(str(each.get("column", "")))
    template = LEFT_OUT.get(each["reason"])
    why = _(template).format(column=column) if template else f"{printable(each['reason'])} {column}".strip()
    system = f" ({printable(each['system'])})" if each.get("system") else ""
    return f"{each['count']}: {why}{system}"


def _notes(page: Page, notes: Sequence[Document]) -> None:
    if notes:
        page.gap()
    for note in notes:
        page.say(_("Note: {note}").format(note=reason(note)), indent=1)


# --- small pieces ------------------------------------------------------------------------------------------


def _bar(criterion: Document) -> float | None:
    """Return the threshold that each group's own bounds are held against, if they are."""
    worst = str(criterion.get("rule", "")).startswith("worst_group")
    return criterion["threshold"] if worst else None


def _key(document: Document) -> frozenset[tuple[str, str]]:
    return frozenset(document["group"].items())


def _rate(rates: Rates, criterion: Document, line: Document) -> Document:
    return rates.get((criterion["metric"], criterion.get("system"), _key(line)), {})


def _count(value: int | None) -> str:
    return "–" if value is None else str(value)
