"""Estimates from a sample as text: every number with its interval and standard error, and the design."""

from collections.abc import Sequence

from lacre.errors import printable
from lacre.report import told, words
from lacre.report.methods import method
from lacre.report.page import Cell, Column, Page, Row
from lacre.report.reasoned import reason
from lacre.report.told import Document
from lacre.text import _, ngettext


def estimate(page: Page, document: Document) -> None:
    """Write the estimates of an analysis of this kind, and its table "design"."""
    answers: Sequence[Document] = document["estimates"]
    if document["kind"] != "estimate" or not answers:
        return
    tables = document.get("tables", {})
    errors = {_key(row): row.get("standard_error") for row in tables.get("estimates", ())}
    systems = any(each["system"] for each in answers)
    page.gap()
    page.say(Cell(_("estimated from the sample"), "bold"), indent=1)
    columns = [
        Column(_("group"), wraps=True, names=True),
        *([Column(_("system"))] if systems else []),
        Column(words.metric(answers[0]["metric"]), right=True),
        Column(_("interval"), right=True),
        Column(_("standard error"), right=True, spare=True),
        Column(_("cases"), right=True),
    ]
    rows: list[Row] = [
        [
            words.group(each["group"]),
            *([printable(each["system"] or "")] if systems else []),
            *_figures(each, errors.get(_key(each))),
            told.count(each["denominator"]),
        ]
        for each in answers
    ]
    page.table(columns, rows)
    _explain(page, answers)
    _design(page, tables.get("design", ()))


def _figures(answer: Document, error: float | None) -> tuple[str, str, str]:
    kind, unit = answer.get("scale", "number"), answer.get("unit")
    bound = answer.get("zero_bound")
    value = told.value(answer["value"], kind, unit) if bound is None else told.up_to(bound["rule_of_three"])
    return value, told.interval(answer["low"], answer["high"], kind, unit), told.value(error, kind, unit)


def _explain(page: Page, answers: Sequence[Document]) -> None:
    for example in {each["simultaneous"]: each for each in answers if each.get("confidence")}.values():
        groups = example["simultaneous"]
        said = ngettext(
            "The interval holds at {confidence} ({method}).",
            "The intervals hold for the {count} declared groups together, at {confidence} ({method}).",
            groups,
        )
        confidence, made = words.percent(example["confidence"]), method(example["method"])
        page.say(said.format(count=groups, confidence=confidence, method=made), indent=2)
    if any(each["zero_bound"] for each in answers):
        page.say(_("“up to” stands where nothing was counted: the one-sided bound of the sample."), indent=2)
    for each in answers:
        if each["note"] is not None:
            why = reason(each["note"])
            page.say(_("{group}: {why}").format(group=words.group(each["group"]), why=why), indent=2)


def _design(page: Page, rows: Sequence[Document]) -> None:
    if not rows:
        return
    page.gap()
    page.say(Cell(_("how the sample was drawn"), "bold"), indent=1)
    drawn = _("clusters drawn") if rows[0].get("units") == "clusters" else _("drawn")
    columns = [
        Column(_("stratum"), wraps=True, names=True),
        Column(_("population"), right=True),
        Column(drawn, right=True),
        Column(_("cases with a value"), right=True),
    ]
    cells: list[Row] = [
        [
            printable(row["stratum"]) or _("everybody"),
            *(told.count(row[key]) for key in ("population", "drawn", "respondents")),
        ]
        for row in rows
    ]
    page.table(columns, cells)


def _key(row: Document) -> tuple[str, frozenset[tuple[str, str]]]:
    return row.get("system") or "", frozenset(row["group"].items())
