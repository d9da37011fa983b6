"""Bundles, registers, backups and keys from strangers: bombs and path tricks. Nothing is ever unpacked to a disk."""

import base64
import io
import os
import stat
import time
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from lacre import api
from lacre.audit.files import FolderFiles
from lacre.errors import FileUnfit, KeyMalformed, LacreError, NotReadable
from lacre.ledger.keys import PrivateKey, PublicKey
from lacre.pools.identities import read_identities

PATHS = [
    "../x", "a/../../x", "/etc/passwd", "//host/share", "C:\\x", "a\\..\\x", "a\0b", "a/", "", ".", "..", "~/x",
    "con", "a" * 65_000, "checkpoint", "Checkpoint", "CHECKPOINT", "manifest", "documents/" + "0" * 64,
    "tile/entries/000.p/1", "\x1b[2J", "a\nb", "\u202ex", "a//b", "./checkpoint", "-rf", "a b", "%2e%2e/x",
]  # fmt: skip


@st.composite
def zips(draw: st.DrawFn) -> bytes:
    """Any zip by another program: names, methods, modes (links and devices too), doubles, comments, encryption."""
    out = io.BytesIO()
    methods = [
        zipfile.ZIP_STORED,
        zipfile.ZIP_STORED,
        zipfile.ZIP_DEFLATED,
        zipfile.ZIP_BZIP2,
        zipfile.ZIP_LZMA,
    ]
    kinds = [stat.S_IFREG, stat.S_IFLNK, stat.S_IFDIR, stat.S_IFIFO, stat.S_IFCHR]
    with zipfile.ZipFile(out, "w") as file:
        for name in draw(st.lists(st.sampled_from(PATHS), min_size=1, max_size=4)):
            info = zipfile.ZipInfo(name.replace("\0", "_") or "_", (1980, 1, 1, 0, 0, 0))
            info.compress_type = draw(st.sampled_from(methods))
            info.external_attr = (draw(st.sampled_from(kinds)) | 0o777) << 16
            info.comment = draw(st.sampled_from([b"", b"x" * 100]))
            content = draw(st.sampled_from([b"", b"/etc/passwd", b"\0" * 100_000]))
            with warnings.catch_warnings(action="ignore"):  # of names that come twice
                file.writestr(info, content)
    data = bytearray(out.getvalue())
    if draw(st.booleans()):  # a size, an offset or a flag that is not so
        at = draw(st.integers(0, len(data) - 1))
        data[at] = draw(st.integers(0, 255))
    return bytes(data)


@given(data=zips())
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_zip_is_a_finding_and_writes_nothing(data: bytes, tmp_path: Path) -> None:
    place = tmp_path / "r.zip"
    place.write_bytes(data)
    verified = api.verify(place)
    assert not verified.ok
    assert all(line.isprintable() for line in str(verified).split("\n"))
    assert [path.name for path in tmp_path.iterdir()] == ["r.zip"]


def _bomb(method: int) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as file:
        for number in range(8):
            with file.open(f"documents/{number:064x}", "w") as member:
                for _part in range(8):
                    member.write(b"\0" * (1 << 20))
    return out.getvalue()


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2], ids=["deflate", "bzip2"])
def test_a_compressed_bomb_is_not_expanded(method: int, tmp_path: Path) -> None:
    """It stands for 64 MiB."""
    place = tmp_path / "r.zip"
    place.write_bytes(_bomb(method))
    begun = time.process_time()
    (found,) = api.verify(place).findings
    assert time.process_time() - begun < 2
    assert found.code == "archive-invalid"
    assert "compressed" in found.message


def test_files_that_share_their_bytes_are_no_way_to_expand(tmp_path: Path) -> None:
    """Entries of a central directory that all point to one member, as in David Fifield's bomb of 2019."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        file.writestr(zipfile.ZipInfo("checkpoint"), b"x" * 1000)
    data = out.getvalue()
    start, end = data.index(b"PK\x01\x02"), data.index(b"PK\x05\x06")
    central = data[start:end] * 1000
    whole = data[:start] + central + b"PK\x05\x06\0\0\0\0" + (1000).to_bytes(2, "little") * 2
    whole += len(central).to_bytes(4, "little") + start.to_bytes(4, "little") + b"\0\0"
    place = tmp_path / "r.zip"
    place.write_bytes(whole)
    (found,) = api.verify(place).findings
    assert found.code == "archive-invalid"


# --- a register's folder -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["link", "link to a folder", "pipe", "folder", "large", "loop"])
@pytest.mark.parametrize("name", ["checkpoint", "tile/entries/000.p/1", "documents/" + "0" * 64])
def test_what_is_no_plain_file_in_a_register_is_not_read(kind: str, name: str, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(b"Xyzzy7734\n")
    root = tmp_path / "register"
    place = root / name
    place.parent.mkdir(parents=True)
    if kind == "link":
        place.symlink_to(secret)
    elif kind == "link to a folder":
        place.symlink_to(tmp_path)
    elif kind == "pipe":
        os.mkfifo(place)
    elif kind == "folder":
        place.mkdir()
    elif kind == "large":
        with place.open("wb") as file:
            file.truncate(1 << 40)
    else:
        place.symlink_to(place)
    with pytest.raises((FileUnfit, NotReadable)):
        FolderFiles(root).read(name, 1000)
    report = api.audit(registry=root)
    assert not report.ok
    assert "Xyzzy7734" not in str(report)


def test_folders_without_end_are_looked_at_to_a_depth(tmp_path: Path) -> None:
    root = tmp_path / "register"
    deep = root / "tile" / "/".join("d" * 40)
    deep.mkdir(parents=True)
    (root / "tile" / "up").symlink_to(root)
    (root / "tile" / "\x1b[2J\nFORGED").write_text("x")
    report = api.audit(registry=root)
    assert not report.ok
    for line in str(report).split("\n"):
        assert line.isprintable()
        assert not line.startswith("FORGED")


# --- keys --------------------------------------------------------------------------------------------------

LABELS = ["PRIVATE KEY", "PUBLIC KEY", "ENCRYPTED PRIVATE KEY", "EC PRIVATE KEY", "RSA PRIVATE KEY"]
# RFC 8410, section 7: a private key, its octets inside an octet string.
DER = bytes.fromhex("302e020100300506032b657004220420") + b"\1" * 32


def armoured(label: str, der: bytes) -> bytes:
    body = base64.encodebytes(der).decode()
    return f"-----BEGIN {label}-----\n{body}-----END {label}-----\n".encode()


def test_the_key_of_the_rfc_is_one() -> None:
    assert (
        PrivateKey.from_pkcs8(armoured("PRIVATE KEY", DER)).public == PrivateKey.from_seed(b"\1" * 32).public
    )


@pytest.mark.parametrize("size", [0, 1, 31, 33, 64])
def test_a_key_of_another_length_is_malformed(size: int) -> None:
    """OpenSSL refuses it with an error that is none of `cryptography`'s usual ones."""
    inner = bytes([4, size]) + b"\1" * size
    algorithm = bytes.fromhex("300506032b6570")
    body = bytes.fromhex("020100") + algorithm + bytes([4, len(inner)]) + inner
    with pytest.raises(KeyMalformed):
        PrivateKey.from_pkcs8(armoured("PRIVATE KEY", bytes([0x30, len(body)]) + body))
    bits = bytes([3, size + 1, 0]) + b"\1" * size
    public = algorithm + bits
    with pytest.raises(KeyMalformed):
        PublicKey.from_pem(armoured("PUBLIC KEY", bytes([0x30, len(public)]) + public))


def attempt(read: Callable[[], object]) -> LacreError | None:
    """Call `read`; return its refusal, and let any other error pass."""
    try:
        read()
    except LacreError as error:
        return error
    return None


@given(
    label=st.sampled_from(LABELS),
    at=st.integers(0, len(DER)),
    new=st.binary(max_size=3),
    cut=st.integers(0, 3),
)
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_damage_to_a_key_leaves_a_key_or_a_refusal(
    label: str, at: int, new: bytes, cut: int, tmp_path: Path
) -> None:
    data = armoured(label, DER[:at] + new + DER[at + cut :])
    place = tmp_path / "key"
    place.write_bytes(data)
    for read in (
        lambda: PrivateKey.from_pkcs8(data, b"words"),
        lambda: PublicKey.from_pem(data),
        lambda: read_identities(place, lambda _path: ["words"]),
    ):
        refusal = attempt(read)
        assert refusal is None or str(refusal).isprintable()
