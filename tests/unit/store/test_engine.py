"""How a ledger's database is made and opened, and what is refused in its place."""

import os
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, closing
from pathlib import Path

import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine

from lacre.errors import (
    LacreError,
    LedgerExists,
    LedgerNotFound,
    StoreBusy,
    StoreCorrupt,
    StoreDenied,
    StoreForeign,
    StoreNewer,
    StoreNotDatabase,
    StoreReadOnly,
)
from lacre.shipped import migrations_folder
from lacre.store import engine as engine_module, failures, tables
from lacre.store.engine import create_ledger, make_engine, open_ledger, writing
from lacre.store.failures import refusing
from lacre.store.memory import Memory
from lacre.store.reader import Columns, snapshot
from lacre.store.writer import Writer

Nobody = Callable[[], AbstractContextManager[None]]


def close(path: Path, maker: Callable[[Path], object]) -> None:
    maker(path).dispose()  # type: ignore[attr-defined]  # both makers return engines


def schema(path: Path) -> set[tuple[str, str]]:
    """The tables and indexes by name, with spaces evened out."""
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute(
            "SELECT name, sql FROM sqlite_schema WHERE type IN ('table', 'index')"
            " AND sql IS NOT NULL AND name <> 'alembic_version'"
        ).fetchall()
    return {(name, " ".join(sql.split())) for name, sql in rows}


def test_a_new_ledger_is_a_private_file_that_names_its_maker(tmp_path: Path) -> None:
    """Bytes 68 to 71 of a SQLite file hold the application id, big-endian (sqlite.org/fileformat2.html)."""
    path = tmp_path / "ledger.db"
    close(path, create_ledger)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.read_bytes()[68:72] == b"lacr"
    assert list(tmp_path.iterdir()) == [path]


def test_each_connection_has_the_pragmas(power: None, tmp_path: Path) -> None:
    """3 is EXTRA (sqlite.org/pragma.html#pragma_synchronous)."""
    engine = create_ledger(tmp_path / "ledger.db")
    wanted = {
        "journal_mode": "delete",
        "synchronous": 3,
        "foreign_keys": 1,
        "recursive_triggers": 1,
        "trusted_schema": 0,
        "busy_timeout": 60_000,
    }
    with engine.connect() as one, engine.connect() as two:
        for connection in (one, two):
            found = {name: connection.exec_driver_sql(f"PRAGMA {name}").scalar_one() for name in wanted}
            assert found == wanted
    engine.dispose()


def test_the_code_s_tables_are_those_the_migrations_make(tmp_path: Path) -> None:
    close(tmp_path / "made.db", create_ledger)
    engine = create_engine(f"sqlite:///{tmp_path / 'declared.db'}")
    tables.metadata.create_all(engine)
    engine.dispose()
    assert schema(tmp_path / "made.db") == schema(tmp_path / "declared.db")


def test_the_code_s_revision_is_the_head_and_revisions_sort() -> None:
    config = Config()
    config.set_main_option("script_location", str(migrations_folder()).replace("%", "%%"))
    script = ScriptDirectory.from_config(config)
    revisions = [revision.revision for revision in script.walk_revisions()]
    assert script.get_current_head() == tables.SCHEMA
    assert revisions == sorted(revisions, reverse=True)
    assert all(re.fullmatch("[0-9]{4}", revision) for revision in revisions)


def test_every_table_is_strict(tmp_path: Path) -> None:
    close(tmp_path / "ledger.db", create_ledger)
    made = {name: sql for name, sql in schema(tmp_path / "ledger.db") if sql.startswith("CREATE TABLE")}
    assert set(made) == {"entries", "nodes", "documents", "checkpoint"}
    assert all(sql.endswith("STRICT") for sql in made.values())


def test_opening_imports_no_alembic(tmp_path: Path) -> None:
    close(tmp_path / "ledger.db", create_ledger)
    program = (
        "import sys; from pathlib import Path; from lacre.store.engine import open_ledger\n"
        f"open_ledger(Path({str(tmp_path / 'ledger.db')!r})).dispose(); print('alembic' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout == "False\n"


def test_a_ledger_is_not_made_over_a_file(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    path.write_bytes(b"mine")
    with pytest.raises(LedgerExists):
        create_ledger(path)
    assert path.read_bytes() == b"mine"


def foreign(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t (x)")


def changed(statement: str) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        close(path, create_ledger)
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute(statement)

    return change


def cut(path: Path) -> None:
    close(path, create_ledger)
    path.write_bytes(path.read_bytes()[:6000])


@pytest.mark.parametrize(
    ("prepare", "refusal"),
    [
        (lambda _path: None, LedgerNotFound),
        (Path.mkdir, LedgerNotFound),
        (lambda path: path.write_bytes(b""), StoreCorrupt),
        (lambda path: path.write_text("no database, but text\n" * 100), StoreNotDatabase),
        (foreign, StoreForeign),
        (cut, StoreCorrupt),
        (changed("UPDATE alembic_version SET version_num = '9999'"), StoreNewer),
        (changed("UPDATE alembic_version SET version_num = '0000'"), StoreCorrupt),
        (changed("DELETE FROM alembic_version"), StoreCorrupt),
        (changed("DROP TABLE alembic_version"), StoreCorrupt),
    ],
)
def test_what_is_no_ledger_is_refused(
    tmp_path: Path, prepare: Callable[[Path], object], refusal: type[LacreError]
) -> None:
    path = tmp_path / "ledger.db"
    prepare(path)
    with pytest.raises(refusal) as caught:
        open_ledger(path)
    assert str(path) in caught.value.message


def test_no_ledger_points_to_init(tmp_path: Path) -> None:
    with pytest.raises(LedgerNotFound) as caught:
        open_ledger(tmp_path / "ledger.db")
    assert "lacre init" in caught.value.way_out
    assert list(tmp_path.iterdir()) == []


def newer_code(folder: Path, monkeypatch: pytest.MonkeyPatch, upgrade: str) -> None:
    """Play a lacre that knows one revision more."""
    shutil.copytree(migrations_folder(), folder, ignore=shutil.ignore_patterns("__pycache__"))
    newer = f"{int(tables.SCHEMA) + 1:04}"
    (folder / "versions" / f"{newer}_more.py").write_text(
        "from alembic import op\n"
        f"revision, down_revision, branch_labels, depends_on = {newer!r}, {tables.SCHEMA!r}, None, None\n"
        f"def upgrade():\n    op.execute('CREATE TABLE more (x INTEGER) STRICT')\n    {upgrade}\n"
    )
    monkeypatch.setattr(engine_module, "migrations_folder", lambda: folder)
    monkeypatch.setattr(engine_module, "SCHEMA", newer)


def test_an_older_ledger_is_brought_up_to_date_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "ledger.db"
    close(path, create_ledger)
    newer_code(tmp_path / "50% more", monkeypatch, "pass")
    close(path, open_ledger)
    close(path, open_ledger)
    assert "more" in dict(schema(path))


def test_a_failed_upgrade_leaves_the_older_ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "ledger.db"
    close(path, create_ledger)
    before = schema(path)
    with monkeypatch.context() as patch:
        newer_code(tmp_path / "migrations", patch, "op.execute('INSERT INTO absent VALUES (1)')")
        with pytest.raises(StoreCorrupt):
            open_ledger(path)
    assert schema(path) == before
    close(path, open_ledger)


def test_a_failed_making_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "ledger.db"
    with monkeypatch.context() as patch:
        newer_code(tmp_path / "migrations", patch, "op.execute('INSERT INTO absent VALUES (1)')")
        with pytest.raises(StoreCorrupt):
            create_ledger(path)
    assert not path.exists()
    close(path, create_ledger)


def test_a_ledger_in_use_for_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_module, "BUSY_SECONDS", 0)
    engine = create_ledger(tmp_path / "ledger.db")
    with closing(sqlite3.connect(tmp_path / "ledger.db", isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreBusy), snapshot(engine):
            pass
    engine.dispose()


def test_one_waits_for_as_long_as_others_get_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file is looked at before and after each wait: it changes during two, and not during the third."""
    monkeypatch.setattr(engine_module, "BUSY_SECONDS", 0)
    path = tmp_path / "ledger.db"
    engine = create_ledger(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        looks = iter([1, 2, 2, 3, 3, 3])
        monkeypatch.setattr(failures, "_changed", lambda _path: next(looks))
        with pytest.raises(StoreBusy), refusing(str(path)), writing(engine) as connection:
            connection.begin()
        assert next(looks, None) is None

        def look(_path: str) -> int:
            seen.append(len(seen))
            if len(seen) == 4:
                other.execute("COMMIT")
            return seen[-1]

        seen: list[int] = []
        monkeypatch.setattr(failures, "_changed", look)
        with writing(engine) as connection, connection.begin():
            pass
        assert len(seen) == 5, "two waits, and an attempt that was let in"
    engine.dispose()


def test_a_commit_is_a_change(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    close(path, create_ledger)
    before = failures._changed(str(path))
    with closing(sqlite3.connect(path)) as other:
        other.execute("PRAGMA user_version = 7")
    assert failures._changed(str(path)) != before
    assert failures._changed(str(tmp_path / "absent")) is None


def test_permissions_that_keep_one_out(open_folder: Path, as_nobody: Nobody) -> None:
    path = open_folder / "ledger.db"
    close(path, create_ledger)
    path.chmod(0)
    with as_nobody(), pytest.raises(StoreDenied):
        open_ledger(path)


def test_a_folder_that_may_not_be_searched(open_folder: Path, as_nobody: Nobody) -> None:
    path = open_folder / "inner" / "ledger.db"
    path.parent.mkdir()
    close(path, create_ledger)
    path.parent.chmod(0)
    with as_nobody(), pytest.raises(StoreDenied):
        open_ledger(path)
    path.parent.chmod(0o700)


def test_a_file_that_may_be_read_and_not_written(open_folder: Path, as_nobody: Nobody) -> None:
    path = open_folder / "ledger.db"
    close(path, create_ledger)
    path.chmod(0o444)
    with as_nobody():
        engine = open_ledger(path)
        with snapshot(engine) as reader:
            assert reader.size == 0
        writer = Writer(engine, lambda _ledger: b"", Memory(open_folder / "state"))
        with pytest.raises(StoreReadOnly), writer.transaction() as tx:
            tx.append(b"genesis", Columns(kind="genesis", time="now"))
        engine.dispose()


def test_a_connection_is_not_kept_to_a_file_that_was_replaced(tmp_path: Path) -> None:
    """A restored copy has the old path and another inode; what was open would go on with the removed file."""
    path, copy = tmp_path / "ledger.db", tmp_path / "copy.db"
    engine = create_ledger(path)
    shutil.copyfile(path, copy)
    with writing(engine) as connection, connection.begin():
        connection.exec_driver_sql("INSERT INTO checkpoint VALUES (1, 7, x'00')")
    copy.replace(path)
    with snapshot(engine) as reader:
        assert reader.checkpoint() is None
    path.unlink()
    with pytest.raises(LedgerNotFound), snapshot(engine):
        pass
    engine.dispose()


def test_what_was_read_does_not_count_once_a_copy_was_laid_over_the_file(tmp_path: Path) -> None:
    """`cp` keeps the inode, and two copies that saw as many writes have the same change counter (bytes 24 to 27)."""
    path, copy = tmp_path / "ledger.db", tmp_path / "copy.db"
    engine = create_ledger(path)
    shutil.copyfile(path, copy)
    other = make_engine(copy)
    for each, note in ((engine, "00"), (other, "01")):
        with writing(each) as connection, connection.begin():
            connection.exec_driver_sql(f"INSERT INTO checkpoint VALUES (1, 7, x'{note}')")
    other.dispose()
    with snapshot(engine) as reader:
        assert reader.checkpoint() == b"\0"
    before = path.stat()
    assert path.read_bytes()[24:28] == copy.read_bytes()[24:28]
    shutil.copyfile(copy, path)
    assert path.stat().st_ino == before.st_ino
    with snapshot(engine) as reader:
        assert reader.checkpoint() == b"\1"
    engine.dispose()


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # of Python 3.12 on, where threads run
def test_a_connection_is_not_carried_over_a_fork(tmp_path: Path) -> None:
    engine = create_ledger(tmp_path / "ledger.db")

    def connection_id() -> int:
        with engine.connect() as connection:
            return id(connection.connection.dbapi_connection)

    before = connection_id()
    assert connection_id() == before
    child = os.fork()
    if child == 0:
        os._exit(0 if connection_id() != before else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert connection_id() == before
    engine.dispose()
