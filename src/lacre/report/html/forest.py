"""A forest plot: for each group its value, its interval and its size, and the bar that a criterion sets.

The drawing is as wide as its place, and its words keep their size: what runs across is given in percent of the
width. Nothing in it is told by colour alone, and all of it stands in words as well, in the table beside it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from lacre.report.html.markup import Element, Ids, Node, el
from lacre.report.html.scale import Axis
from lacre.text import _

LEFT, RIGHT = 2.0, 98.0
"""Where the axis begins and ends, in percent of the width."""

INSIDE = "3%"
"""Where words begin: beside the axis, so that no line runs through them."""

TOP, LINE, BAND, GAP = 18, 17, 18, 9
TOGETHER = 42
"""Characters that a narrow screen has room for in a line."""

_MARKS = {
    "PASS": ("circle", "pass"),
    "FAIL": ("diamond", "fail"),
}


@dataclass(frozen=True, slots=True)
class Bar:
    """A value that a criterion holds others against, and its name."""

    value: float
    name: str


@dataclass(frozen=True, slots=True)
class Row:
    """One group: its name, its numbers in words, and what can be drawn of them.

    `bound` is a one-sided upper bound where nothing was counted; `instead` says why there is no interval.
    """

    name: str
    numbers: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    bound: float | None = None
    state: str = ""
    instead: str = ""

    def values(self) -> tuple[float, ...]:
        """Return what an axis must hold."""
        return tuple(each for each in (self.value, self.low, self.high, self.bound) if each is not None)


@dataclass(frozen=True, slots=True)
class Forest:
    """What is drawn, with the title and the description that stand for it where it cannot be seen."""

    title: str
    told: str
    rows: Sequence[Row]
    axis: Axis
    bars: Sequence[Bar] = ()


def forest(plot: Forest, ids: Ids) -> Element:
    """Return the drawing."""
    top = TOP if plot.bars else 6
    drawn: list[Node] = []
    bands: list[tuple[int, int]] = []
    at = top
    together = all(len(row.name) + len(row.numbers) + 2 <= TOGETHER for row in plot.rows if not row.instead)
    for row in plot.rows:
        part, height = _row(row, plot.axis, at, together=together)
        drawn.append(part)
        if not row.instead:
            bands.append((at + height - GAP - BAND, at + height))
        at += height
    title, told = ids.new(), ids.new()
    return el(
        "svg",
        el("title", plot.title, id=title),
        el("desc", plot.told, id=told),
        _grid(plot.axis, top, at),
        [_bar(bar, plot.axis, bands, at) for bar in plot.bars],
        drawn,
        role="img",
        aria_labelledby=f"{title} {told}",
        class_="plot forest",
        width="100%",
        height=at + 22,
    )


def legend(plot: Forest) -> str:
    """Say how the drawing is read, of what is in it."""
    said = [_("Line: the interval. Mark: the value.")]
    if any(row.state in _MARKS and row.value is not None for row in plot.rows):
        said.append(_("● kept, ◆ broken, ○ not decided."))
    if any(row.bound is not None for row in plot.rows):
        said.append(_("Arrow to zero: nothing was counted, the rate is up to the tall line."))
    if any((row.low is None) != (row.high is None) for row in plot.rows):
        said.append(_("Arrow at an end: the interval is open there."))
    if plot.bars:
        said.append(_("Dashes: the criterion's bar."))
    if plot.axis.unit:
        said.append(_("Axis: {unit}.").format(unit=plot.axis.unit))
    return " ".join(said)


def _across(axis: Axis, value: float) -> str:
    return f"{LEFT + (RIGHT - LEFT) * axis.place(value):.2f}%"


def _anchor(axis: Axis, value: float) -> str:
    place = axis.place(value)
    return "start" if place < 0.12 else "end" if place > 0.88 else "middle"


def _grid(axis: Axis, top: int, bottom: int) -> Element:
    drawn: list[Node] = []
    for value, text in axis.ticks:
        x = _across(axis, value)
        kind = "zero" if value == axis.reference else "grid"
        drawn.append(el("line", x1=x, x2=x, y1=top, y2=bottom + 4, class_=kind))
        drawn.append(el("text", text, x=x, y=bottom + 18, text_anchor=_anchor(axis, value), class_="tick"))
    return el("g", drawn, aria_hidden="true")


def _bar(bar: Bar, axis: Axis, bands: Sequence[tuple[int, int]], bottom: int) -> Element:
    """Draw a bar where intervals are, from its name to the axis; it runs through no words."""
    x = _across(axis, bar.value)
    parts = [(TOP - 14, TOP), *bands, (bottom, bottom + 4)]
    anchor = "start" if axis.place(bar.value) < 0.5 else "end"
    return el(
        "g",
        [el("line", x1=x, x2=x, y1=first, y2=last, class_="bar") for first, last in parts],
        el(
            "text",
            bar.name,
            x=x,
            dx=5 if anchor == "start" else -5,
            y=12,
            text_anchor=anchor,
            class_="bar-name",
        ),
        aria_hidden="true",
    )


def _row(row: Row, axis: Axis, top: int, *, together: bool) -> tuple[Element, int]:
    """Return a row's drawing, and its height: its numbers have a line of their own unless all fit `together`."""
    name: Node = el("text", cut(row.name, TOGETHER), x=INSIDE, y=top + 13, class_="name")
    if row.instead:
        why = cut(" – ".join(filter(None, (row.numbers, row.instead))), TOGETHER + 8)
        said = el("text", why, x=INSIDE, y=top + 13 + LINE, class_="instead")
        return el("g", name, said, aria_hidden="true"), 2 * LINE + GAP
    lines = 1 if together else 2
    x, y, anchor = ("97%", top + 13, "end") if together else (INSIDE, top + 13 + LINE, None)
    numbers = el("text", cut(row.numbers, TOGETHER + 8), x=x, y=y, text_anchor=anchor, class_="numbers")
    drawn = _drawn(row, axis, top + LINE * lines + BAND // 2 - 2)
    return el("g", name, numbers, drawn, aria_hidden="true"), LINE * lines + BAND + GAP


def _drawn(row: Row, axis: Axis, y: int) -> list[Node]:
    mark, kind = _MARKS.get(row.state, ("ring", "open"))
    parts: list[Node] = []
    low = "0%" if row.low is None else _across(axis, row.low)
    high = "100%" if row.high is None else _across(axis, row.high)
    if row.low is not None or row.high is not None:
        parts.append(el("line", x1=low, x2=high, y1=y, y2=y, class_=f"reach {kind}"))
        parts.append(_end(low, y, kind, "" if row.low is not None else "arrow"))
        parts.append(_end(high, y, kind, "" if row.high is not None else "back"))
    if row.bound is not None:
        x, zero = _across(axis, row.bound), _across(axis, 0.0)
        parts.append(el("line", x1=zero, x2=x, y1=y, y2=y, class_=f"upto {kind}"))
        parts.append(el("line", x1=x, x2=x, y1=y - 8, y2=y + 8, class_=f"upto tall {kind}"))
        parts.append(_shape("arrow", kind, zero, y))
    elif row.value is not None:
        parts.append(_shape(mark, kind, _across(axis, row.value), y))
    return parts


def _end(x: str, y: int, kind: str, open_: str) -> Element:
    """An interval's end, which an arrow leaves open."""
    if open_:
        return _shape(open_, kind, x, y)
    return el("line", x1=x, x2=x, y1=y - 4, y2=y + 4, class_=f"reach {kind}")


_SHAPES = {
    "circle": "M-5,0a5,5 0 1,0 10,0a5,5 0 1,0 -10,0z",
    "ring": "M-5,0a5,5 0 1,0 10,0a5,5 0 1,0 -10,0z",
    "diamond": "M0,-7L7,0L0,7L-7,0z",
    "arrow": "M-1,0L9,-6L9,6z",
    "back": "M1,0L-9,-6L-9,6z",
}


def _shape(shape: str, kind: str, x: str, y: int) -> Element:
    """A mark at a place in percent, which only an `svg` of its own can stand at."""
    return el(
        "svg", el("path", d=_SHAPES[shape], class_=f"mark {shape} {kind}"), x=x, y=y, overflow="visible"
    )


def cut(text: str, most: int) -> str:
    """Return a text of at most so many characters; the whole of it stands in the table."""
    return text if len(text) <= most else f"{text[: most - 1]}…"
