"""What a computed verdict may be called once its read is known: rules 15 and 16."""

from lacre.rules.requests import ReadDecision


def settle(computed: str, decision: ReadDecision) -> str:
    """The state a result carries: a review stands above all, and an exploratory PASS is no evidence."""
    if decision.review:
        return "MANUAL_REVIEW"
    if decision.exploratory and computed == "PASS":
        return "INSUFFICIENT_EVIDENCE"
    return computed
