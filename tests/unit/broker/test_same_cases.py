"""The same cases by other names: a pool's contents under ids of their own, whoever sealed them first."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.studies import plan

import lacre
from lacre import errors
from lacre.broker.outcomes import ReadPlanned
from lacre.report import json as as_json, text

Study = Any


def renamed(path: Path) -> Path:
    """The same cases, with a letter before each id."""
    head, *lines = path.read_text().splitlines()
    made = path.with_name(f"renamed-{path.name}")
    made.write_text("\n".join([head, *(f"Z{line}" for line in lines)]) + "\n")
    return made


def test_a_threshold_is_not_tuned_on_teste_by_other_names(study: Study) -> None:
    """`code` is a text of each case's own, so that two hundred in common are no chance."""
    study.begin()
    cases = study.cases(0)
    study.ledger.seal("parity", "dev", renamed(cases))
    size = study.size
    with pytest.raises(errors.SharedCases) as refused:
        study.ledger.seal("parity", "teste", cases)
    assert "200 contents of parity/dev" in refused.value.message
    assert study.size == size
    assert study.ledger.seal("parity", "teste", cases, as_dev=True).standing == "dev"


def test_nor_when_teste_was_sealed_first(study: Study) -> None:
    study.begin()
    cases = study.cases(0)
    study.ledger.seal("parity", "teste", cases)
    for pool in ("dev", "contraste"):
        with pytest.raises(errors.SharedCases):
            study.ledger.seal("parity", pool, renamed(cases))
    assert study.ledger.audit().ok


# --- verdicts on the same cases, in whichever study


def gating(ledger: lacre.Ledger, slug: str, cases: Path, most: int = 2) -> None:
    """Register a study with a gate on `cases`, and seal them."""
    pools = {"guarda": f"tables: [cases], max_reads: {most}"}
    code = {"code": "{type: text, is: input}"}
    text_ = plan(slug, pools=pools, analyses={"release": "guarda"}, columns=code, gap="0.9")
    ledger.register(text_.encode())
    ledger.seal(slug, "guarda", cases)


def test_cases_that_were_gated_in_another_study_have_what_is_left_of_the_error_rate(study: Study) -> None:
    """One of two reads is a half: of a budget of four that leaves two, and not four."""
    cases, ledger = study.cases(0), study.ledger
    submissions = [study.predictions(0, wrong=wrong) for wrong in range(4)]
    gating(ledger, "first", cases)
    first = ledger.gate("first", submissions[0])
    assert (first.reads_left, first.gated) == (1, ())
    assert "gated" not in as_json.result(first)
    gating(ledger, "second", renamed(cases), most=4)
    mine = [study.folder / f"mine-{n}.csv" for n in range(3)]
    for path, given in zip(mine, submissions[1:], strict=True):
        path.write_text(renamed(given).read_text())
    would = ledger.gate("second", mine[0], dry_run=True)
    assert isinstance(would, ReadPlanned)
    assert (would.reads_left, len(would.gated)) == (2, 1)
    assert "2 reads are left, this one among them." in text.as_text(would)
    shown = ledger.gate("second", mine[0])
    (gated,) = shown.gated
    assert (gated.study, gated.cases, gated.reads, gated.most) == ("first", 200, 1, 2)
    assert "1 of 2 reads of first/guarda, with 200 cases in common" in text.as_text(shown)
    assert (shown.document["confirmatory"], shown.reads_left) == (True, 1)
    assert ledger.gate("second", mine[1]).reads_left == 0
    with pytest.raises(errors.GuardaSpentElsewhere):
        ledger.gate("second", mine[2])
    with pytest.raises(errors.GuardaSpentElsewhere):
        ledger.gate("first", submissions[1])
    assert [row.kind for row in ledger.deviations("second").rows] == ["gated", "gated"]
    assert ledger.audit().ok


def test_what_another_ledger_gated_is_not_confirmatory(study: Study, another: Callable[[], Study]) -> None:
    """The person's memory says that the cases were met, and the verdict stands as computed."""
    cases = study.cases(0)
    gating(study.ledger, "first", cases)
    study.ledger.gate("first", study.predictions(0))
    other = another()
    gating(other.ledger, "second", cases)
    shown = other.ledger.gate("second", study.predictions(0))
    assert (shown.document["confirmatory"], shown.document["retrospective"]) == (False, True)


def test_a_submission_that_guarda_answered_is_told_where_its_verdict_is(study: Study) -> None:
    gating(study.ledger, "first", study.cases(0), most=3)
    first = study.ledger.gate("first", study.predictions(0))
    again = study.ledger.gate("first", study.predictions(0), dry_run=True)
    assert isinstance(again, ReadPlanned)
    assert (again.answered, again.reads_left) == (first.name, 2)
    assert f"`lacre show {first.name}`" in text.as_text(again)
    other = study.ledger.gate("first", study.predictions(0, wrong=1), dry_run=True)
    assert isinstance(other, ReadPlanned)
    assert other.answered is None
    (warning,) = study.ledger.gate("first", study.predictions(0)).warnings
    assert first.name in warning
