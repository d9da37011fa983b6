"""How long it takes to encrypt and commit to a large raw file, and what memory it takes, beside the bare work.

The stage is `lacre.pools.vault.seal_pool` without an identity (which would open the pool again, to be sure): the file
is read in pieces, committed to under a salt, encrypted, hashed and written durably. The bare work, in the same
process: the same cipher, SHA-256 of what it gives, and the writing of it, with a flush. The file's own reading is in
both. Reading the table and taking its fingerprints come before, and are told apart, in rows a second.
"""

import hashlib
import os
import resource
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

import cryptography
from cryptography.cobblestone import Cobblestone256Encryptor
from tests.bench.ledgers import protocol_of
from tests.bench.measured import Measured

from lacre.durable import CHUNK, read_chunks
from lacre.pools.content import OnDisk
from lacre.pools.exposure import fingerprint
from lacre.pools.seal import Context, Identity
from lacre.pools.vault import Vault, seal_pool
from lacre.tables.formats import Format
from lacre.tables.read import read_table

BAR = 0.5
MOST_MEMORY = 200 << 20
CONTEXT = Context("a" * 64, "study", "teste", "b" * 64)
_PIECE = bytes(range(256)) * (CHUNK // 256)


def run(size: int = 1 << 30, rounds: int = 3, rows: int = 300_000) -> list[Measured]:
    """Seal `size` bytes `rounds` times, each time beside the bare work; the medians are told."""
    with TemporaryDirectory() as place:
        folder = Path(place)
        path = folder / "cases.csv"
        with path.open("wb") as file:
            for _piece in range(size // CHUNK):
                file.write(_PIECE)
        content = OnDisk.at(path)
        before = _peak()
        ours, theirs = [], []
        for number in range(rounds):
            vault = Vault(folder / f"pools-{number}")
            ours.append(_seal(vault, content))
            theirs.append(_bare(path, folder / "bare"))
        memory = _peak() - before
    rate, bare = size / median(ours) / 1e6, size / median(theirs) / 1e6
    peer = f"cryptography {cryptography.__version__} (Cobblestone256), SHA-256 and writing"
    stage = Measured(
        f"seal {size >> 20:,} MiB: encrypt and commit", "MB/s", rate, peer, bare, rate / bare, BAR
    )
    held = Measured(
        "the memory that takes, beside the process", "MiB", memory / (1 << 20), "what it may take",
        MOST_MEMORY / (1 << 20), memory / MOST_MEMORY, 1, at_least=False,
    )  # fmt: skip
    return [stage, held, *_reading(rows)]


def _peak() -> int:
    """The most memory this process ever had, in bytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _seal(vault: Vault, content: OnDisk) -> float:
    recipient = Identity.generate().recipient
    started = perf_counter()
    seal_pool(vault, CONTEXT, [("cases", content)], prints=b"", recipients=[recipient], entropy=os.urandom)
    return perf_counter() - started


def _bare(path: Path, target: Path) -> float:
    started = perf_counter()
    encryptor = Cobblestone256Encryptor(os.urandom(32), b"context")
    digest = hashlib.sha256()
    with target.open("wb") as file:
        for chunk in read_chunks(path):
            encrypted = encryptor.update(chunk)
            digest.update(encrypted)
            file.write(encrypted)
        file.write(encryptor.finalize())
        file.flush()
        os.fsync(file.fileno())
    return perf_counter() - started


def _reading(rows: int) -> list[Measured]:
    """Rows a second that are read and typed, and that are fingerprinted; without a peer."""
    protocol = protocol_of("study")
    lines = (f"{n},a note on {n},{n % 2},{'female' if n % 3 else 'male'}" for n in range(rows))
    raw = ("case_id,note,label,sex\n" + "\n".join(lines) + "\n").encode()
    started = perf_counter()
    table = read_table(raw, protocol.tables["cases"], "cases", Format.CSV, only="pool")
    read = perf_counter()
    files = [("cases", hashlib.sha256(raw).hexdigest())]
    fingerprint({"cases": table}, protocol, study="study", genesis="a" * 64, key=bytes(32), files=files)
    printed = perf_counter()
    return [
        Measured("reading and typing", "rows/s", rows / (read - started)),
        Measured("fingerprints", "rows/s", rows / (printed - read)),
    ]
