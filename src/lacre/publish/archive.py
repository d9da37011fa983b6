"""The container of a bundle: a zip that has one form for the files in it, so that no byte of it is free.

Files stand in the order of their paths, stored and not compressed (what a compressor writes differs between
versions, and what it expands to has no bound), of 1 January 1980, without extra fields or comments. Paths are
of letters, digits and `@ . _ -`, and lead nowhere else. Reading takes the files out one after the other and
makes the container again: it must be the same.

The format is PKWARE's APPNOTE 6.3.10, sections 4.3.7, 4.3.12 and 4.3.16.
"""

import re
import struct
import zlib
from collections.abc import Mapping

from lacre.errors import ArchiveInvalid
from lacre.text import _

MOST = 1 << 29  # bytes of a bundle
MOST_FILES = 65_535 - 1  # more need another form of zip

_PATH = re.compile(r"[A-Za-z0-9][A-Za-z0-9@._-]*(?:/[A-Za-z0-9][A-Za-z0-9@._-]*)*")
_LOCAL = struct.Struct("<4s5H3I2H")
_CENTRAL = struct.Struct("<4s6H3I5H2I")
_END = struct.Struct("<4s4H2IH")
_VERSION, _UNIX = 20, 3
_MIDNIGHT, _DAY = 0, 1 << 5 | 1
_MODE = 0o100644 << 16


def pack(files: Mapping[str, bytes]) -> bytes:
    """Return the container of `files` by path; `ArchiveInvalid` for what does not fit into one."""
    if len(files) > MOST_FILES:
        raise ArchiveInvalid(why=_("it holds more than {most} files").format(most=MOST_FILES))
    parts, entries, place = [], [], 0
    for path in sorted(files):
        if not _PATH.fullmatch(path):
            raise ArchiveInvalid(why=_("{path} is no path of a bundle").format(path=path))
        name, data = path.encode(), files[path]
        shared = (_VERSION, 0, 0, _MIDNIGHT, _DAY, zlib.crc32(data), len(data), len(data), len(name), 0)
        parts += [_LOCAL.pack(b"PK\x03\x04", *shared), name, data]
        central = (_VERSION | _UNIX << 8, *shared, 0, 0, 0, _MODE, place)
        entries += [_CENTRAL.pack(b"PK\x01\x02", *central), name]
        place += _LOCAL.size + len(name) + len(data)
        if place > MOST:
            raise ArchiveInvalid(why=_("it has more than {most} bytes").format(most=MOST))
    size = sum(map(len, entries))
    end = _END.pack(b"PK\x05\x06", 0, 0, len(files), len(files), size, place, 0)
    return b"".join([*parts, *entries, end])


def unpack(data: bytes) -> dict[str, bytes]:
    """Return the files of a container by path. Raises `ArchiveInvalid` for any but the one that `pack` makes."""
    files: dict[str, bytes] = {}
    place = 0
    while data[place : place + 4] == b"PK\x03\x04":
        if place + _LOCAL.size > len(data):
            raise ArchiveInvalid(why=_("it is cut off"))
        _mark, _version, flags, method, *_rest, size, name_size, extra = _LOCAL.unpack_from(data, place)
        if flags or method:
            raise ArchiveInvalid(why=_("a file in it is encrypted, streamed or compressed"))
        start = place + _LOCAL.size
        name = data[start : start + name_size]
        content = start + name_size + extra
        place = content + size
        if place > len(data):
            raise ArchiveInvalid(why=_("it is cut off"))
        path = name.decode("ascii", "replace")
        if not _PATH.fullmatch(path):
            raise ArchiveInvalid(why=_("{path} is no path of a bundle").format(path=path))
        if path in files:
            raise ArchiveInvalid(why=_("it holds {path} twice").format(path=path))
        files[path] = data[content:place]
    if not files:
        raise ArchiveInvalid(why=_("it is no zip, or an empty one"))
    if pack(files) != data:
        raise ArchiveInvalid(why=_("its bytes are not those that its files give"))
    return files
