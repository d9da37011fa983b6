"""Which systems an analysis is about."""

from lacre.protocol.kinds.plan import AnalysisPlan
from lacre.protocol.models import Protocol

UNNAMED = ""
"""The one system of a study that declares none."""


def systems_analysed(protocol: Protocol, plan: AnalysisPlan) -> tuple[str, ...]:
    """The systems that an analysis is about; one unnamed if none is declared."""
    return tuple(plan.systems or tuple(protocol.systems) or (UNNAMED,))
