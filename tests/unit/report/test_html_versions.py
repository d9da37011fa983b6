"""The versions of a corpus that grew, as HTML: what the text says of them, in tables of their own."""

from xml.etree.ElementTree import Element

import pytest

from lacre.report.html.result_html import fragment, page

from .conftest import Life
from .html_tree import all_of, parsed, rows, words


@pytest.fixture(scope="module")
def root(life: Life) -> Element:
    return parsed(page(life.outcomes["grown"]))


def test_every_version_has_its_number(root: Element) -> None:
    """Cells 2, 4, 4, 90 give a kappa of .2908; with 40 more of the first they are 42, 4, 4, 90.

    Of 140 cases 132 agree, and 46² + 94² of 140² would by chance: (132/140 - .5588) / (1 - .5588) = .8705.
    """
    assert "Versions of the corpus: this is version 2" in [words(each) for each in all_of(root, "h2")]
    found = rows(root, "Numbers of every version")
    assert [[*row[:5], row[-1]] for row in found] == [
        ["1", "judge@6", "truth", "92 of 100", "0.291", "✗FAIL"],
        ["2", "this one", "truth", "132 of 140", "0.870", "✓PASS"],
    ]


def test_changes_stand_by_cell(root: Element) -> None:
    assert rows(root, "truth: cells of human (rows) by judge (columns), before → now") == [
        ["low", "2 → 42", "4 → 4"],
        ["high", "4 → 4", "90 → 90"],
    ]
    said = "10 old cases were labelled again; labels that changed: 0, scores that changed: 0."
    assert said in [words(each) for each in all_of(root, "p")]


def test_a_notebook_shows_them_and_a_result_without_versions_does_not(life: Life) -> None:
    assert "Versions of the corpus" in fragment(life.outcomes["grown"])
    assert "Versions of the corpus" not in page(life.outcomes["result"])
