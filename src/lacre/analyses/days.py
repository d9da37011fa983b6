"""How many days lie between two labels of the same case, by the calendar of where they were given."""

from datetime import UTC, tzinfo
from zoneinfo import ZoneInfo

import numpy as np
import numpy.typing as npt

from lacre.protocol.columns import TimeColumn
from lacre.protocol.tables import Table
from lacre.tables.columns import Times, TypedTable


def times_of(declared: Table) -> tuple[str, ...]:
    """The columns that say when a case was labelled."""
    return tuple(name for name, column in declared.columns.items() if "labelled" in column.is_)


def days_apart(
    declared: Table, again: TypedTable, first: TypedTable, rows: npt.NDArray[np.intp]
) -> npt.NDArray[np.int64] | None:
    """Return, for each case of `again`, the days from its first label, in the row of `first`, to the second.

    A day is one of the column's own zone, else of UTC; a case of which one label has no time counts as labelled on
    the same day. None where no column says when a case was labelled.
    """
    apart = []
    for name in times_of(declared):
        column, later, earlier = declared.columns[name], again.columns[name], first.columns[name]
        assert isinstance(column, TimeColumn)
        assert isinstance(later, Times)
        assert isinstance(earlier, Times)
        zone: tzinfo = UTC if column.zone is None else ZoneInfo(column.zone)
        one, two = _dates(earlier.values[rows], zone), _dates(later.values, zone)
        found = (two - one).astype("timedelta64[D]").astype(np.int64)
        apart.append(np.where(np.isnat(one) | np.isnat(two), 0, found))
    return np.min(np.stack(apart), axis=0) if apart else None


def _dates(times: npt.NDArray[np.datetime64], zone: tzinfo) -> npt.NDArray[np.datetime64]:
    """Return each instant's date where the clock of `zone` is read."""
    if zone is UTC:
        return times.astype("datetime64[D]")
    local = [
        None if each is None else each.replace(tzinfo=UTC).astimezone(zone).date()
        for each in times.astype("datetime64[us]").tolist()
    ]
    return np.array(local, dtype="datetime64[D]")
