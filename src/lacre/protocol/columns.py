"""The columns of a table: one model per type, since what may be said of a column depends on its type."""

import re
import zoneinfo
from typing import Annotated, ClassVar, Literal, Self

from pydantic import AfterValidator, Field, ValidationInfo, model_validator

from lacre.protocol.grammar import (
    Bins,
    Listed,
    Many,
    Model,
    Name,
    Number,
    Pair,
    Reading,
    not_empty,
    refuse,
)
from lacre.protocol.problems import listed, nearest, quoted
from lacre.text import N_

Role = Literal["input", "labelled", "scored", "demographic", "inclusion_probability", "weight"]

# The names of RFC 9535, section 2.5.1.1, and `-` inside them, which data files have.
_STEP = re.compile(
    r"\.([A-Za-z_\x80-\U0010ffff][A-Za-z0-9_\x80-\U0010ffff-]*)|\[(0|[1-9][0-9]{0,5})\]|\['([^'\\\[\]]+)'\]"
)
_MOST_STEPS = 20


def path_steps(path: str) -> tuple[str | int, ...]:
    """Return the steps of a column's `path`: `$.a['b c'][0]` is `("a", "b c", 0)`.

    The grammar is the part of JSONPath (RFC 9535) that names exactly one value. A path outside it is refused
    when the protocol is read; here it gives an empty tuple.
    """
    steps: list[str | int] = []
    at = 1
    while path.startswith("$") and at < len(path):
        match = _STEP.match(path, at)
        if match is None:
            return ()
        steps.append(int(match[2]) if match[2] is not None else match[1] or match[3])
        at = match.end()
    return tuple(steps)


def _path(value: str) -> str:
    if not 1 <= len(path_steps(value)) <= _MOST_STEPS:
        raise refuse(
            N_("{path} is no path: write `$.field`, `$['a field']` or `$.list[0]`"), path=quoted(value)
        )
    return value


def _zone(value: str, info: ValidationInfo) -> str:
    # Asked of a file being written only: what was registered is read the same on a machine that knows less.
    if not isinstance(info.context, Reading):
        return value
    try:
        zoneinfo.ZoneInfo(value)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        close = nearest(value, zoneinfo.available_timezones())
        if close is None:
            raise refuse(
                N_("{zone} is no time zone: write a name such as `America/Sao_Paulo`"), zone=quoted(value)
            ) from None
        raise refuse(
            N_("{zone} is no time zone; did you mean {close}?"), zone=quoted(value), close=quoted(close)
        ) from None
    return value


Text = Annotated[str, Field(max_length=1000)]
Values = Annotated[Listed[Text], AfterValidator(not_empty)]
OutcomeValues = Annotated[Many[Text], AfterValidator(not_empty)]
Roles = Annotated[Many[Role], AfterValidator(sorted)]
JsonPath = Annotated[str, AfterValidator(_path)]
Zone = Annotated[str, AfterValidator(_zone)]


class ColumnBase(Model):
    """What can be said of a column of any type."""

    may_be: ClassVar[tuple[Role, ...]] = ("input",)

    is_: Roles = Field(alias="is", default_factory=list)
    source: Literal["submission"] | None = Field(alias="from", default=None)
    part: Literal["labels", "scores"] | None = None
    missing: Many[Text] = Field(default_factory=lambda: [""])
    path: JsonPath | None = None

    @property
    def named_values(self) -> tuple[str, ...]:
        """The cell texts the protocol gives a meaning to, in declared order; empty for most types."""
        return ()

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        if wrong := [role for role in self.is_ if role not in self.may_be]:
            raise refuse(
                N_("a column of this type cannot be {wrong}; it may be {roles}"),
                at=("is",),
                wrong=listed(wrong),
                roles=listed(self.may_be),
            )
        if self.source is not None and self.part is not None:
            raise refuse(N_("comes from the submission, so it is no part of the pool"), at=("part",))
        if self.source is not None and (hidden := [role for role in self.is_ if role != "scored"]):
            raise refuse(
                N_("comes from the submission, so it cannot be {roles}"), at=("is",), roles=listed(hidden)
            )
        if "input" in self.is_ and self.part is not None:
            raise refuse(
                N_("an input is handed out before labels and scores are, so it is no part"), at=("is",)
            )
        for value in self.named_values:
            if value in self.missing:
                raise refuse(N_("has {value} among its values and as missing"), value=quoted(value))
        return self


class TextColumn(ColumnBase):
    """Text of any kind: ids, names, keys."""

    type: Literal["text"]


class ValuedColumn(ColumnBase):
    """One of the declared values."""

    may_be: ClassVar[tuple[Role, ...]] = ("input", "demographic")

    values: Values

    @property
    def named_values(self) -> tuple[str, ...]:
        """The declared values."""
        return tuple(self.values)


class CategoryColumn(ValuedColumn):
    """One of the declared values, without order."""

    type: Literal["category"]


class OrdinalColumn(ValuedColumn):
    """One of the declared values, in declared order."""

    type: Literal["ordinal"]


class NumberColumn(ColumnBase):
    """A number, in `unit`, from `min` to `max` where they are declared; `bins` name intervals of it."""

    may_be: ClassVar[tuple[Role, ...]] = ("input", "demographic", "inclusion_probability", "weight")

    type: Literal["number"]
    min: Number | None = None
    max: Number | None = None
    unit: Name | None = None
    bins: Bins | None = None

    @model_validator(mode="after")
    def _increases(self) -> Self:
        if self.min is not None and self.max is not None and not self.min < self.max:
            raise refuse(N_("`min` must be below `max`"), at=("max",))
        return self


class OutcomeColumn(ColumnBase):
    """Yes or no: by the values that mean each, or by whether two other columns hold the same text."""

    type: Literal["outcome"]
    positive: OutcomeValues | None = None
    negative: OutcomeValues | None = None
    equals: Pair[Name] | None = None

    @property
    def named_values(self) -> tuple[str, ...]:
        """The positive values, then the negative ones."""
        return (*(self.positive or ()), *(self.negative or ()))

    @model_validator(mode="after")
    def _is_one_form(self) -> Self:
        if self.equals is not None:
            said = (self.is_, self.source, self.part, self.path, self.positive, self.negative)
            if any(said) or self.missing != [""]:
                raise refuse(N_("`equals` makes the outcome from two other columns; say nothing else of it"))
            if self.equals[0] == self.equals[1]:
                raise refuse(N_("`equals` must name two different columns"), at=("equals",))
            return self
        if self.positive is None or self.negative is None:
            raise refuse(N_("needs `positive` and `negative`, the values that mean each, or `equals`"))
        if both := [value for value in self.positive if value in self.negative]:
            raise refuse(N_("has {values} as positive and as negative"), values=listed(both))
        return self


class TimeColumn(ColumnBase):
    """A moment; `zone` is where a time that names no zone was read off the clock."""

    may_be: ClassVar[tuple[Role, ...]] = ("input", "labelled", "scored")

    type: Literal["time"]
    zone: Zone | None = None

    @model_validator(mode="after")
    def _is_one_moment(self) -> Self:
        if {"labelled", "scored"} <= set(self.is_):
            raise refuse(N_("cannot be when a case was labelled and when it was scored"), at=("is",))
        return self


class DigestColumn(ColumnBase):
    """The digest of a case's content, as an image's SHA-256: by it the same content is known again."""

    type: Literal["digest"]


Column = Annotated[
    TextColumn | CategoryColumn | OrdinalColumn | NumberColumn | OutcomeColumn | TimeColumn | DigestColumn,
    Field(discriminator="type"),
]
"""A column of any type."""
