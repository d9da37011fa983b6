"""Intervals of proportions against published values and against their own definitions in exact decimals."""

from collections.abc import Callable
from decimal import Decimal, localcontext
from math import comb

import numpy as np
import numpy.typing as npt
import pytest

from lacre.stats.proportions import Interval, clopper_pearson, rule_of_three, wilson

Method = Callable[[npt.ArrayLike, npt.ArrayLike, float], Interval]

# k, n, Wilson, Clopper-Pearson: values recomputed independently of lacre for the project's statistics page.
KNOWN = [
    (81, 263, (0.255289, 0.366210), (0.252737, 0.367622)),
    (0, 20, (0.0, 0.161125), (0.0, 0.168433)),
    (1, 29, (0.006113, 0.171755), (0.000873, 0.177644)),
    (0, 119, (0.0, 0.031272), (0.0, 0.030523)),
]


@pytest.mark.parametrize(("k", "n", "expected", "exact"), KNOWN)
def test_known_intervals(k: int, n: int, expected: tuple[float, float], exact: tuple[float, float]) -> None:
    assert wilson(k, n, 0.05) == pytest.approx(expected, abs=5e-7)
    assert clopper_pearson(k, n, 0.05) == pytest.approx(exact, abs=5e-7)


def test_wilson_36_of_40() -> None:
    assert wilson(36, 40, 0.05) == pytest.approx((0.769482, 0.960420), abs=5e-7)


def test_self_agreement_wilson() -> None:
    """85/100: .767164-.906940; floors 1 - low of 170/200, 425/500, 98/100, 9/9, 100/100, worked out apart."""
    assert wilson(85, 100, 0.05) == pytest.approx((0.767164, 0.906940), abs=5e-7)
    low = wilson([170, 425, 98, 9, 100], [200, 500, 100, 9, 100], 0.05).low
    assert 1 - low == pytest.approx([0.2061, 0.1840, 0.0700, 0.299, 0.037], abs=5e-4)


def test_wilson_of_zero_in_60_is_not_below_a_ceiling_of_five_percent() -> None:
    """Wilson at 0/60 is z^2/(60 + z^2) = .060, while 3/60 is .05: the interval decides, not the bound."""
    assert wilson(0, 60, 0.05).high == pytest.approx(3.841459 / 63.841459, abs=1e-7)
    assert rule_of_three(60).rule_of_three == 0.05


@pytest.mark.parametrize(
    ("n", "three", "exact"),
    [(119, 0.025210, 0.024860), (14, 0.21429, 0.19264), (842, 0.003563, 0.003552)],
)
def test_rule_of_three(n: int, three: float, exact: float) -> None:
    bound = rule_of_three(n)
    assert bound.rule_of_three == pytest.approx(three, abs=5e-6)
    assert bound.exact == pytest.approx(exact, abs=5e-6)


def test_rule_of_three_is_a_probability_and_undefined_without_cases() -> None:
    bound = rule_of_three([0, 1, 2])
    assert np.isnan(bound.rule_of_three[0])
    assert np.isnan(bound.exact[0])
    assert bound.rule_of_three[1:].tolist() == [1.0, 1.0]
    assert bound.exact[1:] == pytest.approx([0.95, 1 - 0.05**0.5])


@pytest.mark.parametrize("interval", [wilson, clopper_pearson])
def test_ends_are_exact_and_inside(interval: Method) -> None:
    """No upper end of 1.0000000000000002, no [0, 0] for zero events, at any size."""
    n = np.unique(np.geomspace(1, 1e9, 200).astype(np.int64))
    for alpha in (0.05, 0.05 / 700):
        nothing = interval(np.zeros_like(n), n, alpha)
        everything = interval(n, n, alpha)
        assert (nothing.low == 0).all()
        assert (nothing.high > 0).all()
        assert (nothing.high < 1).all()
        assert (everything.high == 1).all()
        assert (everything.low < 1).all()
        some = interval(n // 2, n, alpha)
        assert ((some.low >= 0) & (some.low <= n // 2 / n)).all()
        assert ((some.high >= n // 2 / n) & (some.high <= 1)).all()


@pytest.mark.parametrize("interval", [wilson, clopper_pearson])
def test_outside_the_domain_there_is_no_interval(interval: Method) -> None:
    found = interval([0, -1, 3], [0, 5, 2], 0.05)
    assert np.isnan(found.low).all()
    assert np.isnan(found.high).all()


def _tail(k: int, n: int, p: Decimal) -> Decimal:
    """P(X <= k) of Binomial(n, p), summed term by term."""
    return sum((comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(k + 1)), Decimal(0))


@pytest.mark.parametrize("groups", [1, 400])
@pytest.mark.parametrize(("k", "n"), [(1, 10**9), (3, 10**9), (12, 10**9), (2, 30), (7, 1000)])
def test_clopper_pearson_is_exact_in_the_tails(k: int, n: int, groups: int) -> None:
    """At each end the binomial tail is alpha/2: checked in 80 decimal digits, to seven digits of the tail."""
    alpha = 0.05 / groups
    low, high = (float(end) for end in clopper_pearson(k, n, alpha))
    with localcontext() as context:
        context.prec = 80
        above = 1 - _tail(k - 1, n, Decimal(low))
        below = _tail(k, n, Decimal(high))
    assert float(above) == pytest.approx(alpha / 2, rel=1e-7)
    assert float(below) == pytest.approx(alpha / 2, rel=1e-7)


def test_wilson_solves_its_equation_at_a_billion() -> None:
    """An end p satisfies (k - n p)^2 = z^2 n p (1 - p); z of 1 - .025 is 1.959963984540054 (tables)."""
    k, n, z = 5, 10**9, Decimal("1.959963984540054")
    for end in wilson(k, n, 0.05):
        p = Decimal(float(end))
        assert float((k - n * p) ** 2 / (z * z * n * p * (1 - p))) == pytest.approx(1, rel=1e-9)
