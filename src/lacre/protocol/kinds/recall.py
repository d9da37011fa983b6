"""The plan of a detector's recall: the share of annotated things that were found, in every stratum."""

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import AfterValidator

from lacre.protocol.grammar import not_empty
from lacre.protocol.kinds.detection import DetectionChecking, DetectionPlan
from lacre.protocol.kinds.parts import Event, RateCriterion
from lacre.protocol.problems import Findings, Path
from lacre.protocol.tables import Table

if TYPE_CHECKING:
    from lacre.protocol.models import Protocol


class RecallCriterion(RateCriterion):
    """One rule on recall, or on a difference of it."""

    metric: Literal["recall", "stratum_difference", "difference"]


class RecallPlan(DetectionPlan):
    """Detected among annotated, by stratum."""

    rate: ClassVar[str] = "recall"

    kind: Literal["recall"]
    detected: Event
    criteria: Annotated[list[RecallCriterion], AfterValidator(not_empty)]

    @property
    def event(self) -> Event:
        """Whether a case was detected."""
        return self.detected

    @property
    def rules(self) -> list[RateCriterion]:
        """The criteria."""
        return list(self.criteria)

    def check(self, path: Path, table: Table, protocol: "Protocol", findings: Findings) -> None:
        """Find what contradicts itself between the plan, its table and the rest of the protocol."""
        DetectionChecking(self, path, table, protocol, findings).run("detected")
