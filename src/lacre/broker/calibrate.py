"""`calibrate`: read `dev`, set thresholds by their registered rules, and freeze them in an entry (rule 8)."""

from collections.abc import Sequence
from math import isfinite
from pathlib import Path

from lacre.analyses.calibrating import Found as FoundThreshold, calibrate as set_threshold
from lacre.analyses.given import Given
from lacre.broker.desk import Desk, answered, ask_beforehand, put_on_record, sign_request
from lacre.broker.evaluate import joined
from lacre.broker.finding import Ask, Found, ask_law, find
from lacre.broker.groundwork import Calibrated
from lacre.broker.opening import open_tables
from lacre.broker.outcomes import ReadPlanned
from lacre.broker.reading import planned, spend
from lacre.broker.register import engine
from lacre.broker.texts import salted_words
from lacre.broker.unfinished import Unfinished, not_remembered_leaves, refusal_leaves
from lacre.errors import CalibrationUnfinished, cells_untold
from lacre.rules.answers import CalibrateDecision, CalibrateFacts, FrozenThreshold, ReadDecision
from lacre.rules.common import require_study
from lacre.rules.custody import grade_of
from lacre.rules.record import Recorded
from lacre.rules.requests import Calibrate
from lacre.rules.thresholds import basis_of, calibrated, check_thresholds, systems_of_threshold
from lacre.text import N_

POOL = "dev"


def calibrate(
    desk: Desk,
    study: str,
    thresholds: Sequence[str] = (),
    submission: Sequence[str] = (),
    *,
    accept_burn: bool = False,
    accept_exposure: bool = False,
    dry_run: bool = False,
    protocol: str | Path | bytes | None = None,
    reason: str | None = None,
) -> Calibrated | ReadPlanned:
    """Freeze the registered thresholds, or those named.

    After the read of `dev` a refusal leaves it on record, as `CalibrationUnfinished`; nothing is lost by that.
    """
    state = desk.view(study)
    known = require_study(state, study)
    plan = known.in_force.protocol
    names = tuple(dict.fromkeys(thresholds)) or calibrated(plan)
    check_thresholds(plan, study, names)
    ask = Ask(
        purpose="calibrate", study=study, pool=POOL, analyses=(), files=submission, thresholds=names,
        accept_burn=accept_burn, accept_exposure=accept_exposure, dry_run=dry_run, protocol=protocol,
        reason=reason,
    )  # fmt: skip
    found = find(desk, ask, state, known)
    decision = ask_law(desk, found)
    assert isinstance(decision, ReadDecision)
    if dry_run:
        return planned(desk, found, decision)
    read, _before, held = spend(desk, found, None)
    try:
        with refusal_leaves(_unfinished(POOL), read.index, POOL):
            frozen = _set(desk, found)
            made, warnings = _freeze(desk, found, read, frozen)
    finally:
        held.release()
    answer = answered(made).decision
    assert isinstance(answer, CalibrateDecision)
    return Calibrated(
        study=study, pool=POOL, entry=made.index, read=read.index, time=made.time, number=answer.number,
        thresholds=frozen, known=answer.known, burns=answer.burns,
        custody=grade_of(found.pool, state.recipient), warnings=warnings,
    )  # fmt: skip


def _unfinished(pool: str) -> Unfinished:
    return lambda entry, why, way_out: CalibrationUnfinished(pool=pool, entry=entry, why=why, next=way_out)


@cells_untold
def _set(desk: Desk, found: Found) -> tuple[FrozenThreshold, ...]:
    """Open `dev` and set every threshold on every system's scores."""
    protocol = found.version.protocol
    tables = open_tables(desk, found.state, found.study, found.pool, protocol=protocol)
    desk.progress(N_("calibrating"), 0, None)
    given = Given(protocol, joined(protocol, tables, found.submissions))
    frozen = []
    for name in found.ask.thresholds:
        basis = basis_of(protocol, name)
        assert basis is not None, "registration holds that an analysis uses each threshold"
        frozen += [
            _frozen(set_threshold(given, name, basis, system))
            for system in systems_of_threshold(protocol, name)
        ]
    return tuple(frozen)


def _frozen(found: FoundThreshold) -> FrozenThreshold:
    return FrozenThreshold(
        name=found.name, system=found.system, value=repr(found.value), target=found.target,
        at=repr(found.at), events=found.events, cases=found.cases,
        low=repr(found.low) if isfinite(found.low) else None,
        high=repr(found.high) if isfinite(found.high) else None,
        confidence=repr(found.confidence), unresolved=found.unresolved,
    )  # fmt: skip


def _freeze(
    desk: Desk, found: Found, read: Recorded, frozen: tuple[FrozenThreshold, ...]
) -> tuple[Recorded, tuple[str, ...]]:
    ask = found.ask
    facts = CalibrateFacts(engine=engine(), thresholds=frozen)
    text = salted_words(desk, ask.reason, "calibrate")
    fields = {
        "study": ask.study,
        "protocol": found.version.protocol_hash,
        "read": read.index,
        "thresholds": ask.thresholds,
        "accept_burn": ask.accept_burn,
        "reason": text.digest if text else None,
    }
    ask_beforehand(desk, desk.view(ask.study), Calibrate, facts, **fields)
    signed = sign_request(desk, Calibrate, **fields)
    with not_remembered_leaves(_unfinished(POOL)):
        return put_on_record(desk, ask.study, signed, facts, text)
