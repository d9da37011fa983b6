"""What a pool is encrypted with: the published vectors of C2SP chunked-encryption, and a second implementation of it.

The second one (`conftest.open_chunks`, and `seal_chunks` below) is written from https://c2sp.org/chunked-encryption, on
AES-GCM and HMAC alone, and passes the same vectors.
"""

import hashlib
import json
import random
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from lacre.errors import PoolBlobChanged
from lacre.pools import seal
from lacre.pools.seal import Context

from .conftest import CHUNK, HEAD, VECTORS, chunk_keys, open_chunks

PUBLISHED: list[dict[str, Any]] = json.loads(
    (VECTORS / "chunked-encryption" / "cobblestone-256.json").read_text()
)
KEY = bytes(range(32))
CONTEXT = Context(genesis="a" * 64, study="alvo", pool="teste", protocol="b" * 64)


@dataclass(frozen=True, slots=True)
class Given(Context):
    """A context of any bytes, as the vectors have them."""

    given: bytes = b""

    def encode(self) -> bytes:
        return self.given


def vectors(result: str, *, sized: bool = True) -> pytest.MarkDecorator:
    """The vectors with this result; with `sized`, those whose key has 32 bytes, as every one of lacre's has."""
    chosen = [
        one
        for one in PUBLISHED
        if one["result"] == result and sized == ("InvalidKeySize" not in one["flags"])
    ]
    return pytest.mark.parametrize("vector", chosen, ids=lambda one: str(one["tcId"]))


def ciphertext_of(vector: dict[str, Any]) -> bytes:
    return zlib.decompress(bytes.fromhex(vector["ct"]))


def by_lacre(vector: dict[str, Any], piece: int) -> Iterator[bytes]:
    """What lacre decrypts of a vector that it is given in pieces of this size."""
    context = Given("a" * 64, "alvo", "teste", "b" * 64, given=bytes.fromhex(vector["ctx"]))
    data = ciphertext_of(vector)
    pieces = (data[at : at + piece] for at in range(0, len(data), piece))
    return seal.decrypt(bytes.fromhex(vector["key"]), context, pieces)


def by_the_second(vector: dict[str, Any]) -> Iterator[bytes]:
    return open_chunks(bytes.fromhex(vector["key"]), bytes.fromhex(vector["ctx"]), ciphertext_of(vector))


def taken(pieces: Iterable[bytes]) -> tuple[bytes, Exception | None]:
    """What comes out, and what ended it."""
    found = bytearray()
    try:
        for piece in pieces:
            found += piece
    except (PoolBlobChanged, InvalidTag) as error:
        return bytes(found), error
    return bytes(found), None


def test_the_vectors_are_all_there() -> None:
    assert [one["tcId"] for one in PUBLISHED] == [*range(1, 7), *range(9, 36)]
    assert [one["result"] for one in PUBLISHED].count("valid") == 8


@vectors("valid")
@pytest.mark.parametrize("piece", [1 << 20, 1000])
def test_published_ciphertexts_open(vector: dict[str, Any], piece: int) -> None:
    for pieces in (by_lacre(vector, piece), by_the_second(vector)):
        message, error = taken(pieces)
        assert error is None
        assert len(message) == vector["msgLength"]
        assert hashlib.sha512(message).hexdigest() == vector["msgSha512"]


@vectors("invalid")
@pytest.mark.parametrize("piece", [1 << 20, 1000])
def test_published_forgeries_are_refused(vector: dict[str, Any], piece: int) -> None:
    """And nothing comes out but a beginning of what was encrypted: of whole chunks, all of them sound."""
    for pieces, refusal in ((by_lacre(vector, piece), PoolBlobChanged), (by_the_second(vector), InvalidTag)):
        message, error = taken(pieces)
        assert isinstance(error, refusal)
        if message:
            assert "PartialPlaintext" in vector["flags"]
            assert len(message) == vector["msgLength"]
            assert hashlib.sha512(message).hexdigest() == vector["msgSha512"]


@vectors("invalid", sized=False)
def test_a_key_of_another_size_is_no_key(vector: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        taken(by_lacre(vector, 1 << 20))


def seal_chunks(key: bytes, context: bytes, salt: bytes, message: bytes) -> bytes:
    """Encrypt as the specification says: a last chunk that is not full, be it empty."""
    sealing, base, commitment = chunk_keys(key, salt, context)
    found = salt + commitment
    for number in range(len(message) // CHUNK + 1):
        nonce = (int.from_bytes(base, "big") ^ number).to_bytes(12, "big")
        found += AESGCM(sealing).encrypt(nonce, message[number * CHUNK : (number + 1) * CHUNK], None)
    return found


@pytest.mark.parametrize("size", [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK, 300 * CHUNK + 7])
def test_both_implementations_open_what_the_other_sealed(size: int) -> None:
    """The last has 301 chunks, whose numbers take a second byte."""
    message = random.Random(size).randbytes(size)
    ours = b"".join(seal.encrypt(KEY, CONTEXT, [message[: size // 3], message[size // 3 :]]))
    assert taken(open_chunks(KEY, CONTEXT.encode(), ours)) == (message, None)
    theirs = seal_chunks(KEY, CONTEXT.encode(), bytes(range(24)), message)
    assert taken(seal.decrypt(KEY, CONTEXT, [theirs])) == (message, None)
    assert seal_chunks(KEY, CONTEXT.encode(), ours[:24], message) == ours
    assert len(ours) == HEAD + size + 16 * (size // CHUNK + 1)


@pytest.mark.parametrize("size", [CHUNK, 258 * CHUNK])
def test_chunks_that_are_left_out_or_out_of_order_are_missed(size: int) -> None:
    """The first and the 257th have numbers of the same last byte."""
    message = random.Random(size).randbytes(size)
    ours = b"".join(seal.encrypt(KEY, CONTEXT, [message]))
    whole = CHUNK + 16
    chunks = [ours[at : at + whole] for at in range(HEAD, len(ours), whole)]
    others = [chunks[:-1], chunks[1:], [*chunks, chunks[-1]], chunks[::-1]]
    if len(chunks) > 256:
        others.append([chunks[256], *chunks[1:256], chunks[0], *chunks[257:]])
    for other in others:
        for _message, error in (
            taken(seal.decrypt(KEY, CONTEXT, [ours[:HEAD], *other])),
            taken(open_chunks(KEY, CONTEXT.encode(), ours[:HEAD] + b"".join(other))),
        ):
            assert error is not None
