"""What stands beside a result when it is shown: what was said of it, and its other number, if labels were corrected."""

from functools import partial
from typing import Any

from lacre.broker.desk import recorded
from lacre.broker.parts import Corrected, ErratumShown
from lacre.broker.texts import text_of
from lacre.canonical import parse_canonical
from lacre.errors import DocumentMissing
from lacre.rules.errata import errata_of
from lacre.rules.record import Result
from lacre.rules.remarks import remark, remarks_on
from lacre.rules.requests import Erratum
from lacre.rules.state import ReadMade, StudyState
from lacre.store.reader import Reader


def result_document(reader: Reader, digest: str) -> dict[str, Any]:
    """A result's document. Raises `DocumentMissing`."""
    stored = reader.document(digest)
    if stored is None:
        raise DocumentMissing(digest=digest)
    document: dict[str, Any] = parse_canonical(stored.body)
    return document


def beside(reader: Reader, study: StudyState, entry: int) -> dict[str, Any]:
    """The fields of `ResultShown` that other entries of the study fill, for its result at `entry`."""
    found = study.result_read(entry)
    if found is None:
        return {}
    pool, read = found
    request = read.request
    said = partial(text_of, reader)
    later = [version.entry for version in study.versions if version.entry > read.entry]
    return {
        "version": len(study.versions) - len(later),
        "amended": tuple(later),
        "deviations": remarks_on(study, read, said),
        "withdrawn": remark(study.withdrawn, said) if study.withdrawn is not None else None,
        "corrects": _corrected(reader, study, request) if isinstance(request, Erratum) else None,
        "errata": tuple(_erratum(reader, each) for each in errata_of(pool, entry)),
    }


def _corrected(reader: Reader, study: StudyState, request: Erratum) -> Corrected:
    content = recorded(reader, request.corrects).content
    assert isinstance(content, Result)
    document = result_document(reader, content.result)
    return Corrected(request.corrects, f"{study.slug}@{request.corrects}", document)


def _erratum(reader: Reader, read: ReadMade) -> ErratumShown:
    assert isinstance(read.request, Erratum)
    document = None
    if read.result is not None:
        content = recorded(reader, read.result).content
        assert isinstance(content, Result)
        document = result_document(reader, content.result)
    return ErratumShown(
        read=read.entry,
        time=read.time,
        number=read.decision.number,
        reason=text_of(reader, read.request.reason),
        result=read.result,
        document=document,
    )
