"""What a submission's blanks leave undecided, by the meaning that each kind gives a blank."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from lacre.broker.blanks import Blank, left_undecided
from lacre.protocol.document import parse
from lacre.tables.formats import Format
from lacre.tables.read import read_table

COLUMNS: Mapping[str, Any] = {
    "id": {"type": "text"},
    "variant": {"type": "category", "values": ["original", "half", "dark"]},
    "sex": {"type": "category", "values": ["f", "m"]},
    "y": {"type": "outcome", "positive": "1", "negative": "0"},
    "pi": {"type": "number", "is": "inclusion_probability"},
    "found": {"type": "outcome", "positive": "1", "negative": "0", "from": "submission"},
    "score": {"type": "number", "from": "submission"},
}


def blanks(
    plan: Mapping[str, Any],
    criterion: Mapping[str, Any],
    rows: Sequence[str],
    *,
    system: str = "a",
    absent: int = 0,
) -> list[Blank]:
    """Return what rows `id,variant,found,score` of a submission leave undecided."""
    names = {each: column for each, column in COLUMNS.items() if plan["kind"] == "estimate" or each != "pi"}
    document = {
        "lacre": 1, "study": "s", "title": "T", "question": "Q?", "language": "en",
        "data": {"identifiable": False, "prior_exposure": "none"},
        "systems": {each: {"version": "1", "digest": f"sha256:{'a' * 64}"} for each in "abc"},
        "tables": {"t": {"key": ["id", "variant"], "columns": names}},
        "pools": {"teste": {"tables": ["t"]}},
        "thresholds": {"at": {"fixed": 0.5}},
        "analyses": {"x": {"pool": "teste", "table": "t", "criteria": [{"id": "r", **criterion}], **plan}},
    }  # fmt: skip
    protocol = parse(json.dumps(document).encode())
    raw = "\n".join(["id,variant,found,score", *rows, ""]).encode()
    table = read_table(raw, protocol.tables["t"], "t", Format.CSV, only="submission")
    return list(left_undecided(protocol.analyses["x"], protocol.tables["t"], table, system, absent))


TWO_OF_TEN = [f"c{n},original,{'' if n < 2 else 1},{'' if n < 2 else 0.7}" for n in range(10)]
FLOOR = {"metric": "recall", "min": 0.5}
RECALL = {"kind": "recall", "detected": {"column": "found", "blank": "left_out"}}


def test_a_blank_that_is_left_out() -> None:
    """Two of ten are more than a tenth; of a blank that counts as not detected none is left out."""
    assert blanks(RECALL, FLOOR, TWO_OF_TEN) == [Blank("r", 2, 10, 0.1)]
    assert blanks(RECALL, {**FLOOR, "max_left_out": 0.2}, TWO_OF_TEN) == []
    assert blanks(RECALL, {**FLOOR, "max_left_out": 0.2}, TWO_OF_TEN, absent=1) == [Blank("r", 3, 11, 0.2)]
    for meaning in ("not_detected", "worst_case"):
        assert (
            blanks({"kind": "recall", "detected": {"column": "found", "blank": meaning}}, FLOOR, TWO_OF_TEN)
            == []
        )
    by_score = {"kind": "recall", "detected": {"score": "score", "threshold": "at", "blank": "left_out"}}
    assert blanks(by_score, FLOOR, TWO_OF_TEN) == [Blank("r", 2, 10, 0.1)]


def test_only_of_the_systems_that_are_compared() -> None:
    both = {"metric": "difference", "systems": ["a", "b"], "min": 0}
    assert [bool(blanks(RECALL, both, TWO_OF_TEN, system=name)) for name in "abc"] == [True, True, False]


def test_which_images_hold_a_person_is_sealed() -> None:
    """The two may be images without one, and no cases; it is sure only where all are blank."""
    plan = {"kind": "protective_failure", "person": "y", "found": {"column": "found", "blank": "left_out"}}
    ceiling = {"metric": "protective_failure", "max": 0.5}
    assert blanks(plan, ceiling, TWO_OF_TEN) == []
    assert blanks(plan, ceiling, [f"c{n},original,," for n in range(4)]) == [Blank("r", 4, 4, 0.1)]


def test_items_of_which_one_of_two_variants_is_blank() -> None:
    """Items, not rows: p0 lacks the baseline and p1 the variant; p2 lacks another variant, which is not compared."""
    rows = [
        f"p{n},{name},{'' if (n, name) in {(0, 'original'), (1, 'half'), (2, 'dark')} else 1},"
        for n in range(10)
        for name in ("original", "half", "dark")
    ]
    plan = {"kind": "paired_variants", "pair_on": "id", "baseline": "original",
            "detected": {"column": "found", "blank": "left_out"}}  # fmt: skip
    half = {"metric": "difference", "variant": "half", "min": 0}
    assert blanks(plan, half, rows) == [Blank("r", 2, 10, 0.1)]
    # Rows that are absent may be of items of their own.
    assert blanks(plan, half, rows, absent=10) == []
    systems = {"metric": "difference", "systems": ["a", "b"], "min": 0, "max_left_out": 0.05}
    assert blanks(plan, systems, rows) == [Blank("r", 1, 10, 0.05)]


@pytest.mark.parametrize(("most", "sure"), [(0.15, True), (0.2, False)])
def test_abstentions(most: float, *, sure: bool) -> None:
    plan = {"kind": "verification", "score": "score", "same": "y", "group": "sex", "direction": "similarity",
            "threshold": "at", "max_abstention": most}  # fmt: skip
    ceiling = {"metric": "false_match", "max": 0.1}
    assert blanks(plan, ceiling, TWO_OF_TEN) == ([Blank("r", 2, 10, 0.15)] if sure else [])


def test_a_total_needs_every_part() -> None:
    weights = {"column": "pi", "strata": "sex", "population": {"f": 90, "m": 90}}
    plan = {"kind": "estimate", "value": "score", "weights": weights}
    loose = {"max": 5, "max_left_out": 0.5}
    assert blanks({**plan, "of": "mean"}, {"metric": "mean", **loose}, TWO_OF_TEN) == []
    assert blanks({**plan, "of": "total"}, {"metric": "total", **loose}, TWO_OF_TEN) == [
        Blank("r", 2, 10, 0.0)
    ]


def test_a_judge_that_is_a_submission() -> None:
    """Two of ten scores are blank; where the scores are the pool's own, a submission says nothing of them."""
    plan = {
        "kind": "judge_agreement",
        "systems": "a",
        "weights": "none",
        "dimensions": {"d": {"human": "y", "judge": "found"}},
        "bootstrap": {"resamples": 1000, "seed": 1},
    }
    bar = {"metric": "kappa", "dimension": "d", "min": 0.5}
    assert blanks(plan, bar, TWO_OF_TEN) == [Blank("r", 2, 10, 0.1)]
    assert blanks(plan, {**bar, "max_left_out": 0.2}, TWO_OF_TEN) == []
