"""`deviate`: put words on record about a study or one of its entries; nothing else changes."""

from lacre.broker.desk import (
    BLANK,
    Desk,
    answered,
    ask_beforehand,
    put_on_record,
    recorded,
    salted_text,
    sign_request,
)
from lacre.broker.names import split_name
from lacre.broker.outcomes import Deviated
from lacre.broker.texts import require_words
from lacre.errors import NotAName
from lacre.rules.answers import NoFacts, WordsDecision
from lacre.rules.common import require_study
from lacre.rules.requests import Deviate


def deviate(desk: Desk, what: str, text: str) -> Deviated:
    """Put `text` on record about a `STUDY`, or about its entry, as `STUDY@ENTRY` or `@ENTRY` (rule 14)."""
    study, about = _named(desk, what)
    words = require_words(text, "deviate")
    state = desk.view(study)
    require_study(state, study)
    ask_beforehand(desk, state, Deviate, NoFacts(), study=study, about=about, text=BLANK)
    kept = salted_text(desk, words)
    signed = sign_request(desk, Deviate, study=study, about=about, text=kept.digest)
    made, warnings = put_on_record(desk, study, signed, NoFacts(), kept)
    decision = answered(made).decision
    assert isinstance(decision, WordsDecision)
    return Deviated(
        study=study,
        entry=made.index,
        time=made.time,
        about=about,
        words=words,
        known=decision.known,
        warnings=warnings,
    )


def _named(desk: Desk, what: str) -> tuple[str, int | None]:
    study, entry = split_name(what, "deviate")
    if study or entry is None:
        return study, entry
    with desk.snapshot() as reader:
        found = recorded(reader, entry).study
    if found is None:
        raise NotAName(what=what, verb="deviate")
    return found, entry
