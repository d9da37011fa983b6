"""What is wrapped for somebody, opened by age; and with what it held, the pool itself, without a line of lacre."""

import hashlib
import hmac
import json
import math
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lacre.pools import key_backup, seal

from .conftest import Life, open_chunks

Decrypt = Callable[[Path, Path], bytes | None]
BACKED_UP = {
    "person.pem": b"-----BEGIN",
    "identity.age": bytes(range(256)),
    "broker-0123456789abcdef.pem": b"",
}


@pytest.fixture
def decrypt(tool: Callable[[str], str]) -> Decrypt:
    """Ask age what a file holds for an identity; None when it says that this one does not open it."""
    command = [tool("age"), "--decrypt", "--identity"]

    def ask(identity: Path, file: Path) -> bytes | None:
        ran = subprocess.run([*command, str(identity), str(file)], capture_output=True, check=False)
        if ran.returncode:
            assert b"no identity matched any of the recipients" in ran.stderr
            return None
        return ran.stdout

    return ask


def padme(size: int) -> int:
    """PADMÉ in the floating-point form of its paper (Nikitin et al., PoPETs 2019(4), algorithm 1)."""
    exponent = math.floor(math.log2(size))
    last = exponent - (math.floor(math.log2(exponent)) + 1)
    unit = int(2**last)
    return math.ceil(size / unit) * unit


def context_of(asked: dict[str, Any], **more: str) -> bytes:
    """The RFC 8785 form of what a ciphertext is bound to: these members are ASCII, and so already in order."""
    bound = {name: asked[name] for name in ("genesis", "pool", "protocol", "study")} | more
    return json.dumps(bound, sort_keys=True, separators=(",", ":")).encode()


def records(secrets: bytes, context: bytes, ciphertext: bytes, count: int) -> list[tuple[bytes, str]]:
    """What so many records hold, each with its commitment in hexadecimal; what follows them must be padding."""
    key, salt = secrets[:32], secrets[32:]
    plaintext = b"".join(open_chunks(key, context, ciphertext))
    found, at = [], 0
    for _record in range(count):
        length = int.from_bytes(plaintext[at : at + 8], "big")
        raw = plaintext[at + 8 : at + 8 + length]
        found.append((raw, hmac.digest(salt, raw, hashlib.sha256).hex()))
        at += 8 + length
    assert len(plaintext) == padme(at)
    assert not any(plaintext[at:])
    return found


def asked_of(life: Life, verb: str, pool: str) -> list[dict[str, Any]]:
    documents = [request.document for request in life.log.requests]
    return [each for each in documents if each["verb"] == verb and each["pool"] == pool]


@pytest.mark.parametrize(("pool", "tables"), [("dev", ["cases"]), ("teste", ["cases", "visits"])])
def test_a_pool_opens_with_age_and_aes(decrypt: Decrypt, life: Life, pool: str, tables: list[str]) -> None:
    """The wrapped key by age; under it, in chunks and before zeros, the very files; and what the entry says of them."""
    (asked,) = asked_of(life, "seal", pool)
    wrapped = life.blobs(pool) / f"{asked['wrapped_key']}.key"
    ciphertext = (life.blobs(pool) / f"{asked['ciphertext']}.pool").read_bytes()
    assert hashlib.sha256(wrapped.read_bytes()).hexdigest() == asked["wrapped_key"]
    assert hashlib.sha256(ciphertext).hexdigest() == asked["ciphertext"]
    secrets = decrypt(life.own, wrapped)
    assert secrets is not None
    assert len(secrets) == 64, "a key of 32 bytes and a salt of 32"
    assert decrypt(life.custodian, wrapped) == (secrets if pool == "teste" else None)
    found = records(secrets, context_of(asked), ciphertext, len(tables))
    assert [raw for raw, _hmac in found] == [file.read_bytes() for file in life.files[pool]]
    assert [hmac_ for _raw, hmac_ in found] == [each["hmac"] for each in asked["records"]]
    assert [each["table"] for each in asked["records"]] == tables


@pytest.mark.parametrize(("pool", "first"), [("dev", 0), ("teste", 1000)])
def test_a_submission_opens_likewise(decrypt: Decrypt, life: Life, pool: str, first: int) -> None:
    """It is bound to its system as well, the unnamed one, and to the plan that the pool was sealed under."""
    (sealed,) = asked_of(life, "seal", pool)
    (asked,) = [each for each in asked_of(life, "read", pool) if each["submissions"]]
    (submitted,) = asked["submissions"]
    secrets = decrypt(life.own, life.blobs(pool) / f"{submitted['wrapped_key']}.submission-key")
    assert secrets is not None
    ciphertext = (life.blobs(pool) / f"{submitted['blob']}.submission").read_bytes()
    ((raw, commitment),) = records(secrets, context_of(sealed, system=""), ciphertext, 1)
    assert raw == (life.folder / f"predictions-{first}.csv").read_bytes()
    assert commitment == submitted["records"][0]["hmac"]


def test_a_pool_that_changed_hands_opens_for_the_next_alone(decrypt: Decrypt, life: Life) -> None:
    """Its keyset holds, for each ciphertext in order, its SHA-256 with the 64 bytes that the first wrapping held."""
    (asked,) = asked_of(life, "rewrap", "teste")
    keyset = life.blobs("teste") / f"{asked['wrapped_key']}.key"
    held = decrypt(life.custodian, keyset)
    assert held is not None
    assert decrypt(life.own, keyset) is None
    handed = {held[at : at + 32].hex(): held[at + 32 : at + 96] for at in range(0, len(held), 96)}
    (sealed,), (corrected,) = asked_of(life, "seal", "teste"), asked_of(life, "erratum", "teste")
    (read,) = [each for each in asked_of(life, "read", "teste") if each["submissions"]]
    (submitted,) = read["submissions"]
    assert list(handed) == sorted([sealed["ciphertext"], corrected["ciphertext"], submitted["blob"]])
    for ciphertext, wrapped in (
        (sealed["ciphertext"], f"{sealed['wrapped_key']}.key"),
        (corrected["ciphertext"], f"{corrected['wrapped_key']}.key"),
        (submitted["blob"], f"{submitted['wrapped_key']}.submission-key"),
    ):
        assert decrypt(life.own, life.blobs("teste") / wrapped) == handed[ciphertext]


def test_corrected_tables_open_likewise(decrypt: Decrypt, life: Life) -> None:
    (sealed,), (corrected,) = asked_of(life, "seal", "teste"), asked_of(life, "erratum", "teste")
    secrets = decrypt(life.own, life.blobs("teste") / f"{corrected['wrapped_key']}.key")
    assert secrets is not None
    ciphertext = (life.blobs("teste") / f"{corrected['ciphertext']}.pool").read_bytes()
    ((raw, commitment),) = records(secrets, context_of(sealed), ciphertext, 1)
    assert raw == (life.folder / "corrected.csv").read_bytes()
    assert [commitment] == [each["hmac"] for each in corrected["records"]]


# --- identities and backups --------------------------------------------------------------------------------


def test_lacre_opens_what_age_sealed_to_its_recipient(
    tool: Callable[[str], str], life: Life, tmp_path: Path
) -> None:
    recipient = life.own.read_text().split("public key: ")[1].split()[0]
    (tmp_path / "words").write_bytes(b"words")
    command = [tool("age"), "--encrypt", "--recipient", recipient, str(tmp_path / "words")]
    sealed = subprocess.run(command, check=True, capture_output=True).stdout
    (identity,) = seal.identities_of_file(life.own.read_bytes()) or ()
    assert identity.decrypt(sealed) == b"words"


def test_tar_reads_an_open_backup_of_keys(tool: Callable[[str], str], tmp_path: Path) -> None:
    (tmp_path / "keys.tar").write_bytes(key_backup.pack(BACKED_UP, None))
    assert untarred(tool, tmp_path) == BACKED_UP


def test_age_opens_a_closed_one(tool: Callable[[str], str], tmp_path: Path) -> None:
    (tmp_path / "keys.age").write_bytes(key_backup.pack(BACKED_UP, "until it rains"))
    tool("age")
    subprocess.run(
        [tool("script"), "--quiet", "--command", "age --decrypt --output keys.tar keys.age", "/dev/null"],
        cwd=tmp_path,
        input=b"until it rains\n",
        stdout=subprocess.DEVNULL,
        check=True,
        timeout=60,
    )
    assert untarred(tool, tmp_path) == BACKED_UP


def untarred(tool: Callable[[str], str], folder: Path) -> dict[str, bytes]:
    """The files of keys.tar by their names, as tar takes them out."""
    (folder / "out").mkdir()
    subprocess.run([tool("tar"), "-xf", str(folder / "keys.tar")], cwd=folder / "out", check=True)
    return {path.name: path.read_bytes() for path in (folder / "out").iterdir()}
