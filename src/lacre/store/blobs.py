"""The sealed blobs that an entry brought into the vault, as files beside the ledger."""

from collections.abc import Iterator
from dataclasses import dataclass

from lacre.rules.record import Answered, Recorded
from lacre.rules.requests import Commit, CommitPart, Erratum, Read, Rewrap, Sample, Seal
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
    if isinstance(request, Sample | CommitPart):
        prints = request.cases if isinstance(request, Sample) else request.fingerprints
        if request.pool is not None and prints is not None:
            yield Blob(recorded.index, request.study, request.pool, "prints", prints)
        return
    named: list[tuple[BlobKind, str]]
    if isinstance(request, Seal):
        named = [("pool", request.ciphertext), ("key", request.wrapped_key), ("prints", request.fingerprints)]
    elif isinstance(request, Read):
        named = [("submission", each.blob) for each in request.submissions]
        named += [("submission-key", each.wrapped_key) for each in request.submissions]
    elif isinstance(request, Commit):
        named = [("submission", request.blob), ("submission-key", request.wrapped_key)]
    elif isinstance(request, Erratum):
        named = [("pool", request.ciphertext), ("key", request.wrapped_key)]
    elif isinstance(request, Rewrap):
        named = [("key", request.wrapped_key)]
    else:
        return
    for kind, digest in named:
        yield Blob(recorded.index, request.study, request.pool, kind, digest)
