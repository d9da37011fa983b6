"""One read of a pool, from the asking to the result: what `reveal` and `run` share.

The order is the law's (rule 5): all that can be checked without reading; then the entry that spends the read;
then this machine's memory; then, and only then, a byte is decrypted.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from lacre.broker.desk import (
    BLANK,
    Desk,
    answered,
    clock_warnings,
    enter,
    new_nonce,
    put_text,
    remember,
    salted_text,
    sign_request,
    unbound,
    view,
)
from lacre.broker.opening import open_tables, sealed_of
from lacre.broker.outcomes import ReadPlanned, ResultShown
from lacre.broker.overlaps import Gathered, gather, prints_of, still_fresh
from lacre.broker.register import engine, load_protocol
from lacre.broker.results import record_result
from lacre.broker.show import shown
from lacre.broker.submissions import (
    Submission,
    context_of,
    keep,
    load_submissions,
    match_ids,
    outside_of,
    reopen,
    same_submissions,
)
from lacre.errors import LacreError, ReadInProgress, ReadUnfinished
from lacre.pools import vault
from lacre.pools.held import held
from lacre.pools.met import met_elsewhere, person_key
from lacre.protocol.difference import difference, render
from lacre.protocol.document import protocol_hash
from lacre.rules.common import require_in_force, require_study
from lacre.rules.decide import decide
from lacre.rules.reading import may_finish, sealed_pool, submitted_tables, systems_of
from lacre.rules.record import Recorded
from lacre.rules.requests import (
    Read,
    ReadDecision,
    ReadFacts,
    SealedRecord,
    SubmissionFacts,
    Submitted,
)
from lacre.rules.state import PoolState, ReadMade, State, StudyState
from lacre.store.locks import Lock, try_lock


@dataclass(frozen=True, slots=True)
class Ask:
    """What a user asks of a pool."""

    purpose: Literal["reveal", "run"]
    study: str
    pool: str
    analyses: tuple[str, ...]
    files: Sequence[str] = ()
    accept_dev: bool = False
    accept_exposure: bool = False
    dry_run: bool = False
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class _Found:
    """The state a read is judged on, its submissions, and what was found without reading."""

    state: State
    study: StudyState
    pool: PoolState
    submissions: tuple[Submission, ...]
    facts: ReadFacts
    gathered: Gathered
    finishes: ReadMade | None = None
    ignored: dict[str, tuple[str, ...]] = field(default_factory=dict)
    outside: dict[str, int] = field(default_factory=dict)
    kept: Mapping[str, Submitted] = field(default_factory=dict)
    """The submissions that an earlier read kept, by system, where they are the same."""


def check_protocol(desk: Desk, study: str, source: str | Path | bytes | None) -> None:
    """Rule 11: a protocol file that is given must be the one in force; the refusal shows the difference."""
    if source is None:
        return
    _name, given = load_protocol(source)
    known = require_study(desk.view(study), study)
    changes = difference(known.in_force.protocol, given)
    require_in_force(known, protocol_hash(given), render(changes))


def read_and_analyse(desk: Desk, ask: Ask) -> ResultShown | ReadPlanned:
    """Carry out a read: check, spend, remember, open, analyse, record."""
    state = desk.view(ask.study)
    study = require_study(state, ask.study)
    pool = sealed_pool(study, ask.pool)
    with _crashed_read(desk, state, ask, pool) as finishes:
        if finishes is not None:
            # The first process may have recorded its result between our look and its end.
            state = desk.view(ask.study)
            study = require_study(state, ask.study)
            pool = sealed_pool(study, ask.pool)
            finishes = next((r for r in pool.unfinished if r.entry == finishes.entry), None)
        found = _find(desk, ask, state, study, pool, finishes)
        decision = _ask_first(desk, ask, found)
        if ask.dry_run:
            return ReadPlanned(
                study=ask.study,
                pool=ask.pool,
                decision=decision,
                submissions=found.facts.submissions,
                ignored=found.ignored,
                outside=found.outside,
                finishes=found.finishes.entry if found.finishes else None,
            )
        made, before, lock = _spend(desk, ask, found)
        try:
            return _analyse(desk, ask, found, made, before)
        except LacreError as error:
            why, way_out = error.message, error.way_out
            raise ReadUnfinished(entry=made.index, pool=ask.pool, why=why, next=way_out) from error
        finally:
            lock.release()


# --- before the read ---------------------------------------------------------------------------------------


@contextmanager
def _crashed_read(desk: Desk, state: State, ask: Ask, pool: PoolState) -> Iterator[ReadMade | None]:
    """Rule 16: the spent read that this call may finish, its lock held meanwhile; None if there is none."""
    finishable = () if ask.accept_dev else pool.unfinished
    for read in finishable:
        if not may_finish(read, ask.purpose, ask.analyses):
            continue
        lock = try_lock(desk.layout.locks, read.request.nonce)
        if lock is None:
            raise ReadInProgress(pool=pool.name, entry=read.entry)
        try:
            if not ask.files or same_submissions(
                desk, state, ask.study, pool, read.request.submissions, _load(desk, ask, state)
            ):
                yield read
                return
        finally:
            lock.release()
    yield None


def _load(desk: Desk, ask: Ask, state: State) -> tuple[Submission, ...]:
    protocol = require_study(state, ask.study).in_force.protocol
    return load_submissions(desk, protocol, ask.analyses, ask.files)


def _find(
    desk: Desk, ask: Ask, state: State, study: StudyState, pool: PoolState, finishes: ReadMade | None
) -> _Found:
    """All that can be known without the read, cheapest first; a refusal here costs nothing."""
    facts = ReadFacts(engine=engine())
    if finishes is None:
        decide(state, _blank(state, _fields(ask, study)), desk.keys.person.public.keyid, facts)
        submissions = _load(desk, ask, state)
    else:
        protocol = study.in_force.protocol
        submissions = reopen(desk, protocol, state, ask.study, pool, finishes.request.submissions)
    person_key(desk.state_folder, desk.entropy)  # what is met has to be written down after the read
    prints = prints_of(desk, ask.study, pool)
    matched = match_ids(desk, state, study, prints, submissions)
    vault.check_pool(desk.vault, context_of(state, ask.study, pool), sealed_of(pool), [desk.keys.identity])
    gathered = gather(desk, desk.snapshot(), study, pool.name, prints)
    facts = _facts(desk, state, pool, matched, gathered)
    ignored = {
        ":".join(filter(None, (s.system, name))): table.typed.undeclared
        for s in submissions
        for name, table in s.tables.items()
        if table.typed.undeclared
    }
    odd = {label: n for s in submissions for label, n in outside_of(study, s).items()}
    before = finishes.request.submissions if finishes else ()
    kept = {s.system: s for s in before} or _kept_before(desk, ask, state, pool, submissions)
    return _Found(state, study, pool, submissions, facts, gathered, finishes, ignored, odd, kept)


def _kept_before(
    desk: Desk, ask: Ask, state: State, pool: PoolState, submissions: Sequence[Submission]
) -> dict[str, Submitted]:
    """Rule 9: of a further analysis on `contraste`, the submissions that earlier ones kept, by system, if the same."""
    kept: dict[str, Submitted] = {}
    if pool.standing != "contraste":
        return kept
    for new in submissions:
        for read in pool.of_class("contraste"):
            for old in read.request.submissions:
                if new.system not in kept and same_submissions(desk, state, ask.study, pool, [old], [new]):
                    kept[new.system] = old
    return kept


def _facts(
    desk: Desk, state: State, pool: PoolState, matched: Sequence[SubmissionFacts], gathered: Gathered
) -> ReadFacts:
    personal = held(desk.state_folder, pool.sealed.request.fingerprints)
    met = met_elsewhere(desk.state_folder, state.genesis, personal) if personal else 0
    return ReadFacts(
        engine=engine(),
        submissions=tuple(matched),
        shared=gathered.shared,
        exposed=gathered.exposed,
        exposes=gathered.exposes,
        remembered=max(met, pool.sealed.facts.remembered),
    )


def _fields(
    ask: Ask,
    study: StudyState,
    finishes: ReadMade | None = None,
    kept: Mapping[str, Submitted] = MappingProxyType({}),
) -> dict[str, Any]:
    return {
        "purpose": ask.purpose,
        "study": ask.study,
        "pool": ask.pool,
        "protocol": study.in_force.protocol_hash,
        "analyses": ask.analyses,
        "accept_dev": ask.accept_dev,
        "accept_exposure": ask.accept_exposure,
        "finishes": finishes.entry if finishes else None,
        "submissions": tuple(kept.get(s.system, s) for s in _placeholders(ask, study)),
    }


def _placeholders(ask: Ask, study: StudyState) -> tuple[Submitted, ...]:
    """Submissions as the law will see them, before they are loaded and kept."""
    protocol = study.in_force.protocol
    records = tuple(
        SealedRecord(table=table, format="csv", hmac=BLANK)
        for table in submitted_tables(protocol, ask.analyses)
    )
    return tuple(
        Submitted(system=system, records=records, blob=BLANK, wrapped_key=BLANK)
        for system in systems_of(protocol, ask.analyses)
    )


def _blank(state: State, fields: dict[str, Any]) -> Read:
    """The request as the law will see it, before it is bound and signed."""
    return Read.model_validate({**fields, **unbound(state)})


def _ask_first(desk: Desk, ask: Ask, found: _Found) -> ReadDecision:
    blank = _blank(found.state, _fields(ask, found.study, found.finishes, found.kept))
    decision = decide(found.state, blank, desk.keys.person.public.keyid, found.facts)
    assert isinstance(decision, ReadDecision)
    return decision


# --- the read ----------------------------------------------------------------------------------------------


def _spend(desk: Desk, ask: Ask, found: _Found) -> tuple[Recorded, str, Lock]:
    """Write the entry that spends the read; its lock tells others that we live."""
    new = [each for each in found.submissions if each.system not in found.kept]
    made_now = keep(desk, found.state, ask.study, found.pool, new)
    fields = _fields(ask, found.study, found.finishes, {**found.kept, **{s.system: s for s in made_now}})
    reason = salted_text(desk, ask.reason) if ask.reason else None
    fields["reason"] = reason.digest if reason else None
    nonce = new_nonce(desk)
    signed = sign_request(desk, Read, nonce=nonce, **fields)
    lock = try_lock(desk.layout.locks, nonce)
    assert lock is not None, "nobody else knows this nonce yet"
    try:
        with desk.writer.transaction() as tx:
            state = view(tx, ask.study)
            pool = sealed_pool(require_study(state, ask.study), ask.pool)
            facts = found.facts
            if not still_fresh(tx, found.gathered):
                prints = prints_of(desk, ask.study, pool)
                gathered = gather(desk, nullcontext(tx), require_study(state, ask.study), ask.pool, prints)
                facts = _facts(desk, state, pool, facts.submissions, gathered)
            if reason is not None:
                put_text(tx, reason)
            before = tx.entry(tx.size - 1).time
            made = enter(desk, tx, state, signed, facts)
        remember(desk, tx)
    except BaseException:
        lock.release()
        raise
    return made, before, lock


def _analyse(desk: Desk, ask: Ask, found: _Found, made: Recorded, before: str) -> ResultShown:
    """Open, analyse, record: everything after the read was spent."""
    decision = answered(made).decision
    assert isinstance(decision, ReadDecision)
    tables = open_tables(desk, found.state, found.study, found.pool)
    recorded = record_result(desk, ask.study, made, decision, tables, found.submissions)
    return shown(
        desk,
        ask.study,
        recorded.index,
        ignored=found.ignored,
        finished=found.finishes.entry if found.finishes else None,
        warnings=clock_warnings(made, before),
    )
