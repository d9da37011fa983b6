"""What a verification's criteria ask: comparisons in each group, events for a ratio, and for thresholds.

Bounds of groups are Clopper and Pearson's at a = alpha/G, on at most as many comparisons as there are. With
x(n) = (a/2)^(1/n), the lower bound of n events in n:

1. No bounds of a rate are nearer in proportion than u/l = 1/x(n). (Seen on a grid by the tests, for every count.)
2. A ratio max/min passes R where u_g/l_h <= R for every two groups, so that (u_g/l_g)(u_h/l_h) <= R^2: at most one
   group has fewer comparisons than n* = log(a/2)/log(1/R), and that one has at least half of n*.
3. Of the ratio to the geometric mean, the product over all groups of u/l is at most R'^G with R' = R^(G/(G-1)). So
   by 1 the mean of 1/n is at most 1/n*, with R' for R: each group has n*/G at least, and all have G n*.
4. No group is further above another than x(n)/(1 - x(m)), with n and m their comparisons.
5. A distance of thresholds is open where some group would show no event at its target with more than half of
   alpha/pairs, as `lacre.stats.verification.threshold_distance` has it.
"""

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from scipy import special

from lacre.analyses.attainable import MOST_TRIED, Attainable, Judged, Minimum, smallest
from lacre.analyses.criteria import worst_group_rule
from lacre.analyses.need import ANY, NOTHING, Need, alpha_of, limited, planned_rows, reached
from lacre.analyses.planned import Pair, Room, room_of
from lacre.analyses.reasons import Reason
from lacre.analyses.shares import BOUNDS
from lacre.analyses.verdict import Rule
from lacre.protocol.grammar import as_float, exact
from lacre.protocol.kinds.parts import stratum_values
from lacre.protocol.kinds.verification import (
    DISTANCE,
    RATES,
    GroupRatio,
    VerificationCriterion,
    VerificationPlan,
)
from lacre.protocol.models import Protocol
from lacre.stats.bootstrap import least_resamples
from lacre.stats.clusters import MIN_CLUSTERS
from lacre.stats.proportions import clopper_pearson
from lacre.stats.verification import differential_ratio, rate_bounds

DENSE = 95
"""Comparisons that are half of all between 20 subjects, the fewest for which subjects are drawn again."""


def verification_needs(protocol: Protocol, name: str, plan: VerificationPlan) -> Iterator[Need]:
    """Tell what each criterion asks, then from how many comparisons on each target is resolved."""
    asking = _Asking(protocol, name, plan)
    for rule in plan.criteria:
        yield asking.criterion(rule)
    for rate in RATES:
        for at in plan.targets.get(rate, ()):
            yield asking.target(rate, at)


def few_resamples(protocol: Protocol) -> Iterator[Reason]:
    """Tell of which analyses fewer resamples are registered than bounds for all pairs of groups take."""
    for name, plan in protocol.analyses.items():
        if not isinstance(plan, VerificationPlan) or plan.bootstrap is None:
            continue
        asked = any(plan.targets.values()) or any(rule.asked is not None for rule in plan.criteria)
        groups = _Asking(protocol, name, plan).groups
        least = least_resamples(alpha_of(protocol, plan), max(1, groups * (groups - 1) // 2))
        if asked and plan.bootstrap.resamples < least:
            yield Reason(
                "few-resamples-registered",
                {"resamples": plan.bootstrap.resamples, "least": least, "analysis": name},
            )


class _Asking:
    """One plan."""

    def __init__(self, protocol: Protocol, name: str, plan: VerificationPlan) -> None:
        self.protocol = protocol
        self.name = name
        self.plan = plan
        self.alpha = alpha_of(protocol, plan)
        declared = protocol.tables[plan.table]
        self.groups = len(stratum_values(declared.columns[plan.group]) or ())
        # Of two subjects a comparison, half as many comparisons may touch enough of them.
        self.units = len(declared.cluster)
        self.least = math.ceil(MIN_CLUSTERS / self.units) if self.units else 1

    def criterion(self, rule: VerificationCriterion) -> Need:
        """Tell what one criterion asks."""
        if rule.metric == DISTANCE:
            return self._distance(rule)
        if rule.max_group_ratio is not None:
            return self._ratio(rule, rule.max_group_ratio)
        if rule.worst_group is not None:
            several = self.groups > 1
            judged = Judged(
                worst_group_rule(rule.worst_group),
                self.groups,
                self.alpha,
                max(self.least, rule.min_cell),
                bounds=BOUNDS["clopper_pearson" if several else "wilson"],
            )
            return self._need(
                rule, judged.minimum(), judged.within(self._room(rule)), self.alpha / self.groups, self.groups
            )
        assert rule.max is not None
        limit = as_float(rule.max)
        judged = Judged(Rule("worst_group_max", limit), 1, self.alpha, self.least, bounds=BOUNDS["wilson"])
        room = self._room(rule, grouped=False)
        within = judged.within(room)
        if self.units == 2 and room.cases >= DENSE:
            within = Attainable(passes=limit > 0, fails=limit < 1)
        return self._need(rule, judged.minimum(), within, self.alpha)

    def target(self, rate: str, at: Fraction | float) -> Need:
        """Tell from how many comparisons on a target allows one event, and none of them shows it is met."""
        more = {
            "level": self.alpha,
            "at": as_float(at),
            "comparisons": math.ceil(1 / exact(at)),
            "zero_events": math.ceil(3 / exact(at)),
            "most": limited(self._side(rate, grouped=True).largest()),
        }
        return Need(
            analysis=self.name,
            criterion=None,
            metric=rate,
            groups=self.groups,
            minimum=NOTHING,
            attainable=ANY,
            planned=planned_rows(self.protocol, self.plan),
            counted=None,
            more=more,
        )

    def _need(
        self,
        rule: VerificationCriterion,
        minimum: Minimum,
        attainable: Attainable,
        level: float,
        groups: int = 1,
        **more: Any,
    ) -> Need:
        return Need(
            analysis=self.name,
            criterion=rule.id,
            metric=rule.metric,
            groups=groups,
            minimum=minimum,
            attainable=attainable,
            planned=planned_rows(self.protocol, self.plan),
            counted="comparisons",
            more={"level": level, **more},
        )

    def _room(self, rule: VerificationCriterion, *, grouped: bool = True) -> Room:
        return self._side(rule.metric if rule.asked is None else rule.asked[0], grouped=grouped)

    def _side(self, rate: str, *, grouped: bool) -> Room:
        by = (self.plan.group,) if grouped else ()
        return room_of(self.protocol, self.plan, by, (self.plan.same, rate == "false_non_match"))

    def _ratio(self, rule: VerificationCriterion, ratio: GroupRatio) -> Need:
        level, limit, least = self.alpha / self.groups, as_float(ratio.max), max(self.least, rule.min_cell)
        inner = limit if ratio.form == "max_min" else limit ** (self.groups / (self.groups - 1))
        bounds = ratio_minimum(ratio.form, limit, self.groups, self.alpha, least)
        room, fails = self._room(rule), False
        if bounds.to_fail is not None:
            fails = room.largest() >= bounds.to_fail
            if fails and (ratio.form == "max_min" or self.groups == 2):
                fails = any(self._apart(pair, inner, level, least) for pair in room.pairs())
        passes = bounds.to_pass is not None and self._ratio_passes(room, ratio, inner, level, least)
        return self._need(
            rule,
            bounds,
            Attainable(passes=passes, fails=fails),
            level,
            self.groups,
            events=events_needed(inner, level),
        )

    def _ratio_passes(self, room: Room, ratio: GroupRatio, inner: float, level: float, least: int) -> bool:
        """Tell by 2 or 3 whether there is room for all groups; a little is left to rounding."""
        wanted = math.log(level / 2) / math.log(1 / inner) * (1 - 1e-9)
        if ratio.form == "max_min":
            each, one = math.ceil(wanted), math.ceil(wanted / 2)
            return room.holds(max(each, least), max(one, least))
        each = max(math.ceil(wanted / self.groups), least)
        return room.cases >= self.groups * wanted and room.holds(each, each)

    def _apart(self, pair: Pair, inner: float, level: float, least: int) -> bool:
        """Tell by 4 whether one group can be so far above another: all events here, and there none."""
        most = min(pair.first, pair.both - least)
        if most - least > MOST_TRIED:
            return True
        here = np.arange(least, most + 1)
        there = np.minimum(pair.second, pair.both - here)
        here, there = here[there >= least], there[there >= least]
        above = clopper_pearson(here, here, level).low
        return bool((above > inner * clopper_pearson(0, there, level).high * (1 - 1e-9)).any())

    def _distance(self, rule: VerificationCriterion) -> Need:
        assert rule.asked is not None
        rate, at = rule.asked
        pairs = self.groups * (self.groups - 1) // 2
        level, target = self.alpha / pairs, float(exact(at))
        each = smallest(lambda n: (1 - target) ** n <= level / 2, self.least)
        least, room = Minimum(each, each), self._room(rule)
        within = Attainable(
            passes=each is None or room.holds(each, each), fails=reached(least, room.largest()).fails
        )
        return self._need(
            rule, least, within, level, self.groups,
            target=rate, at=target, comparisons=math.ceil(1 / exact(at)),
        )  # fmt: skip


def ratio_minimum(form: Any, limit: float, groups: int, alpha: float, least: int) -> Minimum:
    """Return the fewest comparisons of each group at which a ratio between groups can pass a ceiling, and fail it."""
    mixed = np.arange(groups) == 0

    def bounds(cases: int, events: Callable[[int], Any]) -> Any:
        n = np.full(groups, cases, np.int64)
        k = np.asarray(events(cases), np.int64)
        return differential_ratio(k, n, rate_bounds(k, n, alpha), form)

    return Minimum(
        to_pass=None
        if limit <= 1
        else smallest(lambda n: bounds(n, lambda m: np.full(groups, m)).high <= limit, least),
        to_fail=smallest(lambda n: bounds(n, lambda m: mixed * m).low > limit, least),
    )


def events_needed(ratio: float, level: float) -> int | None:
    """Return the least events at which the exact bounds of a small rate are within a ratio of one another.

    Those of a Poisson number k, the limit of Clopper and Pearson's in many cases. Source: Garwood 1936.
    """
    if ratio <= 1:
        return None

    def near(events: int) -> bool:
        low = float(special.gammaincinv(events, level / 2))
        return float(special.gammainccinv(events + 1, level / 2)) <= ratio * low

    return smallest(near, 1)
