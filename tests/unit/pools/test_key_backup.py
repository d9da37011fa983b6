"""A backup of key files: what it gives back, and what is refused of anybody's file."""

import io
import tarfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from lacre.errors import KeyBackupClosed, KeyBackupDamaged, KeyBackupPassphraseWrong, PassphraseNotText
from lacre.pools import key_backup
from lacre.pools.key_backup import pack, unpack

FILES = {"person.pem": b"-----BEGIN", "identity.age": bytes(range(256)), "broker-0123456789abcdef.pem": b""}
PASSPHRASE = "três chaves e um lacre"
HERE = Path("keys.age")


@pytest.fixture(scope="module")
def closed() -> bytes:
    """A closed backup; scrypt takes its second, so it is made once."""
    return pack(FILES, PASSPHRASE)


def test_it_gives_back_what_it_was_made_of(closed: bytes) -> None:
    assert unpack(closed, PASSPHRASE, HERE) == FILES
    assert unpack(pack(FILES, None), None, HERE) == FILES
    assert unpack(pack(FILES, ""), "not needed", HERE) == FILES


def test_a_closed_one_shows_nothing_and_opens_with_its_passphrase_alone(closed: bytes) -> None:
    assert b"person" not in closed
    for nothing in (None, ""):
        with pytest.raises(KeyBackupClosed, match=r"keys\.age"):
            unpack(closed, nothing, HERE)
    with pytest.raises(KeyBackupPassphraseWrong, match=r"keys\.age"):
        unpack(closed, "another", HERE)
    with pytest.raises(KeyBackupPassphraseWrong):
        unpack(closed[:-1], PASSPHRASE, HERE)
    with pytest.raises(PassphraseNotText):
        pack(FILES, "caf\udce9")


# --- anybody's file ----------------------------------------------------------------------------------------


def _tar(*members: tuple[str, bytes, bytes], link: str = "") -> bytes:
    """A tar of members, each with a name, a type and content."""
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for name, kind, content in members:
            member = tarfile.TarInfo(name)
            member.type, member.size, member.linkname = kind, len(content), link
            archive.addfile(member, io.BytesIO(content))
    return held.getvalue()


FILE = tarfile.REGTYPE


@pytest.mark.parametrize(
    "members",
    [
        [("../person.pem", FILE, b"x")],
        [("/etc/person.pem", FILE, b"x")],
        [("keys/person.pem", FILE, b"x")],
        [("./person.pem", FILE, b"x")],
        [("notes.txt", FILE, b"x")],
        [("person.pem", FILE, b"x"), ("person.pem", FILE, b"y")],
        [("person.pem", tarfile.SYMTYPE, b"")],
        [("person.pem", tarfile.LNKTYPE, b"")],
        [("person.pem", tarfile.DIRTYPE, b"")],
        [("person.pem", tarfile.FIFOTYPE, b"")],
        [("person.pem", tarfile.CHRTYPE, b"")],
        [("person.pem", FILE, b"x" * (1 << 16) + b"x")],
        [],
    ],
    ids=lambda members: (
        "-".join(f"{name}:{kind.decode()}:{len(held)}" for name, kind, held in members) or "none"
    ),
)
def test_only_key_files_are_taken_out(members: Sequence[tuple[str, bytes, bytes]]) -> None:
    with pytest.raises(KeyBackupDamaged, match=r"keys\.age"):
        unpack(_tar(*members, link="/etc/passwd"), None, HERE)


def test_a_sparse_file_that_would_fill_the_memory_is_refused() -> None:
    """A GNU sparse header says a size that no byte of the archive stands for."""
    plain = bytearray(_tar(("person.pem", tarfile.GNUTYPE_SPARSE, b"")))
    plain[483:495] = b"77777777777\0"  # realsize
    plain[148:156] = b" " * 8
    plain[148:156] = b"%06o\0 " % sum(plain[:512])
    with pytest.raises(KeyBackupDamaged):
        unpack(bytes(plain), None, HERE)


def test_many_files_and_large_ones_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    many = _tar(*((f"k{number}.pem", FILE, b"") for number in range(key_backup.MOST_FILES + 1)))
    with pytest.raises(KeyBackupDamaged, match="too many"):
        unpack(many, None, HERE)
    monkeypatch.setattr(key_backup, "MOST_BYTES", 100)
    with pytest.raises(KeyBackupDamaged, match="too large"):
        unpack(many, None, HERE)


@pytest.mark.parametrize("content", [b"", b"x", b"x" * 4096, b"\0" * 10240, b"\x1f\x8b" + b"\0" * 600])
def test_what_is_no_archive_is_refused(content: bytes) -> None:
    with pytest.raises(KeyBackupDamaged):
        unpack(content, None, HERE)


def test_every_cut_is_found() -> None:
    """At every multiple of a tar's blocks and beside it; whatever is left, no shorter file is given back."""
    whole = _tar(("broker.pem", FILE, b"b" * 700), ("person.pem", FILE, b"p" * 700))
    for end in sorted({size for block in range(0, 3072, 512) for size in (block, block + 1, block + 511)}):
        try:
            found = unpack(whole[:end], None, HERE)
        except KeyBackupDamaged:
            continue
        assert all(len(content) == 700 for content in found.values())
