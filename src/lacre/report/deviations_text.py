"""The deviations of a study as the table a paper needs: what, when, why, and what was known then.

As a page, in Markdown (GitHub's tables), as CSV (RFC 4180), and as a pandas frame. People wrote the words in
it, so nothing in them is markup, and no spreadsheet takes a cell for a formula.
"""

import csv
import io
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from lacre.analyses.reasons import Reason, render
from lacre.broker.outcomes import Deviations
from lacre.errors import printable
from lacre.protocol.difference import line
from lacre.report import history, words
from lacre.report.page import Cell, Page
from lacre.rules.deviations import Departure
from lacre.rules.overlap_words import overlaps_text
from lacre.tables.formulas import FORMULA
from lacre.text import N_, _, ngettext

if TYPE_CHECKING:
    import pandas as pd

KINDS: Mapping[str, str] = MappingProxyType(
    {
        "amendment": N_("The plan was amended (version {version}){burns}"),
        "infeasible": N_("Criteria were kept of which PASS or FAIL is out of reach: {criteria}"),
        "deviation": N_("Deviation of {about}"),
        "withdrawal": N_("The study was withdrawn"),
        "replacement": N_("{pool} was sealed again before it was read, in place of entry {entry}"),
        "shortfall": N_("{pool} holds fewer rows than planned"),
        "nonresponse": N_("{pool} holds fewer cases than were drawn for it"),
        "as-dev": N_("{pool} was sealed to count as dev"),
        "handing": N_("{pool} was handed to other recipients"),
        "alike": N_("{pool} has in common with other pools, as declared by the broker: {overlaps}"),
        "not-compared": N_(
            "{pool} was sealed under tables declared otherwise than those of {others}: cases that both hold may not "
            "have been recognised"
        ),
        "gated": N_(
            "{pool} was asked for a verdict on cases that other studies had verdicts on, as declared by the broker: "
            "{overlaps}"
        ),
        "read": N_("{pool} was read{codes}{burns}{result}"),
        "exposing": N_(
            "{pool} was read{result}, which exposed cases of another study's unread pool, as declared by the broker: "
            "{overlaps}"
        ),
        "exposed": N_(
            "Cases of {pool} were exposed by a read in another study, as declared by the broker: {overlaps}"
        ),
        "review": N_("The read of {pool} at entry {entry} is for a person to review: {review}"),
        "unfinished": N_("{pool} was read, and the read gave no result"),
        "erratum": N_("The result at entry {entry} was scored again on corrected labels{result}"),
    }
)
_MARKUP = re.compile(r"([\\`*_\[\]~#$!])")


def what(row: Departure) -> str:
    """Say in one sentence what departed."""
    if row.kind == "met":
        said = ngettext(
            "{count} case of {pool} had been read before, in another ledger",
            "{count} cases of {pool} had been read before, in other ledgers",
            row.count,
        )
        return said.format(count=row.count, pool=printable(row.pool or ""))
    burns = _(": makes {pools} dev").format(pools=words.listing(row.burns)) if row.burns else ""
    codes = ", ".join(f"{each.analysis}.{each.criterion}" for each in row.infeasible)
    result = (
        _(", result at entry {entry}").format(entry=row.result)
        if row.result is not None
        else _(", without a result")
    )
    about = _("the study") if row.about is None else _("entry {entry}").format(entry=row.about)
    return _(KINDS[row.kind]).format(
        version=row.version,
        burns=burns,
        criteria=printable(codes),
        about=about,
        pool=printable(row.pool or ""),
        entry=row.about,
        codes=f" ({history.exploratory(row.codes)})" if row.codes else "",
        review=" ".join(render(Reason(code)) for code in row.codes),
        overlaps=overlaps_text(row.overlaps),
        others=words.listing(row.others),
        result=result,
    )


def deviations_page(table: Deviations) -> Page:
    """Write the table for a terminal."""
    page = Page()
    title = ngettext(
        "Deviations of {study}: {count} row", "Deviations of {study}: {count} rows", len(table.rows)
    )
    page.heading(title.format(study=table.study, count=len(table.rows)))
    if not table.rows:
        page.say(_("None: everything so far is as it was registered."))
        return page
    for row in table.rows:
        page.gap()
        time = _("{time} UTC, entry {entry}").format(time=words.moment(row.time), entry=row.entry)
        page.say(Cell(what(row), "bold"))
        page.say(time, indent=1)
        for change in row.changes:
            page.say(line(change), indent=2)
        if row.words is not None:
            page.say(_("Why: {words}").format(words=words.said(table.texts[row.words])), indent=1)
        page.say(_("Known then: {known}.").format(known=words.known(row.known)), indent=1)
    return page


def markdown(table: Deviations) -> str:
    """Return the table in Markdown, as GitHub and pandoc read it; what people wrote is text in it."""
    rows: list[list[tuple[str, ...]]] = [[(title,) for title in _titles()], *_cells(table)]
    lines = [" | ".join("<br>".join(map(_escaped, cell)) for cell in row) for row in rows]
    lines.insert(1, " | ".join(["---:", *["---"] * (len(_titles()) - 1)]))
    return "".join(f"| {each} |\n" for each in lines)


def csv_text(table: Deviations) -> str:
    """Return the table as CSV (RFC 4180): a cell that a spreadsheet would compute begins with an apostrophe."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\r\n")
    writer.writerow(_titles())
    for row in _cells(table):
        writer.writerow([_no_formula("\n".join(lines)) for lines in row])
    return buffer.getvalue()


def deviations_frame(table: Deviations) -> "pd.DataFrame":
    """Return one row per deviation: entry, time (UTC), by, kind, what, changes (lines), why, known."""
    import pandas as pd

    rows = [
        {
            "entry": row.entry,
            "time": row.time,
            "by": words.who(row.by, table.names),
            "kind": row.kind,
            "what": what(row),
            "changes": "\n".join(line(change) for change in row.changes),
            "why": "\n".join(cells[4]),
            "known": words.known(row.known),
        }
        for row, cells in zip(table.rows, _cells(table), strict=True)
    ]
    frame = pd.DataFrame(rows, columns=["entry", "time", "by", "kind", "what", "changes", "why", "known"])
    return frame.astype({"entry": "int64", "time": "datetime64[us, UTC]"})


def _titles() -> list[str]:
    return [_("entry"), _("when (UTC)"), _("what"), _("changes"), _("why"), _("known then")]


def _cells(table: Deviations) -> list[list[tuple[str, ...]]]:
    """Return the cells of each row, each in lines."""
    return [
        [
            (str(row.entry),),
            (words.moment(row.time),),
            (what(row),),
            tuple(line(change) for change in row.changes),
            tuple(words.said_lines(table.texts[row.words])) if row.words is not None else (),
            (words.known(row.known),),
        ]
        for row in table.rows
    ]


def _escaped(text: str) -> str:
    """Return text that Markdown shows as it is: no markup, no HTML, no cell's end."""
    safe = _MARKUP.sub(r"\\\1", printable(text))
    for mark, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("|", "&#124;")):
        safe = safe.replace(mark, entity)
    return safe


def _no_formula(text: str) -> str:
    return f"'{text}" if FORMULA.match(text) else text
