"""The walk along the entries, once and in order: steps 1 to 4 of an audit, for each entry."""

from collections.abc import Iterator
from datetime import datetime
from functools import partial
from itertools import islice

from lacre.audit.blobs import Blob, blobs_of
from lacre.audit.documents import PROTOCOL, RESULT, Named, Shelf, named_by
from lacre.audit.entry import Examined, Keys, examine, examine_ahead
from lacre.audit.findings import Finding, Noted, finding, warned
from lacre.audit.law import Law
from lacre.audit.premises import check_columns
from lacre.audit.results import check_document
from lacre.audit.source import Source
from lacre.audit.tree import Tree
from lacre.errors import DocumentMissing, LacreError, RecordInvalid, SignatureInvalid
from lacre.ledger.keys import PublicKey
from lacre.protocol.document import from_canonical
from lacre.protocol.models import Protocol
from lacre.rules.record import Answered, Genesis, Recorded, Result
from lacre.rules.requests import Request
from lacre.rules.state import Key
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
        self.entries = 0
        self.complete = True
        self.blobs: list[Blob] = []
        self.history: list[Recorded] = []
        self._protocols: dict[str, Protocol | LacreError] = {}
        self._nonces: dict[str, int] = {}
        self._unbound: list[tuple[int, int]] = []
        self._agreed = 0
        self._torn = False

    @property
    def keys(self) -> dict[str, Key]:
        """The enrolled keys, by key id; none when the genesis cannot be relied on."""
        return dict(self.law.ledger.keys)

    @property
    def relied_on(self) -> bool:
        """Whether there is a genesis to know the keys from, without which no rule can be replayed."""
        return bool(self.law.ledger.keys)

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
        entries = self.source.entries()
        for first in islice(entries, 1):
            examined = examine(first, {})
            yield from self._arrive(examined)
            yield from self._begin(examined)
        for examined in examine_ahead(entries, self._public_keys()):
            yield from self._arrive(examined)
            if examined.recorded is not None:
                yield from self._follow(examined, examined.recorded)
        yield from self._tell_unbound()
        if not self.relied_on and self.entries:
            yield warned("keys-unknown")

    def _public_keys(self) -> Keys:
        return {keyid: PublicKey(bytes.fromhex(key.public)) for keyid, key in self.keys.items()}

    # Each entry has a place in the tree, can be read, and is filed under what it says.

    def _arrive(self, examined: Examined) -> Iterator[Noted]:
        index = examined.entry.index
        if index != self.entries:
            self.tree.tear()
            self.complete = False
            last = f" - {index - 1}" if index - 1 > self.entries else ""
            yield finding("entry-missing", self.entries, index=f"{self.entries}{last}")
        self.entries = index + 1
        self.tree.append(examined.leaf)
        recorded = examined.recorded
        if recorded is None:
            self.law.pass_over(index)
            self.complete = False
            if examined.problem is not None:
                yield finding("entry-invalid", index, why=examined.problem.message)
            return
        if examined.entry.stored is not None:
            yield from check_columns(recorded, examined.entry.stored)
        yield from self._check_time(recorded)
        self.history.append(recorded)

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

    # Entry 0 is the genesis, signed by those of its keys that must.

    def _begin(self, examined: Examined) -> Iterator[Noted]:
        recorded = examined.recorded
        if recorded is None or recorded.index != 0 or not isinstance(recorded.content, Genesis):
            yield finding("genesis-missing", 0)
            if recorded is not None and recorded.index:
                yield from self._follow(examined, recorded)
            return
        self.law.begin(recorded)
        yield from _check_genesis(recorded, recorded.content, self.keys)
        for named in named_by(recorded):
            self.shelf.expect(named)

    # Every later entry is signed, bound to what stands before it, and lawful.

    def _follow(self, examined: Examined, recorded: Recorded) -> Iterator[Noted]:
        content, index = recorded.content, recorded.index
        if isinstance(content, Genesis):
            yield finding("genesis-repeated", index)
            return
        if self.relied_on:
            yield from self._check_signed(examined, recorded)
        if isinstance(content, Answered):
            yield from self._check_bound(index, content.request)
        study = content.study if isinstance(content, Result) else content.request.study
        yield from self.law.follow(recorded, study, judge=self.relied_on)
        for named in named_by(recorded):
            self._expect(named, recorded)
        self.blobs.extend(blobs_of(recorded))

    def _check_signed(self, examined: Examined, recorded: Recorded) -> Iterator[Noted]:
        index, signatures = recorded.index, recorded.envelope.signatures
        keyid = signatures[0].keyid
        broker = self.law.ledger.keys.get(keyid)
        if len(signatures) != 1:
            yield finding("signatures-many", index, count=len(signatures))
        if broker is None or not broker.may("broker", index):
            yield finding("signer-unknown", index, key=keyid)
        elif not examined.signed:
            yield finding("signature-wrong", index)
        if isinstance(recorded.content, Answered):
            if recorded.content.by not in self.law.ledger.keys:
                yield finding("requester-unknown", index, key=recorded.content.by)
            elif not examined.asked:
                yield finding("request-signature-wrong", index)

    def _check_bound(self, index: int, request: Request) -> Iterator[Noted]:
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

    # What the entries name beside the log.

    def _expect(self, named: Named, recorded: Recorded) -> None:
        if named.kind is PROTOCOL:
            self.shelf.expect(named, partial(self._check_protocol, named))
            return
        result = recorded.content
        found = self.law.read_of(result) if isinstance(result, Result) else None
        if named.kind is RESULT and isinstance(result, Result) and found is not None:
            _pool, read = found
            content = partial(check_document, recorded, result, read.request.protocol, read)
            self.shelf.expect(named, content)
        else:
            self.shelf.expect(named)

    def _check_protocol(self, named: Named, _body: bytes) -> Iterator[Finding]:
        try:
            self.protocol(named.digest)
        except LacreError as error:
            yield finding(
                "document-invalid", named.entry, what=named.what, digest=named.digest, why=error.message
            )


def _check_genesis(recorded: Recorded, genesis: Genesis, keys: dict[str, Key]) -> Iterator[Noted]:
    if len(keys) != len(genesis.keys):
        yield finding("genesis-keys", 0, why=_("a key is enrolled twice"))
    for role in ("owner", "broker", "log"):
        if not any(role in key.roles for key in keys.values()):
            yield finding("genesis-keys", 0, why=_("none is {role}").format(role=role))
    must = {keyid for keyid, key in keys.items() if key.roles & {"owner", "broker"}}
    signers = {signature.keyid for signature in recorded.envelope.signatures}
    try:
        for keyid in must & signers:
            recorded.envelope.verify(PublicKey(bytes.fromhex(keys[keyid].public)))
    except SignatureInvalid:
        signers = set()
    if signers != must:
        yield finding("genesis-unsigned", 0)
