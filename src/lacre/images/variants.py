"""What a declared variant does to a picture, which is in eight-bit RGB, upright, and stays so.

The changes of one variant are made in this order, whatever the order in the protocol:

1. `scale` s: both sides times s, rounded half up, at least 1 pixel; s is taken as it is written in decimals.
   Resampled with Pillow's bicubic filter (Keys 1981, a = -0.5), widened by 1/s where s < 1, so that nothing aliases.
2. `gamma` g: each channel v to 255 (v / 255)^g, rounded half up: below 1 brightens, above 1 darkens.
3. `equalize`: the histogram of luma Y (ITU-R BT.601, full range, as JFIF has it) is made flat, Y to
   255 (F(Y) - f) / (n - f), rounded half up, with F(Y) the pixels of at most that luma, f those of the least luma
   there is, n all (Gonzalez & Woods 2018, 3.3); Cb and Cr stay, and so the hue, but where RGB ends. A picture of one
   luma stays as it is.
4. `greyscale`: R, G and B are all the luma 0.299 R + 0.587 G + 0.114 B, rounded as Pillow does.
5. `jpeg_quality` q: written as a baseline JPEG of that quality in libjpeg's terms, with its standard Huffman tables,
   chroma subsampled 4:2:0. Every other variant, the unchanged one included, is written as PNG, which loses nothing:
   what reads one of them reads them all alike, and only the declared change tells them apart.

Neither kind of file holds anything but the pixels: no EXIF, place, thumbnail, comment or colour profile.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import BinaryIO, Protocol, cast

from PIL import Image

from lacre.images.strips import by_strips, strips
from lacre.protocol.grammar import as_float
from lacre.protocol.pools import Variant

LEVELS = 256


def scaled_size(size: tuple[int, int], scale: Fraction | float | None) -> tuple[int, int]:
    """Return (width, height) times `scale`, each rounded half up and at least 1."""
    if scale is None:
        return size
    # A float is taken for the decimals it was written in: 0.3 of 5 is 1.5, and not a little less.
    exact = scale if isinstance(scale, Fraction) else Fraction(repr(scale))
    width, height = (max(1, int(side * exact + Fraction(1, 2))) for side in size)
    return width, height


def gamma_table(gamma: float) -> list[int]:
    """Return 255 (v / 255)^gamma, rounded half up, for v from 0 to 255."""
    return [int(255 * (value / 255) ** gamma + 0.5) for value in range(LEVELS)]


def equalizing_table(histogram: Sequence[int]) -> list[int]:
    """Return where each level goes so that the histogram becomes flat; all stay where only one is there."""
    total = sum(histogram)
    least = next((count for count in histogram if count), 0)
    if total == least:
        return list(range(LEVELS))
    span, below, table = total - least, 0, []
    for count in histogram:
        below += count
        table.append((510 * max(0, below - least) + span) // (2 * span))
    return table


def varied(picture: Image.Image, variant: Variant) -> Image.Image:
    """Return `picture` with the changes of `variant`; the same object where there are none."""
    made = picture
    size = scaled_size(picture.size, variant.scale)
    if size != picture.size:
        made = made.resize(size, Image.Resampling.BICUBIC)
    if variant.gamma is not None:
        made = made.point(gamma_table(as_float(variant.gamma)) * 3)
    if variant.equalize:
        made = _equalized(made)
    if variant.greyscale:
        made = by_strips(made, lambda strip: strip.convert("L").convert("RGB"))
    return made


def _equalized(picture: Image.Image) -> Image.Image:
    histogram = [0] * LEVELS
    for _top, strip in strips(picture):
        luma = strip.convert("YCbCr").getchannel(0).histogram()
        histogram = [before + more for before, more in zip(histogram, luma, strict=True)]
    table = equalizing_table(histogram)
    if table == list(range(LEVELS)):  # through YCbCr and back alone would change some colours by one
        return picture

    def change(strip: Image.Image) -> Image.Image:
        luma, blue, red = strip.convert("YCbCr").split()
        return Image.merge("YCbCr", (luma.point(table), blue, red)).convert("RGB")

    return by_strips(picture, change)


def extension(variant: Variant) -> str:
    """Return what the name of a variant's file ends with."""
    return ".png" if variant.jpeg_quality is None else ".jpg"


class Written(Protocol):
    """What bytes are written to, one after the other; nothing else is asked of it."""

    def write(self, data: bytes, /) -> object:
        """Append `data`."""


class _Sink:
    """What an encoder of Pillow writes to: it asks for other things of a file, and does without them."""

    def __init__(self, file: Written) -> None:
        self.write = file.write


def write_picture(picture: Image.Image, file: Written, variant: Variant) -> None:
    """Write a picture, which holds nothing but its pixels, to `file` as its variant is written."""
    sink = cast("BinaryIO", _Sink(file))
    if variant.jpeg_quality is None:
        picture.save(sink, "PNG", compress_level=6)
    else:
        picture.save(sink, "JPEG", quality=variant.jpeg_quality, subsampling="4:2:0")
