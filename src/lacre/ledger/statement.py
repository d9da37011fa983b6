"""What an entry says: an in-toto Statement v1 in RFC 8785 form, its predicate of one of the ledger's kinds.

Subjects name what the entry is about by SHA-256 alone; the predicate is a JSON object whose members belong to
its kind and are not looked at here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lacre.canonical import canonical_json, parse_canonical
from lacre.errors import NotCanonical, StatementInvalid
from lacre.ledger.encoding import is_sha256_hex
from lacre.text import _

STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
KINDS = (
    "genesis",
    "key",
    "register",
    "amend",
    "deviate",
    "withdraw",
    "seal",
    "rewrap",
    "commit",
    "sample",
    "calibrate",
    "read",
    "result",
    "erratum",
    "rebalance",
    "erase",
)
_PREDICATE_TYPES = {f"urn:lacre:{kind}:v1": kind for kind in KINDS}


@dataclass(frozen=True, slots=True)
class Subject:
    """Something an entry is about: a name for people, and its SHA-256 (64 hexadecimal digits)."""

    name: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement: its kind (of `KINDS`), at least one subject, names distinct, and the predicate.

    Raises `StatementInvalid` when built from anything else.
    """

    kind: str
    subjects: tuple[Subject, ...]
    predicate: Mapping[str, Any]

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise StatementInvalid(why=_("its kind is unknown"))
        # in-toto asks for a subject with a digest, and tells subjects apart by name.
        if not self.subjects or len({subject.name for subject in self.subjects}) != len(self.subjects):
            raise StatementInvalid(why=_("it has no subject, or two of one name"))
        for subject in self.subjects:
            if not subject.name or not is_sha256_hex(subject.sha256):
                raise StatementInvalid(why=_("a subject has no name, or no SHA-256"))

    def encode(self) -> bytes:
        """Return the RFC 8785 form, to be signed; `StatementInvalid` when the predicate has none."""
        value = {
            "_type": STATEMENT_TYPE,
            "predicate": dict(self.predicate),
            "predicateType": f"urn:lacre:{self.kind}:v1",
            "subject": [{"digest": {"sha256": s.sha256}, "name": s.name} for s in self.subjects],
        }
        try:
            return canonical_json(value)
        except NotCanonical as error:
            raise StatementInvalid(why=error.fields["why"]) from error

    @classmethod
    def decode(cls, payload: bytes) -> "Statement":
        """Return the statement whose RFC 8785 form `payload` is; `StatementInvalid` when it is none's."""
        try:
            value = parse_canonical(payload)
        except NotCanonical as error:
            raise StatementInvalid(why=error.fields["why"]) from error
        match value:
            case {
                "_type": "https://in-toto.io/Statement/v1",
                "predicate": dict(predicate),
                "predicateType": str(predicate_type),
                "subject": list(subjects),
                **rest,
            } if not rest:
                kind = _PREDICATE_TYPES.get(predicate_type, "")
                return cls(kind, tuple(_subject(item) for item in subjects), predicate)
        raise StatementInvalid(why=_("its members are not those of an in-toto Statement v1"))


def _subject(value: object) -> Subject:
    match value:
        case {"digest": {"sha256": str(sha256), **others}, "name": str(name), **rest} if not others | rest:
            return Subject(name, sha256)
    raise StatementInvalid(why=_("a subject is not a name and a SHA-256"))
