"""What the wire forms of requests, facts and decisions have in common: frozen, strict, one byte form."""

from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError
from pydantic_core import PydanticSerializationError, to_json

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
Real = Annotated[
    str, StringConstraints(pattern=r"^-?(0|[1-9][0-9]*)(\.[0-9]+)?(e[-+][0-9]{2,3})?$", max_length=32)
]  # the shortest decimal of a double, as text, so that every reader keeps its digits
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
        """Read back what `as_json` gives, from JSON values; `RecordInvalid` for anything else."""
        try:
            record = cls.model_validate_json(to_json(value))
        except ValidationError as error:
            raise invalid(_("record"), error) from error
        except (PydanticSerializationError, UnicodeError) as error:
            raise RecordInvalid(what=_("record"), why=_("it holds what JSON has no form for")) from error
        # Values out of canonical bytes are compared as they are: making the bytes again costs more.
        if not _same(record.as_json(), value):
            raise RecordInvalid(what=_("record"), why=_("not in canonical form"))
        return record

    def encode(self) -> bytes:
        """The RFC 8785 bytes."""
        return canonical_json(self.as_json())


def _same(one: Any, other: Any) -> bool:
    """Whether two JSON values are the same, and not only equal: to Python `True`, `1` and `1.0` are."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_same(value, other[key]) for key, value in one.items())
    if isinstance(one, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return bool(one == other)


def invalid(what: str, error: ValidationError) -> RecordInvalid:
    """Return the refusal that a validation's error comes to: it names the place and repeats no value."""
    first = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    return RecordInvalid(what=what, why=f"{where}: {first['type']}" if where else first["type"])
