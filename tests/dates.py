"""Dates of labels, after the registrations of this run of the tests and no later than a clock may be off."""

from datetime import UTC, datetime, timedelta

_FIRST = datetime.now(UTC) + timedelta(hours=6)


def _told(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


LABELLED = _told(_FIRST)
"""When cases were labelled."""

AGAIN = _told(_FIRST + timedelta(days=2))
"""When they were labelled again, two days later by the calendar."""

TOO_SOON = _told((_FIRST + timedelta(days=1)).replace(hour=23, minute=59, second=59))
"""The last second at which that would have been one day later."""
