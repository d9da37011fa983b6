"""The files of variants, and what happens to them when a run ends early, or begins again."""

import csv
import errno
import fcntl
import hashlib
import io
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from tests.unit.images.pictures import bare_png, encoded, noise

from lacre import durable
from lacre.errors import (
    AmplifyBusy,
    AmplifyIntoOther,
    AmplifyOtherwise,
    DiskFull,
    ImagesNone,
    ImagesUnusable,
    NotWritten,
)
from lacre.images import making
from lacre.images.making import Done, Job, make_variants
from lacre.protocol.pools import Variant

VARIANTS = {
    "half": Variant(scale=0.5),
    "jpeg": Variant(jpeg_quality=40),
    "original": Variant(),
}


def quiet(*_told: object) -> None:
    """Show no progress."""


def run(
    folder: Path, variants: Mapping[str, Variant] = VARIANTS, study: str = "faces", out: str = "out"
) -> Done:
    return make_variants(Job(study, "0" * 64, variants, folder / out), [folder / "in"], quiet)


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A folder with three images, one of them under two names that differ in their extensions."""
    (tmp_path / "in/sub").mkdir(parents=True)
    (tmp_path / "in/a.jpg").write_bytes(encoded(noise(21, 13, 1), "JPEG"))
    (tmp_path / "in/a.png").write_bytes(encoded(noise(20, 12, 2), "PNG"))
    (tmp_path / "in/sub/a.jpg").write_bytes(encoded(noise(9, 9, 3), "PNG"))
    return tmp_path


def content(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def rows(folder: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO((folder / "manifest.csv").read_text(encoding="utf-8"))))


def inodes(folder: Path) -> dict[str, int]:
    return {
        str(p.relative_to(folder)): p.stat().st_ino for p in folder.rglob("*") if p.suffix in {".png", ".jpg"}
    }


def test_the_manifest_names_every_file_with_its_digest(work: Path) -> None:
    done = run(work)
    out = work / "out"
    files = {name for name in content(out) if "/" in name}
    listed = rows(out)
    assert {row["file"] for row in listed} == files
    assert len(files) == 9
    for row in listed:
        assert row["sha256"] == hashlib.sha256((out / row["file"]).read_bytes()).hexdigest()
        assert row["source_sha256"] == hashlib.sha256((work / "in" / row["source"]).read_bytes()).hexdigest()
        with Image.open(out / row["file"]) as image:
            assert (str(image.width), str(image.height)) == (row["width"], row["height"])
            assert image.format == ("JPEG" if row["variant"] == "jpeg" else "PNG")
        assert row["made_with"].startswith("Pillow ")
        assert "jpeg" in row["made_with"]
    sizes = {(row["source"], row["variant"]): (row["width"], row["height"]) for row in listed}
    assert sizes["a.jpg", "half"] == ("11", "7")  # 10.5 and 6.5, half up
    notes = {row["source"]: row["notes"] for row in listed}
    assert notes == {"a.jpg": "", "a.png": "", "sub/a.jpg": "is-png"}
    assert {row["id"] for row in listed} == {"a.jpg", "a.png", "sub_a.jpg"}
    document = json.loads((out / "manifest.json").read_text())
    assert [made["file"] for made in document["made"]] == [row["file"] for row in listed]
    assert document["engine"] == done.engine
    assert document["variants"] == {"half": {"scale": 0.5}, "jpeg": {"jpeg_quality": 40}, "original": {}}
    assert document["protocol"] == f"sha256:{'0' * 64}"


def test_the_original_has_the_pixels_of_its_source(work: Path) -> None:
    run(work)
    for source, file in (("a.jpg", "a.jpg.png"), ("a.png", "a.png.png"), ("sub/a.jpg", "sub_a.jpg.png")):
        with Image.open(work / "in" / source) as given, Image.open(work / "out/original" / file) as made:
            assert given.tobytes() == made.tobytes()


def test_the_same_images_give_the_same_bytes(work: Path) -> None:
    run(work)
    run(work, out="again")
    assert content(work / "out") == content(work / "again")


class _Killed(BaseException):
    """What nothing within catches."""


@contextmanager
def cut_at(write: int) -> Iterator[None]:
    """End the run at one of its files, before it has its name."""
    calls = 0
    keep = durable.Staged.keep

    def count(self: durable.Staged, name: str, **settings: Any) -> bool:
        nonlocal calls
        calls += 1
        if calls == write:
            raise _Killed
        return keep(self, name, **settings)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(durable.Staged, "keep", count)
        with suppress(_Killed):
            yield
        assert calls == write, "it had come to its end before"


def test_a_run_that_was_cut_anywhere_is_gone_on_with(work: Path) -> None:
    """Of 12 writes, the journal's beginning first, and the two manifests last: nothing that was whole is made again."""
    run(work, out="whole")
    for write in range(1, 13):
        out = f"out{write}"
        with cut_at(write):
            run(work, out=out)
        left = work / out / ".lacre-unfinished-left"
        left.write_bytes(b"by a kill -9")
        before = inodes(work / out)
        assert len(before) == min(max(0, write - 2), 9)
        assert not (work / out / "manifest.csv").exists()
        done = run(work, out=out)
        assert done.kept == len(before)
        assert before.items() <= inodes(work / out).items()
        assert not left.exists()
        made = content(work / out)
        whole = content(work / "whole")
        assert {n: made[n] for n in made if n != "amplify.jsonl"} == {
            n: whole[n] for n in whole if n != "amplify.jsonl"
        }


def test_a_torn_line_of_the_journal_costs_its_file_alone(work: Path) -> None:
    run(work)
    path = work / "out/amplify.jsonl"
    path.write_bytes(path.read_bytes()[:-30])
    assert run(work).kept == 8
    assert run(work).kept == 9


def test_what_is_gone_or_changed_is_made_again_and_nothing_else(work: Path) -> None:
    run(work)
    before, whole = inodes(work / "out"), content(work / "out")
    (work / "out/half/a.png.png").unlink()
    (work / "out/jpeg/sub_a.jpg.jpg").write_bytes(b"tampered")
    done = run(work)
    after = inodes(work / "out")
    assert done.kept == 7
    assert {name for name in after if after[name] != before.get(name)} <= {
        "half/a.png.png",
        "jpeg/sub_a.jpg.jpg",
    }
    assert content(work / "out").keys() == whole.keys()
    for name in set(whole) - {"amplify.jsonl"}:
        assert content(work / "out")[name] == whole[name]


def test_a_source_that_changed_is_made_again_and_one_that_is_gone_is_told(work: Path) -> None:
    run(work)
    (work / "in/a.png").write_bytes(encoded(noise(20, 12, 9), "PNG"))
    (work / "in/sub/a.jpg").unlink()
    done = run(work)
    assert done.kept == 3
    assert {made.source for made in done.made} == {"a.jpg", "a.png"}
    assert done.left_over == tuple(
        sorted(f"{v}/sub_a.jpg.{'jpg' if v == 'jpeg' else 'png'}" for v in VARIANTS)
    )
    with Image.open(work / "out/original/a.png.png") as made:
        assert made.tobytes() == noise(20, 12, 9).tobytes()


def test_one_folder_holds_what_one_plan_and_one_engine_made(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(work)
    with pytest.raises(AmplifyOtherwise, match="other variants"):
        run(work, {**VARIANTS, "jpeg": Variant(jpeg_quality=41)})
    with pytest.raises(AmplifyOtherwise, match="another study, faces"):
        run(work, study="other")
    monkeypatch.setattr(making, "engine", lambda: {"Pillow": "9.0", "libjpeg": "6b"})
    with pytest.raises(AmplifyOtherwise, match=r"here is Pillow 9\.0, libjpeg 6b"):
        run(work)


def test_another_s_folder_is_left_alone(work: Path) -> None:
    (work / "out").mkdir()
    (work / "out/thesis.tex").write_text("mine")
    with pytest.raises(AmplifyIntoOther, match=r"thesis\.tex"):
        run(work)
    assert content(work / "out") == {"thesis.tex": b"mine"}
    (work / "out/amplify.jsonl").write_text("{}\n")
    with pytest.raises(AmplifyIntoOther, match=r"amplify\.jsonl"):
        run(work)
    (work / "file").write_text("mine")
    for out in ("file", "file/below"):
        with pytest.raises(NotWritten):
            run(work, out=out)


def test_two_at_once_are_one_too_many(work: Path) -> None:
    run(work)
    handle = os.open(work / "out", os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_SH)
    try:
        with pytest.raises(AmplifyBusy):
            run(work)
    finally:
        os.close(handle)
    assert run(work).kept == 9


def test_a_full_disk_is_told_and_gone_on_from(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flushed = 0
    fsync = os.fsync

    def full(handle: int) -> None:
        nonlocal flushed
        flushed += 1
        if flushed > 12:
            raise OSError(errno.ENOSPC, "No space left on device")
        fsync(handle)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(DiskFull):
            run(work)
    assert not [name for name in content(work / "out") if "unfinished" in name]
    assert 0 < run(work).kept < 9


def test_what_gives_no_picture_is_named_and_the_rest_is_made(work: Path) -> None:
    (work / "in/empty.jpg").write_bytes(b"")
    (work / "in/cut.png").write_bytes((work / "in/a.png").read_bytes()[:-40])
    (work / "in/huge.png").write_bytes(bare_png(100_000, 100_000))
    (work / "in/notes.txt").write_text("not a picture")
    (work / "in/.hidden.png").write_bytes(b"")
    (work / "in/link.png").symlink_to("a.png")
    done = run(work)
    assert len(done.made) == 9
    expected = {
        "empty.jpg": "empty",
        "cut.png": "broken",
        "huge.png": "too-large",
        "notes.txt": "not-an-image",
        ".hidden.png": "hidden",
        "link.png": "link",
    }
    assert {each.source: each.code for each in done.skipped} == expected
    left = [row for row in rows(work / "out") if row["skipped"]]
    assert {row["source"]: row["skipped"] for row in left} == expected
    assert all(row["file"] == row["variant"] == row["id"] == "" for row in left)
    empty = next(row for row in left if row["source"] == "empty.jpg")
    assert empty["source_sha256"] == hashlib.sha256(b"").hexdigest()


def test_a_variant_that_would_be_too_large_is_skipped_alone(work: Path) -> None:
    """a.png at 100 000 % is 20,000 × 12,000; and no JPEG has a side of 70,000, which a PNG may have."""
    (work / "in/long.png").write_bytes(encoded(Image.new("1", (70_000, 1)), "PNG"))
    done = run(work, {"grand": Variant(scale=100), "jpeg": Variant(jpeg_quality=40), "original": Variant()})
    assert {(each.source, each.variant, each.code) for each in done.skipped} == {
        ("long.png", "grand", "too-large"),
        ("long.png", "jpeg", "too-large"),
    }
    made = {(each.source, each.variant): (each.width, each.height) for each in done.made}
    assert made["long.png", "original"] == (70_000, 1)
    assert made["sub/a.jpg", "grand"] == (900, 900)


def test_where_nothing_can_be_made_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    with pytest.raises(ImagesNone):
        run(tmp_path)
    (tmp_path / "in/.hidden").write_bytes(b"")
    with pytest.raises(ImagesNone):
        run(tmp_path)
    assert not (tmp_path / "out").exists()
    for number in range(12):
        (tmp_path / f"in/{number:02}\n.jpg").write_bytes(b"a word" * (number == 1))
    with pytest.raises(ImagesUnusable) as caught:
        run(tmp_path)
    lines = caught.value.message.splitlines()
    assert lines[0] == "No variant could be made of any of 13 files:"
    assert lines[2] == "  00\\n.jpg: empty"
    assert lines[3] == "  01\\n.jpg: no image in a format that is read", "words, and no code"
    assert lines[-1] == "  …"
    assert not (tmp_path / "out").exists(), "what nothing came of leaves nothing"


def test_names_of_any_kind_are_safe_in_the_manifest(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    names = [
        b"=1+1.png",
        b"@x.png",
        b'two\nlines,"q".png',
        "写真 é.png".encode(),
        b"\xff.png",
        b"A.png",
        b"a.png",
    ]
    for place, name in enumerate(names):
        (tmp_path / "in" / os.fsdecode(name)).write_bytes(encoded(noise(4, 4, place), "PNG"))
    done = run(tmp_path, {"original": Variant()})
    listed = rows(tmp_path / "out")
    shown = {"'=1+1.png", "'@x.png", 'two\\nlines,"q".png', "写真 é.png", "\\xff.png", "A.png", "a.png"}
    assert {row["source"] for row in listed} == shown
    assert len({row["id"].casefold() for row in listed}) == len(names)
    for row in listed:
        assert (tmp_path / "out" / row["file"]).is_file()
        assert not row["id"].startswith(("=", "@", "+", "-"))
    assert {made.source for made in done.made} >= {'two\nlines,"q".png', "=1+1.png"}


def test_progress_is_told_to_the_end(work: Path) -> None:
    told: list[tuple[str, int, int | None]] = []
    make_variants(Job("faces", "", VARIANTS, work / "out"), [work / "in"], lambda *step: told.append(step))
    assert told == [("making variants", done, 3) for done in range(4)]
