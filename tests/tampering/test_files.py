"""Every other file of a ledger's folder: the sealed blobs, which entries name; and what no history is made of."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lacre import api
from lacre.errors import LacreError
from lacre.rules.record import parse_entry
from lacre.store.blobs import blobs_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.tampering.life import Life
    from tests.tampering.place import Place
    from tests.tampering.tally import Tally

OPERATIONS = ("change", "drop", "swap", "repeat", "insert", "truncate", "link", "folder")


@pytest.fixture(autouse=True)
def _files_as_they_were(place: Place) -> Iterator[None]:
    yield
    place.restore_files()


def blobs(place: Place, life: Life) -> dict[Path, set[int | None]]:
    """The files of sealed blobs, each with the entries that name it."""
    named: dict[str, set[int | None]] = {}
    for index, data in enumerate(life.datas):
        for blob in blobs_of(parse_entry(index, data)):
            named.setdefault(f"{blob.study}/{blob.pool}/{blob.digest}.{blob.kind}", set()).add(index)
    found = {path for path in (place.root / "pools").rglob("*") if path.is_file()}
    made = {
        path: named.pop(path.relative_to(place.root / "pools").as_posix(), set()) for path in sorted(found)
    }
    assert not named, "every blob that an entry names is there"
    return made


def kinds_of_files(place: Place) -> set[str]:
    return {path.relative_to(place.root).parts[0] for path in place.root.rglob("*") if path.is_file()}


def test_no_file_is_left_out(place: Place, life: Life) -> None:
    """What lies in the folder is gone through here, but for the database, which is apart."""
    assert kinds_of_files(place) == {".gitignore", "keys", "ledger.db", "locks", "pools"}
    assert {path.suffix for path in blobs(place, life)} == {
        ".pool",
        ".key",
        ".prints",
        ".submission",
        ".submission-key",
    }


def written(operation: str, data: bytes, other: bytes) -> bytes | None:
    """What a file holds afterwards, None where it is gone."""
    half = len(data) // 2
    return {
        "change": data[:half] + bytes([data[half] ^ 1]) + data[half + 1 :] if data else b"x",
        "swap": other,
        "repeat": other,
        "insert": data[:half] + b"x" + data[half:],
        "truncate": data[:half],
    }.get(operation)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_sealed_blob(place: Place, life: Life, tally: Tally, operation: str) -> None:
    every = blobs(place, life)
    paths = list(every)
    for number, path in enumerate(paths):
        other = paths[(number + 1) % len(paths)]
        data, others = path.read_bytes(), other.read_bytes()
        path.unlink()
        made = written(operation, data, others)
        if made is not None:
            path.write_bytes(made)
        elif operation == "link":
            path.symlink_to(other)
        elif operation == "folder":
            path.mkdir()
        if operation == "swap":
            other.write_bytes(data)
        assert every[path], "an entry names each"
        tally.judge(f"{path.name} {operation}", place.audit, entries=every[path])
        if path.is_dir():
            path.rmdir()
        path.unlink(missing_ok=True)
        path.write_bytes(data)
        other.write_bytes(others)
    assert place.audit().ok


def test_folders_of_pools_dropped_renamed_and_swapped(place: Place, life: Life, tally: Tally) -> None:
    folders = sorted({path.parent for path in blobs(place, life)})
    for number, folder in enumerate(folders):
        beside, other = folder.with_name("elsewhere"), folders[(number + 1) % len(folders)]
        folder.rename(beside)
        tally.judge(f"{folder} renamed", place.audit, codes={"blob-missing"})
        other.rename(folder)
        tally.judge(f"{folder} is {other}", place.audit, codes={"blob-missing"})
        folder.rename(other)
        beside.rename(folder)
    shutil.rmtree(place.root / "pools")
    tally.judge("all of them", place.audit, codes={"blob-missing"})


def test_files_beside_the_sealed_blobs_are_no_history(place: Place, life: Life, tally: Tally) -> None:
    """A blob is written before the entry that names it: one that no entry names is what a crash leaves, and
    whoever adds one has changed nothing that anybody said."""
    before = place.audit()
    for path in blobs(place, life):
        shutil.copyfile(path, path.with_name(f"{'0' * 64}{path.suffix}"))
    (place.root / "pools" / "more").mkdir()
    tally.unchanged("blobs again, under other names", place.audit(), before)


@pytest.mark.parametrize("operation", ["change", "drop", "swap", "repeat", "truncate"])
def test_keys_and_settings_are_no_history(place: Place, life: Life, tally: Tally, operation: str) -> None:
    """No entry names these files, and an auditor has none of them: nothing that was said is signed by a file of
    today. The entries, their tree and what they name keep every byte, so the audit must say the very same. What a
    key's file holds matters to the next signature: with another than the enrolled one, nothing is written."""
    before = place.audit()
    free = [path for path in sorted(place.root.rglob("*")) if path.is_file()]
    free = [path for path in free if path.name != "ledger.db" and "pools" not in path.parts]
    keys = [path for path in free if path.parent.name == "keys"]
    assert len(keys) >= 8
    for number, path in enumerate(free):
        following = keys[(keys.index(path) + 1) % len(keys)] if path in keys else keys[0]
        data = path.read_bytes()
        made = written(operation, data, following.read_bytes())
        path.unlink()
        if made is not None:
            path.write_bytes(made)
        if operation == "swap":
            following.write_bytes(data)
        report = place.audit()
        assert report.checkpoint == before.checkpoint
        assert report.history == before.history
        tally.unchanged(f"{number} {path.name}", report, before)
        place.restore_files()


@pytest.mark.parametrize("part", ["broker", "log"])
def test_with_another_key_s_file_nothing_is_written(place: Place, tmp_path: Path, part: str) -> None:
    """The files of the keys that act, overwritten with a stranger's: the next verb is refused, and nothing enters."""
    other = tmp_path / "other.pem"
    api.new_key(other)
    for path in (place.root / "keys").glob(f"{part}*.pem"):
        path.write_bytes(other.read_bytes())
    with api.open(place.folder, state=tmp_path / "state") as ledger:
        size = ledger.status().size
        with pytest.raises(LacreError):
            ledger.deviate("alpha", "signed by somebody else")
        assert ledger.status().size == size
    assert place.audit().ok
