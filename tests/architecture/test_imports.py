"""The house stands as it is drawn: imports point down, without exceptions, and help loads nothing heavy."""

import ast
import importlib.metadata
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from lacre.version import VERSION

ROOT = Path(__file__).resolve().parents[2]
HEAVY = {
    "PIL",
    *("alembic", "cryptography", "numpy", "pandas", "pyarrow", "pydantic", "pyrage", "rich", "scipy"),
    *("sqlalchemy", "yaml"),
}
PARSED = ("--help", "--version", "nothing", "reveal --help", "seal", "")


def project() -> dict[str, object]:
    with (ROOT / "pyproject.toml").open("rb") as file:
        return tomllib.load(file)


def loaded(script: str) -> set[str]:
    """The top-level modules that a script leaves loaded."""
    done = subprocess.run(
        [sys.executable, "-c", f"import sys\n{script}\nprint(sorted(sys.modules))"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return {name.partition(".")[0] for name in ast.literal_eval(done.stdout.splitlines()[-1])}


def test_every_room_knows_only_those_below_it() -> None:
    program = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run(
        [program, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_contract_has_exceptions() -> None:
    contracts = project()["tool"]["importlinter"]["contracts"]  # type: ignore[index]  # TOML is untyped
    assert contracts
    for contract in contracts:
        assert not any("ignore" in key or "allow" in key for key in contract), contract["name"]


@pytest.mark.parametrize("line", PARSED)
def test_what_only_parses_loads_nothing_heavy(line: str) -> None:
    modules = loaded(f"from lacre.cli import main\nmain({line.split()!r})")
    assert "click" in modules
    assert not modules & HEAVY


def test_importing_lacre_loads_nothing_heavy() -> None:
    assert not loaded("import lacre") & {*HEAVY, "click"}


def test_packages_import_nothing_of_their_rooms() -> None:
    for package in sorted((ROOT / "src" / "lacre").glob("*/__init__.py")):
        name = package.parent.name
        assert not loaded(f"import lacre.{name}") & HEAVY, name


def test_the_version_is_one() -> None:
    assert project()["project"]["version"] == VERSION == importlib.metadata.version("lacre")  # type: ignore[index]
