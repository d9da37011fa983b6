"""What every test may ask for: the public data files, outside tools, and a machine of its own."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
REQUIRED = frozenset(filter(None, os.environ.get("LACRE_REQUIRE", "").split(",")))


def _absent(what: str, kind: str) -> None:
    if kind in REQUIRED:
        pytest.fail(f"{what} is absent, and LACRE_REQUIRE asks for {kind}")
    pytest.skip(f"{what} is absent")


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of public files with published values; never part of the repository."""
    folder = Path(os.environ.get("LACRE_TEST_DATA") or ROOT.parent / "shared" / "data")
    if not (folder / "expected.json").is_file():
        _absent("the test data", "data")
    return folder


@pytest.fixture(scope="session")
def tool() -> Callable[[str], str]:
    """Find an outside program by name."""

    def find(name: str) -> str:
        path = shutil.which(name)
        if path is None:
            _absent(name, "tools")
        return str(path)

    return find


@pytest.fixture(scope="session")
def absent() -> Callable[[str, str], None]:
    """Skip for want of something of a kind ("data" or "tools"), or fail where that kind is required."""
    return _absent


@pytest.fixture(autouse=True)
def _own_machine(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give each test a state folder of its own: what one test's ledgers did, no other remembers."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
    for name in ("LACRE_LEDGER", "LACRE_LANG", "LACRE_PASSPHRASE", "LACRE_KEY", "LACRE_BACKUP_PASSPHRASE"):
        monkeypatch.delenv(name, raising=False)
