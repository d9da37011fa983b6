"""`rewrap`: hand a sealed pool, and all that is kept beside it, to other recipients; nothing of it is read."""

from collections.abc import Sequence

from lacre.broker.desk import (
    BLANK,
    Desk,
    answered,
    clock_warnings,
    enter,
    put_text,
    remember,
    salted_text,
    sign_request,
    unbound,
    view,
)
from lacre.broker.outcomes import PoolRewrapped
from lacre.broker.submissions import context_of
from lacre.broker.texts import require_words
from lacre.pools import vault
from lacre.pools.seal import check_recipients
from lacre.rules.common import require_sealed, require_study
from lacre.rules.custody import grade, holders
from lacre.rules.decide import decide
from lacre.rules.requests import NoFacts, Rewrap, RewrapDecision, Rewrapped
from lacre.rules.state import PoolState
from lacre.store.discover import BlobKind
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
    words = salted_text(desk, require_words(reason, "rewrap")) if reason else None
    asked = {
        "study": study,
        "pool": pool,
        "recipients": to,
        "reason": words.digest if words else None,
    }
    blank = Rewrap.model_validate(
        {**asked, **unbound(state), "keys": _keys(sealed, [BLANK] * len(sealed.wrapped_keys))}
    )
    decide(state, blank, desk.person(state).public.keyid, NoFacts())
    desk.progress(N_("wrapping"), 0, None)
    wrapped = [
        vault.WrappedKey(_kind(_of(sealed, ciphertext)), digest, sealed.recipients)
        for ciphertext, digest in sealed.wrapped_keys.items()
    ]
    made_now = vault.rewrap(desk.vault, context_of(state, study, sealed), wrapped, desk.identities(), to)
    signed = sign_request(desk, Rewrap, **asked, keys=_keys(sealed, made_now))
    with desk.writer.transaction() as tx:
        if words is not None:
            put_text(tx, words)
        last = tx.entry(tx.size - 1).time
        made = enter(desk, tx, view(tx, study), signed, NoFacts())
    remember(desk, tx)
    assert isinstance(answered(made).decision, RewrapDecision)
    return PoolRewrapped(
        study=study,
        pool=pool,
        entry=made.index,
        time=made.time,
        before=sealed.recipients,
        recipients=to,
        keys=len(made_now),
        custody=grade((*holders(sealed), *to), state.recipient),
        opens_here=state.recipient in to,
        warnings=clock_warnings(made, last),
    )


def _keys(pool: PoolState, digests: Sequence[str]) -> tuple[Rewrapped, ...]:
    """What a request says of each ciphertext of a pool, with the digest of its key's new file."""
    return tuple(
        Rewrapped.model_validate(
            {"of": _of(pool, ciphertext), "ciphertext": ciphertext, "wrapped_key": digest}
        )
        for ciphertext, digest in zip(pool.wrapped_keys, digests, strict=True)
    )


def _of(pool: PoolState, ciphertext: str) -> str:
    """Whether a ciphertext is one of the pool (its own, an erratum's) or of a submission."""
    kept = {each.blob for read in pool.reads for each in read.request.submissions}
    return "submission" if ciphertext in kept else "pool"


def _kind(of: str) -> BlobKind:
    return "submission-key" if of == "submission" else "key"
