"""Which pools of a study call their cases alike, so that ids alone tell whether they share some (rule 12)."""

from lacre.protocol.models import Protocol
from lacre.rules.state import CorpusState, PoolState, StudyState


def ids_decide(study: StudyState, pool: str, other: PoolState | CorpusState) -> bool:
    """Rule 12: whether the ids of a pool and of another on record name the same things, and of no table something else.

    The pool is as the protocol in force declares it, the other as that declared it under which it was sealed, or
    committed in the open.
    """
    sealed = study.version(other.declared_by)
    if sealed is None:
        return False
    here, there = _naming(study.in_force.protocol, pool), _naming(sealed.protocol, other.name)
    return bool(set(here.values()) & set(there.values())) and all(
        here[name] == there[name] for name in here.keys() & there.keys()
    )


def _naming(protocol: Protocol, pool: str) -> dict[str, tuple[str, ...]]:
    """By what the cases of each table of a pool are known: its namespace, or its name and key."""
    held = protocol.pools[pool].tables if pool in protocol.pools else []
    return {
        name: ("namespace", namespace)
        if (namespace := protocol.tables[name].id_namespace) is not None
        else ("table", name, *protocol.tables[name].key)
        for name in held
    }
