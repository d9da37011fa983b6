"""The engine's verification on counts that a result tells, and the lines it tells them by."""

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple, cast

import numpy as np

from lacre.analyses.comparisons import Comparisons, Rates
from lacre.analyses.estimate import Answer, Withheld
from lacre.analyses.ladder import Rung, details_of
from lacre.analyses.reasons import Reason
from lacre.analyses.recomputing.base import Again
from lacre.analyses.recomputing.held import MOST
from lacre.analyses.told import EstimateTold, Key, Told
from lacre.analyses.verdict import LeftOut
from lacre.analyses.verification import Verification
from lacre.analyses.verification_numbers import Numbers
from lacre.protocol.grammar import as_float
from lacre.protocol.kinds.verification import VerificationPlan
from lacre.stats.proportions import Interval
from lacre.stats.thresholds import Rate
from lacre.stats.verification import GroupCounts, ThresholdDistance

BOOTSTRAP = "subject bootstrap"


class GroupTold(Told):
    """A group's line of the table "groups"."""

    false_match: int
    impostor: int
    false_non_match: int
    genuine: int
    abstained_impostor: int
    abstained_genuine: int
    abstained: int
    false_match_size: float | None
    false_non_match_size: float | None
    false_match_subjects: int | None
    false_non_match_subjects: int | None
    false_match_dense: bool
    false_non_match_dense: bool

    @property
    def counts(self) -> tuple[int, ...]:
        """The counts, in the engine's order."""
        return tuple(getattr(self, name) for name in GroupCounts._fields)

    @property
    def fits(self) -> bool:
        """Whether these are counts of comparisons."""
        whole = all(0 <= each <= MOST for each in self.counts)
        inside = self.false_match <= self.impostor and self.false_non_match <= self.genuine
        sizes = [(self.false_match_size, self.impostor), (self.false_non_match_size, self.genuine)]
        sized = all(size is None or 0 <= size <= cases * (1 + 1e-9) for size, cases in sizes)
        return whole and inside and sized


NOTHING = GroupTold(
    false_match=0, impostor=0, false_non_match=0, genuine=0, abstained_impostor=0, abstained_genuine=0, abstained=0,
    false_match_size=None, false_non_match_size=None, false_match_subjects=None, false_non_match_subjects=None,
    false_match_dense=False, false_non_match_dense=False,
)  # fmt: skip
"""In place of a line that is withheld: what others say does not rest on it, or is withheld as well."""


class TargetTold(Told):
    """A group's own threshold for a target, and both rates at it."""

    threshold: float | None
    threshold_low: float | None
    threshold_high: float | None
    events: int | None
    cases: int
    achieved: float | None
    low: float | None
    high: float | None
    other_rate: float | None
    other_events: int | None
    other_cases: int
    other_low: float | None
    other_high: float | None
    unresolved: bool


class Which(NamedTuple):
    """One rung of one system."""

    system: str
    rung: str


class ToldNumbers(Numbers):
    """The numbers of counts that a result tells; those of scores are as it tells them."""

    told: Mapping[Key, EstimateTold]

    def _drawn(self, rung: Rung, rate: Rate, *, everybody: bool) -> Interval | None:
        """Return the intervals that resample subjects, as told, where most of their pairs are there."""
        found = rung.everybody[rate] if everybody else rung.by_group[rate]
        groups = ((),) if everybody else self.read.groups
        ends = np.full((2, len(groups)), np.nan)
        for index, group in enumerate(groups):
            key = Key(rate, self.system, frozenset(group), None, frozenset(details_of(rung).items()))
            for told in (self.told.get(key), self.told.get(key._replace(metric=f"{rate}_beside"))):
                if (
                    told is None
                    or told.low is None
                    or told.high is None
                    or BOOTSTRAP not in (told.method or "")
                ):
                    continue
                if found.dense[index] and found.known[index] and told.low <= found.value[index] <= told.high:
                    ends[:, index] = told.low, told.high
        return Interval(*ends) if np.isfinite(ends).any() else None

    def distance(self, rung: Rung, rate: Rate, at: Any) -> ThresholdDistance:
        """Return how far thresholds are apart, as the result tells it."""
        details = frozenset(details_of(rung, target=rate, at=as_float(at)).items())
        told = self.told.get(Key("threshold_distance", self.system, frozenset(), None, details))

        def number(value: float | None, otherwise: float) -> float:
            return otherwise if value is None else value

        if told is None:
            return ThresholdDistance(np.nan, 0.0, np.inf, 0, ())
        low, high = number(told.low, 0.0), number(told.high, np.inf)
        return ThresholdDistance(number(told.value, np.nan), low, high, 0, ())

    def _distance(self, rung: Rung, rate: Rate, at: Any) -> Answer:
        """Return no number: what is told of it is held by itself."""
        details = details_of(rung, target=rate, at=as_float(at))
        return Withheld("threshold_distance", self.system, (), Reason("withheld"), details)

    def hidden(self) -> bool:
        """Tell whether some group is too small for a number to be shown that rests on all."""
        return any(each.withheld for each in self.told.values() if each.metric.endswith("_ratio"))


class ToldVerification(Verification):
    """One system's analysis, of counts that a result tells."""

    def __init__(
        self,
        again: "Again[VerificationPlan]",
        system: str,
        left_out: tuple[tuple[LeftOut, ...], tuple[LeftOut, ...]],
    ) -> None:
        self.plan = again.plan
        self.name = again.name
        self.system = system
        self.alpha = again.alpha
        self.confidence = again.confidence
        self.least = again.least
        whole, ungrouped = left_out
        read = SimpleNamespace(
            rows=again.told.rows,
            groups=tuple(again.groups([again.plan.group])),
            whole=whole,
            ungrouped=ungrouped,
        )
        self.read = cast("Comparisons", read)
        numbers = ToldNumbers(again.plan, self.read, system, again.alpha, again.confidence, self.least)
        numbers.told = again.answers
        self.numbers = numbers
        self.triggers = list(again.triggers)


def counts_of(lines: Sequence[GroupTold]) -> GroupCounts:
    return GroupCounts(
        *(np.array(each, np.int64) for each in zip(*(line.counts for line in lines), strict=True))
    )


def rates_of(lines: Sequence[GroupTold], rate: Rate) -> Rates:
    cases = "impostor" if rate == "false_match" else "genuine"
    sizes = [getattr(line, f"{rate}_size") for line in lines]
    units = [getattr(line, f"{rate}_subjects") for line in lines]
    return Rates(
        events=np.array([getattr(line, rate) for line in lines], np.int64),
        cases=np.array([getattr(line, cases) for line in lines], np.int64),
        size=np.array([np.nan if each is None else each for each in sizes], np.float64),
        units=None if None in units else np.array(units, np.int64),
        dense=np.array([getattr(line, f"{rate}_dense") for line in lines], np.bool_),
    )
