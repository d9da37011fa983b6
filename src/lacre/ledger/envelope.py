"""The signed envelope (DSSE v1.0) of entries and requests, in one compact JSON form.

The form is RFC 8785: members in order, no white space, base64 in its standard, padded, canonical spelling.
Any other spelling of the same envelope is refused, so that an entry has one sequence of bytes. A signature is
made over the pre-authentication encoding of the payload and its type, never over JSON; `keyid` is a hint.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from lacre.errors import EntryTooLarge, EnvelopeInvalid, SignatureInvalid
from lacre.ledger.encoding import from_base64, is_sha256_hex, to_base64
from lacre.ledger.keys import SIGNATURE_SIZE, PrivateKey, PublicKey
from lacre.text import _

PAYLOAD_ENTRY = "application/vnd.in-toto+json"
PAYLOAD_REQUEST = "application/vnd.lacre.request+json"
PAYLOAD_BUNDLE = "application/vnd.lacre.bundle+json"
PAYLOAD_TYPES = (PAYLOAD_ENTRY, PAYLOAD_REQUEST, PAYLOAD_BUNDLE)
MAX_ENTRY = 65_535  # C2SP tlog-tiles: an entry's length is a 16-bit number
MAX_MANIFEST = 1 << 24  # bytes; no entry of the log, it lists the files of a bundle
MAX_SIGNATURES = 16

_SIGNED = rb'\{"keyid":"([0-9a-f]{64})","sig":"([A-Za-z0-9+/]{86}==)"\}'
_SIGNATURE = re.compile(_SIGNED.decode())
_ONE_FORM = re.compile(
    rb'\{"payload":"([A-Za-z0-9+/]*={0,2})","payloadType":"([a-z.+/-]+)","signatures":\[(%b(?:,%b)*)\]\}'
    % ((_SIGNED.replace(b"(", b"(?:"),) * 2)
)
"""No character of an envelope needs an escape, and its members stand in order: its RFC 8785 form is regular."""


def pae(payload_type: str, payload: bytes) -> bytes:
    """Return DSSE's pre-authentication encoding, the bytes that are signed; lengths count bytes."""
    header = f"DSSEv1 {len(payload_type.encode())} {payload_type} {len(payload)} "
    return header.encode() + payload


@dataclass(frozen=True, slots=True)
class Signature:
    """One signature of an envelope: the supposed signer's key id, and the 64 bytes."""

    keyid: str
    sig: bytes


@dataclass(frozen=True, slots=True)
class Envelope:
    """A payload, its type, and one to sixteen signatures of different keys over both.

    Raises `EnvelopeInvalid` when built from anything else. What the payload says is not looked at here.
    """

    payload_type: str
    payload: bytes
    signatures: tuple[Signature, ...]

    def __post_init__(self) -> None:
        if self.payload_type not in PAYLOAD_TYPES:
            raise EnvelopeInvalid(why=_("its payload type is unknown"))
        if not 1 <= len(self.signatures) <= MAX_SIGNATURES:
            raise EnvelopeInvalid(why=_("it has not from one to sixteen signatures"))
        if len({signature.keyid for signature in self.signatures}) != len(self.signatures):
            raise EnvelopeInvalid(why=_("a key signed it twice"))
        for signature in self.signatures:
            if not is_sha256_hex(signature.keyid) or len(signature.sig) != SIGNATURE_SIZE:
                raise EnvelopeInvalid(why=_("a signature is not Ed25519, or its key id no SHA-256"))

    @classmethod
    def sign(cls, payload_type: str, payload: bytes, keys: Iterable[PrivateKey]) -> "Envelope":
        """Return `payload` signed by each of `keys`, in their order."""
        message = pae(payload_type, payload)
        signatures = tuple(Signature(key.public.keyid, key.sign(message)) for key in keys)
        return cls(payload_type, payload, signatures)

    @classmethod
    def decode(cls, data: bytes, *, payload_type: str = PAYLOAD_ENTRY) -> "Envelope":
        """Return the envelope whose one form `data` is, if its payload is of `payload_type`.

        Raises `EntryTooLarge` and `EnvelopeInvalid`. No signature is verified.
        """
        _check_size(data, payload_type)
        found = _ONE_FORM.fullmatch(data)
        if found is None:
            raise EnvelopeInvalid(why=_("it is not in the one compact form"))
        payload, kind, signatures = (part.decode() for part in found.groups())
        return cls._read(payload, kind, _SIGNATURE.findall(signatures), payload_type)

    @classmethod
    def from_json(cls, value: object, *, payload_type: str = PAYLOAD_REQUEST) -> "Envelope":
        """Return the envelope that stands as a JSON value inside a larger one; strict as `decode` is."""
        match value:
            case {
                "payload": str(payload),
                "payloadType": str(kind),
                "signatures": list(signatures),
                **rest,
            } if not rest:
                signed = [_signature(item) for item in signatures]
            case _:
                raise EnvelopeInvalid(why=_("its members are not payload, payloadType and signatures"))
        return cls._read(payload, kind, signed, payload_type)

    @classmethod
    def _read(
        cls, payload: str, kind: str, signatures: Iterable[tuple[str, str]], payload_type: str
    ) -> "Envelope":
        """Return the envelope of these texts: payload and signatures, after their key ids, in base64."""
        if kind != payload_type:
            raise EnvelopeInvalid(why=_("its payload type is not {expected}").format(expected=payload_type))
        body, signed = from_base64(payload), []
        for keyid, text in signatures:
            sig = from_base64(text)
            if sig is None:
                raise EnvelopeInvalid(why=_("a signature is not canonical base64"))
            signed.append(Signature(keyid, sig))
        if body is None:
            raise EnvelopeInvalid(why=_("its payload is not canonical base64"))
        return cls(kind, body, tuple(signed))

    def encode(self) -> bytes:
        """Return the one form of the envelope; `EntryTooLarge` past `MAX_ENTRY` bytes (of a bundle, 16 MiB)."""
        data = _form(self)
        _check_size(data, self.payload_type)
        return data

    def as_json(self) -> dict[str, Any]:
        """Return the envelope as a JSON value, to stand inside a larger one."""
        return {
            "payload": to_base64(self.payload),
            "payloadType": self.payload_type,
            "signatures": [{"keyid": s.keyid, "sig": to_base64(s.sig)} for s in self.signatures],
        }

    def signed_bytes(self) -> bytes:
        """Return what each signature is made over."""
        return pae(self.payload_type, self.payload)

    def verify(self, key: PublicKey) -> None:
        """Check that `key` signed this payload and its type; `SignatureInvalid` when no signature is its own.

        The key id only says which signature is tried first, as DSSE has it.
        """
        keyid = key.keyid
        message = self.signed_bytes()
        for signature in sorted(self.signatures, key=lambda s: s.keyid != keyid):
            try:
                key.verify(message, signature.sig)
            except SignatureInvalid:
                continue
            return
        raise SignatureInvalid(keyid=keyid)


def _signature(value: object) -> tuple[str, str]:
    match value:
        case {"keyid": str(keyid), "sig": str(text), **rest} if not rest:
            return keyid, text
    raise EnvelopeInvalid(why=_("a signature is not a key id and base64"))


def _form(envelope: Envelope) -> bytes:
    signatures = ",".join(f'{{"keyid":"{s.keyid}","sig":"{to_base64(s.sig)}"}}' for s in envelope.signatures)
    return (
        f'{{"payload":"{to_base64(envelope.payload)}","payloadType":"{envelope.payload_type}",'
        f'"signatures":[{signatures}]}}'
    ).encode()


def _check_size(data: bytes, payload_type: str) -> None:
    limit = MAX_MANIFEST if payload_type == PAYLOAD_BUNDLE else MAX_ENTRY
    if len(data) > limit:
        raise EntryTooLarge(size=len(data), limit=limit)
