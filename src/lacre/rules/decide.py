"""The law's one door: a request and its facts go in, a decision comes out or a refusal is raised."""

from lacre.errors import RecordInvalid
from lacre.rules.answers import (
    AmendFacts,
    CalibrateFacts,
    CommitFacts,
    Decision,
    EraseFacts,
    ErratumFacts,
    Facts,
    NoFacts,
    PartFacts,
    ReadFacts,
    RebalanceFacts,
    RegisterFacts,
    SampleFacts,
    SealFacts,
)
from lacre.rules.changes import decide_amend
from lacre.rules.corpus import decide_part
from lacre.rules.custody import decide_rewrap
from lacre.rules.drawing import decide_commit, decide_sample
from lacre.rules.errata import decide_erratum
from lacre.rules.keys import decide_key
from lacre.rules.reading import decide_read
from lacre.rules.rebalance import decide_rebalance
from lacre.rules.registration import decide_register
from lacre.rules.requests import (
    Amend,
    Bound,
    Calibrate,
    Commit,
    CommitPart,
    Deviate,
    Erase,
    Erratum,
    KeyChange,
    Read,
    Rebalance,
    Register,
    Request,
    Rewrap,
    Sample,
    Seal,
    Withdraw,
)
from lacre.rules.sealing import decide_seal
from lacre.rules.state import State
from lacre.rules.thresholds import decide_calibrate
from lacre.rules.words import decide_deviate, decide_erase, decide_withdraw
from lacre.text import _


def decide(state: State, request: Request, by: str, facts: Facts) -> Decision:
    """Judge `request`, signed by the key `by`, on what stands in `state` and what the broker found.

    Raises the `LawError` of the rule that refuses it. The same arguments always give the same answer: an
    auditor who replays the ledger must find every recorded decision again.
    """
    decision = (
        _of_plan(state, request, by, facts)
        or _of_pool(state, request, by, facts)
        or _of_evidence(state, request, by, facts)
    )
    if decision is not None:
        return decision
    raise RecordInvalid(what=_("entry"), why=_("its facts are not those of its request"))


def _of_plan(state: State, request: Request, by: str, facts: Facts) -> Decision | None:
    match request, facts:
        case Register(), RegisterFacts():
            return decide_register(state, request, by, facts)
        case Amend(), AmendFacts():
            return decide_amend(state, request, by, facts)
        case Deviate(), NoFacts():
            return decide_deviate(state, request, by)
        case Withdraw(), NoFacts():
            return decide_withdraw(state, request, by)
        case KeyChange(), NoFacts():
            return decide_key(state, request, by)
        case Erase(), EraseFacts():
            return decide_erase(state, request, by, facts)
    return None


def _of_pool(state: State, request: Request, by: str, facts: Facts) -> Decision | None:
    match request, facts:
        case Seal(), SealFacts():
            return decide_seal(state, request, by, facts)
        case Read(), ReadFacts():
            return decide_read(state, request, by, facts)
        case Erratum(), ErratumFacts():
            return decide_erratum(state, request, by, facts)
        case Rewrap(), NoFacts():
            return decide_rewrap(state, request, by)
    return None


def _of_evidence(state: State, request: Request, by: str, facts: Facts) -> Decision | None:
    match request, facts:
        case Calibrate(), CalibrateFacts():
            return decide_calibrate(state, request, by, facts)
        case Sample(), SampleFacts():
            return decide_sample(state, request, by, facts)
        case Commit(), CommitFacts():
            return decide_commit(state, request, by, facts)
        case CommitPart(), PartFacts():
            return decide_part(state, request, by, facts)
        case Rebalance(), RebalanceFacts():
            return decide_rebalance(state, request, by, facts)
    return None


def check_bound(state: State, request: Bound) -> None:
    """Refuse a request that was signed for another ledger."""
    if request.genesis != state.genesis:
        raise RecordInvalid(what=_("request"), why=_("signed for another ledger"))
