"""A ledger of some sixty entries that holds every kind of entry there is, and what was copied of it on the way."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests import four_pools, open_corpus
from tests.unit.broker.conftest import Study

import lacre
from lacre.broker import reading
from lacre.ledger.keys import PrivateKey
from lacre.rules.record import parse_entry
from lacre.store.engine import open_ledger
from lacre.store.reader import snapshot

ENTRIES = 62
ORIGIN = "example.org/log"
REGISTRY, BUNDLE, LESS = "registry", "result.zip", "result-only.zip"


@dataclass
class Moment:
    """What was copied when the ledger had `size` entries: a folder with its database, register and bundle."""

    size: int
    folder: Path

    @property
    def database(self) -> Path:
        return self.folder / "ledger.db"

    @property
    def registry(self) -> Path:
        return self.folder / REGISTRY

    @property
    def bundle(self) -> Path:
        return self.folder / BUNDLE


@dataclass
class Life:
    """The ledger, closed: its folder, what is in it, and what was copied on the way.

    `keys` are all that ever signed, by key id; `result` is the result that bundles are of, `moments` are in
    the order of their sizes, and the last is the ledger as it stands.
    """

    folder: Path
    result: str
    datas: list[bytes]
    keys: dict[str, PrivateKey]
    moments: list[Moment] = field(default_factory=list)

    @property
    def root(self) -> Path:
        return self.folder / ".lacre"

    @property
    def now(self) -> Moment:
        return self.moments[-1]

    def kinds(self) -> list[str]:
        return [parse_entry(index, data).kind for index, data in enumerate(self.datas)]


def crashing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a read end after it was spent and before its result is recorded."""

    def die(*_arguments: object, **_more: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(reading, "record_result", die)


class Maker:
    """Lives the life, step by step."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.state = folder / "state"
        self.ledger = lacre.init(folder / "home", name="Ana", origin=ORIGIN, state=self.state)
        self.study = Study(folder, self.ledger)
        self.moments: list[Moment] = []
        self.result = ""
        self.reader_key = folder / "rui.pem"
        self.rui = ""

    def copy(self) -> None:
        """Take copies of the ledger as it is now."""
        folder = self.folder / f"moment-{self.study.size}"
        folder.mkdir()
        shutil.copyfile(self.ledger.folder / "ledger.db", folder / "ledger.db")
        self.ledger.export_registry(folder / REGISTRY)
        if self.result:
            self.ledger.export(self.result, folder / BUNDLE)
            self.ledger.export(self.result, folder / LESS, only_study=True)
        self.moments.append(Moment(self.study.size, folder))

    def live(self) -> None:
        study, ledger = self.study, self.ledger
        study.begin("alpha")
        study.seal("dev", 0, "alpha")
        ledger.run("alpha", "rehearsal", study.predictions(0, wrong=9))
        study.seal("teste", 1000, "alpha")
        study.ledger.seal("alpha", "teste", study.cases(2000), replace=True, reason="it was the wrong file")
        ledger.inputs("alpha", "teste", self.folder / "inputs.csv")
        self.rui = lacre.new_key(self.reader_key).public
        ledger.enrol(self.rui, "registrant", name="Rui")
        self.copy()
        plan = study.protocol("alpha").read_text().replace("Errors by sex", "Errors, by sex").encode()
        ledger.amend(plan, reason="the title was hard to read")
        revealed = ledger.reveal("alpha", study.predictions(2000, wrong=7), reason="table 2")
        self.result = str(revealed.name)
        self.copy()
        ledger.deviate(self.result, "One of the two sites joined a month late.")
        corrected = study.folder / "corrected.csv"
        head, first, *rest = study.cases(2000).read_text().splitlines()
        cells = first.split(",")
        cells[2] = str(1 - int(cells[2]))
        corrected.write_text("\n".join([head, ",".join(cells), *rest]) + "\n")
        ledger.erratum(self.result, corrected, reason="two forms were swapped")
        self.second(study, ledger)
        self.change_keys(ledger)
        custodian = lacre.new_identity(self.folder / "custodian.txt")
        own = str(ledger.status().recipient)
        ledger.rewrap("alpha", "teste", [own, custodian.recipient], reason="she keeps the pools from now on")
        ledger.amend(plan.replace(b"0.9", b"0.8"), reason="it was too lenient", accept_burn=True)
        self.copy()
        study.begin("gamma", gap="0.5")
        ledger.withdraw("gamma", reason="consent was withdrawn")
        self.groundwork(ledger)
        self.in_the_open(ledger)
        words = ledger.deviate("beta", "Words that name somebody.")
        ledger.erase(f"@{words.entry}")
        ledger.rotate("log")  # under way to the end: two keys of the log are active
        for number in range(study.size, ENTRIES):
            ledger.deviate(("alpha", "beta")[number % 2], f"note {number}")
            if number in {ENTRIES - 6, ENTRIES - 2}:
                self.copy()
        self.copy()
        ledger.close()

    def second(self, study: Study, ledger: lacre.Ledger) -> None:
        """A study that fails, is revealed again as dev, and in which a read crashes and is finished."""
        study.begin("beta", gap="0.05")
        study.seal("teste", 5000, "beta")
        failing = study.predictions(5000, wrong=40)
        lines = failing.read_text().splitlines()
        # Right for men again, so that all errors are women's.
        for at in range(1, 41, 2):
            case, said = lines[at].split(",")
            lines[at] = f"{case},{1 - int(said)}"
        failing.write_text("\n".join(lines) + "\n")
        with pytest.MonkeyPatch.context() as patch:
            crashing(patch)
            with pytest.raises(KeyboardInterrupt):
                ledger.reveal("beta", failing)
        ledger.reveal("beta", failing)
        ledger.reveal("beta", study.predictions(5000), accept_dev=True, reason="to see whether it learns")
        study.seal("contraste", 7000, "beta")
        ledger.run("beta", "differential", study.predictions(7000, wrong=3))

    def groundwork(self, ledger: lacre.Ledger) -> None:
        """A study of four pools: cases are drawn, thresholds frozen, labels given twice, and a release is gated."""
        folder = self.study.folder
        four_pools.write_files(folder)
        ledger.register(folder / "faces.yaml")
        ledger.sample("faces", "faces", folder / "frame.csv", folder / "drawn.csv")
        four_pools.write_drawn(folder)
        ledger.seal(
            "faces", "dev", [f"{table}={folder / f'dev-{table}.csv'}" for table in ("faces", "pairs")]
        )
        ledger.seal("faces", "teste", folder / "teste-faces.csv")
        ledger.seal("faces", "guarda", folder / "guarda.csv")
        ledger.calibrate("faces", folder / "dev-scores.csv", thresholds="detector", reason="as registered")
        ledger.sample_relabels("faces", "faces", folder / "blank.csv")
        four_pools.write_again(folder)
        ledger.commit("faces", "relabels", folder / "again.csv")
        ledger.gate("faces", folder / "good.csv", reason="before the release")

    def in_the_open(self, ledger: lacre.Ledger) -> None:
        """A study whose cases, labels and scores stand in the ledger, and are run."""
        folder, few = self.study.folder, 20
        plan = open_corpus.plan(planned=few).encode()
        ledger.register(plan, accept_infeasible="twenty cases show what there is to show")
        ledger.commit("judge", "cases", open_corpus.cases(folder, few))
        ledger.commit("judge", "labels", open_corpus.labels(folder, few))
        ledger.commit("judge", "scores", open_corpus.scores(folder, few))
        ledger.run("judge", "parity")

    def change_keys(self, ledger: lacre.Ledger) -> None:
        """The broker's key and the log's take turns; Rui leaves."""
        first = next(each for each in ledger.keys().keys if "log" in each.roles)
        ledger.rotate("broker")
        ledger.rotate("log")
        ledger.deviate("beta", "Between two keys of the log.")
        self.copy()
        ledger.revoke(first.keyid)
        ledger.revoke(self.rui, reason="he left")


def entries_of(database: Path) -> list[bytes]:
    """The envelopes of a ledger's database."""
    engine = open_ledger(database)
    try:
        with snapshot(engine) as reader:
            return [entry.envelope for entry in reader.entries()]
    finally:
        engine.dispose()


def lived(folder: Path) -> Life:
    """Make the ledger in `folder`, and return what became of it."""
    maker = Maker(folder)
    maker.live()
    keys: dict[str, Any] = {}
    for path in (maker.reader_key, *(folder / "home" / ".lacre" / "keys").glob("*.pem")):
        key = PrivateKey.from_pkcs8(path.read_bytes())
        keys[key.public.keyid] = key
    return Life(folder / "home", maker.result, entries_of(maker.moments[-1].database), keys, maker.moments)
