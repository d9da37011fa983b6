"""Files as pictures: which way up, in eight bits, and what is none."""

import io
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageFile
from tests.unit.images.pictures import bare_png, encoded, noise

from lacre.images.limits import MOST_PIXELS
from lacre.images.picture import Unusable, picture_of

UPRIGHT: dict[int, Any] = {
    1: lambda a: a,
    2: lambda a: a[:, ::-1],
    3: lambda a: a[::-1, ::-1],
    4: lambda a: a[::-1],
    5: lambda a: a.transpose(1, 0, 2),
    6: lambda a: np.rot90(a, -1),
    7: lambda a: np.rot90(a, 2).transpose(1, 0, 2),
    8: np.rot90,
}
"""EXIF 4.6.5: in 6 the first row stored is the right side, so that it is turned by 90 degrees clockwise; and so on."""


def array(image: Image.Image) -> Any:
    return np.asarray(image)


def oriented(orientation: int) -> Image.Exif:
    exif = Image.Exif()
    exif[0x0112] = orientation
    return exif


@pytest.mark.parametrize("orientation", UPRIGHT)
@pytest.mark.parametrize("kind", ["PNG", "TIFF", "WEBP"])
def test_a_picture_is_turned_upright(kind: str, orientation: int) -> None:
    given = noise(7, 4)
    settings = {"lossless": True} if kind == "WEBP" else {}
    raw = encoded(given, kind, exif=oriented(orientation), **settings)
    picture = picture_of(raw, f"x.{kind.lower()}")
    assert np.array_equal(array(picture.image), UPRIGHT[orientation](array(given)))
    assert picture.notes == (() if orientation == 1 else ("oriented",))


def test_a_jpeg_is_turned_upright() -> None:
    raw = encoded(noise(16, 8), "JPEG", exif=oriented(6), quality=95)
    assert np.array_equal(
        array(picture_of(raw, "x.jpg").image), np.rot90(array(Image.open(io.BytesIO(raw))), -1)
    )


@pytest.mark.parametrize("exif", [b"Exif\0\0junk", b"Exif\0\0MM\0*\0\0\0\x08\xff\xff", b"\0"])
def test_exif_that_is_damaged_says_nothing(exif: bytes) -> None:
    given = noise(7, 4)
    picture = picture_of(encoded(given, "PNG", exif=exif), "x.png")
    assert np.array_equal(array(picture.image), array(given))


def test_sixteen_bits_become_eight_by_their_share() -> None:
    """v / 257: 128 is 0.498, 129 is 0.502, 32768 is 127.502."""
    values = np.array([[0, 128, 129, 257, 32768, 65407, 65535]], dtype=np.uint16)
    image = Image.fromarray(values)
    for kind, name in (("PNG", "x.png"), ("TIFF", "x.tif"), ("PPM", "x.pgm")):
        picture = picture_of(encoded(image, kind), name)
        assert array(picture.image)[0, :, 0].tolist() == [0, 0, 1, 1, 128, 255, 255], kind
        assert picture.notes == ("16-bit",)
        assert not picture.image.info


@pytest.mark.parametrize("mode", ["I", "F"])
def test_numbers_without_a_range_are_no_picture(mode: str) -> None:
    with pytest.raises(Unusable) as caught:
        picture_of(encoded(Image.new(mode, (3, 3)), "TIFF"), "x.tif")
    assert caught.value.code == "unsupported"


def test_what_can_be_seen_through_lies_on_white() -> None:
    """Red at 128 / 255: green and blue are 255 × 127 / 255; a palette's clear entry is white, and so is clear grey."""
    half = Image.new("RGBA", (2, 1), (255, 0, 0, 128))
    picture = picture_of(encoded(half, "PNG"), "x.png")
    assert array(picture.image)[0, 0].tolist() == [255, 127, 127]
    assert picture.notes == ("alpha",)
    clear = Image.new("P", (1, 1), 3)
    clear.putpalette([0, 0, 0, 90, 0, 0, 0, 90, 0, 0, 0, 90])
    assert array(picture_of(encoded(clear, "PNG", transparency=3), "x.png").image).tolist() == [[[255] * 3]]
    assert array(picture_of(encoded(clear, "GIF", transparency=3), "x.gif").image).tolist() == [[[255] * 3]]
    grey = Image.new("LA", (1, 1), (0, 0))
    assert array(picture_of(encoded(grey, "PNG"), "x.png").image).tolist() == [[[255] * 3]]
    assert picture_of(encoded(Image.new("RGBA", (1, 1), (9, 8, 7, 255)), "PNG"), "x.png").notes == ()


@pytest.mark.parametrize("mode", ["1", "L", "P", "YCbCr", "CMYK"])
def test_other_modes_become_rgb(mode: str) -> None:
    kind = {"YCbCr": "JPEG", "CMYK": "JPEG"}.get(mode, "PNG")
    picture = picture_of(encoded(Image.new("RGB", (8, 8), (255, 255, 255)).convert(mode), kind), "x")
    assert picture.image.mode == "RGB"
    assert array(picture.image).min() >= 254
    assert picture.notes == (("cmyk",) if mode == "CMYK" else ())


def test_of_several_frames_it_is_the_first() -> None:
    first, second = (Image.new("L", (4, 4), v) for v in (10, 200))
    for kind, name in (("GIF", "x.gif"), ("TIFF", "x.tif"), ("PNG", "x.png")):
        raw = encoded(first, kind, save_all=True, append_images=[second])
        picture = picture_of(raw, name)
        assert array(picture.image)[0, 0].tolist() == [10] * 3
        assert picture.notes == ("first-frame",)


def test_numbers_under_a_profile_stay_and_no_metadata_does() -> None:
    given = noise(5, 5)
    settings = {"icc_profile": b"a profile", "dpi": (300, 300)}
    picture = picture_of(encoded(given, "PNG", **settings), "x.png")
    assert np.array_equal(array(picture.image), array(given))
    assert picture.notes == ("profile",)
    assert picture.image.info == {}
    commented = picture_of(encoded(given, "JPEG", comment=b"at home", quality=90), "x.jpg")
    assert commented.image.info == {}


@pytest.mark.parametrize(
    ("kind", "name", "note"),
    [
        ("PNG", "x.jpg", "is-png"),
        ("JPEG", "x.png", "is-jpeg"),
        ("JPEG", "x.txt", "is-jpeg"),
        ("PNG", "x", None),
        ("JPEG", "X.JPEG", None),
        ("TIFF", "x.tif", None),
    ],
)
def test_the_content_says_which_format_it_is(kind: str, name: str, note: str | None) -> None:
    assert picture_of(encoded(noise(4, 4), kind), name).notes == ((note,) if note else ())


PNG = encoded(noise(60, 60), "PNG")
JPEG = encoded(noise(60, 60), "JPEG")


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b"", "empty"),
        (b"\0", "not-an-image"),
        (b"face_id,score\n1,0.5\n", "not-an-image"),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\nshowpage\n", "not-an-image"),
        (PNG[: len(PNG) // 2], "broken"),
        (JPEG[: len(JPEG) // 2], "broken"),
        (PNG[:500] + bytes(20) + PNG[520:], "broken"),
        (PNG[:-12], "broken"),
        (bare_png(MOST_PIXELS // 1000 + 1, 1000), "too-large"),
        (bare_png(2_000_000, 2_000_000), "too-large"),
    ],
    ids=lambda given: given if isinstance(given, str) else str(len(given)),
)
@pytest.mark.parametrize("lenient", [False, True])
def test_what_is_no_picture_is_said_to_be_none(
    raw: bytes, code: str, lenient: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever another library in the process told Pillow to put up with."""
    monkeypatch.setattr(ImageFile, "LOAD_TRUNCATED_IMAGES", lenient)
    with pytest.raises(Unusable) as caught:
        picture_of(raw, "x.png")
    assert caught.value.code == code
    assert lenient is ImageFile.LOAD_TRUNCATED_IMAGES


def test_a_hundred_megapixels_are_a_picture() -> None:
    """Beyond the size that Pillow warns of, and the warning would be an error here."""
    raw = encoded(Image.new("1", (10_000, 10_000), 1), "PNG")
    picture = picture_of(raw, "x.png")
    assert picture.image.size == (10_000, 10_000)
    assert picture.image.getpixel((9_999, 9_999)) == (255, 255, 255)


def test_all_that_was_cut_off_or_overwritten_is_a_picture_or_said_to_be_none() -> None:
    drawn = np.random.default_rng(5)
    for kind in ("PNG", "JPEG", "GIF", "TIFF", "WEBP", "BMP"):
        whole = encoded(noise(24, 24), kind)
        for _turn in range(60):
            raw = bytearray(whole[: drawn.integers(1, len(whole) + 1)])
            for at in drawn.integers(0, len(raw), 4):
                raw[at] = drawn.integers(0, 256)
            with suppress(Unusable):
                assert picture_of(bytes(raw), "x").image.mode == "RGB"
