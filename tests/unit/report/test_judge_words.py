"""What is said of a judge's agreement: its name and no other, paradoxes, diagnostics, and all that goes with kappa."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.judging import RIVALS, protocol_of, rows_of, run

from lacre.analyses import reasons
from lacre.canonical import canonical_json
from lacre.protocol import templates
from lacre.report import analysis_text, words
from lacre.report.html.analysis_html import analysis as html_analysis
from lacre.report.html.markup import Ids, render
from lacre.report.html.sheet import Sheet
from lacre.report.page import Page

ROOT = Path(__file__).resolve().parents[3]
MIDDLES = (0.1, 0.5, 0.9)
LOPSIDED = [[118, 5, 0], [2, 0, 0], [0, 0, 0]]


def asked() -> dict[str, Any]:
    bar = {"id": "bar", "metric": "kappa", "dimension": "truth", "min": 0.6, "decide_on": "point"}
    low = {**bar, "id": "low", "decide_on": "low"}
    return {"criteria": [bar, low], "diagnostics_by": ["locale"], "target": 0.65, "weights": "none"}


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    """A result with all that can be said: a paradox, a group without cases, a value near an edge, a blank."""
    rows = [
        *rows_of(LOPSIDED, MIDDLES, locale="en"),
        {"human": 1 / 3, "judge": 0.5, "locale": "pt"},
        {"human": 0.5},
    ]
    found = run(protocol_of(asked()), rows).as_json()
    for each in (found, *found["criteria"]):
        each["computed"] = each["state"]
    return found


def as_text(document: dict[str, Any]) -> str:
    page = Page()
    analysis_text.analysis(page, document)
    return " ".join(page.render(110).split())


def as_html(document: dict[str, Any]) -> str:
    return render(html_analysis(Sheet(Ids("x")), document))


def test_it_is_called_by_its_name_everywhere(document: dict[str, Any]) -> None:
    assert words.kind("judge_agreement") == "human-vs-judge agreement of one rater"
    assert "human-vs-judge agreement of one rater" in as_text(document)
    assert "Human-vs-judge agreement of one rater" in as_html(document)


def test_the_lock_knows_its_rivals() -> None:
    for rival in (
        "inter-rater", "Inter rater", "interannotator", "inter_rater", "reliability", "reliable", "confiabilidade",
        "fiabilidade", "confiabilidad", "interanotador", "inter-avaliadores", "entre avaliadores", "entre los jueces",
        "interevaluador", "interjuízes",
    ):  # fmt: skip
        assert RIVALS.search(rival), rival
    for other in (
        "interval",
        "agreement of one rater",
        "concordância humano-vs-juiz",
        "entre 0 e 1",
        "confianza",
    ):
        assert not RIVALS.search(other), other


def outputs(document: dict[str, Any]) -> Iterator[tuple[str, str]]:
    yield "text", as_text(document)
    yield "html", as_html(document)
    yield "json", canonical_json(document).decode()
    yield from ((f"reason {code}", template) for code, template in reasons.TEMPLATES.items())
    yield from ((f"template {name}", templates.read(name)) for name in templates.names())
    # All that is said stands in the package as it is written, or in its catalogues: help, refusals, reports.
    for path in sorted((ROOT / "src").rglob("*")):
        if path.is_file() and path.suffix in {".py", ".yaml", ".po", ".pot", ".json", ".txt", ".md"}:
            yield str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")
    for path in sorted([*ROOT.glob("README*.md"), ROOT / "CHANGELOG.md"]):
        yield path.name, path.read_text(encoding="utf-8")


def test_no_output_calls_it_anything_else(document: dict[str, Any]) -> None:
    found = [(where, rival[0]) for where, text in outputs(document) for rival in RIVALS.finditer(text)]
    assert found == []


def test_marginals_and_raw_agreement_stand_by_every_kappa(document: dict[str, Any]) -> None:
    """en: 118 of 125, human 123 and 2, judge 120 and 5. The case in pt is low by the human, and middle."""
    text = as_text(document)
    assert "truth, pooled cases: 126; raw agreement: 93.7 % (" in text
    assert "all: human 124 2 0" in text
    assert "all: judge 120 6 0" in text
    assert "en (diagnostic): human 123 2 0" in text
    assert "en (diagnostic): judge 120 5 0" in text
    assert "human \\ judge low middle high all low 118 6 0 124" in text


def test_a_group_is_a_diagnostic_wherever_it_stands(document: dict[str, Any]) -> None:
    text, html = as_text(document), as_html(document)
    assert "truth, en (diagnostic)" in text
    assert "Lines of a group are diagnostics: the pooled kappa alone may decide." in text
    assert "Kappa by locale, truth, diagnostic" in html
    json = [each for each in document["estimates"] if each["group"]]
    assert json
    assert {each["details"]["use"] for each in json} == {"diagnostic"}


def test_numbers_of_agreement_are_no_percentages(document: dict[str, Any]) -> None:
    """A bar of .6 and a target of .65 are kappas, in the criterion as in the notes."""
    text = as_text(document)
    assert "falls below the bar of 0.6 while" in text
    assert "below the target of 0.65, which decides nothing" in text
    assert re.search(r"Kappa is -0\.\d{3}, below the bar of 0\.6; the point decides", text)
    assert "kappa: at least 0.6 (decided by the interval, truth)" in text
    assert "60 %" not in text
    assert "65 %" not in text


def test_a_paradox_is_named_with_what_answers_it(document: dict[str, Any]) -> None:
    text = as_text(document)
    assert "truth: a kappa paradox. The bin low holds so much of both marginals" in text
    assert (
        "the answer is more cases of the other bins (`lacre rebalance`, where the plan has it), never a lower bar"
        in text
    )
    assert "truth, in en: a kappa paradox." in text


def test_a_value_beside_an_edge_is_told(document: dict[str, Any]) -> None:
    said = "Values of human that lie within 0.000001 of an edge between bins, and not on it: 1."
    assert said in as_text(document)


NAMES = {"pt-BR": "concordância humano-vs-juiz", "es-419": "concordancia humano-vs-juez"}


@pytest.mark.parametrize("language", NAMES)
def test_it_has_its_name_in_every_catalogue(language: str) -> None:
    entry = re.compile(r'^msgid "human-vs-judge agreement of one rater"\nmsgstr "([^"]*)"$', re.MULTILINE)
    catalogues = sorted((ROOT / "src" / "lacre" / "locale" / language).glob("*.po"))
    found = [said for path in catalogues for said in entry.findall(path.read_text(encoding="utf-8"))]
    assert found
    assert all(said.startswith(NAMES[language]) for said in found)
