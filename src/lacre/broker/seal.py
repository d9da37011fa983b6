"""`seal`: encrypt a pool, commit to its content, and hold it against every other pool."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

from lacre.broker.desk import (
    BLANK,
    Desk,
    answered,
    ask_beforehand,
    enter,
    put_text,
    remember,
    sign_request,
    view,
    warnings_of,
)
from lacre.broker.drawn import held_against_draws
from lacre.broker.files import parse_given, require_tables
from lacre.broker.ingest import (
    PoolTable,
    Raw,
    check_units,
    contents,
    digests,
    early_labels,
    late_labels,
    load,
    outside,
    read_pool_tables,
    records_of,
    typed_of,
    unsealed,
)
from lacre.broker.outcomes import PoolSealed
from lacre.broker.overlaps import Gathered, gather, still_fresh
from lacre.broker.texts import salted_words
from lacre.errors import NothingToReplace
from lacre.pools import vault
from lacre.pools.exposure import fingerprint
from lacre.pools.held import hold
from lacre.pools.met import met_elsewhere, person_key
from lacre.pools.prints import Prints
from lacre.pools.seal import Context, check_recipients
from lacre.protocol.models import Protocol
from lacre.protocol.pools import Pool
from lacre.rules.answers import SealDecision, SealFacts
from lacre.rules.common import declared_pool, require_study
from lacre.rules.custody import grade, holders
from lacre.rules.drawing import require_drawn
from lacre.rules.record import Recorded
from lacre.rules.requests import Seal
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
    require_drawn(known, pool)
    to = check_recipients(recipients or (before.recipients if before else (state.recipient,)))
    words = salted_words(desk, reason, "seal")
    ready = _read(desk, state, known.in_force.protocol, declared, files)
    asked = {
        "study": study,
        "pool": pool,
        "protocol": known.in_force.protocol_hash,
        "as_dev": as_dev,
        "replaces": before.sealed.entry if before else None,
        "reason": words.digest if words else None,
    }
    gathered, facts = _facts(desk, desk.snapshot(), state, study, pool, ready)
    ask_beforehand(desk, state, Seal, facts, **asked, **unsealed(ready.raws), fingerprints=BLANK)
    sealed = _encrypt(desk, Context(state.genesis, study, pool, known.in_force.protocol_hash), to, ready)
    # Before the entry, as all that goes with it: later reads are held against what was met by these prints.
    hold(desk.state_folder, sealed.fingerprints, ready.personal)
    signed = sign_request(desk, Seal, **asked, **_committed(ready, sealed))
    with desk.writer.transaction() as tx:
        state = view(tx, study)
        if not still_fresh(tx, gathered):
            gathered, facts = _facts(desk, nullcontext(tx), state, study, pool, ready)
        if words is not None:
            put_text(tx, words)
        last = tx.last_time
        made = enter(desk, tx, state, signed, facts)
    remember(desk, tx)
    return PoolSealed(
        study=study,
        pool=pool,
        recipients=sealed.recipients,
        custody=grade((*(holders(before) if before else ()), *sealed.recipients), state.recipient),
        opens_here=vault.can_open(sealed.recipients, desk.identities()),
        warnings=warnings_of(desk, made, last),
        **_found(ready, facts, made, before),
    )


def _committed(ready: _Ready, sealed: vault.Sealed) -> dict[str, Any]:
    """What a request commits to of an encrypted pool."""
    return {
        "records": records_of(ready.raws, sealed.records),
        "ciphertext": sealed.ciphertext,
        "wrapped_key": sealed.wrapped_key,
        "fingerprints": sealed.fingerprints,
        "recipients": sealed.recipients,
    }


def _found(ready: _Ready, facts: SealFacts, made: Recorded, before: PoolState | None) -> dict[str, Any]:
    """The fields of `PoolSealed` that tell what was found in the files, and what the entry made of it.

    `before` is the pool whose place it takes, if one.
    """
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
        "draws": facts.draws or (),
        "replaces": before.sealed.entry if before else None,
        "handed_out": tuple(read.entry for read in before.of_class("inputs")) if before else (),
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
    why = (reason or "").strip() or None
    check_sealable(study, name, pool, before.sealed.entry if before else None, why)


def _read(desk: Desk, state: State, protocol: Protocol, pool: Pool, specs: Sequence[str]) -> _Ready:
    given = parse_given(specs, pool.tables)
    require_tables(given, pool.tables)
    raws = load(given)
    tables = read_pool_tables(protocol, raws, desk.progress)
    check_units(protocol, tables)
    found = outside(protocol, tables)
    typed = typed_of(tables)
    desk.progress(N_("fingerprinting"), 0, None)
    study, genesis = protocol.study, state.genesis
    files = digests(raws)
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
    registered, now = study.registered.time, desk.now()
    late = {
        n: c for n, t in ready.tables.items() if (c := late_labels(study.in_force.protocol, n, t.typed, now))
    }
    return gathered, SealFacts(
        rows={name: table.typed.rows for name, table in ready.tables.items()},
        undeclared={n: len(t.typed.undeclared) for n, t in ready.tables.items() if t.typed.undeclared},
        early_labels={
            n: c
            for n, t in ready.tables.items()
            if (c := early_labels(study.in_force.protocol, n, t.typed, registered))
        },
        late_labels=late or None,
        shared=gathered.shared,
        exposed=gathered.exposed,
        remembered=met_elsewhere(desk.state_folder, state.genesis, ready.personal),
        draws=held_against_draws(desk, study, pool, ready.tables, ready.prints),
    )


def _encrypt(desk: Desk, context: Context, recipients: Sequence[str], ready: _Ready) -> vault.Sealed:
    desk.progress(N_("encrypting"), 0, None)
    return vault.seal_pool(
        desk.vault,
        context,
        contents(ready.raws),
        prints=ready.prints.encode(),
        recipients=recipients,
        identities=desk.identities(),
        entropy=desk.entropy,
    )
