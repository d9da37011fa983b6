"""Finding the declared columns among the names a file gives, and saying what is near when one is absent."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import NoReturn

from lacre.errors import TableColumnAbsent, TableColumnDoubled, TableDelimiter, TableHeaderPadded
from lacre.protocol.problems import MOST_NAMES, listed, nearest
from lacre.text import _

BLANKS = " \t\N{NO-BREAK SPACE}"
"""What `strip_header` takes off both ends of names and cells."""

DELIMITERS = (",", ";", "\t", "|")

_COMPARED = 2000
_LONGEST = 100


def locate(
    names: Sequence[str], wanted: Sequence[str], *, file: str, delimiter: str | None = None
) -> list[int]:
    """Return the position in `names` of each of `wanted`.

    Raises `TableColumnAbsent`, `TableHeaderPadded`, `TableColumnDoubled` and, where a `delimiter` was used,
    `TableDelimiter`. Time is linear in `names`; names that are not wanted may be doubled, padded or empty.
    """
    places: dict[str, int] = {}
    for position, name in enumerate(names):
        places.setdefault(name, position)
    absent = [name for name in wanted if name not in places]
    if absent:
        _refuse_padded(places, absent, file)
        if delimiter is not None:
            _refuse_delimiter(names, wanted, file, delimiter)
        refuse_absent(places, absent, file)
    among = frozenset(wanted)
    counts = Counter(name for name in names if name in among)
    for name in wanted:
        if counts[name] > 1:
            raise TableColumnDoubled(file=file, column=name, count=counts[name])
    return [places[name] for name in wanted]


def unused(names: Iterable[str], used: Iterable[str]) -> tuple[str, ...]:
    """Return the names that are not `used`, each once, in their order."""
    taken = frozenset(used)
    return tuple(dict.fromkeys(name for name in names if name not in taken))


def refuse_absent(names: Iterable[str], absent: Sequence[str], file: str) -> NoReturn:
    """Raise `TableColumnAbsent` for the columns `absent`, with the nearest of `names`."""
    near = dict.fromkeys(filter(None, (_nearest(name, names) for name in absent[:MOST_NAMES])))
    raise TableColumnAbsent(
        file=file, columns=listed(absent), nearest=listed(list(near)) or _("nothing like it")
    )


def _nearest(name: str, names: Iterable[str]) -> str | None:
    # A header may have a million names. The ratio of likeness is at most 2s/(s + l) for lengths s < l, which
    # is under the cutoff of 0.6 when l > 7s/3.
    close = (
        other
        for other in names
        if len(other) <= _LONGEST and 3 * len(name) <= 7 * len(other) and 3 * len(other) <= 7 * len(name)
    )
    return nearest(name, islice(close, _COMPARED))


def _refuse_padded(places: dict[str, int], absent: Sequence[str], file: str) -> None:
    stripped = {name.strip(BLANKS) for name in places}
    for name in absent:
        if name in stripped:
            raise TableHeaderPadded(file=file, column=name)


def _refuse_delimiter(names: Sequence[str], wanted: Sequence[str], file: str, delimiter: str) -> None:
    line = delimiter.join(names)
    here = len(frozenset(wanted).intersection(names))
    for other in DELIMITERS:
        if other != delimiter and other in line:
            cells = {cell.strip(BLANKS + '"') for cell in line.split(other)}
            there = cells.intersection(wanted)
            if len(there) > here:
                column = next(name for name in wanted if name in there)
                raise TableDelimiter(
                    file=file, column=column, found=json.dumps(other), declared=json.dumps(delimiter)
                )
