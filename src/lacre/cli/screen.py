"""Standard output and standard error: how wide, in colour or not, and what to do when a reader goes away."""

import errno
import json
import os
import shutil
import sys
from contextlib import suppress
from typing import Any, TextIO

from lacre.errors import LacreError, OutputLost, printable_json, reason_of

WIDEST = 110  # prose wider than this is hard to read, whatever the terminal


def width() -> int:
    """Return the columns to write in: COLUMNS, else those of the terminal, else 80."""
    return max(min(shutil.get_terminal_size((80, 24)).columns, WIDEST), 20)


def colour() -> bool:
    """Return whether standard output is a terminal that may be sent colour codes."""
    return _is_terminal(sys.stdout) and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


def can_ask() -> bool:
    """Return whether there is a person to ask: both ends are a terminal."""
    return _is_terminal(sys.stdin) and _is_terminal(sys.stderr)


def progress_wanted() -> bool:
    """Return whether standard error is a terminal that can redraw a line."""
    return _is_terminal(sys.stderr) and os.environ.get("TERM") != "dumb"


def write(text: str) -> None:
    """Write text to standard output, with a line's end.

    A reader that went away (`lacre log | head`) is no failure: the verb was done, and its status says so.
    Raises `OutputLost` when the output cannot take the text, as on a full disk.
    """
    if sys.stdout is None:  # closed by whoever started us
        return
    try:
        sys.stdout.write(text if text.endswith("\n") else f"{text}\n")
        sys.stdout.flush()
    except OSError as error:
        silence(sys.stdout)
        if error.errno != errno.EPIPE:
            raise OutputLost(why=reason_of(error)) from error


def write_json(document: dict[str, Any]) -> None:
    """Write the one JSON document of a call, with no character in it that a terminal would obey."""
    encoding = str(getattr(sys.stdout, "encoding", None)).lower().replace("-", "")
    write(printable_json(json.dumps(document, ensure_ascii=encoding != "utf8", indent=2, allow_nan=False)))


def refuse(error: LacreError, *, as_json: bool) -> None:
    """Say what was refused, why, and the way out."""
    if as_json:
        refusal = {"code": error.code, "message": error.message, "way_out": error.way_out}
        write_json({"error": refusal})
        return
    write_error(f"lacre: {error.message}\n{error.way_out}")


def write_error(text: str) -> None:
    """Write text to standard error, with a line's end; nobody may be reading it."""
    if sys.stderr is None:  # closed by whoever started us
        return
    with suppress(OSError):
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()


def prepare() -> None:
    """Let no character that the terminal cannot show become a failure."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def silence(stream: TextIO) -> None:
    """Send what is still buffered for a reader that went away to nowhere, so that no later flush fails."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def _is_terminal(stream: TextIO | None) -> bool:
    try:
        return stream is not None and stream.isatty()
    except ValueError:
        return False
