"""Registering a study: rules 1 and 9."""

from lacre.errors import NotBetweenGroups, StudyAlreadyRegistered, StudyHasAnotherPlan, StudySlugDiffers
from lacre.protocol.models import Protocol
from lacre.rules.answers import RegisterDecision, RegisterFacts
from lacre.rules.common import require_feasible, require_role
from lacre.rules.requests import Register
from lacre.rules.state import State
from lacre.rules.wire import moment


def decide_register(state: State, request: Register, by: str, facts: RegisterFacts) -> RegisterDecision:
    """Whether a protocol may begin a study.

    Rule 1: a study is registered once, under the name its protocol gives it. Rule 9: on `contraste` there are
    only analyses that compare groups.
    """
    require_role(state, by, "registrant")
    if state.study is not None:
        version = state.study.registered
        refusal = StudyHasAnotherPlan if version.protocol_hash != request.protocol else StudyAlreadyRegistered
        raise refusal(study=request.study, entry=version.entry, time=moment(version.time))
    protocol = state.protocols(request.protocol)
    if protocol.study != request.study:
        raise StudySlugDiffers(study=request.study, slug=protocol.study)
    require_between_groups(protocol)
    require_feasible(facts, request.accept_infeasible)
    return RegisterDecision(version=1)


def require_between_groups(protocol: Protocol) -> None:
    """Rule 9: on `contraste` there are only analyses that compare groups."""
    for plan in protocol.analyses.values():
        if protocol.pools[plan.pool].role == "contraste" and not plan.compares_groups():
            raise NotBetweenGroups(pool=plan.pool)
