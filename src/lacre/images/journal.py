"""What a folder of variants already holds: a line for each file, written once the file is whole.

The first line says which plan and which libraries the files are made with. A run that was cut off leaves at most an
unfinished last line and a temporary file; whatever no line tells of, or is not what its line says, is made again.
"""

import errno
import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lacre.durable import TEMPORARY, list_folder, make_folder, read_given, write_durably, writing_file
from lacre.errors import AmplifyBusy, AmplifyIntoOther, AmplifyOtherwise, NotWritten
from lacre.images.manifest import Made
from lacre.text import _

NAME = "amplify.jsonl"
FORM = 1
"""The number of the order and the formulas in `lacre.images.variants`; another one makes other bytes."""

Key = tuple[str, str]
"""A source's id, and a variant."""


class Journal:
    """The lines of a folder, and where more are added."""

    def __init__(self, path: Path, known: Mapping[Key, Made]) -> None:
        self._path = path
        self.known = dict(known)

    def add(self, made: Made) -> None:
        """Tell of a file that is whole. Raises `DiskFull`, `NotWritten`."""
        line = json.dumps(asdict(made), ensure_ascii=True) + "\n"
        with writing_file(self._path):
            # One write, at the end: what a power cut takes of it, is only made again.
            handle = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
            try:
                os.write(handle, b"\n" + line.encode())
            finally:
                os.close(handle)
        self.known[made.id, made.variant] = made


@contextmanager
def opened(folder: Path, header: Mapping[str, Any]) -> Iterator[Journal]:
    """Open the journal in `folder`, made when missing, for this process alone; it goes again if nothing is made.

    Raises `AmplifyIntoOther`, `AmplifyOtherwise`, `AmplifyBusy`, `NotWritten`, `DiskFull`, `NotReadable`.
    """
    if not folder.is_dir() and os.path.lexists(folder):
        raise NotWritten(path=str(folder), why=_("it is no folder"))
    new = not folder.is_dir()
    make_folder(folder)
    with _alone(folder) as alone:
        path = folder / NAME
        others = [each for each in list_folder(folder) if not each.name.startswith(TEMPORARY)]
        if others and path not in others:
            raise AmplifyIntoOther(output=str(folder), name=others[0].name)
        if not others:
            write_durably(path, json.dumps({"lacre": "amplify", **header}).encode())
        known = _read(path, folder, header)
        if alone:
            _tidy(folder)
        journal = Journal(path, known)
        try:
            yield journal
        finally:
            if not others and not journal.known:
                _leave_nothing(folder, path, new=new)


def _leave_nothing(folder: Path, path: Path, *, new: bool) -> None:
    """Take away a journal that stands alone and tells of nothing, and with it a `new` folder, made for it."""
    with suppress(OSError):
        if list(folder.iterdir()) == [path]:
            path.unlink()
            if new:
                folder.rmdir()


@contextmanager
def _alone(folder: Path) -> Iterator[bool]:
    """Lock the folder through the block; whether that could be done, as not every file system can."""
    with writing_file(folder):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        locked = True
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in (errno.EWOULDBLOCK, errno.EAGAIN):
                raise AmplifyBusy(output=str(folder)) from error
            locked = False
        yield locked
    finally:
        os.close(handle)


def _tidy(folder: Path) -> None:
    """Take away what a process that was killed left unfinished, here and in the folders of the variants."""
    for place in (folder, *(each for each in list_folder(folder) if each.is_dir() and not each.is_symlink())):
        for path in list_folder(place):
            if path.name.startswith(TEMPORARY):
                with suppress(OSError):
                    path.unlink()


def _read(path: Path, folder: Path, header: Mapping[str, Any]) -> dict[Key, Made]:
    lines = [value for line in read_given(path).splitlines() if isinstance(value := _value(line), dict)]
    before = lines[0] if lines else {}
    if before.get("lacre") != "amplify":
        raise AmplifyIntoOther(output=str(folder), name=path.name)
    for name, why in (
        ("study", _("of another study, {before}")),
        ("variants", _("the plan declared other variants")),
        ("engine", _("with {before}, and here is {now}")),
        ("form", _("by another version of lacre")),
    ):
        if before.get(name) != header[name]:
            told = {"before": _told(before.get(name)), "now": _told(header[name])}
            raise AmplifyOtherwise(output=str(folder), why=why.format(**told))
    known = {}
    for value in lines[1:]:
        with suppress(TypeError, ValueError):
            made = Made(**{**value, "notes": tuple(value.get("notes", ()))})
            known[made.id, made.variant] = made
    return known


def _value(line: bytes) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        return None


def _told(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {version}" for name, version in value.items())
    return str(value)
