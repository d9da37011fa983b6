"""Which private key signs what: the one that acts, by the ledger's own entries, where the signature will stand.

A request is signed by the person's key, an entry by the broker's, a checkpoint by every key of the log that
is active at its size: by two, while one is taking the other's place.
"""

from collections.abc import Callable
from dataclasses import replace

from lacre.errors import ActiveKeyMissing, PersonKeyMissing
from lacre.ledger.checkpoint import Checkpoint, SignedCheckpoint
from lacre.ledger.keys import PrivateKey
from lacre.pools.keyring import Keyring
from lacre.rules.history import Key
from lacre.rules.keys import PERSONS, active
from lacre.rules.record import parse_entry
from lacre.rules.state import State, fold_ledger
from lacre.store.reader import Reader


class Signers:
    """The keys of one ledger, each chosen by the state it is to sign in; made by `lacre.handle.making`.

    Each raises what `Keyring.find` does, and `ActiveKeyMissing` for a key that acts and is in no file here.
    """

    def __init__(self, open_keys: Callable[[], Keyring]) -> None:
        self._open_keys = open_keys
        self._known: tuple[str | None, bytes | None, State] | None = None
        self._as_of: bytes | None = None
        self._ring: Keyring | None = None
        self._found: dict[tuple[str, ...], PrivateKey] = {}

    def state(self, reader: Reader) -> State:
        """The ledger's keys at the next entry of `reader`, without any study; folded once for each change."""
        if self._known is None or reader.head is None or reader.head != self._as_of:
            now = (reader.genesis(), reader.key_change())
            if self._known is None or self._known[:2] != now:
                entries = (parse_entry(each.index, each.envelope) for each in reader.study_entries(""))
                self._known = (*now, fold_ledger(entries))
            self._as_of = reader.head
        return replace(self._known[2], next_index=reader.size)

    def person(self, state: State) -> PrivateKey:
        """The key that signs requests: the one that was given, else the ledger's own that is enrolled.

        Whether it may is the law's to say; so a given key, or one that is revoked, is returned all the same.
        """
        keys = self._open_keys()
        found = keys.given_key or self.own_person(state)
        if found is None and (missing := self.person_missing(state)) is not None:
            raise missing
        return found or keys.person

    def own_person(self, state: State) -> PrivateKey | None:
        """The ledger's own person's key, None where no file here has one that is enrolled and not revoked."""
        acting = dict.fromkeys(key.keyid for role in PERSONS for key in active(state, role))
        return self._open_keys().find("person", list(acting)) if acting else None

    def person_missing(self, state: State) -> PersonKeyMissing | None:
        """The refusal where no file here has the key that took the place of the ledger's first; None if it ended.

        That key is the first owner's, or the one that a chain of rotations led to.
        """
        key = next((key for key in state.keys.values() if "owner" in key.roles), None)
        while key is not None and key.revoked is not None:
            key = next((new for new in state.keys.values() if new.enrolled == key.revoked), None)
        if key is None:
            return None
        return PersonKeyMissing(role="person", key=key.keyid[:16], folder=str(self._open_keys().folder))

    def broker(self, state: State) -> PrivateKey:
        """The key that signs the next entry."""
        return self._acting("broker", active(state, "broker"))

    def log(self, state: State) -> tuple[PrivateKey, ...]:
        """The keys that sign the checkpoint of the entries so far, in the order they were enrolled."""
        index = max(state.next_index - 1, 0)
        return tuple(self._acting("log", (key,)) for key in state.keys.values() if key.may("log", index))

    def sign_checkpoint(self, ledger: Reader) -> bytes:
        """Sign the checkpoint of a ledger as it stands, or is about to."""
        state = self.state(ledger)
        checkpoint = Checkpoint(state.origin, ledger.size, ledger.root_at(ledger.size))
        return SignedCheckpoint.sign(checkpoint, self.log(state)).note

    def _acting(self, role: str, keys: tuple[Key, ...]) -> PrivateKey:
        ring = self._open_keys()
        if ring is not self._ring:
            self._ring, self._found = ring, {}
        wanted = (role, *(key.keyid for key in keys))
        found = self._found.get(wanted) or ring.find(role, wanted[1:])
        if found is None:
            acting = keys[-1].keyid[:16] if keys else ""
            raise ActiveKeyMissing(role=role, key=acting, folder=str(ring.folder))
        self._found[wanted] = found
        return found
