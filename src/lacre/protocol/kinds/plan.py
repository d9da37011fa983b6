"""What every analysis plan answers, whatever its kind."""

from abc import abstractmethod
from collections.abc import Collection
from typing import Annotated

from pydantic import AfterValidator, ConfigDict

from lacre.protocol.grammar import Identifier, Many, Model, not_empty
from lacre.protocol.pools import Pool
from lacre.protocol.problems import Findings, Path
from lacre.protocol.tables import Table


class AnalysisPlan(Model):
    """One registered analysis: of one pool, one table, and all systems unless some are named."""

    kind: str
    pool: Identifier
    table: Identifier
    systems: Annotated[Many[Identifier], AfterValidator(not_empty)] | None = None

    @abstractmethod
    def columns(self) -> frozenset[str]:
        """Return the columns of its table the analysis reads."""

    def labels(self) -> frozenset[str]:
        """Return the columns of its table that hold what is true of a case, and can turn out to be wrong."""
        return frozenset()

    @abstractmethod
    def thresholds(self) -> frozenset[str]:
        """Return the registered thresholds the analysis uses."""

    @abstractmethod
    def compares_groups(self) -> bool:
        """Tell whether every criterion compares groups, which is all that `contraste` answers (law 9)."""

    @abstractmethod
    def check(
        self, path: Path, table: Table, pool: Pool | None, systems: Collection[str], findings: Findings
    ) -> None:
        """Find what contradicts itself between the plan, its table and its pool.

        `path` is the plan's own; `pool` is None where it names none; `systems` are the declared ones.
        """


class UnbuiltPlan(Model):
    """A plan of a kind this version does not have; read only to check what every plan has, then refused."""

    model_config = ConfigDict(extra="allow")

    kind: str
    pool: Identifier
    table: Identifier | None = None
    systems: Annotated[Many[Identifier], AfterValidator(not_empty)] | None = None
