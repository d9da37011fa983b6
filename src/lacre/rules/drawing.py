"""Draws with known chances, and second labels: what is sampled, handed out to be labelled again, and committed."""

import math
from dataclasses import dataclass

from lacre.canonical import canonical_json
from lacre.errors import (
    CasesNotDrawn,
    DrawFirst,
    DrawImpossible,
    DrawMissing,
    DrawnFromAnother,
    DrawNotDeclared,
    DrawnOtherwise,
    DrawTooLate,
    RecordInvalid,
    RelabelInputsDiffer,
    RelabelsCommitted,
    RelabelsImpossible,
    RelabelsMissing,
    RelabelsOutOfPlace,
    RelabelsTooLate,
    RelabelsTooSoon,
    SealedNotAsDrawn,
)
from lacre.protocol.grammar import exact
from lacre.protocol.models import Protocol
from lacre.protocol.pools import Relabel, Sampling
from lacre.rules.answers import (
    CommitDecision,
    CommitFacts,
    DrawHeld,
    ReadFacts,
    SampleDecision,
    SampleFacts,
    SealFacts,
)
from lacre.rules.common import (
    known_of,
    require_in_force,
    require_open,
    require_role,
    require_sealed,
    require_study,
)
from lacre.rules.history import Committed, DrawMade, ReadMade
from lacre.rules.requests import Commit, Read, Sample
from lacre.rules.state import PoolState, State, StudyState
from lacre.text import _

NOT_SEALED = "not-sealed"
"""Why analyses that weigh by a draw leave a case out that was drawn and is not among what was sealed."""


def decide_sample(state: State, request: Sample, by: str, facts: SampleFacts) -> SampleDecision:
    """Whether cases may be drawn: as registered, before their pool is sealed, and from one frame."""
    require_role(state, by, "registrant")
    study = require_study(state, request.study)
    require_open(study)
    require_in_force(study, request.protocol)
    plan = sampling_of(study.in_force.protocol, request.draw)
    earlier = draws_of(study, study.in_force.protocol, request.draw)
    another = next((each for each in earlier if each.request.frame != request.frame), None)
    if another is not None:
        raise DrawnFromAnother(draw=request.draw, entry=another.entry)
    pool = study.pools.get(plan.pool)
    if pool is not None and not earlier:
        raise DrawTooLate(pool=plan.pool, entry=pool.sealed.entry)
    if {each.stratum: each.drawn for each in facts.strata} != dict(plan.sizes):
        raise RecordInvalid(what=_("entry"), why=_("what was drawn is not what is registered"))
    _check_drawn(study, plan, request, facts)
    return SampleDecision(number=len(earlier) + 1)


def _check_drawn(study: StudyState, plan: Sampling, request: Sample, facts: SampleFacts) -> None:
    """What was found in a frame can be, and is what was found in it before where it is read alike."""
    name = request.draw
    if (request.pool, request.cases is None) not in {(None, True), (plan.pool, False)}:
        raise DrawImpossible(draw=name, why=_("its cases are not told of the pool that it is registered on"))
    if len(facts.strata) != len(plan.sizes) or any(each.drawn > each.population for each in facts.strata):
        raise DrawImpossible(draw=name, why=_("more was drawn from a stratum than it holds"))
    protocol = study.in_force.protocol
    held = {each.stratum: each.population for each in facts.strata}
    for made in study.draws:
        version = study.version(made.request.protocol)
        if made.request.frame != request.frame or made.request.draw != name or version is None:
            continue
        then = version.protocol.sampling.get(name)
        if then is None or then.strata != plan.strata:
            continue
        if version.protocol.tables[name] != protocol.tables[name]:
            continue
        before = {each.stratum: each.population for each in made.facts.strata}
        alike = all(held.get(stratum, count) == count for stratum, count in before.items())
        if not alike or made.facts.outside != facts.outside:
            raise DrawImpossible(
                draw=name, why=_("entry {entry} found other strata in the same list").format(entry=made.entry)
            )
        cases = made.request.cases
        if then == plan and None not in (cases, request.cases) and cases != request.cases:
            raise DrawImpossible(
                draw=name,
                why=_("entry {entry} drew other cases from the same list").format(entry=made.entry),
            )


def sampling_of(protocol: Protocol, name: str) -> Sampling:
    """The registered draw of a name."""
    if name not in protocol.sampling:
        raise DrawNotDeclared(
            draw=name, section="sampling", declared=", ".join(protocol.sampling) or _("none")
        )
    return protocol.sampling[name]


def relabel_of(protocol: Protocol, name: str) -> Relabel:
    """The registered draw of cases to be labelled again."""
    if name not in protocol.relabel:
        raise DrawNotDeclared(draw=name, section="relabel", declared=", ".join(protocol.relabel) or _("none"))
    return protocol.relabel[name]


def draws_of(
    study: StudyState, protocol: Protocol, name: str, before: int | None = None
) -> tuple[DrawMade, ...]:
    """The draws of a name that were made as `protocol` registers it, oldest first."""
    wanted = _plan(protocol, name)
    found = []
    for each in study.draws:
        version = study.version(each.request.protocol)
        if each.request.draw == name and version is not None and _plan(version.protocol, name) == wanted:
            found.append(each)
    return tuple(each for each in found if before is None or each.entry < before)


def require_draws(study: StudyState, analyses: tuple[str, ...]) -> None:
    """An analysis that weighs by a registered draw waits for it: without the draw no chance is known."""
    protocol = study.in_force.protocol
    draws = [protocol.analyses[name].drawn() for name in analyses]
    names = dict.fromkeys(each for each in draws if each is not None)
    missing = [name for name in names if not draws_of(study, protocol, name)]
    if missing:
        raise DrawMissing(draws=", ".join(missing), study=study.slug)


def require_drawn(study: StudyState, pool: str) -> None:
    """A pool whose cases an analysis weighs by a registered draw is sealed after it: none can be made then."""
    protocol = study.in_force.protocol
    draws = [plan.drawn() for plan in protocol.analyses.values()]
    names = dict.fromkeys(each for each in draws if each is not None)
    here = [name for name in names if protocol.sampling[name].pool == pool]
    missing = [name for name in here if not draws_of(study, protocol, name)]
    if missing:
        raise DrawFirst(pool=pool, draws=", ".join(missing), draw=missing[0], study=study.slug)


# --- the cases drawn, and those sealed ---------------------------------------------------------------------


def draws_on(protocol: Protocol, pool: str) -> tuple[str, ...]:
    """The registered draws of a pool's cases, in order."""
    return tuple(name for name, plan in protocol.sampling.items() if plan.pool == pool)


def telling_draw(study: StudyState, protocol: Protocol, name: str) -> DrawMade | None:
    """The first draw, made as registered, whose cases are on record under what `protocol` calls them by.

    Raises `DrawnOtherwise` where cases are on record, and none under the names that are theirs now.
    """
    telling = [each for each in draws_of(study, protocol, name) if each.request.cases is not None]
    for each in telling:
        version = study.version(each.request.protocol)
        if version is not None and _names(version.protocol, name) == _names(protocol, name):
            return each
    if telling:
        raise DrawnOtherwise(draw=name, entry=telling[0].entry, study=study.slug)
    return None


def _names(protocol: Protocol, name: str) -> tuple[object, ...]:
    """All of a table that the fingerprint of a case hangs on, beside its own cells."""
    table = protocol.tables[name]
    return tuple(table.key), table.id_namespace, tuple(table.columns[each] for each in table.key)


def check_as_drawn(study: StudyState, pool: str, facts: SealFacts) -> None:
    """Rule 14 at a seal: the cases are those drawn and no others, each with the chance that it was drawn with.

    Drawn cases that are absent are nonresponse, which is told. Entries of the first version say nothing of draws;
    they stand, as long as no draw before them tells its cases.
    """
    protocol = study.in_force.protocol
    names = draws_on(protocol, pool)
    if facts.draws is None:
        silent = next((name for name in names if telling_draw(study, protocol, name) is not None), None)
        if silent is not None:
            raise DrawImpossible(draw=silent, why=_("the seal does not say whether its cases were drawn"))
        return
    if tuple(each.draw for each in facts.draws) != names:
        raise RecordInvalid(what=_("entry"), why=_("its draws are not those of its pool"))
    require_drawn(study, pool)
    for each in facts.draws:
        _check_held(study, protocol, each, facts.rows.get(each.draw, 0))


def _check_held(study: StudyState, protocol: Protocol, held: DrawHeld, rows: int) -> None:
    name = held.draw
    if held.chances:
        made = draws_of(study, protocol, name)
        entry = made[0].entry if made else None
        raise SealedNotAsDrawn(count=held.chances, table=name, entry=entry)
    telling = telling_draw(study, protocol, name)
    if telling is None:
        if (held.entry, held.undrawn, held.absent) != (None, None, None):
            raise DrawImpossible(draw=name, why=_("no draw on record tells its cases"))
        return
    if held.entry != telling.entry or held.undrawn is None or held.absent is None:
        raise DrawImpossible(
            draw=name,
            why=_("the cases were not held against the draw at entry {entry}").format(entry=telling.entry),
        )
    if held.undrawn:
        raise CasesNotDrawn(count=held.undrawn, table=name, entry=telling.entry)
    if rows + held.absent != _size(telling):
        raise DrawImpossible(draw=name, why=_("the cases sealed and those absent are not as many as drawn"))


def check_still_drawn(pool: PoolState, facts: ReadFacts) -> None:
    """Rule 14 before a read: the fingerprints of the pool say of its cases what was said when it was sealed."""
    sealed = {each.draw: each for each in pool.sealed.facts.draws or ()}
    for each in facts.draws or ():
        if each.undrawn:
            raise CasesNotDrawn(count=each.undrawn, table=each.draw, entry=each.entry)
        before = sealed.get(each.draw)
        if before is not None and before.entry == each.entry and before.absent != each.absent:
            raise DrawImpossible(
                draw=each.draw,
                why=_("the seal at entry {entry} told of other absent cases").format(entry=pool.sealed.entry),
            )


def _size(made: DrawMade) -> int:
    return sum(each.drawn for each in made.facts.strata)


def absent_of(study: StudyState, protocol: Protocol, name: str) -> int:
    """How many drawn cases are absent from the pool as it is sealed now: nonresponse; 0 where it is not known."""
    pool = study.pools.get(protocol.sampling[name].pool)
    held = () if pool is None else pool.sealed.facts.draws or ()
    return next((each.absent or 0 for each in held if each.draw == name), 0)


@dataclass(frozen=True, slots=True)
class DrawTold:
    """How a pool's cases were drawn, as every result of it tells: `size` cases, by the entry `entry`.

    `absent` of them are not among what was sealed; it is None where the cases were never compared. Before the pool
    was sealed, `made` draws were made of it, at `entries`, under so many `seeds` and from so many `frames`.
    """

    draw: str
    entry: int
    size: int
    absent: int | None
    entries: tuple[int, ...]
    seeds: int
    frames: int

    @property
    def made(self) -> int:
        """How many draws were made."""
        return len(self.entries)


def draws_told(study: StudyState, pool: PoolState, read: ReadMade) -> tuple[DrawTold, ...]:
    """The draws by which a pool's cases came, as the plan of a read has them, with all others of the same table."""
    version = study.version(read.request.protocol)
    if version is None:
        return ()
    told, protocol = [], version.protocol
    for name in draws_on(protocol, pool.name):
        counts = draws_of(study, protocol, name, pool.sealed.entry)
        if not counts:
            continue
        made = [each for each in study.draws if each.request.draw == name and each.entry < pool.sealed.entry]
        held = next((each for each in pool.sealed.facts.draws or () if each.draw == name), None)
        told.append(
            DrawTold(
                draw=name,
                entry=counts[0].entry if held is None or held.entry is None else held.entry,
                size=_size(counts[0]),
                absent=None if held is None else held.absent,
                entries=tuple(each.entry for each in made),
                seeds=len({_seed(study, each) for each in made}),
                frames=len({each.request.frame for each in made}),
            )
        )
    return tuple(told)


def _seed(study: StudyState, made: DrawMade) -> int | None:
    version = study.version(made.request.protocol)
    plan = None if version is None else version.protocol.sampling.get(made.request.draw)
    return None if plan is None else plan.seed


def _plan(protocol: Protocol, name: str) -> bytes:
    plan = protocol.sampling.get(name)
    return (
        b""
        if plan is None
        else canonical_json(plan.model_dump(mode="json", by_alias=True, exclude_none=True))
    )


# --- second labels -----------------------------------------------------------------------------------------


def check_relabel_read(study: StudyState, pool: PoolState, request: Read) -> None:
    """Whether cases may be handed out to be labelled again: as registered, before the pool is read."""
    name = request.draw or ""
    plan = relabel_of(study.in_force.protocol, name)
    if plan.pool != pool.name:
        raise RelabelsOutOfPlace(pool=pool.name, draw=name, entry=pool.sealed.entry, study=study.slug)
    _check_open(study, pool, name)


def _check_open(study: StudyState, pool: PoolState, name: str) -> None:
    """Second labels are given once, and before anybody knows what the first ones led to."""
    made = relabels_of(study, study.in_force.protocol, pool, name)
    if made is not None:
        raise RelabelsCommitted(draw=name, entry=made.entry, study=study.slug)
    read = next(iter(pool.of_class("teste", "dev", "contraste", "guarda")), None)
    if read is not None and pool.name != "dev":
        raise RelabelsTooLate(pool=pool.name, entry=read.entry, study=study.slug)


def decide_commit(state: State, request: Commit, by: str, facts: CommitFacts) -> CommitDecision:
    """Whether second labels may be committed: of cases that were handed out for it, days apart, once."""
    require_role(state, by, "registrant")
    study = require_study(state, request.study)
    require_open(study)
    require_in_force(study, request.protocol)
    plan = relabel_of(study.in_force.protocol, request.draw)
    pool = require_sealed(study, request.pool)
    if plan.pool != pool.name or not _looked_at(study, pool, request):
        raise RelabelsOutOfPlace(pool=pool.name, draw=request.draw, entry=request.read, study=study.slug)
    _check_open(study, pool, request.draw)
    if facts.early:
        raise RelabelsTooSoon(count=facts.early, days=plan.min_days_apart)
    altered = {name: count for name, count in (facts.inputs or {}).items() if count}
    if altered:
        raise RelabelInputsDiffer(count=sum(altered.values()), columns=", ".join(altered))
    _check_labels(plan, request.draw, facts, pool.sealed.facts.rows.get(request.draw, 0))
    return CommitDecision(known=known_of(study))


def _check_labels(plan: Relabel, name: str, facts: CommitFacts, rows: int) -> None:
    """Second labels and those that are absent are the share drawn of `rows`, and as many days apart as registered."""
    if facts.rows + facts.absent != math.ceil(exact(plan.fraction) * rows):
        raise RelabelsImpossible(
            draw=name, why=_("labels and absent ones together are not the share that is drawn of the pool")
        )
    if not plan.min_days_apart or not facts.rows:
        return
    if facts.days_apart is None or facts.days_apart < plan.min_days_apart:
        raise RelabelsImpossible(
            draw=name, why=_("the least number of days between both labels of a case is below the registered")
        )


def handings_of(study: StudyState, pool: PoolState, name: str) -> tuple[ReadMade, ...]:
    """The reads that handed cases of the pool, as it is sealed now, out as the plan in force draws them."""
    protocol = study.in_force.protocol
    return tuple(
        read
        for read in pool.of_class("relabel")
        if isinstance(read.request, Read)
        and read.request.draw == name
        and read.entry > pool.sealed.entry
        and _drawn_alike(study, read.request, protocol, name)
    )


def _looked_at(study: StudyState, pool: PoolState, request: Commit) -> bool:
    """One read handed the cases out; a later one, which the request names, held the labels against the first."""
    return request.read in [read.entry for read in handings_of(study, pool, request.draw)[1:]]


def relabels_of(
    study: StudyState, protocol: Protocol, pool: PoolState, name: str, before: int | None = None
) -> Committed | None:
    """The second labels committed under a name as `protocol` registers it, of the pool as it is sealed now."""
    return next(
        (
            made
            for made in pool.commits
            if made.request.draw == name
            and made.entry > pool.sealed.entry
            and (before is None or made.entry < before)
            and _drawn_alike(study, made.request, protocol, name)
        ),
        None,
    )


def _drawn_alike(study: StudyState, request: Read | Commit, protocol: Protocol, name: str) -> bool:
    """Whether the plan of a request has the same cases labelled again, and alike, as `protocol` does."""
    version = study.version(request.protocol)
    return version is not None and version.protocol.relabel.get(name) == protocol.relabel.get(name)


def relabels_needed(protocol: Protocol, analyses: tuple[str, ...]) -> tuple[str, ...]:
    """The names of the second labels that analyses are on."""
    plans = [protocol.analyses[name] for name in analyses]
    return tuple(dict.fromkeys(name for plan in plans for name in plan.relabels()))


def require_relabels(study: StudyState, pool: PoolState, analyses: tuple[str, ...]) -> None:
    """An analysis of second labels waits for them, since a reveal is one read."""
    protocol = study.in_force.protocol
    wanted = relabels_needed(protocol, analyses)
    missing = [name for name in wanted if relabels_of(study, protocol, pool, name) is None]
    if missing:
        raise RelabelsMissing(draws=", ".join(missing), study=study.slug)
