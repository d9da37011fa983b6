"""Paired tests against statsmodels and scipy, Tango's interval against its likelihood, and published counts."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import optimize, stats
from statsmodels.stats.contingency_tables import mcnemar as their_mcnemar
from statsmodels.stats.multitest import multipletests

from lacre.stats.bootstrap import cluster_totals, stratum_difference
from lacre.stats.paired import ASYMPTOTIC, CONTINUITY, EXACT, MID_P, holm, mcnemar, pair_tables, sign_flips
from lacre.stats.paired_intervals import clustered_difference, tango

RENDERINGS = ("original", "grayscale", "silhouette-filled", "edge")


def test_mcnemar_is_that_of_statsmodels_and_scipy() -> None:
    """Over a grid of counts; b = c with continuity, where statsmodels' statistic is not 0, is left out."""
    counts = (0, 1, 2, 5, 17, 60, 400)
    for b in counts:
        for c in counts:
            if b + c == 0:
                continue
            table = [[10, b], [c, 10]]
            exact = their_mcnemar(table, exact=True).pvalue
            assert mcnemar(b, c, EXACT).p == pytest.approx(exact, rel=1e-10)
            less = stats.binom.pmf(min(b, c), b + c, 0.5)
            mid = exact - less if b != c else 1 - less / 2
            assert mcnemar(b, c, MID_P).p == pytest.approx(mid, rel=1e-9, abs=1e-15)
            for test, correction in ((ASYMPTOTIC, False), (CONTINUITY, True)):
                if b == c and correction:
                    continue
                theirs = their_mcnemar(table, exact=False, correction=correction)
                ours = mcnemar(b, c, test)
                assert (ours.statistic, ours.p) == pytest.approx((theirs.statistic, theirs.pvalue), rel=1e-10)


def test_equal_counts_are_where_we_part() -> None:
    """statsmodels gives (|b-c|-1)^2/(b+c) = 1/8 for b = c = 4; the correction moves toward 0, not past it."""
    assert their_mcnemar([[1, 4], [4, 1]], exact=False, correction=True).statistic == 1 / 8
    assert mcnemar(4, 4, CONTINUITY).statistic == 0


def test_holm_is_that_of_statsmodels() -> None:
    rng = np.random.default_rng(3)
    for size in (1, 2, 7, 40):
        p = np.round(rng.random(size) ** 3, 2)
        np.testing.assert_allclose(holm(p), multipletests(p, method="holm")[1], rtol=1e-12)


def score(d: float, b: int, c: int, n: int) -> float:
    """Return the score statistic of a difference d from the trinomial likelihood itself.

    The nuisance q (the second discordant probability) is maximised numerically; the statistic is dl/dd times
    the root of the inverse Fisher information's element for d.
    """

    def cells(q: float) -> tuple[float, float, float]:
        return q + d, q, 1 - 2 * q - d

    def loss(q: float) -> float:
        return -sum(k * math.log(p) for k, p in zip((b, c, n - b - c), cells(q), strict=True) if k)

    found = optimize.minimize_scalar(
        loss, bounds=(max(0.0, -d) + 1e-13, (1 - d) / 2 - 1e-13), method="bounded", options={"xatol": 1e-13}
    )
    p, q, rest = cells(float(found.x))
    slope = np.array([[1, 0, -1], [1, 1, -2]])  # of the cells in d, and in q
    information = n * (slope / np.array([p, q, rest])) @ slope.T
    gradient = b / p - (n - b - c) / rest
    return float(gradient * math.sqrt(np.linalg.inv(information)[0, 0]))


@pytest.mark.parametrize(
    ("b", "c", "n"), [(1, 7, 21), (150, 86, 1600), (40, 20, 160), (3, 1, 30), (12, 12, 25), (8, 24, 160)]
)
@pytest.mark.parametrize("alpha", [0.05, 0.05 / 4])
def test_tango_inverts_the_score_test(b: int, c: int, n: int, alpha: float) -> None:
    """At the ends the score statistic of the likelihood is +-z; between them it is within."""
    low, high = (float(end) for end in tango(b, c, n, alpha))
    z = stats.norm.isf(alpha / 2)
    assert score(low, b, c, n) == pytest.approx(z, rel=1e-4)
    assert score(high, b, c, n) == pytest.approx(-z, rel=1e-4)
    assert abs(score((low + high) / 2, b, c, n)) < z


def test_cluster_bootstrap_is_that_of_scipy() -> None:
    """The same resampling, cluster by cluster; BCa on three one-way discordants is where we part."""
    rng = np.random.default_rng(4)
    sizes = rng.integers(1, 7, 150)
    sums = rng.binomial(sizes, 0.3) - rng.binomial(sizes, 0.1)
    sums = np.clip(sums, -sizes, sizes)

    def ratio(x: Any, y: Any, axis: int = -1) -> Any:
        return x.sum(axis=axis) / y.sum(axis=axis)

    theirs = stats.bootstrap(
        (sums, sizes),
        ratio,
        paired=True,
        n_resamples=20_000,
        method="percentile",
        rng=np.random.default_rng(5),
    ).confidence_interval
    ours = clustered_difference(sums, sizes, alpha=0.05, resamples=20_000, seed=6)
    # A quantile at .025 of 20,000 resamples has a standard error of .0035 of the interval's width; five of two.
    assert (ours.low, ours.high) == pytest.approx(
        (theirs.low, theirs.high), abs=0.025 * (theirs.high - theirs.low)
    )

    one_way = np.repeat([1, 0], [3, 100])
    bca = stats.bootstrap((one_way,), np.mean, n_resamples=20_000, method="BCa", rng=np.random.default_rng(7))
    assert bca.confidence_interval.low > 0
    assert clustered_difference(one_way, np.ones(103), alpha=0.05, resamples=20_000, seed=8).low < 0


def test_stratum_difference_is_that_of_scipy() -> None:
    rng = np.random.default_rng(9)
    cases = rng.integers(0, 4, (2, 200))
    events = rng.binomial(cases, [[0.8], [0.6]])
    kept = cases.sum(axis=0) > 0
    columns = (events[0], cases[0], events[1], cases[1])

    def between(a: Any, m: Any, b: Any, n: Any, axis: int = -1) -> Any:
        return a.sum(axis=axis) / m.sum(axis=axis) - b.sum(axis=axis) / n.sum(axis=axis)

    theirs = stats.bootstrap(
        tuple(column[kept] for column in columns),
        between,
        paired=True,
        n_resamples=20_000,
        method="percentile",
        rng=np.random.default_rng(10),
    ).confidence_interval
    ours = stratum_difference(*columns, alpha=0.05, resamples=20_000, seed=11)
    assert (ours.low, ours.high) == pytest.approx(
        (theirs.low, theirs.high), abs=0.025 * (theirs.high - theirs.low)
    )
    assert ours.undefined == 0


def correct(folder: Path, rendering: str, system: str) -> "pd.Series[bool]":
    """Return whether a system named each image rightly; the image is the tail of the file's name."""
    (path,) = (folder / "5-paired").glob(f"{rendering}-experiment_{system}_*.csv")
    table = pd.read_csv(path, keep_default_na=False)
    image = table["imagename"].str.extract(r"_00_(.+)\.png$")[0]
    return pd.Series((table["object_response"] == table["category"]).to_numpy(), index=image)


def outcomes(folder: Path, cells: list[tuple[str, str]]) -> pd.DataFrame:
    read = {f"{rendering} {system}": correct(folder, rendering, system) for rendering, system in cells}
    joined = pd.DataFrame(read)
    assert joined.shape == (160, len(cells))
    assert not joined.isna().to_numpy().any()
    return joined


def test_texture_against_shape(data_dir: Path) -> None:
    """160 images in four renderings, named by four networks: discordant counts and exact p of expected.json."""
    x = outcomes(data_dir, [(rendering, "alexnet") for rendering in RENDERINGS]).to_numpy(bool)
    assert x.sum(axis=0).tolist() == [160, 155, 71, 64]
    tables = pair_tables(x)
    p = mcnemar(tables.first, tables.second).p
    assert (tables.first[0, 1], tables.second[0, 1], p[0, 1]) == (5, 0, 0.0625)
    assert (tables.first[1, 3], tables.second[1, 3]) == (92, 1)
    assert p[1, 3] == pytest.approx(1.898e-26, rel=5e-4)

    vgg = pair_tables(outcomes(data_dir, [(rendering, "vgg") for rendering in RENDERINGS]).to_numpy(bool))
    found = mcnemar(vgg.first, vgg.second)
    assert (found.discordant[0, 1], found.p[0, 1], found.statistic[0, 1]) == (0, 1, 0)
    # Of 30 such images, nothing discordant passes no margin of .05.
    assert tango(0, 0, 30, 0.05).low < -0.05

    systems = ["alexnet", "googlenet", "vgg", "resnet50"]
    silhouettes = pair_tables(outcomes(data_dir, [("silhouette-filled", s) for s in systems]).to_numpy(bool))
    p = mcnemar(silhouettes.first, silhouettes.second).p
    assert (silhouettes.first[0, 3], silhouettes.second[0, 3]) == (8, 24)
    assert p[0, 3] == pytest.approx(0.00700, abs=5e-6)
    assert (silhouettes.first[1, 2], silhouettes.second[1, 2], p[1, 2]) == (13, 12, 1)


def test_people_answer_in_several_pairs_an_image(data_dir: Path) -> None:
    """Five people and 160 images: 780 of 800 in greyscale against 791, by sign-flips of whole images.

    The people saw the images of each rendering once; the pair is a person and an image, the cluster an image.
    """
    people = [f"subject-0{i}" for i in range(1, 6)]
    first = pd.concat({s: correct(data_dir, "original", s) for s in people})
    second = pd.concat({s: correct(data_dir, "grayscale", s) for s in people})
    assert (first.sum(), second.sum()) == (791, 780)
    joined = pd.DataFrame({"first": first, "second": second}).dropna().astype(int)
    apart = (joined["first"] - joined["second"]).to_numpy()
    image = joined.index.get_level_values(1).factorize()[0]
    (sums,) = cluster_totals(image, apart)
    found = sign_flips(sums.astype(np.int64))
    rng = np.random.default_rng(12)
    signs = rng.choice([-1, 1], (20_000, len(sums)))
    sampled = float((np.abs(signs @ sums) >= abs(sums.sum())).mean())
    assert found.total == apart.sum()
    assert found.p == pytest.approx(sampled, abs=0.015)
