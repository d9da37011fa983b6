"""`amend`, `deviate`, `withdraw`, `erratum`, `show --deviations`: what they ask, and what they answer."""

import csv
import io
import sys
from pathlib import Path

import pytest

from .conftest import PROTOCOL, Answer, Lacre
from .test_terminal import typed

NARROWER = PROTOCOL.replace("max_group_gap: 0.05", "max_group_gap: 0.04")
TITLED = PROTOCOL.replace("Screen, parity", "A screen, parity")


@pytest.fixture
def revealed(study: Lacre, tmp_path: Path) -> Lacre:
    """The study with `teste` read: its result is `screen@4`."""
    assert study("reveal", "screen", "--submission", "good.csv").status == 0
    (tmp_path / "narrower.yaml").write_text(NARROWER, encoding="utf-8")
    (tmp_path / "titled.yaml").write_text(TITLED, encoding="utf-8")
    return study


def code(answer: Answer) -> str:
    """The code of a refusal, given with --json."""
    assert answer.status == 2
    return str(answer.document["error"]["code"])


def entries(lacre: Lacre) -> int:
    """How many entries there are."""
    return int(lacre("status", "--json").document["entries"])


# --- amend -------------------------------------------------------------------------------------------------


def test_without_a_terminal_amend_names_the_options(revealed: Lacre) -> None:
    before = entries(revealed)
    title = revealed("amend", "titled.yaml", "--reason", "for the reader")
    assert (title.status, title.out) == (2, "")
    assert title.err.rstrip().endswith("add --yes.")
    burn = revealed("amend", "narrower.yaml", "--reason", "too wide")
    assert burn.err.rstrip().endswith("add --yes --accept-burn.")
    assert code(revealed("amend", "titled.yaml", "--reason", "x", "--json")) == "not-confirmed"
    assert code(revealed("amend", "narrower.yaml", "--reason", "x", "--yes", "--json")) == "amendment-burns"
    assert entries(revealed) == before


def test_amend_with_its_options(revealed: Lacre, tmp_path: Path) -> None:
    answer = revealed("amend", "titled.yaml", "--reason", "for the reader", "--yes")
    assert answer.status == 0, answer.err
    assert 'title: "Screen, parity of misses" -> "A screen, parity of misses"' in answer.out
    assert (tmp_path / "screen@5.receipt").read_text().startswith("c2sp.org/tlog-proof@v1\nindex 5\n")
    burnt = revealed(
        "amend", "narrower.yaml", "--reason", "too wide", "--yes", "--accept-burn", "--receipt", "r", "--json"
    )
    assert burnt.status == 0, burnt.out
    assert (burnt.document["burns"], burnt.document["entry"]) == (["teste"], 6)
    assert burnt.document["receipt_file"] == "r"
    assert (tmp_path / "r").read_text() == burnt.document["receipt"]
    assert revealed("show", "screen@4", "--json").document["now"] == "dev"


def test_a_dry_run_shows_what_would_burn_and_ends_well(revealed: Lacre) -> None:
    before = entries(revealed)
    answer = revealed("amend", "narrower.yaml", "--reason", "too wide", "--dry-run")
    assert answer.status == 0
    assert "analyses.parity.criteria.misses.max_group_gap: 0.05 -> 0.04" in answer.out
    assert "Known by now: teste read once as teste (entry 3)." in answer.out
    assert "Burns: teste would be dev, for good." in answer.out
    assert entries(revealed) == before
    assert (
        revealed("amend", "narrower.yaml", "--reason", "x", "--dry-run", "--json").document["dry_run"] is True
    )


def test_a_receipt_is_never_written_over(revealed: Lacre, tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("something else")
    before = entries(revealed)
    answer = revealed("amend", "titled.yaml", "--reason", "x", "--yes", "--receipt", "kept", "--json")
    assert code(answer) == "receipt-exists"
    assert entries(revealed) == before


def test_on_a_terminal_amend_shows_what_burns_and_asks(revealed: Lacre) -> None:
    before = entries(revealed)
    arguments = ["amend", "narrower.yaml", "--reason", "too wide"]
    status, screen = typed(arguments, ["n"])
    assert status == 2
    assert "max_group_gap: 0.05 -> 0.04" in screen
    assert "Amend it, and make teste dev for good? [y/N]: " in screen
    assert "nothing was recorded" in screen
    assert entries(revealed) == before
    assert typed(arguments, [""])[0] == 2, "no is what nothing typed means"
    status, screen = typed(arguments, ["y"])
    assert status == 0, screen
    assert "teste is dev from here on" in screen
    assert entries(revealed) == before + 1


def test_on_a_terminal_an_interruption_changes_nothing(revealed: Lacre) -> None:
    before = entries(revealed)
    assert typed(["amend", "titled.yaml", "--reason", "x"], ["\x03"])[0] == 130
    assert entries(revealed) == before


# --- deviate, withdraw, erratum ----------------------------------------------------------------------------


def test_deviate_takes_words_from_the_line_a_file_or_standard_input(
    revealed: Lacre, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "note.txt").write_bytes("\ufeffTwo clinics\njoined late.\n".encode())
    assert revealed("deviate", "screen", "One rater was ill.").status == 0
    assert revealed("deviate", "screen@4", "--file", "note.txt").status == 0
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("Três casos.".encode())))
    answer = revealed("deviate", "screen", "--file", "-", "--json")
    assert (answer.document["words"], answer.document["about"]) == ("Três casos.", None)
    told = revealed("show", "screen@4", "--json").document["deviations"]
    assert [each["words"]["words"] for each in told] == [
        "One rater was ill.",
        "Two clinics\njoined late.",
        "Três casos.",
    ]


def test_deviate_refuses_what_is_no_words(revealed: Lacre, tmp_path: Path) -> None:
    (tmp_path / "latin").write_bytes(b"\xe9")
    (tmp_path / "long").write_text("x" * 20_001)
    refused = {
        "words-missing": ["screen"],
        "usage": ["screen", "text", "--file", "latin"],
        "not-readable": ["screen", "--file", "latin"],
        "words-too-long": ["screen", "--file", "long"],
        "not-a-name": ["screen@x", "text"],
    }
    before = entries(revealed)
    for expected, arguments in refused.items():
        assert code(revealed("deviate", *arguments, "--json")) == expected
    assert entries(revealed) == before


def test_withdraw_asks_first(revealed: Lacre) -> None:
    arguments = ["withdraw", "screen", "--reason", "consent was taken back"]
    before = entries(revealed)
    assert code(revealed(*arguments, "--json")) == "not-confirmed"
    status, screen = typed(arguments, ["n"])
    assert status == 2
    assert "Withdraw screen for ever? [y/N]: " in screen
    assert entries(revealed) == before
    assert typed(arguments, ["y"])[0] == 0
    assert "Withdrawn at entry" in revealed("status").out
    assert code(revealed(*arguments, "--yes", "--json")) == "study-withdrawn"


def test_erratum_ends_with_its_verdict(revealed: Lacre, tmp_path: Path) -> None:
    """All 200 labels are positive and predicted so. With that of one woman and one man turned round, two
    predictions are false positives, and none is a false negative: the rule on misses would still pass.
    """
    lines = (tmp_path / "teste.csv").read_text().splitlines()
    for row in (1, 200):
        lines[row] = lines[row].replace(",1,", ",0,", 1)
    (tmp_path / "corrected.csv").write_text("\n".join(lines) + "\n")
    answer = revealed("erratum", "screen@4", "corrected.csv", "--reason", "two slips", "--json")
    assert answer.status == 3, answer.out
    assert answer.document["erratum"] == {"corrects": "screen@4", "changed": {"cases.label": 2}}
    assert answer.document["corrects"]["result"] == "screen@4"
    assert (
        code(revealed("erratum", "screen@4", "teste.csv", "--reason", "x", "--json")) == "erratum-unchanged"
    )
    assert revealed("show", "screen@4", "--json").document["errata"][0]["result"] == "screen@6"


# --- the table ---------------------------------------------------------------------------------------------


def test_the_table_of_deviations_in_each_form(revealed: Lacre) -> None:
    assert revealed("deviate", "screen", "=HYPERLINK(1) | <b>").status == 0
    text = revealed("show", "screen", "--deviations")
    assert (text.status, text.out) == (0, revealed("show", "screen", "--deviations", "--format", "text").out)
    assert "Why: =HYPERLINK(1) | <b>" in text.out
    table = revealed("show", "screen", "--deviations", "--format", "csv").out
    (_titles, row) = csv.reader(io.StringIO(table, newline=""))
    assert row[4] == "'=HYPERLINK(1) | <b>"
    marked = revealed("show", "screen", "--deviations", "--format", "markdown").out
    assert "=HYPERLINK(1) &#124; &lt;b&gt;" in marked
    document = revealed("show", "screen", "--deviations", "--format", "csv", "--json").document
    assert [each["kind"] for each in document["deviations"]] == ["deviation"]


def test_the_table_is_of_a_study(revealed: Lacre) -> None:
    assert code(revealed("show", "--deviations", "--json")) == "usage"
    assert code(revealed("show", "screen", "--format", "csv", "--json")) == "usage"
    assert code(revealed("show", "another", "--deviations", "--json")) == "study-not-registered"
