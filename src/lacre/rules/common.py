"""Checks that several families of requests share: the study, its protocol, the signer's role."""

from lacre.errors import KeyNotEntitled, PoolNotDeclared, ProtocolNotInForce, StudyNotRegistered
from lacre.protocol.pools import Pool
from lacre.rules.state import State, StudyState


def require_role(state: State, by: str, role: str) -> None:
    """Refuse a signer whose key does not hold `role` at the next entry."""
    key = state.keys.get(by)
    if key is None or not key.may(role, state.next_index):
        raise KeyNotEntitled(key=by[:16], role=role)


def require_study(state: State, slug: str) -> StudyState:
    """Rule 1: nothing of a study precedes its registration."""
    if state.study is None:
        raise StudyNotRegistered(study=slug)
    return state.study


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
