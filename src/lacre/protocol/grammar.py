"""The words every part of a protocol is written in: names, numbers, lists, maps, the base of the models."""

import math
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    PlainValidator,
    ValidationInfo,
    model_validator,
)
from pydantic_core import PydanticCustomError

from lacre.protocol.problems import Path, quoted
from lacre.text import N_

REFUSED = "refused"
"""The pydantic error type of everything `refuse` makes."""

LARGEST = 2**53 - 1
"""The largest whole number every JSON reader keeps exactly (RFC 7493, section 2.2)."""

_ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}")
_SLUG = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?")
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*")
_FRACTION = re.compile(r"(-?[0-9]{1,16})/([0-9]{1,16})")
_DECIMAL = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:[.,][0-9]*)?)(?:[eE][-+]?[0-9]+)?")

T = TypeVar("T")


def refuse(template: str, *, at: Path = (), **fields: Any) -> PydanticCustomError:
    """Return the error a validator raises: a sentence for people, about `at` below the value validated."""
    return PydanticCustomError(REFUSED, REFUSED, {"template": template, "at": at, "fields": fields})


@dataclass
class Reading:
    """What one reading of a document remembers: the keys known at each mapping, the parts already broken."""

    known: dict[int, tuple[str, ...]] = field(default_factory=dict)
    broken: frozenset[Path] = frozenset()


class Model(BaseModel):
    """The base of every part of a protocol: frozen, strict, and with no key it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    @model_validator(mode="before")
    @classmethod
    def _remember_keys(cls, value: Any, info: ValidationInfo) -> Any:
        if isinstance(info.context, Reading) and isinstance(value, dict):
            fields = cls.model_fields.items()
            info.context.known[id(value)] = tuple(each.alias or name for name, each in fields)
        return value


# --- text ------------------------------------------------------------------------------------------------


def _has_control(value: str) -> bool:
    return any(unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") for c in value)


def _one_line(value: str) -> str:
    if _has_control(value):
        raise refuse(N_("must be one line of text, without control characters"))
    return value


def _name(value: str) -> str:
    if not 1 <= len(value) <= 128:
        raise refuse(N_("must be 1 to 128 characters long"))
    return _one_line(value)


def _identifier(value: str) -> str:
    if not _ID.fullmatch(value):
        raise refuse(
            N_(
                "{name} is no name: use 1 to 64 letters, digits, `_`, `.` and `-`, "
                "beginning with a letter, a digit or `_`"
            ),
            name=quoted(value),
        )
    return value


def _slug(value: str) -> str:
    if not _SLUG.fullmatch(value):
        raise refuse(
            N_(
                "{name} is no study name: use 1 to 64 small letters, digits and `-`, and no `-` at either end"
            ),
            name=quoted(value),
        )
    return value


def _language(value: str) -> str:
    if not _LANGUAGE.fullmatch(value):
        raise refuse(N_("{name} is no language tag: write one such as `en` or `pt-BR`"), name=quoted(value))
    return value


def _words(value: str) -> str:
    if not value.strip():
        raise refuse(N_("must not be blank"))
    if len(value) > 10_000:
        raise refuse(N_("must be at most 10,000 characters long"))
    return value


Name = Annotated[str, AfterValidator(_name)]
"""A column's or a bin's name: real files have spaces and dots in theirs."""
Identifier = Annotated[str, AfterValidator(_identifier)]
"""A name that may stand on a command line, in `[SYSTEM:][TABLE=]FILE`."""
Slug = Annotated[str, AfterValidator(_slug)]
Language = Annotated[str, AfterValidator(_language)]
Words = Annotated[str, AfterValidator(_words)]
Title = Annotated[Words, AfterValidator(_one_line)]


# --- numbers ---------------------------------------------------------------------------------------------


def _number(value: Any) -> Fraction | float:
    if isinstance(value, bool):
        raise refuse(N_("must be a number, not true or false"))
    if isinstance(value, int | float):
        return _finite(value)
    if isinstance(value, str):
        if match := _FRACTION.fullmatch(value):
            if int(match[2]) == 0:
                raise refuse(N_("must not divide by zero"))
            return _exact(Fraction(int(match[1]), int(match[2])))
        if _DECIMAL.fullmatch(value):
            raise refuse(N_("must be a number: write it without quotes, and with a decimal point"))
    raise refuse(N_('must be a number, or a fraction in quotes such as "1/3"'))


def _finite(value: float) -> float:
    if not math.isfinite(value) or abs(value) > LARGEST:
        raise refuse(N_("must be a finite number below 2^53"))
    return float(value)


def _exact(value: Fraction) -> Fraction | float:
    if abs(value.numerator) > LARGEST or value.denominator > LARGEST:
        raise refuse(N_("must have whole numbers below 2^53 on both sides of the stroke"))
    return float(value) if value.denominator == 1 else value


def _written(value: Fraction | float) -> str | int | float:
    if isinstance(value, Fraction):
        return f"{value.numerator}/{value.denominator}"
    return int(value) if value.is_integer() else value


def as_float(number: Fraction | float) -> float:
    """Return a protocol's number as the nearest double."""
    return float(number)


def exact(number: Fraction | float) -> Fraction:
    """Return a protocol's number as it was written: a double stands for its shortest decimal, 0.29 for 29/100."""
    return number if isinstance(number, Fraction) else Fraction(repr(float(number)))


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def within(
    low: float, high: float, *, open_low: bool = False, open_high: bool = False
) -> Callable[[Fraction | float], Fraction | float]:
    """Return a validator that keeps a number from `low` to `high`; an open end is itself left out."""

    def check(value: Fraction | float) -> Fraction | float:
        if value < low or value > high or (open_low and value == low) or (open_high and value == high):
            raise refuse(
                N_("must be from {low} to {high}, and is {value}")
                if not (open_low or open_high)
                else N_("must lie between {low} and {high}, and is {value}"),
                low=f"{low:g}",
                high=f"{high:g}",
                value=str(_written(value)),
            )
        return value

    return check


Number = Annotated[Fraction | float, PlainValidator(_number), PlainSerializer(_written, when_used="json")]
"""A finite number: a double, or a fraction kept exact (`"2/6"` is `1/3`, `"4/2"` is 2.0)."""
Rate = Annotated[Number, AfterValidator(within(0, 1))]
"""A number from 0 to 1."""
Whole = Annotated[int, BeforeValidator(_whole)]
Count = Annotated[Whole, Field(ge=1)]
Seed = Annotated[Whole, Field(ge=0)]


# --- lists and maps --------------------------------------------------------------------------------------


def _as_list(value: Any) -> Any:
    return value if isinstance(value, list) else [value]


def distinct(values: list[T]) -> list[T]:
    """Refuse a list that holds a thing twice."""
    seen: set[Any] = set()
    for index, value in enumerate(values):
        mark = tuple(value) if isinstance(value, list) else value
        if mark in seen:
            raise refuse(N_("holds {name} twice"), at=(index,), name=quoted(str(value)))
        seen.add(mark)
    return values


def _pair(value: Any) -> Any:
    if not isinstance(value, list) or len(value) != 2:
        raise refuse(N_("must be a list of two, such as [a, b]"))
    return tuple(value)


def in_order(values: dict[str, T]) -> dict[str, T]:
    """Return a map in the order of its canonical form (RFC 8785, 3.2.3), whatever the file's was."""
    return dict(sorted(values.items(), key=lambda item: item[0].encode("utf-16-be", "surrogatepass")))


def not_empty(values: Any) -> Any:
    """Refuse an empty list or map."""
    if not values:
        raise refuse(N_("must hold at least one"))
    return values


Many = Annotated[list[T], BeforeValidator(_as_list), AfterValidator(distinct)]
"""A list of distinct things; one alone may be written without brackets."""
Listed = Annotated[list[T], AfterValidator(distinct)]
Named = Annotated[dict[Identifier, T], AfterValidator(in_order)]
Pair = Annotated[tuple[T, T], BeforeValidator(_pair)]
Edges = Annotated[tuple[Number, Number | None], BeforeValidator(_pair)]


def _contiguous(bins: dict[str, tuple[Any, Any]]) -> dict[str, tuple[Any, Any]]:
    not_empty(bins)
    ordered = dict(sorted(bins.items(), key=lambda item: item[1][0]))
    last: tuple[str, Any] | None = None
    for name, (low, high) in ordered.items():
        if last is not None and last[1] is None:
            raise refuse(N_("only the last bin may be open above"), at=(last[0],))
        if last is not None and low != last[1]:
            raise refuse(
                N_("bins must meet: {before} ends at {end} and {name} begins at {begin}"),
                at=(name,),
                before=quoted(last[0]),
                end=str(_written(last[1])),
                name=quoted(name),
                begin=str(_written(low)),
            )
        if high is not None and not low < high:
            raise refuse(N_("must go from a lower to a higher number"), at=(name,))
        last = (name, high)
    return ordered


Bins = Annotated[dict[Name, Edges], AfterValidator(_contiguous)]
"""Named intervals in increasing order, each closed below and open above, the last closed above."""

Part = Literal["cases", "labels", "scores"]
