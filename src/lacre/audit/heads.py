"""Steps 5 and 6: the checkpoint, and what this machine and others remember of the log."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from lacre.audit.findings import Finding, Noted, finding, warned
from lacre.audit.tree import Tree
from lacre.errors import LacreError, ProofInvalid
from lacre.ledger.checkpoint import Checkpoint, SignedCheckpoint
from lacre.ledger.merkle import verify_inclusion
from lacre.ledger.note import Note, VerifierKey
from lacre.ledger.proof import HEADER, Receipt
from lacre.rules.keys import log_verifiers
from lacre.rules.state import Key
from lacre.text import _


class Head(NamedTuple):
    """A number of entries, and the root (32 bytes) they had."""

    size: int
    root: bytes


@dataclass(frozen=True, slots=True)
class Memory:
    """A receipt or a checkpoint that someone kept, not verified yet; `name` is what messages call it.

    Of a register that someone kept, `tree` gives that of the entries up to its checkpoint.
    """

    name: str
    note: bytes
    receipt: Receipt | None = None
    tree: Callable[[], Tree] | None = None

    @classmethod
    def parse(cls, name: str, data: bytes) -> "Memory":
        """Return the memory that a file holds; raises a `FormatError` for what is neither of the two."""
        if data.startswith(HEADER.encode() + b"\n"):
            receipt = Receipt.parse(data)
            return cls(name, receipt.checkpoint_note, receipt)
        Checkpoint.parse(Note.parse(data).text)
        return cls(name, data)


def check_checkpoint(
    note: bytes | None, origin: str, keys: Iterable[Key], tree: Tree, entries: int
) -> Iterator[Finding]:
    """Step 5: the checkpoint is the log's own, of exactly these entries."""
    if note is None:
        yield finding("checkpoint-missing")
        return
    try:
        signed = SignedCheckpoint.open(note, log_verifiers(origin, keys, entries))
    except LacreError as error:
        yield finding("checkpoint-invalid", why=error.message)
        return
    checkpoint = signed.checkpoint
    if checkpoint.size != entries:
        yield finding("checkpoint-size", stated=checkpoint.size, entries=entries)
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
    yield from _check_prefix(Memory(_("this machine"), b""), head, tree, entries)


def check_memory(
    memory: Memory, origin: str, keys: Iterable[Key], tree: Tree, entries: int, *, copy: bool = False
) -> Iterator[Noted]:
    """Step 6: what someone else kept is of this log, and of a prefix of these entries.

    A `copy` of one moment may be older than what is remembered, which is no finding by itself. That it is a
    beginning of it, only the entries of a register can show; without them, it is said that nothing does.
    """
    try:
        said = Checkpoint.parse(Note.parse(memory.note).text)
        # A key of the log counts for the sizes at which it was active, whatever became of it since.
        checkpoint = SignedCheckpoint.open(memory.note, log_verifiers(origin, keys, said.size)).checkpoint
    except LacreError as error:
        yield finding("memory-invalid", memory=memory.name, why=error.message)
        return
    head = Head(checkpoint.size, checkpoint.root)
    older = copy and head.size > entries
    told = list((_check_older if older else _check_prefix)(memory, head, tree, entries))
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


def _check_prefix(memory: Memory, head: Head, tree: Tree, entries: int) -> Iterator[Noted]:
    if head.size > entries:
        yield finding("memory-shrunk", memory=memory.name, size=head.size, entries=entries)
        return
    root = tree.root_at(head.size)
    if root is not None and root != head.root:
        yield finding("memory-rewritten", memory=memory.name, size=head.size)


def _check_older(memory: Memory, head: Head, tree: Tree, entries: int) -> Iterator[Noted]:
    """Hold a copy of `entries` entries against a memory of more."""
    if memory.tree is None:
        yield warned("memory-unproved", memory=memory.name, size=head.size, entries=entries)
        return
    try:
        grown = memory.tree()
    except LacreError as error:
        yield finding("memory-invalid", memory=memory.name, why=error.message)
        return
    if grown.root_at(head.size) != head.root:
        why = _("its entries are not those of its checkpoint")
        yield finding("memory-invalid", memory=memory.name, why=why)
        return
    root = tree.root_at(entries)
    if root is not None and grown.root_at(entries) != root:
        yield finding("memory-rewritten", memory=memory.name, size=entries)
        return
    yield warned("memory-newer", memory=memory.name, size=head.size, entries=entries)
