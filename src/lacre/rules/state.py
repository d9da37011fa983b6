"""What the entries so far add up to, for one study: `fold` is repeated `step`, and `step` judges nothing."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from lacre.errors import RecordInvalid
from lacre.ledger.keys import PublicKey
from lacre.protocol.models import Protocol
from lacre.rules.record import Answered, Genesis, Recorded, Result
from lacre.rules.requests import (
    CONTENT_CLASSES,
    Engine,
    Read,
    ReadDecision,
    ReadFacts,
    Register,
    RegisterFacts,
    Seal,
    SealDecision,
    SealFacts,
)
from lacre.text import _

Protocols = Callable[[str], Protocol]
"""Give the protocol of a hash; raise `DocumentMissing` when the ledger lacks it."""


@dataclass(frozen=True, slots=True)
class Key:
    """An enrolled key: its public half, what it may do, and when."""

    keyid: str
    public: str
    roles: frozenset[str]
    enrolled: int
    name: str | None = None
    revoked: int | None = None

    def may(self, role: str, index: int) -> bool:
        """Whether the key holds `role` for the entry at `index`."""
        return (
            role in self.roles and self.enrolled <= index and (self.revoked is None or index < self.revoked)
        )


@dataclass(frozen=True, slots=True)
class Version:
    """A protocol in force from an entry on."""

    protocol_hash: str
    protocol: Protocol
    entry: int
    time: str
    statistics: str


@dataclass(frozen=True, slots=True)
class Sealed:
    """A pool as it was sealed."""

    entry: int
    time: str
    by: str
    request: Seal
    facts: SealFacts
    decision: SealDecision


@dataclass(frozen=True, slots=True)
class ReadMade:
    """A read on record; `result` is the entry of its result, once there is one."""

    entry: int
    time: str
    by: str
    request: Read
    decision: ReadDecision
    engine: Engine
    result: int | None = None
    state: str | None = None

    @property
    def read_class(self) -> str:
        """How the law classed it."""
        return self.decision.read_class

    @property
    def first_attempt(self) -> int:
        """The entry of the read this one is, or finishes."""
        return self.entry if self.request.finishes is None else self.request.finishes


@dataclass(frozen=True, slots=True)
class PoolState:
    """All that happened to a pool."""

    name: str
    sealed: Sealed
    reads: tuple[ReadMade, ...] = ()
    burned: int | None = None

    @property
    def standing(self) -> str:
        """What the pool counts as now: its role, or `dev` once sealed as such or burned."""
        return "dev" if self.burned is not None else self.sealed.decision.standing

    @property
    def unread(self) -> bool:
        """Whether its first read of class `teste` is still to be had."""
        return self.standing == "teste" and not self.of_class("teste", "dev")

    @property
    def was_read(self) -> bool:
        """Whether its content was ever read, so that its cases are exposed (rule 12)."""
        return bool(self.of_class(*CONTENT_CLASSES))

    @property
    def is_to_stay_unseen(self) -> bool:
        """Whether reading its cases elsewhere would spoil it (rule 12): it stands apart, and nobody has read it."""
        return self.standing != "dev" and not self.was_read

    def of_class(self, *classes: str) -> tuple[ReadMade, ...]:
        """The reads of the given classes; attempts to finish a read are that same read."""
        return tuple(r for r in self.reads if r.read_class in classes and r.request.finishes is None)

    def result_of(self, entry: int) -> int | None:
        """The entry of the result of the read at `entry`, whichever attempt gave it."""
        return next((r.result for r in self.reads if r.first_attempt == entry and r.result is not None), None)

    @property
    def unfinished(self) -> tuple[ReadMade, ...]:
        """The analysed reads that were spent and have no result, latest first."""
        return tuple(
            read
            for read in reversed(self.reads)
            if read.request.purpose != "inputs"
            and read.request.finishes is None
            and self.result_of(read.entry) is None
        )


@dataclass(frozen=True, slots=True)
class StudyState:
    """A study: its protocol versions and its pools."""

    slug: str
    versions: tuple[Version, ...]
    pools: Mapping[str, PoolState] = field(default_factory=dict)

    @property
    def registered(self) -> Version:
        """The first version: when the study was registered."""
        return self.versions[0]

    @property
    def in_force(self) -> Version:
        """The version in force."""
        return self.versions[-1]

    def read_at(self, entry: int) -> tuple[PoolState, ReadMade] | None:
        """The read recorded at `entry`, with its pool."""
        for pool in self.pools.values():
            for read in pool.reads:
                if read.entry == entry:
                    return pool, read
        return None


@dataclass(frozen=True, slots=True)
class State:
    """The ledger as one study sees it: its identity, its keys, and the study."""

    protocols: Protocols
    genesis: str = ""
    origin: str = ""
    recipient: str = ""
    keys: Mapping[str, Key] = field(default_factory=dict)
    study: StudyState | None = None
    next_index: int = 0
    last: int | None = None
    """The index of the study's latest entry."""


def fold(entries: Iterable[Recorded], protocols: Protocols) -> State:
    """Add up `entries` (the key entries and those of one study, in log order)."""
    state = State(protocols)
    for recorded in entries:
        state = step(state, recorded)
    return state


def step(state: State, recorded: Recorded) -> State:
    """The state after `recorded`; `RecordInvalid` where it cannot follow what stood before."""
    content = recorded.content
    if isinstance(content, Genesis):
        return _after_genesis(state, recorded, content)
    study = (
        _after_result(state, recorded, content)
        if isinstance(content, Result)
        else _after(state, recorded, content)
    )
    return replace(state, study=study, next_index=recorded.index + 1, last=recorded.index)


def _after_genesis(state: State, recorded: Recorded, content: Genesis) -> State:
    keys = {}
    for first in content.keys:
        public = PublicKey(bytes.fromhex(first.public))
        keys[public.keyid] = Key(
            public.keyid, first.public, frozenset(first.roles), recorded.index, first.name
        )
    return replace(
        state,
        genesis=recorded.leaf_hash.hex(),
        origin=content.origin,
        recipient=content.recipient,
        keys=keys,
        next_index=recorded.index + 1,
    )


def _after(state: State, recorded: Recorded, content: Answered) -> StudyState:
    request = content.request
    if isinstance(request, Register):
        assert isinstance(content.facts, RegisterFacts)
        protocol = state.protocols(request.protocol)
        statistics = content.facts.engine.statistics
        version = Version(request.protocol, protocol, recorded.index, content.time, statistics)
        if state.study is not None:
            raise _out_of_place(recorded, _("the study is registered already"))
        return StudyState(request.study, (version,))
    if state.study is None:
        raise _out_of_place(recorded, _("its study is not registered"))
    if isinstance(request, Seal):
        assert isinstance(content.facts, SealFacts)
        assert isinstance(content.decision, SealDecision)
        sealed = Sealed(recorded.index, content.time, content.by, request, content.facts, content.decision)
        return _with_pool(state.study, PoolState(request.pool, sealed))
    return _after_read(state.study, recorded, content, request)


def _after_read(study: StudyState, recorded: Recorded, content: Answered, request: Read) -> StudyState:
    pool = study.pools.get(request.pool)
    if pool is None:
        raise _out_of_place(recorded, _("its pool is not sealed"))
    decision = content.decision
    assert isinstance(decision, ReadDecision)
    assert isinstance(content.facts, ReadFacts)
    read = ReadMade(recorded.index, content.time, content.by, request, decision, content.facts.engine)
    burned = recorded.index if decision.burns and pool.burned is None else pool.burned
    return _with_pool(study, replace(pool, reads=(*pool.reads, read), burned=burned))


def _after_result(state: State, recorded: Recorded, content: Result) -> StudyState:
    found = state.study.read_at(content.read) if state.study is not None else None
    if found is None or state.study is None:
        raise _out_of_place(recorded, _("it names no read of its study"))
    pool, read = found
    if pool.result_of(read.first_attempt) is not None:
        raise _out_of_place(recorded, _("its read has a result already"))
    reads = tuple(
        replace(r, result=recorded.index, state=content.state) if r.entry == read.entry else r
        for r in pool.reads
    )
    return _with_pool(state.study, replace(pool, reads=reads))


def _with_pool(study: StudyState, pool: PoolState) -> StudyState:
    return replace(study, pools={**study.pools, pool.name: pool})


def _out_of_place(recorded: Recorded, why: str) -> RecordInvalid:
    return RecordInvalid(what=_("entry {index}").format(index=recorded.index), why=why)
