"""A judge's result computed again from itself: what the engine gave comes out, what was forged does not."""

import copy
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest
from tests.judging import protocol_of, rows_of, typed
from tests.unit.analyses.stored import FIRST, GATE, given_to
from tests.unit.analyses.test_recompute_kinds import JUNK, Made, leaves, put, row, the, unfound

from lacre.analyses.given import Given
from lacre.analyses.recompute import recompute
from lacre.protocol.models import Protocol

MIDDLES = (0.1, 0.5, 0.9)
THREE = rows_of([[75, 1, 4], [5, 4, 1], [0, 0, 10]], MIDDLES, locale="en")
SKEWED = rows_of([[118, 5, 0], [2, 0, 0], [0, 0, 0]], MIDDLES, locale="pt")
FEW = rows_of([[1, 1], [0, 1]], MIDDLES, locale="es")
POINT = {"id": "point", "metric": "kappa", "dimension": "truth", "min": 0.6, "decide_on": "point"}
LOW = {**POINT, "id": "low", "min": 0.5, "decide_on": "low"}
ASKED = {"criteria": [POINT, LOW], "diagnostics_by": ["locale"], "target": 0.7}


def judged(rows: Sequence[Mapping[str, Any]], protocol: Protocol, **more: Any) -> Made:
    decision = more.pop("decision", FIRST)
    given = Given.of_one(protocol, "cases", typed(protocol, rows), "judge", **more)
    document = given_to("judge", given, decision)
    return {**document, "engine": {"numpy": np.__version__}}, protocol


def essays(rows: Sequence[Mapping[str, Any]], size: int = 3) -> list[dict[str, Any]]:
    return [{**each, "essay": f"e{place // size}"} for place, each in enumerate(rows)]


DATA = {"identifiable": True, "prior_exposure": "none"}
CASES: dict[str, Callable[[], Made]] = {
    "plain": lambda: judged([*THREE, *FEW], protocol_of(ASKED)),
    "paradox": lambda: judged(SKEWED, protocol_of({**ASKED, "weights": "none"})),
    "costs": lambda: judged(THREE, protocol_of({**ASKED, "weights": {"costs": [[0, 1, 3], [1, 0, 6], [3, 6, 0]]}})),
    "left out": lambda: judged(
        [*THREE, {"judge": 0.5}, {"human": 0.5}, {"human": 0.5, "judge": 0.5, "locale": "xx"}], protocol_of(ASKED)
    ),
    "clusters": lambda: judged(essays([*THREE, *SKEWED]), protocol_of(ASKED, {"cluster": "essay"})),
    "few clusters": lambda: judged(essays(THREE, 9), protocol_of(ASKED, {"cluster": "essay"})),
    "strata": lambda: judged([*THREE, *SKEWED], protocol_of({**ASKED, "strata": "locale"})),
    "torn": lambda: judged(
        [*essays(THREE), *essays(SKEWED)], protocol_of({**ASKED, "strata": "locale"}, {"cluster": "essay"})
    ),
    "crossed": lambda: judged(essays(THREE), protocol_of(ASKED, {"cluster": ["essay", "locale"]})),
    "one bin": lambda: judged(rows_of([[30]], MIDDLES), protocol_of(ASKED)),
    "all agreed": lambda: judged(rows_of([[30, 0], [0, 30]], MIDDLES), protocol_of(ASKED)),
    "nobody": lambda: judged([{"human": 0.5}], protocol_of(ASKED)),
    "nothing asked": lambda: judged(THREE, protocol_of()),
    "nothing asked of one bin": lambda: judged(rows_of([[30]], MIDDLES), protocol_of()),
    "withheld": lambda: judged([*THREE, *FEW], protocol_of(ASKED, data=DATA)),
    "withheld margin": lambda: judged(
        rows_of([[50, 1], [2, 2]], MIDDLES), protocol_of({**ASKED, "diagnostics_by": []}, data=DATA)
    ),
    "review": lambda: judged(THREE, protocol_of({**ASKED, "requires_manual_review": True})),
    "a part of the error rate": lambda: judged(THREE, protocol_of({**ASKED, "confidence": 0.9})),
}  # fmt: skip


@cache
def made(name: str) -> Made:
    return CASES[name]()


@pytest.mark.parametrize("name", CASES)
def test_what_the_engine_gave_comes_out_again(name: str) -> None:
    again = recompute(*made(name))
    assert again.differences == ()
    assert again.criteria + again.withheld > 0 or name.startswith("nothing asked")


def test_the_resamples_are_drawn_again_and_by_the_same_numpy_alone() -> None:
    """Of the pooled cases and of en three intervals each; of es none is there, nor of pt, which has no case."""
    document, protocol = made("plain")
    bounds = recompute(document, protocol).bounds
    forged = put(document, ("analyses", 0, "tables", "judge_agreement", 0, "kappa_low"), 0.7)
    forged = put(forged, ("analyses", 0, "estimates", 1, "low"), 0.7)
    assert recompute(forged, protocol).differences
    other = {**document, "engine": {"numpy": "0.9"}}
    assert recompute(other, protocol).differences == ()
    assert recompute(other, protocol).bounds < bounds


@pytest.mark.parametrize("name", ["plain", "paradox", "left out"])
def test_a_number_that_is_changed_a_little_is_found(name: str) -> None:
    """Apart from counts of rows in no stratum, which no other number rests on."""
    document, protocol = made(name)
    assert unfound(document, protocol, np.random.default_rng(20261130), 40) <= {"left_out.count"}


def moved(document: dict[str, Any], state: str, code: str) -> None:
    the(document, "criteria").update(state=state, computed=state)
    the(document, "criteria")["reason"]["code"] = code


FORGED: dict[str, tuple[str, Callable[[dict[str, Any]], object]]] = {
    "a point that is met": ("paradox", lambda d: moved(d, "PASS", "point-kept")),
    "a cell": ("plain", lambda d: row(d, "judge_agreement")["counts"][0].reverse()),
    "a marginal": ("plain", lambda d: row(d, "judge_agreement")["judge_marginal"].reverse()),
    "a diagnostic called pooled": ("plain", lambda d: row(d, "judge_agreement", 1).update(use="pooled")),
    "a paradox that is none": ("plain", lambda d: row(d, "judge_agreement").update(
        paradox={"bin": "low", "human": 0.8, "judge": 0.8, "bar": 0.6})),
    "a paradox hushed up": ("paradox", lambda d: row(d, "judge_agreement").update(paradox=None)),
    "a paradox not among the notes": ("paradox", lambda d: d["analyses"][0]["notes"].pop(0)),
    "a target that is reached": ("plain", lambda d: next(
        each for each in d["analyses"][0]["notes"] if each["code"].startswith("target")).update(code="target-missed")),
    "a bin dropped": ("plain", lambda d: row(d, "judge_agreement")["bins"].pop(1)),
    "a bar": ("plain", lambda d: row(d, "judge_agreement").update(bar=0.4)),
    "a group dropped": ("plain", lambda d: d["analyses"][0]["tables"]["judge_agreement"].pop(1)),
    "a kappa not estimable": ("plain", lambda d: the(d, "estimates", 1).update(
        dict.fromkeys(("value", "low", "high", "confidence", "method")),
        note={"code": "kappa-one-bin", "fields": {}})),
    "counts kept back": ("plain", lambda d: row(d, "judge_agreement").update(counts=None)),
    "decided by the other end": ("plain", lambda d: the(d, "criteria", 1)["details"].update(decide_on="point")),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGED)
def test_what_is_forged_is_found(name: str) -> None:
    of, forge = FORGED[name]
    document, protocol = made(of)
    changed = copy.deepcopy(document)
    forge(changed)
    assert changed != document
    assert recompute(changed, protocol).differences


def test_no_document_makes_it_fail() -> None:
    document, protocol = made("plain")
    places = list(leaves(document))
    parents = sorted({path[:depth] for path in places for depth in range(1, len(path))}, key=str)
    rng = np.random.default_rng(20261130)
    for place in rng.permutation(len(places) + len(parents))[:60]:
        path = [*places, *parents][place]
        recompute(put(document, path, JUNK[int(rng.integers(len(JUNK)))]), protocol)


def test_the_gate_tells_verdicts_and_nothing_else() -> None:
    document, protocol = judged(THREE, protocol_of(ASKED), decision=GATE)
    assert recompute(document, protocol).differences == ()
    assert recompute(document, protocol).criteria == 2
