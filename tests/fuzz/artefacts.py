"""Real artefacts for the fuzzers to begin from: a small study's whole life, lived once in a folder of its own."""

import csv
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from tests.studies import plan

from lacre import api
from lacre.canonical import sha256_hex
from lacre.ledger.envelope import PAYLOAD_ENTRY, PAYLOAD_REQUEST, Envelope
from lacre.ledger.keys import PrivateKey
from lacre.ledger.tiles import unpack as unpack_entries
from lacre.publish.archive import unpack
from lacre.report.views import Result

PROTOCOL = plan(
    attribute={"sex": "{type: category, values: [female, male], is: input}"},
    pools={"dev": "", "teste": "tables: [cases], planned: {cases: 80}"},
)
FAIRNESS = """\
fairness:
  name: Triage of loans
  cases: data/loans.csv
  label: default
  prediction: {column: decision, positive: "yes", negative: "no"}
  probability: score
  attributes: {sex: [F, M], age: [young, old]}
  intersections: [[sex, age]]
  min_cell: 30
  unit: person_id
  calibration_bins: 10
  rules:
    - {id: gap, rate: false_negative, attribute: sex, max_group_gap: 0.05}
    - {id: worst, rate: error, attribute: "sex*age", worst_group: 0.25, max_left_out: 0.1}
"""


def rows_of(first: int, columns: Mapping[str, Any], count: int = 80) -> bytes:
    """A CSV file of `count` cases; a column's cells are made of the case's number."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["case_id", *columns])
    writer.writerows(
        [f"{n:04d}", *(make(n) for make in columns.values())] for n in range(first, first + count)
    )
    return text.getvalue().encode()


@dataclass(frozen=True)
class Artefacts:
    """What a ledger in `folder` left of one study: its bundle's files, keys, request, memory."""

    folder: Path
    result: str

    @cached_property
    def files(self) -> dict[str, bytes]:
        """The bundle's files."""
        return unpack(self.bundle)

    @cached_property
    def bundle(self) -> bytes:
        """The bundle."""
        return (self.folder / "result.zip").read_bytes()

    @cached_property
    def entries(self) -> list[bytes]:
        """The log's entries."""
        paths = sorted(path for path in self.files if path.startswith("tile/entries/"))
        return [entry for path in paths for entry in unpack_entries(self.files[path])]

    @cached_property
    def statements(self) -> list[bytes]:
        """What the entries say."""
        return [Envelope.decode(data, payload_type=PAYLOAD_ENTRY).payload for data in self.entries]

    @cached_property
    def requests(self) -> list[bytes]:
        """What was asked for."""
        asked = (json.loads(statement)["predicate"].get("request") for statement in self.statements)
        return [Envelope.from_json(each, payload_type=PAYLOAD_REQUEST).payload for each in asked if each]

    def key(self, name: str) -> PrivateKey:
        """One of the ledger's keys."""
        return PrivateKey.from_pkcs8(self.read(f".lacre/keys/{name}.pem"))

    def read(self, name: str) -> bytes:
        """A file by its path below the folder."""
        return (self.folder / name).read_bytes()

    def memory(self, name: str) -> bytes:
        """A file of what the machine remembers of the ledger."""
        (found,) = (self.folder / "state" / "ledgers").glob(f"*/{name}")
        return found.read_bytes()

    def document(self, name: str) -> bytes:
        """A document of the study, by the name of its copy."""
        return next(data for path, data in self.files.items() if path.startswith(f"small/{name}@"))


def make(folder: Path) -> Artefacts:
    """Live the study in an empty folder."""
    labels = {"label": lambda n: n // 2 % 2, "sex": lambda n: ("male", "female")[n % 2]}
    right = {"prediction": labels["label"]}
    for name, body in {
        "dev.csv": rows_of(0, labels),
        "teste.csv": rows_of(1000, labels),
        "right.csv": rows_of(1000, right),
        "rehearsed.csv": rows_of(0, right),
    }.items():
        (folder / name).write_bytes(body)
    other = api.new_identity(folder / "other.age")
    with api.init(folder, name="Ana", origin="example.org/fuzz", state=folder / "state") as ledger:
        registered = ledger.register(PROTOCOL.encode())
        (folder / "small.receipt").write_bytes(registered.receipt)
        ledger.seal("small", "dev", folder / "dev.csv")
        ledger.seal("small", "teste", folder / "teste.csv", recipients=[other.recipient])
        ledger.request_reveal("small", folder / "right.csv", folder / "asked.lacre", reason="as planned")
        answer = ledger.answer_reveal(folder / "asked.lacre", identity=folder / "other.age")
        assert isinstance(answer, Result)
        changed = PROTOCOL.replace("Errors by sex", "Errors, by sex").encode()
        ledger.amend(changed, reason="a comma", accept_burn=True)
        ledger.deviate(answer.name, "One site was closed.\nOn Mondays.")
        ledger.backup_keys(folder / "keys.tar", passphrase=None)
        ledger.export(answer.name, folder / "result.zip")
    return Artefacts(folder, answer.name)


def digest(data: bytes) -> str:
    """The SHA-256, in hexadecimal."""
    return sha256_hex(data)
