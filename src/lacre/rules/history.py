"""What entries put on record, each as a frozen record: keys, plans, words, seals, reads, what results rest on."""

from dataclasses import dataclass

from lacre.protocol.models import Protocol
from lacre.rules.answers import (
    AmendDecision,
    CalibrateDecision,
    CalibrateFacts,
    CommitFacts,
    Engine,
    Gated,
    PartDecision,
    PartFacts,
    ReadDecision,
    RebalanceFacts,
    SampleFacts,
    SealDecision,
    SealFacts,
    WordsDecision,
)
from lacre.rules.requests import (
    Calibrate,
    Commit,
    CommitPart,
    ReadLike,
    Rebalance,
    Rewrap,
    Sample,
    Seal,
)


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
    """A protocol in force from an entry on; of an amendment, with what it changed and what was known.

    `reason` and `accepted` are salted digests: why it was amended, and why infeasible criteria were kept.
    """

    protocol_hash: str
    protocol: Protocol
    entry: int
    time: str
    statistics: str
    by: str = ""
    amended: AmendDecision | None = None
    reason: str | None = None
    accepted: str | None = None


@dataclass(frozen=True, slots=True)
class Words:
    """What somebody put on record about a study, or about its entry `about`: words by salted digest.

    Deviations are of this form, and so is a withdrawal, whose words are its reason.
    """

    entry: int
    time: str
    by: str
    text: str
    decision: WordsDecision
    about: int | None = None


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
    """A read on record; `result` is the entry of its result, once there is one.

    `gated` are the verdicts of other studies on cases of a `guarda` that was read. `computed` is the state the result
    would have but for how the read was classed, where it is another and its entry tells.
    """

    entry: int
    time: str
    by: str
    request: ReadLike
    decision: ReadDecision
    engine: Engine
    result: int | None = None
    state: str | None = None
    gated: tuple[Gated, ...] = ()
    computed: str | None = None

    @property
    def read_class(self) -> str:
        """How the law classed it."""
        return self.decision.read_class

    @property
    def first_attempt(self) -> int:
        """The entry of the read this one is, or finishes."""
        return self.entry if self.request.finishes is None else self.request.finishes


@dataclass(frozen=True, slots=True)
class Handed:
    """A pool handed to other recipients, by the entry of a rewrap."""

    entry: int
    time: str
    by: str
    request: Rewrap


@dataclass(frozen=True, slots=True)
class Calibrated:
    """Thresholds frozen by an entry, from what the read at its `request.read` found; `reason` as a salted digest."""

    entry: int
    time: str
    by: str
    request: Calibrate
    facts: CalibrateFacts
    decision: CalibrateDecision


@dataclass(frozen=True, slots=True)
class DrawMade:
    """A registered draw, as an entry made it."""

    entry: int
    time: str
    by: str
    request: Sample
    facts: SampleFacts


@dataclass(frozen=True, slots=True)
class Committed:
    """Second labels of a pool's cases, as an entry committed to them."""

    entry: int
    time: str
    by: str
    request: Commit
    facts: CommitFacts


@dataclass(frozen=True, slots=True)
class PartMade:
    """One part of an open pool, as an entry committed to it."""

    entry: int
    time: str
    by: str
    request: CommitPart
    facts: PartFacts
    decision: PartDecision


@dataclass(frozen=True, slots=True)
class Rebalanced:
    """A corpus that was let grow; `parts` are the entries of the parts that stood before."""

    entry: int
    time: str
    by: str
    request: Rebalance
    facts: RebalanceFacts
    parts: tuple[int, ...]
