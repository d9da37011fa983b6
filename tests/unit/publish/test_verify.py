"""What a bundle does not show is said, however its owner packed it; and what is no bundle is told apart."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.unit.publish.conftest import PROTOCOL, codes, live, table, warnings
from tests.unit.publish.test_bundle import Packed

import lacre
from lacre import api
from lacre.errors import (
    CheckpointNoBundle,
    ExportForked,
    ExportIntoLedger,
    ExportRolledBack,
    NotReadable,
    NotWritten,
    ReceiptNoBundle,
)
from lacre.ledger.keys import PrivateKey
from lacre.ledger.note import VerifierKey
from lacre.ledger.tiles import pack as pack_entries, unpack as unpack_entries
from lacre.publish.archive import pack, unpack
from lacre.publish.manifest import Manifest, digests
from lacre.report.views import Result, Verified

if TYPE_CHECKING:
    from tests.unit.publish.conftest import World

    from lacre.api import Ledger


@pytest.fixture
def packed(world: World, tmp_path: Path) -> Packed:
    return Packed(world, tmp_path)


def signed_by(ledger: Ledger, files: dict[str, bytes]) -> bytes:
    """Pack files again, as the ledger's own broker would who cheats."""
    broker = PrivateKey.from_pkcs8((ledger.folder / "keys" / "broker.pem").read_bytes())
    manifest, _envelope = Manifest.read(files["manifest"])
    rest = {path: data for path, data in files.items() if path != "manifest"}
    made = manifest.model_copy(update={"files": digests(rest)})
    return pack({**rest, "manifest": made.signed(broker)})


def flat(shown: Any) -> str:
    return " ".join(str(shown).split())


# --- left out


@pytest.fixture
def hidden(tmp_path: Path) -> Verified:
    """A bundle whose owner left out a burn and words that came after the result, and told nothing of them."""
    with lacre.init(tmp_path, state=tmp_path / "state") as ledger:
        name = live(ledger, tmp_path, "one")
        ledger.deviate("one", "I had peeked")
        changed = PROTOCOL.format(study="one").replace("max_group_gap: 0.5", "max_group_gap: 0.4").encode()
        ledger.amend(changed, reason="it was too lenient", accept_burn=True)
        ledger.export(name, tmp_path / "r.zip", only_study=True)
        files = unpack((tmp_path / "r.zip").read_bytes())
        last = int(name.partition("@")[2])
        path = next(path for path in files if path.startswith("tile/entries/"))
        kept = [data if index <= last else b"" for index, data in enumerate(unpack_entries(files[path]))]
        files[path] = pack_entries(kept)
        shown = json.loads(files["result.json"])
        assert (shown["now"], len(shown["deviations"]), shown["amended"]) == ("dev", 1, [last + 2])
        shown |= {"now": "teste", "deviations": [], "amended": []}
        files["result.json"] = json.dumps(shown).encode()
        for _each in range(2):  # first the documents that nobody names, then the copies of them
            (tmp_path / "r.zip").write_bytes(signed_by(ledger, files))
            for found in lacre.verify(tmp_path / "r.zip").findings:
                if found.code in {"document-unnamed", "file-unknown"}:
                    fields = found.fields
                    del files[fields["path"] if "path" in fields else f"documents/{fields['digest']}"]
        (tmp_path / "r.zip").write_bytes(signed_by(ledger, files))
    return lacre.verify(tmp_path / "r.zip")


def test_nothing_is_said_of_today_where_the_study_may_go_on(hidden: Verified) -> None:
    assert hidden.ok, codes(hidden.audit)
    text = flat(hidden)
    assert "Today" not in text
    assert "not read again" not in text
    assert (
        "Up to entry 4, the last of one that is shown, teste counts as teste. After it 2 entries are" in text
    )
    assert "Custody up to entry 4: self-held" in text
    said = hidden.not_shown["later-of-study"]
    assert "What became of one after entry 4" in said
    assert "2 are left out, and any of them may be of one" in said
    assert "Before it none of one is left out" in said
    assert "entries that are shown" in hidden.shown["signatures"]
    document = hidden.as_json()
    story = document["story"]
    assert (story["now"], story["last"], story["left_out"]) == (None, 4, 2)


def test_where_nothing_follows_today_is_told(world: World) -> None:
    """The other study's entries stand before: each entry of the study names its last, so none can be its own."""
    verified = lacre.verify(world.redacted)
    assert verified.ok
    assert "later-of-study" not in verified.not_shown
    assert "completeness" in verified.not_shown
    assert "Today teste counts as teste. It was not read again." in flat(verified)
    assert verified.as_json()["story"]["now"] == "teste"


def test_honest_bundles_cannot_show_it_either(world: World, tmp_path: Path) -> None:
    world.ledger.export(world.other, tmp_path / "r.zip", only_study=True)
    verified = lacre.verify(tmp_path / "r.zip")
    assert verified.ok
    assert "later-of-study" in verified.not_shown
    assert "Today" not in flat(verified)


# --- what others kept


def test_a_bundle_of_another_history_against_a_longer_memory(tmp_path: Path) -> None:
    """A ledger copied before its read, and read in both copies: the second is no beginning of the first."""
    bad = [{"case_id": f"one{number}", "prediction": "1"} for number in range(80)]
    good = [{"case_id": f"one{number}", "prediction": str(number % 2)} for number in range(80)]
    with lacre.init(tmp_path / "a", origin="example.org/log", state=tmp_path / "state") as ledger:
        ledger.register(PROTOCOL.format(study="one").encode())
        rows = [
            {"case_id": f"one{n}", "label": str(n % 2), "sex": ("female", "male")[n // 2 % 2]}
            for n in range(80)
        ]
        ledger.seal("one", "teste", str(table(rows, tmp_path / "cases.csv")))
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    with lacre.open(tmp_path / "a", state=tmp_path / "state") as ledger:
        first = ledger.reveal("one", str(table(bad, tmp_path / "bad.csv")))
        assert isinstance(first, Result)
        ledger.export(first.name, tmp_path / "true.zip")
        ledger.deviate("one", "a note")
        ledger.export_registry(tmp_path / "registry")
        key = ledger.status().verifier_key
    with lacre.open(tmp_path / "b", state=tmp_path / "other-state") as ledger:
        second = ledger.reveal("one", str(table(good, tmp_path / "good.csv")))
        assert isinstance(second, Result)
        ledger.export(second.name, tmp_path / "fork.zip")
    checkpoint, registry = tmp_path / "registry" / "checkpoint", tmp_path / "registry"

    for name in ("true.zip", "fork.zip"):
        verified = lacre.verify(tmp_path / name, key=key, memory=[checkpoint])
        assert codes(verified.audit) == {"memory-unproved"}
        assert "nothing shows that it is a beginning" in flat(verified)
        assert not verified.shown

    for memories in ([registry], [checkpoint, registry]):
        verified = lacre.verify(tmp_path / "fork.zip", key=key, memory=memories)
        assert codes(verified.audit) == {"memory-rewritten"}
    verified = lacre.verify(tmp_path / "true.zip", key=key, memory=[registry])
    assert verified.ok
    assert warnings(verified.audit) == {"memory-newer"}
    assert "registry" in verified.shown["remembered"]

    # A folder whose entries are not those of its checkpoint shows nothing.
    (entries,) = (path for path in (registry / "tile" / "entries").rglob("*") if path.is_file())
    entries.write_bytes(pack_entries([b"{}"] * len(unpack_entries(entries.read_bytes()))))
    assert codes(lacre.verify(tmp_path / "true.zip", memory=[registry]).audit) == {"memory-invalid"}
    entries.unlink()
    assert codes(lacre.verify(tmp_path / "true.zip", memory=[registry]).audit) == {"memory-invalid"}


def test_a_bundle_from_before_the_log_s_key_was_replaced(tmp_path: Path) -> None:
    """What was signed after it, by a key that the bundle does not know, a register vouches for that goes on from it."""
    with lacre.init(tmp_path, state=tmp_path / "state") as ledger:
        name = live(ledger, tmp_path, "one")
        ledger.export(name, tmp_path / "r.zip")
        ledger.rotate("log")
        ledger.revoke(next(each.keyid for each in ledger.keys().keys if "log" in each.roles))
        (tmp_path / "late").write_bytes(ledger.register(PROTOCOL.format(study="two").encode()).receipt)
        ledger.export_registry(tmp_path / "registry")
    registry = tmp_path / "registry"
    assert codes(lacre.verify(tmp_path / "r.zip", memory=[tmp_path / "late"]).audit) == {"memory-invalid"}
    for memories in ([registry], [tmp_path / "late", registry], [registry, tmp_path / "late"]):
        verified = lacre.verify(tmp_path / "r.zip", memory=memories)
        assert verified.ok, codes(verified.audit)
        assert "memory-newer" in warnings(verified.audit)
    # Not where that register itself is not sound: then nobody vouches for its keys.
    next((registry / "documents").iterdir()).unlink()
    assert codes(lacre.verify(tmp_path / "r.zip", memory=[registry]).audit) == {"memory-invalid"}


def test_a_memory_of_a_name_that_no_file_has(world: World) -> None:
    with pytest.raises(NotReadable):
        lacre.verify(world.bundle, memory=["m" * 5000])
    with pytest.raises(NotReadable):
        api.audit(registry=world.registry, memory=["m" * 5000])


def test_a_key_that_was_this_log_s_until_it_was_replaced(tmp_path: Path) -> None:
    with lacre.init(tmp_path, origin="example.org/log", state=tmp_path / "state") as ledger:
        name = live(ledger, tmp_path, "one")
        old = ledger.status().verifier_key
        ledger.rotate("log")
        revoked = ledger.revoke(next(each.keyid for each in ledger.keys().keys if "log" in each.roles)).entry
        ledger.export(name, tmp_path / "r.zip")
        new = ledger.status().verifier_key
    assert new != old
    verified = lacre.verify(tmp_path / "r.zip", key=old)
    (found,) = verified.findings
    assert found.code == "key-replaced"
    assert f"until entry {revoked}" in found.message
    assert new in found.message
    assert lacre.verify(tmp_path / "r.zip", key=new).ok
    # The same key under another name is another log's.
    elsewhere = VerifierKey("example.org/other", VerifierKey.parse(old).public).format()
    assert "key-foreign" in codes(lacre.verify(tmp_path / "r.zip", key=elsewhere).audit)


# --- what is shown of the result


@pytest.mark.parametrize(
    ("name", "value"),
    [("custody", "service"), ("anchors", ["rfc3161: 2020"]), ("deviations", [{"entry": 3}]), ("version", 2),
     ("amended", [7]), ("withdrawn", {"entry": 9}), ("errata", [{}]), ("corrects", {}), ("shortfall", [{}]),
     ("finished", 3), ("warnings", ["all is well"]), ("ignored", {"x": []})],
)  # fmt: skip
def test_what_result_json_adds_is_derived_again(
    bundled: dict[str, bytes], packed: Packed, name: str, value: object
) -> None:
    shown = json.loads(bundled["result.json"])
    assert shown[name] != value
    changed = json.dumps({**shown, name: value}).encode()
    verified = packed.verify(packed.signed({**bundled, "result.json": changed}))
    assert [(each.code, each.fields["what"]) for each in verified.findings] == [("shown-differs", name)]


def test_what_tells_something_cannot_be_left_out(tmp_path: Path) -> None:
    with lacre.init(tmp_path, state=tmp_path / "state") as ledger:
        name = live(ledger, tmp_path, "one")
        ledger.deviate("one", "I had peeked")
        ledger.withdraw("one", reason="no data")
        ledger.export(name, tmp_path / "r.zip")
        assert lacre.verify(tmp_path / "r.zip").ok
        files = unpack((tmp_path / "r.zip").read_bytes())
        shown = json.loads(files["result.json"])
        assert "I had peeked" in str(shown["deviations"])
        found = {}
        for left_out in ("deviations", "withdrawn", "custody", "confirmatory", "errata", "corrects"):
            rest = {key: value for key, value in shown.items() if key != left_out}
            data = signed_by(ledger, {**files, "result.json": json.dumps(rest).encode()})
            (tmp_path / "less.zip").write_bytes(data)
            found[left_out] = codes(lacre.verify(tmp_path / "less.zip").audit)
    told = {"deviations", "withdrawn", "custody", "confirmatory"}
    assert found == {each: {"shown-differs"} if each in told else set() for each in found}


def test_what_nothing_gives_is_named(bundled: dict[str, bytes], packed: Packed) -> None:
    shown = {**json.loads(bundled["result.json"]), "certified_by": "everybody"}
    files = {**bundled, "result.json": json.dumps(shown).encode(), "report.txt": b"all is well"}
    verified = packed.verify(packed.signed(files))
    assert verified.ok
    assert "certified_by" in verified.not_shown["unchecked"]
    assert "exporter's" in verified.not_shown["report"]


@pytest.mark.parametrize("path", ["report.txt", "result.json"])
def test_a_bundle_without_what_is_for_people(bundled: dict[str, bytes], packed: Packed, path: str) -> None:
    files = {each: data for each, data in bundled.items() if each != path}
    verified = packed.verify(packed.signed(files))
    assert [(each.code, each.fields["path"]) for each in verified.findings] == [("file-missing", path)]


def test_the_custody_is_by_all_hands(tmp_path: Path) -> None:
    """Sealed to a custodian, then handed to the ledger's own: from then on one person alone can look."""
    with lacre.init(tmp_path, state=tmp_path / "state") as ledger:
        identity = tmp_path / "custodian.txt"
        other = lacre.new_identity(identity).recipient
        ledger.register(PROTOCOL.format(study="one").encode())
        rows = [
            {"case_id": f"one{n}", "label": str(n % 2), "sex": ("female", "male")[n // 2 % 2]}
            for n in range(80)
        ]
        ledger.seal("one", "teste", str(table(rows, tmp_path / "cases.csv")), recipients=other)
        submission = [{"case_id": f"one{n}", "prediction": "1"} for n in range(80)]
        path = str(table(submission, tmp_path / "p.csv"))
        result = ledger.reveal("one", path, identity=identity)
        assert isinstance(result, Result)
        ledger.export(result.name, tmp_path / "before.zip")
        (recipient,) = set(re.findall(r"age1[0-9a-z]+", str(ledger.show("@0").as_json()["statement"])))
        ledger.rewrap("one", "teste", recipient, identity=identity, reason="she left")
        ledger.export(result.name, tmp_path / "after.zip")
    before, after = (lacre.verify(tmp_path / name) for name in ("before.zip", "after.zip"))
    assert before.ok
    assert after.ok
    assert "second keyholder" in before.not_shown["custody"]
    assert "self-held" in after.not_shown["custody"]
    assert "Custody: self-held" in flat(after)
    assert json.loads(unpack((tmp_path / "after.zip").read_bytes())["result.json"])["custody"] == "self-held"


# --- where to, and from what


def test_nothing_is_exported_into_a_ledger(world: World, tmp_path: Path) -> None:
    root = world.ledger.folder
    before = {path: path.stat().st_mtime_ns for path in root.rglob("*") if path.is_file()}
    (tmp_path / "link").symlink_to(root)
    for place in (root, root / "keys", root / "public" / "registry", tmp_path / "link" / "registry"):
        with pytest.raises(ExportIntoLedger):
            world.ledger.export_registry(place)
    for place in (root / "r.zip", root / "ledger.db", root / "keys" / "log.pem"):
        with pytest.raises(ExportIntoLedger):
            world.ledger.export(world.result, place, overwrite=True)
    assert before == {path: path.stat().st_mtime_ns for path in root.rglob("*") if path.is_file()}
    copy = tmp_path / "copy"
    (copy / "keys").mkdir(parents=True)
    (copy / "keys" / "log.pem").write_text("secret")
    (tmp_path / "database").mkdir()
    (tmp_path / "database" / "ledger.db").write_bytes(b"")
    for place in (copy, tmp_path / "database"):
        with pytest.raises(ExportIntoLedger):
            world.ledger.export_registry(place)
        assert len(list(place.iterdir())) == 1
    with pytest.raises(NotWritten):
        world.ledger.export_registry(tmp_path / ("r" * 5000))


def test_a_study_may_be_called_keys(tmp_path: Path) -> None:
    with lacre.init(tmp_path, state=tmp_path / "state") as ledger:
        ledger.register(PROTOCOL.format(study="keys").encode())
        for _each in range(2):
            ledger.export_registry(tmp_path / "registry")
    assert api.audit(registry=tmp_path / "registry").ok


def test_nothing_is_exported_from_a_ledger_that_was_rolled_back(tmp_path: Path) -> None:
    home, old = tmp_path / "home", tmp_path / "old"
    with lacre.init(home, state=tmp_path / "state") as ledger:
        name = live(ledger, tmp_path, "one")
    shutil.copytree(home, old)
    with lacre.open(home, state=tmp_path / "state") as ledger:
        ledger.deviate("one", "more")
    with lacre.open(old, state=tmp_path / "state") as ledger:
        for export in (
            lambda: ledger.export(name, tmp_path / "r.zip"),
            lambda: ledger.export_registry(tmp_path / "r"),
        ):
            with pytest.raises(ExportRolledBack) as refused:
                export()
            assert "nothing is exported" in refused.value.way_out
    with lacre.open(old, state=tmp_path / "elsewhere") as ledger:
        ledger.deviate("one", "something else")
    with lacre.open(old, state=tmp_path / "state") as ledger, pytest.raises(ExportForked):
        ledger.export(name, tmp_path / "r.zip")
    assert not (tmp_path / "r.zip").exists()
    assert not (tmp_path / "r").exists()


# --- what is no bundle


def test_a_damaged_zip_is_told_in_one_breath(world: World, tmp_path: Path) -> None:
    data = bytearray(world.bundle.read_bytes())
    data[len(data) // 2] ^= 1
    (tmp_path / "r.zip").write_bytes(data)
    verified = lacre.verify(tmp_path / "r.zip")
    assert codes(verified.audit) == {"archive-invalid"}
    text = flat(verified)
    assert "This is no bundle that can be checked: damaged" in text
    for absent in ("nothing", "0 entries", "e3b0", "Not shown"):
        assert absent not in text
    assert not verified.not_shown
    assert verified.as_json()["not_shown"] == []


def test_receipts_and_checkpoints_are_told_from_bundles(world: World, tmp_path: Path) -> None:
    with lacre.init(tmp_path, origin="example.org/log", state=tmp_path / "state") as ledger:
        receipt = ledger.register(PROTOCOL.format(study="one").encode()).receipt
    (tmp_path / "one@1.receipt").write_bytes(receipt)
    with pytest.raises(ReceiptNoBundle) as refused:
        lacre.verify(tmp_path / "one@1.receipt")
    assert "its entry 1, in the tree of its first 2 entries" in refused.value.message
    assert "--memory" in refused.value.way_out
    with pytest.raises(CheckpointNoBundle) as refused_too:
        lacre.verify(world.registry / "checkpoint")
    assert "example.org/log" in refused_too.value.message
