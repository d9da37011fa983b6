"""The sealed blobs that entries name: there, and of the recorded SHA-256; nothing is decrypted."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from lacre.audit.findings import Finding, finding
from lacre.audit.source import Premises
from lacre.rules.record import Answered, Recorded
from lacre.rules.requests import Read, Seal
from lacre.store.discover import BlobKind


@dataclass(frozen=True, slots=True)
class Blob:
    """A blob as an entry names it; `kind` is how its file's name ends."""

    entry: int
    study: str
    pool: str
    kind: BlobKind
    digest: str


def blobs_of(recorded: Recorded) -> Iterator[Blob]:
    """Yield the blobs that an entry brought into the vault: a pool's, or those of its submissions."""
    if not isinstance(recorded.content, Answered):
        return
    request = recorded.content.request
    named: list[tuple[BlobKind, str]]
    if isinstance(request, Seal):
        named = [("pool", request.ciphertext), ("key", request.wrapped_key), ("prints", request.fingerprints)]
    elif isinstance(request, Read):
        named = [("submission", each.blob) for each in request.submissions]
        named += [("submission-key", each.wrapped_key) for each in request.submissions]
    else:
        return
    for kind, digest in named:
        yield Blob(recorded.index, request.study, request.pool, kind, digest)


def check_blobs(blobs: Iterable[Blob], premises: Premises) -> Iterator[Finding]:
    """Look for each blob; one that several entries name (a finished read's) is hashed once."""
    known: dict[tuple[str, str, str, str], bool | None] = {}
    for blob in blobs:
        place: tuple[str, str, BlobKind, str] = (blob.study, blob.pool, blob.kind, blob.digest)
        if place not in known:
            known[place] = premises.blob(*place)
        if not known[place]:
            yield finding(
                "blob-missing" if known[place] is None else "blob-changed",
                blob.entry,
                kind=blob.kind,
                digest=blob.digest,
                study=blob.study,
                pool=blob.pool,
            )
