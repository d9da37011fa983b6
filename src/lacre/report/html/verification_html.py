"""Verification: counts and abstentions of each group, thresholds for each target, DET curves, the mitigation ladder."""

from collections.abc import Mapping, Sequence
from typing import Any

from lacre.errors import printable
from lacre.report import evidence_text, told, words
from lacre.report.html.det import Curve, Point, det, legend
from lacre.report.html.figures import Group, plot
from lacre.report.html.forest import Bar
from lacre.report.html.markup import Element, Node, el
from lacre.report.html.sheet import Cells, Sheet, group_column, state
from lacre.report.page import Cell, Column, Row
from lacre.report.told import Document
from lacre.text import _


def groups(sheet: Sheet, _document: Document, rows: Sequence[Document]) -> list[Node]:
    """Return the counts of each group at the common threshold, abstentions in a column of their own."""
    columns = [
        group_column(),
        Column(_("genuine"), right=True),
        Column(_("false non-matches"), right=True),
        Column(_("impostor"), right=True),
        Column(_("false matches"), right=True),
        Column(_("abstained"), right=True),
    ]
    parts: list[Node] = [sheet.heading(3, _("Comparisons of each group"))]
    for named, found in _by_rung(sheet, rows):
        lines: list[Row] = [
            [
                Cell(words.group(each["group"])),
                *(
                    told.count(each.get(name))
                    for name in ("genuine", "false_non_match", "impostor", "false_match", "abstained")
                ),
            ]
            for each in found
        ]
        parts.append(sheet.table(_with(_("Counts at the common threshold"), named), columns, lines))
    return parts


def targets(sheet: Sheet, _document: Document, rows: Sequence[Document]) -> list[Node]:
    """Return the threshold that each group needs for each target, and what it gives."""
    unresolved = any(each.get("unresolved") for each in rows)
    columns = [
        group_column(),
        Column(_("threshold"), right=True),
        Column(_("interval of it"), right=True),
        Column(_("events"), right=True),
        Column(_("achieved"), right=True),
        Column(_("interval"), right=True),
        Column(_("the other rate"), right=True),
        *([Column(_("remark"), wraps=True)] if unresolved else []),
    ]
    parts: list[Node] = [sheet.heading(3, _("The threshold each group needs"))]
    for named, found in _by_rung(sheet, rows):
        for target, at in dict.fromkeys((each["target"], each["at"]) for each in found):
            own = [each for each in found if (each["target"], each["at"]) == (target, at)]
            lines: list[Row] = [_target(each, remark=unresolved) for each in own]
            parts.append(sheet.table(_with(_asked(target, at), named), columns, lines))
    return parts


def _asked(target: str, at: float) -> str:
    template = evidence_text.TARGETS.get(target)
    said = f"{words.metric(target)} {{at}}" if template is None else _(template)
    return said.format(at=words.percent(at))


def _target(each: Document, *, remark: bool) -> Row:
    cases = each.get("cases")
    said = _("unresolved at n = {count}").format(count=told.count(cases)) if each.get("unresolved") else ""
    threshold = each.get("threshold")
    return [
        Cell(words.group(each["group"])),
        told.value(threshold, "score"),
        told.interval(each.get("threshold_low"), each.get("threshold_high"), "score"),
        _of(each.get("events"), cases),
        told.counted(each.get("achieved"), each.get("events"), cases),
        told.interval(each.get("low"), each.get("high")),
        told.counted(each.get("other_rate"), each.get("other_events"), each.get("other_cases")),
        *([said] if remark else []),
    ]


def curves(sheet: Sheet, document: Document, rows: Sequence[Document]) -> list[Node]:
    """Return the DET curves of each rung, with their operating points drawn and in a table."""
    operating = (document.get("tables") or {}).get("operating") or ()
    parts: list[Node] = [sheet.heading(3, _("DET curves"))]
    for named, found in _by_rung(sheet, rows):
        points = [each for name, own in _by_rung(sheet, operating) if name == named for each in own]
        drawn = [_curve(each, points) for each in found]
        drawable = [each for each in drawn if each.rates or each.points]
        title = _with(_("DET curves by group"), named)
        if drawable:
            told_ = " ".join(_described(each) for each in drawable)
            parts.append(_figure(sheet, title, told_, drawable))
        withheld = [each.name for each in drawn if each not in drawable]
        if withheld:
            said = _("No curve of {groups}: too few comparisons, or withheld.")
            parts.append(el("p", said.format(groups=words.listing(withheld))))
        if points:
            parts.append(_operating_table(sheet, document, named, points))
        else:
            parts.append(_curve_table(sheet, named, drawn))
    return parts


def _figure(sheet: Sheet, title: str, described: str, drawn: Sequence[Curve]) -> Node:
    caption = el("figcaption", el("strong", f"{title}. "), legend())
    return el("figure", det(title, described, drawn, sheet.ids), caption)


def operating(sheet: Sheet, document: Document, rows: Sequence[Document]) -> list[Node]:
    """Return the operating points where there are no curves."""
    parts: list[Node] = [sheet.heading(3, _("Operating points"))]
    return parts + [_operating_table(sheet, document, named, found) for named, found in _by_rung(sheet, rows)]


def _operating_table(sheet: Sheet, document: Document, named: str, points: Sequence[Document]) -> Node:
    columns = [
        group_column(),
        Column(_("threshold"), right=True),
        Column(_("false matches"), right=True),
        Column(_("false non-matches"), right=True),
    ]
    lines: list[Row] = [
        [
            Cell(words.group(each["group"])),
            told.value(each.get("threshold"), "score"),
            _counted(document, each, "fmr", "false_match", "impostor"),
            _counted(document, each, "fnmr", "false_non_match", "genuine"),
        ]
        for each in points
    ]
    return sheet.table(_with(_("Operating points"), named), columns, lines)


def _counted(document: Document, point: Document, rate: str, events: str, cases: str) -> str:
    """Return a rate at an operating point; of nothing counted, of how many, by the counts of its group."""
    own = ("system", "rung", "group")
    counts: Document = next(
        (
            each
            for each in (document.get("tables") or {}).get("groups") or ()
            if all(each.get(name) == point.get(name) for name in own)
        ),
        {},
    )
    return told.counted(point.get(rate), counts.get(events), counts.get(cases))


def _curve_table(sheet: Sheet, named: str, drawn: Sequence[Curve]) -> Node:
    """Return where each curve begins and ends: what the drawing shows is not for the eye alone."""
    columns = [
        group_column(),
        Column(_("points"), right=True),
        Column(_("from"), right=True),
        Column(_("to"), right=True),
    ]
    lines: list[Row] = [
        [
            Cell(each.name),
            told.count(len(each.rates)),
            *(_pair(each.rates[place]) if each.rates else told.NONE for place in (0, -1)),
        ]
        for each in drawn
    ]
    caption = _("Ends of the curves: false matches / false non-matches")
    return sheet.table(_with(caption, named), columns, lines)


def _pair(rates: tuple[float, float]) -> str:
    return f"{told.value(rates[0])} / {told.value(rates[1])}"


def _curve(each: Document, points: Sequence[Document]) -> Curve:
    # Rates of zero have no place on such axes, and where all curves end says nothing of any.
    rates = [(float(a), float(b)) for a, b in each.get("points") or () if 0 < a < 1 and 0 < b < 1]
    own = [point for point in points if point["group"] == each["group"]]
    marks = [
        Point(float(point["fmr"]), float(point["fnmr"]))
        for point in own
        if point.get("fmr") is not None and point.get("fnmr") is not None
    ]
    return Curve(words.group(each["group"]), rates, marks)


def _described(curve: Curve) -> str:
    at = [
        _("{match} false matches with {non_match} false non-matches").format(
            match=told.counted(point.false_match, None, None),
            non_match=told.counted(point.false_non_match, None, None),
        )
        for point in curve.points
    ]
    return f"{curve.name}: {'; '.join(at)}." if at else f"{curve.name}."


def ladder(sheet: Sheet, document: Document, rows: Sequence[Document]) -> list[Node]:
    """Return the rungs side by side: what each criterion came to on each, in the order they were registered."""
    known = {each["id"]: each for each in document["criteria"]}
    parts: list[Node] = []
    for system in dict.fromkeys(each.get("system") or "" for each in rows):
        rungs = [_told_by(known, each) for each in rows if (each.get("system") or "") == system]
        if len(rungs) == 1 and not rungs[0].get("rung"):
            continue
        parts.append(_ladder_table(sheet, printable(system) if sheet.systems else "", rungs))
        for criterion in dict.fromkeys(each["id"] for rung in rungs for each in rung["criteria"]):
            parts += _ladder_plot(sheet, criterion, rungs)
    return [sheet.heading(3, _("The mitigation ladder")), *parts] if parts else []


def _told_by(known: Mapping[str, Document], rung: Document) -> Document:
    """Return a rung whose criteria say what they ask, as those of the analysis do."""
    own = ("rule", "metric", "by", "scale", "unit")
    criteria = [
        {**{name: value for name, value in known.get(each["id"], {}).items() if name in own}, **each}
        for each in rung.get("criteria") or ()
    ]
    return {**rung, "criteria": criteria}


def _ladder_table(sheet: Sheet, system: str, rungs: Sequence[Document]) -> Node:
    names = dict.fromkeys(each["id"] for rung in rungs for each in rung["criteria"])
    columns = [Column(_("criterion"), wraps=True, names=True)]
    columns += [Column(_rung(rung), wraps=True) for rung in rungs]
    lines: list[Cells] = [
        [Cell(name), *(_on_rung(rung, _criterion(rung, name)) for rung in rungs)] for name in names
    ]
    whole = [_not_run(rung) if not rung.get("ran", True) else str(rung.get("state") or "") for rung in rungs]
    lines.append([Cell(_("the rung as a whole")), *whole])
    return sheet.table(_with(_("Rungs, in the registered order"), system), columns, lines)


def _on_rung(rung: Document, each: Document | None) -> str | Element:
    """Return what a criterion came to on a rung, in one cell."""
    if each is None:
        return _not_run(rung)
    shown, interval = told.observed(each)
    numbers = shown if interval == told.NONE else f"{shown} ({interval})"
    if shown == told.NONE:
        numbers = interval
    return el("span", state(each["state"]), el("br"), numbers)


def _ladder_plot(sheet: Sheet, criterion: str, rungs: Sequence[Document]) -> list[Node]:
    """Return one criterion on every rung, held against its bar; of none that can be drawn, nothing."""
    found = [(_rung(rung), _not_run(rung), _criterion(rung, criterion)) for rung in rungs]
    judged = [each for _name, _why, each in found if each is not None]
    kinds = {told.scale_of(each) for each in judged}
    if len(kinds) != 1 or all(each["low"] is None and each["high"] is None for each in judged):
        return []
    (kind,) = kinds
    drawn = []
    for name, why, each in found:
        shown, interval = (told.NONE, told.NONE) if each is None else told.observed(each)
        value, low, high = (None, None, None) if each is None else (each["value"], each["low"], each["high"])
        bound = high if kind == "share" and value == 0 else None
        verdict = "" if each is None else each["state"]
        why = why if each is None else _("not estimable")
        drawn.append(Group(name, "", shown, interval, None, kind, value, low, high, bound, verdict, why))
    bars = {each["threshold"]: told.bar_name(each) for each in judged}
    caption = _("{criterion}, rung by rung").format(criterion=printable(criterion))
    return [sheet.plot(plot(caption, drawn, [Bar(value, name) for value, name in bars.items()]), named=True)]


def _criterion(rung: Document, name: str) -> Document | None:
    return next((each for each in rung["criteria"] if each["id"] == name), None)


def _rung(rung: Document) -> str:
    return printable(str(rung.get("rung") or _("no mitigation")))


def _not_run(rung: Document) -> str:
    return _("did not run") if not rung.get("ran", True) else told.NONE


def _by_rung(sheet: Sheet, rows: Sequence[Document]) -> list[tuple[str, list[Document]]]:
    """Return the rows of each system and rung, under a name for them."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for each in rows:
        parts = (sheet.system(each), printable(str(each.get("rung") or "")))
        found.setdefault(", ".join(filter(None, parts)), []).append(each)
    return list(found.items())


def _with(title: str, named: str) -> str:
    return f"{title}: {named}" if named else title


def _of(events: int | None, cases: int | None) -> str:
    if events is None or cases is None:
        return told.NONE
    return _("{events} of {cases}").format(events=events, cases=cases)
