"""What an audit takes for a ledger's form is what the migrations make, from the first on."""

import sqlite3
from contextlib import closing
from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import create_engine

from lacre.shipped import migrations_folder
from lacre.store.engine import create_ledger, open_ledger
from lacre.store.form import FORM, OBJECTS, form_of
from lacre.store.reader import snapshot


def test_the_form_is_what_the_migrations_make(tmp_path: Path) -> None:
    create_ledger(tmp_path / "ledger.db").dispose()
    with closing(sqlite3.connect(tmp_path / "ledger.db")) as database:
        objects = database.execute(OBJECTS).fetchall()
        every = {row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE sql IS NOT NULL")}
    assert form_of(0, objects) == FORM
    assert {*FORM} == every | {"user_version"}


def test_a_ledger_of_an_older_form_has_it_once_it_was_opened(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    path.touch()
    engine = create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        config = Config()
        config.set_main_option("script_location", str(migrations_folder()))
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
    engine.dispose()
    opened = open_ledger(path)
    with snapshot(opened) as reader:
        assert reader.form() == FORM
    opened.dispose()


def test_spaces_make_no_difference_and_a_second_object_of_a_name_does() -> None:
    one = form_of(0, [("a", "CREATE TABLE a (x)")])
    assert form_of(0, [("a", "CREATE  TABLE\n a (x)\n")]) == one
    assert form_of(0, [("a", "CREATE TABLE a (x)"), ("a", "CREATE TRIGGER a")]) != one
    assert form_of(1, [("a", "CREATE TABLE a (x)")]) != one
