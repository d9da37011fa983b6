"""Whole calibrations of judges on public files: committed in their order, run, audited, given to a stranger."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.judging import DIGEST, THIRDS
from tests.scripts.real import EXIT, Shell, expected_of, plan_of, write

LABELLED, SCORED = "2099-01-01T00:00:00Z", "2099-01-02T00:00:00Z"
"""In days to come, so that no label is from before a registration, whenever the tests run."""

Rows = Sequence[Mapping[str, object]]


def calibration(
    study: str, columns: Mapping[str, Any], groups: Sequence[str], plan: Mapping[str, Any], **table: Any
) -> dict[str, Any]:
    """A protocol of one judge, whose columns are `human` and `judge`, over an open corpus."""
    whole = {
        "id": {"type": "text"},
        **{name: column for name, column in columns.items() if name not in ("human", "judge")},
        "human": {**columns["human"], "part": "labels"},
        "labelled_at": {"type": "time", "is": "labelled", "part": "labels"},
        "judge": {**columns["judge"], "part": "scores"},
        "scored_at": {"type": "time", "is": "scored", "part": "scores"},
    }
    bar = {"id": "bar", "metric": "kappa", "dimension": "truth", "min": 0.6, "decide_on": "point"}
    analysis = {
        "kind": "judge_agreement",
        "weights": "linear",
        "dimensions": {"truth": {"human": "human", "judge": "judge"}},
        "diagnostics_by": list(groups),
        "target": 0.65,
        "bootstrap": {"resamples": 2000, "seed": 20260613},
        "criteria": [bar],
        **plan,
    }
    document = plan_of(
        study,
        {"cases": {"key": "id", "columns": whole, **table}},
        {"judge": analysis},
        "corpus",
        systems={"judge": {"version": "1", "digest": DIGEST}},
        bins={"thirds": THIRDS},
        locked=["bins", "analyses.judge.criteria", "analyses.judge.dimensions", "analyses.judge.weights"],
    )
    document["pools"]["corpus"] |= {"open": "published by others", "order": ["cases", "labels", "scores"]}
    return document


def begun(shell: Shell, plan: Mapping[str, Any], rows: Rows) -> dict[str, str]:
    """Register a plan, and write the file of each part."""
    (shell.folder / "plan.json").write_text(json.dumps(plan))
    shell.json("init")
    shell.json("register", "plan.json")
    judged = {"human", "judge"}
    parts = {
        "cases": [{name: cell for name, cell in row.items() if name not in judged} for row in rows],
        "labels": [{"id": row["id"], "human": row["human"], "labelled_at": LABELLED} for row in rows],
        "scores": [{"id": row["id"], "judge": row["judge"], "scored_at": SCORED} for row in rows],
    }
    return {part: write(shell.folder / f"{part}.csv", each) for part, each in parts.items()}


def calibrated(shell: Shell, plan: Mapping[str, Any], rows: Rows) -> tuple[dict[str, Any], str]:
    """Commit the parts and run the analysis; return its document, and all that a person reads of it."""
    study = plan["study"]
    for part, file in begun(shell, plan, rows).items():
        shell.json("commit", study, part, file)
    return ran(shell, study)


def ran(shell: Shell, study: str) -> tuple[dict[str, Any], str]:
    """Run the analysis of a study whose parts are committed, and give its result to a stranger."""
    made = shell.lacre("run", study, "judge", "--json")
    document = made.document
    assert made.status == EXIT[document["state"]], made.err
    where = document["result"]
    assert shell.json("audit")["findings"] == []
    shell.json("export", where, "-o", "result.zip")
    assert shell.json("verify", "result.zip")["findings"] == []
    shell.json("report", where, "-o", "report.html")
    page = (shell.folder / "report.html").read_text(encoding="utf-8")
    (analysis,) = document["analyses"]
    return dict(analysis), shell.lacre("show", where).out + page


def line(analysis: Mapping[str, Any], **group: str) -> Mapping[str, Any]:
    return next(each for each in analysis["tables"]["judge_agreement"] if each["group"] == group)


def frank(data_dir: Path, judge: str) -> list[dict[str, object]]:
    folder = data_dir / "2-judge"
    scores = {
        (each["hash"], each["model_name"]): each[judge]
        for each in json.loads((folder / "frank_baseline_metrics_outputs.json").read_text())
    }
    return [
        {
            "id": f"{each['hash']}-{each['model_name']}",
            "dataset": each["dataset"],
            "human": each["Factuality"],
            "judge": scores[each["hash"], each["model_name"]],
        }
        for each in json.loads((folder / "frank_human_annotations.json").read_text())
    ]


SHARE = {"type": "number", "min": 0, "max": 1}
FRANK = {
    "dataset": {"type": "category", "values": ["cnndm", "bbc"]},
    "human": SHARE,
    "judge": SHARE,
}


def test_the_paradox_of_bbc_is_no_reason_to_lower_the_bar(shell: Shell, data_dir: Path) -> None:
    """bbc by itself: scores refused before labels; FAIL at .065 with raw agreement .753; the bar stays where it is."""
    plan = calibration("bbc", FRANK, [], {"bins": "thirds"})
    rows = [each for each in frank(data_dir, "FactCC") if each["dataset"] == "bbc"]
    files = begun(shell, plan, rows)
    shell.json("commit", "bbc", "cases", files["cases"])
    early = shell.lacre("commit", "bbc", "scores", files["scores"], "--json")
    assert early.status == 2
    assert "labels" in early.document["error"]["message"]
    for part in ("labels", "scores"):
        shell.json("commit", "bbc", part, files[part])
    analysis, shown = ran(shell, "bbc")
    expected = expected_of(data_dir, "frank_human_annotations.json")["lin_kappa_bins_1/3_2/3_closed_left"][
        "FactCC"
    ]
    pooled = line(analysis)
    assert analysis["state"] == "FAIL"
    assert pooled["kappa"] == pytest.approx(expected["bbc"], abs=5e-4)
    assert pooled["raw"] == pytest.approx(expected["bbc_raw"], abs=5e-4)
    assert pooled["paradox"]["bar"] == 0.6
    assert "truth: a kappa paradox." in " ".join(shown.split())
    assert "human-vs-judge agreement of one rater" in shown
    plan["analyses"]["judge"]["criteria"][0]["min"] = 0.05
    (shell.folder / "lower.json").write_text(json.dumps(plan))
    lower = shell.lacre("amend", "lower.json", "--reason", "it is a paradox", "--json")
    assert (lower.status, lower.document["error"]["code"]) == (2, "fields-locked")
    assert "analyses.judge.criteria" in lower.document["error"]["message"]


def test_essays_of_enem(shell: Shell, data_dir: Path) -> None:
    """200 scores of 40 essays, resampled by essay; by competence they are diagnostics."""
    rows = []
    for prompt in (3, 6):
        file = data_dir / "2-judge" / f"enem_ptbr_resultados_prompt{prompt}_rag.json"
        for each in json.loads(file.read_text(encoding="utf-8")):
            essay = f"{prompt}-{each['redacao_index']}"
            rows += [
                {
                    "id": f"{essay}-{place}",
                    "essay": essay,
                    "competence": place,
                    "human": human,
                    "judge": each["avaliacao_sistema"]["competencias"][f"competencia_{place}"]["nota"],
                }
                for place, human in enumerate(each["competencias_reais"], start=1)
            ]
    marks = {"type": "ordinal", "values": [str(each) for each in range(0, 201, 40)]}
    columns = {
        "essay": {"type": "text"},
        "competence": {"type": "category", "values": ["1", "2", "3", "4", "5"]},
        "human": marks,
        "judge": marks,
    }
    plan = calibration("enem", columns, ["competence"], {}, cluster="essay")
    analysis, _shown = calibrated(shell, plan, rows)
    expected = expected_of(data_dir, "enem_ptbr_resultados_prompt3_rag.json")
    assert line(analysis)["kappa"] == pytest.approx(expected["pooled_lin_kappa"]["rag"], abs=5e-5)
    found = [line(analysis, competence=str(place))["kappa"] for place in range(1, 6)]
    assert found == pytest.approx(expected["per_competence_lin_rag"], abs=5e-5)
    assert line(analysis)["kappa_method"].startswith("cluster bootstrap")
    assert analysis["state"] == "FAIL"
