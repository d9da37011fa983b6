"""The canonical form against the rfc8785 library, the examples of RFC 8785, and its own inverse."""

import enum
import json
import math
import struct
from typing import Any

import pytest
import rfc8785
from hypothesis import example, given, settings, strategies as st

from lacre.canonical import MAX_DEPTH, canonical_json, parse_canonical, sha256_hex
from lacre.errors import LacreError, NotCanonical


class Colour(enum.StrEnum):
    RED = "red"


class Size(enum.IntEnum):
    SMALL = 1


class Pairs(dict[str, int]):
    """A mapping of another type."""


scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**54), 2**54)
    | st.integers()
    | st.floats()
    | st.floats(1e15, 1e22)
    | st.text()
    | st.text(st.characters(codec=None))
    | st.sampled_from(
        [Colour.RED, Size.SMALL, 2**53 - 1, 2**53, -(2**53), 1 - 2**53, -0.0, 1e21, 1e-7, 5e-324]
    )
    | st.sampled_from([1e-4, math.nextafter(1e-4, 0), 1e16, math.nextafter(2**52, 0), 0.1, -0.5, 3.0])
    | st.floats(1e-5, 1e-3)
    | st.sampled_from([b"bytes", {1}, 1j, object()])
)
ascii_keys = st.text(st.characters(max_codepoint=127), max_size=4)
other_keys = st.text(st.characters(codec=None), max_size=3) | st.sampled_from(
    ["\ue000", "\U0001d11e", "ö", Colour.RED]
)
odd_keys = st.sampled_from([1, None, True, 1.5, (1,)])


def nest(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(ascii_keys, inner, max_size=4)
        | st.dictionaries(ascii_keys | other_keys, inner, max_size=4)
        | st.dictionaries(ascii_keys | odd_keys, inner, max_size=2)
        | st.dictionaries(ascii_keys, inner, max_size=2).map(Pairs)
    )


plain = st.recursive(
    st.none() | st.booleans() | st.integers(1 - 2**53, 2**53 - 1) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ascii_keys, inner, max_size=4),
    max_leaves=20,
)


def outcome(encode: Any, value: Any) -> bytes | None:
    try:
        form = encode(value)
    except (LacreError, rfc8785.CanonicalizationError, UnicodeEncodeError):
        return None
    assert isinstance(form, bytes)
    return form


@settings(deadline=None)
@given(st.recursive(scalars, nest, max_leaves=12))
@example({"\U0001d11e": 1, "\ue000": 2})
@example({"\ud800": 1})
@example("\ud800")
@example({"a": {1: 2}})
@example([True, 1, 1.0, Size.SMALL])
def test_the_form_is_the_one_of_the_rfc8785_library(value: Any) -> None:
    assert outcome(canonical_json, value) == outcome(rfc8785.dumps, value)


@settings(deadline=None)
@given(plain)
def test_plain_values_too_and_they_are_read_back(value: Any) -> None:
    form = canonical_json(value)
    assert form == rfc8785.dumps(value)
    assert parse_canonical(form) == value


@settings(deadline=None)
@given(st.floats(allow_nan=False, allow_infinity=False))
@example(2.0**53)
@example(-1e20)
@example(999999999999999900000.0)
@example(1e21)
def test_every_finite_number_is_read_back(number: float) -> None:
    """From 2^53 to 10^21 a float's form looks like an integer's, and no integer of that size has a form."""
    assert parse_canonical(canonical_json(number)) == number


@settings(deadline=None)
@given(st.binary() | st.text().map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_bytes_are_a_form_or_refused(data: bytes) -> None:
    try:
        value = parse_canonical(data)
    except NotCanonical:
        return
    assert canonical_json(value) == data == rfc8785.dumps(value)


@settings(deadline=None)
@given(st.recursive(scalars, nest, max_leaves=8), st.sampled_from(["indent", "ascii", "space", "order"]))
def test_other_spellings_of_a_value_are_refused(value: Any, way: str) -> None:
    form = outcome(canonical_json, {"value": value, "b": 1, "é": 2})
    if form is None:
        return
    parsed = json.loads(form)
    spelled = {
        "indent": json.dumps(parsed, indent=1, ensure_ascii=False),
        "ascii": json.dumps(parsed, separators=(",", ":")),
        "space": form.decode() + " ",
        "order": json.dumps(dict(reversed(parsed.items())), separators=(",", ":"), ensure_ascii=False),
    }[way]
    with pytest.raises(NotCanonical):
        parse_canonical(spelled.encode())


def test_the_example_of_rfc_8785() -> None:
    """Sections 3.2.2 and 3.2.4: the sample input, and the bytes of its canonical form."""
    sample = r"""{
      "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
      "literals": [null, true, false]
    }"""
    expected = bytes.fromhex(
        "7b226c69746572616c73223a5b6e756c6c2c747275652c66616c73655d2c226e756d62657273223a5b3333333333333333332e33"
        "3333333333332c31652b33302c342e352c302e3030322c31652d32375d2c22737472696e67223a22e282ac245c75303030665c6e"
        "4127425c225c5c5c5c5c222f227d"
    )
    assert canonical_json(json.loads(sample)) == expected


def test_keys_are_in_the_order_of_rfc_8785() -> None:
    """Section 3.2.3: sorted by UTF-16 code units, so that a key past the basic plane comes before U+FB33."""
    names = {
        "\u20ac": "Euro Sign",
        "\r": "Carriage Return",
        "\ufb33": "Hebrew Letter Dalet With Dagesh",
        "1": "One",
        "\U0001f600": "Emoji: Grinning Face",
        "\u0080": "Control",
        "\u00f6": "Latin Small Letter O With Diaeresis",
    }
    order = [
        "Carriage Return",
        "One",
        "Control",
        "Latin Small Letter O With Diaeresis",
        "Euro Sign",
        "Emoji: Grinning Face",
        "Hebrew Letter Dalet With Dagesh",
    ]
    assert list(json.loads(canonical_json(names)).values()) == order


@pytest.mark.parametrize(
    ("bits", "form"),
    [
        # RFC 8785 appendix B.
        (0x0000000000000000, "0"),
        (0x8000000000000000, "0"),
        (0x0000000000000001, "5e-324"),
        (0x8000000000000001, "-5e-324"),
        (0x7FEFFFFFFFFFFFFF, "1.7976931348623157e+308"),
        (0x4340000000000000, "9007199254740992"),
        (0xC340000000000000, "-9007199254740992"),
        (0x4430000000000000, "295147905179352830000"),
        (0x44B52D02C7E14AF5, "9.999999999999997e+22"),
        (0x44B52D02C7E14AF6, "1e+23"),
        (0x444B1AE4D6E2EF4E, "999999999999999700000"),
        (0x444B1AE4D6E2EF4F, "999999999999999900000"),
        (0x444B1AE4D6E2EF50, "1e+21"),
        (0x3EB0C6F7A0B5ED8C, "9.999999999999997e-7"),
        (0x3EB0C6F7A0B5ED8D, "0.000001"),
        (0x41B3DE4355555553, "333333333.3333332"),
        (0xBECBF647612F3696, "-0.0000033333333333333333"),
        (0x43143FF3C1CB0959, "1424953923781206.2"),
    ],
)
def test_numbers_are_those_of_rfc_8785(bits: int, form: str) -> None:
    number = struct.unpack(">d", bits.to_bytes(8))[0]
    assert canonical_json(number) == form.encode()
    assert parse_canonical(form.encode()) == number


def test_nesting_has_a_limit_of_its_own() -> None:
    """One that neither Python's recursion limit nor the caller's stack decides, with floats and without."""
    for leaf in (1, 0.5):
        deep: Any = leaf
        for _ in range(MAX_DEPTH):
            deep = [deep]
        assert parse_canonical(canonical_json(deep)) == deep
        with pytest.raises(NotCanonical):
            canonical_json({"a": deep})
    with pytest.raises(NotCanonical):
        parse_canonical(b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1))
    with pytest.raises(NotCanonical):
        parse_canonical(b"[" * 100_000)
    cycle: list[Any] = []
    cycle.append(cycle)
    with pytest.raises(NotCanonical):
        canonical_json(cycle)


@pytest.mark.parametrize(
    "data",
    [b'{"a":1,"a":1}', b"1.0", b"-0", b"1e1", b"9007199254740993", b"NaN", b"1" * 5000, b"\xef\xbb\xbf1"],
)
def test_some_json_is_no_form(data: bytes) -> None:
    with pytest.raises(NotCanonical):
        parse_canonical(data)


def test_what_is_not_finite_has_no_form() -> None:
    for number in (math.nan, math.inf, -math.inf):
        with pytest.raises(NotCanonical):
            canonical_json([number])


def test_a_digest_is_written_in_hexadecimal() -> None:
    """FIPS 180-4's example for "abc"."""
    assert sha256_hex(b"abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
