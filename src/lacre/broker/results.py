"""Results: computed from an opened pool, recorded by their own entry, shown with what stands today."""

from collections.abc import Mapping
from typing import Any

from lacre.broker.custody import grade
from lacre.broker.desk import RESULT_MEDIA, Desk, answered, append, recorded, remember, view
from lacre.broker.outcomes import ResultShown
from lacre.broker.submissions import Submission
from lacre.canonical import canonical_json, parse_canonical, sha256_hex
from lacre.errors import DocumentMissing, NotAResult
from lacre.rules.common import require_study
from lacre.rules.record import LAW, Recorded, Result, result_statement
from lacre.rules.requests import Read, ReadDecision, ReadFacts
from lacre.tables.columns import TypedTable


def record_result(
    desk: Desk,
    study: str,
    read: Recorded,
    decision: ReadDecision,
    tables: Mapping[str, TypedTable],
    submissions: tuple[Submission, ...],
) -> Recorded:
    """Analyse opened tables as registered, and append the result's document and entry."""
    # SciPy comes with it, and showing a result does without.
    from lacre.broker.evaluate import evaluate

    request, facts = answered(read).request, answered(read).facts
    assert isinstance(request, Read)
    assert isinstance(facts, ReadFacts)
    protocol = desk.view(study)
    in_force = require_study(protocol, study).in_force
    desk.progress("analysing", 0, None)
    document = evaluate(
        in_force.protocol,
        request.protocol,
        request.pool,
        request.analyses,
        tables,
        submissions,
        decision,
        facts.engine,
    )
    body = canonical_json(document)
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
        )
        made = append(
            desk, tx, result_statement(result), study=study, pool=request.pool, previous=result.previous
        )
    remember(desk, tx)
    return made


def shown(
    desk: Desk,
    study: str,
    entry: int,
    *,
    ignored: Mapping[str, tuple[str, ...]] | None = None,
    finished: int | None = None,
    warnings: tuple[str, ...] = (),
) -> ResultShown:
    """The result at `entry` as it is shown now; `NotAResult` where there is none of this study."""
    with desk.snapshot() as reader:
        state = view(reader, study)
        known = require_study(state, study)
        content = recorded(reader, entry).content
        if not isinstance(content, Result) or content.study != study:
            raise NotAResult(study=study, entry=entry)
        stored = reader.document(content.result)
    if stored is None:
        raise DocumentMissing(digest=content.result)
    pool = known.pools[content.pool]
    document: dict[str, Any] = parse_canonical(stored.body)
    return ResultShown(
        name=f"{study}@{entry}",
        entry=entry,
        study=study,
        document=document,
        now=pool.standing,
        custody=grade(pool.sealed.request.recipients, state.recipient),
        language=known.in_force.protocol.language,
        shortfall=pool.sealed.decision.shortfall,
        ignored=dict(ignored or {}),
        finished=finished,
        warnings=warnings,
    )
