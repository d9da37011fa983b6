"""Checks that several families of requests share: the study, its protocol, the signer's role."""

from lacre.errors import (
    CriterionInfeasible,
    KeyNotEnrolled,
    KeyNotEntitled,
    KeyRevoked,
    PoolNotDeclared,
    PoolNotSealed,
    ProtocolNotInForce,
    StudyMisspelt,
    StudyNotRegistered,
    StudyWithdrawn,
    StudyWithEntry,
)
from lacre.protocol.pools import Pool
from lacre.rules.answers import Known, RegisterFacts
from lacre.rules.state import PoolState, State, StudyState
from lacre.rules.wire import moment
from lacre.text import N_, _

_INFEASIBLE = {
    (False, True): N_("{analysis}.{criterion} can pass at no outcome"),
    (True, False): N_("{analysis}.{criterion} can fail at no outcome"),
    (False, False): N_("{analysis}.{criterion} can neither pass nor fail"),
}


def require_role(state: State, by: str, role: str) -> None:
    """Refuse a signer whose key does not hold `role` at the next entry."""
    key = state.keys.get(by)
    if key is None:
        raise KeyNotEnrolled(key=by[:16], role=role)
    if key.revoked is not None:
        raise KeyRevoked(key=by[:16], role=role, entry=key.revoked)
    if not key.may(role, state.next_index):
        raise KeyNotEntitled(key=by[:16], role=role)


def require_study(state: State, slug: str) -> StudyState:
    """Rule 1: nothing of a study precedes its registration."""
    if state.study is None:
        alone, mark, _entry = slug.partition("@")
        if mark:
            raise StudyWithEntry(study=slug, alone=alone)
        if state.near is not None:
            raise StudyMisspelt(study=slug, near=state.near)
        raise StudyNotRegistered(study=slug)
    return state.study


def require_open(study: StudyState) -> None:
    """Rule 17: a withdrawn study stays on record, and nothing more is done in it."""
    if study.withdrawn is not None:
        raise StudyWithdrawn(study=study.slug, entry=study.withdrawn.entry, time=moment(study.withdrawn.time))


def require_sealed(study: StudyState, name: str) -> PoolState:
    """Rule 5: what is read, corrected or handed over was sealed."""
    if name not in study.pools:
        raise PoolNotSealed(study=study.slug, pool=name)
    return study.pools[name]


def require_feasible(facts: RegisterFacts, accepted: str | None) -> None:
    """A criterion that can only come out one way decides nothing; who keeps it says why, on record."""
    if facts.infeasible and accepted is None:
        said = (
            _(_INFEASIBLE[each.passes, each.fails]).format(analysis=each.analysis, criterion=each.criterion)
            for each in facts.infeasible
        )
        raise CriterionInfeasible(criteria="\n".join(said))


def known_of(study: StudyState) -> tuple[Known, ...]:
    """Rule 14: what had been read, of each pool in each class, when something is put on record."""
    found: list[Known] = []
    for pool in study.holds:
        for read_class in dict.fromkeys(read.read_class for read in pool.reads):
            reads = [read for read in pool.reads if read.read_class == read_class]
            made = [read for read in reads if read.request.finishes is None]
            found.append(
                Known.model_validate(
                    {
                        "pool": pool.name,
                        "read_class": read_class,
                        "count": len(made),
                        "last": reads[-1].entry,
                    }
                )
            )
    return tuple(found)


def require_in_force(study: StudyState, protocol_hash: str, difference: str = "") -> None:
    """Rule 11: a request names the protocol in force; `difference` says, in lines, where another differs."""
    in_force = study.in_force.protocol_hash
    if in_force != protocol_hash:
        hashes = f"sha256:{in_force} -> sha256:{protocol_hash}"
        raise ProtocolNotInForce(study=study.slug, difference=difference or hashes)


def declared_pool(study: StudyState, name: str) -> Pool:
    """Rule 2: the protocol in force declares the pool."""
    pools = study.in_force.protocol.pools
    if name not in pools:
        raise PoolNotDeclared(study=study.slug, pool=name, declared=", ".join(pools))
    return pools[name]
