"""Recall: detected among annotated, in all and by stratum. Definitions in `lacre.analyses.detection`."""

from collections.abc import Sequence

from lacre.analyses import detection
from lacre.analyses.given import Given
from lacre.analyses.result import AnalysisResult
from lacre.protocol.kinds.recall import RecallPlan


def analyse(plan: RecallPlan, given: Given, *, name: str, systems: Sequence[str]) -> AnalysisResult:
    """Compute the analysis `name` of each of `systems`. Raises `UnitRepeated`."""
    return detection.analyse(plan, given, name=name, systems=systems, failure=False)
