"""Whole studies of pictures, schools, shops and labels on the public files, against published numbers.

Expected counts stand in the data's own `expected.json`; what it lacks is computed here from the definitions of the
sources that are named.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from scipy import stats
from tests.scripts.real import Shell, expected_of, plan_of, read, rows_of, write

# --- pairs -------------------------------------------------------------------------------------------------

NETS = {"alexnet": "session_1", "googlenet": "session_1", "vgg": "session_1", "resnet50": "session-1"}
PEOPLE = {f"subject-0{n}": "session_1" for n in range(1, 6)}
RENDERINGS = ("original", "grayscale", "silhouette-filled", "edge")
SHOWN = {
    "image": {"type": "text"},
    "rendering": {"type": "category", "values": list(RENDERINGS)},
    "category": {"type": "text"},
    "object_response": {"type": "text", "from": "submission"},
    "rt": {"type": "number", "missing": ["", "NaN"], "from": "submission"},
    "correct": {"type": "outcome", "equals": ["object_response", "category"]},
}


def _trials(data_dir: Path, names: Mapping[str, str]) -> dict[str, list[dict[str, str]]]:
    """The trials of each, one for every image and rendering; the image's name stands in that of its file."""
    return {
        name: [
            {**row, "rendering": rendering, "image": row["imagename"].split("_00_")[1].removesuffix(".png")}
            for rendering in RENDERINGS
            for row in rows_of(data_dir / "5-paired" / f"{rendering}-experiment_{name}_{session}.csv")
        ]
        for name, session in names.items()
    }


def _only(rows: Sequence[Mapping[str, str]], *names: str) -> list[dict[str, str]]:
    return [{name: row[name] for name in names} for row in rows]


def test_pictures_without_texture(shell: Shell, data_dir: Path) -> None:
    """Texture against shape: four networks over four renderings, and two of them on silhouettes alone.

    Of 160 pairs VGG loses and gains none, and Tango's interval at .05/3 has the end z^2/(n + z^2) = .0346 (Tango
    1998): of the margins, .03 is not shown and .05 is.
    """
    trials = _trials(data_dir, NETS)
    alone = {
        n: [row for row in rows if row["rendering"] == "silhouette-filled"] for n, rows in trials.items()
    }
    one = {name: column for name, column in SHOWN.items() if name != "rendering"}
    sealed = [
        "trials="
        + write(shell.folder / "trials.csv", _only(trials["vgg"], "image", "rendering", "category")),
        "silhouettes=" + write(shell.folder / "alone.csv", _only(alone["vgg"], "image", "category")),
    ]
    given = []
    for name in NETS:
        said = _only(trials[name], "image", "rendering", "object_response", "rt")
        given.append(f"{name}:trials=" + write(shell.folder / f"{name}.csv", said))
        said = _only(alone[name], "image", "object_response", "rt")
        given.append(f"{name}:silhouettes=" + write(shell.folder / f"{name}-alone.csv", said))
    event = {"column": "correct", "blank": "not_detected"}
    analyses = {
        "renderings": {
            "kind": "paired_variants",
            "pair_on": "image",
            "baseline": "original",
            "detected": event,
            "criteria": [
                {"id": "same", "metric": "difference", "variant": "grayscale", "min": 0},
                {"id": "near", "metric": "difference", "variant": "grayscale", "min": -0.03},
                {"id": "margin", "metric": "difference", "variant": "grayscale", "min": -0.05},
            ],
        },
        "systems": {
            "kind": "recall",
            "table": "silhouettes",
            "detected": event,
            "criteria": [
                {"id": "nets", "metric": "difference", "systems": ["alexnet", "resnet50"], "min": 0}
            ],
        },
    }
    document = plan_of(
        "texture",
        {
            "trials": {"key": ["image", "rendering"], "columns": SHOWN},
            "silhouettes": {"key": "image", "columns": one},
        },
        analyses,
        systems={name: {"version": "1"} for name in NETS},
    )
    answer = read(shell, document, sealed, given)
    published = expected_of(data_dir, "original-experiment_alexnet_session_1.csv")
    for each in answer.analysis("renderings")["estimates"]:
        if each["metric"] == "detected" and each["group"]:
            counts = published["correct_of_160"][each["system"]][each["group"]["rendering"]]
            assert (each["numerator"], each["denominator"]) == (counts, 160)
    pairs = {(r["system"], r["variant"]): r for r in answer.analysis("renderings")["tables"]["paired"]}
    grey = {name: pairs[name, "grayscale"] for name in NETS}
    assert [grey["alexnet"][k] for k in ("first_only", "second_only", "p")] == [5, 0, 0.0625]
    assert [grey["vgg"][k] for k in ("first_only", "second_only", "p")] == [0, 0, 1]
    rules = {(each["id"], each["system"]): each for each in answer.analysis("renderings")["criteria"]}
    assert rules["same", "alexnet"]["reason"]["code"] == "test-open"
    assert rules["same", "vgg"]["reason"]["code"] == "no-discordant-pairs"
    assert rules["margin", "alexnet"]["state"] == "INSUFFICIENT_EVIDENCE"
    z = stats.norm.isf(0.05 / 3 / 2)
    assert rules["near", "vgg"]["low"] == pytest.approx(-(z**2) / (160 + z**2), rel=1e-4)
    assert (rules["near", "vgg"]["state"], rules["margin", "vgg"]["state"]) == (
        "INSUFFICIENT_EVIDENCE",
        "PASS",
    )
    (nets,) = answer.analysis("systems")["tables"]["paired"]
    assert [nets[k] for k in ("systems", "first_only", "second_only")] == [["alexnet", "resnet50"], 8, 24]
    assert nets["p"] == pytest.approx(0.00700, abs=5e-6)
    (rule,) = answer.analysis("systems")["criteria"]
    assert (rule["state"], rule["value"]) == ("FAIL", -16 / 160)
    assert "lost" in answer.text


def test_no_answer_is_an_answer(shell: Shell, data_dir: Path) -> None:
    """Five people's answers: `na`, when they gave none, is text that is no category, and not a blank."""
    trials = _trials(data_dir, PEOPLE)
    assert any(row["object_response"] == "na" for rows in trials.values() for row in rows)
    pool = write(shell.folder / "t.csv", _only(trials["subject-01"], "image", "rendering", "category"))
    given = [
        f"{name}:" + write(shell.folder / f"{name}.csv", _only(rows, "image", "rendering", "object_response"))
        for name, rows in trials.items()
    ]
    plan = {
        "kind": "recall",
        "detected": {"column": "correct", "blank": "left_out"},
        "by": [["rendering"]],
        "criteria": [{"id": "all", "metric": "recall", "min": 0.5}],
    }
    columns = {name: column for name, column in SHOWN.items() if name != "rt"}
    table = {"key": ["image", "rendering"], "cluster": "image", "columns": columns}
    document = plan_of(
        "people", {"trials": table}, {"people": plan}, systems={n: {"version": "1"} for n in PEOPLE}
    )
    answer = read(shell, document, [pool], given)
    right: Counter[str] = Counter()
    for each in answer.analysis()["estimates"]:
        if each["metric"] == "recall" and each["group"]:
            assert (each["denominator"], each["missing"]) == (160, 0)
            right[each["group"]["rendering"]] += each["numerator"]
    assert dict(right) == expected_of(data_dir, "original-experiment_alexnet_session_1.csv")["people_of_800"]
    assert answer.analysis()["left_out"] == []


# --- samples and labels ------------------------------------------------------------------------------------


def test_schools_of_a_stratified_sample(shell: Shell, data_dir: Path) -> None:
    """R's survey: `svymean(~api00)`, `svytotal(~enroll)` and `svyratio(~api.stu, ~enroll)` of `apistrat`.

    Enrolment comes as a submission, which is joined by the schools' codes of 14 digits.
    """
    source = data_dir / "6-sampling-relabel" / "api_apistrat.csv"
    rows = rows_of(source)
    assert {len(row["cds"]) for row in rows} == {14}
    given = write(shell.folder / "enroll.csv", _only(rows, "cds", "enroll"))
    numbers = {name: {"type": "number"} for name in ("api00", "api.stu", "fpc")}
    columns = {
        "cds": {"type": "text"},
        "stype": {"type": "category", "values": ["E", "M", "H"]},
        **numbers,
        "enroll": {"type": "number", "from": "submission"},
        "pw": {"type": "number", "is": "weight"},
    }
    weights = {"column": "pw", "strata": "stype", "fpc": "fpc"}
    asked: dict[str, dict[str, Any]] = {
        "mean": {"value": "api00"},
        "total": {"value": "enroll"},
        "ratio": {"value": "api.stu", "over": "enroll"},
    }
    analyses = {
        of: {"kind": "estimate", "of": of, **named, "weights": weights,
             "criteria": [{"id": "least", "metric": of, "min": 0.5}]}
        for of, named in asked.items()
    }  # fmt: skip
    document = plan_of("schools", {"schools": {"key": "cds", "columns": columns}}, analyses)
    answer = read(shell, document, [str(source)], [given])
    published = {
        "mean": (662.287363, 9.408941),
        "total": (3687177.53, 114641.716),
        "ratio": (0.836957, 0.007757),
    }
    for of, (value, error) in published.items():
        told = answer.estimate(of, of)
        assert told["value"] == pytest.approx(value, abs=5 * 10 ** (-3 if of == "total" else -7))
        (sampled,) = answer.analysis(of)["tables"]["estimates"]
        assert sampled["standard_error"] == pytest.approx(error, abs=5e-4 if of == "total" else 5e-7)
        (rows_,) = [answer.analysis(of)["tables"]["design"]]
        assert [(row["population"], row["drawn"]) for row in rows_] == [(4421, 100), (1018, 50), (755, 50)]
    assert answer.document["state"] == "PASS"
    assert "662.2874" in answer.text


@pytest.mark.parametrize(
    ("drawn", "total", "variance"), [("AB", 111.87, 47.1), ("CD", 316.67, 3259.8)], ids=["AB", "CD"]
)
def test_shops_drawn_by_their_size(shell: Shell, drawn: str, total: float, variance: float) -> None:
    """Sizes 1, 2, 3, 10 of 16; two drawn one after the other: Sen-Yates-Grundy (Yates and Grundy 1953), as in."""
    chance = dict(zip("ABCD", (1 / 16, 2 / 16, 3 / 16, 10 / 16), strict=True))
    takings = dict(zip("ABCD", (11, 20, 24, 245), strict=True))

    def both(a: str, b: str) -> float:
        return chance[a] * chance[b] / (1 - chance[a]) + chance[b] * chance[a] / (1 - chance[b])

    once = {each: sum(both(each, other) for other in "ABCD" if other != each) for each in "ABCD"}
    shops = write(
        shell.folder / "shops.csv",
        [{"shop": each, "takings": takings[each], "chance": repr(once[each])} for each in drawn],
    )
    pairs = [{"a": a, "b": b, "chance": repr(both(a, b))} for a, b in combinations(drawn, 2)]
    tables = {
        "shops": {
            "key": "shop",
            "columns": {
                "shop": {"type": "text"},
                "takings": {"type": "number"},
                "chance": {"type": "number", "is": "inclusion_probability"},
            },
        },
        "pairs": {
            "key": ["a", "b"],
            "columns": {"a": {"type": "text"}, "b": {"type": "text"}, "chance": {"type": "number"}},
        },
    }
    joint = {"table": "pairs", "of": ["a", "b"], "column": "chance"}
    plan = {
        "kind": "estimate",
        "of": "total",
        "value": "takings",
        "weights": {"column": "chance", "joint": joint},
        "criteria": [{"id": "least", "metric": "total", "min": 1}],
    }
    sealed = [f"shops={shops}", "pairs=" + write(shell.folder / "pairs.csv", pairs)]
    answer = read(shell, plan_of("shops", tables, {"total": plan}), sealed)
    told = answer.estimate("total")
    assert told["value"] == pytest.approx(total, abs=0.005)
    (sampled,) = answer.analysis()["tables"]["estimates"]
    assert sampled["standard_error"] ** 2 == pytest.approx(variance, abs=0.05)


def test_the_same_annotators_twice(shell: Shell, data_dir: Path) -> None:
    """XHateStability: both passes in one file, a blank after each comma, in the header as well."""
    source = data_dir / "6-sampling-relabel" / "xhatestability_annotations.csv"
    assert source.read_text().startswith("row, condition, annotator, label1, label2")
    published = expected_of(data_dir, "xhatestability_annotations.csv")
    conditions = ("en-en", "de-en", "en-de", "de-de")
    label = {"type": "category", "values": ["Hateful", "Not hateful"]}
    columns = {
        "row": {"type": "text"},
        "condition": {"type": "category", "values": list(conditions)},
        "annotator": {"type": "text"},
        "label1": label,
        "label2": label,
    }
    plan = {
        "kind": "self_agreement",
        "passes": ["label1", "label2"],
        "by": [["condition"]],
        "criteria": [{"id": "raw", "metric": "raw_agreement", "min": 0.85}],
    }
    key = ["row", "condition", "annotator"]
    table = {"key": key, "cluster": "annotator", "strip_header": True, "columns": columns}
    answer = read(shell, plan_of("xhate", {"labels": table}, {"self": plan}), [str(source)])
    by = {
        row.get("group", {}).get("condition", "all"): row for row in answer.analysis()["tables"]["agreement"]
    }
    found = {name: (row["n"], round(row["raw"], 4), round(row["kappa"], 4)) for name, row in by.items()}
    assert found.pop("all") == (2090, published["all"]["raw"], published["all"]["kappa"])
    assert found == {name: tuple(published[name]) for name in conditions}
    assert answer.document["state"] == "FAIL"
    assert by["all"]["floor"] == pytest.approx(1 - by["all"]["low"])
