"""What differences over the same items ask: of paired variants, and of two systems on one read.

A bound of 0 is decided by the test: at the first step of Holm's adjustment no p is small enough with fewer
discordant pairs than reject when all go one way; and no later step is reached without the first.

Another bound is decided by the interval. Tango's lower end is highest where every one of n pairs is discordant in
favour, (n - z^2)/(n + z^2), and that rises with n. (Seen on a grid by the tests, for all counts.) Where clusters
hold several pairs it is that of `lacre.analyses.feasible_shares` for a difference, over clusters, each of which
takes a pair; the verdict may come by either way.
"""

from lacre.analyses.attainable import Minimum, smallest
from lacre.analyses.judging import bound_of
from lacre.analyses.need import NEVER, NOTHING, Need, alpha_of, limited, planned_rows, reached
from lacre.analyses.paired_variants import needs
from lacre.analyses.planned import margin_of, room_of
from lacre.protocol.kinds.detection import DetectionPlan
from lacre.protocol.kinds.paired_variants import PairedCriterion, PairedVariantsPlan, variant_column
from lacre.protocol.kinds.parts import RateCriterion
from lacre.protocol.models import Protocol
from lacre.stats.clusters import MIN_CLUSTERS
from lacre.stats.paired import EXACT
from lacre.stats.paired_intervals import pairs_needed, tango
from lacre.stats.paired_power import discordant_needed
from lacre.stats.proportions import clopper_pearson


def paired_minimum(in_favour: float, level: float, test: str, *, clustered: bool) -> Minimum:
    """Return the fewest pairs at which a difference can pass a floor `in_favour` at an error rate, and fail it.

    A ceiling U is the floor -U of the difference the other way round.
    """
    if in_favour == 0:
        least = discordant_needed(level, test)
        if clustered:
            least = min(least, discordant_needed(level, EXACT))
        return Minimum(least, least)

    def reach(pairs: int) -> float:
        return float(tango(pairs, 0, pairs, level).low)

    def spread(pairs: int) -> float:
        """Return the highest lower end over clusters; one of them holds two pairs."""
        enough = clustered and pairs > MIN_CLUSTERS
        return 1.0 - float(clopper_pearson(0, pairs - 1, level).high) if enough else -1.0

    def best(pairs: int) -> float:
        return max(reach(pairs), spread(pairs))

    return Minimum(
        to_pass=None if in_favour >= 1 else smallest(lambda n: best(n) >= in_favour, 1),
        to_fail=None if in_favour <= -1 else smallest(lambda n: best(n) > -in_favour, 1),
    )


def paired_needs(protocol: Protocol, name: str, plan: PairedVariantsPlan) -> list[Need]:
    """Tell what each criterion on a difference of variants, or of systems, asks."""
    clustered = bool(protocol.tables[plan.table].cluster)
    found = []
    for rule, need in zip(plan.criteria, needs(plan, protocol), strict=True):
        form, limit = bound_of(rule)
        in_favour = limit if form == "min" else -limit
        least = paired_minimum(in_favour, need.level, plan.test, clustered=clustered)
        most = _pairs(protocol, plan, rule)
        found.append(
            Need(
                analysis=name,
                criterion=rule.id,
                metric=rule.metric,
                groups=1,
                minimum=least,
                attainable=reached(least, most),
                planned=planned_rows(protocol, plan),
                counted="pairs",
                more={
                    "level": need.level,
                    "test": need.test,
                    "discordant": need.discordant,
                    "pairs": need.pairs,
                    "clusters": need.clusters,
                    "if_equal": need.pairs if need.clusters is None else need.clusters,
                    "most": limited(most),
                },
            )
        )
    return found


def _pairs(protocol: Protocol, plan: PairedVariantsPlan, rule: PairedCriterion) -> int:
    """Return the most pairs that the plan leaves room for."""
    column = variant_column(plan, protocol.tables[plan.table])
    assert column is not None
    values = protocol.tables[plan.table].columns[column].named_values
    at = [values.index(each) for each in (plan.baseline, rule.variant or plan.baseline)]
    if rule.systems is not None:
        return min(room_of(protocol, plan).cases, margin_of(protocol, plan, column).most(at[1]))
    pair = room_of(protocol, plan, [column]).two([at[0]], [at[1]])
    return min(pair.first, pair.second, pair.both // 2)


def compared_systems(
    protocol: Protocol, name: str, plan: DetectionPlan, rule: RateCriterion, cases: int
) -> Need:
    """Tell what a criterion on the difference of two systems asks, on at most so many cases."""
    family = sum(each.systems is not None for each in plan.rules)
    level, cluster = alpha_of(protocol, plan) / family, protocol.tables[plan.table].cluster
    form, limit = bound_of(rule)
    in_favour = limit if form == "min" else -limit
    # Of a weighted sample, or of crossed clusters, no difference of systems has an interval or a test.
    known = plan.weights is None and len(cluster) < 2
    least = paired_minimum(in_favour, level, EXACT, clustered=bool(cluster)) if known else NOTHING
    margin = pairs_needed(-in_favour, level) if known and -1 < in_favour < 0 else None
    equal = None if margin is None else margin.zero_event if cluster else margin.tango
    return Need(
        analysis=name,
        criterion=rule.id,
        metric=rule.metric,
        groups=1,
        minimum=least,
        attainable=reached(least, cases, passes=in_favour < 1, fails=in_favour > -1) if known else NEVER,
        planned=planned_rows(protocol, plan),
        counted="pairs",
        more={
            "level": level,
            "test": EXACT,
            "discordant": least.to_pass if in_favour == 0 else None,
            "pairs": None if cluster else equal,
            "clusters": equal if cluster else None,
            "if_equal": equal,
            "most": limited(cases),
        },
    )
