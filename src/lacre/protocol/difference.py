"""Two protocols, field by field: what changed between them, and nothing else."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from lacre.canonical import canonical_json
from lacre.errors import printable
from lacre.protocol.document import value_of
from lacre.protocol.models import Protocol
from lacre.text import _


class Absent(Enum):
    """The one value of a field that is not there."""

    ABSENT = "absent"


ABSENT: Final = Absent.ABSENT


@dataclass(frozen=True)
class Change:
    """One field of the canonical form that is not the same before and after; either may be `ABSENT`.

    `path` is dotted; things with an id are named by it, other things in a list by their place, from 0. A
    list of things with ids in another order is one change, of its ids.
    """

    path: str
    before: Any
    after: Any


def difference(before: Protocol, after: Protocol, *, whole: bool = False) -> tuple[Change, ...]:
    """Return every field in which two protocols differ, in the order a protocol is written.

    It is empty exactly when the two have the same hash. With `whole`, what is on one side alone is one change,
    and not one for each of its fields.
    """
    return tuple(_changes("", value_of(before), value_of(after), whole=whole))


def render(changes: Sequence[Change]) -> str:
    """Return the changes as lines for people, `path: before -> after`."""
    return "\n".join(map(line, changes))


def line(change: Change) -> str:
    """Return one change as a line for people."""
    return printable(f"{change.path}: {_written(change.before)} -> {_written(change.after)}")


def _written(value: Any) -> str:
    return _("(absent)") if value is ABSENT else canonical_json(value).decode()


def _changes(path: str, before: Any, after: Any, *, whole: bool) -> Iterator[Change]:
    one_side = whole and (before is ABSENT or after is ABSENT)
    parts = None if one_side else _parts(before, after)
    if parts is None:
        if before is ABSENT or after is ABSENT or canonical_json(before) != canonical_json(after):
            yield Change(path, before, after)
        return
    old, new = parts
    for name in _in_turn(old, new):
        step = f"{path}.{name}" if path else name
        yield from _changes(step, old.get(name, ABSENT), new.get(name, ABSENT), whole=whole)
    common = [name for name in old if name in new]
    if isinstance(before, list) and common != [name for name in new if name in old]:
        yield Change(path, list(old), list(new))


def _parts(before: Any, after: Any) -> tuple[Mapping[str, Any], Mapping[str, Any]] | None:
    """Return both sides' parts by name, where both are made of parts or one is and the other is absent."""
    sides = [side for side in (before, after) if side is not ABSENT]
    if not all(isinstance(side, dict) for side in sides) and not all(
        isinstance(side, list) for side in sides
    ):
        return None
    if not any(sides):
        return None  # an empty map or list, or two of them: there is no part to tell the change by
    with_ids = all(isinstance(each, dict) and "id" in each for side in sides for each in side)
    old, new = ({} if side is ABSENT else _named(side, by_id=with_ids) for side in (before, after))
    return old, new


def _named(side: Any, *, by_id: bool) -> Mapping[str, Any]:
    if isinstance(side, dict):
        return side
    return {each["id"] if by_id else str(index): each for index, each in enumerate(side)}


def _in_turn(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    return [*old, *(name for name in new if name not in old)]
