"""What stands beside a result when it is shown: what was said of it, and its other number, if labels were corrected."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from lacre.broker.desk import recorded
from lacre.broker.outcomes import ResultShown
from lacre.broker.parts import Corrected, ErratumShown
from lacre.broker.texts import text_of
from lacre.canonical import parse_canonical
from lacre.rules.custody import grade_of
from lacre.rules.drawing import draws_told
from lacre.rules.errata import errata_of
from lacre.rules.gating import reads_left
from lacre.rules.history import ReadMade
from lacre.rules.record import Result
from lacre.rules.remarks import TextOf, remark, remarks_on
from lacre.rules.requests import Erratum
from lacre.rules.state import PoolState, StudyState
from lacre.store.reader import Reader

Documents = Callable[[int], Mapping[str, Any]]
"""Give the document of the result at an entry."""


def result_document(reader: Reader, digest: str) -> dict[str, Any]:
    """A result's document. Raises `DocumentMissing`."""
    document: dict[str, Any] = parse_canonical(reader.require_document(digest).body)
    return document


def result_shown(reader: Reader, study: StudyState, entry: int, recipient: str) -> ResultShown:
    """The result at `entry` of a study in the ledger whose own recipient is `recipient`, as it is shown now.

    Raises `DocumentMissing`.
    """

    def document_at(index: int) -> dict[str, Any]:
        content = recorded(reader, index).content
        assert isinstance(content, Result)
        return result_document(reader, content.result)

    return derive_shown(study, entry, recipient, document_at, partial(text_of, reader))


def derive_shown(
    study: StudyState, entry: int, recipient: str, document_at: Documents, said: TextOf
) -> ResultShown:
    """The same, of entries and documents wherever they are: it follows from them alone."""
    found = study.result_read(entry)
    assert found is not None, "the caller knows that there is such a result"
    pool, read = found
    request = read.request
    later = [version.entry for version in study.versions if version.entry > read.first_attempt]
    return ResultShown(
        name=f"{study.slug}@{entry}",
        entry=entry,
        study=study.slug,
        document=document_at(entry),
        now=pool.standing,
        custody=grade_of(pool, recipient),
        language=study.in_force.protocol.language,
        shortfall=pool.shortfall,
        draws=draws_told(study, pool, read) if isinstance(pool, PoolState) else (),
        version=len(study.versions) - len(later),
        amended=tuple(later),
        deviations=remarks_on(study, read, said),
        withdrawn=remark(study.withdrawn, said) if study.withdrawn is not None else None,
        corrects=_corrected(study, request, document_at) if isinstance(request, Erratum) else None,
        reads_left=reads_left(study, pool)
        if read.read_class == "guarda" and isinstance(pool, PoolState)
        else None,
        gated=read.gated,
        errata=tuple(_erratum(each, document_at, said) for each in errata_of(pool, entry)),
    )


def _corrected(study: StudyState, request: Erratum, document_at: Documents) -> Corrected:
    name = f"{study.slug}@{request.corrects}"
    return Corrected(request.corrects, name, document_at(request.corrects))


def _erratum(read: ReadMade, document_at: Documents, said: TextOf) -> ErratumShown:
    assert isinstance(read.request, Erratum)
    return ErratumShown(
        read=read.entry,
        time=read.time,
        number=read.decision.number,
        reason=said(read.request.reason),
        result=read.result,
        document=None if read.result is None else document_at(read.result),
    )
