"""What is found before a read: all that costs nothing, so that a refusal spends nothing (rule 5)."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from lacre.broker.asking import RequestFile
from lacre.broker.desk import BLANK, Desk, ask_beforehand
from lacre.broker.drawn import still_as_drawn
from lacre.broker.opening import sealed_of
from lacre.broker.overlaps import Gathered, gather, prints_of
from lacre.broker.register import engine, load_protocol
from lacre.broker.submissions import (
    Submission,
    context_of,
    load_submissions,
    match_ids,
    outside_of,
    reopen,
    same_submissions,
)
from lacre.errors import (
    FingerprintKeyClosed,
    IdentityCannotOpen,
    KeyMissing,
    LacreError,
    PoolBlobMissing,
    ProtocolNotInForce,
    ReadInProgress,
    SubmissionCannotOpen,
)
from lacre.pools import vault
from lacre.pools.held import held
from lacre.pools.met import met_elsewhere, person_key
from lacre.protocol.difference import difference, render
from lacre.protocol.document import protocol_hash
from lacre.protocol.models import Protocol
from lacre.rules.answers import ReadDecision, ReadFacts, SubmissionFacts
from lacre.rules.common import require_sealed, require_study
from lacre.rules.decide import decide
from lacre.rules.history import ReadMade, Version
from lacre.rules.reading import may_finish, sealed_pool
from lacre.rules.requests import Read, SealedRecord, Submitted
from lacre.rules.state import PoolState, State, StudyState
from lacre.rules.submitting import Wanted, wanted_for_analyses, wanted_for_thresholds
from lacre.rules.thresholds import frozen_for
from lacre.store.locks import try_lock

IDS, OVERLAPS = "ids", "overlaps"
"""What cannot be checked where the fingerprint key, or the pools' fingerprints, are not at hand."""


@dataclass(frozen=True, slots=True)
class Ask:
    """What is asked of a pool: by the user of this desk, or by whoever signed `request`.

    `analyses` are those of the protocol in force; a crashed read is finished with its own. `protocol` is a
    protocol file that the one in force must be (rule 11). `thresholds` are to be calibrated, `rung` names a mitigation
    by training.
    """

    purpose: Literal["reveal", "run", "calibrate", "gate"]
    study: str
    pool: str
    analyses: tuple[str, ...]
    files: Sequence[str] = ()
    accept_dev: bool = False
    accept_exposure: bool = False
    dry_run: bool = False
    protocol: str | Path | bytes | None = None
    reason: str | None = None
    request: RequestFile | None = None
    thresholds: tuple[str, ...] = ()
    accept_burn: bool = False
    rung: str | None = None

    def wanted(self, protocol: Protocol) -> Wanted:
        """What is to be submitted."""
        if self.purpose == "calibrate":
            return wanted_for_thresholds(protocol, self.thresholds)
        return wanted_for_analyses(protocol, self.analyses, self.rung)

    def load(self, desk: Desk, protocol: Protocol) -> tuple[Submission, ...]:
        """Read and type what was given."""
        what = self.analyses or self.thresholds
        return load_submissions(desk, protocol, self.wanted(protocol), self.files, what)


@dataclass(frozen=True, slots=True)
class Found:
    """The state a read is judged on, its submissions, and what was found without reading.

    `version` is the protocol that the read is made under: that in force, or, of a crashed read that is finished,
    its own. `kept` are the submissions that an earlier read kept, by system, where they are the same.
    `unchecked` names what could not be; `answered` is a read of `guarda` that gave a verdict on the same submission.
    """

    ask: Ask
    state: State
    study: StudyState
    pool: PoolState
    version: Version
    submissions: tuple[Submission, ...]
    facts: ReadFacts
    gathered: Gathered | None
    finishes: ReadMade | None = None
    ignored: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    outside: Mapping[str, int] = field(default_factory=dict)
    kept: Mapping[str, Submitted] = field(default_factory=dict)
    unchecked: tuple[str, ...] = ()
    answered: ReadMade | None = None


@contextmanager
def crashed_read(
    desk: Desk, state: State, study: StudyState, ask: Ask, only: int | None = None
) -> Iterator[ReadMade | None]:
    """Rule 16: the spent read that this call may finish, its lock held meanwhile; None if there is none.

    `only` names the one read that is looked for.
    """
    pool = study.pools.get(ask.pool)
    finishable = () if pool is None or ask.accept_dev else pool.unfinished
    for read in finishable:
        if not _may_finish(read, ask) or only not in {None, read.entry}:
            continue
        lock = try_lock(desk.layout.locks, read.request.nonce)
        if lock is None:
            raise ReadInProgress(pool=read.request.pool, entry=read.entry)
        try:
            if not ask.files or _is_same(desk, state, study, ask, read):
                yield read
                return
        finally:
            lock.release()
    yield None


def _may_finish(read: ReadMade, ask: Ask) -> bool:
    # A reveal is of whichever analyses its own protocol has on the pool.
    analyses = read.request.analyses if ask.purpose in {"reveal", "gate"} else ask.analyses
    same_rung = isinstance(read.request, Read) and read.request.rung == ask.rung
    return same_rung and may_finish(read, ask.purpose, analyses)


def _is_same(desk: Desk, state: State, study: StudyState, ask: Ask, read: ReadMade) -> bool:
    """Whether the files that are given are those of a crashed read, typed by its own protocol."""
    version = version_of(study, read)
    try:
        given = replace(ask, analyses=read.request.analyses).load(desk, version.protocol)
    except LacreError:
        if version == study.in_force:
            raise
        return False  # files for another protocol; if they do not fit that in force either, it is told
    pool = study.pools[read.request.pool]
    return same_submissions(desk, state, ask.study, pool, read.request.submissions, given)


def version_of(study: StudyState, finishes: ReadMade | None) -> Version:
    """The protocol a read is made under: that in force, or that of the crashed read which it finishes."""
    version = study.in_force if finishes is None else study.version(finishes.request.protocol)
    assert version is not None, "the law granted no read under a protocol that the study never had"
    return version


def check_protocol(ask: Ask, version: Version) -> None:
    """Rule 11: a protocol file that is given must be the one in force; the refusal shows the difference."""
    if ask.protocol is None:
        return
    _name, given = load_protocol(ask.protocol)
    if protocol_hash(given) != version.protocol_hash:
        changes = render(difference(version.protocol, given))
        raise ProtocolNotInForce(study=ask.study, difference=changes)


def find(desk: Desk, ask: Ask, state: State, study: StudyState, finishes: ReadMade | None = None) -> Found:
    """All that can be known without the read, cheapest first; a refusal here costs nothing."""
    found = _begin(desk, ask, state, study, finishes)
    ask, pool, protocol = found.ask, found.pool, found.version.protocol
    kept: Mapping[str, Submitted] = {}
    if finishes is not None:
        submissions = reopen(desk, protocol, state, pool, finishes.request.submissions)
        kept = {s.system: s for s in finishes.request.submissions}
    elif ask.request is not None:
        # Who cannot open the pool is told that first, and who holds it.
        _check_pool(desk, state, pool, ask.study)
        submissions = _carried(desk, ask.request, protocol, state, pool)
    else:
        submissions = ask.load(desk, protocol)
    person_key(desk.state_folder, desk.entropy)  # what is met has to be written down after the read
    prints = prints_of(desk, ask.study, pool)
    matched = match_ids(desk, state, protocol, prints, submissions)
    if ask.request is None or finishes is not None:
        _check_pool(desk, state, pool, ask.study)
    gathered = gather(desk, desk.snapshot(), study, pool.name, prints)
    if finishes is None and ask.request is None:
        kept = _kept_before(desk, ask, state, pool, submissions)
    return replace(
        found,
        facts=facts_of(desk, state, pool, matched, gathered),
        gathered=gathered,
        kept=kept,
        answered=_answered_before(desk, ask, state, study, submissions) if finishes is None else None,
        **_told(protocol, submissions),
    )


def find_unopened(
    desk: Desk, ask: Ask, state: State, study: StudyState, finishes: ReadMade | None = None
) -> Found:
    """What can be known by one who cannot open the pool, and may not even have its files."""
    found = _begin(desk, ask, state, study, finishes)
    ask, pool, protocol = found.ask, found.pool, found.version.protocol
    submissions: tuple[Submission, ...] = ()
    kept: Mapping[str, Submitted] = {}
    if finishes is None:
        submissions = ask.load(desk, protocol)
    else:
        kept = {s.system: s for s in finishes.request.submissions}
    unchecked = {IDS} if submissions else set()
    matched: list[SubmissionFacts] = []
    gathered = None
    with suppress(PoolBlobMissing):
        prints = prints_of(desk, ask.study, pool)
        with suppress(KeyMissing, FingerprintKeyClosed):
            matched = match_ids(desk, state, protocol, prints, submissions)
            unchecked.discard(IDS)
        gathered = gather(desk, desk.snapshot(), study, pool.name, prints)
    if gathered is None:
        unchecked.add(OVERLAPS)
    return replace(
        found,
        facts=facts_of(desk, state, pool, matched, gathered),
        gathered=gathered,
        kept=kept,
        unchecked=tuple(sorted(unchecked)),
        **_told(protocol, submissions),
    )


def _begin(desk: Desk, ask: Ask, state: State, study: StudyState, finishes: ReadMade | None) -> Found:
    """What is asked, under which protocol, and what the law says of it without any facts.

    Of a read that goes on here with a crashed one nothing is asked: it is signed only later.
    """
    version = version_of(study, finishes)
    if finishes is not None:
        ask = replace(ask, analyses=finishes.request.analyses)
    check_protocol(ask, version)
    pool = sealed_pool(study, ask.pool) if finishes is None else require_sealed(study, ask.pool)
    found = Found(ask, state, study, pool, version, (), ReadFacts(engine=engine()), None, finishes)
    if finishes is None or ask.request is not None:
        ask_law(desk, found)
    return found


def _carried(
    desk: Desk, request: RequestFile, protocol: Protocol, state: State, pool: PoolState
) -> tuple[Submission, ...]:
    """The submissions that came with a request, opened."""
    try:
        return reopen(desk, protocol, state, pool, request.asked.submissions, request)
    except IdentityCannotOpen as error:
        raise SubmissionCannotOpen(count=error.fields["count"], file=request.name) from error


def _check_pool(desk: Desk, state: State, pool: PoolState, study: str) -> None:
    vault.check_pool(desk.vault, context_of(state, study, pool), sealed_of(pool), desk.identities())


def _told(protocol: Protocol, submissions: tuple[Submission, ...]) -> dict[str, Any]:
    """The submissions, and what is told of them: columns that are not used, values that are not declared."""
    return {
        "submissions": submissions,
        "ignored": {
            ":".join(filter(None, (s.system, name))): table.typed.undeclared
            for s in submissions
            for name, table in s.tables.items()
            if table.typed.undeclared
        },
        "outside": {label: n for s in submissions for label, n in outside_of(protocol, s).items()},
    }


def _kept_before(
    desk: Desk, ask: Ask, state: State, pool: PoolState, submissions: Sequence[Submission]
) -> dict[str, Submitted]:
    """Rule 9: of a further analysis on `contraste`, the submissions that earlier ones kept, by system, if the same."""
    kept: dict[str, Submitted] = {}
    if pool.standing != "contraste":
        return kept
    for new in submissions:
        for read in pool.of_class("contraste"):
            for old in read.request.submissions:
                if new.system not in kept and same_submissions(desk, state, ask.study, pool, [old], [new]):
                    kept[new.system] = old
    return kept


def _answered_before(
    desk: Desk, ask: Ask, state: State, study: StudyState, submissions: Sequence[Submission]
) -> ReadMade | None:
    """Rule 10: a read that gave a verdict on the same submission, at the same thresholds, as another one would."""
    if ask.purpose != "gate":
        return None
    pool, protocol = study.pools[ask.pool], study.in_force.protocol
    now = frozen_for(study, protocol, ask.analyses)
    for read in pool.of_class("guarda"):
        if pool.result_of(read.entry) is None or frozen_for(study, protocol, ask.analyses, read.entry) != now:
            continue
        # An earlier submission that cannot be opened is no reason to refuse this one.
        with suppress(LacreError):
            if same_submissions(desk, state, ask.study, pool, read.request.submissions, submissions):
                return read
    return None


def facts_of(
    desk: Desk, state: State, pool: PoolState, matched: Sequence[SubmissionFacts], gathered: Gathered | None
) -> ReadFacts:
    """The facts of a read, as they are put to the law and on record."""
    personal = held(desk.state_folder, pool.sealed.request.fingerprints)
    met = met_elsewhere(desk.state_folder, state.genesis, personal) if personal else 0
    # Verdicts expose nothing, and share a budget with those of other studies.
    verdicts = pool.standing == "guarda"
    return ReadFacts(
        engine=engine(),
        submissions=tuple(matched),
        shared=gathered.shared if gathered else (),
        exposed=gathered.exposed if gathered else (),
        exposes=gathered.exposes if gathered and not verdicts else (),
        remembered=max(met, pool.sealed.facts.remembered),
        gated=(gathered.gated or None) if gathered and verdicts else None,
        draws=still_as_drawn(desk, require_study(state, pool.sealed.request.study), pool),
    )


# --- the law, asked beforehand -----------------------------------------------------------------------------


def ask_law(desk: Desk, found: Found) -> ReadDecision:
    """What the law says of the read on what is known so far; its refusal passes through."""
    request = found.ask.request
    if request is not None:
        decision = decide(found.state, request.asked, request.by, found.facts)
    else:
        fields = fields_of(found, found.kept)
        decision = ask_beforehand(desk, found.state, Read, found.facts, **fields)
    assert isinstance(decision, ReadDecision)
    return decision


def fields_of(found: Found, kept: Mapping[str, Submitted] = MappingProxyType({})) -> dict[str, Any]:
    """The fields of the request, what binds it apart; submissions that are not `kept` yet are left blank."""
    ask = found.ask
    return {
        "purpose": ask.purpose,
        "study": ask.study,
        "pool": ask.pool,
        "protocol": found.version.protocol_hash,
        "analyses": ask.analyses,
        "accept_dev": ask.accept_dev,
        "accept_exposure": ask.accept_exposure,
        "finishes": found.finishes.entry if found.finishes else None,
        "ciphertext": found.pool.sealed.request.ciphertext,
        "submissions": tuple(
            kept.get(each.system, each) for each in _placeholders(ask.wanted(found.version.protocol))
        ),
        "thresholds": ask.thresholds or None,
        "accept_burn": ask.accept_burn or None,
        "rung": ask.rung,
    }


def _placeholders(want: Wanted) -> tuple[Submitted, ...]:
    """Submissions as the law will see them, before they are loaded and kept."""
    records = tuple(SealedRecord(table=table, format="csv", hmac=BLANK) for table in want.tables)
    return tuple(
        Submitted(system=system, records=records, blob=BLANK, wrapped_key=BLANK) for system in want.systems
    )
