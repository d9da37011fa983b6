"""`key`: make keys, put changes of who may act on record, and keep the key files themselves safe.

What the ledger knows of a key is its public half. A private key that is to take another's place is on the disk,
flushed, before the entry is written: a crash between the two leaves a file that no entry enrols, which is never
used; the other way round it would leave a ledger that nobody can write to.
"""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from lacre.broker.desk import (
    Desk,
    SaltedText,
    answered,
    ask_beforehand,
    names_of,
    put_on_record,
    sign_request,
    view,
)
from lacre.broker.outcomes import (
    IdentityMade,
    KeyChanged,
    KeyMade,
    KeysBackedUp,
    KeysRecovered,
    KeysShown,
)
from lacre.broker.show import erased_names, verifier_keys
from lacre.broker.texts import salted_words
from lacre.durable import create_durably, make_folder, read_given
from lacre.errors import (
    FileMissing,
    KeyBackupDamaged,
    KeyBackupExists,
    KeyBackupForeign,
    KeyExists,
    KeyFileDiffers,
    KeyMalformed,
    KeyMissing,
    KeyUnclear,
    PassphraseNeeded,
    PublicKeyUnclear,
)
from lacre.ledger.keys import KEY_SIZE, PrivateKey, PublicKey
from lacre.pools.key_backup import MOST_BYTES, pack, unpack
from lacre.pools.keyring import (
    FINGERPRINT,
    IDENTITY,
    MOST_KEY_BYTES,
    PERSON,
    Keyring,
    is_closed,
    open_fingerprint,
    open_identity,
    open_signing,
    write_identity,
    write_signing,
)
from lacre.pools.seal import Identity
from lacre.rules.answers import KeyDecision, NoFacts
from lacre.rules.keys import active
from lacre.rules.requests import KeyChange, Role
from lacre.rules.state import State
from lacre.text import _

Passphrase = Callable[[], str | None] | str | None
"""A passphrase, or what asks for it when it is needed."""
Part = Literal["person", "broker", "log"]
"""Whose key of a ledger's own is replaced."""

LEAST_DIGITS = 8  # of a key's id, to name it by
_HEX = re.compile(r"[0-9a-f]+")


# --- keys that no ledger knows yet -------------------------------------------------------------------------


def new_key(
    path: Path, passphrase: Passphrase, entropy: Callable[[int], bytes], name: str | None = None
) -> KeyMade:
    """Make a person's key pair in the file `path`. Raises `KeyExists`, `NotWritten`, `DiskFull`."""
    passphrase = _for_new(path, passphrase)
    key = PrivateKey.from_seed(entropy(KEY_SIZE))
    write_signing(path, key, passphrase)
    return KeyMade(path, key.public.keyid, key.public.raw.hex(), bool(passphrase), name)


def new_identity(path: Path, passphrase: Passphrase, now: datetime) -> IdentityMade:
    """Make an age identity in the file `path`, as `age-keygen` writes one. Raises as `new_key` does."""
    passphrase = _for_new(path, passphrase)
    identity = Identity.generate()
    created = f"# created: {now.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}\n"
    write_identity(path, created.encode() + identity.to_file(), passphrase)
    return IdentityMade(path, identity.recipient, bool(passphrase))


def _for_new(path: Path, passphrase: Passphrase) -> str | None:
    """The passphrase, asked for only if there is nothing at `path` yet."""
    if os.path.lexists(path):
        raise KeyExists(path=str(path))
    return _given(passphrase)


def _given(passphrase: Passphrase) -> str | None:
    return passphrase() if callable(passphrase) else passphrase


def public_key(given: str) -> PublicKey:
    """The public key that somebody gave: its 64 hexadecimal digits, or a PEM file to read it from.

    Raises `PublicKeyUnclear`, `NotReadable`.
    """
    if len(given) == 2 * KEY_SIZE and _HEX.fullmatch(given.lower()):
        return PublicKey(bytes.fromhex(given))
    try:
        content = read_given(Path(given), most=MOST_KEY_BYTES)
    except FileMissing:
        raise PublicKeyUnclear(given=given, why=_("it is neither 64 digits nor a file")) from None
    try:
        return PublicKey.from_pem(content)
    except PassphraseNeeded:
        why = _("the file is closed with a passphrase")
        raise PublicKeyUnclear(given=given, why=why) from None
    except KeyMalformed as error:
        raise PublicKeyUnclear(given=given, why=error.fields["why"]) from error


# --- who may act -------------------------------------------------------------------------------------------


def enrol(desk: Desk, public: str, roles: Sequence[Role], name: str | None = None) -> KeyChanged:
    """Enrol a person's key with roles; `public` is what `public_key` reads."""
    asked = {"action": "enrol", "public": public_key(public).raw.hex(), "roles": tuple(dict.fromkeys(roles))}
    ask_beforehand(desk, desk.view(""), KeyChange, NoFacts(), **asked)
    return _change(desk, asked, name=salted_words(desk, name, "key"))


def revoke(desk: Desk, which: str, reason: str | None = None) -> KeyChanged:
    """Revoke a key, named by its id, its public half, the beginning of either, or a PEM file.

    Raises `KeyUnclear`, `PublicKeyUnclear`.
    """
    state = desk.view("")
    asked = {"action": "revoke", "public": _enrolled(state, which)}
    ask_beforehand(desk, state, KeyChange, NoFacts(), **asked)
    return _change(desk, asked, reason=salted_words(desk, reason, "key"))


def rotate(desk: Desk, part: Part, name: str | None = None) -> KeyChanged:
    """Have a new key take the place of the ledger's own; without `name`, the old key's name stays with it."""
    state = desk.view("")
    replaces = _own(desk, state, part)
    key = PrivateKey.from_seed(desk.entropy(KEY_SIZE))
    asked = {"action": "rotate", "public": key.public.raw.hex(), "replaces": replaces}
    ask_beforehand(desk, state, KeyChange, NoFacts(), **asked)
    if name is None:
        with desk.snapshot() as reader:
            name = names_of(reader, state).get(replaces)
    salted = salted_words(desk, name, "key")
    file = desk.keys.add(part, key)
    return _change(desk, asked, name=salted, file=file)


def listed(desk: Desk) -> KeysShown:
    """Every key that was ever enrolled."""
    with desk.snapshot() as reader:
        state = view(reader, "")
        return KeysShown(
            keys=tuple(state.keys.values()),
            names=names_of(reader, state),
            erased=erased_names(reader, state),
            verifier_keys=verifier_keys(state),
        )


def _own(desk: Desk, state: State, part: Part) -> str:
    if part != "person":
        return active(state, part)[-1].keyid
    own = desk.signers.own_person(state)
    if own is None:
        raise desk.signers.person_missing(state) or KeyMissing(path=str(desk.layout.keys / PERSON))
    return own.public.keyid


def _enrolled(state: State, which: str) -> str:
    """The public half of the one enrolled key that `which` names."""
    wanted = public_key(which).raw.hex() if which.endswith(".pem") else which.strip().lower()
    fits = [
        key for key in state.keys.values() if key.keyid.startswith(wanted) or key.public.startswith(wanted)
    ]
    if len(wanted) < LEAST_DIGITS or len(fits) != 1:
        raise KeyUnclear(given=which)
    return fits[0].public


def _change(
    desk: Desk,
    asked: Mapping[str, object],
    *,
    name: SaltedText | None = None,
    reason: SaltedText | None = None,
    file: Path | None = None,
) -> KeyChanged:
    texts = {"name": name, "reason": reason}
    digests = {field: text.digest for field, text in texts.items() if text is not None}
    signed = sign_request(desk, KeyChange, **asked, **digests)
    made, warnings = put_on_record(desk, "", signed, NoFacts(), *texts.values())
    with desk.snapshot() as reader:
        state = view(reader, "")
        names = names_of(reader, state)
    content = answered(made)
    request, decision = content.request, content.decision
    assert isinstance(request, KeyChange)
    assert isinstance(decision, KeyDecision)
    keyid = decision.enrols or decision.revokes or ""
    return KeyChanged(
        action=request.action,
        entry=made.index,
        time=made.time,
        key=state.keys[keyid],
        name=names.get(keyid),
        replaces=request.replaces,
        file=file,
        verifier_keys=verifier_keys(state),
        warnings=warnings,
    )


# --- the key files -----------------------------------------------------------------------------------------


def backup(desk: Desk, path: Path, passphrase: Passphrase) -> KeysBackedUp:
    """Write all key files into one, closed with `passphrase` if there is one; read back before it is done.

    Raises `KeyBackupExists`, `KeyMissing` where there is no key at all, `NotWritten`, `DiskFull`.
    """
    if os.path.lexists(path):
        raise KeyBackupExists(path=str(path))
    files = Keyring(desk.layout.keys).contents()
    if not files:
        raise KeyMissing(path=str(desk.layout.keys / PERSON))
    passphrase = _given(passphrase)
    if not create_durably(path, pack(files, passphrase)):
        raise KeyBackupExists(path=str(path))
    if unpack(read_given(path, most=MOST_BYTES), passphrase, path) != files:
        raise KeyBackupDamaged(path=str(path), why=_("it does not hold what was written"))
    closed = tuple(name for name, content in files.items() if is_closed(content))
    return KeysBackedUp(path, tuple(files), bool(passphrase), closed)


def recover(desk: Desk, path: Path, passphrase: Passphrase) -> KeysRecovered:
    """Put back the key files that are missing, once they proved to be this ledger's.

    A key that no entry enrols is left out. Raises what `unpack` does, and, before anything is written,
    `KeyBackupForeign` and `KeyFileDiffers`.
    """
    content = read_given(path, most=MOST_BYTES)
    files = unpack(content, _given(passphrase) if is_closed(content) else None, path)
    held = _Held(files, desk.open_keys.passphrase, desk.layout.keys)
    left_out = _check_own(held, desk.view(""), path)
    wanted = {name: content for name, content in files.items() if name not in left_out}
    same = tuple(name for name in wanted if _stands(desk.layout.keys / name, wanted[name]))
    make_folder(desk.layout.keys)
    for name in wanted.keys() - set(same):
        if not create_durably(desk.layout.keys / name, wanted[name]):
            raise KeyFileDiffers(path=str(desk.layout.keys / name))
    desk.open_keys.cache_clear()
    restored = tuple(name for name in wanted if name not in same)
    return KeysRecovered(desk.layout.keys, restored, same, left_out)


@dataclass(frozen=True, slots=True)
class _Held:
    """The key files of a backup; the keys' own passphrase is asked for when one of them is closed."""

    files: Mapping[str, bytes]
    ask: Callable[[], str | None]
    folder: Path

    def keyids(self) -> dict[str, str]:
        """The key ids of the signing keys, by file."""
        pems = {name: content for name, content in self.files.items() if name.endswith(".pem")}
        return {
            name: open_signing(content, self._passphrase(content), self.folder / name).public.keyid
            for name, content in pems.items()
        }

    def identity(self) -> Identity | None:
        """The age identity, if there is one."""
        content = self.files.get(IDENTITY)
        if content is None:
            return None
        return open_identity(content, self._passphrase(content), self.folder / IDENTITY)

    def check_fingerprint(self, identity: Identity | None) -> None:
        """Raises `KeyFileDamaged` for a fingerprint key that is none, or is not closed to this identity."""
        content = self.files.get(FINGERPRINT)
        if content is not None and (identity is not None or not is_closed(content)):
            open_fingerprint(content, lambda: identity, self.folder / FINGERPRINT)  # type: ignore[arg-type, return-value]

    def _passphrase(self, content: bytes) -> str | None:
        return self.ask() if is_closed(content) else None


def _check_own(held: _Held, state: State, path: Path) -> tuple[str, ...]:
    """Refuse a backup of another ledger; return the files of keys that no entry here enrols."""
    identity = held.identity()
    if identity is not None and identity.recipient != state.recipient:
        raise KeyBackupForeign(path=str(path), why=_("its identity is not this ledger's"))
    keyids = held.keyids()
    unknown = tuple(name for name, keyid in keyids.items() if keyid not in state.keys)
    if identity is None and len(unknown) == len(keyids):
        raise KeyBackupForeign(path=str(path), why=_("none of them is enrolled in this one"))
    held.check_fingerprint(identity)
    return unknown


def _stands(path: Path, content: bytes) -> bool:
    """Whether a file is there with just this content. Raises `KeyFileDiffers` for another."""
    try:
        there = read_given(path, most=MOST_KEY_BYTES)
    except FileMissing:
        return False
    if there != content:
        raise KeyFileDiffers(path=str(path))
    return True
