"""Groups of numbers as a drawing and a table that say the same."""

from collections.abc import Sequence
from dataclasses import dataclass

from lacre.report import analysis_text, reasoned, told, words
from lacre.report.html import scale
from lacre.report.html.forest import Bar, Forest, Row as Drawn
from lacre.report.html.markup import Node
from lacre.report.html.sheet import Sheet, group_column, verdict_column
from lacre.report.page import Cell, Column, Row
from lacre.report.told import Document
from lacre.text import _

_OF_GROUPS = ("worst_group", "max_group_gap")


@dataclass(frozen=True, slots=True)
class Group:
    """One row: what it is of, on what it rests, its number in words, and what is drawn of it."""

    name: str
    cases: str
    shown: str
    interval: str
    size: int | None
    kind: str
    value: float | None
    low: float | None
    high: float | None
    bound: float | None = None
    state: str = ""
    why: str = ""

    @classmethod
    def of_line(cls, criterion: Document, line: Document, rate: Document) -> "Group":
        """Return the row of a criterion's line, whose estimate is `rate`."""
        kind = line_scale(criterion)
        unit, bar = criterion.get("unit"), told.held_to(criterion)
        reason = line.get("reason")
        said = reason is not None and reason["code"] not in analysis_text.DECIDED
        share = kind == "share"
        form = str(criterion.get("rule", ""))
        judged = (
            line["state"] if form.startswith(_OF_GROUPS) else criterion["state"] if single(criterion) else ""
        )
        return cls(
            name=words.group(line["group"], criterion.get("by") or ()),
            cases=_cases(line, share=share),
            shown=reasoned.value_of(line, rate) if share else told.value(line["value"], kind, unit),
            interval=told.interval(line["low"], line["high"], kind, unit, bar=bar),
            size=line.get("denominator"),
            kind=kind,
            value=line["value"],
            low=line["low"],
            high=line["high"],
            bound=_bound(line, rate) if share else None,
            # Of the groups that a difference or a ratio is of, nothing is asked.
            state=judged,
            why=reasoned.reason(reason) if said else "",
        )

    @classmethod
    def of_estimate(cls, each: Document) -> "Group":
        """Return the row of an estimate, which has its `scale` and `unit` beside it."""
        kind, unit = str(each.get("scale") or "share"), each.get("unit")
        line = {**each, "numerator": each.get("numerator"), "missing": each.get("missing") or 0}
        bound = _bound(line, each) if kind == "share" else None
        named = words.metric(each["metric"])
        if not each["group"] and not each.get("versus"):
            more = told.details(each)
            name = f"{named}, {more}" if more else named
        else:
            name = told.group(each)
        return cls(
            name=name,
            cases=_cases(line, share=kind == "share"),
            shown=told.up_to(bound) if bound is not None else told.value(each["value"], kind, unit),
            interval=told.interval(each["low"], each["high"], kind, unit),
            size=each.get("denominator"),
            kind=kind,
            value=each["value"],
            low=each["low"],
            high=each["high"],
            bound=bound,
            why=reasoned.reason(each.get("note")),
        )

    @property
    def drawn(self) -> Drawn:
        """Return what is drawn of it."""
        absent = self.value is None and self.low is None and self.high is None
        told_ = [self.shown, f"({self.interval})"]
        if told.NONE in (self.interval, self.shown):
            told_ = [self.interval if self.shown == told.NONE else self.shown]
        if self.size is not None:
            told_.append(_("n {count}").format(count=self.size))
        return Drawn(
            name=self.name,
            numbers=(_("n {count}").format(count=self.size) if self.size is not None else "")
            if absent
            else " ".join(told_),
            value=self.value,
            low=self.low,
            high=self.high,
            bound=self.bound,
            state=self.state,
            instead=(self.why or _("not estimable")) if absent else "",
        )


def group_figure(
    sheet: Sheet,
    caption: str,
    groups: Sequence[Group],
    *,
    bars: Sequence[Document] = (),
    drawn: bool = True,
    what: str = "",
) -> list[Node]:
    """Return the drawing of groups, with the bars of criteria, and the table of the same numbers.

    `what` is the title of the first column, if they are no groups.
    """
    parts: list[Node] = []
    if drawn and groups:
        lines = [Bar(each["threshold"], told.bar_name(each)) for each in bars]
        parts.append(sheet.plot(plot(caption, groups, lines)))
    parts.append(_table(sheet, caption, groups, what))
    return parts


def plot(caption: str, groups: Sequence[Group], bars: Sequence[Bar] = ()) -> Forest:
    """Return the drawing of groups on an axis that holds them and the bars."""
    rows = [each.drawn for each in groups]
    kind = groups[0].kind
    values = [value for row in rows for value in row.values()] + [bar.value for bar in bars]
    return Forest(
        title=_("Forest plot: {what}").format(what=caption),
        told=_described(rows, bars),
        rows=rows,
        axis=scale.axis(kind, values),
        bars=bars,
    )


def one_plot(sheet: Sheet, criterion: Document) -> list[Node]:
    """Return the drawing of a criterion's own number with its interval, held against its bar."""
    if criterion["low"] is None and criterion["high"] is None:
        return []
    kind, (shown, interval) = told.scale_of(criterion), told.observed(criterion)
    own = Group(
        name=_judged(criterion),
        cases="",
        shown=shown,
        interval=interval,
        size=None,
        kind=kind,
        value=criterion["value"],
        low=criterion["low"],
        high=criterion["high"],
        bound=criterion["high"] if kind == "share" and criterion["value"] == 0 else None,
        state=criterion["state"],
    )
    bars = [Bar(criterion["threshold"], told.bar_name(criterion))]
    return [sheet.plot(plot(f"{criterion['id']}: {told.rule(criterion)}", [own], bars))]


def _judged(criterion: Document) -> str:
    match criterion.get("rule"):
        case "max_group_gap":
            return _("largest gap")
        case "max_group_ratio":
            return _("largest ratio")
        case _:
            return words.metric(criterion["metric"])


def single(criterion: Document) -> bool:
    """Tell whether a criterion is on a share, of which its one line is all."""
    return (
        len(criterion.get("groups") or ()) == 1
        and criterion.get("rule") in {"min", "max"}
        and told.scale_of(criterion) == "share"
    )


def line_scale(criterion: Document) -> str:
    """Return what the lines of a criterion are: rates, also of one on their gap, difference or ratio."""
    scale_ = told.scale_of(criterion)
    counted = any(line.get("numerator") is not None for line in criterion.get("groups") or ())
    return "share" if counted or scale_ in {"gap", "difference", "ratio"} else scale_


def _table(sheet: Sheet, caption: str, groups: Sequence[Group], what: str) -> Node:
    states, whys = any(each.state for each in groups), any(each.why for each in groups)
    shares = all(each.kind == "share" for each in groups)
    columns = [
        Column(what, wraps=True, names=True) if what else group_column(),
        Column(_("events") if shares else _("cases"), right=True),
        Column(_("rate") if shares else _("value"), right=True),
        Column(_("interval"), right=True),
        *([verdict_column()] if states else []),
        *([Column(_("why"), wraps=True)] if whys else []),
    ]
    rows: list[Row] = [
        [
            Cell(each.name),
            each.cases,
            each.shown,
            each.interval,
            *([each.state] if states else []),
            *([each.why] if whys else []),
        ]
        for each in groups
    ]
    return sheet.table(caption, columns, rows)


def _described(rows: Sequence[Drawn], bars: Sequence[Bar]) -> str:
    """Say a drawing in words, for those who do not see it."""
    told_ = [f"{row.name}: {row.instead or row.numbers}." for row in rows]
    return " ".join([*(f"{bar.name}." for bar in bars), *told_])


def _cases(line: Document, *, share: bool) -> str:
    """Return on what a number rests: events of cases, or cases alone."""
    if share and line.get("numerator") is not None:
        return reasoned.events_of(line)
    return told.count(line.get("denominator"))


def _bound(line: Document, rate: Document) -> float | None:
    """Return what a rate of nothing counted is at most."""
    if rate.get("zero_bound"):
        return min(float(rate["zero_bound"]["rule_of_three"]), 1.0)
    return line["high"] if line["value"] == 0 and line["high"] else None
