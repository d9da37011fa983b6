"""Rule 13, by those who would rescue a number: who chooses what is labelled again, or what is told, is refused."""

import hashlib
from pathlib import Path
from typing import Any

import pytest
from tests.growing import PARADOX, PLAN, Cases, cases_of, write_cases, write_labels, write_scores
from tests.unit.broker.test_rebalance import Judge, begin, new_cases

import lacre
from lacre import errors

UNLOCKED = "".join(line for line in PLAN.splitlines(keepends=True) if not line.startswith("locked"))
OLD, NEW = cases_of(PARADOX), new_cases()


@pytest.fixture
def judge(tmp_path: Path) -> Judge:
    """A study whose first version is scored, and fails by a paradox; nothing of its plan is locked."""
    return flagged(tmp_path, UNLOCKED)


def flagged(folder: Path, plan: str) -> Judge:
    made = begin(folder, plan)
    made.commit(OLD)
    made.run()
    return made


def amend(judge: Judge, plan: str) -> None:
    path = judge.folder / f"plan-{judge.made}.yaml"
    judge.made += 1
    path.write_text(plan)
    judge.ledger.amend(path, reason="another plan")


def again(drawn: list[str]) -> Cases:
    return {each: OLD[each] for each in drawn}


def write(judge: Judge, *lines: str) -> Path:
    path = judge.file()
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_seed_amended_later_draws_no_other_cases(judge: Judge) -> None:
    """The draw is that of the plan the corpus was let grow under: amending to and fro would choose the cases."""
    _made, drawn = judge.grow()
    amend(judge, UNLOCKED.replace("seed: 7", "seed: 8"))
    assert judge.grow()[1] == drawn
    judge.ledger.commit("judge", "cases", write_cases(judge.file(), {**OLD, **NEW}))
    others = [each for each in OLD if each not in drawn][: len(drawn)]
    with pytest.raises(errors.VersionBeyondDraw):
        judge.labels({**again(others), **NEW})
    judge.labels({**again(drawn), **NEW})
    assert judge.ledger.audit().ok


def test_an_analysis_amended_away_leaves_its_draw(judge: Judge) -> None:
    """The analysis that flagged the paradox is gone from the plan in force, and all goes on; nothing confirms."""
    _made, drawn = judge.grow()
    amend(judge, UNLOCKED.replace("  agreement:\n", "  other:\n"))
    assert judge.grow()[1] == drawn
    judge.commit({**OLD, **NEW}, {**again(drawn), **NEW})
    result: Any = judge.ledger.run("judge", "other")
    assert (result.as_json()["confirmatory"], result.as_json()["corpus"]["earlier"]) == (False, [])
    assert judge.ledger.audit().ok
    bundle = judge.folder / "other.zip"
    judge.ledger.export(result.name, bundle)
    assert lacre.verify(bundle).ok


def test_a_paradox_flagged_under_another_bar_lets_nothing_grow(tmp_path: Path) -> None:
    """Kappa .2908 meets a bar of .20: it is a paradox under a bar of .60, which was amended in and out again."""
    low = UNLOCKED.replace("min: 0.60", "min: 0.20")
    judge = begin(tmp_path, low)
    judge.commit(OLD)
    amend(judge, UNLOCKED)
    assert judge.run().document["analyses"][0]["tables"]["judge_agreement"][0]["paradox"] is not None
    with pytest.raises(errors.RebalanceAmended):
        judge.grow()
    amend(judge, low)
    with pytest.raises(errors.RebalanceNeedsResult):
        judge.grow()
    assert judge.run().document["state"] == "PASS"
    with pytest.raises(errors.RebalanceNeedsParadox):
        judge.grow()


def test_a_drawn_case_is_not_blanked_out(judge: Judge) -> None:
    """A blank label or score over one that stood would drop the case; scores come of all that were drawn, or none."""
    _made, drawn = judge.grow()
    judge.ledger.commit("judge", "cases", write_cases(judge.file(), {**OLD, **NEW}))
    labels = write_labels(judge.file(), {**again(drawn), **NEW}).read_text().splitlines()
    cell = next(place for place, line in enumerate(labels) if line.startswith(f"{drawn[0]},"))
    for blank in (f"{drawn[0]},,2099-01-01T00:00:00Z", f"{drawn[0]},0.1,"):
        with pytest.raises(errors.VersionBeyondDraw):
            judge.ledger.commit("judge", "labels", write(judge, *labels[:cell], blank, *labels[cell + 1 :]))
    judge.labels({**again(drawn), **NEW})
    few = write_scores(judge.file(), {**again(drawn[:3]), **NEW})
    blank_ones = [f"{each},,2099-01-02T00:00:00Z" for each in drawn]
    new = write_scores(judge.file(), NEW).read_text().splitlines()
    for scores in (few, write(judge, *new, *blank_ones)):
        with pytest.raises(errors.VersionBeyondDraw):
            judge.ledger.commit("judge", "scores", scores)
    judge.ledger.commit("judge", "scores", write_scores(judge.file(), NEW))
    assert judge.run().as_json()["corpus"]["changes"][0]["scores_changed"] == 0


def test_a_withheld_group_hides_no_paradox_and_few_cases_are_told_of_no_version(tmp_path: Path) -> None:
    """A locale of three cases is withheld, with all of its line, and the pooled paradox is still flagged.

    Of the low bin's 6 labels 3 are drawn and become high, which leaves 3 of the 5 that may be told.
    """
    plan = UNLOCKED.replace("words: {type: text, is: input}", "words: {type: category, values: [en, pt]}")
    plan = plan.replace("    criteria:", "    diagnostics_by: [words]\n    criteria:")
    judge = begin(tmp_path, plan.replace("bins:\n", "disclosure: {min_count: 5}\nbins:\n", 1))
    # Three of the low labels are among the ten that are drawn, the first in their order.
    low = [cell for cell in OLD.values() if cell[0] == "low"]
    high = [cell for cell in OLD.values() if cell[0] == "high"]
    old = dict(zip(sorted(OLD, key=_place), [*low[:3], *high, *low[3:]], strict=True))
    new = cases_of({("high", "high"): 5}, 100)

    def cases(ids: Cases) -> Path:
        return write(judge, "case_id,words", *(f"{n},{'pt' if n < 'case-00003' else 'en'}" for n in ids))

    judge.ledger.commit("judge", "cases", cases(old))
    judge.labels(old)
    judge.ledger.commit("judge", "scores", write_scores(judge.file(), old))
    rows = judge.run().document["analyses"][0]["tables"]["judge_agreement"]
    assert any(row.get("withheld") for row in rows)
    _made, drawn = judge.grow()
    judge.ledger.commit("judge", "cases", cases({**old, **new}))
    judge.labels({**dict.fromkeys(drawn, ("high", "high")), **new})
    judge.ledger.commit("judge", "scores", write_scores(judge.file(), new))
    result = judge.run()
    (change,) = result.as_json()["corpus"]["changes"]
    assert change == {"dimension": "truth", "note": {"code": "withheld", "fields": {"min_count": 5}}}
    for told in (str(result), result._repr_html_()):
        assert "Versions of the corpus: this is version 2" in told


def _place(case: str) -> bytes:
    """Where a case stands in the draw for version 2, written out here: tag, seed 7 + 2, no stratum, id."""
    parts = [each.encode() for each in ("lacre-relabel-v1", "9", "", case)]
    return hashlib.sha256(b"".join(len(each).to_bytes(8, "big") + each for each in parts)).digest()


def test_another_table_and_kind_go_on_when_a_corpus_grew(tmp_path: Path) -> None:
    """Another table of the corpus stays as it is; its analysis, which has no bins, runs and tells its earlier state."""
    other = """\
  pages:
    key: page
    columns:
      page: {type: text}
      w: {type: number, is: weight}
      size: {type: number}
      value: {type: number, part: scores}
pools:
"""
    mean = """\
analyses:
  mean: {kind: estimate, pool: corpus, table: pages, of: mean, value: value, weights: {column: w, fpc: size}}
"""
    plan = UNLOCKED.replace("pools:\n", other).replace("tables: [cases]", "tables: [cases, pages]")
    judge = begin(tmp_path, plan.replace("analyses:\n", mean))
    pages = write(judge, "page,w,size", *(f"p{n},2,8" for n in range(4)))
    file = write(judge, "page,value", *(f"p{n},{n}" for n in range(4)))

    def commit(cases: Cases, given: Cases, *values: str) -> None:
        judge.ledger.commit("judge", "cases", [f"cases={write_cases(judge.file(), cases)}", f"pages={pages}"])
        judge.labels(given)
        scores = write_scores(judge.file(), given)
        for missing in ([f"pages={file}"], [f"cases={scores}"])[: 2 if values else 1]:
            with pytest.raises((errors.FileNotGiven, errors.PartTablesDiffer)):
                judge.ledger.commit("judge", "scores", missing)
        judge.ledger.commit("judge", "scores", [f"cases={scores}", *values])

    commit(OLD, OLD, f"pages={file}")
    first: Any = judge.ledger.run("judge", "mean")
    judge.run()
    _made, drawn = judge.grow()
    commit({**OLD, **NEW}, {**again(drawn), **NEW})
    result: Any = judge.ledger.run("judge", "mean")
    assert [each["result"] for each in result.as_json()["corpus"]["earlier"]] == [first.entry]
    assert str(first.entry) in str(result)
    bundle = judge.folder / "mean.zip"
    judge.ledger.export(result.name, bundle)
    assert lacre.verify(bundle).ok


def test_each_version_is_verified_after_all_of_them_stand(tmp_path: Path) -> None:
    """A corpus that grew twice: the bundle of each version's result holds, whole and with the study alone."""
    judge = flagged(tmp_path, UNLOCKED.replace("max_rebalances: 1", "max_rebalances: 2"))
    cases, names = dict(OLD), ["judge@6"]
    for number in (1, 2):
        _made, drawn = judge.grow()
        more = cases_of({("high", "high"): 5}, 100 * number)
        cases |= more
        judge.commit(cases, {each: cases[each] for each in (*drawn, *more)})
        names.append(judge.run().name)
    last = judge.ledger.show(names[2]).as_json()["corpus"]
    assert [each["result"] for each in last["earlier"]] == [int(each.partition("@")[2]) for each in names[:2]]
    for place, each in enumerate(names):
        for only in (False, True):
            bundle = judge.folder / f"{place}-{only}.zip"
            judge.ledger.export(each, bundle, only_study=only)
            assert lacre.verify(bundle).ok
    with pytest.raises(errors.RebalancesSpent):
        judge.grow()
