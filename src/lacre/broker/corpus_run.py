"""`run` on an open pool: what was committed is joined by its keys and analysed, on record each time."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from lacre.analyses.versions import told_of_versions
from lacre.broker.beside import result_document
from lacre.broker.corpus import open_versions
from lacre.broker.desk import (
    Desk,
    answered,
    ask_beforehand,
    put_on_record,
    recorded as recorded_at,
    sign_request,
)
from lacre.broker.finding import Ask, check_protocol
from lacre.broker.outcomes import ReadPlanned, ResultShown
from lacre.broker.register import engine
from lacre.broker.results import record_result
from lacre.broker.show import shown
from lacre.broker.texts import salted_words
from lacre.broker.unfinished import Unfinished, not_remembered_leaves, refusal_leaves
from lacre.errors import CorpusRunUnfinished, CorpusTakesNothing
from lacre.pools.held import held
from lacre.pools.met import met_elsewhere
from lacre.rules.answers import ReadDecision, ReadFacts
from lacre.rules.corpus import whole_corpus
from lacre.rules.custody import OPEN
from lacre.rules.record import Result
from lacre.rules.requests import Read
from lacre.rules.state import CorpusState, State, StudyState
from lacre.store.reader import Reader
from lacre.tables.parts import PartRead, join_parts
from lacre.tables.versions import standing


def run_open(desk: Desk, ask: Ask, state: State, study: StudyState) -> ResultShown | ReadPlanned:
    """Run one analysis on an open pool, as often as one likes: the numbers are the same each time.

    The files are read and held against their digests before the read is on record, since they are open to all; what
    was analysed of them stands in the result.
    """
    version = study.in_force
    check_protocol(ask, version)
    if ask.files or ask.accept_exposure or ask.rung is not None:
        raise CorpusTakesNothing(pool=ask.pool)
    corpus = whole_corpus(study, ask.pool)
    reason = salted_words(desk, ask.reason, "run")
    fields = {
        "purpose": "run",
        "study": study.slug,
        "pool": ask.pool,
        "protocol": version.protocol_hash,
        "analyses": ask.analyses,
        "parts": corpus.entries,
        "reason": reason.digest if reason else None,
    }
    facts = ReadFacts(engine=engine(), remembered=_remembered(desk, state, corpus))
    decision = ask_beforehand(desk, state, Read, facts, **fields)
    assert isinstance(decision, ReadDecision)
    versions = open_versions(desk, corpus, version.protocol)
    tables = join_parts(standing(versions))
    if ask.dry_run:
        return ReadPlanned(
            study=study.slug, pool=ask.pool, decision=decision, custody=OPEN, submissions=(), ignored={}
        )
    unfinished = _unfinished(ask.pool)
    with not_remembered_leaves(unfinished):
        made, warnings = put_on_record(desk, study.slug, sign_request(desk, Read, **fields), facts, reason)
    granted = answered(made).decision
    assert isinstance(granted, ReadDecision)
    with refusal_leaves(unfinished, made.index, ask.pool):
        more = _versions(desk, study, ask.analyses[0], versions)
        recorded = record_result(desk, study.slug, made, granted, tables, (), more=more)
    return shown(desk, study.slug, recorded.index, warnings=warnings)


def _versions(
    desk: Desk, study: StudyState, analysis: str, versions: Sequence[Mapping[str, PartRead]]
) -> dict[str, Any]:
    """What a result on a later version says of the versions before it; nothing of a first one."""
    corpus, protocol = study.corpus, study.in_force.protocol
    if corpus is None or corpus.version == 1:
        return {}
    with desk.snapshot() as reader:
        return told_of_versions(study, protocol, analysis, versions, partial(_document_at, reader))


def _document_at(reader: Reader, entry: int) -> dict[str, Any]:
    content = recorded_at(reader, entry).content
    assert isinstance(content, Result)
    return result_document(reader, content.result)


def _remembered(desk: Desk, state: State, corpus: CorpusState) -> int:
    """How many of the cases this machine met in other ledgers, when they were committed or since."""
    personal = held(desk.state_folder, corpus.fingerprints)
    met = met_elsewhere(desk.state_folder, state.genesis, personal) if personal else 0
    return max(met, corpus.remembered)


def _unfinished(pool: str) -> Unfinished:
    return lambda entry, why, way_out: CorpusRunUnfinished(entry=entry, pool=pool, why=why, next=way_out)
