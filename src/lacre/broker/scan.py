"""`scan`: look through folders, and their git history, for anything of the sealed pools. No pool is opened.

It goes by the fingerprints beside the pools, so that it is no read and makes no entry; and it tells places and
counts alone.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from lacre.broker.desk import Desk, view
from lacre.broker.overlaps import prints_of
from lacre.broker.parts import Find
from lacre.broker.scanned import Scanned
from lacre.broker.scanning import Finds, Looking
from lacre.broker.trees import History, Item, Skipped, files
from lacre.errors import FingerprintsNotHere, PoolError
from lacre.pools.traces import Tracer, Wanted
from lacre.rules.common import require_study
from lacre.rules.state import PoolState, StudyState
from lacre.store.reader import Reader
from lacre.text import N_, _

NAME_HIDDEN = "…"
"""Stands for a part of a path that is itself of a sealed pool."""

SHALLOW = N_("The history of {path} is shallow: older commits are not here, and were not looked at.")
NO_PRINTS = N_("The fingerprints of {study}/{pool} are not here: nothing was looked for of it.")


def scan(
    desk: Desk, paths: Sequence[Path], *, history: bool, study: str | None, exclude: Sequence[str]
) -> Scanned:
    """Look through `paths` for the sealed pools of all studies, or of one.

    Pools that count as `dev` are no secret and are not looked for. Raises `StudyUnknown`,
    `FingerprintsNotHere`, `FileMissing`, `GitNeeded` and `GitFailed`.
    """
    skipped = Skipped()
    wanted, genesis, warnings = _wanted(desk, study)
    key = desk.fingerprint_key() if wanted else b""
    if key is None:
        raise FingerprintsNotHere
    looking = Looking(Tracer(wanted, genesis=genesis, key=key), wanted, genesis, key, skipped)
    finds: list[Find] = []
    seen = versions = commits = 0
    for path in paths:
        folders = set[Path]()
        for item in files(path, exclude, skipped):
            desk.progress(N_("looking through files"), seen, None)
            seen += 1
            finds.extend(_look(looking, item, wanted))
            finds.extend(_look_at_folders(looking, item, wanted, folders, root=path))
        if history:
            past, passed = History(path), set[Path]()
            commits += past.commits()
            if past.is_shallow():
                warnings = (*warnings, _(SHALLOW).format(path=path))
            for item in past.items(exclude, skipped):
                desk.progress(N_("looking through the history"), versions, None)
                versions += 1
                finds.extend(_look(looking, item, wanted, past))
                finds.extend(_look_at_folders(looking, item, wanted, passed, past=past))
    return Scanned(
        paths=tuple(map(str, paths)),
        pools=tuple((each.study, each.pool) for each in wanted),
        finds=tuple(finds),
        files=seen,
        bytes=looking.bytes,
        versions=versions,
        commits=commits,
        skipped=tuple(sorted(skipped.counts.items())),
        warnings=warnings,
    )


def _wanted(desk: Desk, study: str | None) -> tuple[list[Wanted], str, tuple[str, ...]]:
    """The pools to look for with their fingerprints, the ledger's genesis hash, and what cannot be looked for."""
    state = desk.view(study or "")
    if study is not None:
        require_study(state, study)
    wanted: list[Wanted] = []
    warnings: list[str] = []
    with desk.snapshot() as reader:
        pools = list(_sealed(reader, study))
    for known, pool in pools:
        try:
            prints = prints_of(desk, known.slug, pool)
        except PoolError:
            warnings.append(_(NO_PRINTS).format(study=known.slug, pool=pool.name))
            continue
        made_under = known.version(pool.sealed.request.protocol) or known.in_force
        wanted.append(Wanted(known.slug, pool.name, prints, made_under.protocol))
    return wanted, state.genesis, tuple(warnings)


def _sealed(reader: Reader, study: str | None) -> Iterator[tuple[StudyState, PoolState]]:
    for slug in (study,) if study is not None else reader.studies():
        if (known := view(reader, slug).study) is not None:
            yield from ((known, pool) for pool in known.pools.values() if pool.standing != "dev")


def _look(
    looking: Looking, item: Item, wanted: Sequence[Wanted], past: History | None = None
) -> Iterator[Find]:
    by_name = looking.look_at_name(item.name) if item.name else {}
    inside = looking.look_at(item)
    if not by_name and not inside:
        return
    commit = None
    if past is not None and item.version is not None:
        commit = past.first_with(item.version) if item.name else item.version[:10]
    place = _place(looking, item.place)
    yield from _told(place, inside, wanted, commit)
    for each in _told(place, by_name, wanted, commit):
        yield replace(each, what="name")


def _look_at_folders(
    looking: Looking,
    item: Item,
    wanted: Sequence[Wanted],
    seen: set[Path],
    root: Path | None = None,
    past: History | None = None,
) -> Iterator[Find]:
    """A folder that is called as a case is told once, whatever the files in it hold and are called."""
    if not item.name:
        return
    inside = Path(item.place) if root is None else Path(item.place).relative_to(root)
    for folder in reversed(inside.parents):
        if folder in seen:
            continue
        seen.add(folder)
        by_name = looking.look_at_name(folder.name)
        if not by_name:
            continue
        place = _place(looking, str(folder if root is None else root / folder))
        commit = None if past is None or item.version is None else past.first_with(item.version)
        for each in _told(place, by_name, wanted, commit):
            yield replace(each, what="name")


def _told(place: str, finds: Finds, wanted: Sequence[Wanted], commit: str | None) -> Iterator[Find]:
    for (pool, what), found in sorted(finds.items()):
        of = wanted[pool]
        yield Find(place, of.study, of.pool, what, found.count, tuple(found.lines), commit)


def _place(looking: Looking, place: str) -> str:
    """The place with whatever in it is itself of a pool left out."""
    parts = place.split("/")
    return "/".join(NAME_HIDDEN if looking.look_at_name(part) else part for part in parts)
