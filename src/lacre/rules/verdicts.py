"""Verdicts: which is worse, and what a computed one may be called once its read is known (rules 15, 16)."""

from collections.abc import Iterable

from lacre.rules.answers import ReadDecision

SEVERITY = ("PASS", "INSUFFICIENT_EVIDENCE", "MANUAL_REVIEW", "FAIL")
"""The four states, from best to worst."""

EXPLORATORY = "exploratory"
"""The reason of a PASS that is no evidence, for the pool or the submission it was found on."""


def worst(states: Iterable[str]) -> str:
    """The worst of `states`; of none it is PASS, since nothing was asked."""
    return max(states, key=SEVERITY.index, default=SEVERITY[0])


def settle(computed: str, decision: ReadDecision) -> str:
    """The state a result carries: a review stands above all, and an exploratory PASS is no evidence."""
    if decision.review:
        return "MANUAL_REVIEW"
    if decision.exploratory and computed == "PASS":
        return "INSUFFICIENT_EVIDENCE"
    return computed


def settled_reason(computed: str, decision: ReadDecision) -> str | None:
    """The code of why `settle` called it otherwise than computed; None where it did not."""
    if settle(computed, decision) == computed:
        return None
    return decision.review[0] if decision.review else EXPLORATORY
