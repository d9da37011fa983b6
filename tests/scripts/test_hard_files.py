"""What files of comparisons and detections hold in earnest: each gets a sound answer, in text, JSON and page.

Sound is: the right verdict for the right reason, no rate, ratio or distance where nothing can be estimated, and
numbers that JSON knows.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from tests.scripts.real import Answer, Shell, plan_of, read, registered, write

UNDECIDED = "INSUFFICIENT_EVIDENCE"
ROWS = 80
Row = dict[str, Any]


def _apart(place: int, same: bool) -> object:
    """Scores of the same person from .52 to .9, of two from .3 to .68."""
    return round(0.9 - 0.02 * (place % 20) if same else 0.3 + 0.02 * (place % 20), 2)


def _rows(score: Callable[[int, bool], object] = _apart, groups: str = "ab") -> list[Row]:
    """Comparisons that share nobody, every other pair of rows of the same person, in turn of each group."""
    return [
        {
            "pair": f"{10**13 + place}",
            "left": f"l{place}",
            "right": f"l{place}" if place // 2 % 2 == 0 else f"r{place}",
            "same": int(place // 2 % 2 == 0),
            "group": groups[place % len(groups)],
            "score": score(place, place // 2 % 2 == 0),
        }
        for place in range(ROWS)
    ]


CRITERIA = [
    {"id": "ratio", "metric": "false_match", "by": "group", "max_group_ratio": {"form": "max_min", "max": 3}},
    {"id": "gm", "metric": "false_match", "by": "group", "max_group_ratio": {"form": "max_gm", "max": 3}},
    {"id": "worst", "metric": "false_match", "by": "group", "worst_group": {"max": 0.9}},
    {"id": "all", "metric": "false_match", "max": 0.9},
    {"id": "apart", "metric": "threshold_distance", "target": {"false_match": 0.01}, "max": 0.5},
]


def _plan(
    groups: str = "ab",
    same: tuple[str, str] = ("1", "0"),
    direction: str = "similarity",
    at: float = 0.5,
    score: Mapping[str, Any] | None = None,
    cluster: Sequence[str] = (),
) -> dict[str, Any]:
    columns = {
        **{name: {"type": "text"} for name in ("pair", "left", "right")},
        "same": {"type": "outcome", "positive": same[0], "negative": same[1]},
        "group": {"type": "category", "values": list(groups), "is": "demographic"},
        "score": {"type": "number", "from": "submission", **(score or {})},
    }
    plan = {
        "kind": "verification",
        "score": "score",
        "same": "same",
        "group": "group",
        "direction": direction,
        "threshold": "common",
        "targets": {"false_match": [0.01, 0.5], "false_non_match": [0.1]},
        "bootstrap": {"resamples": 1000, "seed": 1},
        "criteria": CRITERIA,
    }
    table = {"key": "pair", "columns": columns, **({"cluster": list(cluster)} if cluster else {})}
    return plan_of("hard", {"pairs": table}, {"pairs": plan}, thresholds={"common": {"fixed": at}})


def _files(shell: Shell, rows: Sequence[Row]) -> tuple[list[str], list[str]]:
    pool = [{name: cell for name, cell in row.items() if name != "score"} for row in rows]
    scores = [{"pair": row["pair"], "score": row["score"]} for row in rows]
    return [write(shell.folder / "pairs.csv", pool)], [write(shell.folder / "scores.csv", scores)]


def _study(shell: Shell, rows: Sequence[Row], **plan: Any) -> Answer:
    answer = read(shell, _plan(**plan), *_files(shell, rows))
    _nothing_of_nothing(answer)
    return answer


def _nothing_of_nothing(answer: Answer) -> None:
    """No number stands where no case is, and nothing open passes."""
    analysis = answer.analysis()
    for each in analysis["estimates"]:
        if each["denominator"] == 0:
            assert (each["numerator"], each["value"], each["low"], each["high"]) == (None,) * 4, each
            assert each["note"] is not None
    for criterion in analysis["criteria"]:
        if criterion["value"] is None and criterion["low"] is None:
            assert criterion["state"] == UNDECIDED
        for line in criterion["groups"]:
            if line["denominator"] == 0:
                assert (line["value"], line["state"]) == (None, UNDECIDED)
    for row in analysis["tables"]["targets"]:
        if row["cases"] == 0:
            assert (row["threshold"], row["achieved"], row["unresolved"]) == (None, None, True)


def _verdict(answer: Answer, name: str) -> tuple[str, str]:
    criterion = answer.criteria()[name]
    return criterion["state"], criterion["reason"]["code"]


def _groups(answer: Answer) -> dict[str, str]:
    return {
        f"{metric} {group}": answer.counts(metric, group=group)
        for metric in ("false_match", "false_non_match")
        for group in "ab"
    }


@pytest.mark.parametrize("words", [("1", "0"), ("True", "False"), ("Yes", "No"), ("1", "-1")], ids="/".join)
def test_truth_in_whatever_words(shell: Shell, words: tuple[str, str]) -> None:
    """What says that two are the same changes no count."""
    rows = [{**row, "same": words[0] if row["same"] else words[1]} for row in _rows()]
    assert _groups(_study(shell, rows, same=words)) == _counted(_rows())


def _counted(rows: Sequence[Row]) -> dict[str, str]:
    """The counts at .5, by a loop over the rows."""
    found = {}
    for metric, same in (("false_match", 0), ("false_non_match", 1)):
        for group in "ab":
            scores = [row["score"] for row in rows if (row["group"], row["same"]) == (group, same)]
            events = sum((score >= 0.5) == (not same) for score in scores)
            found[f"{metric} {group}"] = f"{events}/{len(scores)}"
    return found


def test_scores_that_are_distances(shell: Shell) -> None:
    """A distance is a similarity the other way round; 14 digits of a key survive the join."""
    rows = [{**row, "score": -row["score"]} for row in _rows()]
    answer = _study(shell, rows, direction="distance", at=-0.5)
    assert _groups(answer) == _counted(_rows())
    assert {len(row["pair"]) for row in rows} == {14}


def test_a_constant_score(shell: Shell) -> None:
    """All accepted, at a threshold that allows no error all refused; none resolves 1 %, and no distance is known."""
    answer = _study(shell, _rows(lambda _place, _same: 0.5))
    assert answer.counts("false_match", group="a") == "20/20"
    assert answer.counts("false_non_match") == "0/40"
    assert "up to 7.5 %" in answer.text
    assert "up to 7.5 %" in answer.page
    assert _verdict(answer, "apart") == (UNDECIDED, "undecided-open")
    assert answer.criteria()["apart"]["high"] is None
    for row in answer.analysis()["tables"]["targets"]:
        assert row["achieved"] == 0
        assert row["unresolved"] == (row["at"] == 0.01)


def test_ties_everywhere(shell: Shell) -> None:
    """Impostors at .2, and every fifth at .8 with all the genuine ones: never more than the target is accepted."""
    answer = _study(shell, _rows(lambda place, same: 0.8 if same or place % 5 == 0 else 0.2))
    assert answer.counts("false_match") == "8/40"
    targets = answer.analysis()["tables"]["targets"]
    assert all(row["achieved"] <= row["at"] for row in targets)
    assert {row["achieved"] for row in targets if row["at"] == 0.5} == {0.2}
    assert {row["other_rate"] for row in targets if row["at"] == 0.01} == {1}
    assert _verdict(answer, "apart") == (UNDECIDED, "undecided-open")


def test_one_subject_in_41_pairs(shells: Callable[[], Shell]) -> None:
    """Forty-one false matches of one subject and none of forty pairs of others are worth few comparisons."""
    rows = [
        {
            "pair": f"{10**13 + place}",
            "left": "hub" if place < 41 else f"l{place}",
            "right": f"l{place}" if place >= 120 else f"r{place}",
            "same": int(place >= 120),
            "group": "ab"[place % 2],
            "score": 0.7 if place < 41 or place >= 120 else 0.2,
        }
        for place in range(160)
    ]
    naive = _study(shells(), rows).estimate("false_match")
    shared = _study(shells(), rows, cluster=["left", "right"])
    told = shared.estimate("false_match")
    assert (told["numerator"], told["denominator"]) == (naive["numerator"], naive["denominator"]) == (41, 120)
    assert told["high"] - told["low"] > 3 * (naive["high"] - naive["low"])
    assert _verdict(shared, "ratio")[0] == UNDECIDED


def test_a_group_without_impostors(shell: Shell) -> None:
    rows = [row for row in _rows() if row["group"] == "a" or row["same"]]
    answer = _study(shell, rows)
    assert _verdict(answer, "ratio") == _verdict(answer, "gm") == (UNDECIDED, "nothing-to-compare")
    assert _verdict(answer, "apart") == (UNDECIDED, "nothing-to-compare")
    assert _verdict(answer, "worst")[0] == UNDECIDED
    assert answer.counts("false_non_match", group="b") == "0/20"


def test_a_group_that_is_absent(shell: Shell) -> None:
    """It stays in the division of the error rate, and blocks what is asked of every group."""
    answer = _study(shell, _rows(), groups="abc")
    assert _verdict(answer, "ratio") == (UNDECIDED, "groups-not-decided")
    assert _verdict(answer, "apart") == (UNDECIDED, "undecided-open")
    assert _verdict(answer, "worst") == (UNDECIDED, "groups-not-decided")
    assert answer.estimate("false_match", group="c")["note"]["code"] == "no-cases"
    assert answer.estimate("false_match", group="a")["simultaneous"] == 3


@pytest.mark.parametrize("blank", ["", "NaN"])
def test_abstentions_only(shell: Shell, blank: str) -> None:
    """A text that is declared to be missing is an abstention, as a blank is."""
    answer = _study(shell, _rows(lambda _place, _same: blank), score={"missing": ["", "NaN"]})
    assert {_verdict(answer, name) for name in answer.criteria()} == {(UNDECIDED, "too-many-abstain")}
    assert {row["abstained"] for row in answer.analysis()["tables"]["groups"]} == {80, 40}
    assert answer.text.count("80 of 80 comparisons have no score, more than the share of 10 % allowed.") == 5
    assert "of 0.1 allowed" not in answer.shown


@pytest.mark.parametrize("said", ["NaN", "nan", "inf", "-Infinity", "1e999"])
def test_a_score_that_is_no_number_is_refused_and_spends_nothing(shell: Shell, said: str) -> None:
    plan = _plan()
    sealed, scores = _files(shell, _rows(lambda place, same: said if place < 2 else _apart(place, same)))
    registered(shell, plan, sealed)
    entries = shell.json("status")["entries"]
    refused = shell.json("reveal", "hard", "--submission", *scores, expect=2)
    assert refused["error"]["code"] == "table-not-number"
    assert "2 rows" in refused["error"]["message"]
    assert said not in json.dumps(refused)
    assert shell.json("status")["entries"] == entries


# --- detections --------------------------------------------------------------------------------------------


def _faces(rows: Sequence[Row], shell: Shell, blank: str = "left_out") -> Answer:
    columns = {
        "face": {"type": "text"},
        "age": {"type": "ordinal", "values": ["child", "adult", "old"], "is": "demographic"},
        "height": {"type": "number", "min": 0, "bins": {"small": [0, 64], "large": [64, None]}},
        "score": {"type": "number", "missing": ["", "NaN"], "from": "submission"},
    }
    plan = {
        "kind": "recall",
        "detected": {"score": "score", "threshold": "half", "blank": blank},
        "by": [["age", "height"]],
        "control": "height",
        "bootstrap": {"resamples": 1000, "seed": 1},
        "criteria": [
            {"id": "worst", "metric": "recall", "by": ["age", "height"], "worst_group": {"min": 0.5}},
            {"id": "old", "metric": "stratum_difference", "min": -0.1,
             "between": [{"age": "old", "height": "large"}, {"age": "adult", "height": "large"}]},
        ],
    }  # fmt: skip
    document = plan_of(
        "faces",
        {"faces": {"key": "face", "columns": columns}},
        {"r": plan},
        thresholds={"half": {"fixed": 0.5}},
    )
    pool = write(shell.folder / "p.csv", [{k: v for k, v in row.items() if k != "score"} for row in rows])
    given = write(shell.folder / "s.csv", [{"face": row["face"], "score": row["score"]} for row in rows])
    return read(shell, document, [pool], [given])


def _detected(score: object) -> list[Row]:
    return [
        {
            "face": f"{10**13 + place}",
            "age": ("child", "adult")[place % 2],
            "height": (40, 100)[place // 2 % 2],
            "score": score,
        }
        for place in range(80)
    ]


def test_nothing_found_and_all_found(shells: Callable[[], Shell]) -> None:
    """No face found is "up to 15 %" of 20, and a stratum that is absent is no zero and no difference."""
    none, every = (_faces(_detected(score), shells()) for score in (0.1, 0.9))
    told = none.estimate("recall", age="child", height="small")
    assert (told["numerator"], told["zero_bound"]["rule_of_three"]) == (0, 3 / 20)
    assert "up to 15.0 %" in none.text
    assert none.document["state"] in ("FAIL", "MANUAL_REVIEW")
    assert every.estimate("recall", age="child", height="small")["high"] == 1
    for answer in (none, every):
        absent = answer.estimate("recall", age="old", height="large")
        assert (absent["denominator"], absent["value"], absent["note"]["code"]) == (0, None, "no-cases")
        old = answer.criteria()["old"]
        assert (old["value"], old["low"], old["high"]) == (None, None, None)
    assert _verdict(every, "worst") == (UNDECIDED, "groups-not-decided")
    assert _verdict(every, "old")[0] == UNDECIDED


def test_no_scores_at_all(shell: Shell) -> None:
    answer = _faces(_detected("NaN"), shell)
    assert {each["state"] for each in answer.criteria().values()} == {UNDECIDED}
    assert {each["value"] for each in answer.analysis()["estimates"]} == {None}
    assert {"column": "score", "count": 80, "reason": "missing"} in answer.analysis()["left_out"]


# --- nothing to estimate, of each kind ---------------------------------------------------------------------

FACE = {"type": "text"}
OUTCOME = {"type": "outcome", "positive": "1", "negative": "0"}
GIVEN = {**OUTCOME, "from": "submission"}
EMPTY: Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any], Sequence[Row], str]] = {
    "no image with a person": (
        {"key": "id", "columns": {"id": FACE, "person": OUTCOME, "found": GIVEN}},
        {
            "kind": "protective_failure",
            "person": "person",
            "found": {"column": "found", "blank": "not_detected"},
            "criteria": [{"id": "rule", "metric": "protective_failure", "max": 0.5}],
        },
        [{"id": place, "person": 0, "found": 1} for place in range(40)],
        "no-cases",
    ),
    "no row of the variant": (
        {
            "key": ["id", "variant"],
            "columns": {"id": FACE, "variant": {"type": "category", "values": ["as-is", "grey"]}, "found": GIVEN},
        },
        {
            "kind": "paired_variants",
            "pair_on": "id",
            "baseline": "as-is",
            "detected": {"column": "found", "blank": "not_detected"},
            "criteria": [{"id": "rule", "metric": "difference", "variant": "grey", "min": -0.5}],
        },
        [{"id": place, "variant": "as-is", "found": 1} for place in range(40)],
        "",
    ),
    "no outcome of any variant": (
        {
            "key": ["id", "variant"],
            "columns": {"id": FACE, "variant": {"type": "category", "values": ["as-is", "grey"]}, "found": GIVEN},
        },
        {
            "kind": "paired_variants",
            "pair_on": "id",
            "baseline": "as-is",
            "detected": {"column": "found", "blank": "left_out"},
            "criteria": [{"id": "rule", "metric": "difference", "variant": "grey", "min": -0.5}],
        },
        [{"id": p, "variant": v, "found": ""} for p in range(40) for v in ("as-is", "grey")],
        "",
    ),
    "no value to add up": (
        {
            "key": "id",
            "columns": {"id": FACE, "value": {"type": "number", "missing": ["", "NaN"]},
                        "pi": {"type": "number", "is": "inclusion_probability"}, "all": {"type": "number"}},
        },
        {
            "kind": "estimate",
            "of": "mean",
            "value": "value",
            "weights": {"column": "pi", "fpc": "all"},
            "criteria": [{"id": "rule", "metric": "mean", "min": -1}],
        },
        [{"id": place, "value": "NaN", "pi": 0.5, "all": 80} for place in range(40)],
        "",
    ),
    "one label given to all, twice": (
        {
            "key": "id",
            "columns": {name: {"type": "category", "values": ["a", "b"]} for name in ("one", "two")} | {"id": FACE},
        },
        {
            "kind": "self_agreement",
            "passes": ["one", "two"],
            "criteria": [{"id": "rule", "metric": "kappa", "min": -1}],
        },
        [{"id": place, "one": "a", "two": "a"} for place in range(40)],
        "kappa-undefined",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", EMPTY)
def test_nothing_to_estimate(shell: Shell, case: str) -> None:
    """The bound of each rule is one that any number keeps, and there is none."""
    table, plan, rows, code = EMPTY[case]
    given = [name for name, column in table["columns"].items() if column.get("from")]
    keys = [table["key"]] if isinstance(table["key"], str) else table["key"]
    pool = write(shell.folder / "p.csv", [{k: v for k, v in row.items() if k not in given} for row in rows])
    scored = (
        [write(shell.folder / "s.csv", [{k: row[k] for k in (*keys, *given)} for row in rows])]
        if given
        else []
    )
    answer = read(shell, plan_of("empty", {"cases": table}, {"empty": plan}), [pool], scored)
    (rule,) = answer.analysis()["criteria"]
    assert (rule["state"], rule["value"], rule["low"], rule["high"]) == (UNDECIDED, None, None, None)
    assert code in ("", rule["reason"]["code"]), rule["reason"]
