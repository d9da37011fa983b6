"""A bundle's manifest: every other file in it by its SHA-256, and the result it is of, signed by the broker."""

from collections.abc import Mapping
from typing import Literal, Self

from pydantic import Field

from lacre.canonical import parse_canonical, sha256_hex
from lacre.errors import NotCanonical, RecordInvalid
from lacre.ledger.envelope import PAYLOAD_BUNDLE, Envelope
from lacre.ledger.keys import PrivateKey
from lacre.rules.wire import Count, Hex64, Name, Slug, Wire
from lacre.text import _


class Manifest(Wire):
    """What a bundle is of, and its files.

    `result` is the entry of the result, `size` and `root` are those of the checkpoint. With `only_study`
    the entries of other studies are left out.
    """

    bundle: Literal[1] = 1
    lacre: Name
    genesis: Hex64
    study: Slug
    result: Count
    size: Count
    root: Hex64
    only_study: bool = False
    files: dict[str, Hex64] = Field(default_factory=dict)

    @property
    def name(self) -> str:
        """The result's name."""
        return f"{self.study}@{self.result}"

    def signed(self, broker: PrivateKey) -> bytes:
        """Return the file of the manifest."""
        return Envelope.sign(PAYLOAD_BUNDLE, self.encode(), [broker]).encode()

    @classmethod
    def read(cls, data: bytes) -> tuple[Self, Envelope]:
        """Return what a manifest's file says, and its envelope, whose signature is not verified yet.

        Raises `FormatError`s.
        """
        envelope = Envelope.decode(data, payload_type=PAYLOAD_BUNDLE)
        try:
            value = parse_canonical(envelope.payload)
        except NotCanonical as error:
            raise RecordInvalid(what=_("manifest"), why=error.fields["why"]) from error
        return cls.from_json(value), envelope


def digests(files: Mapping[str, bytes]) -> dict[str, str]:
    """Return the SHA-256 of each file."""
    return {path: sha256_hex(data) for path, data in sorted(files.items())}
