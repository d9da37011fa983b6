"""Calibrations, draws, second labels and gates of two processes on one study, whichever of them writes first."""

from collections.abc import Callable
from typing import Any
from unittest import mock

import pytest
from tests import four_pools
from tests.dates import LABELLED
from tests.scripts.staged import COMMIT, DETECTOR, GATE, REVEAL, clean
from tests.scripts.test_interleavings import interleaved

from lacre.broker import calibrate as calibrating

Shell = Any

CALIBRATE = ("calibrate", "faces", *DETECTOR)
SAMPLE = ("sample", "faces", "faces", "frame.csv", "-o", "one.csv")
AMEND = ("amend", "changed.yaml", "--reason", "again", "--yes")
REFUSED = {
    "calibrate-amend": ("sealed", CALIBRATE, AMEND, "protocol-not-in-force"),
    "calibrate-reveal": ("ready", CALIBRATE, REVEAL, "calibration-burns"),
    "reveal-amend": ("ready", REVEAL, AMEND, "protocol-not-in-force"),
    "gate-amend": ("ready", GATE, AMEND, "protocol-not-in-force"),
    "sample-other": (
        "registered",
        SAMPLE,
        ("sample", "faces", "faces", "other.csv", "-o", "two.csv"),
        "drawn-from-another-frame",
    ),
    "commit-commit": ("handed", COMMIT, COMMIT, "relabels-committed"),
    "gate-withdraw": ("ready", GATE, ("withdraw", "faces", "--reason", "x", "--yes"), "study-withdrawn"),
}
"""Where it begins, what was found before the other came, what came, and how the first is refused since."""


def begun(at: Callable[[str], Shell], stage: str) -> Shell:
    """The study at a stage, with what the lines above name."""
    shell = at("ready" if stage == "handed" else stage)
    work = shell.folder
    if stage == "handed":
        shell = at("calibrated")
        work = shell.folder
        shell.json("sample", "faces", "--relabel", "faces", "-o", "blank.csv")
        four_pools.write_again(work)
    text = (work / "faces.yaml").read_text()
    changes = (("at: {recall: 0.9}", "at: {recall: 0.8}"),)
    (work / "changed.yaml").write_text(four_pools.changed(text, *changes))
    frame = (work / "frame.csv").read_text()
    (work / "other.csv").write_text(frame.replace("t7,t7.jpg", "t1007,t7.jpg"))
    rows = [(f"s{n}", f"s{n}.jpg", "high", "paper", LABELLED, "1") for n in range(50)]
    four_pools.write(work / "frame-faces.csv", four_pools.HEADS["faces"], rows)
    return shell


@pytest.mark.parametrize("pair", REFUSED)
def test_the_law_is_asked_again_within_the_transaction(at: Callable[[str], Shell], pair: str) -> None:
    stage, first, second, code = REFUSED[pair]
    shell = begun(at, stage)
    one, two = interleaved(shell, [*first, "--json"], [*second, "--json"])
    assert "error" not in two.document
    assert one.document["error"]["code"] == code
    assert not (shell.folder / "one.csv").exists()
    clean(shell)


def test_two_gates_are_two_reads(at: Callable[[str], Shell]) -> None:
    shell = at("ready")
    one, two = interleaved(shell, [*GATE, "--json"], [*GATE, "--json"])
    assert (one.document["read"], two.document["read"]) == (2, 1)
    assert one.document["reads_left"] == 0
    clean(shell)


def test_the_last_read_of_guarda_is_one(at: Callable[[str], Shell]) -> None:
    shell = at("ready")
    shell.json(*GATE)
    one, two = interleaved(shell, [*GATE, "--json"], [*GATE, "--json"])
    assert one.document["error"]["code"] == "guarda-exhausted"
    assert two.document["read"] == 2
    clean(shell)


def test_a_reveal_uses_what_was_frozen_before_its_entry(at: Callable[[str], Shell]) -> None:
    """A calibration that came in between, before any read of `teste`, burns nothing and counts."""
    shell = at("ready")
    one, two = interleaved(shell, [*REVEAL, "--json"], [*CALIBRATE, "--json"])
    assert one.document["thresholds"][0]["entry"] == two.document["entry"] == 13
    assert one.document["confirmatory"]
    clean(shell)


def test_a_reveal_between_the_read_of_dev_and_the_thresholds_keeps_the_old_ones(
    at: Callable[[str], Shell],
) -> None:
    """Nobody accepted that `teste` is burned, so the read of `dev` stays without a calibration."""
    shell = at("ready")
    freeze, ran = calibrating._freeze, []

    def reveal_first(*given: Any) -> Any:
        ran.append(shell.json(*REVEAL))
        return freeze(*given)

    with mock.patch.object(calibrating, "_freeze", reveal_first):
        error = shell.json(*CALIBRATE, expect=2)["error"]
    assert error["code"] == "calibration-unfinished"
    assert "entry 12" in error["message"]
    assert ran[0]["thresholds"][0]["entry"] == 8
    assert shell.json("show", ran[0]["result"])["now"] == "teste"
    clean(shell)
