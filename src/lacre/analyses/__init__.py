"""Plan and table in, result out: what each kind of analysis computes, by an explicit table."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lacre.analyses.result import AnalysisResult
    from lacre.protocol.models import Protocol
    from lacre.tables.columns import TypedTable


def analyse(
    name: str,
    protocol: "Protocol",
    table: "TypedTable",
    *,
    system: str = "",
    review: Sequence[str] = (),
) -> "AnalysisResult":
    """Compute the analysis that `protocol` registers as `name`, of one system, with nothing withheld yet.

    `table` is the analysis's table with the system's submission joined; `review` holds codes of reasons to have
    a person review it. The results of all systems go through `conclude`. Raises what the kind raises.
    """
    from lacre.analyses import group_fairness
    from lacre.errors import KindNotBuilt
    from lacre.protocol.kinds.group_fairness import GroupFairnessPlan

    plan = protocol.analyses[name]
    declared = protocol.tables[plan.table]
    match plan:
        case GroupFairnessPlan():
            return group_fairness.analyse(plan, declared, table, name=name, system=system, review=review)
        case _:
            raise KindNotBuilt(kinds=plan.kind)


def conclude(results: Sequence["AnalysisResult"], protocol: "Protocol") -> "AnalysisResult":
    """Return one result of an analysis over its systems, with what `protocol` keeps from disclosure withheld."""
    from lacre.analyses.disclosure import min_count, withhold
    from lacre.analyses.result import merge

    least = min_count(protocol)
    merged = merge(results)
    return merged if least is None else withhold(merged, least)
