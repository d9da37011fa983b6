"""A page of what is not there: names that a table leaves out, rows that are withheld, a result without its history."""

import copy
import dataclasses
from collections.abc import Iterator
from typing import Any

from lacre.report.html.result_html import page

from . import hand_written
from .conftest import Life
from .html_tree import all_of, parsed, words

NAMED = {
    "metric",
    "group",
    "id",
    "state",
    "rule",
    "threshold",
    "target",
    "at",
    "column",
    "variant",
    "baseline",
}
"""Names without which nobody knows what a number is."""


def thinner(document: Any) -> Iterator[Any]:
    """The document with each optional name of a table's rows taken out, one at a time."""
    for analysis in document["analyses"]:
        for table, held in (analysis.get("tables") or {}).items():
            for name in {key for row in held for key in row} - NAMED:
                made = copy.deepcopy(document)
                (own,) = [each for each in made["analyses"] if each["id"] == analysis["id"]]
                for row in own["tables"][table]:
                    row.pop(name, None)
                made["analyses"] = [own]
                yield made


def test_what_is_absent_from_a_table_is_done_without(life: Life) -> None:
    """Versions to come may leave out what this one shows, and pages of old results must be written all the same."""
    shown = hand_written.shown(life.outcomes["seen-again"])
    tried = 0
    for document in thinner(dict(shown.document)):
        assert page(dataclasses.replace(shown, document=document)).endswith("</html>\n")
        tried += 1
    assert tried > 40


def test_rows_that_are_withheld_say_whose_they_would_be(life: Life) -> None:
    """Disclosure control leaves of a row the group alone."""
    shown = hand_written.shown(life.outcomes["seen-again"])
    document = copy.deepcopy(dict(shown.document))
    for analysis in document["analyses"]:
        for name, held in (analysis.get("tables") or {}).items():
            bare = {"group": {"group": "minoria"}, "system": "atual", "withheld": True}
            analysis["tables"][name] = [bare, *held[1:]]
    root = parsed(page(dataclasses.replace(shown, document=document)))
    said = [words(each) for each in all_of(root, "p") if "Withheld, to protect" in words(each)]
    assert said == ["Withheld, to protect small groups: minoria."] * 5
    assert "minoria" not in [words(each) for each in all_of(root, "th")]


def test_a_result_from_a_bundle_has_no_history(life: Life) -> None:
    """Whoever has a bundle alone has the numbers, not the study's state: the page does without."""
    root = parsed(page(dataclasses.replace(life.outcomes["seen-again"], background=None)))
    (title,) = all_of(root, "h1")
    assert words(title) == "screen@5"
    assert "History" not in [words(each) for each in all_of(root, "h2")]
