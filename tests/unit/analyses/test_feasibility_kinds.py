"""What plans of other kinds could find: closed forms, and every outcome there is of a few cases."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import stats
from tests.studies import HEAD

from lacre.analyses import analyse
from lacre.analyses.feasibility import infeasible, requirements
from lacre.analyses.feasible_pairs import paired_minimum
from lacre.analyses.given import Given
from lacre.analyses.need import Need
from lacre.protocol.document import parse
from lacre.protocol.models import Protocol
from lacre.stats.paired_intervals import tango
from lacre.stats.proportions import clopper_pearson
from lacre.tables.formats import Format
from lacre.tables.join import join_submission
from lacre.tables.read import read_table

COLUMNS: Mapping[str, Any] = {
    "id": {"type": "text"},
    "image": {"type": "text"},
    "other": {"type": "text"},
    "variant": {"type": "category", "values": ["original", "half"]},
    "sex": {"type": "category", "values": ["f", "m"]},
    "age": {"type": "ordinal", "values": ["baby", "child", "adult", "old"]},
    "height": {"type": "number", "bins": {"small": [0, 32], "middle": [32, 64], "large": [64, None]}},
    "person": {"type": "outcome", "positive": "1", "negative": "0"},
    "again": {"type": "outcome", "positive": "1", "negative": "0"},
    "value": {"type": "number", "unit": "g"},
    "w": {"type": "number", "is": "inclusion_probability"},
    "found": {"type": "outcome", "positive": "1", "negative": "0", "from": "submission"},
    "score": {"type": "number", "from": "submission"},
}
EVENT = {"column": "found", "blank": "not_detected"}
RECALL = {"kind": "recall", "detected": EVENT}
FAILURE = {"kind": "protective_failure", "person": "person", "found": EVENT}
PAIRED = {"kind": "paired_variants", "pair_on": "id", "baseline": "original", "detected": EVENT}
VERIFICATION = {
    "kind": "verification", "score": "score", "same": "person", "group": "sex", "direction": "similarity",
    "threshold": "at",
}  # fmt: skip
AGREEMENT = {"kind": "self_agreement", "passes": ["person", "again"]}
ESTIMATE = {
    "kind": "estimate",
    "weights": {"column": "w", "strata": "sex", "population": {"f": 900, "m": 900}},
}


def plan_of(
    plan: Mapping[str, Any],
    *criteria: Mapping[str, Any],
    rows: int | None = None,
    cluster: Sequence[str] = (),
    reads: int | None = None,
    composition: Mapping[str, Any] | None = None,
    columns: Mapping[str, Any] | None = None,
    **more: Any,
) -> Protocol:
    """Return a protocol with one analysis, of a table of so many planned rows."""
    own = {**plan, **more}
    weighted = own["kind"] == "estimate" or "weights" in own
    names = {name: each for name, each in COLUMNS.items() if weighted or name != "w"}
    pool = {
        "tables": ["t"],
        **({"planned": {"t": rows}} if rows is not None else {}),
        **({"composition": composition} if composition else {}),
        **({"max_reads": reads} if reads else {}),
    }
    name = "guarda" if reads else "teste"
    key = ["id", "variant"] if own["kind"] == "paired_variants" else ["id"]
    listed = [{"id": str(place), **each} for place, each in enumerate(criteria)]
    document = {
        **HEAD,
        "systems": {system: {"version": "1"} for system in ("a", "b")} if _compares(criteria) else {},
        "tables": {"t": {"key": key, "cluster": list(cluster), "columns": {**names, **(columns or {})}}},
        "pools": {name: pool},
        "thresholds": {"at": {"fixed": 0.5}},
        "analyses": {"x": {"pool": name, "table": "t", "criteria": listed, **own}},
    }  # fmt: skip
    return parse(json.dumps(document).encode())


def _compares(criteria: Sequence[Mapping[str, Any]]) -> bool:
    return any("systems" in each for each in criteria)


def needs(*args: Any, **more: Any) -> list[Need]:
    """Return the needs of the criteria of a plan."""
    return [each for each in requirements(plan_of(*args, **more)) if each.criterion is not None]


def reached(*args: Any, **more: Any) -> tuple[bool, bool]:
    (need,) = needs(*args, **more)
    return need.attainable.passes, need.attainable.fails


def square(level: float) -> float:
    """Return z^2 at a two-sided error rate."""
    return float(stats.norm.isf(level / 2) ** 2)


# --- shares ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("limit", "reads"), [(0.05, None), (0.03, 6), (0.2, None)])
def test_a_ceiling_by_wilson(limit: float, reads: int | None) -> None:
    """0 of n leave z^2/(n + z^2), at most T from n = z^2 (1 - T)/T on: 73 for .05; of a gate, at a sixth of .05."""
    level = 0.05 / (reads or 1)
    least = math.ceil(square(level) * (1 - limit) / limit)
    if limit == 0.05:
        assert least == 73
    ceiling = {"metric": "protective_failure", "max": limit}
    (need,) = needs(FAILURE, ceiling, reads=reads)
    assert need.minimum.to_pass == least
    assert need.more["level"] == pytest.approx(level)
    assert reached(FAILURE, ceiling, reads=reads, rows=least) == (True, True)
    assert reached(FAILURE, ceiling, reads=reads, rows=least - 1) == (False, True)


def test_a_ceiling_by_clopper_and_pearson() -> None:
    """1 - (.025)^(1/n) <= .05 from log(.025)/log(.95) on; one of one has the lower end .025, and two .158."""
    (need,) = needs(FAILURE, {"metric": "protective_failure", "max": 0.05}, interval="clopper_pearson")
    assert need.minimum.to_pass == math.ceil(math.log(0.025) / math.log(0.95)) == 72
    assert need.minimum.to_fail == 2


def test_the_worst_of_24_strata() -> None:
    """n of n have the lower end n/(n + z^2) at .05/24, .8 from n = 4 z^2 on; 50 rows have room for no such 24."""
    rule = {"metric": "recall", "by": ["sex", "age", "height"], "worst_group": {"min": 0.8}, "min_cell": 30}
    strata: dict[str, Any] = {"by": [["sex", "age", "height"]]}
    least = math.ceil(4 * square(0.05 / 24))
    (need,) = needs(RECALL, rule, **strata, rows=50)
    assert (need.groups, need.minimum.to_pass, need.minimum.to_fail) == (24, least, 30)
    assert need.too_few_planned
    (found,) = infeasible(plan_of(RECALL, rule, **strata, rows=50))
    assert (found.analysis, found.criterion, found.passes, found.fails) == ("x", "0", False, True)
    assert reached(RECALL, rule, **strata, rows=24 * least) == (True, True)
    assert reached(RECALL, rule, **strata, rows=24 * least - 1) == (False, True)
    few = {"composition": {"sex": {"f": 12 * least - 1, "m": 12 * least + 1}}}
    assert reached(RECALL, rule, **strata, rows=24 * least, **few) == (False, True)
    assert not infeasible(plan_of(RECALL, rule, **strata))


def test_a_gate_of_ten_images() -> None:
    ceiling = {"metric": "protective_failure", "max": 0.03}
    (found,) = infeasible(plan_of(FAILURE, ceiling, rows=10))
    assert (found.passes, found.fails) == (False, True)
    # Of the images planned those without a person are no cases: 73 of 100 are enough for .05, and 72 are not.
    for people, enough in ((73, True), (72, False)):
        holds = {"composition": {"person": {"1": people, "0": 100 - people}}}
        loose = {"metric": "protective_failure", "max": 0.05}
        assert reached(FAILURE, loose, rows=100, **holds) == (enough, True)


def test_clusters_ask_for_twenty() -> None:
    """z^2/(z^2 + n) is .5 at 4, and clusters give no interval below 20; two kinds of them never do."""
    floor = {"metric": "recall", "min": 0.5}
    assert needs(RECALL, floor)[0].minimum.to_pass == 4
    assert needs(RECALL, floor, cluster=["image"])[0].minimum.to_pass == 20
    assert reached(RECALL, floor, cluster=["image"], rows=19) == (False, False)
    assert reached(RECALL, floor, cluster=["image", "other"]) == (False, False)


def test_a_difference_between_strata() -> None:
    """Alike, its ends are -+(1 - .025^(1/m)): within .05 from m = 72 on; all against none, from 20 on."""
    ends = [{"age": "baby", "height": "large"}, {"age": "adult", "height": "large"}]
    rule = {"metric": "stratum_difference", "between": ends, "min": -0.05}
    (need,) = needs(RECALL, rule, rows=40)
    assert (need.minimum.to_pass, need.minimum.to_fail, need.more["if_equal"]) == (20, 20, 72)
    assert (need.more["most"], need.attainable) == (20, (True, True))
    assert reached(RECALL, rule, rows=39) == (False, False)
    babies = {"composition": {"age": {"baby": 19, "child": 81}}}
    assert reached(RECALL, rule, rows=100, **babies) == (False, False)
    # A lower end of .95 takes .025^(1/m) >= .95; and nothing is as far apart as 1.
    high = {**rule, "min": 0.95}
    assert needs(RECALL, high)[0].minimum.to_pass == math.ceil(math.log(0.025) / math.log(0.95))
    assert needs(RECALL, high)[0].more["if_equal"] is None
    assert reached(RECALL, {**rule, "min": 1}) == (False, True)
    assert reached(RECALL, {"metric": "stratum_difference", "between": ends, "max": 1}) == (True, False)


# --- pairs -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", [0.05, 0.0125, 1e-3])
@pytest.mark.parametrize("margin", [-0.5, -0.05, 0.3])
def test_pairs_for_a_margin(level: float, margin: float) -> None:
    """n pairs all discordant in favour have the lower end (n - z^2)/(n + z^2): z^2 (1 + L)/(1 - L) pairs."""
    least = paired_minimum(margin, level, "mcnemar_exact", clustered=False)
    assert least.to_pass == math.ceil(square(level) * (1 + margin) / (1 - margin))
    assert least.to_fail == math.floor(square(level) * (1 - margin) / (1 + margin)) + 1


@pytest.mark.parametrize("level", [0.5, 0.05, 1e-3])
def test_no_pairs_have_a_higher_lower_end(level: float) -> None:
    for pairs in (*range(1, 14), 29):
        b, c = (each.ravel() for each in np.meshgrid(np.arange(pairs + 1), np.arange(pairs + 1)))
        inside = b + c <= pairs
        best = float(tango(pairs, 0, pairs, level).low)
        assert best == pytest.approx((pairs - square(level)) / (pairs + square(level)), abs=1e-9)
        assert tango(b[inside], c[inside], pairs, level).low.max() <= best + 1e-12


def test_paired_variants() -> None:
    """A test at .05 needs 6 discordant pairs, a margin of .05 z^2 .95/.05 = 73 without any; of four rows two pairs."""
    zero, margin = {"metric": "difference", "min": 0}, {"metric": "difference", "min": -0.05}
    half = {"variant": "half"}
    (need,) = needs(PAIRED, {**zero, **half})
    assert (need.minimum.to_pass, need.minimum.to_fail, need.more["discordant"]) == (6, 6, 6)
    assert need.counted == "pairs"
    assert reached(PAIRED, {**zero, **half}, rows=12) == (True, True)
    assert reached(PAIRED, {**zero, **half}, rows=11) == (False, False)
    (need,) = needs(PAIRED, {**margin, **half}, rows=80)
    assert (need.minimum.to_pass, need.more["pairs"], need.more["most"]) == (4, 73, 40)
    assert reached(PAIRED, {**margin, **half}, rows=7) == (False, False)
    assert reached(PAIRED, {**margin, **half}, rows=9) == (True, False)  # z^2 1.05/.95 = 4.2
    one = {"composition": {"variant": {"original": 77, "half": 3}}}
    assert reached(PAIRED, {**margin, **half}, rows=80, **one) == (False, False)
    # Two systems on one variant have a pair a row.
    assert reached(PAIRED, {**zero, "systems": ["a", "b"]}, rows=6) == (True, True)
    assert reached(RECALL, {**zero, "systems": ["a", "b"]}, rows=5) == (False, False)
    assert reached(RECALL, {**zero, "systems": ["a", "b"]}, cluster=["image", "other"]) == (False, False)


def test_pairs_in_clusters() -> None:
    """Alike in every cluster: 1 - .025^(1/m) <= .05 from 72 clusters on; with 20 clusters of 21 pairs a lower end
    of .025^(1/20) = .8316, which 21 pairs by themselves do not have: (21 - z^2)/(21 + z^2) = .691."""
    (need,) = needs(PAIRED, {"metric": "difference", "variant": "half", "min": -0.05}, cluster=["image"])
    assert (need.more["clusters"], need.more["pairs"], need.more["if_equal"]) == (72, None, 72)
    assert paired_minimum(0.8, 0.05, "mcnemar_exact", clustered=True).to_pass == 21
    assert paired_minimum(0.8, 0.05, "mcnemar_exact", clustered=False).to_pass == math.ceil(9 * square(0.05))


# --- agreement, estimates ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("rows", "floor"), [(9, 0.299), (100, 0.037)])
def test_the_floor_that_perfect_agreement_leaves(rows: int, floor: float) -> None:
    """z^2/(n + z^2); three points take z^2 .97/.03 = 124.2 relabels."""
    (need,) = requirements(plan_of(AGREEMENT, rows=rows))
    assert need.criterion is None
    assert need.more["relabels"] == rows
    assert need.more["floor"] == pytest.approx(floor, abs=5e-4)
    assert need.more["for_points"] == {"difference": 0.03, "relabels": 125}
    assert infeasible(plan_of(AGREEMENT, rows=rows)) == ()


def test_a_bar_for_agreement() -> None:
    """n of n have the lower end n/(n + z^2): .9 from 9 z^2 = 34.6 on. Kappa never has an end at 1."""
    bar = {"metric": "raw_agreement", "min": 0.9}
    (need,) = needs(AGREEMENT, bar)
    assert (need.minimum.to_pass, need.counted) == (35, "relabels")
    assert reached(AGREEMENT, bar, rows=35) == (True, True)
    assert reached(AGREEMENT, bar, rows=34) == (False, True)
    assert reached(AGREEMENT, {"metric": "kappa", "min": 0.8}, rows=3) == (True, True)
    assert reached(AGREEMENT, {"metric": "kappa", "min": 1}, rows=300) == (False, True)


def test_estimates() -> None:
    """Of a mean of numbers nothing is known beforehand; of a share what Wilson's interval asks."""
    (need,) = needs(ESTIMATE, {"metric": "mean", "max": 5}, of="mean", value="value", rows=2)
    assert (need.minimum.to_pass, need.counted, need.infeasible) == (None, None, False)
    share = {"metric": "mean", "max": 0.05}
    assert reached(ESTIMATE, share, of="mean", value="person", rows=73) == (True, True)
    assert reached(ESTIMATE, share, of="mean", value="person", rows=72) == (False, True)
    assert reached(ESTIMATE, {"metric": "mean", "max": 5}, of="mean", value="person") == (True, False)


# --- verification ------------------------------------------------------------------------------------------


def ratio(form: str, most: float, **more: Any) -> dict[str, Any]:
    return {"metric": "false_match", "by": "sex", "max_group_ratio": {"form": form, "max": most}, **more}


FOUR = {"sex": {"type": "category", "values": ["f", "m", "x", "y"]}}


def test_what_a_ratio_asks() -> None:
    """All n of n in each: 1/(a/2)^(1/n) <= R at a = .05/4; a small rate's k events have Garwood's bounds."""
    (need,) = needs(VERIFICATION, ratio("max_min", 3), columns=FOUR)
    error = 0.05 / 4 / 2
    assert need.minimum.to_pass == math.ceil(math.log(error) / math.log(1 / 3)) == 5
    # x/(1 - x) > 3 where all in one group, and none in the others, are false matches: x > .75.
    assert need.minimum.to_fail == math.floor(math.log(error) / math.log(0.75)) + 1
    bounds = [stats.chi2.isf(error, 2 * k + 2) / stats.chi2.ppf(error, 2 * k) for k in range(1, 60)]
    assert need.more["events"] == 1 + next(place for place, each in enumerate(bounds) if each <= 3)
    assert reached(VERIFICATION, ratio("max_min", 3), columns=FOUR, rows=36) == (True, True)
    assert reached(VERIFICATION, ratio("max_min", 3), columns=FOUR, rows=18) == (True, False)
    # One group may have half as many, 3: 5 + 5 + 5 + 3.
    assert reached(VERIFICATION, ratio("max_min", 3), columns=FOUR, rows=17) == (False, False)
    assert reached(VERIFICATION, ratio("max_gm", 1), columns=FOUR) == (False, True)


@pytest.mark.parametrize("error", [0.25, 0.025, 0.00625, 1e-6])
def test_no_bounds_are_nearer_in_proportion(error: float) -> None:
    """Than those of nothing but events, of counts and of real numbers as effective sizes make them."""
    for cases in (*range(1, 60), 200, 1000):
        for size in (float(cases), cases - 0.37):
            events = size * np.linspace(1 / cases, 1, min(cases, 200))
            low, high = clopper_pearson(events, size, 2 * error)
            assert (high / low).min() >= error ** (-1 / size) * (1 - 1e-9)


def test_what_thresholds_ask() -> None:
    """Open unless (1 - t)^n <= .05/6/2, with six pairs of groups; a target of t is resolved from 1/t on."""
    rule = {"metric": "threshold_distance", "target": {"false_match": 0.01}, "max": 0.05}
    targets: dict[str, Any] = {"targets": {"false_match": [0.01, 0.003], "false_non_match": [0.07]}}
    protocol = plan_of(VERIFICATION, rule, columns=FOUR, **targets)
    distance, *rest = requirements(protocol)
    least = math.ceil(math.log(0.05 / 12) / math.log(0.99))
    assert (distance.minimum.to_pass, distance.minimum.to_fail) == (least, least)
    told = [
        (each.metric, each.more["at"], each.more["comparisons"], each.more["zero_events"]) for each in rest
    ]
    assert told == [("false_match", 0.01, 100, 300), ("false_match", 0.003, 334, 1000),
                    ("false_non_match", 0.07, 15, 43)]  # fmt: skip
    assert reached(VERIFICATION, rule, columns=FOUR, rows=4 * least) == (True, True)
    assert reached(VERIFICATION, rule, columns=FOUR, rows=4 * least - 1) == (False, True)
    assert reached(VERIFICATION, rule, columns=FOUR, rows=least - 1) == (False, False)


def test_a_rate_of_comparisons() -> None:
    """All of them by Wilson, each group by the exact bounds at alpha/G; half of 200 rows are impostors'."""
    whole = {"metric": "false_match", "max": 0.05}
    each = {"metric": "false_match", "by": "sex", "worst_group": {"max": 0.1}}
    assert needs(VERIFICATION, whole)[0].minimum.to_pass == 73
    least = math.ceil(math.log(0.0125) / math.log(0.9))
    assert needs(VERIFICATION, each)[0].minimum.to_pass == least
    half = {"composition": {"person": {"1": 128, "0": 72}}}
    assert reached(VERIFICATION, whole, rows=200, **half) == (False, True)
    assert reached(VERIFICATION, {**whole, "metric": "false_non_match"}, rows=200, **half) == (True, True)
    # Between 14 subjects there are 91 pairs: half of all between 20 are 95, from which on they are drawn again.
    dyads = {"cluster": ["image", "other"]}
    assert reached(VERIFICATION, {**whole, "max": 0.02}, rows=94, **dyads) == (False, True)
    assert reached(VERIFICATION, {**whole, "max": 0.02}, rows=95, **dyads) == (True, True)


# --- every outcome, through the engine ---------------------------------------------------------------------


def states(protocol: Protocol, outcomes: Iterator[list[dict[str, Any]]]) -> set[str]:
    """Return the states of the first criterion over outcomes, each a list of rows."""
    declared, found = protocol.tables["t"], set()
    names = list(declared.columns)
    for rows in outcomes:
        lines = [",".join(names)]
        for place, row in enumerate(rows):
            cells = {"id": f"c{place}", "image": f"i{place}", **row}
            lines.append(",".join(str(cells.get(name, "")) for name in names))
        raw = ("\n".join(lines) + "\n").encode()
        own = read_table(raw, declared, "t", Format.CSV, only="pool")
        table = join_submission(own, read_table(raw, declared, "t", Format.CSV, only="submission"))
        result = analyse("x", Given(protocol, {("", "t"): table}, thresholds={}), [""])
        found.add(str(result.criteria[0].state))
    return found


def shares(cases: int) -> Iterator[list[dict[str, Any]]]:
    """Give every way that so many cases fall into two groups, and are found or not."""
    for women in range(cases + 1):
        for here, there in product(range(women + 1), range(cases - women + 1)):
            yield [
                {"sex": sex, "person": 1, "found": int(place < found)}
                for sex, count, found in (("f", women, here), ("m", cases - women, there))
                for place in range(count)
            ]


@pytest.mark.parametrize("interval", ["wilson", "clopper_pearson"])
@pytest.mark.parametrize(
    "rule",
    [
        {"by": ["sex"], "worst_group": {"min": 0.6}}, {"by": ["sex"], "worst_group": {"max": 0.3}, "min_cell": 3},
        {"min": 0.9}, {"max": 0.2}, {"min": 0}, {"max": 0},
    ],
)  # fmt: skip
@pytest.mark.parametrize("cases", [2, 5])
def test_every_share(interval: str, rule: Mapping[str, Any], cases: int) -> None:
    """What is said to be out of reach is what no outcome comes to, and nothing else is."""
    plan = plan_of(
        RECALL, {"metric": "recall", **rule}, rows=cases, by=[["sex"]], interval=interval, confidence=0.5
    )
    seen = states(plan, shares(cases))
    (need,) = requirements(plan)
    assert need.attainable == ("PASS" in seen, "FAIL" in seen)


@pytest.mark.parametrize("rule", [{"min": 0}, {"min": -0.2}, {"max": 0.3}, {"min": 0.4}])
@pytest.mark.parametrize("pairs", [1, 2, 4])
def test_every_pair(rule: Mapping[str, Any], pairs: int) -> None:
    """What is said to be out of reach no outcome comes to; what is not may take a person, where most is missed."""
    plan = plan_of(
        PAIRED, {"metric": "difference", "variant": "half", **rule}, rows=2 * pairs, confidence=0.5
    )

    def outcomes() -> Iterator[list[dict[str, Any]]]:
        for made in product(range(pairs + 1), repeat=3):
            if sum(made) <= pairs:
                cells = [(1, 0)] * made[0] + [(0, 1)] * made[1] + [(1, 1)] * made[2]
                cells += [(0, 0)] * (pairs - sum(made))
                yield [
                    {"id": f"p{place}", "variant": variant, "found": value}
                    for place, both in enumerate(cells)
                    for variant, value in zip(("original", "half"), both, strict=True)
                ]

    seen = states(plan, outcomes())
    (need,) = requirements(plan)
    assert need.attainable.passes >= ("PASS" in seen)
    assert need.attainable.fails >= ("FAIL" in seen)
    if "MANUAL_REVIEW" not in seen:
        assert need.attainable == ("PASS" in seen, "FAIL" in seen)
    least = need.minimum
    assert ("PASS" in seen or "MANUAL_REVIEW" in seen) >= (
        least.to_pass is not None and least.to_pass <= pairs
    )


@pytest.mark.parametrize("form", ["max_min", "max_gm"])
@pytest.mark.parametrize("most", [1.5, 3.0])
@pytest.mark.parametrize("cases", [2, 4, 6])
def test_every_ratio(form: str, most: float, cases: int) -> None:
    """Impostors of two groups, beside as many genuine comparisons that match, so that no person is asked for."""
    plan = plan_of(
        VERIFICATION,
        ratio(form, most),
        confidence=0.5,
        rows=2 * cases,
        composition={"person": {"0": cases, "1": cases}},
    )
    seen = states(
        plan,
        (
            [
                *({"sex": row["sex"], "person": 0, "score": row["found"]} for row in rows),
                *({"sex": row["sex"], "person": 1, "score": 1} for row in rows),
            ]
            for rows in shares(cases)
        ),
    )
    (need,) = requirements(plan)
    assert need.attainable.passes >= ("PASS" in seen)
    assert need.attainable.fails == ("FAIL" in seen)
    assert "MANUAL_REVIEW" not in seen
