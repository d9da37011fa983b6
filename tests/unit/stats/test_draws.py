"""Draws anybody can repeat: against SHA-256 written out again, and against what simple random drawing means."""

import hashlib
import struct
from collections import Counter
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from lacre.stats.draws import RELABEL, Key, Short, digest, share, stratified

KEYS: list[Key] = [("face", f"{row:02}") for row in range(19)]
STRATA = [0] * 7 + [1] * 12
NAMES = ("acima", "abaixo")
SIZES = (3, 5)


def by_hand(tag: bytes, seed: int, stratum: str, key: tuple[str, ...]) -> bytes:
    fields = [tag, b"%d" % seed, stratum.encode(), *(part.encode() for part in key)]
    return hashlib.sha256(b"".join(struct.pack(">Q", len(each)) + each for each in fields)).digest()


def test_the_digest_is_that_of_sha256sum() -> None:
    r"""From coreutils, with every length written out.

    printf '\0\0\0\0\0\0\0\rlacre-draw-v1\0\0\0\0\0\0\0\01020260902\0\0\0\0\0\0\0\05acima' and
    '\0\0\0\0\0\0\0\07face-01\0\0\0\0\0\0\0\02\303\251', piped into sha256sum.
    """
    expected = "ba26bbcd6b1d5113518277b034c110a67239cf8fcdbc13a566b67ee4764b040a"
    assert digest(20260902, "acima", ("face-01", "é")).hex() == expected


def test_the_smallest_digests_of_each_stratum_are_drawn_in_their_order() -> None:
    found = stratified(KEYS, STRATA, NAMES, SIZES, 20260902)
    expected: list[int] = []
    for code, (name, size) in enumerate(zip(NAMES, SIZES, strict=True)):
        rows = [row for row in range(19) if STRATA[row] == code]
        rows.sort(key=lambda row: by_hand(b"lacre-draw-v1", 20260902, name, tuple(KEYS[row])))
        expected += rows[:size]
    assert found.drawn.tolist() == expected
    assert found.population.tolist() == [7, 12]
    assert found.size.tolist() == [3, 5]
    assert found.probability.tolist() == [3 / 7, 5 / 12]
    assert (found.short, found.doubled, found.outside) == ((), 0, 0)


def test_neither_the_rows_order_nor_the_stratas_changes_the_draw() -> None:
    drawn = {KEYS[row] for row in stratified(KEYS, STRATA, NAMES, SIZES, 4).drawn}
    order = np.random.default_rng(0).permutation(19)
    keys, strata = [KEYS[row] for row in order], 1 - np.array(STRATA)[order]
    found = stratified(keys, strata, NAMES[::-1], SIZES[::-1], 4)
    assert {keys[row] for row in found.drawn} == drawn
    assert {KEYS[row] for row in stratified(KEYS, STRATA, NAMES, SIZES, 5).drawn} != drawn


def test_no_two_inputs_are_the_same_bytes() -> None:
    """One text moved over any border between fields is another digest; one part alone is the text itself."""
    inputs: list[tuple[int, str, Key]] = [
        (1, "1a", ("b", "c")),
        (11, "a", ("b", "c")),
        (1, "1", ("ab", "c")),
        (1, "1a", ("bc",)),
        (1, "1a", ("b", "c", "")),
        (1, "1a", ("", "b", "c")),
    ]
    digests = {digest(*each) for each in inputs}
    assert len(digests) == len(inputs)
    assert digest(1, "1a", "bc") == digest(1, "1a", ("bc",))
    assert digest(1, "1a", "bc", RELABEL) not in digests


def test_over_seeds_it_is_simple_random_drawing() -> None:
    """4,000 seeds: each unit and each pair as often as n/N and n(n-1)/N(N-1) say, within 4.5 deviations.

    Of some 190 frequencies one lies beyond by chance with a probability of .0013, and the seeds are fixed.
    """
    units: Counter[int] = Counter()
    pairs: Counter[tuple[int, int]] = Counter()
    for seed in range(4000):
        drawn = sorted(stratified(KEYS, STRATA, NAMES, SIZES, seed).drawn.tolist())
        units.update(drawn)
        pairs.update(combinations(drawn, 2))
    size, population = [SIZES[code] for code in STRATA], [(7, 12)[code] for code in STRATA]
    for i in range(19):
        p = size[i] / population[i]
        assert abs(units[i] - 4000 * p) < 4.5 * (4000 * p * (1 - p)) ** 0.5
        for j in range(i + 1, 19):
            both = p * (size[i] - 1) / (population[i] - 1) if STRATA[i] == STRATA[j] else 3 / 7 * 5 / 12
            assert abs(pairs[i, j] - 4000 * both) < 4.5 * (4000 * both * (1 - both)) ** 0.5


def test_what_cannot_be_drawn_is_told_and_nothing_is_drawn() -> None:
    short = stratified(KEYS, STRATA, NAMES, (3, 13), 1)
    assert short.short == (Short(stratum=1, population=12, size=13),)
    assert len(short.drawn) == 0
    doubled = stratified([*KEYS[:18], KEYS[0]], STRATA, NAMES, SIZES, 1)
    assert (doubled.doubled, len(doubled.drawn)) == (1, 0)
    empty = stratified(KEYS, [0] * 19, NAMES, (19, 0), 1)
    assert sorted(empty.drawn) == list(range(19))
    assert np.isnan(empty.probability[1])


def test_rows_of_no_stratum_are_counted_and_not_drawn() -> None:
    found = stratified(KEYS, [-1, 2, *STRATA[2:]], NAMES, (5, 12), 1)
    assert found.outside == 2
    assert sorted(found.drawn) == list(range(2, 19))
    assert found.population.tolist() == [5, 12]


@pytest.mark.parametrize(
    ("fraction", "rows", "size"),
    [(0.07, 100, 7), (0.1, 41, 5), (Fraction(1, 3), 3, 1), (0.1, 1, 1), (1, 7, 7), (0.1, 0, 0)],
)
def test_a_share_is_rounded_up_in_decimals(fraction: float | Fraction, rows: int, size: int) -> None:
    """.07 x 100 is 7, though in binary it is 7.000000000000001 and would be 8."""
    keys = [str(row) for row in range(rows)]
    found = share(keys, fraction, 9)
    expected = sorted(range(rows), key=lambda row: by_hand(b"lacre-relabel-v1", 9, "", (keys[row],)))
    assert (found.size, found.population) == (size, rows)
    assert found.drawn.tolist() == expected[:size]


def test_a_share_of_doubled_keys_is_none() -> None:
    found = share(["a", "b", "a", "a"], 0.5, 9)
    assert (found.doubled, found.size, len(found.drawn)) == (2, 2, 0)
