"""The table of bins as a drawing: a square for each cell, as large as its share of the cases, and both marginals.

Squares on the diagonal are filled, the others are not; of the marginals the human's bars are filled and the judge's
are not. All of it stands in words as well, in the tables beside it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

from lacre.report.html.forest import cut
from lacre.report.html.markup import Element, Ids, Node, el
from lacre.text import _

LEFT, TOP = 96, 34
"""Where the grid begins, in the drawing's units: left of it stand the human's bins, above it the judge's."""

GRID, APART, BARS = 260, 36, 150
"""The sides of the grid, the room between it and the marginals, and the longest bar."""

LONGEST, NARROW = 12, 7
"""Characters of a bin's name beside the grid, and above a narrow column."""

WIDE_ENOUGH = 30.0
"""The side of a filled square from which on a count stands in it whole."""

MOST_WRITTEN = 8
"""Bins up to which counts fit into their cells."""


@dataclass(frozen=True, slots=True)
class Confusion:
    """What is drawn of one dimension, with the title and the description that stand for it."""

    title: str
    told: str
    bins: Sequence[str]
    counts: Sequence[Sequence[int]]

    @property
    def human(self) -> list[int]:
        """How many cases the human put into each bin."""
        return [sum(row) for row in self.counts]

    @property
    def judge(self) -> list[int]:
        """How many cases the judge put into each bin."""
        return [sum(column) for column in zip(*self.counts, strict=True)]


def confusion(plot: Confusion, ids: Ids) -> Element:
    """Return the drawing."""
    named, described = ids.new(), ids.new()
    width, height = LEFT + GRID + APART + BARS + 44, TOP + GRID + 12
    return el(
        "svg",
        el("title", plot.title, id=named),
        el("desc", plot.told, id=described),
        el("g", _grid(plot), _bars(plot), aria_hidden="true"),
        role="img",
        aria_labelledby=f"{named} {described}",
        class_="plot confusion",
        viewBox=f"0 0 {width} {height}",
    )


def legend() -> str:
    """Say how the drawing is read."""
    return _(
        "Each square is as large as its share of the cases: filled where human and judge agree. Beside them the "
        "marginals: filled bars are the human's, open ones the judge's."
    )


def described(bins: Sequence[str], human: Sequence[int], judge: Sequence[int], agreed: int) -> str:
    """Say a drawing in words, for those who do not see it."""
    said = _("{bin}: human {human}, judge {judge}.")
    parts = [
        said.format(bin=name, human=mine, judge=theirs)
        for name, mine, theirs in zip(bins, human, judge, strict=True)
    ]
    return " ".join([_("{agreed} of {cases} cases agree.").format(agreed=agreed, cases=sum(human)), *parts])


def _grid(plot: Confusion) -> list[Node]:
    size = len(plot.bins)
    side = GRID / size
    most = max(max(row) for row in plot.counts) or 1
    drawn: list[Node] = [
        el("text", _("judge"), x=LEFT + GRID / 2, y=12, text_anchor="middle", class_="axis"),
        el("text", _("human"), x=0, y=TOP + 12, class_="axis"),
    ]
    for place, name in enumerate(plot.bins):
        middle = side * (place + 0.5)
        above = cut(name, max(3, min(LONGEST, round(side / NARROW))))
        drawn.append(el("text", above, x=LEFT + middle, y=TOP - 6, text_anchor="middle", class_="tick"))
        drawn.append(
            el("text", cut(name, LONGEST), x=LEFT - 6, y=TOP + middle + 4, text_anchor="end", class_="tick")
        )
    for row, counts in enumerate(plot.counts):
        for column, count in enumerate(counts):
            x, y = LEFT + side * column, TOP + side * row
            drawn.append(el("rect", x=x, y=y, width=side, height=side, class_="cell"))
            inner = (side - 4) * sqrt(count / most)
            if count:
                corner = (side - inner) / 2
                kind = "square agreed" if row == column else "square"
                drawn.append(el("rect", x=x + corner, y=y + corner, width=inner, height=inner, class_=kind))
            if size <= MOST_WRITTEN:
                over = "over" if row == column and inner >= WIDE_ENOUGH else None
                middle = x + side / 2
                drawn.append(
                    el("text", str(count), x=middle, y=y + side / 2 + 4, text_anchor="middle", class_=over)
                )
    return drawn


def _bars(plot: Confusion) -> list[Node]:
    human, judge, size = plot.human, plot.judge, len(plot.bins)
    side, begin = GRID / size, LEFT + GRID + APART
    most = max([*human, *judge]) or 1
    thick = min(16.0, side * 0.36)
    drawn: list[Node] = [
        el("line", x1=begin, x2=begin, y1=TOP, y2=TOP + GRID, class_="zero"),
        el("text", _("marginals"), x=begin, y=TOP - 6, class_="tick"),
    ]
    for place in range(size):
        middle = TOP + side * (place + 0.5)
        for count, y, kind in (
            (human[place], middle - thick - 1, "human"),
            (judge[place], middle + 1, "judge"),
        ):
            length = BARS * count / most
            if count:
                drawn.append(el("rect", x=begin, y=y, width=length, height=thick, class_=f"marginal {kind}"))
            if size <= MOST_WRITTEN:
                drawn.append(el("text", str(count), x=begin + length + 5, y=y + thick / 2 + 4, class_="tick"))
    return drawn
