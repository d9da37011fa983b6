"""The mitigation ladder: training is its last rung (rule 9)."""

from lacre.errors import NoRungs, NotARung, RungsFirst
from lacre.protocol.models import Protocol
from lacre.rules.history import ReadMade
from lacre.rules.requests import Read
from lacre.rules.state import PoolState
from lacre.text import _


def check_rung(protocol: Protocol, pool: PoolState, request: Read) -> None:
    """A rung of training opens once the earlier ones ran and a criterion still does not pass.

    What an earlier one computed counts, even where its PASS was no evidence or was left to a person: there was none
    that did not pass.
    """
    if request.rung is None:
        return
    (analysis,) = request.analyses
    training = protocol.analyses[analysis].training()
    if not training:
        raise NoRungs(rung=request.rung, analysis=analysis)
    if request.rung not in training:
        raise NotARung(rung=request.rung, analysis=analysis, declared=", ".join(training))
    before = training[: training.index(request.rung)]
    for rung in (None, *before):
        ran = _judged_by(pool, request, rung)
        why = None
        if ran is None:
            why = _("the earlier mitigations have no result yet")
        elif "PASS" in {ran.state, ran.computed}:
            why = _("every criterion passes without it")
        if why is not None:
            raise RungsFirst(rung=request.rung, analysis=analysis, why=why, study=request.study)


def _judged_by(pool: PoolState, request: Read, rung: str | None) -> ReadMade | None:
    """The result that says how an earlier rung did; of None, how the mitigations before any training did.

    It is one under the plan of `request`, which names the systems and their versions: the first that is not
    exploratory, or else the first. What is run again, on other submissions say, does not take its place.
    """
    ran = [
        read
        for read in pool.reads
        if isinstance(read.request, Read)
        and read.request.protocol == request.protocol
        and read.request.analyses == request.analyses
        and read.request.rung == rung
        and read.result is not None
    ]
    return next((read for read in ran if not read.decision.exploratory), next(iter(ran), None))
