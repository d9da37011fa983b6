"""The kinds of analysis: what each one's plan says, by an explicit table."""

from collections.abc import Mapping
from types import MappingProxyType

from lacre.protocol.kinds.estimate import EstimatePlan
from lacre.protocol.kinds.group_fairness import GroupFairnessPlan
from lacre.protocol.kinds.judge_agreement import JudgeAgreementPlan
from lacre.protocol.kinds.paired_variants import PairedVariantsPlan
from lacre.protocol.kinds.plan import AnalysisPlan
from lacre.protocol.kinds.protective_failure import ProtectiveFailurePlan
from lacre.protocol.kinds.recall import RecallPlan
from lacre.protocol.kinds.self_agreement import SelfAgreementPlan
from lacre.protocol.kinds.verification import VerificationPlan

KINDS: Mapping[str, type[AnalysisPlan]] = MappingProxyType(
    {
        "group_fairness": GroupFairnessPlan,
        "recall": RecallPlan,
        "protective_failure": ProtectiveFailurePlan,
        "paired_variants": PairedVariantsPlan,
        "verification": VerificationPlan,
        "self_agreement": SelfAgreementPlan,
        "estimate": EstimatePlan,
        "judge_agreement": JudgeAgreementPlan,
    }
)
"""The kinds of analysis, all of which can be computed."""
