"""One entry by itself: its form, and whether the keys it names signed it.

Verification releases the interpreter's lock, so entries are examined some way ahead of the walk, on as many
cores as there are; what an entry means on what stood before it is the walk's to judge, one after the other.
"""

import os
from collections import deque
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice

from lacre.audit.source import Entry
from lacre.errors import LacreError, SignatureInvalid
from lacre.ledger.envelope import Envelope
from lacre.ledger.keys import PublicKey
from lacre.ledger.merkle import leaf_hash
from lacre.rules.record import Answered, Recorded, parse_entry

CHUNK = 64
MAX_WORKERS = 4  # past that the interpreter's lock, not the cores, is what entries wait for

Keys = Mapping[str, PublicKey]


@dataclass(frozen=True, slots=True)
class Examined:
    """An entry that was looked at: what it says, or why it cannot be read.

    `signed` and `asked` tell whether the first signature of the envelope, and of the request in it, was
    made by the key it names, if that key is known.
    """

    entry: Entry
    leaf: bytes
    recorded: Recorded | None
    problem: LacreError | None
    signed: bool = False
    asked: bool = False


def examine(entry: Entry, keys: Keys) -> Examined:
    """Parse an entry strictly and verify its signatures."""
    leaf = leaf_hash(entry.data)
    try:
        recorded = parse_entry(entry.index, entry.data)
    except LacreError as error:
        return Examined(entry, leaf, None, error)
    content = recorded.content
    asked = isinstance(content, Answered) and _is_signed(content.request_envelope, keys)
    return Examined(entry, leaf, recorded, None, _is_signed(recorded.envelope, keys), asked)


def examine_ahead(entries: Iterator[Entry], keys: Keys) -> Iterator[Examined]:
    """Examine entries in order, ahead of whoever takes them.

    Raises what `entries` does, once all that came before was taken.
    """
    workers = min(MAX_WORKERS, os.cpu_count() or 1)
    with ThreadPoolExecutor(workers) as pool:
        waiting: deque[Future[list[Examined]]] = deque()
        problem: LacreError | None = None
        while problem is None:
            chunk, problem = _take(entries)
            if not chunk:
                break
            waiting.append(pool.submit(_examine_all, chunk, keys))
            if len(waiting) > 2 * workers:
                yield from waiting.popleft().result()
        while waiting:
            yield from waiting.popleft().result()
    if problem is not None:
        raise problem


def _take(entries: Iterator[Entry]) -> tuple[list[Entry], LacreError | None]:
    chunk = []
    try:
        for entry in islice(entries, CHUNK):
            chunk.append(entry)  # noqa: PERF402 - what came before an error is kept
    except LacreError as error:
        return chunk, error
    return chunk, None


def _examine_all(chunk: list[Entry], keys: Keys) -> list[Examined]:
    return [examine(entry, keys) for entry in chunk]


def _is_signed(envelope: Envelope, keys: Keys) -> bool:
    key = keys.get(envelope.signatures[0].keyid)
    try:
        if key is not None:
            envelope.verify(key)
    except SignatureInvalid:
        return False
    return key is not None
