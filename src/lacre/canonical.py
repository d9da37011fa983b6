"""One byte form for each value (RFC 8785) and the digests taken of it."""

import hashlib
import json
from typing import Any

import rfc8785

from lacre.errors import NotCanonical


def canonical_json(value: Any) -> bytes:
    """Return the RFC 8785 (JSON Canonicalization Scheme) form of `value`.

    Raises `NotCanonical` for what the scheme has no form for: NaN, infinities, integers past 2^53, keys that
    are no strings.
    """
    try:
        return rfc8785.dumps(value)
    except (rfc8785.CanonicalizationError, RecursionError, UnicodeEncodeError) as error:
        raise NotCanonical(why=str(error)) from error


def parse_canonical(data: bytes) -> Any:
    """Return the value whose RFC 8785 form `data` is; `NotCanonical` when it is no value's form."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise NotCanonical(why=str(error)) from error
    if canonical_json(value) != data:
        raise NotCanonical(why="the bytes are JSON, but not in the RFC 8785 form")
    return value


def sha256_hex(data: bytes) -> str:
    """Return the SHA-256 of `data` in 64 lowercase hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()
