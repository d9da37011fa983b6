"""The mitigation ladder: training is its last rung (rule 9)."""

from lacre.errors import NotARung, RungsFirst
from lacre.protocol.models import Protocol
from lacre.rules.history import ReadMade
from lacre.rules.requests import Read
from lacre.rules.state import PoolState
from lacre.text import _


def check_rung(protocol: Protocol, pool: PoolState, request: Read) -> None:
    """A rung of training opens once the earlier ones ran and a criterion still does not pass."""
    if request.rung is None:
        return
    (analysis,) = request.analyses
    training = protocol.analyses[analysis].training()
    if request.rung not in training:
        declared = ", ".join(training) or _("none")
        raise NotARung(rung=request.rung, analysis=analysis, declared=declared)
    before = training[: training.index(request.rung)]
    for rung in (None, *before):
        ran = _latest(pool, analysis, rung)
        why = None
        if ran is None:
            why = _("the earlier mitigations have no result yet")
        elif ran.state == "PASS":
            why = _("every criterion passes without it")
        if why is not None:
            raise RungsFirst(rung=request.rung, analysis=analysis, why=why, study=request.study)


def _latest(pool: PoolState, analysis: str, rung: str | None) -> ReadMade | None:
    """The latest result of a rung; of None, of the mitigations before any training."""
    return next(
        (
            read
            for read in reversed(pool.reads)
            if isinstance(read.request, Read)
            and read.request.analyses == (analysis,)
            and read.request.rung == rung
            and read.result is not None
        ),
        None,
    )
