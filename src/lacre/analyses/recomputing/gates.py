"""A gate's result: verdicts and nothing else (rule 10), so that little follows and nothing more may be told."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from lacre.analyses.recomputing.tally import Tally
from lacre.analyses.verdict import State, worst
from lacre.protocol.kinds.plan import AnalysisPlan
from lacre.protocol.models import Protocol
from lacre.rules.systems import UNNAMED, systems_analysed

OF_ANALYSIS = (
    "id",
    "kind",
    "state",
    "computed",
    "confirmatory",
    "estimates",
    "criteria",
    "left_out",
    "notes",
)
OF_CRITERION = ("id", "system", "state", "computed")
EMPTY = ("estimates", "left_out", "notes")


def check_gate(
    name: str,
    plan: AnalysisPlan,
    protocol: Protocol,
    analysis: Mapping[str, Any],
    review: Sequence[str],
    tally: Tally,
) -> None:
    """Hold an analysis that was read at the gate: the registered criteria, their states, and nothing else."""
    tally.holds(f"{name}.kind", analysis.get("kind"), plan.kind)
    tally.holds(name, sorted(map(str, analysis)), sorted(OF_ANALYSIS))
    for key in EMPTY:
        tally.holds(f"{name}.{key}", analysis.get(key), [])
    stated = analysis.get("criteria")
    criteria = [each if isinstance(each, dict) else {} for each in stated] if isinstance(stated, list) else []
    told = Counter((str(each.get("system") or ""), str(each.get("id"))) for each in criteria)
    wanted = Counter(criteria_of(plan, protocol))
    if told != wanted:
        tally.differs(f"{name}.criteria", sorted(told.elements()), sorted(wanted.elements()))
    states = []
    asked = {rule.id for rule in getattr(plan, "criteria", ()) if rule.requires_manual_review}
    reviewed = bool(review) or bool(getattr(plan, "requires_manual_review", False))
    for each in criteria:
        what, computed = f"{name}.{each.get('id')}", each.get("computed")
        tally.holds(what, sorted(map(str, each)), sorted(OF_CRITERION))
        if not isinstance(computed, str) or computed not in {*State}:
            tally.differs(f"{what}.computed", computed, ", ".join(State))
            continue
        if reviewed or each.get("id") in asked:
            tally.holds(f"{what}.computed", computed, State.MANUAL_REVIEW.value)
        states.append(State(computed))
        tally.criteria += 1
    if not reviewed and states:
        tally.holds(f"{name}.computed", analysis.get("computed"), worst(states).value)


def criteria_of(plan: AnalysisPlan, protocol: Protocol) -> list[tuple[str, str]]:
    """Return every criterion of a plan as its system, empty for one of none or of two, and its id."""
    systems, rules = systems_analysed(protocol, plan), getattr(plan, "criteria", ())
    if plan.kind == "self_agreement" or (plan.kind == "estimate" and not supplied(plan, protocol)):
        systems = (UNNAMED,)
    single = [rule.id for rule in rules if getattr(rule, "systems", None) is None]
    double = [rule.id for rule in rules if getattr(rule, "systems", None) is not None]
    return [*((system, each) for system in systems for each in single), *((UNNAMED, each) for each in double)]


def supplied(plan: AnalysisPlan, protocol: Protocol) -> bool:
    """Tell whether a plan reads anything that a submission brings."""
    tables = protocol.tables
    return any(tables[table].supplied(name) for table, names in plan.reads().items() for name in names)
