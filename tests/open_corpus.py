"""The plan of an open corpus, labelled by people and scored by a judge, and the files of its parts."""

from collections.abc import Sequence
from pathlib import Path

LABELLED, SCORED = "2099-01-01T00:00:00Z", "2099-01-02T00:00:00Z"
"""In days to come, so that no label is from before a registration, whenever the tests run."""

PLAN = """\
lacre: 1
study: {study}
title: Human and judge
question: Does the judge err more often in one language?
language: en
data: {{identifiable: false, prior_exposure: none}}
systems: {{judge: {{version: "{version}"}}}}
tables:
  cases:
    key: case_id
    columns:
      case_id: {{type: text}}
      locale: {{type: category, values: [en, pt-BR], is: input}}
      text: {{type: text, is: input}}
      human: {{type: outcome, positive: good, negative: bad, part: labels}}
      labelled_at: {{type: time, is: labelled, part: labels}}
      judge: {{type: outcome, positive: good, negative: bad, part: scores}}
      scored_at: {{type: time, is: scored, part: scores}}
pools:
  teste: {{tables: [cases]}}
  corpus:
    tables: [cases]
    open: synthetic cases
    order: [cases, labels, scores]
    planned: {{cases: {planned}}}
analyses:
  parity: {{kind: group_fairness, pool: corpus, table: cases, label: human, prediction: judge,
    attributes: [locale], criteria: [{{id: gap, metric: error, by: [locale], max_group_gap: {gap}}}]}}
locked: [analyses.parity.criteria]
"""
CASES = 200
WRONG = 7


def plan(study: str = "judge", *, version: str = "judge-1", planned: int = CASES, gap: str = "0.5") -> str:
    """Return the plan; `version` is the judge's, `gap` the bar of its one criterion, which is locked."""
    return PLAN.format(study=study, version=version, planned=planned, gap=gap)


def text_of(number: int, study: str = "judge") -> str:
    """Return the text of a case: long enough to be known by it in another study."""
    return f"case {number} of {study}: the quick brown fox jumps over the lazy dog {number * 7919} times"


def cases(folder: Path, count: int = CASES, *, first: int = 0, study: str = "judge") -> Path:
    """Write `count` cases, half in each language."""
    path = folder / f"cases-{study}-{first}-{count}.csv"
    lines = ["case_id,locale,text"]
    lines += [f"{n:04d},{('en', 'pt-BR')[n % 2]},{text_of(n, study)}" for n in range(first, first + count)]
    path.write_text("\n".join(lines) + "\n")
    return path


def labels(folder: Path, count: int = CASES, *, at: str = LABELLED, extra: Sequence[str] = ()) -> Path:
    """Write a label for each of `count` cases, and the lines in `extra`."""
    path = folder / "labels.csv"
    lines = ["case_id,human,labelled_at"]
    lines += [f"{n:04d},{('good', 'bad')[n // 2 % 2]},{at}" for n in range(count)]
    path.write_text("\n".join([*lines, *extra]) + "\n")
    return path


def scores(folder: Path, count: int = CASES, *, at: str = SCORED, wrong: int = WRONG) -> Path:
    """Write the judge's word on each of `count` cases: the label, but for the first `wrong`."""
    path = folder / "scores.csv"
    lines = ["case_id,judge,scored_at"]
    lines += [f"{n:04d},{('good', 'bad')[(n // 2 + (n < wrong)) % 2]},{at}" for n in range(count)]
    path.write_text("\n".join(lines) + "\n")
    return path
