"""How a ledger's database is made, opened, and kept to one way of locking.

The driver's own handling of transactions is off. A transaction begins with BEGIN, and sees one state of the
ledger from its first SELECT on, or with BEGIN IMMEDIATE, and is then the only one that writes. The journal is
SQLite's rollback journal: at rest the ledger is one file, and a crash leaves it to the next opening to undo
what was not committed.
"""

import os
import sqlite3
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, QueuePool, create_engine, event, exc

from lacre.durable import create_durably
from lacre.errors import LedgerExists, StoreCorrupt, StoreForeign, StoreNewer
from lacre.shipped import migrations_folder
from lacre.store.failures import BUSY_SECONDS, refusing, while_others_get_on
from lacre.store.tables import APPLICATION_ID, SCHEMA
from lacre.text import _

PRAGMAS = (
    "journal_mode = DELETE",
    "synchronous = EXTRA",
    "foreign_keys = ON",
    "recursive_triggers = ON",
    "trusted_schema = OFF",
    "secure_delete = ON",
)
"""Set on every connection. EXTRA also flushes the folder once the journal is gone, without which a power cut
can bring a committed transaction's journal back, and undo it. What is erased is overwritten with zeros."""

_BEGIN = "lacre_begin"
_IMMEDIATE = "BEGIN IMMEDIATE"


def make_engine(path: Path) -> Engine:
    """Return an engine on the database at `path`, which is not touched before the first connection.

    Connections are kept open between uses, and given up when the process has forked, another file stands at
    `path`, or somebody else wrote to it. Call `dispose` when done with it.
    """
    engine = create_engine(
        URL.create("sqlite", database=str(path)),
        creator=partial(_connect, path),
        poolclass=QueuePool,
        max_overflow=-1,
    )
    _begin_as_asked(engine)
    _reopen_when_stale(engine, path)
    return engine


def path_of(engine: Engine) -> str:
    """Return the path of the engine's database, as errors name it."""
    return str(engine.url.database)


def writing(engine: Engine) -> Connection:
    """Return a connection whose transactions lock out other writers from their beginning."""
    return engine.connect().execution_options(**{_BEGIN: _IMMEDIATE})


def create_ledger(path: Path) -> Engine:
    """Make an empty ledger at `path`, file mode 0600, in a folder that exists.

    Raises `LedgerExists`, and what a full or unwritable disk gives.
    """
    if not create_durably(path, b""):
        raise LedgerExists(path=str(path))
    engine = make_engine(path)
    try:
        _upgrade(engine)
    except BaseException:
        engine.dispose()
        with suppress(OSError):
            path.unlink()  # all or nothing, as everything here; an empty file would be in the way
        raise
    return engine


def open_ledger(path: Path) -> Engine:
    """Open the ledger at `path`, and bring it to the present form when an older lacre wrote it.

    Raises `LedgerNotFound`, `StoreNotDatabase`, `StoreForeign`, `StoreCorrupt`, `StoreNewer`, `StoreDenied`,
    `StoreBusy`.
    """
    engine = make_engine(path)
    try:
        found = _revision(engine)
        if found > SCHEMA:
            raise StoreNewer(path=str(path), found=found, known=SCHEMA)
        if found < SCHEMA:
            _upgrade(engine)
    except BaseException:
        engine.dispose()
        raise
    return engine


def _connect(path: Path) -> sqlite3.Connection:
    # mode=rw: a file that is not there is an error, and not a new, empty database.
    uri = f"{path.absolute().as_uri()}?mode=rw"
    connection = sqlite3.connect(
        uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
    )
    try:
        # Text that is no UTF-8 must reach the audit, which names the entry, and not fail on its way there.
        connection.text_factory = partial(str, encoding="utf-8", errors="replace")
        for pragma in PRAGMAS:
            while_others_get_on(str(path), partial(connection.execute, f"PRAGMA {pragma}"))
    except BaseException:
        connection.close()
        raise
    return connection


def _begin_as_asked(engine: Engine) -> None:
    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        statement = connection.get_execution_options().get(_BEGIN, "BEGIN")
        while_others_get_on(path_of(engine), lambda: connection.exec_driver_sql(statement))


def _reopen_when_stale(engine: Engine, path: Path) -> None:
    inherited = []

    @event.listens_for(engine, "connect")
    def remember(_connection: Any, record: Any) -> None:
        record.info[_IDENTITY] = _identity(path)

    @event.listens_for(engine, "checkin")
    def leave(_connection: Any, record: Any) -> None:
        record.info[_LEFT] = _written(path)

    @event.listens_for(engine, "checkout")
    def check(connection: Any, record: Any, proxy: Any) -> None:
        was, now = record.info[_IDENTITY], _identity(path)
        # SQLite knows by a counter in the file whether what it read before still holds: a copy of the ledger that was
        # laid over it, and saw as many writes, has the same.
        left = record.info.pop(_LEFT, None)
        if was == now and left in {None, _written(path)}:
            return
        if was[0] != now[0]:
            # What was opened before a fork is not even to be closed (sqlite.org/howtocorrupt.html, 2.6).
            inherited.append(connection)
            record.dbapi_connection = proxy.dbapi_connection = None
        raise exc.DisconnectionError


_IDENTITY, _LEFT = "lacre_identity", "lacre_left"


def _written(path: Path) -> tuple[int, ...]:
    try:
        status = path.stat()
    except OSError:
        return ()
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _identity(path: Path) -> tuple[int, ...]:
    try:
        status = path.stat()
    except OSError:
        return (os.getpid(),)
    return os.getpid(), status.st_dev, status.st_ino


def _revision(engine: Engine) -> str:
    path = path_of(engine)
    with refusing(path), engine.connect() as connection:
        application = connection.exec_driver_sql("PRAGMA application_id").scalar_one()
        if application != APPLICATION_ID:
            if connection.exec_driver_sql("PRAGMA page_count").scalar_one() == 0:
                raise StoreCorrupt(path=path, why=_("it is empty"))
            raise StoreForeign(path=path)
        found = connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalars().all()
    if len(found) != 1:
        raise StoreCorrupt(path=path, why=_("it names no revision"))
    return str(found[0])


def _upgrade(engine: Engine) -> None:
    # One transaction that locks writers out: of two processes the second finds nothing left to do, and after
    # a crash there is the old form or the new one.
    from alembic import command
    from alembic.config import Config
    from alembic.util import CommandError

    folder = str(migrations_folder()).replace("%", "%%")
    with refusing(path_of(engine)), writing(engine) as connection, connection.begin():
        config = Config()
        config.set_main_option("script_location", folder)
        config.attributes["connection"] = connection
        try:
            command.upgrade(config, "head")
        except CommandError as error:
            raise StoreCorrupt(path=path_of(engine), why=str(error)) from error
