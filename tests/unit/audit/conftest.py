"""A ledger in memory, made of the formats and the law alone: what an audit is given, without any store."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from tests.studies import plan

from lacre.audit.audit import audit
from lacre.audit.report import AuditReport
from lacre.audit.source import Document, Entry
from lacre.canonical import canonical_json, sha256_hex
from lacre.errors import DocumentMissing, LacreError
from lacre.ledger.checkpoint import Checkpoint, SignedCheckpoint
from lacre.ledger.envelope import PAYLOAD_ENTRY, PAYLOAD_REQUEST, Envelope
from lacre.ledger.keys import PrivateKey
from lacre.ledger.merkle import Frontier, inclusion_proof, leaf_hash, root
from lacre.ledger.proof import Receipt
from lacre.ledger.statement import Statement
from lacre.protocol.document import canonical, parse, protocol_hash
from lacre.protocol.models import Protocol
from lacre.rules.answers import Decision, Engine, Facts, ReadDecision, ReadFacts, RegisterFacts, SealFacts
from lacre.rules.decide import decide
from lacre.rules.record import (
    FirstKey,
    Genesis,
    Result,
    answered_statement,
    columns_of,
    genesis_statement,
    parse_entry,
    result_statement,
    study_of,
)
from lacre.rules.requests import (
    Erratum,
    Read,
    Register,
    Request,
    Rewrap,
    Seal,
    SealedRecord,
    Submitted,
    decode_request,
)
from lacre.rules.state import State, fold
from lacre.store.form import FORM

ENGINE = Engine(lacre="0.1.0", statistics="1")
ORIGIN = "lacre/0badc0de"
RECIPIENT = "age1own"
MEDIA = {
    "protocol": "application/vnd.lacre.protocol+json",
    "result": "application/vnd.lacre.result+json",
    "difference": "application/vnd.lacre.difference+json",
    "text": "text/plain; charset=utf-8",
}


def protocol_text(study: str) -> str:
    """The plan of a study."""
    return plan(
        study,
        attribute={"sex": "{type: category, values: [female, male], is: input}"},
        pools={"dev": "", "teste": "tables: [cases], planned: {cases: 200}"},
        gap="0.1",
    )


def seeded(name: str) -> PrivateKey:
    """A fixed key for each name."""
    return PrivateKey.from_seed(bytes.fromhex(sha256_hex(name.encode())))


PERSON, BROKER, LOG = map(seeded, ("person", "broker", "log"))


def digest(*what: object) -> str:
    """A SHA-256 that stands for some content."""
    return sha256_hex(repr(what).encode())


def codes(report: AuditReport) -> set[tuple[str, int | None]]:
    """The findings by code and entry; all that is noted must have words."""
    assert all(each.message for each in (*report.findings, *report.warnings))
    return {(each.code, each.entry) for each in report.findings}


@dataclass
class Held:
    """A source that holds everything as plain values, to be tampered with."""

    entries_: list[Entry] = field(default_factory=list)
    documents_: dict[str, Document] = field(default_factory=dict)
    note: bytes | None = None
    nodes_: dict[tuple[int, int], bytes] = field(default_factory=dict)
    blobs: dict[tuple[str, str, str, str], bool] = field(default_factory=dict)
    troubles: list[str] = field(default_factory=list)
    filed_size: int | None = None
    on_site: bool = True

    def copy(self) -> "Held":
        """An independent copy."""
        return replace(
            self,
            entries_=list(self.entries_),
            documents_=dict(self.documents_),
            nodes_=dict(self.nodes_),
            blobs=dict(self.blobs),
            troubles=list(self.troubles),
        )

    def with_entry(self, index: int, data: bytes) -> "Held":
        """A copy with other bytes at `index`, filed as before."""
        changed = self.copy()
        changed.entries_[index] = replace(self.entries_[index], data=data)
        return changed

    def with_datas(self, datas: Sequence[bytes]) -> "Held":
        """A copy that holds these entries instead, as a stranger's copy does: with nothing beside them."""
        entries = [Entry(index, data) for index, data in enumerate(datas)]
        return replace(self.copy(), entries_=entries, on_site=False)

    def found(self, **options: Any) -> set[tuple[str, int | None]]:
        """What an audit with these options finds."""
        return codes(audit(self, **options))

    @property
    def datas(self) -> list[bytes]:
        return [entry.data for entry in self.entries_]

    def entries(self) -> Iterator[Entry]:
        yield from self.entries_

    def document(self, digest: str) -> Document | None:
        return self.documents_.get(digest)

    def checkpoint(self) -> bytes | None:
        return self.note

    def premises(self) -> "Held | None":
        return self if self.on_site else None

    def published(self) -> None:
        return None

    def holds(self, study: str | None) -> bool:  # noqa: ARG002 - a ledger holds every study's documents
        return True

    def integrity(self) -> Sequence[str]:
        return self.troubles

    def form(self) -> Mapping[str, str]:
        return FORM

    def nodes(self) -> Iterator[tuple[int, int, bytes]]:
        for (level, position), node in self.nodes_.items():
            yield level, position, node

    def documents(self) -> Iterator[tuple[str, Document]]:
        yield from self.documents_.items()

    def checkpoint_size(self) -> int | None:
        return self.filed_size

    def blob(self, study: str, pool: str, kind: str, digest: str) -> bool | None:
        return self.blobs.get((study, pool, kind, digest))


class Builder:
    """Writes a ledger as a broker does; `forge` lets it write what a broker may not."""

    def __init__(
        self, person: PrivateKey = PERSON, broker: PrivateKey = BROKER, log: PrivateKey = LOG
    ) -> None:
        self.person, self.broker, self.log = person, broker, log
        self.datas: list[bytes] = []
        self.documents: dict[str, Document] = {}
        self.blobs: dict[tuple[str, str, str, str], bool] = {}
        self.protocols: dict[str, Protocol] = {}
        self.clock = 0
        self.genesis_hash = ""

    def empty(self) -> "Builder":
        """Another ledger with the same keys."""
        return Builder(self.person, self.broker, self.log)

    def fork(self) -> "Builder":
        """Another builder that goes on from here by itself."""
        other = copy(self)
        other.datas = list(self.datas)
        other.documents, other.blobs = dict(self.documents), dict(self.blobs)
        return other

    def now(self) -> str:
        self.clock += 1
        return f"2026-09-02T14:{self.clock // 60:02}:{self.clock % 60:02}.000000Z"

    def put(self, body: bytes, media: str, salt: bytes | None = None) -> str:
        document = Document(body, salt, MEDIA[media])
        self.documents[document.digest] = document
        return document.digest

    def write(self, statement: Statement, *keys: PrivateKey) -> int:
        """Sign a statement, as the broker if by no other, and append it."""
        self.datas.append(Envelope.sign(PAYLOAD_ENTRY, statement.encode(), keys or (self.broker,)).encode())
        return len(self.datas) - 1

    def ask(self, request: Request, key: PrivateKey | None = None) -> Envelope:
        return Envelope.sign(PAYLOAD_REQUEST, request.encode(), [key or self.person])

    def bound(self, study: str) -> dict[str, Any]:
        """What binds a request to the ledger as it stands."""
        size = len(self.datas)
        seen = {"size": size, "root": root(map(leaf_hash, self.datas)).hex()}
        nonce = digest("nonce", size, self.genesis_hash)[:32]
        return {"genesis": self.genesis_hash, "seen": seen, "nonce": nonce, "study": study}

    def protocol_of(self, hash_: str) -> Protocol:
        if hash_ not in self.protocols:
            raise DocumentMissing(digest=hash_)
        return self.protocols[hash_]

    def state(self, study: str | None) -> State:
        recorded = [parse_entry(index, data) for index, data in enumerate(self.datas)]
        mine = [each for each in recorded if each.study == study or each.kind in {"genesis", "key"}]
        return replace(fold(mine, self.protocol_of), next_index=len(self.datas))

    def last(self, study: str | None) -> int | None:
        if study is None:
            return None
        recorded = [parse_entry(index, data) for index, data in enumerate(self.datas)]
        return max((each.index for each in recorded if each.study == study), default=None)

    def answer(
        self, envelope: Envelope, facts: Facts, decision: Decision | None = None, **changed: Any
    ) -> int:
        """Enter a request, decided by the law unless `decision` says otherwise; `changed` is of its head."""
        request = decode_request(envelope.payload)
        if isinstance(request, Seal | Read | Erratum | Rewrap):
            self.keep(request)
        study = study_of(request)
        if decision is None:
            by = envelope.signatures[0].keyid
            decision = decide(self.state(study), request, by, facts)
        head = {"time": self.now(), "previous": self.last(study), **changed}
        return self.write(answered_statement(**head, request=envelope, facts=facts, decision=decision))

    def enter(
        self,
        kind: type[Any],
        facts: Facts,
        *,
        study: str | None = "one",
        key: PrivateKey | None = None,
        decision: Decision | None = None,
        **fields: Any,
    ) -> int:
        """Enter a request of any kind, of a study or of the whole ledger."""
        bound = self.bound(study or "-")
        if study is None:
            del bound["study"]
        request = kind.model_validate({**bound, **fields})
        return self.answer(self.ask(request, key), facts, decision)

    def words(self, text: str) -> str:
        """Keep a text; its salted digest."""
        return self.put(text.encode(), "text", sha256_hex(text.encode())[:32].encode())

    def keep(self, request: Seal | Read | Erratum | Rewrap) -> None:
        """Put the blobs a request names where they belong."""
        if isinstance(request, Seal | Erratum):
            blobs = [("pool", request.ciphertext), ("key", request.wrapped_key)]
            blobs += [("prints", request.fingerprints)] if isinstance(request, Seal) else []
        elif isinstance(request, Rewrap):
            blobs = [("key", request.wrapped_key)]
        else:
            blobs = [("submission", each.blob) for each in request.submissions]
            blobs += [("submission-key", each.wrapped_key) for each in request.submissions]
        for kind, name in blobs:
            self.blobs[request.study, request.pool, kind, name] = True

    def genesis(self, *, name: str = "Ana Souza", **changed: Any) -> int:
        named = self.put(name.encode(), "text", b"s" * 32)
        first = [
            FirstKey(
                public=self.person.public.raw.hex(), roles=("owner", "registrant", "custodian"), name=named
            ),
            FirstKey(public=self.broker.public.raw.hex(), roles=("broker",)),
            FirstKey(public=self.log.public.raw.hex(), roles=("log",)),
        ]
        fields = {
            "law": 1,
            "time": self.now(),
            "ledger": digest("ledger", name),
            "origin": ORIGIN,
            "keys": tuple(first),
            "recipient": RECIPIENT,
            **changed,
        }
        index = self.write(genesis_statement(Genesis.model_validate(fields)), self.person, self.broker)
        self.genesis_hash = self.genesis_hash or leaf_hash(self.datas[0]).hex()
        return index

    def register(self, study: str, text: str | None = None) -> int:
        protocol = parse((text or protocol_text(study)).encode())
        hash_ = protocol_hash(protocol)
        self.protocols[hash_] = protocol
        self.put(canonical(protocol), "protocol")
        return self.answer(
            self.ask(Register(protocol=hash_, **self.bound(study))), RegisterFacts(engine=ENGINE)
        )

    def seal_request(self, study: str, pool: str, **changed: Any) -> Seal:
        mark = (study, pool, len(self.datas))
        fields = {
            "pool": pool,
            "protocol": protocol_hash(parse(protocol_text(study).encode())),
            "records": (SealedRecord(table="cases", format="csv", hmac=digest("hmac", *mark)),),
            "ciphertext": digest("ciphertext", *mark),
            "wrapped_key": digest("key", *mark),
            "fingerprints": digest("prints", *mark),
            "recipients": (RECIPIENT,),
        }
        return Seal.model_validate({**fields, **self.bound(study), **changed})

    def seal(self, study: str, pool: str, *, facts: SealFacts | None = None, **changed: Any) -> int:
        request = self.seal_request(study, pool, **changed)
        self.keep(request)
        return self.answer(self.ask(request), facts or SealFacts(rows={"cases": 100}))

    def read_request(self, study: str, pool: str, **changed: Any) -> Read:
        mark = (study, pool, len(self.datas))
        submitted = Submitted(
            system="",
            records=(SealedRecord(table="cases", format="csv", hmac=digest("sub", *mark)),),
            blob=digest("submission", *mark),
            wrapped_key=digest("submission-key", *mark),
        )
        fields = {
            "purpose": "reveal",
            "pool": pool,
            "protocol": protocol_hash(parse(protocol_text(study).encode())),
            "analyses": ("parity",),
            "submissions": (submitted,),
        }
        return Read.model_validate({**fields, **self.bound(study), **changed})

    def read(
        self,
        study: str,
        pool: str,
        *,
        facts: ReadFacts | None = None,
        decision: Decision | None = None,
        reason: str | None = None,
        **changed: Any,
    ) -> int:
        if reason is not None:
            changed["reason"] = self.put(reason.encode(), "text", b"r" * 32)
        request = self.read_request(study, pool, **changed)
        self.keep(request)
        return self.answer(self.ask(request), facts or ReadFacts(engine=ENGINE), decision)

    def result(
        self,
        study: str,
        read: int,
        computed: str = "PASS",
        document: Callable[[dict[str, Any]], object] = lambda document: document,
        /,
        **changed: Any,
    ) -> int:
        """Enter the result of a read; `document` may change what its document says."""
        recorded = parse_entry(read, self.datas[read]).content
        request: Any = recorded.request  # type: ignore[union-attr] # a read is answered
        decision: Any = recorded.decision  # type: ignore[union-attr] # likewise
        assert isinstance(request, Read | Erratum)
        assert isinstance(decision, ReadDecision)
        state = computed
        if decision.exploratory and computed == "PASS":
            state = "INSUFFICIENT_EVIDENCE"
        if decision.review:
            state = "MANUAL_REVIEW"
        settled = {"computed": computed, "state": state}
        one = {
            "id": "parity",
            **settled,
            "confirmatory": decision.confirmatory,
            "criteria": [{"id": "gap", "metric": "error", **settled, "groups": []}],
        }
        said = {
            "study": study,
            "protocol": f"sha256:{request.protocol}",
            "pool": request.pool,
            "standing": decision.read_class,
            "read": decision.number,
            "confirmatory": decision.confirmatory,
            "retrospective": decision.retrospective,
            "exploratory": list(decision.exploratory),
            "review": list(decision.review),
            "state": state,
            "analyses": [one],
            "engine": {"lacre": "0.1.0", "statistics": "1", "numpy": "2.4", "scipy": "1.16", "seed": None},
        }
        if isinstance(request, Erratum):
            said["erratum"] = {"corrects": f"{study}@{request.corrects}", "changed": {"cases.label": 2}}
        fields = {
            "law": 1,
            "time": self.now(),
            "previous": self.last(study),
            "study": study,
            "pool": request.pool,
            "read": read,
            "result": self.put(canonical_json(document(said)), "result"),
            "state": state,
            "confirmatory": decision.confirmatory,
            **changed,
        }
        return self.write(result_statement(Result.model_validate(fields)))

    def later(self, decision: Decision | None = None, **changed: Any) -> int:
        """Read `teste` of the small ledger's `one` once more, as dev."""
        return self.read("one", "teste", accept_dev=True, decision=decision, **changed)

    def found(self) -> set[tuple[str, int | None]]:
        """The findings when checkpoint and database agree with the entries."""
        return self.held().found()

    def checkpoint(self, size: int | None = None, *, origin: str = ORIGIN) -> bytes:
        datas = self.datas[:size]
        head = Checkpoint(origin, len(datas), root(map(leaf_hash, datas)))
        return SignedCheckpoint.sign(head, [self.log]).note

    def receipt(self, index: int, size: int | None = None) -> Receipt:
        datas = self.datas[:size]

        def subtree(level: int, position: int) -> bytes:
            covered = datas[position << level : (position + 1) << level]
            return root(map(leaf_hash, covered))

        hashes = inclusion_proof(index, len(datas), subtree)
        return Receipt(index, hashes, self.checkpoint(size))

    def held(self) -> Held:
        frontier, nodes = Frontier(), {}
        for data in self.datas:
            for level, position, node in frontier.append(leaf_hash(data)):
                nodes[level, position] = node
        return Held(
            [Entry(index, data, _stored(index, data)) for index, data in enumerate(self.datas)],
            dict(self.documents),
            self.checkpoint(),
            nodes,
            dict(self.blobs),
            [],
            len(self.datas),
        )


def _stored(index: int, data: bytes) -> dict[str, object]:
    try:
        made = parse_entry(index, data)
        return {**columns_of(made), "leaf_hash": made.leaf_hash}
    except LacreError:
        return {}


def small() -> Builder:
    """Two studies, interleaved: `one` is revealed, and again as dev; `two` hands out inputs and crashes."""
    builder = Builder()
    builder.genesis()  # 0
    builder.register("one")  # 1
    builder.seal("one", "teste")  # 2
    builder.register("two")  # 3
    builder.read("one", "teste", reason="the paper's table 2")  # 4
    builder.result("one", 4)  # 5
    builder.seal("two", "teste")  # 6
    builder.read("two", "teste", purpose="inputs", analyses=(), submissions=())  # 7
    again = builder.read("one", "teste", accept_dev=True)  # 8
    builder.read("two", "teste")  # 9, which crashes
    builder.result("one", again, "PASS")  # 10
    crashed = parse_entry(9, builder.datas[9]).content
    submissions = crashed.request.submissions  # type: ignore[union-attr] # entry 9 answers a Read
    finish = builder.read("two", "teste", finishes=9, submissions=submissions)  # 11
    builder.result("two", finish, "FAIL")  # 12
    return builder


@pytest.fixture(scope="session")
def _small() -> Builder:
    return small()


@pytest.fixture
def builder(_small: Builder) -> Builder:
    """The small ledger, to be written on."""
    return _small.fork()


@pytest.fixture
def held(builder: Builder) -> Held:
    """The small ledger as a source."""
    return builder.held()


@pytest.fixture
def fresh() -> Builder:
    """A ledger with nothing in it."""
    return Builder()
