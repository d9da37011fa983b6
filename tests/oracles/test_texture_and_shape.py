"""Texture against shape, 160 images in four renderings named by four networks, as a study: counts as published."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from lacre.analyses import analyse
from lacre.analyses.given import Given
from lacre.analyses.result import AnalysisResult
from lacre.protocol.document import parse
from lacre.tables.formats import Format
from lacre.tables.join import join_submission
from lacre.tables.read import read_table

SYSTEMS = {"alexnet": "session_1", "googlenet": "session_1", "vgg": "session_1", "resnet50": "session-1"}
RENDERINGS = ("original", "grayscale", "silhouette-filled", "edge")


@pytest.fixture(scope="module")
def texture(data_dir: Path) -> Callable[..., AnalysisResult]:
    """Run texture-vs-shape: 160 images in four renderings, named by four networks."""

    def responses(system: str) -> pd.DataFrame:
        parts = []
        for rendering in RENDERINGS:
            file = data_dir / "5-paired" / f"{rendering}-experiment_{system}_{SYSTEMS[system]}.csv"
            part = pd.read_csv(file, keep_default_na=False, dtype=str)
            part["image"] = part["imagename"].str.extract(r"_00_(.+)\.png$")[0]
            parts.append(part.assign(rendering=rendering))
        return pd.concat(parts)

    def study(
        *criteria: str, cluster: str = "", systems: Sequence[str] = tuple(SYSTEMS), images: int = 160
    ) -> Any:
        text = f"""
lacre: 1
study: texture
title: Texture against shape
question: Does a network need texture?
language: en
data: {{identifiable: false, prior_exposure: none}}
systems: {{{", ".join(f'{name}: {{version: "1"}}' for name in SYSTEMS)}}}
tables:
  trials:
    key: [image, rendering]
    {cluster}
    columns:
      image: {{type: text}}
      rendering: {{type: category, values: [{", ".join(RENDERINGS)}]}}
      category: {{type: text}}
      object_response: {{type: text, from: submission}}
      correct: {{type: outcome, equals: [object_response, category]}}
pools: {{teste: {{tables: trials}}}}
analyses:
  amp:
    kind: paired_variants
    pool: teste
    table: trials
    systems: [{", ".join(systems)}]
    pair_on: image
    baseline: original
    detected: {{column: correct, blank: not_detected}}
    criteria: [{", ".join(criteria)}]
"""
        protocol = parse(text.encode())
        declared, tables = protocol.tables["trials"], {}
        for system in systems:
            rows = responses(system)
            kept = rows[rows["image"].isin(sorted(rows["image"].unique())[:images])]
            raw = kept[["image", "rendering", "category", "object_response"]].to_csv(index=False).encode()
            pool = read_table(raw, declared, "trials", Format.CSV, only="pool")
            submitted = read_table(raw, declared, "trials", Format.CSV, only="submission")
            tables[system, "trials"] = join_submission(pool, submitted)
        return analyse("amp", Given(protocol, tables))

    return study


def test_texture_against_shape(texture: Callable[..., AnalysisResult]) -> None:
    """AlexNet 5 lost and none gained in greyscale, 92 and 1 from there to edges; VGG nothing; 24 against 8.

    p of silhouettes is .00700 for AlexNet against ResNet; the difference is the first system's less the second's.
    """
    result = texture(
        "{id: grey, metric: difference, variant: grayscale, min: 0}",
        "{id: systems, metric: difference, systems: [alexnet, resnet50], variant: silhouette-filled, min: 0}",
    )
    rows = {(row["variant"], row.get("system")): row for row in result.tables["paired"] if "system" in row}
    alexnet, vgg = rows["grayscale", "alexnet"], rows["grayscale", "vgg"]
    assert (alexnet["first_only"], alexnet["second_only"], alexnet["p"]) == (5, 0, 0.0625)
    assert alexnet["p_adjusted"] == 0.0625
    assert (vgg["first_only"], vgg["second_only"], vgg["p"]) == (0, 0, 1)
    assert vgg["note"] == {"code": "no-discordant-pairs", "fields": {}}
    by = {(each.id, each.system): each for each in result.criteria}
    assert by["grey", "alexnet"].state == "INSUFFICIENT_EVIDENCE"
    assert by["grey", "vgg"].reason.code == "no-discordant-pairs"
    (systems,) = [row for row in result.tables["paired"] if "systems" in row]
    assert (systems["systems"], systems["first_only"], systems["second_only"]) == (
        ["alexnet", "resnet50"],
        8,
        24,
    )
    assert systems["p"] == pytest.approx(0.00700, abs=5e-6)
    assert systems["difference"] == -16 / 160
    assert by["systems", ""].state == "FAIL"
    counts = {
        (each.group[0][1], each.system): each.as_json()["numerator"]
        for each in result.estimates
        if each.metric == "detected" and each.group
    }
    assert [counts[each, "alexnet"] for each in RENDERINGS] == [160, 155, 71, 64]
    assert [counts[each, "resnet50"] for each in RENDERINGS] == [160, 160, 87, 29]


def test_nothing_lost_passes_no_margin_without_the_pairs_for_it(
    texture: Callable[..., AnalysisResult],
) -> None:
    """VGG in greyscale, nothing lost: neither 30 images nor 16 categories of ten pass a margin of .05.

    The interval of 30 is -+ z^2/(30 + z^2) at .05/3, .160; fewer than 20 clusters have none.
    """
    margin = "{id: margin, metric: difference, variant: grayscale, min: -0.05}"
    few = texture(margin, systems=["vgg"], images=30)
    assert (few.criteria[0].value, few.criteria[0].state) == (0, "INSUFFICIENT_EVIDENCE")
    assert few.criteria[0].low == pytest.approx(-(2.39398**2) / (30 + 2.39398**2), rel=1e-4)
    categories = texture(margin, systems=["vgg"], cluster="cluster: category")
    assert categories.criteria[0].reason.code == "too-few-clusters"
    assert categories.tables["paired"][0]["clusters"] == 16
