"""Scoring the same submissions again on corrected tables: rules 10 and 17."""

from lacre.errors import (
    CorrectsNoResult,
    ErratumDiffers,
    ErratumOfCorpus,
    ErratumOfGuarda,
    ErratumTablesUnknown,
)
from lacre.rules.answers import ErratumFacts, ReadDecision
from lacre.rules.common import require_open, require_role, require_study
from lacre.rules.history import ReadMade
from lacre.rules.reading import STATISTICS_CHANGED
from lacre.rules.requests import Erratum
from lacre.rules.state import CorpusState, PoolState, State, StudyState

CORRECTED = "label-erratum"
"""The reason code of a result on corrected labels: they were corrected by somebody who knew the first one."""


def decide_erratum(state: State, request: Erratum, by: str, facts: ErratumFacts) -> ReadDecision:
    """Whether a result may be scored again: its own read's analyses, submissions and protocol, other labels.

    Both numbers stay. The second is exploratory: who corrects labels has seen what they gave.
    """
    require_role(state, by, "registrant")
    study = require_study(state, request.study)
    require_open(study)
    pool, original = corrected_read(study, request.corrects)
    asked = original.request
    if (asked.pool, asked.protocol, asked.analyses, asked.submissions) != (
        request.pool,
        request.protocol,
        request.analyses,
        request.submissions,
    ):
        raise ErratumDiffers(study=study.slug, entry=request.corrects)
    sealed = {record.table for record in pool.sealed.request.records}
    given = {record.table for record in request.records}
    if not given or given - sealed or facts.rows.keys() != given:
        raise ErratumTablesUnknown(
            pool=pool.name,
            tables=", ".join(sorted(sealed)),
            given=", ".join(sorted(given)) or "-",
        )
    changed = facts.engine.statistics != original.engine.statistics
    review = {*original.decision.review, *((STATISTICS_CHANGED,) if changed else ())}
    return ReadDecision(
        read_class="erratum",
        number=len(errata_of(pool, request.corrects)) + 1,
        exploratory=(CORRECTED,),
        retrospective=original.decision.retrospective,
        review=tuple(sorted(review)),
    )


def corrected_read(study: StudyState, result: int) -> tuple[PoolState, ReadMade]:
    """The read whose result stands at `result`.

    One that is itself an erratum's is not corrected again, and no verdict of `guarda` is: rule 10.
    """
    found = study.result_read(result)
    if found is None or isinstance(found[1].request, Erratum):
        raise CorrectsNoResult(study=study.slug, entry=result)
    if found[1].read_class == "guarda":
        raise ErratumOfGuarda(study=study.slug, entry=result, pool=found[0].name)
    pool, read = found
    if isinstance(pool, CorpusState):
        raise ErratumOfCorpus(study=study.slug, entry=result, pool=pool.name)
    return pool, read


def errata_of(pool: PoolState | CorpusState, result: int) -> tuple[ReadMade, ...]:
    """The errata made to the result at `result`, in order."""
    return tuple(
        read for read in pool.reads if isinstance(read.request, Erratum) and read.request.corrects == result
    )
