"""The kinds of analysis: what each one's plan says, by an explicit table."""

from collections.abc import Mapping
from types import MappingProxyType

from lacre.protocol.kinds.group_fairness import GroupFairnessPlan
from lacre.protocol.kinds.plan import AnalysisPlan

KINDS: Mapping[str, type[AnalysisPlan]] = MappingProxyType({"group_fairness": GroupFairnessPlan})
"""The kinds this version can compute."""

NOT_BUILT = (
    "recall",
    "protective_failure",
    "paired_variants",
    "verification",
    "self_agreement",
    "judge_agreement",
    "estimate",
)
"""The kinds the grammar knows and this version cannot compute yet; they are refused by name."""
