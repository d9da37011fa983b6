"""Entries as typed records: the statement each kind signs, built by the broker and read back by everyone."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from lacre.errors import RecordInvalid
from lacre.ledger.envelope import Envelope
from lacre.ledger.keys import PublicKey
from lacre.ledger.merkle import leaf_hash
from lacre.ledger.statement import Statement, Subject
from lacre.rules.answers import (
    AmendDecision,
    AmendFacts,
    CalibrateDecision,
    CalibrateFacts,
    CommitDecision,
    CommitFacts,
    Decision,
    EraseDecision,
    EraseFacts,
    ErratumFacts,
    Facts,
    KeyDecision,
    NoFacts,
    PartDecision,
    PartFacts,
    ReadDecision,
    ReadFacts,
    RebalanceDecision,
    RebalanceFacts,
    RegisterDecision,
    RegisterFacts,
    RewrapDecision,
    SampleDecision,
    SampleFacts,
    SealDecision,
    SealFacts,
    WordsDecision,
)
from lacre.rules.requests import (
    Amend,
    Commit,
    CommitPart,
    Deviate,
    Erase,
    Erratum,
    KeyChange,
    ReadLike,
    Rebalance,
    Request,
    Rewrap,
    Role,
    Sample,
    Seal,
    Withdraw,
    decode_request,
)
from lacre.rules.wire import Hex64, Name, Timestamp, Wire
from lacre.text import _

LAW: Literal[1] = 1
PROTOCOL_MEDIA = "application/vnd.lacre.protocol+json"
RESULT_MEDIA = "application/vnd.lacre.result+json"
DIFFERENCE_MEDIA = "application/vnd.lacre.difference+json"
CORPUS_MEDIA = "application/vnd.lacre.corpus"
TEXT_MEDIA = "text/plain; charset=utf-8"
"""The media types of the documents that entries name: by their digest, or by a salted one for free text."""
MOST_DOCUMENT = 1 << 26
"""Bytes of a document: no reader of a published copy takes in more."""
_FACTS: dict[str, tuple[type[Facts], type[Decision]]] = {
    "register": (RegisterFacts, RegisterDecision),
    "amend": (AmendFacts, AmendDecision),
    "deviate": (NoFacts, WordsDecision),
    "withdraw": (NoFacts, WordsDecision),
    "seal": (SealFacts, SealDecision),
    "read": (ReadFacts, ReadDecision),
    "calibrate": (CalibrateFacts, CalibrateDecision),
    "sample": (SampleFacts, SampleDecision),
    "commit": (CommitFacts, CommitDecision),
    "rebalance": (RebalanceFacts, RebalanceDecision),
    "erratum": (ErratumFacts, ReadDecision),
    "rewrap": (NoFacts, RewrapDecision),
    "key": (NoFacts, KeyDecision),
    "erase": (EraseFacts, EraseDecision),
}
_PART: tuple[type[Facts], type[Decision]] = (PartFacts, PartDecision)
"""Of a `commit` that is one part of an open pool."""


Verdict = Literal["PASS", "FAIL", "INSUFFICIENT_EVIDENCE", "MANUAL_REVIEW"]


class FirstKey(Wire):
    """A key enrolled by the genesis: its raw Ed25519 public key in hex, its roles, and its holder's name."""

    public: Hex64
    roles: tuple[Role, ...]
    name: Hex64 | None = None


class Genesis(Wire):
    """Entry 0: what makes this ledger this one and no other."""

    law: Literal[1]
    time: Timestamp
    ledger: Hex64
    origin: Name
    keys: tuple[FirstKey, ...]
    recipient: Name


class Result(Wire):
    """The outcome of a read: it answers no request, it names its read.

    `computed` is the state that it would have but for its read (rules 15, 16), and absent where that is its state; the
    first entries did not tell.
    """

    law: Literal[1]
    time: Timestamp
    previous: int
    study: Name
    pool: Name
    read: int
    result: Hex64
    state: Verdict
    confirmatory: bool
    computed: Verdict | None = None


@dataclass(frozen=True, slots=True)
class Answered:
    """An entry that answers a request."""

    time: str
    previous: int | None
    by: str
    request: Request
    request_envelope: Envelope
    facts: Facts
    decision: Decision


@dataclass(frozen=True, slots=True)
class Recorded:
    """One entry of the log: where it stands, its exact bytes, and what they say."""

    index: int
    kind: str
    envelope: Envelope
    leaf_hash: bytes
    content: Genesis | Answered | Result

    @property
    def time(self) -> str:
        """The broker's clock when it wrote the entry."""
        return self.content.time

    @property
    def study(self) -> str | None:
        """The study the entry belongs to, if to one."""
        if isinstance(self.content, Answered):
            return study_of(self.content.request)
        return self.content.study if isinstance(self.content, Result) else None


def study_of(request: Request) -> str | None:
    """The study a request is about; None for what is the whole ledger's: its keys, and erasures."""
    return None if isinstance(request, KeyChange | Erase) else request.study


def columns_of(recorded: Recorded) -> dict[str, Any]:
    """What a database keeps beside an entry to find it by, derived from the entry's bytes."""
    content = recorded.content
    columns: dict[str, Any] = {
        "kind": recorded.kind,
        "time": recorded.time,
        "study": recorded.study,
        "pool": None,
        "read_class": None,
        "previous": None,
        "nonce": None,
        "finishes": None,
        "erases": None,
    }
    if isinstance(content, Result):
        columns |= {"pool": content.pool, "previous": content.previous}
    elif isinstance(content, Answered):
        columns |= {"previous": content.previous, "nonce": content.request.nonce}
        if isinstance(content.request, Seal | ReadLike | Sample | Commit | CommitPart | Rebalance | Rewrap):
            columns["pool"] = content.request.pool
        if isinstance(content.request, ReadLike) and isinstance(content.decision, ReadDecision):
            columns |= {"read_class": content.decision.read_class, "finishes": content.request.finishes}
        if isinstance(content.request, Erase):
            columns["erases"] = content.request.digest
    return columns


def genesis_statement(genesis: Genesis) -> Statement:
    """The statement entry 0 signs."""
    return Statement("genesis", subjects_of(genesis), genesis.as_json())


def answered_statement(
    *, time: str, previous: int | None, request: Envelope, facts: Facts, decision: Decision
) -> Statement:
    """The statement an answered request becomes."""
    asked = decode_request(request.payload)
    predicate: dict[str, Any] = {
        "law": LAW,
        "time": time,
        "request": request.as_json(),
        "facts": facts.as_json(),
        "decision": decision.as_json(),
    }
    if previous is not None:
        predicate["previous"] = previous
    return Statement(asked.verb, subjects_of(asked), predicate)


def result_statement(result: Result) -> Statement:
    """The statement a result signs."""
    return Statement("result", subjects_of(result), result.as_json())


def subjects_of(content: Genesis | Result | Request) -> tuple[Subject, ...]:
    """What an entry is about, by digest: of one that answers a request, what the request is about."""
    return tuple(Subject(name, digest) for name, digest in _digests(content))


_SUBJECTS: tuple[tuple[type[Any], tuple[tuple[str, str], ...]], ...] = (
    (Result, (("result", "result"),)),
    (Seal, (("ciphertext", "ciphertext"), ("protocol", "protocol"))),
    (Erratum, (("ciphertext", "ciphertext"), ("protocol", "protocol"))),
    (Commit, (("ciphertext", "blob"), ("protocol", "protocol"))),
    (Sample, (("frame", "frame"), ("protocol", "protocol"))),
    (Amend, (("protocol", "protocol"), ("replaces", "replaces"))),
    (Deviate, (("text", "text"),)),
    (Withdraw, (("reason", "reason"),)),
    (Rewrap, (("keyset", "wrapped_key"),)),
    (Erase, (("document", "digest"),)),
)
"""What each kind of content is about: the name of each subject, and the field that holds its digest."""


def _digests(content: Genesis | Result | Request) -> Iterator[tuple[str, str]]:
    if isinstance(content, Genesis):
        yield content.origin, content.ledger
    elif isinstance(content, KeyChange):
        yield "key", PublicKey(bytes.fromhex(content.public)).keyid
    elif isinstance(content, CommitPart):
        for number, file in enumerate(content.files, 1):
            yield f"{content.part}/{file.table}/{number}", file.sha256
        yield "protocol", content.protocol
    else:
        fields = next(
            (named for kind, named in _SUBJECTS if isinstance(content, kind)), (("protocol", "protocol"),)
        )
        yield from ((name, getattr(content, field)) for name, field in fields)


def parse_entry(index: int, data: bytes) -> Recorded:
    """Read an entry's bytes strictly; `FormatError` or `RecordInvalid` when they are not one."""
    envelope = Envelope.decode(data)
    statement = Statement.decode(envelope.payload)
    content = _content(statement)
    about = content.request if isinstance(content, Answered) else content
    if statement.subjects != subjects_of(about):
        raise RecordInvalid(what=_("entry"), why=_("its subjects are not those of its content"))
    return Recorded(index, statement.kind, envelope, leaf_hash(data), content)


def _content(statement: Statement) -> Genesis | Answered | Result:
    if statement.kind == "genesis":
        return Genesis.from_json(statement.predicate)
    if statement.kind == "result":
        return Result.from_json(statement.predicate)
    if statement.kind in _FACTS:
        return _answered(statement)
    raise RecordInvalid(what=_("entry"), why=_("this version of lacre knows no entries of its kind"))


def _answered(statement: Statement) -> Answered:
    predicate = statement.predicate
    known = {"law", "time", "previous", "request", "facts", "decision"}
    if not predicate.keys() <= known or predicate.get("law") != LAW:
        raise RecordInvalid(what=_("entry"), why=_("unknown fields, or another law"))
    head = _Head.from_json({k: v for k, v in predicate.items() if k in {"law", "time", "previous"}})
    envelope = Envelope.from_json(predicate.get("request"))
    if len(envelope.signatures) != 1:
        raise RecordInvalid(what=_("request"), why=_("not one request with one signature"))
    request = decode_request(envelope.payload)
    if request.verb != statement.kind:
        raise RecordInvalid(what=_("entry"), why=_("its kind is not that of its request"))
    facts, decision = _PART if isinstance(request, CommitPart) else _FACTS[statement.kind]
    return Answered(
        time=head.time,
        previous=head.previous,
        by=envelope.signatures[0].keyid,
        request=request,
        request_envelope=envelope,
        facts=facts.from_json(predicate.get("facts")),
        decision=decision.from_json(predicate.get("decision")),
    )


class _Head(Wire):
    law: Literal[1]
    time: Timestamp
    previous: int | None = None
