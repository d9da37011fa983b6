"""What the entries so far add up to, for one study: `fold` is repeated `step`, and `step` judges nothing."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from lacre.errors import DocumentMissing, RecordInvalid
from lacre.ledger.keys import PublicKey
from lacre.protocol.models import Protocol
from lacre.rules.answers import (
    AmendDecision,
    CalibrateDecision,
    CalibrateFacts,
    CommitFacts,
    ErratumFacts,
    KeyDecision,
    PartDecision,
    PartFacts,
    ReadDecision,
    ReadFacts,
    RebalanceFacts,
    RegisterFacts,
    SampleFacts,
    SealDecision,
    SealFacts,
    WordsDecision,
)
from lacre.rules.history import (
    Calibrated,
    Committed,
    DrawMade,
    Handed,
    Key,
    PartMade,
    ReadMade,
    Rebalanced,
    Sealed,
    Version,
    Words,
)
from lacre.rules.pool_state import ANALYSED, CorpusState, PoolState
from lacre.rules.record import Answered, Genesis, Recorded, Result
from lacre.rules.requests import (
    Amend,
    Calibrate,
    Commit,
    CommitPart,
    Deviate,
    Erase,
    KeyChange,
    ReadLike,
    Rebalance,
    Register,
    Rewrap,
    Sample,
    Seal,
    Withdraw,
)
from lacre.text import _

__all__ = (
    "ANALYSED",
    "CorpusState",
    "PoolState",
    "Protocols",
    "State",
    "StudyState",
    "fold",
    "fold_ledger",
    "step",
)

Protocols = Callable[[str], Protocol]
"""Give the protocol of a hash; raise `DocumentMissing` when the ledger lacks it."""


@dataclass(frozen=True, slots=True)
class StudyState:
    """A study: its protocol versions, its pools, the deviations put on record, and its withdrawal, if any."""

    slug: str
    versions: tuple[Version, ...]
    pools: Mapping[str, PoolState] = field(default_factory=dict)
    deviations: tuple[Words, ...] = ()
    withdrawn: Words | None = None
    calibrations: tuple[Calibrated, ...] = ()
    draws: tuple[DrawMade, ...] = ()
    corpus: CorpusState | None = None

    @property
    def holds(self) -> "tuple[PoolState | CorpusState, ...]":
        """Its pools, sealed and open."""
        return (*self.pools.values(), *((self.corpus,) if self.corpus is not None else ()))

    def holding(self, name: str) -> "PoolState | CorpusState | None":
        """The pool of a name, sealed or open; None of one that nothing was committed of."""
        return next((pool for pool in self.holds if pool.name == name), None)

    @property
    def registered(self) -> Version:
        """The first version: when the study was registered."""
        return self.versions[0]

    @property
    def in_force(self) -> Version:
        """The version in force."""
        return self.versions[-1]

    def version(self, protocol_hash: str) -> Version | None:
        """The version, in force now or before, of a protocol hash; the last, where it was in force twice."""
        return next((v for v in reversed(self.versions) if v.protocol_hash == protocol_hash), None)

    def result_read(self, entry: int) -> tuple[PoolState | CorpusState, ReadMade] | None:
        """The read that gave the result recorded at `entry`, with its pool."""
        return next(((pool, read) for pool, read in self._reads() if read.result == entry), None)

    def read_at(self, entry: int) -> tuple[PoolState | CorpusState, ReadMade] | None:
        """The read recorded at `entry`, with its pool."""
        return next(((pool, read) for pool, read in self._reads() if read.entry == entry), None)

    def _reads(self) -> Iterator[tuple[PoolState | CorpusState, ReadMade]]:
        return ((pool, read) for pool in self.holds for read in pool.reads)


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
    near: str | None = None
    """Where there is no such study, another of a name much like it, if whoever made the state looked for one."""


def fold(entries: Iterable[Recorded], protocols: Protocols, after: State | None = None) -> State:
    """Add up `entries` (the key entries and those of one study, in log order), from the beginning or `after` others."""
    state = after or State(protocols)
    for recorded in entries:
        state = step(state, recorded)
    return state


def fold_ledger(entries: Iterable[Recorded]) -> State:
    """Add up entries of no study: the ledger's identity and its keys."""

    def no_protocol(digest: str) -> Protocol:
        raise DocumentMissing(digest=digest)

    return fold(entries, no_protocol)


def step(state: State, recorded: Recorded) -> State:
    """The state after `recorded`; `RecordInvalid` where it cannot follow what stood before."""
    content = recorded.content
    if isinstance(content, Genesis):
        return _after_genesis(state, recorded, content)
    state = replace(state, next_index=recorded.index + 1)
    if isinstance(content, Answered) and isinstance(content.request, KeyChange | Erase):
        return _after_key(state, recorded, content)
    study = (
        _after_result(state, recorded, content)
        if isinstance(content, Result)
        else _after(state, recorded, content)
    )
    return replace(state, study=study, last=recorded.index)


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


def _after_key(state: State, recorded: Recorded, content: Answered) -> State:
    """An entry of the whole ledger: a key that may act from it on, one that no longer may, or neither."""
    request, decision = content.request, content.decision
    if not isinstance(request, KeyChange):
        return state
    assert isinstance(decision, KeyDecision)
    keys = dict(state.keys)
    if decision.enrols is not None:
        keys[decision.enrols] = Key(
            decision.enrols, request.public, frozenset(decision.roles), recorded.index, request.name
        )
    if decision.revokes is not None:
        if decision.revokes not in keys:
            raise _out_of_place(recorded, _("the key it revokes is not enrolled"))
        keys[decision.revokes] = replace(keys[decision.revokes], revoked=recorded.index)
    return replace(state, keys=keys)


def _after(state: State, recorded: Recorded, content: Answered) -> StudyState:
    request = content.request
    if isinstance(request, Register | Amend):
        return _after_plan(state, recorded, content, request)
    study = state.study
    if study is None:
        raise _out_of_place(recorded, _("its study is not registered"))
    match request:
        case Deviate() | Withdraw():
            return _after_words(study, recorded, content, request)
        case Seal():
            return _after_seal(study, recorded, content, request)
        case Calibrate():
            return _after_calibration(study, recorded, content, request)
        case Sample() | Commit() | CommitPart() | Rebalance():
            return _after_evidence(study, recorded, content, request)
        case Rewrap():
            pool = _pool(study, recorded, request.pool)
            handed = Handed(recorded.index, content.time, content.by, request)
            return _with_pool(study, replace(pool, handed=(*pool.handed, handed)))
    assert isinstance(request, ReadLike)
    return _after_read(study, recorded, content, request)


def _after_evidence(
    study: StudyState,
    recorded: Recorded,
    content: Answered,
    request: Sample | Commit | CommitPart | Rebalance,
) -> StudyState:
    if isinstance(request, Sample):
        assert isinstance(content.facts, SampleFacts)
        draw = DrawMade(recorded.index, content.time, content.by, request, content.facts)
        return replace(study, draws=(*study.draws, draw))
    if isinstance(request, CommitPart):
        return _after_part(study, recorded, content, request)
    if isinstance(request, Rebalance):
        return _after_rebalance(study, recorded, content, request)
    pool = _pool(study, recorded, request.pool)
    assert isinstance(content.facts, CommitFacts)
    committed = Committed(recorded.index, content.time, content.by, request, content.facts)
    return _with_pool(study, replace(pool, commits=(*pool.commits, committed)))


def _after_plan(state: State, recorded: Recorded, content: Answered, request: Register | Amend) -> StudyState:
    facts, decision = content.facts, content.decision
    assert isinstance(facts, RegisterFacts)
    version = Version(
        request.protocol,
        state.protocols(request.protocol),
        recorded.index,
        content.time,
        facts.engine.statistics,
        content.by,
        accepted=request.accept_infeasible,
    )
    if isinstance(request, Register):
        if state.study is not None:
            raise _out_of_place(recorded, _("the study is registered already"))
        return StudyState(request.study, (version,))
    if state.study is None:
        raise _out_of_place(recorded, _("its study is not registered"))
    assert isinstance(decision, AmendDecision)
    version = replace(version, amended=decision, reason=request.reason)
    pools = _burned(state.study, recorded, decision.burns)
    return replace(state.study, versions=(*state.study.versions, version), pools=pools)


def _burned(study: StudyState, recorded: Recorded, burns: tuple[str, ...]) -> dict[str, PoolState]:
    return {
        name: replace(pool, burned=recorded.index) if name in burns and pool.burned is None else pool
        for name, pool in study.pools.items()
    }


def _after_calibration(
    study: StudyState, recorded: Recorded, content: Answered, request: Calibrate
) -> StudyState:
    facts, decision = content.facts, content.decision
    assert isinstance(facts, CalibrateFacts)
    assert isinstance(decision, CalibrateDecision)
    made = Calibrated(recorded.index, content.time, content.by, request, facts, decision)
    pools = _burned(study, recorded, decision.burns)
    return replace(study, calibrations=(*study.calibrations, made), pools=pools)


def _after_words(
    study: StudyState, recorded: Recorded, content: Answered, request: Deviate | Withdraw
) -> StudyState:
    decision = content.decision
    assert isinstance(decision, WordsDecision)
    if isinstance(request, Withdraw):
        words = Words(recorded.index, content.time, content.by, request.reason, decision)
        return replace(study, withdrawn=words)
    words = Words(recorded.index, content.time, content.by, request.text, decision, request.about)
    return replace(study, deviations=(*study.deviations, words))


def _after_seal(study: StudyState, recorded: Recorded, content: Answered, request: Seal) -> StudyState:
    assert isinstance(content.facts, SealFacts)
    assert isinstance(content.decision, SealDecision)
    sealed = Sealed(recorded.index, content.time, content.by, request, content.facts, content.decision)
    before = study.pools.get(request.pool)
    if before is None:
        return _with_pool(study, PoolState(request.pool, sealed))
    replaced = (*before.replaced, before.sealed)
    return _with_pool(study, replace(before, sealed=sealed, replaced=replaced, handed=()))


def _after_part(study: StudyState, recorded: Recorded, content: Answered, request: CommitPart) -> StudyState:
    assert isinstance(content.facts, PartFacts)
    assert isinstance(content.decision, PartDecision)
    made = PartMade(recorded.index, content.time, content.by, request, content.facts, content.decision)
    before = study.corpus
    if before is None:
        if request.part != "cases":
            raise _out_of_place(recorded, _("the cases of its pool are not committed"))
        return replace(study, corpus=CorpusState(request.pool, (made,)))
    return replace(study, corpus=replace(before, parts=(*before.parts, made)))


def _after_rebalance(
    study: StudyState, recorded: Recorded, content: Answered, request: Rebalance
) -> StudyState:
    assert isinstance(content.facts, RebalanceFacts)
    corpus = study.corpus
    if corpus is None or corpus.name != request.pool:
        raise _out_of_place(recorded, _("the cases of its pool are not committed"))
    made = Rebalanced(recorded.index, content.time, content.by, request, content.facts, corpus.entries)
    return replace(study, corpus=replace(corpus, rebalances=(*corpus.rebalances, made)))


def _after_read(study: StudyState, recorded: Recorded, content: Answered, request: ReadLike) -> StudyState:
    decision = content.decision
    assert isinstance(decision, ReadDecision)
    assert isinstance(content.facts, ReadFacts | ErratumFacts)
    gated = content.facts.gated if isinstance(content.facts, ReadFacts) else None
    read = ReadMade(
        recorded.index,
        content.time,
        content.by,
        request,
        decision,
        content.facts.engine,
        gated=gated or (),
    )
    if study.corpus is not None and study.corpus.name == request.pool:
        return replace(study, corpus=replace(study.corpus, reads=(*study.corpus.reads, read)))
    pool = _pool(study, recorded, request.pool)
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
        replace(r, result=recorded.index, state=content.state, computed=content.computed)
        if r.entry == read.entry
        else r
        for r in pool.reads
    )
    if isinstance(pool, CorpusState):
        return replace(state.study, corpus=replace(pool, reads=reads))
    return _with_pool(state.study, replace(pool, reads=reads))


def _pool(study: StudyState, recorded: Recorded, name: str) -> PoolState:
    if name not in study.pools:
        raise _out_of_place(recorded, _("its pool is not sealed"))
    return study.pools[name]


def _with_pool(study: StudyState, pool: PoolState) -> StudyState:
    return replace(study, pools={**study.pools, pool.name: pool})


def _out_of_place(recorded: Recorded, why: str) -> RecordInvalid:
    return RecordInvalid(what=_("entry {index}").format(index=recorded.index), why=why)
