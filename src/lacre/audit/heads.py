"""Steps 5 and 6: the checkpoint, and what this machine and others remember of the log."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from lacre.audit.findings import Finding, Noted, finding, warned
from lacre.audit.tree import Tree
from lacre.errors import CheckpointInvalid, LacreError, ProofInvalid
from lacre.ledger.checkpoint import Checkpoint, SignedCheckpoint
from lacre.ledger.merkle import verify_inclusion
from lacre.ledger.note import VerifierKey
from lacre.ledger.proof import HEADER, Receipt
from lacre.rules.history import Key
from lacre.rules.keys import log_verifiers
from lacre.text import _


class Head(NamedTuple):
    """A number of entries, and the root (32 bytes) they had."""

    size: int
    root: bytes


@dataclass(frozen=True, slots=True)
class Log:
    """What the entries of a register add up to: their tree, and the keys they enrol; none where it is not sound."""

    tree: Tree
    keys: tuple[Key, ...]


@dataclass(frozen=True, slots=True)
class Memory:
    """A receipt or a checkpoint that someone kept, not verified yet; `name` is what messages call it.

    Of a register that someone kept, `log` gives its entries up to its checkpoint.
    """

    name: str
    note: bytes
    receipt: Receipt | None = None
    log: Callable[[], Log] | None = None

    @classmethod
    def parse(cls, name: str, data: bytes) -> "Memory":
        """Return the memory that a file holds; raises a `FormatError` for what is neither of the two."""
        if data.startswith(HEADER.encode() + b"\n"):
            receipt = Receipt.parse(data)
            return cls(name, receipt.checkpoint_note, receipt)
        Checkpoint.of_note(data)
        return cls(name, data)


def check_checkpoint(
    note: bytes | None, origin: str, keys: Iterable[Key], tree: Tree, entries: int
) -> Iterator[Finding]:
    """Step 5: the checkpoint is the log's own, signed by each key it has, of exactly these entries."""
    if note is None:
        yield finding("checkpoint-missing")
        return
    try:
        checkpoint = Checkpoint.of_note(note)
    except LacreError as error:
        yield finding("checkpoint-invalid", why=error.message)
        return
    first = min(checkpoint.size, entries)
    if checkpoint.size != entries:  # the one knows of an entry that the other does not
        yield finding("checkpoint-size", first, stated=checkpoint.size, entries=entries)
    try:
        verifiers = log_verifiers(origin, keys, first)
        signed = SignedCheckpoint.open(note, verifiers)
    except LacreError as error:
        yield finding("checkpoint-invalid", why=error.message)
        return
    # While one key of the log replaces the other, each sees that the other signs nothing else.
    for lacking in (each for each in verifiers if each not in signed.signers):
        yield finding("checkpoint-half-signed", key=lacking.format())
    root = tree.root_at(checkpoint.size)
    if root is not None and root != checkpoint.root:
        yield finding("checkpoint-root")


def check_key(
    key: VerifierKey, note: bytes | None, origin: str, keys: Iterable[Key], entries: int
) -> Iterator[Finding]:
    """Step 5, with a key from elsewhere: it is the log's own, and signed this checkpoint."""
    keys = tuple(keys)
    try:
        known = log_verifiers(origin, keys, entries)
    except LacreError:
        known = ()  # the checkpoint's own finding says why
    if key not in known:
        until = _until(key, origin, keys)
        if until is not None:
            now = ", ".join(each.format() for each in known)
            yield finding("key-replaced", until, key=key.format(), until=until, now=now)
            return
        yield finding("key-foreign", key=key.format())
    if note is None:
        return
    try:
        SignedCheckpoint.open(note, [key])
    except LacreError:
        yield finding("key-unused", key=key.format())


def _until(key: VerifierKey, origin: str, keys: Iterable[Key]) -> int | None:
    """Return the entry that revoked a key of this log; None for a key that was never one."""
    if key.name != origin:
        return None
    public = {each.public: each.revoked for each in keys if "log" in each.roles}
    return public.get(key.public.raw.hex())


def check_remembered(head: Head, tree: Tree, entries: int) -> Iterator[Noted]:
    """Step 6: what this machine saw of the ledger is a prefix of it (rule 18)."""
    yield from _check_prefix(_("this machine"), head, tree, entries)


def check_twins(
    notes: Iterable[bytes], origin: str, keys: Iterable[Key], tree: Tree, entries: int
) -> Iterator[Noted]:
    """Step 6: what this machine saw of ledgers with another genesis, where this log's own keys signed it.

    Whoever writes a whole history anew makes a genesis that this machine never saw: the keys tell.
    """
    try:
        verifiers = log_verifiers(origin, keys)
    except LacreError:
        return  # the checkpoint's own finding says why
    for note in notes:
        with suppress(LacreError):
            said = SignedCheckpoint.open(note, verifiers).checkpoint
            yield from _check_prefix(_("this machine"), Head(said.size, said.root), tree, entries)


def check_memory(
    memory: Memory,
    origin: str,
    keys: Iterable[Key],
    tree: Tree,
    entries: int,
    *,
    copy: bool = False,
    others: Sequence[Memory] = (),
) -> Iterator[Noted]:
    """Step 6: what someone else kept is of this log, and of a prefix of these entries.

    A `copy` of one moment may be older than what is remembered, where a register shows that it is a beginning
    of it: the one remembered, or one among the `others` kept. Whether it is, no newer receipt can tell.
    """
    try:
        said = Checkpoint.of_note(memory.note)
        older = copy and said.size > entries
        log = _log_beyond(memory, others, said) if older else None
        if log is not None and log.keys and log.tree.root_at(entries) == tree.root_at(entries):
            keys = log.keys  # and those that were enrolled later
        # A key of the log counts for the sizes at which it was active, whatever became of it since.
        SignedCheckpoint.open(memory.note, log_verifiers(origin, keys, said.size))
    except LacreError as error:
        yield finding("memory-invalid", memory=memory.name, why=error.message)
        return
    head = Head(said.size, said.root)
    check = (
        _check_older(memory.name, log, head, tree, entries)
        if older
        else _check_prefix(memory.name, head, tree, entries)
    )
    told = list(check)
    yield from told
    if memory.receipt is None:
        return
    index = memory.receipt.index
    leaf = tree.leaf_at(index)
    if leaf is None:
        return
    try:
        verify_inclusion(leaf, index, head.size, memory.receipt.hashes, head.root)
    except ProofInvalid as error:
        if told:
            yield finding("memory-entry", index, index=index, memory=memory.name)
        else:
            yield finding("memory-invalid", memory=memory.name, why=error.message)


def _check_prefix(memory: str, head: Head, tree: Tree, entries: int) -> Iterator[Noted]:
    if head.size > entries:
        yield finding("memory-shrunk", entries, memory=memory, size=head.size, entries=entries)
        return
    root = tree.root_at(head.size)
    if root is not None and root != head.root:
        yield finding("memory-rewritten", memory=memory, size=head.size)


def _log_beyond(memory: Memory, others: Sequence[Memory], said: Checkpoint) -> Log | None:
    """Return a register that has the entries which a memory says there are: its own, or another that was kept.

    Raises what reading its own does, and `CheckpointInvalid` where that has other entries.
    """
    if memory.log is not None:
        log = memory.log()
        if log.tree.root_at(said.size) != said.root:
            raise CheckpointInvalid(why=_("its entries are not those of its checkpoint"))
        return log
    for other in others:
        if other.log is not None:
            with suppress(LacreError):  # that memory's own finding
                log = other.log()
                if log.tree.root_at(said.size) == said.root:
                    return log
    return None


def _check_older(memory: str, log: Log | None, head: Head, tree: Tree, entries: int) -> Iterator[Noted]:
    """Hold a copy of `entries` entries against a memory of more, whose entries are those of `log`, if of any."""
    if log is None:
        yield finding("memory-unproved", entries, memory=memory, size=head.size, entries=entries)
        return
    root = tree.root_at(entries)
    if root is not None and log.tree.root_at(entries) != root:
        yield finding("memory-rewritten", memory=memory, size=entries)
        return
    yield warned("memory-newer", memory=memory, size=head.size, entries=entries)
