"""`withdraw`: end a study, with why; what it has on record stays."""

from collections.abc import Callable

from lacre.broker.desk import (
    BLANK,
    Desk,
    answered,
    ask_beforehand,
    put_on_record,
    salted_text,
    sign_request,
)
from lacre.broker.outcomes import Withdrawn
from lacre.broker.texts import require_words
from lacre.errors import Declined
from lacre.rules.answers import NoFacts, WordsDecision
from lacre.rules.common import require_study
from lacre.rules.requests import Withdraw
from lacre.rules.state import StudyState

Confirm = Callable[[StudyState], bool]
"""Shows a person which study is to be withdrawn, and tells whether it shall be."""


def withdraw(desk: Desk, study: str, *, reason: str, confirm: Confirm | None = None) -> Withdrawn:
    """Withdraw a study (rule 17); `confirm`, when given, is asked first. Raises `Declined`."""
    words = require_words(reason, "withdraw")
    state = desk.view(study)
    known = require_study(state, study)
    ask_beforehand(desk, state, Withdraw, NoFacts(), study=study, reason=BLANK)
    if confirm is not None and not confirm(known):
        raise Declined
    text = salted_text(desk, words)
    signed = sign_request(desk, Withdraw, study=study, reason=text.digest)
    made, warnings = put_on_record(desk, study, signed, NoFacts(), text)
    decision = answered(made).decision
    assert isinstance(decision, WordsDecision)
    return Withdrawn(
        study=study,
        entry=made.index,
        time=made.time,
        reason=words,
        known=decision.known,
        unread=tuple(pool.name for pool in known.pools.values() if pool.is_to_stay_unseen),
        warnings=warnings,
    )
