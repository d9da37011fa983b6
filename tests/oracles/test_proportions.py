"""Intervals against statsmodels; the clustered variance against its regression on a constant."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
import statsmodels.api as sm
from statsmodels.stats.proportion import proportion_confint

from lacre.stats.clusters import clustered_wilson, effective_size
from lacre.stats.proportions import Interval, clopper_pearson, wilson

Ints = npt.NDArray[np.int64]
Method = Callable[[npt.ArrayLike, npt.ArrayLike, float], Interval]


def grid() -> tuple[Ints, Ints]:
    """Return every k of n up to 12, and some of larger n."""
    n = np.concatenate([np.repeat(np.arange(1, 13), np.arange(2, 14)), np.full(6, 500), np.full(6, 100_000)])
    small = np.concatenate([np.arange(size + 1) for size in range(1, 13)])
    return np.concatenate([small, [0, 1, 7, 250, 499, 500], [0, 1, 7, 50_000, 99_999, 100_000]]), n


@pytest.mark.parametrize("alpha", [0.05, 0.05 / 2, 0.05 / 300])
@pytest.mark.parametrize(("method", "interval"), [("wilson", wilson), ("beta", clopper_pearson)])
def test_intervals_are_those_of_statsmodels(alpha: float, method: str, interval: Method) -> None:
    k, n = grid()
    low, high = proportion_confint(k, n, alpha=alpha, method=method)
    found = interval(k, n, alpha)
    # statsmodels leaves rounding at the ends of Wilson's interval, which are exact here.
    np.testing.assert_allclose(found.low, low, rtol=1e-9, atol=1e-16 if method == "beta" else 1e-12)
    np.testing.assert_allclose(found.high, high, rtol=1e-9)


def robust(events: Ints, cluster: Ints) -> float:
    """Return the cluster-robust variance of a mean, with the factor G/(G-1) (n/(n-1) of OLS taken back)."""
    n = len(events)
    fit = sm.OLS(events.astype(float), np.ones((n, 1))).fit(
        cov_type="cluster", cov_kwds={"groups": cluster, "use_correction": True}
    )
    return float(fit.cov_params()[0, 0])


def test_clustered_variance_is_that_of_statsmodels() -> None:
    rng = np.random.default_rng(5)
    cluster = rng.integers(0, 80, 2000)
    events = (rng.random(2000) < 0.2 + 0.5 * rng.random(80)[cluster]).astype(np.int64)
    found = effective_size(events, cluster, 0.05)
    share = events.mean()
    assert found.design_effect[0] == pytest.approx(robust(events, cluster) / (share * (1 - share) / 2000))


def test_widerface_faces_by_image(data_dir: Path) -> None:
    """Recall 10258/12190 = .8415 over 3,049 images; several faces an image, so a wider interval.

    The design effect is 2.22 by statsmodels' cluster-robust variance (and 2.17 at a confidence of .4).
    """
    faces = pd.read_csv(data_dir / "4-detection" / "DERIVED_widerface_yolov7_join.csv")
    image = faces["image"].factorize()[0].astype(np.int64)
    for confidence, effect in ((0.5, 2.22), (0.4, 2.17)):
        events = (faces["confidence"].fillna(0) >= confidence).to_numpy().astype(np.int64)
        found = effective_size(events, image, 0.05)
        share = events.mean()
        independent = share * (1 - share) / len(events)
        assert found.design_effect[0] == pytest.approx(robust(events, image) / independent, rel=1e-4)
        assert found.design_effect[0] == pytest.approx(effect, abs=0.005)
        assert (found.cases[0], found.clusters[0]) == (12190, 3049)
        naive, clustered = wilson(events.sum(), len(events), 0.05), clustered_wilson(events, image, 0.05)
        ratio = float((clustered.high - clustered.low) / (naive.high - naive.low))
        assert ratio == pytest.approx(np.sqrt(effect), rel=0.01)
