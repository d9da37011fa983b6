"""The sealed blobs that entries name: there, and of the recorded SHA-256; nothing is decrypted."""

from collections.abc import Iterable, Iterator

from lacre.audit.findings import Finding, finding
from lacre.audit.source import Premises
from lacre.store.blobs import Blob
from lacre.store.discover import BlobKind


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
