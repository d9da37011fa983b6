"""What a recovery could not bring back."""

from dataclasses import dataclass
from pathlib import Path


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
