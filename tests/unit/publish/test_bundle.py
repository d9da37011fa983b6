"""The bundle: what it shows, what it does not, and every change to it found, however well it was packed."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.unit.publish.conftest import codes, live, sha256, warnings

import lacre
from lacre.canonical import canonical_json
from lacre.errors import (
    EnvelopeInvalid,
    FileExists,
    FileMissing,
    FileUnfit,
    LacreError,
    NotAName,
    NotReadable,
)
from lacre.ledger.envelope import PAYLOAD_BUNDLE, Envelope, pae
from lacre.ledger.keys import PrivateKey
from lacre.ledger.note import VerifierKey
from lacre.publish import verify as verifying
from lacre.publish.archive import pack, unpack
from lacre.publish.manifest import Manifest, digests
from lacre.report.views import Verified

if TYPE_CHECKING:
    from tests.unit.publish.conftest import World


class Packed:
    """Files packed again, and signed again where the ledger's own broker is the one who cheats."""

    def __init__(self, world: World, folder: Path) -> None:
        self.broker = PrivateKey.from_pkcs8((world.ledger.folder / "keys" / "broker.pem").read_bytes())
        self.path = folder / "packed.zip"

    def verify(self, files: dict[str, bytes], **given: Any) -> Verified:
        self.path.write_bytes(pack(files))
        return lacre.verify(self.path, **given)

    def signed(
        self, files: dict[str, bytes], *, key: PrivateKey | None = None, **changed: Any
    ) -> dict[str, bytes]:
        manifest, _envelope = Manifest.read(files["manifest"])
        rest = {path: data for path, data in files.items() if path != "manifest"}
        made = manifest.model_copy(update={"files": digests(rest), **changed})
        return {**rest, "manifest": made.signed(key or self.broker)}


@pytest.fixture
def packed(world: World, tmp_path: Path) -> Packed:
    return Packed(world, tmp_path)


def said(items: list[dict[str, str]]) -> set[str]:
    return {each["code"] for each in items}


def test_a_bundle_is_sound_and_says_what_it_shows(world: World) -> None:
    verified = lacre.verify(world.bundle)
    assert verified.ok
    assert verified.result == world.result
    document = verified.as_json()
    assert list(document)[:2] == ["ok", "result"]
    assert document["ok"] is True
    assert {"entries", "root", "checkpoint", "findings", "warnings", "history"} <= {*document}
    own = world.ledger.audit()
    assert (document["entries"], document["root"]) == (own.entries, own.root)
    assert said(document["shown"]) == {
        "whole", "order", "complete", "signatures", "law", "result", "numbers",
    }  # fmt: skip
    assert said(document["not_shown"]) == {
        "data", "declared", "authenticity", "other-studies", "report", "later", "rewriting", "custody",
    }  # fmt: skip
    # Four rates of everybody and two groups, and two criteria.
    assert document["recomputed"] == {
        "estimates": 12,
        "bounds": 12,
        "criteria": 2,
        "withheld": 0,
        "beyond": 0,
    }
    text = str(verified)
    assert "sound" in text
    assert "self-held" in text
    assert "sealed data, which is not in the bundle" in text


def test_with_a_key_and_a_memory_it_shows_more(world: World) -> None:
    key = world.ledger.status().verifier_key
    verified = lacre.verify(world.bundle, key=key, memory=[world.registry])
    assert verified.ok
    assert not verified.warnings
    assert {"authentic", "remembered"} <= {*verified.shown}
    assert "authenticity" not in verified.not_shown
    name = key.partition("+")[0]
    stranger = VerifierKey(name, PrivateKey.from_seed(b"\x07" * 32).public).format()
    wrong = lacre.verify(world.bundle, key=stranger)
    assert codes(wrong.audit) == {"key-foreign", "key-unused"}
    assert not wrong.shown
    with pytest.raises(LacreError):
        lacre.verify(world.bundle, key="nonsense")


def test_what_is_in_it(world: World, bundled: dict[str, bytes], files: dict[str, bytes]) -> None:
    """The register of all entries, the documents of its study and of the ledger, and what is for people."""
    assert {"manifest", "result.json", "report.txt", "checkpoint"} <= {*bundled}
    for path, data in bundled.items():
        if path not in {"manifest", "result.json", "report.txt"}:
            assert files[path] == data
    others = {data for path, data in files.items() if path.startswith("other/")}
    assert others
    assert not others & {*bundled.values()}
    assert not any(b"because it is there" in data for data in bundled.values())
    assert any(b"because it is there" in data for data in files.values())
    assert any(data.endswith(b"Ana") for data in bundled.values())
    shown = world.ledger.show(world.result)
    assert json.loads(bundled["result.json"]) == shown.as_json()
    assert bundled["report.txt"].decode() == str(shown)


def test_the_manifest_by_hand(world: World, bundled: dict[str, bytes]) -> None:
    """DSSE over canonical JSON, read with the standard library alone."""
    import base64

    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    envelope = json.loads(bundled["manifest"])
    payload = base64.b64decode(envelope["payload"])
    manifest = json.loads(payload)
    assert canonical_json(manifest) == payload
    assert manifest["files"] == {path: sha256(data) for path, data in bundled.items() if path != "manifest"}
    own = world.ledger.audit()
    assert (manifest["study"], manifest["result"]) == ("screen", int(world.result.partition("@")[2]))
    assert (manifest["bundle"], manifest["only_study"]) == (1, False)
    assert (manifest["size"], manifest["root"]) == (own.entries, own.root)
    kind = "application/vnd.lacre.bundle+json"
    assert envelope["payloadType"] == kind == PAYLOAD_BUNDLE
    message = f"DSSEv1 {len(kind)} {kind} {len(payload)} ".encode() + payload
    assert message == pae(kind, payload)
    (signature,) = envelope["signatures"]
    keys = json.loads(Envelope.decode(entries(bundled)[0]).payload)["predicate"]["keys"]
    broker = next(key["public"] for key in keys if key["roles"] == ["broker"])
    public = Ed25519PublicKey.from_public_bytes(bytes.fromhex(broker))
    public.verify(base64.b64decode(signature["sig"]), message)


def entries(files: dict[str, bytes]) -> list[bytes]:
    path = next(path for path in files if path.startswith("tile/entries/"))
    found, data = [], files[path]
    while data:
        length = int.from_bytes(data[:2], "big")
        found.append(data[2 : 2 + length])
        data = data[2 + length :]
    return found


def test_no_manifest_passes_for_an_entry(bundled: dict[str, bytes]) -> None:
    with pytest.raises(EnvelopeInvalid):
        Envelope.decode(bundled["manifest"])


def test_it_is_the_same_bytes_every_time(world: World, tmp_path: Path) -> None:
    again = tmp_path / "again.zip"
    exported = world.ledger.export(world.result, again)
    assert again.read_bytes() == world.bundle.read_bytes()
    assert exported.bytes == again.stat().st_size
    assert stat.S_IMODE(again.stat().st_mode) == 0o644
    with pytest.raises(FileExists):
        world.ledger.export(world.result, again)
    again.write_bytes(b"")
    world.ledger.export(world.result, again, overwrite=True)
    assert again.read_bytes() == world.bundle.read_bytes()


@pytest.mark.parametrize("what", ["screen", "@0", "0", "screen@0", "nothing@4", "other@"])
def test_only_results_are_exported(world: World, tmp_path: Path, what: str) -> None:
    with pytest.raises(LacreError):
        world.ledger.export(what, tmp_path / "r.zip")
    assert not (tmp_path / "r.zip").exists()


def test_a_byte_changed_anywhere_in_the_file_is_found(world: World, tmp_path: Path) -> None:
    data, path = world.bundle.read_bytes(), tmp_path / "r.zip"
    names = [0]
    for place in sorted({*range(0, len(data), 211), *range(400), *range(len(data) - 400, len(data)), *names}):
        changed = bytearray(data)
        changed[place] ^= 1 << place % 8
        path.write_bytes(bytes(changed))
        assert not lacre.verify(path).ok, place


def test_files_added_are_found(bundled: dict[str, bytes], packed: Packed) -> None:
    """Under a manifest that names them; each file changed, dropped and renamed is in `tests/tampering`."""
    for path in ("README", "documents/" + sha256(b"x"), "screen/notes.txt", "tile/0/000.p/1"):
        assert not packed.verify(packed.signed({**bundled, path: b"x"})).ok, path


@pytest.mark.parametrize(
    ("name", "value"),
    [("state", "PASS"), ("now", "teste!"), ("confirmatory", None), ("analyses", []), ("result", "screen@1"),
     ("protocol", "sha256:" + "0" * 64), ("read", 2.5)],
)  # fmt: skip
def test_a_result_json_that_says_something_else_is_found(
    bundled: dict[str, bytes], packed: Packed, name: str, value: object
) -> None:
    shown = json.loads(bundled["result.json"])
    assert shown[name] != value
    changed = json.dumps({**shown, name: value}).encode()
    verified = packed.verify(packed.signed({**bundled, "result.json": changed}))
    assert codes(verified.audit) == {"shown-differs"}


def test_a_result_json_that_says_two_things_at_once_is_found(
    bundled: dict[str, bytes], packed: Packed
) -> None:
    """A name that stands twice: some readers take the first, and others the last."""
    shown = bundled["result.json"].replace(b"{", b'{"state": "PASS", ', 1)
    assert json.loads(shown) == json.loads(bundled["result.json"])
    verified = packed.verify(packed.signed({**bundled, "result.json": shown}))
    assert codes(verified.audit) == {"file-unfit"}


@pytest.mark.parametrize("junk", [b"", b"[]", b"{", b"\xff", b"[" * 100_000])
def test_a_result_json_that_is_none(bundled: dict[str, bytes], packed: Packed, junk: bytes) -> None:
    verified = packed.verify(packed.signed({**bundled, "result.json": junk}))
    assert codes(verified.audit) == {"file-unfit"}


def test_manifests_that_do_not_hold(bundled: dict[str, bytes], packed: Packed) -> None:
    stranger = PrivateKey.from_seed(b"\x07" * 32)
    assert codes(packed.verify(packed.signed(bundled, key=stranger)).audit) == {"manifest-invalid"}
    for changed in ({"genesis": "0" * 64}, {"size": 3}, {"root": "0" * 64}):
        assert codes(packed.verify(packed.signed(bundled, **changed)).audit) == {"manifest-invalid"}
    for junk in (b"", b"{}", b"\xff", Envelope.sign(PAYLOAD_BUNDLE, b"{}", [stranger]).encode(),
                 Envelope.sign(PAYLOAD_BUNDLE, b"nothing", [stranger]).encode()):  # fmt: skip
        assert codes(packed.verify({**bundled, "manifest": junk}).audit) == {"manifest-invalid"}
    without = {path: data for path, data in bundled.items() if path != "manifest"}
    assert codes(packed.verify(without).audit) == {"manifest-missing"}
    verified = packed.verify(packed.signed(bundled, result=1))
    assert codes(verified.audit) == {"manifest-result"}
    verified = packed.verify(packed.signed(bundled, study="nothing"))
    assert codes(verified.audit) == {"document-unnamed", "file-unknown"}  # the story is not looked for then


def test_a_bundle_of_another_ledger(
    world: World, packed: Packed, bundled: dict[str, bytes], tmp_path: Path
) -> None:
    with lacre.init(tmp_path, origin="example.org/log", state=tmp_path / "state") as ledger:
        live(ledger, tmp_path, "other")
        result = live(ledger, tmp_path, "screen")
        ledger.export(result, tmp_path / "r.zip")
        assert lacre.verify(tmp_path / "r.zip").ok
    key = world.ledger.status().verifier_key
    verified = lacre.verify(tmp_path / "r.zip", key=key, memory=[world.registry])
    assert codes(verified.audit) == {"key-foreign", "key-unused", "memory-invalid"}
    foreign = unpack((tmp_path / "r.zip").read_bytes())
    for path in bundled.keys() & foreign.keys():
        if bundled[path] != foreign[path]:
            assert not packed.verify({**bundled, path: foreign[path]}).ok, path
            assert (
                path == "report.txt" or not packed.verify(packed.signed({**bundled, path: foreign[path]})).ok
            )


def test_a_bundle_that_the_ledger_has_outgrown_is_sound_where_a_register_shows_it(tmp_path: Path) -> None:
    """A newer receipt alone cannot tell it from an older copy of some other history: that is found."""
    with lacre.init(tmp_path, state=tmp_path / "state") as ledger:
        result = live(ledger, tmp_path, "one")
        ledger.export(result, tmp_path / "r.zip")
        (tmp_path / "early").write_bytes(ledger.register(protocol("two")).receipt)
        ledger.export_registry(tmp_path / "registry")
    verified = lacre.verify(tmp_path / "r.zip", memory=[tmp_path / "early"])
    assert [(each.code, each.entry) for each in verified.findings] == [("memory-unproved", 5)]
    assert "folder of a register" in verified.findings[0].message
    for memories in (["registry"], ["early", "registry"], ["registry", "early"]):
        verified = lacre.verify(tmp_path / "r.zip", memory=[tmp_path / each for each in memories])
        assert verified.ok
        assert [each.code for each in verified.warnings if each.code.startswith("memory")] == [
            "memory-newer" for _each in memories
        ]
        assert all(each in verified.shown["remembered"] for each in memories)


def protocol(study: str) -> bytes:
    from tests.unit.publish.conftest import PROTOCOL

    return PROTOCOL.format(study=study).encode()


# --- redacted


def test_without_other_studies_completeness_is_not_shown(world: World) -> None:
    verified = lacre.verify(world.redacted)
    assert verified.ok
    assert "complete" not in verified.shown
    assert "completeness" in verified.not_shown
    assert warnings(verified.audit) == {"entries-redacted", "authenticity-not-shown"}
    assert verified.audit.root == world.ledger.audit().root
    files = unpack(world.redacted.read_bytes())
    kept = entries(files)
    assert [bool(each) for each in kept] == [
        each.study in {None, "screen"} for each in world.ledger.audit().history
    ]
    said = [*files.values(), *(Envelope.decode(each).payload for each in kept if each)]
    assert any(b'"study":"screen"' in each for each in said)
    assert not any(b'"study":"other"' in each for each in said)
    assert {each["study"] for each in verified.as_json()["history"]} == {"screen"}


def test_entries_left_out_that_must_be_there(world: World, packed: Packed) -> None:
    """The genesis, and an entry of the study itself that a later one names."""
    files = unpack(world.redacted.read_bytes())
    path = next(path for path in files if path.startswith("tile/entries/"))
    kept = entries(files)
    last = max(index for index, each in enumerate(kept) if each)
    for index in [index for index, each in enumerate(kept) if each]:
        records = [b"" if number == index else each for number, each in enumerate(kept)]
        data = b"".join(len(each).to_bytes(2, "big") + each for each in records)
        verified = packed.verify(packed.signed({**files, path: data}))
        assert not verified.ok, index
        assert ("entry-redacted" in codes(verified.audit)) == (0 < index < last)


def test_nothing_may_be_left_out_of_what_says_it_is_whole(
    world: World, packed: Packed, bundled: dict[str, bytes]
) -> None:
    files = unpack(world.redacted.read_bytes())
    assert not packed.verify(packed.signed(files, only_study=False)).ok
    path = next(path for path in files if path.startswith("tile/entries/"))
    assert not packed.verify(packed.signed({**bundled, path: files[path]})).ok
    # All that may be left out is there: nothing is wrong with that, but it is not called complete.
    verified = packed.verify(packed.signed(bundled, only_study=True))
    assert verified.ok
    assert "complete" not in verified.shown


# --- numbers


def test_numbers_that_do_not_follow_are_found(bundled: dict[str, bytes]) -> None:
    from lacre.canonical import parse_canonical

    path = next(path for path in bundled if path.startswith("screen/result@"))
    document = parse_canonical(bundled[path])
    document["analyses"][0]["estimates"][0]["low"] += 0.001
    again = verifying._recompute(bundled, document)
    assert again is not None
    assert [each.what for each in again.differences] == ["parity.error.low"]


# --- files that are none


def test_files_that_are_no_bundles(tmp_path: Path, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "r.zip"
    with pytest.raises(FileMissing):
        lacre.verify(path)
    with pytest.raises(NotReadable):
        lacre.verify(tmp_path)
    for junk in (b"", b"junk", b"PK\x05\x06" + bytes(18)):
        path.write_bytes(junk)
        verified = lacre.verify(path)
        assert codes(verified.audit) == {"archive-invalid"}
        assert (verified.result, verified.shown, verified.as_json()["recomputed"]) == (None, {}, None)
        assert str(verified)
    with path.open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(FileUnfit):
        lacre.verify(path)


def test_a_name_of_another_verb(world: World, tmp_path: Path) -> None:
    with pytest.raises(NotAName):
        world.ledger.export("a@b@c", tmp_path / "r.zip")


def test_verify_needs_nothing_but_the_program(world: World, tmp_path: Path) -> None:
    """In an empty folder, with no ledger and no memory, and nothing written."""
    import shutil

    shutil.copy(world.bundle, tmp_path / "r.zip")
    done = subprocess.run(
        [sys.executable, "-m", "lacre", "verify", "r.zip", "--json"],
        cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60,
        env={"PATH": "/nonexistent", "HOME": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout)["ok"] is True
    assert [path.name for path in tmp_path.iterdir()] == ["r.zip"]
