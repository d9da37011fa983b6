"""The parts that pages are made of: escaping, axes, and where a drawing puts what it shows."""

import math
import re
from itertools import pairwise

import html5lib
import pytest
from hypothesis import given, strategies as st

from lacre.errors import printable
from lacre.report import told
from lacre.report.html import scale
from lacre.report.html.confusion import Confusion, confusion
from lacre.report.html.det import Curve, Point, det, spread
from lacre.report.html.forest import Bar, Forest, Row, forest, legend
from lacre.report.html.markup import Element, Ids, el, render

# --- markup ------------------------------------------------------------------------------------------------


@given(st.text())
def test_text_is_never_markup(text: str) -> None:
    made = render(el("p", text, aria_label=text))
    (only,) = list(html5lib.HTMLParser(strict=True).parseFragment(made, container="div"))
    assert (only.text or "", list(only)) == (printable(text), [])
    assert only.get("aria-label") == printable(text)


@pytest.mark.parametrize(
    ("tag", "attributes"),
    [("script", {}), ("a", {}), ("p", {"onclick": "x"}), ("p", {"style": "x"}), ("path", {"href": "x"})],
)
def test_what_runs_or_leads_elsewhere_cannot_be_made(tag: str, attributes: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=tag):
        el(tag, **attributes)


@pytest.mark.parametrize(
    "text", ["a{}</style><p>", "a{background: URL(x)}", "@import 'x'", "a{content:'\\3c'}"]
)
def test_a_style_loads_nothing_and_ends_nothing(text: str) -> None:
    with pytest.raises(ValueError, match="style"):
        el("style", text)


# --- axes --------------------------------------------------------------------------------------------------


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6))
def test_an_axis_of_rates_holds_them_in_their_order(values: list[float]) -> None:
    axis = scale.shares(values)
    assert 0 <= axis.low < axis.high <= 1
    assert axis.low <= min(values)
    assert max(values) <= axis.high
    places = [axis.place(value) for value in sorted(values)]
    assert places == sorted(places)
    assert all(axis.low <= value <= axis.high + 1e-9 for value, _text in axis.ticks)
    assert 2 <= len(axis.ticks) <= 7


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=6))
def test_an_axis_of_numbers_holds_them_and_zero(values: list[float]) -> None:
    axis = scale.numbers(values)
    near = 1e-6 * (axis.high - axis.low)
    assert axis.low - near <= min([*values, 0])
    assert max([*values, 0]) <= axis.high + near
    assert axis.low <= 0 <= axis.high
    assert len(axis.ticks) >= 2


def test_a_ratio_stands_by_its_logarithm() -> None:
    """The geometric middle of an axis is its middle; 1 is on it."""
    axis = scale.ratios([0.5, 8])
    assert axis.place(math.sqrt(axis.low * axis.high)) == pytest.approx(0.5)
    assert axis.reference == 1
    assert axis.low < 0.5
    assert axis.high > 8
    assert (1.0, "1×") in axis.ticks


def test_a_rate_of_a_curve_stands_by_its_normal_deviate() -> None:
    """Φ(−1), Φ(1) and Φ(2) stand at −1, 1 and 2; rates of zero and one stand at the ends."""
    axis = scale.deviates([0.02, 0.98])
    assert (axis.low, axis.high) == (0.02, 0.99)
    first, second, third = (axis.place(rate) for rate in (0.15865525, 0.84134475, 0.97724987))
    assert second - first == pytest.approx(2 * (third - second), rel=1e-6)
    assert (axis.place(0), axis.place(1)) == (0, 1)


# --- forests -----------------------------------------------------------------------------------------------


def found(node: Element, kind: str) -> list[dict[str, str]]:
    """The attributes of the elements below one whose class begins so."""
    own = []
    for child in node.children:
        if isinstance(child, Element):
            given_ = dict(child.attributes)
            own += [given_] if given_.get("class", "").startswith(kind) else []
            own += found(child, kind)
    return own


def drawn(*rows: Row, bars: tuple[Bar, ...] = ()) -> tuple[Forest, Element]:
    axis = scale.Axis(0.0, 1.0, ((0.0, "0 %"), (1.0, "100 %")))
    plot = Forest("title", "told", rows, axis, bars)
    return plot, forest(plot, Ids("x"))


def test_an_interval_stands_where_its_numbers_are() -> None:
    """The axis runs from 2 to 98 percent of the width: .25, .5 and .75 stand at 26, 50 and 74."""
    _plot, made = drawn(Row("a", "50 %", 0.5, 0.25, 0.75, state="PASS"), bars=(Bar(0.75, "ceiling"),))
    across, low, high = found(made, "reach pass")
    assert (across["x1"], across["x2"]) == ("26.00%", "74.00%")
    assert (low["x1"], high["x1"]) == ("26.00%", "74.00%")
    bars = [each for each in found(made, "bar") if each["class"] == "bar"]
    assert {(bar["x1"], bar["x2"]) for bar in bars} == {("74.00%", "74.00%")}
    assert any(float(bar["y1"]) <= float(across["y1"]) <= float(bar["y2"]) for bar in bars), (
        "beside the interval"
    )
    (mark,) = found(made, "mark circle pass")
    assert mark
    assert 'x="50.00%"' in render(made)


def test_a_bar_runs_through_no_words() -> None:
    """A line of text has its baseline at `y`, letters of 13 px above it and at most 4 px below."""
    rows = [Row("first", "50 % (25–75 %), n 4", 0.5, 0.25, 0.75), Row("second", "n 0", instead="no cases")]
    _plot, made = drawn(*rows, Row("third", "x" * 40, 0.5, 0.25, 0.75), bars=(Bar(0.75, "ceiling"),))
    lines = [(float(each["y1"]), float(each["y2"])) for each in found(made, "bar") if each["class"] == "bar"]
    texts = [float(each["y"]) for kind in ("name", "numbers", "instead") for each in found(made, kind)]
    assert len(texts) == 6
    assert not [(line, y) for line in lines for y in texts if line[0] < y + 2 and line[1] > y - 9]


def test_verdicts_have_shapes() -> None:
    plot, made = drawn(
        *(Row(state, "", 0.5, 0.4, 0.6, state=state) for state in ("PASS", "FAIL", "MANUAL_REVIEW"))
    )
    assert [each["class"] for each in found(made, "mark")] == [
        *("mark circle pass", "mark diamond fail", "mark ring open"),
    ]
    assert "● kept, ◆ broken, ○ not decided." in legend(plot)


def test_nothing_counted_is_an_arrow_to_zero_and_no_point() -> None:
    plot, made = drawn(Row("a", "up to 10 %", 0.0, 0.0, 0.2, bound=0.1))
    assert [each["class"] for each in found(made, "mark")] == ["mark arrow open"]
    (tall,) = found(made, "upto tall")
    assert tall["x1"] == tall["x2"] == f"{2 + 96 * 0.1:.2f}%"
    assert "up to the tall line" in legend(plot)


def test_an_open_end_is_an_arrow_at_the_edge() -> None:
    plot, made = drawn(Row("a", "0.5 or more", None, 0.5, None))
    (across, closed) = found(made, "reach open")
    assert (across["x1"], across["x2"], closed["x1"]) == ("50.00%", "100%", "50.00%")
    assert [each["class"] for each in found(made, "mark")] == ["mark back open"]
    assert "the interval is open there" in legend(plot)


def test_a_row_without_an_interval_is_words() -> None:
    plot, made = drawn(Row("a", "n 0", instead="no cases"))
    assert "n 0 – no cases" in render(made)
    assert not found(made, "reach")
    assert not found(made, "mark")
    assert "kept" not in legend(plot)


@pytest.mark.parametrize("name", ["x" * 300, "漢" * 80, ""])
def test_a_long_name_is_cut_in_the_drawing(name: str) -> None:
    _plot, made = drawn(Row(name, "50 % (25–75 %) n 10", 0.5, 0.25, 0.75))
    texts = re.findall(r">([^<]*)</text>", render(made))
    assert max(map(len, texts)) <= 50


# --- curves ------------------------------------------------------------------------------------------------


@given(st.lists(st.floats(0, 300), min_size=1, max_size=19))
def test_names_stand_apart_and_in_their_order(heights: list[float]) -> None:
    placed = spread(sorted(heights), 16, 292)
    assert all(after - before >= 14.4 for before, after in pairwise(placed))
    assert placed[-1] <= 292


def test_a_curve_goes_down_and_its_point_is_on_it() -> None:
    rates = [(0.001, 0.5), (0.01, 0.2), (0.1, 0.05)]
    made = render(det("title", "told", [Curve("a", rates, [Point(0.01, 0.2)])], Ids("x")))
    (points,) = re.findall(r'<polyline points="([^"]*)" class="curve', made)
    corners = [tuple(map(float, each.split(","))) for each in points.split()]
    assert [x for x, _y in corners] == sorted(x for x, _y in corners)
    assert [y for _x, y in corners] == sorted(y for _x, y in corners)
    x, y = corners[1]
    assert f"M{x - 4.5:g},{y:g}a4.5" in made


# --- numbers in words --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "kind", "unit", "shown"),
    [
        (0.9, "share", None, "90.0 %"),
        (-0.052, "difference", None, "−5.2 points"),
        (0.031, "difference", None, "+3.1 points"),
        (0.0, "difference", None, "0.0 points"),
        (0.031, "gap", None, "3.1 points"),
        (2.2743, "ratio", None, "2.274"),
        (0.41254, "score", "cosine", "0.4125 cosine"),
        (0.65912, "kappa", None, "0.659"),
        (3687177.53, "number", None, "3687178"),
        (None, "ratio", None, "–"),
    ],
)
def test_a_number_reads_as_what_it_is(number: float | None, kind: str, unit: str | None, shown: str) -> None:
    assert told.value(number, kind, unit) == shown


def test_an_interval_may_be_open() -> None:
    assert told.interval(None, 0.5, "ratio") == "up to 0.500"
    assert told.interval(1.25, None, "ratio") == "1.250 or more"
    assert told.interval(None, None, "ratio") == "–"
    assert told.interval(-0.05, 0.02, "difference") == "−5.0 to +2.0 points"


# --- tables of bins ----------------------------------------------------------------------------------------


def test_squares_are_as_large_as_their_cells() -> None:
    """Areas: 36 of 36 fills the cell but for 4 units, 9 of 36 half its side; what nobody gave has no square."""
    plot = Confusion("title", "told", ["a", "b"], [[36, 9], [0, 9]])
    made = confusion(plot, Ids("x"))
    agreed, other = (
        found(made, "square agreed"),
        [each for each in found(made, "square") if each["class"] == "square"],
    )
    assert [float(each["width"]) for each in agreed] == [126, 63]
    assert [float(each["width"]) for each in other] == [63]
    cells = found(made, "cell")
    assert len(cells) == 4
    # The second cell of the first row lies right of the first: the judge's bins run across.
    assert float(other[0]["x"]) > float(cells[0]["x"]) + 130
    assert float(other[0]["y"]) < float(cells[2]["y"])
    human, judge = found(made, "marginal human"), found(made, "marginal judge")
    assert [float(each["width"]) for each in human] == [150, 30]  # 45 and 9
    assert [float(each["width"]) for each in judge] == [120, 60]  # 36 and 18


def test_of_many_bins_counts_stand_in_the_table_alone() -> None:
    names = [f"bin {place}" for place in range(20)]
    made = render(confusion(Confusion("t", "d", names, [[7] * 20] * 20), Ids("x")))
    assert ">7<" not in made
    assert "bin 19" in made
