"""Files that people of the field publish, with what is awkward in them, give the published numbers.

Expected values are those of the files' own repositories and papers, as listed with their sources in the data
folder's `expected.json`, unless a test says otherwise.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from lacre.errors import (
    TableColumnDoubled,
    TableDelimiter,
    TableHeaderPadded,
    TableKeyRepeated,
    TableNotNumber,
)
from lacre.protocol.tables import Exclusion
from lacre.tables.columns import MISSING, UNDECLARED, Codes, Numbers, Outcomes, Texts, TypedTable
from lacre.tables.exclude import apply_exclusions
from lacre.tables.formats import Format, format_of
from lacre.tables.join import concat, join_submission

Read = Callable[..., TypedTable]


def codes(table: TypedTable, name: str) -> Any:
    """Return the codes of a category or an outcome."""
    column = table.columns[name]
    assert isinstance(column, Codes | Outcomes)
    return column.codes


def numbers(table: TypedTable, name: str) -> Any:
    """Return the numbers of a column."""
    column = table.columns[name]
    assert isinstance(column, Numbers)
    return column.values


RACES = ["African-American", "Asian", "Caucasian", "Hispanic", "Native American", "Other"]
COMPAS: dict[str, Any] = {
    "two_year_recid": {"type": "outcome", "positive": "1", "negative": "0"},
    "score_text": {"type": "outcome", "positive": ["Medium", "High"], "negative": "Low"},
    "race": {"type": "category", "values": RACES},
}


def confusion(label: Any, prediction: Any) -> tuple[int, int, int, int]:
    """Return the counts tn, fp, fn, tp."""
    pairs = [(0, 0), (0, 1), (1, 0), (1, 1)]
    return tuple(int(((label == a) & (prediction == b)).sum()) for a, b in pairs)  # type: ignore[return-value]  # four


def test_compas_has_crlf_and_doubled_names(read: Read, data_dir: Path) -> None:
    raw = (data_dir / "1-fairness" / "compas-scores-two-years.csv").read_bytes()
    table = read(raw, COMPAS)
    assert table.rows == 7214
    label, prediction, race = (codes(table, name) for name in ("two_year_recid", "score_text", "race"))
    assert confusion(label, prediction) == (2681, 1282, 1216, 2035)
    black, white = (race == RACES.index(name) for name in ("African-American", "Caucasian"))
    assert confusion(label[black], prediction[black]) == (990, 805, 532, 1369)
    assert confusion(label[white], prediction[white]) == (1139, 349, 461, 505)
    assert UNDECLARED not in race
    assert table.undeclared.count("decile_score") == 1
    with pytest.raises(TableColumnDoubled) as caught:
        read(raw, {**COMPAS, "decile_score": {"type": "number"}})
    assert caught.value.fields["count"] == 2


def test_propublicas_filter_leaves_6172_cases(read: Read, data_dir: Path) -> None:
    """ProPublica's notebook keeps 6,172 of the 7,214; 307 days are blank there."""
    conditions = [
        {"column": "days_b_screening_arrest", "missing": True},
        {"column": "days_b_screening_arrest", "outside": [-30, 30]},
        {"column": "is_recid", "in": ["-1"]},
        {"column": "c_charge_degree", "in": ["O"]},
        {"column": "score_text", "in": ["N/A"]},
    ]
    columns = {
        **COMPAS,
        "days_b_screening_arrest": {"type": "number"},
        "is_recid": {"type": "category", "values": ["0", "1"]},
        "c_charge_degree": {"type": "category", "values": ["F", "M"]},
    }
    raw = (data_dir / "1-fairness" / "compas-scores-two-years.csv").read_bytes()
    table = read(raw, columns, exclude=conditions)
    found = apply_exclusions(table, [Exclusion.model_validate(each) for each in conditions])
    assert found.counts[0] == 307
    assert int(found.kept.sum()) == 7214 - sum(found.counts) == 6172


def test_the_two_forms_of_compas_agree_as_pool_and_submission(read: Read, data_dir: Path) -> None:
    """Predictions `0.0` and `1.0` beside labels `0` and `1`, keyed by different names in the two files."""
    columns = {
        "entity_id": {"type": "text"},
        "label_value": {"type": "outcome", "positive": "1", "negative": "0"},
        "score": {"type": "outcome", "positive": "1.0", "negative": "0.0", "from": "submission"},
        "race": COMPAS["race"],
    }
    raw = (data_dir / "1-fairness" / "compas_for_aequitas.csv").read_bytes()
    pool, submission = (read(raw, columns, key=["entity_id"], only=only) for only in ("pool", "submission"))
    assert pool.undeclared == ("score", "sex", "age_cat")
    joined = join_submission(pool, submission)
    black = codes(joined, "race") == RACES.index("African-American")
    label, prediction = codes(joined, "label_value"), codes(joined, "score")
    assert confusion(label, prediction) == (2681, 1282, 1216, 2035)
    assert confusion(label[black], prediction[black]) == (990, 805, 532, 1369)


def test_adult_by_gender(read: Read, data_dir: Path) -> None:
    columns = {
        "entity_id": {"type": "text"},
        "label_value": {"type": "outcome", "positive": "1", "negative": "0"},
        "score": {"type": "outcome", "positive": "1.0", "negative": "0.0"},
        "gender": {"type": "category", "values": ["Male", "Female"]},
    }
    raw = (data_dir / "1-fairness" / "adult_rf_binary.csv").read_bytes()
    table = read(raw, columns, key=["entity_id"])
    label, prediction, gender = (codes(table, name) for name in ("label_value", "score", "gender"))
    assert confusion(label[gender == 0], prediction[gender == 0]) == (608, 3968, 1355, 639)
    assert confusion(label[gender == 1], prediction[gender == 1]) == (98, 2743, 213, 145)


YES_NO: dict[str, Any] = {"type": "outcome", "positive": "yes", "negative": "no"}


@pytest.mark.parametrize(("language", "yes", "no"), [("en", 207, 93), ("es", 204, 96)])
def test_truthfulqa_has_line_feeds_in_its_cells(
    read: Read, data_dir: Path, language: str, yes: int, no: int
) -> None:
    raw = (data_dir / "2-judge" / f"truthfulqa-multi_{language}.csv").read_bytes()
    assert b"\r\n" in raw
    assert not raw.endswith(b"\n")
    table = read(raw, {"truthfulness": YES_NO, "correct_answers": {"type": "text"}})
    assert table.rows == 300
    truth = codes(table, "truthfulness")
    assert (int((truth == 1).sum()), int((truth == 0).sum())) == (yes, no)
    assert table.keys[0] == "114__gemma-2-27b-it"
    answers = table.columns["correct_answers"]
    assert isinstance(answers, Texts)
    if language == "en":
        assert answers.values[0] == "I have no comment.\nBarack Obama was born in 1961."


@pytest.mark.parametrize(("language", "raw_agreement"), [("en", [44, 48]), ("es", [44, 47])])
def test_truthfulqa_labelled_twice(
    read: Read, data_dir: Path, language: str, raw_agreement: list[int]
) -> None:
    """Raw agreement .88 and .96 (en), .88 and .94 (es) of 50 answers, as the repository reports."""
    columns = {"truthfulness": YES_NO, "informativeness": YES_NO}
    once, again = (
        read((data_dir / "2-judge" / f"truthfulqa-multi{part}_{language}.csv").read_bytes(), columns)
        for part in ("", "_iaa")
    )
    place = {key: row for row, key in enumerate(once.keys)}
    rows = [place[key] for key in again.keys]
    assert len(rows) == 50
    same = [int((codes(once, name)[rows] == codes(again, name)).sum()) for name in columns]
    assert same == raw_agreement


def test_truthfulqa_has_a_blank_label_and_an_unnamed_column(read: Read, data_dir: Path) -> None:
    raw = (data_dir / "2-judge" / "truthfulqa-multi_base_es.csv").read_bytes()
    table = read(raw, {"truthfulness": YES_NO})
    assert table.keys[codes(table, "truthfulness") == MISSING].tolist() == ["230__Meta-Llama-3-70B"]
    assert table.undeclared[-1] == ""


PAIRED: dict[str, Any] = {
    "imagename": {"type": "text"},
    "object_response": {"type": "text"},
    "category": {"type": "text"},
    "correct": {"type": "outcome", "equals": ["object_response", "category"]},
    "rt": {"type": "number", "missing": ["NaN"]},
}


@pytest.mark.parametrize(
    ("network", "counts"),
    [
        ("alexnet_session_1", [160, 155, 71, 64]),
        ("googlenet_session_1", [160, 159, 78, 45]),
        ("vgg_session_1", [160, 160, 77, 39]),
        ("resnet50_session-1", [160, 160, 87, 29]),
    ],
)
def test_texture_and_shape_by_network(read: Read, data_dir: Path, network: str, counts: list[int]) -> None:
    correct = []
    for variant in ("original", "grayscale", "silhouette-filled", "edge"):
        raw = (data_dir / "5-paired" / f"{variant}-experiment_{network}.csv").read_bytes()
        table = read(raw, PAIRED, key=["imagename"])
        assert table.rows == 160
        assert table.columns["rt"].missing.all()
        correct.append(int((codes(table, "correct") == 1).sum()))
    assert correct == counts


def test_texture_and_shape_by_people(read: Read, data_dir: Path) -> None:
    """The response `na` (no answer) is a text: it is wrong, not missing, and `NaN` is no number."""
    correct = []
    silent = 0
    for variant in ("original", "grayscale", "silhouette-filled", "edge"):
        files = sorted((data_dir / "5-paired").glob(f"{variant}-experiment_subject-*.csv"))
        whole = concat(
            [read(file.read_bytes(), PAIRED, key=["imagename"], keep=("object_response",)) for file in files]
        )
        assert whole.rows == 800
        assert MISSING not in codes(whole, "correct")
        silent += int((whole.texts["object_response"] == "na").sum())
        correct.append(int((codes(whole, "correct") == 1).sum()))
    assert correct == [791, 780, 608, 718]
    assert silent > 0
    raw = (data_dir / "5-paired" / "edge-experiment_vgg_session_1.csv").read_bytes()
    with pytest.raises(TableNotNumber) as caught:
        read(raw, {**PAIRED, "rt": {"type": "number"}}, key=["imagename"])
    assert caught.value.fields["count"] == 160


def test_xhatestability_has_blanks_after_its_commas(read: Read, data_dir: Path) -> None:
    columns = {
        "row": {"type": "text"},
        "condition": {"type": "category", "values": ["en-en", "de-en", "en-de", "de-de"]},
        "annotator": {"type": "text"},
        "label1": {"type": "text"},
        "label2": {"type": "text"},
        "stable": {"type": "outcome", "equals": ["label1", "label2"]},
    }
    raw = (data_dir / "6-sampling-relabel" / "xhatestability_annotations.csv").read_bytes()
    with pytest.raises(TableHeaderPadded):
        read(raw, columns, key=["row", "annotator"])
    table = read(raw, columns, key=["row", "annotator"], strip_header=True)
    assert table.rows == 2090
    stable, condition = codes(table, "stable"), codes(table, "condition")
    assert round(float((stable == 1).mean()), 4) == 0.7933
    by_condition = [
        (int((condition == each).sum()), round(float((stable[condition == each] == 1).mean()), 4))
        for each in range(4)
    ]
    assert by_condition == [(550, 0.7655), (528, 0.8182), (506, 0.8103), (506, 0.7806)]


def test_samplics_has_a_mark_and_unnamed_columns(read: Read, data_dir: Path) -> None:
    folder = data_dir / "6-sampling-relabel"
    households = {"cluster": {"type": "text"}, "number_households_census": {"type": "number"}}
    frame = read((folder / "samplics_psu_frame.csv").read_bytes(), households, key=["cluster"])
    assert frame.rows == 100
    assert numbers(frame, "number_households_census").sum() == 15000
    first = {"cluster": {"type": "text"}, "psu_prob": {"type": "number", "is": "inclusion_probability"}}
    psu = read((folder / "samplics_psu_sample.csv").read_bytes(), first, key=["cluster"])
    assert psu.undeclared == ("", "region")
    second = {
        "cluster": {"type": "text"},
        "household": {"type": "text"},
        "ssu_prob": {"type": "number", "is": "inclusion_probability"},
    }
    ssu = read(
        (folder / "samplics_ssu_sample.csv").read_bytes(),
        second,
        key=["cluster", "household"],
        keep=("cluster",),
    )
    by_cluster = dict(zip(psu.keys, numbers(psu, "psu_prob"), strict=True))
    both = np.array([by_cluster[cluster] for cluster in ssu.texts["cluster"]]) * numbers(ssu, "ssu_prob")
    assert (1 / both).sum() == pytest.approx(14440.6263, abs=5e-5)


def test_schools_keep_their_14_digits(read: Read, data_dir: Path) -> None:
    columns = {"cds": {"type": "text"}, "enroll": {"type": "number"}, "api00": {"type": "number"}}
    raw = (data_dir / "6-sampling-relabel" / "api_apipop.csv").read_bytes()
    table = read(raw, columns, key=["cds"])
    assert table.rows == 6194
    assert table.keys[0] == "01611190130229"
    assert {len(key) for key in table.keys} == {14}
    assert np.nansum(numbers(table, "enroll")) == 3811472
    assert int(table.columns["enroll"].missing.sum()) == 37
    assert numbers(table, "api00").mean() == pytest.approx(664.7126, abs=5e-5)


def test_fitzpatrick_has_two_repeated_ids(read: Read, data_dir: Path) -> None:
    raw = (data_dir / "6-sampling-relabel" / "fitzpatrick_x_clean_labels.csv").read_bytes()
    with pytest.raises(TableKeyRepeated) as caught:
        read(raw, {"image": {"type": "text"}}, key=["image"])
    assert caught.value.fields["count"] == 2


def test_skin_not_sure_is_left_to_the_protocol(read: Read, data_dir: Path) -> None:
    """2,365 faces are `Not Sure`: undeclared as the file stands, missing where the column says so."""
    tones = ["I", "II", "III", "IV", "V", "VI"]
    raw = (data_dir / "4-detection" / "DERIVED_widerface_yolov7_join.csv").read_bytes()
    for missing, code in ([""], UNDECLARED), (["", "Not Sure"], MISSING):
        columns = {
            "row": {"type": "text"},
            "skin": {"type": "ordinal", "values": tones, "missing": missing},
            "confidence": {"type": "number", "min": 0, "max": 1},
        }
        table = read(raw, columns, key=["row"])
        skin = codes(table, "skin")
        assert int((skin == code).sum()) == 2365
        found = numbers(table, "confidence") >= 0.5
        assert [(int((found & (skin == tone)).sum()), int((skin == tone).sum())) for tone in range(6)] == [
            (5092, 5540),
            (1630, 1770),
            (818, 893),
            (500, 540),
            (473, 501),
            (502, 581),
        ]


def test_enem_judges_are_reached_by_a_path(read: Read, data_dir: Path) -> None:
    """Mean absolute error of the total 150 with retrieval, 125 without; bias 50 and -33."""
    columns = {
        "prompt_id": {"type": "text"},
        "redacao_index": {"type": "text"},
        "nota_real": {"type": "number"},
        "primeira": {"type": "number", "path": "$.competencias_reais[0]"},
        "juiz": {"type": "number", "path": "$.avaliacao_sistema.nota_final"},
        "avaliado_em": {"type": "time", "path": "$.timestamp", "zone": "America/Sao_Paulo"},
    }
    key = ["prompt_id", "redacao_index"]
    for mode, error, bias in (("rag", 150.0, 50.0), ("baseline", 125.0, -33.0)):
        files = [
            data_dir / "2-judge" / f"enem_ptbr_resultados_prompt{prompt}_{mode}.json" for prompt in (3, 6)
        ]
        whole = concat([read(file.read_bytes(), columns, key=key, format=format_of(file)) for file in files])
        assert whole.rows == 40
        difference = numbers(whole, "juiz") - numbers(whole, "nota_real")
        assert np.abs(difference).mean() == error
        assert difference.mean() == bias
        assert whole.keys[0] == '["3","0"]'
        assert not whole.columns["avaliado_em"].missing.any()
        assert {"tema", "status"} < set(whole.undeclared)
        assert "avaliacao_sistema" not in whole.undeclared


def test_frank_joins_humans_and_metrics(read: Read, data_dir: Path) -> None:
    """Plain Pearson correlation of Factuality with FactCC .600, with QAGS .578, over 2,246 summaries."""
    columns = {
        "hash": {"type": "text"},
        "model_name": {"type": "text"},
        "Factuality": {"type": "number", "min": 0, "max": 1},
        "FactCC": {"type": "number", "from": "submission"},
        "QAGS": {"type": "number", "from": "submission"},
    }
    key = ["hash", "model_name"]
    humans, metrics = (
        read((data_dir / "2-judge" / name).read_bytes(), columns, key=key, format=Format.JSON, only=only)
        for name, only in (
            ("frank_human_annotations.json", "pool"),
            ("frank_baseline_metrics_outputs.json", "submission"),
        )
    )
    joined = join_submission(humans, metrics)
    assert joined.rows == 2246
    assert joined.absent is not None
    assert not joined.absent.any()
    factuality = numbers(joined, "Factuality")
    for name, expected in (("FactCC", 0.600), ("QAGS", 0.578)):
        assert np.corrcoef(factuality, numbers(joined, name))[0, 1] == pytest.approx(expected, abs=5e-4)


def test_summeval_replies_are_json_lines_by_content(read: Read, data_dir: Path) -> None:
    raw = (data_dir / "2-judge" / "summeval_M11_gpt-4-0314_consistency_rts.txt").read_bytes()
    columns = {"resp": {"type": "text"}, "prompt_len": {"type": "number"}}
    table = read(raw, columns, format=Format.JSON_LINES)
    assert table.rows == 100
    assert numbers(table, "prompt_len")[0] == 575


def test_every_cell_of_every_public_csv_is_as_pandas_reads_it(read: Read, data_dir: Path) -> None:
    """pandas is an independent parser; it renames doubled columns (`x.1`) and names unnamed ones."""
    files = sorted(data_dir.glob("[1-6]-*/*.csv"))
    assert len(files) > 50
    for file in files:
        with file.open(encoding="utf-8-sig", newline="") as stream:
            frame = pd.read_csv(stream, dtype=str, keep_default_na=False, skip_blank_lines=False)
        names = [
            name
            for name in frame.columns
            if not name.startswith("Unnamed") and not name.endswith(".1") and f"{name}.1" not in frame.columns
        ]
        columns = {name: {"type": "text", "missing": ["no such cell"]} for name in names}
        table = read(file.read_bytes(), columns, key=names, keep=tuple(names))
        for name in names:
            assert table.texts[name].tolist() == frame[name].tolist()


def test_a_semicolon_file_is_told(read: Read, data_dir: Path) -> None:
    raw = (data_dir / "1-fairness" / "compas_for_aequitas.csv").read_bytes().replace(b",", b";")
    columns = {"entity_id": {"type": "text"}, "race": COMPAS["race"]}
    with pytest.raises(TableDelimiter):
        read(raw, columns, key=["entity_id"])
    assert read(raw, columns, key=["entity_id"], delimiter=";").rows == 7214
