"""A submission beside its pool; files of one table under one another."""

from collections.abc import Callable
from typing import Any

import pytest

from lacre.errors import TableForeignKeys, TableKeyRepeated
from lacre.tables.columns import MISSING, Numbers, Outcomes, TypedTable
from lacre.tables.join import concat, join_submission

Read = Callable[..., TypedTable]

COLUMNS: dict[str, Any] = {
    "label": {"type": "outcome", "positive": "1", "negative": "0"},
    "score": {"type": "number", "from": "submission"},
    "category": {"type": "category", "values": ["knife", "oven"]},
    "response": {"type": "text", "from": "submission"},
    "correct": {"type": "outcome", "equals": ["response", "category"]},
}
POOL = "id,label,category\na,1,knife\nb,0,oven\nc,1,boat\nd,1,\n"


def test_a_submission_is_aligned_to_the_pools_rows(read: Read) -> None:
    pool = read(POOL, COLUMNS)
    joined = join_submission(pool, read("id,score,response\nc,3,x\na,1,knife\n", COLUMNS, only="submission"))
    assert joined.keys.tolist() == ["a", "b", "c", "d"]
    assert list(joined.columns) == ["category", "correct", "id", "label", "response", "score"]
    score = joined.columns["score"]
    assert isinstance(score, Numbers)
    assert score.values[[0, 2]].tolist() == [1.0, 3.0]
    assert score.missing.tolist() == [False, True, False, True]
    assert joined.columns["label"].array is pool.columns["label"].array
    assert joined.absent is not None
    assert joined.absent.tolist() == [False, True, False, True]


def test_an_outcome_by_equality_waits_for_the_submission(read: Read) -> None:
    pool = read(POOL, COLUMNS)
    assert "correct" not in pool.columns
    assert dict(pool.derivations) == {"correct": ("response", "category")}
    answers = read("id,score,response\na,,knife\nb,,knife\nc,,boat\nd,,oven\n", COLUMNS, only="submission")
    joined = join_submission(pool, answers)
    correct = joined.columns["correct"]
    assert isinstance(correct, Outcomes)
    assert correct.codes.tolist() == [1, 0, 1, MISSING]
    assert dict(joined.derivations) == {}
    absent = join_submission(pool, read("id,score,response\na,,knife\n", COLUMNS, only="submission"))
    assert absent.columns["correct"].array.tolist() == [1, MISSING, MISSING, MISSING]


def test_keys_the_pool_does_not_hold_are_refused_with_the_count(read: Read) -> None:
    submission = read("id,score,response\na,1,x\nz,1,x\n A,1,x\n", COLUMNS, only="submission")
    with pytest.raises(TableForeignKeys) as caught:
        join_submission(read(POOL, COLUMNS), submission)
    assert caught.value.fields == {"file": "cases", "count": 2}


def test_files_of_one_table_follow_one_another(read: Read) -> None:
    first = read(POOL + "e,,\n", COLUMNS, keep=("label",))
    second = read("label,category,id,note\n0,oven,f,x\n", COLUMNS, keep=("label",))
    whole = concat([first, second])
    assert whole.rows == 6
    assert whole.keys.tolist() == ["a", "b", "c", "d", "e", "f"]
    assert whole.columns["label"].array.tolist() == [1, 0, 1, 1, MISSING, 0]
    assert whole.texts["label"].tolist() == ["1", "0", "1", "1", "", "0"]
    assert whole.undeclared == ("note",)
    assert concat([first]) is first


def test_a_key_in_two_files_is_refused(read: Read) -> None:
    with pytest.raises(TableKeyRepeated) as caught:
        concat([read(POOL, COLUMNS), read("id,label,category\na,1,knife\nz,,\nb,1,\n", COLUMNS)])
    assert caught.value.fields["count"] == 2


def test_submissions_in_several_files_are_joined_as_one(read: Read) -> None:
    parts = [read(f"id,score,response\n{key},1,x\n", COLUMNS, only="submission") for key in "ab"]
    joined = join_submission(read(POOL, COLUMNS), concat(parts))
    assert joined.columns["score"].missing.tolist() == [False, False, True, True]
