"""What `scan` found, as plain records."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Find:
    """Something of a sealed pool in one place.

    `what` is `case` (ids), `unit`, `digest`, `span` (runs of words of a free text), `content` (rows with a case's
    inputs), `file` (a sealed file itself) or `name` (ids in names of files). `count` is of different ones; `lines`
    are the first of a text, none where it has no lines. `commit` is the oldest that has it, of a find in a history.
    """

    place: str
    study: str
    pool: str
    what: str
    count: int
    lines: tuple[int, ...] = ()
    commit: str | None = None


@dataclass(frozen=True, slots=True)
class Scanned:
    """What was looked for, what was looked through, and what was found."""

    paths: tuple[str, ...]
    pools: tuple[tuple[str, str], ...]
    finds: tuple[Find, ...]
    files: int
    bytes: int
    versions: int
    commits: int
    skipped: tuple[tuple[str, int], ...]
    warnings: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether nothing was found."""
        return not self.finds
