"""Outcomes that show themselves: what the Python API gives back.

Each is the broker's (or the audit's) plain record, with its text as `str`, its document as `as_json()`, and
of a result its estimates as a pandas frame.
"""

from dataclasses import fields
from typing import TYPE_CHECKING, Any, Self

from lacre.audit.report import AuditReport
from lacre.broker import outcomes

if TYPE_CHECKING:
    import pandas as pd

WIDTH = 100
"""Columns of an outcome's text where there is no terminal to ask."""


class Shows:
    """What every view can do."""

    __slots__ = ()

    @classmethod
    def of(cls, outcome: Any) -> Self:
        """Return the view of a plain record of the class it is made from."""
        return cls(**{each.name: getattr(outcome, each.name) for each in fields(outcome)})

    def __str__(self) -> str:
        from lacre.report.text import as_text

        return as_text(self, width=WIDTH)

    def __repr__(self) -> str:
        first = next((line.strip() for line in str(self).splitlines() if line.strip()), "")
        return f"<lacre {type(self).__name__}: {first}>"

    def as_json(self) -> dict[str, Any]:
        """Return the document that `--json` writes."""
        from lacre.report.json import as_json

        return as_json(self)


class Checked(Shows, outcomes.Checked):
    """A valid protocol, and what its criteria ask of the data."""

    __slots__ = ()


class Registered(Shows, outcomes.Registered):
    """A study put in the ledger, and its receipt."""

    __slots__ = ()


class PoolSealed(Shows, outcomes.PoolSealed):
    """A pool sealed."""

    __slots__ = ()


class InputsWritten(Shows, outcomes.InputsWritten):
    """Ids and input columns handed out."""

    __slots__ = ()


class ReadPlanned(Shows, outcomes.ReadPlanned):
    """What a read would be."""

    __slots__ = ()


class Result(Shows, outcomes.ResultShown):
    """A result."""

    __slots__ = ()

    def estimates(self) -> "pd.DataFrame":
        """Return one row per estimate, its interval beside it; `lacre.report.frames` names the columns."""
        from lacre.report.frames import estimates_frame

        return estimates_frame(self)


class Status(Shows, outcomes.LedgerStatus):
    """Where things stand."""

    __slots__ = ()


class Recovered(Shows, outcomes.Recovered):
    """What came back of a ledger."""

    __slots__ = ()


class Log(Shows, outcomes.Log):
    """Entries in log order."""

    __slots__ = ()


class Study(Shows, outcomes.StudyShown):
    """One study, whole."""

    __slots__ = ()


class Entry(Shows, outcomes.EntryShown):
    """One entry that is no result."""

    __slots__ = ()


class Audit(Shows, AuditReport):
    """The outcome of an audit."""

    __slots__ = ()


def result_or_plan(outcome: outcomes.ResultShown | outcomes.ReadPlanned) -> Result | ReadPlanned:
    """Return the view of what a read gave."""
    return Result.of(outcome) if isinstance(outcome, outcomes.ResultShown) else ReadPlanned.of(outcome)


def anything_shown(
    outcome: outcomes.LedgerStatus | outcomes.StudyShown | outcomes.ResultShown | outcomes.EntryShown,
) -> Status | Study | Result | Entry:
    """Return the view of what `show` found."""
    match outcome:
        case outcomes.LedgerStatus():
            return Status.of(outcome)
        case outcomes.StudyShown():
            return Study.of(outcome)
        case outcomes.ResultShown():
            return Result.of(outcome)
    return Entry.of(outcome)
