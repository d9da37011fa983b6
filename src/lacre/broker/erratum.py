"""`erratum`: score the submissions of a result again on corrected labels; both numbers stay (rule 17).

The order is that of every read (rule 5): what can be checked without reading, the entry, this machine's memory,
and only then a byte is decrypted.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lacre.broker.corrections import check_corrected, compare, typed_in_order
from lacre.broker.desk import (
    BLANK,
    Desk,
    answered,
    ask_beforehand,
    put_on_record,
    salted_text,
    sign_request,
)
from lacre.broker.files import parse_given
from lacre.broker.ingest import (
    PoolTable,
    Raw,
    check_units,
    contents,
    load,
    outside,
    read_pool_tables,
    records_of,
    unsealed,
)
from lacre.broker.names import split_name
from lacre.broker.opening import open_tables, sealed_of
from lacre.broker.outcomes import ResultShown
from lacre.broker.overlaps import prints_of
from lacre.broker.register import engine
from lacre.broker.results import record_result
from lacre.broker.show import shown
from lacre.broker.submissions import context_of, recognising_key, reopen
from lacre.broker.texts import require_words
from lacre.broker.unfinished import not_remembered_leaves, refusal_leaves
from lacre.errors import (
    ErratumChangesMore,
    ErratumUnfinished,
    NotAName,
)
from lacre.pools import vault
from lacre.pools.met import person_key
from lacre.protocol.models import Protocol
from lacre.rules.answers import ErratumFacts, ReadDecision
from lacre.rules.common import require_study
from lacre.rules.errata import corrected_read
from lacre.rules.history import ReadMade
from lacre.rules.record import Recorded
from lacre.rules.requests import Erratum
from lacre.rules.state import PoolState, State, StudyState
from lacre.text import N_


@dataclass(frozen=True, slots=True)
class _Found:
    """A result that is to be corrected, by whose plan, and the corrected tables."""

    state: State
    study: StudyState
    pool: PoolState
    original: ReadMade
    corrects: int
    protocol: Protocol
    tables: Mapping[str, PoolTable]

    @property
    def raws(self) -> tuple[Raw, ...]:
        """The corrected files in the order they are sealed."""
        return tuple(raw for table in self.tables.values() for raw in table.raws)

    @property
    def facts(self) -> ErratumFacts:
        """What was found in them."""
        return ErratumFacts(
            engine=engine(), rows={name: table.typed.rows for name, table in self.tables.items()}
        )

    @property
    def fields(self) -> dict[str, Any]:
        """The fields of the request that follow from the result."""
        asked = self.original.request
        return {
            "study": self.study.slug,
            "pool": self.pool.name,
            "protocol": asked.protocol,
            "corrects": self.corrects,
            "analyses": asked.analyses,
            "submissions": asked.submissions,
        }


def erratum(desk: Desk, what: str, files: Sequence[str], *, reason: str) -> ResultShown:
    """Score the result `STUDY@ENTRY` again on corrected tables, as `[TABLE=]FILE`.

    Before the read a refusal costs nothing: `CorrectsNoResult`, `ErratumCasesDiffer`, `ErratumInputsDiffer`,
    `ErratumUnchanged`, and what reading the files raises. After it `ErratumChangesMore` and `ErratumUnfinished`
    leave an attempt without a result on record; of `ReadUncertain` that is to be seen.
    """
    words = require_words(reason, "erratum")
    found = _find(desk, what, files)
    ask_beforehand(
        desk, found.state, Erratum, found.facts, **found.fields, **unsealed(found.raws), reason=BLANK
    )
    _check(desk, found)
    with not_remembered_leaves(_unfinished):
        made, warnings = _spend(desk, found, words)
    with refusal_leaves(_unfinished, made.index, found.pool.name, but=(ErratumChangesMore,)):
        recorded = _score(desk, found, made)
    return shown(
        desk,
        found.study.slug,
        recorded.index,
        ignored={name: table.typed.undeclared for name, table in found.tables.items()},
        warnings=warnings,
    )


def _unfinished(entry: int, why: str, way_out: str) -> ErratumUnfinished:
    return ErratumUnfinished(entry=entry, why=why, next=way_out)


# --- before the read ---------------------------------------------------------------------------------------


def _find(desk: Desk, what: str, files: Sequence[str]) -> _Found:
    slug, entry = split_name(what, "erratum")
    if not slug or entry is None:
        raise NotAName(what=what, verb="erratum")
    state = desk.view(slug)
    study = require_study(state, slug)
    pool, original = corrected_read(study, entry)
    version = study.version(original.request.protocol)
    assert version is not None, "the law lets no read name another"
    protocol = version.protocol
    given = parse_given(files, protocol.pools[pool.name].tables)
    tables = read_pool_tables(protocol, load(given), desk.progress)
    check_units(protocol, tables)
    outside(protocol, tables)
    return _Found(state, study, pool, original, entry, protocol, tables)


def _check(desk: Desk, found: _Found) -> None:
    """All that can be known without the read: the cases, their inputs, and that pool and submissions open."""
    state, pool = found.state, found.pool
    person_key(desk.state_folder, desk.entropy)  # what is met has to be written down after the read
    check_corrected(
        prints_of(desk, found.study.slug, pool),
        found.protocol,
        found.tables,
        genesis=state.genesis,
        key=recognising_key(desk),
    )
    vault.check_pool(
        desk.vault, context_of(state, found.study.slug, pool), sealed_of(pool), desk.identities()
    )
    reopen(desk, found.protocol, state, pool, found.original.request.submissions)


# --- the read ----------------------------------------------------------------------------------------------


def _spend(desk: Desk, found: _Found, words: str) -> tuple[Recorded, tuple[str, ...]]:
    """Seal the corrected files beside the pool, and write the entry that spends the read."""
    desk.progress(N_("encrypting"), 0, None)
    slug = found.study.slug
    sealed = vault.seal_corrected(
        desk.vault,
        context_of(found.state, slug, found.pool),
        contents(found.raws),
        recipients=found.pool.recipients,
        identities=desk.identities(),
        entropy=desk.entropy,
    )
    text = salted_text(desk, words)
    signed = sign_request(
        desk,
        Erratum,
        **found.fields,
        records=records_of(found.raws, sealed.records),
        ciphertext=sealed.ciphertext,
        wrapped_key=sealed.wrapped_key,
        recipients=sealed.recipients,
        reason=text.digest,
    )
    return put_on_record(desk, slug, signed, found.facts, text)


def _score(desk: Desk, found: _Found, made: Recorded) -> Recorded:
    """Open, compare, analyse, record: everything after the read was spent."""
    decision = answered(made).decision
    assert isinstance(decision, ReadDecision)
    request = found.original.request
    sealed = open_tables(desk, found.state, found.study, found.pool, protocol=found.protocol)
    corrected = typed_in_order(found.tables, sealed)
    compared = compare(found.protocol, request.analyses, sealed, corrected)
    if compared.others:
        columns = ", ".join(f"{column}: {count}" for column, count in compared.others.items())
        raise ErratumChangesMore(columns=columns, entry=made.index)
    submissions = reopen(desk, found.protocol, found.state, found.pool, request.submissions)
    told = {"corrects": f"{found.study.slug}@{found.corrects}", "changed": dict(compared.labels)}
    tables = {**sealed, **corrected}
    slug = found.study.slug
    return record_result(desk, slug, made, decision, tables, submissions, more={"erratum": told})
