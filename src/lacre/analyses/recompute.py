"""A result computed again from itself: all that follows from its own counts and the protocol, without any data.

Values and exact bounds follow from the counts, and every verdict from the bounds. What does not follow, and is
only counted: what disclosure control withheld; bounds over clusters, which need the cases; the calibration
error. The functions are those of the engine; floats are compared to `TOLERANCE`, since the last digits of
a quantile differ between versions of SciPy.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
from pydantic import ValidationError

from lacre.analyses.criteria import decide, rule_of
from lacre.analyses.estimate import Group, ZeroBound, group_name
from lacre.analyses.families import Family, error_rate
from lacre.analyses.reasons import Reason
from lacre.analyses.told import AnalysisTold, CriterionTold, EstimateTold
from lacre.analyses.verdict import CriterionResult, LeftOut, State, worst
from lacre.protocol.grammar import as_float
from lacre.protocol.kinds.group_fairness import GroupFairnessPlan
from lacre.protocol.models import Protocol
from lacre.protocol.tables import Table
from lacre.stats.fairness import RATES, RateCounts, simultaneous_bounds
from lacre.stats.proportions import Interval

TOLERANCE = 1e-9  # relative; the quantiles keep eight digits at the very least, and are far better as a rule
ABSENT = ("no-cases", "too-few-clusters", "weighted-sample", "crossed-clusters")
"""Why a rate may have no value."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A place of a result where it says something else than its own counts and the protocol do."""

    what: str
    stated: str
    expected: str


@dataclass(frozen=True, slots=True)
class Recomputed:
    """What could be computed again: `estimates` and `criteria` in number, and how many of each could not.

    `bounds` counts the estimates whose interval was, too; `withheld` those that disclosure control keeps
    back, `beyond` what needs the data or has a kind that this version does not compute again.
    """

    estimates: int = 0
    bounds: int = 0
    criteria: int = 0
    withheld: int = 0
    beyond: int = 0
    differences: tuple[Difference, ...] = ()


def recompute(document: Mapping[str, Any], protocol: Protocol) -> Recomputed:
    """Compute the stored result `document` again, as far as that can be done; never fails on what it holds."""
    tally = _Tally()
    review = document.get("review")
    codes = [each for each in review if isinstance(each, str)] if isinstance(review, list) else []
    analyses = document.get("analyses")
    for analysis in analyses if isinstance(analyses, list) else []:
        name = str(analysis.get("id")) if isinstance(analysis, dict) else ""
        plan = protocol.analyses.get(name)
        if plan is None:
            tally.differs(name or "analyses", "-", ", ".join(protocol.analyses))
        elif not isinstance(plan, GroupFairnessPlan):
            tally.beyond += _many(analysis, "estimates") + _many(analysis, "criteria")
        else:
            try:
                told = AnalysisTold.model_validate(analysis)
            except ValidationError as error:
                first = error.errors(include_url=False, include_input=False)[0]
                where = ".".join(str(part) for part in first["loc"])
                tally.differs(f"{name}.{where}", first["type"], "-")
                continue
            _Again(name, plan, protocol, told, codes, tally).go()
    return tally.total()


def _many(analysis: Mapping[str, Any], name: str) -> int:
    items = analysis.get(name)
    return len(items) if isinstance(items, list) else 0


# --- computed again -----------------------------------------------------------------------------------------


@dataclass
class _Tally:
    estimates: int = 0
    bounds: int = 0
    criteria: int = 0
    withheld: int = 0
    beyond: int = 0
    differences: list[Difference] = field(default_factory=list)

    def differs(self, what: str, stated: object, expected: object) -> None:
        self.differences.append(Difference(what, _shown(stated), _shown(expected)))

    def holds(self, what: str, stated: object, expected: object) -> bool:
        """Take note of a difference; floats that are as good as equal are none."""
        same = _close(stated, expected) if isinstance(expected, float) else stated == expected
        if not same:
            self.differs(what, stated, expected)
        return same

    def total(self) -> Recomputed:
        return Recomputed(
            self.estimates, self.bounds, self.criteria, self.withheld, self.beyond, tuple(self.differences)
        )


def _close(stated: object, expected: float) -> bool:
    if not isinstance(stated, float | int):
        return math.isnan(expected) and stated is None
    return math.isclose(stated, expected, rel_tol=TOLERANCE, abs_tol=1e-12)


def _shown(value: object) -> str:
    return "-" if value is None else str(value)


@dataclass(frozen=True, eq=False)
class _ToldFamily(Family):
    """A family whose counts and bounds are those a result tells."""

    absent: Mapping[int, str] = field(default_factory=dict)

    def not_estimable(self, rate: str, index: int) -> str | None:  # noqa: ARG002 - of the one rate told
        """Return why a group's rate has no bounds, as the result says."""
        return self.absent.get(index)


class _Again:
    """One analysis of a result, against its plan."""

    def __init__(
        self,
        name: str,
        plan: GroupFairnessPlan,
        protocol: Protocol,
        told: AnalysisTold,
        review: Sequence[str],
        tally: _Tally,
    ) -> None:
        self.name = name
        self.plan = plan
        self.table = protocol.tables[plan.table]
        self.systems = tuple(plan.systems or tuple(protocol.systems) or ("",))
        self.told = told
        self.review = review
        self.tally = tally
        self.estimates = {each.key: each for each in told.estimates}
        self.wanted = [
            (system, rate, frozenset(group))
            for system in self.systems
            for attributes in self._families()
            for group in self._groups(attributes)
            for rate in RATES
        ]

    def go(self) -> None:
        self.tally.holds(f"{self.name}.kind", self.told.kind, self.plan.kind)
        self._all_there()
        wanted = {*self.wanted}
        for estimate in self.told.estimates:
            if estimate.key in wanted:
                self._estimate(estimate)
        for system in self.systems:
            self._sums(system)
        states = [self._criterion(each) for each in self.told.criteria]
        triggers = [each for system in self.systems for each in self._triggers(system)]
        expected = State.MANUAL_REVIEW if triggers else worst(states)
        self.tally.holds(f"{self.name}.computed", self.told.computed, expected.value)

    # --- estimates

    def _families(self) -> Iterator[tuple[str, ...]]:
        yield ()
        yield from ((name,) for name in self.plan.attributes)
        yield from (tuple(names) for names in self.plan.intersections)

    def _groups(self, attributes: Sequence[str]) -> list[Group]:
        values = [_values(self.table, name) for name in attributes]
        return [tuple(zip(attributes, chosen, strict=True)) for chosen in product(*values)]

    def _all_there(self) -> None:
        """Every declared group has its rates, and nobody else has."""
        missing = Counter(self.wanted) - Counter(each.key for each in self.told.estimates)
        surplus = Counter(each.key for each in self.told.estimates) - Counter(self.wanted)
        for key in missing:
            self.tally.differs(self._called(*key), None, "estimate")
        for key in surplus:
            self.tally.differs(self._called(*key), "estimate", None)
        wanted_criteria = Counter((system, each.id) for system in self.systems for each in self.plan.criteria)
        told = Counter((each.system or "", each.id) for each in self.told.criteria)
        if told != wanted_criteria:
            self.tally.differs(f"{self.name}.criteria", _listed(told), _listed(wanted_criteria))

    def _called(self, system: str, metric: str, group: Iterable[tuple[str, str]]) -> str:
        names = group_name(tuple(sorted(group)))
        return ".".join(filter(None, (self.name, system, metric, names)))

    def _estimate(self, told: EstimateTold) -> None:
        what = self._called(*told.key)
        if told.withheld:
            self.tally.withheld += 1
            return
        if told.numerator is None:
            self._absence(what, told)
            return
        cases, events = told.denominator or 0, told.numerator
        if not 0 <= events <= events + told.missing <= cases or cases == 0 or told.missing < 0:
            self.tally.differs(what, f"{events}/{cases}", "counts of a rate")
            return
        groups = math.prod(len(_values(self.table, name)) for name in told.group)
        fair = self.tally.holds(f"{what}.value", told.value, events / cases)
        fair &= self.tally.holds(f"{what}.confidence", told.confidence, as_float(self.plan.confidence))
        fair &= self.tally.holds(f"{what}.simultaneous", told.simultaneous, groups)
        clustered = len(self.table.cluster) == 1
        method = "clopper-pearson on effective sample size" if clustered else "clopper-pearson"
        fair &= self.tally.holds(f"{what}.method", told.method, method)
        self.tally.estimates += fair
        zero = events == 0 and told.missing == 0
        self.tally.holds(f"{what}.zero_bound", told.zero_bound is not None, zero)
        if clustered:
            self.tally.beyond += 1
            return
        counts = RateCounts(*(np.array([each], np.int64) for each in (events, told.missing, cases)))
        bounds = simultaneous_bounds(counts, error_rate(self.plan.confidence), groups)
        fair = self.tally.holds(f"{what}.low", told.low, float(bounds.low[0]))
        fair &= self.tally.holds(f"{what}.high", told.high, float(bounds.high[0]))
        if zero and told.zero_bound is not None:
            bound = ZeroBound.of(cases)
            fair &= self.tally.holds(f"{what}.zero_bound", told.zero_bound.exact, bound.exact)
            fair &= self.tally.holds(f"{what}.zero_bound", told.zero_bound.rule_of_three, bound.rule_of_three)
            fair &= self.tally.holds(f"{what}.zero_bound", told.zero_bound.confidence, bound.confidence)
        self.tally.bounds += fair

    def _absence(self, what: str, told: EstimateTold) -> None:
        """A rate may be absent for want of cases, which shows; for want of clusters, which does not."""
        code = None if told.note is None else told.note.code
        if code not in ABSENT or not told.bare:
            self.tally.differs(what, code, ", ".join(ABSENT))
        elif (code == "no-cases") != (told.denominator == 0):
            self.tally.differs(f"{what}.denominator", told.denominator, 0 if code == "no-cases" else "> 0")
        elif code == "no-cases":
            self.tally.estimates += 1
        else:
            self.tally.beyond += 1

    def _sums(self, system: str) -> None:
        """In every group, errors are the false positives and the false negatives together."""
        for attributes in self._families():
            for group in self._groups(attributes):
                whole, *parts = (
                    self.estimates.get((system, rate, frozenset(group)))
                    for rate in ("error", "false_positive", "false_negative")
                )
                if whole is None or None in parts or whole.denominator is None:
                    continue
                for name in ("numerator", "denominator", "missing"):
                    each = [getattr(part, name) for part in parts]
                    stated = getattr(whole, name)
                    if stated is None or None in each:
                        continue
                    called = f"{self._called(system, 'error', group)}.{name}"
                    self.tally.holds(called, stated, sum(each))

    # --- verdicts

    def _triggers(self, system: str) -> list[Reason]:
        triggers = [Reason("review-registered")] if self.plan.requires_manual_review else []
        triggers += [Reason(code) for code in self.review]
        errors = self.estimates.get((system, "error", frozenset()))
        if errors is None or errors.numerator is None or errors.denominator is None:
            reversed_ = any(note.code == "error-above-half" for note in self.told.notes)  # as it is told
        else:
            reversed_ = 2 * errors.numerator > errors.denominator - errors.missing
        return [*triggers, Reason("error-above-half")] if reversed_ else triggers

    def _criterion(self, told: CriterionTold) -> State:
        """Decide a criterion again; return what it is computed to, or says it is where that cannot be done."""
        what = f"{self.name}.{told.id}" + (f".{told.system}" if told.system else "")
        plan = next((each for each in self.plan.criteria if each.id == told.id), None)
        said = State(told.computed) if told.computed in {*State} else State.MANUAL_REVIEW
        if plan is None:
            return said  # found already
        metric, by = plan.metric, tuple(plan.by)
        groups = self._groups(by)
        if [frozenset(line.group.items()) for line in told.groups] != [frozenset(each) for each in groups]:
            self.tally.differs(f"{what}.groups", len(told.groups), len(groups))
            return said
        self._lines(what, told, metric)
        unfit = [line for line in told.groups if line.reason.code != "withheld" and not line.fits]
        if unfit or self.told.rows < 0 or any(each.count < 0 for each in told.left_out):
            self.tally.differs(f"{what}.groups", "counts of no rate", "counts of a rate")
            return said
        if any(line.reason.code == "withheld" for line in told.groups):
            self.tally.withheld += 1
            return said
        family = self._family(told, metric, by, groups)
        triggers = self._triggers(told.system or "")
        again = decide(
            plan, rule_of(plan), family, min_cell=self.plan.min_cell, rows=self.told.rows,
            left_out=tuple(LeftOut(each.reason, each.column, each.count) for each in told.left_out),
            system=told.system or "", review=triggers[0] if triggers else None,
        )  # fmt: skip
        if self._compare(what, told, again):
            self.tally.criteria += 1
        return again.state

    def _lines(self, what: str, told: CriterionTold, metric: str) -> None:
        """The numbers of a criterion's lines are those of the estimates."""
        for line in told.groups:
            key = (told.system or "", metric, frozenset(line.group.items()))
            estimate = self.estimates.get(key)
            if estimate is None or line.reason.code == "withheld" or estimate.withheld:
                continue
            called = f"{what}.{group_name(tuple(line.group.items()))}"
            for name in ("numerator", "denominator", "value", "low", "high"):
                self.tally.holds(f"{called}.{name}", getattr(line, name), getattr(estimate, name))
            if line.numerator is not None:
                self.tally.holds(f"{called}.missing", line.missing, estimate.missing)

    def _family(
        self, told: CriterionTold, metric: str, by: tuple[str, ...], groups: Sequence[Group]
    ) -> _ToldFamily:
        lines = told.groups
        counts = RateCounts(
            *(
                np.array([getattr(line, name) or 0 for line in lines], np.int64)
                for name in ("numerator", "missing", "denominator")
            )
        )
        bounds = Interval(
            *(
                np.array([np.nan if (bound := getattr(line, name)) is None else bound for line in lines])
                for name in ("low", "high")
            )
        )
        absent = {
            index: line.reason.code if line.denominator else "no-cases"
            for index, line in enumerate(lines)
            if line.low is None
        }
        roles = {role for column in self.table.columns.values() for role in column.is_}
        obstacle = "crossed-clusters" if len(self.table.cluster) > 1 else None
        if roles & {"inclusion_probability", "weight"}:
            obstacle = "weighted-sample"
        return _ToldFamily(
            by,
            tuple(groups),
            np.zeros(0, np.int64),
            {metric: counts},
            {metric: bounds},
            None,
            obstacle,
            absent=absent,
        )

    def _compare(self, what: str, told: CriterionTold, again: CriterionResult) -> bool:
        tally = self.tally
        same = tally.holds(f"{what}.metric", told.metric, again.metric)
        same &= tally.holds(f"{what}.by", told.by, list(again.by))
        same &= tally.holds(f"{what}.rule", told.rule, again.form)
        same &= tally.holds(f"{what}.threshold", told.threshold, again.threshold)
        same &= tally.holds(f"{what}.computed", told.computed, again.state.value)
        if told.state == told.computed:
            same &= tally.holds(f"{what}.reason", told.reason.code, again.reason.code)
        for name in ("value", "low", "high"):
            same &= tally.holds(f"{what}.{name}", getattr(told, name), getattr(again, name))
        for line, mine in zip(told.groups, again.lines, strict=True):
            called = f"{what}.{group_name(mine.group)}"
            same &= tally.holds(f"{called}.computed", line.computed, mine.state.value)
        return same


def _values(table: Table, name: str) -> Sequence[str]:
    column = table.columns.get(name)
    return tuple(getattr(column, "values", None) or ())


def _listed(names: Iterable[tuple[str, str]]) -> str:
    return ", ".join(":".join(filter(None, each)) for each in names)
