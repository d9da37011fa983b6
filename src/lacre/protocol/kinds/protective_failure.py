"""The plan of protective failure: the share of images with a person in which no face was found."""

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import AfterValidator

from lacre.protocol.grammar import Name, not_empty
from lacre.protocol.kinds.detection import DetectionChecking, DetectionPlan
from lacre.protocol.kinds.parts import Event, RateCriterion
from lacre.protocol.problems import Findings, Path
from lacre.protocol.tables import Table

if TYPE_CHECKING:
    from lacre.protocol.models import Protocol


class ProtectiveFailureCriterion(RateCriterion):
    """One rule on protective failure, or on a difference of it."""

    metric: Literal["protective_failure", "stratum_difference", "difference"]


class ProtectiveFailurePlan(DetectionPlan):
    """Images with a person and no face found, among images with a person."""

    rate: ClassVar[str] = "protective_failure"

    kind: Literal["protective_failure"]
    person: Name
    found: Event
    criteria: Annotated[list[ProtectiveFailureCriterion], AfterValidator(not_empty)]

    @property
    def event(self) -> Event:
        """Whether a face was found; the share is of those where none was."""
        return self.found

    @property
    def rules(self) -> list[RateCriterion]:
        """The criteria."""
        return list(self.criteria)

    def population(self) -> frozenset[str]:
        """Return the column that says whether an image holds a person."""
        return frozenset({self.person})

    def check(self, path: Path, table: Table, protocol: "Protocol", findings: Findings) -> None:
        """Find what contradicts itself between the plan, its table and the rest of the protocol."""
        checking = DetectionChecking(self, path, table, protocol, findings)
        checking.column(self.person, ("person",), "outcome", supplied=False)
        checking.run("found")
