"""Plan and tables in, result out: what each kind of analysis computes, by an explicit table."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lacre.analyses.floors import Floor
    from lacre.analyses.given import Given
    from lacre.analyses.result import AnalysisResult
    from lacre.protocol.models import Protocol


def analyse(name: str, given: "Given", systems: Sequence[str] | None = None) -> "AnalysisResult":
    """Compute the analysis that the protocol registers as `name`, of its `systems`, less what nobody may see.

    By default these are all that it is registered for. Raises what the kind raises, and `KindNotBuilt` for a kind
    that is not in the table.
    """
    from lacre.analyses import (
        estimates,
        group_fairness,
        judge_agreement,
        paired_variants,
        protective_failure,
        recall,
        self_agreement,
        verification,
    )
    from lacre.analyses.disclosure import min_count, withhold
    from lacre.errors import KindNotBuilt
    from lacre.rules.systems import systems_analysed

    kinds: Mapping[str, Callable[..., AnalysisResult]] = {
        "group_fairness": group_fairness.of_systems,
        "recall": recall.analyse,
        "protective_failure": protective_failure.analyse,
        "paired_variants": paired_variants.analyse,
        "verification": verification.analyse,
        "self_agreement": self_agreement.analyse,
        "judge_agreement": judge_agreement.analyse,
        "estimate": estimates.analyse,
    }
    plan = given.protocol.analyses[name]
    if plan.kind not in kinds:
        raise KindNotBuilt(analyses=plan.kind, built=", ".join(kinds))
    if systems is None:
        systems = systems_analysed(given.protocol, plan)
    result = kinds[plan.kind](plan, given, name=name, systems=tuple(systems))
    least = min_count(given.protocol, plan.pool)
    return result if least is None else withhold(result, least)


def conclude(
    names: Sequence[str],
    results: Sequence["AnalysisResult"],
    protocol: "Protocol",
    floors: Sequence["Floor"] = (),
) -> list["AnalysisResult"]:
    """Return the results of the analyses `names` of one read, less what one would tell of another.

    `floors` are those of labels that earlier reads of the same cases told.
    """
    from lacre.analyses.disclosure import together
    from lacre.analyses.floors import floor_notes

    plans = [protocol.analyses[name] for name in names]
    shown = together(results, [(plan.table, plan.sorted_by()) for plan in plans])
    return floor_notes(protocol, shown, floors)
