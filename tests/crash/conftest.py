"""One zygote for each process that runs tests."""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.crash.harness import Harness

HERE = Path(__file__).parent
IN_MEMORY = Path("/dev/shm")


@pytest.fixture(scope="session")
def harness(preloaded: Callable[[Path, Path], Path]) -> Iterator[Harness]:
    """The zygote; in a folder in memory where there is one, since thousands of folders come and go."""
    folder = Path(tempfile.mkdtemp(prefix="lacre-crash-", dir=IN_MEMORY if IN_MEMORY.is_dir() else None))
    try:
        harness = Harness.begin(preloaded(HERE / "shim.c", folder), folder)
        yield harness
        harness.end()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
