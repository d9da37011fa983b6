"""Who may act: keys enrolled, revoked, and taking each other's place."""

from collections.abc import Iterable

from lacre.errors import (
    KeyAlreadyEnrolled,
    KeyNotActive,
    KeyRolesMixed,
    KeyUnsound,
    LastKeyOfRole,
    RotationUnderWay,
)
from lacre.ledger.keys import PublicKey
from lacre.ledger.note import VerifierKey
from lacre.rules.answers import KeyDecision
from lacre.rules.common import require_role
from lacre.rules.history import Key
from lacre.rules.requests import KeyChange, Role
from lacre.rules.state import State

ROLES: tuple[Role, ...] = ("owner", "registrant", "custodian", "broker", "log")
PERSONS = ROLES[:3]
"""The roles of people; the broker's key and the log's have no other beside them."""
NEEDED = ("owner", "broker", "log")
"""The roles without a key of which no further entry could be written."""


def decide_key(state: State, request: KeyChange, by: str) -> KeyDecision:
    """Whether a key may be enrolled, revoked, or replaced; an owner asks.

    The broker's and the log's keys are replaced, never added to: two brokers would write two histories. A
    key's place is taken at once, except the log's: both sign checkpoints until the old one is revoked.
    """
    require_role(state, by, "owner")
    if request.action == "revoke":
        key = _active(state, _keyid(request))
        _check_not_last(state, key)
        return KeyDecision(revokes=key.keyid)
    keyid = _keyid(request)
    if not PublicKey(bytes.fromhex(request.public)).sound:
        raise KeyUnsound(key=request.public[:16])
    if keyid in state.keys:
        raise KeyAlreadyEnrolled(key=keyid[:16], entry=state.keys[keyid].enrolled)
    if request.action == "enrol":
        roles = tuple(role for role in PERSONS if role in request.roles)
        if not roles or set(request.roles) - set(PERSONS):
            raise KeyRolesMixed(roles=", ".join(request.roles) or "-", known=", ".join(PERSONS))
        return KeyDecision(enrols=keyid, roles=roles)
    old = _active(state, request.replaces or "")
    roles = tuple(role for role in ROLES if role in old.roles)
    if "log" not in old.roles:
        return KeyDecision(enrols=keyid, roles=roles, revokes=old.keyid)
    if len(active(state, "log")) > 1:
        raise RotationUnderWay(key=active(state, "log")[0].keyid[:16])
    return KeyDecision(enrols=keyid, roles=roles)


def active(state: State, role: str) -> tuple[Key, ...]:
    """The keys that hold `role` at the next entry, in the order they were enrolled."""
    return tuple(key for key in state.keys.values() if key.may(role, state.next_index))


def log_verifiers(origin: str, keys: Iterable[Key], size: int | None = None) -> tuple[VerifierKey, ...]:
    """The keys that may sign checkpoints of `size` entries, or of any size, under the log's name.

    Raises `VerifierKeyInvalid` for an origin that no key may be named by.
    """
    index = None if size is None else max(size - 1, 0)
    return tuple(
        VerifierKey(origin, PublicKey(bytes.fromhex(key.public)))
        for key in keys
        if "log" in key.roles and (index is None or key.may("log", index))
    )


def _keyid(request: KeyChange) -> str:
    return PublicKey(bytes.fromhex(request.public)).keyid


def _active(state: State, keyid: str) -> Key:
    key = state.keys.get(keyid)
    if key is None or key.revoked is not None:
        raise KeyNotActive(key=keyid[:16])
    return key


def _check_not_last(state: State, key: Key) -> None:
    for role in NEEDED:
        if active(state, role) == (key,):
            raise LastKeyOfRole(key=key.keyid[:16], role=role)
