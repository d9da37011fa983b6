"""Draws and second labels of a study of all four pools, on the command line."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from tests import four_pools
from tests.dates import TOO_SOON
from tests.scripts.staged import COMMIT, DETECTOR, REVEAL, changed, clean, refused
from tests.secrets.canaries import CANARY

Shell = Any


# --- draws


def test_the_same_frame_gives_the_same_cases(at: Callable[[str], Shell]) -> None:
    shell = at("drawn")
    again = shell.json("sample", "faces", "faces", "frame.csv", "-o", "again.csv")
    assert (again["number"], again["rows"]) == (2, 120)
    assert (shell.folder / "again.csv").read_bytes() == (shell.folder / "drawn.csv").read_bytes()
    population = {each["stratum"]: each["population"] for each in again["strata"]}
    assert sum(population.values()) == 400
    for row in four_pools.read(shell.folder / "again.csv"):
        assert float(row["inclusion"]) == 60 / population[row["hint"]]
    assert refused(shell, "sample", "faces", "faces", "frame.csv", "-o", "again.csv") == "file-exists"
    clean(shell)


def test_a_frame_that_cannot_be_drawn_from_is_refused(at: Callable[[str], Shell]) -> None:
    shell = at("registered")
    lines = (shell.folder / "frame.csv").read_text().splitlines()
    for name, rows, code in (
        ("short", lines[:80], "frame-short"),
        ("doubled", [*lines, lines[1]], "table-key-repeated"),
        ("headless", [line.rsplit(",", 1)[0] for line in lines], "table-column-absent"),
    ):
        (shell.folder / f"{name}.csv").write_text("\n".join(rows) + "\n")
        assert refused(shell, "sample", "faces", "faces", f"{name}.csv", "-o", "out.csv") == code
        assert not (shell.folder / "out.csv").exists()
    assert refused(shell, "sample", "faces", "pairs", "frame.csv", "-o", "out.csv") == "draw-not-declared"
    assert refused(shell, "sample", "faces", "faces", "-o", "out.csv") == "sample-unclear"
    assert refused(shell, "sample", "faces", "faces", "frame.csv", "--relabel", "faces", "-o", "out.csv") == (
        "sample-unclear"
    )
    strange = [*lines, "t900,t900.jpg,neither", "t901,=1+1,high"]
    (shell.folder / "strange.csv").write_text("\n".join(strange) + "\n")
    made = shell.json("sample", "faces", "faces", "strange.csv", "-o", "out.csv")
    assert made["outside"] == 1
    assert (
        refused(shell, "sample", "faces", "faces", "frame.csv", "-o", "more.csv")
        == "drawn-from-another-frame"
    )
    for pool, *files in four_pools.SEALS[:1]:
        shell.json("seal", "faces", pool, *files)
    clean(shell)


# --- second labels


def relabelled(shell: Shell, change: Callable[[list[dict[str, str]]], Sequence[dict[str, str]]]) -> None:
    """Write second labels with something changed."""
    four_pools.write_again(shell.folder)
    rows = change(four_pools.read(shell.folder / "again.csv"))
    four_pools.write_rows(shell.folder / "again.csv", rows)


@pytest.fixture
def handed(at: Callable[[str], Shell]) -> Shell:
    """The study when cases were handed out to be labelled again."""
    shell = at("sealed")
    shell.json("sample", "faces", "--relabel", "faces", "-o", "blank.csv")
    return shell


def test_second_labels_that_are_not_blind_or_not_dated_are_refused_before_a_look(handed: Shell) -> None:
    relabelled(handed, lambda rows: [{**row, "hint": "high"} for row in rows])
    assert refused(handed, *COMMIT) == "relabels-not-blind"
    relabelled(handed, lambda rows: [{**row, "medium_before": "paper"} for row in rows])
    assert refused(handed, *COMMIT) == "relabels-not-blind"
    relabelled(handed, lambda rows: [{**rows[0], "labelled_at": ""}, *rows[1:]])
    assert refused(handed, *COMMIT) == "relabels-undated"
    relabelled(handed, lambda rows: [*rows, rows[0]])
    assert refused(handed, *COMMIT) == "table-key-repeated"
    assert refused(handed, "commit", "faces", "relabels", "teste-faces.csv") == "relabels-not-blind"
    assert refused(handed, "commit", "faces", "scores", "again.csv") == "pool-not-declared"


def test_second_labels_too_soon_or_of_other_cases_are_refused_after_a_look_on_record(handed: Shell) -> None:
    four_pools.write_again(handed.folder, on=TOO_SOON)
    soon = handed.json(*COMMIT, expect=2)["error"]
    assert soon["code"] == "commit-unfinished"
    assert (
        "The second labels of 30 cases come too early. Days that the plan asks for in between: 2."
        in soon["message"]
    )
    relabelled(handed, lambda rows: [{**rows[0], "face_id": "t9999"}, *rows[1:]])
    foreign = handed.json(*COMMIT, expect=2)["error"]
    assert foreign["code"] == "commit-unfinished"
    assert "t9999" not in foreign["message"]
    relabelled(handed, lambda rows: rows[:-2])
    made = handed.json(*COMMIT)
    assert (made["rows"], made["absent"], made["days_apart"]) == (28, 2, 2)
    assert made["warnings"] == [
        "28 second labels are dated later than now: days apart are as true as the dates."
    ]
    assert refused(handed, *COMMIT) == "relabels-committed"
    assert refused(handed, "sample", "faces", "--relabel", "faces", "-o", "b.csv") == "relabels-committed"
    looks = [each["kind"] for each in handed.json("log", "faces")["history"]][-4:]
    assert looks == ["read", "read", "read", "commit"], "each look at first labels is an entry"
    clean(handed)


def test_second_labels_need_a_draw_and_come_before_the_reveal(at: Callable[[str], Shell]) -> None:
    shell = at("calibrated")
    (shell.folder / "blank.csv").write_text("face_id,picture,medium,labelled_at\nt1,t1.jpg,,\n")
    (shell.folder / "again.csv").write_text(
        "face_id,picture,medium,labelled_at\nt1,t1.jpg,paper,2099-02-01T00:00:00Z\n"
    )
    assert refused(shell, *COMMIT) == "relabels-out-of-place"
    assert refused(shell, *REVEAL) == "relabels-missing"
    assert refused(shell, "sample", "faces", "--relabel", "pairs", "-o", "b.csv") == "draw-not-declared"


def test_second_labels_of_two_draws_are_two_commits(at: Callable[[str], Shell]) -> None:
    shell = at("registered")
    pairs = "\n  pairs: {pool: dev, fraction: 0.1, columns: [group], min_days_apart: 0, seed: 7}\nthresholds:"
    changed(shell, ("\nthresholds:", pairs))
    shell.json("amend", "faces.yaml", "--reason", "two draws", "--yes")
    for name in ("faces", "pairs"):
        (shell.folder / f"{name}.csv").write_text("face_id,medium\n")
    words = ("commit", "faces", "relabels", "faces=faces.csv", "pairs=pairs.csv")
    assert refused(shell, *words) == "one-draw-at-a-time"
    assert refused(shell, "commit", "faces", "relabels", "faces.csv") == "file-prefix-needed"


def test_a_reveal_waits_for_the_draw_that_it_weighs_by(at: Callable[[str], Shell]) -> None:
    shell = at("registered")
    four_pools.write_ahead(shell.folder, CANARY)
    dev, teste = four_pools.SEALS[:2]
    shell.json("seal", "faces", *dev)
    assert refused(shell, "seal", "faces", *teste) == "draw-first"
    shell.json("sample", "faces", "faces", "frame.csv", "-o", "drawn.csv")
    shell.json("seal", "faces", *teste)
    # The draw of another seed is another draw, and it can no longer be made.
    changed(shell, ("low: 60}, seed: 7", "low: 60}, seed: 8"))
    shell.json("amend", "faces.yaml", "--reason", "another seed", "--yes")
    assert refused(shell, "sample", "faces", "faces", "frame.csv", "-o", "late.csv") == "draw-too-late"
    shell.json("calibrate", "faces", *DETECTOR)
    shell.json("sample", "faces", "--relabel", "faces", "-o", "blank.csv")
    shell.json(*COMMIT)
    assert refused(shell, *REVEAL) == "draw-missing"
    rehearsed = shell.lacre("run", "faces", "recall", "--pool", "dev", "--submission", "dev-scores.csv")
    assert (rehearsed.status, rehearsed.err) == (3, "")
    assert "No draw of faces is on record" in rehearsed.out
    assert "no-draw" not in rehearsed.out
