"""The container of a bundle: its bytes by hand and by another program, and everything that it is not."""

import io
import struct
import zipfile
import zlib

import pytest
from hypothesis import given, settings, strategies as st

from lacre.errors import ArchiveInvalid
from lacre.publish import archive
from lacre.publish.archive import pack, unpack

FILES = {"checkpoint": b"head\n", "documents/" + "0" * 64: b"", "one@two/result@5.json": b"{}" * 50}


def by_zipfile(files: dict[str, bytes], **changes: object) -> bytes:
    """The same container, written by the standard library."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as file:
        for path in sorted(files):
            info = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
            info.external_attr = 0o100644 << 16
            info.create_system = 3
            for name, value in changes.items():
                setattr(info, name, value)
            file.writestr(info, files[path])
    return out.getvalue()


def test_the_bytes_of_a_container_by_hand() -> None:
    """APPNOTE 4.3.7, 4.3.12 and 4.3.16, of one file `a` with the byte `x`; DOS date 1980-01-01 is 0x0021."""
    crc = zlib.crc32(b"x").to_bytes(4, "little")
    shared = bytes.fromhex("1400 0000 0000 0000 2100") + crc + bytes.fromhex("01000000 01000000 0100 0000")
    local = b"PK\x03\x04" + shared + b"a" + b"x"
    central = (
        b"PK\x01\x02"
        + bytes.fromhex("1403")
        + shared
        + bytes.fromhex("0000 0000 0000")
        + struct.pack("<I", 0o100644 << 16)
        + bytes(4)
        + b"a"
    )
    end = b"PK\x05\x06" + bytes(4) + bytes.fromhex("0100 0100")
    end += struct.pack("<IIH", len(central), len(local), 0)
    assert pack({"a": b"x"}) == local + central + end


def test_the_standard_library_writes_and_reads_the_same() -> None:
    data = pack(FILES)
    assert data == by_zipfile(FILES)
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        assert file.testzip() is None
        assert {name: file.read(name) for name in file.namelist()} == FILES
        assert file.namelist() == sorted(FILES)
    assert unpack(data) == FILES


PATHS = st.from_regex(r"[a-z0-9]{1,5}(/[a-z0-9][a-z0-9@._-]{0,3})?", fullmatch=True)


@settings(max_examples=50)
@given(st.dictionaries(PATHS, st.binary(max_size=30), min_size=1))
def test_files_come_out_as_they_went_in(files: dict[str, bytes]) -> None:
    data = pack(files)
    assert unpack(data) == files
    assert data == by_zipfile(files)


def test_every_byte_changed_is_refused() -> None:
    """No byte is free: each is fixed by the form, or held by a checksum or a size."""
    data = pack(FILES)
    for position in range(len(data)):
        for flip in (1, 0x80):
            changed = bytearray(data)
            changed[position] ^= flip
            with pytest.raises(ArchiveInvalid):
                unpack(bytes(changed))


def test_cut_off_and_lengthened() -> None:
    data = pack(FILES)
    for end in range(len(data)):
        with pytest.raises(ArchiveInvalid):
            unpack(data[:end])
    for more in (b"\0", data, b"PK\x03\x04"):
        with pytest.raises(ArchiveInvalid):
            unpack(data + more)
        with pytest.raises(ArchiveInvalid):
            unpack(more + data)


@pytest.mark.parametrize(
    "path",
    [
        "../x",
        "a/../b",
        "/etc/passwd",
        "a//b",
        "a/",
        ".hidden",
        "a\\b",
        "a/./b",
        "C:x",
        "ä",
        "a\0b",
        "",
        "a b",
        "a\n",
    ],
)
def test_paths_that_lead_elsewhere(path: str) -> None:
    with pytest.raises(ArchiveInvalid):
        pack({path: b""})
    hostile = by_zipfile({"a" * max(len(path.encode()), 1): b""}).replace(
        b"a" * max(len(path.encode()), 1), path.encode() or b"\0"
    )
    with pytest.raises(ArchiveInvalid):
        unpack(hostile)


def test_compressed_files_are_refused_before_they_are_opened() -> None:
    """A bomb: ten megabytes of zeros in ten kilobytes."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("bomb", bytes(10_000_000))
    with pytest.raises(ArchiveInvalid, match="compressed"):
        unpack(out.getvalue())


def test_sizes_that_promise_more_than_there_is() -> None:
    for size in (0xFFFFFFFF, 1 << 31):
        local = struct.pack("<4s5H3I2H", b"PK\x03\x04", 20, 0, 0, 0, 33, 0, size, size, 1, 0) + b"a"
        with pytest.raises(ArchiveInvalid, match="cut off"):
            unpack(local)


def test_a_name_twice() -> None:
    twice = pack({"a": b"1", "b": b"2"}).replace(b"\0b2", b"\0a2")
    with pytest.raises(ArchiveInvalid, match="twice"):
        unpack(twice)


@pytest.mark.parametrize(
    "changes",
    [
        {"date_time": (2024, 1, 1, 0, 0, 0)},
        {"external_attr": 0o120777 << 16},  # a symbolic link
        {"create_system": 0},
        {"comment": b"x"},
        {"extra": b"\x01\x00\x00\x00"},
    ],
    ids=str,
)
def test_other_forms_of_the_same_files(changes: dict[str, object]) -> None:
    with pytest.raises(ArchiveInvalid):
        unpack(by_zipfile({"a": b"x"}, **changes))


def test_other_orders_and_an_encrypted_file() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        for path in ("b", "a"):
            info = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
            info.external_attr, info.create_system = 0o100644 << 16, 3
            file.writestr(info, b"x")
    with pytest.raises(ArchiveInvalid, match="its bytes"):
        unpack(out.getvalue())
    encrypted = bytearray(pack({"a": b"x"}))
    encrypted[6] |= 1
    with pytest.raises(ArchiveInvalid, match="encrypted"):
        unpack(bytes(encrypted))


def test_junk() -> None:
    for junk in (b"", b"PK", b"PK\x05\x06" + bytes(18), b"PK\x03\x04", b"\0" * 100, b"hello"):
        with pytest.raises(ArchiveInvalid):
            unpack(junk)


def test_what_does_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MOST", 100)
    with pytest.raises(ArchiveInvalid, match="100 bytes"):
        pack({"a": b"x" * 100})
    monkeypatch.setattr(archive, "MOST_FILES", 1)
    with pytest.raises(ArchiveInvalid, match="1 files"):
        pack({"a": b"", "b": b""})
