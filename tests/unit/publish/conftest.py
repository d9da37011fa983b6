"""One ledger with two studies, made once; its register and its bundles."""

from __future__ import annotations

import csv
import hashlib
import io
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.secrets.canaries import CANARY, COLUMN

import lacre
from lacre.api import Ledger
from lacre.audit.audit import audit
from lacre.audit.files import FolderFiles, HeldFiles
from lacre.audit.register import RegisterSource
from lacre.audit.report import AuditReport
from lacre.publish.archive import unpack
from lacre.report.views import Result

PROTOCOL = """
lacre: 1
study: {study}
title: Loan screen
question: Does it miss good applicants more often in one group than in another?
language: en
data: {{identifiable: false, prior_exposure: none}}
tables:
  cases:
    key: case_id
    unit: case_id
    columns:
      case_id: {{type: text}}
      label: {{type: outcome, positive: "1", negative: "0"}}
      prediction: {{type: outcome, positive: "1", negative: "0", from: submission}}
      sex: {{type: category, values: [female, male], is: input}}
pools:
  dev: {{tables: [cases]}}
  teste: {{tables: [cases], planned: {{cases: 80}}}}
analyses:
  parity:
    kind: group_fairness
    pool: teste
    table: cases
    label: label
    prediction: prediction
    attributes: [sex]
    criteria:
      - {{id: gap, metric: error, by: [sex], max_group_gap: 0.5}}
      - {{id: worst, metric: false_positive, by: [sex], worst_group: {{max: 0.4}}}}
"""


def table(rows: list[dict[str, str]], path: Path) -> Path:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    path.write_text(text.getvalue())
    return path


def cases(prefix: str) -> list[dict[str, str]]:
    return [
        {
            "case_id": f"{prefix}{number}",
            "label": str(number % 2),
            "sex": ("female", "male")[number // 2 % 2],
            COLUMN: CANARY,
        }
        for number in range(80)
    ]


def live(ledger: Ledger, folder: Path, study: str, *, reason: str | None = None) -> str:
    """Take a study from its registration to its result; return the result's name."""
    ledger.register(PROTOCOL.format(study=study).encode())
    rows = cases(study)
    ledger.seal(study, "teste", str(table(rows, folder / f"{study}.csv")))
    predictions = [
        {"case_id": row["case_id"], "prediction": row["label"] if number % 5 else "1"}
        for number, row in enumerate(rows)
    ]
    submission = table(predictions, folder / f"{study}-predictions.csv")
    result = ledger.reveal(study, str(submission), reason=reason)
    assert isinstance(result, Result)
    return result.name


@dataclass
class World:
    """The ledger, and what was exported of it."""

    ledger: Ledger
    folder: Path
    registry: Path
    bundle: Path
    redacted: Path
    result: str
    other: str

    @property
    def study(self) -> str:
        return self.result.partition("@")[0]

    def copy(self, to: Path) -> Path:
        """A copy of the register to tamper with."""
        shutil.copytree(self.registry, to)
        return to


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("world")
    with lacre.init(folder, name="Ana", origin="example.org/log", state=folder / "state") as ledger:
        other = live(ledger, folder, "other", reason="because it is there")
        result = live(ledger, folder, "screen")
        registry = folder / "registry"
        ledger.export_registry(registry)
        bundle, redacted = folder / "r.zip", folder / "only.zip"
        ledger.export(result, bundle)
        ledger.export(result, redacted, only_study=True)
        yield World(ledger, folder, registry, bundle, redacted, result, other)


@pytest.fixture(scope="session")
def files(world: World) -> dict[str, bytes]:
    """The files of the register."""
    return held(world.registry)


@pytest.fixture(scope="session")
def bundled(world: World) -> dict[str, bytes]:
    """The files of the bundle."""
    return unpack(world.bundle.read_bytes())


def held(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def audited(files: dict[str, bytes]) -> AuditReport:
    """Audit a register in memory."""
    return audit(RegisterSource(HeldFiles(files)))


def audited_folder(folder: Path) -> AuditReport:
    return audit(RegisterSource(FolderFiles(folder)))


def codes(report: AuditReport) -> set[str]:
    """The codes of the findings; whatever is noted has words."""
    assert all(each.message for each in (*report.findings, *report.warnings))
    return {each.code for each in report.findings}


def warnings(report: AuditReport) -> set[str]:
    return {each.code for each in report.warnings}


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
