"""C2SP checkpoints: what a log says its tree is, signed by the log (https://c2sp.org/tlog-checkpoint)."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from lacre.errors import CheckpointInvalid
from lacre.ledger.encoding import MAX_NUMBER, from_base64, from_decimal, to_base64
from lacre.ledger.keys import PrivateKey
from lacre.ledger.merkle import HASH_SIZE
from lacre.ledger.note import Note, VerifierKey, sign_note
from lacre.text import _

_LINE = re.compile(r"[^\x00-\x1f]+")


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The head of a tree: the log's name, the number of entries, the root (32 bytes), and what else it says.

    Raises `CheckpointInvalid` when built from anything else. C2SP allows further lines and advises against
    them: they are kept, and lacre writes none.
    """

    origin: str
    size: int
    root: bytes
    extensions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not all(_LINE.fullmatch(line) for line in (self.origin, *self.extensions)):
            raise CheckpointInvalid(why=_("a line is empty or holds control characters"))
        if not 0 <= self.size <= MAX_NUMBER:
            raise CheckpointInvalid(why=_("its size is out of range"))
        if len(self.root) != HASH_SIZE:
            raise CheckpointInvalid(why=_("its root has not 32 bytes"))

    @classmethod
    def parse(cls, text: str) -> "Checkpoint":
        """Return the checkpoint that the text of a note is the form of."""
        origin, *lines = text.split("\n")
        if len(lines) < 3 or lines.pop() != "":
            raise CheckpointInvalid(why=_("it has not an origin, a size and a root, each on a line"))
        size, root = from_decimal(lines[0]), from_base64(lines[1])
        if size is None:
            raise CheckpointInvalid(why=_("its size is not a plain decimal number"))
        if root is None:
            raise CheckpointInvalid(why=_("its root is not canonical base64"))
        return cls(origin, size, root, tuple(lines[2:]))

    @classmethod
    def of_note(cls, note: bytes) -> "Checkpoint":
        """Return what a note says; whether anybody known signed it is not looked at. Raises what `Note.parse` does."""
        return cls.parse(Note.parse(note).text)

    def format(self) -> str:
        """Return the text of the note that says this."""
        lines = (self.origin, str(self.size), to_base64(self.root), *self.extensions)
        return "".join(f"{line}\n" for line in lines)


@dataclass(frozen=True, slots=True)
class SignedCheckpoint:
    """A checkpoint whose signatures were verified: what it says, the note's bytes, and who signed.

    Made by `open` or `sign` only.
    """

    checkpoint: Checkpoint
    note: bytes
    signers: tuple[VerifierKey, ...]

    @classmethod
    def open(cls, note: bytes, verifiers: Iterable[VerifierKey]) -> "SignedCheckpoint":
        """Verify a note and return the checkpoint it holds.

        Raises what `Note.parse` and `Note.verify` do, and `CheckpointInvalid` when the text is no checkpoint
        or no known key under the log's own name is among the signers: a witness alone speaks for no log.
        """
        parsed = Note.parse(note)
        signers = parsed.verify(verifiers)
        checkpoint = Checkpoint.parse(parsed.text)
        if all(signer.name != checkpoint.origin for signer in signers):
            raise CheckpointInvalid(why=_("no known key of its own log signed it"))
        return cls(checkpoint, note, signers)

    @classmethod
    def sign(cls, checkpoint: Checkpoint, keys: Iterable[PrivateKey]) -> "SignedCheckpoint":
        """Return `checkpoint` signed by the log's keys: one, or both while one replaces the other."""
        signers = [(checkpoint.origin, key) for key in keys]
        note = sign_note(checkpoint.format(), signers)
        return cls(checkpoint, note, tuple(VerifierKey(name, key.public) for name, key in signers))
