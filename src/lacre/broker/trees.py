"""What there is to look through: the files of a folder, and every version of them in a git history.

Nothing of it is run: git is asked for objects alone, without filters, hooks or the network.
"""

import errno
import io
import os
import stat
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import IO, BinaryIO

from lacre.errors import FileMissing, GitFailed, GitNeeded
from lacre.text import N_

LARGEST_VERSION = 256 * 2**20
"""Bytes of the largest version of a file that is taken from a history."""

LEDGER = N_("the folder of a ledger")
EXCLUDED = N_("excluded by --exclude")
LINK = N_("a symbolic link")
SPECIAL = N_("neither a file nor a folder")
UNREADABLE = N_("could not be read")
LARGE = N_("larger than 256 MiB, in a history")

_GIT = ("git", "--no-pager", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false")
_OFFLINE = {
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
_OF_ANOTHER = frozenset(
    {"GIT_COMMON_DIR", "GIT_DIR", "GIT_INDEX_FILE", "GIT_NAMESPACE", "GIT_OBJECT_DIRECTORY", "GIT_WORK_TREE"}
)
"""What git tells a hook of the repository that it runs in, which need not be the one looked through."""


@dataclass(frozen=True, slots=True)
class Item:
    """A file, a version of one, or the words of a commit: where it is, what it is called there, its bytes."""

    place: str
    name: str
    open: Callable[[], BinaryIO]
    version: str | None = None


@dataclass(slots=True)
class Skipped:
    """What was not looked through, counted by why."""

    counts: Counter[str] = field(default_factory=Counter)

    def note(self, why: str) -> None:
        """Count one."""
        self.counts[why] += 1


def files(root: Path, exclude: Sequence[str], skipped: Skipped) -> Iterator[Item]:
    """Yield the files in a folder, or the one file, in the order of their names; links are not followed.

    Raises `FileMissing` where `root` is neither.
    """
    if root.is_file():
        yield Item(str(root), root.name, lambda: root.open("rb"))
        return
    if not root.is_dir():
        raise FileMissing(path=str(root), why=os.strerror(errno.ENOENT))
    for folder, names, found in os.walk(root, onerror=lambda _error: skipped.note(UNREADABLE)):
        here = Path(folder)
        names[:] = [name for name in sorted(names) if _enters(root, here / name, exclude, skipped)]
        for name in sorted(found):
            path = here / name
            if _is_looked_at(root, path, exclude, skipped):
                yield Item(str(path), name, lambda path=path: path.open("rb"))  # type: ignore[misc]


def _excluded(path: str, exclude: Sequence[str]) -> bool:
    """Whether a path within what is looked through, or the name at its end, is like a pattern."""
    last = path.rpartition("/")[2]
    return any(fnmatchcase(path, pattern) or fnmatchcase(last, pattern) for pattern in exclude)


def _enters(root: Path, path: Path, exclude: Sequence[str], skipped: Skipped) -> bool:
    if path.name == ".git":
        return False
    for applies, why in (
        (path.is_symlink(), LINK),
        (_excluded(path.relative_to(root).as_posix(), exclude), EXCLUDED),
        ((path / "ledger.db").is_file(), LEDGER),
    ):
        if applies:
            skipped.note(why)
            return False
    return True


def _is_looked_at(root: Path, path: Path, exclude: Sequence[str], skipped: Skipped) -> bool:
    try:
        mode = path.lstat().st_mode
    except OSError:
        skipped.note(UNREADABLE)
        return False
    for applies, why in (
        (stat.S_ISLNK(mode), LINK),
        (not stat.S_ISREG(mode) and not stat.S_ISLNK(mode), SPECIAL),
        (_excluded(path.relative_to(root).as_posix(), exclude), EXCLUDED),
    ):
        if applies:
            skipped.note(why)
            return False
    return True


# --- a git history -----------------------------------------------------------------------------------------


class History:
    """The git history of a folder. Raises `GitNeeded` and `GitFailed`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder if folder.is_dir() else folder.parent
        self._ask("rev-parse", "--git-dir")

    def is_shallow(self) -> bool:
        """Whether older commits are not here."""
        return self._ask("rev-parse", "--is-shallow-repository").strip() == b"true"

    def commits(self) -> int:
        """Return how many commits there are, those that only the reflog or a stash knows among them."""
        return int(self._ask("rev-list", "--all", "--reflog", "--count"))

    def first_with(self, blob: str) -> str:
        """Return the name of the oldest commit that has this version of a file, abbreviated."""
        found = self._ask("log", "--all", "--reflog", "--reverse", "--format=%h", f"--find-object={blob}")
        return found.decode().partition("\n")[0] or blob[:10]

    def items(self, exclude: Sequence[str], skipped: Skipped) -> Iterator[Item]:
        """Yield the words of each commit and tag, and each version of a file once, under its first name."""
        names = self._names()
        with tempfile.TemporaryFile() as asked:
            asked.write("".join(f"{each}\n" for each in names).encode())
            asked.seek(0)
            with self._answers(asked) as answers:
                yield from _answered(answers, names, exclude, skipped)

    def _names(self) -> dict[str, str]:
        listed = self._ask("rev-list", "--all", "--reflog", "--objects").decode(errors="replace")
        lines = (line.partition(" ") for line in listed.splitlines())
        return {name: path for name, _blank, path in lines}

    @contextmanager
    def _answers(self, asked: IO[bytes]) -> Iterator[IO[bytes]]:
        """Have git tell the objects that are named in `asked`; the process ends whatever happens."""
        process = subprocess.Popen(  # noqa: S603 - git, by its name, with words of ours
            self._command("cat-file", "--batch", "--buffer"),
            stdin=asked,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(),
        )
        try:
            assert process.stdout is not None
            yield process.stdout
        finally:
            process.kill()
            process.communicate()

    def _command(self, *words: str) -> list[str]:
        return [*_GIT, "-C", str(self._folder), *words]

    def _ask(self, *words: str) -> bytes:
        try:
            done = subprocess.run(  # noqa: S603 - git, by its name, with words of ours
                self._command(*words), capture_output=True, check=False, env=_environment()
            )
        except FileNotFoundError:
            raise GitNeeded from None
        if done.returncode:
            why = done.stderr.decode(errors="replace").strip().partition("\n")[0]
            raise GitFailed(folder=str(self._folder), why=why)
        return done.stdout


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in _OF_ANOTHER} | _OFFLINE


def _answered(
    answers: IO[bytes], names: dict[str, str], exclude: Sequence[str], skipped: Skipped
) -> Iterator[Item]:
    for name, path in names.items():
        head = answers.readline().split()
        if len(head) != 3:
            skipped.note(UNREADABLE)
            continue
        kind, size = head[1].decode(), int(head[2])
        is_text = kind in ("commit", "tag")
        if is_text or (kind == "blob" and size <= LARGEST_VERSION and not _excluded(path, exclude)):
            content = answers.read(size)
            place = f"{kind} {name[:10]}" if is_text else path or name[:10]
            called = "" if is_text else path.rpartition("/")[2]
            yield Item(place, called, lambda content=content: io.BytesIO(content), name)  # type: ignore[misc]
        else:
            _pass_over(answers, size)
            if kind == "blob":
                skipped.note(LARGE if size > LARGEST_VERSION else EXCLUDED)
        answers.read(1)


def _pass_over(answers: IO[bytes], size: int) -> None:
    while size > 0 and (read := len(answers.read(min(size, 2**20)))):
        size -= read
