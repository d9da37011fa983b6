"""Two outcomes of the same items: discordant counts, the test of no difference, the interval, the verdict.

Variants are compared so, and so are two systems on one read. Where no cluster holds several pairs, the test is
the registered one of McNemar's and the interval is Tango's; where one does, p comes from flipping the signs of
whole clusters and the interval from resampling them.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from lacre.analyses.estimate import Details
from lacre.analyses.judging import Bounded, Number, bound_of, decide_number
from lacre.analyses.reasons import Reason, Scalar
from lacre.analyses.verdict import CriterionResult, LeftOut, Line, State
from lacre.stats.bootstrap import cluster_totals, least_resamples
from lacre.stats.clusters import MIN_CLUSTERS
from lacre.stats.fairness import Ints
from lacre.stats.paired import ASYMPTOTIC, CONTINUITY, EXACT, MID_P, holm, mcnemar, sign_flips
from lacre.stats.paired_intervals import clustered_difference, tango
from lacre.stats.paired_power import conditional_power, discordant_needed

SIGN_FLIPS = "sign_flips"
P_VALUES: Mapping[str, str] = MappingProxyType(
    {"p_exact": EXACT, "p_mid": MID_P, "p_asymptotic": ASYMPTOTIC, "p_continuity": CONTINUITY}
)
POWER_AT = 0.75
"""The power beside discordant counts is to find that they go three to one."""

_BY_BOUNDS = frozenset(("min-kept", "min-broken", "max-kept", "max-broken", "undecided", "undecided-open"))
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Asked:
    """How pairs are compared: `family` comparisons share the error rate `alpha`, p adjusted by Holm."""

    alpha: float
    confidence: float
    family: int = 1
    test: str = EXACT
    resamples: int = 10_000
    seed: int = 20260902

    @property
    def level(self) -> float:
        """The error rate of one interval."""
        return self.alpha / self.family

    @property
    def drawn(self) -> int:
        """The resamples: those registered, and never fewer than the interval needs."""
        return max(self.resamples, least_resamples(self.alpha, self.family))


@dataclass(frozen=True, slots=True)
class Compared:
    """Two outcomes compared over `pairs`: counts, the difference with its interval, p values.

    `both`, `first_only`, `second_only` and `neither` count the pairs in which the outcomes hold; one without
    an outcome (`blank`) holds not. `low` and `high` are None where there is no interval, for the reason `obstacle`.
    `moved` are the discordant pairs or, where clusters hold several, the clusters that tend to one side. `power` is
    that of finding that they go three to one, at the first step of the adjustment, and `needed` how many of them,
    all in one direction, reject at all.
    """

    asked: Asked
    pairs: int
    clusters: int | None
    both: int
    first_only: int
    second_only: int
    neither: int
    blank: int
    difference: float | None
    low: float | None
    high: float | None
    obstacle: Reason | None
    method: str | None
    test: str
    p: float | None
    moved: int
    power: float | None
    needed: int
    p_adjusted: float | None = None

    @property
    def discordant(self) -> int:
        """Pairs in which the outcomes differ."""
        return self.first_only + self.second_only

    @property
    def note(self) -> Reason | None:
        """What a reader of the numbers must know first."""
        if self.obstacle is not None:
            return self.obstacle
        return None if self.discordant else Reason("no-discordant-pairs")

    def row(self) -> dict[str, Any]:
        """Return the comparison as a row of the table "paired"; whose it is, the caller adds."""
        # McNemar's tests are of independent pairs: where they are not, no p of theirs is told.
        told = self.pairs > 0 and self.test != SIGN_FLIPS
        by_test = {
            name: float(mcnemar(self.first_only, self.second_only, test).p) if told else None
            for name, test in P_VALUES.items()
        }
        return {
            "pairs": self.pairs,
            "clusters": self.clusters,
            "both": self.both,
            "first_only": self.first_only,
            "second_only": self.second_only,
            "neither": self.neither,
            "blank": self.blank,
            "difference": self.difference,
            "low": self.low,
            "high": self.high,
            "confidence": self.asked.confidence,
            "simultaneous": self.asked.family,
            "method": self.method,
            "test": self.test,
            "p": self.p,
            "p_adjusted": self.p_adjusted,
            **by_test,
            "moved": self.moved,
            "power": self.power,
            "power_at": POWER_AT,
            "needed": self.needed,
            "note": None if self.note is None else self.note.as_json(),
        }


def compare(first: Ints, second: Ints, cluster: Ints | None, asked: Asked, *, sign: int = 1) -> Compared:
    """Compare two outcomes of the same items, arrays of 1, 0 or -1 (none) over the pairs.

    `cluster` holds codes, None where none is declared. The difference is the first's share less the second's, or
    with `sign` -1 the second's less the first's. A pair without an outcome counts at each end of the interval
    as what lies furthest out, and p is then the largest that the missing outcomes allow.
    """
    x, y = first == 1, second == 1
    counts = [int(np.count_nonzero(mask)) for mask in (x & y, x & ~y, ~x & y, ~x & ~y)]
    pairs, own = len(first), None if cluster is None else len(np.unique(cluster))
    several = own is not None and own < pairs
    compared = Compared(
        asked=asked, pairs=pairs, clusters=own, both=counts[0], first_only=counts[1], second_only=counts[2],
        neither=counts[3], blank=int(np.count_nonzero((first < 0) | (second < 0))), difference=None,
        low=None, high=None, obstacle=Reason("no-pairs"), method=None,
        test=SIGN_FLIPS if several else asked.test, p=None, moved=0, power=None,
        needed=discordant_needed(asked.level, EXACT if several else asked.test),
    )  # fmt: skip
    if not pairs:
        return compared
    codes = cluster if several else None
    centre = _difference(x, y, codes, asked)
    ends = (centre, centre)
    if compared.blank:
        ends = (
            _difference(x, y | (second < 0), codes, asked),
            _difference(x | (first < 0), y, codes, asked),
        )
    low, high = ends[0].low, ends[1].high
    if sign < 0:
        low, high = -high, -low
    known = not math.isnan(low)
    power = conditional_power(centre.moved, POWER_AT, asked.level, EXACT if several else asked.test)
    return replace(
        compared,
        difference=sign * centre.value + 0.0,
        low=low + 0.0 if known else None,
        high=high + 0.0 if known else None,
        obstacle=None if known else Reason("too-few-clusters", {"least": MIN_CLUSTERS}),
        method=_method(asked, several=several) if known else None,
        p=_largest(centre, *ends),
        moved=centre.moved,
        power=float(power),
    )


class _Found(NamedTuple):
    """The first share less the second, its interval, p, and the pairs or clusters that speak for a side."""

    value: float
    low: float
    high: float
    p: float
    moved: int


def _difference(x: Mask, y: Mask, cluster: Ints | None, asked: Asked) -> _Found:
    apart = x.astype(np.int64) - y
    if cluster is None:
        b, c = int(np.count_nonzero(apart > 0)), int(np.count_nonzero(apart < 0))
        low, high = tango(b, c, len(x), asked.level)
        p = float(mcnemar(b, c, asked.test).p)
        return _Found((b - c) / len(x), float(low), float(high), p, b + c)
    sums, sizes = cluster_totals(cluster, apart, np.ones(len(x)))
    found = clustered_difference(sums, sizes, alpha=asked.level, resamples=asked.drawn, seed=asked.seed)
    flipped = sign_flips(sums.astype(np.int64))
    return _Found(found.difference, found.low, found.high, flipped.p, flipped.clusters)


def _largest(*found: _Found) -> float:
    """Return the largest p; 1 where the missing outcomes can turn the difference, or take it away."""
    signs = {np.sign(each.value) for each in found}
    return max(each.p for each in found) if len(signs) == 1 else 1.0


def _method(asked: Asked, *, several: bool) -> str:
    if not several:
        return "Tango"
    return f"cluster bootstrap, percentile, {asked.drawn} resamples, seed {asked.seed}"


def adjusted(compared: Sequence[Compared]) -> list[Compared]:
    """Return comparisons of one family with their p values adjusted by Holm over all that were declared.

    One without a p value counts in the family as one that rejects nothing. In a family of one, nothing is shared
    and p stays as it is.
    """
    known = [each.p for each in compared if each.p is not None]
    family = max((each.asked.family for each in compared), default=1)
    values = iter(known if family == 1 else holm(known, family).tolist())
    return [each if each.p is None else replace(each, p_adjusted=next(values)) for each in compared]


def decide(
    criterion: Bounded,
    found: Compared,
    *,
    system: str,
    rows: int,
    left_out: Sequence[LeftOut],
    review: Reason | None,
    lines: tuple[Line, ...] = (),
    details: Details | None = None,
) -> CriterionResult:
    """Decide a criterion on a difference: a bound of 0 by the adjusted test, another by the interval."""
    form, limit = bound_of(criterion)
    by_test = limit == 0 and found.p_adjusted is not None
    obstacle = None if by_test else found.obstacle
    number = Number(found.difference, found.low, found.high, obstacle, scale="difference")
    result = decide_number(
        criterion,
        number,
        system=system,
        rows=rows,
        left_out=left_out,
        review=review,
        lines=lines,
        details=details,
    )
    if not by_test or result.reason.code not in _BY_BOUNDS:
        return result
    assert found.p_adjusted is not None
    assert found.difference is not None
    fields: dict[str, Scalar] = {
        "p": f"{found.p_adjusted:.3g}", "discordant": found.discordant, "needed": found.needed,
        **({"clusters": found.moved} if found.test == SIGN_FLIPS else {}),
    }  # fmt: skip
    if found.p_adjusted > found.asked.alpha:
        code = "test-open" if found.test != SIGN_FLIPS else "test-open-clusters"
        reason = Reason(code, fields) if found.discordant else Reason("no-discordant-pairs")
        return replace(result, state=State.INSUFFICIENT_EVIDENCE, reason=reason)
    allowed = (found.difference > 0) == (form == "min")
    code = "test-kept" if allowed else "test-broken"
    return replace(result, state=State.PASS if allowed else State.FAIL, reason=Reason(code, fields))
