"""`seal`: encrypt a pool, commit to its content, and hold it against every other pool."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

from lacre.broker.desk import (
    BLANK,
    Desk,
    answered,
    clock_warnings,
    enter,
    put_text,
    remember,
    salted_text,
    sign_request,
    unbound,
    view,
)
from lacre.broker.files import parse_given, require_tables
from lacre.broker.ingest import (
    PoolTable,
    Raw,
    check_units,
    early_labels,
    load,
    outside,
    read_pool_tables,
    records_of,
    typed_of,
)
from lacre.broker.outcomes import PoolSealed
from lacre.broker.overlaps import Gathered, gather, still_fresh
from lacre.broker.texts import require_words
from lacre.errors import NothingToReplace, ReplacementUnexplained
from lacre.pools import vault
from lacre.pools.exposure import fingerprint
from lacre.pools.held import hold
from lacre.pools.met import met_elsewhere, person_key
from lacre.pools.prints import Prints
from lacre.pools.seal import Context, check_recipients
from lacre.protocol.models import Protocol
from lacre.protocol.pools import Pool
from lacre.rules.common import declared_pool, require_study
from lacre.rules.custody import grade
from lacre.rules.decide import decide
from lacre.rules.record import Recorded
from lacre.rules.requests import Seal, SealDecision, SealedRecord, SealFacts
from lacre.rules.sealing import check_sealable
from lacre.rules.state import PoolState, State, StudyState
from lacre.store.reader import Reader
from lacre.text import N_


@dataclass(frozen=True, slots=True)
class _Ready:
    """A pool's files, read, typed and fingerprinted."""

    tables: Mapping[str, PoolTable]
    prints: Prints
    personal: Prints
    outside: Mapping[str, int]

    @property
    def raws(self) -> tuple[Raw, ...]:
        """The files in the order they are sealed: by table as declared, then as given."""
        return tuple(raw for table in self.tables.values() for raw in table.raws)


def seal(
    desk: Desk,
    study: str,
    pool: str,
    files: Sequence[str],
    *,
    as_dev: bool = False,
    recipients: Sequence[str] = (),
    replace: bool = False,
    reason: str | None = None,
) -> PoolSealed:
    """Seal the files of a pool (rules 2, 3, 12, 14); the law is asked before anything is encrypted.

    `recipients` are who can open it: by default this ledger's own, or of a pool that is replaced, those it has.
    """
    state = desk.view(study)
    known = require_study(state, study)
    declared = declared_pool(known, pool)
    before = known.pools.get(pool) if replace else None
    _check_replaced(known, pool, declared, before, replace=replace, reason=reason)
    to = check_recipients(recipients or (before.recipients if before else (state.recipient,)))
    given = parse_given(files, declared.tables)
    require_tables(given, declared.tables)
    ready = _read(desk, state, known.in_force.protocol, load(given))
    words = salted_text(desk, require_words(reason, "seal")) if reason else None
    asked = {
        "study": study,
        "pool": pool,
        "protocol": known.in_force.protocol_hash,
        "as_dev": as_dev,
        "replaces": before.sealed.entry if before else None,
        "reason": words.digest if words else None,
    }
    gathered, facts = _facts(desk, desk.snapshot(), state, study, pool, ready)
    _ask_first(desk, state, asked, ready, facts)
    sealed = _encrypt(desk, Context(state.genesis, study, pool, known.in_force.protocol_hash), to, ready)
    signed = sign_request(
        desk,
        Seal,
        **asked,
        records=records_of(ready.raws, sealed.records),
        ciphertext=sealed.ciphertext,
        wrapped_key=sealed.wrapped_key,
        fingerprints=sealed.fingerprints,
        recipients=tuple(sealed.recipients),
    )
    with desk.writer.transaction() as tx:
        state = view(tx, study)
        if not still_fresh(tx, gathered):
            gathered, facts = _facts(desk, nullcontext(tx), state, study, pool, ready)
        if words is not None:
            put_text(tx, words)
        last = tx.entry(tx.size - 1).time
        made = enter(desk, tx, state, signed, facts)
    remember(desk, tx)
    hold(desk.state_folder, sealed.fingerprints, ready.personal)
    return PoolSealed(
        study=study,
        pool=pool,
        recipients=sealed.recipients,
        custody=grade(sealed.recipients, state.recipient),
        opens_here=vault.can_open(sealed.recipients, desk.identities()),
        replaces=before.sealed.entry if before else None,
        handed_out=tuple(read.entry for read in before.of_class("inputs")) if before else (),
        warnings=clock_warnings(made, last),
        **_found(ready, facts, made),
    )


def _found(ready: _Ready, facts: SealFacts, made: Recorded) -> dict[str, Any]:
    """The fields of `PoolSealed` that tell what was found in the files, and what the entry made of it."""
    decision = answered(made).decision
    assert isinstance(decision, SealDecision)
    return {
        "entry": made.index,
        "time": made.time,
        "standing": decision.standing,
        "rows": facts.rows,
        "undeclared": {name: table.typed.undeclared for name, table in ready.tables.items()},
        "outside": ready.outside,
        "shortfall": decision.shortfall,
        "overlaps": (*facts.shared, *facts.exposed),
        "remembered": facts.remembered,
    }


def _check_replaced(
    study: StudyState,
    name: str,
    pool: Pool,
    before: PoolState | None,
    *,
    replace: bool,
    reason: str | None,
) -> None:
    """Rule 2: a pool is sealed once; another file takes its place only on request, unread, and with a reason."""
    if replace and before is None:
        raise NothingToReplace(pool=name)
    check_sealable(study, name, pool, before.sealed.entry if before else None)
    if replace and not (reason or "").strip():
        raise ReplacementUnexplained(pool=name)


def _read(desk: Desk, state: State, protocol: Protocol, raws: Sequence[Raw]) -> _Ready:
    tables = read_pool_tables(protocol, raws, desk.progress)
    check_units(protocol, tables)
    found = outside(protocol, tables)
    typed = typed_of(tables)
    desk.progress(N_("fingerprinting"), 0, None)
    study, genesis = protocol.study, state.genesis
    files = [(raw.table, raw.data) for raw in raws]
    of_ledger, of_person = desk.keys.fingerprint, person_key(desk.state_folder, desk.entropy)
    prints, personal = (
        fingerprint(typed, protocol, study=study, genesis=genesis, key=key, files=files)
        for key in (of_ledger, of_person)
    )
    return _Ready(tables, prints, personal, found)


def _facts(
    desk: Desk, snapshot: AbstractContextManager[Reader], state: State, slug: str, pool: str, ready: _Ready
) -> tuple[Gathered, SealFacts]:
    study = require_study(state, slug)
    gathered = gather(desk, snapshot, study, pool, ready.prints)
    registered = study.registered.time
    return gathered, SealFacts(
        rows={name: table.typed.rows for name, table in ready.tables.items()},
        undeclared={n: len(t.typed.undeclared) for n, t in ready.tables.items() if t.typed.undeclared},
        early_labels={
            n: c
            for n, t in ready.tables.items()
            if (c := early_labels(study.in_force.protocol, n, t.typed, registered))
        },
        shared=gathered.shared,
        exposed=gathered.exposed,
        remembered=met_elsewhere(desk.state_folder, state.genesis, ready.personal),
    )


def _ask_first(
    desk: Desk, state: State, asked: Mapping[str, object], ready: _Ready, facts: SealFacts
) -> None:
    """Let the law refuse on what is known before the pool is encrypted."""
    blank = Seal.model_validate(
        {
            **asked,
            **unbound(state),
            "records": tuple(
                SealedRecord(table=r.table, format=r.format.value, hmac=BLANK) for r in ready.raws
            ),
            "ciphertext": BLANK,
            "wrapped_key": BLANK,
            "fingerprints": BLANK,
            "recipients": (),
        }
    )
    decide(state, blank, desk.person(state).public.keyid, facts)


def _encrypt(desk: Desk, context: Context, recipients: Sequence[str], ready: _Ready) -> vault.Sealed:
    desk.progress(N_("encrypting"), 0, None)
    return vault.seal_pool(
        desk.vault,
        context,
        [(raw.table, raw.data) for raw in ready.raws],
        prints=ready.prints.encode(),
        recipients=recipients,
        identities=desk.identities(),
        entropy=desk.entropy,
    )
