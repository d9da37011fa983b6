"""`deviate`: put words on record about a study or one of its entries; nothing else changes."""

from lacre.broker.desk import (
    BLANK,
    Desk,
    answered,
    clock_warnings,
    enter,
    put_text,
    recorded,
    remember,
    salted_text,
    sign_request,
    unbound,
    view,
)
from lacre.broker.names import split_name
from lacre.broker.outcomes import Deviated
from lacre.broker.texts import require_words
from lacre.errors import NotAName
from lacre.rules.decide import decide
from lacre.rules.requests import Deviate, NoFacts, WordsDecision


def deviate(desk: Desk, what: str, text: str) -> Deviated:
    """Put `text` on record about a `STUDY`, or about its entry, as `STUDY@ENTRY` or `@ENTRY` (rule 14)."""
    study, about = _named(desk, what)
    words = require_words(text, "deviate")
    state = desk.view(study)
    blank = Deviate(**unbound(state), study=study, about=about, text=BLANK)
    decide(state, blank, desk.person(state).public.keyid, NoFacts())
    kept = salted_text(desk, words)
    signed = sign_request(desk, Deviate, study=study, about=about, text=kept.digest)
    with desk.writer.transaction() as tx:
        put_text(tx, kept)
        before = tx.entry(tx.size - 1).time
        made = enter(desk, tx, view(tx, study), signed, NoFacts())
    remember(desk, tx)
    decision = answered(made).decision
    assert isinstance(decision, WordsDecision)
    return Deviated(
        study=study,
        entry=made.index,
        time=made.time,
        about=about,
        words=words,
        known=decision.known,
        warnings=clock_warnings(made, before),
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
