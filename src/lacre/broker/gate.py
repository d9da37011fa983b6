"""`gate`: `guarda` answers verdicts alone, as often as its budget allows (rule 10)."""

from collections.abc import Sequence
from pathlib import Path

from lacre.broker.desk import Desk
from lacre.broker.finding import Ask
from lacre.broker.outcomes import ReadPlanned, ResultShown
from lacre.broker.reading import read_and_analyse
from lacre.errors import GateOnlyGuarda
from lacre.rules.common import require_study
from lacre.rules.gating import analyses_of_gate
from lacre.rules.state import StudyState

POOL = "guarda"


def gate(
    desk: Desk,
    study: str,
    submission: Sequence[str] = (),
    *,
    dry_run: bool = False,
    protocol: str | Path | bytes | None = None,
    reason: str | None = None,
) -> ResultShown | ReadPlanned:
    """Ask `guarda` whether a release passes: every criterion, or it is vetoed."""
    known = require_study(desk.view(study), study)
    ask = Ask(
        purpose="gate",
        study=study,
        pool=POOL,
        analyses=_analyses(known),
        files=submission,
        dry_run=dry_run,
        protocol=protocol,
        reason=reason,
    )
    return read_and_analyse(desk, ask)


def _analyses(study: StudyState) -> tuple[str, ...]:
    """The analyses that a gate runs; where they were amended away, those of a read that crashed."""
    analyses = analyses_of_gate(study.in_force.protocol)
    pool = study.pools.get(POOL)
    if not analyses and pool is not None:
        analyses = next((read.request.analyses for read in pool.unfinished), ())
    if not analyses:
        raise GateOnlyGuarda(study=study.slug)
    return analyses
