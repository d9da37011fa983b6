"""A result on an open pool, computed again from the very files, which every copy of the ledger has."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from lacre.analyses.floors import Floor, floors_of
from lacre.analyses.recompute import TOLERANCE, Difference
from lacre.analyses.recomputing.tally import close
from lacre.analyses.versions import told_of_versions
from lacre.audit.register import document_path
from lacre.audit.report import AuditReport
from lacre.broker.drawn import drawn_as_registered
from lacre.broker.evaluate import evaluate
from lacre.broker.evidence import Evidence
from lacre.canonical import parse_canonical
from lacre.protocol.models import Protocol
from lacre.publish.manifest import Manifest
from lacre.rules.history import PartMade, ReadMade
from lacre.rules.record import Result
from lacre.rules.requests import Read
from lacre.rules.state import CorpusState, StudyState
from lacre.rules.thresholds import frozen_for
from lacre.stats import VERSION as STATISTICS
from lacre.tables.formats import Format
from lacre.tables.parts import PartFile, PartRead, join_parts, read_part
from lacre.tables.versions import of_parts, standing

Files = Mapping[str, bytes]
DocumentAt = Callable[[int], Mapping[str, Any]]


def compute_again(
    files: Files, document: Mapping[str, Any], manifest: Manifest, report: AuditReport
) -> tuple[Difference, ...] | None:
    """Run the analysis of a bundle's result anew, and return where it says otherwise than the stored `document`.

    Floats are compared to `TOLERANCE`. None where it is no result on an open pool, where the audit found something
    wrong, or where it was computed by other statistics than this version's.
    """
    study = None if report.ledger is None else report.ledger.studies.get(manifest.study)
    found = None if study is None or not report.ok else study.result_read(manifest.result)
    if study is None or found is None:
        return None
    corpus, read = found
    if not isinstance(corpus, CorpusState):
        return None
    if read.engine.statistics != STATISTICS or not isinstance(read.request, Read):
        return None
    version = study.version(read.request.protocol)
    assert version is not None, "the audit replayed the law, which lets no read name another"
    protocol = version.protocol
    versions = of_parts(
        (corpus.version_of((made.entry,)), made.request.part, _part(files, protocol, made))
        for made in corpus.parts
        if made.entry in (read.request.parts or ())
    )
    tables = join_parts(standing(versions))
    document_at = _documents(files, report)
    evidence = Evidence(
        frozen_for(study, protocol, read.request.analyses, read.entry),
        drawn_as_registered(study, protocol, read.entry),
        floors=tuple(_floors(study, corpus, read, document_at)),
    )
    again = evaluate(version, read.request, tables, (), evidence, read.decision, read.engine)
    if len(versions) > 1:
        (analysis,) = read.request.analyses
        again |= told_of_versions(study, protocol, analysis, versions, document_at)
    wanted = ("state", "analyses", "thresholds", "corpus")
    return tuple(
        difference
        for name in wanted
        for difference in _differences(name, document.get(name), again.get(name))
    )


def _part(files: Files, protocol: Protocol, made: PartMade) -> PartRead:
    held = [
        PartFile(file.table, Format(file.format), files[document_path(file.sha256)])
        for file in made.request.files
    ]
    return read_part(protocol, made.request.part, held)


def _documents(files: Files, report: AuditReport) -> DocumentAt:
    """Return what finds the document of the result at an entry."""
    results = {each.index: each.content.result for each in report.history if isinstance(each.content, Result)}
    return lambda entry: dict(parse_canonical(files[document_path(results[entry])]))


def _floors(
    study: StudyState, corpus: CorpusState, read: ReadMade, document_at: DocumentAt
) -> Iterator[Floor]:
    """The floors that earlier results told of the labels of these cases, oldest first."""
    for other in corpus.reads:
        version = study.version(other.request.protocol)
        if other.entry < read.entry and other.result is not None and version is not None:
            yield from floors_of(version.protocol, document_at(other.result)["analyses"])


def _differences(what: str, stated: object, expected: object) -> Iterator[Difference]:
    if isinstance(expected, Mapping) and isinstance(stated, Mapping):
        for name in dict.fromkeys((*expected, *stated)):
            yield from _differences(f"{what}.{name}", stated.get(name), expected.get(name))
    elif isinstance(expected, list) and isinstance(stated, list) and len(expected) == len(stated):
        for place, (one, other) in enumerate(zip(stated, expected, strict=True)):
            yield from _differences(f"{what}[{place}]", one, other)
    elif not (close(stated, expected, TOLERANCE) if isinstance(expected, float) else stated == expected):
        yield Difference(what, _told(stated), _told(expected))


def _told(value: object) -> str:
    return "-" if value is None else str(value)
