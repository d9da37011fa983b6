"""Shares of cases by stratum as text: everybody's, and each registered crossing, beside the criteria."""

from collections.abc import Sequence
from itertools import groupby

from lacre.report import told, words
from lacre.report.methods import method
from lacre.report.page import Cell, Column, Page, Row
from lacre.report.reasoned import reason
from lacre.report.told import Document
from lacre.text import _, ngettext

KINDS = frozenset({"recall", "protective_failure"})


def strata(page: Page, document: Document) -> None:
    """Write the shares of an analysis of one of `KINDS`: all cases, then one table for each crossing of strata."""
    if document["kind"] not in KINDS:
        return
    answers: Sequence[Document] = document["estimates"]
    shares = [each for each in answers if "versus" not in each]
    for (system, names), found in groupby(shares, key=lambda each: (each["system"], tuple(each["group"]))):
        rows = list(found)
        page.gap()
        title = " × ".join(names) if names else _("all cases")
        of = f" ({system})" if system else ""
        page.say(Cell(f"{words.metric(rows[0]['metric'])}, {title}{of}", "bold"), indent=1)
        _table(page, rows, names)


def _table(page: Page, rows: Sequence[Document], names: Sequence[str]) -> None:
    columns = [
        Column(_("stratum"), wraps=True, names=True),
        Column(_("events"), right=True),
        Column(_("rate"), right=True),
        Column(_("interval"), right=True),
    ]
    page.table(columns, [_row(each, names) for each in rows])
    absent: dict[str, list[str]] = {}
    for each in rows:
        if each["low"] is None and each["note"] is not None:
            absent.setdefault(reason(each["note"]), []).append(_called(each, names))
    for why, whom in absent.items():
        said = ngettext("Not estimable: {whom}. {why}", "Not estimable: {whom}. {why}", len(whom))
        page.say(said.format(whom=words.listing(whom), why=why), indent=2)
    example = next((each for each in rows if each["confidence"]), None)
    if example is not None:
        said = ngettext(
            "Each interval holds by itself at {confidence} ({method}).",
            "The intervals hold for the {count} declared strata together, at {confidence} ({method}).",
            example["simultaneous"],
        )
        page.say(
            said.format(
                confidence=words.percent(example["confidence"]),
                count=example["simultaneous"],
                method=method(example["method"]),
            ),
            indent=2,
        )


def _called(each: Document, names: Sequence[str]) -> str:
    called = words.group(each["group"], names) if names else _("all")
    return _("{stratum}, unweighted").format(stratum=called) if each.get("details") else called


def _row(each: Document, names: Sequence[str]) -> Row:
    events, cases = each["numerator"], each["denominator"]
    counted = (
        told.count(cases) if events is None else _("{events} of {cases}").format(events=events, cases=cases)
    )
    bound = each.get("zero_bound")
    shown = told.up_to(bound["rule_of_three"]) if bound else told.value(each["value"])
    return [_called(each, names), counted, shown, told.interval(each["low"], each["high"])]
