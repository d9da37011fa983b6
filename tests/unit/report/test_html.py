"""A result as HTML: valid, closed to the network, readable without eyes or colour, and true to its document."""

import copy
import dataclasses
import re
from itertools import pairwise
from pathlib import Path
from xml.etree.ElementTree import Element

import pytest
import yaml

from lacre.errors import FileExists
from lacre.report.html.plan_html import lines, relevant
from lacre.report.html.result_html import POLICY, fragment, page
from lacre.report.html.style import DARK, GROUNDS, LIGHT, LINES, SCOPE, WORDS, sheet
from lacre.report.html.written import write_report
from lacre.report.words import metric

from . import hand_written
from .conftest import Life
from .html_tree import all_of, parsed, parsed_fragment, rows, tag, words

REAL = ("result", "again", "rehearsed", "seen-again", "erratum", "corrected", "withdrawn-result", "grown")
BY_POSE = f"{metric('recall')} by pose"
HEADINGS = re.compile(r"h[1-6]$")


@pytest.fixture(scope="session")
def pages(life: Life) -> dict[str, str]:
    """Pages of real results, and one of every kind of analysis."""
    found = {name: page(life.outcomes[name]) for name in REAL}
    return {**found, "every-kind": page(hand_written.shown(life.outcomes["seen-again"]))}


@pytest.fixture(scope="session")
def every_kind(pages: dict[str, str]) -> Element:
    return parsed(pages["every-kind"])


@pytest.fixture(params=[*REAL, "every-kind"])
def root(pages: dict[str, str], request: pytest.FixtureRequest) -> Element:
    """Each page in turn."""
    return parsed(pages[request.param])


# --- what a browser makes of it ----------------------------------------------------------------------------


def test_nothing_runs_loads_or_leads_elsewhere(root: Element) -> None:
    tags = {tag(each) for each in root.iter() if isinstance(each.tag, str)}
    assert not tags & {"script", "link", "img", "iframe", "object", "a", "base", "form", "image", "use"}
    for each in root.iter():
        for name in each.attrib:
            assert not name.startswith("on")
            assert name not in {"href", "src", "style", "srcset", "action"}
    (policy,) = [each for each in all_of(root, "meta") if each.get("http-equiv") == "Content-Security-Policy"]
    assert policy.get("content") == POLICY == "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    assert not re.search(r"url\(|@import|expression", "".join(map(words, all_of(root, "style"))))


def test_words_of_others_are_words(every_kind: Element) -> None:
    """A group's name that is markup, a quote, and a mark that turns text around stands in its cell as it is."""
    escaped = hand_written.HOSTILE.replace("\u202e", "\\u202e")
    heads = [words(each) for each in all_of(every_kind, "th")]
    assert f"{escaped} × pequena" in heads
    assert f"{hand_written.LONG} × {hand_written.RIGHT_TO_LEFT}" in heads
    assert "\u202e" not in words(every_kind)


def test_the_same_result_gives_the_same_bytes(life: Life, pages: dict[str, str], tmp_path: Path) -> None:
    shown = life.outcomes["seen-again"]
    assert page(shown) == pages["seen-again"]
    written = write_report(shown, tmp_path / "r.html", overwrite=False)
    assert (tmp_path / "r.html").read_text(encoding="utf-8") == pages["seen-again"]
    assert written.bytes == len(pages["seen-again"].encode())
    with pytest.raises(FileExists):
        write_report(shown, tmp_path / "r.html", overwrite=False)


def test_the_language_of_the_words_and_that_of_the_plan(every_kind: Element) -> None:
    """The words of lacre are English, those of the plan say what they are: a screen reader reads each as it is."""
    assert every_kind.get("lang") == "en"
    (title,) = all_of(every_kind, "h1")
    assert [each.get("lang") for each in title] == ["pt-BR"]


# --- without eyes, without colour --------------------------------------------------------------------------


def test_headings_go_down_one_by_one(root: Element) -> None:
    levels = [
        int(tag(each)[1]) for each in root.iter() if isinstance(each.tag, str) and HEADINGS.match(tag(each))
    ]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_each_analysis_is_a_section_with_its_criteria_below(every_kind: Element) -> None:
    heads = [
        (tag(each), words(each))
        for each in every_kind.iter()
        if isinstance(each.tag, str) and HEADINGS.match(tag(each))
    ]
    at = heads.index(("h2", "recall (recall) ✗FAIL"))
    assert heads[at + 1] == ("h3", "worst-cell ✗FAIL")
    assert ("h2", "What this shows, and what it does not") in heads


def test_no_name_is_given_twice_and_each_that_is_used_is_given(root: Element) -> None:
    given = [each.get("id") for each in root.iter() if each.get("id")]
    assert len(given) == len(set(given))
    for each in root.iter():
        for used in (each.get("aria-labelledby") or "").split():
            assert used in given


def test_every_drawing_has_a_title_a_description_and_a_table(root: Element) -> None:
    drawings = [each for each in all_of(root, "svg") if each.get("role") is not None]
    assert drawings
    for each in drawings:
        assert each.get("role") == "img"
        title, described = list(each)[:2]
        assert (tag(title), tag(described)) == ("title", "desc")
        assert words(title)
        assert words(described)
        assert each.get("aria-labelledby") == f"{title.get('id')} {described.get('id')}"
        assert all(group.get("aria-hidden") == "true" for group in list(each)[2:])


def test_every_table_has_a_caption_and_heads(root: Element) -> None:
    tables = list(all_of(root, "table"))
    assert tables
    for table in tables:
        caption, head, body = list(table)
        assert words(caption)
        assert {each.get("scope") for each in all_of(head, "th")} == {"col"}
        for row in body:
            assert [tag(each) for each in row] == ["th"] + ["td"] * (len(row) - 1)
            assert row[0].get("scope") == "row"
            assert len(row) == len(head[0])
    for region in root.iter():
        if region.get("tabindex") is not None and tag(region) == "div":
            assert (region.get("role"), bool(region.get("aria-labelledby"))) == ("region", True)


def luminance(colour: str) -> float:
    """The relative luminance of `#rrggbb` (WCAG 2.2)."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_the_contrast_is_that_of_wcag_aa(palette: dict[str, str]) -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    for ground in GROUNDS:
        for name in WORDS:
            assert contrast(palette[name], palette[ground]) >= 4.5, (name, ground)
        for name in LINES:
            # The names beside the curves are words.
            assert contrast(palette[name], palette[ground]) >= 4.5, (name, ground)


def test_no_verdict_is_a_colour_alone(root: Element) -> None:
    for each in all_of(root, "span", "p"):
        if "state" in (each.get("class") or "").split():
            assert re.search("PASS|FAIL|INSUFFICIENT_EVIDENCE|MANUAL_REVIEW", words(each))


def test_curves_differ_by_dashes_and_marks(every_kind: Element) -> None:
    first = next(each for each in all_of(every_kind, "svg") if "det" in (each.get("class") or ""))
    curves = [
        each.get("class") or "" for each in all_of(first, "polyline") if "curve" in (each.get("class") or "")
    ]
    assert len(curves) == 3
    assert len({name for each in curves for name in each.split() if re.match(r"d\d", name)}) == 3
    # That all end where nothing is rejected says nothing of any: they are named where they still differ.
    ends = {
        (each.get("points") or "").split()[-1]
        for each in all_of(first, "polyline")
        if "curve" in (each.get("class") or "")
    }
    assert len(ends) == 3
    names = [words(each) for each in all_of(first, "text")]
    assert {"grupo-a", "grupo-b"} <= set(names)


# --- in somebody else's page -------------------------------------------------------------------------------


def test_a_fragment_says_the_same_and_keeps_to_itself(life: Life, pages: dict[str, str]) -> None:
    text = fragment(life.outcomes["seen-again"])
    assert life.outcomes["seen-again"]._repr_html_() == text
    made = parsed_fragment(text)
    (own,) = list(made)
    assert (tag(own), own.get("class")) == ("div", SCOPE)
    (main,) = all_of(parsed(pages["seen-again"]), "main")
    assert words(own[1]) == words(main[0])
    levels = [tag(each) for each in own.iter() if isinstance(each.tag, str) and HEADINGS.match(tag(each))]
    assert min(levels) == levels[0] == "h3"


def test_every_rule_of_a_fragment_is_held_to_it() -> None:
    bare = re.sub(r"@media [^{]*\{", "", sheet(fragment=True))
    rules = re.findall(r"([^{}]+)\{[^{}]*\}", bare)
    assert len(rules) > 60
    for rule in rules:
        for selector in rule.split(","):
            assert f".{SCOPE}" * 3 in selector, selector
    whole = re.findall(r"([^{}]+)\{[^{}]*\}", re.sub(r"@media [^{]*\{", "", sheet(fragment=False)))
    assert {rule.strip() for rule in whole if SCOPE not in rule} == {":root", "html", "body", "@page"}


# --- what it says ------------------------------------------------------------------------------------------


def test_the_verdict_and_why_come_first(pages: dict[str, str]) -> None:
    text = words(parsed(pages["corrected"]))
    asked = (
        *("Screen, parity of misses", "Does the screen miss more often in one group?", "screen@5", "Verdict"),
        "parity.misses: ",
        "Confirmatory: the first read of teste, by a plan registered before it.",
        *(
            "All criteria",
            "misses",
            "self-held. One person has the data and the key",
            "none; no checkpoint of",
        ),
        *("registered the protocol sha256:", "this result: result of entry 4", "put a deviation on record"),
        *(
            "lacre audit screen@5",
            "lacre verify r.zip --key lab.example/bias+",
            "Not shown",
            "max_group_gap: 0.05",
        ),
    )
    at = -1
    for each in asked:
        at = text.find(each, at + 1)
        assert at >= 0, each


def test_a_plan_shows_what_the_result_rests_on_and_no_other_pool(pages: dict[str, str]) -> None:
    (plan,) = all_of(parsed(pages["seen-again"]), "pre")
    told = yaml.safe_load("".join(plan.itertext()))
    assert (told["study"], set(told["tables"]), set(told["pools"])) == ("screen", {"cases"}, {"teste"})
    gap = {"id": "misses", "metric": "false_negative", "by": ["sex"], "max_group_gap": 0.05}
    assert gap.items() <= told["analyses"]["parity"]["criteria"][0].items()


def test_a_plan_keeps_the_thresholds_and_tables_that_are_named() -> None:
    """An analysis names a threshold, that one a table; what nothing names is left out."""
    plan = {
        "study": "x",
        "title": "y",
        "data": {"prior_exposure": "none: said\n…"},
        "systems": {},
        "tables": {
            "faces": {"key": ["id"], "exclude": []},
            "pairs": {"key": ["id"]},
            "other": {"key": ["id"]},
        },
        "thresholds": {"t": {"calibrate_on": "dev", "table": "pairs"}, "u": {"fixed": 0.5}},
        "pools": {"dev": {"tables": ["faces"]}, "teste": {"tables": ["faces"]}},
        "analyses": {
            "recall": {"table": "faces", "detected": {"threshold": "t"}},
            "later": {"table": "other"},
        },
    }
    kept = relevant(plan, "teste", ["recall"])
    assert list(kept) == ["study", "data", "tables", "thresholds", "pools", "analyses"]
    assert (set(kept["tables"]), set(kept["thresholds"])) == ({"faces", "pairs"}, {"t"})
    told = yaml.safe_load("\n".join(lines(kept)))
    assert told == {**kept, "tables": {name: {"key": ["id"]} for name in ("faces", "pairs")}}


def test_a_plan_is_written_in_lines_that_fit() -> None:
    long = {"analyses": {"a": {"criteria": [{"id": f"c{n}", "of": "x" * 40} for n in range(3)], "no": None}}}
    said = lines(long)
    assert max(map(len, said)) <= 96
    assert said[:3] == ["analyses:", "  a:", "    criteria:"]
    assert yaml.safe_load("\n".join(said)) == long


def test_drawings_and_tables_say_the_same_numbers(every_kind: Element) -> None:
    """171 of 190 is 90.0 %; each row of the drawing's description is in the table below it."""
    told = {row[0]: row[1:] for row in rows(every_kind, "worst-cell: ")}
    assert told["bebe × grande"][:4] == ["171 of 190", "90.0 %", "84.9–93.5 %", "✓PASS"]
    drawing = next(each for each in all_of(every_kind, "svg") if "worst-cell: " in words(each[0]))
    described = words(drawing[1])
    assert "floor 80 %." in described
    for name, (_cases, rate, interval, *_rest) in told.items():
        if rate != "–":
            assert f"{name}: {rate} ({interval})" in described


def test_what_has_no_interval_is_said_in_words(every_kind: Element) -> None:
    told = {row[0]: row[-1] for row in rows(every_kind, "worst-cell: ")}
    assert told["idoso × pequena"] == "There are no cases."
    assert told["idoso × media"].startswith("Withheld: a group of fewer than 5 cases")


def test_nothing_counted_is_never_a_zero(every_kind: Element) -> None:
    """3/119 is 2.5 %; the interval's own end is 3.1 %."""
    (pose,) = [row for row in rows(every_kind, BY_POSE) if row[0] == "perfil"]
    assert pose[1:] == ["0 of 119", "up to 2.5 %", "0.0–3.1 %"]
    drawing = next(each for each in all_of(every_kind, "svg") if BY_POSE in words(each[0]))
    assert "perfil: up to 2.5 %" in words(drawing[1])
    # Of a rung of the ladder: 3/140 is 2.1 %, whatever else tells the criterion apart.
    assert [row[2] for row in rows(every_kind, "fmr-ratio: ")][2] == "up to 2.1 %"
    classes = [each.get("class") or "" for each in drawing.iter()]
    assert [each for each in classes if each.startswith("mark arrow")] == ["mark arrow open"]


def test_numbers_of_each_kind_read_as_what_they_are(every_kind: Element) -> None:
    told = {row[0]: row[1:] for row in rows(every_kind, "All criteria")}
    assert told["bebes"][2:] == [
        f"{metric('stratum_difference')}: at least −5 points",
        "−5.2 points",
        "−9.1 to −1.3 points",
    ]
    assert told["fmr-ratio"][3:] == ["–", "1.200 or more"]
    assert told["limiar"][3:] == ["0.02 cosine", "0.01 to 0.04 cosine"]
    assert told["queue"][3:] == ["up to 2.5 %", "0.0–3.1 %"]
    thresholds = rows(every_kind, "Thresholds in use")
    assert thresholds == [
        ["detector", "0.4125", "frozen at entry 7"],
        ["matcher", "0.5 cosine", "fixed in the plan"],
    ]


def test_the_tables_of_every_kind(every_kind: Element) -> None:
    counts = rows(every_kind, "Counts of pairs")
    assert counts[0] == ["jpeg-30 against original", "1600", "300", "794", "150", "86", "570", "4"]
    assert rows(every_kind, "Differences and tests")[0][1:3] == ["−4.0 points", "−5.9 to −2.1 points"]
    ladder = rows(every_kind, "Rungs, in the registered order")
    assert ladder[0] == [
        "fmr-ratio",
        "✗FAIL 4.200 (3.100 to 7.700)",
        "✓PASS 2.200 (1.200 to 2.900)",
        "did not run",
    ]
    assert rows(every_kind, "Counts at the common threshold: nenhuma")[1] == [
        *("grupo-b", "3000", "21", "3000", "3", "9"),
    ]
    assert rows(every_kind, "false matches of at most 0.1 %")[3][-1] == "unresolved at n = 3000"
    age, monk = rows(every_kind, "Agreement of two passes")
    assert age == ["age", "100", "85", "85.0 %", "76.7–90.7 %", "0.659", "0.500 to 0.810", "23.3 %"]
    assert monk == ["monk", "0", "0", "–", "–", "–", "–", "–"]
    assert rows(every_kind, "age: the first pass down")[0] == ["bebe", "60", "5"]
    assert rows(every_kind, "Human-vs-judge agreement of one rater")[:2] == [
        [
            "fidelidade, pooled",
            "100",
            "89.0 % (50.0–100.0 %)",
            "0.722 (0.571 to 0.851)",
            "0.895 (0.830 to 0.950)",
            "0.835 (0.700 to 0.900)",
        ],
        ["fidelidade, pt-BR (diagnostic)", "0", "–", "–", "–", "–"],
    ]
    assert rows(every_kind, "fidelidade: the human's label by row")[0] == ["infiel", "75", "1", "4", "80"]
    assert rows(every_kind, "fidelidade: marginals")[:2] == [
        ["all: human", "80", "10", "10"],
        ["all: judge", "80", "5", "15"],
    ]
    assert rows(every_kind, "Strata of the sample")[0] == ["E", "4421", "100", "–"]
    assert rows(every_kind, "later kind")[0][1:] == ["0.25, –", "deep: 1"]


def test_a_threshold_has_its_rule_its_interval_and_its_cases(life: Life) -> None:
    """As its calibration froze it: the same words as there, and none where only a bundle is at hand."""
    shown = life.outcomes["faces"]
    (frozen,) = [each for each in life.outcomes["calibrated"].thresholds if each.name == "detector"]
    (row,) = rows(parsed(page(shown)), "Thresholds in use")
    assert row[0] == "detector"
    assert row[3:5] == ["recall of at least 95 %", f"{frozen.events} of {frozen.cases}"]
    low, high = row[2].split(" – ")
    assert float(low) <= float(row[1]) <= float(high)
    (bare,) = rows(parsed(page(dataclasses.replace(shown, background=None))), "Thresholds in use")
    assert len(bare) == 3


def test_a_gate_says_verdicts_and_no_number(life: Life) -> None:
    """Nothing but ids and states leaves guarda; the page of two systems says whose each verdict is."""
    real = life.outcomes["seen-again"]
    criteria = [
        {"id": "veto", "system": system, "state": state} for system, state in (("a", "PASS"), ("b", "FAIL"))
    ]
    bare = {
        "id": "release",
        "kind": "protective_failure",
        "state": "FAIL",
        "estimates": [],
        "criteria": criteria,
        "notes": [],
    }
    document = {**real.document, "standing": "guarda", "state": "FAIL", "analyses": [bare]}
    root = parsed(page(dataclasses.replace(real, document=document, reads_left=5)))
    assert rows(root, "release (protective failure)") == [["veto", "a", "✓PASS"], ["veto", "b", "✗FAIL"]]
    assert "Vetoed: a release passes only if every criterion does." in words(root)
    assert "5 reads are left." in words(root)
    assert not list(all_of(root, "svg"))


def test_of_several_systems_each_number_says_whose_it_is(life: Life) -> None:
    """The same criterion of two systems, whose one line is drawn against its bar with the criterion's own verdict."""
    real = life.outcomes["seen-again"]
    analysis = hand_written.protective()
    (queue,), (rate,) = analysis["criteria"], analysis["estimates"]
    queue["groups"] = [hand_written.line(rate, "PASS", "described")]
    other = {**copy.deepcopy(queue), "system": "novo", "state": "FAIL"}
    analysis["criteria"] = [queue, other]
    root = parsed(page(dataclasses.replace(real, document={**real.document, "analyses": [analysis]})))
    assert [row[:3] for row in rows(root, "All criteria")] == [
        ["queue", "✓PASS", "protective-failure"],
        ["queue", "✗FAIL", "protective-failure"],
    ]
    heads = [words(each) for each in all_of(root, "h3")]
    assert {"queue (atual) ✓PASS", "queue (novo) ✗FAIL"} <= set(heads)
    assert [row[-1] for row in rows(root, "queue: ")] == ["✓PASS", "✗FAIL"]
    drawings = [each for each in all_of(root, "svg") if "queue: " in words(each[0])]
    assert len(drawings) == 2
    assert all("ceiling 5 %" in words(each) for each in drawings)
