"""`lacre amplify`: variants of images as a study declares them, made by a command that may be killed."""

import csv
import hashlib
import io
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from tests.studies import plan

VARIANTS = """variants:
  original: {}
  escala-0.5: {scale: 0.5}
  gama-0.5: {gamma: 0.5}
  jpeg-30: {jpeg_quality: 30}
  equalizada: {equalize: true}
  cinza: {greyscale: true}
"""
Shell = Any


def picture(width: int, height: int, seed: int) -> Image.Image:
    drawn = np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)
    return Image.fromarray(drawn)


@pytest.fixture
def study(shell: Shell) -> Shell:
    """A registered study with variants, and a folder of three images, one lying on its side."""
    (shell.folder / "plan.yaml").write_text(plan("faces") + VARIANTS)
    shell.json("init")
    shell.json("register", "plan.yaml")
    photos = shell.folder / "photos"
    photos.mkdir()
    for number in (1, 2):
        picture(40, 30, number).save(photos / f"{number}.png")
    exif = Image.Exif()
    exif[0x0112] = 6
    exif[0x010E] = "at home"
    picture(32, 16, 3).save(photos / "side.jpg", exif=exif, comment=b"at home")
    return shell


def content(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_variants_are_made_and_nothing_is_recorded(study: Shell) -> None:
    before = study.json("log"), content(study.folder / ".lacre" / "keys")
    answer = study.json("amplify", "faces", "photos", "-o", "out")
    assert (study.json("log"), content(study.folder / ".lacre" / "keys")) == before
    assert len(answer["made"]) == 18
    assert answer["skipped"] == answer["left_over"] == []
    assert answer["kept"] == 0
    assert list(answer["variants"]) == sorted(answer["variants"])
    out = study.folder / "out"
    for made in answer["made"]:
        raw = (out / made["file"]).read_bytes()
        assert hashlib.sha256(raw).hexdigest() == made["sha256"]
        assert b"at home" not in raw
        with Image.open(io.BytesIO(raw)) as image:
            assert image.mode == "RGB"
            assert not image.getexif()
            if made["source"] == "side.jpg":
                half = made["variant"] == "escala-0.5"
                assert image.size == ((8, 16) if half else (16, 32)), "upright in every variant"
                assert made["notes"] == ["oriented"]
    listed = list(csv.DictReader(io.StringIO((out / "manifest.csv").read_text())))
    assert {row["file"] for row in listed} == {made["file"] for made in answer["made"]}
    assert all(path.stat().st_mode & 0o077 == 0 for path in [out, *out.rglob("*")]), "pictures of people"


def test_it_is_told_in_words(study: Shell) -> None:
    (study.folder / "photos" / "empty.jpg").write_bytes(b"")
    (study.folder / "photos" / "cut\x1b[31m.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    ran = study.lacre("amplify", "faces", "photos", "-o", "out")
    assert ran.status == 0
    assert "The variants of 3 images are in out" in ran.out
    assert "escala-0.5  scale 0.5" in ran.out
    assert "none: the picture as it is" in ran.out
    assert "Warning: 2 were skipped:" in ran.out
    assert "empty.jpg: empty" in ran.out
    assert "cut\\x1b[31m.png: no image" in ran.out
    assert "turned upright, by its orientation on record: 1" in ran.out
    assert "Nothing was recorded, and no pool was read." in ran.out
    again = study.lacre("amplify", "faces", "photos", "-o", "out")
    assert "18 files were there already, unchanged." in again.out


def test_a_run_that_is_killed_goes_on_where_it_was(study: Shell) -> None:
    """Killed as soon as its first files are there: what is whole stays as it is, the rest is as if nothing had been."""
    for number in range(10, 30):
        picture(200, 200, number).save(study.folder / "photos" / f"{number}.png")
    whole = study.json("amplify", "faces", "photos", "-o", "whole")
    out = study.folder / "out"
    process = study.start("amplify", "faces", "photos", "-o", "out")
    limit = time.monotonic() + 60
    while time.monotonic() < limit and not list(out.glob("*/*.png")):
        time.sleep(0.005)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert not (out / "manifest.csv").exists()
    inodes = {path: path.stat().st_ino for path in out.glob("*/[!.]*")}
    answer = study.json("amplify", "faces", "photos", "-o", "out")
    # A file whose line in the journal had not been written is made again, and no other.
    assert len(inodes) - 1 <= answer["kept"] < len(whole["made"])
    stayed = [path for path, inode in inodes.items() if path.stat().st_ino == inode]
    assert len(stayed) >= answer["kept"]
    assert answer["made"] == whole["made"]
    before, after = content(study.folder / "whole"), content(out)
    assert before.keys() == after.keys()
    assert {name for name in before if before[name] != after[name]} <= {"amplify.jsonl"}


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("nobody", "photos", "-o", "out"), "study-not-registered"),
        (("faces", "nowhere", "-o", "out"), "file-missing"),
        (("faces", "photos", "-o", "plan.yaml"), "not-written"),
        (("faces", "photos", "-o", "photos"), "images-within-output"),
        (("faces", "photos", "-o", "."), "images-within-output"),
        (("faces", "photos", "-o", ".lacre/pools"), "not-written"),
        (("faces", "photos", "-o", "full"), "amplify-into-other"),
        (("faces", "full", "-o", "out"), "images-unusable"),
        (("faces", "empty", "-o", "out"), "images-none"),
        (("bare", "photos", "-o", "out"), "variants-not-declared"),
    ],
    ids=lambda given: given if isinstance(given, str) else "",
)
def test_refusals_are_one_document_and_leave_nothing(study: Shell, words: tuple[str, ...], code: str) -> None:
    (study.folder / "bare.yaml").write_text(plan("bare"))
    study.json("register", "bare.yaml")
    (study.folder / "empty").mkdir()
    (study.folder / "full").mkdir()
    (study.folder / "full" / "mine.txt").write_text("mine")
    answer = study.json("amplify", *words, expect=2)
    assert answer["error"]["code"] == code
    assert not list(study.folder.rglob("original"))
    assert content(study.folder / "full") == {"mine.txt": b"mine"}


def test_without_pillow_it_says_what_to_install(study: Shell) -> None:
    """As a process of its own, in which no PIL can be imported."""
    script = "import sys; sys.modules['PIL'] = None; from lacre.cli import main; sys.exit(main(sys.argv[1:]))"
    words = [sys.executable, "-c", script, "amplify"]
    settings = {"cwd": study.folder, "env": dict(study.environment), "capture_output": True, "text": True}
    done = subprocess.run([*words, "faces", "photos", "-o", "out"], check=False, timeout=60, **settings)
    assert done.returncode == 2
    assert "pip install 'lacre[images]'" in done.stderr
    assert not (study.folder / "out").exists()
    shown = subprocess.run([*words, "--help"], check=False, timeout=60, **settings)
    assert shown.returncode == 0
    assert "pip install 'lacre[images]'" in " ".join(shown.stdout.split())


def test_pillow_is_not_loaded_before_it_is_needed() -> None:
    script = (
        "import sys; from lacre.cli import main\n"
        "for words in (['--help'], ['amplify', '--help'], ['amplify', 'faces']): main(words)\n"
        "import lacre.report.json, lacre.report.text, lacre.broker.amplify, lacre.api\n"
        "print('PIL' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.splitlines()[-1] == "False"


def test_python_has_it_too(study: Shell) -> None:
    import lacre

    with lacre.open(study.folder, state=Path(study.environment["XDG_STATE_HOME"]) / "lacre") as ledger:
        made = ledger.amplify("faces", study.folder / "photos", study.folder / "out")
    assert repr(made).startswith("<lacre Amplified: The variants of 3 images")
    assert made.as_json()["made"][0]["variant"] == "cinza"
    assert {each.variant for each in made.made} == {
        line.split(":")[0].strip() for line in VARIANTS.splitlines()[1:]
    }
