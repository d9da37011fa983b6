"""Small words: rates that never read as what they are not, times, and names that others chose."""

import pytest
from hypothesis import given, strategies as st

from lacre.report import words


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.44846796657381616, "44.8 %"),
        (0.26, "26.0 %"),
        (1.0, "100.0 %"),
        (0.0, "0.0 %"),
        (0.0004, "0.04 %"),
        (0.9999, "99.99 %"),
        (None, "–"),
    ],
)
def test_a_rate_keeps_a_decimal_and_says_0_or_100_only_of_itself(value: float | None, text: str) -> None:
    assert words.rate(value) == text


@pytest.mark.parametrize(
    ("value", "bar", "text"),
    [(0.05004, 0.05, "5.004 %"), (0.04999, 0.05, "4.999 %"), (0.05, 0.05, "5.0 %"), (0.16, 0.05, "16.0 %")],
)
def test_a_rate_beside_a_threshold_shows_on_which_side_it_is(value: float, bar: float, text: str) -> None:
    assert words.rate(value, apart_from=bar) == text


@given(st.floats(min_value=0, max_value=1))
def test_a_rate_is_read_back_to_within_its_decimal(value: float) -> None:
    assert float(words.rate(value).removesuffix(" %")) == pytest.approx(100 * value, abs=0.0501)


@pytest.mark.parametrize(("share", "text"), [(0.05, "5 %"), (0.1, "10 %"), (1.0, "100 %"), (0.125, "12.5 %")])
def test_a_threshold_is_as_short_as_it_is(share: float, text: str) -> None:
    assert words.percent(share) == text


def test_an_interval_without_bounds_is_a_dash() -> None:
    assert words.interval(None, None) == "–"
    assert words.interval(0.1, 0.25) == "10.0–25.0 %"


def test_a_moment_is_to_the_second() -> None:
    assert words.moment("2026-09-02T14:30:05.123456Z") == "2026-09-02 14:30:05"


def test_names_are_shown_and_never_obeyed() -> None:
    assert words.who("a" * 64, {"a" * 64: "\x1b[31mred"}) == r"\x1b[31mred"
    assert words.who("a" * 64, {}) == "key aaaaaaaa"
    assert words.group({"sex": "fe\x07male", "age": "old"}) == r"fe\x07male × old"
    assert words.group({}) == "everybody"
    assert words.listing([]) == "none"


def test_what_a_later_version_knows_is_still_readable() -> None:
    assert words.metric("false_alarm") == "false alarm"
    assert words.kind("panel_agreement") == "panel agreement"
    assert words.rule("false_alarm", ["a", "b"], "max_ratio", 0.5) == "false alarm a × b 50 %"
