"""Exposure by simulation: unrelated pools raise no alarm, copies are found, whatever the columns tell."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.typing import NDArray

from lacre.pools import chance
from lacre.pools.exposure import fingerprint, shared_between, shared_within_study
from lacre.pools.prints import Prints
from lacre.protocol.document import parse
from lacre.tables.columns import Codes, Numbers, TypedTable

PROTOCOL = parse(b"""
lacre: 1
study: alvo
title: People by race, sex and age
question: Are these the same people?
language: en
data: {identifiable: false, prior_exposure: none}
tables:
  cases:
    key: case_id
    columns:
      case_id: {type: text}
      label:   {type: outcome, positive: "1", negative: "0"}
      guess:   {type: outcome, positive: "1", negative: "0", from: submission}
      race:    {type: category, values: [a, b, c], is: input}
      sex:     {type: category, values: [female, male], is: input}
      age:     {type: number, is: input}
pools: {teste: {tables: [cases]}}
analyses:
  p: {kind: group_fairness, pool: teste, table: cases, label: label, prediction: guess, attributes: [sex],
      criteria: [{id: gap, metric: error, by: [sex], max_group_gap: 0.1}]}
""")
KEY = bytes(range(32))
Random = np.random.Generator


@dataclass(frozen=True)
class People:
    """A file of people, in its order."""

    ids: Sequence[str]
    race: NDArray[np.int32]
    sex: NDArray[np.int32]
    age: NDArray[np.float64]

    def rows(self, chosen: NDArray[np.intp]) -> "People":
        ids = [self.ids[row] for row in chosen]
        return People(ids, self.race[chosen], self.sex[chosen], self.age[chosen])

    def numbered(self, prefix: str = "") -> "People":
        return replace(self, ids=[f"{prefix}{number}" for number in range(1, len(self.ids) + 1)])

    def then(self, other: "People") -> "People":
        return People(
            [*self.ids, *other.ids],
            np.concatenate([self.race, other.race]),
            np.concatenate([self.sex, other.sex]),
            np.concatenate([self.age, other.age]),
        )

    def prints(self, study: str) -> Prints:
        keys = np.array(self.ids, dtype=np.object_)
        columns = {
            "race": Codes(self.race.copy(), ("a", "b", "c")),
            "sex": Codes(self.sex.copy(), ("female", "male")),
            "age": Numbers(self.age.copy()),
        }
        tables = {"cases": TypedTable("cases", len(keys), columns, keys)}
        return fingerprint(tables, PROTOCOL, study=study, genesis="a" * 64, key=KEY)


def _people(rng: Random, count: int, ages: int) -> People:
    race = rng.choice(3, count, p=[0.6, 0.3, 0.1]).astype(np.int32)
    sex = rng.integers(0, 2, count).astype(np.int32)
    # People of a race are of an age: columns tell less together than they would if independent.
    age = np.floor(rng.triangular(0, ages * (0.2 + 0.3 * race), ages)).astype(np.float64)
    return (
        People([], race, sex, age).numbered()
        if not count
        else People([""] * count, race, sex, age).numbered()
    )


def _as_drawn(people: People) -> People:
    return people


def _by_race_and_sex(people: People) -> People:
    return people.rows(np.lexsort((people.sex, people.race))).numbered()


def _by_everything(people: People) -> People:
    return people.rows(np.lexsort((people.age, people.sex, people.race))).numbered()


def _between(a: People, b: People) -> int:
    return shared_between(a.prints("um"), b.prints("outro"))


SIZES = [(8, 8), (60, 60), (60, 900), (900, 900)]


@pytest.mark.parametrize("order", [_as_drawn, _by_race_and_sex, _by_everything])
@pytest.mark.parametrize("ages", [1, 3, 30, 900, 30_000])
def test_unrelated_people_raise_no_alarm(order: Callable[[People], People], ages: int) -> None:
    """Race x sex x age from a handful of cells to nearly unique; ids from 1 in both; sorted or not."""
    rng = np.random.default_rng(ages)
    for a, b in SIZES:
        for _repeat in range(8):
            assert _between(order(_people(rng, a, ages)), order(_people(rng, b, ages))) == 0


@pytest.mark.parametrize("ages", [3, 30, 900])
def test_the_content_test_keeps_its_level(monkeypatch: pytest.MonkeyPatch, ages: int) -> None:
    """At a level of one in twenty, in 300 pairs of unrelated pools, 15 alarms are expected and 30 would be
    four deviations more; what is discrete stays below."""
    monkeypatch.setattr(chance, "ALPHA", 0.05)
    monkeypatch.setattr(chance, "rows_beyond_chance", lambda *_counts: False)
    rng = np.random.default_rng(20260902)
    alarms = 0
    for _repeat in range(300):
        a, b = _people(rng, 60, ages).numbered("a"), _people(rng, 90, ages).numbered("b")
        alarms += _between(a, b) > 0
    assert alarms <= 30


@pytest.mark.parametrize("ages", [3, 30, 30_000])
@pytest.mark.parametrize("copied", [0.3, 1.0])
def test_copies_under_their_ids_are_found(ages: int, copied: float) -> None:
    """Content may repeat: the id and the content together tell."""
    rng = np.random.default_rng(7)
    for size in (60, 600):
        kept = int(copied * size)
        a = _people(rng, size, ages)
        b = a.rows(rng.permutation(size)[:kept]).then(_people(rng, size - kept, ages).numbered("new"))
        found = _between(a, b)
        assert kept <= found <= kept + 0.1 * size


@pytest.mark.parametrize("copied", [0.3, 1.0])
def test_copies_under_other_ids_are_found_when_content_tells(copied: float) -> None:
    """Among 3 x 2 x 10^7 contents nearly all are unique; who is copied is counted, within a few."""
    rng = np.random.default_rng(8)
    for size in (60, 600):
        kept = int(copied * size)
        a = _people(rng, size, 10**7)
        b = a.rows(rng.permutation(size)[:kept]).then(_people(rng, size - kept, 10**7)).numbered("other")
        assert abs(_between(a, b) - kept) <= 2


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 80), st.integers(1, 80), st.sampled_from([2, 40, 10**6]))
def test_it_does_not_matter_which_pool_comes_first(seed: int, a: int, b: int, ages: int) -> None:
    rng = np.random.default_rng(seed)
    one, other = _people(rng, a, ages), _people(rng, b, ages)
    both = one.then(other).rows(rng.permutation(a + b)[: (a + b) // 2])
    for x, y in ((one, other), (one, both)):
        assert _between(x, y) == _between(y, x)
        assert shared_within_study(x.prints("um"), y.prints("um")) == shared_within_study(
            y.prints("um"), x.prints("um")
        )


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text(max_size=4), max_size=30, unique=True), st.data())
def test_within_a_study_the_count_is_that_of_the_ids(ids: list[str], data: st.DataObject) -> None:
    """The intersection of the plain ids, whatever they are, is the count."""
    others = data.draw(st.lists(st.sampled_from(ids) if ids else st.nothing(), unique=True))
    others += data.draw(st.lists(st.text(min_size=5, max_size=6), max_size=5, unique=True))
    rng = np.random.default_rng(0)
    a = replace(_people(rng, len(ids), 50), ids=ids)
    b = replace(_people(rng, len(others), 50), ids=others)
    assert shared_within_study(a.prints("um"), b.prints("um")).cases == len(set(ids) & set(others))
