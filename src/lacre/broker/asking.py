"""Request files: a read that one person asks for, signed, and another carries out.

::

    lacre-request-v1 LF
    u32be length of the head, and the head: RFC 8785 JSON
        {"request": the signed envelope (DSSE), "reason": {"salt": …, "text": …}, "sizes": […]}
    the blobs: of each submission, in the request's order, its ciphertext and its wrapped key

`reason` is there when the request names one, its salt in hexadecimal. `sizes` are the blobs' lengths in bytes,
and the file ends with them. A request to finish a crashed read carries no blobs: they were kept with that read.
All of it is bound to the signature, for the request names the SHA-256 of each blob, and of salt and text
together. Whoever gets the file can read which study, pool and analyses it is about, and the reason; the
submissions are encrypted to the pool's recipients.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lacre.broker.desk import SaltedText
from lacre.broker.texts import MOST as MOST_WORDS
from lacre.canonical import canonical_json, parse_canonical, sha256_hex
from lacre.durable import read_given, staged
from lacre.errors import (
    CanonicalError,
    FileExists,
    FormatError,
    PoolBlobMissing,
    RequestFileInvalid,
)
from lacre.ledger.envelope import Envelope
from lacre.pools.vault import Vault
from lacre.rules.requests import Read, decode_request
from lacre.rules.state import ANALYSED
from lacre.store.discover import BlobKind
from lacre.store.reader import SALT_SIZE
from lacre.text import _

MAGIC = b"lacre-request-v1\n"
MOST_HEAD = 1 << 20  # bytes; an entry has 65,535 at most, and a reason some pages
MOST = 1 << 30  # bytes of a file; predictions for tens of millions of cases
_LENGTH = 4


@dataclass(frozen=True, slots=True)
class RequestFile:
    """A signed request for a read, with what it takes to carry it out: the bytes of blobs, by their digest.

    `name` is what messages call the file. The signature is not verified here, nor whether the law allows the
    read.
    """

    name: str
    envelope: Envelope
    asked: Read
    reason: SaltedText | None
    blobs: Mapping[str, bytes]

    @property
    def by(self) -> str:
        """The id of the key that signed it, as it says."""
        return self.envelope.signatures[0].keyid

    @classmethod
    def load(cls, path: Path) -> "RequestFile":
        """Read the file at `path`. Raises `RequestFileInvalid`, `FileMissing`, `NotReadable`."""
        return cls.decode(read_given(path, most=MOST), path.name)

    @classmethod
    def decode(cls, data: bytes, name: str) -> "RequestFile":
        """Return the request whose one form `data` is. Raises `RequestFileInvalid`, which calls it `name`."""
        try:
            return _decode(data, name)
        except (FormatError, CanonicalError) as error:
            if isinstance(error, RequestFileInvalid):
                raise
            raise RequestFileInvalid(file=name, why=error.fields.get("why", error.message)) from error

    def encode(self) -> Iterator[bytes]:
        """Yield the file's bytes in pieces. Raises `RequestFileInvalid` for more than a file may have."""
        parts = [self.blobs[digest] for _kind, digest in _named(self.asked)]
        value: dict[str, Any] = {"request": self.envelope.as_json(), "sizes": [len(part) for part in parts]}
        if self.reason is not None:
            value["reason"] = {"salt": self.reason.salt.hex(), "text": self.reason.body.decode()}
        head = canonical_json(value)
        if len(head) > MOST_HEAD or len(MAGIC) + _LENGTH + len(head) + sum(map(len, parts)) > MOST:
            raise _invalid(self.name, _("it is larger than such a file may be"))
        yield MAGIC
        yield len(head).to_bytes(_LENGTH, "big")
        yield head
        yield from parts

    def write(self, path: Path, *, overwrite: bool = False) -> None:
        """Write the file, whole or not at all. Raises `FileExists`, `DiskFull`, `NotWritten`."""
        with staged(path.absolute().parent, what=path.name) as file:
            for piece in self.encode():
                file.write(piece)
            if not file.keep(path.name, replace=overwrite):
                raise FileExists(file=str(path))

    def keep(self, vault: Vault) -> None:
        """Put the submissions into a vault, under the names that the request calls them by."""
        for kind, digest in _named(self.asked):
            vault.put(self.asked.study, self.asked.pool, kind, [self.blobs[digest]])

    def chunks(self, study: str, pool: str, kind: BlobKind, digest: str) -> Iterator[bytes]:
        """Yield a blob's content, as `lacre.pools.vault.Blobs` does."""
        yield self.read(study, pool, kind, digest)

    def read(self, study: str, pool: str, kind: BlobKind, digest: str) -> bytes:  # noqa: ARG002 - as a vault does
        """Return a blob's content. Raises `PoolBlobMissing`."""
        if digest not in self.blobs:
            raise PoolBlobMissing(study=study, pool=pool, path=self.name)
        return self.blobs[digest]


def _named(asked: Read) -> list[tuple[BlobKind, str]]:
    """The blobs that come with a request, in the order they have in a file."""
    named: list[tuple[BlobKind, str]] = []
    for each in asked.submissions if asked.finishes is None else ():
        named += [("submission", each.blob), ("submission-key", each.wrapped_key)]
    return named


def _decode(data: bytes, name: str) -> RequestFile:
    if len(data) > MOST:
        raise _invalid(name, _("it is larger than such a file may be"))
    if not data.startswith(MAGIC):
        raise _invalid(name, _("it begins as no known version does"))
    start = len(MAGIC) + _LENGTH
    length = int.from_bytes(data[len(MAGIC) : start], "big")
    if len(data) < start or length > min(MOST_HEAD, len(data) - start):
        raise _invalid(name, _("its head is longer than it can be"))
    head = parse_canonical(data[start : start + length])
    if not isinstance(head, dict) or head.keys() - {"reason"} != {"request", "sizes"}:
        raise _invalid(name, _("its head has not the members of one"))
    envelope = Envelope.from_json(head["request"])
    asked = decode_request(envelope.payload)
    if not isinstance(asked, Read) or asked.purpose not in ANALYSED:
        raise _invalid(name, _("it asks for no result"))
    if len(envelope.signatures) != 1:
        raise _invalid(name, _("it has not one signature"))
    reason = _reason(head["reason"], name) if "reason" in head else None
    if asked.reason != (reason.digest if reason is not None else None):
        raise _invalid(name, _("its reason is not the one that was signed"))
    blobs = _blobs(memoryview(data)[start + length :], head["sizes"], asked, name)
    return RequestFile(name, envelope, asked, reason, blobs)


def _reason(value: object, name: str) -> SaltedText:
    match value:
        case {"salt": str(salt), "text": str(text), **rest} if not rest:
            try:
                raw = bytes.fromhex(salt)
            except ValueError:
                raw = b""
            if len(raw) == SALT_SIZE and raw.hex() == salt and len(text) <= MOST_WORDS:
                return SaltedText(raw, text.encode())
    raise _invalid(name, _("its reason is not a salt and a text of some pages at most"))


def _blobs(body: memoryview, sizes: object, asked: Read, name: str) -> dict[str, bytes]:
    named = _named(asked)
    if not isinstance(sizes, list) or not all(type(size) is int and size >= 0 for size in sizes):
        raise _invalid(name, _("its sizes are no list of numbers"))
    if len(sizes) != len(named) or sum(sizes) != len(body):
        raise _invalid(name, _("it does not hold the submissions it names, and nothing else"))
    blobs = {}
    at = 0
    for (_kind, digest), size in zip(named, sizes, strict=True):
        blob = bytes(body[at : at + size])
        if sha256_hex(blob) != digest:
            raise _invalid(name, _("a submission in it is not the one that was signed"))
        blobs[digest] = blob
        at += size
    return blobs


def _invalid(name: str, why: str) -> RequestFileInvalid:
    return RequestFileInvalid(file=name, why=why)
