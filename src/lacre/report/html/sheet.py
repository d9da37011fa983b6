"""The pieces a report is put together from: headings, tables with captions, facts, verdicts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from lacre.errors import printable
from lacre.report.html.forest import Forest, forest, legend
from lacre.report.html.markup import Element, Ids, Node, el, name
from lacre.report.page import Cell, Column, Page
from lacre.text import _

Cells: TypeAlias = Sequence[str | Cell | Element]
"""A row of a table: as one of text, and it may hold elements as well."""

SHORT = 12
"""Rows of a table that is not broken between two printed pages."""

SIGNS = {"PASS": "✓", "FAIL": "✗", "INSUFFICIENT_EVIDENCE": "?", "MANUAL_REVIEW": "!"}
KINDS = {"PASS": "pass", "FAIL": "fail", "INSUFFICIENT_EVIDENCE": "open", "MANUAL_REVIEW": "review"}
"""How a verdict is set off: a sign before its word, and a class."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """What the pieces of one page share: its ids, the level of its first heading, the protocol's language.

    `systems` tells whether there are several, so that each number must say whose it is.
    """

    ids: Ids
    first: int = 1
    language: str = "en"
    systems: bool = False

    def heading(self, level: int, *parts: Node) -> Element:
        """Return a heading of the report's own `level`, 1 to 4."""
        return el(f"h{self.first + level - 1}", list(parts), class_=f"t{level}")

    def table(
        self, caption: str, columns: Sequence[Column], rows: Sequence[Cells], *, here: int | None = None
    ) -> Element:
        """Return a table that scrolls by itself where it is wider than its place.

        The first column heads the rows; `here` is the place of a row to be set off.
        """
        title = self.ids.new()
        head = el("tr", [el("th", each.title, scope="col", class_=_class(each)) for each in columns])
        body = [self._row(columns, row, own=index == here) for index, row in enumerate(rows)]
        made = el("table", el("caption", caption, id=title), el("thead", head), el("tbody", body))
        # What scrolls must be reached by the keyboard, and say what it is.
        kind = "scroll short" if len(rows) <= SHORT else "scroll"
        return el("div", made, class_=kind, role="region", tabindex="0", aria_labelledby=title)

    def _row(self, columns: Sequence[Column], row: Cells, *, own: bool) -> Element:
        cells: list[Node] = []
        for place, (column, each) in enumerate(zip(columns, row, strict=True)):
            tag, scope = ("th", "row") if place == 0 else ("td", None)
            cells.append(el(tag, shown(each), scope=scope, class_=_class(column)))
        return el("tr", cells, class_="here" if own else None)

    def plot(self, drawn: Forest, *, named: bool = False) -> Element:
        """Return a forest plot with how it is read, and with its title where nothing above has `named` it."""
        title = el("strong", f"{drawn.title}. ") if named else None
        return el("figure", forest(drawn, self.ids), el("figcaption", title, legend(drawn)))

    def system(self, document: Mapping[str, Any]) -> str:
        """Return whose a number is, where there are several."""
        return printable(str(document.get("system") or "")) if self.systems else ""

    def words(self, text: str, tag: str = "bdi") -> Element:
        """Return words of the protocol, in its language."""
        return el(tag, text, lang=self.language, dir="auto")


def shown(cell: str | Cell | Element) -> Node:
    """Return what stands in a cell; names of others must not turn their row about."""
    if isinstance(cell, Element):
        return cell
    text, style = (cell.text, cell.style) if isinstance(cell, Cell) else (cell, "")
    if text in SIGNS:
        return state(text)
    inner: Node = name(text) if text else ""
    return el("strong", inner) if "bold" in style else inner


def state(word: str) -> Element:
    """Return a verdict, set off by a sign, a word and a colour."""
    if word not in SIGNS:
        return el("strong", word, class_="state")
    sign = el("span", SIGNS[word], class_="sign", aria_hidden="true")
    return el("span", sign, word, class_=f"state {KINDS[word]}")


def facts(pairs: Sequence[tuple[str, Node | Sequence[Node] | None]]) -> Element | None:
    """Return a list of titles and what they are; what is None is left out."""
    told = [part for title, said in pairs if said is not None for part in (el("dt", title), el("dd", said))]
    return el("dl", told, class_="facts") if told else None


def paragraphs(texts: Sequence[str], class_: str | None = None) -> list[Element]:
    """Return a paragraph for each text."""
    return [el("p", text, class_=class_) for text in texts]


class Written(Page):
    """A page of text that is written as HTML instead: what text reports say in whole pages is said the same here."""

    def __init__(self, sheet: Sheet, level: int, caption: str) -> None:
        super().__init__()
        self._sheet, self._level, self._caption = sheet, level, caption
        self.nodes: list[Node] = []

    def heading(self, *parts: str | Cell) -> None:
        """Begin a section."""
        named = [each.text if isinstance(each, Cell) else each for each in parts]
        self._caption = "".join(each for each in named if each not in SIGNS).strip()
        self.nodes.append(self._sheet.heading(self._level, *map(shown, parts)))

    def say(self, *parts: str | Cell, indent: int = 0) -> None:  # noqa: ARG002 - of the page of text
        """Write a paragraph."""
        texts = [shown(each) if isinstance(each, Cell) else each for each in parts]
        if any(texts):
            self.nodes.append(el("p", texts))

    def block(self, text: str, *, indent: int = 1) -> None:  # noqa: ARG002
        """Write several lines."""
        self.nodes += [el("p", name(line)) for line in text.splitlines() if line.strip()]

    def gap(self) -> None:
        """Leave a line free: paragraphs have room around them."""

    def table(self, columns: Sequence[Column], rows: Sequence[Cells], *, indent: int = 1) -> None:  # noqa: ARG002
        """Write a table."""
        self.nodes.append(self._sheet.table(self._caption, columns, rows))


def capital(title: str) -> str:
    """Return a title that begins with a capital letter."""
    return title[:1].upper() + title[1:]


def verdict_column() -> Column:
    """Return the column of verdicts."""
    return Column(_("verdict"))


def group_column() -> Column:
    """Return the column of groups."""
    return Column(_("group"), wraps=True, names=True)


def _class(column: Column) -> str | None:
    kinds = {"right": column.right, "wraps": column.wraps, "names": column.names}
    return " ".join(kind for kind, is_so in kinds.items() if is_so) or None
