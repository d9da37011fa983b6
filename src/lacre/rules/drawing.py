"""Draws with known chances, and second labels: what is sampled, handed out to be labelled again, and committed."""

from lacre.canonical import canonical_json
from lacre.errors import (
    DrawFirst,
    DrawMissing,
    DrawnFromAnother,
    DrawNotDeclared,
    DrawTooLate,
    RecordInvalid,
    RelabelsCommitted,
    RelabelsMissing,
    RelabelsOutOfPlace,
    RelabelsTooLate,
    RelabelsTooSoon,
)
from lacre.protocol.models import Protocol
from lacre.protocol.pools import Relabel, Sampling
from lacre.rules.answers import CommitDecision, CommitFacts, SampleDecision, SampleFacts
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
    return SampleDecision(number=len(earlier) + 1)


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
    weights = [getattr(protocol.analyses[name], "weights", None) for name in analyses]
    names = dict.fromkeys(each.draw for each in weights if each is not None and each.draw is not None)
    missing = [name for name in names if not draws_of(study, protocol, name)]
    if missing:
        raise DrawMissing(draws=", ".join(missing), study=study.slug)


def require_drawn(study: StudyState, pool: str) -> None:
    """A pool whose cases an analysis weighs by a registered draw is sealed after it: none can be made then."""
    protocol = study.in_force.protocol
    weights = [getattr(plan, "weights", None) for plan in protocol.analyses.values()]
    names = dict.fromkeys(each.draw for each in weights if each is not None and each.draw is not None)
    here = [name for name in names if protocol.sampling[name].pool == pool]
    missing = [name for name in here if not draws_of(study, protocol, name)]
    if missing:
        raise DrawFirst(pool=pool, draws=", ".join(missing), draw=missing[0], study=study.slug)


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
    return CommitDecision(known=known_of(study))


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
