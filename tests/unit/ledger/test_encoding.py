"""Base64 and decimal numbers have one spelling each."""

import pytest

from lacre.ledger.encoding import MAX_NUMBER, from_base64, from_decimal, is_sha256_hex, to_base64


# RFC 4648 section 10.
@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", ""),
        (b"f", "Zg=="),
        (b"fo", "Zm8="),
        (b"foo", "Zm9v"),
        (b"foob", "Zm9vYg=="),
        (b"\xfb\xff", "+/8="),
    ],
)
def test_base64_is_that_of_rfc_4648(data: bytes, text: str) -> None:
    assert to_base64(data) == text
    assert from_base64(text) == data


@pytest.mark.parametrize(
    "text",
    [
        "Zg",
        "Zg=",
        "Zg===",
        "Zh==",
        "Zm9=",
        "Z",
        "====",
        "Zg==\n",
        " Zg==",
        "Zm 9v",
        "-_8=",
        "Zg==Zg==",
        "é",
        "Zm9v\0",
    ],
)
def test_no_other_base64_is_read(text: str) -> None:
    assert from_base64(text) is None


@pytest.mark.parametrize(("text", "number"), [("0", 0), ("7", 7), ("10", 10), (str(2**63 - 1), MAX_NUMBER)])
def test_decimal_numbers(text: str, number: int) -> None:
    assert from_decimal(text) == number


@pytest.mark.parametrize(
    "text", ["", "00", "01", "+1", "-1", " 1", "1 ", "1\n", "1_0", "1.0", "１", "٣", str(2**63), "9" * 5000]
)
def test_no_other_number_is_read(text: str) -> None:
    assert from_decimal(text) is None


def test_a_digest_is_64_lowercase_hexadecimal_digits() -> None:
    assert is_sha256_hex("0123456789abcdef" * 4)
    for other in ("", "0" * 63, "0" * 65, "A" * 64, "g" * 64, "0" * 64 + "\n", b"0" * 64, None):
        assert not is_sha256_hex(other)
