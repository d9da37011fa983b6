"""A ledger to write to: signed by a fixed key, with entries whose bytes the store has no opinion about."""

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path

import pytest
from sqlalchemy import Engine

from lacre.ledger.checkpoint import Checkpoint, SignedCheckpoint
from lacre.ledger.keys import PrivateKey
from lacre.store.engine import create_ledger, open_ledger
from lacre.store.memory import Memory
from lacre.store.reader import Columns, Reader
from lacre.store.writer import Writer

NOBODY = 65534


class Place:
    """A ledger in a folder, and the memory of a machine."""

    key = PrivateKey.from_seed(bytes(range(32)))

    def __init__(self, folder: Path, empty_ledger: Path) -> None:
        self.folder = folder
        self.path = Path(shutil.copy(empty_ledger, folder / "ledger.db"))
        self.memory = Memory(folder / "state")
        self.engine: Engine = open_ledger(self.path)
        self.writer = Writer(self.engine, self.sign, self.memory)

    def sign(self, ledger: Reader) -> bytes:
        checkpoint = Checkpoint("lacre/test", ledger.size, ledger.root_at(ledger.size))
        return SignedCheckpoint.sign(checkpoint, [self.key]).note

    def append(self, *envelopes: bytes, study: str | None = "s", remember: bool = True) -> None:
        """Append entries in one transaction and, as the broker does, remember them."""
        with self.writer.transaction() as tx:
            for envelope in envelopes:
                tx.append(envelope, columns(tx.size, study))
        growth = tx.growth()
        if remember and growth is not None:
            self.memory.advance(self.engine, growth)

    def reopen(self) -> None:
        """Open what is at the path now, as another process would."""
        self.engine.dispose()
        self.engine = open_ledger(self.path)
        self.writer = Writer(self.engine, self.sign, self.memory)

    def copy(self, name: str) -> Path:
        return Path(shutil.copyfile(self.path, self.folder / name))

    def raw(self, statement: str) -> None:
        """Run a statement the way another program would, which knows nothing of lacre."""
        with closing(sqlite3.connect(self.path)) as connection, connection:
            connection.execute(statement)


def columns(index: int, study: str | None = "s") -> Columns:
    if index == 0:
        return Columns(kind="genesis", time="2024-05-01T00:00:00Z")
    return Columns(kind="seal", time="2024-05-01T00:00:00Z", study=study, nonce=f"nonce-{study}-{index}")


@pytest.fixture(scope="session")
def empty_ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger as it is made, to be copied: making one takes Alembic a tenth of a second."""
    path = tmp_path_factory.mktemp("empty") / "ledger.db"
    create_ledger(path).dispose()
    return path


@pytest.fixture
def place(tmp_path: Path, empty_ledger: Path) -> Iterator[Place]:
    made = Place(tmp_path, empty_ledger)
    yield made
    made.engine.dispose()


@pytest.fixture
def other_place(tmp_path: Path, empty_ledger: Path) -> Iterator[Place]:
    (tmp_path / "other").mkdir()
    made = Place(tmp_path / "other", empty_ledger)
    yield made
    made.engine.dispose()


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user can reach, which those of pytest's are not."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


@pytest.fixture
def as_nobody() -> Callable[[], AbstractContextManager[None]]:
    """Act as a user whom permissions bind, which they do not when the tests run as root."""

    @contextmanager
    def become() -> Iterator[None]:
        was = os.geteuid()
        if was == 0:
            os.setresuid(NOBODY, NOBODY, 0)
        try:
            yield
        finally:
            if was == 0:
                os.setresuid(0, 0, 0)

    return become
