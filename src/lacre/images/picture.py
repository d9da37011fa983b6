"""One image file as a picture: upright, in eight-bit RGB; or the reason why there is none.

What is done to come there, in this order, each told as a note where it changed anything:

| in the file | in the picture | note |
|---|---|---|
| several frames or pages | the first | `first-frame` |
| grey of 16 bits | v to v / 257, rounded half up | `16-bit` |
| colour of 16 bits a channel | its upper 8 bits, as Pillow reads it | |
| a palette, grey, black and white, YCbCr | RGB | |
| CMYK | RGB as Pillow has it, without profiles | `cmyk` |
| something that can be seen through | laid on white | `alpha` |
| a colour profile | the numbers as they stand; the profile is not applied, as most detectors do not | `profile` |
| an orientation in EXIF or XMP | turned or mirrored by it | `oriented` |
| another format than the name's extension says | what it is | `is-png`, … |

Whole numbers of 32 bits, floating point and CIELAB have no one picture in eight bits, and give none.
"""

import io
from dataclasses import dataclass
from pathlib import PurePath

import numpy as np
from PIL import Image, UnidentifiedImageError

from lacre.images.limits import EXTENSIONS, FORMATS, MOST_PIXELS
from lacre.images.pillow import strict
from lacre.images.strips import by_strips, strips

_ORIENTATION = 0x0112
_TURNED = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
"""How a picture is made upright, by its orientation in EXIF (CIPA DC-008-2023, 4.6.5)."""


class Unusable(Exception):
    """A file that gives no picture; `code` says why."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True, slots=True)
class Picture:
    """An upright picture in RGB, and what was done to come there."""

    image: Image.Image
    notes: tuple[str, ...]


def picture_of(raw: bytes, name: str) -> Picture:
    """Decode the bytes of a file that is called `name`.

    Raises `Unusable`: `empty`, `not-an-image`, `broken`, `too-large`, `unsupported`.
    """
    if not raw:
        raise Unusable("empty")
    try:
        with strict():
            with Image.open(io.BytesIO(raw), formats=_formats()) as image:
                _require_small(image)
                if image.format == "PNG":
                    image.verify()  # what holds a checksum is held to it; the image cannot be read afterwards
            with Image.open(io.BytesIO(raw), formats=_formats()) as image:
                return _decoded(image, name)
    except Unusable:
        raise
    except UnidentifiedImageError as error:
        raise Unusable("not-an-image") from error
    except (MemoryError, Image.DecompressionBombError) as error:
        raise Unusable("too-large") from error
    except Exception as error:  # a decoder of strangers' bytes raises whatever it meets
        raise Unusable("broken") from error


def _formats() -> list[str]:
    Image.init()
    return [each for each in FORMATS if each in Image.OPEN]


def _require_small(image: Image.Image) -> None:
    if image.width * image.height > MOST_PIXELS:
        raise Unusable("too-large")


def _decoded(image: Image.Image, name: str) -> Picture:
    notes = []
    kind = "JPEG" if image.format == "MPO" else str(image.format)
    suffix = PurePath(name).suffix.lower()
    if suffix and suffix not in EXTENSIONS[kind]:
        notes.append(f"is-{kind.lower()}")
    profiled = "icc_profile" in image.info
    before = _orientation(image)
    image.load()
    # TIFF and AVIF are turned as they are loaded; what is left then, is left to do.
    after = _orientation(image)
    made = _rgb(image, kind, notes)
    if _frames(image) > 1:
        notes.append("first-frame")
    image.close()  # its pixels go before others are needed
    if profiled:
        notes.append("profile")
    if {before, after} != {1}:
        notes.append("oriented")
    if after in _TURNED:
        made = made.transpose(_TURNED[after])
    made.info = {}
    return Picture(made, tuple(notes))


def _orientation(image: Image.Image) -> int:
    """The orientation that the file has on record, 1 (upright) where there is none that can be read."""
    try:
        found = image.getexif().get(_ORIENTATION, 1)
    except Exception:  # noqa: BLE001 - EXIF that is damaged says nothing; the picture beside it may be sound
        return 1
    return found if isinstance(found, int) and found in _TURNED else 1


def _frames(image: Image.Image) -> int:
    """How many frames or pages there are; where the file ends too early for that, more than the one that was read."""
    try:
        return int(getattr(image, "n_frames", 1))
    except Exception:  # noqa: BLE001 - what is wrong beyond the first frame is of no concern
        return 2


def _rgb(image: Image.Image, kind: str, notes: list[str]) -> Image.Image:
    if image.mode.startswith("I;16") or (image.mode == "I" and kind in ("PNG", "PPM", "JPEG2000")):
        notes.append("16-bit")
        return by_strips(image, _eight_bits)
    if image.mode in ("I", "F", "LAB"):
        raise Unusable("unsupported")
    if image.has_transparency_data:
        if any(_see_through(strip) for _top, strip in strips(image)):
            notes.append("alpha")
        return by_strips(image, _on_white)
    if image.mode == "CMYK":
        notes.append("cmyk")
    if image.mode == "RGB":
        return image.copy()
    return by_strips(image, lambda strip: strip.convert("RGB"))


def _eight_bits(strip: Image.Image) -> Image.Image:
    values = np.asarray(strip).astype(np.uint32).clip(0, 65535)
    return Image.fromarray(((values + 128) // 257).astype(np.uint8)).convert("RGB")


def _see_through(strip: Image.Image) -> bool:
    least, _most = strip.convert("RGBA").getchannel("A").getextrema()
    return least != 255


def _on_white(strip: Image.Image) -> Image.Image:
    white = Image.new("RGBA", strip.size, (255, 255, 255, 255))
    return Image.alpha_composite(white, strip.convert("RGBA")).convert("RGB")
