"""What a variant does to pixels: expected values by hand, in exact integers, or from the definition in numpy."""

import io
import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image
from tests.unit.images.pictures import chunks, noise

from lacre.images import strips
from lacre.images.variants import (
    equalizing_table,
    gamma_table,
    scaled_size,
    varied,
    write_picture,
)
from lacre.protocol.pools import Variant

Array = npt.NDArray[np.float64]


def row(*pixels: tuple[int, int, int]) -> Image.Image:
    return Image.fromarray(np.array([pixels], dtype=np.uint8))


def pixels(image: Image.Image) -> list[tuple[int, ...]]:
    return [tuple(map(int, pixel)) for pixel in np.asarray(image).reshape(-1, 3)]


def written(image: Image.Image, variant: Variant) -> bytes:
    file = io.BytesIO()
    write_picture(image, file, variant)
    return file.getvalue()


@pytest.mark.parametrize(
    ("size", "scale", "expected"),
    [
        ((5, 3), 0.5, (3, 2)),  # 2.5 and 1.5, half up
        ((5, 10), 0.3, (2, 3)),  # 1.5 and 3, though the double 0.3 is a little less
        ((1, 9), 0.1, (1, 1)),  # at least one pixel, and 0.9
        ((100, 50), Fraction(1, 3), (33, 17)),  # 33.3 and 16.7
        ((7, 2), 2.5, (18, 5)),  # 17.5, half up
        ((7, 2), None, (7, 2)),
    ],
)
def test_sides_are_rounded_half_up(
    size: tuple[int, int], scale: Fraction | float | None, expected: tuple[int, int]
) -> None:
    assert scaled_size(size, scale) == expected


def resampled(lines: Array, length: int) -> Array:
    """Resample along the first axis with Keys' cubic (1981, a = -0.5), widened where it shrinks; float64 throughout."""
    ratio = len(lines) / length
    width = max(ratio, 1.0)
    at = (np.arange(length)[:, None] + 0.5) * ratio - (np.arange(len(lines))[None, :] + 0.5)
    x = np.abs(at) / width
    near, far = 1.5 * x**3 - 2.5 * x**2 + 1, -0.5 * x**3 + 2.5 * x**2 - 4 * x + 2
    weights = np.where(x < 1, near, np.where(x < 2, far, 0.0))
    weights /= weights.sum(axis=1, keepdims=True)
    return np.tensordot(weights, lines, axes=1)


@pytest.mark.parametrize("scale", [0.5, 0.37, 1.7])
def test_scaling_is_the_cubic_that_is_named(scale: float) -> None:
    """Between 60 and 190, so that nothing is clipped; two passes, each rounded to 8 bits, are off by 1.5 at most."""
    given = (np.asarray(noise(41, 30)) * (130 / 255) + 60).astype(np.uint8)
    made = varied(Image.fromarray(given), Variant(scale=scale))
    wide = resampled(given.astype(float).transpose(1, 0, 2), made.width).transpose(1, 0, 2)
    assert np.abs(np.asarray(made) - resampled(wide, made.height)).max() <= 1.5


def test_gamma_is_a_power_of_the_level() -> None:
    """Half is the root of 255 v, two is v² / 255: both rounded half up in whole numbers."""
    assert gamma_table(0.5) == [(math.isqrt(4 * 255 * v) + 1) // 2 for v in range(256)]
    assert gamma_table(2) == [(2 * v * v + 255) // 510 for v in range(256)]
    assert gamma_table(1) == list(range(256))
    # 60 -> sqrt(15300) = 123.7; 15 -> 61.8; 240 -> 247.4: brighter, each channel on its own
    assert pixels(varied(row((60, 15, 240)), Variant(gamma=0.5))) == [(124, 62, 247)]


def test_equalizing_flattens_what_is_there() -> None:
    """Lumas 50, 50, 100, 200: F - f of n - f = 2 are 0, 0, 1, 2, so that 0, 0, 127.5 and 255 come out."""
    grey = row((50, 50, 50), (50, 50, 50), (100, 100, 100), (200, 200, 200))
    assert pixels(varied(grey, Variant(equalize=True))) == [(v, v, v) for v in (0, 0, 128, 255)]
    table = equalizing_table([0, 3, 0, 1, 4])
    assert (table[1], table[3], table[4]) == (0, 51, 255)  # 1/5 and 5/5 of 255


def test_equalizing_keeps_the_hue() -> None:
    """Independently, in floats, by JFIF's matrices: where nothing is clipped all channels move by as much."""
    given = np.asarray(noise(64, 48)).astype(float) * 0.25 + 96
    given = given.astype(np.uint8)
    luma = np.rint(given @ [0.299, 0.587, 0.114]).astype(int)
    counts = np.bincount(luma.ravel(), minlength=256).cumsum()
    least = counts[luma.min()]
    flat = (counts[luma] - least) / (counts[-1] - least) * 255
    expected = given + (flat - luma)[..., None]
    made = np.asarray(varied(Image.fromarray(given), Variant(equalize=True))).astype(float)
    inside = ((expected > 3) & (expected < 252)).all(axis=2)
    assert inside.mean() > 0.5
    # Pillow rounds Y, Cb and Cr to whole numbers, and a luma off by one moves by what stands between two levels.
    steps = np.bincount(luma.ravel(), minlength=256).max() / given[..., 0].size * 255
    assert np.abs(made - expected)[inside].max() <= 2.5 + steps


@pytest.mark.parametrize("colour", [(0, 0, 0), (255, 255, 255), (200, 30, 90)])
def test_a_picture_of_one_colour_has_nothing_to_equalize(colour: tuple[int, int, int]) -> None:
    flat = Image.new("RGB", (7, 5), colour)
    assert set(pixels(varied(flat, Variant(equalize=True)))) == {colour}


def test_greyscale_is_the_luma_of_bt_601() -> None:
    """0.299, 0.587 and 0.114 of 255 are 76.2, 149.7 and 29.1."""
    made = varied(row((255, 0, 0), (0, 255, 0), (0, 0, 255)), Variant(greyscale=True))
    assert pixels(made) == [(v, v, v) for v in (76, 150, 29)]


def test_the_order_is_scale_then_gamma_then_the_luminance() -> None:
    """Black beside white, halved, is 127.5; squared that is 63 or 64. The other way round it would be 127.5 again."""
    (pixel,) = pixels(varied(row((0, 0, 0), (255, 255, 255)), Variant(scale=0.5, gamma=2)))
    assert pixel[0] in (63, 64)
    # Gamma 2 makes 0, 10, 41 of 0, 51, 102, which equalised are 0, 127.5, 255; gamma of those would not be.
    three = row((0, 0, 0), (51, 51, 51), (102, 102, 102))
    assert pixels(varied(three, Variant(gamma=2, equalize=True))) == [(v, v, v) for v in (0, 128, 255)]


def test_without_a_change_it_is_the_picture() -> None:
    given = noise(9, 9)
    for variant in (Variant(), Variant(scale=1, equalize=False, greyscale=False), Variant(jpeg_quality=3)):
        assert varied(given, variant) is given


def test_strips_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    given, variant = noise(33, 50), Variant(equalize=True, greyscale=True)
    whole = varied(given, variant)
    monkeypatch.setattr(strips, "PIXELS", 100)  # three rows at a time
    assert pixels(varied(given, variant)) == pixels(whole)


def test_a_png_holds_pixels_and_nothing_else() -> None:
    given = noise(20, 10)
    file = written(given, Variant())
    assert set(chunks(file)) == {b"IHDR", b"IDAT", b"IEND"}
    assert pixels(Image.open(io.BytesIO(file))) == pixels(given)


def test_a_jpeg_has_the_quality_of_libjpeg_and_no_metadata() -> None:
    """The tables of T.81, K.1, begin 16 11 10 16 and 17 18 24 47; quality 30 takes 5000 // 30 = 166 % of them."""
    file = written(noise(40, 24), Variant(jpeg_quality=30))
    segments: dict[int, list[bytes]] = {}
    at = 2
    while file[at + 1] != 0xDA:
        length = int.from_bytes(file[at + 2 : at + 4], "big")
        segments.setdefault(file[at + 1], []).append(file[at + 4 : at + 2 + length])
        at += 2 + length
    tables = b"".join(segments[0xDB])
    # In zigzag order the second row's first value comes third: 16 11 12, 17 18 18.
    assert list(tables[1:4]) == [(v * 166 + 50) // 100 for v in (16, 11, 12)]
    assert list(tables[66:69]) == [(v * 166 + 50) // 100 for v in (17, 18, 18)]
    (frame,) = segments[0xC0]  # baseline
    assert [frame[7], frame[10], frame[13]] == [0x22, 0x11, 0x11]  # 4:2:0
    assert set(segments) == {0xE0, 0xDB, 0xC0, 0xC4}  # JFIF's own segment, and no APP1 or comment
    assert segments[0xE0][0].startswith(b"JFIF")
