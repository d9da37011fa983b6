"""What each verb gives back: plain frozen records; `lacre.report` turns them into text and JSON."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lacre.rules.record import Recorded
from lacre.rules.requests import Infeasible, Overlap, ReadDecision, Shortfall, SubmissionFacts
from lacre.rules.state import Key, StudyState

if TYPE_CHECKING:
    # SciPy comes with it, and most verbs do without.
    from lacre.analyses.feasibility import Need
    from lacre.protocol.models import Protocol


@dataclass(frozen=True, slots=True)
class LedgerMade:
    """A new ledger: where it is and how strangers recognise it."""

    folder: Path
    origin: str
    genesis: str
    verifier_key: str
    passphrase: bool


@dataclass(frozen=True, slots=True)
class Checked:
    """A valid protocol, its hash, and what its criteria ask of the data.

    `needs` says of each criterion whether it can pass, and fail, at all, from how few cases a group on, how
    often it would, and the size that this takes. `rows` and `outside` are of the files that were read with it,
    by table and by `table.column`.
    """

    name: str
    protocol: "Protocol"
    protocol_hash: str
    needs: "tuple[Need, ...]"
    rows: Mapping[str, int] = field(default_factory=dict)
    outside: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Registered:
    """A study put in the ledger; `receipt` is a C2SP tlog-proof that anyone can keep and check.

    `infeasible` are criteria that no outcome passes, or none fails, and that were kept for a reason given.
    """

    study: str
    entry: int
    time: str
    protocol_hash: str
    receipt: bytes
    infeasible: tuple[Infeasible, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PoolSealed:
    """A pool sealed: its rows by table, what it counts as, and what was noticed.

    `undeclared` lists columns that are not used; `outside` counts, by `table.column`, cells whose value is
    not a declared one. Neither is in the log.
    """

    study: str
    pool: str
    entry: int
    time: str
    standing: str
    rows: Mapping[str, int]
    undeclared: Mapping[str, tuple[str, ...]]
    outside: Mapping[str, int]
    shortfall: tuple[Shortfall, ...]
    overlaps: tuple[Overlap, ...]
    remembered: int
    recipients: tuple[str, ...]
    custody: str
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class InputsWritten:
    """Ids and input columns handed out, and the entry that records it."""

    study: str
    pool: str
    entry: int
    table: str
    path: Path
    rows: int
    columns: tuple[str, ...]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReadPlanned:
    """What a read would be, with all that can be checked without it (`--dry-run`)."""

    study: str
    pool: str
    decision: ReadDecision
    submissions: tuple[SubmissionFacts, ...]
    ignored: Mapping[str, tuple[str, ...]]
    outside: Mapping[str, int] = field(default_factory=dict)
    finishes: int | None = None


@dataclass(frozen=True, slots=True)
class ResultShown:
    """A result: the stored document and what is added when it is shown.

    `document` holds what can be recomputed (the JSON of a result without `result`, `now`, `custody`, `anchors`);
    `finished` names the crashed read that this call finished, if one.
    """

    name: str
    entry: int
    study: str
    document: Mapping[str, Any]
    now: str
    custody: str
    language: str
    shortfall: tuple[Shortfall, ...] = ()
    ignored: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    finished: int | None = None
    warnings: tuple[str, ...] = ()

    @property
    def state(self) -> str:
        """PASS, FAIL, INSUFFICIENT_EVIDENCE or MANUAL_REVIEW."""
        return str(self.document["state"])


@dataclass(frozen=True, slots=True)
class LedgerStatus:
    """Where things stand: the ledger and every study in it."""

    folder: Path
    origin: str
    genesis: str
    verifier_key: str
    size: int
    root: str
    keys: tuple[Key, ...]
    names: Mapping[str, str]
    studies: tuple[StudyState, ...]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LostDocument:
    """A document that an entry names, and that neither the ledger nor this machine's memory has."""

    what: str
    digest: str
    entry: int


@dataclass(frozen=True, slots=True)
class LostBlob:
    """A sealed file that an entry names and that is not at `path`."""

    study: str
    pool: str
    entry: int
    kind: str
    path: Path


@dataclass(frozen=True, slots=True)
class Recovered:
    """What came back of a ledger that was behind this machine's memory: all of it, or what would (`dry_run`).

    `before` and `size` count entries; `documents` counts those put back, `erased` those taken out again.
    """

    folder: Path
    dry_run: bool
    before: int
    size: int
    root: str
    entries: tuple[Recorded, ...]
    documents: int
    erased: int
    lost_documents: tuple[LostDocument, ...]
    lost_blobs: tuple[LostBlob, ...]
    names: Mapping[str, str]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Log:
    """Entries in log order, with the names of the keys that signed them (by keyid)."""

    entries: tuple[Recorded, ...]
    names: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class StudyShown:
    """One study, whole: its protocol, pools, reads and entries."""

    study: StudyState
    entries: tuple[Recorded, ...]
    names: Mapping[str, str]
    custody: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class EntryShown:
    """One entry that is no result, with its documents (by digest; None where the ledger lacks one)."""

    recorded: Recorded
    names: Mapping[str, str]
    documents: Mapping[str, bytes | None]
