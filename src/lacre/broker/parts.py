"""What outcomes are made of where it is more than one value."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lacre.protocol.models import Protocol
from lacre.rules.record import Recorded
from lacre.rules.remarks import Text


@dataclass(frozen=True, slots=True)
class Background:
    """What a whole report of a result tells besides: its plan, and the entries of its study.

    Of a long study `left_out` entries are not among them; `names` are of keys, by keyid, and checkpoints are
    verified with `verifier_key`.
    """

    protocol: Protocol
    entries: tuple[Recorded, ...]
    left_out: int
    names: Mapping[str, str]
    verifier_key: str


@dataclass(frozen=True, slots=True)
class Corrected:
    """The result that an erratum's stands beside."""

    entry: int
    name: str
    document: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ErratumShown:
    """A scoring of a result's submissions on corrected labels; without a result it failed, or crashed.

    `read` is its own entry, `document` its result's, `changed` counts the cells that were corrected, by column.
    """

    read: int
    time: str
    number: int
    reason: Text
    result: int | None
    document: Mapping[str, Any] | None

    @property
    def changed(self) -> Mapping[str, int]:
        """The cells that were corrected, by `table.column`."""
        told = (self.document or {}).get("erratum", {}).get("changed", {})
        return told if isinstance(told, dict) else {}


@dataclass(frozen=True, slots=True)
class Undecidable:
    """A criterion that so many cases without a prediction leave undecided: `count` of `rows`, `limit` their most."""

    analysis: str
    criterion: str
    system: str
    count: int
    rows: int
    limit: float


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
class Find:
    """Something of a sealed pool in one place.

    `what` is `case` (ids), `unit`, `digest`, `span` (runs of words of a free text), `content` (rows with a case's
    inputs), `file` (a sealed file itself) or `name` (ids in names of files or folders). `count` is of different ones;
    `lines` are the first of a text, none where it has no lines. `commit` is the oldest that has it, of a find in a
    history.
    """

    place: str
    study: str
    pool: str
    what: str
    count: int
    lines: tuple[int, ...] = ()
    commit: str | None = None
