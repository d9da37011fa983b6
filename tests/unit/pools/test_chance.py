"""What chance gives: the formulas against exact counts."""

from fractions import Fraction
from itertools import combinations
from math import comb

import pytest
from scipy import stats

from lacre.pools import chance


@pytest.mark.parametrize(("a", "b"), [(1, 1), (2, 2), (3, 2), (1, 6), (4, 4)])
def test_the_crossing_probability_is_that_of_all_splits(a: int, b: int) -> None:
    """Over all ways to choose the a rows of the first pool: is row 0 on another side than row 1?"""
    splits = [set(chosen) for chosen in combinations(range(a + b), a)]
    crossing = sum((0 in split) != (1 in split) for split in splits)
    assert chance.crossing_probability(a, b) == pytest.approx(crossing / len(splits))


def test_pools_without_rows_cross_nothing() -> None:
    assert chance.crossing_probability(0, 0) == 0.0
    assert chance.crossing_probability(1, 0) == 0.0
    assert not chance.contents_beyond_chance(0, 0, 0, 0)
    assert not chance.rows_beyond_chance(0, 0, 0.0, 0)


@pytest.mark.parametrize(("k", "n", "p"), [(0, 5, 0.5), (1, 1, 0.25), (3, 7, 0.5), (7, 7, 0.5), (2, 9, 1.0)])
def test_the_tail_is_the_sum_of_its_terms(k: int, n: int, p: float) -> None:
    exact = Fraction(p)
    tail = sum(comb(n, i) * exact**i * (1 - exact) ** (n - i) for i in range(k, n + 1))
    assert chance.binomial_tail(k, n, p) == pytest.approx(float(tail))


def test_alpha_is_the_tail_beyond_four_deviations() -> None:
    assert pytest.approx(stats.norm.sf(4.0), rel=0.02) == chance.ALPHA


def test_fifteen_contents_in_common_are_evidence_and_fourteen_are_none() -> None:
    """In large equal pools without repetitions p is 1/2: 2^-14 = 6.1e-5, 2^-15 = 3.1e-5, ALPHA between."""
    assert not chance.contents_beyond_chance(14, 0, 100_000, 100_000)
    assert chance.contents_beyond_chance(15, 0, 100_000, 100_000)
    assert not chance.contents_beyond_chance(15, 15, 100_000, 100_000)


def test_in_a_large_pool_a_small_one_is_found_by_few() -> None:
    """p = 2 * 10 * 10000 / (10010 * 10009) = 0.002: two alike have probability 4e-6, one has 0.002."""
    assert not chance.contents_beyond_chance(1, 0, 10, 10_000)
    assert chance.contents_beyond_chance(2, 0, 10, 10_000)


def test_a_passage_is_evidence_unless_passages_repeat() -> None:
    """With one repeated passage in equal pools E is about 1, and the bound 1 + 4 sqrt(1 (1 + 1)) = 6.7."""
    assert not chance.passages_beyond_chance(0, 0, 50, 50)
    assert chance.passages_beyond_chance(1, 0, 50, 50)
    assert not chance.passages_beyond_chance(6, 1, 5000, 5000)
    assert chance.passages_beyond_chance(7, 1, 5000, 5000)
    assert not chance.passages_beyond_chance(1, 1, 1, 1)


def test_rows_with_the_same_id_need_more_than_chance_and_order_give() -> None:
    """Of 100 shared ids at a collision of 1/6 chance gives 17 on average, and 40 is six deviations beyond.

    With S = 60, order alone gives 30, and 30 + 4 sqrt(45) = 56.8.
    """
    assert not chance.rows_beyond_chance(17, 100, 1 / 6, 34)
    assert chance.rows_beyond_chance(56, 100, 1 / 6, 34)
    assert not chance.rows_beyond_chance(56, 100, 1 / 6, 60)
    assert chance.rows_beyond_chance(57, 100, 1 / 6, 60)
    assert not chance.rows_beyond_chance(100, 100, 1.0, 0)
