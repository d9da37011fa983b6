"""The walk along the entries, once and in order: steps 1 to 4 of an audit, for each entry."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import partial

from lacre.audit.documents import Shelf
from lacre.audit.findings import Finding, Noted, finding, warned
from lacre.audit.law import Law
from lacre.audit.premises import check_columns
from lacre.audit.results import GivenBefore, check_document, given_before
from lacre.audit.signatures import check_genesis, check_signed
from lacre.audit.source import Entry, Redacted, Source
from lacre.audit.tree import Tree
from lacre.audit.verifying import Verifying
from lacre.errors import DocumentMissing, LacreError, RecordInvalid
from lacre.ledger.merkle import leaf_hash
from lacre.protocol.document import from_canonical
from lacre.protocol.models import Protocol
from lacre.rules.answers import EraseFacts
from lacre.rules.history import Key, ReadMade
from lacre.rules.named import PROTOCOL, RESULT, Named, named_by
from lacre.rules.record import Answered, Genesis, Recorded, Result, parse_entry
from lacre.rules.requests import Bound, Erase
from lacre.store.blobs import Blob, blobs_of
from lacre.text import _


class Walk:
    """Everything the entries add up to, and what was noted on the way.

    `complete` is whether every entry was there and could be read.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.tree = Tree()
        self.law = Law(self.protocol)
        self.shelf = Shelf()
        self.verifying = Verifying()
        self.entries = 0
        self.complete = False
        self.blobs: list[Blob] = []
        self.history: list[Recorded] = []
        self._protocols: dict[str, Protocol | LacreError] = {}
        self._nonces: dict[str, int] = {}
        self._unbound: list[tuple[int, int]] = []
        self._agreed = 0
        self._torn = False

    @property
    def keys(self) -> Mapping[str, Key]:
        """The enrolled keys, by key id; none when there is no genesis."""
        return self.law.ledger.keys

    @property
    def relied_on(self) -> bool:
        """Whether there is a genesis to know the keys from, without which no rule can be replayed."""
        return bool(self.keys)

    def protocol(self, digest: str) -> Protocol:
        """Return the protocol of a hash, parsed once; raise, each time, why there is none."""
        if digest not in self._protocols:
            try:
                self._protocols[digest] = self._load(digest)
            except LacreError as error:
                self._protocols[digest] = error
        found = self._protocols[digest]
        if isinstance(found, LacreError):
            raise found
        return found

    def _load(self, digest: str) -> Protocol:
        document = self.source.document(digest)
        if document is None:
            raise DocumentMissing(digest=digest)
        if document.digest != digest:
            raise RecordInvalid(what=_(PROTOCOL.name), why=_("its bytes are not those of its hash"))
        return from_canonical(document.body)

    def go(self) -> Iterator[Noted]:
        """Walk from the first entry to the last."""
        for entry in self.source.entries():
            yield from self._place(entry)
            if isinstance(entry, Redacted):
                self.law.leave_out(entry.index)
                continue
            try:
                recorded = parse_entry(entry.index, entry.data)
            except LacreError as error:
                self.law.pass_over(entry.index)
                yield finding("entry-invalid", entry.index, why=error.message)
                continue
            if entry.stored is not None:
                yield from check_columns(recorded, entry.stored)
            yield from self._check_time(recorded)
            self.history.append(recorded)
            yield from self._follow(recorded)
        self.complete = self.tree.whole and not self.law.unread
        if self.law.left_out:
            yield warned("entries-redacted", count=len(self.law.left_out))
        yield from self._tell_unbound()
        if self.entries and not self.relied_on:
            yield finding("genesis-missing", 0)
            yield warned("keys-unknown")

    def _place(self, entry: Entry | Redacted) -> Iterator[Noted]:
        if entry.index != self.entries:
            self.tree.tear()
            last = f" - {entry.index - 1}" if entry.index - 1 > self.entries else ""
            yield finding("entry-missing", self.entries, index=f"{self.entries}{last}")
        self.entries = entry.index + 1
        self.tree.append(entry.leaf if isinstance(entry, Redacted) else leaf_hash(entry.data))

    def _check_time(self, recorded: Recorded) -> Iterator[Noted]:
        try:
            datetime.fromisoformat(recorded.time)
        except ValueError:
            yield finding("time-invalid", recorded.index, time=recorded.time)
            return
        before = self.history[-1] if self.history else None
        if before is not None and recorded.time < before.time:
            yield warned("clock-backwards", recorded.index,
                         time=recorded.time, before=before.index, earlier=before.time)  # fmt: skip

    def _follow(self, recorded: Recorded) -> Iterator[Noted]:
        content, index = recorded.content, recorded.index
        if isinstance(content, Genesis):
            yield from self._begin(recorded, content)
            return
        if self.relied_on:
            yield from check_signed(recorded, self.keys, self.verifying)
        if isinstance(content, Answered):
            yield from self._check_bound(index, content.request)
        if recorded.study is None:
            yield from self._follow_ledger(recorded)
        else:
            # Without its protocols no law can be replayed for a study: a bundle has those of one.
            judge = self.relied_on and self.source.holds(recorded.study)
            yield from self.law.follow(recorded, recorded.study, judge=judge)
        for named in named_by(recorded):
            self._expect(named, recorded)
        self.blobs.extend(blobs_of(recorded))

    def _follow_ledger(self, recorded: Recorded) -> Iterator[Noted]:
        """An entry of no study: a key's, or one that takes a text out."""
        if self.relied_on:
            yield from self.law.follow_ledger(recorded)
        content = recorded.content
        if isinstance(content, Answered) and isinstance(content.request, Erase):
            assert isinstance(content.facts, EraseFacts)
            yield from self.shelf.erase(
                content.request.digest, recorded.index, content.facts.named, left_out=self.law.left_out
            )

    def _begin(self, recorded: Recorded, genesis: Genesis) -> Iterator[Noted]:
        if recorded.index:
            yield finding("genesis-repeated", recorded.index)
            return
        self.law.begin(recorded)
        yield from check_genesis(recorded, genesis, self.keys)
        for named in named_by(recorded):
            self.shelf.expect(named)

    def _check_bound(self, index: int, request: Bound) -> Iterator[Noted]:
        first = self._nonces.setdefault(request.nonce, index)
        if first != index:
            yield finding("nonce-repeated", index, first=first)
        if self.relied_on and request.genesis != self.law.ledger.genesis:
            yield finding("request-foreign", index, genesis=request.genesis)
            return
        seen = request.seen
        root = self.tree.root_at(seen.size)
        if seen.size <= index and root is not None and root.hex() == seen.root:
            self._agreed = max(self._agreed, seen.size)
        elif seen.size <= index and root is None:
            if not self._torn:
                self._torn = True
                yield warned("history-incomplete", index)
        else:
            self._unbound.append((index, seen.size))

    def _tell_unbound(self) -> Iterator[Noted]:
        # One changed entry unbinds every request after it: that is one finding.
        if self._unbound:
            index, size = self._unbound[0]
            yield finding("request-unbound", index, count=len(self._unbound), size=size, agreed=self._agreed)

    def _expect(self, named: Named, recorded: Recorded) -> None:
        if not self.source.holds(recorded.study):
            self.shelf.expect(named, here=False)
            return
        if named.kind is PROTOCOL:
            self.shelf.expect(named, partial(self._check_protocol, named))
            return
        result = recorded.content
        found = self.law.read_of(result) if isinstance(result, Result) else None
        if named.kind is RESULT and isinstance(result, Result) and found is not None:
            _pool, read = found
            given = self._given(result, read)
            content = partial(check_document, recorded, result, read.request.protocol, read, given)
            self.shelf.expect(named, content)
        else:
            self.shelf.expect(named)

    def _given(self, result: Result, read: ReadMade) -> GivenBefore | None:
        """Return what the entries so far give a read; None where its plan cannot be known."""
        study = self.law.line(result.study).state
        try:
            protocol = self.protocol(read.request.protocol)
        except LacreError:
            return None
        known = study is not None and {*read.request.analyses} <= protocol.analyses.keys()
        return given_before(study, protocol, read) if study is not None and known else None

    def _check_protocol(self, named: Named, _body: bytes) -> Iterator[Finding]:
        try:
            self.protocol(named.digest)
        except LacreError as error:
            yield finding(
                "document-invalid", named.entry, what=named.what, digest=named.digest, why=error.message
            )
