"""How wide, in colour or not, and whom to ask."""

import io
import os
import sys

import pytest

from lacre.cli import screen


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Closed(io.StringIO):
    def isatty(self) -> bool:
        raise ValueError("closed")


@pytest.mark.parametrize(("columns", "width"), [("60", 60), ("400", 110), ("5", 20)])
def test_columns_are_honoured_within_reason(
    monkeypatch: pytest.MonkeyPatch, columns: str, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert screen.width() == width


def test_without_a_terminal_a_page_is_80_wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setattr(sys, "__stdout__", None)
    assert screen.width() == 80


def test_colour_is_for_a_terminal_that_wants_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert not screen.colour()
    monkeypatch.setattr(sys, "stdout", Terminal())
    assert screen.colour()
    monkeypatch.setenv("NO_COLOR", "")
    assert not screen.colour()
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert not screen.colour()


def test_nobody_is_asked_where_nobody_sits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal())
    assert not screen.can_ask()
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert screen.can_ask()
    monkeypatch.setattr(sys, "stdin", Closed())
    assert not screen.can_ask()


def test_progress_is_for_a_terminal_that_can_redraw(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    assert not screen.progress_wanted()
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert screen.progress_wanted()
    monkeypatch.setenv("TERM", "dumb")
    assert not screen.progress_wanted()


def test_json_is_ascii_where_the_output_is(monkeypatch: pytest.MonkeyPatch) -> None:
    for encoding, written in (("ascii", b"\\u00e9"), ("utf-8", "é".encode())):
        raw = io.BytesIO()
        monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding=encoding))
        screen.write_json({"name": "é"})
        assert written in raw.getvalue()


def test_an_output_that_broke_stays_silent() -> None:
    screen.silence(Terminal())
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as stream:
        screen.silence(stream)
        stream.write("nowhere")
