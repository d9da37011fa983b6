"""Reading a pool: rules 5, 6, 9, 10, 11, 12, 15 and 16."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from lacre.errors import (
    AlreadyRevealed,
    AnalysisNotDeclared,
    CalibrationBurns,
    ExposesSealedPool,
    FinishDiffers,
    GuardaByGateOnly,
    InputsTakeNothing,
    NotBetweenGroups,
    NothingToReveal,
    PoolIsOpen,
    RecordInvalid,
    RequestOutdated,
    RevealAlone,
    RevealOnlyTeste,
    RunsOneAnalysis,
    SealedAsDev,
    SealedOtherwise,
    SharedCases,
)
from lacre.protocol.models import Protocol
from lacre.rules.answers import Overlap, ReadDecision, ReadFacts
from lacre.rules.changes import reads_as_sealed, uses
from lacre.rules.common import (
    declared_pool,
    require_in_force,
    require_open,
    require_role,
    require_sealed,
    require_study,
)
from lacre.rules.corpus import run_of_corpus
from lacre.rules.drawing import check_relabel_read, check_still_drawn, require_draws, require_relabels
from lacre.rules.gating import check_gate
from lacre.rules.history import ReadMade
from lacre.rules.ladder import check_rung
from lacre.rules.overlap_words import overlaps_text
from lacre.rules.requests import CONTENT_CLASSES, HANDS_OUT, Read
from lacre.rules.state import PoolState, State, StudyState
from lacre.rules.submitting import check_submissions
from lacre.rules.thresholds import (
    burned_by_calibration,
    check_thresholds,
    frozen_for,
    require_dev,
    require_frozen,
)
from lacre.rules.wire import moment
from lacre.text import _

NOT_REGISTERED_POOL = "not-the-registered-pool"
LATER_SUBMISSION = "later-submission"
AMENDED_SINCE = "amended-since-read"
STATISTICS_CHANGED = "statistics-changed"
ENGINE_CHANGED = "engine-changed"
RECALIBRATED = "recalibrated-since-read"

_OWN: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "calibrate": frozenset({"thresholds", "accept_burn"}),
        "relabel": frozenset({"draw"}),
        "run": frozenset({"rung", "parts"}),
    }
)
"""What reads of one purpose alone may say."""


def decide_read(state: State, request: Read, by: str, facts: ReadFacts) -> ReadDecision:
    """Whether a pool may be read as asked, and in which class."""
    require_role(state, by, "registrant")
    study = require_study(state, request.study)
    require_open(study)
    _check_fields(request)
    if request.finishes is not None and request.purpose not in HANDS_OUT:
        return _decide_finish(require_sealed(study, request.pool), request, facts)
    require_in_force(study, request.protocol)
    if declared_pool(study, request.pool).open is not None and request.purpose == "run":
        number, exploratory = run_of_corpus(study, request)
        return _judged(study, facts, read_class="corpus", number=number, exploratory=exploratory)
    pool = sealed_pool(study, request.pool)
    _check_seal(pool, request)
    require_same_reading(study, pool)
    if request.purpose in HANDS_OUT:
        return _decide_inputs(study, pool, request)
    if request.purpose == "calibrate":
        return _decide_calibration(study, pool, request, facts)
    protocol = study.in_force.protocol
    _check_analyses(protocol, request)
    require_frozen(study, protocol, request.analyses)
    check_still_drawn(pool, facts)
    if request.purpose == "run":
        return _decide_run(study, pool, request, facts)
    if request.purpose == "gate":
        return _decide_gate(study, pool, request, facts)
    return _decide_reveal(study, pool, request, facts)


def _check_fields(request: Read) -> None:
    """Rule 5: a read says nothing that another purpose means, so that it cannot be taken for what it is not."""
    own = _OWN.get(request.purpose, frozenset())
    others = frozenset().union(*_OWN.values()) - own
    strange = sorted(name for name in others if getattr(request, name))
    if request.purpose in {"calibrate", "gate"} and request.accept_dev:
        strange.append("accept_dev")
    if request.purpose == "calibrate" and request.analyses:
        strange.append("analyses")
    if strange:
        said = _("a read for {purpose} has no {fields}")
        raise RecordInvalid(
            what=_("request"), why=said.format(purpose=request.purpose, fields=", ".join(strange))
        )


def _check_seal(pool: PoolState, request: Read) -> None:
    """Rule 2: a read is of the seal its signer means; one who names none has seen it, as an entry before theirs."""
    if request.parts is not None:
        raise RecordInvalid(what=_("request"), why=_("a read of a sealed pool has no parts"))
    named, sealed = request.ciphertext, pool.sealed
    meant = sealed.entry < request.seen.size if named is None else named == sealed.request.ciphertext
    if not meant:
        raise RequestOutdated(pool=pool.name, entry=sealed.entry)


def require_same_reading(study: StudyState, pool: PoolState) -> None:
    """Rule 2: what was sealed as declared then must still be as declared now, after an amendment."""
    if not reads_as_sealed(study, pool.name, study.in_force.protocol):
        raise SealedOtherwise(pool=pool.name, entry=pool.sealed.entry, amended=study.in_force.entry)


def sealed_pool(study: StudyState, name: str) -> PoolState:
    """The pool, declared, closed and sealed (rule 2)."""
    if declared_pool(study, name).open is not None:
        raise PoolIsOpen(pool=name)
    return require_sealed(study, name)


def require_analyses(protocol: Protocol, names: Sequence[str]) -> None:
    """Rule 11: analyses are what the protocol registers."""
    for name in names:
        if name not in protocol.analyses:
            raise AnalysisNotDeclared(analysis=name, declared=", ".join(protocol.analyses))


def may_finish(read: ReadMade, purpose: str, analyses: tuple[str, ...]) -> bool:
    """Rule 16: a call for the same analyses finishes a spent read; on `dev` a run is simply made anew."""
    same = (read.request.purpose, read.request.analyses) == (purpose, analyses)
    return same and not (purpose == "run" and read.read_class == "dev")


def analyses_of_reveal(protocol: Protocol) -> tuple[str, ...]:
    """The analyses a reveal runs: all that are registered on `teste` (rule 6)."""
    return tuple(
        name for name, plan in protocol.analyses.items() if protocol.pools[plan.pool].role == "teste"
    )


def _check_first(pool: PoolState) -> None:
    """Rule 6: `teste` is revealed once, as `teste`; later reads must say `accept_dev`."""
    for read in pool.of_class("teste", "dev"):
        result = pool.result_of(read.entry)
        study = read.request.study
        shown = study if result is None else f"{study}@{result}"
        raise AlreadyRevealed(pool=pool.name, entry=read.entry, time=moment(read.time), shown=shown)
    if pool.standing != "teste":
        raise SealedAsDev(pool=pool.name, entry=pool.sealed.entry, time=moment(pool.sealed.time))


def _check_analyses(protocol: Protocol, request: Read) -> None:
    require_analyses(protocol, request.analyses)
    if request.purpose == "run" and len(request.analyses) != 1:
        raise RunsOneAnalysis(count=len(request.analyses))


def _decide_inputs(study: StudyState, pool: PoolState, request: Read) -> ReadDecision:
    """Rule 5: ids and input columns are handed out for nothing, and on record."""
    if request.analyses or request.submissions or request.finishes is not None:
        raise InputsTakeNothing(pool=pool.name)
    if request.purpose == "relabel":
        check_relabel_read(study, pool, request)
        return ReadDecision(read_class="relabel", number=len(pool.of_class("relabel")) + 1)
    return ReadDecision(read_class="inputs", number=len(pool.of_class("inputs")) + 1)


def _decide_calibration(study: StudyState, pool: PoolState, request: Read, facts: ReadFacts) -> ReadDecision:
    """Rule 8: scores of `dev` are read to set thresholds, which `analyses` of such a request names."""
    protocol = study.in_force.protocol
    require_dev(protocol, pool.name)
    names = request.thresholds or ()
    check_thresholds(protocol, study.slug, names)
    check_submissions(protocol, request)
    burns = burned_by_calibration(study, names)
    if burns and not request.accept_burn:
        raise CalibrationBurns(pools=", ".join(burns))
    _check_exposure(request, facts.exposes)
    return _judged(
        study, facts, read_class="dev", number=len(pool.of_class(*CONTENT_CLASSES)) + 1, exploratory=()
    )


def _decide_gate(study: StudyState, pool: PoolState, request: Read, facts: ReadFacts) -> ReadDecision:
    """Rule 10: one more of the reads that `guarda` allows."""
    check_gate(study, pool, request, facts.gated or ())
    check_submissions(study.in_force.protocol, request)
    barred = _barred(facts)
    if barred:
        raise SharedCases(pool=pool.name, overlaps=overlaps_text(barred))
    return _judged(study, facts, read_class="guarda", number=len(pool.of_class("guarda")) + 1, exploratory=())


def _decide_reveal(study: StudyState, pool: PoolState, request: Read, facts: ReadFacts) -> ReadDecision:
    protocol = study.in_force.protocol
    if protocol.pools[pool.name].role != "teste":
        raise RevealOnlyTeste(pool=pool.name)
    analyses = analyses_of_reveal(protocol)
    if not analyses or request.analyses != analyses:
        raise NothingToReveal(study=study.slug, pool=pool.name)
    require_relabels(study, pool, analyses)
    require_draws(study, analyses)
    check_submissions(protocol, request)
    if not request.accept_dev:
        _check_first(pool)
    first = pool.unread
    barred = _barred(facts)
    if first and barred and not request.accept_dev:
        raise SharedCases(pool=pool.name, overlaps=overlaps_text(barred))
    _check_exposure(request, facts.exposes)
    teste = first and not barred
    number = len(pool.of_class("teste", "dev")) + 1
    return _judged(
        study,
        facts,
        read_class="teste" if teste else "dev",
        number=number,
        exploratory=() if teste else (NOT_REGISTERED_POOL,),
        burns=not teste and pool.standing != "dev",
    )


def _decide_run(study: StudyState, pool: PoolState, request: Read, facts: ReadFacts) -> ReadDecision:
    protocol = study.in_force.protocol
    role = protocol.pools[pool.name].role
    if role == "teste":
        raise RevealAlone(pool=pool.name)
    if role == "guarda":
        raise GuardaByGateOnly(pool=pool.name)
    plans = [protocol.analyses[name] for name in request.analyses]
    if pool.standing == "contraste" and not all(plan.compares_groups() for plan in plans):
        raise NotBetweenGroups(pool=pool.name)
    check_rung(protocol, pool, request)
    require_relabels(study, pool, request.analyses)
    check_submissions(protocol, request)
    _check_exposure(request, facts.exposes)
    barred = _barred(facts)
    if pool.standing == "contraste" and barred:
        raise SharedCases(pool=pool.name, overlaps=overlaps_text(barred))
    read_class = "contraste" if pool.standing == "contraste" else "dev"
    number = len(pool.of_class(*CONTENT_CLASSES)) + 1
    registered = all(plan.pool == pool.name and pool.standing == role for plan in plans)
    reasons = {
        NOT_REGISTERED_POOL: not registered,
        LATER_SUBMISSION: read_class == "contraste" and _submitted_before(pool, request),
        AMENDED_SINCE: read_class == "contraste" and _amended_since(study, pool, request),
        RECALIBRATED: read_class == "contraste" and _recalibrated_since(study, pool, request),
    }
    exploratory = tuple(code for code, holds in reasons.items() if holds)
    return _judged(study, facts, read_class=read_class, number=number, exploratory=exploratory)


def _barred(facts: ReadFacts) -> tuple[Overlap, ...]:
    return (*(overlap for overlap in facts.shared if overlap.bars), *facts.exposed)


def _submitted_before(pool: PoolState, request: Read) -> bool:
    """Rule 9: whether a system of `request` has made another submission to this pool before."""
    before = {(s.system, s.blob) for read in pool.of_class("contraste") for s in read.request.submissions}
    return any(system == s.system and blob != s.blob for s in request.submissions for system, blob in before)


def _amended_since(study: StudyState, pool: PoolState, request: Read) -> bool:
    """Rule 9: whether what the analyses use was amended after this pool was first read."""
    first = next(iter(pool.of_class("contraste")), None)
    if first is None:
        return False
    before = study.version(first.request.protocol)
    if before is None or any(name not in before.protocol.analyses for name in request.analyses):
        return True
    now = study.in_force.protocol
    return uses(before.protocol, pool.name, request.analyses) != uses(now, pool.name, request.analyses)


def _recalibrated_since(study: StudyState, pool: PoolState, request: Read) -> bool:
    """Rule 9: whether a threshold that the analyses use was frozen anew after this pool was first read."""
    first = next(iter(pool.of_class("contraste")), None)
    if first is None:
        return False
    protocol = study.in_force.protocol
    now = frozen_for(study, protocol, request.analyses)
    return any(made.entry > first.entry for _frozen, made in now.values())


def _judged(
    study: StudyState,
    facts: ReadFacts,
    *,
    read_class: str,
    number: int,
    exploratory: tuple[str, ...],
    burns: bool = False,
) -> ReadDecision:
    """What a read's result can be: rules 6, 9 and 15.

    Who once declared a prior exposure does not take it back by an amendment.
    """
    exposed = any(version.protocol.data.retrospective for version in study.versions)
    retrospective = exposed or facts.remembered > 0
    changed = facts.engine.statistics != study.in_force.statistics
    return ReadDecision.model_validate(
        {
            "read_class": read_class,
            "number": number,
            "burns": burns,
            "confirmatory": read_class in {"teste", "contraste", "guarda", "corpus"}
            and not exploratory
            and not retrospective,
            "exploratory": exploratory,
            "retrospective": retrospective,
            "review": (STATISTICS_CHANGED,) if changed else (),
        }
    )


def _decide_finish(pool: PoolState, request: Read, facts: ReadFacts) -> ReadDecision:
    """Rule 16: the same read again, for the same request and inputs, until there is a result."""
    original = next((r for r in pool.unfinished if r.entry == request.finishes), None)
    if original is None or not _same_inputs(original, request) or request.accept_dev:
        raise FinishDiffers(pool=pool.name, entry=request.finishes)
    review = set(original.decision.review)
    if facts.engine != original.engine:
        review.add(ENGINE_CHANGED)
    return original.decision.model_copy(update={"burns": False, "review": tuple(sorted(review))})


def _same_inputs(original: ReadMade, request: Read) -> bool:
    asked = original.request
    return (
        isinstance(asked, Read)
        and asked.purpose == request.purpose
        and asked.rung == request.rung
        and asked.analyses == request.analyses
        and asked.submissions == request.submissions
        and asked.protocol == request.protocol
    )


def _check_exposure(request: Read, exposes: Sequence[Overlap]) -> None:
    """Rule 12: reading these cases exposes another study's sealed pool; that is asked for, not slipped in."""
    if exposes and not request.accept_exposure:
        raise ExposesSealedPool(overlaps=overlaps_text(exposes))
