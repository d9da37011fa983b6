"""`run`: one analysis on `dev` or `contraste`."""

from collections.abc import Sequence
from pathlib import Path

from lacre.broker.desk import Desk
from lacre.broker.outcomes import ReadPlanned, ResultShown
from lacre.broker.reading import Ask, check_protocol, read_and_analyse
from lacre.rules.common import require_study
from lacre.rules.reading import require_analyses


def run(
    desk: Desk,
    study: str,
    analysis: str,
    submission: Sequence[str] = (),
    *,
    pool: str | None = None,
    accept_exposure: bool = False,
    dry_run: bool = False,
    protocol: str | Path | bytes | None = None,
    reason: str | None = None,
) -> ResultShown | ReadPlanned:
    """Run `analysis` on its registered pool, or on another, which makes it exploratory (rule 15)."""
    check_protocol(desk, study, protocol)
    in_force = require_study(desk.view(study), study).in_force.protocol
    require_analyses(in_force, (analysis,))
    ask = Ask(
        purpose="run",
        study=study,
        pool=pool or in_force.analyses[analysis].pool,
        analyses=(analysis,),
        files=submission,
        accept_exposure=accept_exposure,
        dry_run=dry_run,
        reason=reason,
    )
    return read_and_analyse(desk, ask)
