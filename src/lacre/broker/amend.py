"""`amend`: put another plan in force, with why, and with what it makes of the pools that were read."""

from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path

from lacre.broker.desk import (
    BLANK,
    Desk,
    SaltedText,
    answered,
    ask_beforehand,
    put_on_record,
    salted_text,
    sign_request,
)
from lacre.broker.outcomes import Amended, AmendmentPlanned
from lacre.broker.register import (
    engine,
    infeasible_criteria,
    load_protocol,
    not_needed,
    numbers_told,
    receipt,
)
from lacre.broker.texts import require_words, salted_words, visible
from lacre.errors import Declined
from lacre.protocol.difference import difference
from lacre.protocol.document import canonical, protocol_hash
from lacre.protocol.models import Protocol
from lacre.rules.answers import AmendDecision, AmendFacts
from lacre.rules.changes import difference_document, reads_as_sealed
from lacre.rules.common import require_study
from lacre.rules.corpus import reads_as_committed
from lacre.rules.record import DIFFERENCE_MEDIA, PROTOCOL_MEDIA
from lacre.rules.requests import Amend
from lacre.rules.state import State, StudyState

Confirm = Callable[[AmendmentPlanned], bool]
"""Shows a person what an amendment would do, and tells whether it shall be done."""


def amend(
    desk: Desk,
    source: str | Path | bytes,
    *,
    reason: str,
    accept_burn: bool = False,
    accept_infeasible: str | None = None,
    dry_run: bool = False,
    confirm: Confirm | None = None,
) -> Amended | AmendmentPlanned:
    """Amend the study that the protocol names (rules 7, 13 and 14).

    `confirm` is asked, when given, after all was checked; its yes accepts the burn that it was shown, and no
    other. Raises what the law refuses, and `Declined`. With `dry_run` nothing is asked or written.
    """
    words = require_words(reason, "amend")
    why_kept = visible(accept_infeasible)
    _name, protocol = load_protocol(source)
    facts = AmendFacts(engine=engine(), infeasible=infeasible_criteria(protocol))
    state = desk.view(protocol.study)
    study = require_study(state, protocol.study)
    with numbers_told(protocol):
        planned = _plan(desk, state, study, protocol, facts, kept=why_kept is not None)
    if dry_run:
        return planned
    if confirm is not None:
        if not confirm(planned):
            raise Declined
        accept_burn = accept_burn or bool(planned.burns)
    kept = salted_words(desk, why_kept, "amend") if facts.infeasible else None
    texts = (salted_text(desk, words), kept)
    amended = _record(desk, protocol, planned, facts, texts, accept_burn=accept_burn)
    return replace(amended, warnings=(*not_needed(accept_infeasible, facts), *amended.warnings))


def _record(
    desk: Desk,
    protocol: Protocol,
    planned: AmendmentPlanned,
    facts: AmendFacts,
    texts: tuple[SaltedText, SaltedText | None],
    *,
    accept_burn: bool,
) -> Amended:
    """Write the entry; `texts` are why the plan is amended, and why infeasible criteria are kept."""
    reason, kept = texts
    signed = sign_request(
        desk,
        Amend,
        study=planned.study,
        protocol=planned.protocol_hash,
        replaces=planned.replaces,
        reason=reason.digest,
        accept_burn=accept_burn,
        accept_infeasible=kept.digest if kept else None,
    )
    documents = (
        (canonical(protocol), PROTOCOL_MEDIA),
        (difference_document(planned.changes), DIFFERENCE_MEDIA),
    )
    # A read may have come in between: what the amendment burns is for the law to say, there.
    made, warnings = put_on_record(desk, planned.study, signed, facts, *texts, documents=documents)
    decision = answered(made).decision
    assert isinstance(decision, AmendDecision)
    known = {each.name: getattr(planned, each.name) for each in fields(planned)}
    return Amended(
        **{**known, "version": decision.version, "known": decision.known, "burns": decision.burns},
        entry=made.index,
        time=made.time,
        receipt=receipt(desk, made.index),
        warnings=warnings,
    )


def _plan(
    desk: Desk, state: State, study: StudyState, protocol: Protocol, facts: AmendFacts, *, kept: bool
) -> AmendmentPlanned:
    """What the amendment would be, as the law has it once the burn is accepted; it refuses what it refuses."""
    digest, in_force = protocol_hash(protocol), study.in_force
    asked = {
        "study": study.slug,
        "protocol": digest,
        "replaces": in_force.protocol_hash,
        "reason": BLANK,
        "accept_burn": True,
        "accept_infeasible": BLANK if kept else None,
    }
    # The new plan is in the ledger no sooner than its amendment.
    new = replace(state, protocols=lambda _digest: protocol)
    decision = ask_beforehand(desk, new, Amend, facts, **asked)
    assert isinstance(decision, AmendDecision)
    otherwise = [name for name in study.pools if not reads_as_sealed(study, name, protocol)]
    corpus = study.corpus
    lost = () if corpus is None or reads_as_committed(study, corpus, protocol) else (corpus.name,)
    return AmendmentPlanned(
        study=study.slug,
        version=decision.version,
        replaces=in_force.protocol_hash,
        protocol_hash=digest,
        changes=difference(in_force.protocol, protocol),
        known=decision.known,
        burns=decision.burns,
        reseal=tuple(n for n in otherwise if not study.pools[n].was_read and n in protocol.pools),
        closed=(*(n for n in otherwise if study.pools[n].was_read or n not in protocol.pools), *lost),
        infeasible=facts.infeasible or (),
    )
