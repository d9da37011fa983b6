"""Names and numbers, as any part of a protocol is written in them."""

from fractions import Fraction
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from lacre.protocol.grammar import Bins, Identifier, Many, Name, Number, Slug, Whole, as_float

NUMBER = TypeAdapter[Any](Number)


@pytest.mark.parametrize(
    ("written", "value", "canonical"),
    [
        (1, 1.0, 1),
        (1.0, 1.0, 1),
        (0.10, 0.1, 0.1),
        (-0.0, 0.0, 0),
        (2**53 - 1, float(2**53 - 1), 2**53 - 1),
        ("1/3", Fraction(1, 3), "1/3"),
        ("2/6", Fraction(1, 3), "1/3"),
        ("-2/6", Fraction(-1, 3), "-1/3"),
        ("4/2", 2.0, 2),
        ("0/7", 0.0, 0),
        ("1/10", Fraction(1, 10), "1/10"),
    ],
)
def test_numbers(written: Any, value: Fraction | float, canonical: str | float) -> None:
    number = NUMBER.validate_python(written)
    assert number == value
    assert isinstance(number, Fraction) == isinstance(value, Fraction)
    dumped = NUMBER.dump_python(number, mode="json")
    assert dumped == canonical
    assert type(dumped) is type(canonical)
    assert NUMBER.validate_python(dumped) == number


@pytest.mark.parametrize(
    "written",
    [
        True,
        None,
        "x",
        "0.1",
        "1",
        "1/0",
        "1/-3",
        "1 / 3",
        "1/3/5",
        "",
        "nan",
        float("inf"),
        float("nan"),
        2**53,
        1e300,
        "9007199254740993/9007199254740992",
        [1],
        "+1/3",
        "١/٣",
    ],
)
def test_what_is_no_number(written: Any) -> None:
    with pytest.raises(ValidationError):
        NUMBER.validate_python(written)


def test_as_float_is_the_nearest_double() -> None:
    assert as_float(Fraction(1, 3)) == 1 / 3
    assert as_float(2.5) == 2.5


@pytest.mark.parametrize("written", [1, 1.0, 2**53 - 1])
def test_whole_numbers(written: Any) -> None:
    assert type(TypeAdapter[Any](Whole).validate_python(written, strict=True)) is int


@pytest.mark.parametrize("written", [True, 1.5, "1", "2/1", None])
def test_what_is_no_whole_number(written: Any) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter[Any](Whole).validate_python(written, strict=True)


@pytest.mark.parametrize("slug", ["a", "7", "rostos-2026", "a" * 64, "a--b"])
def test_slugs(slug: str) -> None:
    assert TypeAdapter(Slug).validate_python(slug) == slug


@pytest.mark.parametrize("slug", ["", "-a", "a-", "A", "a_b", "é", "a" * 65, "a b", "a\n", "../a", "a@1"])
def test_what_is_no_slug(slug: str) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(Slug).validate_python(slug)


@pytest.mark.parametrize("name", ["a", "_x", "A.b-c_9", "escala-0.5", "0", "x" * 64])
def test_identifiers(name: str) -> None:
    assert TypeAdapter(Identifier).validate_python(name) == name


@pytest.mark.parametrize(
    "name", ["", ".a", "-a", "a b", "a:b", "a=b", "a/b", "é", "x" * 65, "a\n", "..", "a@b"]
)
def test_what_is_no_identifier(name: str) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(Identifier).validate_python(name)


@pytest.mark.parametrize(
    "name", ["a", "Not Sure", "c_charge.degree", "идентификатор", " padded ", "x" * 128, "a\u200db"]
)
def test_column_names(name: str) -> None:
    assert TypeAdapter(Name).validate_python(name) == name


@pytest.mark.parametrize("name", ["", "x" * 129, "a\nb", "a\tb", "\x1b[31m", "a\u2028b", "\x7f"])
def test_what_is_no_column_name(name: str) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(Name).validate_python(name)


def test_one_or_many() -> None:
    many = TypeAdapter[Any](Many[str])
    assert many.validate_python("a") == many.validate_python(["a"]) == ["a"]
    with pytest.raises(ValidationError):
        many.validate_python(["a", "b", "a"])


def test_bins_are_put_in_order() -> None:
    bins = TypeAdapter[Any](Bins).validate_python({"b": ["1/3", 1], "c": [1, None], "a": [0, "2/6"]})
    assert list(bins.items()) == [
        ("a", (0.0, Fraction(1, 3))),
        ("b", (Fraction(1, 3), 1.0)),
        ("c", (1.0, None)),
    ]


@pytest.mark.parametrize(
    "bins",
    [
        {},
        {"a": [0, 1], "b": [2, 3]},
        {"a": [0, 1], "b": [0.5, 2]},
        {"a": [0, 0.3333333333], "b": ["1/3", 1]},
        {"a": [0, None], "b": [1, 2]},
        {"a": [1, 1]},
        {"a": [1, 0]},
        {"a": [None, 1]},
        {"a": [0]},
        {"a": 0},
        {"a": [0, 1], "b": [0, 1]},
    ],
)
def test_bins_that_do_not_meet_or_increase(bins: Any) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter[Any](Bins).validate_python(bins)
