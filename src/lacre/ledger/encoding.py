"""The two spellings the formats share, each with one form only: standard base64 and decimal numbers."""

import binascii
import re

MAX_NUMBER = 2**63 - 1  # sizes and indexes are signed 64-bit numbers in the tools that read these formats
_DECIMAL = re.compile(r"0|[1-9][0-9]{0,18}")
_HEX = re.compile(r"[0-9a-f]{64}")


def to_base64(data: bytes) -> str:
    """Return the standard base64 form of `data`, padded (RFC 4648 section 4)."""
    return binascii.b2a_base64(data, newline=False).decode("ascii")


def from_base64(text: str) -> bytes | None:
    """Return the bytes whose standard base64 form `text` is; `None` when it is not the form of any."""
    try:
        data = binascii.a2b_base64(text, strict_mode=True)
    except (binascii.Error, ValueError):
        return None
    # Python ignores the unused low bits of the last digit: only encoding again shows that they are zero.
    return data if to_base64(data) == text else None


def from_decimal(text: str) -> int | None:
    """Return the number `text` spells without sign, spaces or leading zeros; `None` for anything else."""
    if _DECIMAL.fullmatch(text) is None:
        return None
    number = int(text)
    return number if number <= MAX_NUMBER else None


def is_sha256_hex(text: object) -> bool:
    """Tell whether `text` is 64 lowercase hexadecimal digits."""
    return isinstance(text, str) and _HEX.fullmatch(text) is not None
