"""The keys of a ledger on disk, each read only when it is asked for.

`person.pem`, `broker.pem`, `log.pem` are Ed25519 keys in PKCS#8; `identity.age` is an age identity file, and
`fingerprint.key` the 32 bytes under which cases are hashed. With a passphrase all five are closed: PKCS#8 by
its own means; the identity as an age file under scrypt, so that `age --decrypt -i identity.age` opens a
sealed key in either case; the fingerprint key as an age file to that identity, since a second scrypt would
cost another second and protect nothing more. An empty passphrase is none.

A key that takes another's place is written beside it, as `<person|broker|log>-<16 digits of its key id>.pem`,
and any other `*.pem` in the folder is a key too: which of them acts, the ledger says, by key id. A file that
no entry enrols (a rotation that crashed before its entry leaves one) is never used, and does no harm.
"""

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import pyrage

from lacre.durable import create_durably, list_folder, make_folder, read_given
from lacre.errors import (
    FileMissing,
    KeyError_,
    KeyExists,
    KeyFileDamaged,
    KeyMalformed,
    KeyMissing,
    NotReadable,
    PassphraseNeeded,
    PassphraseNotText,
    PassphraseWrong,
)
from lacre.ledger.keys import KEY_SIZE, PrivateKey
from lacre.pools.seal import Identity, identities_of_file
from lacre.text import _

PERSON = "person.pem"
BROKER = "broker.pem"
LOG = "log.pem"
IDENTITY = "identity.age"
FINGERPRINT = "fingerprint.key"
FINGERPRINT_SIZE = 32
KEYID_DIGITS = 16  # of a key id, in the name of a file
MOST_KEY_BYTES = 1 << 16  # no key file has as many

_AGE = b"age-encryption.org/v1\n"
_CLOSED_PEM = b"-----BEGIN ENCRYPTED PRIVATE KEY-----"
_NAME = re.compile(r"identity\.age|fingerprint\.key|[A-Za-z0-9][A-Za-z0-9._-]{0,63}\.pem")


def is_key_file(name: str) -> bool:
    """Tell whether a file of this name in the folder of keys is a key."""
    return _NAME.fullmatch(name) is not None


def is_closed(content: bytes) -> bool:
    """Tell whether a key file's content needs a passphrase, or an identity, to be opened."""
    return content.startswith((_AGE, _CLOSED_PEM))


def encode_passphrase(passphrase: str | None) -> bytes | None:
    """Return a passphrase in UTF-8, None for an empty one. Raises `PassphraseNotText`."""
    try:
        return (passphrase or "").encode() or None
    except UnicodeEncodeError:
        # What is no UTF-8 in the environment arrives as lone surrogates.
        raise PassphraseNotText from None


def open_signing(content: bytes, passphrase: str | None, path: Path) -> PrivateKey:
    """Return the key that a PKCS#8 file holds; `path` names it in a refusal.

    Raises `KeyFileDamaged`, `PassphraseNeeded`, `PassphraseWrong`.
    """
    try:
        return PrivateKey.from_pkcs8(content, encode_passphrase(passphrase))
    except KeyMalformed as error:
        raise KeyFileDamaged(path=str(path), why=error.fields["why"]) from error


def open_identity(content: bytes, passphrase: str | None, path: Path) -> Identity:
    """Return the one identity that an age identity file holds, open or closed under scrypt.

    Raises `KeyFileDamaged`, `PassphraseNeeded`, `PassphraseWrong`.
    """
    if content.startswith(_AGE):
        if not passphrase:
            raise PassphraseNeeded
        try:
            content = bytes(pyrage.passphrase.decrypt(content, passphrase))
        except pyrage.DecryptError:
            raise PassphraseWrong from None
    found = identities_of_file(content)
    if found is None or len(found) != 1:
        raise KeyFileDamaged(path=str(path), why=_("it holds no single age identity"))
    return found[0]


def open_fingerprint(content: bytes, identity: Callable[[], Identity], path: Path) -> bytes:
    """Return the 32 bytes of a fingerprint key; `identity` is asked for one that is closed.

    Raises `KeyFileDamaged`.
    """
    key: bytes | None = content
    if content.startswith(_AGE):
        key = identity().decrypt(content)
    if key is None or len(key) != FINGERPRINT_SIZE:
        raise KeyFileDamaged(path=str(path), why=_("it does not hold 32 bytes"))
    return key


def write_signing(path: Path, key: PrivateKey, passphrase: str | None) -> None:
    """Write a key as PKCS#8, closed if there is a passphrase. Raises `KeyExists`, `DiskFull`, `NotWritten`."""
    _create(path, key.to_pkcs8(encode_passphrase(passphrase)))


def write_identity(path: Path, content: bytes, passphrase: str | None) -> None:
    """Write an age identity file, closed under scrypt if there is a passphrase. Raises as `write_signing`."""
    encode_passphrase(passphrase)
    _create(path, bytes(pyrage.passphrase.encrypt(content, passphrase)) if passphrase else content)


@dataclass(frozen=True)
class Keyring:
    """The keys of one ledger, in `folder`, opened with `passphrase` where they are closed.

    `given` is the file of the key that a person signs with instead of the ledger's own. A key raises
    `KeyMissing`, `PassphraseNeeded`, `PassphraseWrong`, `KeyFileDamaged` or `NotReadable`.
    """

    folder: Path
    passphrase: str | None = field(default=None, repr=False)
    given: Path | None = None
    _opened: dict[str, PrivateKey] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        encode_passphrase(self.passphrase)

    @classmethod
    def create(cls, folder: Path, passphrase: str | None, entropy: Callable[[int], bytes]) -> "Keyring":
        """Make the five keys in `folder` (itself made if missing), closed if there is a passphrase.

        Raises `KeyExists`, before anything is written, when any key is there; `PassphraseNotText`,
        `DiskFull`, `NotWritten`.
        """
        made = cls(folder, passphrase)
        if present := made.files():
            raise KeyExists(path=str(present[0]))
        make_folder(folder)
        for name in (PERSON, BROKER, LOG):
            write_signing(folder / name, PrivateKey.from_seed(entropy(KEY_SIZE)), passphrase)
        identity, fingerprint = Identity.generate(), entropy(FINGERPRINT_SIZE)
        write_identity(folder / IDENTITY, identity.to_file(), passphrase)
        _create(folder / FINGERPRINT, identity.encrypt(fingerprint) if passphrase else fingerprint)
        return made

    @property
    def person(self) -> PrivateKey:
        """The person's key that `create` made, whether or not it still acts."""
        return self._signing(PERSON)

    @property
    def broker(self) -> PrivateKey:
        """The broker's key that `create` made, whether or not it still acts."""
        return self._signing(BROKER)

    @property
    def log(self) -> PrivateKey:
        """The log's key that `create` made, whether or not it still acts."""
        return self._signing(LOG)

    @cached_property
    def given_key(self) -> PrivateKey | None:
        """The key of the file `given`, None where none is."""
        if self.given is None:
            return None
        return open_signing(read_given(self.given, most=MOST_KEY_BYTES), self.passphrase, self.given)

    def find(self, role: str, keyids: Collection[str]) -> PrivateKey | None:
        """Return the key of a file here whose id is one of `keyids`; None where no file holds one.

        Of several the first counts: that of a file named by `role` and key id, then `<role>.pem`, then any.
        What cannot be opened is passed over, and raises only if no other file fits.
        """
        refusal: Exception | None = None
        for name in self._likely(role, keyids):
            try:
                key = self._signing(name)
            except (KeyError_, NotReadable) as error:
                refusal = refusal or error
                continue
            if key.public.keyid in keyids:
                return key
        if refusal is not None:
            raise refusal
        return None

    def add(self, role: str, key: PrivateKey) -> Path:
        """Write a further key, closed as the others are; return its file once it is safe on the disk.

        Raises `KeyExists`, `PassphraseNeeded`, `PassphraseWrong`, `DiskFull`, `NotWritten`.
        """
        path = self.folder / _file_name(role, key.public.keyid)
        write_signing(path, key, self._common_passphrase())
        return path

    def contents(self) -> dict[str, bytes]:
        """Return the key files as they are, by name. Raises `NotReadable`."""
        return {path.name: _read(path) for path in self.files()}

    @cached_property
    def identity(self) -> Identity:
        """The age identity that opens what is sealed to its recipient."""
        path = self.folder / IDENTITY
        return open_identity(_read(path), self.passphrase, path)

    @cached_property
    def fingerprint(self) -> bytes:
        """The 32 bytes under which this ledger's cases are hashed."""
        path = self.folder / FINGERPRINT
        return open_fingerprint(_read(path), lambda: self.identity, path)

    @property
    def closed(self) -> bool:
        """Whether any key that is there, or is given, needs a passphrase. Raises `FileMissing`, `NotReadable`."""
        return any(is_closed(_read(path)) for path in self.files()) or self._is_given_closed()

    def _is_given_closed(self) -> bool:
        return self.given is not None and is_closed(read_given(self.given, most=MOST_KEY_BYTES))

    def readable_by_others(self) -> tuple[Path, ...]:
        """Return the key files whose mode lets anyone but their owner in: a warning, never a refusal."""
        return tuple(path for path in self.files() if lets_others_in(path))

    def files(self) -> list[Path]:
        """Return the key files that are there, by name. Raises `NotReadable`."""
        return [path for path in list_folder(self.folder) if is_key_file(path.name) and path.is_file()]

    def _likely(self, role: str, keyids: Collection[str]) -> Iterator[str]:
        """Yield the names of files that may hold one of `keyids`, the likeliest first, each once."""
        tried = [_file_name(role, keyid) for keyid in keyids]
        tried = [name for name in (*tried, f"{role}.pem") if (self.folder / name).is_file()]
        yield from tried
        for path in self.files():
            if path.suffix == ".pem" and path.name not in tried:
                yield path.name

    def _common_passphrase(self) -> str | None:
        """Return what a further key is closed with: the passphrase, once it proved to open what is closed."""
        for path in self.files():
            content = _read(path)
            if content.startswith(_CLOSED_PEM):
                open_signing(content, self.passphrase, path)
                return self.passphrase
        return None

    def _signing(self, name: str) -> PrivateKey:
        if name not in self._opened:
            path = self.folder / name
            self._opened[name] = open_signing(_read(path), self.passphrase, path)
        return self._opened[name]


def lets_others_in(path: Path) -> bool:
    """Whether the mode of a file that is there lets anyone but its owner in."""
    return bool(path.stat().st_mode & 0o077)


def _file_name(role: str, keyid: str) -> str:
    return f"{role}-{keyid[:KEYID_DIGITS]}.pem"


def _read(path: Path) -> bytes:
    try:
        return read_given(path, most=MOST_KEY_BYTES)
    except FileMissing:
        raise KeyMissing(path=str(path)) from None


def _create(path: Path, content: bytes) -> None:
    if not create_durably(path, content):
        raise KeyExists(path=str(path))
