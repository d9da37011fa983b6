"""Plan and table in, result out: what each kind of analysis computes, by an explicit table."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lacre.analyses.result import AnalysisResult
    from lacre.protocol.kinds.plan import AnalysisPlan
    from lacre.protocol.models import Protocol
    from lacre.tables.columns import TypedTable


def analyse(
    name: str,
    plan: "AnalysisPlan",
    protocol: "Protocol",
    table: "TypedTable",
    *,
    system: str = "",
    review: Sequence[str] = (),
) -> "AnalysisResult":
    """Compute the analysis that `protocol` registers as `name`, of one system, less what nobody may see.

    `plan` is its plan, and `table` its table with the system's submission joined; `review` holds codes of
    reasons to have a person review it. Raises what the kind raises, and `KindNotBuilt` for a kind that is not
    in the table.
    """
    from lacre.analyses import group_fairness
    from lacre.analyses.disclosure import min_count, withhold
    from lacre.errors import KindNotBuilt

    kinds: Mapping[str, Callable[..., AnalysisResult]] = {"group_fairness": group_fairness.analyse}
    if plan.kind not in kinds:
        raise KindNotBuilt(analyses=plan.kind, built=", ".join(kinds))
    declared = protocol.tables[plan.table]
    result = kinds[plan.kind](plan, declared, table, name=name, system=system, review=review)
    least = min_count(protocol)
    return result if least is None else withhold(result, least)


def merge(results: Sequence["AnalysisResult"]) -> "AnalysisResult":
    """Return one result of the same analysis over several systems, at least one, in the order given.

    What is withheld of one system is withheld of all.
    """
    from lacre.analyses.disclosure import align
    from lacre.analyses.result import merged

    return align(merged(results))


def conclude(
    names: Sequence[str], results: Sequence["AnalysisResult"], protocol: "Protocol"
) -> list["AnalysisResult"]:
    """Return the merged results of the analyses `names` of one read, less what one would tell of another."""
    from lacre.analyses.disclosure import together

    plans = [protocol.analyses[name] for name in names]
    return together(results, [(plan.table, getattr(plan, "label", None)) for plan in plans])
