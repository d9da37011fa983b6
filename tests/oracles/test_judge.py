"""Resampled kappa against a loop that picks cases and asks scikit-learn."""

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from lacre.stats.agreement import cross, linear
from lacre.stats.bootstrap import least_resamples
from lacre.stats.judge import resample


def test_the_table_is_drawn_as_cases_are() -> None:
    """Between which of our quantiles the loop's kappas lie is binomial: each within four standard deviations."""
    rng = np.random.default_rng(1)
    human = rng.choice(3, 150, p=[0.5, 0.3, 0.2])
    judge = np.where(rng.random(150) < 0.6, human, rng.choice(3, 150))
    picked = rng.integers(0, 150, (160, 150))
    loop = np.array(
        [cohen_kappa_score(human[each], judge[each], labels=[0, 1, 2], weights="linear") for each in picked]
    )
    table = cross(human, judge, 3).table
    for alpha in (0.05, 0.2, 0.5, 0.8):
        resamples = max(20_000, least_resamples(alpha))
        found = resample([table], linear(3), alpha=alpha, resamples=resamples, seed=9)[0]
        for end, share in ((found.low, alpha / 2), (found.high, 1 - alpha / 2)):
            spread = (share * (1 - share) / len(loop)) ** 0.5
            assert np.mean(loop <= end) == pytest.approx(share, abs=4 * spread)
