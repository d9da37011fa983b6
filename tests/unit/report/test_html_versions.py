"""The versions of a corpus that grew, as HTML: what the text says of them, in tables of their own."""

import xml.etree.ElementTree as ET
from typing import Any

import html5lib
import pytest

from lacre.report.html.result_html import fragment, page

from .conftest import Life


def words(element: ET.Element) -> str:
    """The text of an element, in one line."""
    return " ".join("".join(element.itertext()).split())


def tables(root: ET.Element) -> dict[str, list[list[str]]]:
    """The rows of each table, by its caption; the heads are the first."""
    found = {}
    for each in root.iter("table"):
        (caption,) = each.iter("caption")
        found[words(caption)] = [[words(cell) for cell in row] for row in each.iter("tr")]
    return found


@pytest.fixture(scope="module")
def root(life: Life) -> ET.Element:
    made: Any = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False)
    parsed: ET.Element = made.parse(page(life.outcomes["grown"]))
    return parsed


def test_every_version_has_its_number(root: ET.Element) -> None:
    """Cells 2, 4, 4, 90 give a kappa of .2908; with 40 more of the first they are 42, 4, 4, 90.

    Of 140 cases 132 agree, and 46² + 94² of 140² would by chance: (132/140 - .5588) / (1 - .5588) = .8705.
    """
    heads = [words(each) for each in root.iter("h2")]
    assert "Versions of the corpus: this is version 2" in heads
    head, *rows = tables(root)["Numbers of every version"]
    assert head == ["version", "result", "dimension", "agree", "kappa", "interval", "verdict"]
    assert [row[:5] for row in rows] == [
        ["1", "judge@6", "truth", "92 of 100", "0.291"],
        ["2", "this one", "truth", "132 of 140", "0.870"],
    ]
    assert [row[-1][-4:] for row in rows] == ["FAIL", "PASS"]


def test_changes_stand_by_cell(root: ET.Element) -> None:
    changes = tables(root)["truth: cells of human (rows) by judge (columns), before → now"]
    assert changes == [
        ["human \\ judge", "low", "high"],
        ["low", "2 → 42", "4 → 4"],
        ["high", "4 → 4", "90 → 90"],
    ]
    said = "10 old cases were labelled again; labels that changed: 0, scores that changed: 0."
    assert said in [words(each) for each in root.iter("p")]


def test_a_notebook_shows_them_and_a_result_without_versions_does_not(life: Life) -> None:
    assert "Versions of the corpus" in fragment(life.outcomes["grown"])
    assert "Versions of the corpus" not in page(life.outcomes["result"])
