"""Pillow, which comes with the extra `images`: whether it is there, and which one it is."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from lacre.errors import ImagesUnavailable


def require_pillow() -> None:
    """Raise `ImagesUnavailable` where there is no Pillow."""
    try:
        import PIL.Image  # noqa: F401 - that it can be imported is all that is asked
    except ImportError as error:
        raise ImagesUnavailable from error


def engine() -> dict[str, str]:
    """Return the names and versions of all whose work the bytes of a variant depend on.

    The codecs of formats that are only read are Pillow's own choice, and so come with its version and build; JPEG
    and the compression of PNG are named, since they are written, too.
    """
    import PIL
    from PIL import features

    named = {"Pillow": PIL.__version__}
    turbo = features.check_feature("libjpeg_turbo")
    jpeg = features.version("libjpeg_turbo") if turbo else features.version("jpg")
    named["libjpeg-turbo" if turbo else "libjpeg"] = str(jpeg)
    fast = features.check_feature("zlib_ng")
    zlib = features.version("zlib_ng") if fast else features.version("zlib")
    named["zlib-ng" if fast else "zlib"] = str(zlib)
    return named


@contextmanager
def strict() -> Iterator[None]:
    """Have Pillow refuse files that end too early, whoever else in the process had it fill them up with grey.

    Its warnings of large images are not shown: how large one may be, is decided by name.
    """
    from PIL import ImageFile

    lenient = ImageFile.LOAD_TRUNCATED_IMAGES
    ImageFile.LOAD_TRUNCATED_IMAGES = False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        ImageFile.LOAD_TRUNCATED_IMAGES = lenient
