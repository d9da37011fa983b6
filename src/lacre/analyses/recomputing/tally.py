"""What a recomputation adds up to: numbers that came out the same, that could not be computed, and differences."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

TOLERANCE = 1e-9  # relative; the quantiles keep eight digits at the very least, and are far better as a rule
SIZED = 1e-6
"""Relative, for an effective sample size that is found by halving from one end of its interval."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A place of a result where it says something else than its own counts and the protocol do."""

    what: str
    stated: str
    expected: str


@dataclass(frozen=True, slots=True)
class Recomputed:
    """What could be computed again: `estimates` and `criteria` in number, and how many of each could not.

    `bounds` counts the estimates whose interval was, too; `withheld` those that disclosure control keeps
    back, `beyond` what needs the data.
    """

    estimates: int = 0
    bounds: int = 0
    criteria: int = 0
    withheld: int = 0
    beyond: int = 0
    differences: tuple[Difference, ...] = ()


@dataclass
class Tally:
    """The same, while it is counted."""

    estimates: int = 0
    bounds: int = 0
    criteria: int = 0
    withheld: int = 0
    beyond: int = 0
    differences: list[Difference] = field(default_factory=list)

    def differs(self, what: str, stated: object, expected: object) -> None:
        """Take note of a difference."""
        self.differences.append(Difference(what, _shown(stated), _shown(expected)))

    def holds(self, what: str, stated: object, expected: object) -> bool:
        """Take note of a difference; floats that are as good as equal are none."""
        same = close(stated, expected) if isinstance(expected, float) else stated == expected
        if not same:
            self.differs(what, stated, expected)
        return same

    def fits(self, what: str, stated: object, expected: str, *, fits: bool) -> bool:
        """Take note of a number that does not fit in with others, which `expected` says in short."""
        if not fits:
            self.differs(what, stated, expected)
        return fits

    def same_fields(self, what: str, stated: Mapping[str, object], expected: Mapping[str, object]) -> bool:
        """Take note of a field that is another, or is there on one side alone."""
        same = True
        for name in dict.fromkeys((*expected, *stated)):
            same &= self.holds(f"{what}.{name}", stated.get(name), expected.get(name))
        return same

    def total(self) -> Recomputed:
        """Return what it comes to."""
        return Recomputed(
            self.estimates, self.bounds, self.criteria, self.withheld, self.beyond, tuple(self.differences)
        )


def close(stated: object, expected: float, tolerance: float = TOLERANCE) -> bool:
    """Tell whether a number is as good as another; nan is told as nothing."""
    if isinstance(stated, bool) or not isinstance(stated, float | int):
        return math.isnan(expected) and stated is None
    return math.isclose(stated, expected, rel_tol=tolerance, abs_tol=1e-12)


def _shown(value: object) -> str:
    return "-" if value is None else str(value)
