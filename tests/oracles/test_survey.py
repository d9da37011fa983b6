"""Estimates against what R's survey prints for its own data, the schools of California."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lacre.stats.survey import (
    Estimates,
    Strata,
    interval,
    known_mean,
    mean,
    ratio,
    strata,
    strata_faults,
    total,
    weights_of,
)

FOLDER = "6-sampling-relabel"


def read(data_dir: Path, name: str) -> pd.DataFrame:
    return pd.read_csv(data_dir / FOLDER / f"api_{name}.csv")


def design_of(schools: pd.DataFrame, stratum: str | None, cluster: str | None = None) -> Strata:
    weight, bad = weights_of(schools["pw"], "weight")
    assert not bad.any()
    h = np.zeros(len(schools), np.int64) if stratum is None else schools[stratum].factorize()[0]
    population = schools.groupby(h)["fpc"].first()
    return strata(weight, h, population, None if cluster is None else schools[cluster])


def estimated(found: Estimates) -> tuple[float, float]:
    return float(found.value[0]), float(found.variance[0] ** 0.5)


def test_the_stratified_sample(data_dir: Path) -> None:
    schools = read(data_dir, "apistrat")
    design = design_of(schools, "stype")
    faults = strata_faults(design)
    assert [len(each) for each in faults[:3]] == [0, 0, 0]
    assert faults.apart == 0
    score, enrolled = mean(schools["api00"], design), total(schools["enroll"], design)
    assert estimated(score) == pytest.approx((662.287363, 9.408941), abs=5e-7)
    assert estimated(enrolled) == pytest.approx((3687177.53, 114641.716), abs=5e-3)
    assert estimated(ratio(schools["api.stu"], schools["enroll"], design)) == pytest.approx(
        (0.836957, 0.007757), abs=5e-7
    )
    # N is known, and the weights add up to it: Horvitz-Thompson's mean is Hájek's.
    assert estimated(known_mean(schools["api00"], design, 6194)) == pytest.approx(estimated(score), rel=1e-6)
    # Student's t at .975 with 200 schools less 3 strata (tables).
    low, high = interval(score, 0.05)
    half = 1.972079 * 9.408941
    assert (low[0], high[0]) == pytest.approx((662.287363 - half, 662.287363 + half), abs=1e-4)


def test_the_simple_sample(data_dir: Path) -> None:
    published = expected(data_dir, "apisrs")
    schools = read(data_dir, "apisrs")
    design = design_of(schools, None)
    assert estimated(mean(schools["api00"], design)) == pytest.approx(
        (published["mean"], published["SE_mean"]), abs=5e-5
    )
    assert estimated(total(schools["enroll"], design)) == pytest.approx(
        (published["total"], published["SE"]), abs=0.05
    )


def test_the_cluster_sample(data_dir: Path) -> None:
    """15 of 757 districts, every school in them; standard errors as in survey's documentation.

    svymean 23.542, svytotal 932235, svyratio .008386297, and svyby(~api99, ~stype, …, svymean).
    """
    published = expected(data_dir, "apiclus1")
    schools = read(data_dir, "apiclus1")
    design = design_of(schools, None, "dnum")
    assert (design.sampled.tolist(), strata_faults(design).apart) == (
        [15],
        183,
    )  # weights adjusted by its authors
    assert estimated(mean(schools["api00"], design)) == pytest.approx((published["mean"], 23.542), abs=5e-4)
    assert estimated(total(schools["enroll"], design)) == pytest.approx(
        (published["HT_total"], 932235), abs=0.5
    )
    assert estimated(ratio(schools["api.stu"], schools["enroll"], design)) == pytest.approx(
        (0.8497087, 0.008386297), rel=1e-7
    )
    kind = schools["stype"].map({"E": 0, "H": 1, "M": 2})
    by = mean(schools["api99"], design, kind, 3)
    assert by.value == pytest.approx([607.7917, 595.7143, 608.6000], abs=5e-5)
    assert np.sqrt(by.variance) == pytest.approx([22.81660, 41.76400, 32.56064], abs=5e-6)


def expected(data_dir: Path, name: str) -> dict[str, float]:
    for entry in json.loads((data_dir / "expected.json").read_text()):
        if any(each["file"] == f"{FOLDER}/api_{name}.csv" for each in entry["files"]):
            found: dict[str, float] = entry["expected"][name]
            return found
    raise LookupError(name)
