"""`reveal`: the one read of `teste`, which runs all its registered analyses."""

from collections.abc import Sequence
from pathlib import Path

from lacre.broker.desk import Desk
from lacre.broker.outcomes import ReadPlanned, ResultShown
from lacre.broker.reading import Ask, check_protocol, read_and_analyse
from lacre.rules.common import require_study
from lacre.rules.reading import analyses_of_reveal

TESTE = "teste"


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
    check_protocol(desk, study, protocol)
    in_force = require_study(desk.view(study), study).in_force.protocol
    ask = Ask(
        purpose="reveal",
        study=study,
        pool=TESTE,
        analyses=analyses_of_reveal(in_force),
        files=submission,
        accept_dev=accept_dev,
        accept_exposure=accept_exposure,
        dry_run=dry_run,
        reason=reason,
    )
    return read_and_analyse(desk, ask)
