"""The versions of a corpus that grew, in a report: every number, and the changes by cell."""

from lacre.report import versions_text
from lacre.report.html.markup import Element, Node, el
from lacre.report.html.sheet import Sheet, paragraphs
from lacre.report.told import Document
from lacre.text import _


def versions(sheet: Sheet, document: Document) -> Element | None:
    """Return what is said of a corpus's earlier versions; nothing of a first version."""
    corpus = document.get("corpus")
    if corpus is None:
        return None
    numbers = _("Numbers of every version")
    parts: list[Node] = [
        sheet.heading(2, versions_text.title(corpus)),
        el("p", versions_text.stand()),
        sheet.table(numbers, versions_text.number_columns(), versions_text.number_rows(document)),
    ]
    for change in corpus["changes"]:
        if "note" in change:
            parts += paragraphs(versions_text.untold(change))
            continue
        columns, rows = versions_text.cell_columns(change), versions_text.cell_rows(change)
        parts.append(sheet.table(versions_text.cells_title(change), columns, rows))
        parts += paragraphs([*versions_text.moved(change)])
    return el("section", parts)
