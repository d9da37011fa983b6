"""Durable files: whole or absent, whatever fails, and flushed in the order that survives a power cut."""

import errno
import hashlib
import multiprocessing
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from lacre import durable
from lacre.errors import DiskFull, FileMissing, NotEnoughSpace, NotReadable, NotWritten

pytestmark = pytest.mark.usefixtures("power")


def _fails(number: int) -> Callable[..., None]:
    def fail(*_args: object, **_named: object) -> None:
        raise OSError(number, os.strerror(number))

    return fail


def _names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def test_a_file_is_written_whole_and_private(tmp_path: Path) -> None:
    path = tmp_path / "blob"
    digest = durable.write_durably(path, [b"one", b"", b"two"])
    assert path.read_bytes() == b"onetwo"
    assert digest == hashlib.sha256(b"onetwo").hexdigest()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert _names(tmp_path) == ["blob"]


def test_a_mode_can_be_asked_for(tmp_path: Path) -> None:
    durable.write_durably(tmp_path / "page", b"x", mode=0o644)
    assert stat.S_IMODE((tmp_path / "page").stat().st_mode) == 0o644


def test_content_is_flushed_then_named_then_the_name_flushed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    fsync, replace = os.fsync, Path.replace

    def recorded_fsync(handle: int) -> None:
        done.append("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file")
        fsync(handle)

    def recorded_replace(self: Path, target: Path) -> Path:
        done.append("rename")
        return replace(self, target)

    monkeypatch.setattr(os, "fsync", recorded_fsync)
    monkeypatch.setattr(Path, "replace", recorded_replace)
    durable.write_durably(tmp_path / "blob", b"x")
    assert done == ["file", "rename", "folder"]


@pytest.mark.parametrize(
    ("number", "refusal"), [(errno.ENOSPC, DiskFull), (errno.EDQUOT, DiskFull), (errno.EIO, NotWritten)]
)
@pytest.mark.parametrize("where", ["fsync", "fchmod", "replace"])
def test_a_failed_write_leaves_what_stood_before_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, refusal: type[Exception], where: str
) -> None:
    path = tmp_path / "blob"
    path.write_bytes(b"before")
    monkeypatch.setattr(Path if where == "replace" else os, where, _fails(number))
    with pytest.raises(refusal, match="blob"):
        durable.write_durably(path, b"after")
    monkeypatch.undo()
    assert _names(tmp_path) == ["blob"]
    assert path.read_bytes() == b"before"


def test_a_disk_that_fills_up_in_the_middle_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = os.fdopen

    class Full:
        """A file on a disk with room for one write."""

        def __init__(self, handle: int, mode: str) -> None:
            self._file = opened(handle, mode)
            self._room = 1

        def close(self) -> None:
            self._file.close()

        def fileno(self) -> int:
            return self._file.fileno()

        def write(self, data: bytes) -> None:
            if not self._room:
                raise OSError(errno.ENOSPC, "No space left on device")
            self._room -= 1
            self._file.write(data)

    monkeypatch.setattr(os, "fdopen", Full)
    with pytest.raises(DiskFull) as refused:
        durable.write_durably(tmp_path / "blob", [b"a" * 100, b"b" * 100])
    assert _names(tmp_path) == []
    assert "was not written" in refused.value.message
    assert "Nothing was lost" in refused.value.way_out


def test_what_fails_while_tidying_up_says_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that was written was written; and what went wrong before is told, not what came of it."""
    monkeypatch.setattr(Path, "unlink", _fails(errno.EIO))
    assert durable.create_durably(tmp_path / "blob", b"content")
    monkeypatch.setattr(os, "fsync", _fails(errno.ENOSPC))
    with pytest.raises(DiskFull):
        durable.create_durably(tmp_path / "other", b"content")
    assert (tmp_path / "blob").read_bytes() == b"content"
    assert not (tmp_path / "other").exists()


def test_a_folder_that_cannot_be_flushed_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rename cannot be undone: the caller learns that it may not last, and nothing else is left over."""
    monkeypatch.setattr(durable, "sync_folder", _fails(errno.EIO))
    with pytest.raises(NotWritten):
        durable.write_durably(tmp_path / "blob", b"after")
    assert _names(tmp_path) == ["blob"]


def test_a_file_system_that_cannot_flush_folders_is_used_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", _fails(errno.EINVAL))
    durable.sync_folder(tmp_path)
    monkeypatch.setattr(os, "fsync", _fails(errno.EIO))
    with pytest.raises(OSError, match="Input/output"):
        durable.sync_folder(tmp_path)


def test_what_the_source_raises_passes_through(tmp_path: Path) -> None:
    def source() -> Iterator[bytes]:
        yield b"half"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        durable.write_durably(tmp_path / "blob", source())
    assert _names(tmp_path) == []


def _die_half_way(path: Path) -> None:
    def source() -> Iterator[bytes]:
        yield b"half" * 100_000
        os._exit(9)

    durable.write_durably(path, source())


def test_a_killed_process_leaves_no_part_under_the_name(tmp_path: Path) -> None:
    process = multiprocessing.get_context("spawn").Process(target=_die_half_way, args=(tmp_path / "blob",))
    process.start()
    process.join(60)
    assert process.exitcode == 9
    assert [name.startswith(durable.TEMPORARY) for name in _names(tmp_path)] == [True]


def test_a_missing_folder_is_a_refusal(tmp_path: Path) -> None:
    with pytest.raises(NotWritten, match="No such file"):
        durable.write_durably(tmp_path / "nowhere" / "blob", b"x")


def test_creating_leaves_what_is_there(tmp_path: Path) -> None:
    path = tmp_path / "key"
    assert durable.create_durably(path, b"first")
    assert not durable.create_durably(path, b"second")
    assert path.read_bytes() == b"first"
    assert _names(tmp_path) == ["key"]


def test_of_many_who_create_one_does(tmp_path: Path) -> None:
    path = tmp_path / "key"
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda n: durable.create_durably(path, b"%d" % n * 1000), range(24)))
    assert sum(made) == 1
    assert path.read_bytes() == b"%d" % made.index(True) * 1000
    assert _names(tmp_path) == ["key"]


@pytest.mark.parametrize("number", [errno.EPERM, errno.EOPNOTSUPP])
def test_creating_works_without_hard_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    monkeypatch.setattr(Path, "hardlink_to", _fails(number))
    assert durable.create_durably(tmp_path / "key", b"first")
    assert not durable.create_durably(tmp_path / "key", b"second")
    assert (tmp_path / "key").read_bytes() == b"first"
    assert _names(tmp_path) == ["key"]


def test_creating_refuses_a_failing_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "hardlink_to", _fails(errno.EIO))
    with pytest.raises(NotWritten):
        durable.create_durably(tmp_path / "key", b"first")
    assert _names(tmp_path) == []


def test_folders_are_private_and_those_above_stay(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    made = durable.make_folder(tmp_path / "a" / "b")
    assert stat.S_IMODE(made.stat().st_mode) == 0o700
    assert stat.S_IMODE(made.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755
    assert durable.make_folder(made) == made


def test_a_folder_below_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(NotWritten):
        durable.make_folder(tmp_path / "file" / "folder")


def test_space_is_asked_for_where_the_folder_will_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = type(shutil.disk_usage(tmp_path))
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: usage(100, 90, 10))
    durable.require_space(tmp_path / "not" / "yet", 10)
    with pytest.raises(NotEnoughSpace) as refused:
        durable.require_space(tmp_path / "not" / "yet", 11)
    assert refused.value.fields["needed"] == 11
    assert refused.value.fields["free"] == 10
    monkeypatch.setattr(shutil, "disk_usage", _fails(errno.EIO))
    with pytest.raises(NotReadable):
        durable.require_space(tmp_path, 1)


def test_reading_hashes(tmp_path: Path) -> None:
    path = tmp_path / "blob"
    path.write_bytes(b"x" * 2_500_000)
    assert durable.read_hashed(path) == (b"x" * 2_500_000, hashlib.sha256(b"x" * 2_500_000).hexdigest())
    assert durable.sha256_of(path) == hashlib.sha256(b"x" * 2_500_000).hexdigest()
    assert [len(chunk) for chunk in durable.read_chunks(path)] == [1 << 20, 1 << 20, 2_500_000 - (2 << 20)]


def test_what_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileMissing):
        durable.read_hashed(tmp_path / "nowhere")
    with pytest.raises(NotReadable):
        durable.sha256_of(tmp_path)
    assert durable.list_folder(tmp_path / "nowhere") == []
    (tmp_path / "b").write_bytes(b"")
    (tmp_path / "a").write_bytes(b"")
    assert [path.name for path in durable.list_folder(tmp_path)] == ["a", "b"]
    with pytest.raises(NotReadable):
        durable.list_folder(tmp_path / "a")
