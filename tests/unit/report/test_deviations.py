"""The deviations table: each row once, in every form, and nothing in it that a reader's program would obey."""

import csv
import io
from typing import Any

import pytest
from markdown_it import MarkdownIt

from lacre.broker.outcomes import Deviations
from lacre.protocol.difference import ABSENT, Change
from lacre.report.deviations_text import KINDS, csv_text, markdown, what
from lacre.report.json import as_json
from lacre.report.text import as_text
from lacre.rules.answers import Infeasible, Known, Overlap
from lacre.rules.deviations import Departure
from lacre.rules.remarks import Text

from .conftest import HOSTILE, Life

TIME = "2026-09-02T14:00:02.000000Z"
DECLARED = "as declared by the broker: 3 contents of other/dev"
ALIKE = Overlap(study="other", pool="dev", kind="contents", count=3)
KNOWN = (Known(pool="teste", read_class="teste", count=1, last=4),)


def table(words: str | None = "because", **more: Any) -> Deviations:
    """One row, with these words."""
    fields = {"kind": "deviation", "known": KNOWN, "words": "d", **more}
    row = Departure(7, TIME, "k" * 64, **fields)
    return Deviations("screen", (row,), {"d": Text("d", words, more.get("erased"))}, {"k" * 64: "Ana"})


def rows(text: str) -> list[list[str]]:
    """A CSV file as RFC 4180 has it read."""
    return list(csv.reader(io.StringIO(text, newline="")))


def test_the_rows_of_a_life(life: Life) -> None:
    """As the fixture goes: both pools hold 200 rows of 300 and 900 planned, `teste` was read twice, then the
    title was amended, two deviations said, the first result corrected, and the study withdrawn.
    """
    told = [(row.kind, row.pool, row.about) for row in life.outcomes["deviations"].rows]
    assert told == [
        ("shortfall", "teste", None),
        ("read", "teste", None),
        ("shortfall", "dev", None),
        ("amendment", None, None),
        ("deviation", None, None),
        ("deviation", None, 5),
        ("erratum", "teste", 5),
        ("withdrawal", None, None),
    ]
    short, again, _dev, amendment, *_said, erratum, end = life.outcomes["deviations"].rows
    assert short.changes == (Change("teste.cases", 300, 200),)
    assert (again.result, again.burns, again.codes) == (7, ("teste",), ("not-the-registered-pool",))
    assert amendment.changes == (Change("title", "Screen, parity of misses", "A screen, parity of misses"),)
    assert erratum.result == life.outcomes["erratum"].entry
    assert [(k.pool, k.read_class, k.count) for k in amendment.known] == [
        ("teste", "inputs", 1),
        ("teste", "teste", 1),
        ("teste", "dev", 1),
        ("dev", "dev", 1),
    ]
    assert end.known[-2:] != amendment.known[-2:], "the erratum had been read by then"


def test_a_rehearsal_is_no_deviation(life: Life) -> None:
    """Entry 9 is the registered analysis run on `dev`, which is what `dev` is for."""
    assert 9 not in {row.entry for row in life.outcomes["deviations"].rows}


def test_every_form_has_the_same_rows(life: Life) -> None:
    shown = life.outcomes["deviations"]
    entries = [str(row.entry) for row in shown.rows]
    header, *lines = rows(shown.csv())
    assert header == ["entry", "when (UTC)", "what", "changes", "why", "known then"]
    assert [line[0] for line in lines] == entries
    assert {len(line) for line in lines} == {6}
    titles, rule, *marked = shown.markdown().splitlines()
    assert len(marked) == len(entries)
    assert {line.count("|") for line in (titles, rule, *marked)} == {7}
    assert [line.split("|")[1].strip() for line in marked] == entries
    assert list(shown.frame()["entry"]) == [row.entry for row in shown.rows]
    assert [each["entry"] for each in as_json(shown)["deviations"]] == [row.entry for row in shown.rows]
    page = as_text(shown, width=80)
    assert all(f"entry {entry}" in page for entry in entries)


def test_the_frame_has_times_and_texts(life: Life) -> None:
    frame = life.outcomes["deviations"].frame()
    assert list(frame.columns) == ["entry", "time", "by", "kind", "what", "changes", "why", "known"]
    assert str(frame["time"].dtype) == "datetime64[us, UTC]"
    assert frame.loc[frame["kind"] == "amendment", "changes"].item() == (
        'title: "Screen, parity of misses" -> "A screen, parity of misses"'
    )


def test_an_empty_table_is_one() -> None:
    none = Deviations("screen", (), {}, {})
    assert "None: everything so far is as it was registered." in as_text(none)
    assert len(rows(csv_text(none))) == 1
    assert len(markdown(none).splitlines()) == 2


@pytest.mark.parametrize("words", ["=1+1", "+1", "-1", "@SUM(A1)", " =1", "\t=1", "\r=1", "\n=1", "\u00a0=1"])
def test_no_cell_is_a_formula(words: str) -> None:
    """What the OWASP page on CSV injection lists: = + - @, tab and carriage return at a cell's beginning."""
    (_header, line) = rows(csv_text(table(words)))
    why = line[4]
    assert why[0] not in "=+-@\t\r\n"
    assert why.lstrip()[0] not in "=+-@"


def test_csv_is_as_rfc_4180_has_it() -> None:
    """Lines end in CRLF; a cell with a quote, a comma or a line's end is quoted, and quotes in it are doubled."""
    text = csv_text(table('He said "no", twice.\nThen left.'))
    assert text.count("\r\n") == 2
    assert text.endswith("\r\n")
    assert '"He said ""no"", twice.\nThen left."' in text
    assert rows(text)[1][4] == 'He said "no", twice.\nThen left.'


@pytest.mark.parametrize(
    "words",
    [
        "a | b",
        "<script>alert(1)</script>",
        "[here](javascript:alert)",
        "![x](http://x)",
        "*bold* _it_ `code` ~gone~ $x$ # head",
        "back\\|slash",
        "&lt;b&gt;",
        "&copy;",
        HOSTILE,
    ],
)
def test_markdown_shows_words_as_they_are(words: str) -> None:
    """Read by markdown-it, another implementation: one row of six cells, and of the words nothing but text."""
    tokens = MarkdownIt("commonmark").enable("table").parse(markdown(table(words)))
    cells = [token for token in tokens if token.type == "inline"]
    assert len(cells) == 12
    parts = cells[10].children or []
    assert {part.type for part in parts} <= {"text", "text_special"}
    shown = "".join(part.content for part in parts)
    assert shown == "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in words)


def test_what_a_row_lacks_is_an_empty_cell() -> None:
    (_header, line) = rows(
        csv_text(Deviations("screen", (Departure(7, TIME, "k", "as-dev", pool="teste"),), {}, {}))
    )
    assert line[3:5] == ["", ""]


def test_lines_of_words_stay_lines() -> None:
    words = "first\n\nsecond\r\nthird"
    assert "first<br>second<br>third" in markdown(table(words))
    assert rows(csv_text(table(words)))[1][4] == "first\nsecond\nthird"
    assert "Why: first second third" in as_text(table(words))


@pytest.mark.parametrize("form", [csv_text, markdown, as_text])
def test_no_control_character_is_written(form: Any) -> None:
    text = form(table(f"{HOSTILE}\u202e\u2066 \x9b31m"))
    assert all(c.isprintable() or c in "\r\n" for c in text)


def test_words_that_were_erased_are_told_as_such() -> None:
    row = Departure(7, TIME, "k" * 64, "deviation", words="d")
    gone = Deviations("screen", (row,), {"d": Text("d", None, 9)}, {})
    lost = Deviations("screen", (row,), {"d": Text("d", None)}, {})
    assert "(erased by entry 9)" in as_text(gone)
    assert rows(csv_text(gone))[1][4] == "(erased by entry 9)"
    assert "(not in the ledger)" in as_text(lost)
    assert as_json(gone)["deviations"][0]["words"] == {"digest": "d", "words": None, "erased": 9}


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"kind": "amendment", "version": 2}, "The plan was amended (version 2)"),
        (
            {"kind": "amendment", "version": 2, "burns": ("teste",)},
            "The plan was amended (version 2): makes teste dev",
        ),
        (
            {
                "kind": "infeasible",
                "infeasible": (Infeasible(analysis="a", criterion="b", passes=False, fails=True),),
            },
            "Criteria were kept of which PASS or FAIL is out of reach: a.b",
        ),
        ({"kind": "deviation"}, "Deviation of the study"),
        ({"kind": "deviation", "about": 4}, "Deviation of entry 4"),
        ({"kind": "withdrawal"}, "The study was withdrawn"),
        (
            {"kind": "replacement", "pool": "teste", "about": 2},
            "teste was sealed again before it was read, in place of entry 2",
        ),
        ({"kind": "shortfall", "pool": "teste"}, "teste holds fewer rows than planned"),
        ({"kind": "as-dev", "pool": "teste"}, "teste was sealed to count as dev"),
        (
            {"kind": "met", "pool": "teste", "count": 1},
            "1 case of teste had been read before, in another ledger",
        ),
        (
            {"kind": "met", "pool": "teste", "count": 3},
            "3 cases of teste had been read before, in other ledgers",
        ),
        ({"kind": "handing", "pool": "teste"}, "teste was handed to other recipients"),
        (
            {"kind": "read", "pool": "teste", "codes": ("later-submission",), "result": 9},
            "teste was read (not the first submission of its system), result at entry 9",
        ),
        (
            {"kind": "alike", "pool": "teste", "overlaps": (ALIKE,)},
            "teste has in common with other pools, as declared by the broker: 3 contents of other/dev",
        ),
        (
            {"kind": "exposing", "pool": "dev", "overlaps": (ALIKE,), "result": 9},
            f"dev was read, result at entry 9, which exposed cases of another study's unread pool, {DECLARED}",
        ),
        (
            {"kind": "exposed", "pool": "teste", "overlaps": (ALIKE,)},
            f"Cases of teste were exposed by a read in another study, {DECLARED}",
        ),
        (
            {"kind": "review", "pool": "teste", "about": 4, "codes": ("engine-changed",)},
            "The read of teste at entry 4 is for a person to review: Another version of lacre finished this read.",
        ),
        ({"kind": "unfinished", "pool": "teste"}, "teste was read, and the read gave no result"),
        (
            {"kind": "erratum", "pool": "teste", "about": 5},
            "The result at entry 5 was scored again on corrected labels, without a result",
        ),
        (
            {"kind": "gated", "pool": "guarda", "overlaps": (ALIKE.model_copy(update={"kind": "cases"}),)},
            (
                "guarda was asked for a verdict on cases that other studies had verdicts on, as declared by the broker"
                ": 3 cases of other/dev"
            ),
        ),
    ],
)
def test_each_kind_has_its_words(more: dict[str, Any], said: str) -> None:
    assert what(Departure(7, TIME, "k", **more)) == said


def test_every_kind_has_words() -> None:
    from typing import get_args

    from lacre.rules import deviations

    assert {*KINDS, "met"} == set(get_args(deviations.Kind))


def test_a_field_that_was_not_there_is_told_as_absent() -> None:
    changes = (Change("disclosure", ABSENT, {"min_count": 10}), Change("locked", ["title"], ABSENT))
    shown = table(kind="amendment", version=2, changes=changes)
    assert rows(csv_text(shown))[1][3] == (
        'disclosure: (absent) -> {"min_count":10}\nlocked: ["title"] -> (absent)'
    )
    assert as_json(shown)["deviations"][0]["changes"] == [
        {"path": "disclosure", "after": {"min_count": 10}},
        {"path": "locked", "before": ["title"]},
    ]
