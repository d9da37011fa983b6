"""What each verb gives back: plain frozen records; `lacre.report` turns them into text and JSON."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from lacre.broker.parts import Background, Corrected, ErratumShown, LostBlob, LostDocument, Undecidable
from lacre.protocol.difference import Change
from lacre.rules.answers import (
    DrawHeld,
    Gated,
    Infeasible,
    Known,
    Overlap,
    ReadDecision,
    Shortfall,
    SubmissionFacts,
)
from lacre.rules.deviations import Departure
from lacre.rules.drawing import DrawTold
from lacre.rules.history import Key
from lacre.rules.named import Named
from lacre.rules.record import Recorded
from lacre.rules.remarks import Remark, Text
from lacre.rules.state import StudyState

if TYPE_CHECKING:
    # SciPy comes with it, and most verbs do without.
    from lacre.analyses.feasibility import Need
    from lacre.protocol.models import Protocol


@dataclass(frozen=True, slots=True)
class LedgerMade:
    """A new ledger: where it is and how strangers recognise it; `name` is the person's that was put on record."""

    folder: Path
    origin: str
    genesis: str
    verifier_key: str
    passphrase: bool
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Checked:
    """A valid protocol, its hash, and what its criteria ask of the data.

    `needs` says of each criterion whether it can pass, and fail, at all, from how few cases a group on, how
    often it would, and the size that this takes. `rows` and `outside` are of the files that were read with it,
    by table and by `table.column`; `submitted` counts the rows of those that were read as submissions.
    """

    name: str
    protocol: "Protocol"
    protocol_hash: str
    needs: "tuple[Need, ...]"
    rows: Mapping[str, int] = field(default_factory=dict)
    outside: Mapping[str, int] = field(default_factory=dict)
    submitted: Mapping[str, int] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


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
class AmendmentPlanned:
    """What an amendment changes, what had been read, and what it makes of the pools (`--dry-run`).

    `burns` are pools that it makes `dev`. Of sealed pools whose files the new plan reads otherwise, `reseal` can
    be sealed again, and `closed` were read and cannot; the hashes are of the plan in force and of the new one.
    """

    study: str
    version: int
    replaces: str
    protocol_hash: str
    changes: tuple[Change, ...]
    known: tuple[Known, ...]
    burns: tuple[str, ...]
    reseal: tuple[str, ...]
    closed: tuple[str, ...]
    infeasible: tuple[Infeasible, ...]


@dataclass(frozen=True, slots=True)
class Amended(AmendmentPlanned):
    """A plan put in the place of another; `receipt` is a C2SP tlog-proof, as of a registration."""

    entry: int
    time: str
    receipt: bytes
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Deviated:
    """Words put on record about a study, or about its entry `about`; `known` is what had been read then."""

    study: str
    entry: int
    time: str
    about: int | None
    words: str
    known: tuple[Known, ...]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """A study withdrawn; `unread` are its sealed pools that nobody read."""

    study: str
    entry: int
    time: str
    reason: str
    known: tuple[Known, ...]
    unread: tuple[str, ...]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Deviations:
    """All in which a study departed from its plan, in log order, with the texts by digest."""

    study: str
    rows: tuple[Departure, ...]
    texts: Mapping[str, Text]
    names: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class PoolSealed:
    """A pool sealed: its rows by table, what it counts as, and what was noticed.

    `undeclared` lists columns that are not used; `outside` counts, by `table.column`, cells whose value is
    not a declared one. Neither is in the log. `opens_here` says whether this ledger's own identity can open the
    pool, and it was opened again to see. `replaces` is the entry of the seal whose place this one takes, and
    `handed_out` are the entries by which inputs of that one had been handed out. `draws` tell how its cases keep to
    the registered draws.
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
    opens_here: bool = True
    replaces: int | None = None
    handed_out: tuple[int, ...] = ()
    draws: tuple[DrawHeld, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PoolRewrapped:
    """A pool handed to other recipients: who could open it `before`, and who can now.

    `keys` counts the files that were wrapped anew, `custody` grades all hands since the seal, and `opens_here` says
    whether this ledger's own identity is among the new ones.
    """

    study: str
    pool: str
    entry: int
    time: str
    before: tuple[str, ...]
    recipients: tuple[str, ...]
    keys: int
    custody: str
    opens_here: bool
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class InputsWritten:
    """Ids and input columns handed out, and the entry that records it.

    `custody` is the pool's grade; `formulas` counts the cells, names of columns included, that a spreadsheet would
    take for formulas.
    """

    study: str
    pool: str
    entry: int
    table: str
    path: Path
    rows: int
    columns: tuple[str, ...]
    custody: str
    formulas: int = 0
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReadPlanned:
    """What a read would be, with all that can be checked without it (`--dry-run`).

    `custody` is the pool's grade, and `exposes` are cases of other studies' sealed pools that it would expose;
    `unchecked` names what could not be checked, for want of keys or files: `ids`, `overlaps`. `undecidable` are
    criteria that cannot come to more than INSUFFICIENT_EVIDENCE, so many cases have no prediction. Of a request
    that somebody else signed, `by` is the id of their key, with the name given with it, and `reason` what they say.
    Of `guarda`, `reads_left` are those that its budget allows, this one among them, `gated` verdicts that other
    studies had on its cases, and `answered` is the result that the same submission had before.
    """

    study: str
    pool: str
    decision: ReadDecision
    custody: str
    submissions: tuple[SubmissionFacts, ...]
    ignored: Mapping[str, tuple[str, ...]]
    outside: Mapping[str, int] = field(default_factory=dict)
    finishes: int | None = None
    exposes: tuple[Overlap, ...] = ()
    unchecked: tuple[str, ...] = ()
    by: str | None = None
    name: str | None = None
    reason: str | None = None
    undecidable: tuple[Undecidable, ...] = ()
    reads_left: int | None = None
    gated: tuple[Gated, ...] = ()
    answered: str | None = None


@dataclass(frozen=True, slots=True)
class RequestWritten:
    """A signed request for a read in the file at `path`, to be answered by one of `recipients`.

    `decision` is what the read would be, `custody` the pool's grade; `unchecked` names what could not be checked
    here: `ids`, `overlaps`.
    """

    study: str
    pool: str
    path: Path
    decision: ReadDecision
    custody: str
    recipients: tuple[str, ...]
    submissions: tuple[SubmissionFacts, ...]
    ignored: Mapping[str, tuple[str, ...]]
    outside: Mapping[str, int]
    finishes: int | None
    unchecked: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ResultShown:
    """A result: the stored document and what is added when it is shown.

    `document` holds what can be recomputed (the JSON of a result without `result`, `now`, `custody`, `anchors`);
    `finished` names the crashed read that this call finished, if one. The read was by `version` of the plan,
    which was `amended` since by these entries. `corrects` is the result that this one, an erratum's, stands
    beside; `errata` are those of this one. `reads_left` counts what the budget of `guarda` still allows, and `gated`
    are the verdicts that other studies had on its cases before.
    `draws` tell how the pool's cases were drawn by plan. `background` is for whole reports, and None where only a
    bundle is at hand.
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
    version: int = 1
    amended: tuple[int, ...] = ()
    deviations: tuple[Remark, ...] = ()
    withdrawn: Remark | None = None
    corrects: Corrected | None = None
    errata: tuple[ErratumShown, ...] = ()
    reads_left: int | None = None
    gated: tuple[Gated, ...] = ()
    draws: tuple[DrawTold, ...] = ()
    warnings: tuple[str, ...] = ()
    background: Background | None = None

    @property
    def state(self) -> str:
        """PASS, FAIL, INSUFFICIENT_EVIDENCE or MANUAL_REVIEW."""
        return str(self.document["state"])


@dataclass(frozen=True, slots=True)
class LedgerStatus:
    """Where things stand: the ledger and every study in it.

    Checkpoints are verified with `verifier_key`; while another log key is leaving, with all of `verifier_keys`.
    `erased` tells by which entry a key's name was erased, by keyid; `custody` grades pools, by study and name,
    and `recipient` is the ledger's own. `departures` are the rows of each study's table of deviations.
    """

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
    verifier_keys: tuple[str, ...] = ()
    erased: Mapping[str, int] = field(default_factory=dict)
    custody: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    recipient: str = ""
    departures: Mapping[str, tuple[Departure, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class KeyMade:
    """A person's key pair, in a file; `public` (64 hexadecimal digits) is for an owner to enrol."""

    path: Path
    keyid: str
    public: str
    passphrase: bool
    name: str | None = None


@dataclass(frozen=True, slots=True)
class IdentityMade:
    """An age identity, in a file; `recipient` is for those who seal to it."""

    path: Path
    recipient: str
    passphrase: bool


@dataclass(frozen=True, slots=True)
class KeyChanged:
    """A change of who may act: the key it enrols or revokes as it stands since, and what it takes the place of.

    `file` holds the private half of one that was made for it; `verifier_keys` verify the next checkpoint.
    """

    action: Literal["enrol", "revoke", "rotate"]
    entry: int
    time: str
    key: Key
    name: str | None
    replaces: str | None
    file: Path | None
    verifier_keys: tuple[str, ...]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class KeysShown:
    """Every key that was ever enrolled; of names that are gone, `erased` tells by which entry, by keyid."""

    keys: tuple[Key, ...]
    names: Mapping[str, str]
    erased: Mapping[str, int]
    verifier_keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class KeysBackedUp:
    """The key files that a backup holds, and whether it is closed with a passphrase.

    `closed` are those of the files that have a passphrase of their own.
    """

    path: Path
    files: tuple[str, ...]
    passphrase: bool
    closed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class KeysRecovered:
    """Key files put back, those that were there, and those of keys that no entry enrols, which were left out."""

    folder: Path
    restored: tuple[str, ...]
    same: tuple[str, ...]
    left_out: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Erased:
    """A text taken out of the ledger by `entry`: what it was, its digest, and the entry that named it.

    `present` is whether it was still there to be taken out; `same` are other texts that say just what it did.
    """

    what: str
    digest: str
    named: int
    entry: int
    time: str
    present: bool
    warnings: tuple[str, ...] = ()
    same: tuple[Named, ...] = ()


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
    """Entries in log order, with the names of the keys that signed them (by keyid).

    `custody` grades the sealed pools of the studies whose entries they are, by study and pool.
    """

    entries: tuple[Recorded, ...]
    names: Mapping[str, str]
    custody: Mapping[str, Mapping[str, str]]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StudyShown:
    """One study, whole: its protocol, pools, reads and entries; `recipient` is the ledger's own."""

    study: StudyState
    entries: tuple[Recorded, ...]
    names: Mapping[str, str]
    custody: Mapping[str, str]
    texts: Mapping[str, Text] = field(default_factory=dict)
    recipient: str = ""
    departures: tuple[Departure, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EntryShown:
    """One entry that is no result, with its documents (by digest; None where the ledger lacks one).

    `texts` are those among them that people wrote.
    """

    recorded: Recorded
    names: Mapping[str, str]
    documents: Mapping[str, bytes | None]
    texts: Mapping[str, Text] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
