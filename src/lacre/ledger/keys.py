"""Ed25519 keys (RFC 8032): raw, named by their digest, and as PKCS#8 files with or without a passphrase."""

import hashlib
from dataclasses import dataclass, field
from functools import lru_cache

from cryptography.exceptions import InternalError, InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from lacre.errors import KeyMalformed, PassphraseNeeded, PassphraseTooLong, PassphraseWrong, SignatureInvalid
from lacre.text import _

KEY_SIZE = 32
SIGNATURE_SIZE = 64
MAX_PASSPHRASE = 1023  # bytes; OpenSSL's PEM_BUFSIZE less one
_P = 2**255 - 19
_D = -121665 * pow(121666, -1, _P) % _P  # edwards25519: -x^2 + y^2 = 1 + d x^2 y^2 (RFC 8032 section 5.1)
_PLAIN = b"-----BEGIN PRIVATE KEY-----"
_CLOSED = b"-----BEGIN ENCRYPTED PRIVATE KEY-----"
_PUBLIC = b"-----BEGIN PUBLIC KEY-----"
# The last is what `cryptography` says of a key that OpenSSL refuses to take, such as one of the wrong length.
_UNREADABLE = (ValueError, TypeError, UnsupportedAlgorithm, InternalError)


@dataclass(frozen=True, slots=True)
class PublicKey:
    """An Ed25519 public key: its 32 raw bytes (RFC 8032 section 5.1.5)."""

    raw: bytes

    def __post_init__(self) -> None:
        if len(self.raw) != KEY_SIZE:
            raise KeyMalformed(why=_("a public key has 32 bytes"))

    @classmethod
    def from_pem(cls, pem: bytes) -> "PublicKey":
        """Return the key of a PEM file of a public key (SubjectPublicKeyInfo), or of the open private key to it.

        Raises `KeyMalformed`, and `PassphraseNeeded` for a closed private key.
        """
        if not pem.startswith(_PUBLIC):
            return PrivateKey.from_pkcs8(pem).public
        try:
            key = serialization.load_pem_public_key(pem)
        except _UNREADABLE:
            raise KeyMalformed(why=_("the file is damaged or of an unknown kind")) from None
        if not isinstance(key, Ed25519PublicKey):
            raise KeyMalformed(why=_("the file holds a key of another kind"))
        return cls(key.public_bytes_raw())

    @property
    def keyid(self) -> str:
        """The SHA-256 of the raw key, in 64 hexadecimal digits."""
        return hashlib.sha256(self.raw).hexdigest()

    @property
    def sound(self) -> bool:
        """Whether the bytes are the one encoding of a point that is not of small order.

        Others verify signatures that nobody made: for the neutral element, one signature fits every message.
        Decoding as in RFC 8032 section 5.1.3; a point of small order is one that doubles to the neutral element in
        three steps, the curve's cofactor being 8.
        """
        encoded = int.from_bytes(self.raw, "little")
        sign, y = encoded >> 255, encoded & ((1 << 255) - 1)
        square = (y * y - 1) * pow(_D * y * y + 1, -1, _P) % _P
        x = pow(square, (_P + 3) // 8, _P)
        if (x * x - square) % _P:
            x = x * pow(2, (_P - 1) // 4, _P) % _P
        if y >= _P or (x * x - square) % _P or (x == 0 and sign):
            return False
        for _doubling in range(3):
            mixed = _D * x * x * y * y % _P
            x, y = 2 * x * y * pow(1 + mixed, -1, _P) % _P, (y * y + x * x) * pow(1 - mixed, -1, _P) % _P
        return (x, y) != (0, 1)

    def verify(self, message: bytes, signature: bytes) -> None:
        """Check that this key's holder signed `message`; `SignatureInvalid` when not."""
        try:
            _verifier(self.raw).verify(signature, message)
        except (InvalidSignature, ValueError):
            raise SignatureInvalid(keyid=self.keyid) from None


@lru_cache(maxsize=64)
def _verifier(raw: bytes) -> Ed25519PublicKey:
    # A ledger has few keys and many signatures, and each use would decode the point again.
    return Ed25519PublicKey.from_public_bytes(raw)


@dataclass(frozen=True, slots=True, eq=False)
class PrivateKey:
    """An Ed25519 private key; it never shows itself in a representation."""

    _key: Ed25519PrivateKey = field(repr=False)

    @classmethod
    def from_seed(cls, seed: bytes) -> "PrivateKey":
        """Return the key that the 32 bytes `seed` are the secret of; `KeyMalformed` for another length."""
        if len(seed) != KEY_SIZE:
            raise KeyMalformed(why=_("a private key has 32 bytes"))
        return cls(Ed25519PrivateKey.from_private_bytes(seed))

    @classmethod
    def from_pkcs8(cls, pem: bytes, passphrase: bytes | None = None) -> "PrivateKey":
        """Return the key of a PKCS#8 PEM file; an empty passphrase is none, and an open key needs none.

        Raises `KeyMalformed` for anything but one Ed25519 private key, `PassphraseNeeded` for a closed key
        without a passphrase, `PassphraseWrong` when the passphrase does not open it, or the key is damaged.
        """
        closed = pem.startswith(_CLOSED)
        if not closed and not pem.startswith(_PLAIN):
            raise KeyMalformed(why=_("the file is not in PKCS#8 PEM form"))
        if closed and not passphrase:
            raise PassphraseNeeded
        try:
            key = serialization.load_pem_private_key(pem, passphrase if closed else None)
        except _UNREADABLE as error:
            if closed and isinstance(error, ValueError):
                raise PassphraseWrong from None
            raise KeyMalformed(why=_("the file is damaged or of an unknown kind")) from None
        if not isinstance(key, Ed25519PrivateKey):
            raise KeyMalformed(why=_("the file holds a key of another kind"))
        return cls(key)

    def to_pkcs8(self, passphrase: bytes | None = None) -> bytes:
        """Return the key as a PKCS#8 PEM file, encrypted unless the passphrase is empty or none.

        Raises `PassphraseTooLong` past the 1,023 bytes that OpenSSL takes.
        """
        if passphrase and len(passphrase) > MAX_PASSPHRASE:
            raise PassphraseTooLong(limit=MAX_PASSPHRASE)
        encryption: serialization.KeySerializationEncryption = serialization.NoEncryption()
        if passphrase:
            encryption = serialization.BestAvailableEncryption(passphrase)
        return self._key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, encryption
        )

    @property
    def public(self) -> PublicKey:
        """The public half."""
        return PublicKey(self._key.public_key().public_bytes_raw())

    def sign(self, message: bytes) -> bytes:
        """Return the 64 bytes of this key's signature over `message`; the same for the same bytes."""
        return self._key.sign(message)
