"""The receipt one can keep: a C2SP tlog-proof, which shows offline that a log holds an entry.

The format is https://c2sp.org/tlog-proof: the entry's index, the hashes of its inclusion proof, and the
checkpoint whose tree they lead to.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from lacre.errors import ReceiptInvalid
from lacre.ledger.checkpoint import Checkpoint, SignedCheckpoint
from lacre.ledger.encoding import MAX_NUMBER, from_base64, from_decimal, to_base64
from lacre.ledger.merkle import HASH_SIZE, leaf_hash, verify_inclusion
from lacre.ledger.note import MAX_NOTE, VerifierKey
from lacre.text import _

HEADER = "c2sp.org/tlog-proof@v1"
MAX_HASHES = 63  # the depth of a tree whose size is a signed 64-bit number
MAX_EXTRA = 65_536  # bytes
_MAX_RECEIPT = MAX_NOTE + 2 * MAX_EXTRA


@dataclass(frozen=True, slots=True)
class Receipt:
    """The entry's index, its inclusion proof (hashes of 32 bytes, lowest first), and a checkpoint's note.

    `extra` is what an application put beside the proof; nothing authenticates it, and lacre writes none.
    Raises `ReceiptInvalid`, or the note's and checkpoint's own errors, when built from anything else.
    """

    index: int
    hashes: tuple[bytes, ...]
    checkpoint_note: bytes
    extra: bytes | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.index <= MAX_NUMBER:
            raise ReceiptInvalid(why=_("its index is out of range"))
        if len(self.hashes) > MAX_HASHES or any(len(digest) != HASH_SIZE for digest in self.hashes):
            raise ReceiptInvalid(why=_("it has more than 63 hashes, or one that has not 32 bytes"))
        if self.extra is not None and not 0 < len(self.extra) <= MAX_EXTRA:
            raise ReceiptInvalid(why=_("its extra data is empty or too large"))
        Checkpoint.of_note(self.checkpoint_note)

    @classmethod
    def parse(cls, data: bytes) -> "Receipt":
        """Return the receipt that `data` is the form of; nothing is verified."""
        head, blank, note = data.partition(b"\n\n")
        if not blank or len(data) > _MAX_RECEIPT:
            raise ReceiptInvalid(why=_("it has no checkpoint after a blank line, or is too large"))
        try:
            header, *lines = head.decode("ascii").split("\n")
        except UnicodeDecodeError:
            raise ReceiptInvalid(why=_("it is not text")) from None
        if header != HEADER:
            raise ReceiptInvalid(why=_("its first line is not {header}").format(header=HEADER))
        extra = None
        if lines and lines[0].startswith("extra "):
            extra = from_base64(lines.pop(0).removeprefix("extra "))
            if extra is None:
                raise ReceiptInvalid(why=_("its extra data is not canonical base64"))
        index = from_decimal(lines[0].removeprefix("index ")) if lines else None
        if index is None or not lines[0].startswith("index "):
            raise ReceiptInvalid(why=_("it names no index as a plain decimal number"))
        hashes = [digest for line in lines[1:] if (digest := from_base64(line)) is not None]
        if len(hashes) != len(lines) - 1:
            raise ReceiptInvalid(why=_("a hash is not canonical base64"))
        return cls(index, tuple(hashes), note, extra)

    def format(self) -> bytes:
        """Return the receipt's bytes."""
        extra = [] if self.extra is None else [f"extra {to_base64(self.extra)}"]
        lines = [HEADER, *extra, f"index {self.index}", *map(to_base64, self.hashes), "", ""]
        return "\n".join(lines).encode() + self.checkpoint_note

    def verify(self, entry: bytes, verifiers: Iterable[VerifierKey]) -> Checkpoint:
        """Check that the log of one of `verifiers` holds `entry` at `index`; return its checkpoint.

        Raises what `SignedCheckpoint.open` does, and `ProofInvalid`.
        """
        checkpoint = SignedCheckpoint.open(self.checkpoint_note, verifiers).checkpoint
        verify_inclusion(leaf_hash(entry), self.index, checkpoint.size, self.hashes, checkpoint.root)
        return checkpoint
