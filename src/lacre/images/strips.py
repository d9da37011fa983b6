"""Large pictures, a few rows at a time: what a change needs beside them then stays small."""

from collections.abc import Callable, Iterator

from PIL import Image

PIXELS = 1 << 21
"""About as many pixels are worked on at once."""


def strips(image: Image.Image) -> Iterator[tuple[int, Image.Image]]:
    """Yield the row that each strip begins at, and the strip, from the top."""
    rows = max(1, PIXELS // max(1, image.width))
    for top in range(0, image.height, rows):
        yield top, image.crop((0, top, image.width, min(top + rows, image.height)))


def by_strips(image: Image.Image, change: Callable[[Image.Image], Image.Image]) -> Image.Image:
    """Return a new RGB picture: what `change`, which knows no neighbours, makes of each strip of `image`."""
    made = Image.new("RGB", image.size)
    for top, strip in strips(image):
        made.paste(change(strip), (0, top))
    return made
