"""Answer a request that somebody else signed: verify it, and carry it out as if they had asked here.

The request is spent with its own signature, once: its nonce is. Whoever answers needs an identity that opens
the pool, and to finish a crashed answer a key that may ask for a read, too (rule 16).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from lacre.broker.asking import RequestFile
from lacre.broker.desk import Desk, view
from lacre.broker.finding import Ask
from lacre.broker.outcomes import ReadPlanned, ResultShown
from lacre.broker.reading import carry_out, finish
from lacre.errors import (
    KeyNotEnrolled,
    KeyRevoked,
    ProtocolNotInForce,
    RequestBeforeAmendment,
    RequestFileInvalid,
    RequestHistoryDiffers,
    RequestInProgress,
    RequestKeyRevoked,
    RequestOfOtherStudy,
)
from lacre.ledger.keys import PublicKey
from lacre.rules.common import require_study
from lacre.rules.decide import check_bound
from lacre.rules.history import ReadMade
from lacre.rules.state import State, StudyState
from lacre.store.locks import Lock, try_lock
from lacre.store.reader import Reader
from lacre.text import _


def answer(
    desk: Desk,
    file: Path,
    *,
    study: str | None = None,
    dry_run: bool = False,
    protocol: str | Path | bytes | None = None,
) -> ResultShown | ReadPlanned:
    """Carry out the reveal that the request in `file` asks for, or finish it if that crashed.

    `study` and `protocol`, when given, must be the request's. Raises `RequestFileInvalid`, and of a request that
    is whole `RecordInvalid` (another ledger's), `KeyNotEnrolled`, `SignatureInvalid`, `RequestHistoryDiffers`,
    `RequestBeforeAmendment`, `RequestKeyRevoked`, `RequestAnswered`, `RequestInProgress`, and all that a read is
    refused with. None of them spends anything.
    """
    request = RequestFile.load(file)
    asked = request.asked
    if asked.purpose != "reveal":
        why = _("it asks for a `{verb}`").format(verb=asked.purpose)
        raise RequestFileInvalid(file=request.name, why=why)
    if study not in {None, asked.study}:
        raise RequestOfOtherStudy(file=request.name, study=asked.study, named=study)
    ask = Ask(
        purpose="reveal",
        study=asked.study,
        pool=asked.pool,
        analyses=asked.analyses,
        accept_dev=asked.accept_dev,
        accept_exposure=asked.accept_exposure,
        dry_run=dry_run,
        protocol=protocol,
        request=request,
    )
    _look(desk, request)
    with _alone(desk, request) as lock:
        state, known = _look(desk, request)
        spent = _spent_by(known, request)
        if spent is None:
            with _told_to_who_answers(desk, request):
                if asked.finishes is not None:
                    return finish(desk, ask, asked.finishes, lock)
                return carry_out(desk, ask, state, known, lock=lock)
    # It was begun before: whoever runs this signs for going on with it.
    return finish(desk, replace(ask, request=None, accept_dev=False), spent.first_attempt)


@contextmanager
def _alone(desk: Desk, request: RequestFile) -> Iterator[Lock]:
    """Hold the request's lock, which is the one of its read: of several processes one answers it."""
    asked = request.asked
    lock = try_lock(desk.layout.locks, asked.nonce)
    if lock is None:
        raise RequestInProgress(study=asked.study, pool=asked.pool)
    try:
        yield lock
    finally:
        lock.release()


def _look(desk: Desk, request: RequestFile) -> tuple[State, StudyState]:
    """The study as it stands now, and that the request was signed by somebody here, for what is here."""
    with desk.snapshot() as reader:
        state = view(reader, request.asked.study)
        check_bound(state, request.asked)
        _check_signature(state, request)
        _check_seen(reader, request)
    return state, require_study(state, request.asked.study)


def _check_signature(state: State, request: RequestFile) -> None:
    """The signature is that of an enrolled key; whether this may ask, the law decides at the entry."""
    key = state.keys.get(request.by)
    if key is None:
        raise KeyNotEnrolled(key=request.by[:16], role="registrant")
    request.envelope.verify(PublicKey(bytes.fromhex(key.public)))


def _check_seen(reader: Reader, request: RequestFile) -> None:
    """The history its signer had seen is a beginning of this one."""
    seen = request.asked.seen
    if seen.size > reader.size:
        why = _("this one has {size}").format(size=reader.size)
    elif reader.root_at(seen.size).hex() != seen.root:
        why = _("those of this one are others")
    else:
        return
    raise RequestHistoryDiffers(seen=seen.size, why=why)


@contextmanager
def _told_to_who_answers(desk: Desk, request: RequestFile) -> Iterator[None]:
    """Put the law's refusals of a key or a plan in words for one who can do nothing about them, and its signer can."""
    asked = request.asked
    try:
        yield
    except KeyRevoked as refusal:
        if refusal.fields["key"] != request.by[:16]:
            raise
        raise RequestKeyRevoked(
            key=request.by[:16], entry=refusal.fields["entry"], study=asked.study
        ) from refusal
    except ProtocolNotInForce as refusal:
        version = require_study(desk.view(asked.study), asked.study).in_force
        if version.protocol_hash == asked.protocol or version.entry < asked.seen.size:
            raise  # the plan is the one that its signer knew: a file that was given beside it is another
        raise RequestBeforeAmendment(study=asked.study, entry=version.entry) from refusal


def _spent_by(study: StudyState, request: RequestFile) -> ReadMade | None:
    """The read that this very request spent, if it did."""
    pool = study.pools.get(request.asked.pool)
    reads = pool.reads if pool is not None else ()
    return next((read for read in reads if read.request == request.asked), None)
