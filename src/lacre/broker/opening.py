"""Open a sealed pool in memory, after the entry that spends the read and never before."""

from collections.abc import Collection

from lacre.broker.desk import Desk
from lacre.broker.ingest import digests, raws_of, read_pool_tables, typed_of
from lacre.broker.submissions import context_of
from lacre.pools import vault
from lacre.pools.exposure import fingerprint
from lacre.pools.met import person_key, remember as remember_cases
from lacre.protocol.models import Protocol
from lacre.rules.state import PoolState, State, StudyState
from lacre.tables.columns import TypedTable
from lacre.text import N_


def sealed_of(pool: PoolState) -> vault.Sealed:
    """A pool's seal on record, in the vault's terms, with the key that opens it now."""
    request = pool.sealed.request
    return vault.Sealed(
        request.ciphertext,
        pool.wrapped_keys[request.ciphertext],
        request.fingerprints,
        tuple(vault.Record(r.table, r.hmac) for r in request.records),
        pool.recipients,
    )


def open_tables(
    desk: Desk,
    state: State,
    study: StudyState,
    pool: PoolState,
    *,
    protocol: Protocol | None = None,
    content: bool = True,
    keep: Collection[str] = (),
) -> dict[str, TypedTable]:
    """Decrypt and type a pool's tables, with the columns in `keep` as they are written, too.

    `protocol` is the one that the read is made under, by default that in force. With `content` this person's
    machine remembers having met the cases.
    """
    desk.progress(N_("opening"), 0, None)
    opened = vault.open_pool(
        desk.vault, context_of(state, study.slug, pool), sealed_of(pool), desk.identities()
    )
    raws = raws_of(opened, pool.sealed.request.records)
    protocol = protocol or study.in_force.protocol
    tables = typed_of(read_pool_tables(protocol, raws, desk.progress, keep=keep))
    if content:
        key = person_key(desk.state_folder, desk.entropy)
        files = digests(raws)
        prints = fingerprint(tables, protocol, study=study.slug, genesis=state.genesis, key=key, files=files)
        remember_cases(desk.state_folder, state.genesis, prints)
    return tables
