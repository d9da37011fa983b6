"""A judge's corpus on which kappa is a paradox, and the files of its versions, by cells of human and judge.

One bin holds nearly all cases of both, so that they agree in 90 of 100 and kappa is low.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

PLAN = """\
lacre: 1
study: judge
title: Human and judge
question: Does the judge agree with the human?
language: en
data: {identifiable: false, prior_exposure: none}
systems:
  judge: {version: j1, digest: "sha256:0000000000000000000000000000000000000000000000000000000000000000"}
tables:
  cases:
    key: case_id
    columns:
      case_id: {type: text}
      words: {type: text, is: input}
      human: {type: number, min: 0, max: 1, part: labels}
      labelled_at: {type: time, is: labelled, part: labels}
      judge: {type: number, min: 0, max: 1, part: scores}
      scored_at: {type: time, is: scored, part: scores}
pools:
  corpus: {tables: [cases], open: synthetic cases, order: [cases, labels, scores]}
bins:
  grade: {low: [0, 0.5], high: [0.5, 1]}
analyses:
  agreement:
    kind: judge_agreement
    pool: corpus
    table: cases
    bins: grade
    weights: linear
    dimensions: {truth: {human: human, judge: judge}}
    bootstrap: {resamples: 2000, seed: 7}
    criteria: [{id: truth, metric: kappa, dimension: truth, min: 0.60, decide_on: point}]
locked: [bins, analyses.agreement.criteria, analyses.agreement.dimensions, analyses.agreement.weights]
remedies: [rebalance]
max_rebalances: 1
"""
VALUES = {"low": "0.1", "high": "0.9"}
PARADOX = {("high", "high"): 90, ("high", "low"): 4, ("low", "high"): 4, ("low", "low"): 2}
"""Kappa is (.92 - .8872) / (1 - .8872) = .2908, and AC1 (.92 - 2 · .94 · .06) / (1 - 2 · .94 · .06) = .9098."""

Cells = Mapping[tuple[str, str], int]
Cases = dict[str, tuple[str, str]]


def cases_of(cells: Cells, first: int = 0) -> Cases:
    """Return as many cases as the cells count, each with the bins of its label and score; ids go on from `first`."""
    flat = [cell for cell, count in cells.items() for _each in range(count)]
    return {f"case-{number:05d}": cell for number, cell in enumerate(flat, first)}


def write_cases(path: Path, ids: Iterable[str], *, changed: Sequence[str] = ()) -> Path:
    """Write cases; those in `changed` have other words than the first time."""
    lines = [f"{each},words of {each}{' now' if each in changed else ''}" for each in ids]
    path.write_text("\n".join(["case_id,words", *lines]) + "\n")
    return path


def write_labels(path: Path, cases: Cases, at: str = "2099-01-01T00:00:00Z") -> Path:
    """Write the human's labels."""
    lines = [f"{each},{VALUES[human]},{at}" for each, (human, _judge) in cases.items()]
    path.write_text("\n".join(["case_id,human,labelled_at", *lines]) + "\n")
    return path


def write_scores(path: Path, cases: Cases, at: str = "2099-01-02T00:00:00Z") -> Path:
    """Write the judge's scores."""
    lines = [f"{each},{VALUES[judge]},{at}" for each, (_human, judge) in cases.items()]
    path.write_text("\n".join(["case_id,judge,scored_at", *lines]) + "\n")
    return path


def commit(ledger: Any, folder: Path, cases: Cases, asked: Cases | None = None) -> None:
    """Commit a version: all its cases, and the labels and scores of those asked for, else of all."""
    given = cases if asked is None else asked
    ledger.commit("judge", "cases", write_cases(folder / "cases.csv", cases))
    ledger.commit("judge", "labels", write_labels(folder / "labels.csv", given))
    ledger.commit("judge", "scores", write_scores(folder / "scores.csv", given))


def drawn(path: Path, old: Cases) -> Cases:
    """Return the old cases that a rebalance wrote to `path`, with their bins."""
    return {
        each: old[each] for each in (line.partition(",")[0] for line in path.read_text().splitlines()[1:])
    }
