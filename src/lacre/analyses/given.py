"""What an analysis is given beside its plan: the tables of a read, frozen thresholds, draws, relabels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType
from typing import Any, Self

from lacre.protocol.grammar import as_float
from lacre.protocol.models import Protocol
from lacre.protocol.thresholds import FixedThreshold
from lacre.tables.columns import TypedTable


@dataclass(frozen=True, slots=True)
class Frozen:
    """A calibrated threshold of one system: its value, in the score's unit, and the entry that froze it."""

    value: float
    entry: int


@dataclass(frozen=True, slots=True)
class Drawn:
    """A registered draw as it was made: units in the frame and drawn, by stratum, and the entry that records it.

    `absent` drawn units are not among the pool's cases: nonresponse, which an analysis counts as left out.
    """

    population: Mapping[str, int]
    sizes: Mapping[str, int]
    entry: int
    absent: int = 0


def _nothing() -> Mapping[Any, Any]:
    return MappingProxyType({})


@dataclass(frozen=True, eq=False)
class Given:
    """The evidence of one read.

    `tables` are the pool's, with the columns of one system's submission joined, by system and name; systems of
    which nothing was submitted have the pool's own. `thresholds` are calibrated ones, by name and system.
    `draws` are by table, and so are `relabelled`, the second labels. An analysis spends `share` of its error
    rate: in `guarda` one of several reads'. `rung` names the mitigation that is asked for, where it is one of
    training. `review` holds codes of reasons, known from outside the tables, to review every analysis.
    """

    protocol: Protocol
    tables: Mapping[tuple[str, str], TypedTable]
    thresholds: Mapping[tuple[str, str], Frozen] = field(default_factory=_nothing)
    draws: Mapping[str, Drawn] = field(default_factory=_nothing)
    relabelled: Mapping[str, TypedTable] = field(default_factory=_nothing)
    share: Fraction = Fraction(1)
    rung: str | None = None
    review: tuple[str, ...] = ()

    @classmethod
    def of_one(
        cls, protocol: Protocol, name: str, table: TypedTable, system: str = "", review: Sequence[str] = ()
    ) -> Self:
        """Return the evidence of one table with one system's submission joined."""
        return cls(protocol, {(system, name): table}, review=tuple(review))

    def table(self, system: str, name: str) -> TypedTable:
        """Return a table as one system sees it."""
        return self.tables[system, name]

    def threshold(self, name: str, system: str) -> float:
        """Return the value of a registered threshold; calibrated ones were frozen before (the law sees to it)."""
        registered = self.protocol.thresholds[name]
        if isinstance(registered, FixedThreshold):
            return as_float(registered.fixed)
        return self.thresholds[name, system].value
