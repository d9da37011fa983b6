"""Sealing, for any files: padding leaks little, packing loses nothing, a fingerprint blob has one form."""

import os

import numpy as np
from hypothesis import given, strategies as st

from lacre.errors import PrintsInvalid
from lacre.pools import seal
from lacre.pools.content import Held
from lacre.pools.prints import KINDS, REPEATING, Kind, PrintArray, Prints, as_array, sorted_set
from lacre.pools.seal import Context

CONTEXT = Context("a" * 64, "alvo", "teste", "b" * 64)
SIZES = st.integers(0, 2**50)
RECORDS = st.lists(st.binary(max_size=300) | st.integers(0, 70_000).map(bytes), max_size=5)


@given(SIZES)
def test_padding_adds_little_and_is_done_once(size: int) -> None:
    """At most 1 / 2^S of the size is added, with S the bits of its exponent: 12 % at size 9, less later."""
    padded = seal.padme(size)
    assert size <= padded <= size * 1.12
    assert seal.padme(padded) == padded


@given(SIZES, SIZES)
def test_padding_keeps_the_order_of_sizes(a: int, b: int) -> None:
    assert (seal.padme(a) <= seal.padme(b)) or a > b


@given(st.integers(4, 2**50))
def test_a_padded_size_shows_no_more_than_its_leading_bits(size: int) -> None:
    exponent = size.bit_length() - 1
    assert seal.padme(size) % 2 ** (exponent - exponent.bit_length()) == 0


def _cut(data: bytes, sizes: list[int]) -> list[bytes]:
    pieces, at = [], 0
    for size in sizes:
        pieces.append(data[at : at + size])
        at += size
    return [*pieces, data[at:]]


@given(RECORDS, st.lists(st.integers(0, 50_000), max_size=8))
def test_what_is_packed_is_unpacked_however_it_is_cut(records: list[bytes], sizes: list[int]) -> None:
    packed = b"".join(seal.pack(list(map(Held, records))))
    assert len(packed) == seal.packed_size(map(len, records))
    contents = [b""] * len(records)
    for index, piece in seal.unpack(_cut(packed, sizes), len(records), CONTEXT):
        contents[index] += piece
    assert contents == records


@given(RECORDS, st.lists(st.integers(0, 50_000), max_size=4))
def test_what_is_encrypted_is_decrypted_however_it_is_cut(records: list[bytes], sizes: list[int]) -> None:
    key = os.urandom(32)
    ciphertext = b"".join(seal.encrypt(key, CONTEXT, seal.pack(list(map(Held, records)))))
    plaintext = seal.decrypt(key, CONTEXT, _cut(ciphertext, sizes))
    assert b"".join(plaintext) == b"".join(seal.pack(list(map(Held, records))))
    assert len(ciphertext) <= seal.ciphertext_bound(seal.packed_size(map(len, records)))


PRINT = st.binary(min_size=16, max_size=16)


@st.composite
def print_sets(draw: st.DrawFn) -> Prints:
    sections: dict[tuple[Kind, str], PrintArray] = {}
    labels = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
    for place in draw(st.lists(st.tuples(st.sampled_from(KINDS), labels), max_size=5)):
        prints = draw(st.lists(PRINT, max_size=6))
        sections[place] = np.sort(as_array(prints)) if place[0] in REPEATING else sorted_set(prints)
    return Prints(draw(PRINT), sections)


@given(print_sets())
def test_a_fingerprint_set_has_one_form(prints: Prints) -> None:
    form = prints.encode()
    read = Prints.decode(form)
    assert read.encode() == form
    assert {at: array.tolist() for at, array in read.sections.items()} == {
        at: array.tolist() for at, array in prints.sections.items()
    }


@given(print_sets(), st.data())
def test_changed_bytes_are_refused_or_are_the_form_of_another_set(
    prints: Prints, data: st.DataObject
) -> None:
    form = bytearray(prints.encode())
    place = data.draw(st.integers(0, len(form) - 1))
    form[place] ^= data.draw(st.integers(1, 255))
    try:
        read = Prints.decode(bytes(form))
    except PrintsInvalid:
        return
    assert read.encode() == bytes(form)
