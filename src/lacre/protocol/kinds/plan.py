"""What every analysis plan answers, whatever its kind."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import AfterValidator

from lacre.protocol.grammar import Identifier, Many, Model, not_empty
from lacre.protocol.problems import Findings, Path
from lacre.protocol.tables import Table

if TYPE_CHECKING:
    from lacre.protocol.kinds.parts import Basis
    from lacre.protocol.models import Protocol


class AnalysisPlan(Model):
    """One registered analysis: of one pool, one main table, and all systems unless some are named."""

    table_key: ClassVar[str] = "table"
    """The key under which the plan names its main table."""

    kind: str
    pool: Identifier
    systems: Annotated[Many[Identifier], AfterValidator(not_empty)] | None = None

    if TYPE_CHECKING:

        @property
        def table(self) -> str:
            """The table whose rows are its cases."""

    @abstractmethod
    def columns(self) -> frozenset[str]:
        """Return the columns of its main table that the analysis reads."""

    def reads(self) -> Mapping[str, frozenset[str]]:
        """Return all it reads: columns by table, the main one first."""
        return {self.table: self.columns()}

    def labels(self) -> frozenset[str]:
        """Return the columns of its table that hold what is true of a case, and can turn out to be wrong."""
        return frozenset()

    def sorted_by(self) -> str | None:
        """Return the column that tells its cases apart in two sorts, each of which rates are of; None of one sort."""
        return None

    def thresholds(self) -> frozenset[str]:
        """Return the registered thresholds the analysis uses."""
        return frozenset()

    def basis(self, threshold: str) -> "Basis | None":  # noqa: ARG002 - a kind without thresholds has none
        """Return how the score of a registered threshold is read; None if this plan does not use it."""
        return None

    def cohorts(self) -> Mapping[str, frozenset[str]]:
        """Return the tables of frozen cohorts, which several pools share, and the columns that name a pool's own."""
        return {}

    def training(self) -> tuple[str, ...]:
        """Return the ids of the mitigations by training, in order, which open after all others."""
        return ()

    def relabels(self) -> tuple[str, ...]:
        """Return the names of the second labels the analysis is on."""
        return ()

    def weighed(self) -> bool:
        """Tell whether cases are weighed by their chances of being in the sample."""
        return False

    def drawn(self) -> str | None:
        """Return the registered draw that these chances come from, if one is."""
        return None

    @abstractmethod
    def compares_groups(self) -> bool:
        """Tell whether every criterion compares groups, which is all that `contraste` answers (law 9)."""

    @abstractmethod
    def check(self, path: Path, table: Table, protocol: "Protocol", findings: Findings) -> None:
        """Find what contradicts itself between the plan at `path`, its table and the rest of the protocol."""


class TablePlan(AnalysisPlan):
    """A plan that names its table."""

    table: Identifier
