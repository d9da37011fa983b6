"""The keys of a ledger on disk, each read only when it is asked for.

`person.pem`, `broker.pem`, `log.pem` are Ed25519 keys in PKCS#8; `identity.age` is an age identity file, and
`fingerprint.key` the 32 bytes under which cases are hashed. With a passphrase all five are closed: PKCS#8 by
its own means; the identity as an age file under scrypt, so that `age --decrypt -i identity.age` opens a
sealed key in either case; the fingerprint key as an age file to that identity, since a second scrypt would
cost another second and protect nothing more. An empty passphrase is none.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import pyrage

from lacre.durable import create_durably, list_folder, make_folder, read_hashed
from lacre.errors import (
    FileMissing,
    KeyExists,
    KeyFileDamaged,
    KeyMalformed,
    KeyMissing,
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
FILES = (PERSON, BROKER, LOG, IDENTITY, FINGERPRINT)
FINGERPRINT_SIZE = 32

_AGE = b"age-encryption.org/v1\n"
_CLOSED_PEM = b"-----BEGIN ENCRYPTED PRIVATE KEY-----"


@dataclass(frozen=True)
class Keyring:
    """The keys of one ledger, in `folder`, opened with `passphrase` where they are closed.

    A key raises `KeyMissing`, `PassphraseNeeded`, `PassphraseWrong`, `KeyFileDamaged` or `NotReadable`.
    """

    folder: Path
    passphrase: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        try:
            (self.passphrase or "").encode()
        except UnicodeEncodeError:
            # What is no UTF-8 in the environment arrives as lone surrogates.
            raise PassphraseNotText from None

    @classmethod
    def create(cls, folder: Path, passphrase: str | None, entropy: Callable[[int], bytes]) -> "Keyring":
        """Make the five keys in `folder` (itself made if missing), closed if there is a passphrase.

        Raises `KeyExists`, before anything is written, when any of them is there; `PassphraseNotText`,
        `DiskFull`, `NotWritten`.
        """
        made = cls(folder, passphrase)
        if present := made._files():
            raise KeyExists(path=str(present[0]))
        make_folder(folder)
        for name in (PERSON, BROKER, LOG):
            pem = PrivateKey.from_seed(entropy(KEY_SIZE)).to_pkcs8(made._passphrase_bytes)
            _create(folder / name, pem)
        identity, fingerprint = Identity.generate(), entropy(FINGERPRINT_SIZE)
        if passphrase:
            _create(folder / IDENTITY, bytes(pyrage.passphrase.encrypt(identity.to_file(), passphrase)))
            _create(folder / FINGERPRINT, identity.encrypt(fingerprint))
        else:
            _create(folder / IDENTITY, identity.to_file())
            _create(folder / FINGERPRINT, fingerprint)
        return made

    @cached_property
    def person(self) -> PrivateKey:
        """The key a person signs requests with."""
        return self._signing(PERSON)

    @cached_property
    def broker(self) -> PrivateKey:
        """The key the broker signs entries with."""
        return self._signing(BROKER)

    @cached_property
    def log(self) -> PrivateKey:
        """The key that signs checkpoints, and nothing else."""
        return self._signing(LOG)

    @cached_property
    def identity(self) -> Identity:
        """The age identity that opens what is sealed to its recipient."""
        content = self._read(IDENTITY)
        if content.startswith(_AGE):
            if not self.passphrase:
                raise PassphraseNeeded
            try:
                content = bytes(pyrage.passphrase.decrypt(content, self.passphrase))
            except pyrage.DecryptError:
                raise PassphraseWrong from None
        found = identities_of_file(content)
        if found is None or len(found) != 1:
            raise KeyFileDamaged(path=str(self.folder / IDENTITY), why=_("it holds no single age identity"))
        return found[0]

    @cached_property
    def fingerprint(self) -> bytes:
        """The 32 bytes under which this ledger's cases are hashed."""
        key: bytes | None = self._read(FINGERPRINT)
        if key is not None and key.startswith(_AGE):
            key = self.identity.decrypt(key)
        if key is None or len(key) != FINGERPRINT_SIZE:
            raise KeyFileDamaged(path=str(self.folder / FINGERPRINT), why=_("it does not hold 32 bytes"))
        return key

    @property
    def closed(self) -> bool:
        """Whether any key that is there needs a passphrase. Raises `NotReadable`."""
        return any(read_hashed(path)[0].startswith((_AGE, _CLOSED_PEM)) for path in self._files())

    def readable_by_others(self) -> tuple[Path, ...]:
        """Return the key files whose mode lets anyone but their owner in: a warning, never a refusal."""
        return tuple(path for path in self._files() if path.stat().st_mode & 0o077)

    def _files(self) -> list[Path]:
        return [path for path in list_folder(self.folder) if path.name in FILES]

    @property
    def _passphrase_bytes(self) -> bytes | None:
        return self.passphrase.encode() if self.passphrase else None

    def _read(self, name: str) -> bytes:
        try:
            return read_hashed(self.folder / name)[0]
        except FileMissing:
            raise KeyMissing(path=str(self.folder / name)) from None

    def _signing(self, name: str) -> PrivateKey:
        try:
            return PrivateKey.from_pkcs8(self._read(name), self._passphrase_bytes)
        except KeyMalformed as error:
            raise KeyFileDamaged(path=str(self.folder / name), why=error.fields["why"]) from error


def _create(path: Path, content: bytes) -> None:
    if not create_durably(path, content):
        raise KeyExists(path=str(path))
