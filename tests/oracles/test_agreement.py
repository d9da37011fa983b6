"""Kappa against scikit-learn and statsmodels, and the same annotators twice on published labels."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import cohens_kappa

from lacre.stats.agreement import cross, kappa, linear, quadratic, raw_agreement, unweighted

COSTS: dict[str | None, Any] = {None: unweighted, "linear": linear, "quadratic": quadratic}


@pytest.mark.parametrize("weights", list(COSTS))
@pytest.mark.parametrize("values", [2, 3, 7])
def test_kappa_is_that_of_scikit_learn_and_statsmodels(weights: str | None, values: int) -> None:
    rng = np.random.default_rng(values)
    first = rng.integers(0, values, 400)
    second = np.where(rng.random(400) < 0.6, first, rng.integers(0, values, 400))
    table = cross(first, second, values).table
    found = kappa(table, COSTS[weights](values))
    theirs = cohen_kappa_score(first, second, labels=np.arange(values), weights=weights)
    assert float(found.value) == pytest.approx(theirs, rel=1e-12)
    other = cohens_kappa(
        table, wt=None if weights is None else {"linear": "linear", "quadratic": "fc"}[weights]
    )
    assert float(found.value) == pytest.approx(other.kappa, rel=1e-12)
    assert float(found.error) == pytest.approx(other.std_kappa, rel=1e-9)


def test_annotators_agree_with_themselves(data_dir: Path) -> None:
    """XHateStability: 22 annotators, 95 texts each, the same label twice .7933 of the time."""
    entries = json.loads((data_dir / "expected.json").read_text())
    name = "6-sampling-relabel/xhatestability_annotations.csv"
    published = next(each["expected"] for each in entries if each["files"][0]["file"] == name)
    labels = pd.read_csv(data_dir / name, skipinitialspace=True)
    values = sorted({*labels["label1"], *labels["label2"]})
    first, second = (labels[each].map(values.index).to_numpy() for each in ("label1", "label2"))
    table = cross(first, second, len(values))
    assert raw_agreement(first, second, 0.05).share[0] == pytest.approx(published["all"]["raw"], abs=5e-5)
    assert float(kappa(table.table).value) == pytest.approx(published["all"]["kappa"], abs=5e-5)

    conditions = ["en-en", "de-en", "en-de", "de-de"]
    cell = labels["condition"].map(conditions.index).to_numpy()
    raw = raw_agreement(first, second, 0.05, cell=cell, cells=4)
    by_condition = kappa(cross(first, second, len(values), cell, 4).table)
    for place, condition in enumerate(conditions):
        cases, share, value = published[condition]
        assert raw.cases[place] == cases
        assert raw.share[place] == pytest.approx(share, abs=5e-5)
        assert by_condition.value[place] == pytest.approx(value, abs=5e-5)

    code, people = labels["annotator"].factorize()
    each = raw_agreement(first, second, 0.05, cell=code, cells=len(people)).share
    assert [each.min(), each.max()] == pytest.approx(published["per_annotator_raw"], abs=5e-5)
    # Texts that one person labelled are alike: by annotator the interval is wider than by text alone.
    clustered = raw_agreement(first, second, 0.05, cluster=code)
    assert clustered.floor[0] > raw_agreement(first, second, 0.05).floor[0]
