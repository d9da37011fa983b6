"""A judge whose scores are a submission to a sealed pool: what its bins refuse before a read is spent, and a result."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.judging import document_of

from lacre import errors

Study = Any

BAR = {"id": "bar", "metric": "kappa", "dimension": "truth", "min": 0.6, "decide_on": "point"}
THREE = [[75, 1, 4], [5, 4, 1], [0, 0, 10]]
MIDDLES = (0.1, 0.5, 0.9)
SCORES = [
    (row, column)
    for row, counts in enumerate(THREE)
    for column, count in enumerate(counts)
    for _ in range(count)
]


def write(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def begin(study: Study) -> None:
    """Register a judge of 0 to 10 beside a human of 0 to 1, on `teste`."""
    document = document_of(
        {"pool": "teste", "bins": {"human": "degree", "judge": "tens"}, "criteria": [BAR]},
        {
            "columns": {
                "id": {"type": "text", "is": "input"},
                "human": {"type": "number"},
                "judge": {"type": "number", "from": "submission"},
            }
        },
        pools={"teste": {"tables": ["cases"]}},
    )
    document["bins"]["tens"] = {"low": [0, 4], "middle": [4, 8], "high": [8, 10]}
    study.ledger.register(write(study.folder / "judge.yaml", json.dumps(document)))


def labels(study: Study, *more: str) -> Path:
    rows = [f"c{place},{MIDDLES[human]}" for place, (human, _judge) in enumerate(SCORES)]
    return write(study.folder / "labels.csv", "id,human", *rows, *more)


def scores(study: Study, last: str = "9") -> Path:
    rows = [f"c{place},{(1, 5, 9)[judge]}" for place, (_human, judge) in enumerate(SCORES)]
    return write(study.folder / "scores.csv", "id,judge", *rows[:-1], f"c{len(SCORES) - 1},{last}")


def test_a_label_outside_the_bins_is_refused_before_it_is_sealed(study: Study) -> None:
    begin(study)
    with pytest.raises(errors.OutsideBins) as caught:
        study.ledger.seal("study", "teste", labels(study, "x,1.5", "y,-0.1"))
    assert (caught.value.fields["column"], caught.value.fields["count"]) == ("human", 2)


def test_a_score_outside_the_bins_is_refused_before_the_read_is_spent(study: Study) -> None:
    """Kappa is .722 and the bar .6, so the story ends in PASS, and the audit computes it again."""
    begin(study)
    study.ledger.seal("study", "teste", labels(study))
    size = study.size
    with pytest.raises(errors.OutsideBins) as caught:
        study.ledger.reveal("study", submission=scores(study, last="11"))
    assert (caught.value.fields["column"], caught.value.fields["count"]) == ("judge", 1)
    assert study.size == size
    shown = study.ledger.reveal("study", submission=scores(study))
    (analysis,) = shown.document["analyses"]
    (criterion,) = analysis["criteria"]
    assert (criterion["state"], criterion["system"]) == ("PASS", "judge")
    assert criterion["value"] == pytest.approx(0.722222, abs=5e-7)
    assert study.ledger.audit().ok


def test_a_score_in_prose_is_refused_with_the_advice_to_extract_it(study: Study) -> None:
    """Of "4 out of 5, not 3" either could be meant."""
    begin(study)
    study.ledger.seal("study", "teste", labels(study))
    size = study.size
    with pytest.raises(errors.TableNumberInProse) as caught:
        study.ledger.reveal("study", submission=scores(study, last="score: 9 out of 10"))
    assert (caught.value.fields["column"], caught.value.fields["count"]) == ("judge", 1)
    assert study.size == size


def test_of_an_open_pool_each_part_is_held_against_the_bins(study: Study) -> None:
    """Scores are committed once, so that one outside the bins would leave a study that nothing could compute."""
    document = document_of(
        {"pool": "corpus"},
        {
            "columns": {
                "id": {"type": "text"},
                "human": {"type": "number", "part": "labels"},
                "labelled_at": {"type": "time", "is": "labelled", "part": "labels"},
                "judge": {"type": "number", "part": "scores"},
                "scored_at": {"type": "time", "is": "scored", "part": "scores"},
            }
        },
        pools={"corpus": {"tables": ["cases"], "open": "synthetic", "order": ["cases", "labels", "scores"]}},
    )
    study.ledger.register(write(study.folder / "judge.yaml", json.dumps(document)))
    study.ledger.commit("study", "cases", write(study.folder / "c.csv", "id", "a", "b"))
    parts = {"labels": ("human", "labelled_at", "2099-01-01"), "scores": ("judge", "scored_at", "2099-01-02")}
    for part, (column, dated, day) in parts.items():
        size = study.size
        rows = (f"id,{column},{dated}", f"a,0.5,{day}T00:00:00Z")
        with pytest.raises(errors.OutsideBins) as caught:
            study.ledger.commit("study", part, write(study.folder / "p.csv", *rows, f"b,2,{day}T00:00:00Z"))
        assert (caught.value.fields["column"], caught.value.fields["count"]) == (column, 1)
        assert study.size == size
        study.ledger.commit("study", part, write(study.folder / "p.csv", *rows, f"b,,{day}T00:00:00Z"))
    assert study.ledger.run("study", "judge").document["analyses"][0]["rows"] == 2
