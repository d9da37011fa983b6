"""C2SP tlog-tiles: paths and bytes against the words and numbers of the specification, and hashlib alone."""

import hashlib
from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from lacre.errors import TileInvalid
from lacre.ledger.envelope import MAX_ENTRY
from lacre.ledger.merkle import Frontier
from lacre.ledger.tiles import MAX_BUNDLE, Tile, bundles_of, index_path, pack, tiles_of, unpack


def mth(leaves: list[bytes]) -> bytes:
    """RFC 6962 section 2.1, word for word, with nothing but hashlib."""
    if not leaves:
        return hashlib.sha256().digest()
    if len(leaves) == 1:
        return hashlib.sha256(b"\x00" + leaves[0]).digest()
    split = 1
    while split * 2 < len(leaves):
        split *= 2
    return hashlib.sha256(b"\x01" + mth(leaves[:split]) + mth(leaves[split:])).digest()


@pytest.mark.parametrize(
    ("index", "path"),
    [
        (0, "000"),
        (7, "007"),
        (999, "999"),
        (1000, "x001/000"),
        (1234067, "x001/x234/067"),  # the specification's own example
        (10**9, "x001/x000/x000/000"),
    ],
)
def test_an_index_in_groups_of_three(index: int, path: str) -> None:
    assert index_path(index) == path
    assert Tile.parse(f"tile/0/{path}") == Tile(0, index)
    assert Tile.parse(f"tile/entries/{path}.p/3") == Tile(None, index, 3)


def test_a_tree_of_70000_is_the_tiles_of_the_specification() -> None:
    """273 full tiles at level 0, one of width 112; one full at level 1, one of width 17; one of width 1."""
    tiles = list(tiles_of(70_000))
    by_level = [[tile for tile in tiles if tile.level == level] for level in range(4)]
    assert [len(level) for level in by_level] == [274, 2, 1, 0]
    assert [level[-1].width for level in by_level[:3]] == [112, 17, 1]
    assert all(tile.full for level in by_level for tile in level[:-1])
    assert [tile.path for tile in by_level[1]] == ["tile/1/000", "tile/1/001.p/17"]
    assert by_level[2][0].path == "tile/2/000.p/1"


def test_a_tree_of_256_is_a_full_tile_and_a_partial_one() -> None:
    assert [tile.path for tile in tiles_of(256)] == ["tile/0/000", "tile/1/000.p/1"]
    assert [tile.path for tile in bundles_of(256)] == ["tile/entries/000"]
    assert list(tiles_of(0)) == list(bundles_of(0)) == []


@pytest.mark.parametrize(
    "path",
    [
        "tile/0/00",
        "tile/0/0000",
        "tile/0/x000/001",  # 1 is 001
        "tile/0/001/000",  # all but the last begin with x
        "tile/0/x001/x000",
        "tile/00/000",
        "tile/64/000",
        "tile/-1/000",
        "tile/0/000.p/0",
        "tile/0/000.p/256",
        "tile/0/000.p/01",
        "tile/0/000.p/",
        "tile/0/000.p/1/",
        "tile/0/000/",
        "/tile/0/000",
        "tile/data/000",
        "tile/0/" + "x999/" * 7 + "999",
        "tile/0/٠٠٠",
        "checkpoint",
        "",
    ],
)
def test_what_is_no_path_of_a_tile(path: str) -> None:
    with pytest.raises(TileInvalid):
        Tile.parse(path)


@given(
    st.builds(
        Tile,
        st.none() | st.integers(0, 63),
        st.integers(0, 2**62) | st.integers(0, 1001),
        st.integers(1, 256),
    )
)
def test_a_path_is_its_tile_s_alone(tile: Tile) -> None:
    assert Tile.parse(tile.path) == tile


@pytest.mark.parametrize(
    ("level", "index", "width"), [(64, 0, 1), (-1, 0, 1), (0, -1, 1), (0, 0, 0), (0, 0, 257)]
)
def test_tiles_that_cannot_be(level: int, index: int, width: int) -> None:
    with pytest.raises(TileInvalid):
        Tile(level, index, width)


@pytest.mark.parametrize("size", [1, 2, 255, 256, 257, 600])
def test_hashes_of_tiles_by_hashlib_alone(size: int) -> None:
    """MTH(D[(n 256 + i) 256^l : (n 256 + i + 1) 256^l]), as the specification defines a tile."""
    entries = [f"entry {number}".encode() for number in range(size)]
    leaves = [hashlib.sha256(b"\x00" + entry).digest() for entry in entries]
    frontier, nodes = Frontier(), {}
    for leaf in leaves:
        for level, position, node in frontier.append(leaf):
            nodes[level, position] = node
    tiles = list(tiles_of(size))
    for tile in tiles:
        assert tile.level is not None
        width = 256**tile.level
        expected = b"".join(
            mth(entries[place * width : (place + 1) * width]) for place in range(tile.start, tile.stop)
        )
        found = tile.hashes(lambda level, place: nodes[level, place] if level else leaves[place])
        assert found == expected
    assert sum(tile.width for tile in tiles if tile.level == 0) == size


def test_the_bytes_of_a_bundle_by_hand() -> None:
    assert pack([b"abc", b"", b"\xff"]) == b"\x00\x03abc\x00\x00\x00\x01\xff"
    assert pack([b"x" * 258]) == b"\x01\x02" + b"x" * 258
    assert list(unpack(b"\x00\x03abc\x00\x00\x00\x01\xff")) == [b"abc", b"", b"\xff"]
    assert pack([]) == b""


@given(st.lists(st.binary(max_size=40), max_size=256))
def test_bundles_come_apart_as_they_were_put_together(entries: list[bytes]) -> None:
    data = pack(entries)
    assert list(unpack(data)) == entries
    for cut in range(len(data)):
        try:
            assert pack(unpack(data[:cut])) == data[:cut]
        except TileInvalid:
            continue


def test_bundles_that_cannot_be() -> None:
    with pytest.raises(TileInvalid):
        pack([b"x" * (MAX_ENTRY + 1)])
    with pytest.raises(TileInvalid):
        unpack(b"\x00\x00" * 257)
    with pytest.raises(TileInvalid):
        unpack(b"\x00")
    with pytest.raises(TileInvalid):
        unpack(b"\x00\x02a")
    assert len(pack([b"x" * MAX_ENTRY] * 256)) == MAX_BUNDLE


def test_bundles_of_a_log_hold_each_entry_once() -> None:
    tiles = list(bundles_of(600))
    assert [(tile.start, tile.stop) for tile in tiles] == [(0, 256), (256, 512), (512, 600)]
    assert all(one.stop == two.start for one, two in pairwise(tiles))
