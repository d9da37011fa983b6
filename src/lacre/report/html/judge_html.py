"""Human-vs-judge agreement of one rater in a report: kappa with all it is read with, drawings of the tables of bins."""

from collections.abc import Sequence

from lacre.errors import printable
from lacre.report import words
from lacre.report.html import confusion
from lacre.report.html.markup import Node, el
from lacre.report.html.sheet import Sheet, capital
from lacre.report.kinds import judge_text
from lacre.report.told import Document
from lacre.text import _

MOST_DRAWN = 7
"""Lines of a dimension, the pooled one among them, up to which each is drawn."""


def agreement(sheet: Sheet, _document: Document, rows: Sequence[Document]) -> list[Node]:
    """Return the table of coefficients, and of each dimension its drawing, its counts and its marginals."""
    kind = capital(words.kind("judge_agreement"))
    lines = [judge_text.agreement_row(row) for row in rows]
    parts: list[Node] = [
        sheet.heading(3, kind),
        sheet.table(kind, judge_text.columns(rows), lines),
        *(el("p", line) for line in judge_text.explained(rows)),
    ]
    for dimension, found in judge_text.by_dimension(rows).items():
        parts += _dimension(sheet, dimension, found)
    return parts


def _dimension(sheet: Sheet, dimension: str, rows: Sequence[Document]) -> list[Node]:
    shown = [row for row in rows if row.get("counts") and row.get("bins")]
    if not shown:
        return []
    parts: list[Node] = [sheet.heading(4, dimension)]
    for row in shown:
        # Of many groups the tables are enough.
        if any(map(any, row["counts"])) and (not row.get("group") or len(shown) <= MOST_DRAWN):
            parts += _drawn(sheet, row)
    for row in shown:
        if not row.get("group"):
            caption = _("{dimension}: the human's label by row, the judge's score by column")
            counts = judge_text.count_rows(row)
            parts.append(
                sheet.table(caption.format(dimension=dimension), judge_text.count_columns(row), counts)
            )
    caption = _("{dimension}: marginals, how many cases each put into each bin").format(dimension=dimension)
    lines = [*judge_text.marginal_rows(shown)]
    return [*parts, sheet.table(caption, judge_text.marginal_columns(shown[0]), lines)]


def _drawn(sheet: Sheet, row: Document) -> list[Node]:
    bins = [printable(str(each)) for each in row["bins"]]
    agreed = sum(counts[place] for place, counts in enumerate(row["counts"]))
    plot = confusion.Confusion(
        title=_("Table of bins: {what}").format(what=judge_text.called(row)),
        told=confusion.described(bins, *judge_text.marginals(row), agreed),
        bins=bins,
        counts=row["counts"],
    )
    title = el("strong", f"{judge_text.called(row)}. ")
    return [el("figure", confusion.confusion(plot, sheet.ids), el("figcaption", title, confusion.legend()))]
