"""The history of one result: what was promised, sealed and read, by whom and in which order. Plain data.

Words are made of it elsewhere.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from lacre.rules.answers import Known, Shortfall
from lacre.rules.custody import grade_of
from lacre.rules.drawing import DrawTold, draws_told
from lacre.rules.history import Handed, PartMade, ReadMade
from lacre.rules.record import Answered, Recorded, Result
from lacre.rules.remarks import Remark, Text, TextOf, remark, remarks_on
from lacre.rules.requests import Erratum
from lacre.rules.state import CorpusState, PoolState, StudyState

When = Literal["before", "itself", "after"]


@dataclass(frozen=True, slots=True)
class Registration:
    """When the study was registered, by whom (a key id), and under which protocol hash."""

    entry: int
    time: str
    by: str
    protocol: str


@dataclass(frozen=True, slots=True)
class SealTold:
    """How the pool was sealed: by whom, to whom (age recipients), as what, and how far short of the plan.

    `remembered` counts cases that the broker had met in other ledgers; `draws` tell how they were drawn by plan.
    """

    entry: int
    time: str
    by: str
    standing: str
    shortfall: tuple[Shortfall, ...]
    recipients: tuple[str, ...]
    remembered: int
    draws: tuple[DrawTold, ...] = ()


@dataclass(frozen=True, slots=True)
class PartTold:
    """One part of an open pool: when it was committed and by whom, its rows, and the SHA-256 of its files."""

    entry: int
    time: str
    by: str
    part: str
    rows: int
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GrownTold:
    """A version of an open pool that was begun: by whom, and which result's paradox it answers."""

    entry: int
    time: str
    by: str
    version: int
    result: int


@dataclass(frozen=True, slots=True)
class HandedTold:
    """How the pool changed hands: by whom, and to whom (age recipients)."""

    entry: int
    time: str
    by: str
    recipients: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AmendedTold:
    """An amendment of the plan; `when` places it around the read that the result is of.

    `known` is what had been read, `burns` the pools it made `dev`, and `why` what was said of it.
    """

    entry: int
    time: str
    by: str
    version: int
    protocol: str
    known: tuple[Known, ...]
    burns: tuple[str, ...]
    why: Text
    when: When


@dataclass(frozen=True, slots=True)
class ReadTold:
    """A read of the pool; `when` places it around the read that the result is of.

    `finishes` names the read that this is another attempt at, `corrects` the result that it scores again;
    `result` and `state` are what it gave, if any.
    """

    entry: int
    time: str
    by: str
    purpose: str
    read_class: str
    number: int
    burns: bool
    finishes: int | None
    result: int | None
    state: str | None
    when: When
    corrects: int | None = None


@dataclass(frozen=True, slots=True)
class ResultTold:
    """The result, and why it is not confirmatory if it is not.

    `exploratory` and `review` hold the reason codes of its read's decision, `retrospective` tells of prior
    exposure.
    """

    entry: int
    time: str
    state: str
    confirmatory: bool
    exploratory: tuple[str, ...]
    retrospective: bool
    review: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Story:
    """The history of the result `STUDY@ENTRY`, in order.

    `role` is what the protocol declares the pool as and `now` what it counts as today; `custody` is its grade,
    through all the hands it went. An open pool has no `seal`, and `parts` in its place. `handed` is how the pool
    changed hands, and `replaced` are the entries of the seals whose place `seal` took. `deviations` are of the
    study, or of this result. `last` is the last entry of the study that is shown, and `left_out` of those after it
    are not: any may be of the study, so that `now` and all that counts later entries holds up to `last` alone.
    """

    study: str
    entry: int
    pool: str
    role: str
    registration: Registration
    seal: SealTold | None
    reads: tuple[ReadTold, ...]
    result: ResultTold
    now: str
    custody: str
    handed: tuple[HandedTold, ...] = ()
    replaced: tuple[int, ...] = ()
    amendments: tuple[AmendedTold, ...] = ()
    deviations: tuple[Remark, ...] = ()
    withdrawn: Remark | None = None
    last: int = 0
    left_out: int = 0
    parts: tuple[PartTold, ...] = ()
    versions: tuple[GrownTold, ...] = ()
    shortfall: tuple[Shortfall, ...] = ()

    @property
    def name(self) -> str:
        """The result's name, `STUDY@ENTRY`."""
        return f"{self.study}@{self.entry}"


def tell(
    study: StudyState,
    history: Iterable[Recorded],
    entry: int,
    recipient: str,
    text_of: TextOf,
    left_out: Collection[int] = (),
) -> Story | None:
    """Return the story of the result at `entry`, or None when what is known of the study has no such result.

    `history` holds the study's entries; `recipient` is the ledger's own, `left_out` are entries that are not
    shown.
    """
    recorded = {each.index: each for each in history}
    ended = recorded.get(entry)
    first = recorded.get(study.registered.entry)
    if ended is None or not isinstance(ended.content, Result) or first is None:
        return None
    found = study.read_at(ended.content.read)
    if found is None or not isinstance(first.content, Answered):
        return None
    pool, read = found
    registered = study.registered
    by = first.content.by
    last = max(recorded)
    return Story(
        study=study.slug,
        entry=entry,
        pool=pool.name,
        role=registered.protocol.pools[pool.name].role,
        registration=Registration(registered.entry, registered.time, by, registered.protocol_hash),
        seal=_seal(study, pool, read) if isinstance(pool, PoolState) else None,
        reads=tuple(_read(each, read) for each in pool.reads),
        result=_result(ended, ended.content, read),
        now=pool.standing,
        custody=grade_of(pool, recipient),
        handed=tuple(_handed(each) for each in pool.handed) if isinstance(pool, PoolState) else (),
        replaced=tuple(each.entry for each in pool.replaced) if isinstance(pool, PoolState) else (),
        amendments=tuple(_amendments(study, read, text_of)),
        deviations=remarks_on(study, read, text_of),
        withdrawn=remark(study.withdrawn, text_of) if study.withdrawn is not None else None,
        last=last,
        left_out=sum(index > last for index in left_out),
        parts=tuple(map(_part, pool.parts)) if isinstance(pool, CorpusState) else (),
        versions=tuple(_versions(pool)) if isinstance(pool, CorpusState) else (),
        shortfall=pool.shortfall,
    )


def _amendments(study: StudyState, read: ReadMade, text_of: TextOf) -> Iterator[AmendedTold]:
    for number, version in enumerate(study.versions, 1):
        if version.amended is not None and version.reason is not None:
            yield AmendedTold(
                entry=version.entry,
                time=version.time,
                by=version.by,
                version=number,
                protocol=version.protocol_hash,
                known=version.amended.known,
                burns=version.amended.burns,
                why=text_of(version.reason),
                when="before" if version.entry < read.first_attempt else "after",
            )


def _seal(study: StudyState, pool: PoolState, read: ReadMade) -> SealTold:
    sealed = pool.sealed
    return SealTold(
        entry=sealed.entry,
        time=sealed.time,
        by=sealed.by,
        standing=sealed.decision.standing,
        shortfall=sealed.decision.shortfall,
        recipients=sealed.request.recipients,
        remembered=sealed.facts.remembered,
        draws=draws_told(study, pool, read),
    )


def _part(made: PartMade) -> PartTold:
    return PartTold(
        entry=made.entry,
        time=made.time,
        by=made.by,
        part=made.request.part,
        rows=sum(made.facts.rows.values()),
        files=tuple(file.sha256 for file in made.request.files),
    )


def _versions(corpus: CorpusState) -> Iterator[GrownTold]:
    for version, made in enumerate(corpus.rebalances, 2):
        yield GrownTold(made.entry, made.time, made.by, version, made.request.result)


def _handed(each: Handed) -> HandedTold:
    return HandedTold(each.entry, each.time, each.by, each.request.recipients)


def _read(each: ReadMade, own: ReadMade) -> ReadTold:
    return ReadTold(
        entry=each.entry,
        time=each.time,
        by=each.by,
        purpose=each.request.purpose,
        read_class=each.read_class,
        number=each.decision.number,
        burns=each.decision.burns,
        finishes=each.request.finishes,
        result=each.result,
        state=each.state,
        when="itself" if each.entry == own.entry else "before" if each.entry < own.entry else "after",
        corrects=each.request.corrects if isinstance(each.request, Erratum) else None,
    )


def _result(recorded: Recorded, result: Result, read: ReadMade) -> ResultTold:
    decision = read.decision
    return ResultTold(
        entry=recorded.index,
        time=result.time,
        state=result.state,
        confirmatory=result.confirmatory,
        exploratory=decision.exploratory,
        retrospective=decision.retrospective,
        review=decision.review,
    )
