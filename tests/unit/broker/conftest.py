"""A small study on real files, through the Python API."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.dates import LABELLED
from tests.secrets.canaries import CANARY, COLUMN

import lacre

PROTOCOL = """
lacre: 1
study: {study}
title: Errors by sex
question: Does it err more often for one sex?
language: en
data: {{identifiable: false, prior_exposure: none}}
{systems}
tables:
  cases:
    key: case_id
    columns:
      case_id: {{type: text}}
      code: {{type: text, is: input}}
      label: {{type: outcome, positive: "1", negative: "0"}}
      prediction: {{type: outcome, positive: "1", negative: "0", from: submission}}
      sex: {{type: category, values: [female, male], is: input}}
      labelled_at: {{type: time, is: labelled}}
      diario: {{type: text}}
pools:
  dev: {{tables: [cases]}}
  teste: {{tables: [cases], planned: {{cases: 200}}}}
  contraste: {{tables: [cases]}}
analyses:
  parity: {{kind: group_fairness, pool: teste, table: cases, label: label, prediction: prediction,
           attributes: [sex], criteria: [{{id: gap, metric: error, by: [sex], max_group_gap: {gap}}}]}}
  rehearsal: {{kind: group_fairness, pool: dev, table: cases, label: label, prediction: prediction,
              attributes: [sex], criteria: [{{id: gap, metric: error, by: [sex], max_group_gap: {gap}}}]}}
  differential: {{kind: group_fairness, pool: contraste, table: cases, label: label, prediction: prediction,
                 attributes: [sex], criteria: [{{id: gap, metric: error, by: [sex], max_group_gap: {gap}}}]}}
"""


@dataclass
class Study:
    """A ledger with one study in it, and the files it is sealed from."""

    folder: Path
    ledger: lacre.Ledger
    made: dict[str, Path] = field(default_factory=dict)

    def protocol(self, study: str = "parity", systems: str = "", gap: str = "0.9") -> Path:
        """A protocol file; with its wide gap the analyses pass."""
        path = self.folder / f"{study}.yaml"
        path.write_text(PROTOCOL.format(study=study, systems=systems, gap=gap))
        return path

    def cases(self, first: int, count: int = 200, *, labelled: str = LABELLED, tag: str = "c") -> Path:
        """`count` cases from number `first` on, half of each sex, labels alternating by twos."""
        path = self.folder / f"cases-{tag}-{first}-{count}.csv"
        lines = [f"case_id,code,label,sex,labelled_at,{COLUMN}"]
        for n in range(first, first + count):
            sex = "female" if n % 2 else "male"
            lines.append(f"{n:06d},{tag}{n * 7919},{n // 2 % 2},{sex},{labelled},{CANARY}")
        path.write_text("\n".join(lines) + "\n")
        return path

    def predictions(self, first: int, count: int = 200, *, wrong: int = 0, name: str = "predictions") -> Path:
        """Right predictions for those cases, but for the first `wrong`."""
        path = self.folder / f"{name}-{first}-{count}-{wrong}.csv"
        lines = ["case_id,prediction"]
        for at, n in enumerate(range(first, first + count)):
            label = n // 2 % 2
            lines.append(f"{n:06d},{1 - label if at < wrong else label}")
        path.write_text("\n".join(lines) + "\n")
        return path

    def begin(self, study: str = "parity", **protocol: Any) -> None:
        """Register the study."""
        self.ledger.register(self.protocol(study, **protocol))

    def seal(self, pool: str, first: int, study: str = "parity", **more: Any) -> Any:
        """Seal a pool with the cases from `first` on."""
        return self.ledger.seal(study, pool, self.cases(first), **more)

    def reopened(self, state: Path | None = None) -> lacre.Ledger:
        """The same ledger, opened anew."""
        return lacre.open(self.folder, state=state)

    @property
    def size(self) -> int:
        """The number of entries."""
        return self.ledger.status().size


@pytest.fixture
def study(tmp_path: Path) -> Iterator[Study]:
    """A fresh ledger in a folder of its own."""
    ledger = lacre.init(tmp_path, name="Ana")
    yield Study(tmp_path, ledger)
    ledger.close()


@pytest.fixture
def another(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], Study]]:
    """More ledgers, on the same machine."""
    made: list[Study] = []

    def make() -> Study:
        folder = tmp_path_factory.mktemp("other")
        made.append(Study(folder, lacre.init(folder, name="Rui")))
        return made[-1]

    yield make
    for each in made:
        each.ledger.close()
