"""A small study of all four pools, its rules of calibration, draw, second labels and gate, with files made for it."""

import csv
import hashlib
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from tests.dates import AGAIN, LABELLED

PLAN = """\
lacre: 1
study: faces
title: Faces found
question: Does it miss faces?
language: en
data: {identifiable: false, prior_exposure: none}
tables:
  images:
    key: image_id
    columns:
      image_id: {type: text}
      picture: {type: text, is: input}
      has_person: {type: outcome, positive: "1", negative: "0"}
      found_face: {type: outcome, positive: "1", negative: "0", from: submission}
  faces:
    key: face_id
    columns:
      face_id: {type: text}
      picture: {type: text, is: input}
      hint: {type: category, values: [high, low]}
      medium: {type: category, values: [paper, screen]}
      labelled_at: {type: time, is: labelled}
      inclusion: {type: number, is: inclusion_probability}
      score: {type: number, min: 0, max: 1, from: submission}
  pairs:
    key: pair_id
    columns:
      pair_id: {type: text}
      group: {type: category, values: [a, b], is: demographic}
      same: {type: outcome, positive: "1", negative: "0"}
      likeness: {type: number, from: submission}
pools:
  dev: {tables: [faces, pairs]}
  teste: {tables: faces}
  contraste: {tables: pairs}
  guarda: {tables: images, max_reads: 2}
sampling:
  faces: {pool: teste, strata: hint, sizes: {high: 60, low: 60}, seed: 7}
relabel:
  faces: {pool: teste, fraction: 0.25, columns: [medium], min_days_apart: 2, seed: 7}
thresholds:
  detector: {calibrate_on: dev, table: faces, score: score, at: {recall: 0.9}}
  matcher: {calibrate_on: dev, table: pairs, score: likeness, at: {false_match: 0.1}}
analyses:
  recall:
    kind: recall
    pool: teste
    table: faces
    detected: {score: score, threshold: detector, blank: not_detected}
    by: [[medium]]
    weights: {column: inclusion, draw: faces}
    bootstrap: {resamples: 200, seed: 1}
    criteria: [{id: all-media, metric: recall, by: [medium], worst_group: {min: 0.5}}]
  agreement: {kind: self_agreement, pool: teste, relabel: faces}
  differential:
    kind: verification
    pool: contraste
    table: pairs
    score: likeness
    same: same
    group: group
    direction: similarity
    threshold: matcher
    mitigations: [{id: none-yet}, {id: tuned, kind: training}, {id: retrained, kind: training}]
    bootstrap: {resamples: 200, seed: 1}
    criteria: [{id: ratio, metric: false_match, by: [group], max_group_ratio: {form: max_min, max: 3}}]
  release:
    kind: protective_failure
    pool: guarda
    table: images
    person: has_person
    found: {column: found_face, blank: not_detected}
    criteria: [{id: veto, metric: protective_failure, max: 0.2}]
"""
"""The plan, as the text of its file."""
COHORT = (
    (
        "pools:\n  dev: {tables: [faces, pairs]}",
        """\
  cohort:
    key: [image, face]
    columns:
      image: {type: text}
      face: {type: text}
      subject: {type: category, values: [x, y, z]}
      likeness: {type: number, from: submission}
pools:
  dev: {tables: [faces, pairs, cohort]}""",
    ),
    ("contraste: {tables: pairs}", "contraste: {tables: [pairs, cohort]}"),
    (
        "pair_id: {type: text}\n",
        "pair_id: {type: text}\n      one: {type: text}\n      two: {type: text}\n",
    ),
    (
        "analyses:\n",
        """\
  normed: {calibrate_on: dev, table: pairs, score: likeness, normalise: z-norm, at: {false_match: 0.1}}
analyses:
""",
    ),
    (
        "{id: none-yet}, ",
        """\
{id: none-yet}, {id: normal, kind: z_norm, threshold: normed, ddof: 1, scores: \
{table: cohort, subject: subject, on: {one: image, two: image}}}, """,
    ),
)
"""The plan with a threshold on scores that are normalised by a cohort's."""
SEALS = (
    ("dev", "faces=dev-faces.csv", "pairs=dev-pairs.csv"),
    ("teste", "teste-faces.csv"),
    ("contraste", "contraste-pairs.csv"),
    ("guarda", "guarda.csv"),
)
"""The pools with their files."""
HEADS: Mapping[str, Sequence[str]] = MappingProxyType(
    {
        "images": ("image_id", "picture", "has_person"),
        "faces": ("face_id", "picture", "hint", "medium", "labelled_at", "inclusion"),
        "pairs": ("pair_id", "group", "same"),
    }
)


def changed(text: str, *changes: tuple[str, str]) -> str:
    """The text with words of it changed, which must be there."""
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return text


def write(path: Path, head: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Write a CSV file."""
    with path.open("w", newline="") as file:
        made = csv.writer(file, lineterminator="\n")
        made.writerow(head)
        made.writerows(rows)


def read(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file."""
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def write_rows(path: Path, rows: Sequence[Mapping[str, object]]) -> None:
    """Write rows as `read` gives them."""
    write(path, tuple(rows[0]), [tuple(row.values()) for row in rows])


def write_files(work: Path, secret: str = "") -> None:
    """Write plan, frame, and all that needs no draw: `dev`, `contraste`, `guarda`, each with a submission.

    Each pool's table has a column that nobody declared, of cells `secret`, where that is given.
    """
    drawn = random.Random(5)
    (work / "faces.yaml").write_text(PLAN)
    frame = [(f"t{n}", f"t{n}.jpg", drawn.choice(("high", "low"))) for n in range(400)]
    write(work / "frame.csv", ("face_id", "picture", "hint"), frame)
    dev = [(f"d{n}", f"d{n}.jpg", "high", "paper", "2020-01-01T00:00:00Z", "1") for n in range(100)]
    _pool(work / "dev-faces.csv", "faces", dev, secret)
    # Ninety of a hundred are at .11 or above: the largest threshold that finds at least nine in ten.
    write(work / "dev-scores.csv", ("face_id", "score"), [(f"d{n}", (n + 1) / 100) for n in range(100)])
    for pool, count in (("dev", 200), ("contraste", 400)):
        pairs = [(f"{pool}-{n}", "ab"[n % 2], n // 2 % 2) for n in range(count)]
        _pool(work / f"{pool}-pairs.csv", "pairs", pairs, secret)
        for tag in ("", "-tuned"):
            scores = [(name, round(drawn.random() / 2 + same / 2, 4)) for name, _group, same in pairs]
            write(work / f"{pool}-likeness{tag}.csv", ("pair_id", "likeness"), scores)
    images = [(f"g{n}", f"g{n}.jpg", int(n % 5 > 0)) for n in range(300)]
    _pool(work / "guarda.csv", "images", images, secret)
    for tag, rate in (("good", 0.97), ("bad", 0.5)):
        found = [(name, int(drawn.random() < rate)) for name, _picture, _person in images]
        write(work / f"{tag}.csv", ("image_id", "found_face"), found)


def write_drawn(work: Path, drawn: str = "drawn.csv", secret: str = "") -> None:
    """Label what was drawn: `teste-faces.csv`, and the scores of a system, `scores.csv`."""
    cases = read(work / drawn)
    rows = [
        (c["face_id"], c["picture"], c["hint"], ("paper", "screen")[n % 2], LABELLED, c["inclusion"])
        for n, c in enumerate(cases)
    ]  # fmt: skip
    _pool(work / "teste-faces.csv", "faces", rows, secret)
    scores = [(case["face_id"], (n % 20 + 1) / 20) for n, case in enumerate(cases)]
    write(work / "scores.csv", ("face_id", "score"), scores)


def write_again(work: Path, blank: str = "blank.csv", on: str = AGAIN) -> None:
    """Label again what was handed out, as the first time but for one case: `again.csv`."""
    medium = {row["face_id"]: row["medium"] for row in read(work / "teste-faces.csv")}
    cases = read(work / blank)
    other = {"paper": "screen", "screen": "paper"}
    rows = [
        (c["face_id"], c["picture"], medium[c["face_id"]] if n else other[medium[c["face_id"]]], on)
        for n, c in enumerate(cases)
    ]
    write(work / "again.csv", ("face_id", "picture", "medium", "labelled_at"), rows)


def write_ahead(work: Path, secret: str = "") -> None:
    """Write all files of the study, those as well that are made from what a draw will give."""
    write_files(work, secret)
    frame = read(work / "frame.csv")
    drawn: list[tuple[object, ...]] = []
    for hint in ("high", "low"):
        units = [row for row in frame if row["hint"] == hint]
        taken = _first([row["face_id"] for row in units], 60, "lacre-draw-v1", hint)
        drawn += [(*row.values(), 60 / len(units)) for row in units if row["face_id"] in taken]
    places = {row["face_id"]: place for place, row in enumerate(frame)}
    drawn.sort(key=lambda case: places[str(case[0])])
    write(work / "ahead.csv", ("face_id", "picture", "hint", "inclusion"), drawn)
    write_drawn(work, "ahead.csv", secret)
    again = _first([str(case[0]) for case in drawn], len(drawn) // 4, "lacre-relabel-v1")
    write(work / "to-label.csv", ("face_id", "picture"), [(name, f"{name}.jpg") for name in again])
    write_again(work, "to-label.csv")


def _first(keys: Sequence[str], size: int, tag: str, stratum: str = "", seed: int = 7) -> list[str]:
    """The keys of the smallest digests, as the documentation of `lacre.stats.draws` describes them."""

    def digest(key: str) -> bytes:
        fields = (tag, str(seed), stratum, key)
        return hashlib.sha256(b"".join(len(f).to_bytes(8, "big") + f.encode() for f in fields)).digest()

    return sorted(keys, key=digest)[:size]


def _pool(path: Path, table: str, rows: Sequence[Sequence[object]], secret: str) -> None:
    head = HEADS[table]
    if secret:
        head, rows = (*head, "diario"), [(*row, secret) for row in rows]
    write(path, head, rows)
