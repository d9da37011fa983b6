"""One zygote for each process that runs tests."""

import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.crash.harness import Harness

IN_MEMORY = Path("/dev/shm")


@pytest.fixture(scope="session")
def harness(tool: Callable[[str], str], absent: Callable[[str, str], None]) -> Iterator[Harness]:
    """The zygote; in a folder in memory where there is one, since thousands of folders come and go."""
    if sys.platform != "linux":
        absent("a loader that preloads as Linux's does", "tools")
    compiler = tool("gcc")
    folder = Path(tempfile.mkdtemp(prefix="lacre-crash-", dir=IN_MEMORY if IN_MEMORY.is_dir() else None))
    try:
        harness = Harness.begin(compiler, folder)
        yield harness
        harness.end()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
