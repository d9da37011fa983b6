"""The law's one door: a request and its facts go in, a decision comes out or a refusal is raised."""

from lacre.errors import RecordInvalid
from lacre.rules.reading import decide_read
from lacre.rules.registration import decide_register
from lacre.rules.requests import (
    Decision,
    Facts,
    Read,
    ReadFacts,
    Register,
    RegisterFacts,
    Request,
    Seal,
    SealFacts,
)
from lacre.rules.sealing import decide_seal
from lacre.rules.state import State
from lacre.text import _


def decide(state: State, request: Request, by: str, facts: Facts) -> Decision:
    """Judge `request`, signed by the key `by`, on what stands in `state` and what the broker found.

    Raises the `LawError` of the rule that refuses it. The same arguments always give the same answer: an
    auditor who replays the ledger must find every recorded decision again.
    """
    match request, facts:
        case Register(), RegisterFacts():
            return decide_register(state, request, by, facts)
        case Seal(), SealFacts():
            return decide_seal(state, request, by, facts)
        case Read(), ReadFacts():
            return decide_read(state, request, by, facts)
    raise RecordInvalid(what=_("entry"), why=_("its facts are not those of its request"))


def check_bound(state: State, request: Request) -> None:
    """Refuse a request that was signed for another ledger."""
    if request.genesis != state.genesis:
        raise RecordInvalid(what=_("request"), why=_("signed for another ledger"))
