"""Results: computed from an opened pool, and recorded by an entry of their own."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, cast

from lacre.broker.desk import Desk, answered, append, remember, view
from lacre.broker.evaluate import evaluate
from lacre.broker.evidence import evidence_for
from lacre.broker.submissions import Submission
from lacre.canonical import canonical_json, sha256_hex
from lacre.rules.answers import ErratumFacts, ReadDecision, ReadFacts
from lacre.rules.common import require_study
from lacre.rules.record import LAW, RESULT_MEDIA, Recorded, Result, Verdict, result_statement
from lacre.rules.requests import Erratum, Read, ReadLike
from lacre.rules.verdicts import worst
from lacre.tables.columns import TypedTable
from lacre.text import N_


def record_result(
    desk: Desk,
    study: str,
    read: Recorded,
    decision: ReadDecision,
    tables: Mapping[str, TypedTable],
    submissions: tuple[Submission, ...],
    *,
    more: Mapping[str, Any] = MappingProxyType({}),
) -> Recorded:
    """Analyse opened tables as registered, and append the result's document, with `more` in it, and entry.

    The plan is the one the read names: it may have been amended since, where a crashed read is finished.
    """
    request, facts = answered(read).request, answered(read).facts
    assert isinstance(request, ReadLike)
    assert isinstance(facts, ReadFacts | ErratumFacts)
    state = desk.view(study)
    known = require_study(state, study)
    version = known.version(request.protocol)
    assert version is not None, "the law lets no read name another"
    pool = known.holding(request.pool)
    assert pool is not None, "the law lets no other pool be read than one on record"
    first = read.index if request.finishes is None else request.finishes
    asked = request
    if isinstance(request, Erratum):
        corrected = known.result_read(request.corrects)
        assert corrected is not None, "the law lets an erratum be of a result alone"
        first, asked = corrected[1].first_attempt, corrected[1].request
    desk.progress(N_("analysing"), 0, None)
    evidence = evidence_for(desk, state, known, pool, version.protocol, request.analyses, first)
    evidence = replace(evidence, rung=asked.rung if isinstance(asked, Read) else None)
    document = evaluate(version, request, tables, submissions, evidence, decision, facts.engine)
    document |= more
    body = canonical_json(document)
    computed = worst(each["computed"] for each in document["analyses"])
    with desk.writer.transaction() as tx:
        state = view(tx, study)
        tx.put_document(body, RESULT_MEDIA)
        result = Result(
            law=LAW,
            time=desk.now(),
            previous=state.last if state.last is not None else 0,
            study=study,
            pool=request.pool,
            read=read.index,
            result=sha256_hex(body),
            state=document["state"],
            confirmatory=document["confirmatory"],
            computed=cast("Verdict", computed) if computed != document["state"] else None,
        )
        made = append(desk, tx, result_statement(result))
    remember(desk, tx)
    return made
