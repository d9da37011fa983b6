"""The documents that entries name: there, in the form their kind has, and filed under their own digest."""

from collections.abc import Callable, Collection, Iterator

from lacre.audit.findings import Finding, finding
from lacre.audit.source import Document, Source
from lacre.rules.named import Kind, Named
from lacre.store.reader import SALT_SIZE

Content = Callable[[bytes], Iterator[Finding]]
"""Looks at a document's bytes, once they are known to be those of its digest."""


class Shelf:
    """All documents that the entries name, and what is to be looked at in each."""

    def __init__(self) -> None:
        self._named: dict[str, list[tuple[Named, Content | None]]] = {}
        self.erased: dict[str, int] = {}
        self._here: set[str] = set()

    @property
    def here(self) -> Collection[str]:
        """The digests of the documents that belong into this copy of the log."""
        return self._here

    def expect(self, named: Named, content: Content | None = None, *, here: bool = True) -> None:
        """Take note of a document that an entry names; with `here` false, this copy of the log is without it."""
        self._named.setdefault(named.digest, []).append((named, content))
        if here:
            self._here.add(named.digest)

    def erase(
        self, digest: str, entry: int, stated: int, *, left_out: Collection[int] = ()
    ) -> Iterator[Finding]:
        """Take note of an erasure at `entry`, of a text that the entry `stated` is said to have named.

        `left_out` are the entries that this copy of the log does not show.
        """
        if stated in left_out:
            return
        texts = [named for named, _content in self._named.get(digest, ()) if named.kind.salted]
        if not texts or texts[0].entry != stated or digest in self.erased:
            yield finding("erasure-of-nothing", entry, digest=digest, named=stated)
        if texts:
            self.erased.setdefault(digest, entry)

    def told_erased(self) -> Iterator[tuple[Named, int]]:
        """Yield the texts that are erased, as they were named, each with the entry that erased it."""
        for digest, entry in self.erased.items():
            for named, _content in self._named.get(digest, ()):
                yield named, entry

    def check(self, source: Source, *, complete: bool) -> Iterator[Finding]:
        """Hold the documents of `source` against those that are named.

        Where the ledger is at hand they are read in one pass, and if all entries could be read (`complete`)
        there is none that no entry names.
        """
        premises = source.premises()
        if premises is None:
            published = source.published()
            gone = () if published is None else published.erased_ahead()
            for digest in sorted(self._here):
                document = source.document(digest)
                if document is not None or digest not in gone:
                    yield from self._check_one(digest, document)
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
        if digest in self.erased and document is not None:
            yield finding("document-not-erased", self.erased[digest], digest=digest)
            return
        for named, content in self._named[digest]:
            if named.kind.salted and digest in self.erased:
                continue  # a document of another kind that a text's digest was made to name is missed all the same
            if document is None:
                yield finding("document-missing", named.entry, what=named.what, digest=digest)
                continue
            document = document.read_as(media=named.kind.media, salted=named.kind.salted)
            if document.digest != digest or not _salted_right(document, named.kind):
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
