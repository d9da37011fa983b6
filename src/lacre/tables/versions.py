"""The versions of a corpus that grew: what stands in each, and what a later one has beside the one before."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from lacre.errors import cells_untold
from lacre.protocol.models import Protocol
from lacre.protocol.pools import part_of
from lacre.tables.columns import Digests, Texts, TypedColumn, TypedTable
from lacre.tables.join import concat
from lacre.tables.parts import PartCounts, PartRead, count_part

Version = Mapping[str, PartRead]
"""The parts that were committed for one version, by name."""

Drawn = Mapping[str, frozenset[str]]
"""The keys of old cases that were drawn to be labelled again, by table."""


@dataclass(frozen=True, slots=True)
class GrownCounts:
    """What a part of a later version has beside the one before; the fields are those of the fact."""

    dropped: int = 0
    changed: int = 0
    added: int = 0
    undrawn: int = 0
    unlabelled: int = 0


def keys_in(part: PartRead) -> Callable[[str], list[str]]:
    """Return what gives the keys of a part's rows, by table."""
    return lambda table: part.tables[table].keys.tolist()


def standing(versions: Sequence[Version]) -> dict[str, PartRead]:
    """Return the parts as they stand after these versions: the last cases, and each case's last labels and scores."""
    parts: dict[str, PartRead] = {}
    for version in versions:
        for name, read in version.items():
            before = parts.get(name)
            parts[name] = read if name == "cases" or before is None else _over(before, read)
    return parts


def of_parts(parts: Iterable[tuple[int, str, PartRead]]) -> list[dict[str, PartRead]]:
    """Return the parts by version, given in their order: the version of each, from 1, its name, and what it holds."""
    versions: list[dict[str, PartRead]] = []
    for version, name, read in parts:
        versions += [{} for _missing in range(version - len(versions))]
        versions[version - 1][name] = read
    return versions


def _over(before: PartRead, read: PartRead) -> PartRead:
    tables = dict(before.tables)
    for name, table in read.tables.items():
        if name in tables:
            kept = ~_among(tables[name].keys, table.keys)
            table = replace(concat([tables[name].select(kept), table]), undeclared=table.undeclared)
        tables[name] = table
    return PartRead(tables, read.misplaced)


def _among(keys: npt.NDArray[np.object_], others: npt.NDArray[np.object_]) -> npt.NDArray[np.bool_]:
    known = frozenset(others.tolist())
    return np.fromiter((key in known for key in keys.tolist()), np.bool_, len(keys))


def _asked_of(cases: PartRead, before: PartRead, drawn: Drawn) -> PartRead:
    """Return the cases that labels and scores of a later version are of: the new ones, and those drawn."""
    tables = {}
    for name, table in cases.tables.items():
        old = frozenset(before.tables[name].keys.tolist()) if name in before.tables else frozenset()
        of = drawn.get(name, frozenset())
        kept = np.fromiter((key not in old or key in of for key in table.keys.tolist()), np.bool_, table.rows)
        tables[name] = table.select(kept)
    return PartRead(tables, cases.misplaced)


@cells_untold
def _count_cases(read: PartRead, before: PartRead) -> GrownCounts:
    """Hold the cases of a later version against those of the one before."""
    dropped = changed = added = 0
    for name, old in before.tables.items():
        new = read.tables.get(name)
        if new is None:
            dropped += old.rows
            continue
        places = {key: row for row, key in enumerate(new.keys.tolist())}
        rows = np.fromiter((places.get(key, -1) for key in old.keys.tolist()), np.intp, old.rows)
        dropped += int((rows < 0).sum())
        changed += _changed(old, new, rows)
        added += new.rows - int((rows >= 0).sum())
    return GrownCounts(dropped=dropped, changed=changed, added=added)


def _changed(old: TypedTable, new: TypedTable, rows: npt.NDArray[np.intp]) -> int:
    there = np.flatnonzero(rows >= 0)
    differs = np.zeros(len(there), np.bool_)
    for name, column in old.columns.items():
        differs |= ~_same(column, new.columns[name], there, rows[there])
    return int(differs.sum())


def _same(
    one: TypedColumn, other: TypedColumn, at: npt.NDArray[np.intp], place: npt.NDArray[np.intp]
) -> npt.NDArray[np.bool_]:
    a, b = one.array[at], other.array[place]
    if isinstance(one, Texts | Digests):
        return np.fromiter((x == y for x, y in zip(a.tolist(), b.tolist(), strict=True)), np.bool_, len(a))
    return np.asarray((a == b) | (one.missing[at] & other.missing[place]), np.bool_)


@cells_untold
def _count_of_drawn(read: PartRead, stood: Version, part: str, drawn: Drawn) -> GrownCounts:
    """Hold the labels or scores of a later version against what `stood` in the one before, and those drawn of it.

    A drawn case is dropped where a cell of it that held something is blank now: it would leave the numbers.
    """
    before = stood["cases"]
    dropped = undrawn = unlabelled = 0
    for name, table in read.tables.items():
        old = frozenset(before.tables[name].keys.tolist()) if name in before.tables else frozenset()
        of = drawn.get(name, frozenset())
        given = frozenset(table.keys.tolist())
        undrawn += len((given & old) - of)
        unlabelled += len(of - given)
        if part in stood and name in stood[part].tables:
            dropped += _emptied(stood[part].tables[name], table, of)
    return GrownCounts(dropped=dropped, undrawn=undrawn, unlabelled=unlabelled)


def _emptied(old: TypedTable, new: TypedTable, of: frozenset[str]) -> int:
    places = {key: row for row, key in enumerate(new.keys.tolist()) if key in of}
    there = [(row, places[key]) for row, key in enumerate(old.keys.tolist()) if key in places]
    at, place = np.array(there, np.intp).reshape(-1, 2).T
    emptied = np.zeros(len(there), np.bool_)
    for name, column in old.columns.items():
        emptied |= ~column.missing[at] & new.columns[name].missing[place]
    return int(emptied.sum())


def count_version(
    protocol: Protocol, part: str, read: PartRead, versions: Sequence[Version], drawn: Drawn, since: str
) -> tuple[PartCounts, GrownCounts]:
    """Count what the law asks of a part of a later version: `versions` are those so far, the last one this one's.

    `drawn` are the old cases to be labelled again, and `since` is when the corpus was let grow: labels are written
    after it.
    """
    *earlier, own = versions
    stood = standing(earlier)
    before = stood["cases"]
    if part == "cases":
        return count_part(protocol, part, read, {}, since), _count_cases(read, before)
    asked: dict[str, PartRead] = {**own, "cases": _asked_of(own["cases"], before, drawn)}
    counts, grown = count_part(protocol, part, read, asked, since), _count_of_drawn(read, stood, part, drawn)
    away = {
        name: table.rows
        for name, table in asked["cases"].tables.items()
        if table.rows and name not in read.tables and _has_part(protocol, name, part)
    }
    return replace(counts, foreign=counts.foreign - grown.undrawn, absent={**counts.absent, **away}), grown


def _has_part(protocol: Protocol, table: str, part: str) -> bool:
    return any(part_of(column) == part for column in protocol.tables[table].columns.values())
