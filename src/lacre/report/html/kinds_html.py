"""The tables that a kind of analysis has of its own: pairs, verification, agreement, designs."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from lacre.errors import printable
from lacre.report import told, words
from lacre.report.html import judge_html, pairs_html, verification_html
from lacre.report.html.markup import Node, el
from lacre.report.html.sheet import Sheet
from lacre.report.page import Cell, Column, Row
from lacre.report.told import Document
from lacre.text import _

Builder = Callable[[Sheet, Document, Sequence[Document]], list[Node]]
"""Make the nodes of a table's rows; the analysis is given, too."""


def tables(sheet: Sheet, document: Document) -> list[Node]:
    """Return an analysis's own tables; one that this version does not know is written as it is."""
    found = document.get("tables") or {}
    parts: list[Node] = []
    hidden: dict[str, None] = {}
    for name in (
        *(each for each in BUILDERS if each in found),
        *(each for each in found if each not in BUILDERS),
    ):
        # A row that is withheld says whose it would be, and nothing else.
        rows = [each for each in found[name] if not each.get("withheld")]
        hidden |= dict.fromkeys(told.group(each) for each in found[name] if each.get("withheld"))
        if rows:
            parts += (
                BUILDERS[name](sheet, document, rows) if name in BUILDERS else _unknown(sheet, name, rows)
            )
    if hidden:
        said = _("Withheld, to protect small groups: {groups}.")
        parts.append(el("p", said.format(groups=words.listing(list(hidden)))))
    return parts


def _agreement(sheet: Sheet, _document: Document, rows: Sequence[Document]) -> list[Node]:
    columns = [
        Column(_("column"), wraps=True, names=True),
        Column(_("labelled twice"), right=True),
        Column(_("the same"), right=True),
        Column(_("raw agreement"), right=True),
        Column(_("interval"), right=True),
        Column(_("kappa"), right=True),
        Column(_("interval of kappa"), right=True),
        Column(_("floor"), right=True),
    ]
    lines: list[Row] = [
        [
            Cell(str(each.get("column", ""))),
            told.count(each.get("n")),
            told.count(each.get("agree")),
            told.value(each.get("raw")),
            told.interval(each.get("low"), each.get("high")),
            told.value(each.get("kappa"), "kappa"),
            told.interval(each.get("kappa_low"), each.get("kappa_high"), "kappa"),
            told.value(each.get("floor")),
        ]
        for each in rows
    ]
    parts: list[Node] = [
        sheet.heading(3, _("Agreement with oneself")),
        sheet.table(_("Agreement of two passes over the same cases"), columns, lines),
    ]
    return parts + [_matrix(sheet, each) for each in rows if each.get("values") and each.get("counts")]


def _matrix(sheet: Sheet, each: Document) -> Node:
    values = [str(value) for value in each["values"]]
    columns = [
        Column(_("first pass"), wraps=True, names=True),
        *(Column(_("then {value}").format(value=printable(value)), right=True) for value in values),
    ]
    lines: list[Row] = [
        [Cell(value), *(told.count(count) for count in counts)]
        for value, counts in zip(values, each["counts"], strict=True)
    ]
    caption = _("{column}: the first pass down, the second across").format(column=each.get("column", ""))
    return sheet.table(caption, columns, lines)


def _design(sheet: Sheet, _document: Document, rows: Sequence[Document]) -> list[Node]:
    columns = [
        Column(_("stratum"), wraps=True, names=True),
        Column(_("population"), right=True),
        Column(_("clusters drawn") if rows[0].get("units") == "clusters" else _("drawn"), right=True),
        Column(_("cases with a value"), right=True),
    ]
    lines: list[Row] = [
        [
            Cell(str(each.get("stratum") or "") or _("everybody")),
            *(_plain(each.get(name)) for name in ("population", "drawn", "respondents")),
        ]
        for each in rows
    ]
    return [
        sheet.heading(3, _("The sample's design")),
        sheet.table(_("Strata of the sample"), columns, lines),
    ]


def _unknown(sheet: Sheet, name: str, rows: Sequence[Document]) -> list[Node]:
    names = list(dict.fromkeys(key for row in rows for key in row))
    columns = [Column(printable(key.replace("_", " ")), wraps=True) for key in names]
    lines: list[Row] = [[Cell(_plain(row.get(key))) for key in names] for row in rows]
    title = printable(name.replace("_", " "))
    return [sheet.heading(3, title), sheet.table(title, columns, lines)]


def _plain(value: object) -> str:
    """Return any JSON value, shortly."""
    if value is None:
        return told.NONE
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, Mapping):
        return ", ".join(f"{printable(str(key))}: {_plain(each)}" for key, each in value.items())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(map(_plain, value))
    return printable(str(value))


BUILDERS: Mapping[str, Builder] = MappingProxyType(
    {
        "paired": pairs_html.paired,
        "rungs": verification_html.ladder,
        "groups": verification_html.groups,
        "targets": verification_html.targets,
        "det": verification_html.curves,
        # What stands in the drawing of `det` and in its table.
        "operating": lambda _sheet, document, _rows: (
            []
            if (document.get("tables") or {}).get("det")
            else verification_html.operating(_sheet, document, _rows)
        ),
        "agreement": _agreement,
        "judge_agreement": judge_html.agreement,
        "design": _design,
    }
)
