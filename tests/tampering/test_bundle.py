"""Every file of a bundle, under its own manifest and under one that the broker signed again; and its container."""

from __future__ import annotations

import io
import json
import struct
import zipfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.tampering.trees import OPERATIONS, Tree
from tests.unit.publish.test_archive import by_zipfile

import lacre
from lacre.ledger.keys import PrivateKey
from lacre.publish.archive import pack, unpack
from lacre.publish.manifest import Manifest, digests

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.tampering.forging import Forger, Predicate
    from tests.tampering.life import Life
    from tests.tampering.tally import Tally
    from tests.tampering.trees import Files

    from lacre.report.views import Verified

EXPORTERS = {"report.txt"}
"""The exporter's words, which nothing gives: the broker may sign others, and `verify` says it did not check them."""


class Checked:
    """Packs files, and checks what comes out as somebody who has nothing else."""

    def __init__(self, path: Path, forger: Forger) -> None:
        self.path = path
        self.broker = max((each for each in _brokers(forger)), key=lambda each: each[0])[1]

    def verify(self, data: bytes) -> Verified:
        self.path.write_bytes(data)
        return lacre.verify(self.path)

    def signed(self, files: Files, key: PrivateKey | None = None) -> dict[str, bytes]:
        """The files under a manifest that names them as they are."""
        manifest, _envelope = Manifest.read(files["manifest"])
        rest = {path: data for path, data in files.items() if path != "manifest"}
        return {
            **rest,
            "manifest": manifest.model_copy(update={"files": digests(rest)}).signed(key or self.broker),
        }


def _brokers(forger: Forger) -> Iterator[tuple[int, PrivateKey]]:
    from tests.tampering.forging import key_changes

    for each in key_changes(forger.datas).keys.values():
        if "broker" in each.roles:
            yield each.enrolled, forger.keys[each.keyid]


@pytest.fixture
def checked(tmp_path: Path, forger: Forger) -> Checked:
    return Checked(tmp_path / "r.zip", forger)


def test_the_bundle_as_it_was_is_sound_and_so_is_what_is_packed_again(
    bundled: Files, life: Life, checked: Checked
) -> None:
    assert lacre.verify(life.now.bundle).ok
    assert pack(checked.signed(bundled)) == life.now.bundle.read_bytes()


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("signed", [False, True], ids=["manifest as it was", "manifest signed again"])
def test_every_file(
    bundled: Files, life: Life, checked: Checked, tally: Tally, operation: str, signed: bool
) -> None:
    tree = Tree(life, bundled)
    before = checked.verify(pack(bundled))
    for path in sorted(bundled):
        if signed and path == "manifest":
            continue  # it is what is signed again
        for number, (what, files, entries) in enumerate(tree.changed(path, operation)):
            if not signed and number:
                continue  # that its digest is another, the manifest shows of any change
            if not signed:
                entries = set()
            elif "manifest" not in files or files["manifest"] != bundled["manifest"]:
                continue
            packed = pack(checked.signed(files) if signed else files)
            touched = {each for each in files.keys() | bundled.keys() if files.get(each) != bundled.get(each)}
            if signed and says_the_same(bundled, files, touched):
                tally.unchanged(what, checked.verify(packed).audit, before.audit)
            else:
                tally.judge(what, partial(checked.verify, packed), entries=entries)


def says_the_same(bundled: Files, files: Files, touched: set[str]) -> bool:
    """Whether nothing is touched but the exporter's words, and the spaces of result.json."""
    if not touched <= {*EXPORTERS, "result.json"} or not touched <= files.keys():
        return False
    try:
        return "result.json" not in touched or json.loads(files["result.json"]) == json.loads(
            bundled["result.json"]
        )
    except ValueError:
        return False


def test_every_file_of_an_older_bundle(bundled: Files, life: Life, checked: Checked, tally: Tally) -> None:
    before = checked.verify(pack(bundled))
    for moment in life.moments[1:-1]:
        older = unpack(moment.bundle.read_bytes())
        for path, data in older.items():
            if bundled.get(path) == data:
                continue
            files = {**bundled, path: data}
            tally.judge(f"{path} of {moment.size}", partial(checked.verify, pack(files)))
            if path == "manifest":
                continue
            packed = pack(checked.signed(files))
            if path in EXPORTERS or path.startswith("tile/"):
                # Partial tiles of then hash the same; the words are the exporter's.
                tally.unchanged(
                    f"{path} of {moment.size}, signed", checked.verify(packed).audit, before.audit
                )
            else:
                tally.judge(f"{path} of {moment.size}, signed", partial(checked.verify, packed))


def test_every_file_of_another_ledger_and_of_a_fork(
    bundled: Files, forger: Forger, checked: Checked, tally: Tally
) -> None:
    def elsewhere(index: int, predicate: Predicate) -> None:
        if index == 0:
            predicate["time"] = "2020-01-01T00:00:00.000000Z"

    def fork(index: int, predicate: Predicate) -> None:
        if index == 45:
            predicate["time"] = "2020-01-01T00:00:00.000000Z"

    for name, edit in (("another ledger", elsewhere), ("a fork", fork)):
        for path, data in forger.rewritten(edit).files().items():
            assert data != bundled[path]
            for files in ({**bundled, path: data}, checked.signed({**bundled, path: data})):
                tally.judge(f"{path} of {name}", partial(checked.verify, pack(files)))


def test_manifests_signed_by_other_keys(
    bundled: Files, forger: Forger, checked: Checked, tally: Tally
) -> None:
    """Not enrolled, enrolled for something else, and the broker's until it was revoked."""
    for number, key in enumerate([*forger.keys.values(), PrivateKey.from_seed(b"\x07" * 32)]):
        if key is checked.broker:
            continue
        files = checked.signed(bundled, key)
        tally.judge(f"key {number}", partial(checked.verify, pack(files)), codes={"manifest-invalid"})


def test_entries_left_out_of_a_bundle_that_leaves_none_out(
    bundled: Files, life: Life, checked: Checked, tally: Tally
) -> None:
    from lacre.ledger.tiles import pack as pack_entries, unpack as unpack_entries

    (path,) = (path for path in bundled if path.startswith("tile/entries/"))
    for index in range(0, len(life.datas), 4):
        left = [b"" if place == index else data for place, data in enumerate(unpack_entries(bundled[path]))]
        files = checked.signed({**bundled, path: pack_entries(left)})
        tally.judge(f"entry {index}", partial(checked.verify, pack(files)), entries={index})


# --- the container


def members(data: bytes) -> tuple[list[bytes], list[bytes], bytes]:
    """A zip's local members, central members, and end record, each as it stands."""
    end = data.rindex(b"PK\x05\x06")
    count, size, start = struct.unpack_from("<HII", data, end + 10)
    local, central, at, place = [], [], start, 0
    for _member in range(count):
        name, extra, comment = struct.unpack_from("<3H", data, at + 28)
        length = 46 + name + extra + comment
        central.append(data[at : at + length])
        at += length
    assert at == start + size
    for _member in range(count):
        content, _raw, name, extra = struct.unpack_from("<IIHH", data, place + 18)
        length = 30 + name + extra + content
        local.append(data[place : place + length])
        place += length
    assert place == start
    return local, central, data[end:]


def joined(local: list[bytes], central: list[bytes], end: bytes) -> bytes:
    return b"".join([*local, *central, end])


def deflated(files: Files, **more: object) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for path in sorted(files):
            file.writestr(path, files[path])
    return out.getvalue()


def commented(data: bytes) -> bytes:
    return data[:-2] + b"\x05\x00hello"


FORMS: dict[str, Callable[[Files], bytes]] = {
    "another date": lambda files: by_zipfile(dict(files), date_time=(2024, 1, 1, 0, 0, 0)),
    "another mode": lambda files: by_zipfile(dict(files), external_attr=0o100755 << 16),
    "another system": lambda files: by_zipfile(dict(files), create_system=0),
    "comments of members": lambda files: by_zipfile(dict(files), comment=b"hello"),
    "extra fields": lambda files: by_zipfile(dict(files), extra=b"\x01\x00\x00\x00"),
    "compressed": deflated,
    "a comment of the whole": lambda files: commented(pack(files)),
    "bytes before": lambda files: b"\0" + pack(files),
    "bytes after": lambda files: pack(files) + b"\0",
    "a zip after": lambda files: pack(files) + pack({"manifest": b"{}"}),
    "a zip before": lambda files: pack({"manifest": b"{}"}) + pack(files),
    "without a directory": lambda files: b"".join(members(pack(files))[0]),
    "a directory alone": lambda files: joined([], *members(pack(files))[1:]),
}


@pytest.mark.parametrize("form", FORMS)
def test_the_same_files_in_another_container(
    bundled: Files, checked: Checked, tally: Tally, form: str
) -> None:
    tally.judge(form, lambda: checked.verify(FORMS[form](bundled)), codes={"archive-invalid"})


def test_members_swapped_repeated_dropped_and_renamed(life: Life, checked: Checked, tally: Tally) -> None:
    """Each in the files, in the directory, and in both."""
    data = life.now.bundle.read_bytes()
    local, central, end = members(data)
    assert joined(local, central, end) == data
    for number in range(len(local)):
        after = (number + 1) % len(local)

        def moved(parts: list[bytes], how: str, number: int = number, after: int = after) -> list[bytes]:
            made = list(parts)
            match how:
                case "swapped":
                    made[number], made[after] = made[after], made[number]
                case "repeated":
                    made.insert(after, made[number])
                case "dropped":
                    del made[number]
                case _:
                    place = 30 if parts is local else 46
                    made[number] = made[number][:place] + b"Z" + made[number][place + 1 :]
            return made

        for how in ("swapped", "repeated", "dropped", "renamed"):
            for where, made in (
                ("files", joined(moved(local, how), central, end)),
                ("directory", joined(local, moved(central, how), end)),
                ("both", joined(moved(local, how), moved(central, how), end)),
            ):
                # A file under another name, in both, is in order for the container.
                codes = () if (how, where) == ("renamed", "both") else {"archive-invalid"}
                tally.judge(f"{number} {how} in {where}", partial(checked.verify, made), codes=codes)


def test_every_field_of_the_headers(life: Life, checked: Checked, tally: Tally) -> None:
    """Every byte of the first and last member's headers, and of the end record, each with other bits."""
    data = bytearray(life.now.bundle.read_bytes())
    local, central, end = members(bytes(data))
    start = sum(map(len, local))
    last_local, last_central = start - len(local[-1]), start + sum(map(len, central)) - len(central[-1])
    places = [
        *range(30), *range(last_local, last_local + 30), *range(start, start + 46),
        *range(last_central, last_central + 46), *range(len(data) - len(end), len(data)),
    ]  # fmt: skip
    for place in places:
        for flip in (0x01, 0x80):
            made = bytearray(data)
            made[place] ^= flip
            tally.judge(f"byte {place}", partial(checked.verify, bytes(made)), codes={"archive-invalid"})


def test_cut_off_anywhere(life: Life, checked: Checked, tally: Tally) -> None:
    data = life.now.bundle.read_bytes()
    for end in range(0, len(data), 997):
        tally.judge(f"at {end}", partial(checked.verify, data[:end]), codes={"archive-invalid"})
