"""Progress: on a terminal alone, after half a second, and never drawn more often than the eye follows."""

import io
import sys

import pytest

from lacre.cli import progress, screen


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Drawn(progress.Bars):
    """Bars that note when they are drawn."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock)
        self.clock = clock
        self.drawn: list[tuple[float, str, int]] = []

    def _draw(self, label: str, done: int, total: int | None) -> None:  # noqa: ARG002 - as it is called
        self.drawn.append((self.clock.now, label, done))


def test_short_work_is_never_shown() -> None:
    clock = Clock()
    bars = Drawn(clock)
    for step in range(5):
        bars("sealing", step, 5)
        clock.now += 0.1
    assert bars.drawn == []


def test_long_work_is_shown_after_a_while_and_now_and_then() -> None:
    clock = Clock()
    bars = Drawn(clock)
    for step in range(101):
        bars("sealing", step, 100)
        clock.now += 0.01
    assert [done for _now, _label, done in bars.drawn] == [50, 60, 70, 80, 90, 100]


def test_each_piece_of_work_has_its_own_patience() -> None:
    clock = Clock()
    bars = Drawn(clock)
    bars("one", 0, None)
    clock.now += 1
    bars("two", 0, None)
    bars("one", 5, None)
    assert [label for _now, label, _done in bars.drawn] == ["one"]


def test_without_a_terminal_there_is_none() -> None:
    with progress.bars() as shown:
        assert shown is None


def test_a_bar_is_drawn_and_taken_away(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    assert screen.progress_wanted()
    with progress.bars() as shown:
        assert shown is not None
        shown("reading \x1b[31m[red]", 1, 3)
        shown("reading \x1b[31m[red]", 3, 3)
    assert r"reading \x1b[31m[red]" in terminal.getvalue()
