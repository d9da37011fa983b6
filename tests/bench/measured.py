"""What a stage measures: our figure and its peer's in the same run, as a ratio that is held against a bar."""

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Measured:
    """One line of the table. `ratio` is ours over the peer's; `at_least` says on which side of `bar` it should be.

    `bar` is None where a figure is only told. `ours` and `theirs` are in `unit`.
    """

    name: str
    unit: str
    ours: float
    peer: str = ""
    theirs: float | None = None
    ratio: float | None = None
    bar: float | None = None
    at_least: bool = True

    @property
    def met(self) -> bool:
        """Whether the ratio is on the right side of the bar."""
        if self.bar is None or self.ratio is None:
            return True
        return self.ratio >= self.bar if self.at_least else self.ratio <= self.bar

    def as_json(self) -> dict[str, Any]:
        """The line as JSON values."""
        return {**asdict(self), "met": self.met}

    def row(self) -> tuple[str, ...]:
        """The line as text: name, ours, theirs, ratio, bar, peer."""
        sign = "≥" if self.at_least else "≤"
        bar = "" if self.bar is None else f"{sign} {self.bar:g}{'' if self.met else ' MISSED'}"
        ours, theirs = (
            "" if each is None else f"{each:,.4g} {self.unit}" for each in (self.ours, self.theirs)
        )
        ratio = "" if self.ratio is None else f"{self.ratio:.3g}"
        return self.name, ours, theirs, ratio, bar, self.peer
