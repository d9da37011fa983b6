"""McNemar's exact test of all pairs of twenty variants, beside a loop over the pairs with pandas and statsmodels.

Ours is timed `rounds` times and its best is told. The peer runs on `peer_pairs` of the pairs, and its best pair counts
for all of them.
"""

from importlib.metadata import version
from itertools import combinations
from time import perf_counter

import numpy as np
import pandas as pd
from statsmodels.stats.contingency_tables import mcnemar as peer_mcnemar
from tests.bench.measured import Measured

from lacre.stats.paired import mcnemar, pair_tables

BAR = 100


def run(
    items: int = 100_000, variants: int = 20, rounds: int = 7, peer_pairs: int = 20, seed: int = 20260902
) -> Measured:
    """Time both on `items` x `variants` outcomes, and see that the p values are the same."""
    rng = np.random.default_rng(seed)
    # Each item has its own ease and variants are close, as variants of one image are: no p value is just 0.
    outcomes = rng.random((items, 1)) + rng.normal(0, 0.1, (items, variants)) < 0.8
    first, second = np.triu_indices(variants, 1)
    ours, theirs = [], []
    for _round in range(rounds):
        started = perf_counter()
        tables = pair_tables(outcomes)
        found = mcnemar(tables.first[first, second], tables.second[first, second])
        ours.append(perf_counter() - started)
    frame = pd.DataFrame(outcomes)
    pairs = list(combinations(range(variants), 2))
    for place, (i, j) in enumerate(pairs[:peer_pairs]):
        started = perf_counter()
        p = peer_mcnemar(pd.crosstab(frame[i], frame[j]).to_numpy(), exact=True).pvalue
        theirs.append(perf_counter() - started)
        assert abs(found.p[place] - p) <= 1e-9
    loop = min(theirs) * len(pairs)
    peer = f"pandas {version('pandas')} crosstab, statsmodels {version('statsmodels')} mcnemar"
    return Measured(
        f"McNemar, {len(pairs)} pairs of {items:,} items", "s", min(ours),
        f"{peer} (from {len(theirs)} pairs)", loop, loop / min(ours), BAR,
    )  # fmt: skip
