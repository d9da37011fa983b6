"""The files of a face study as `lacre new faces` declares them: small, made by rule, and all found but a few."""

import csv
import random
from collections.abc import Iterable, Sequence
from pathlib import Path

from PIL import Image
from tests.dates import AGAIN, LABELLED

Row = Sequence[object]


def write(path: Path, header: Sequence[str], rows: Iterable[Row]) -> None:
    """Write a CSV file."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)


def read(path: Path) -> list[dict[str, str]]:
    """Read a CSV file back."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def write_images(folder: Path, tag: str, count: int, found: float = 0.995) -> None:
    """Write images with and without a person, and what the detector found in them."""
    luck = random.Random(tag)
    ids = [f"{tag}{n}" for n in range(count)]
    write(
        folder / f"{tag}-images.csv",
        ["image_id", "file", "has_person"],
        [(each, f"{each}.jpg", int(n % 4 > 0)) for n, each in enumerate(ids)],
    )
    write(
        folder / f"{tag}-found.csv",
        ["image_id", "found_face"],
        [(each, int(luck.random() < found)) for each in ids],
    )


def write_faces(folder: Path, tag: str, drawn: Sequence[dict[str, str]]) -> None:
    """Write the labels of faces that were drawn, and a detector's scores."""
    luck = random.Random(tag)
    labels, scores = [], []
    for n, row in enumerate(drawn):
        age, height = ("child", "adult")[n % 2], (40, 120)[n // 2 % 2]
        face = row["face_id"]
        labels.append((face, row["image_id"], row["stratum"], age, height, LABELLED, row["inclusion"]))
        scores.append(
            (face, round(luck.uniform(0.5, 1) if luck.random() < 0.97 else luck.uniform(0, 0.5), 4))
        )
    header = ["face_id", "image_id", "stratum", "age", "height", "labelled_at", "inclusion"]
    write(folder / f"{tag}-faces.csv", header, labels)
    write(folder / f"{tag}-scores.csv", ["face_id", "score"], scores)


def write_variants(folder: Path, tag: str, count: int) -> None:
    """Write the variants of faces, each in an image of its own, and the scores that they got."""
    luck = random.Random(f"{tag} variants")
    keys = [(f"{tag}v{n}", variant) for n in range(count) for variant in ("original", "half", "jpeg-30")]
    write(
        folder / f"{tag}-variants.csv",
        ["face_id", "image_id", "variant"],
        [(face, f"{face}i", variant) for face, variant in keys],
    )
    write(
        folder / f"{tag}-changed.csv",
        ["face_id", "variant", "score"],
        [(*key, round(luck.uniform(0.6, 1) if luck.random() < 0.98 else 0.1, 4)) for key in keys],
    )


def write_pairs(folder: Path, tag: str, subjects: int) -> None:
    """Write comparisons within each of two groups, genuine and impostor, and how alike they are."""
    luck = random.Random(f"{tag} pairs")
    rows, similar = [], []
    for group in ("group-a", "group-b"):
        for n in range(subjects):
            for step in range(6):
                other = n if step == 0 else (n + step * 7) % subjects
                pair = f"{tag}{group}{n}-{step}"
                one, two = (f"{tag}{group}s{each}" for each in (n, other))
                rows.append((pair, one, two, int(step == 0), group))
                similar.append((pair, round(luck.gauss(0.8 if step == 0 else 0.2, 0.1), 4)))
    write(folder / f"{tag}-pairs.csv", ["pair_id", "subject_a", "subject_b", "same", "group"], rows)
    write(folder / f"{tag}-similarities.csv", ["pair_id", "similarity"], similar)


def write_again(folder: Path) -> None:
    """Fill in what was drawn to be labelled again: as the first time, but for every tenth."""
    first = {row["face_id"]: row["age"] for row in read(folder / "t-faces.csv")}
    other = {"child": "adult", "adult": "child"}
    rows = [
        (row["face_id"], row["image_id"], age if n % 10 else other[age], AGAIN)
        for n, row in enumerate(read(folder / "blank.csv"))
        if (age := first[row["face_id"]])
    ]
    write(folder / "again.csv", ["face_id", "image_id", "age", "labelled_at"], rows)


def write_before(folder: Path) -> None:
    """Write all that is there before the first command."""
    write(
        folder / "frame.csv",
        ["face_id", "image_id", "stratum"],
        [(f"tf{n}", f"t{n % 700}", ("rare", "common")[n % 2]) for n in range(2000)],
    )
    for tag, count in (("d", 300), ("t", 700), ("g", 400)):
        write_images(folder, tag, count)
    drawn = [
        {"face_id": f"df{n}", "image_id": f"d{n // 2}", "stratum": "common", "inclusion": "1"}
        for n in range(600)
    ]
    write_faces(folder, "d", drawn)
    for tag, count in (("d", 40), ("t", 300)):
        write_variants(folder, tag, count)
    for tag, subjects in (("d", 150), ("c", 200)):
        write_pairs(folder, tag, subjects)
    (folder / "photos").mkdir()
    for n in range(2):
        Image.new("RGB", (16, 12), (40 + 100 * n, 90, 160)).save(folder / "photos" / f"{n}.png")
