"""A ledger with an entry of every kind that is built, read with JSON, SQLite and zip alone, as by a stranger."""

import base64
import hashlib
import hmac
import json
import sqlite3
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from tests.studies import plan

import lacre
from lacre import api
from lacre.report.views import Result

CHUNK, HEAD, TAG = 16_384, 24 + 32, 16  # bytes: of a chunk, of salt and commitment, of an AEAD's tag
ROOT = Path(__file__).resolve().parents[2]
VECTORS = ROOT / "tests" / "vectors"

PROTOCOL = plan(
    "life",
    columns={"note": "{type: text, is: input}"},
    tables="""\
  visits:
    key: visit_id
    columns:
      visit_id: {type: text}
      case_id: {type: text}
""",
    pools={"dev": "", "teste": "tables: [cases, visits]"},
)


@dataclass(frozen=True)
class Envelope:
    """A DSSE envelope as JSON has it: what was signed, and (key id, signature) of each that signed it."""

    kind: str
    payload: bytes
    signatures: tuple[tuple[str, bytes], ...]

    @classmethod
    def of(cls, value: dict[str, Any]) -> "Envelope":
        signed = [(each["keyid"], base64.b64decode(each["sig"])) for each in value["signatures"]]
        return cls(value["payloadType"], base64.b64decode(value["payload"]), tuple(signed))

    def as_json(self) -> dict[str, Any]:
        signed = [{"keyid": keyid, "sig": base64.b64encode(sig).decode()} for keyid, sig in self.signatures]
        return {
            "payload": base64.b64encode(self.payload).decode(),
            "payloadType": self.kind,
            "signatures": signed,
        }

    @property
    def document(self) -> dict[str, Any]:
        loaded: dict[str, Any] = json.loads(self.payload)
        return loaded

    @property
    def pae(self) -> bytes:
        """DSSE v1.0: ``DSSEv1 SP LEN(type) SP type SP LEN(body) SP body``, lengths in bytes, in decimal."""
        head = f"DSSEv1 {len(self.kind.encode())} {self.kind} {len(self.payload)} "
        return head.encode() + self.payload


@dataclass(frozen=True)
class Log:
    """The entries of a log, read by JSON alone."""

    entries: tuple[Envelope, ...]

    @classmethod
    def of(cls, leaves: list[bytes]) -> "Log":
        return cls(tuple(Envelope.of(json.loads(leaf)) for leaf in leaves))

    @classmethod
    def in_database(cls, path: Path) -> "Log":
        with sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True) as database:
            found = database.execute('SELECT envelope FROM entries ORDER BY "index"').fetchall()
        database.close()
        return cls.of([leaf for (leaf,) in found])

    @classmethod
    def in_bundle(cls, data: bytes) -> "Log":
        """C2SP tlog-tiles: each entry after its length, in two bytes."""
        leaves = []
        while data:
            length = int.from_bytes(data[:2], "big")
            leaves.append(data[2 : 2 + length])
            data = data[2 + length :]
        return cls.of(leaves)

    @property
    def kinds(self) -> list[str]:
        return [entry.document["predicateType"].split(":")[2] for entry in self.entries]

    @property
    def requests(self) -> list[Envelope]:
        """The signed request inside each entry that answers one."""
        predicates = [entry.document["predicate"] for entry in self.entries]
        return [Envelope.of(each["request"]) for each in predicates if "request" in each]

    @property
    def keys(self) -> dict[str, bytes]:
        """Each key that was ever enrolled, raw, by its id: the SHA-256 of those 32 bytes."""
        first = [key["public"] for key in self.entries[0].document["predicate"]["keys"]]
        asked = [request.document for request in self.requests]
        later = [each["public"] for each in asked if each["verb"] == "key"]
        raw = [bytes.fromhex(public) for public in first + later]
        return {hashlib.sha256(key).hexdigest(): key for key in raw}


@dataclass(frozen=True)
class Life:
    """A ledger in which every verb was called, what was sealed in it, and the file of a custodian's identity."""

    folder: Path
    files: dict[str, list[Path]]
    custodian: Path

    @property
    def log(self) -> Log:
        return Log.in_database(self.folder / ".lacre" / "ledger.db")

    @property
    def own(self) -> Path:
        return self.folder / ".lacre" / "keys" / "identity.age"

    def blobs(self, pool: str) -> Path:
        return self.folder / ".lacre" / "pools" / "life" / pool

    @property
    def bundle(self) -> zipfile.ZipFile:
        return zipfile.ZipFile(self.folder / "result.zip")


# --- C2SP chunked-encryption, from the words of https://c2sp.org/chunked-encryption alone ----------------------


def chunk_keys(key: bytes, salt: bytes, context: bytes) -> tuple[bytes, bytes, bytes]:
    """The AEAD's key (32 bytes), the base nonce (12) and the commitment (32): HKDF-Expand (RFC 5869 section 2.3)."""
    info = b"c2sp.org/chunked-encryption@v1+AEAD_AES_256_GCM\0" + salt + context
    found, block = b"", b""
    for number in (1, 2):
        block = hmac.digest(key, block + info + bytes([number]), "sha512")
        found += block
    return found[:32], found[32:44], found[44:76]


def open_chunks(key: bytes, context: bytes, ciphertext: bytes) -> Iterator[bytes]:
    """Yield the message in chunks; `InvalidTag` where it is not, whole, what was encrypted with key and context."""
    salt, said = ciphertext[:24], ciphertext[24:HEAD]
    sealing, base, commitment = chunk_keys(key, salt, context)
    if len(ciphertext) < HEAD + TAG or said != commitment:
        raise InvalidTag
    for number in range((len(ciphertext) - HEAD) // (CHUNK + TAG) + 1):
        start = HEAD + number * (CHUNK + TAG)
        chunk = ciphertext[start : start + CHUNK + TAG]
        if len(chunk) < TAG:
            raise InvalidTag
        nonce = (int.from_bytes(base, "big") ^ number).to_bytes(12, "big")
        yield AESGCM(sealing).decrypt(nonce, chunk, None)


def _cases(folder: Path, first: int) -> tuple[Path, Path]:
    cases, predictions = ["case_id,note,label,sex"], ["case_id,prediction"]
    for n in range(first, first + 120):
        cases.append(f"{n},note {n * 7919},{n // 2 % 2},{'female' if n % 2 else 'male'}")
        predictions.append(f"{n},{n // 2 % 2}")
    made = folder / f"cases-{first}.csv", folder / f"predictions-{first}.csv"
    for path, lines in zip(made, (cases, predictions), strict=True):
        path.write_text("\n".join(lines) + "\n")
    return made


@pytest.fixture(scope="session")
def life(tmp_path_factory: pytest.TempPathFactory) -> Life:
    folder = tmp_path_factory.mktemp("life")
    plan = folder / "protocol.yaml"
    plan.write_text(PROTOCOL)
    dev, rehearsed = _cases(folder, 0)
    teste, predicted = _cases(folder, 1000)
    visits = folder / "visits.csv"
    visits.write_text("visit_id,case_id\n" + "".join(f"v{n},{1000 + n % 120}\n" for n in range(300)))
    corrected = folder / "corrected.csv"
    head, line, *lines = teste.read_text().splitlines()
    corrected.write_text("\n".join([head, line.replace(",0,", ",1,"), *lines]) + "\n")
    tables = [f"cases={teste}", f"visits={visits}"]
    custodian = api.new_identity(folder / "custodian.txt")
    with api.init(folder, name="Ana", origin="example.org/life", state=folder / "state") as ledger:
        own = (folder / ".lacre/keys/identity.age").read_text().split("public key: ")[1].split()[0]
        (folder / "receipt").write_bytes(ledger.register(plan).receipt)
        ledger.seal("life", "dev", dev)
        ledger.run("life", "parity", rehearsed, pool="dev")
        ledger.seal("life", "teste", tables, recipients=[own, custodian.recipient])
        ledger.inputs("life", "teste", folder / "inputs.csv", table="cases", reason="to predict on")
        lacre.new_key(folder / "rui.pem")
        ledger.enrol(folder / "rui.pem", "registrant", name="Rui")
        ledger.deviate("life", "One site joined a month late.")
        ledger.amend(plan.read_text().replace("Errors by", "Errors, by").encode(), reason="a clearer title")
        ledger.request_reveal("life", predicted, folder / "request.lacre", reason="now")
        result = ledger.answer_reveal(folder / "request.lacre")
        assert isinstance(result, Result)
        ledger.rotate("broker")
        ledger.rotate("log")
        ledger.erratum(result.name, f"cases={corrected}", reason="a label")
        ledger.rewrap("life", "teste", custodian.recipient, reason="she keeps it now")
        ledger.revoke(str(folder / "rui.pem"), reason="left")
        ledger.erase("@0")
        ledger.export(result.name, folder / "result.zip")
        ledger.export_registry(folder / "register")
        ledger.withdraw("life", reason="it was an example")
        assert ledger.audit().ok
    return Life(folder, {"dev": [dev], "teste": [teste, visits]}, folder / "custodian.txt")
