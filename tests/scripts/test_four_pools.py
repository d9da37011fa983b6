"""A study of all four pools on the command line: drawn, sealed, calibrated, labelled twice, revealed, gated."""

from collections.abc import Callable
from typing import Any
from unittest import mock

from tests import four_pools
from tests.scripts.staged import (
    BOTH,
    COMMIT,
    DETECTOR,
    GATE,
    REVEAL,
    Stages,
    changed,
    clean,
    following,
    refused,
)
from tests.secrets.canaries import CANARY

from lacre.broker import calibrate as calibrating, reading

Shell = Any
CALIBRATE_NEXT = "lacre calibrate faces --submission faces=FILE --submission pairs=FILE"


# --- the whole story


def test_the_whole_story_through_text(at: Callable[[str], Shell]) -> None:
    """Text says what JSON does, of every verb; a check of the audit, the bundle and the report ends it."""
    shell = at("registered")
    four_pools.write_files(shell.folder, CANARY)
    said = {}
    said["check"] = shell.lacre("check", "faces.yaml")
    said["sample"] = shell.lacre("sample", "faces", "faces", "frame.csv", "-o", "drawn.csv")
    four_pools.write_drawn(shell.folder, secret=CANARY)
    for pool, *files in four_pools.SEALS:
        assert shell.lacre("seal", "faces", pool, *files).status == 0
    said["calibrate"] = shell.lacre("calibrate", "faces", *BOTH)
    said["relabel"] = shell.lacre("sample", "faces", "--relabel", "faces", "-o", "blank.csv")
    four_pools.write_again(shell.folder)
    said["commit"] = shell.lacre("commit", "faces", "relabels", "again.csv")
    said["reveal"] = shell.lacre(*REVEAL)
    said["gate"] = shell.lacre(*GATE)
    for words in ("status", "log", "show faces", "show @8", "show @2", "show @11", "show faces@13", "audit"):
        said[words] = shell.lacre(*words.split())
    for words in ("export faces@13 -o r.zip", "verify r.zip", "report faces@13 -o r.html"):
        said[words] = shell.lacre(*words.split())
    assert {name: (ran.status, ran.err) for name, ran in said.items() if ran.status or ran.err} == {}
    assert "recall of at least 90 %" in said["calibrate"].out
    assert "90 of 100" in said["calibrate"].out
    assert "30 of 120 cases of faces" in said["relabel"].out
    assert "at least 2 days after" in said["commit"].out
    assert "Threshold detector: 0.11, frozen at entry 8." in said["reveal"].out
    assert "no difference smaller than" in said["reveal"].out
    assert "Not vetoed" in said["gate"].out
    assert "1 read is left." in said["gate"].out
    for words in ("Calibration 1, at entry 8", "high 60 of", "Second labels of faces, at entry 11"):
        assert words in said["show faces"].out
    assert CANARY not in (shell.folder / "r.html").read_text()


def test_what_is_calibrated_is_what_the_rule_gives_and_what_the_reveal_uses(
    at: Callable[[str], Shell],
) -> None:
    """Scores .01, .02, … 1 of a hundred faces: at .11 exactly ninety are found, and at any higher one fewer."""
    shell = at("ready")
    (made,) = shell.json("show", "faces")["calibrations"]
    found = {each["name"]: each for each in made["thresholds"]}
    detector = found["detector"]
    assert (detector["value"], detector["events"], detector["cases"]) == (0.11, 90, 100)
    assert (detector["rule"], detector["system"]) == ({"recall": 0.9}, None)
    assert detector["low"] <= 0.11 <= detector["high"]
    # 100 impostors, of whom a tenth may match.
    assert (found["matcher"]["events"], found["matcher"]["cases"]) == (10, 100)
    result = shell.json(*REVEAL)
    assert result["thresholds"] == [{"name": "detector", "system": None, "value": 0.11, "entry": 8}]
    agreement, recall = result["analyses"]
    # Each score from .05 to 1 by twentieths six times: two in twenty are below .11.
    (plain,) = [
        each
        for each in recall["estimates"]
        if each["group"] == {} and each.get("numerator") is not None and each["metric"] == "recall"
    ]
    assert (plain["numerator"], plain["denominator"]) == (108, 120)
    (row,) = agreement["tables"]["agreement"]
    assert (row["n"], row["agree"], row["column"]) == (30, 29, "medium")
    assert [note["code"] for note in recall["notes"] if note["code"] == "agreement-floor"]
    clean(shell)


def test_next_steps_lead_from_the_plan_to_the_gate(stages: Stages, at: Callable[[str], Shell]) -> None:
    """In the order of the work, whatever the order of the plan; files of several tables are named by table."""
    assert following(at("registered")) == [
        "lacre seal faces dev faces=FILE pairs=FILE",
        "lacre sample faces faces FRAME -o FILE",
        "lacre seal faces teste FILE",
        "lacre seal faces contraste FILE",
        "lacre seal faces guarda FILE",
    ]
    assert not [step for step in following(at("drawn")) if "sample" in step]
    calibrate, again = CALIBRATE_NEXT, "lacre sample faces --relabel faces -o FILE"
    run = "lacre run faces differential --submission FILE"
    asked = {
        "sealed": [calibrate, again],
        "calibrated": [again, run],
        "ready": ["lacre reveal faces --submission FILE", run],
    }
    gate = "lacre gate faces --submission FILE"
    for stage, steps in asked.items():
        assert following(at(stage)) == [*steps, f"{gate} (2 reads left)"]
    shell = at_again(stages, at, "ready")
    shell.json(*REVEAL)
    shell.json(*GATE)
    assert following(shell) == [run, f"{gate} (1 read left)"]
    shell.json(*GATE)
    assert following(shell) == [run]


def at_again(stages: Stages, at: Callable[[str], Shell], stage: str) -> Shell:
    """Another copy of a stage."""
    del at
    return stages.copy(stage, stages.kept.parent / f"{stages.kept.name}-again-{stage}")


def test_handed_out_cases_ask_for_their_second_labels_next(at: Callable[[str], Shell]) -> None:
    shell = at("calibrated")
    shell.json("sample", "faces", "--relabel", "faces", "-o", "blank.csv")
    assert following(shell)[0] == "lacre commit faces relabels FILE"
    head, *rows = (shell.folder / "blank.csv").read_text().splitlines()
    assert head == "face_id,picture,medium,labelled_at", "ids, inputs, and what is to be filled in"
    assert {row.split(",", 2)[2] for row in rows} == {","}, "without the first labels"
    assert len(rows) == 30, "a quarter of 120"


# --- rule 8 and 7: calibration


def test_nothing_is_revealed_or_run_before_its_thresholds_are_frozen(at: Callable[[str], Shell]) -> None:
    shell = at("sealed")
    assert refused(shell, *REVEAL) == "not-calibrated"
    assert refused(shell, "run", "faces", "differential", "--submission", "contraste-likeness.csv") == (
        "not-calibrated"
    )
    shell.json("calibrate", "faces", "matcher", "--submission", "dev-likeness.csv")
    shell.json("run", "faces", "differential", "--submission", "contraste-likeness.csv", expect=3)
    assert refused(shell, *REVEAL) == "not-calibrated"
    clean(shell)


def test_after_the_reveal_a_calibration_is_asked_for_and_burns(at: Callable[[str], Shell]) -> None:
    """The earlier result stands, with its threshold, also when its labels are corrected later."""
    shell = at("ready")
    first = shell.json(*REVEAL)
    assert refused(shell, "calibrate", "faces", *DETECTOR) == "calibration-burns"
    assert refused(shell, "calibrate", "faces", *DETECTOR, "--dry-run") == "calibration-burns"
    matcher = ("matcher", "--submission", "dev-likeness.csv")
    assert shell.json("calibrate", "faces", *matcher)["burns"] == []
    scores = [(f"d{n}", (n + 1) / 200) for n in range(100)]
    four_pools.write(shell.folder / "half.csv", ("face_id", "score"), scores)
    half = ("detector", "--submission", "half.csv", "--accept-burn", "--reason", "another camera")
    made = shell.json("calibrate", "faces", *half)
    assert (made["burns"], made["thresholds"][0]["value"]) == (["teste"], 0.055)
    assert shell.json("show", "faces")["pools"]["teste"]["now"] == "dev"
    stands = shell.json("show", first["result"])
    assert (stands["standing"], stands["now"], stands["state"]) == ("teste", "dev", first["state"])
    again = shell.json(*REVEAL, "--accept-dev", expect=3)
    assert again["thresholds"][0]["value"] == 0.055
    assert not again["confirmatory"]
    lines = (shell.folder / "teste-faces.csv").read_text().splitlines()
    turned = [line.replace(",paper,", ",screen,") if n < 11 else line for n, line in enumerate(lines)]
    (shell.folder / "corrected.csv").write_text("\n".join(turned) + "\n")
    corrected = shell.json("erratum", first["result"], "corrected.csv", "--reason", "swapped", expect=3)
    assert corrected["thresholds"] == first["thresholds"]
    assert corrected["erratum"]["changed"] == {"faces.medium": 5}
    clean(shell)


def test_a_process_that_dies_between_the_read_and_the_thresholds_leaves_nothing_frozen(
    at: Callable[[str], Shell],
) -> None:
    shell = at("sealed")
    with mock.patch.object(calibrating, "_freeze", side_effect=KeyboardInterrupt):
        assert shell.lacre("calibrate", "faces", *BOTH).status not in (0, 2)
    assert [each["kind"] for each in shell.json("log", "faces")["history"]][-1] == "read"
    assert following(shell)[0] == CALIBRATE_NEXT
    made = shell.json("calibrate", "faces", *BOTH)
    assert (made["number"], made["read"], made["entry"]) == (1, 8, 9)
    clean(shell)


def test_a_threshold_that_dev_cannot_give_leaves_its_read_on_record(at: Callable[[str], Shell]) -> None:
    """Without an impostor there is no rate of false matches."""
    shell = at("drawn")
    pairs = [(f"dev-{n}", "ab"[n % 2], 1) for n in range(200)]
    four_pools.write(shell.folder / "genuine.csv", four_pools.HEADS["pairs"], pairs)
    shell.json("seal", "faces", "dev", "faces=dev-faces.csv", "pairs=genuine.csv")
    ran = shell.json("calibrate", "faces", "matcher", "--submission", "dev-likeness.csv", expect=2)
    assert ran["error"]["code"] == "calibration-unfinished"
    assert "entry 4" in ran["error"]["message"]
    shell.json("calibrate", "faces", *DETECTOR)
    clean(shell)


# --- rule 10: the gate


def numbers(value: Any) -> list[float]:
    """Every number anywhere in a JSON value."""
    if isinstance(value, dict):
        return [n for each in value.values() for n in numbers(each)]
    if isinstance(value, list):
        return [n for each in value for n in numbers(each)]
    return [value] if isinstance(value, int | float) and not isinstance(value, bool) else []


def test_guarda_answers_verdicts_alone_until_it_is_exhausted(at: Callable[[str], Shell]) -> None:
    shell = at("sealed")
    passed = shell.json(*GATE)
    assert (passed["state"], passed["read"], passed["reads_left"]) == ("PASS", 1, 1)
    assert (passed["standing"], passed["now"], passed["confirmatory"]) == ("guarda", "guarda", True)
    vetoed = shell.json("gate", "faces", "--submission", "bad.csv", expect=1)
    assert (vetoed["state"], vetoed["read"], vetoed["reads_left"]) == ("FAIL", 2, 0)
    for result in (passed, vetoed):
        for said in (result, shell.json("show", result["result"])):
            assert numbers(said["analyses"]) == []
            assert [each["left_out"] for each in said["analyses"]] == [[]]
    assert refused(shell, *GATE) == "guarda-exhausted"
    assert refused(shell, *GATE, "--dry-run") == "guarda-exhausted"
    lines = (shell.folder / "guarda.csv").read_text().replace("g3,g3.jpg,1", "g3,g3.jpg,0")
    (shell.folder / "corrected.csv").write_text(lines)
    assert (
        refused(shell, "erratum", vetoed["result"], "corrected.csv", "--reason", "x") == "erratum-of-guarda"
    )
    text = shell.lacre("show", vetoed["result"]).out
    assert "Vetoed" in text
    assert "0 reads are left." in text
    assert "%" not in text
    shell.json("export", vetoed["result"], "-o", "g.zip")
    assert shell.json("verify", "g.zip")["ok"]
    shell.json("report", vetoed["result"], "-o", "g.html")
    clean(shell)


def test_a_gate_that_crashed_is_finished_by_asking_again(at: Callable[[str], Shell]) -> None:
    shell = at("sealed")
    with mock.patch.object(reading, "record_result", side_effect=KeyboardInterrupt):
        assert shell.lacre(*GATE).status not in (0, 1, 2, 3, 4)
    changed(shell, ("metric: protective_failure, max: 0.2", "metric: protective_failure, max: 0.01"))
    shell.json("amend", "faces.yaml", "--reason", "stricter", "--yes")
    finished = shell.json(*GATE)
    assert (finished["state"], finished["finished"], finished["read"]) == ("PASS", 7, 1), "under its own plan"
    assert refused(shell, *GATE) == "guarda-retired"
    four_pools.write_files(shell.folder, CANARY)
    shell.json("amend", "faces.yaml", "--reason", "as it was", "--yes")
    assert shell.json(*GATE)["reads_left"] == 0
    clean(shell)


def test_dry_runs_spend_nothing_and_requests_are_of_reveals_alone(at: Callable[[str], Shell]) -> None:
    shell = at("ready")
    root = shell.json("status")["root"]
    for words in (("calibrate", "faces", *BOTH), REVEAL, GATE):
        planned = shell.json(*words, "--dry-run")
        assert planned["dry_run"]
        assert shell.lacre(*words, "--dry-run").status == 0
    assert shell.json("status")["root"] == root
    for words in (("calibrate", "faces", *BOTH), GATE):
        assert refused(shell, *words, "--request-out", "ask.lacre") == "usage"
    shell.json(*REVEAL, "--request-out", "ask.lacre")
    assert shell.json("reveal", "--request", "ask.lacre")["confirmatory"]
    clean(shell)


# --- several systems


def test_each_system_has_thresholds_of_its_own(at: Callable[[str], Shell]) -> None:
    """The second system's scores are half the first's, and so is its threshold; a third has none."""
    shell = at("registered")
    work = shell.folder
    two = ("language: en\n", "language: en\nsystems: {new: {version: '2'}, old: {version: '1'}}\n")
    three = (two[0], two[1].replace("old: {", "old: {version: '1'}, older: {"))
    changed(shell, two)
    shell.json("amend", "faces.yaml", "--reason", "two systems", "--yes")
    shell.json("sample", "faces", "faces", "frame.csv", "-o", "drawn.csv")
    four_pools.write_drawn(work)
    for pool, *files in four_pools.SEALS:
        shell.json("seal", "faces", pool, *files)
    half = [(f"d{n}", (n + 1) / 200) for n in range(100)]
    four_pools.write(work / "half.csv", ("face_id", "score"), half)
    new, old = ("--submission", "new:dev-scores.csv"), ("--submission", "old:half.csv")
    assert refused(shell, "calibrate", "faces", "detector", *new) == "submission-missing"
    made = shell.json("calibrate", "faces", "detector", *new, *old)
    assert {each["system"]: each["value"] for each in made["thresholds"]} == {"new": 0.11, "old": 0.055}
    shell.json("sample", "faces", "--relabel", "faces", "-o", "blank.csv")
    four_pools.write_again(work)
    shell.json(*COMMIT)
    both = ("--submission", "new:scores.csv", "--submission", "old:scores.csv")
    planned = shell.json("reveal", "faces", *both, "--dry-run")
    assert planned["confirmatory"]
    result = shell.json("reveal", "faces", *both)
    assert {each["system"]: each["value"] for each in result["thresholds"]} == {"new": 0.11, "old": 0.055}
    changed(shell, three)
    shell.json("amend", "faces.yaml", "--reason", "a third", "--yes", "--accept-burn")
    error = shell.json(
        "reveal", "faces", *both, "--submission", "older:scores.csv", "--accept-dev", expect=2
    )["error"]
    assert error["code"] == "not-calibrated"
    assert "older:detector" in error["message"]
    clean(shell)


def test_the_ladder_opens_rung_by_rung(at: Callable[[str], Shell]) -> None:
    shell = at("calibrated")
    run = ("run", "faces", "differential", "--submission", "contraste-likeness.csv")
    tuned = (
        "run",
        "faces",
        "differential",
        "--submission",
        "contraste-likeness-tuned.csv",
        "--rung",
        "tuned",
    )
    assert refused(shell, *tuned) == "earlier-rungs-first"
    assert shell.json(*run, expect=3)["confirmatory"]
    assert refused(shell, *run, "--rung", "other") == "not-a-training-rung"
    assert shell.json(*tuned, "--dry-run")["dry_run"]
    made = shell.json(*tuned, expect=3)
    assert made["rung"] == "tuned"
    (ran,) = [each["rung"] for each in made["analyses"][0]["tables"]["rungs"] if each["ran"]]
    assert ran == "tuned"
    turned = (shell.folder / "contraste-pairs.csv").read_text().replace("contraste-0,a,0", "contraste-0,a,1")
    (shell.folder / "corrected.csv").write_text(turned)
    corrected = shell.json("erratum", made["result"], "corrected.csv", "--reason", "a twin", expect=3)
    assert corrected["rung"] == "tuned", "of the same mitigation"
    assert [each["rung"] for each in corrected["analyses"][0]["tables"]["rungs"] if each["ran"]] == ["tuned"]
    assert "tuned" in shell.lacre("show", made["result"]).out
    clean(shell)
