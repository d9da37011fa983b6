"""What two pools have in common, found through their fingerprints without opening either (rule 12)."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Literal

from lacre.broker.desk import Desk, view
from lacre.pools.exposure import Shared, designed_contents, shared_between, shared_within_study
from lacre.pools.prints import Prints
from lacre.rules.answers import Gated, Overlap
from lacre.rules.gating import budget
from lacre.rules.identity import ids_decide
from lacre.rules.state import CorpusState, PoolState, StudyState
from lacre.store.reader import Reader

_CHANGING = frozenset({"seal", "commit", "read", "amend", "withdraw"})
"""The kinds of entries that change which cases are sealed, exposed, or to stay unseen."""


@dataclass(frozen=True, slots=True)
class Gathered:
    """The overlaps found, and the log's size when they were: later seals and reads make them stale."""

    shared: tuple[Overlap, ...]
    exposed: tuple[Overlap, ...]
    exposes: tuple[Overlap, ...]
    gated: tuple[Gated, ...]
    size: int


def gather(
    desk: Desk, snapshot: AbstractContextManager[Reader], study: StudyState, pool: str, prints: Prints
) -> Gathered:
    """Hold a pool, about to be sealed or read, against all others of the ledger.

    The snapshot is let go before the fingerprints are compared: a commit would have to wait for it.
    """
    with snapshot as reader:
        size, others = reader.size, list(_others(reader, study, pool))
    designed = designed_contents(version.protocol for version in study.versions)
    shared: list[Overlap] = []
    exposed: list[Overlap] = []
    exposes: list[Overlap] = []
    gated: list[Gated] = []
    for slug, other, ended, most in others:
        theirs = prints_of(desk, slug, other)
        if slug == study.slug:
            found = shared_within_study(
                prints, theirs, ids_decide=ids_decide(study, pool, other), designed=designed
            )
            shared.extend(_within(slug, other.name, found))
            continue
        if not (count := shared_between(prints, theirs)):
            continue
        if reads := len(other.of_class("guarda")):
            gated.append(Gated(study=slug, pool=other.name, cases=count, reads=reads, most=most))
        overlap = Overlap(study=slug, pool=other.name, kind="cases", count=count)
        if other.was_read:
            exposed.append(overlap)
        elif other.is_to_stay_unseen and not ended:
            exposes.append(overlap)
    return Gathered(tuple(shared), tuple(exposed), tuple(exposes), tuple(gated), size)


def still_fresh(reader: Reader, gathered: Gathered) -> bool:
    """Whether nothing happened since `gathered` that could have changed it."""
    return not any(stored.kind in _CHANGING for stored in reader.entries(gathered.size, reader.size))


def prints_of(desk: Desk, study: str, pool: PoolState | CorpusState) -> Prints:
    """The fingerprints kept beside a pool, sealed or open."""
    return Prints.decode(desk.vault.read(study, pool.name, "prints", pool.fingerprints))


def _others(
    reader: Reader, study: StudyState, pool: str
) -> Iterator[tuple[str, PoolState | CorpusState, bool, int]]:
    """Every other pool of the ledger, sealed or open, with its study, whether that was withdrawn, and its budget.

    A pool that is about to be replaced is this one: what it was sealed as before is held against nothing.
    """
    for slug in reader.studies():
        known = study if slug == study.slug else view(reader, slug).study
        if known is None:
            continue
        for other in known.holds:
            if (slug, other.name) != (study.slug, pool):
                yield slug, other, known.withdrawn is not None, budget(known, other)


def _within(study: str, pool: str, shared: Shared) -> Iterator[Overlap]:
    kinds: tuple[tuple[str, int, Literal[True] | None], ...] = (
        ("cases", shared.cases, None),
        ("units", shared.units, None),
        ("digests", shared.digests, True),
        ("contents", shared.contents, True),
        ("contents", shared.designed, None),
    )
    for kind, count, decides in kinds:
        if count:
            yield Overlap.model_validate(
                {"study": study, "pool": pool, "kind": kind, "count": count, "decides": decides}
            )
    for label, count in shared.disjoint.items():
        if count:
            yield Overlap(study=study, pool=pool, kind="disjoint", count=count, label=label)
