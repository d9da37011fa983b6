"""A ledger at hand, a real database and real blobs: sound as written, and harmed on the disk.

Every value, row and page of a database is gone through in `tests/tampering`.
"""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from lacre.audit.audit import audit, unreadable
from lacre.audit.report import AuditReport
from lacre.audit.source import StoreSource
from lacre.errors import LacreError
from lacre.ledger.checkpoint import Checkpoint, SignedCheckpoint
from lacre.rules.record import Answered, columns_of, parse_entry
from lacre.rules.requests import Read, Seal
from lacre.store.discover import BLOB_KINDS
from lacre.store.engine import create_ledger, open_ledger
from lacre.store.memory import Memory
from lacre.store.reader import Columns, Reader, snapshot
from lacre.store.writer import Writer

if TYPE_CHECKING:
    from tests.unit.audit.conftest import Builder


@dataclass
class Kept:
    """A ledger on the disk: its database, and the folder of its sealed pools."""

    database: Path
    pools: Path

    def audit(self) -> AuditReport:
        try:
            engine = open_ledger(self.database)
        except LacreError as error:
            return unreadable(error)
        try:
            with snapshot(engine) as reader:
                return audit(StoreSource(reader, self.pools))
        except LacreError as error:
            return unreadable(error)
        finally:
            engine.dispose()

    def rows(self, table: str) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(self.database)) as connection:
            return connection.execute(f'SELECT * FROM "{table}" ORDER BY 1, 2').fetchall()


def with_blobs(builder: Builder, pools: Path) -> Builder:
    """Seal anew, with digests of files that really stand in the vault."""
    made = builder.empty()
    made.genesis()
    made.register("one")
    for kind in BLOB_KINDS:
        content = f"the {kind} of one".encode()
        folder = pools / "one" / "teste"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{hashlib.sha256(content).hexdigest()}.{kind}").write_bytes(content)
    sha = {kind: hashlib.sha256(f"the {kind} of one".encode()).hexdigest() for kind in BLOB_KINDS}
    made.seal("one", "teste", ciphertext=sha["pool"], wrapped_key=sha["key"], fingerprints=sha["prints"])
    (plain,) = made.read_request("one", "teste").submissions
    kept = {"blob": sha["submission"], "wrapped_key": sha["submission-key"]}
    made.read("one", "teste", submissions=(plain.model_copy(update=kept),), reason="table 2")
    made.result("one", 3, "FAIL")
    return made


@pytest.fixture(scope="session")
def _written(_small: Builder, tmp_path_factory: pytest.TempPathFactory) -> Kept:
    folder = tmp_path_factory.mktemp("ledger")
    builder = with_blobs(_small, folder / "pools")
    kept = Kept(folder / "ledger.db", folder / "pools")
    engine = create_ledger(kept.database)

    def sign(ledger: Reader) -> bytes:
        checkpoint = Checkpoint("lacre/0badc0de", ledger.size, ledger.root_at(ledger.size))
        return SignedCheckpoint.sign(checkpoint, [builder.log]).note

    writer = Writer(engine, sign, Memory(folder / "state"))
    for index, data in enumerate(builder.datas):
        with writer.transaction() as tx:
            tx.append(data, Columns(**columns_of(parse_entry(index, data))))
            for document in builder.documents.values() if index == 4 else ():
                tx.put_document(document.body, str(document.media), document.salt)
    engine.dispose()
    return kept


@pytest.fixture
def kept(_written: Kept, tmp_path: Path) -> Kept:
    pools = Path(shutil.copytree(_written.pools, tmp_path / "pools"))
    database = Path(shutil.copyfile(_written.database, tmp_path / "ledger.db"))
    return Kept(database, pools)


def test_a_ledger_as_it_was_written_is_sound(kept: Kept) -> None:
    report = kept.audit()
    assert report.findings == ()
    assert report.entries == 5


def test_files_that_are_no_database(kept: Kept) -> None:
    for content in (b"", b"x" * 5000, kept.database.read_bytes()[:5000]):
        kept.database.write_bytes(content)
        assert not kept.audit().ok


def _missing(path: Path) -> None:
    path.unlink()


def _shortened(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def _a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("harm", [_missing, _shortened, _a_folder])
def test_every_blob_harmed(kept: Kept, harm: Callable[[Path], None]) -> None:
    for path in sorted(kept.pools.glob("*/*/*")):
        mine = replace(
            kept, pools=Path(shutil.copytree(kept.pools, kept.pools.with_name(f"harm-{path.suffix}")))
        )
        harm(mine.pools / path.relative_to(kept.pools))
        report = mine.audit()
        entry = 3 if path.suffix.startswith(".submission") else 2
        assert [(each.code[:5], each.entry) for each in report.findings] == [("blob-", entry)]


def test_names_that_lead_out_of_the_folder_are_not_followed(kept: Kept) -> None:
    outside = kept.pools.parent / "outside"
    outside.mkdir()
    (outside / ("a" * 64 + ".pool")).write_bytes(b"x")
    engine = open_ledger(kept.database)
    with snapshot(engine) as reader:
        source = StoreSource(reader, kept.pools)
        for pool in ("../../outside", "..", "/etc", "a\0b", "x" * 400, ""):
            assert source.blob("one", pool, "pool", "a" * 64) is None
    engine.dispose()


def test_entries_name_the_blobs_there_are(kept: Kept) -> None:
    """Guards the fixture: what the vault holds is what entries 2 (a seal) and 3 (a read) name."""
    rows = kept.rows("entries")
    sealed, read = (parse_entry(index, rows[index][1]).content for index in (2, 3))
    assert isinstance(sealed, Answered)
    assert isinstance(sealed.request, Seal)
    assert isinstance(read, Answered)
    assert isinstance(read.request, Read)
    (submitted,) = read.request.submissions
    seal = sealed.request
    assert {path.stem for path in kept.pools.glob("*/*/*")} == {
        *(seal.ciphertext, seal.wrapped_key, seal.fingerprints),
        *(submitted.blob, submitted.wrapped_key),
    }
