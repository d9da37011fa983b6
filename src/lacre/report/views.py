"""Outcomes that show themselves: what the Python API gives back.

Each is the broker's (or the audit's) plain record, with its text as `str`, its document as `as_json()`, and
of a result its estimates as a pandas frame.
"""

from dataclasses import fields
from typing import TYPE_CHECKING, Any, Self

from lacre.audit.report import AuditReport
from lacre.broker import amplified, groundwork, outcomes, scanned
from lacre.report import published

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


class AmendmentPlanned(Shows, outcomes.AmendmentPlanned):
    """What an amendment would do."""

    __slots__ = ()


class Amended(Shows, outcomes.Amended):
    """A plan put in the place of another, and its receipt."""

    __slots__ = ()


class Deviated(Shows, outcomes.Deviated):
    """Words put on record."""

    __slots__ = ()


class Withdrawn(Shows, outcomes.Withdrawn):
    """A study withdrawn."""

    __slots__ = ()


class Deviations(Shows, outcomes.Deviations):
    """The table of a study's deviations."""

    __slots__ = ()

    def markdown(self) -> str:
        """Return the table in Markdown."""
        from lacre.report.deviations_text import markdown

        return markdown(self)

    def csv(self) -> str:
        """Return the table as CSV (RFC 4180), safe for spreadsheets."""
        from lacre.report.deviations_text import csv_text

        return csv_text(self)

    def frame(self) -> "pd.DataFrame":
        """Return one row per deviation: entry, time, by, kind, what, changes, why, known."""
        from lacre.report.deviations_text import deviations_frame

        return deviations_frame(self)


class PoolSealed(Shows, outcomes.PoolSealed):
    """A pool sealed."""

    __slots__ = ()


class InputsWritten(Shows, outcomes.InputsWritten):
    """Ids and input columns handed out."""

    __slots__ = ()


class Calibrated(Shows, groundwork.Calibrated):
    """Thresholds frozen."""

    __slots__ = ()


class Sampled(Shows, groundwork.Sampled):
    """Cases drawn from a frame."""

    __slots__ = ()


class RelabelsHandedOut(Shows, groundwork.RelabelsHandedOut):
    """Cases handed out to be labelled again."""

    __slots__ = ()


class RelabelsKept(Shows, groundwork.RelabelsKept):
    """Second labels committed."""

    __slots__ = ()


class Rebalanced(Shows, groundwork.Rebalanced):
    """A corpus let grow, and the cases to label again."""

    __slots__ = ()


class PartKept(Shows, groundwork.PartKept):
    """One part of an open pool committed."""

    __slots__ = ()


class Amplified(Shows, amplified.Amplified):
    """Variants of images."""

    __slots__ = ()


class Scanned(Shows, scanned.Scanned):
    """What of sealed pools was found elsewhere."""

    __slots__ = ()


class ReadPlanned(Shows, outcomes.ReadPlanned):
    """What a read would be."""

    __slots__ = ()


class PoolRewrapped(Shows, outcomes.PoolRewrapped):
    """A pool handed to other recipients."""

    __slots__ = ()


class RequestWritten(Shows, outcomes.RequestWritten):
    """A signed request for a read, in a file."""

    __slots__ = ()


class Result(Shows, outcomes.ResultShown):
    """A result."""

    __slots__ = ()

    def estimates(self) -> "pd.DataFrame":
        """Return one row per estimate, its interval beside it; `lacre.report.frames` names the columns."""
        from lacre.report.frames import estimates_frame

        return estimates_frame(self)

    def _repr_html_(self) -> str:
        """Return the result as a notebook shows it: what `lacre report` writes, as a fragment."""
        from lacre.report.html.result_html import fragment

        return fragment(self)


class Status(Shows, outcomes.LedgerStatus):
    """Where things stand."""

    __slots__ = ()


class Recovered(Shows, outcomes.Recovered):
    """What came back of a ledger."""

    __slots__ = ()


class KeyMade(Shows, outcomes.KeyMade):
    """A person's key pair."""

    __slots__ = ()


class IdentityMade(Shows, outcomes.IdentityMade):
    """An age identity."""

    __slots__ = ()


class KeyChanged(Shows, outcomes.KeyChanged):
    """A change of who may act."""

    __slots__ = ()


class Keys(Shows, outcomes.KeysShown):
    """Every key that was ever enrolled."""

    __slots__ = ()


class KeysBackedUp(Shows, outcomes.KeysBackedUp):
    """What a backup of keys holds."""

    __slots__ = ()


class KeysRecovered(Shows, outcomes.KeysRecovered):
    """Which key files came back."""

    __slots__ = ()


class Erased(Shows, outcomes.Erased):
    """A text taken out of the ledger."""

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


class ReportWritten(Shows, published.ReportWritten):
    """A result written as a page."""

    __slots__ = ()


class Exported(Shows, published.Exported):
    """A bundle written."""

    __slots__ = ()


class RegisterExported(Shows, published.RegisterExported):
    """A register written or brought up to date."""

    __slots__ = ()


class Verified(Shows, published.Verified):
    """A bundle checked."""

    __slots__ = ()


def amended_or_plan(outcome: outcomes.AmendmentPlanned) -> Amended | AmendmentPlanned:
    """Return the view of what an amendment gave."""
    return Amended.of(outcome) if isinstance(outcome, outcomes.Amended) else AmendmentPlanned.of(outcome)


def result_or_plan(outcome: outcomes.ResultShown | outcomes.ReadPlanned) -> Result | ReadPlanned:
    """Return the view of what a read gave."""
    return Result.of(outcome) if isinstance(outcome, outcomes.ResultShown) else ReadPlanned.of(outcome)


def calibrated_or_plan(outcome: groundwork.Calibrated | outcomes.ReadPlanned) -> Calibrated | ReadPlanned:
    """Return the view of what a calibration gave."""
    return Calibrated.of(outcome) if isinstance(outcome, groundwork.Calibrated) else ReadPlanned.of(outcome)


def request_or_plan(
    outcome: outcomes.RequestWritten | outcomes.ReadPlanned,
) -> RequestWritten | ReadPlanned:
    """Return the view of what asking for a read gave."""
    if isinstance(outcome, outcomes.RequestWritten):
        return RequestWritten.of(outcome)
    return ReadPlanned.of(outcome)


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
