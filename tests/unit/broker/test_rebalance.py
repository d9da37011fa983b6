"""Rule 13: a kappa paradox is answered by more cases, as registered and drawn, and never by a lower bar."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.growing import PARADOX, PLAN, Cases, cases_of, write_cases, write_labels, write_scores

import lacre
from lacre import errors

THIN = {("low", "low"): 40, ("high", "high"): 10, ("low", "high"): 3}


@dataclass
class Judge:
    """A study of a judge, and the files of its corpus."""

    folder: Path
    ledger: lacre.Ledger
    made: int = 0

    def file(self) -> Path:
        self.made += 1
        return self.folder / f"file-{self.made}.csv"

    def commit(self, cases: Cases, given: Cases | None = None) -> None:
        """Commit a version: all its cases, and the labels and scores of those given."""
        self.ledger.commit("judge", "cases", write_cases(self.file(), cases))
        self.labels(cases if given is None else given)
        self.ledger.commit("judge", "scores", write_scores(self.file(), cases if given is None else given))

    def labels(self, cases: Cases, **more: Any) -> Any:
        return self.ledger.commit("judge", "labels", write_labels(self.file(), cases, **more))

    def run(self) -> Any:
        return self.ledger.run("judge", "agreement")

    def grow(self, **more: Any) -> tuple[Any, list[str]]:
        """Rebalance; return the outcome and the ids that are to be labelled again."""
        path = self.file()
        made = self.ledger.rebalance("judge", path, **more)
        lines = path.read_text().splitlines()[1:] if path.exists() else []
        return made, [line.partition(",")[0] for line in lines]


def begin(folder: Path, plan: str = PLAN) -> Judge:
    ledger = lacre.init(folder, state=folder / "state")
    (folder / "plan.yaml").write_text(plan)
    ledger.register(folder / "plan.yaml")
    return Judge(folder, ledger)


@pytest.fixture
def judge(tmp_path: Path) -> Judge:
    """A study whose first version is scored, and fails by a paradox."""
    made = begin(tmp_path)
    made.commit(cases_of(PARADOX))
    assert made.run().document["state"] == "FAIL"
    return made


def new_cases(count: int = 100) -> Cases:
    return cases_of(THIN, count)


def test_a_corpus_grows_and_both_numbers_are_told(judge: Judge) -> None:
    """Version 2 has cells 42, 7, 4 and 100: kappa is (142/153 - E) / (1 - E), E = (49 · 46 + 104 · 107) / 153²."""
    old, new = cases_of(PARADOX), new_cases()
    made, drawn = judge.grow(reason="the low bin is thin")
    assert (made.version, made.rows, made.population, made.left) == (2, 10, 100, 0)
    assert made.paradoxes == (("truth", "high"),)
    assert len(drawn) == 10
    changed = next(each for each in drawn if old[each] == ("high", "high"))
    again: Cases = {each: old[each] for each in drawn} | {changed: ("low", "high")}
    judge.commit({**old, **new}, {**again, **new})
    result = judge.run()
    told = result.as_json()["corpus"]
    (line,) = (row for row in result.document["analyses"][0]["tables"]["judge_agreement"] if not row["group"])
    assert line["counts"] == [[42, 4 + 3 + 1], [4, 99]]
    by_chance = (50 * 46 + 103 * 107) / 153**2
    assert line["kappa"] == pytest.approx((141 / 153 - by_chance) / (1 - by_chance), abs=1e-12)
    assert told["version"] == 2
    ((first,),) = ([each["numbers"] for each in told["earlier"]],)
    assert (told["earlier"][0]["state"], first[0]["agree"], first[0]["n"]) == ("FAIL", 92, 100)
    (change,) = told["changes"]
    assert (change["before"], change["after"]) == ([[2, 4], [4, 90]], [[42, 8], [4, 99]])
    assert (change["relabelled"], change["labels_changed"], change["scores_changed"]) == (10, 1, 0)
    agreed = sum(a == b for a, b in (old[each] for each in drawn))
    assert (change["agreed_agrees"], change["agreed_differs"]) == (agreed - 1, 1)
    assert (change["differed_agrees"], change["differed_differs"]) == (0, 10 - agreed)
    text = " ".join(str(result).split())
    assert "1 judge@6 truth 92 of 100" in text
    assert "2 this one truth 141 of 153" in text
    assert "10 old cases were labelled again; labels that changed: 1, scores that changed: 0." in text
    assert judge.ledger.audit().ok
    assert "began version 2 of corpus, since @6 flags a paradox" in str(judge.ledger.log())


def test_the_draw_follows_from_the_seed_and_comes_again(judge: Judge) -> None:
    """Ids in the order of SHA-256 over length-prefixed tag, seed 7 + 2, no stratum, and id; written out here."""

    def field(part: str) -> bytes:
        return len(part.encode()).to_bytes(8, "big") + part.encode()

    def digest(case: str) -> bytes:
        parts = ("lacre-relabel-v1", "9", "", case)
        return hashlib.sha256(b"".join(map(field, parts))).digest()

    made, drawn = judge.grow()
    assert sorted(drawn) == sorted(sorted(cases_of(PARADOX), key=digest)[:10])
    size = judge.ledger.status().size
    again, same = judge.grow()
    assert (again.again, again.entry, same) == (True, made.entry, drawn)
    assert judge.ledger.status().size == size


def test_a_dry_run_puts_nothing_on_record(judge: Judge) -> None:
    size = judge.ledger.status().size
    made, written = judge.grow(dry_run=True)
    assert (made.entry, made.rows, written) == (None, 10, [])
    assert judge.ledger.status().size == size
    judge.grow()
    made, written = judge.grow(dry_run=True)
    assert (made.again, made.entry, made.rows, written) == (True, None, 10, [])


@pytest.mark.parametrize(
    ("ids", "changed", "error"),
    [
        (range(1, 160), (), errors.VersionDropsCases),
        (range(160), ("case-00003",), errors.VersionDropsCases),
        (range(100), (), errors.VersionAddsNothing),
    ],
    ids=["dropped", "changed", "nothing added"],
)
def test_old_cases_stay_and_new_ones_come(
    judge: Judge, ids: range, changed: Sequence[str], error: type[errors.LacreError]
) -> None:
    judge.grow()
    size = judge.ledger.status().size
    cases = write_cases(judge.file(), [f"case-{n:05d}" for n in ids], changed=changed)
    with pytest.raises(error):
        judge.ledger.commit("judge", "cases", cases)
    assert judge.ledger.status().size == size


def test_only_what_was_drawn_is_labelled_again_and_all_of_it(judge: Judge) -> None:
    old, new = cases_of(PARADOX), new_cases()
    _made, drawn = judge.grow()
    judge.ledger.commit("judge", "cases", write_cases(judge.file(), {**old, **new}))
    again = {each: old[each] for each in drawn}
    other = next(each for each in old if each not in drawn)
    for given in ({**again, **new, other: old[other]}, {**dict(list(again.items())[1:]), **new}):
        with pytest.raises(errors.VersionBeyondDraw):
            judge.labels(given)
    with pytest.raises(errors.PartForeign):
        judge.labels({**again, **new, "case-99999": ("low", "low")})
    with pytest.raises(errors.VersionLabelsEarly):
        judge.labels({**again, **new}, at="2020-01-01T00:00:00Z")
    with pytest.raises(errors.PartOutOfOrder):
        judge.ledger.commit("judge", "scores", write_scores(judge.file(), {**again, **new}))
    judge.labels({**again, **new})
    with pytest.raises(errors.ScoresBeforeLabels):
        judge.ledger.commit(
            "judge", "scores", write_scores(judge.file(), {**again, **new}, at="2098-01-01T00:00:00Z")
        )
    with pytest.raises(errors.CorpusIncomplete):
        judge.run()


def test_without_a_paradox_or_a_result_or_a_registered_remedy_nothing_grows(tmp_path: Path) -> None:
    """Cells 40, 20, 20, 40: kappa is 1/3, both marginals are even, so that low agreement is just that."""
    judge = begin(tmp_path)
    with pytest.raises(errors.CorpusIncomplete):
        judge.grow()
    even = {("low", "low"): 40, ("low", "high"): 20, ("high", "low"): 20, ("high", "high"): 40}
    judge.commit(cases_of(even))
    with pytest.raises(errors.RebalanceNeedsResult):
        judge.grow()
    assert judge.run().document["state"] == "FAIL"
    with pytest.raises(errors.RebalanceNeedsParadox):
        judge.grow()
    other = begin(tmp_path / "other", PLAN.replace("remedies: [rebalance]\nmax_rebalances: 1\n", ""))
    other.commit(cases_of(PARADOX))
    other.run()
    with pytest.raises(errors.RebalanceNotRegistered):
        other.grow()


def test_it_grows_no_more_often_than_registered(judge: Judge) -> None:
    old = cases_of(PARADOX)
    _made, drawn = judge.grow()
    more = cases_of({("high", "high"): 5}, 100)
    judge.commit({**old, **more}, {**{each: old[each] for each in drawn}, **more})
    assert judge.run().document["state"] == "FAIL"
    with pytest.raises(errors.RebalancesSpent):
        judge.grow()


def test_no_bar_moves(judge: Judge) -> None:
    """Neither before the corpus grows nor after; a plan that moves something unlocked is another plan."""
    lower = judge.folder / "lower.yaml"
    lower.write_text(PLAN.replace("min: 0.60", "min: 0.20"))
    more = judge.folder / "more.yaml"
    more.write_text(PLAN.replace("max_rebalances: 1", "max_rebalances: 9"))
    for plan in (lower, more):
        with pytest.raises(errors.FieldsLocked):
            judge.ledger.amend(plan, reason="it should pass")
    seed = judge.folder / "seed.yaml"
    seed.write_text(PLAN.replace("seed: 7", "seed: 8"))
    judge.ledger.amend(seed, reason="another draw")
    judge.run()
    with pytest.raises(errors.RebalanceAmended):
        judge.grow()
