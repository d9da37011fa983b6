"""What every interval of a proportion keeps to, whatever the counts."""

from collections.abc import Callable

import numpy.typing as npt
import pytest
from hypothesis import given, strategies as st

from lacre.stats.proportions import Interval, clopper_pearson, wilson

Method = Callable[[npt.ArrayLike, npt.ArrayLike, float], Interval]
COUNTS = st.integers(1, 10**9).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
ALPHA = st.floats(1e-6, 0.5)


def ends(interval: Interval) -> tuple[float, float]:
    return float(interval.low), float(interval.high)


@pytest.mark.parametrize("method", [wilson, clopper_pearson])
@given(counts=COUNTS, alpha=ALPHA)
def test_an_interval_holds_its_estimate_and_stays_inside(
    method: Method, counts: tuple[int, int], alpha: float
) -> None:
    k, n = counts
    low, high = ends(method(k, n, alpha))
    assert 0 <= low <= k / n <= high <= 1
    assert low < high
    assert (low == 0) == (k == 0)
    assert (high == 1) == (k == n)


@pytest.mark.parametrize("method", [wilson, clopper_pearson])
@given(counts=COUNTS, alpha=ALPHA)
def test_non_events_have_the_mirrored_interval(method: Method, counts: tuple[int, int], alpha: float) -> None:
    k, n = counts
    low, high = ends(method(k, n, alpha))
    mirrored = ends(method(n - k, n, alpha))
    assert (low, high) == pytest.approx((1 - mirrored[1], 1 - mirrored[0]), abs=1e-9)


@pytest.mark.parametrize("method", [wilson, clopper_pearson])
@given(counts=COUNTS, alpha=ALPHA)
def test_less_error_is_a_wider_interval(method: Method, counts: tuple[int, int], alpha: float) -> None:
    k, n = counts
    low, high = ends(method(k, n, alpha))
    wider = ends(method(k, n, alpha / 10))
    assert wider[0] <= low * (1 + 1e-7)
    assert high <= wider[1] * (1 + 1e-7)
