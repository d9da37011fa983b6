"""One byte form for each value (RFC 8785) and the digests taken of it."""

import hashlib
import json
from collections.abc import Iterable
from typing import Any, NamedTuple

import rfc8785

from lacre.errors import NotCanonical
from lacre.text import _

MAX_DEPTH = 100  # of its own, so that what is refused does not depend on the stack of who asks
MAX_SAFE = 2**53 - 1

_encode_plain = json.JSONEncoder(
    ensure_ascii=False, check_circular=False, sort_keys=True, separators=(",", ":")
).encode


def canonical_json(value: Any) -> bytes:
    """Return the RFC 8785 (JSON Canonicalization Scheme) form of `value`.

    Raises `NotCanonical` for what the scheme has no form for: NaN, infinities, integers past 2^53, keys that
    are no strings, lone surrogates, and lists and objects nested more than `MAX_DEPTH` deep.
    """
    try:
        if _is_plain(value):
            return _encode_plain(value).encode()
        return rfc8785.dumps(value)
    except (rfc8785.CanonicalizationError, RecursionError, UnicodeEncodeError) as error:
        raise NotCanonical(why=str(error)) from error


def parse_canonical(data: bytes) -> Any:
    """Return the value whose RFC 8785 form `data` is; `NotCanonical` when it is no value's form."""
    plain = _parse_plain(data)
    if plain is not None:
        return plain.value
    try:
        value = json.loads(data.decode(), parse_int=_number)
    except (ValueError, RecursionError) as error:
        raise NotCanonical(why=str(error)) from error
    if canonical_json(value) != data:
        raise NotCanonical(why=_("the bytes are JSON, but not in the RFC 8785 form"))
    return value


class _Plain(NamedTuple):
    """A value, which may be None, that was read without a doubt."""

    value: Any


class _OtherNumber(Exception):
    """A number that the standard library's encoder may spell otherwise."""


def _parse_plain(data: bytes) -> _Plain | None:
    """Return the value of bytes that are surely its RFC 8785 form, or None where it takes a longer look.

    ASCII with none but simple floats is what `_is_plain` calls plain: an escape for another character is not what
    the encoder writes for it, and no more brackets than `MAX_DEPTH` nest no deeper.
    """
    if not data.isascii() or data.count(b"[") + data.count(b"{") > MAX_DEPTH:
        return None
    text = data.decode("ascii")
    try:
        value, end = _scan(text)
    except (ValueError, _OtherNumber):
        return None
    return _Plain(value) if end == len(text) and _encode_plain(value) == text else None


def _whole(digits: str) -> int:
    number = int(digits)
    if not -MAX_SAFE <= number <= MAX_SAFE:
        raise _OtherNumber
    return number


def _fraction(digits: str) -> float:
    number = float(digits)
    if not _is_simple(number):
        raise _OtherNumber
    return number


def _is_simple(number: float) -> bool:
    """Tell whether Python spells a float as RFC 8785 does (ECMAScript, 7.1.12.1): the shortest digits, in full.

    A whole number would get a point and a zero, one from 10^16 up or below 10^-4 an exponent.
    """
    return 1e-4 <= abs(number) < 1e16 and not number.is_integer()


_scan = json.JSONDecoder(parse_int=_whole, parse_float=_fraction, parse_constant=_fraction).raw_decode


def sha256_hex(data: bytes) -> str:
    """Return the SHA-256 of `data` in 64 lowercase hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def _number(digits: str) -> int | float:
    # The form of a float from 2^53 up to 10^21 has no point or exponent; no integer of that size has a form.
    number = int(digits)
    return number if abs(number) <= MAX_SAFE else float(digits)


def _is_plain(value: Any, room: int = MAX_DEPTH) -> bool:
    """Tell whether the standard library's encoder gives the RFC 8785 form of `value`, some four times faster.

    It does so for simple floats, and where code points sort keys as UTF-16 does: that ASCII does is simple to
    see. Integers must be in range, and keys be text: it would make text of others.
    """
    kind = type(value)
    if kind is str or kind is bool or value is None:
        return True
    if kind is int:
        return bool(-MAX_SAFE <= value <= MAX_SAFE)
    if kind is float:
        return _is_simple(value)
    plain = True
    items: Iterable[Any]
    if isinstance(value, dict):
        plain = all(type(key) is str and key.isascii() for key in value)
        items = value.values()
    elif isinstance(value, (list, tuple)):
        items = value
    else:
        return False
    if room == 0:
        raise NotCanonical(why=_("it is nested more than {limit} deep").format(limit=MAX_DEPTH))
    for item in items:
        if type(item) is not str:
            plain = _is_plain(item, room - 1) and plain
    return plain
