"""Documents as files of a machine's memory: one each, named by its digest, whole or not there.

A file is a line with the SHA-256 of the rest; a line with the media type; a line with the salt in hexadecimal,
or `-`; and the body. Whoever writes here holds the memory's lock.
"""

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from lacre.canonical import sha256_hex
from lacre.durable import TEMPORARY, make_folder, sync_folder
from lacre.errors import MemoryDocumentDamaged, NotReadable, reason_of
from lacre.store.reader import SALT_SIZE, Document, document_digest
from lacre.text import _


def file_all(folder: Path, documents: Iterable[Document]) -> None:
    """Write every document there is to a new `folder`, which has its name only once it is whole."""
    unfinished = folder.with_name(TEMPORARY + folder.name)
    shutil.rmtree(unfinished, ignore_errors=True)
    file_more(make_folder(unfinished), documents)
    unfinished.rename(folder)
    sync_folder(folder.parent)


def file_more(folder: Path, documents: Iterable[Document]) -> None:
    """Write documents to `folder`, over what is there under their digests."""
    written: list[str] = []
    try:
        for document in documents:
            written.append(document.digest)
            _write(_unfinished(folder, document.digest), document)
        # All are written before the first is flushed: one flush of a file system's journal then does for most.
        for digest in written:
            _flush(_unfinished(folder, digest))
        for digest in written:
            _unfinished(folder, digest).rename(folder / digest)
    except BaseException:
        for digest in written:
            _unfinished(folder, digest).unlink(missing_ok=True)
        raise
    if written:
        sync_folder(folder)


def filed_digests(folder: Path) -> frozenset[str]:
    """Return the digests of the documents in `folder`; none when there is no folder."""
    try:
        return frozenset(path.name for path in folder.iterdir() if not path.name.startswith(TEMPORARY))
    except FileNotFoundError:
        return frozenset()
    except OSError as error:
        raise NotReadable(path=str(folder), why=reason_of(error)) from error


def read_filed(folder: Path, digest: str) -> Document | None:
    """Return the document of this digest, None if it is not kept.

    Raises `MemoryDocumentDamaged`, `NotReadable`.
    """
    path = folder / digest
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise NotReadable(path=str(path), why=reason_of(error)) from error
    document = _parse(digest, data)
    if document is None:
        raise MemoryDocumentDamaged(path=str(path), why=_("its bytes are not those that were kept"))
    return document


def unfile(folder: Path, digests: Iterable[str]) -> None:
    """Remove documents, and return once that is safe on the disk."""
    there = [
        path
        for digest in digests
        for path in (folder / digest, _unfinished(folder, digest))  # a crash leaves the latter
        if path.exists()
    ]
    for path in there:
        path.unlink()
    if there:
        sync_folder(folder)


def _unfinished(folder: Path, digest: str) -> Path:
    return folder / (TEMPORARY + digest)


def _write(path: Path, document: Document) -> None:
    salt = "-" if document.salt is None else document.salt.hex()
    rest = f"{document.media}\n{salt}\n".encode() + document.body
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(sha256_hex(rest).encode() + b"\n" + rest)


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _parse(digest: str, data: bytes) -> Document | None:
    said, _newline, rest = data.partition(b"\n")
    if sha256_hex(rest).encode() != said:
        return None
    try:
        media, salted, body = rest.split(b"\n", 2)
        salt = None if salted == b"-" else bytes.fromhex(salted.decode())
        document = Document(digest, media.decode(), salt, body)
    except ValueError:
        return None
    sized = salt is None or len(salt) == SALT_SIZE
    return document if sized and document_digest(body, salt) == digest else None
