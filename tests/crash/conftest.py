"""One zygote for each process that runs tests."""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.crash.harness import Harness

IN_MEMORY = Path("/dev/shm")


@pytest.fixture(scope="session")
def harness(tool: Callable[[str], str]) -> Iterator[Harness]:
    """The zygote; in a folder in memory where there is one, since thousands of folders come and go."""
    folder = Path(tempfile.mkdtemp(prefix="lacre-crash-", dir=IN_MEMORY if IN_MEMORY.is_dir() else None))
    try:
        harness = Harness.begin(tool("gcc"), folder)
        yield harness
        harness.end()
    finally:
        shutil.rmtree(folder)
