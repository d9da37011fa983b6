"""What a plan with an analysis of an open pool must say of the pool's parts."""

from collections.abc import Callable

import pytest
from tests import open_corpus

from lacre.protocol.document import parse
from lacre.protocol.pools import part_of, parts_of, tables_of_part

PLAN = open_corpus.plan()
Problems = Callable[[str], list[str]]


def test_the_parts_of_a_pool() -> None:
    protocol = parse(PLAN.encode())
    pool, tables = protocol.pools["corpus"], protocol.tables
    assert parts_of(pool) == ("cases", "labels", "scores")
    assert parts_of(protocol.pools["teste"]) == ("cases",)
    assert {name: part_of(column) for name, column in tables["cases"].columns.items()} == {
        "case_id": "cases", "locale": "cases", "text": "cases", "human": "labels", "labelled_at": "labels",
        "judge": "scores", "scored_at": "scores",
    }  # fmt: skip
    assert tables_of_part(pool, tables, "labels") == ("cases",)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (
            "order: [cases, labels, scores]",
            "order: [cases, labels]",
            "pools.corpus.order: does not name scores, which `judge` is a part of",
        ),
        (
            "case_id: {type: text}",
            "case_id: {type: text, part: labels}",
            "tables.cases.columns.case_id.part: names a case, so it comes with the cases",
        ),
        (
            "is: labelled, part: labels",
            "is: labelled",
            "tables.cases.columns.labelled_at.part: must be `labels`: the column says when that was made",
        ),
        (
            "is: scored, part: scores",
            "is: scored, part: labels",
            "tables.cases.columns.scored_at.part: must be `scores`: the column says when that was made",
        ),
        (
            "judge: {type: outcome, positive: good, negative: bad, part: scores}",
            "judge: {type: outcome, positive: good, negative: bad, from: submission}",
            (
                "analyses.parity: reads `judge`, which comes from a submission, and an open pool takes none: "
                "declare it with `part: scores`"
            ),
        ),
        (
            "analyses:\n",
            "relabel: {cases: {pool: corpus, fraction: 0.5, columns: human, seed: 1}}\nanalyses:\n",
            "relabel.cases.pool: is open: only cases of a sealed pool are labelled again",
        ),
    ],
)
def test_what_contradicts_itself(problems: Problems, before: str, after: str, said: str) -> None:
    assert PLAN.count(before) == 1
    assert said in problems(PLAN.replace(before, after))


def test_a_pool_that_nothing_analyses_is_not_looked_into() -> None:
    """Such plans were registered before open pools had verbs, and a ledger that holds one must be read for ever."""
    plan = PLAN.replace("pool: corpus, table", "pool: teste, table")
    plan = plan.replace("judge: {type: outcome, positive: good, negative: bad, part: scores}",
                        "judge: {type: outcome, positive: good, negative: bad, from: submission}")  # fmt: skip
    parse(plan.replace("is: labelled, part: labels", "is: labelled").encode())
