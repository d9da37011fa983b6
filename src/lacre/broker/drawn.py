"""Cases drawn by plan: kept as fingerprints when they are drawn, and what is sealed held against them."""

from collections.abc import Iterator, Mapping
from contextlib import suppress

from lacre.analyses.detected import drawn_weights
from lacre.analyses.given import Drawn
from lacre.broker.desk import Desk
from lacre.broker.ingest import PoolTable
from lacre.broker.overlaps import prints_of
from lacre.errors import DrawnCasesMissing, DrawnOtherwise, PoolBlobMissing, cells_untold
from lacre.pools.exposure import fingerprint
from lacre.pools.prints import Prints, common
from lacre.protocol.kinds.detection import DetectionPlan
from lacre.protocol.models import Protocol
from lacre.rules.answers import DrawHeld
from lacre.rules.drawing import absent_of, draws_of, draws_on, telling_draw
from lacre.rules.history import DrawMade
from lacre.rules.state import PoolState, StudyState
from lacre.tables.columns import TypedTable
from lacre.tables.exclude import apply_exclusions


def drawn_as_registered(study: StudyState, protocol: Protocol, before: int | None = None) -> dict[str, Drawn]:
    """The draws on record that were made as `protocol` registers them, by name."""
    draws = {}
    for name in protocol.sampling:
        made = draws_of(study, protocol, name, before)
        if made:
            strata = made[0].facts.strata
            draws[name] = Drawn(
                {each.stratum: each.population for each in strata},
                {each.stratum: each.drawn for each in strata},
                made[0].entry,
                absent_of(study, protocol, name),
            )
    return draws


@cells_untold
def keep_drawn(desk: Desk, protocol: Protocol, name: str, genesis: str, key: bytes, drawn: TypedTable) -> str:
    """Keep the fingerprints of the cases drawn beside their pool; return the digest that the draw's entry names.

    Each is keyed, as a sealed pool's own are, so that neither digest nor file tells a stranger whether some case is
    among them.
    """
    made = fingerprint({name: drawn}, protocol, study=protocol.study, genesis=genesis, key=key)
    cases = Prints(made.check, {("case", name): made.section("case", name)})
    return desk.vault.put(protocol.study, protocol.sampling[name].pool, "prints", [cases.encode()])


@cells_untold
def held_against_draws(
    desk: Desk,
    study: StudyState,
    pool: str,
    tables: Mapping[str, PoolTable],
    prints: Prints,
) -> tuple[DrawHeld, ...] | None:
    """Hold a pool's files, whose fingerprints are `prints`, against the draws of its cases that are on record.

    None where the plan draws none. Raises `DrawnOtherwise`, and `DrawnCasesMissing` where the cases drawn are gone.
    """
    protocol = study.in_force.protocol
    held = tuple(_held(desk, study, name, tables, prints) for name in draws_on(protocol, pool))
    return held or None


def still_as_drawn(desk: Desk, study: StudyState, pool: PoolState) -> tuple[DrawHeld, ...] | None:
    """Hold a sealed pool against the draws that tell its cases, by the fingerprints of both; it stays closed.

    None where there is no such draw, or where a file with fingerprints is gone: what the seal found stands then.
    """
    version = study.version(pool.sealed.request.protocol)
    names = () if version is None else draws_on(version.protocol, pool.name)
    held: list[DrawHeld] = []
    with suppress(PoolBlobMissing, DrawnOtherwise):
        for name in names:
            assert version is not None, "only a plan names draws"
            made = telling_draw(study, version.protocol, name)
            if made is not None:
                held.append(_compared(desk, made, prints_of(desk, study.slug, pool)))
    return tuple(held) or None


def _held(
    desk: Desk, study: StudyState, name: str, tables: Mapping[str, PoolTable], prints: Prints
) -> DrawHeld:
    protocol = study.in_force.protocol
    chances = max(_other_chances(study, protocol, name, tables), default=0)
    made = telling_draw(study, protocol, name)
    if made is None:
        return DrawHeld(draw=name, chances=chances)
    try:
        return _compared(desk, made, prints).model_copy(update={"chances": chances})
    except PoolBlobMissing as error:
        raise DrawnCasesMissing(**error.fields, entry=made.entry, draw=name) from error


def _compared(desk: Desk, made: DrawMade, prints: Prints) -> DrawHeld:
    """Compare a pool's fingerprints with those of the cases that a draw tells."""
    request, name = made.request, made.request.draw
    assert request.pool is not None
    assert request.cases is not None
    drawn = Prints.decode(desk.vault.read(request.study, request.pool, "prints", request.cases))
    drawn.require_same_key(prints)
    wanted, there = drawn.section("case", name), prints.section("case", name)
    both = len(common(wanted, there))
    return DrawHeld(draw=name, entry=made.entry, undrawn=len(there) - both, absent=len(wanted) - both)


def _other_chances(
    study: StudyState, protocol: Protocol, name: str, tables: Mapping[str, PoolTable]
) -> Iterator[int]:
    """Count the rows, by each analysis that weighs by a draw, whose chance is not the one that the draw gave."""
    draws = drawn_as_registered(study, protocol)
    for plan in protocol.analyses.values():
        if not isinstance(plan, DetectionPlan) or plan.weights is None or plan.weights.draw != name:
            continue
        if plan.table not in tables or name not in draws:
            continue
        table = tables[plan.table].typed
        used = table.select(apply_exclusions(table, protocol.tables[plan.table].exclude).kept)
        _found, why = drawn_weights(plan, protocol, draws, used)
        if why is not None and why.code in {"weights-not-drawn", "bad-weights"}:
            yield int(why.fields["count"])
