"""Sealing a pool: rules 2, 3, 12, and of 14 the shortfall and what was drawn."""

from collections.abc import Mapping, Sequence

from lacre.errors import (
    LabelsBeforeRegistration,
    LabelsInTheFuture,
    NothingToReplace,
    PoolAlreadyRead,
    PoolAlreadySealed,
    PoolIsOpen,
    PoolTablesDiffer,
    ReplacementUnexplained,
    SharedCases,
)
from lacre.protocol.pools import Pool
from lacre.rules.answers import Overlap, SealDecision, SealFacts, Shortfall
from lacre.rules.common import declared_pool, require_in_force, require_open, require_role, require_study
from lacre.rules.drawing import check_as_drawn
from lacre.rules.overlap_words import overlaps_text
from lacre.rules.requests import CONTENT_CLASSES, Seal, SealedRecord
from lacre.rules.state import State, StudyState
from lacre.rules.wire import moment


def decide_seal(state: State, request: Seal, by: str, facts: SealFacts) -> SealDecision:
    """Whether a pool may be sealed as asked, and what it then counts as."""
    require_role(state, by, "custodian")
    study = require_study(state, request.study)
    require_open(study)
    require_in_force(study, request.protocol)
    pool = declared_pool(study, request.pool)
    check_sealable(study, request.pool, pool, request.replaces, request.reason)
    _check_tables(pool, request.pool, request.records, facts.rows)
    standing = "dev" if request.as_dev else pool.role
    if standing != "dev" and (early := sum(facts.early_labels.values())):
        raise LabelsBeforeRegistration(pool=request.pool, count=early, time=moment(study.registered.time))
    if standing != "dev" and (late := sum((facts.late_labels or {}).values())):
        raise LabelsInTheFuture(pool=request.pool, count=late)
    check_as_drawn(study, request.pool, facts)
    _check_overlaps(study, request, standing, facts)
    return SealDecision(standing=standing, shortfall=_shortfall(pool.planned, facts.rows))


def check_sealable(
    study: StudyState, name: str, pool: Pool, replaces: int | None = None, reason: str | None = None
) -> None:
    """Rule 2, what needs no look at the files: closed, and not sealed before, or replaced before it was read.

    A replacement has a `reason` (its words, or their digest). Ids and inputs that were handed out do not stand
    against one: no label was seen.
    """
    if pool.open is not None:
        raise PoolIsOpen(pool=name)
    before = study.pools.get(name)
    if before is None:
        if replaces is not None:
            raise NothingToReplace(pool=name)
        return
    sealed = before.sealed
    read = next(iter(before.of_class(*CONTENT_CLASSES, "guarda")), None)
    # What was read stays: nobody is sent to ask for a replacement that is refused then.
    if replaces != sealed.entry and read is None:
        raise PoolAlreadySealed(pool=name, entry=sealed.entry, time=moment(sealed.time))
    if read is not None:
        raise PoolAlreadyRead(pool=name, entry=read.entry, time=moment(read.time))
    if reason is None:
        raise ReplacementUnexplained(pool=name)


def _check_tables(pool: Pool, name: str, records: Sequence[SealedRecord], rows: Mapping[str, int]) -> None:
    given = {record.table for record in records}
    declared = set(pool.tables)
    if given != declared or rows.keys() != declared:
        raise PoolTablesDiffer(
            pool=name,
            declared=", ".join(pool.tables),
            missing=", ".join(sorted(declared - given)) or "-",
            unknown=", ".join(sorted(given - declared)) or "-",
        )


def _check_overlaps(study: StudyState, request: Seal, standing: str, facts: SealFacts) -> None:
    """Rule 12 at a seal: what must stay apart is this pool, unless it is `dev`, and each that is not."""
    barred: list[Overlap] = [
        overlap
        for overlap in facts.shared
        if overlap.bars and (standing != "dev" or _stands_apart(study, overlap.pool))
    ]
    if standing != "dev":
        barred.extend(facts.exposed)
    if barred:
        raise SharedCases(pool=request.pool, overlaps=overlaps_text(barred))


def _stands_apart(study: StudyState, name: str) -> bool:
    return name in study.pools and study.pools[name].standing != "dev"


def _shortfall(planned: Mapping[str, int], rows: Mapping[str, int]) -> tuple[Shortfall, ...]:
    """Rule 14: a table shorter than planned is a deviation by itself."""
    return tuple(
        Shortfall(table=table, planned=count, rows=rows[table])
        for table, count in planned.items()
        if table in rows and rows[table] < count
    )
