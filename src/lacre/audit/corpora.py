"""The open pools, looked at again: what an entry says of its files is what they hold, and anybody can see it."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from lacre.audit.findings import Finding, finding
from lacre.audit.source import Source
from lacre.audit.walk import Walk
from lacre.errors import LacreError
from lacre.protocol.models import Protocol
from lacre.rules.history import PartMade
from lacre.rules.named import CORPUS
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


def _check(study: StudyState, corpus: CorpusState, source: Source) -> Iterator[Finding]:
    # Numpy comes with it, and most ledgers have no open pool.
    from lacre.tables.parts import count_part

    stand: list[tuple[PartMade, list[PartFile]]] = []
    for made in corpus.parts:
        version = study.version(made.request.protocol)
        files = _files(made, source)
        if version is None or files is None:
            return  # found already: the law refuses the one, and a document is missing or another
        stand.append((made, files))
        # The parts before it are read by the plan that was in force for it, as the broker read them.
        parts: dict[str, PartRead] = {}
        for each, held in stand:
            read, trouble = _read(version.protocol, each, held)
            if read is None:
                yield trouble
                return
            parts[each.request.part] = read
        own = parts.pop(made.request.part)
        counts = count_part(version.protocol, made.request.part, own, parts, study.registered.time)
        yield from _compare(made, counts)


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
