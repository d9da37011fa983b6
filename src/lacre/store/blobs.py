"""The sealed blobs that an entry brought into the vault, as files beside the ledger."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lacre.rules.record import Answered, Recorded
from lacre.rules.requests import Commit, CommitPart, Erratum, Read, Request, Rewrap, Sample, Seal
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
    """Yield the blobs that an entry brought into the vault: a pool's, its submissions', a keyset, a draw's."""
    if not isinstance(recorded.content, Answered):
        return
    request = recorded.content.request
    for kind, digest in _named(request):
        yield Blob(recorded.index, request.study, request.pool, kind, digest)  # type: ignore[union-attr, arg-type]


def _named(request: Request) -> Sequence[tuple[BlobKind, str]]:
    match request:
        case Sample():
            return (
                [("prints", request.cases)] if request.pool is not None and request.cases is not None else []
            )
        case Seal():
            return [
                ("pool", request.ciphertext), ("key", request.wrapped_key), ("prints", request.fingerprints)
            ]  # fmt: skip
        case Read():
            blobs: list[tuple[BlobKind, str]] = [("submission", each.blob) for each in request.submissions]
            return [*blobs, *(("submission-key", each.wrapped_key) for each in request.submissions)]
        case Commit():
            return [("submission", request.blob), ("submission-key", request.wrapped_key)]
        case CommitPart():
            return [("prints", request.fingerprints)] if request.fingerprints is not None else []
        case Erratum():
            return [("pool", request.ciphertext), ("key", request.wrapped_key)]
        case Rewrap():
            return [("key", request.wrapped_key)]
    return []
