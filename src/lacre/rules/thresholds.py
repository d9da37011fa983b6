"""Freezing thresholds, and which ones a read is analysed with: rules 7 and 8."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lacre.canonical import canonical_json
from lacre.errors import (
    CalibratesDevOnly,
    CalibrationBurns,
    CalibrationOutOfPlace,
    NotCalibrated,
    NothingToCalibrate,
    RecordInvalid,
    ThresholdImpossible,
    ThresholdNotDeclared,
)
from lacre.protocol.grammar import Model, as_float, exact
from lacre.protocol.kinds.parts import Basis
from lacre.protocol.models import Protocol, bases_of
from lacre.protocol.thresholds import CalibratedThreshold
from lacre.rules.answers import CalibrateDecision, CalibrateFacts, FrozenThreshold
from lacre.rules.common import known_of, require_in_force, require_open, require_role, require_study
from lacre.rules.history import Calibrated
from lacre.rules.requests import Calibrate, Read
from lacre.rules.state import State, StudyState
from lacre.rules.systems import systems_analysed
from lacre.text import _

CONFIDENCE = 0.95
"""Of the interval of a threshold; no plan registers another."""

Frozen = Mapping[tuple[str, str], tuple[FrozenThreshold, Calibrated]]
"""Calibrated thresholds by name and system, with the calibration that froze each."""


def decide_calibrate(state: State, request: Calibrate, by: str, facts: CalibrateFacts) -> CalibrateDecision:
    """Whether thresholds may be frozen, and which pools that makes `dev` (rule 7)."""
    require_role(state, by, "registrant")
    study = require_study(state, request.study)
    require_open(study)
    require_in_force(study, request.protocol)
    check_thresholds(study.in_force.protocol, study.slug, request.thresholds)
    _check_read(study, request)
    wanted = sorted(
        (name, system)
        for name in request.thresholds
        for system in systems_of_threshold(study.in_force.protocol, name)
    )
    if sorted((each.name, each.system) for each in facts.thresholds) != wanted:
        raise RecordInvalid(what=_("entry"), why=_("its thresholds are not those it was asked for"))
    for each in facts.thresholds:
        _check_possible(study, each)
    burns = burned_by_calibration(study, request.thresholds)
    if burns and not request.accept_burn:
        raise CalibrationBurns(pools=", ".join(burns))
    return CalibrateDecision(number=len(study.calibrations) + 1, known=known_of(study), burns=burns)


def _check_possible(study: StudyState, found: FrozenThreshold) -> None:
    """Rule 8: a threshold is one that its registered rule can have found in the rows of `dev` as it is sealed."""
    registered = study.in_force.protocol.thresholds[found.name]
    assert isinstance(registered, CalibratedThreshold)
    ((target, at),) = registered.at.items()
    rows = study.pools[registered.calibrate_on].sealed.facts.rows.get(registered.table, 0)
    wanted = 1 - exact(at) if target == "recall" else exact(at)
    missed = found.cases - found.events if target == "recall" else found.events
    value, low, high = (float(each) for each in (found.value, found.low or "-inf", found.high or "inf"))
    why = None
    if (found.target, found.at) != (target, repr(as_float(at))):
        why = _("its target is not the registered one")
    elif found.confidence != repr(CONFIDENCE):
        why = _("its interval is not at the confidence of {confidence}").format(confidence=CONFIDENCE)
    elif not 0 < found.cases <= rows:
        why = _("it rests on more cases than were sealed, or on none")
    elif not 0 <= missed <= wanted * found.cases:
        why = _("the rate that it attains does not keep its target")
    elif found.unresolved != (wanted * found.cases < 1):
        why = _("whether its target allows a single event among so many cases is told otherwise")
    elif not math.isfinite(value) or not low <= value <= high:
        why = _("its value is no finite number within its interval")
    if why is not None:
        raise ThresholdImpossible(threshold=found.name, why=why)


def calibrated(protocol: Protocol) -> tuple[str, ...]:
    """The thresholds that have a rule of calibration and are used by an analysis, in order."""
    return tuple(
        name
        for name, each in protocol.thresholds.items()
        if isinstance(each, CalibratedThreshold) and bases_of(protocol, name)
    )


def check_thresholds(protocol: Protocol, study: str, names: Sequence[str]) -> None:
    """Rule 8: what is calibrated is registered, with a rule."""
    declared = calibrated(protocol)
    if not declared or not names:
        raise NothingToCalibrate(study=study)
    for name in names:
        if name not in declared:
            raise ThresholdNotDeclared(threshold=name, declared=", ".join(declared))


def _check_read(study: StudyState, request: Calibrate) -> None:
    """Rule 8: they come from a read of `dev` for calibration, under the same plan, that froze none yet."""
    found = study.read_at(request.read)
    read = None if found is None else found[1].request
    spent = any(each.request.read == request.read for each in study.calibrations)
    if (
        not isinstance(read, Read)
        or read.purpose != "calibrate"
        or read.thresholds != request.thresholds
        or spent
        or read.protocol != request.protocol
    ):
        raise CalibrationOutOfPlace(entry=request.read)


def require_dev(protocol: Protocol, pool: str) -> None:
    """Rule 8: `calibrate` reads pools whose role is `dev`, and no others."""
    if protocol.pools[pool].role != "dev":
        raise CalibratesDevOnly(pool=pool)


def burned_by_calibration(study: StudyState, names: Iterable[str]) -> tuple[str, ...]:
    """Rule 7: `teste`, once read, if one of its analyses uses a threshold that is calibrated anew."""
    protocol, new = study.in_force.protocol, frozenset(names)
    return tuple(
        name
        for name, pool in study.pools.items()
        if pool.standing == "teste"
        and pool.of_class("teste", "dev")
        and any(plan.pool == name and plan.thresholds() & new for plan in protocol.analyses.values())
    )


def basis_of(protocol: Protocol, name: str) -> Basis | None:
    """How a threshold's score is read: as the analyses that use it read it, which registration holds alike."""
    return next(iter(bases_of(protocol, name)), None)


def systems_of_threshold(protocol: Protocol, name: str) -> tuple[str, ...]:
    """The systems whose scores a threshold is found in: those of the analyses that use it, in declared order."""
    plans = [plan for plan in protocol.analyses.values() if name in plan.thresholds()]
    used = {system for plan in plans for system in systems_analysed(protocol, plan)}
    return tuple(system for system in (*protocol.systems, "") if system in used)


# --- which thresholds a read is analysed with --------------------------------------------------------------


def needed(protocol: Protocol, analyses: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """The calibrated thresholds that analyses use, by name and system."""
    with_rule = frozenset(calibrated(protocol))
    return tuple(
        dict.fromkeys(
            (name, system)
            for plan in map(protocol.analyses.__getitem__, analyses)
            for name in sorted(plan.thresholds() & with_rule)
            for system in systems_analysed(protocol, plan)
        )
    )


def frozen_for(
    study: StudyState, protocol: Protocol, analyses: Iterable[str], before: int | None = None
) -> Frozen:
    """The thresholds that analyses use, as they were last frozen (before the entry `before`) under the same rule."""
    found: dict[tuple[str, str], tuple[FrozenThreshold, Calibrated]] = {}
    for made in study.calibrations:
        if before is not None and made.entry >= before:
            continue
        version = study.version(made.request.protocol)
        if version is None:
            continue
        for each in made.facts.thresholds:
            then = _rule(version.protocol, each.name, each.system)
            if then == _rule(protocol, each.name, each.system):
                found[each.name, each.system] = (each, made)
    return {key: found[key] for key in needed(protocol, analyses) if key in found}


def require_frozen(study: StudyState, protocol: Protocol, analyses: Iterable[str]) -> None:
    """Rule 8: an analysis runs on thresholds that were frozen before it, by the rule in force."""
    names = tuple(analyses)
    have = frozen_for(study, protocol, names)
    missing = [":".join(filter(None, (s, n))) for n, s in needed(protocol, names) if (n, s) not in have]
    if missing:
        raise NotCalibrated(thresholds=", ".join(missing), study=study.slug)


def _rule(protocol: Protocol, name: str, system: str) -> bytes | None:
    """All that a threshold of a system is found by, as canonical JSON: its cohort, and which system it is, as well."""
    threshold = protocol.thresholds.get(name)
    if not isinstance(threshold, CalibratedThreshold):
        return None
    basis = basis_of(protocol, name)
    cohort = None if basis is None or basis.normalise is None else basis.normalise.table
    value: dict[str, Any] = {
        "rule": _value(threshold),
        "basis": None if basis is None else basis.as_json(),
        "table": _value(protocol.tables[threshold.table]),
        "cohort": None if cohort is None else _value(protocol.tables[cohort]),
        "system": _value(protocol.systems[system]) if system in protocol.systems else None,
    }
    return canonical_json(value)


def _value(part: Model) -> Any:
    return part.model_dump(mode="json", by_alias=True, exclude_none=True)
