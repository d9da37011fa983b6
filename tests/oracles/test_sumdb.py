"""What lacre writes, checked by the code of Go's checksum database (`golang.org/x/mod/sumdb`): nobody's but theirs.

Its packages come with Debian's `golang-golang-x-mod-dev`; `sumdb/main.go` calls them.
"""

import hashlib
import os
import shutil
import subprocess
from base64 import b64decode
from collections.abc import Callable
from pathlib import Path

import pytest
import rfc8785

from lacre import api
from lacre.ledger.checkpoint import Checkpoint, SignedCheckpoint
from lacre.ledger.keys import PrivateKey, PublicKey
from lacre.ledger.merkle import consistency_proof, inclusion_proof, leaf_hash, root
from lacre.ledger.note import VerifierKey

from .conftest import Life

Check = Callable[..., str]
PLAN = (Path(__file__).resolve().parents[2] / "registry" / "compas" / "protocol.yaml").read_bytes()
PACKAGES = Path("/usr/share/gocode")
LEAVES = [leaf_hash(bytes([n])) for n in range(20)]


@pytest.fixture(scope="session")
def check(tmp_path_factory: pytest.TempPathFactory, absent: Callable[[str, str], None]) -> Check:
    """Call the Go program; its output, or an `AssertionError` with what it found wrong."""
    go = shutil.which("go")
    if go is None or not (PACKAGES / "src/golang.org/x/mod/sumdb/tlog").is_dir():
        absent("Go with golang.org/x/mod", "tools")
    folder = tmp_path_factory.mktemp("sumdb")
    shutil.copy(Path(__file__).parent / "sumdb" / "main.go", folder)
    environment = {
        **os.environ,
        "GO111MODULE": "off",
        "GOPATH": str(PACKAGES),
        "GOCACHE": str(folder / "cache"),
    }
    program = folder / "sumdb"
    subprocess.run([str(go), "build", "-o", program], cwd=folder, env=environment, check=True, timeout=300)

    def call(*words: object) -> str:
        ran = subprocess.run([program, *map(str, words)], capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    return call


def subtree(level: int, position: int) -> bytes:
    """The hash of a complete subtree over `LEAVES`."""
    return root(LEAVES[position << level : (position + 1) << level])


@pytest.mark.parametrize("size", [1, 2, 3, 7, 8, 13, 20])
def test_inclusion_proofs(check: Check, size: int) -> None:
    whole = root(LEAVES[:size]).hex()
    for index in range(size):
        proof = [each.hex() for each in inclusion_proof(index, size, subtree)]
        check("record", size, whole, index, LEAVES[index].hex(), *proof)
    with pytest.raises(AssertionError):
        check("record", size, "0" * 64, 0, LEAVES[0].hex())


@pytest.mark.parametrize("size", [2, 3, 7, 8, 13, 20])
def test_consistency_proofs(check: Check, size: int) -> None:
    whole = root(LEAVES[:size]).hex()
    for old in range(1, size):
        proof = [each.hex() for each in consistency_proof(old, size, subtree)]
        check("tree", size, whole, old, root(LEAVES[:old]).hex(), *proof)
    with pytest.raises(AssertionError):
        check("tree", size, whole, 1, "0" * 64)


def test_checkpoints_are_notes(check: Check, tmp_path: Path) -> None:
    """Signed by one key, and by two while one takes the other's place: each verifier alone opens it."""
    old, new, other = (PrivateKey.from_seed(bytes([n]) * 32) for n in (1, 2, 3))
    head = Checkpoint("lacre.example/log", 20, root(LEAVES))
    for keys in ([old], [old, new]):
        (tmp_path / "note").write_bytes(SignedCheckpoint.sign(head, keys).note)
        for key in keys:
            known = VerifierKey("lacre.example/log", key.public).format()
            assert check("note", known, tmp_path / "note") == head.format()
        with pytest.raises(AssertionError, match="no verifiable signatures"):
            check("note", VerifierKey("lacre.example/log", other.public).format(), tmp_path / "note")


def test_a_receipt(check: Check, life: Life, tmp_path: Path) -> None:
    """What `register` gave, taken apart as C2SP tlog-proof has it: the note opens, the proof holds for the entry."""
    head, _blank, note = (life.folder / "receipt").read_bytes().partition(b"\n\n")
    form, index, *proof = head.decode().split("\n")
    assert (form, index) == ("c2sp.org/tlog-proof@v1", "index 1")
    (tmp_path / "note").write_bytes(note)
    first = life.log.entries[0].document["predicate"]
    (key,) = [bytes.fromhex(each["public"]) for each in first["keys"] if each["roles"] == ["log"]]
    known = VerifierKey(first["origin"], PublicKey(key)).format()
    origin, size, whole, _end = check("note", known, tmp_path / "note").split("\n")
    assert (origin, size) == (first["origin"], "2")
    entry = rfc8785.dumps(life.log.entries[1].as_json())
    leaf = hashlib.sha256(b"\0" + entry).hexdigest()
    hashes = [b64decode(each).hex() for each in proof]
    check("record", 2, b64decode(whole).hex(), 1, leaf, *hashes)
    with pytest.raises(AssertionError):
        check("record", 2, b64decode(whole).hex(), 0, leaf, *hashes)


def test_a_register_of_more_than_a_tile(check: Check, tmp_path: Path) -> None:
    """260 entries fill one tile and begin another; Go authenticates every tile, and proves each entry."""
    with api.init(tmp_path, name="A", state=tmp_path / "state") as ledger:
        ledger.register(PLAN)
        for number in range(258):
            ledger.deviate("compas", f"word {number}")
        known = ledger.status().verifier_key
        ledger.export_registry(tmp_path / "register")
        assert check("register", known, tmp_path / "register") == f"{ledger.status().origin} 260\n"
        ledger.deviate("compas", "one more")
        ledger.export_registry(tmp_path / "register")
        assert check("register", known, tmp_path / "register").endswith(" 261\n")
    bundle = tmp_path / "register" / "tile" / "entries" / "000"
    data = bundle.read_bytes()
    bundle.write_bytes(data[:1000] + bytes([data[1000] ^ 1]) + data[1001:])
    with pytest.raises(AssertionError):
        check("register", known, tmp_path / "register")


def test_the_register_of_this_repository(check: Check) -> None:
    registry = Path(__file__).resolve().parents[2] / "registry"
    (key,) = [
        word for word in (registry / "README.md").read_text().split() if word.startswith("lacre/compas+")
    ]
    assert check("register", key, registry) == "lacre/compas 6\n"
