"""Pairs of the same cases, seen twice: how often both were detected, one alone, or neither, and how far they differ."""

from collections.abc import Sequence

from lacre.errors import printable
from lacre.report import reasoned, told, words
from lacre.report.html.figures import Group, plot
from lacre.report.html.forest import Bar
from lacre.report.html.markup import Node, el
from lacre.report.html.sheet import Sheet, Written
from lacre.report.kinds import paired_text
from lacre.report.page import Cell, Column, Row
from lacre.report.told import Document
from lacre.text import _

_EXPLAINED = frozenset(("confidence", "simultaneous", "method", "test", "needed"))


def paired(sheet: Sheet, document: Document, rows: Sequence[Document]) -> list[Node]:
    """Return the table of pairs, and the differences drawn."""
    caption = _("Pairs of the same cases, and how far they differ")
    parts: list[Node] = [sheet.heading(3, _("Pairs"))]
    drawn = [_group(sheet, each) for each in rows]
    parts.append(sheet.plot(plot(caption, drawn, _bars(document))))
    parts.append(_counts(sheet, rows))
    parts.append(_tests(sheet, rows))
    parts += _explained(sheet, rows)
    notes = [f"{_name(sheet, each)}: {reasoned.reason(each['note'])}" for each in rows if each.get("note")]
    if notes:
        parts.append(el("ul", [el("li", note) for note in notes]))
    return parts


def _explained(sheet: Sheet, rows: Sequence[Document]) -> list[Node]:
    """Say what a difference is less what, and what its interval, test and power are."""
    page = Written(sheet, 4, "")
    if any(not each.get("systems") for each in rows):
        page.say(_("A difference is the variant's share less that of what it is compared with."))
    if any(each.get("systems") for each in rows):
        page.say(_("A difference of two systems is the first one's share less the second's."))
    whole = [each for each in rows if not each.get("withheld") and each.keys() >= _EXPLAINED]
    if whole:
        paired_text.explain(page, whole)
    return page.nodes


def _counts(sheet: Sheet, rows: Sequence[Document]) -> Node:
    first, second = _sides(rows)
    clusters = any(each.get("clusters") is not None for each in rows)
    blank = any(each.get("blank") for each in rows)
    columns = [
        Column(_("compared"), wraps=True, names=True),
        Column(_("pairs"), right=True),
        *([Column(_("clusters"), right=True)] if clusters else []),
        Column(_("both"), right=True),
        Column(_("{side} only").format(side=first), right=True),
        Column(_("{side} only").format(side=second), right=True),
        Column(_("neither"), right=True),
        *([Column(_("blank"), right=True)] if blank else []),
    ]
    names = ["pairs", *(["clusters"] if clusters else []), "both", "first_only", "second_only", "neither"]
    names += ["blank"] if blank else []
    lines: list[Row] = [
        [Cell(_name(sheet, each)), *(told.count(each.get(name)) for name in names)] for each in rows
    ]
    return sheet.table(_("Counts of pairs"), columns, lines)


def _tests(sheet: Sheet, rows: Sequence[Document]) -> Node:
    power = any(each.get("power") is not None for each in rows)
    columns = [
        Column(_("compared"), wraps=True, names=True),
        Column(_("difference"), right=True),
        Column(_("interval"), right=True),
        Column(_("test"), wraps=True),
        Column(_("p"), right=True),
        Column(_("p adjusted"), right=True),
        *([Column(_("power"), right=True)] if power else []),
    ]
    lines: list[Row] = [
        [
            Cell(_name(sheet, each)),
            told.value(each.get("difference"), "difference"),
            told.interval(each.get("low"), each.get("high"), "difference"),
            paired_text.test_words(str(each["test"])) if each.get("test") else told.NONE,
            paired_text.p_value(each.get("p")),
            paired_text.p_value(each.get("p_adjusted")),
            *([told.value(each.get("power"))] if power else []),
        ]
        for each in rows
    ]
    return sheet.table(_("Differences and tests"), columns, lines)


def _group(sheet: Sheet, each: Document) -> Group:
    return Group(
        name=_name(sheet, each),
        cases="",
        shown=told.value(each.get("difference"), "difference"),
        interval=told.interval(each.get("low"), each.get("high"), "difference"),
        size=each.get("pairs"),
        kind="difference",
        value=each.get("difference"),
        low=each.get("low"),
        high=each.get("high"),
        why=_absent(each),
    )


def _absent(each: Document) -> str:
    if each.get("difference") is not None:
        return ""
    return reasoned.reason(each.get("note"))


def _bars(document: Document) -> list[Bar]:
    """Return the margins of the criteria; the same one is drawn once."""
    found = {
        each["threshold"]: told.bar_name(each)
        for each in document["criteria"]
        if told.scale_of(each) == "difference" and each.get("rule") in {"min", "max"}
    }
    return [Bar(value, name) for value, name in found.items()]


def _name(sheet: Sheet, each: Document) -> str:
    compared = each.get("systems")
    if compared:
        name = _("{first} and {second}").format(first=printable(compared[0]), second=printable(compared[1]))
    else:
        name = _("{variant} against {baseline}").format(
            variant=printable(str(each.get("variant", ""))), baseline=printable(str(each.get("baseline", "")))
        )
    more = each.get("variant") if compared else sheet.system(each)
    return f"{name} ({printable(str(more))})" if more else name


def _sides(rows: Sequence[Document]) -> tuple[str, str]:
    """Return what the two sides are called: by their names, where these are the same in all rows."""
    sides = []
    for place, (key, plain) in enumerate((("baseline", _("first")), ("variant", _("second")))):
        names = {
            str(each["systems"][place] if each.get("systems") else each.get(key) or plain) for each in rows
        }
        apart = plain if any(each.get("systems") for each in rows) else words.metric(key)
        sides.append(printable(names.pop()) if len(names) == 1 else apart)
    return sides[0], sides[1]
