"""DET curves: for each group, which errors of the one kind go with which of the other, over every threshold.

Both axes are normal deviates (Martin et al. 1997). A curve is told by its dashes, its marks and its name beside it;
colour only repeats that. The operating points stand in a table, too.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, pi, sin

from lacre.report.html.forest import cut
from lacre.report.html.markup import Element, Ids, Node, el
from lacre.report.html.scale import Axis, axis_words, deviates
from lacre.report.html.style import DASHES, LINES
from lacre.text import _

WIDE, HIGH = 412, 340
X0, X1, Y0, Y1 = 52, 292, 12, 292
"""The frame of the curves, in the drawing's units; right of it stand the names."""

APART = 15
LONGEST = 14
SHAPES = ("circle", "square", "triangle", "diamond", "cross", "star", "down")
MOST_POINTS = 200


@dataclass(frozen=True, slots=True)
class Point:
    """An operating point: rates of false matches and of false non-matches, and what it is called."""

    false_match: float
    false_non_match: float
    name: str = ""


@dataclass(frozen=True, slots=True)
class Curve:
    """A group's curve: pairs of rates (false match, false non-match), and its operating points."""

    name: str
    rates: Sequence[tuple[float, float]]
    points: Sequence[Point] = ()


def det(title: str, told: str, curves: Sequence[Curve], ids: Ids) -> Element:
    """Return the drawing of the curves."""
    named, described = ids.new(), ids.new()
    across, up = axes(curves)
    ends = [_polyline(curve, across, up) for curve in curves]
    parts: list[Node] = []
    for index, (curve, line) in enumerate(zip(curves, ends, strict=True)):
        parts += _curve(index, curve, line, across, up)
    parts += _names(curves, ends)
    return el(
        "svg",
        el("title", title, id=named),
        el("desc", told, id=described),
        _frame(across, up),
        el("g", parts, aria_hidden="true"),
        role="img",
        aria_labelledby=f"{named} {described}",
        class_="plot det",
        viewBox=f"0 0 {WIDE} {HIGH}",
    )


def axes(curves: Sequence[Curve]) -> tuple[Axis, Axis]:
    """Return the axes that hold every curve and point: false matches across, false non-matches upwards."""
    pairs = [pair for curve in curves for pair in curve.rates]
    pairs += [(point.false_match, point.false_non_match) for curve in curves for point in curve.points]
    return deviates(pair[0] for pair in pairs), deviates(pair[1] for pair in pairs)


def legend() -> str:
    """Say how the drawing is read."""
    return _(
        "Nearer to the lower left corner is better. The axes are normal deviates; a rate of zero stands on the edge. "
        "Marks are operating points."
    )


def _polyline(curve: Curve, across: Axis, up: Axis) -> list[tuple[float, float]]:
    """Return the corners of a curve, thinned where it has more than a drawing can show."""
    step = max(1, -(-len(curve.rates) // MOST_POINTS))
    kept = [*curve.rates[::step], *curve.rates[-1:]]
    return list(
        dict.fromkeys((_x(across, a), _y(up, b)) for a, b in sorted(kept, key=lambda r: (r[0], -r[1])))
    )


def _x(axis: Axis, rate: float) -> float:
    return round(X0 + (X1 - X0) * axis.place(rate), 1)


def _y(axis: Axis, rate: float) -> float:
    return round(Y1 - (Y1 - Y0) * axis.place(rate), 1)


def _frame(across: Axis, up: Axis) -> Element:
    drawn: list[Node] = []
    for value, text in across.ticks:
        x = _x(across, value)
        drawn.append(el("line", x1=x, x2=x, y1=Y0, y2=Y1, class_="grid"))
        drawn.append(el("text", text.removesuffix(" %"), x=x, y=Y1 + 16, text_anchor="middle", class_="tick"))
    for value, text in up.ticks:
        y = _y(up, value)
        drawn.append(el("line", x1=X0, x2=X1, y1=y, y2=y, class_="grid"))
        drawn.append(el("text", text.removesuffix(" %"), x=X0 - 6, y=y + 4, text_anchor="end", class_="tick"))
    match, non_match = axis_words()
    middle = (Y0 + Y1) / 2
    drawn.append(el("text", f"{match}, %", x=(X0 + X1) / 2, y=Y1 + 36, text_anchor="middle", class_="axis"))
    turned = f"rotate(-90 12 {middle:g})"
    drawn.append(
        el("text", f"{non_match}, %", x=12, y=middle, text_anchor="middle", class_="axis", transform=turned)
    )
    return el("g", drawn, aria_hidden="true")


def _curve(
    index: int, curve: Curve, line: Sequence[tuple[float, float]], across: Axis, up: Axis
) -> list[Node]:
    colour, dash = f"c{index % len(LINES)}", f"d{index % len(DASHES)}"
    parts: list[Node] = []
    if line:
        points = " ".join(f"{x:g},{y:g}" for x, y in line)
        parts.append(el("polyline", points=points, class_=f"curve {colour} {dash}"))
    shape = SHAPES[index % len(SHAPES)]
    for point in curve.points:
        x, y = _x(across, point.false_match), _y(up, point.false_non_match)
        parts.append(el("path", d=outline(shape, x, y), class_=f"point {colour}"))
    return parts


def _names(curves: Sequence[Curve], lines: Sequence[Sequence[tuple[float, float]]]) -> list[Node]:
    """Write each name beside its curve's right end, and each below the one before."""
    ends = sorted(
        (line[-1][1] if line else Y1, line[-1][0] if line else X1, index) for index, line in enumerate(lines)
    )
    parts: list[Node] = []
    heights = spread([y for y, _x, _index in ends], Y0 + 4, Y1)
    for (y, x, index), at in zip(ends, heights, strict=True):
        parts.append(el("polyline", points=f"{x:g},{y:g} {X1 + 6},{at:g} {X1 + 10},{at:g}", class_="lead"))
        mark = outline(SHAPES[index % len(SHAPES)], X1 + 17, at)
        parts.append(el("path", d=mark, class_=f"point c{index % len(LINES)}"))
        parts.append(
            el("text", cut(curves[index].name, LONGEST), x=X1 + 27, y=at + 4, class_=f"k{index % len(LINES)}")
        )
    return parts


def spread(heights: Sequence[float], low: float, high: float) -> list[float]:
    """Move sorted heights apart until names fit between them, and back up where they pass the lower end."""
    apart = min(APART, (high - low) / max(len(heights) - 1, 1))
    placed: list[float] = []
    for height in heights:
        placed.append(max(height, placed[-1] + apart) if placed else max(height, low))
    limit = high
    for index in range(len(placed) - 1, -1, -1):
        placed[index] = round(min(placed[index], limit), 1)
        limit = placed[index] - apart
    return placed


def outline(shape: str, x: float, y: float) -> str:
    """Return the outline of a mark around a point."""
    if shape == "circle":
        return f"M{x - 4.5:g},{y:g}a4.5,4.5 0 1,0 9,0a4.5,4.5 0 1,0 -9,0z"
    if shape == "cross":
        return f"M{x - 4:g},{y - 4:g}L{x + 4:g},{y + 4:g}M{x + 4:g},{y - 4:g}L{x - 4:g},{y + 4:g}"
    if shape == "star":
        return "".join(
            f"M{x - 5 * cos(a):.1f},{y - 5 * sin(a):.1f}L{x + 5 * cos(a):.1f},{y + 5 * sin(a):.1f}"
            for a in (0, pi / 3, 2 * pi / 3)
        )
    corners = {"square": (4, pi / 4, 5.6), "diamond": (4, 0.0, 5.8), "triangle": (3, -pi / 2, 5.8)}
    count, turn, radius = corners.get(shape, (3, pi / 2, 5.8))
    places = [
        (x + radius * cos(turn + 2 * pi * n / count), y + radius * sin(turn + 2 * pi * n / count))
        for n in range(count)
    ]
    return "M" + "L".join(f"{a:.1f},{b:.1f}" for a, b in places) + "z"
