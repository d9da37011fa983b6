"""Protective failure: images with a person in which no face was found, among images with a person.

Who is not found cannot be protected: not blurred, not counted, not asked. Definitions in
`lacre.analyses.detection`.
"""

from collections.abc import Sequence

from lacre.analyses import detection
from lacre.analyses.given import Given
from lacre.analyses.result import AnalysisResult
from lacre.protocol.kinds.protective_failure import ProtectiveFailurePlan


def analyse(
    plan: ProtectiveFailurePlan, given: Given, *, name: str, systems: Sequence[str]
) -> AnalysisResult:
    """Compute the analysis `name` of each of `systems`. Raises `UnitRepeated`."""
    return detection.analyse(plan, given, name=name, systems=systems, failure=True)
