"""All key files of a ledger in one file: a plain tar of them as they are, closed with a passphrase.

With a passphrase the tar is an age file under scrypt, so that in need `age --decrypt BACKUP | tar --extract`
gives the files back without lacre. Keys that have a passphrase of their own stay closed with it inside.

What is read back is anybody's file: at most `MOST_FILES` regular files with the names of keys, each of the size
a key can have, each once, and nothing else. Nothing is ever extracted by the archive's own paths.
"""

import io
import tarfile
from collections.abc import Mapping
from pathlib import Path

import pyrage

from lacre.errors import KeyBackupClosed, KeyBackupDamaged, KeyBackupPassphraseWrong
from lacre.pools.keyring import MOST_KEY_BYTES, encode_passphrase, is_closed, is_key_file
from lacre.text import _

MOST_FILES = 256
MOST_BYTES = 1 << 24  # bytes of a backup; its tar holds fewer than `MOST_FILES` of the largest keys
_NOT_A_TAR = (tarfile.TarError, ValueError, EOFError, OverflowError, RecursionError)
_PLAIN_FILE = (tarfile.REGTYPE, tarfile.AREGTYPE)


def pack(files: Mapping[str, bytes], passphrase: str | None) -> bytes:
    """Return a backup of key files, by name; open where there is no passphrase. Raises `PassphraseNotText`."""
    encode_passphrase(passphrase)
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name in sorted(files):
            member = tarfile.TarInfo(name)
            member.size, member.mode = len(files[name]), 0o600
            archive.addfile(member, io.BytesIO(files[name]))
    plain = held.getvalue()
    return bytes(pyrage.passphrase.encrypt(plain, passphrase)) if passphrase else plain


def unpack(content: bytes, passphrase: str | None, path: Path) -> dict[str, bytes]:
    """Return the key files of a backup, by name; `path` names it in a refusal.

    Raises `KeyBackupClosed`, `KeyBackupPassphraseWrong`, and `KeyBackupDamaged` for whatever is no backup.
    """
    if len(content) > MOST_BYTES:
        raise KeyBackupDamaged(path=str(path), why=_("it is too large"))
    if is_closed(content):
        if not encode_passphrase(passphrase):
            raise KeyBackupClosed(path=str(path))
        try:
            content = bytes(pyrage.passphrase.decrypt(content, passphrase))
        except pyrage.DecryptError:
            raise KeyBackupPassphraseWrong(path=str(path)) from None
    try:
        with tarfile.open(fileobj=io.BytesIO(content), mode="r:") as archive:
            return _members(archive, path)
    except _NOT_A_TAR as error:
        raise KeyBackupDamaged(path=str(path), why=_("it holds no archive of key files")) from error


def _members(archive: tarfile.TarFile, path: Path) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    for member in archive:
        known = is_key_file(member.name) and member.type in _PLAIN_FILE and not member.issparse()
        if not known or member.name in files or not 0 <= member.size <= MOST_KEY_BYTES:
            raise KeyBackupDamaged(
                path=str(path), why=_("{name} in it is no key file").format(name=member.name[:80])
            )
        if len(files) == MOST_FILES:
            raise KeyBackupDamaged(path=str(path), why=_("it holds too many files"))
        held = archive.extractfile(member)
        files[member.name] = held.read(MOST_KEY_BYTES + 1) if held is not None else b""
        if len(files[member.name]) != member.size:
            raise KeyBackupDamaged(path=str(path), why=_("it is cut off"))
    if not files:
        raise KeyBackupDamaged(path=str(path), why=_("it holds no key file"))
    return files
