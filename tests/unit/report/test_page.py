"""A page keeps within its width, whatever is written, and obeys nothing in it."""

import pytest
from hypothesis import given, strategies as st
from rich.cells import cell_len

from lacre.report.page import Cell, Column, Page

ANY = st.text(max_size=60)
WIDTHS = st.integers(min_value=20, max_value=200)


def widest(text: str) -> int:
    return max(cell_len(line) for line in text.splitlines())


@given(title=ANY, prose=ANY, cells=st.lists(st.tuples(ANY, ANY, ANY), max_size=4), width=WIDTHS)
def test_no_line_is_wider_than_the_page(
    title: str, prose: str, cells: list[tuple[str, str, str]], width: int
) -> None:
    page = Page()
    page.heading(title)
    page.say(prose, indent=1)
    page.block(prose)
    page.table([Column("one"), Column("two", right=True), Column("three", wraps=True)], cells, indent=2)
    assert widest(page.render(width)) <= width


@pytest.mark.parametrize("colour", [False, True])
def test_what_is_written_is_shown_as_it_is(*, colour: bool) -> None:
    page = Page()
    page.heading("[bold]head[/bold]")
    page.say("\x1b[2Jsay :smile: [red]")
    page.say(Cell("\x9b31m", "bold"))
    page.block("a\x1bb\nc")
    page.table([Column("t")], [["[link=x]\x07"]])
    text = page.render(80, colour=colour)
    for shown in ("[bold]head[/bold]", r"\x1b[2Jsay :smile: [red]", r"\x9b31m", r"a\x1bb", r"[link=x]\x07"):
        assert shown in text
    assert "\x07" not in text
    assert "\x9b" not in text
    assert "\x1b[2J" not in text
    assert ("\x1b[" in text) == colour


def test_a_table_that_fits_is_one() -> None:
    page = Page()
    page.table([Column("name"), Column("count", right=True)], [["a", "10"], ["bcd", "9"]], indent=0)
    assert page.render(80).splitlines() == ["name  count", "a        10", "bcd       9"]


def test_a_table_that_does_not_fit_is_written_row_by_row() -> None:
    page = Page()
    page.table([Column("name"), Column("a long title"), Column("other")], [["row", "x" * 12, ""]], indent=0)
    assert page.render(20).splitlines() == ["row", "  a long title:", "    xxxxxxxxxxxx"]


def test_a_spare_column_gives_way_first() -> None:
    columns = [Column("name"), Column("spare", spare=True), Column("count")]
    page = Page()
    page.table(columns, [["row", "s" * 20, "1"]], indent=0)
    assert "s" * 20 in page.render(40)
    assert page.render(20).splitlines() == ["name  count", "row   1"]


def test_an_empty_table_has_a_head() -> None:
    page = Page()
    page.table([Column("name")], [], indent=0)
    assert page.render(40).splitlines() == ["name"]


def test_sections_stand_apart() -> None:
    page = Page()
    page.heading("one")
    page.say("two")
    page.heading("three")
    assert page.render(40) == "one\ntwo\n\nthree\n"


def test_a_table_without_room_is_read_cell_by_cell() -> None:
    """Short cells share a line; one that does not fit has its own; a number is told what it counts."""
    page = Page()
    columns = [Column("version", right=True), Column("time"), Column("by"), Column("why", wraps=True)]
    page.table(columns, [["2", "2026-01-01 00:00", "Ana", "because the first one was not what we meant"]])
    assert page.render(30).splitlines() == [
        "  version 2",
        "    time: 2026-01-01 00:00",
        "    by: Ana",
        "    why: because the first",
        "      one was not what we",
        "      meant",
    ]
    assert page.render(44).splitlines()[:2] == ["  version 2", "    time: 2026-01-01 00:00; by: Ana"]
