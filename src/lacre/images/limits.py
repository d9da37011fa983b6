"""How large an image may be, and what of it; known without Pillow, for the words of the help."""

MOST_PIXELS = 128_000_000
"""Pixels of an image, and of a variant of it: as two pictures of 4 bytes a pixel stand in memory at once, 1 GB."""

MOST_BYTES = 1 << 29
"""Bytes of a file: it is held in memory, so that what is hashed is what is decoded."""

MOST_JPEG = 65_500
"""Pixels of a side of a JPEG, as libjpeg writes it."""

FORMATS = ("JPEG", "PNG", "GIF", "BMP", "TIFF", "WEBP", "PPM", "JPEG2000", "AVIF")
"""What is read, by Pillow's names. EPS and the like are left out: reading one runs a program."""

EXTENSIONS = {
    "JPEG": (".jpg", ".jpeg", ".jpe", ".jfif", ".mpo"),
    "PNG": (".png", ".apng"),
    "GIF": (".gif",),
    "BMP": (".bmp", ".dib"),
    "TIFF": (".tif", ".tiff"),
    "WEBP": (".webp",),
    "PPM": (".ppm", ".pgm", ".pbm", ".pnm", ".pfm"),
    "JPEG2000": (".jp2", ".j2k", ".jpf", ".jpx", ".j2c", ".jpc"),
    "AVIF": (".avif", ".avifs"),
}
