"""Numbers held against what they must be: counted shares, their intervals, why there is none, what adds up."""

import math
from collections.abc import Callable, Collection, Sequence
from itertools import product
from typing import Any, Generic, NamedTuple, TypeVar, cast

from lacre.analyses.disclosure import min_count
from lacre.analyses.estimate import Group, ZeroBound, group_name
from lacre.analyses.families import error_rate
from lacre.analyses.reasons import Reason
from lacre.analyses.recomputing.tally import SIZED, Tally, close
from lacre.analyses.shares import BOUNDS, METHODS
from lacre.analyses.told import AnalysisTold, EstimateTold, Key
from lacre.protocol.grammar import as_float
from lacre.protocol.kinds.parts import stratum_values
from lacre.protocol.kinds.plan import AnalysisPlan
from lacre.protocol.models import Protocol
from lacre.rules.drawing import NOT_SEALED
from lacre.rules.systems import systems_analysed
from lacre.stats.clusters import MIN_CLUSTERS
from lacre.stats.proportions import ONE_SIDED_ALPHA
from lacre.text import _

Plan = TypeVar("Plan", bound=Any)

MOST = 2**53
"""No count is larger: up to here floats are whole numbers."""

HALVINGS = 60


class How(NamedTuple):
    """How a share of counted cases is given: its interval at `alpha`, of how many at once, and on which size.

    `blanks` is the reason beside cases without an outcome, None where there are none.
    """

    interval: str
    alpha: float
    simultaneous: int = 1
    effective: bool = False
    blanks: str | None = None
    method: str | None = None

    @property
    def name(self) -> str:
        """How the result says it."""
        if self.method is not None:
            return self.method
        return f"{METHODS[self.interval]}{' on effective sample size' if self.effective else ''}"


class Held(Generic[Plan]):
    """The numbers of one analysis of a result, against its plan."""

    def __init__(
        self,
        name: str,
        plan: AnalysisPlan,
        protocol: Protocol,
        told: AnalysisTold,
        review: Sequence[str],
        tally: Tally,
    ) -> None:
        self.name = name
        self.plan = cast("Plan", plan)
        self.protocol = protocol
        self.table = protocol.tables[plan.table]
        self.systems = self.of_systems(systems_analysed(protocol, plan))
        self.told = told
        self.tally = tally
        self.alpha = error_rate(self.plan.confidence)
        self.confidence = as_float(self.plan.confidence)
        self.answers = {each.key: each for each in reversed(told.estimates)}
        self.triggers = [Reason("review-registered")] if self.plan.requires_manual_review else []
        self.triggers += [Reason(code) for code in review]

    @property
    def least(self) -> int | None:
        """The smallest denominator that may be shown; None where nothing is withheld."""
        return min_count(self.protocol, self.plan.pool)

    def of_systems(self, systems: Sequence[str]) -> tuple[str, ...]:
        """Return the systems that numbers are of, of those the analysis is registered for."""
        return tuple(systems)

    def called(self, key: Key) -> str:
        """Return how a number is called where it differs."""
        details = ",".join(str(value) for _name, value in sorted(key.details))
        named = group_name(tuple(sorted(key.group)))
        beside = group_name(tuple(sorted(key.versus or ())))
        return ".".join(filter(None, (self.name, key.system, key.metric, named, beside, details)))

    def groups(self, names: Sequence[str]) -> list[Group]:
        """Return every crossing of some columns' declared values."""
        columns = (self.table.columns.get(name) for name in names)
        values = [() if column is None else stratum_values(column) or () for column in columns]
        return [tuple(zip(names, each, strict=True)) for each in product(*values)]

    # --- shares

    def counted(
        self,
        what: str,
        told: EstimateTold,
        how: How,
        absent: Collection[str] = (),
        first: Collection[str] = (),
    ) -> None:
        """Hold a share of counted cases; `absent` and `first` are the reasons for which it may have no interval."""
        if told.numerator is None or first:
            self.absence(what, told, absent, first)
            return
        tally, cases, events = self.tally, told.denominator or 0, told.numerator
        if not 0 <= events <= events + told.missing <= cases <= MOST or cases == 0 or told.missing < 0:
            tally.differs(what, f"{events}/{cases}", _("counts of a rate"))
            return
        fair = tally.holds(f"{what}.value", told.value, events / cases)
        fair &= tally.holds(f"{what}.confidence", told.confidence, self.confidence)
        fair &= tally.holds(f"{what}.simultaneous", told.simultaneous, how.simultaneous)
        fair &= tally.holds(f"{what}.method", told.method, how.name)
        fair &= tally.holds(f"{what}.scale", told.scale, None)
        noted = how.blanks if told.missing else None
        fair &= tally.holds(f"{what}.note", told.note and told.note.code, noted)
        if noted and told.note:
            fair &= tally.same_fields(f"{what}.note", told.note.fields, {"count": told.missing})
        if how.blanks is None:
            fair &= tally.holds(f"{what}.missing", told.missing, 0)
        tally.estimates += fair
        if not tally.holds(f"{what}.zero_bound", told.zero_bound is not None, events == told.missing == 0):
            return
        if how.effective:
            tally.beyond += 1
            if self.ordered(what, told):
                self.of_one_size(what, told, how, events / cases)
            return
        bounds = BOUNDS[how.interval]
        low = bounds(events, cases, how.alpha).low
        high = bounds(events + told.missing, cases, how.alpha).high
        fair = tally.holds(f"{what}.low", told.low, float(low))
        fair &= tally.holds(f"{what}.high", told.high, float(high))
        tally.bounds += fair & self.zero(what, told, cases)

    def line_of(self, what: str, told: EstimateTold, how: How) -> None:
        """Hold value and bounds of a share that has no estimate of its own."""
        cases, events = told.denominator or 0, told.numerator or 0
        self.tally.holds(f"{what}.value", told.value, events / cases)
        if how.effective:
            if self.ordered(what, told):
                self.of_one_size(what, told, how, events / cases)
            return
        bounds = BOUNDS[how.interval]
        self.tally.holds(f"{what}.low", told.low, float(bounds(events, cases, how.alpha).low))
        self.tally.holds(
            f"{what}.high", told.high, float(bounds(events + told.missing, cases, how.alpha).high)
        )

    def zero(self, what: str, told: EstimateTold, size: float) -> bool:
        """Hold what zero events among so many leave possible."""
        if told.zero_bound is None:
            return True
        bound = ZeroBound.of(size)
        return all(
            [
                self.tally.holds(f"{what}.zero_bound.{name}", getattr(told.zero_bound, name), getattr(bound, name))
                for name in ("exact", "rule_of_three", "confidence")
            ]
            + [self.tally.holds(f"{what}.zero_bound.sides", told.zero_bound.sides, 1)]
        )  # fmt: skip

    def ordered(self, what: str, told: EstimateTold, most: float = 1.0, least: float = 0.0) -> bool:
        """Hold that an interval is one, and holds its value unless it is a percentile one."""
        low = -math.inf if told.low is None else told.low
        high = math.inf if told.high is None else told.high
        percentile = "percentile" in (told.method or "")
        fits = low <= high and (low >= least or math.isinf(low)) and (high <= most or math.isinf(high))
        if told.value is not None:
            fits &= least <= told.value <= most
            fits &= percentile or (low <= told.value + 1e-12 and told.value <= high + 1e-12)
        return self.tally.fits(what, f"{told.value} [{told.low}, {told.high}]", _("an interval"), fits=fits)

    def of_one_size(self, what: str, told: EstimateTold, how: How, value: float) -> None:
        """Hold that both ends, or the bound of zero events and the upper end, are of one effective size."""
        if told.low is None or told.high is None:
            self.tally.differs(what, f"[{told.low}, {told.high}]", _("an interval"))
            return
        bounds, missing = BOUNDS[how.interval], told.missing
        if told.zero_bound is not None:
            exact = told.zero_bound.exact
            size = math.log(ONE_SIDED_ALPHA) / math.log1p(-exact) if 0 < exact < 1 else 0.0
            if not self.tally.fits(f"{what}.zero_bound", exact, _("of some size"), fits=size > 0):
                return
            self.zero(what, told, size)
            self.tally.holds(f"{what}.low", told.low, 0.0)
            high = float(bounds(0.0, size, how.alpha).high)
            self.tally.fits(f"{what}.high", told.high, str(high), fits=close(told.high, high, SIZED))
        elif value == 0:
            self.tally.holds(f"{what}.low", told.low, 0.0)
        elif value == 1:
            self.tally.holds(f"{what}.high", told.high, 1.0)
        elif not missing:
            size = _size(lambda n: float(bounds(value * n, n, how.alpha).high), told.high)
            low = float(bounds(value * size, size, how.alpha).low)
            self.tally.fits(f"{what}.low", told.low, str(low), fits=close(told.low, low, SIZED))

    def absence(
        self, what: str, told: EstimateTold, codes: Collection[str], first: Collection[str] = ()
    ) -> None:
        """Hold that a number is absent for a reason: one of `first`, or no cases, which shows, or one of `codes`."""
        code, cases = None if told.note is None else told.note.code, told.denominator
        if not told.bare or cases is None or cases < 0:
            self.tally.differs(what, code, _("no number but that of its cases"))
        elif code == "no-cases" and not first:
            self.tally.estimates += self.tally.holds(f"{what}.denominator", cases, 0)
        elif code in first or (code in codes and cases > 0):
            self.tally.beyond += 1
            if code == "too-few-clusters" and told.note is not None:
                self.tally.same_fields(f"{what}.note", told.note.fields, {"least": MIN_CLUSTERS})
        else:
            self.tally.differs(what, code, ", ".join(first or (() if cases else ("no-cases",)) or codes))

    @property
    def clustered(self) -> bool:
        """Whether each case is in one declared cluster."""
        return len(self.table.cluster) == 1

    @property
    def crossed(self) -> tuple[str, ...]:
        """The reason why there is no interval where cases are in several clusters."""
        return ("crossed-clusters",) if len(self.table.cluster) > 1 else ()

    @property
    def few(self) -> tuple[str, ...]:
        """The reason why there may be no interval where cases are in a cluster."""
        return ("too-few-clusters",) if self.clustered else ()

    # --- what adds up

    def rows_fit(
        self, inside: int, columns: Collection[str], *, exact: bool = False, uncounted: bool = False
    ) -> None:
        """Hold the rows against the cases `inside` and what is left out for `columns`, or never was sealed.

        With `exact` no case is left out twice; `uncounted` rows are neither cases nor left out.
        """
        out: dict[tuple[str, str], int] = {}
        for each in self.told.left_out:
            if each.reason == NOT_SEALED or (each.reason != "excluded" and each.column in columns):
                out[each.reason, each.column] = max(each.count, out.get((each.reason, each.column), 0))
        own = {
            key: n
            for key, n in out.items()
            if len(self.systems) == 1 or key[0] == NOT_SEALED or not self.table.supplied(key[1])
        }
        apart = self.told.rows - inside
        least = sum(own.values()) if exact else max(own.values(), default=0)
        most = apart if uncounted else sum(out.values())
        fits = least <= apart <= most
        self.tally.fits(f"{self.name}.rows", self.told.rows, f"{inside + least} - {inside + most}", fits=fits)

    def adds_up(
        self,
        whole: EstimateTold | None,
        names: Sequence[str],
        parts: Sequence[EstimateTold | None],
        *,
        exact: bool,
    ) -> None:
        """Hold groups of one crossing against everybody: together the cases less those in no group.

        With `exact` what is left out for want of a stratum was counted among these very cases.
        """
        if whole is None or whole.denominator is None or not parts:
            return
        cases = [None if each is None else each.denominator for each in parts]
        if None in cases:
            return
        out: dict[tuple[str, str], int] = {}
        for each in self.told.left_out:
            if each.reason in ("missing", "undeclared") and each.column in names:
                out[each.reason, each.column] = max(each.count, out.get((each.reason, each.column), 0))
        gone = whole.denominator - sum(each for each in cases if each is not None)
        least = sum(out.values()) if exact and len(names) == 1 and len(self.systems) == 1 else 0
        what = f"{self.called(whole.key)}.{' × '.join(names)}"
        fits = least <= gone <= sum(out.values())
        self.tally.fits(f"{what}.denominator", gone, f"{least} - {sum(out.values())}", fits=fits)
        if whole.numerator is None or any(part is None or part.withheld for part in parts):
            return
        known = [part for part in parts if part is not None and part.numerator is not None]
        most = gone + sum(
            part.denominator or 0 for part in parts if part is not None and part.numerator is None
        )
        for name in ("numerator", "missing"):
            total, of_all = sum(getattr(part, name) or 0 for part in known), getattr(whole, name)
            fits = 0 <= of_all - total <= most
            self.tally.fits(f"{what}.{name}", total, f"{of_all - most} - {of_all}", fits=fits)


def _size(high: Callable[[float], float], at: float) -> float:
    """Return the size at which an upper end, which falls with it, is `at`, by halving."""
    low, most = -10.0, 60.0
    for _halved in range(HALVINGS):
        middle = (low + most) / 2
        low, most = (middle, most) if high(math.exp(middle)) > at else (low, middle)
    return math.exp(most)
