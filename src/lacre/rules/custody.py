"""The custody grade: who can look at a sealed pool without leaving a trace; and how a pool changes hands."""

from collections.abc import Iterable, Sequence

from lacre.canonical import canonical_json, sha256_hex
from lacre.errors import RewrapDiffers
from lacre.rules.answers import RewrapDecision
from lacre.rules.common import require_role, require_sealed, require_study
from lacre.rules.requests import Rewrap
from lacre.rules.state import CorpusState, PoolState, State

SELF_HELD = "self-held"
SECOND_KEYHOLDER = "second keyholder"
OPEN = "open"


def grade(recipients: Sequence[str], own: str) -> str:
    """The grade of a pool sealed to `recipients` in a ledger whose own recipient is `own`.

    A pool that the ledger's own identity can open is self-held. Sealed to others alone, it has a second
    keyholder as declared: that a recipient is another person's, and that whoever sealed it kept no copy of the
    files, no entry shows.
    """
    return SELF_HELD if own in recipients else SECOND_KEYHOLDER


def holders(pool: PoolState) -> tuple[str, ...]:
    """Everyone a pool was ever sealed or handed to, in seals that were replaced, too.

    Handing it on takes nothing away from who held it before: the old wrapped keys are not destroyed, and nobody
    could prove that they were. And a file that takes another's place may hold the same cases.
    """
    seals = (*pool.replaced, pool.sealed)
    hands = (*(seal.request.recipients for seal in seals), *(each.request.recipients for each in pool.handed))
    return tuple(dict.fromkeys(recipient for hand in hands for recipient in hand))


def grade_of(pool: PoolState | CorpusState, own: str) -> str:
    """The grade of a pool through all the hands it went, in a ledger whose own recipient is `own`."""
    return OPEN if isinstance(pool, CorpusState) else grade(holders(pool), own)


def covers(ciphertexts: Iterable[str]) -> str:
    """What a request to hand a pool on says of the ciphertexts whose keys go along: one digest of them all."""
    return sha256_hex(canonical_json(sorted(ciphertexts)))


def decide_rewrap(state: State, request: Rewrap, by: str) -> RewrapDecision:
    """Whether a pool may be handed to other recipients: all that is kept of it goes along, and nothing is read.

    It is allowed in a withdrawn study too, whose pools still have a keeper.
    """
    require_role(state, by, "custodian")
    study = require_study(state, request.study)
    pool = require_sealed(study, request.pool)
    if request.covers != covers(pool.wrapped_keys) or not request.recipients:
        raise RewrapDiffers(pool=pool.name)
    hands = (*holders(pool), *request.recipients)
    return RewrapDecision(custody=grade(hands, state.recipient))
