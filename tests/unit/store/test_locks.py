"""Locks that tell whether the process that took them still lives."""

import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from lacre.errors import InternalError, NotWritten
from lacre.store.locks import hold, try_lock

HOLDER = """
import sys, time
from pathlib import Path
from lacre.store.locks import try_lock
print(try_lock(Path(sys.argv[1]), "faces@7") is not None, flush=True)
time.sleep(60)
"""


def test_one_holder_at_a_time(tmp_path: Path) -> None:
    first = try_lock(tmp_path / "locks", "faces@7")
    assert first is not None
    assert try_lock(tmp_path / "locks", "faces@7") is None
    other = try_lock(tmp_path / "locks", "faces@8")
    assert other is not None
    other.release()
    first.release()
    first.release()
    again = try_lock(tmp_path / "locks", "faces@7")
    assert again is not None
    again.release()
    assert (tmp_path / "locks" / "faces@7").stat().st_mode & 0o777 == 0o600


def test_a_killed_process_holds_nothing(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"True\n"
        assert try_lock(tmp_path, "faces@7") is None
        holder.kill()
        holder.wait()
    lock = try_lock(tmp_path, "faces@7")
    assert lock is not None
    lock.release()


def test_holding_waits_for_the_other(tmp_path: Path) -> None:
    with hold(tmp_path / "lock"):
        assert try_lock(tmp_path, "lock") is None
    lock = try_lock(tmp_path, "lock")
    assert lock is not None
    lock.release()


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a\0", "é", "x" * 201])
def test_a_name_is_a_file_s(tmp_path: Path, name: str) -> None:
    with pytest.raises(InternalError):
        try_lock(tmp_path, name)


def test_a_folder_one_may_not_write_to(
    open_folder: Path, as_nobody: Callable[[], AbstractContextManager[None]]
) -> None:
    open_folder.chmod(0o555)
    with as_nobody(), pytest.raises(NotWritten):
        try_lock(open_folder, "faces@7")
    with as_nobody(), pytest.raises(NotWritten), hold(open_folder / "lock"):
        pass
