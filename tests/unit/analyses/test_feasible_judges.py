"""What a bar on a judge can come to: nothing that some outcome comes to is ever said to be out of reach."""

from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from tests.judging import protocol_of, rows_of, run

from lacre.analyses.feasibility import infeasible, requirements
from lacre.protocol.models import Protocol

HALVES = {"degree": {"bad": [0, 0.5], "good": [0.5, 1]}}


def plan_of(least: Any, decide_on: str, planned: int | None = None, **table: Any) -> Protocol:
    bar = {"id": "bar", "metric": "kappa", "dimension": "truth", "min": least, "decide_on": decide_on}
    pool = {"tables": ["cases"], **({} if planned is None else {"planned": {"cases": planned}})}
    plan = {"criteria": [bar], "weights": "none", "max_undefined": 1}
    return protocol_of(plan, table, bins=HALVES, pools={"dev": pool})


def tables(cases: int) -> Iterator[list[list[int]]]:
    for a in range(cases + 1):
        for b in range(cases + 1 - a):
            for c in range(cases + 1 - a - b):
                yield [[a, b], [c, cases - a - b - c]]


@cache
def states(least: Any, decide_on: str, cases: int) -> frozenset[str]:
    protocol = plan_of(least, decide_on)
    return frozenset(run(protocol, rows_of(table, (0.1, 0.9))).state.value for table in tables(cases))


@pytest.mark.parametrize("decide_on", ["point", "low"])
@pytest.mark.parametrize("least", [-1, -0.5, 0.6, 1])
def test_every_table_of_five_cases(least: float, decide_on: str) -> None:
    """A point reaches both ends of the scale; an interval reaches neither 1 from below nor -1 from above."""
    (need,) = requirements(plan_of(least, decide_on, planned=5))
    seen = states(least, decide_on, 5)
    assert need.attainable.passes >= ("PASS" in seen)
    assert need.attainable.fails >= ("FAIL" in seen)
    if decide_on == "point":
        assert need.attainable == ("PASS" in seen, "FAIL" in seen)
    assert (need.counted, need.more["level"]) == (None, 0.05)


def test_bars_that_nothing_can_keep_or_break_are_infeasible() -> None:
    assert infeasible(plan_of(0.6, "point", 90)) == ()
    assert [(each.passes, each.fails) for each in infeasible(plan_of(1, "low"))] == [(False, True)]
    assert [(each.passes, each.fails) for each in infeasible(plan_of(-1, "point"))] == [(True, False)]


def test_too_few_cases_or_clusters() -> None:
    (one,) = requirements(plan_of(0.6, "point", planned=1))
    assert (one.attainable.passes, one.minimum.to_pass, one.counted) == (False, 2, "cases")
    assert not requirements(plan_of(0.6, "point", 19, cluster="essay"))[0].attainable.passes
    assert requirements(plan_of(0.6, "point", 20, cluster="essay"))[0].attainable.passes
    (crossed,) = requirements(plan_of(0.6, "point", cluster=["essay", "locale"]))
    assert not crossed.attainable.passes
    assert not crossed.attainable.fails
