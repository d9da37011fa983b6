"""Images, and the controlled variants of them that a protocol declares.

Read are JPEG, PNG, GIF, BMP, TIFF, WebP, PPM, and JPEG 2000 and AVIF where Pillow has them, known by their content
and never by their name, of up to `lacre.images.limits.MOST_PIXELS` pixels and `MOST_BYTES` bytes. `picture` turns a
file into an upright picture in eight-bit RGB; `variants` says what each declared change does to it, and in which
order; `making` writes the files, and goes on where an earlier run ended.
"""
