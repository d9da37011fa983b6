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
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import IO, BinaryIO

from lacre.errors import FileMissing, GitFailed, GitNeeded
from lacre.text import N_

LARGEST_VERSION = 256 * 2**20
"""Bytes of the largest version of a file that is taken from a history."""

_GIT = (
    *("git", "--no-pager"),
    # A repository may say in its own settings what programs to run: none is.
    *("-c", "core.fsmonitor=false", "-c", "log.showSignature=false"),
    *("-c", "core.quotePath=false"),
)
_OFFLINE = {
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
_POINTING = frozenset(
    {
        *("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_NAMESPACE"),
        *("GIT_OBJECT_DIRECTORY", "GIT_SHALLOW_FILE", "GIT_GRAFT_FILE", "GIT_PREFIX"),
    }
)
"""What a hook is told of its own repository, and would have git look there and not in the folder that is asked for."""


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


LEDGER = N_("the folder of a ledger")
EXCLUDED = N_("excluded by --exclude")
LINK = N_("a symbolic link")
SPECIAL = N_("neither a file nor a folder")
UNREADABLE = N_("could not be read")
LARGE = N_("larger than 256 MiB, in a history")


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


def _excluded(root: Path, path: Path, exclude: Sequence[str]) -> bool:
    inside = path.relative_to(root).as_posix()
    return any(fnmatchcase(inside, pattern) or fnmatchcase(path.name, pattern) for pattern in exclude)


def _enters(root: Path, path: Path, exclude: Sequence[str], skipped: Skipped) -> bool:
    if path.name == ".git":
        return False
    for applies, why in (
        (os.path.islink(path), LINK),  # noqa: PTH114 - a path too long is none; Path raises
        (_excluded(root, path, exclude), EXCLUDED),
        (os.path.isfile(path / "ledger.db"), LEDGER),  # noqa: PTH113 - likewise, and where one may not look
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
        (_excluded(root, path, exclude), EXCLUDED),
    ):
        if applies:
            skipped.note(why)
            return False
    return True


# --- a git history -----------------------------------------------------------------------------------------


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in _POINTING} | _OFFLINE


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
        order = f"-O{os.devnull}"  # not the order that a file named in the repository's settings gives
        found = self._ask(
            "log", "--all", "--reflog", "--reverse", "--format=%h", order, f"--find-object={blob}"
        )
        return found.decode().partition("\n")[0] or blob[:10]

    def items(self, exclude: Sequence[str], skipped: Skipped) -> Iterator[Item]:
        """Yield the words of each commit and tag, and each version of a file once, under its first name."""
        with tempfile.TemporaryFile() as asked, self._batch(asked) as answers:
            names = self._names()
            asked.write("".join(f"{each}\n" for each in names).encode())
            asked.seek(0)
            yield from _answered(answers(), names, exclude, skipped)

    def _names(self) -> dict[str, str]:
        wanted = ("--all", "--reflog", "--objects", "--indexed-objects")
        listed = self._ask("rev-list", *wanted).decode(errors="replace")
        # Not `splitlines`: a name may hold what ends a line of text, and what follows would be asked for.
        lines = (line.partition(" ") for line in listed.split("\n") if line)
        return {name: path for name, _blank, path in lines}

    def _batch(self, asked: IO[bytes]) -> "_Batch":
        return _Batch(self._command("cat-file", "--batch", "--buffer"), asked)

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


class _Batch:
    """`git cat-file --batch`, begun when its questions are written, and ended whatever happens."""

    def __init__(self, command: Sequence[str], asked: IO[bytes]) -> None:
        self._command, self._asked = command, asked
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Callable[[], IO[bytes]]:
        return self._begin

    def _begin(self) -> IO[bytes]:
        self._process = subprocess.Popen(  # noqa: S603 - git, by its name, with words of ours
            self._command,
            stdin=self._asked,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(),
        )
        assert self._process.stdout is not None
        return self._process.stdout

    def __exit__(self, *_exception: object) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()


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
        if is_text or (kind == "blob" and size <= LARGEST_VERSION and not _left_out(path, exclude)):
            content = answers.read(size)
            place = f"{kind} {name[:10]}" if is_text else path or name[:10]
            called = "" if is_text else path.rpartition("/")[2]
            yield Item(place, called, lambda content=content: io.BytesIO(content), name)  # type: ignore[misc]
        else:
            _pass_over(answers, size)
            if kind == "blob":
                skipped.note(LARGE if size > LARGEST_VERSION else EXCLUDED)
        answers.read(1)


def _left_out(path: str, exclude: Sequence[str]) -> bool:
    last = path.rpartition("/")[2]
    return any(fnmatchcase(path, pattern) or fnmatchcase(last, pattern) for pattern in exclude)


def _pass_over(answers: IO[bytes], size: int) -> None:
    while size > 0 and (read := len(answers.read(min(size, 2**20)))):
        size -= read
