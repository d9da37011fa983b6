"""Thresholds that a result says it was computed at, held against the calibrations on record (rule 8)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.unit.audit.conftest import ENGINE, Builder

from lacre.audit.audit import audit
from lacre.protocol.document import parse, protocol_hash
from lacre.rules.answers import CalibrateFacts, FrozenThreshold
from lacre.rules.requests import Calibrate

if TYPE_CHECKING:
    from collections.abc import Callable

DETECTOR = """
lacre: 1
study: one
title: Faces
question: Does it miss more faces in one group than in another?
language: en
data: {identifiable: false, prior_exposure: none}
tables:
  cases:
    key: face
    columns:
      face: {type: text}
      score: {type: number, from: submission}
pools:
  dev: {tables: [cases]}
  teste: {tables: [cases], planned: {cases: 200}}
thresholds:
  t: {calibrate_on: dev, table: cases, score: score, at: {recall: 0.9}}
analyses:
  parity:
    kind: recall
    pool: teste
    table: cases
    detected: {score: score, threshold: t, blank: not_detected}
    criteria: [{id: gap, metric: recall, min: 0.8}]
"""


def frozen(value: float) -> CalibrateFacts:
    found = FrozenThreshold(
        name="t",
        system="",
        value=str(value),
        target="recall",
        at="0.9",
        events=90,
        cases=100,
        confidence="0.95",
    )
    return CalibrateFacts(engine=ENGINE, thresholds=(found,))


def calibrate(builder: Builder, plan: str, value: float) -> int:
    """Freeze the threshold; return the entry that does."""
    read = builder.read("one", "dev", purpose="calibrate", analyses=(), thresholds=("t",), protocol=plan)
    return builder.enter(Calibrate, frozen(value), protocol=plan, read=read, thresholds=("t",))


def revealed(change: Callable[[list[dict[str, Any]]], object]) -> tuple[Builder, int, int]:
    """A study calibrated twice, then revealed; the entry that froze last, and that of the result."""
    builder = Builder()
    builder.genesis()
    builder.register("one", DETECTOR)
    plan = protocol_hash(parse(DETECTOR.encode()))
    builder.seal("one", "dev", protocol=plan)
    builder.seal("one", "teste", protocol=plan)
    calibrate(builder, plan, 0.25)
    entry = calibrate(builder, plan, 0.5)
    read = builder.read("one", "teste", protocol=plan)
    told = [{"name": "t", "system": None, "value": 0.5, "entry": entry}]
    change(told)
    result = builder.result("one", read, "PASS", lambda document: {**document, "thresholds": told})
    return builder, entry, result


def test_the_threshold_that_was_frozen_last() -> None:
    builder, _entry, _result = revealed(lambda told: told)
    assert builder.found() == set()


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda told: told[0].update(value=0.25), ["thresholds.t.value"]),
        (lambda told: told[0].update(entry=told[0]["entry"] - 2), ["thresholds.t.entry"]),
        (lambda told: told[0].update(entry=None), ["thresholds.t.value", "thresholds.t.entry"]),
        (lambda told: told.clear(), ["thresholds.t.value", "thresholds.t.entry"]),
        (lambda told: told.append({**told[0], "name": "u"}), ["thresholds.u.value", "thresholds.u.entry"]),
        (lambda told: told[0].update(system="other"),
         ["thresholds.t.value", "thresholds.t.entry", "thresholds.t.other.value", "thresholds.t.other.entry"]),
    ],
)  # fmt: skip
def test_another_threshold(change: Callable[[list[dict[str, Any]]], object], what: list[str]) -> None:
    builder, _entry, result = revealed(change)
    report = audit(builder.held())
    assert {(each.code, each.entry) for each in report.findings} == {("result-differs", result)}
    assert [each.fields["what"] for each in report.findings] == what
