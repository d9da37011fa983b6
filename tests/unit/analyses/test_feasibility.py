"""What a plan could find: numbers that can be worked out by hand, and shares that can be summed exactly."""

import math
from collections.abc import Callable
from typing import Any

import pytest

from lacre.analyses.feasibility import minimum_cases, power, requirements
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
