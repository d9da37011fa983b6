"""What the wire forms of requests, facts and decisions have in common: frozen, strict, one byte form."""

from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from lacre.canonical import MAX_SAFE, canonical_json
from lacre.errors import RecordInvalid
from lacre.text import _

Hex64 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Nonce = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{32}$")]
Slug = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$")]
Name = Annotated[str, StringConstraints(min_length=1, max_length=128)]
Timestamp = Annotated[
    str,
    StringConstraints(
        pattern=r"^[0-9]{4}-[0-9][0-9]-[0-9][0-9]T[0-9][0-9]:[0-9][0-9]:[0-9][0-9]\.[0-9]{6}Z$"
    ),
]  # UTC, so that text order is time order
Count = Annotated[int, Field(ge=0, le=MAX_SAFE)]


def moment(time: str) -> str:
    """A `Timestamp` as people read it, to the second."""
    return f"{time[:10]} {time[11:19]} UTC"


class Wire(BaseModel):
    """A frozen record with one canonical byte form."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    def as_json(self) -> dict[str, Any]:
        """The record as JSON values; an absent field is left out."""
        return self.model_dump(mode="json", exclude_none=True)

    @classmethod
    def from_json(cls, value: Any) -> Self:
        """Read back what `as_json` gives; `RecordInvalid` for anything else."""
        return cls.decode(canonical_json(value))

    def encode(self) -> bytes:
        """The RFC 8785 bytes."""
        return canonical_json(self.as_json())

    @classmethod
    def decode(cls, data: bytes) -> Self:
        """Strict inverse of `encode`; `RecordInvalid` for any other bytes."""
        try:
            record = cls.model_validate_json(data)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(str(part) for part in first["loc"]) or "the record"
            raise RecordInvalid(what=_("record"), why=f"{where}: {first['type']}") from error
        if record.encode() != data:
            raise RecordInvalid(what=_("record"), why=_("not in canonical form"))
        return record
