"""Where a study's course departed from its plan, or its plan from the first one: a record of each, in log order.

A paper lists these. All of them follow from the entries, so a stranger's list is the same.
"""

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from lacre.protocol.difference import Change, difference
from lacre.rules.answers import (
    AmendDecision,
    Gated,
    Infeasible,
    Known,
    Overlap,
    PartDecision,
    PartFacts,
    ReadDecision,
    ReadFacts,
    RegisterFacts,
    SealDecision,
    SealFacts,
    WordsDecision,
)
from lacre.rules.changes import reads_as_sealed
from lacre.rules.common import known_of
from lacre.rules.record import Answered, Recorded
from lacre.rules.requests import (
    HANDS_OUT,
    Amend,
    CommitPart,
    Deviate,
    Erratum,
    Read,
    Register,
    Rewrap,
    Seal,
    Withdraw,
)
from lacre.rules.state import CorpusState, PoolState, Protocols, State, StudyState, step

Kind = Literal[
    "amendment",
    "infeasible",
    "deviation",
    "withdrawal",
    "replacement",
    "shortfall",
    "nonresponse",
    "as-dev",
    "met",
    "handing",
    "alike",
    "not-compared",
    "gated",
    "read",
    "exposing",
    "exposed",
    "review",
    "unfinished",
    "erratum",
]


@dataclass(frozen=True, slots=True)
class Departure:
    """One departure: the entry that shows it, and what was known then.

    `about` is the entry it concerns (a deviation's, the seal replaced, the result corrected), `result` the
    entry of what a read gave, `words` the salted digest of what was said of it, `count` of cases met before.
    `version` is that of the plan from an amendment on, `codes` say why a read is exploratory, or why its result
    is for a person to review. `overlaps` are cases in common with other pools, as the broker declared them; of
    a pool that was `exposed` they name the study and the pool that were read, and `entry` is that read's.
    `others` are pools of the study that were sealed under a plan which read their tables in another way.
    """

    entry: int
    time: str
    by: str
    kind: Kind
    known: tuple[Known, ...] = ()
    pool: str | None = None
    about: int | None = None
    result: int | None = None
    version: int | None = None
    changes: tuple[Change, ...] = ()
    infeasible: tuple[Infeasible, ...] = ()
    codes: tuple[str, ...] = ()
    count: int = 0
    burns: tuple[str, ...] = ()
    words: str | None = None
    overlaps: tuple[Overlap, ...] = ()
    others: tuple[str, ...] = ()


def departures(
    history: Iterable[Recorded], protocols: Protocols, elsewhere: Iterable[Recorded] = ()
) -> tuple[Departure, ...]:
    """Return the departures of the study whose entries are in `history`; entries of keys may be among them.

    `elsewhere` are entries of other studies, by which its pools may have been exposed. Both are in log order.
    """
    state = State(protocols)
    found: list[Departure] = []
    known: dict[int, tuple[Known, ...]] = {}
    ours = ((recorded, True) for recorded in history)
    theirs = ((recorded, False) for recorded in elsewhere)
    for recorded, own in heapq.merge(ours, theirs, key=lambda each: each[0].index):
        if not own:
            found += () if state.study is None else exposed_by(recorded, state.study)
            continue
        before = state.study
        state = step(state, recorded)
        content = recorded.content
        if isinstance(content, Answered) and state.study is not None:
            known[recorded.index] = () if before is None else known_of(before)
            found += _Departing(recorded, content, before, state.study).all()
    if state.study is not None:
        found = [_with_result(each, state.study) for each in _first_told(found)]
        told = {each.entry for each in found if each.kind in {"read", "erratum"}}
        found += _unfinished(state.study, told, known)
    return tuple(sorted(found, key=lambda each: each.entry))


def exposed_by(recorded: Recorded, study: StudyState) -> Iterator[Departure]:
    """Yield what another study's entry exposed of this one: pools that nobody had read, as the broker declared."""
    content = recorded.content
    if not isinstance(content, Answered) or not isinstance(content.request, Read):
        return
    request, facts = content.request, content.facts
    assert isinstance(facts, ReadFacts)
    if request.study == study.slug or request.finishes is not None:
        return
    for each in facts.exposes:
        if each.study == study.slug and each.pool in study.pools:
            seen = each.model_copy(update={"study": request.study, "pool": request.pool})
            yield Departure(
                recorded.index,
                recorded.time,
                content.by,
                "exposed",
                known_of(study),
                pool=each.pool,
                overlaps=(seen,),
            )


def _first_told(found: Iterable[Departure]) -> Iterator[Departure]:
    """Leave out of what pools have in common all that was told before, of either of them, at a seal or a read."""
    told: set[tuple[object, ...]] = set()
    for each in found:
        if each.kind == "exposed":
            told |= {(each.pool, other.study, other.pool) for other in each.overlaps}
        if each.kind != "alike":
            yield each
            continue
        new = []
        for other in each.overlaps:
            one = (each.pool, other.study, other.pool)
            both = {
                (*one, other.kind, other.label),
                (other.pool, other.study, each.pool, other.kind, other.label),
            }
            if one not in told and not both & told:
                new.append(other)
            told |= both
        if new:
            yield replace(each, overlaps=tuple(new))


def _with_result(found: Departure, study: StudyState) -> Departure:
    if found.pool is None or found.kind not in {"read", "erratum", "exposing"}:
        return found
    pool = study.holding(found.pool)
    return found if pool is None else replace(found, result=pool.result_of(found.entry))


def _unfinished(
    study: StudyState, told: set[int], known: dict[int, tuple[Known, ...]]
) -> Iterator[Departure]:
    for pool in study.holds:
        for read in pool.unfinished:
            if read.entry not in told:
                yield Departure(
                    read.entry, read.time, read.by, "unfinished", known[read.entry], pool=pool.name
                )


def _in_common(gated: Gated) -> Overlap:
    return Overlap(study=gated.study, pool=gated.pool, kind="cases", count=gated.cases)


class _Departing:
    """The departures that one entry shows."""

    def __init__(
        self, recorded: Recorded, content: Answered, before: StudyState | None, after: StudyState
    ) -> None:
        self._recorded = recorded
        self._content = content
        self._before = before
        self._after = after

    def all(self) -> Iterator[Departure]:
        match self._content.request:
            case Register() | Amend() as request:
                yield from self._plan(request)
            case Deviate() as request:
                yield self._said("deviation", request.text, about=request.about)
            case Withdraw() as request:
                yield self._said("withdrawal", request.reason)
            case Seal() as request:
                yield from self._seal(request)
            case CommitPart() as request:
                yield from self._part(request)
            case Rewrap() as request:
                yield self._handing(request)
            case Read() as request:
                yield from self._read(request)
            case Erratum() as request:
                yield self._made("erratum", pool=request.pool, about=request.corrects, words=request.reason)

    def _made(self, kind: Kind, **more: object) -> Departure:
        fields = {"known": () if self._before is None else known_of(self._before), **more}
        recorded, by = self._recorded, self._content.by
        return Departure(recorded.index, recorded.time, by, kind, **fields)  # type: ignore[arg-type]

    def _said(self, kind: Kind, words: str, about: int | None = None) -> Departure:
        decision = self._content.decision
        assert isinstance(decision, WordsDecision)
        return self._made(kind, known=decision.known, about=about, words=words)

    def _plan(self, request: Register | Amend) -> Iterator[Departure]:
        facts, decision = self._content.facts, self._content.decision
        if isinstance(decision, AmendDecision) and isinstance(request, Amend):
            before, after = self._after.versions[-2:]
            yield self._made(
                "amendment",
                known=decision.known,
                version=decision.version,
                changes=difference(before.protocol, after.protocol, whole=True),
                burns=decision.burns,
                words=request.reason,
            )
        assert isinstance(facts, RegisterFacts)
        if facts.infeasible:
            yield self._made("infeasible", infeasible=facts.infeasible, words=request.accept_infeasible)

    def _seal(self, request: Seal) -> Iterator[Departure]:
        facts, decision = self._content.facts, self._content.decision
        assert isinstance(facts, SealFacts)
        assert isinstance(decision, SealDecision)
        pool = request.pool
        if request.replaces is not None and self._before is not None:
            rows = self._before.pools[pool].sealed.facts.rows
            changes = tuple(
                Change(f"{pool}.{table}", rows.get(table, 0), count) for table, count in facts.rows.items()
            )
            yield self._made(
                "replacement", pool=pool, about=request.replaces, changes=changes, words=request.reason
            )
        if decision.shortfall:
            short = tuple(Change(f"{pool}.{s.table}", s.planned, s.rows) for s in decision.shortfall)
            yield self._made("shortfall", pool=pool, changes=short)
        silent = tuple(
            Change(f"{pool}.{each.draw}", facts.rows[each.draw] + each.absent, facts.rows[each.draw])
            for each in facts.draws or ()
            if each.absent
        )
        if silent:
            yield self._made("nonresponse", pool=pool, changes=silent)
        if decision.standing != pool:
            yield self._made("as-dev", pool=pool)
        if facts.remembered:
            yield self._made("met", pool=pool, count=facts.remembered)
        yield from self._alike(pool, facts)
        # Of these the plan had other keys, units or inputs: what does not show is not known to be apart.
        others = tuple(
            name
            for name in self._after.pools
            if name != pool and not reads_as_sealed(self._after, name, self._after.in_force.protocol)
        )
        if others:
            yield self._made("not-compared", pool=pool, others=others)

    def _part(self, request: CommitPart) -> Iterator[Departure]:
        facts, decision = self._content.facts, self._content.decision
        assert isinstance(facts, PartFacts)
        assert isinstance(decision, PartDecision)
        pool = request.pool
        if decision.shortfall:
            short = tuple(Change(f"{pool}.{s.table}", s.planned, s.rows) for s in decision.shortfall)
            yield self._made("shortfall", pool=pool, changes=short)
        if facts.remembered:
            yield self._made("met", pool=pool, count=facts.remembered)
        yield from self._alike(pool, facts)

    def _alike(self, pool: str, facts: SealFacts | ReadFacts | PartFacts) -> Iterator[Departure]:
        if facts.shared or facts.exposed:
            yield self._made("alike", pool=pool, overlaps=(*facts.shared, *facts.exposed))

    def _handing(self, request: Rewrap) -> Departure:
        held = self._pool(request.pool)
        assert isinstance(held, PoolState), "an open pool is not handed on"
        before = held.recipients
        change = Change(f"{request.pool}.recipients", list(before), list(request.recipients))
        return self._made("handing", pool=request.pool, changes=(change,), words=request.reason)

    def _read(self, request: Read) -> Iterator[Departure]:
        facts, decision = self._content.facts, self._content.decision
        assert isinstance(facts, ReadFacts)
        assert isinstance(decision, ReadDecision)
        if request.purpose in HANDS_OUT:
            return
        pool = request.pool
        if request.finishes is not None:
            before = self._read_at(request.finishes)
            new = tuple(code for code in decision.review if code not in before.review)
            if new:
                yield self._made("review", pool=pool, about=request.finishes, codes=new)
            return
        # A pool's name is its role. On dev everything is tried; elsewhere, what is not registered departs.
        if decision.exploratory and pool != "dev":
            burns = (pool,) if decision.burns else ()
            yield self._made("read", pool=pool, codes=decision.exploratory, burns=burns, words=request.reason)
        if decision.review:
            yield self._made("review", pool=pool, about=self._recorded.index, codes=decision.review)
        if facts.exposes:
            yield self._made("exposing", pool=pool, overlaps=facts.exposes, words=request.reason)
        if facts.gated:
            yield self._made("gated", pool=pool, overlaps=tuple(map(_in_common, facts.gated)))
        if facts.remembered > self._pool(pool).remembered:
            yield self._made("met", pool=pool, count=facts.remembered)
        yield from self._alike(pool, facts)

    def _read_at(self, entry: int) -> ReadDecision:
        assert self._before is not None, "a read's entry comes after its study's registration"
        found = self._before.read_at(entry)
        assert found is not None, "the law lets no other read be finished than one on record"
        return found[1].decision

    def _pool(self, name: str) -> PoolState | CorpusState:
        assert self._before is not None, "a pool's entries come after its study's registration"
        found = self._before.holding(name)
        assert found is not None, "the law lets no other pool be read than one on record"
        return found
