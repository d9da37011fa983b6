"""`run`: one analysis on `dev`, `contraste` or an open pool."""

from collections.abc import Sequence
from pathlib import Path

from lacre.broker.corpus_run import run_open
from lacre.broker.desk import Desk
from lacre.broker.finding import Ask
from lacre.broker.outcomes import ReadPlanned, ResultShown
from lacre.broker.reading import read_and_analyse
from lacre.rules.common import require_study
from lacre.rules.reading import require_analyses
from lacre.rules.state import StudyState


def run(
    desk: Desk,
    study: str,
    analysis: str,
    submission: Sequence[str] = (),
    *,
    pool: str | None = None,
    rung: str | None = None,
    accept_exposure: bool = False,
    dry_run: bool = False,
    protocol: str | Path | bytes | None = None,
    reason: str | None = None,
) -> ResultShown | ReadPlanned:
    """Run `analysis` on its registered pool, or on another, which makes it exploratory (rule 15).

    `rung` names one of its mitigations by training, which opens once the earlier ones ran.
    """
    ask = Ask(
        purpose="run",
        study=study,
        pool=pool or _pool_of(require_study(desk.view(study), study), analysis),
        analyses=(analysis,),
        files=submission,
        rung=rung,
        accept_exposure=accept_exposure,
        dry_run=dry_run,
        protocol=protocol,
        reason=reason,
    )
    state = desk.view(study)
    known = require_study(state, study)
    declared = known.in_force.protocol.pools.get(ask.pool)
    if declared is not None and declared.open is not None:
        return run_open(desk, ask, state, known)
    return read_and_analyse(desk, ask)


def _pool_of(study: StudyState, analysis: str) -> str:
    """The pool that an analysis is registered for; of one that was amended away, that of its crashed run."""
    protocol = study.in_force.protocol
    if analysis not in protocol.analyses:
        for pool in study.pools.values():
            if any(read.request.analyses == (analysis,) for read in pool.unfinished):
                return pool.name
    require_analyses(protocol, (analysis,))
    return protocol.analyses[analysis].pool
