"""The open pools, looked at again: what an entry says of its files is what they hold, and anybody can see it."""

import dataclasses
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from lacre.audit.findings import Finding, finding
from lacre.audit.source import Source
from lacre.audit.walk import Walk
from lacre.canonical import parse_canonical
from lacre.errors import LacreError
from lacre.protocol.models import Protocol
from lacre.rules.answers import Grown, Paradox, RebalanceFacts
from lacre.rules.history import PartMade
from lacre.rules.named import CORPUS
from lacre.rules.rebalance import flagged, redrawn
from lacre.rules.record import Result
from lacre.rules.state import CorpusState, StudyState
from lacre.text import _

if TYPE_CHECKING:
    from lacre.tables.parts import PartCounts, PartFile, PartRead

_FOUND_AGAIN = ("rows", "undeclared", "absent", "foreign", "misplaced", "early", "disordered")
"""The facts of a part that its files give; what else is there comes from other pools, and from the broker's machine."""


def check_corpora(walk: Walk, source: Source) -> Iterator[Finding]:
    """Read each open pool whose files are here, and hold what its entries declare against what is in them."""
    for line in walk.law.lines.values():
        study = line.state
        if study is not None and study.corpus is not None and line.lost is None and source.holds(line.slug):
            yield from _check(study, study.corpus, source)
            yield from _check_rebalances(walk, study, study.corpus, source)


def _check(study: StudyState, corpus: CorpusState, source: Source) -> Iterator[Finding]:
    # Numpy comes with it, and most ledgers have no open pool.
    from lacre.tables.versions import of_parts

    stand: list[tuple[PartMade, list[PartFile]]] = []
    for made in corpus.parts:
        version = study.version(made.request.protocol)
        files = _files(made, source)
        if version is None or files is None:
            return  # found already: the law refuses the one, and a document is missing or another
        stand.append((made, files))
        # The parts before it are read by the plan that was in force for it, as the broker read them.
        parts: list[tuple[int, str, PartRead]] = []
        for each, held in stand:
            read, trouble = _read(version.protocol, each, held)
            if read is None:
                yield trouble
                return
            parts.append((corpus.version_of((each.entry,)), each.request.part, read))
        number, _part, own = parts.pop()
        versions = of_parts(parts)
        versions += [{} for _missing in range(number - len(versions))]
        yield from _count(study, corpus, version.protocol, made, own, versions)


def _count(
    study: StudyState,
    corpus: CorpusState,
    protocol: Protocol,
    made: PartMade,
    own: "PartRead",
    versions: "list[dict[str, PartRead]]",
) -> Iterator[Finding]:
    from lacre.tables.parts import count_part
    from lacre.tables.versions import count_version, keys_in, standing

    part = made.request.part
    if len(versions) == 1:
        yield from _compare(made, count_part(protocol, part, own, versions[0], study.registered.time))
        return
    grew = corpus.rebalances[len(versions) - 2]
    drawn = redrawn(study, corpus, len(versions), keys_in(standing(versions[:-1])["cases"]))
    counts, grown = count_version(protocol, part, own, versions, drawn, grew.time)
    yield from _compare(made, counts)
    if made.facts.grown != (expected := Grown(**dataclasses.asdict(grown))):
        yield finding("facts-differ", made.entry, what="grown", stated=made.facts.grown, expected=expected)


def _check_rebalances(
    walk: Walk, study: StudyState, corpus: CorpusState, source: Source
) -> Iterator[Finding]:
    """Hold what each rebalance says of the paradox, and of its draw, against the result and the cases before it."""
    from lacre.tables.versions import keys_in, of_parts, standing

    for number, grew in enumerate(corpus.rebalances, 2):
        version = study.version(grew.request.protocol)
        document = _result(walk, source, grew.request.result)
        if version is None or document is None:
            return
        parts = []
        for made in corpus.parts:
            if made.entry < grew.entry:
                read, _trouble = _read(version.protocol, made, _files(made, source) or [])
                if read is None:
                    return
                parts.append((corpus.version_of((made.entry,)), made.request.part, read))
        cases = standing(of_parts(parts))["cases"]
        ((table, drawn),) = redrawn(study, corpus, number, keys_in(cases)).items()
        expected = RebalanceFacts(
            paradoxes=_paradoxes(document),
            population=cases.tables[table].rows,
            drawn=len(drawn),
        )
        for name in ("paradoxes", "population", "drawn"):
            if (stated := getattr(grew.facts, name)) != (found := getattr(expected, name)):
                yield finding("facts-differ", grew.entry, what=name, stated=stated, expected=found)


def _paradoxes(document: Mapping[str, Any]) -> tuple[Paradox, ...]:
    """Return what a result flags; nothing of one that is not as results are."""
    try:
        return tuple(Paradox(dimension=name, bin=held) for _id, name, held in flagged(document))
    except (AttributeError, KeyError, TypeError, ValueError):
        return ()


def _result(walk: Walk, source: Source, entry: int) -> dict[str, Any] | None:
    """Return the document of the result at an entry; None where it is not here, which is found already."""
    content = next((each.content for each in walk.history if each.index == entry), None)
    document = source.document(content.result) if isinstance(content, Result) else None
    try:
        return None if document is None else dict(parse_canonical(document.body))
    except (LacreError, TypeError, ValueError):
        return None


def _files(made: PartMade, source: Source) -> "list[PartFile] | None":
    """Return the files of a part; None where one is not here as it was committed."""
    from lacre.tables.formats import Format
    from lacre.tables.parts import PartFile

    files = []
    for file in made.request.files:
        document = source.document(file.sha256)
        if document is None or document.digest != file.sha256:
            return None
        files.append(PartFile(file.table, Format(file.format), document.body))
    return files


def _read(protocol: Protocol, made: PartMade, files: "list[PartFile]") -> "tuple[PartRead | None, Any]":
    from lacre.tables.parts import read_part

    try:
        return read_part(protocol, made.request.part, files), None
    except LacreError as error:
        digest = made.request.files[0].sha256
        what = _(CORPUS.name)
        return None, finding("document-invalid", made.entry, what=what, digest=digest, why=error.message)


def _compare(made: PartMade, counts: "PartCounts") -> Iterator[Finding]:
    for name in _FOUND_AGAIN:
        stated, expected = getattr(made.facts, name), getattr(counts, name)
        if isinstance(expected, Mapping):
            expected = dict(expected)
        if stated != expected:
            yield finding("facts-differ", made.entry, what=name, stated=stated, expected=expected)
