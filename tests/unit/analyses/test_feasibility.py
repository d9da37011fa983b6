"""What a plan could find: numbers that can be worked out by hand, and shares that can be summed exactly."""

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from lacre.analyses.attainable import minimum_cases
from lacre.analyses.feasibility import MOST_NEEDED, Needed, power, requirements
from lacre.analyses.verdict import Rule

Make = Callable[..., Any]


@pytest.mark.parametrize(("groups", "gap", "cases"), [(2, 0.05, 86), (6, 0.10, 53)])
def test_cases_that_zero_errors_need(groups: int, gap: float, cases: int) -> None:
    """The smallest n with 1 - (.05 / 2K)^(1/n) <= T, that is n >= log(.05 / 2K) / log(1 - T)."""
    assert cases == math.ceil(math.log(0.05 / (2 * groups)) / math.log(1 - gap))
    for form in ("max_group_gap", "worst_group_max"):
        assert minimum_cases(Rule(form, gap), groups, 0.05, 1).to_pass == cases
    assert minimum_cases(Rule("worst_group_min", 1 - gap), groups, 0.05, 1).to_pass == cases


def test_min_cell_is_needed_too() -> None:
    assert minimum_cases(Rule("max_group_gap", 0.05), 2, 0.05, 100).to_pass == 100


def test_rules_that_nothing_can_meet_or_break() -> None:
    """No interval of zero events reaches 0, no floor of 1 is met; no rate is above 1 or below 0."""
    assert minimum_cases(Rule("max_group_gap", 0.0), 2, 0.05, 1).to_pass is None
    assert minimum_cases(Rule("worst_group_max", 0.0), 2, 0.05, 1).to_pass is None
    assert minimum_cases(Rule("worst_group_min", 1.0), 2, 0.05, 1).to_pass is None
    assert minimum_cases(Rule("max_group_gap", 1.0), 2, 0.05, 1).to_fail is None
    assert minimum_cases(Rule("worst_group_max", 1.0), 2, 0.05, 1).to_fail is None
    assert minimum_cases(Rule("worst_group_min", 0.0), 2, 0.05, 1).to_fail is None


def test_cases_that_all_errors_need_to_fail() -> None:
    """Ceiling: (.0125)^(1/n) > T. Gap, all errors against none: 2 (.0125)^(1/n) - 1 > T."""
    at = math.log(0.0125)
    assert minimum_cases(Rule("worst_group_max", 0.5), 2, 0.05, 1).to_fail == math.ceil(at / math.log(0.5))
    assert minimum_cases(Rule("max_group_gap", 0.05), 2, 0.05, 1).to_fail == math.ceil(at / math.log(0.525))


def test_needs_of_a_protocol(gate: Make) -> None:
    protocol = gate(
        {"id": "fnr-by-sex", "metric": "false_negative", "by": ["sex"], "max_group_gap": 0.05},
        {"id": "fnr-crossed", "metric": "false_negative", "by": ["sex", "age"], "max_group_gap": 0.10},
        {"id": "never", "metric": "error", "by": ["sex"], "worst_group": {"max": 0}},
        min_cell=30,
    ).protocol
    found = requirements(protocol)
    assert [(each.analysis, each.criterion, each.groups) for each in found] == [
        ("parity", "fnr-by-sex", 2),
        ("parity", "fnr-crossed", 6),
        ("parity", "never", 2),
    ]
    # Known values: 86 cases of two groups at a gap of .05, 53 of six at .10; and no number meets a bar of 0.
    assert [each.minimum.to_pass for each in found] == [86, 53, None]
    assert found[2].minimum.to_fail == 30


def simulate(groups: int, cases: int, gap: float, seed: int = 20260902) -> tuple[float, float]:
    """Return P(PASS) at an equal true rate of 10 %, and four of its standard errors."""
    simulations = 20_000
    found = power(
        Rule("max_group_gap", gap), [cases] * groups, [0.10] * groups,
        alpha=0.05, min_cell=30, simulations=simulations, seed=seed,
    )  # fmt: skip
    share = found.passes
    return share, 4 * math.sqrt(max(share * (1 - share), 1 / simulations) / simulations)


@pytest.mark.parametrize(
    ("groups", "cases", "gap", "expected", "slack"),
    [
        (2, 770, 0.05, 0.04, 0.005),  # stated to the percent
        (6, 270, 0.10, 0.0, 0.005),
        (2, 1460, 0.05, 0.80, 0.02),  # stated as "about"
        (6, 670, 0.10, 0.80, 0.02),
    ],
)
def test_power_of_the_example(groups: int, cases: int, gap: float, expected: float, slack: float) -> None:
    share, error = simulate(groups, cases, gap)
    assert share == pytest.approx(expected, abs=slack + error)


def test_simulation_is_seeded() -> None:
    assert simulate(2, 770, 0.05) == simulate(2, 770, 0.05)
    assert simulate(2, 770, 0.05) != simulate(2, 770, 0.05, seed=1)


def test_unequal_rates_fail_and_small_cells_neither() -> None:
    rule = Rule("max_group_gap", 0.05)
    options: dict[str, Any] = {"alpha": 0.05, "min_cell": 30, "simulations": 200, "seed": 1}
    assert power(rule, [2000, 2000], [0.1, 0.5], **options).fails == 1
    small = power(rule, [2000, 29], [0.1, 0.5], **options)
    assert (small.passes, small.fails) == (0, 0)


def test_a_plan_is_simulated_at_its_own_numbers(gate: Make) -> None:
    """1,540 rows, half of label 1: 385 in each of two groups' FNR; at a true rate of 10 % nothing can be told.

    At a true rate of 10 % two groups of 770 pass a gap of .05 in 4 % of samples, as stated for typical samples;
    half as many cases pass less often. With 12,000 rows at .4 positive, 2,400 a group, a pass is nearly sure.
    """
    rule = {"id": "gap", "metric": "false_negative", "by": ["sex"], "max_group_gap": 0.05}
    assume = {"label": 0.5, "false_negative": 0.10}
    (sparse,) = requirements(planned(gate, rule, assume, 1_540))
    (fitting,) = requirements(planned(gate, rule, assume, 3_080))
    (ample,) = requirements(planned(gate, rule, {**assume, "label": 0.4}, 12_000))
    assert sparse.prospect is not None
    assert fitting.prospect is not None
    assert ample.prospect is not None
    assert sparse.prospect.passes < 0.01
    assert fitting.prospect.passes == pytest.approx(0.04, abs=0.01)
    assert ample.prospect.passes > 0.95
    assert sparse.prospect.fails < 0.01
    # The same plan gets the same answer, and a plan without rates or sizes gets none.
    assert requirements(planned(gate, rule, assume, 3_080)) == (fitting,)
    assert requirements(planned(gate, rule, {}, 3_080))[0].prospect is None
    assert requirements(planned(gate, rule, assume, None))[0].prospect is None


def planned(gate: Make, rule: Any, assume: Any, rows: int | None) -> Any:
    """Return the gate's protocol with rows planned and rates assumed."""
    pool = {"tables": ["cases"], **({} if rows is None else {"planned": {"cases": rows}})}
    more = {"assume": assume} if assume else {}
    return gate(rule, protocol={"pools": {"teste": pool}}, min_cell=30, **more).protocol


# --- against exact sums ------------------------------------------------------------------------------------


def upper(cases: int, error: float) -> Any:
    """Give Clopper and Pearson's upper bounds of 0 to `cases` events, as beta quantiles."""
    events = np.arange(cases)
    return np.append(stats.beta.isf(error / 2, events + 1, cases - events), 1.0)


def lower(cases: int, error: float) -> Any:
    return 1 - upper(cases, error)[::-1]


def exact_ceiling(cases: int, limit: float, rate: float) -> tuple[float, float]:
    """Return P(PASS) and P(FAIL) of a ceiling for one group at 95 %, summed over the binomial distribution."""
    probability = stats.binom.pmf(np.arange(cases + 1), cases, rate)
    passes, fails = upper(cases, 0.05) <= limit, lower(cases, 0.05) > limit
    return float(probability[passes].sum()), float(probability[fails].sum())


def exact_gap(cases: int, limit: float, rate: float) -> float:
    """Return P(PASS) of a gap between two groups at 95 %, summed over both binomial distributions."""
    probability = stats.binom.pmf(np.arange(cases + 1), cases, rate)
    low, high = lower(cases, 0.025), upper(cases, 0.025)
    passes = (high[:, None] - low[None, :] <= limit) & (high[None, :] - low[:, None] <= limit)
    return float((np.outer(probability, probability) * passes).sum())


@pytest.mark.parametrize("cases", [40, 150, 400, 1000])
@pytest.mark.parametrize("rate", [0.0, 0.05, 0.08, 0.12, 0.2])
def test_one_group_against_the_binomial_distribution(cases: int, rate: float) -> None:
    simulations = 10_000
    found = power(
        Rule("worst_group_max", 0.1), [cases], [rate],
        alpha=0.05, min_cell=1, simulations=simulations, seed=1,
    )  # fmt: skip
    for share, expected in zip((found.passes, found.fails), exact_ceiling(cases, 0.1, rate), strict=True):
        assert share == pytest.approx(
            expected, abs=4 * math.sqrt(expected * (1 - expected) / simulations) + 1e-9
        )
    assert found.passes_error == pytest.approx(math.sqrt(found.passes * (1 - found.passes) / simulations))
    assert found.fails_error == pytest.approx(math.sqrt(found.fails * (1 - found.fails) / simulations))


def assumed(gate: Make, rule: Any, assume: Any, **pool: Any) -> Any:
    plan = {"confidence": 0.95, "min_cell": 5, "assume": assume}
    columns = {"one": {"type": "category", "values": ["all"]}}
    pools = {"teste": {"tables": ["cases"], **pool}}
    made = gate(
        {"id": "r", **rule},
        columns=columns,
        attributes=["one", "sex", "age"],
        protocol={"pools": pools},
        **plan,
    )
    (need,) = requirements(made.protocol)
    return need


@pytest.mark.parametrize(("limit", "rate"), [(0.1, 0.05), (0.15, 0.1), (0.3, 0.2), (0.5, 0.4)])
def test_the_size_for_80_percent_against_a_scan_of_exact_powers(
    gate: Make, limit: float, rate: float
) -> None:
    """Of all sizes it is one at which the exact power crosses .8, in steps: enough, and one case less is not.

    The simulation's standard error at .8 is .004.
    """
    rule = {"metric": "error", "by": "one", "worst_group": {"max": limit}}
    needed = assumed(gate, rule, {"error": rate}).needed
    powers = {cases: exact_ceiling(cases, limit, rate)[0] for cases in range(5, 2 * needed.smallest)}
    first = min(cases for cases, each in powers.items() if each >= 0.8)
    last = max(cases for cases, each in powers.items() if each < 0.8)
    assert 0.97 * first <= needed.smallest <= 1.03 * (last + 1)
    assert powers[needed.smallest] >= 0.8 - 0.012
    assert powers[needed.smallest - 1] < 0.8 + 0.012
    assert needed.rows == needed.smallest


def test_the_size_for_80_percent_of_a_gap(gate: Make) -> None:
    """Both binomial distributions summed: .8 at the size found, which is in two groups of equal size."""
    rule = {"metric": "false_negative", "by": "sex", "max_group_gap": 0.1}
    need = assumed(gate, rule, {"label": 0.3, "false_negative": 0.1})
    assert exact_gap(need.needed.smallest, 0.1, 0.1) == pytest.approx(0.8, abs=0.015)
    # 0.3 of the rows are in the denominator, and one more case of all may be what it took.
    assert need.needed.rows == pytest.approx(2 * need.needed.smallest / 0.3, abs=4)
    assert need.prospect is None
    # Without a share of positive labels the cases are known, and the rows are not.
    unlabelled = assumed(gate, rule, {"false_negative": 0.1}).needed
    assert unlabelled == Needed(None, need.needed.smallest)


def test_what_is_planned_at_that_size_passes_in_80_percent(gate: Make) -> None:
    rule = {"metric": "error", "by": ["sex", "age"], "max_group_gap": 0.2}
    composition = {"sex": {"female": 300, "male": 100}}
    size = assumed(gate, rule, {"error": 0.1}, composition=composition).needed
    assert size.smallest == pytest.approx(size.rows / 12, abs=1)
    counts = {"sex": {"female": size.rows * 3 // 4, "male": size.rows - size.rows * 3 // 4}}
    planned = assumed(gate, rule, {"error": 0.1}, planned={"cases": size.rows}, composition=counts)
    assert planned.prospect.passes == pytest.approx(0.8, abs=0.02)


@pytest.mark.parametrize(
    ("rule", "assume"),
    [
        ({"worst_group": {"max": 0.1}}, {"error": 0.11}),  # on the wrong side
        (
            {"worst_group": {"max": 0.1}},
            {"error": 0.1},
        ),  # on the line: 5 % of samples fail, and 95 % say nothing
        ({"worst_group": {"min": 0.1}}, {"error": 0.09}),
        ({"max_group_gap": 0}, {"error": 0.1}),
    ],
)
def test_no_size_is_enough(gate: Make, rule: Any, assume: Any) -> None:
    before = time.process_time()
    assert assumed(gate, {"metric": "error", "by": "sex", **rule}, assume).needed == Needed(None, None)
    assert time.process_time() - before < 10


def test_a_group_without_cases_needs_no_size(gate: Make) -> None:
    rule = {"metric": "error", "by": "sex", "max_group_gap": 0.2}
    none = {"sex": {"female": 10, "male": 0}}
    need = assumed(gate, rule, {"error": 0.1}, planned={"cases": 10}, composition=none)
    assert need.needed == Needed(None, None)
    assert need.prospect.passes == 0
    # A composition that names one value leaves the others what remains of the rows.
    part = assumed(
        gate, rule, {"error": 0.1}, planned={"cases": 10_000}, composition={"sex": {"female": 5_000}}
    )
    assert part.prospect == assumed(gate, rule, {"error": 0.1}, planned={"cases": 10_000}).prospect
    nobody = assumed(gate, {**rule, "metric": "false_negative"}, {"label": 0, "false_negative": 0.1})
    assert nobody.needed == Needed(None, None)


def test_clusters_are_not_simulated(gate: Make) -> None:
    """Their sizes are not planned, and independent cases would promise too much."""
    rule = {"id": "r", "metric": "error", "by": "sex", "worst_group": {"max": 0.2}}
    pools = {"pools": {"teste": {"tables": ["cases"], "planned": {"cases": 5000}}}}
    for table in ({"cluster": "site"}, {"cluster": ["site", "person"]}):
        (need,) = requirements(gate(rule, table=table, protocol=pools, assume={"error": 0.1}).protocol)
        assert (need.prospect, need.needed) == (None, None)


def test_a_large_plan_is_simulated_in_a_moment(gate: Make) -> None:
    """Counts of events beyond what can be told apart stand for their neighbours: P(PASS) is sure on either side."""
    rule = {"metric": "error", "by": "sex", "worst_group": {"max": 0.2}}
    large = {"planned": {"cases": 9 * 10**15}}
    before = time.process_time()
    assert assumed(gate, rule, {"error": 0.1999}, **large).prospect.passes == 1
    assert assumed(gate, rule, {"error": 0.2001}, **large).prospect.fails == 1
    assert time.process_time() - before < 10


def test_many_groups_get_fewer_simulations() -> None:
    cases, rates = [500] * 9_000, [0.0] * 9_000
    found = power(
        Rule("max_group_gap", 0.05), cases, rates, alpha=0.05, min_cell=30, simulations=1000, seed=1
    )
    assert found.passes == 1  # 1 - (.05 / 18000)^(1/500) = .025


def test_progress_goes_up_to_the_end(gate: Make) -> None:
    rules = [{"id": f"r{n}", "metric": "error", "by": "sex", "max_group_gap": 0.1 * n} for n in (1, 2, 3)]
    seen: list[tuple[str, int, int | None]] = []
    requirements(gate(*rules, assume={"error": 0.1}).protocol, lambda *said: seen.append(said))
    done = [each for _, each, _ in seen]
    assert len(done) > 20
    assert done == sorted(done)
    assert {label for label, _, _ in seen} == {"simulating"}
    assert {total for _, _, total in seen} == {done[-1]}
    assert MOST_NEEDED < 2**24, (
        "the doublings and halvings of a search are within the steps that progress counts"
    )
