"""The documents that entries name: there, in the form their kind has, and filed under their own digest."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from lacre.audit.findings import Finding, finding
from lacre.audit.source import Document, Source
from lacre.rules.record import (
    PROTOCOL_MEDIA,
    RESULT_MEDIA,
    TEXT_MEDIA,
    Answered,
    Genesis,
    Recorded,
    Result,
)
from lacre.rules.requests import Read, Register
from lacre.store.reader import SALT_SIZE
from lacre.text import N_, _

Content = Callable[[bytes], Iterator[Finding]]
"""Looks at a document's bytes, once they are known to be those of its digest."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What a document is: its name for people, its media type, and whether its digest is salted."""

    name: str
    media: str
    salted: bool


PROTOCOL = Kind(N_("protocol"), PROTOCOL_MEDIA, salted=False)
RESULT = Kind(N_("result"), RESULT_MEDIA, salted=False)
NAME = Kind(N_("name"), TEXT_MEDIA, salted=True)
REASON = Kind(N_("reason"), TEXT_MEDIA, salted=True)


@dataclass(frozen=True, slots=True)
class Named:
    """A document as an entry names it."""

    kind: Kind
    digest: str
    entry: int

    @property
    def what(self) -> str:
        """What it is, in the language in use."""
        return _(self.kind.name)


def named_by(recorded: Recorded) -> Iterator[Named]:
    """Yield the documents that an entry brought into the ledger."""
    content = recorded.content
    if isinstance(content, Genesis):
        for key in content.keys:
            if key.name is not None:
                yield Named(NAME, key.name, recorded.index)
    elif isinstance(content, Result):
        yield Named(RESULT, content.result, recorded.index)
    elif isinstance(content, Answered) and isinstance(content.request, Register):
        yield Named(PROTOCOL, content.request.protocol, recorded.index)
    elif isinstance(content, Answered) and isinstance(content.request, Read) and content.request.reason:
        yield Named(REASON, content.request.reason, recorded.index)


class Shelf:
    """All documents that the entries name, and what is to be looked at in each."""

    def __init__(self) -> None:
        self._named: dict[str, list[tuple[Named, Content | None]]] = {}

    def expect(self, named: Named, content: Content | None = None) -> None:
        """Take note of a document that an entry names."""
        self._named.setdefault(named.digest, []).append((named, content))

    def check(self, source: Source, *, complete: bool) -> Iterator[Finding]:
        """Hold the documents of `source` against those that are named.

        Where the ledger is at hand they are read in one pass, and if all entries could be read (`complete`)
        there is none that no entry names.
        """
        premises = source.premises()
        if premises is None:
            for digest in self._named:
                yield from self._check_one(digest, source.document(digest))
            return
        seen = set()
        for digest, document in premises.documents():
            seen.add(digest)
            if digest in self._named:
                yield from self._check_one(digest, document)
            elif complete:
                yield finding("document-unnamed", digest=digest)
        for digest in sorted(self._named.keys() - seen):
            yield from self._check_one(digest, None)

    def _check_one(self, digest: str, document: Document | None) -> Iterator[Finding]:
        for named, content in self._named[digest]:
            if document is None:
                yield finding("document-missing", named.entry, what=named.what, digest=digest)
            elif document.digest != digest or not _salted_right(document, named.kind):
                yield finding("document-differs", named.entry, what=named.what, digest=digest)
            else:
                if document.media != named.kind.media:
                    yield finding("document-media", named.entry, digest=digest,
                                  stored=document.media, expected=named.kind.media)  # fmt: skip
                if content is not None:
                    yield from content(document.body)


def _salted_right(document: Document, kind: Kind) -> bool:
    # The digest of salt and body together does not say where one ends and the other begins.
    if not kind.salted:
        return document.salt is None
    return isinstance(document.salt, bytes) and len(document.salt) == SALT_SIZE
