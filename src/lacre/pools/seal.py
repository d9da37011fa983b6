"""How a pool is sealed, as bytes: packing, padding, encryption, commitment, and wrapping of the key.

The plaintext is, for each record (one raw file of one table), ``u64be(length) ‖ raw bytes``, one after the
other, then zeros up to the PADMÉ size. Which record is which table stands in the ledger's entry, beside
HMAC-SHA-256(salt, raw) of each: without the salt, the digest of a file whose content can be guessed tells
nobody whether the guess is right. The ciphertext is C2SP chunked-encryption (`cryptography.cobblestone`,
AES-256-GCM in segments, committing to its key and to the context). Key and salt, 32 bytes each, are wrapped
together in an age file, which `age --decrypt` opens as well.

When a pool changes hands, everything kept of it gets one such file, a keyset: for each ciphertext, in the
order of their digests, ``SHA-256 of the ciphertext (32 bytes) ‖ key ‖ salt``.

Nothing here opens a file or asks a clock: records come as `lacre.pools.content` has them, and random bytes are
arguments, those of the ciphers' own headers apart.
"""

import hashlib
import hmac
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyrage
from cryptography.cobblestone import Cobblestone256Decryptor, Cobblestone256Encryptor
from cryptography.exceptions import InvalidTag

from lacre.canonical import canonical_json
from lacre.durable import CHUNK
from lacre.errors import IdentityCannotOpen, PoolBlobChanged, RecipientInvalid, RecipientsTooMany
from lacre.pools.content import Content
from lacre.text import _

KEY_SIZE = 32
SALT_SIZE = 32
MOST_RECIPIENTS = 32
"""An entry, which names them, has room for many more; who holds a pool should be countable."""
_LENGTH_SIZE = 8
_SECRETS_SIZE = KEY_SIZE + SALT_SIZE
_DIGEST_SIZE = 32
_HELD_SIZE = _DIGEST_SIZE + _SECRETS_SIZE
"""Of one ciphertext in a keyset. No number of them is as long as one key and its salt."""
_SECRET_PREFIX = "AGE-SECRET-KEY-1"  # noqa: S105 - what a secret begins with, and no secret


@dataclass(frozen=True, slots=True)
class Context:
    """What a ciphertext is bound to: it opens as the content of this pool, in this ledger, and as no other's.

    `genesis` and `protocol` are 64 hexadecimal digits; `protocol` is the hash at sealing. `system` is None
    for a pool's own content, and for a submission kept beside it the system's name (empty for the unnamed).
    """

    genesis: str
    study: str
    pool: str
    protocol: str
    system: str | None = None

    def encode(self) -> bytes:
        """Return the canonical JSON that the cipher takes as its context."""
        fields = {
            "genesis": self.genesis,
            "study": self.study,
            "pool": self.pool,
            "protocol": self.protocol,
        }
        return canonical_json(fields if self.system is None else fields | {"system": self.system})

    def changed(self, why: str) -> PoolBlobChanged:
        """Return the refusal of bytes that are not what was sealed under this context."""
        kind = _("pool") if self.system is None else _("submission")
        return PoolBlobChanged(kind=kind, study=self.study, pool=self.pool, why=why)


# --- packing -----------------------------------------------------------------------------------------------


def padme(size: int) -> int:
    """Return the size in bytes that `size` bytes are padded to, 12 % more at most.

    PADMÉ keeps as many leading bits of a length as its exponent has bits, so that of a size only
    O(log log size) bits show. Nikitin, Barman, Lueks, Underwood, Hubaux and Ford, "Reducing Metadata Leakage
    from Encrypted Files and Communication with PURBs", Proceedings on Privacy Enhancing Technologies 2019(4).
    """
    if size < 2:
        return size
    exponent = size.bit_length() - 1
    kept = exponent.bit_length()
    mask = (1 << (exponent - kept)) - 1
    return (size + mask) & ~mask


def packed_size(sizes: Iterable[int]) -> int:
    """Return the size, padding included, of the plaintext of records of these sizes."""
    return padme(sum(_LENGTH_SIZE + size for size in sizes))


def ciphertext_bound(plaintext_size: int) -> int:
    """Return a number of bytes that the ciphertext of so many bytes does not exceed."""
    return plaintext_size + plaintext_size // 512 + 256


def pack(records: Sequence[Content], took: Callable[[int, bytes], None] | None = None) -> Iterator[bytes]:
    """Yield the plaintext of `records`, holding none of them whole.

    `took` is given each piece of a record with the record's index, as it passes. Raises what the records do.
    """
    used = 0
    for index, raw in enumerate(records):
        yield raw.size.to_bytes(_LENGTH_SIZE, "big")
        for piece in raw.chunks():
            if took is not None:
                took(index, piece)
            yield piece
        used += _LENGTH_SIZE + raw.size
    padding = padme(used) - used
    for start in range(0, padding, CHUNK):
        yield bytes(min(CHUNK, padding - start))


def unpack(chunks: Iterable[bytes], count: int, context: Context) -> Iterator[tuple[int, bytes]]:
    """Yield the content of `count` records in pieces, each with its record's index, in order.

    Raises `PoolBlobChanged` when the plaintext ends early, or is not padded with zeros to its PADMÉ size.
    """
    reader = _Reader(chunks, context)
    for index in range(count):
        left = int.from_bytes(b"".join(reader.take(_LENGTH_SIZE)), "big")
        for piece in reader.take(left):
            yield index, piece
    used = reader.taken
    padding = 0
    for piece in reader.rest():
        if piece.count(0) != len(piece):
            raise context.changed(_("its padding is not empty"))
        padding += len(piece)
    if used + padding != padme(used):
        raise context.changed(_("it is padded to a size that is not its own"))


class _Reader:
    """Takes exact numbers of bytes from chunks of any size."""

    def __init__(self, chunks: Iterable[bytes], context: Context) -> None:
        self._chunks = iter(chunks)
        self._left = memoryview(b"")
        self._context = context
        self.taken = 0

    def take(self, size: int) -> Iterator[bytes]:
        while size:
            if not self._left:
                chunk = next(self._chunks, None)
                if chunk is None:
                    raise self._context.changed(_("it ends in the middle of a record"))
                self._left = memoryview(chunk)
            piece = bytes(self._left[:size])
            self._left = self._left[len(piece) :]
            size -= len(piece)
            self.taken += len(piece)
            yield piece

    def rest(self) -> Iterator[bytes]:
        yield bytes(self._left)
        yield from self._chunks


# --- encryption and commitment -----------------------------------------------------------------------------


def encrypt(key: bytes, context: Context, plaintext: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the ciphertext of `plaintext` under a 32-byte `key`, piece by piece as it comes."""
    encryptor = Cobblestone256Encryptor(key, context.encode())
    for chunk in plaintext:
        yield encryptor.update(chunk)
    yield encryptor.finalize()


def decrypt(key: bytes, context: Context, ciphertext: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the plaintext of `ciphertext` in pieces, each of them authenticated.

    That the ciphertext is whole is known only when the last piece was taken. Raises `PoolBlobChanged`.
    """
    decryptor = Cobblestone256Decryptor(key, context.encode())
    try:
        for chunk in ciphertext:
            yield decryptor.update(chunk)
        yield decryptor.finalize()
    except InvalidTag:
        raise context.changed(_("it does not decrypt, whole, under its own key and context")) from None


class Commitments:
    """HMAC-SHA-256(salt, raw) of each of `count` records: what an entry says of them. They come in pieces."""

    def __init__(self, salt: bytes, count: int) -> None:
        self._running = [hmac.new(salt, digestmod=hashlib.sha256) for _index in range(count)]

    def take(self, index: int, piece: bytes) -> None:
        """Add a further piece of the record at `index`."""
        self._running[index].update(piece)

    def done(self) -> tuple[str, ...]:
        """Return the commitment of each record, in hexadecimal."""
        return tuple(one.hexdigest() for one in self._running)


def commitments(salt: bytes, records: Iterable[tuple[int, bytes]], count: int) -> tuple[str, ...]:
    """Return the commitment of each of `count` records that come in pieces, as `unpack` yields them."""
    made = Commitments(salt, count)
    for index, piece in records:
        made.take(index, piece)
    return made.done()


# --- keys --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SealKey:
    """The secrets of one sealed thing: the cipher's key and the salt of its commitments."""

    key: bytes = field(repr=False)
    salt: bytes = field(repr=False)

    @classmethod
    def split(cls, secrets: bytes) -> "SealKey":
        """Return the key and salt that 64 bytes hold."""
        return cls(secrets[:KEY_SIZE], secrets[KEY_SIZE:])

    def joined(self) -> bytes:
        """Return ``key ‖ salt``, what is wrapped."""
        return self.key + self.salt


@dataclass(frozen=True, slots=True, eq=False)
class Identity:
    """An age X25519 identity: it opens what was sealed to its recipient. It never shows itself."""

    recipient: str
    secret: Any = field(repr=False)

    @classmethod
    def generate(cls) -> "Identity":
        """Make a new one; the random bytes are the cipher's own."""
        secret = pyrage.x25519.Identity.generate()
        return cls(str(secret.to_public()), secret)

    @classmethod
    def from_secret(cls, secret: str) -> "Identity | None":
        """Return the identity written `AGE-SECRET-KEY-1…`, or None when the text is none."""
        try:
            parsed = pyrage.x25519.Identity.from_str(secret)
        except pyrage.IdentityError:
            return None
        return cls(str(parsed.to_public()), parsed)

    def encrypt(self, content: bytes) -> bytes:
        """Return `content` as an age file to this identity."""
        return bytes(pyrage.encrypt(content, [self.secret.to_public()]))

    def decrypt(self, content: bytes) -> bytes | None:
        """Return what an age file to this identity holds, or None when it is none."""
        try:
            return bytes(pyrage.decrypt(content, [self.secret]))
        except pyrage.DecryptError:
            return None

    def to_file(self) -> bytes:
        """Return the identity in age's own file format."""
        return f"# public key: {self.recipient}\n{self.secret}\n".encode()


def identities_of_file(content: bytes) -> tuple[Identity, ...] | None:
    """Return the identities of an age identity file, or None when it is not one of X25519 identities."""
    lines = [line.strip() for line in content.decode("utf-8", "replace").splitlines()]
    wanted = [line for line in lines if line and not line.startswith("#")]
    if not wanted or not all(line.startswith(_SECRET_PREFIX) for line in wanted):
        return None
    found = [Identity.from_secret(line) for line in wanted]
    return None if None in found else tuple(one for one in found if one is not None)


def check_recipients(recipients: Sequence[str]) -> tuple[str, ...]:
    """Return the recipients, each once and in its one spelling.

    Raises `RecipientInvalid` when there is none, or one is no age1… key, and `RecipientsTooMany`.
    """
    if not recipients:
        raise RecipientInvalid(recipient=_("An empty list"), why=_("nobody could open it"))
    # In capitals it is the same key, and the custody grade goes by the text.
    found = tuple(dict.fromkeys(str(_recipient(one.strip().lower())) for one in recipients))
    if len(found) > MOST_RECIPIENTS:
        raise RecipientsTooMany(limit=MOST_RECIPIENTS, count=len(found))
    return found


def wrap(secrets: SealKey, recipients: Sequence[str]) -> bytes:
    """Return key and salt as an age file that any one of `recipients` opens. Raises `RecipientInvalid`."""
    return _wrap(secrets.joined(), recipients)


def wrap_keyset(keys: Mapping[str, SealKey], recipients: Sequence[str]) -> bytes:
    """Return the keys and salts of these ciphertexts (SHA-256, hexadecimal) as one such file, a keyset."""
    content = b"".join(bytes.fromhex(ciphertext) + keys[ciphertext].joined() for ciphertext in sorted(keys))
    return _wrap(content, recipients)


def unwrap(
    wrapped: bytes, identities: Sequence[Identity], context: Context, recipients: Sequence[str]
) -> "Unwrapped":
    """Return what `wrapped` holds, one key with its salt or a keyset, by the first identity that opens it.

    `context` and `recipients` only name the pool in a refusal. Raises `IdentityCannotOpen`; so looks, to this
    function, a changed file too: its digest is the caller's to check before.
    """
    refusal = IdentityCannotOpen(
        count=len(identities), study=context.study, pool=context.pool, recipients=", ".join(recipients)
    )
    if not identities:
        raise refusal
    try:
        secrets = bytes(pyrage.decrypt(wrapped, [one.secret for one in identities]))
    except pyrage.DecryptError:
        raise refusal from None
    if len(secrets) != _SECRETS_SIZE and (not secrets or len(secrets) % _HELD_SIZE):
        raise context.changed(_("its key is of the wrong size"))
    return Unwrapped(secrets, context)


@dataclass(frozen=True, slots=True)
class Unwrapped:
    """What a wrapped file holds: a key and its salt, or those of many ciphertexts."""

    _secrets: bytes = field(repr=False)
    _context: Context = field(repr=False)

    def key_of(self, ciphertext: str) -> SealKey:
        """Return the key and salt of the ciphertext of this SHA-256. Raises `PoolBlobChanged` where it has none."""
        if len(self._secrets) == _SECRETS_SIZE:
            return SealKey.split(self._secrets)
        wanted = bytes.fromhex(ciphertext)
        for start in range(0, len(self._secrets), _HELD_SIZE):
            held = self._secrets[start : start + _HELD_SIZE]
            if held[:_DIGEST_SIZE] == wanted:
                return SealKey.split(held[_DIGEST_SIZE:])
        raise self._context.changed(_("its key is not among those that were handed on"))


def _wrap(content: bytes, recipients: Sequence[str]) -> bytes:
    to = [_recipient(one) for one in check_recipients(recipients)]
    return bytes(pyrage.encrypt(content, to))


def _recipient(text: str) -> Any:
    try:
        return pyrage.x25519.Recipient.from_str(text)
    except (pyrage.RecipientError, UnicodeEncodeError) as error:
        # A secret given in place of a recipient must not end up on a screen or in a log.
        shown = f"{_SECRET_PREFIX}…" if text.upper().startswith("AGE-SECRET-KEY") else text
        raise RecipientInvalid(recipient=shown, why=str(error)) from None
