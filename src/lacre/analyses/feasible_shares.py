"""What bounds on shares ask: of recall and protective failure, of agreement, and of an estimated share.

The bounds are those that decide, Wilson's or Clopper and Pearson's. A design only takes away: an effective sample
size is at most the number of cases, and is that where each case is a cluster of its own, weights are equal and
all cases are alike. Both ends rise with the share at any size, so that a floor is reached by all events or by none.

A difference of two strata is never nearer to its end of the interval than the zero-event bound on the clusters of
the smaller one, b = 1 - (alpha/2)^(1/m), and is 1 or -1 at most: its lower end reaches 1 - b, where one stratum
has all events and the other none.
"""

from collections.abc import Iterator, Mapping
from math import prod
from typing import Any

from lacre.analyses.attainable import Attainable, Judged, Minimum, smallest
from lacre.analyses.criteria import worst_group_rule
from lacre.analyses.feasible_pairs import compared_systems
from lacre.analyses.floors import needs as agreement_needs
from lacre.analyses.judging import Bounded, bound_of
from lacre.analyses.need import ANY, NEVER, NOTHING, Need, alpha_of, limited, planned_rows, reached
from lacre.analyses.planned import UNLIMITED, Room, room_of
from lacre.analyses.shares import BOUNDS
from lacre.analyses.verdict import Rule
from lacre.protocol.columns import NumberColumn
from lacre.protocol.grammar import as_float
from lacre.protocol.kinds.detection import DetectionPlan
from lacre.protocol.kinds.estimate import EstimatePlan
from lacre.protocol.kinds.parts import RateCriterion, stratum_values
from lacre.protocol.kinds.plan import AnalysisPlan
from lacre.protocol.kinds.self_agreement import SelfAgreementPlan
from lacre.protocol.models import Protocol
from lacre.stats.agreement import relabels_needed
from lacre.stats.clusters import MIN_CLUSTERS
from lacre.stats.paired_intervals import pairs_needed
from lacre.stats.proportions import clopper_pearson

POINTS = 0.03
"""A difference for which the relabels are told that allow to claim it."""


def bound_rule(criterion: Bounded) -> Rule:
    """Return the rule of a criterion on one share: that of a single group."""
    form, limit = bound_of(criterion)
    return Rule("worst_group_max" if form == "max" else "worst_group_min", limit)


def clusters_of_plan(protocol: Protocol, plan: AnalysisPlan) -> int:
    """Return how many columns say which cases belong together."""
    return len(protocol.tables[plan.table].cluster)


def _of_all(rule: Rule, alpha: float, clusters: int) -> Judged:
    """Return a bound on the share of all cases, by Wilson's interval."""
    return Judged(
        rule, 1, alpha, 1, clustered=bool(clusters), estimable=clusters < 2, bounds=BOUNDS["wilson"]
    )


# --- recall and protective failure -------------------------------------------------------------------------


def detection_needs(protocol: Protocol, name: str, plan: DetectionPlan) -> Iterator[Need]:
    """Tell what each criterion on a share of cases asks, in the plan's order."""
    for rule in plan.rules:
        if rule.between is not None:
            yield _between(protocol, name, plan, rule)
        elif rule.systems is not None:
            yield compared_systems(protocol, name, plan, rule, _room(protocol, plan).cases)
        else:
            yield _share(protocol, name, plan, rule)


def _room(protocol: Protocol, plan: DetectionPlan, *by: str) -> Room:
    inside = next(iter(plan.population()), None)
    return room_of(protocol, plan, by, None if inside is None else (inside, True))


def _share(protocol: Protocol, name: str, plan: DetectionPlan, rule: RateCriterion) -> Need:
    by = () if rule.by is None else tuple(rule.by)
    columns = protocol.tables[plan.table].columns
    clusters = clusters_of_plan(protocol, plan)
    judged = Judged(
        rule=bound_rule(rule) if rule.worst_group is None else worst_group_rule(rule.worst_group),
        groups=prod(len(stratum_values(columns[each]) or ()) for each in by),
        alpha=alpha_of(protocol, plan),
        min_cell=1 if rule.worst_group is None else rule.min_cell,
        clustered=bool(clusters),
        estimable=clusters < 2,
        bounds=BOUNDS[plan.interval],
    )
    return Need(
        analysis=name,
        criterion=rule.id,
        metric=rule.metric,
        groups=judged.groups,
        minimum=judged.minimum(),
        attainable=judged.within(_room(protocol, plan, *by)),
        planned=planned_rows(protocol, plan),
        more=_level(judged.alpha / judged.groups, interval=plan.interval),
    )


def _level(level: float, **more: Any) -> Mapping[str, Any]:
    return {"level": level, **more}


def _between(protocol: Protocol, name: str, plan: DetectionPlan, rule: RateCriterion) -> Need:
    assert rule.between is not None
    alpha, clusters = alpha_of(protocol, plan), clusters_of_plan(protocol, plan)
    form, limit = bound_of(rule)
    in_favour = limit if form == "min" else -limit
    columns = protocol.tables[plan.table].columns
    names = list(rule.between[0])
    values = {each: list(stratum_values(columns[each]) or ()) for each in names}
    first, second = ([values[each].index(stratum[each]) for each in names] for stratum in rule.between)
    pair = _room(protocol, plan, *names).two(first, second)
    each = min(pair.first, pair.second, pair.both // 2)
    least = difference_minimum(in_favour, alpha) if clusters < 2 else NOTHING
    return Need(
        analysis=name,
        criterion=rule.id,
        metric=rule.metric,
        groups=2,
        minimum=least,
        attainable=reached(least, each, passes=in_favour < 1, fails=in_favour > -1)
        if clusters < 2
        else NEVER,
        planned=planned_rows(protocol, plan),
        more=_level(alpha, if_equal=if_equal(in_favour, alpha), most=limited(each)),
    )


def difference_minimum(in_favour: float, alpha: float) -> Minimum:
    """Return the fewest clusters of each stratum at which a difference can pass a floor `in_favour`, and fail it.

    A ceiling U is the floor -U of the difference the other way round.
    """

    def reach(clusters: int) -> float:
        return 1.0 - float(clopper_pearson(0, clusters, alpha).high)

    return Minimum(
        to_pass=None if in_favour >= 1 else smallest(lambda m: reach(m) >= in_favour, MIN_CLUSTERS),
        to_fail=None if in_favour <= -1 else smallest(lambda m: reach(m) > -in_favour, MIN_CLUSTERS),
    )


def if_equal(in_favour: float, alpha: float) -> int | None:
    """Return the clusters of each stratum at which a margin passes where nothing varies; None where none is left."""
    return pairs_needed(-in_favour, alpha).zero_event if -1 < in_favour < 0 else None


# --- agreement with oneself --------------------------------------------------------------------------------


def agreement_of_plan(protocol: Protocol, name: str, plan: SelfAgreementPlan) -> Iterator[Need]:
    """Tell the floor that the planned relabels leave at best, and what each criterion on agreement asks."""
    whole = agreement_needs(protocol, name, plan)
    alpha, clusters = alpha_of(protocol, plan), clusters_of_plan(protocol, plan)
    relabels = UNLIMITED if whole.planned is None else whole.planned
    wanted = [
        {
            "analysis": each.analysis,
            "criterion": each.criterion,
            "difference": each.difference,
            "relabels": each.relabels,
        }
        for each in whole.wanted
    ]
    yield Need(
        analysis=name,
        criterion=None,
        metric="floor",
        groups=1,
        minimum=NOTHING,
        attainable=ANY,
        planned=planned_rows(protocol, plan),
        counted=None,
        more=_level(
            alpha,
            relabels=whole.planned,
            floor=whole.floor,
            for_points={"difference": POINTS, "relabels": relabels_needed(POINTS, alpha)},
            wanted=wanted,
        ),
    )
    for rule in plan.criteria:
        raw = rule.metric == "raw_agreement"
        judged = _of_all(bound_rule(rule), alpha, clusters)
        limit = as_float(rule.min)
        # How far below or above its value kappa's interval lies hangs on the labels: only its ends are sure.
        open_ = Attainable(passes=limit < 1, fails=limit > -1) if judged.estimable else NEVER
        yield Need(
            analysis=name,
            criterion=rule.id,
            metric=rule.metric,
            groups=1,
            minimum=judged.minimum() if raw else NOTHING,
            attainable=judged.within(Room(relabels, ())) if raw else open_,
            planned=whole.planned,
            counted="relabels" if raw else None,
            more=_level(alpha),
        )


# --- an estimate from a sample -----------------------------------------------------------------------------


def estimate_needs(protocol: Protocol, name: str, plan: EstimatePlan) -> Iterator[Need]:
    """Tell what a bound on an estimated share asks; of another number nothing can be told beforehand."""
    column = protocol.tables[plan.table].columns[plan.value]
    share = plan.of == "mean" and not isinstance(column, NumberColumn)
    alpha, clusters = alpha_of(protocol, plan), clusters_of_plan(protocol, plan)
    for rule in plan.criteria:
        judged = _of_all(bound_rule(rule), alpha, clusters)
        open_ = judged.within(room_of(protocol, plan)) if share else ANY
        yield Need(
            analysis=name,
            criterion=rule.id,
            metric=rule.metric,
            groups=1,
            minimum=judged.minimum() if share else NOTHING,
            attainable=open_ if judged.estimable else NEVER,
            planned=planned_rows(protocol, plan),
            counted="cases" if share else None,
            more=_level(alpha),
        )
