"""C2SP signed notes with Ed25519 keys: text, a blank line, and the lines of those who signed the text.

The format is https://c2sp.org/signed-note. A verifier key is `name+keyid+key`: the name, eight hexadecimal
digits, and the base64 of the algorithm's byte and the public key.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from lacre.errors import NoteInvalid, NoteUnsigned, SignatureInvalid, VerifierKeyInvalid
from lacre.ledger.encoding import from_base64, to_base64
from lacre.ledger.keys import KEY_SIZE, PrivateKey, PublicKey
from lacre.text import _

ED25519 = b"\x01"  # the signature type that C2SP assigns
MAX_NOTE = 1_000_000  # bytes; the limit of the Go implementation, and so of the logs that use it
MAX_SIGNATURES = 100  # likewise
KEY_ID_SIZE = 4

_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f]")
_UNFIT = frozenset({"Cc", "Cs"})  # control characters, and surrogates, which no UTF-8 has
_DASH = "\N{EM DASH}"


def is_key_name(name: str) -> bool:
    """Tell whether a key may have this name: not empty, and free of spaces, control characters and `+`."""
    return name != "" and not any(c.isspace() or c == "+" or unicodedata.category(c) in _UNFIT for c in name)


@dataclass(frozen=True, slots=True)
class VerifierKey:
    """The name and public key of someone who signs notes; `VerifierKeyInvalid` for a name no key may have."""

    name: str
    public: PublicKey

    def __post_init__(self) -> None:
        if not is_key_name(self.name):
            raise VerifierKeyInvalid(why=_("its name is empty or holds spaces, control characters or +"))

    @property
    def key_id(self) -> bytes:
        """The first four bytes of SHA-256(name || LF || 0x01 || key)."""
        return hashlib.sha256(self.name.encode() + b"\n" + ED25519 + self.public.raw).digest()[:KEY_ID_SIZE]

    def format(self) -> str:
        """Return the key as `name+keyid+key`."""
        return f"{self.name}+{self.key_id.hex()}+{to_base64(ED25519 + self.public.raw)}"

    @classmethod
    def parse(cls, text: str) -> "VerifierKey":
        """Return the key that `text` is the form of; `VerifierKeyInvalid` when it is no Ed25519 key's."""
        name, _plus, rest = text.partition("+")
        key = from_base64(rest[9:])
        if key is None or key[:1] != ED25519 or len(key) != 1 + KEY_SIZE:
            raise VerifierKeyInvalid(why=_("it does not hold an Ed25519 key"))
        verifier = cls(name, PublicKey(key[1:]))
        if verifier.format() != text:
            raise VerifierKeyInvalid(why=_("its hash is not that of its name and key"))
        return verifier


@dataclass(frozen=True, slots=True)
class NoteSignature:
    """A signature line: the signer's name, the four bytes that tell their keys apart, and the signature."""

    name: str
    key_id: bytes
    signature: bytes

    def __post_init__(self) -> None:
        if not is_key_name(self.name) or len(self.key_id) != KEY_ID_SIZE or not self.signature:
            raise NoteInvalid(why=_("a signature line has no name, no key or no signature"))


@dataclass(frozen=True, slots=True)
class Note:
    """A text that ends in a line feed, and one to a hundred signatures; `NoteInvalid` for anything else.

    Nothing in the text may be believed before `verify` returned.
    """

    text: str
    signatures: tuple[NoteSignature, ...]

    def __post_init__(self) -> None:
        if not self.text.endswith("\n") or _CONTROL.search(self.text):
            raise NoteInvalid(why=_("its text has control characters, or no line feed at its end"))
        _utf8(self.text)
        if not 1 <= len(self.signatures) <= MAX_SIGNATURES:
            raise NoteInvalid(why=_("it has not from one to a hundred signatures"))

    @classmethod
    def parse(cls, data: bytes) -> "Note":
        """Return the note that `data` is the form of; no signature is verified."""
        if len(data) > MAX_NOTE:
            raise NoteInvalid(why=_("it is larger than a megabyte"))
        try:
            content = data.decode()
        except UnicodeDecodeError:
            raise NoteInvalid(why=_("it is not UTF-8")) from None
        text, blank, lines = content.rpartition("\n\n")
        if not blank or not lines.endswith("\n"):
            raise NoteInvalid(why=_("it has no signature lines after a blank line"))
        return cls(text + "\n", tuple(_signature(line) for line in lines[:-1].split("\n")))

    def format(self) -> bytes:
        """Return the note's bytes, at most `MAX_NOTE`."""
        lines = "".join(f"{_DASH} {s.name} {to_base64(s.key_id + s.signature)}\n" for s in self.signatures)
        data = f"{self.text}\n{lines}".encode()
        if len(data) > MAX_NOTE:
            raise NoteInvalid(why=_("it is larger than a megabyte"))
        return data

    def verify(self, verifiers: Iterable[VerifierKey]) -> tuple[VerifierKey, ...]:
        """Return those of `verifiers` who signed, in the order of their lines, each once.

        Lines of others are skipped. Raises `NoteInvalid` when a line that names a known key was not made by
        it, `NoteUnsigned` when there is no line of a known key.
        """
        known = {(verifier.name, verifier.key_id): verifier for verifier in verifiers}
        message = self.text.encode()
        signers: dict[VerifierKey, None] = {}
        for line in self.signatures:
            verifier = known.get((line.name, line.key_id))
            if verifier is None:
                continue
            try:
                verifier.public.verify(message, line.signature)
            except SignatureInvalid:
                raise NoteInvalid(why=_("{name} did not sign this text").format(name=line.name)) from None
            signers[verifier] = None
        if not signers:
            raise NoteUnsigned(known=len(known))
        return tuple(signers)


def sign_note(text: str, signers: Iterable[tuple[str, PrivateKey]]) -> bytes:
    """Return the note of `text`, signed by each (name, key) in their order."""
    message = _utf8(text)
    signatures = tuple(
        NoteSignature(name, VerifierKey(name, key.public).key_id, key.sign(message)) for name, key in signers
    )
    return Note(text, signatures).format()


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise NoteInvalid(why=_("it is not UTF-8")) from None


def _signature(line: str) -> NoteSignature:
    match line.split(" "):
        case ["—", name, encoded]:
            data = from_base64(encoded)
            if data is not None:
                return NoteSignature(name, data[:KEY_ID_SIZE], data[KEY_ID_SIZE:])
    raise NoteInvalid(why=_("a signature line is not a dash, a name and canonical base64"))
