"""Agreement with oneself as text: each column's two labellings, how far they agree, and the floor that leaves."""

from collections.abc import Sequence
from typing import Any

from lacre.errors import printable
from lacre.report import told, words
from lacre.report.methods import method
from lacre.report.page import Cell, Column, Page, Row
from lacre.report.reasoned import reason
from lacre.report.told import Document
from lacre.text import _


def agreement(page: Page, document: Document) -> None:
    """Write the table "agreement" of an analysis, where it has one: every column and group, then the counts."""
    rows: Sequence[Document] = document.get("tables", {}).get("agreement", ())
    if not rows:
        return
    page.gap()
    page.say(Cell(_("the same cases labelled twice"), "bold"), indent=1)
    columns = [
        Column(_("column"), wraps=True, names=True),
        Column(_("agreed"), right=True),
        Column(_("agreement"), right=True),
        Column(_("kappa"), right=True),
        Column(_("floor"), right=True),
    ]
    page.table(columns, [_row(row) for row in rows])
    _explain(page, rows)
    for row in rows:
        if row.get("counts") is not None and not row["group"]:
            _counts(page, row)


def _row(row: Document) -> Row:
    if row.get("withheld"):
        return [_called(row), *[told.NONE] * 4]
    agreed = _("{n} of {cases}").format(n=row["agree"], cases=row["n"])
    return [
        _called(row),
        told.NONE if row["agree"] is None else agreed,
        _within(row, "raw", "low", "high", "share"),
        _within(row, "kappa", "kappa_low", "kappa_high", "kappa"),
        told.value(row["floor"]),
    ]


def _within(row: Document, value: str, low: str, high: str, kind: str) -> str:
    """Return a number with its interval."""
    if row[value] is None:
        return told.NONE
    return f"{told.value(row[value], kind)} ({told.interval(row[low], row[high], kind)})"


def _called(row: Document) -> str:
    name = printable(row.get("column", ""))
    if row.get("second", name) != row.get("column", name):
        name = f"{name}, {printable(row['second'])}"
    group = words.group(row["group"]) if row.get("group") else ""
    return " ".join(filter(None, (name, group)))


def _explain(page: Page, rows: Sequence[Document]) -> None:
    example = next((row for row in rows if row.get("confidence")), None)
    if example is not None:
        said = _("Agreement holds at {confidence} ({method}).")
        page.say(
            said.format(confidence=words.percent(example["confidence"]), method=method(example["method"])),
            indent=2,
        )
        page.say(
            _("Floor: 1 less the lower end. No smaller difference can be claimed on these labels."), indent=2
        )
    for row in rows:
        for note in dict.fromkeys((_told(row.get("note")), _told(row.get("kappa_note")))):
            if note is not None:
                why = reason({"code": note[0], "fields": dict(note[1])})
                page.say(_("{what}: {why}").format(what=_called(row), why=why), indent=2)


def _told(note: Document | None) -> tuple[str, tuple[tuple[str, Any], ...]] | None:
    return None if note is None else (note["code"], tuple(note["fields"].items()))


def _counts(page: Page, row: Document) -> None:
    """Write how often each label became which: rows are the first labels, columns the second."""
    page.gap()
    page.say(_("{column}: first label by row, second by column").format(column=_called(row)), indent=2)
    columns = [Column("", names=True), *(Column(printable(value), right=True) for value in row["values"])]
    cells: list[Row] = [
        [printable(value), *(str(count) for count in counts)]
        for value, counts in zip(row["values"], row["counts"], strict=True)
    ]
    page.table(columns, cells, indent=2)
