"""Progress bars on standard error, on a terminal alone, and only once work has lasted a while."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from lacre.cli import screen
from lacre.errors import printable
from lacre.text import _

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

Report = Callable[[str, int, int | None], None]
PATIENCE = 0.5  # seconds of work before a bar appears
PAUSE = 0.1  # seconds between two drawings of one


class Bars:
    """A bar for each piece of work, told by its label how much of it is done."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._begun: dict[str, float] = {}
        self._drawn: dict[str, float] = {}
        self._tasks: dict[str, TaskID] = {}
        self._progress: Progress | None = None

    def __call__(self, label: str, done: int, total: int | None) -> None:
        """Note that `done` of `total` (None where that is not known) of the work `label` is done."""
        now = self._clock()
        begun = self._begun.setdefault(label, now)
        finished = total is not None and done >= total
        if now - begun < PATIENCE or (now - self._drawn.get(label, 0.0) < PAUSE and not finished):
            return
        self._drawn[label] = now
        self._draw(label, done, total)

    def close(self) -> None:
        """Take the bars off the screen."""
        if self._progress is not None:
            self._progress.stop()
            self._progress = None

    def _draw(self, label: str, done: int, total: int | None) -> None:
        if self._progress is None:
            self._progress = _new_progress()
            self._progress.start()
        if label not in self._tasks:
            self._tasks[label] = self._progress.add_task(printable(_(label)), total=total)
        self._progress.update(self._tasks[label], completed=done, total=total)


@contextmanager
def bars() -> Iterator[Report | None]:
    """Give what reports progress, or None where nobody would see it."""
    if not screen.progress_wanted():
        yield None
        return
    shown = Bars()
    try:
        yield shown
    finally:
        shown.close()


def _new_progress() -> "Progress":
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True, highlight=False, markup=False),
        transient=True,
    )
