"""Registering a study: rule 1."""

from lacre.errors import StudyAlreadyRegistered, StudySlugDiffers
from lacre.rules.common import require_role
from lacre.rules.requests import Register, RegisterDecision, RegisterFacts
from lacre.rules.state import State


def decide_register(state: State, request: Register, by: str, _facts: RegisterFacts) -> RegisterDecision:
    """Rule 1: a study is registered once, under the name its protocol gives it."""
    require_role(state, by, "registrant")
    if state.study is not None:
        version = state.study.registered
        same = version.protocol_hash == request.protocol
        raise StudyAlreadyRegistered(
            study=request.study,
            entry=version.entry,
            time=version.time,
            same="the same" if same else "another",
        )
    slug = state.protocols(request.protocol).study
    if slug != request.study:
        raise StudySlugDiffers(study=request.study, slug=slug)
    return RegisterDecision(version=1)
