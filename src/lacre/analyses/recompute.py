"""A result computed again from itself: all that follows from its own counts and the protocol, without any data.

Values and exact bounds follow from the counts, and every verdict from the bounds. What does not follow, and is
only counted: what disclosure control withheld; bounds over clusters and by resampling, which need the cases; the
calibration error. The functions are those of the engine; floats are compared to `TOLERANCE`, since the last digits
of a quantile differ between versions of SciPy.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from pydantic import ValidationError

from lacre.analyses.recomputing.base import Again
from lacre.analyses.recomputing.gates import check_gate
from lacre.analyses.recomputing.groups import GroupsAgain
from lacre.analyses.recomputing.judges import JudgesAgain
from lacre.analyses.recomputing.labels import LabelsAgain
from lacre.analyses.recomputing.ladders import LaddersAgain
from lacre.analyses.recomputing.pairs import PairsAgain
from lacre.analyses.recomputing.samples import SamplesAgain
from lacre.analyses.recomputing.shares import SharesAgain
from lacre.analyses.recomputing.tally import TOLERANCE, Difference, Recomputed, Tally
from lacre.analyses.recomputing.thresholds import check_thresholds
from lacre.analyses.told import AnalysisTold
from lacre.protocol.models import Protocol

__all__ = ("TOLERANCE", "Difference", "Recomputed", "recompute")

KINDS: Mapping[str, type[Again[Any]]] = MappingProxyType(
    {
        "group_fairness": GroupsAgain,
        "recall": SharesAgain,
        "protective_failure": SharesAgain,
        "paired_variants": PairsAgain,
        "self_agreement": LabelsAgain,
        "estimate": SamplesAgain,
        "verification": LaddersAgain,
        "judge_agreement": JudgesAgain,
    }
)


def recompute(document: Mapping[str, Any], protocol: Protocol) -> Recomputed:
    """Compute the stored result `document` again, as far as that can be done; never fails on what it holds."""
    tally = Tally()
    review = document.get("review")
    codes = [each for each in review if isinstance(each, str)] if isinstance(review, list) else []
    analyses = document.get("analyses")
    gate = document.get("standing") == "guarda"
    for analysis in analyses if isinstance(analyses, list) else []:
        name = str(analysis.get("id")) if isinstance(analysis, dict) else ""
        plan = protocol.analyses.get(name)
        if plan is None:
            tally.differs(name or "analyses", "-", ", ".join(protocol.analyses))
        elif gate:
            check_gate(name, plan, protocol, analysis, codes, tally)
        elif plan.kind not in KINDS:
            tally.beyond += _many(analysis, "estimates") + _many(analysis, "criteria")
        else:
            try:
                told = AnalysisTold.model_validate(analysis)
            except ValidationError as error:
                first = error.errors(include_url=False, include_input=False)[0]
                where = ".".join(str(part) for part in first["loc"])
                tally.differs(f"{name}.{where}", first["type"], "-")
                continue
            again = KINDS[plan.kind](name, plan, protocol, told, codes, tally)
            again.beside(document)
            with np.errstate(all="ignore"):
                again.go()
    check_thresholds(document, protocol, tally)
    return tally.total()


def _many(analysis: Mapping[str, Any], name: str) -> int:
    items = analysis.get(name)
    return len(items) if isinstance(items, list) else 0
