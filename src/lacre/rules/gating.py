"""The gate: `guarda` answers verdicts, a limited number of times (rule 10)."""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from math import floor
from typing import Any

from lacre.canonical import canonical_json
from lacre.errors import GateOnlyGuarda, GuardaExhausted, GuardaRetired, GuardaSpentElsewhere, SealedAsOther
from lacre.protocol.models import Protocol
from lacre.rules.answers import Gated
from lacre.rules.changes import uses
from lacre.rules.overlap_words import gated_text
from lacre.rules.requests import Read
from lacre.rules.state import CorpusState, PoolState, StudyState
from lacre.rules.wire import moment


def analyses_of_gate(protocol: Protocol) -> tuple[str, ...]:
    """The analyses a gate runs: all that are registered on `guarda`."""
    return tuple(
        name for name, plan in protocol.analyses.items() if protocol.pools[plan.pool].role == "guarda"
    )


def reads_left(study: StudyState, pool: PoolState, gated: Iterable[Gated] | None = None) -> int:
    """How many reads of `guarda` the plan in force still allows, after those that other studies had of its cases.

    Those are `gated`, as found just now, or else as they were found at the last read. A read spends the share of
    the error rate that its own study's budget gives it, and all reads of the same cases spend no more than the whole.
    """
    most = study.in_force.protocol.pools[pool.name].max_reads or 0
    own = pool.of_class("guarda")
    if gated is None:
        gated = own[-1].gated if own else ()
    spent = sum((Fraction(each.reads, each.most) for each in gated), Fraction(0))
    return max(0, floor((1 - spent) * most) - len(own))


def budget(study: StudyState, pool: PoolState | CorpusState) -> int:
    """How many reads a pool was allowed when it was first asked for a verdict; an amendment since retires it."""
    first = next(iter(pool.of_class("guarda")), None)
    version = None if first is None else study.version(first.request.protocol)
    declared = None if version is None else version.protocol.pools[pool.name].max_reads
    return declared or 1


def check_gate(study: StudyState, pool: PoolState, request: Read, gated: Sequence[Gated] = ()) -> None:
    """Rule 10: all analyses of `guarda`, within its budget, under the plan of its first read.

    `gated` are verdicts that other studies had on its cases.
    """
    protocol = study.in_force.protocol
    analyses = analyses_of_gate(protocol)
    if protocol.pools[pool.name].role != "guarda" or not analyses or request.analyses != analyses:
        raise GateOnlyGuarda(study=study.slug)
    if pool.standing != "guarda":
        raise SealedAsOther(pool=pool.name, entry=pool.sealed.entry, time=moment(pool.sealed.time))
    retired = retired_by(study, pool)
    if retired is not None:
        raise GuardaRetired(pool=pool.name, entry=retired)
    if reads_left(study, pool, ()) == 0:
        most = protocol.pools[pool.name].max_reads
        raise GuardaExhausted(pool=pool.name, most=most, study=study.slug)
    if reads_left(study, pool, gated) == 0:
        raise GuardaSpentElsewhere(pool=pool.name, gated=gated_text(gated))


def retired_by(study: StudyState, pool: PoolState, after: Protocol | None = None) -> int | None:
    """The read of `guarda` after which the plan was amended in what its analyses use, if it was.

    `after` is a plan that would be put in force, in place of the one that is.
    """
    now = canonical_json(uses(after or study.in_force.protocol, pool.name))
    for read in pool.of_class("guarda"):
        version = study.version(read.request.protocol)
        if version is None or canonical_json(uses(version.protocol, pool.name)) != now:
            return read.entry
    return None


def share_of(protocol: Protocol, pool: str, read_class: str) -> Fraction:
    """The part of its error rate that one read may spend: of `guarda`, one of `max_reads`."""
    most = protocol.pools[pool].max_reads if read_class == "guarda" else None
    return Fraction(1, most or 1)


def verdicts_alone(document: Mapping[str, Any]) -> dict[str, Any]:
    """What leaves `guarda` of an analysis: ids and states; no value, bound or left-out count."""
    return {
        **{name: document[name] for name in ("id", "kind", "state", "computed", "confirmatory")},
        "estimates": [],
        "criteria": [
            {name: each[name] for name in ("id", "system", "state", "computed")}
            for each in document["criteria"]
        ],
        "left_out": [],
        "notes": [],
    }
