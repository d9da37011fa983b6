"""The fingerprint blob: one form for one set, and every other form refused."""

import numpy as np
import pytest

from lacre.errors import PrintsInvalid
from lacre.pools.prints import Prints, as_array, common, sorted_set

A, B, C = (bytes([value]) * 15 + b"\0" for value in (1, 128, 255))
CHECK = bytes(range(16))
SET = Prints(
    CHECK,
    {
        ("content", "x"): as_array([A, A, C]),
        ("case", "faces"): sorted_set([C, A, B, A]),
        ("case", "imágenes"): sorted_set([B]),
        ("unit", ""): as_array([]),
    },
)


def test_the_form_is_as_documented() -> None:
    small = Prints(CHECK, {("unit", "t"): sorted_set([B, A])})
    head = b"lacre-fingerprints-v1\n" + CHECK + bytes.fromhex("00000001")
    section = bytes.fromhex("01 00000001") + b"t" + bytes.fromhex("0000000000000002")
    assert small.encode() == head + section + A + B


def test_what_is_encoded_is_decoded() -> None:
    read = Prints.decode(SET.encode())
    assert read.encode() == SET.encode()
    assert read.check == CHECK
    assert read.labels("case") == ("faces", "imágenes")
    assert read.section("case", "faces").tobytes() == A + B + C
    assert read.section("content", "x").tobytes() == A + A + C
    assert len(read.section("row", "none")) == 0
    assert read.all("case").tobytes() == A + B + C
    assert Prints.decode(Prints(CHECK, {}).encode()).sections == {}


def test_prints_that_end_in_zeros_stay_apart() -> None:
    zeros, one = bytes(16), bytes(15) + b"\1"
    assert len(sorted_set([zeros, one, A])) == 3
    assert common(sorted_set([zeros, A]), sorted_set([one, A])).tobytes() == A
    assert Prints.decode(Prints(CHECK, {("row", ""): sorted_set([zeros, one])}).encode()).all(
        "row"
    ).tobytes() == (zeros + one)


def test_any_part_or_more_is_refused() -> None:
    form = SET.encode()
    for size in range(len(form)):
        with pytest.raises(PrintsInvalid):
            Prints.decode(form[:size])
    with pytest.raises(PrintsInvalid):
        Prints.decode(form + b"\0")


def _form(*sections: tuple[int, bytes, bytes], magic: bytes = b"lacre-fingerprints-v1\n") -> bytes:
    heads = b"".join(
        bytes([kind]) + len(label).to_bytes(4, "big") + label + (len(body) // 16).to_bytes(8, "big")
        for kind, label, body in sections
    )
    return (
        magic + CHECK + len(sections).to_bytes(4, "big") + heads + b"".join(body for _k, _l, body in sections)
    )


@pytest.mark.parametrize(
    "form",
    [
        _form((0, b"t", B + A)),
        _form((0, b"t", A + A)),
        _form((5, b"t", B + A)),
        _form((1, b"t", A), (0, b"t", A)),
        _form((0, b"u", A), (0, b"t", A)),
        _form((0, b"t", A), (0, b"t", A)),
        _form((12, b"t", A)),
        _form((0, b"\xff", A)),
        _form((0, b"t", A), magic=b"lacre-fingerprints-v2\n"),
        b"\x00" * 500,
    ],
    ids=[
        "unsorted",
        "repeated",
        "content unsorted",
        "kinds",
        "labels",
        "doubled",
        "unknown",
        "no text",
        "v2",
        "zeros",
    ],
)
def test_another_form_is_refused(form: bytes) -> None:
    with pytest.raises(PrintsInvalid):
        Prints.decode(form)


def test_sets_under_two_keys_are_never_compared() -> None:
    other = Prints(CHECK[::-1], SET.sections)
    SET.require_same_key(Prints.decode(SET.encode()))
    with pytest.raises(PrintsInvalid, match="another key"):
        SET.require_same_key(other)


def test_arrays_are_fixed_in_width() -> None:
    assert sorted_set([A, B]).dtype == np.dtype("S16")
    assert sorted_set([A, B]).itemsize == 16
