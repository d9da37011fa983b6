"""The vault: sealed pools as files named by their own digest, written before any entry names them.

``<folder>/<study>/<pool>/<sha256>.<kind>``, where the kind is `pool` (a ciphertext), `key` (the wrapped key
and salt, or a keyset), `prints` (fingerprints), `submission` or `submission-key`. A file is on the disk, whole,
before its digest is handed out; a crash between the file and its entry leaves an orphan, which harms nothing
and is listed. Plaintext is in memory alone.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from lacre.durable import make_folder, read_chunks, require_space, staged
from lacre.errors import (
    FileMissing,
    LacreError,
    PoolBlobChanged,
    PoolBlobMissing,
    SealNotProven,
    cells_untold,
)
from lacre.pools import seal
from lacre.pools.content import Content
from lacre.pools.seal import Context, Identity, SealKey
from lacre.store.discover import BlobKind, blob_name, pool_folder
from lacre.text import _

Entropy = Callable[[int], bytes]


class Blobs(Protocol):
    """Where encrypted blobs are had from: the vault, or a file that carries some."""

    def chunks(self, study: str, pool: str, kind: BlobKind, digest: str) -> Iterator[bytes]:
        """Yield a blob's content in pieces. Raises `PoolBlobMissing`, and `PoolBlobChanged` in place of an end."""

    def read(self, study: str, pool: str, kind: BlobKind, digest: str) -> bytes:
        """Return a blob's content, checked. Raises `PoolBlobMissing`, `PoolBlobChanged`."""


@dataclass(frozen=True, slots=True)
class Vault:
    """The folder that holds the blobs of every sealed pool of a ledger."""

    folder: Path

    def path(self, study: str, pool: str, kind: BlobKind, digest: str) -> Path:
        """Return where a blob is, or would be. Raises `PoolNameUnsafe`."""
        return pool_folder(self.folder, study, pool) / blob_name(kind, digest)

    def put(self, study: str, pool: str, kind: BlobKind, content: Iterable[bytes]) -> str:
        """Keep a blob durably; return its SHA-256 in hexadecimal.

        Raises `DiskFull` and `NotWritten`, with nothing left behind; so does what `content` itself raises.
        """
        folder = make_folder(pool_folder(self.folder, study, pool))
        with staged(folder, what=_("a file of kind {kind}").format(kind=kind)) as file:
            for chunk in content:
                file.write(chunk)
            file.keep(blob_name(kind, file.digest))
            return file.digest

    def chunks(self, study: str, pool: str, kind: BlobKind, digest: str) -> Iterator[bytes]:
        """Yield a blob's content in pieces; whether it is the one asked for is known when the last was taken.

        Raises `PoolBlobMissing`, and `PoolBlobChanged` in place of an end.
        """
        path = self.path(study, pool, kind, digest)
        running = hashlib.sha256()
        try:
            for chunk in read_chunks(path):
                running.update(chunk)
                yield chunk
        except FileMissing:
            raise PoolBlobMissing(study=study, pool=pool, path=str(path)) from None
        if running.hexdigest() != digest:
            raise PoolBlobChanged(
                kind=kind, study=study, pool=pool, why=_("its SHA-256 is another than the ledger's")
            )

    def read(self, study: str, pool: str, kind: BlobKind, digest: str) -> bytes:
        """Return a blob's content, checked. Raises `PoolBlobMissing`, `PoolBlobChanged`."""
        return b"".join(self.chunks(study, pool, kind, digest))

    def verify(self, study: str, pool: str, kind: BlobKind, digest: str) -> None:
        """Check a blob in bounded memory. Raises `PoolBlobMissing`, `PoolBlobChanged`."""
        for _chunk in self.chunks(study, pool, kind, digest):
            pass


@dataclass(frozen=True, slots=True)
class Record:
    """One sealed raw file: its table, and HMAC-SHA-256 of its bytes under the salt, in hexadecimal."""

    table: str
    hmac: str


@dataclass(frozen=True, slots=True)
class Sealed:
    """A sealed pool, as its entry commits to it: digests in hexadecimal, records and recipients in order."""

    ciphertext: str
    wrapped_key: str
    fingerprints: str
    records: tuple[Record, ...]
    recipients: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SealedSubmission:
    """A submission kept encrypted beside its pool, or corrected tables; digests in hexadecimal.

    `keyset` says that its key is not in a file of its own but in one of the whole pool's.
    """

    ciphertext: str
    wrapped_key: str
    records: tuple[Record, ...]
    recipients: tuple[str, ...]
    keyset: bool = False


def can_open(recipients: Sequence[str], identities: Sequence[Identity]) -> bool:
    """Whether one of `identities` is among `recipients`."""
    return any(identity.recipient in recipients for identity in identities)


# --- pools -------------------------------------------------------------------------------------------------


@cells_untold
def seal_pool(
    vault: Vault,
    context: Context,
    records: Sequence[tuple[str, Content]],
    *,
    prints: bytes,
    recipients: Sequence[str],
    identities: Sequence[Identity] = (),
    entropy: Entropy,
) -> Sealed:
    """Encrypt the raw files of a pool, each with its table's name, and return what the entry commits to.

    With an identity of one of the recipients the pool is opened again, from the disk, before this returns.
    Raises `RecipientInvalid`, `NotEnoughSpace`, `DiskFull`, `NotWritten`, `SealNotProven`, and what reading the
    files does (`FileMissing`, `NotReadable`): then there is nothing an entry could name.
    """
    recipients = seal.check_recipients(recipients)
    _require_space(vault, records, len(prints))
    ciphertext, wrapped_key, committed = _keep(vault, context, records, recipients, entropy)
    fingerprints = vault.put(context.study, context.pool, "prints", [prints])
    sealed = Sealed(ciphertext, wrapped_key, fingerprints, committed, recipients)
    if can_open(recipients, identities):
        try:
            check_pool(vault, context, sealed, identities)
            _verify_content(vault, context, sealed, _unwrapped(vault, context, sealed, identities))
        except LacreError as error:
            raise SealNotProven(study=context.study, pool=context.pool, why=error.message) from error
    return sealed


@cells_untold
def seal_corrected(
    vault: Vault,
    context: Context,
    records: Sequence[tuple[str, Content]],
    *,
    recipients: Sequence[str],
    identities: Sequence[Identity],
    entropy: Entropy,
) -> SealedSubmission:
    """Encrypt corrected tables beside their pool, under a key and a salt of their own, and open them again.

    `identities` open the pool, and so these. Errors as of `seal_pool`.
    """
    recipients = seal.check_recipients(recipients)
    _require_space(vault, records, 0)
    sealed = SealedSubmission(*_keep(vault, context, records, recipients, entropy), recipients)
    try:
        _verify_content(vault, context, sealed, _unwrapped(vault, context, sealed, identities))
    except LacreError as error:
        raise SealNotProven(study=context.study, pool=context.pool, why=error.message) from error
    return sealed


def check_pool(vault: Vault, context: Context, sealed: Sealed, identities: Sequence[Identity]) -> None:
    """Check all that can be checked of a sealed pool without decrypting its content.

    Every blob is there and is the one the entry names, and an identity opens its key. Raises
    `PoolBlobMissing`, `PoolBlobChanged`, `IdentityCannotOpen`.
    """
    vault.verify(context.study, context.pool, "pool", sealed.ciphertext)
    vault.verify(context.study, context.pool, "prints", sealed.fingerprints)
    _unwrapped(vault, context, sealed, identities)


@cells_untold
def open_pool(
    vault: Vault, context: Context, sealed: Sealed, identities: Sequence[Identity]
) -> list[tuple[str, bytes]]:
    """Return the raw files of a pool with their tables' names, in the order they were sealed.

    The whole ciphertext is verified, and each record against its commitment, before any content is kept.
    Raises `PoolBlobMissing`, `PoolBlobChanged`, `IdentityCannotOpen`.
    """
    return _open(vault, context, sealed, identities)


# --- submissions -------------------------------------------------------------------------------------------


@cells_untold
def seal_submission(
    vault: Vault,
    context: Context,
    records: Sequence[tuple[str, Content]],
    *,
    recipients: Sequence[str],
    entropy: Entropy,
) -> SealedSubmission:
    """Encrypt a system's raw files beside the pool, under a key and a salt of their own.

    `context` names the system; `recipients` are those of the pool. Errors as of `seal_pool`.
    """
    assert context.system is not None
    recipients = seal.check_recipients(recipients)
    _require_space(vault, records, 0)
    return SealedSubmission(*_keep(vault, context, records, recipients, entropy), recipients)


@cells_untold
def encrypt_submission(
    context: Context, records: Sequence[tuple[str, Content]], *, recipients: Sequence[str], entropy: Entropy
) -> tuple[SealedSubmission, bytes, bytes]:
    """Encrypt a system's raw files as `seal_submission` does, in memory; return ciphertext and wrapped key, too."""
    assert context.system is not None
    secrets = SealKey(entropy(seal.KEY_SIZE), entropy(seal.SALT_SIZE))
    committed = seal.Commitments(secrets.salt, len(records))
    ciphertext = b"".join(_ciphertext(context, records, secrets, committed))
    wrapped = seal.wrap(secrets, recipients)
    sealed = SealedSubmission(
        hashlib.sha256(ciphertext).hexdigest(),
        hashlib.sha256(wrapped).hexdigest(),
        _records(records, committed),
        seal.check_recipients(recipients),
    )
    return sealed, ciphertext, wrapped


@cells_untold
def open_submission(
    blobs: Blobs, context: Context, sealed: SealedSubmission, identities: Sequence[Identity]
) -> list[tuple[str, bytes]]:
    """Return the raw files of a submission with their tables' names. Errors as of `open_pool`."""
    return _open(blobs, context, sealed, identities)


@cells_untold
def submission_matches(
    vault: Vault,
    context: Context,
    sealed: SealedSubmission,
    records: Sequence[tuple[str, Content]],
    identities: Sequence[Identity],
) -> bool:
    """Whether these raw files are, byte for byte and table by table, those of a kept submission.

    Only its salt is unwrapped. Raises `PoolBlobMissing`, `PoolBlobChanged`, `IdentityCannotOpen`, and what reading
    the files does.
    """
    secrets = _unwrapped(vault, context, sealed, identities)
    pieces = ((index, piece) for index, (_table, raw) in enumerate(records) for piece in raw.chunks())
    made = seal.commitments(secrets.salt, pieces, len(records))
    given = [Record(table, hmac) for (table, _raw), hmac in zip(records, made, strict=True)]
    return sorted(given, key=_by_table) == sorted(sealed.records, key=_by_table)


def _by_table(record: Record) -> str:
    # A table's several files keep their order (sorting is stable): in another order it is another table.
    return record.table


# --- other hands -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WrappedKey:
    """The file with a ciphertext's key and salt, or with a keyset: its kind, and its digest."""

    kind: BlobKind
    digest: str


def rewrap(
    vault: Vault,
    context: Context,
    wrapped: Mapping[str, WrappedKey],
    identities: Sequence[Identity],
    *,
    before: Sequence[str],
    recipients: Sequence[str],
) -> str:
    """Wrap the keys and salts of these ciphertexts to other recipients, in one keyset; return its digest.

    It lies beside the old files, which stay. Nothing is decrypted but them, and nothing is written unless all of
    them open. `context`, and `before`, the recipients until now, name the pool in a refusal. Raises
    `PoolBlobMissing`, `PoolBlobChanged`, `IdentityCannotOpen`, `RecipientInvalid`, `DiskFull`, `NotWritten`.
    """
    recipients = seal.check_recipients(recipients)
    study, pool = context.study, context.pool
    files = {
        each: seal.unwrap(vault.read(study, pool, each.kind, each.digest), identities, context, before)
        for each in dict.fromkeys(wrapped.values())
    }
    keys = {ciphertext: files[each].key_of(ciphertext) for ciphertext, each in wrapped.items()}
    return vault.put(study, pool, "key", [seal.wrap_keyset(keys, recipients)])


# --- both --------------------------------------------------------------------------------------------------


def _kinds(context: Context) -> tuple[BlobKind, BlobKind]:
    return ("pool", "key") if context.system is None else ("submission", "submission-key")


def _require_space(vault: Vault, records: Sequence[tuple[str, Content]], more: int) -> None:
    size = seal.packed_size(raw.size for _table, raw in records)
    require_space(vault.folder, seal.ciphertext_bound(size) + more)


def _keep(
    vault: Vault,
    context: Context,
    records: Sequence[tuple[str, Content]],
    recipients: Sequence[str],
    entropy: Entropy,
) -> tuple[str, str, tuple[Record, ...]]:
    kind, key_kind = _kinds(context)
    secrets = SealKey(entropy(seal.KEY_SIZE), entropy(seal.SALT_SIZE))
    committed = seal.Commitments(secrets.salt, len(records))
    ciphertext = vault.put(
        context.study, context.pool, kind, _ciphertext(context, records, secrets, committed)
    )
    wrapped_key = vault.put(context.study, context.pool, key_kind, [seal.wrap(secrets, recipients)])
    return ciphertext, wrapped_key, _records(records, committed)


def _ciphertext(
    context: Context,
    records: Sequence[tuple[str, Content]],
    secrets: SealKey,
    committed: seal.Commitments,
) -> Iterator[bytes]:
    """Encrypt the records and commit to each on its way: each is read once, and committed to as it was encrypted."""
    return seal.encrypt(secrets.key, context, seal.pack([raw for _table, raw in records], committed.take))


def _records(records: Sequence[tuple[str, Content]], committed: seal.Commitments) -> tuple[Record, ...]:
    return tuple(Record(table, hmac) for (table, _raw), hmac in zip(records, committed.done(), strict=True))


def _unwrapped(
    blobs: Blobs, context: Context, sealed: Sealed | SealedSubmission, identities: Sequence[Identity]
) -> SealKey:
    _kind, key_kind = _kinds(context)
    if isinstance(sealed, SealedSubmission) and sealed.keyset:
        key_kind = "key"
    wrapped = blobs.read(context.study, context.pool, key_kind, sealed.wrapped_key)
    return seal.unwrap(wrapped, identities, context, sealed.recipients).key_of(sealed.ciphertext)


def _pieces(
    blobs: Blobs, context: Context, sealed: Sealed | SealedSubmission, secrets: SealKey
) -> Iterator[tuple[int, bytes]]:
    kind, _key_kind = _kinds(context)
    ciphertext = blobs.chunks(context.study, context.pool, kind, sealed.ciphertext)
    plaintext = seal.decrypt(secrets.key, context, ciphertext)
    return seal.unpack(plaintext, len(sealed.records), context)


def _verify_content(
    blobs: Blobs, context: Context, sealed: Sealed | SealedSubmission, secrets: SealKey
) -> None:
    pieces = _pieces(blobs, context, sealed, secrets)
    found = seal.commitments(secrets.salt, pieces, len(sealed.records))
    if found != tuple(record.hmac for record in sealed.records):
        raise context.changed(_("its content is another than its entry commits to"))


def _open(
    blobs: Blobs, context: Context, sealed: Sealed | SealedSubmission, identities: Sequence[Identity]
) -> list[tuple[str, bytes]]:
    secrets = _unwrapped(blobs, context, sealed, identities)
    _verify_content(blobs, context, sealed, secrets)
    contents: list[list[bytes]] = [[] for _record in sealed.records]
    for index, piece in _pieces(blobs, context, sealed, secrets):
        contents[index].append(piece)
    return [(record.table, b"".join(pieces)) for record, pieces in zip(sealed.records, contents, strict=True)]
