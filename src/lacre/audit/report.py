"""What an audit gives back, as plain data; `lacre.report` makes text and JSON of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from lacre.audit.findings import Finding, Warned
from lacre.audit.story import Story
from lacre.rules.history import Key
from lacre.rules.record import Recorded
from lacre.rules.state import StudyState


@dataclass(frozen=True, slots=True)
class Scope:
    """What was asked about: the whole ledger, one study, or one result. The whole is audited in any case."""

    study: str | None = None
    entry: int | None = None


@dataclass(frozen=True, slots=True)
class LedgerTold:
    """What the entries tell of the ledger itself; `recipient` is its own.

    `studies` are those that could be followed to their end; `redacted` counts entries that the copy leaves out.
    """

    origin: str
    genesis: str
    keys: Mapping[str, Key]
    recipient: str
    studies: Mapping[str, StudyState]
    redacted: int = 0


@dataclass(frozen=True, slots=True)
class ErasedTold:
    """A text that the entry `named` brought and the entry `entry` took out: what it was, and its digest."""

    what: str
    digest: str
    named: int
    entry: int


@dataclass(frozen=True, slots=True)
class AuditReport:
    """The outcome of an audit.

    `entries` is how many the log has, `root` (hexadecimal) that of all of them or, when one is missing, of
    those before it. `checkpoint` is the text of the note that stands with the ledger, whether or not it
    holds. `history` and `story` are of the `scope`; `names` are those that key holders gave, by key id;
    `ledger` is None where there is no genesis; `published` is whether it is of a copy for strangers; `erased`
    are texts that entries took out, of the whole ledger.
    """

    entries: int
    root: str
    checkpoint: str | None
    findings: tuple[Finding, ...]
    warnings: tuple[Warned, ...]
    history: tuple[Recorded, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    scope: Scope = Scope()
    story: Story | None = None
    ledger: LedgerTold | None = None
    published: bool = False
    erased: tuple[ErasedTold, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.findings
