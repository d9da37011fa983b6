"""What every test may ask for: the public data files, outside tools, and a machine of its own.

And what no test may do: let a cell of a sealed pool out. `tests.secrets.canaries` says how it would be seen.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from tests import once
from tests.secrets.canaries import listening, nests, sings

from lacre import text

# Whatever the language of the machine, or of a protocol, is: what tests read is English unless they say so.
os.environ[text.VARIABLE] = "en"

ROOT = Path(__file__).resolve().parents[1]
REQUIRED = frozenset(filter(None, os.environ.get("LACRE_REQUIRE", "").split(",")))


def _absent(what: str, kind: str) -> None:
    if kind in REQUIRED:
        pytest.fail(f"{what} is absent, and LACRE_REQUIRE asks for {kind}")
    pytest.skip(f"{what} is absent")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Have a process that ran out of tests take some of another's: a few rooms take as long as all the others."""
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log)


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


@pytest.fixture(scope="session")
def preloaded(tool: Callable[[str], str]) -> Callable[[Path, Path], Path]:
    """Build a library of one file of C, to be loaded before all others: of the source, into a folder."""
    if sys.platform != "linux":
        _absent("a loader that preloads as Linux's does", "tools")

    def build(source: Path, folder: Path) -> Path:
        made = folder / f"{source.stem}.so"
        words = [
            tool("cc"),
            "-shared",
            "-fPIC",
            "-O2",
            "-Wall",
            "-Werror",
            "-o",
            str(made),
            str(source),
            "-ldl",
        ]
        subprocess.run(words, check=True, timeout=60)
        return made

    return build


@pytest.fixture(scope="session", autouse=True)
def _once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Spend no time twice on what `tests.once` names."""
    with pytest.MonkeyPatch.context() as patch:
        once.wait_for_no_disk(patch)
        once.migrate_once(patch, tmp_path_factory.mktemp("empty"))
        once.load_once(patch)
        once.open_once(patch)
        once.simulate_once(patch)
        once.compile_once(patch)
        yield


@pytest.fixture
def power(monkeypatch: pytest.MonkeyPatch) -> None:
    """Flush as lacre does, in this test."""
    once.flush_again(monkeypatch)


@pytest.fixture(autouse=True)
def _own_machine(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give each test a state folder of its own: what one test's ledgers did, no other remembers."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
    for name in ("LACRE_LEDGER", "LACRE_PASSPHRASE", "LACRE_KEY", "LACRE_BACKUP_PASSPHRASE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(text._Process, "choice", None)


@pytest.fixture(scope="session", autouse=True)
def _temporary_folders() -> Iterator[list[Path]]:
    """Every temporary folder that was made and not looked through yet."""
    made: list[Path] = []
    make = pytest.TempPathFactory.mktemp

    def mktemp(factory: pytest.TempPathFactory, basename: str, numbered: bool = True) -> Path:
        made.append(make(factory, basename, numbered))
        return made[-1]

    with mock.patch.object(pytest.TempPathFactory, "mktemp", mktemp):
        yield made


@pytest.fixture(autouse=True)
def _canaries_stay(_temporary_folders: list[Path]) -> Iterator[None]:
    """Find no canary, after a test, in the files it left, or in an error on its way."""
    with listening() as heard:
        yield
    assert heard == []
    left, _temporary_folders[:] = [*_temporary_folders], []
    assert [str(path) for path in nests(left)] == []


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Find none in what a test wrote to its standard output, standard error or a log."""
    report = yield
    wrote = [name for name, text in report.sections if sings(text)]
    if wrote:
        report.outcome = "failed"
        report.longrepr = f"a cell of a sealed pool: {', '.join(wrote)}"
    return report
