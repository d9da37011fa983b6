"""Pictures to make variants of, and files made by hand, without an encoder."""

import io
import struct
import zlib
from typing import Any

import numpy as np
from PIL import Image


def encoded(image: Image.Image, kind: str, **settings: Any) -> bytes:
    """Return an image as the bytes of a file."""
    file = io.BytesIO()
    image.save(file, kind, **settings)
    return file.getvalue()


def noise(width: int, height: int, seed: int = 1) -> Image.Image:
    """Return a picture of pixels drawn at random."""
    drawn = np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)
    return Image.fromarray(drawn)


def chunks(png: bytes) -> list[bytes]:
    """Return the types of a PNG's chunks, in order (ISO/IEC 15948, 5.3)."""
    types, at = [], 8
    while at < len(png):
        (length,) = struct.unpack(">I", png[at : at + 4])
        types.append(png[at + 4 : at + 8])
        at += 12 + length
    return types


def bare_png(width: int, height: int) -> bytes:
    """Return a PNG that says how large it is, and holds one row of it: black and white, no more than a few bytes."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        checked = kind + data
        return struct.pack(">I", len(data)) + checked + struct.pack(">I", zlib.crc32(checked))

    header = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    row = zlib.compress(bytes(1 + (width + 7) // 8))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", row) + chunk(b"IEND", b"")
