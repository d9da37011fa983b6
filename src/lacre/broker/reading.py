"""One read of a pool, from the asking to the result: what `reveal` and `run` share.

The order is the law's (rule 5): all that can be checked without reading; then the entry that spends the read;
then this machine's memory; then, and only then, a byte is decrypted.
"""

from collections.abc import Iterator
from contextlib import nullcontext

from lacre.broker.desk import (
    Desk,
    SaltedText,
    answered,
    enter,
    names_of,
    new_nonce,
    put_text,
    remember,
    sign_request,
    view,
    warnings_of,
)
from lacre.broker.finding import Ask, Found, ask_law, crashed_read, facts_of, fields_of, find
from lacre.broker.opening import open_tables
from lacre.broker.outcomes import ReadPlanned, ResultShown
from lacre.broker.overlaps import gather, prints_of, still_fresh
from lacre.broker.results import record_result
from lacre.broker.show import shown
from lacre.broker.submissions import keep, undecidable
from lacre.broker.texts import salted_words
from lacre.broker.unfinished import Unfinished, not_remembered_leaves, refusal_leaves
from lacre.errors import FinishDiffers, ReadUnfinished, RequestAnswered
from lacre.ledger.envelope import Envelope
from lacre.rules.answers import ReadDecision
from lacre.rules.common import require_sealed, require_study
from lacre.rules.custody import grade_of
from lacre.rules.gating import reads_left
from lacre.rules.history import ReadMade
from lacre.rules.record import Recorded
from lacre.rules.requests import Read
from lacre.rules.state import State, StudyState
from lacre.store.locks import Lock, try_lock
from lacre.text import _


def read_and_analyse(desk: Desk, ask: Ask) -> ResultShown | ReadPlanned:
    """Carry out a read: check, spend, remember, open, analyse, record; or finish one that crashed (rule 16)."""
    state = desk.view(ask.study)
    study = require_study(state, ask.study)
    with crashed_read(desk, state, study, ask) as crashed:
        if crashed is None:
            return carry_out(desk, ask, state, study)
        # The first process may have recorded its result between our look and its end.
        state = desk.view(ask.study)
        study = require_study(state, ask.study)
        return carry_out(desk, ask, state, study, _still_unfinished(study, ask.pool, crashed.entry))


def finish(desk: Desk, ask: Ask, entry: int, lock: Lock | None = None) -> ResultShown | ReadPlanned:
    """Finish the read at `entry`, as `ask` says; `lock` is that of a request which others may have, too.

    Raises `RequestAnswered` where it has its result by now, and `FinishDiffers` where it is no such read.
    """
    state = desk.view(ask.study)
    study = require_study(state, ask.study)
    with crashed_read(desk, state, study, ask, only=entry) as crashed:
        state = desk.view(ask.study)
        study = require_study(state, ask.study)
        crashed = crashed and _still_unfinished(study, ask.pool, entry)
        if crashed is not None:
            return carry_out(desk, ask, state, study, crashed, lock)
    result = require_sealed(study, ask.pool).result_of(entry)
    if result is None:
        raise FinishDiffers(pool=ask.pool, entry=entry)
    raise RequestAnswered(result=f"{ask.study}@{result}")


def _still_unfinished(study: StudyState, pool: str, entry: int) -> ReadMade | None:
    return next((read for read in require_sealed(study, pool).unfinished if read.entry == entry), None)


def carry_out(
    desk: Desk,
    ask: Ask,
    state: State,
    study: StudyState,
    finishes: ReadMade | None = None,
    lock: Lock | None = None,
) -> ResultShown | ReadPlanned:
    """Check, spend, remember, open, analyse, record; `lock` is that of a request which others may have, too."""
    found = find(desk, ask, state, study, finishes)
    decision = ask_law(desk, found)
    if ask.dry_run:
        return planned(desk, found, decision)
    made, before, held = spend(desk, found, lock)
    try:
        with refusal_leaves(_unfinished(ask.pool), made.index, ask.pool):
            recorded = _analyse(desk, found, made)
    finally:
        held.release()
    return shown(
        desk,
        ask.study,
        recorded.index,
        ignored=found.ignored,
        finished=found.finishes.entry if found.finishes else None,
        warnings=(*warnings_of(desk, made, before), *_answered_told(found)),
    )


def _answered_told(found: Found) -> Iterator[str]:
    answered = answered_at(found)
    if answered is not None:
        said = _(
            "guarda had answered this submission before: {result} has that verdict, and this is the same one."
        )
        yield said.format(result=answered)


def answered_at(found: Found) -> str | None:
    """The earlier result of the same submission to `guarda`, if it has one."""
    if found.answered is None:
        return None
    return f"{found.ask.study}@{found.pool.result_of(found.answered.entry)}"


def planned(desk: Desk, found: Found, decision: ReadDecision) -> ReadPlanned:
    """What a read would be."""
    request = found.ask.request
    gate, gated = found.ask.purpose == "gate", found.facts.gated or ()
    with desk.snapshot() as reader:
        names = names_of(reader, found.state)
    return ReadPlanned(
        study=found.ask.study,
        pool=found.ask.pool,
        decision=decision,
        custody=grade_of(found.pool, found.state.recipient),
        submissions=found.facts.submissions,
        ignored=found.ignored,
        outside=found.outside,
        finishes=found.finishes.entry if found.finishes else None,
        exposes=found.facts.exposes,
        unchecked=found.unchecked,
        by=request.by if request else None,
        name=names.get(request.by) if request else None,
        reason=request.reason.body.decode() if request and request.reason else None,
        answered=answered_at(found),
        reads_left=reads_left(found.study, found.pool, gated) if gate else None,
        gated=gated,
        undecidable=tuple(
            undecidable(
                found.version.protocol, found.ask.analyses, found.submissions, found.facts.submissions
            )
        ),
    )


# --- the read ----------------------------------------------------------------------------------------------


def spend(desk: Desk, found: Found, lock: Lock | None) -> tuple[Recorded, str | None, Lock]:
    """Write the entry that spends the read; its lock tells others that we live."""
    signed, reason, lock = _signed(desk, found, lock)
    slug, name = found.ask.study, found.ask.pool
    try:
        with desk.writer.transaction() as tx:
            state = view(tx, slug)
            study = require_study(state, slug)
            pool = require_sealed(study, name)
            facts = found.facts
            if found.gathered is None or not still_fresh(tx, found.gathered):
                gathered = gather(desk, nullcontext(tx), study, name, prints_of(desk, slug, pool))
                facts = facts_of(desk, state, pool, facts.submissions, gathered)
            if reason is not None:
                put_text(tx, reason)
            before = tx.last_time
            made = enter(desk, tx, state, signed, facts)
        with not_remembered_leaves(_unfinished(name)):
            remember(desk, tx)
    except BaseException:
        lock.release()
        raise
    return made, before, lock


def _unfinished(pool: str) -> Unfinished:
    return lambda entry, why, way_out: ReadUnfinished(entry=entry, pool=pool, why=why, next=way_out)


def _signed(desk: Desk, found: Found, lock: Lock | None) -> tuple[Envelope, SaltedText | None, Lock]:
    """The signed request, its reason, and its lock; its submissions are in the vault, where it names them."""
    ask = found.ask
    reason = salted_words(desk, ask.reason, ask.purpose)
    if ask.request is not None:
        assert lock is not None, "a request that others may have is answered under its lock"
        ask.request.keep(desk.vault)
        return ask.request.envelope, ask.request.reason, lock
    new = [each for each in found.submissions if each.system not in found.kept]
    made_now = keep(desk, found.state, ask.study, found.pool, new)
    fields = fields_of(found, {**found.kept, **{s.system: s for s in made_now}})
    fields["reason"] = reason.digest if reason else None
    nonce = new_nonce(desk)
    signed = sign_request(desk, Read, nonce=nonce, **fields)
    own = try_lock(desk.layout.locks, nonce)
    assert own is not None, "nobody else knows this nonce yet"
    return signed, reason, own


def _analyse(desk: Desk, found: Found, made: Recorded) -> Recorded:
    """Open, analyse, record: everything after the read was spent."""
    decision = answered(made).decision
    assert isinstance(decision, ReadDecision)
    tables = open_tables(desk, found.state, found.study, found.pool, protocol=found.version.protocol)
    return record_result(desk, found.ask.study, made, decision, tables, found.submissions)
