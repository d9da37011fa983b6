"""What lacre signs, checked by openssl: every signature of every kind of entry, of its request, of what is handed out.

The messages, keys and signatures are taken out of the files with JSON and base64 alone (`conftest`), the
pre-authentication encoding is made from the words of DSSE, and lacre has no hand in the check.
"""

import base64
import hashlib
import json
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from lacre.ledger.keys import PrivateKey
from lacre.ledger.statement import KINDS

from .conftest import ROOT, VECTORS, Envelope, Life, Log

Verify = Callable[[bytes, bytes, bytes], bool]
NOT_BUILT = {"commit", "sample", "calibrate", "rebalance"}
SPKI = bytes.fromhex("302a300506032b6570032100")
"""What stands before the 32 bytes of an Ed25519 key in its SubjectPublicKeyInfo (RFC 8410 section 4)."""


@pytest.fixture
def verify(tool: Callable[[str], str], tmp_path: Path) -> Verify:
    """Ask openssl whether a raw key signed a message."""
    command = [tool("openssl"), "pkeyutl", "-verify", "-rawin", "-pubin", "-keyform", "DER"]
    command += ["-inkey", "key", "-in", "message", "-sigfile", "signature"]

    def ask(key: bytes, message: bytes, signature: bytes) -> bool:
        (tmp_path / "key").write_bytes(SPKI + key)
        (tmp_path / "message").write_bytes(message)
        (tmp_path / "signature").write_bytes(signature)
        ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        said = "Signature Verified Successfully" in ran.stdout
        assert said or "Signature Verification Failure" in ran.stdout, ran.stderr
        assert said == (ran.returncode == 0)
        return said

    return ask


def flipped(data: bytes, at: int) -> bytes:
    """The same bytes, but for one bit of the one at `at`."""
    at %= len(data)
    return data[:at] + bytes([data[at] ^ 1 << at % 8]) + data[at + 1 :]


def check(verify: Verify, envelopes: Sequence[Envelope], keys: dict[str, bytes]) -> int:
    """Verify each signature, and that neither another message nor another signature passes; their number."""
    count = 0
    for envelope in envelopes:
        for keyid, signature in envelope.signatures:
            assert verify(keys[keyid], envelope.pae, signature)
            # A place that differs from one to the next, so that every part of message and signature has its turn.
            assert not verify(keys[keyid], flipped(envelope.pae, 7919 * count + 11), signature)
            assert not verify(keys[keyid], envelope.pae, flipped(signature, 13 * count + 5))
            count += 1
    return count


def test_every_signature_of_a_live_log(verify: Verify, life: Life) -> None:
    """Each kind of entry that is built, genesis (signed twice) to erasure; and the request in each but the results."""
    log = life.log
    assert set(log.kinds) == set(KINDS) - NOT_BUILT
    assert check(verify, log.entries, log.keys) == len(log.entries) + 1
    assert len(log.requests) == len(log.entries) - 1 - log.kinds.count("result")
    assert check(verify, log.requests, log.keys) == len(log.requests)


def test_every_signature_of_the_golden_ledger(verify: Verify) -> None:
    log = Log.in_database(VECTORS / "golden-ledger" / "ledger" / "ledger.db")
    assert (len(log.entries), len(log.requests)) == (11, 7)
    assert check(verify, log.entries, log.keys) == 12
    assert check(verify, log.requests, log.keys) == 7


def test_every_signature_of_the_register_of_this_repository(verify: Verify) -> None:
    log = Log.in_bundle((ROOT / "registry" / "tile" / "entries" / "000.p" / "6").read_bytes())
    assert log.kinds == ["genesis", "register", "seal", "read", "result", "deviate"]
    assert check(verify, log.entries, log.keys) == 7
    assert check(verify, log.requests, log.keys) == 4


def test_no_key_signs_for_another(verify: Verify, life: Life) -> None:
    """An entry under the key of whoever asked, and a request under the broker's."""
    log = life.log
    entry, request = log.entries[1], log.requests[0]
    (broker, signed), (person, asked) = entry.signatures[0], request.signatures[0]
    assert broker != person
    assert not verify(log.keys[person], entry.pae, signed)
    assert not verify(log.keys[broker], request.pae, asked)


def test_the_manifest_of_a_bundle_and_a_request_that_is_handed_over(verify: Verify, life: Life) -> None:
    keys = life.log.keys
    manifest = Envelope.of(json.loads(life.bundle.read("manifest")))
    data = (life.folder / "request.lacre").read_bytes().removeprefix(b"lacre-request-v1\n")
    head = json.loads(data[4 : 4 + int.from_bytes(data[:4], "big")])
    request = Envelope.of(head["request"])
    assert request in life.log.requests
    assert check(verify, [manifest, request], keys) == 2


def test_the_checkpoints_of_a_bundle_a_register_and_this_repository(verify: Verify, life: Life) -> None:
    """A note's text is signed as it is; each signature begins with the id of its key (C2SP signed-note)."""
    registry = ROOT / "registry"
    (compas,) = [
        word for word in (registry / "README.md").read_text().split() if word.startswith("lacre/compas+")
    ]
    known = {bytes.fromhex(compas.split("+", 2)[1]): base64.b64decode(compas.split("+", 2)[2])[1:]}
    for raw in life.log.keys.values():
        known[hashlib.sha256(b"example.org/life\n\x01" + raw).digest()[:4]] = raw
    notes = [
        life.bundle.read("checkpoint"),
        (life.folder / "register" / "checkpoint").read_bytes(),
        (registry / "checkpoint").read_bytes(),
    ]
    signatures = []
    for note in notes:
        text, _blank, lines = note.decode().rpartition("\n\n")
        for line in lines.splitlines():
            signed = base64.b64decode(line.rpartition(" ")[2])
            assert verify(known[signed[:4]], f"{text}\n".encode(), signed[4:])
            assert not verify(known[signed[:4]], f"{text}\n\n".encode(), signed[4:])
            signatures.append(line)
    assert len(signatures) == 2 + 2 + 1, "both log keys sign while one takes the other's place"


# --- key files ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("passphrase", [None, b"correct horse"])
def test_openssl_reads_a_key_file(
    tool: Callable[[str], str], tmp_path: Path, passphrase: bytes | None
) -> None:
    owner = PrivateKey.from_seed(b"\x01" * 32)
    (tmp_path / "key.pem").write_bytes(owner.to_pkcs8(passphrase))
    command = [tool("openssl"), "pkey", "-in", str(tmp_path / "key.pem"), "-pubout", "-outform", "DER"]
    command += ["-passin", f"pass:{passphrase.decode()}"] if passphrase else []
    assert subprocess.run(command, check=True, capture_output=True).stdout == SPKI + owner.public.raw


def test_openssl_reads_the_keys_of_a_ledger(tool: Callable[[str], str], life: Life) -> None:
    """Each is one that was enrolled: three at first, and the broker's and the log's second ones."""
    command = [tool("openssl"), "pkey", "-pubout", "-outform", "DER", "-in"]
    files = sorted((life.folder / ".lacre" / "keys").glob("*.pem"))
    found = {subprocess.run([*command, str(file)], check=True, capture_output=True).stdout for file in files}
    assert len(found) == 5
    assert found < {SPKI + raw for raw in life.log.keys.values()}


def test_a_key_file_of_openssl_is_read(tool: Callable[[str], str], tmp_path: Path) -> None:
    path = tmp_path / "key.pem"
    command = [tool("openssl"), "genpkey", "-algorithm", "ed25519", "-out", str(path)]
    subprocess.run([*command, "-aes256", "-pass", "pass:correct horse"], check=True, capture_output=True)
    key = PrivateKey.from_pkcs8(path.read_bytes(), b"correct horse")
    key.public.verify(b"words", key.sign(b"words"))
