"""One small study taken through its life, and every outcome its verbs gave; made once for all tests."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from tests import faces, growing, open_corpus

from lacre import api
from lacre.broker.outcomes import ReadPlanned, ResultShown
from lacre.errors import LacreError
from lacre.pools.seal import Identity
from lacre.protocol import templates

PROTOCOL = """
lacre: 1
study: screen
title: Screen, parity of misses
question: Does the screen miss more often in one group?
language: en
data: {identifiable: false, prior_exposure: none}
tables:
  cases:
    key: id
    columns:
      id: {type: text}
      sex: {type: category, values: [female, male, other], is: input}
      label: {type: outcome, positive: "1", negative: "0"}
      prediction: {type: outcome, positive: "1", negative: "0", from: submission}
      score: {type: number, min: 0, max: 1, from: submission}
pools:
  dev: {tables: [cases], planned: {cases: 900}}
  teste: {tables: [cases], planned: {cases: 300}}
analyses:
  parity:
    kind: group_fairness
    pool: teste
    table: cases
    label: label
    prediction: prediction
    probability: score
    calibration_bins: 4
    attributes: [sex]
    criteria:
      - {id: misses, metric: false_negative, by: [sex], max_group_gap: 0.05}
      - {id: alarms, metric: false_positive, by: [sex], worst_group: {max: 0.25}}
"""

HOSTILE = "Ana [red]\x1b[31mLima\x07"
"""A name that markup or a terminal would obey."""


@dataclass(frozen=True)
class Life:
    """What each verb gave, by the name of the outcome."""

    folder: Path
    outcomes: Mapping[str, Any]
    refused: LacreError


def cases(prefix: str, count: int) -> tuple[str, str]:
    """A pool and a submission: half positive; a fifth of the women is missed, no man; `other` is rare."""
    pool, submission = ["id,sex,label,unused"], ["id,prediction,score,extra"]
    for number in range(count):
        sex = "other" if number % 100 == 99 else ("female", "male")[number % 2]
        label = number // 2 % 2
        missed = sex == "female" and label == 1 and number % 10 < 2
        prediction = "" if number == 4 else str(label if not missed else 0)
        pool.append(f"{prefix}{number},{'unknown' if number == 7 else sex},{label},x")
        submission.append(f"{prefix}{number},{prediction},{0.25 + label / 2},y")
    return "\n".join(pool) + "\n", "\n".join(submission) + "\n"


def changes(ledger: api.Ledger, folder: Path, result: str) -> dict[str, Any]:
    """What every verb that changes a study gives, one after the other, and how the study is shown then."""
    found: dict[str, Any] = {}
    amended = PROTOCOL.replace("title: Screen,", "title: A screen,").encode()
    found["amend-planned"] = ledger.amend(amended, reason=HOSTILE, dry_run=True)
    found["amended"] = ledger.amend(amended, reason=HOSTILE)
    found["deviated"] = ledger.deviate("screen", f"Two clinics\n\n{HOSTILE}, joined late")
    ledger.deviate(result, "=cmd|' /C calc'!A0")
    lines = (folder / "teste.csv").read_text(encoding="utf-8").splitlines()
    lines[1] = lines[1].replace(",0,", ",1,")
    (folder / "corrected.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    found["erratum"] = ledger.erratum(result, folder / "corrected.csv", reason=HOSTILE)
    found["corrected"] = ledger.show(result)
    found["amend-entry"] = ledger.show(f"@{found['amended'].entry}")
    found["deviate-entry"] = ledger.show(f"@{found['deviated'].entry}")
    found["withdrawn"] = ledger.withdraw("screen", reason="consent was taken back")
    found["withdrawn-study"] = ledger.show("screen")
    found["withdrawn-result"] = ledger.show(result)
    found["withdrawn-status"] = ledger.status()
    found["deviations"] = ledger.deviations("screen")
    found["changed-log"] = ledger.log("screen")
    found["changed-story"] = ledger.audit(found["erratum"].name)
    return found


def requests(ledger: api.Ledger, folder: Path) -> dict[str, Any]:
    """A read that is asked of somebody else, and looked at by them; nothing of it is on record."""
    scores, file = folder / "teste-scores.csv", folder / "ask.lacre"
    found: dict[str, Any] = {
        "requested": ledger.request_reveal("screen", scores, file, accept_dev=True, reason=HOSTILE),
        "request-looked-at": ledger.answer_reveal(file, dry_run=True),
    }
    return found


def recovered(folder: Path, state: Path) -> Any:
    """What a recovery from an older copy gives, where a sealed file and a document are lost for good."""
    shutil.copyfile(folder / "older.db", folder / ".lacre" / "ledger.db")
    next((folder / ".lacre" / "pools").rglob("*.submission")).unlink()
    for path in state.glob("ledgers/*/documents/*"):
        if b"lacre.difference+json" in path.read_bytes()[:120]:
            path.unlink()
    with api.open(folder, state=state) as ledger:
        return ledger.recover()


def amplified(folder: Path, state: Path) -> Any:
    """What making variants gives, in a ledger of its own: of an image on its side, and of one that is none."""
    (folder / "photos").mkdir(parents=True)
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.new("RGB", (4, 2)).save(folder / "photos" / "side.png", exif=exif)
    (folder / "photos" / HOSTILE).write_bytes(b"")
    declared = (
        f"{PROTOCOL}variants:\n  original: {{}}\n  half: {{scale: 0.5}}\n  grand: {{scale: 100, gamma: 2}}\n"
    )
    with api.init(folder, state=state) as ledger:
        ledger.register(declared.encode())
        ledger.amplify("screen", folder / "photos", folder / "out")
        (folder / "photos" / "side.png").rename(folder / "photos" / "side.jpg")
        return ledger.amplify("screen", folder / "photos", folder / "out")


def grounds(folder: Path, state: Path) -> dict[str, Any]:
    """What draws, calibrations, second labels and the other pools give, in a ledger of their own."""
    folder.mkdir()
    faces.write_before(folder)
    found: dict[str, Any] = {}
    with api.init(folder, state=state) as ledger:
        ledger.register(templates.read("faces").encode())
        found["sampled"] = ledger.sample("my-faces", "faces", folder / "frame.csv", folder / "drawn.csv")
        faces.write_faces(folder, "t", faces.read(folder / "drawn.csv"))
        tables = ("images", "faces", "variants")
        ledger.seal("my-faces", "dev", [f"{name}={folder}/d-{name}.csv" for name in (*tables, "pairs")])
        scored = [f"faces={folder}/d-scores.csv", f"pairs={folder}/d-similarities.csv"]
        found["calibrated"] = ledger.calibrate("my-faces", scored)
        ledger.seal("my-faces", "teste", [f"{name}={folder}/t-{name}.csv" for name in tables])
        found["relabels-out"] = ledger.sample_relabels("my-faces", "faces", folder / "blank.csv")
        faces.write_again(folder)
        found["relabels-kept"] = ledger.commit("my-faces", "relabels", folder / "again.csv")
        answers = zip(tables, ("found", "scores", "changed"), strict=True)
        found["faces"] = ledger.reveal(
            "my-faces", [f"{name}={folder}/t-{file}.csv" for name, file in answers]
        )
        ledger.seal("my-faces", "contraste", folder / "c-pairs.csv")
        found["differential"] = ledger.run("my-faces", "differential", folder / "c-similarities.csv")
        ledger.seal("my-faces", "guarda", folder / "g-images.csv")
        found["gate"] = ledger.gate("my-faces", folder / "g-found.csv")
    return found


def in_the_open(folder: Path, state: Path) -> dict[str, Any]:
    """What the first part of an open pool gives: fewer cases than planned, and a column that is not declared."""
    folder.mkdir()
    with api.init(folder, state=state) as ledger:
        ledger.register(open_corpus.plan().encode())
        cases = open_corpus.cases(folder, 20)
        head, *rows = cases.read_text().splitlines()
        cases.write_text("\n".join([f"{head},{HOSTILE}", *(f"{row},x" for row in rows)]) + "\n")
        return {"part-kept": ledger.commit("judge", "cases", cases)}


def grown(folder: Path, state: Path) -> dict[str, Any]:
    """What a rebalance gives, and a result on a corpus that grew."""
    folder.mkdir()
    old, new = growing.cases_of(growing.PARADOX), growing.cases_of({("low", "low"): 40}, 100)
    with api.init(folder, state=state) as ledger:
        ledger.register(growing.PLAN.encode())
        growing.commit(ledger, folder, old)
        ledger.run("judge", "agreement")
        found: dict[str, Any] = {
            "rebalanced": ledger.rebalance("judge", folder / "again.csv", reason=HOSTILE)
        }
        growing.commit(ledger, folder, {**old, **new}, {**growing.drawn(folder / "again.csv", old), **new})
        found["grown"] = ledger.run("judge", "agreement")
        found["grown-story"] = ledger.audit(found["grown"].name)
        return found


def keys(folder: Path, state: Path) -> dict[str, Any]:
    """What the verbs about keys give, and an erasure, in a ledger of their own."""
    folder.mkdir()
    found: dict[str, Any] = {"key-made": api.new_key(folder / "ana.pem", name=HOSTILE)}
    found["identity-made"] = api.new_identity(folder / "ana.age")
    with api.init(folder, name=HOSTILE, state=state) as ledger:
        found["enrolled"] = ledger.enrol(found["key-made"].public, "registrant", "custodian", name=HOSTILE)
        found["rotated"] = ledger.rotate("person")
        found["rotated-log"] = ledger.rotate("log")
        found["revoked"] = ledger.revoke(found["key-made"].keyid, reason=HOSTILE)
        found["erased"] = ledger.erase("@1")
        found["keys"] = ledger.keys()
        found["keys-status"] = ledger.status()
        found["keys-audit"] = ledger.audit()
        found["keys-log"] = ledger.log()
        found["backed-up"] = ledger.backup_keys(folder / "keys.tar", passphrase=None)
        (folder / ".lacre" / "keys" / "log.pem").unlink()
        found["keys-recovered"] = ledger.recover_keys(folder / "keys.tar")
    return found


@pytest.fixture(scope="session")
def life(tmp_path_factory: pytest.TempPathFactory) -> Life:
    """Take the study from its ledger to its audit."""
    folder = tmp_path_factory.mktemp("life")
    state = folder / "state"
    (folder / "protocol.yaml").write_text(PROTOCOL, encoding="utf-8")
    for pool in ("dev", "teste"):
        held, submitted = cases(pool, 200)
        (folder / f"{pool}.csv").write_text(held, encoding="utf-8")
        (folder / f"{pool}-scores.csv").write_text(submitted, encoding="utf-8")
    scores = [folder / "teste-scores.csv"]
    made = api.init(folder, name=HOSTILE, origin="lab.example/bias", state=state)
    with made as ledger:
        found: dict[str, Any] = {"made": ledger.made, "empty": ledger.status()}
        found["checked"] = api.check(folder / "protocol.yaml")
        found["registered"] = ledger.register(folder / "protocol.yaml")
        found["waiting"] = ledger.status()
        found["sealed"] = ledger.seal("screen", "teste", [folder / "teste.csv"])
        found["unread"] = ledger.status()
        shutil.copyfile(folder / ".lacre" / "ledger.db", folder / "older.db")
        found["inputs"] = ledger.inputs("screen", "teste", folder / "inputs.csv")
        found["planned"] = ledger.reveal("screen", scores, dry_run=True)
        found["result"] = ledger.reveal("screen", scores, reason="\x1b[2Jbecause")
        with pytest.raises(LacreError) as refused:
            ledger.reveal("screen", scores)
        found["replanned"] = ledger.reveal("screen", scores, accept_dev=True, dry_run=True)
        found["again"] = ledger.reveal("screen", scores, accept_dev=True)
        ledger.seal("screen", "dev", [folder / "dev.csv"])
        found["rehearsed"] = ledger.run("screen", "parity", [folder / "dev-scores.csv"], pool="dev")
        found["status"] = ledger.status()
        found["log"] = ledger.log()
        found["study"] = ledger.show("screen")
        found["entry"] = ledger.show("@4")
        found["genesis"] = ledger.show("@0")
        found["audit"] = ledger.audit()
        result, again = found["result"], found["again"]
        found["story"] = ledger.audit(result.name)
        found["told-again"] = ledger.audit(again.name)
        found["seen-again"] = ledger.show(result.name)
        found["register"] = ledger.export_registry(folder / "registry")
        found["exported"] = ledger.export(result.name, folder / "r.zip")
        found["verified"] = api.verify(folder / "r.zip")
        (folder / "leaks").mkdir()
        shutil.copyfile(folder / "teste.csv", folder / "leaks" / "kept.csv")
        found["scanned"] = ledger.scan(folder / "leaks")
        found["reported"] = ledger.report(result.name, folder / "report.html")
        found |= requests(ledger, folder)
        found |= changes(ledger, folder, result.name)
        recipient = Identity.generate().recipient
        found["rewrapped"] = ledger.rewrap("screen", "dev", recipient, reason=HOSTILE)
    found["recovered"] = recovered(folder, state)
    found["amplified"] = amplified(folder / "images", state)
    found |= grounds(folder / "faces", state)
    found |= in_the_open(folder / "open", state)
    found |= grown(folder / "grown", state)
    found |= keys(folder / "keys", state)
    assert isinstance(found["planned"], ReadPlanned)
    assert isinstance(result, ResultShown)
    return Life(folder, found, refused.value)
