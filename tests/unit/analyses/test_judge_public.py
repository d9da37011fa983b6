"""Judges of published data against their human labels: every value of section c and of `expected.json`."""

import csv
import io
import json
import re
import statistics
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.judging import COLUMNS, DIGEST, PLAN, protocol_of, run

from lacre.analyses import analyse
from lacre.analyses.estimate import Measure
from lacre.analyses.given import Given
from lacre.analyses.result import AnalysisResult
from lacre.analyses.verdict import State
from lacre.tables.formats import Format
from lacre.tables.read import read_table


def published(data_dir: Path, file: str) -> Mapping[str, Any]:
    """Return what `expected.json` has of a file."""
    entries = json.loads((data_dir / "expected.json").read_text())
    expected = next(
        each["expected"] for each in entries if any(file in named["file"] for named in each["files"])
    )
    return dict(expected)


def judge_file(data_dir: Path, name: str) -> str:
    return (data_dir / "2-judge" / name).read_text()


def figure(result: AnalysisResult, dimension: str = "truth", **group: str) -> Mapping[str, Any]:
    return next(
        each
        for each in result.tables["judge_agreement"]
        if (each["dimension"], each["group"]) == (dimension, group)
    )


def largest(found: Mapping[str, Any]) -> list[float]:
    """Return the share of the human's and of the judge's marginal that their largest bin holds."""
    return [max(found[side]) / found["n"] for side in ("human_marginal", "judge_marginal")]


def test_frank_and_the_paradox_of_bbc(data_dir: Path) -> None:
    """FactCC and QAGS as judges, edges at thirds: bbc alone is a paradox, and of FactCC alone."""
    humans = json.loads(judge_file(data_dir, "frank_human_annotations.json"))
    scores = {
        (each["hash"], each["model_name"]): each
        for each in json.loads(judge_file(data_dir, "frank_baseline_metrics_outputs.json"))
    }
    rows = [
        {
            "id": f"{each['hash']}-{each['model_name']}",
            "dataset": each["dataset"],
            "human": each["Factuality"],
            **{name: scores[each["hash"], each["model_name"]][name] for name in ("FactCC", "QAGS")},
        }
        for each in humans
    ]
    share = COLUMNS["human"]
    columns = {
        "id": {"type": "text"},
        "dataset": {"type": "category", "values": ["cnndm", "bbc"]},
        **dict.fromkeys(("human", "FactCC", "QAGS"), share),
    }
    analyses = {
        name: {
            **PLAN,
            "systems": name,
            "dimensions": {"truth": {"human": "human", "judge": name}},
            "diagnostics_by": ["dataset"],
            "criteria": [
                {"id": "bar", "metric": "kappa", "dimension": "truth", "min": 0.6, "decide_on": "point"}
            ],
        }
        for name in ("FactCC", "QAGS")
    }
    systems = {name: {"version": "1", "digest": DIGEST} for name in analyses}
    protocol = protocol_of(table={"columns": columns}, systems=systems, analyses=analyses)
    expected = published(data_dir, "frank_human")["lin_kappa_bins_1/3_2/3_closed_left"]
    for name in analyses:
        result = run(protocol, rows, name)
        whole, parts = expected[name], {each: figure(result, dataset=each) for each in ("cnndm", "bbc")}
        assert figure(result)["kappa"] == pytest.approx(whole["all"], abs=5e-5)
        for part, found in parts.items():
            assert found["kappa"] == pytest.approx(whole[part], abs=5e-5)
        assert result.state is State.FAIL
        near = {note.fields["column"] for note in result.notes if note.code == "near-edge"}
        assert "human" in near  # 1/3 is written 0.3333333333 there
        flagged = [each["group"] for each in result.tables["judge_agreement"] if each["paradox"]]
        assert flagged == ([{"dataset": "bbc"}] if name == "FactCC" else [])
        if name == "FactCC":
            assert figure(result)["raw"] == pytest.approx(whole["raw"], abs=5e-5)
            assert parts["bbc"]["raw"] == pytest.approx(whole["bbc_raw"], abs=5e-4)
            assert figure(result)["gwet"] == pytest.approx(0.6094, abs=5e-5)
            assert parts["bbc"]["gwet"] == pytest.approx(0.6958, abs=5e-5)
            paradox = parts["bbc"]["paradox"]
            assert sorted((paradox["human"], paradox["judge"])) == pytest.approx([0.783, 0.918], abs=5e-4)
            assert sorted(largest(parts["cnndm"])) == pytest.approx([0.727, 0.787], abs=5e-4)
            assert largest(figure(result)) == pytest.approx([0.49, 0.49], abs=5e-3)


@pytest.mark.parametrize("language", ["en", "es"])
def test_truthfulqa_multi(data_dir: Path, language: str) -> None:
    """Two labels of 50 answers: kappa to 1e-12, and no paradox without a bar."""
    second = {
        row["id"]: row
        for row in csv.DictReader(
            io.StringIO(judge_file(data_dir, f"truthfulqa-multi_iaa_{language}.csv"), newline="")
        )
    }
    first = {
        row["id"]: row
        for row in csv.DictReader(
            io.StringIO(judge_file(data_dir, f"truthfulqa-multi_{language}.csv"), newline="")
        )
    }
    first |= {
        row["id"]: row
        for row in csv.DictReader(
            io.StringIO(judge_file(data_dir, f"truthfulqa-multi_base_{language}.csv"), newline="")
        )
    }
    names = {"truth": "truthfulness", "info": "informativeness"}
    columns: dict[str, Any] = {"id": {"type": "text"}}
    for each in names.values():
        columns |= {f"{each}_{place}": {"type": "category", "values": ["no", "yes"]} for place in (1, 2)}
    rows = [
        {
            "id": name,
            **{f"{each}_1": first[name][each] for each in names.values()},
            **{f"{each}_2": row[each] for each in names.values()},
        }
        for name, row in second.items()
    ]
    plan = {
        "bins": None,
        "weights": "none",
        "dimensions": {short: {"human": f"{each}_1", "judge": f"{each}_2"} for short, each in names.items()},
    }
    result = run(protocol_of(plan, {"columns": columns}), rows)
    expected = published(data_dir, "truthfulqa-multi_en")["kappa_two_annotators"][language]
    for place, short in enumerate(names):
        found = figure(result, short)
        assert found["n"] == 50
        assert found["kappa"] == pytest.approx(expected[short], abs=1e-12)
        assert found["raw"] == pytest.approx(expected["raw"][place])
        assert found["paradox"] is None


def enem(data_dir: Path, judge: str) -> list[dict[str, Any]]:
    """Return a row for each competence of each essay; an essay's five are its cluster."""
    rows = []
    for prompt in (3, 6):
        for each in json.loads(judge_file(data_dir, f"enem_ptbr_resultados_prompt{prompt}_{judge}.json")):
            given = each["avaliacao_sistema"]["competencias"]
            essay = f"{prompt}-{each['redacao_index']}"
            rows += [
                {
                    "id": f"{essay}-{place}",
                    "essay": essay,
                    "competence": str(place),
                    "human": human,
                    "judge": given[f"competencia_{place}"]["nota"],
                }
                for place, human in enumerate(each["competencias_reais"], start=1)
            ]
    return rows


@pytest.mark.parametrize("judge", ["rag", "baseline"])
def test_essays_of_enem_clustered_by_essay(data_dir: Path, judge: str) -> None:
    """200 scores of 40 essays; human labels of the first competence never use 40, which keeps its place."""
    scale = {"type": "ordinal", "values": [str(each) for each in range(0, 201, 40)]}
    columns = {
        "id": {"type": "text"},
        "essay": {"type": "text"},
        "competence": {"type": "category", "values": ["1", "2", "3", "4", "5"]},
        "human": scale,
        "judge": scale,
    }
    plan = {"bins": None, "diagnostics_by": ["competence"]}
    rows = enem(data_dir, judge)
    expected = published(data_dir, "enem_ptbr_resultados_prompt3_rag")
    result = run(protocol_of(plan, {"columns": columns, "cluster": "essay"}), rows)
    whole = figure(result)
    assert (whole["n"], whole["kappa"]) == (200, pytest.approx(expected["pooled_lin_kappa"][judge], abs=5e-5))
    raw = dict(zip(("rag", "baseline"), expected["pooled_lin_kappa"]["raw"], strict=True))[judge]
    assert whole["raw"] == pytest.approx(raw, abs=5e-3)
    each = [figure(result, competence=str(place))["kappa"] for place in range(1, 6)]
    assert each == pytest.approx(expected[f"per_competence_lin_{judge}"], abs=5e-5)
    estimate = next(found for found in result.estimates if found.metric == "kappa" and not found.group)
    assert isinstance(estimate, Measure)
    assert estimate.method.startswith("cluster bootstrap, percentile")
    assert figure(result, competence="1")["human_marginal"][1] == 0


@pytest.mark.parametrize("judge", ["gpt-4-0314", "gpt-3.5-turbo-0301"])
def test_summeval_against_the_median_expert(data_dir: Path, judge: str) -> None:
    """100 summaries, 1 to 5. The expected values rest on the last number of each reply, half points to the higher bin.

    That is a guess which lacre does not make: of "1 out of 5" it takes the 5, and of a match that ended 1-0 the 0.
    """
    lines = judge_file(data_dir, f"summeval_M11_{judge}_consistency_rts.txt").splitlines()
    replies = {each["id"]: each["resp"] for each in map(json.loads, filter(None, lines))}
    experts = [
        json.loads(line)
        for line in judge_file(data_dir, "summeval_M11_outputs_annotations.jsonl").splitlines()
    ]
    rows = [
        {
            "id": each["id"],
            "human": statistics.median(given["consistency"] for given in each["expert_annotations"]),
            "judge": re.findall(r"\d+(?:\.\d+)?", replies[each["id"]])[-1],
        }
        for each in experts
    ]
    stars = {"type": "number", "min": 0, "max": 5}
    bins = {"degree": {str(place): [place - 0.5 if place > 1 else 0, place + 0.5] for place in range(1, 6)}}
    columns = {"id": {"type": "text"}, "human": stars, "judge": stars}
    result = run(protocol_of(table={"columns": columns}, bins=bins), rows)
    expected = published(data_dir, "summeval_M11_gpt-4")[judge]
    kappa = expected.get("lin_kappa_vs_median", expected.get("lin_kappa"))
    assert figure(result)["n"] == 100
    assert figure(result)["kappa"] == pytest.approx(kappa, abs=5e-5)
    assert figure(result)["raw"] == pytest.approx(expected["raw"], abs=5e-3)


def test_summeval_experts_in_pairs(data_dir: Path) -> None:
    """Three experts, 1 to 5, each pair as a dimension."""
    lines = judge_file(data_dir, "summeval_M11_outputs_annotations.jsonl").splitlines()
    rows = [
        {"id": each["id"]}
        | {f"e{place}": str(given["consistency"]) for place, given in enumerate(each["expert_annotations"])}
        for each in map(json.loads, lines)
    ]
    scale = {"type": "ordinal", "values": [str(each) for each in range(1, 6)]}
    columns = {"id": {"type": "text"}, **{f"e{place}": scale for place in range(3)}}
    pairs = ((0, 1), (0, 2), (1, 2))
    dimensions = {f"{one}{other}": {"human": f"e{one}", "judge": f"e{other}"} for one, other in pairs}
    result = run(protocol_of({"bins": None, "dimensions": dimensions}, {"columns": columns}), rows)
    expected = published(data_dir, "summeval_M11_gpt-4")["expert_pair_lin_kappa"]
    assert [figure(result, name)["kappa"] for name in dimensions] == pytest.approx(expected, abs=5e-5)


def test_nested_files_of_enem_as_they_come(data_dir: Path) -> None:
    """A dimension for each competence, found by its path: the values of the long table, one row an essay."""
    marks = {"type": "number", "min": 0, "max": 200}
    bins = {"degree": {str(mark): [mark, mark + 40 if mark < 200 else 201] for mark in range(0, 201, 40)}}
    columns: dict[str, Any] = {"prompt_id": {"type": "text"}, "redacao_index": {"type": "text"}}
    for place in range(1, 6):
        columns[f"human_{place}"] = {**marks, "path": f"$.competencias_reais[{place - 1}]"}
        path = f"$.avaliacao_sistema.competencias.competencia_{place}.nota"
        columns[f"judge_{place}"] = {**marks, "path": path}
    dimensions = {str(place): {"human": f"human_{place}", "judge": f"judge_{place}"} for place in range(1, 6)}
    key = ["prompt_id", "redacao_index"]
    protocol = protocol_of({"dimensions": dimensions}, {"columns": columns, "key": key}, bins=bins)
    records = [
        each
        for prompt in (3, 6)
        for each in json.loads(judge_file(data_dir, f"enem_ptbr_resultados_prompt{prompt}_baseline.json"))
    ]
    raw = json.dumps(records).encode()
    table = read_table(raw, protocol.tables["cases"], "cases", Format.JSON, only="pool")
    result = analyse("judge", Given.of_one(protocol, "cases", table, "judge"))
    expected = published(data_dir, "enem_ptbr_resultados_prompt3_rag")["per_competence_lin_baseline"]
    found = [figure(result, str(place))["kappa"] for place in range(1, 6)]
    assert found == pytest.approx(expected, abs=5e-5)
