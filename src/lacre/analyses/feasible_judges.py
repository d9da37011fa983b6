"""What a bar on a judge's kappa asks: a value that kappa can take, and enough cases or clusters for an interval.

Any kappa from -1 to 1 can come of two bins already: 1 where both always agree, -1 where two bins that are equally
common are always exchanged. An interval never ends at 1 or begins at -1 and decides: where no resample differs
from another it is widened (`lacre.stats.judge.resample`), and where some do one end lies inside. How many cases a bar
takes hangs on the marginals, which nobody may have looked at, so no number is told.
"""

from collections.abc import Iterator

from lacre.analyses.attainable import Minimum
from lacre.analyses.need import NEVER, NOTHING, Need, alpha_of, planned_rows, reached
from lacre.analyses.planned import UNLIMITED
from lacre.protocol.grammar import as_float
from lacre.protocol.kinds.judge_agreement import FEWEST_BINS, JudgeAgreementPlan
from lacre.protocol.models import Protocol
from lacre.stats.clusters import MIN_CLUSTERS


def judge_needs(protocol: Protocol, name: str, plan: JudgeAgreementPlan) -> Iterator[Need]:
    """Tell what each bar asks, in the plan's order."""
    clusters, planned = len(protocol.tables[plan.table].cluster), planned_rows(protocol, plan)
    fewest = MIN_CLUSTERS if clusters else FEWEST_BINS
    least = Minimum(to_pass=fewest, to_fail=fewest)
    for rule in plan.criteria:
        limit = as_float(rule.min)
        cases = UNLIMITED if planned is None else planned
        passes = limit <= 1 if rule.decide_on == "point" else limit < 1
        found = reached(least, cases, passes=passes, fails=limit > -1) if clusters < 2 else NEVER
        short = cases < fewest
        yield Need(
            analysis=name,
            criterion=rule.id,
            metric=rule.metric,
            groups=1,
            minimum=least if short else NOTHING,
            attainable=found,
            planned=planned,
            counted="cases" if short else None,
            more={"level": alpha_of(protocol, plan)},
        )
