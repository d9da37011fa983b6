"""What every kind's recomputation does: numbers and criteria that must be there, counted shares, verdicts."""

import math
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from lacre.analyses.criteria import rule_of, worst_group_rule
from lacre.analyses.disclosure import min_count
from lacre.analyses.estimate import Group, ZeroBound, group_name
from lacre.analyses.families import Family, error_rate
from lacre.analyses.judging import bound_of
from lacre.analyses.reasons import Reason
from lacre.analyses.recomputing.tally import SIZED, Tally, close
from lacre.analyses.shares import BOUNDS, METHODS
from lacre.analyses.told import AnalysisTold, CriterionTold, EstimateTold, Key, LineTold
from lacre.analyses.verdict import CriterionResult, LeftOut, Line, State, worst
from lacre.protocol.grammar import as_float
from lacre.protocol.kinds.parts import stratum_values
from lacre.protocol.kinds.plan import AnalysisPlan
from lacre.protocol.models import Protocol
from lacre.rules.systems import systems_analysed
from lacre.stats.clusters import MIN_CLUSTERS
from lacre.stats.fairness import RateCounts
from lacre.stats.proportions import ONE_SIDED_ALPHA, Interval

Plan = TypeVar("Plan", bound=Any)

MOST = 2**53
"""No count is larger: up to here floats are whole numbers."""

HALVINGS = 200


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


@dataclass(frozen=True, eq=False)
class ToldFamily(Family):
    """A family whose counts and bounds are those a result tells."""

    gone: Mapping[int, str] = field(default_factory=dict)

    def not_estimable(self, rate: str, index: int) -> str | None:  # noqa: ARG002 - of the one rate told
        """Return why a group's rate has no bounds, as the result says."""
        return self.gone.get(index)


class Again(Generic[Plan]):
    """One analysis of a result, against its plan."""

    plan: Plan

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
        self.plan = plan
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

    # --- what a kind says of itself

    def of_systems(self, systems: Sequence[str]) -> tuple[str, ...]:
        """Return the systems that numbers are of, of those the analysis is registered for."""
        return tuple(systems)

    @abstractmethod
    def wanted(self) -> list[Key]:
        """Return what every number is found by, as the plan has them."""

    def optional(self) -> Collection[Key]:
        """Return what may be there or not, as the data have it."""
        return ()

    @abstractmethod
    def rules(self) -> list[tuple[str, Any]]:
        """Return every criterion with its system."""

    @abstractmethod
    def estimate(self, what: str, told: EstimateTold) -> None:
        """Hold a number that is there against the counts and the plan."""

    @abstractmethod
    def decide(self, what: str, told: CriterionTold, rule: Any) -> CriterionResult | None:
        """Decide a criterion again; None where that cannot be done."""

    def beside(self, document: Mapping[str, Any]) -> None:
        """Take from the whole result what the analysis needs."""

    def more(self) -> None:
        """Hold what is told besides: the kind's own tables, and numbers that add up."""

    def own_triggers(self, system: str) -> list[Reason]:  # noqa: ARG002 - a kind may have none
        """Return the reasons that the numbers of one system give to review them all."""
        return []

    def across(self, states: Sequence[tuple[str, State]]) -> State:
        """Return the state of all from the systems' criteria; those on two systems have none."""
        each = []
        for system in self.systems:
            review = self.triggers or self.own_triggers(system)
            own = [state for of, state in states if of == system]
            each.append(State.MANUAL_REVIEW if review else worst(own))
        return worst(each)

    # --- all of it

    def go(self) -> None:
        """Hold all of it."""
        self.tally.holds(f"{self.name}.kind", self.told.kind, self.plan.kind)
        wanted, optional = self.wanted(), {*self.optional()}
        self._all_there(wanted, optional)
        known = {*wanted} | optional
        for estimate in self.told.estimates:
            if estimate.key in known:
                what = self.called(estimate.key)
                if estimate.withheld:
                    self._withheld(what, estimate.note.fields if estimate.note else {})
                else:
                    self.estimate(what, estimate)
        self.more()
        states = [(each.system or "", self._criterion(each)) for each in self.told.criteria]
        self.tally.holds(f"{self.name}.computed", self.told.computed, self.across(states).value)
        self._told_notes()

    def _all_there(self, wanted: Sequence[Key], optional: Collection[Key]) -> None:
        """Every declared group has its numbers, and nobody else has; every criterion is there once."""
        told = Counter(each.key for each in self.told.estimates if each.key not in optional)
        for key in Counter(wanted) - told:
            self.tally.differs(self.called(key), None, "estimate")
        for key in told - Counter(wanted):
            self.tally.differs(self.called(key), "estimate", None)
        criteria = Counter((system, rule.id) for system, rule in self.rules())
        stated = Counter((each.system or "", each.id) for each in self.told.criteria)
        if stated != criteria:
            self.tally.differs(f"{self.name}.criteria", _listed(stated), _listed(criteria))

    def _told_notes(self) -> None:
        """The reasons to review all are among the notes, and what follows from plan and numbers is as they have it."""
        codes = [each.code for each in self.triggers]
        for system in self.systems:
            codes += [each.code for each in self.own_triggers(system)]
        stated = [each.code for each in self.told.notes]
        for code in dict.fromkeys(codes):
            self.tally.fits(f"{self.name}.notes", None, code, fits=code in stated)
        withheld = sum(each.withheld for each in self.told.estimates)
        wanted: dict[str, Mapping[str, object] | None] = {
            "criteria-uncorrected": {"count": len(self.plan.criteria)}
            if len(self.plan.criteria) > 1
            else None,
            "estimates-withheld": {"count": withheld, "min_count": min_count(self.protocol)}
            if withheld
            else None,
            **self.noted(),
        }
        for code, fields in wanted.items():
            if (
                self.tally.holds(f"{self.name}.notes.{code}", code in stated, fields is not None)
                and fields is not None
            ):
                told = next(each for each in self.told.notes if each.code == code)
                self.tally.same_fields(f"{self.name}.notes.{code}", told.fields, fields)

    def noted(self) -> Mapping[str, Mapping[str, object] | None]:
        """Return what notes of the kind's own say, by their codes; None of one that must not be there."""
        assumed = self.table.unit is None and not self.table.cluster
        return {"independence-assumed": {} if assumed else None}

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

    def _withheld(self, what: str, fields: Mapping[str, Any]) -> None:
        """Take note of what disclosure control keeps back, where there is such a thing."""
        self.tally.withheld += 1
        self.tally.holds(f"{what}.withheld", fields.get("min_count"), min_count(self.protocol))

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
            tally.differs(what, f"{events}/{cases}", "counts of a rate")
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
        return self.tally.fits(what, f"{told.value} [{told.low}, {told.high}]", "an interval", fits=fits)

    def of_one_size(self, what: str, told: EstimateTold, how: How, value: float) -> None:
        """Hold that both ends, or the bound of zero events and the upper end, are of one effective size."""
        if told.low is None or told.high is None:
            self.tally.differs(what, f"[{told.low}, {told.high}]", "an interval")
            return
        bounds, missing = BOUNDS[how.interval], told.missing
        if told.zero_bound is not None:
            exact = told.zero_bound.exact
            size = math.log(ONE_SIDED_ALPHA) / math.log1p(-exact) if 0 < exact < 1 else 0.0
            if not self.tally.fits(f"{what}.zero_bound", exact, "of some size", fits=size > 0):
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
            self.tally.differs(what, code, "no number but that of its cases")
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

    # --- verdicts

    def _criterion(self, told: CriterionTold) -> State:
        """Decide a criterion again; return what it is computed to, or says it is where that cannot be done."""
        what = ".".join(filter(None, (self.name, told.id, told.system)))
        rule = next((r for of, r in self.rules() if (of, r.id) == (told.system or "", told.id)), None)
        said = State(told.computed) if told.computed in {*State} else State.MANUAL_REVIEW
        if rule is None:
            return said  # found already
        if self.told.rows < 0 or any(each.count < 0 for each in (*told.left_out, *self.told.left_out)):
            self.tally.differs(f"{what}.left_out", "counts", "counts of cases")
            return said
        self._of_the_analysis(what, told)
        self._registered(what, told, rule)
        if any(line.reason.code == "withheld" for line in told.groups) or told.reason.code == "withheld":
            self.tally.withheld += 1
            fields = told.reason.fields if told.reason.code == "withheld" else {"min_count": min_count(self.protocol)}
            self.tally.holds(f"{what}.withheld", fields.get("min_count"), min_count(self.protocol))
            for line in told.groups:
                self.same_line(what, line, self.answers.get(self.line_key(told, frozenset(line.group.items()))))
            return said
        again = self.decide(what, told, rule)
        if again is None:
            return said
        if self._compare(what, told, again):
            self.tally.criteria += 1
        return again.state

    def line_key(self, told: CriterionTold, group: frozenset[tuple[str, str]]) -> Key:
        """Return what the number of a criterion's line is found by."""
        return Key(told.metric, told.system or "", group)

    def _registered(self, what: str, told: CriterionTold, rule: Any) -> None:
        """What is asked is as registered, also where no number of it may be shown."""
        self.tally.holds(f"{what}.metric", told.metric, rule.metric)
        ratio = getattr(rule, "max_group_ratio", None)
        if getattr(rule, "max_group_gap", None) is not None:
            asked = rule_of(rule)
            form, limit = str(asked.form), asked.limit
        elif getattr(rule, "worst_group", None) is not None:
            asked = worst_group_rule(rule.worst_group)
            form, limit = str(asked.form), asked.limit
        elif ratio is not None:
            form, limit = "max_group_ratio", as_float(ratio.max)
        else:
            form, limit = bound_of(rule)
        self.tally.holds(f"{what}.rule", told.rule, form)
        self.tally.holds(f"{what}.threshold", told.threshold, limit)
        for line in told.groups:
            if line.reason.code == "withheld":
                self.tally.holds(
                    f"{what}.withheld", line.reason.fields.get("min_count"), min_count(self.protocol)
                )

    def _of_the_analysis(self, what: str, told: CriterionTold) -> None:
        """What a criterion leaves out, the analysis does too: there each reason is counted by itself."""
        for each in told.left_out:
            if each.reason == "unpaired":
                continue
            most = max((o.count for o in self.told.left_out if (o.reason, o.column) == (each.reason, each.column)),
                       default=0)  # fmt: skip
            self.tally.fits(f"{what}.left_out", each.count, f"<= {most}", fits=each.count <= most)

    def left_out(self, told: CriterionTold) -> tuple[LeftOut, ...]:
        """Return what a criterion tells to have left out."""
        return tuple(LeftOut(each.reason, each.column, each.count) for each in told.left_out)

    def review_of(self, system: str) -> Reason | None:
        """Return the first reason to review all of one system."""
        return next(iter((*self.triggers, *self.own_triggers(system))), None)

    def fit(self, what: str, told: CriterionTold, groups: Sequence[Group]) -> bool:
        """Hold that a criterion has a line for each of `groups`, with the counts and bounds of a rate."""
        if [frozenset(line.group.items()) for line in told.groups] != [frozenset(each) for each in groups]:
            self.tally.differs(f"{what}.groups", len(told.groups), len(groups))
            return False
        fits = all(line.fits and (line.denominator or 0) <= MOST for line in told.groups)
        return self.tally.fits(f"{what}.groups", "counts of no rate", "counts of a rate", fits=fits)

    def same_line(self, what: str, line: LineTold, estimate: EstimateTold | None, *names: str) -> None:
        """Hold that the numbers of a criterion's line are those of the estimate it is of."""
        if estimate is None or line.reason.code == "withheld" or estimate.withheld:
            return
        called = f"{what}.{group_name(tuple(line.group.items()))}"
        for name in names or ("numerator", "denominator", "value", "low", "high"):
            self.tally.holds(f"{called}.{name}", getattr(line, name), getattr(estimate, name))
        if line.numerator is not None and not names:
            self.tally.holds(f"{called}.missing", line.missing, estimate.missing)

    def told_family(
        self,
        told: CriterionTold,
        metric: str,
        groups: Sequence[Group],
        obstacle: str | None,
        first: Collection[str] = (),
    ) -> ToldFamily:
        """Return the family that a criterion's lines tell; `first` are reasons that stand before a want of cases."""
        lines = told.groups
        names = ("numerator", "missing", "denominator")
        counts = RateCounts(*(np.array([getattr(each, n) or 0 for each in lines], np.int64) for n in names))

        def floats(name: str) -> Any:
            return np.array(
                [np.nan if (v := getattr(each, name)) is None else v for each in lines], np.float64
            )

        gone = {
            index: line.reason.code if line.denominator or line.reason.code in first else "no-cases"
            for index, line in enumerate(lines)
            if line.low is None
        }
        return ToldFamily(
            tuple(told.by), tuple(groups), np.zeros(0, np.int64), {metric: counts},
            {metric: Interval(floats("low"), floats("high"))}, None, obstacle, {metric: floats("value")}, gone,
        )  # fmt: skip

    def described(self, group: Group, answer: EstimateTold | None) -> Line:
        """Return a line of which by itself nothing is asked, from the number it is of."""
        known = answer is not None and answer.value is not None
        absent = None if answer is None or answer.note is None else answer.note.reason
        return Line(
            group=group,
            state=State.PASS if known else State.INSUFFICIENT_EVIDENCE,
            reason=Reason("described") if known or absent is None else absent,
            numerator=answer.numerator if answer and known else None,
            denominator=answer.denominator if answer else None,
            missing=answer.missing if answer and known else None,
            value=answer.value if answer and known else None,
            low=answer.low if answer and known else None,
            high=answer.high if answer and known else None,
        )

    def _compare(self, what: str, told: CriterionTold, again: CriterionResult) -> bool:
        tally = self.tally
        same = tally.holds(f"{what}.by", told.by, list(again.by))
        same &= tally.holds(f"{what}.scale", (told.scale, told.unit), (again.scale, again.unit))
        same &= tally.same_fields(f"{what}.details", told.details, again.details)
        same &= tally.holds(f"{what}.computed", told.computed, again.state.value)
        if told.state == told.computed:
            same &= tally.holds(f"{what}.reason", told.reason.code, again.reason.code)
            same &= tally.same_fields(f"{what}.reason", told.reason.fields, again.reason.fields)
        for name in ("value", "low", "high"):
            same &= tally.holds(f"{what}.{name}", getattr(told, name), getattr(again, name))
        same &= tally.holds(f"{what}.groups", len(told.groups), len(again.lines))
        for line, mine in zip(told.groups, again.lines, strict=False):
            called = f"{what}.{group_name(mine.group)}"
            same &= tally.holds(called, line.group, dict(mine.group))
            same &= tally.holds(f"{called}.computed", line.computed, mine.state.value)
            if line.state == line.computed:
                same &= tally.holds(f"{called}.reason", line.reason.code, mine.reason.code)
                same &= tally.same_fields(f"{called}.reason", line.reason.fields, mine.reason.fields)
            for name in ("numerator", "denominator", "missing", "value", "low", "high"):
                same &= tally.holds(f"{called}.{name}", getattr(line, name), getattr(mine, name))
        return same

    # --- what adds up

    def rows_fit(
        self, inside: int, columns: Collection[str], *, exact: bool = False, uncounted: bool = False
    ) -> None:
        """Hold the rows against the cases `inside` and what is left out for `columns`.

        With `exact` no case is left out twice; `uncounted` rows are neither cases nor left out.
        """
        out: dict[tuple[str, str], int] = {}
        for each in self.told.left_out:
            if each.reason != "excluded" and each.column in columns:
                out[each.reason, each.column] = max(each.count, out.get((each.reason, each.column), 0))
        own = {key: n for key, n in out.items() if len(self.systems) == 1 or not self.table.supplied(key[1])}
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
    for _ in range(HALVINGS):
        middle = (low + most) / 2
        low, most = (middle, most) if high(math.exp(middle)) > at else (low, middle)
    return math.exp(most)


def bare_line(line: Line, cases: int) -> Line:
    """Return a line with nothing but a number of cases."""
    return replace(line, numerator=None, missing=None, value=None, low=None, high=None, denominator=cases)


def _listed(names: Iterable[tuple[str, str]]) -> str:
    return ", ".join(":".join(filter(None, each)) for each in names)
