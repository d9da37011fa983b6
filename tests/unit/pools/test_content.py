"""Raw files, in memory and on disk: the same bytes each time they are asked for, or a refusal."""

import hashlib
import os
from pathlib import Path

import pytest

from lacre.errors import FileMissing, NotReadable
from lacre.pools.content import Held, OnDisk

DATA = bytes(range(256)) * 9000


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "cases.csv"
    path.write_bytes(DATA)
    return path


def test_a_file_is_the_same_in_memory_and_on_disk(path: Path) -> None:
    for content in (Held(DATA), OnDisk.at(path)):
        assert content.size == len(DATA)
        assert content.sha256 == hashlib.sha256(DATA).hexdigest()
        for _again in range(2):
            assert b"".join(content.chunks()) == content.read() == DATA


@pytest.mark.parametrize("changed", [DATA + b"x", DATA[:-1], b"", b"x" + DATA[1:]])
def test_a_file_that_was_changed_meanwhile_is_refused(path: Path, changed: bytes) -> None:
    content = OnDisk.at(path)
    path.write_bytes(changed)
    with pytest.raises(NotReadable, match="was changed while it was being read"):
        content.read()
    path.unlink()
    with pytest.raises(FileMissing):
        content.read()


def test_what_may_never_end_is_not_begun(tmp_path: Path) -> None:
    fifo = tmp_path / "pipe.csv"
    os.mkfifo(fifo)
    for each in (fifo, tmp_path, Path("/dev/zero")):
        with pytest.raises(NotReadable, match="no regular file"):
            OnDisk.at(each)
    with pytest.raises(FileMissing):
        OnDisk.at(tmp_path / "none.csv")


def test_it_shows_no_cell() -> None:
    assert "CANARY" not in repr(Held(b"CANARY"))
