"""`reveal`: the one read of `teste`, which runs all its registered analyses; here, or by whoever can open it."""

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from lacre.broker.asking import RequestFile
from lacre.broker.desk import Desk, sign_request
from lacre.broker.files import check_output
from lacre.broker.finding import Ask, Found, ask_law, crashed_read, fields_of, find_unopened
from lacre.broker.ingest import contents
from lacre.broker.outcomes import ReadPlanned, RequestWritten, ResultShown
from lacre.broker.reading import planned, read_and_analyse
from lacre.broker.submissions import context_of, submitted
from lacre.broker.texts import salted_words
from lacre.errors import FinishNotCompared, IdentityCannotOpen, RevealCannotOpen
from lacre.pools import vault
from lacre.rules.common import require_study
from lacre.rules.custody import grade_of
from lacre.rules.reading import analyses_of_reveal
from lacre.rules.requests import Read, Submitted, decode_request

TESTE = "teste"


def asked(
    desk: Desk,
    study: str,
    submission: Sequence[str],
    *,
    accept_dev: bool = False,
    accept_exposure: bool = False,
    dry_run: bool = False,
    protocol: str | Path | bytes | None = None,
    reason: str | None = None,
) -> Ask:
    """What a reveal is asked with."""
    in_force = require_study(desk.view(study), study).in_force.protocol
    return Ask(
        purpose="reveal",
        study=study,
        pool=TESTE,
        analyses=analyses_of_reveal(in_force),
        files=submission,
        accept_dev=accept_dev,
        accept_exposure=accept_exposure,
        dry_run=dry_run,
        protocol=protocol,
        reason=reason,
    )


def reveal(
    desk: Desk,
    study: str,
    submission: Sequence[str] = (),
    *,
    accept_dev: bool = False,
    accept_exposure: bool = False,
    dry_run: bool = False,
    protocol: str | Path | bytes | None = None,
    reason: str | None = None,
) -> ResultShown | ReadPlanned:
    """Reveal `teste` (rules 5, 6, 11, 12, 16); with `dry_run` stop before the read is spent."""
    ask = asked(
        desk,
        study,
        submission,
        accept_dev=accept_dev,
        accept_exposure=accept_exposure,
        dry_run=dry_run,
        protocol=protocol,
        reason=reason,
    )
    try:
        return read_and_analyse(desk, ask)
    except IdentityCannotOpen as error:
        raise RevealCannotOpen(**error.fields) from error


def request_read(
    desk: Desk, ask: Ask, output: Path, *, overwrite: bool = False
) -> RequestWritten | ReadPlanned:
    """Sign what is asked for and write it to `output`, for whoever can open the pool; nothing is appended.

    All is checked that can be without opening the pool, and without its files where they are not here. Where a
    read crashed, and no submission is given, the request is to finish that.
    """
    check_output(output, desk.layout, overwrite=overwrite)
    state = desk.view(ask.study)
    study = require_study(state, ask.study)
    with ExitStack() as stack:
        try:
            finishes = stack.enter_context(crashed_read(desk, state, study, ask))
        except IdentityCannotOpen as error:
            entry = study.pools[ask.pool].unfinished[0].entry
            raise FinishNotCompared(pool=ask.pool, entry=entry) from error
        found = find_unopened(desk, ask, state, study, finishes)
        decision = ask_law(desk, found)
        if ask.dry_run:
            return planned(desk, found, decision)
        request = _signed(desk, found, output.name)
        request.write(output, overwrite=overwrite)
    return RequestWritten(
        study=ask.study,
        pool=ask.pool,
        path=output,
        decision=decision,
        custody=grade_of(found.pool, found.state.recipient),
        recipients=found.pool.recipients,
        submissions=found.facts.submissions,
        ignored=found.ignored,
        outside=found.outside,
        finishes=finishes.entry if finishes else None,
        unchecked=found.unchecked,
    )


def _signed(desk: Desk, found: Found, name: str) -> RequestFile:
    """The signed request, with its submissions encrypted to whoever can open the pool."""
    ask = found.ask
    made: dict[str, Submitted] = {}
    blobs: dict[str, bytes] = {}
    for each in found.submissions:
        sealed, ciphertext, wrapped = vault.encrypt_submission(
            context_of(found.state, ask.study, found.pool, each.system),
            contents(each.raws),
            recipients=found.pool.recipients,
            entropy=desk.entropy,
        )
        made[each.system] = submitted(each.system, each.raws, sealed)
        blobs |= {sealed.ciphertext: ciphertext, sealed.wrapped_key: wrapped}
    reason = salted_words(desk, ask.reason, ask.purpose)
    envelope = sign_request(
        desk,
        Read,
        **fields_of(found, {**found.kept, **made}),
        reason=reason.digest if reason else None,
    )
    read = decode_request(envelope.payload)
    assert isinstance(read, Read)
    return RequestFile(name, envelope, read, reason, blobs)
