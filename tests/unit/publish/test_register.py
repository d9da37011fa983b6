"""The register: sound as written, every byte of it held, extended and never taken back."""

from __future__ import annotations

import hashlib
import os
import stat
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest
from tests.unit.audit.conftest import ENGINE, Builder, protocol_text
from tests.unit.publish.conftest import audited, audited_folder, codes, held, live, sha256, warnings

import lacre
from lacre import api, durable
from lacre.audit.audit import audit
from lacre.audit.files import MOST_DEEP, FolderFiles, HeldFiles
from lacre.audit.findings import FINDINGS
from lacre.audit.heads import Memory
from lacre.audit.register import RegisterSource, study_folder
from lacre.audit.source import Document
from lacre.audit.tree import Tree
from lacre.errors import (
    DocumentMissing,
    FileUnfit,
    LacreError,
    LedgerRolledBack,
    NotReadable,
    NotWritten,
    RegisterAhead,
    RegisterForeign,
    StoreCorrupt,
)
from lacre.ledger.keys import PrivateKey
from lacre.ledger.merkle import leaf_hash, root
from lacre.ledger.note import VerifierKey
from lacre.protocol.document import canonical, parse
from lacre.publish.register import write_register
from lacre.rules.answers import EraseFacts, RegisterDecision, RegisterFacts
from lacre.rules.record import Genesis, answered_statement, parse_entry
from lacre.rules.requests import Erase, Register
from lacre.store.reader import Reader

if TYPE_CHECKING:
    from tests.unit.publish.conftest import World

PLACES = 97
"""Between two changed bytes of a long file; those of a short one are all changed."""


def test_a_register_is_sound_and_tells_the_same_history(world: World) -> None:
    report = api.audit(registry=world.registry)
    own = world.ledger.audit()
    assert report.ok
    assert warnings(report) == {"authenticity-not-shown"}
    assert (report.entries, report.root, report.history) == (own.entries, own.root, own.history)
    assert report.names == own.names != {}
    told = api.audit(registry=world.registry, what=world.result)
    assert told.story is not None
    assert told.story.name == world.result
    assert {each.study for each in api.audit(registry=world.registry, what="other").history} == {"other"}


def test_it_holds_what_the_formats_say(world: World, files: dict[str, bytes]) -> None:
    """Read with nothing of lacre's: entries by u16 lengths, leaves by hashlib, the root by RFC 6962."""
    size = world.ledger.audit().entries
    bundle = files[f"tile/entries/000.p/{size}"]
    entries, place = [], 0
    while place < len(bundle):
        (length,) = struct.unpack_from(">H", bundle, place)
        entries.append(bundle[place + 2 : place + 2 + length])
        place += 2 + length
    leaves = [hashlib.sha256(b"\x00" + entry).digest() for entry in entries]
    assert files[f"tile/0/000.p/{size}"] == b"".join(leaves)

    def mth(nodes: list[bytes]) -> bytes:
        if len(nodes) == 1:
            return nodes[0]
        split = 1 << (len(nodes) - 1).bit_length() - 1
        return hashlib.sha256(b"\x01" + mth(nodes[:split]) + mth(nodes[split:])).digest()

    assert mth(leaves).hex() == world.ledger.audit().root
    documents = {path: data for path, data in files.items() if path.startswith("documents/")}
    assert all(path == f"documents/{sha256(data)}" for path, data in documents.items())
    copies = {path: data for path, data in files.items() if "@" in path}
    assert {path.partition("/")[0] for path in copies} == {"screen", "other"}
    assert {*copies.values()} <= {*documents.values()}
    entry = world.result.partition("@")[2]
    assert {path for path in copies if path.startswith("screen/")} == {
        f"screen/result@{entry}.json",
        f"screen/protocol@{int(entry) - 3}.json",
    }
    assert {*files} == {
        "checkpoint", f"tile/entries/000.p/{size}", f"tile/0/000.p/{size}", *documents, *copies,
    }  # fmt: skip


def test_files_can_be_served(world: World) -> None:
    for path in world.registry.rglob("*"):
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode == (0o755 if path.is_dir() else 0o644), path


def test_a_byte_changed_anywhere_is_found(files: dict[str, bytes]) -> None:
    for path, data in files.items():
        step = 1 if len(data) < 600 and path != "checkpoint" else PLACES
        places = {*range(0, len(data), step), len(data) - 1}
        for place in sorted(places):
            changed = bytearray(data)
            changed[place] ^= 1 << place % 8
            assert codes(audited({**files, path: bytes(changed)})), (path, place)


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("tile/0/000.p/255", "file-unknown"),
        ("tile/1/000.p/1", "file-unknown"),
        ("tile/entries/001.p/1", "file-unknown"),
        ("tile/x", "file-unknown"),
        ("tile/0/0/0", "file-unknown"),
        ("documents/readme", "file-unknown"),
        ("documents/" + "0" * 64, "document-unnamed"),
        ("documents/a/b", "file-unknown"),
        ("screen/protocol@0.json", "file-unknown"),
        ("screen/result@99.json", "file-unknown"),
    ],
)
def test_files_added_among_the_log_s_own_are_found(files: dict[str, bytes], path: str, code: str) -> None:
    report = audited({**files, path: b"\0\0" if "entries" in path else b"x" * 32})
    assert not report.ok
    assert code in codes(report) or path.startswith("tile/entries")


def test_what_is_no_part_of_it_is_listed(world: World, tmp_path: Path) -> None:
    folder = world.copy(tmp_path / "r")
    (folder / "README.md").write_text("hello")
    (folder / "screen" / "protocol.yaml").write_text("a: 1")
    (folder / ".git").mkdir()
    (folder / ".git" / "HEAD").write_text("x")
    report = audited_folder(folder)
    assert report.ok
    said = next(each.message for each in report.warnings if each.code == "not-of-register")
    assert said == "3 files or folders are no part of the register: .git, README.md, screen/protocol.yaml."
    before = held(folder)
    again = world.ledger.export_registry(folder)
    assert (again.written, again.removed, again.before) == (0, 0, again.entries)
    assert held(folder) == before


def test_links_pipes_folders_and_giants_are_refused(world: World, tmp_path: Path) -> None:
    size = world.ledger.audit().entries
    for number, path in enumerate(("checkpoint", f"tile/0/000.p/{size}", f"tile/entries/000.p/{size}")):
        for kind in ("link", "pipe", "folder", "giant"):
            folder = world.copy(tmp_path / f"{number}{kind}")
            place = folder / path
            data = place.read_bytes()
            place.unlink()
            if kind == "link":
                outside = tmp_path / f"{number}outside"
                outside.write_bytes(data)
                place.symlink_to(outside)
            elif kind == "pipe":
                os.mkfifo(place)
            elif kind == "folder":
                place.mkdir()
            else:
                with place.open("wb") as file:
                    file.truncate(1 << 40)
            assert codes(audited_folder(folder)), (path, kind)
    linked = world.copy(tmp_path / "linked")
    (linked / "tile").rename(tmp_path / "tile")
    (linked / "tile").symlink_to(tmp_path / "tile")
    assert "file-missing" in codes(audited_folder(linked)) or "ledger-empty" in codes(audited_folder(linked))


def test_folders_nested_without_end(tmp_path: Path) -> None:
    deep = tmp_path / "tile" / "/".join("d" * 40)
    deep.mkdir(parents=True)
    (deep / "f").write_bytes(b"")
    (path,) = FolderFiles(tmp_path).below("tile")
    assert path.count("/") == MOST_DEEP


def test_the_two_kinds_of_files_read_alike(world: World, files: dict[str, bytes], tmp_path: Path) -> None:
    folder, memory = FolderFiles(world.registry), HeldFiles(files)
    assert folder.tops() == memory.tops()
    for top in (*folder.tops(), "nothing"):
        assert folder.below(top) == memory.below(top)
    for path, data in files.items():
        for one in (folder, memory):
            assert one.read(path, len(data)) == data
            assert one.read(f"{path}.no", 1) is None
            with pytest.raises(FileUnfit):
                one.read(path, len(data) - 1)
    with pytest.raises(NotReadable):
        RegisterSource(FolderFiles(tmp_path / "nowhere"))
    assert not audited({}).ok


def test_a_study_is_kept_apart_from_the_log_s_own_folders() -> None:
    for name in ("tile", "documents", "checkpoint", "manifest"):
        assert study_folder(name) == f"{name}_"
    assert study_folder("screen") == "screen"


# --- keys and memories


def test_the_key_must_be_the_log_s_and_have_signed(world: World) -> None:
    key = world.ledger.status().verifier_key
    report = api.audit(registry=world.registry, key=key)
    assert report.ok
    assert not report.warnings
    name = key.partition("+")[0]
    stranger = VerifierKey(name, PrivateKey.from_seed(b"\x07" * 32).public).format()
    assert codes(api.audit(registry=world.registry, key=stranger)) == {"key-foreign", "key-unused"}
    renamed = VerifierKey("example.org/other", VerifierKey.parse(key).public).format()
    assert codes(api.audit(registry=world.registry, key=renamed)) == {"key-foreign", "key-unused"}
    with pytest.raises(LacreError):
        api.audit(registry=world.registry, key="nonsense")


def test_an_older_register_put_back_is_found_by_a_newer_receipt(tmp_path: Path) -> None:
    with lacre.init(tmp_path, state=tmp_path / "state") as ledger:
        live(ledger, tmp_path, "one")
        ledger.export_registry(tmp_path / "old")
        old = held(tmp_path / "old")
        receipt = ledger.register(protocol("two")).receipt
        ledger.export_registry(tmp_path / "new")
        (tmp_path / "kept.receipt").write_bytes(receipt)
        assert ledger.audit(memory=[tmp_path / "old", tmp_path / "new"]).ok
    assert audited(old).ok
    kept = Memory.parse("kept", receipt)
    assert codes(audit(RegisterSource(HeldFiles(old)), memories=[kept])) == {"memory-shrunk"}
    for memory in ("kept.receipt", "new"):
        found = api.audit(registry=tmp_path / "old", memory=[tmp_path / memory])
        assert codes(found) == {"memory-shrunk"}
        assert api.audit(registry=tmp_path / "new", memory=[tmp_path / memory]).ok
    # The newer register with the older checkpoint put back: what stands beyond it is told, and it is shrunk.
    back = {**held(tmp_path / "new"), "checkpoint": old["checkpoint"]}
    report = audit(RegisterSource(HeldFiles(back)), memories=[kept])
    # It was never published with so few entries in that folder, so the partial tiles of then are missing.
    assert codes(report) == {"memory-shrunk", "file-missing"}
    assert "register-unfinished" in warnings(report)


def protocol(study: str) -> bytes:
    from tests.unit.publish.conftest import PROTOCOL

    return PROTOCOL.format(study=study).encode()


# --- extending


def test_a_register_is_extended_and_stays_sound_at_every_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader at any moment, and after a crash at any moment, has the old register or the new one."""
    with lacre.init(tmp_path, state=tmp_path / "state") as ledger:
        ledger.register(protocol("one"))
        folder = tmp_path / "registry"
        ledger.export_registry(folder)
        live(ledger, tmp_path, "two", reason="a reason")
        total = ledger.audit().entries
        seen = []

        def looking(path: Path, content: bytes, *, mode: int) -> str:
            report = audited_folder(folder)
            assert report.ok, codes(report)
            seen.append(report.entries)
            return durable.write_durably(path, content, mode=mode)

        monkeypatch.setattr("lacre.publish.register.write_durably", looking)
        written = ledger.export_registry(folder)
    assert seen == [2] * written.written
    assert (written.before, written.entries) == (2, total)
    report = audited_folder(folder)
    assert report.ok
    assert report.entries == total
    assert {f"tile/0/000.p/{size}" for size in (2, total)} <= {*held(folder)}


class Crash(Exception):
    pass


def test_an_export_cut_off_anywhere_is_finished_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with lacre.init(tmp_path, state=tmp_path / "state") as ledger:
        ledger.register(protocol("one"))
        whole = ledger.export_registry(tmp_path / "whole")
        for crash in range(whole.written):
            folder, left = tmp_path / f"crash{crash}", [crash]

            def failing(path: Path, content: bytes, *, mode: int, left: list[int] = left) -> str:
                left[0] -= 1
                if left[0] < 0:
                    (path.parent / f"{durable.TEMPORARY}x").write_bytes(b"half")
                    raise Crash
                return durable.write_durably(path, content, mode=mode)

            with monkeypatch.context() as patched:
                patched.setattr("lacre.publish.register.write_durably", failing)
                with pytest.raises(Crash):
                    ledger.export_registry(folder)
            ledger.export_registry(folder)
            assert held(folder) == held(tmp_path / "whole")


@pytest.fixture(scope="module")
def long() -> Builder:
    """A log of 515 entries, each but the first the registration of another study."""
    builder = Builder()
    builder.genesis()
    bound = builder.bound("-")
    for number in range(514):
        study = f"s{number}"
        protocol = parse(protocol_text(study).encode())
        body = canonical(protocol)
        builder.put(body, "protocol")
        fields = {**bound, "study": study, "nonce": f"{number:032x}", "protocol": sha256(body)}
        request = builder.ask(Register.model_validate(fields))
        builder.write(
            answered_statement(
                time=builder.now(),
                previous=None,
                request=request,
                facts=RegisterFacts(engine=ENGINE),
                decision=RegisterDecision(version=1),
            )
        )
    return builder


@dataclass
class Prefix:
    """A reader of the first `size` entries of a log; all that an export asks of one."""

    builder: Builder
    size: int
    path: str = "ledger.db"

    def checkpoint(self) -> bytes:
        return self.builder.checkpoint(self.size)

    def entries(self, start: int = 0, stop: int | None = None) -> Iterator[Any]:
        for index, data in list(enumerate(self.builder.datas[: self.size]))[start:stop]:
            yield SimpleNamespace(index=index, envelope=data)

    def study_entries(self, _study: str) -> list[Any]:
        return [each for each in self.entries() if parse_entry(each.index, each.envelope).study is None]

    def require_document(self, digest: str) -> Document:
        if digest not in self.builder.documents:
            raise DocumentMissing(digest=digest)
        return self.builder.documents[digest]


def test_partial_tiles_stay_until_the_full_one_is_there(long: Builder, tmp_path: Path) -> None:
    """C2SP: partial tiles of a published checkpoint are served, and may go once the full one is available."""
    folder, before = tmp_path / "r", None
    for size in (3, 255, 256, 257, 513, 515):
        written = write_register(cast("Reader", Prefix(long, size)), folder)
        assert (written.before, written.entries) == (before, size)
        before = size
        tiles = {path for path in held(folder) if path.startswith("tile/")}
        assert tiles == {
            3: {"tile/0/000.p/3"},
            255: {"tile/0/000.p/3", "tile/0/000.p/255"},
            256: {"tile/0/000", "tile/1/000.p/1"},
            257: {"tile/0/000", "tile/1/000.p/1", "tile/0/001.p/1"},
            513: {"tile/0/000", "tile/0/001", "tile/1/000.p/1", "tile/1/000.p/2", "tile/0/002.p/1"},
            515: {"tile/0/000", "tile/0/001", "tile/1/000.p/1", "tile/1/000.p/2", "tile/0/002.p/1",
                  "tile/0/002.p/3"},
        }[size] | {
            3: {"tile/entries/000.p/3"},
            255: {"tile/entries/000.p/3", "tile/entries/000.p/255"},
            256: {"tile/entries/000"},
            257: {"tile/entries/000", "tile/entries/001.p/1"},
            513: {"tile/entries/000", "tile/entries/001", "tile/entries/002.p/1"},
            515: {"tile/entries/000", "tile/entries/001", "tile/entries/002.p/1", "tile/entries/002.p/3"},
        }[size]  # fmt: skip
    report = audited_folder(folder)
    assert report.ok, codes(report)
    assert report.entries == 515
    files = held(folder)
    older = {**files, "checkpoint": long.checkpoint(300)}
    report = audited(older)  # a log that deleted its partial tiles: the full ones hold them (C2SP)
    assert report.ok, codes(report)
    assert (report.entries, warnings(report)) == (300, {"register-unfinished", "authenticity-not-shown"})


def test_a_byte_changed_in_any_tile_of_a_long_log_is_found(long: Builder, tmp_path: Path) -> None:
    for size in (255, 513, 515):
        write_register(cast("Reader", Prefix(long, size)), tmp_path)
    files = {path: data for path, data in held(tmp_path).items() if path.startswith(("tile/", "checkpoint"))}
    tree = Tree()
    for data in long.datas:
        tree.append(leaf_hash(data))
    assert tree.root == root(map(leaf_hash, long.datas))
    assert not list(RegisterSource(HeldFiles(files)).check(tree, (), {}))
    for path in files.keys() - {"checkpoint"}:
        for place in {0, 7, len(files[path]) // 2, len(files[path]) - 1}:
            changed = bytearray(files[path])
            changed[place] ^= 1
            source = RegisterSource(HeldFiles({**files, path: bytes(changed)}))
            assert {each.code for each in source.check(tree, (), {})} & FINDINGS.keys(), (path, place)


@pytest.fixture
def builder() -> Builder:
    builder = Builder()
    builder.genesis()
    builder.register("one")
    return builder


def test_a_text_that_was_erased_goes_and_is_never_missed(builder: Builder, tmp_path: Path) -> None:
    folder = tmp_path / "r"
    named = parse_entry(0, builder.datas[0]).content
    assert isinstance(named, Genesis)
    name = named.keys[0].name
    assert name is not None
    write_register(cast("Reader", Prefix(builder, len(builder.datas))), folder)
    assert f"documents/{name}" in held(folder)
    builder.enter(Erase, EraseFacts(named=0), study=None, digest=name)
    del builder.documents[name]
    old = held(folder)
    written = write_register(cast("Reader", Prefix(builder, len(builder.datas))), folder)
    assert written.removed == 1
    assert f"documents/{name}" not in held(folder)
    report = audited_folder(folder)
    assert report.ok, codes(report)
    # Cut off before the checkpoint: the entry beyond it explains why the text is gone.
    between = {**held(folder), "checkpoint": old["checkpoint"]}
    assert audited(between).ok
    # Gone without such an entry, or there in spite of it.
    assert codes(audited({path: data for path, data in old.items() if name not in path})) == {
        "document-missing"
    }
    kept = {**held(folder), f"documents/{name}": old[f"documents/{name}"]}
    assert codes(audited(kept)) == {"document-not-erased"}


def test_a_ledger_that_is_not_whole_is_not_published(builder: Builder, tmp_path: Path) -> None:
    reader = Prefix(builder, len(builder.datas))
    digest = next(iter(builder.documents))
    document = builder.documents.pop(digest)
    with pytest.raises(DocumentMissing):
        write_register(cast("Reader", reader), tmp_path / "r")
    builder.documents[digest] = document
    reader.checkpoint = lambda: builder.checkpoint(1)  # type: ignore[method-assign]
    with pytest.raises(StoreCorrupt):
        write_register(cast("Reader", reader), tmp_path / "r")
    reader.checkpoint = lambda: None  # type: ignore[method-assign, assignment, return-value]
    with pytest.raises(StoreCorrupt):
        write_register(cast("Reader", reader), tmp_path / "r")
    assert not (tmp_path / "r").exists()


def test_another_ledger_s_register_is_refused(world: World, tmp_path: Path) -> None:
    folder = world.copy(tmp_path / "r")
    before = held(folder)
    with lacre.init(tmp_path, origin="example.org/log", state=tmp_path / "state") as ledger:
        with pytest.raises(RegisterForeign):
            ledger.export_registry(folder)
        (folder / "checkpoint").write_bytes(b"junk\n")
        with pytest.raises(RegisterForeign):
            ledger.export_registry(folder)
    (folder / "checkpoint").write_bytes(before["checkpoint"])
    assert held(folder) == before


def test_a_ledger_that_is_older_than_its_register_is_refused(tmp_path: Path) -> None:
    with lacre.init(tmp_path, state=tmp_path / "state") as ledger:
        old = (ledger.folder / "ledger.db").read_bytes()
        ledger.register(protocol("one"))
        ledger.export_registry(tmp_path / "registry")
        ledger.close()
        (ledger.folder / "ledger.db").write_bytes(old)
    before = held(tmp_path / "registry")
    with lacre.open(tmp_path, state=tmp_path / "state") as ledger, pytest.raises(LedgerRolledBack):
        ledger.export_registry(tmp_path / "registry")
    with lacre.open(tmp_path, state=tmp_path / "another") as ledger, pytest.raises(RegisterAhead):
        ledger.export_registry(tmp_path / "registry")
    assert held(tmp_path / "registry") == before


def test_what_was_damaged_is_written_again(world: World, tmp_path: Path) -> None:
    folder = world.copy(tmp_path / "r")
    for number, path in enumerate(sorted(held(folder))):
        if path == "checkpoint":
            continue
        place = folder / path
        data = place.read_bytes()
        place.unlink()
        if number % 3 == 0:
            place.write_bytes(data[:-1])
        elif number % 3 == 1:
            place.symlink_to("/dev/zero")
    world.ledger.export_registry(folder)
    assert held(folder) == held(world.registry)
    assert not any(path.is_symlink() for path in folder.rglob("*"))


def test_a_place_that_cannot_be_written(world: World, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(NotWritten):
        world.ledger.export_registry(tmp_path / "file")
