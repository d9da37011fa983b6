"""What `scan` found, as plain records."""

from dataclasses import dataclass

from lacre.broker.parts import Find


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
