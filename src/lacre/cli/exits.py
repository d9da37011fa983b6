"""Exit statuses that are answers; those of refusals and faults stand with their errors."""

DONE = 0
FINDING = 1
VERDICTS = {"PASS": 0, "FAIL": 1, "INSUFFICIENT_EVIDENCE": 3, "MANUAL_REVIEW": 4}
