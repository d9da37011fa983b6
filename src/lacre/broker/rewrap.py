"""`rewrap`: hand a sealed pool, and all that is kept beside it, to other recipients; nothing of it is read."""

from collections.abc import Mapping, Sequence

from lacre.broker.desk import (
    BLANK,
    Desk,
    answered,
    ask_beforehand,
    put_on_record,
    sign_request,
)
from lacre.broker.outcomes import PoolRewrapped
from lacre.broker.submissions import context_of
from lacre.broker.texts import salted_words
from lacre.pools import vault
from lacre.pools.seal import check_recipients
from lacre.rules.answers import NoFacts, RewrapDecision
from lacre.rules.common import require_sealed, require_study
from lacre.rules.custody import covers
from lacre.rules.requests import Rewrap
from lacre.rules.state import PoolState
from lacre.text import N_


def rewrap(
    desk: Desk, study: str, pool: str, recipients: Sequence[str], *, reason: str | None = None
) -> PoolRewrapped:
    """Wrap the key of a pool, of its submissions and of its errata to `recipients`, in the old ones' place.

    The old wrapped keys stay beside the new: nothing is deleted, and whoever could open them still can. Raises
    `RecipientInvalid`, `RecipientsTooMany`, `IdentityCannotOpen`, `PoolBlobMissing`, `PoolBlobChanged`, and what
    the law refuses with.
    """
    to = check_recipients(recipients)
    state = desk.view(study)
    sealed = require_sealed(require_study(state, study), pool)
    words = salted_words(desk, reason, "rewrap")
    asked = {
        "study": study,
        "pool": pool,
        "recipients": to,
        "covers": covers(sealed.wrapped_keys),
        "reason": words.digest if words else None,
    }
    ask_beforehand(desk, state, Rewrap, NoFacts(), **asked, wrapped_key=BLANK)
    desk.progress(N_("wrapping"), 0, None)
    wrapped = _wrapped(sealed)
    context = context_of(state, study, sealed)
    identities = desk.identities()
    keyset = vault.rewrap(desk.vault, context, wrapped, identities, before=sealed.recipients, recipients=to)
    signed = sign_request(desk, Rewrap, **asked, wrapped_key=keyset)
    made, warnings = put_on_record(desk, study, signed, NoFacts(), words)
    decision = answered(made).decision
    assert isinstance(decision, RewrapDecision)
    return PoolRewrapped(
        study=study,
        pool=pool,
        entry=made.index,
        time=made.time,
        before=sealed.recipients,
        recipients=to,
        keys=len(wrapped),
        custody=decision.custody,
        opens_here=state.recipient in to,
        warnings=warnings,
    )


def _wrapped(pool: PoolState) -> Mapping[str, vault.WrappedKey]:
    """The file that holds the key of each ciphertext of a pool now."""
    submitted = {each.blob for read in pool.reads for each in read.request.submissions}
    submitted |= {made.request.blob for made in pool.commits}
    return {
        ciphertext: vault.WrappedKey(
            "submission-key" if ciphertext in submitted and digest not in pool.keysets else "key", digest
        )
        for ciphertext, digest in pool.wrapped_keys.items()
    }
