"""C2SP tiled logs: where the hashes and entries of a tree lie as files (https://c2sp.org/tlog-tiles).

A tile holds up to 256 hashes of one level, a bundle up to 256 entries; one that is not full says its width in
its path. Level `l` of tiles is level `8 l` of the tree: each hash of a tile above 0 is the root of a full
tile below it.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from lacre.errors import TileInvalid
from lacre.ledger.encoding import MAX_NUMBER
from lacre.ledger.envelope import MAX_ENTRY
from lacre.ledger.merkle import HASH_SIZE
from lacre.text import _

HEIGHT = 8  # levels of the tree between two levels of tiles
WIDTH = 256  # hashes of a full tile, entries of a full bundle
MAX_LEVEL = 63
ENTRIES = "entries"
FOLDER = "tile"
LENGTH = 2  # bytes before each entry of a bundle
MAX_TILE = WIDTH * HASH_SIZE  # bytes
MAX_BUNDLE = WIDTH * (LENGTH + MAX_ENTRY)  # bytes

_PATH = re.compile(
    r"tile/(?P<level>0|[1-9][0-9]?|entries)/(?P<index>(?:x[0-9]{3}/){0,6}[0-9]{3})(?:\.p/(?P<width>[1-9][0-9]{0,2}))?"
)

Hash = Callable[[int, int], bytes]
"""Gives the hash at a level and a position of the tree, as `merkle.Subtree` does."""


@dataclass(frozen=True, slots=True)
class Tile:
    """One file of a tiled log: hashes at `level`, or entries where it is None; `width` of them, 1 to 256.

    Raises `TileInvalid` when built from numbers that no tile has.
    """

    level: int | None
    index: int
    width: int = WIDTH

    def __post_init__(self) -> None:
        level = 0 if self.level is None else self.level
        inside = 0 <= level <= MAX_LEVEL and 0 <= self.index <= MAX_NUMBER
        if not inside or not 1 <= self.width <= WIDTH:
            raise TileInvalid(why=_("its level, index or width is out of range"))

    @classmethod
    def parse(cls, path: str) -> "Tile":
        """Return the tile that `path` is the path of; `TileInvalid` when it is none's."""
        form = _PATH.fullmatch(path)
        if form is None:
            raise TileInvalid(why=_("{path} is no tile's path").format(path=path))
        level = None if form["level"] == ENTRIES else int(form["level"])
        index = int(form["index"].replace("/", "").replace("x", ""))
        tile = cls(level, index, int(form["width"] or WIDTH))
        if tile.path != path:
            raise TileInvalid(why=_("{path} is no tile's path").format(path=path))
        return tile

    @property
    def path(self) -> str:
        """Where it lies below the log's prefix, as `tile/0/x001/x234/067.p/8`."""
        level = ENTRIES if self.level is None else str(self.level)
        return f"{FOLDER}/{level}/{index_path(self.index)}" + ("" if self.full else f".p/{self.width}")

    @property
    def full(self) -> bool:
        """Whether it will never grow."""
        return self.width == WIDTH

    @property
    def start(self) -> int:
        """The position of its first hash on its level, or the index of its first entry."""
        return self.index * WIDTH

    @property
    def stop(self) -> int:
        """The position after its last."""
        return self.start + self.width

    def hashes(self, hash_at: Hash) -> bytes:
        """Return the bytes of a tile of hashes, taken from the tree."""
        level = HEIGHT * (self.level or 0)
        return b"".join(hash_at(level, position) for position in range(self.start, self.stop))


def index_path(index: int) -> str:
    """Return an index in groups of three digits, all but the last marked: 1234067 is `x001/x234/067`."""
    digits = str(index)
    digits = digits.zfill(-(-len(digits) // 3) * 3)
    groups = [digits[place : place + 3] for place in range(0, len(digits), 3)]
    return "/".join([*(f"x{group}" for group in groups[:-1]), groups[-1]])


def bundles_of(size: int) -> Iterator[Tile]:
    """Yield the bundles that hold the entries of a log of `size` entries, in order."""
    yield from _tiles(None, size)


def tiles_of(size: int) -> Iterator[Tile]:
    """Yield the tiles of hashes of a tree of `size` leaves, level by level."""
    level = 0
    while size:
        yield from _tiles(level, size)
        level, size = level + 1, size // WIDTH


def _tiles(level: int | None, size: int) -> Iterator[Tile]:
    for index in range(size // WIDTH):
        yield Tile(level, index)
    if size % WIDTH:
        yield Tile(level, size // WIDTH, size % WIDTH)


def pack(entries: Iterable[bytes]) -> bytes:
    """Return the bundle of `entries`, each after its length; an empty one stands for an entry left out.

    Raises `TileInvalid` for an entry longer than its length can say.
    """
    parts = []
    for entry in entries:
        if len(entry) > MAX_ENTRY:
            raise TileInvalid(why=_("an entry has more than {limit} bytes").format(limit=MAX_ENTRY))
        parts += [len(entry).to_bytes(LENGTH, "big"), entry]
    return b"".join(parts)


def unpack(data: bytes) -> Sequence[bytes]:
    """Return the entries of a bundle; `TileInvalid` when it is cut off or holds more than a bundle can."""
    entries: list[bytes] = []
    place = 0
    while place < len(data):
        start = place + LENGTH
        place = start + int.from_bytes(data[place:start], "big")
        if start > len(data) or place > len(data):
            raise TileInvalid(why=_("its last entry is cut off"))
        entries.append(data[start:place])
        if len(entries) > WIDTH:
            raise TileInvalid(why=_("it holds more than {width} entries").format(width=WIDTH))
    return entries
