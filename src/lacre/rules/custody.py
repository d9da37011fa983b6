"""The custody grade: who can look at a sealed pool without leaving a trace."""

from collections.abc import Sequence

SELF_HELD = "self-held"
SECOND_KEYHOLDER = "second keyholder"


def grade(recipients: Sequence[str], own: str) -> str:
    """The grade of a pool sealed to `recipients` in a ledger whose own recipient is `own`.

    A pool that the ledger's own identity can open is self-held; sealed to others alone, it takes them and
    whoever holds the data together.
    """
    return SELF_HELD if own in recipients else SECOND_KEYHOLDER
